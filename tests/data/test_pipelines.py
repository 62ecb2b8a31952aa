"""Pipelines of tf.data beside TensorFlow: the same elements, in the same order."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfnb as tf

COLLECT = """
def collect(dataset, most=60):
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    found = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        try:
            while len(found) < most:
                found.append(session.run(element))
        except tf.errors.OutOfRangeError:
            found.append("end")
    return found
D, E = tf.data.Dataset, tf.data.experimental
"""

PIPELINES = {
    "tensors": "D.from_tensors([[1., 2.], [3., 4.]])",
    "slices": "D.from_tensor_slices([[1., 2.], [3., 4.]])",
    "tuple": "D.from_tensor_slices((np.arange(3), np.eye(3, dtype=np.float32)))",
    "dict": "D.from_tensor_slices({'b': [1, 2], 'a': ['x', 'y']})",
    "nested": "D.from_tensor_slices(({'a': [1, 2]}, ([3., 4.], [5, 6]))).batch(2)",
    "range": "D.range(2, 20, 3)",
    "downwards": "D.range(5, 0, -2)",
    "zip": "D.zip((D.range(5), D.range(10, 13).map(lambda x: x * 2)))",
    "zip of a dict": "D.zip({'x': D.range(2), 'y': D.range(3)})",
    "concatenate": "D.range(3).concatenate(D.range(7, 9))",
    "repeat": "D.range(3).repeat(2)",
    "repeat 0": "D.range(3).repeat(0)",
    "repeat for ever": "D.range(3).repeat().take(7)",
    "repeat nothing for ever": "D.range(0).repeat()",
    "take all": "D.range(3).take(-1)",
    "skip": "D.range(7).skip(4)",
    "skip all": "D.range(7).skip(-1)",
    "shard": "D.range(10).shard(3, 1)",
    "enumerate": "D.from_tensor_slices(['a', 'b']).apply(E.enumerate_dataset(5))",
    "batch": "D.range(7).batch(3)",
    "batch, rest dropped": "D.range(7).batch(3, drop_remainder=True)",
    "batch of strings": "D.from_tensor_slices(['a', 'bc', 'def']).batch(2)",
    "unbatch": "D.from_tensor_slices(np.arange(12).reshape(3, 4)).apply(E.unbatch())",
    "map": "D.range(5).map(lambda x: (x, tf.cast(x, tf.float32) / 2))",
    "map of two": "D.from_tensor_slices(([1, 2], [3., 4.])).map(lambda a, b: "
                  "{'s': tf.cast(a, tf.float32) + b, 'a': a})",
    "map of a dict": "D.from_tensor_slices({'a': [1, 2], 'b': [3, 4]}).map(lambda d: d['a'] - d['b'])",
    "map by threads": "D.range(20).map(lambda x: x * x, num_parallel_calls=4)",
    "map to a list": "D.range(3).map(lambda x: [x, x + 1])",
    "map to numbers": "D.range(3).map(lambda x: (x, 1, 'text'))",
    "map with a branch": "D.range(6).map(lambda x: tf.cond(x < 3, lambda: x * 10, lambda: -x))",
    "map with a loop": "D.range(5).map(lambda x: tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i),"
                       " [tf.constant(0, tf.int64), tf.constant(0, tf.int64)])[1])",
    "map with py_func": "D.range(4).map(lambda x: tf.py_func(lambda v: np.float32(v * 1.5), [x], tf.float32))",
    "map with strings": "D.from_tensor_slices(['3 4', '5 6']).map(lambda s: tf.string_to_number("
                        "tf.string_split([s]).values, tf.float32))",
    "map of random numbers": "D.range(4).map(lambda x: tf.random_uniform([2], seed=3))",
    "filter": "D.range(10).filter(lambda x: tf.equal(x % 3, 0))",
    "filter of two": "D.from_tensor_slices(([1, 2, 3], [3, 2, 1])).filter(lambda a, b: a < b)",
    "flat_map": "D.range(4).flat_map(lambda x: D.range(x).map(lambda y: x * 10 + y))",
    "interleave": "D.range(1, 6).interleave(lambda x: D.from_tensors(x).repeat(6), cycle_length=2, block_length=4)",
    "interleave of unequal ones": "D.range(6).interleave(lambda x: D.range(10 * x, 11 * x), cycle_length=3)",
    "parallel interleave": "D.range(5).interleave(lambda x: D.range(10 * x, 10 * x + 3), cycle_length=2, "
                           "num_parallel_calls=2)",
    "padded_batch": "D.range(1, 6).map(lambda x: tf.fill([x], x)).padded_batch(2, padded_shapes=[None])",
    "padded_batch to a size": "D.range(1, 5).map(lambda x: tf.fill([x], x)).padded_batch(2, [6], tf.constant(-1, "
                              "tf.int64))",
    "padded_batch of two": "D.range(1, 5).map(lambda x: (x, tf.fill([2, x], 'a'))).padded_batch(3, ([], [2, None]), "
                           "(tf.constant(0, tf.int64), 'pad'), drop_remainder=True)",
    "padded_batch to a computed size": "D.range(1, 5).map(lambda x: tf.fill([x], x)).padded_batch(2, "
                                       "[tf.constant(3, tf.int64) * 2])",
    "prefetch": "D.range(9).prefetch(2).prefetch(1)",
    "cache": "D.range(3).map(lambda x: tf.random_uniform([], seed=1)).cache().repeat(2)",
    "window": "D.range(7).window(3).flat_map(lambda w: w.batch(3))",
    "window with shifts": "D.range(10).window(3, shift=2, stride=2, drop_remainder=True).flat_map("
                          "lambda w: w.batch(3))",
    "window wider apart": "D.range(10).window(2, shift=4).flat_map(lambda w: w.batch(2))",
    "window of two": "D.zip((D.range(5), D.range(5, 10))).window(2).flat_map(lambda a, b: D.zip((a.batch(2), b)))",
    "shuffle": "D.range(20).shuffle(7, seed=3)",
    "shuffle of all": "D.range(20).shuffle(100, seed=11)",
    "shuffle, repeated": "D.range(6).shuffle(4, seed=3).repeat(3)",
    "shuffle, repeated alike": "D.range(6).shuffle(4, seed=3, reshuffle_each_iteration=False).repeat(3)",
    "shuffle_and_repeat": "D.range(6).apply(E.shuffle_and_repeat(4, 3, seed=5))",
    "map_and_batch": "D.range(7).apply(E.map_and_batch(lambda x: x + 1, 3))",
    "ignore_errors": "D.from_tensor_slices([1., 0., 2.]).map(lambda x: tf.check_numerics(1. / x, 'x')).apply("
                     "E.ignore_errors())",
    "group_by_window": "D.range(10).apply(E.group_by_window(lambda x: x % 3, lambda k, w: w.batch(4), 2))",
    "bucket_by_sequence_length": "D.range(1, 9).map(lambda x: tf.fill([x], x)).apply(E.bucket_by_sequence_length("
                                 "lambda x: tf.size(x), [3, 6], [2, 2, 2]))",
    "scan": "D.range(5).apply(E.scan(np.int64(0), lambda s, x: (s + x, s * x)))",
    "take_while": "D.range(10).apply(E.take_while(lambda x: x < 4))",
    "unique": "D.from_tensor_slices([1, 2, 1, 3, 2]).apply(E.unique())",
    "choose": "E.choose_from_datasets([D.range(3), D.range(10, 13)], D.from_tensor_slices(np.array([0, 1, 1, 0])))",
    "generator": "D.from_generator(lambda: iter([(1, [1.]), (2, [1., 2.])]), (tf.int32, tf.float32), ([], [None]))",
    "generator with arguments": "D.from_generator(lambda n: iter(range(n)), tf.int64, [], args=[4]).repeat(2)",
    "counter": "E.Counter(3, 2).take(3)",
}


def plain(value: Any) -> Any:
    """Tuples and dicts as lists, arrays with their dtypes."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    array = np.asarray(value)
    return array.dtype.str, array.tolist()


def run(code: str) -> Any:
    scope: dict[str, Any] = {"tf": tf, "np": np}
    exec(COLLECT + code, scope)
    return scope["result"]


@pytest.mark.parametrize("name", PIPELINES)
def test_elements_are_those_of_tensorflow(name: str, oracle: Any) -> None:
    """tf.errors and elements cross as they are; orders of random elements too."""
    code = f"tf.set_random_seed(7)\nresult = collect({PIPELINES[name]})"
    assert plain(run(code)) == plain(oracle(COLLECT + code))


def test_batches_of_strings_that_a_function_made_hold_bytes():
    made = tf.data.Dataset.from_tensor_slices(["a", "b"]).map(lambda s: tf.string_join([s, "!"]))
    nexts = [made.batch(2).make_one_shot_iterator().get_next(),
             made.padded_batch(2, []).make_one_shot_iterator().get_next()]
    with tf.Session() as sess:
        for joined in sess.run(nexts):
            assert [type(text) for text in joined] == [bytes, bytes] and joined.tolist() == [b"a!", b"b!"]


_SHAPES = """
def padded(sizes):
    made = tf.data.Dataset.range(1, 6).map(lambda x: tf.fill([x], x))
    try:
        return str(tf.data.get_output_shapes(made.padded_batch(2, sizes())))
    except (TypeError, ValueError) as error:
        return type(error).__name__

def fed(*shape):
    return lambda: tf.placeholder(tf.int64, *shape)

result = [padded(sizes) for sizes in (
    fed([1]), fed([None]), fed(), fed([]), fed([2]), fed([1, 1]), lambda: tf.stack([fed([])()]),
    lambda: tf.constant([7], tf.int64), lambda: tf.constant([-1], tf.int64), lambda: tf.constant([7, 8], tf.int64),
    lambda: tf.constant([7], tf.int32), lambda: [tf.constant(7, tf.int64)], lambda: [7], lambda: [None])]
"""


def test_padded_shapes_that_are_tensors_are_known_as_far_as_in_tensorflow(oracle: Any) -> None:
    scope: dict[str, Any] = {"tf": tf}
    exec(_SHAPES, scope)
    assert scope["result"] == oracle(_SHAPES)
    assert scope["result"][:3] == ["(?, ?)", "<unknown>", "<unknown>"]
