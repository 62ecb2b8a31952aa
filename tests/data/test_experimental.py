"""tf.data.experimental against real TensorFlow: files of rows and of Examples, numbers of elements, reductions."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SETUP = '''
for name, text in {"a.csv": "x,y,s\\n1,2.5,a\\n3,,b\\n5,1e3,\\n",
                   "b.csv": "x,y,s\\n30000000000,4.5,\\"q,r\\"\\n7,8,c\\n",
                   "bad.csv": "a,b\\n1,2\\nzz,3\\n4\\n5,6\\n", "blank.csv": "1,2\\n\\n3,4\\n"}.items():
    with open(name, "w") as file:
        file.write(text)
with tf.python_io.TFRecordWriter("e.tfrecord") as writer:
    for i in range(5):
        made = tf.train.Example()
        made.features.feature["x"].float_list.value.append(i)
        made.features.feature["v"].int64_list.value.extend(range(i))
        made.features.feature["y"].int64_list.value.append(i % 2)
        writer.write(made.SerializeToString())
e, D = tf.data.experimental, tf.data.Dataset
F = {"x": tf.FixedLenFeature([], tf.float32), "y": tf.FixedLenFeature([1], tf.int64), "v": tf.VarLenFeature(tf.int64)}
def plain(value):
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in value}
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value if isinstance(value, (str, int)) else [np.asarray(value).tolist(), str(np.asarray(value).dtype)]
def take(dataset, most=12):
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        for _ in range(most):
            try:
                found.append(plain(session.run(element)))
            except tf.errors.OutOfRangeError:
                return repr([*found, "end"])
            except tf.errors.InvalidArgumentError as error:
                found.append(type(error).__name__)
    return repr(found)
def count(dataset):
    with tf.Session() as session:
        return int(session.run(e.cardinality(dataset)))
csv = dict(num_epochs=1, shuffle=False)
files = ["a.csv", "b.csv"]
fills = D.range(1, 6).map(lambda n: tf.fill([n], n))
'''
SNIPPETS = {
    "inferred": "result = take(e.make_csv_dataset(files, 2, **csv))",
    "inferred from one row": "result = take(e.make_csv_dataset(files, 2, num_rows_for_inference=1, **csv))",
    "in turns": "result = take(e.make_csv_dataset(files, 2, num_parallel_reads=2, select_columns=['s', 'x'], "
                "label_name='x', **csv))",
    "shuffled": "result = take(e.make_csv_dataset('[ab].csv', 2, num_epochs=2, shuffle_seed=5, select_columns=[0]))",
    "endless": "result = take(e.make_csv_dataset('a.csv', 2, shuffle=False), 4)",
    "errors left out": "result = take(e.make_csv_dataset('bad.csv', 2, ignore_errors=True, "
                       "column_defaults=[tf.int32, tf.int32], **csv))",
    "named": "result = take(e.make_csv_dataset('a.csv', 2, column_names=['p', 'q', 'r'], "
             "column_defaults=[tf.int32, [7.0], tf.string], **csv))",
    "rows": "result = take(e.CsvDataset(files, [tf.int64, [0.5]], header=True, select_cols=[0, 1]))",
    "rows of one column": "result = take(e.CsvDataset('a.csv', [tf.string], header=True, select_cols=[2]))",
    "empty lines": "result = take(e.CsvDataset('blank.csv', [tf.int32, tf.int32]))",
    "no label": "e.make_csv_dataset('a.csv', 2, label_name='nope')",
    "no file": "e.make_csv_dataset('nope*.csv', 2)",
    "no column": "e.make_csv_dataset('a.csv', 2, select_columns=['zz'])",
    "no header": "e.make_csv_dataset('a.csv', 2, header=False)",
    "rows differ": "e.make_csv_dataset('bad.csv', 2)",
    "Examples": "result = take(e.make_batched_features_dataset('e.tfrecord', 2, F, label_key='y', **csv))",
    "shuffled Examples": "result = take(e.make_batched_features_dataset('e.tfrecord', 2, F, num_epochs=1, "
                         "shuffle_seed=4))",
    "no feature": "e.make_batched_features_dataset('e.tfrecord', 2, F, label_key='zz')",
    "parsed": "result = take(tf.data.TFRecordDataset('e.tfrecord').batch(3).apply(e.parse_example_dataset(F)))",
    "no features": "D.range(3).apply(e.parse_example_dataset(None))",
    "counts": '''result = repr([count(d) for d in (
        D.range(10), D.range(10, 0, -3), D.range(10).batch(3), D.range(10).batch(3, True), D.range(3).repeat(),
        D.range(3).repeat(2).take(4), D.range(3).repeat().take(4), D.range(3).skip(5), D.range(3).take(-1),
        D.range(3).filter(lambda x: x > 1), D.zip((D.range(3), D.range(5).repeat())), D.range(0).repeat(),
        D.range(3).concatenate(D.range(2).repeat()), D.range(3).concatenate(D.range(2)), D.range(10).shard(3, 1),
        D.range(3).apply(e.shuffle_and_repeat(3, 2)), D.from_tensor_slices([1, 2, 3]).shuffle(3).prefetch(1),
        D.from_tensors(1), D.range(3).map(lambda x: x), D.range(5).enumerate(), D.range(4).flat_map(
            lambda x: D.range(2)).batch(2), D.zip((D.range(3), D.range(3).filter(lambda x: x > 1))))])''',
    "by key": '''result = take(D.from_tensor_slices(np.array([5, 3, 4, 3, 5])).apply(e.group_by_reducer(
        lambda x: x, e.Reducer(lambda key: (key * 100, 0.0), lambda state, x: (state[0] + x, state[1] + 1.0),
                               lambda a, b: {"a": a, "n": b}))))''',
    "sparse": "result = take(fills.apply(e.dense_to_sparse_batch(2, [6])))",
    "sparse, largest": "result = take(fills.apply(e.dense_to_sparse_batch(2, [None])))",
    "structure": "result = repr(e.get_structure(D.range(3).map(lambda x: {'a': x, 'b': (tf.cast(x, tf.float32),)})))",
    "options": "options = e.OptimizationOptions()\noptions.map_fusion = True\noptions.nope = 1",
}


def test_pipelines_are_those_of_tensorflow(oracle, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)                        # the snippets enter it, too
    assert differences(oracle, SNIPPETS, f"import os\nos.chdir({str(tmp_path)!r})" + SETUP) == {}


@pytest.mark.parametrize("initial", [[0.6, 0.2, 0.2], None])
def test_resampling_gives_the_target_distribution(initial):
    with tf.Graph().as_default(), tf.Session() as session:
        rule = tf.data.experimental.rejection_resample(lambda x: tf.cast(x, tf.int32), [0.2, 0.5, 0.3], initial, seed=3)
        dataset = tf.data.Dataset.from_tensor_slices(np.array([0, 0, 0, 1, 2] * 400)).apply(rule).batch(4000)
        kinds, values = session.run(dataset.make_one_shot_iterator().get_next())
    assert (kinds == values).all()
    np.testing.assert_allclose(np.bincount(kinds) / len(kinds), [0.2, 0.5, 0.3], atol=0.05)


def test_an_element_larger_than_the_rows_of_a_sparse_batch_is_refused():
    with tf.Graph().as_default(), tf.Session() as session:
        fills = tf.data.Dataset.range(4, 5).map(lambda n: tf.fill([n], n))
        element = fills.apply(tf.data.experimental.dense_to_sparse_batch(2, [3])).make_one_shot_iterator().get_next()
        with pytest.raises(tf.errors.InvalidArgumentError, match="larger than `row_shape`"):
            session.run(element)
