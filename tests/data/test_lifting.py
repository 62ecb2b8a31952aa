"""Functions that batches call once: the elements, their order and errors are those of a call for each."""
import numpy as np
import pytest

import tfnb as tf
from tfnb.ops.data import datasets
from tfnb.ops.data.lifting import lifts

ROWS = np.arange(24, dtype=np.float32).reshape(8, 3)
PARSED = {"size": tf.FixedLenFeature([], tf.int64), "row": tf.FixedLenFeature([2], tf.float32, [7, 8]),
          "raw": tf.FixedLenFeature([], tf.string)}


def example(i, raw=b"abcd"):
    feature = {"size": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
               "raw": tf.train.Feature(bytes_list=tf.train.BytesList(value=[raw]))}
    if i % 3:
        feature["row"] = tf.train.Feature(float_list=tf.train.FloatList(value=[i, 0.5]))
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def of_example(text):
    found = tf.parse_single_example(text, PARSED)
    return tf.cast(tf.decode_raw(found["raw"], tf.uint8), tf.float32) / 255, found["row"] * [1.0, 2.0], found["size"]


def batches(data, fn, monkeypatch, **options):
    """Return the batches, or the class of an error, of a dataset, by calls for a batch and for an element each."""
    found = []
    for allowed in (True, False):
        monkeypatch.setattr(datasets, "lifts", lambda body, allowed=allowed: allowed and lifts(body))
        data_set = tf.data.Dataset.from_tensor_slices(data).map(fn, **options).batch(3)
        element, made = data_set.make_one_shot_iterator().get_next(), []
        with tf.Session() as sess:
            while True:
                try:
                    made.append(tf.nest.map_structure(lambda a: (a.dtype, a.tolist()), sess.run(element)))
                except tf.errors.OutOfRangeError:
                    break
                except tf.errors.InvalidArgumentError as error:
                    made.append(type(error))
        found.append(made)
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize("options", [{}, {"num_parallel_calls": 2}])
def test_examples(options, monkeypatch):
    records = np.array([example(i) for i in range(100)], object)
    assert len(batches(records, of_example, monkeypatch, **options)) == 34


def test_records(monkeypatch):
    lines = np.array([b"%d,%f, x%d" % (i, i / 7, i) for i in range(10)], object)

    def parsed(line):
        size, value, text = tf.decode_csv(line, [[0], [0.0], [""]])
        return size, value / 2, tf.strings.lower(tf.string_strip(text))
    made = batches(lines, parsed, monkeypatch)
    assert len(made) == 4 and made[0][2][1] == [b"x0", b"x1", b"x2"]


def test_a_wrong_element_is_lost_with_those_before_it(monkeypatch):
    records = np.array([example(i) for i in range(4)] + [b"wrong"] + [example(i) for i in range(4)], object)
    made = batches(records, of_example, monkeypatch)
    assert made[1] is tf.errors.InvalidArgumentError and len(made) == 4
    lengths = np.array([example(1), example(2, b"longer"), example(3), example(4), example(5)], object)
    made = batches(lengths, of_example, monkeypatch)
    assert made[0] is tf.errors.InvalidArgumentError and len(made) == 2


@pytest.mark.parametrize("fn, wanted", [
    (of_example, True), (lambda x: tf.decode_csv(x, [[0]])[0], True), (lambda x: (x, tf.constant(1)), False),
    (lambda x: tf.parse_single_example(x, {"raw": tf.VarLenFeature(tf.string)})["raw"].values, False),
    (lambda x: tf.strings.length(tf.py_func(lambda t: t, [x], tf.string)), False),
    (lambda x: tf.string_to_number(x) * [[1.0, 2.0]], False), (lambda x: tf.string_to_number(x) * 2 + 1, True),
    (lambda x: tf.string_to_number(x) + tf.random_uniform([]), False)])
def test_what_lifts(fn, wanted, monkeypatch):
    seen = []
    monkeypatch.setattr(datasets, "lifts", lambda body: seen.append(lifts(body)) or False)
    element = tf.data.Dataset.from_tensors(b"1").map(fn).batch(2).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        try:
            sess.run(element)
        except tf.errors.InvalidArgumentError:                  # no Example
            pass
    assert seen == [wanted]


@pytest.mark.parametrize("fn", [lambda x: x + 1, lambda x: x * [1.0, 2.0, 3.0] - x, lambda x: tf.reduce_sum(x),
                                lambda x: x + [[1.0], [2.0]], lambda x: tf.where(x > 4, x, tf.zeros_like(x))])
def test_arithmetic(fn, monkeypatch):
    assert len(batches(ROWS, fn, monkeypatch)) == 3
