"""SequenceExamples, SparseFeature and the older parsing ops: values, shapes and errors as in TensorFlow."""
import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SETUP = '''
I, F, S = tf.int64, tf.float32, tf.string
def feature(*values):
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values)) if values else tf.train.Feature()
def sequence(context={}, **lists):
    made = {k: tf.train.FeatureList(feature=[feature(*step) for step in steps]) for k, steps in lists.items()}
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={k: feature(*v) for k, v in context.items()}),
        feature_lists=tf.train.FeatureLists(feature_list=made)).SerializeToString()
def example(**features):
    return tf.train.Example(features=tf.train.Features(
        feature={k: feature(*v) for k, v in features.items()})).SerializeToString()
A = sequence({"n": [3], "x": [1.0, 2.0], "w": [b"a", b"b"]}, t=[[1], [2], [3]], v=[[1.5], [], [2.5, 3.5]], s=[[b"u"]],
             r=[[0.5], [], [1.5, 2.5]])
B = sequence({"n": [4]}, t=[[7]], v=[[9.0]], r=[[3.5]])
CONTEXT = {"n": tf.FixedLenFeature([], I), "x": tf.FixedLenFeature([2], F, [0.0, 5.0]), "w": tf.VarLenFeature(S)}
LISTS = {"t": tf.FixedLenSequenceFeature([], I), "v": tf.VarLenFeature(F),
         "s": tf.FixedLenSequenceFeature([], S, allow_missing=True)}
def plain_parts(found):
    return [sorted((k, list(v) if isinstance(v, tf.SparseTensorValue) else v) for k, v in part.items())
            for part in found]
def run(found, feed=None):
    sess = tf.Session()
    for _ in range(2):
        made = sess.run(found, feed)
    return plain_parts(made)
def one(data, context=None, lists=None):
    return run(tf.parse_single_sequence_example(data, context, lists, "named"))
def many(data, context=None, lists=None):
    return run(tf.io.parse_sequence_example(data, context, lists))
def shapes(found):
    return [sorted((k, [str(t.shape) for t in (v.indices, v.values, v.dense_shape)] if isinstance(v, tf.SparseTensor)
                    else str(v.shape)) for k, v in part.items()) for part in found]
SPARSE = tf.SparseFeature("i", "v", F, 5)
ROWS = [example(i=[3, 1], v=[0.5, 2.0]), example(i=[4], v=[7.0], j=[2])]
'''
SNIPPETS = {
    "one": "one(A, CONTEXT, LISTS)", "one without": "one(B, CONTEXT, LISTS)", "context": "one(A, CONTEXT)",
    "lists": "one(A, None, LISTS)", "nothing": "one(A)", "no example": "one(b'xyz', CONTEXT)",
    "many": "many([A, B], CONTEXT, LISTS)", "many of one": "many([B], CONTEXT, LISTS)",
    "other dtype": "one(A, {'n': tf.FixedLenFeature([], F)})", "other size": "one(A, {'w': tf.FixedLenFeature([], S)})",
    "other list dtype": "one(A, None, {'t': tf.VarLenFeature(F)})",
    "other list size": "one(A, None, {'t': tf.FixedLenSequenceFeature([2], I)})",
    "missing list": "one(B, None, {'s': tf.FixedLenSequenceFeature([], S)})",
    "missing list of many": "many([A, B], None, {'s': tf.FixedLenSequenceFeature([], S)})",
    "missing feature": "one(B, {'z': tf.FixedLenFeature([], I)})",
    "rows of two": "many([sequence(p=[[1, 2], [3, 4]]), sequence(p=[])], None, "
                   "{'p': tf.FixedLenSequenceFeature([2], I, allow_missing=True)})",
    "default of a list": "one(A, None, {'t': tf.FixedLenSequenceFeature([], I, default_value=1)})",
    "other kind": "one(A, {'n': tf.FixedLenSequenceFeature([], I)})",
    "shapes": "shapes(tf.parse_single_sequence_example(tf.placeholder(S, []), CONTEXT, LISTS))",
    "shapes of many": "shapes(tf.io.parse_sequence_example(tf.placeholder(S, [None]), CONTEXT, LISTS))",
    "sparse feature": "run([tf.parse_example(ROWS, {'x': SPARSE})])",
    "sparse feature of one": "run([tf.parse_single_example(ROWS[0], {'x': SPARSE, 'v': tf.VarLenFeature(F)})])",
    "sparse feature, sorted": "run([tf.parse_example(ROWS, {'x': SPARSE._replace(already_sorted=True)})])",
    "two axes": "run([tf.parse_example([example(i=[1, 0], j=[2, 3], v=[1.0, 2.0])], "
                "{'x': tf.SparseFeature(['i', 'j'], 'v', F, [3, 4])})])",
    "two kinds of a key": "tf.parse_example(ROWS, {'x': SPARSE, 'i': tf.VarLenFeature(F)})",
    "sparse in a context": "one(sequence({'i': [2], 'v': [0.5]}), {'x': SPARSE})",
    "ParseExample": "[np.asarray(x).tolist() for x in sum((list(p) if isinstance(p, (list, tuple)) else [p] for p in "
                    "tf.Session().run(list(tf.raw_ops.ParseExample(serialized=ROWS, names=[], sparse_keys=['i'], "
                    "dense_keys=['j'], dense_defaults=[np.int64([9])], sparse_types=[I], dense_shapes=[[1]])))), [])]",
    "ParseSingleExample": "[np.asarray(x).tolist() for x in sum((list(p) for p in tf.Session().run(list("
                          "tf.raw_ops.ParseSingleExample(serialized=ROWS[1], dense_defaults=[np.int64([])], "
                          "num_sparse=1, sparse_keys=['i'], dense_keys=['j'], sparse_types=[I], "
                          "dense_shapes=[[1]])))), [])]",
}
RAGGED = '''
made = tf.raw_ops.ParseSequenceExampleV2(
    serialized={data}, debug_name=[], context_sparse_keys=["w"], context_dense_keys=[], context_ragged_keys=["n"],
    feature_list_sparse_keys=["v"], feature_list_dense_keys=["t"], feature_list_ragged_keys=["r"],
    feature_list_dense_missing_assumed_empty=[False], context_dense_defaults=[], Ncontext_sparse=1,
    context_sparse_types=[S], context_ragged_value_types=[I], context_ragged_split_types=[tf.int32],
    context_dense_shapes=[], Nfeature_list_sparse=1, Nfeature_list_dense=1, feature_list_dense_types=[I],
    feature_list_sparse_types=[F], feature_list_ragged_value_types=[F], feature_list_ragged_split_types=[I],
    feature_list_dense_shapes=[[]])
[[np.asarray(x) for x in part] for part in tf.Session().run(list(made))]
'''
SNIPPETS.update({"ragged": RAGGED.format(data="[A, B]")})


def test_as_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)


def test_errors_name_example_and_list():
    data = tf.train.SequenceExample().SerializeToString()
    _, lists = tf.parse_single_sequence_example(data, None, {"t": tf.FixedLenSequenceFeature([], tf.int64)}, "third")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Key: t.*required"):
        sess.run(lists)


def test_a_batch_for_a_dynamic_rnn():
    """What courses do with SequenceExamples: parse, pad, count; the lengths mask the padding."""
    made = []
    for words in ([1, 2, 3], [4]):
        example = tf.train.SequenceExample()
        example.context.feature["length"].int64_list.value.append(len(words))
        for word in words:
            example.feature_lists.feature_list["tokens"].feature.add().int64_list.value.append(word)
        made.append(example.SerializeToString())
    data = tf.data.Dataset.from_tensor_slices(made).map(lambda text: tf.parse_single_sequence_example(
        text, {"length": tf.FixedLenFeature([], tf.int64)}, {"tokens": tf.FixedLenSequenceFeature([], tf.int64)}))
    context, lists = data.padded_batch(2, ({"length": []}, {"tokens": [None]})).make_one_shot_iterator().get_next()
    mask = tf.sequence_mask(context["length"], dtype=tf.int64)
    with tf.Session() as sess:
        tokens, total = sess.run([lists["tokens"], tf.reduce_sum(mask * lists["tokens"], 1)])
    assert np.array_equal(tokens, [[1, 2, 3], [4, 0, 0]]) and total.tolist() == [6, 4]
