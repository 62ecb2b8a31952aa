"""Functions for `Dataset.apply` that are made of others: reductions by key, resampling, sparse batches."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_less_equal
from tfnb.core import dtypes
from tfnb.core.arguments import DATASETS, describe
from tfnb.data import structure
from tfnb.data.dataset import Dataset
from tfnb.data.windows import group_by_window, scan
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import control_dependencies
from tfnb.ops.array.create import ones_like
from tfnb.ops.array.gather import gather, one_hot
from tfnb.ops.array.reshape import reshape, shape
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import greater, less, where
from tfnb.ops.random.random_ops import random_uniform
from tfnb.ops.reductions.reduce import reduce_max, reduce_sum

_SMOOTHING = 10                                    # official: what each class is counted with before the first element


class Reducer:
    """A reduction of elements: of three functions.

    init_func: of the key, to the first state; reduce_func: of a state and an element, to the next state;
    finalize_func: of the last state (of the parts of a tuple), to an element.

    >>> add = tf.data.experimental.Reducer(lambda key: np.int64(0), lambda total, x: total + x, lambda total: total)
    >>> sums = tf.data.experimental.group_by_reducer(lambda x: x % 2, add)
    >>> element = tf.data.Dataset.range(5).apply(sums).make_one_shot_iterator().get_next()
    >>> sess.run(element), sess.run(element)
    (6, 4)
    """

    def __init__(self, init_func: Callable[..., Any], reduce_func: Callable[..., Any],
                 finalize_func: Callable[..., Any]) -> None:
        self.init_func, self.reduce_func, self.finalize_func = init_func, reduce_func, finalize_func


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Callable[[Dataset], Dataset]:
    """One element for each key (int64): what a reducer makes of the elements that have it, by increasing keys.

    All elements are held until the dataset ends. reducer: a Reducer.

    >>> count = tf.data.experimental.Reducer(lambda key: 0, lambda n, word: n + 1, lambda n: n)
    >>> words = tf.data.Dataset.from_tensor_slices(["a", "bb", "cc"])
    >>> counts = words.apply(tf.data.experimental.group_by_reducer(
    ...     lambda word: tf.cast(tf.strings.length(word), tf.int64), count))
    >>> element = counts.make_one_shot_iterator().get_next()
    >>> sess.run(element), sess.run(element)
    (1, 2)
    """
    def reduce(key: Any, window: Dataset) -> Dataset:
        last = window.reduce(reducer.init_func(key), reducer.reduce_func)
        several = isinstance(last, tuple) and not hasattr(last, "_fields")
        return Dataset.from_tensors(reducer.finalize_func(*last) if several else reducer.finalize_func(last))
    return group_by_window(key_func, reduce, dtypes.int64.max)


def rejection_resample(class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None,
                       seed: int | None = None) -> Callable[[Dataset], Dataset]:
    """Pairs of a class and an element, of which as many are left out at random as the target distribution demands.

    class_func: of an element, to its class, an int32 scalar; target_dist, initial_dist: the share of each class, as it
    shall be and as it is (None: as counted so far); seed: see tf.set_random_seed.

    >>> dataset = tf.data.Dataset.from_tensor_slices([0, 0, 0, 1]).repeat()
    >>> even = tf.data.experimental.rejection_resample(lambda x: x, target_dist=[0.0, 1.0], initial_dist=[0.75, 0.25])
    >>> sess.run(dataset.apply(even).make_one_shot_iterator().get_next())
    (1, 1)
    """
    target = convert_to_tensor(target_dist, name="target_dist")

    def kept(kind: Any, initial: Any) -> Any:
        initial = convert_to_tensor(initial, dtype=target.dtype.base_dtype, name="initial_dist")
        present = greater(initial, 0)
        ratio = where(present, target / where(present, initial, ones_like(initial)), ones_like(initial) - 1)
        draw = random_uniform([], dtype=target.dtype.base_dtype, seed=seed)
        return less(draw, gather(ratio / reduce_max(ratio), kind))

    def count(seen: Any, pair: Any) -> Any:
        seen = seen + one_hot(pair[0], int(target.shape[0]), dtype=dtypes.int64)
        return seen, (pair, cast(seen, target.dtype.base_dtype) / cast(reduce_sum(seen), target.dtype.base_dtype))

    def apply(dataset: Dataset) -> Dataset:
        several = isinstance(dataset._element, tuple)
        pairs = dataset.map(lambda *element: (class_func(*element), element if several else element[0]))
        if initial_dist is not None:
            return pairs.filter(lambda kind, _: kept(kind, initial_dist))
        first = np.full(int(target.shape[0]), _SMOOTHING, np.int64)
        counted = pairs.apply(scan(first, lambda seen, pair: count(seen, pair)))
        return counted.filter(lambda pair, share: kept(pair[0], share)).map(lambda pair, _: pair)
    return apply


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Callable[[Dataset], Dataset]:
    """`batch` of tensors of different sizes, as SparseTensors.

    row_shape: the shape that holds each of them, with None or -1 for the largest size of a batch. Raises TypeError for
    elements that are no single tensor; iterators raise InvalidArgumentError for an element that is larger.

    >>> dataset = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
    >>> batches = dataset.apply(tf.data.experimental.dense_to_sparse_batch(2, row_shape=[3]))
    >>> sess.run(tf.sparse.to_dense(batches.make_one_shot_iterator().get_next()))
    array([[1, 0, 0],
           [2, 2, 0]])
    """
    sizes = np.array([-1 if n in (None, -1) else int(n) for n in row_shape], np.int64)

    def sparse(element: Any) -> SparseTensor:
        own = shape(element, out_type=dtypes.int64)
        wanted = where(np.less(sizes, 0), own, sizes)
        with control_dependencies([assert_less_equal(own, wanted, message="an element is larger than `row_shape`")]):
            values = reshape(element, [-1])
        made = SparseTensor(where(ones_like(element, dtypes.bool)), values, wanted)
        made.dense_shape.set_shape([len(sizes)])
        return made

    def apply(dataset: Dataset) -> Dataset:
        if structure.is_structure(dataset._element):
            raise TypeError("`dense_to_sparse_batch()` expects elements of a single tensor, got "
                            f"{dataset.output_types}")
        return dataset.map(sparse).batch(batch_size)
    return apply


describe(globals(), DATASETS)
