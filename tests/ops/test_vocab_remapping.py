"""Matrices of checkpoints brought to other vocabularies; summaries of tensors as old graphs have them."""
import tfnb as tf
from tests.differential import differences

SETUP = '''
import os, tempfile
raw, d = tf.raw_ops, tempfile.mkdtemp()
for name, text in (("new", "b\\na\\nz\\nc\\n"), ("old", "a\\nb\\nc\\n"), ("dup", "a\\nb\\na\\n"), ("open", "a\\nb")):
    with open(os.path.join(d, name), "w", newline="") as file:
        file.write(text)
def run(*ts):
    with tf.Session() as sess:
        return list(sess.run(ts))
def words(new="new", old="old", offset=0, count=4, size=-1):
    return run(*raw.GenerateVocabRemapping(new_vocab_file=os.path.join(d, new), old_vocab_file=os.path.join(d, old),
                                           new_vocab_offset=offset, num_new_vocab=count, old_vocab_size=size))
def matrix(rows=(2, -1, 0), columns=(1, 0), values=(9., 8.), count=3, wide=2, name="w", path=None, most=-1):
    w = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3), name="w", use_resource=False)
    others = [tf.Variable(np.float32([1, 2]), name="b", use_resource=False),
              tf.Variable(np.int32([[1, 2]]), name="i", use_resource=False)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saved = tf.train.Saver().save(sess, os.path.join(d, "model"))
    return run(raw.LoadAndRemapMatrix(
        ckpt_path=saved if path is None else os.path.join(d, path), old_tensor_name=name,
        row_remapping=np.int64(rows), col_remapping=np.int64(columns), initializing_values=np.float32(values),
        num_rows=count, num_cols=wide, max_rows_in_memory=most))
'''
SNIPPETS = {
    **{f"words {args}": f"words({args})" for args in (
        "", "offset=1, count=2", "count=6", "offset=3, count=2", "size=2", "size=9", "old='dup'", "new='dup', count=3",
        "new='none'", "old='none'", "count=0", "new='open', count=2", "size=0", "offset=-1")},
    **{f"matrix {args}": f"matrix({args})" for args in (
        "", "most=1", "columns=(), wide=3, values=(7., 8., 9.)", "columns=()", "values=(1.,)", "values=(1., 2., 3.)",
        "columns=(-1, 2), values=(1., 2., 3., 4.)", "rows=(1, 2)", "columns=(1,)", "rows=(1, 1, 0), values=()",
        "columns=(1, 1)", "name='b'", "name='i'", "name='none'", "path='none'", "rows=(), count=0, values=()",
        "rows=(2, -2, 0)")},
}


def test_snippets(oracle):
    assert differences(oracle, SNIPPETS, SETUP, modes=("never", "always")) == {}


def test_summary_of_a_tensor_without_a_tag():
    with tf.Session() as sess:
        made = sess.run(tf.raw_ops.TensorSummary(tensor=[1.0, 2.0], description="numbers", display_name="n"))
    value, = tf.Summary.FromString(made).value
    assert not value.tag and tf.make_ndarray(value.tensor).tolist() == [1.0, 2.0]
