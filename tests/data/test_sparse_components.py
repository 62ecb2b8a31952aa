"""SparseTensors as components of datasets: as in TensorFlow."""
from __future__ import annotations

import tfnb as tf
from tests.differential import differences

SETUP = """
sparse = tf.SparseTensor([[0, 0], [0, 2], [2, 1]], [1.5, 2.5, 3.5], [3, 4])
words = tf.SparseTensor([[0, 0], [1, 1], [2, 0]], ["a", "b", "c"], [3, 2])
def plain(value):
    if isinstance(value, tf.SparseTensorValue):
        return [np.asarray(part).tolist() for part in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in sorted(value.items())}
    return [plain(v) for v in value] if isinstance(value, (tuple, list)) else np.asarray(value).tolist()
def elements(dataset, count=9):
    classes = tf.data.get_output_classes(dataset)
    shapes = tf.data.get_output_shapes(dataset)
    iterator = tf.data.make_initializable_iterator(dataset)
    element, found = iterator.get_next(), []
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        try:
            for _ in range(count):
                found.append(plain(sess.run(element)))
        except tf.errors.OutOfRangeError:
            found.append("end")
    if isinstance(classes, dict):
        return found, sorted((k, str(shapes[k]), c.__name__) for k, c in classes.items())
    return found, str(shapes), [c.__name__ for c in (classes if isinstance(classes, tuple) else [classes])]
"""
SNIPPETS = {
    "one": "elements(tf.data.Dataset.from_tensors(sparse))",
    "rows": "elements(tf.data.Dataset.from_tensor_slices((sparse, tf.range(3))))",
    "a dict": "elements(tf.data.Dataset.from_tensor_slices({'w': words, 'n': [1.0, 2.0, 3.0], 's': sparse}))",
    "batches": "elements(tf.data.Dataset.from_tensor_slices((sparse, words)).repeat(2).batch(4))[0]",
    "batches of batches": "elements(tf.data.Dataset.from_tensor_slices(words).batch(2).repeat(2).batch(2).take(1))[0]",
    "unbatched": """
whole = tf.data.Dataset.from_tensors((sparse, tf.range(3))).apply(tf.data.experimental.unbatch())
again = tf.data.Dataset.from_tensor_slices(words).batch(2).apply(tf.data.experimental.unbatch())
elements(whole), elements(again)""",
    "maps": """
def change(s, n):
    twice = tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape)
    return twice, {"dense": tf.sparse_tensor_to_dense(s), "n": n + 1}
elements(tf.data.Dataset.from_tensor_slices((sparse, tf.range(3))).map(change).map(lambda s, d: (d["dense"], s)))[0]""",
    "filter, flat_map": """
data = tf.data.Dataset.from_tensor_slices((words, tf.range(3))).filter(lambda s, n: n > 0)
elements(data.flat_map(lambda s, n: tf.data.Dataset.from_tensors(s).repeat(2)).shuffle(1).cache().prefetch(1))[0]""",
    "zip, concatenate": """
data = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(words), tf.data.Dataset.range(3)))
elements(data.skip(1).concatenate(data.take(1)))[0]""",
    "reduce": """
total = tf.data.Dataset.from_tensor_slices(sparse).reduce(0.0, lambda t, s: t + tf.sparse_reduce_sum(s))
tf.Session().run(total)""",
    "parsed": """
def proto(n, text):
    made = tf.train.Example()
    made.features.feature["n"].int64_list.value.append(n)
    made.features.feature["w"].bytes_list.value.extend(text)
    return made.SerializeToString()
spec = {"n": tf.FixedLenFeature([], tf.int64), "w": tf.VarLenFeature(tf.string)}
data = tf.data.Dataset.from_tensor_slices([proto(1, [b"x", b"y"]), proto(2, []), proto(3, [b"z"])])
(elements(data.batch(2).map(lambda rows: tf.parse_example(rows, spec))),
 elements(data.map(lambda row: tf.parse_single_example(row, spec)).batch(3))[0])""",
    "iterators of a structure": """
iterator = tf.data.Iterator.from_structure(tf.float32, tf.TensorShape([4]), output_classes=tf.SparseTensor)
data = tf.data.Dataset.from_tensor_slices(sparse)
start, element = iterator.make_initializer(data), iterator.get_next()
sess = tf.Session()
sess.run(start)
dense = tf.data.Dataset.from_tensor_slices(tf.ones([3, 4]))
[plain(sess.run(element)) for _ in range(2)], outcome(lambda: iterator.make_initializer(dense))""",
    "refused": "[outcome(lambda: tf.data.Dataset.from_tensors(sparse).padded_batch(2, [None, None]))]",
}


def test_as_in_tensorflow(oracle):
    assert differences(oracle, SNIPPETS, SETUP) == {}


def test_parsed_features_reach_feature_columns():
    """An input function of estimators: parsed protos, in batches, with features of any number of values."""
    columns = [tf.feature_column.numeric_column("n"), tf.feature_column.indicator_column(
        tf.feature_column.categorical_column_with_vocabulary_list("w", ["x", "y"]))]
    protos = []
    for number, words in ((1.0, [b"x", b"y"]), (2.0, []), (3.0, [b"y", b"y"])):
        made = tf.train.Example()
        made.features.feature["n"].float_list.value.append(number)
        made.features.feature["w"].bytes_list.value.extend(words)
        protos.append(made.SerializeToString())
    spec = tf.feature_column.make_parse_example_spec(columns)
    data = tf.data.Dataset.from_tensor_slices(protos).batch(2).map(lambda rows: tf.parse_example(rows, spec))
    layer = tf.feature_column.input_layer(data.make_one_shot_iterator().get_next(), columns)
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert [sess.run(layer).tolist() for _ in range(2)] == [[[1, 1, 1], [2, 0, 0]], [[3, 0, 2]]]
