"""`tf.data.experimental`: functions for `Dataset.apply`, and what else pipelines are made with."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.absent import explain as _explain
from tfnb.core.arguments import DATASETS, describe
from tfnb.core.shape import TensorShape
from tfnb.data import structure
from tfnb.data.calls import Called, single
from tfnb.data.cardinality import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, cardinality
from tfnb.data.csv_files import CsvDataset, make_csv_dataset
from tfnb.data.databases import RandomDataset, SqlDataset, TFRecordWriter
from tfnb.data.dataset import Dataset, Options, seeds
from tfnb.data.examples import make_batched_features_dataset, parse_example_dataset
from tfnb.data.optional import (
    DatasetStructure,
    Optional,
    OptionalSpec,
    RaggedTensorStructure,
    SparseTensorStructure,
    TensorArrayStructure,
    TensorStructure,
    get_next_as_optional,
    get_structure,
)
from tfnb.data.options import DistributeOptions, OptimizationOptions, ThreadingOptions
from tfnb.data.reduced import (
    Reducer,
    dense_to_sparse_batch,
    group_by_reducer,
    rejection_resample,
)
from tfnb.data.windows import Transformation, group_by_window, scan
from tfnb.graph.convert import convert_to_tensor
from tfnb.ops.array.gather import gather
from tfnb.ops.array.joining import stack
from tfnb.ops.composite.specs import TypeSpec
from tfnb.ops.data import datasets as ops
from tfnb.ops.data import iterators
from tfnb.ops.data.steps import AUTOTUNE
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import greater_equal
from tfnb.ops.random.random_ops import random_uniform
from tfnb.ops.reductions.reduce import reduce_sum

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Counter", "CsvDataset", "DatasetStructure",
           "DistributeOptions", "OptimizationOptions", "Optional", "OptionalStructure", "Options",
           "RaggedTensorStructure", "RandomDataset", "Reducer", "SparseTensorStructure", "SqlDataset", "Structure",
           "TFRecordWriter", "TensorArrayStructure", "TensorStructure", "ThreadingOptions",
           "bucket_by_sequence_length", "cardinality", "choose_from_datasets", "copy_to_device",
           "dense_to_sparse_batch", "enumerate_dataset", "get_next_as_optional", "get_single_element", "get_structure",
           "group_by_reducer",
           "group_by_window", "ignore_errors", "make_batched_features_dataset", "make_csv_dataset", "map_and_batch",
           "map_and_batch_with_legacy_function",
           "parallel_interleave", "parse_example_dataset", "prefetch_to_device", "rejection_resample",
           "sample_from_datasets", "scan", "shuffle_and_repeat", "take_while", "unbatch", "unique"]


def map_and_batch(map_func: Callable[..., Any], batch_size: Any, num_parallel_batches: Any = None,
                  drop_remainder: Any = False, num_parallel_calls: Any = None) -> Transformation:
    """`map`, then `batch`.

    >>> dataset = tf.data.Dataset.range(4).apply(tf.contrib.data.map_and_batch(lambda x: x * x, batch_size=2))
    >>> batch = dataset.make_one_shot_iterator().get_next()
    >>> sess.run(batch), sess.run(batch)
    (array([0, 1]), array([4, 9]))
    """
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


map_and_batch_with_legacy_function = map_and_batch


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`shuffle`, then `repeat`, with the elements of one time mixed with those of the next.

    >>> dataset = tf.data.Dataset.range(3).apply(tf.contrib.data.shuffle_and_repeat(buffer_size=3, count=2))
    >>> element = dataset.make_one_shot_iterator().get_next()
    >>> sorted(sess.run(element) for _ in range(6))
    [0, 0, 1, 1, 2, 2]
    """
    def apply(dataset: Dataset) -> Dataset:
        size = convert_to_tensor(buffer_size, dtype=dtypes.int64, name="buffer_size")
        times = convert_to_tensor(-1 if count is None else count, dtype=dtypes.int64, name="count")
        return dataset._made(ops.ShuffleAndRepeatDataset, size, *seeds(seed), times)
    return apply


def unbatch() -> Transformation:
    """The rows of each element.

    >>> dataset = tf.data.Dataset.from_tensors([1, 2]).apply(tf.contrib.data.unbatch())
    >>> element = dataset.make_one_shot_iterator().get_next()
    >>> sess.run(element), sess.run(element)
    (1, 2)
    """
    return lambda dataset: dataset.unbatch()


def ignore_errors() -> Transformation:
    """The elements that can be made without an error.

    >>> dataset = tf.data.Dataset.from_tensor_slices(["1", "x", "3"]).map(tf.string_to_number)
    >>> element = dataset.apply(tf.contrib.data.ignore_errors()).make_one_shot_iterator().get_next()
    >>> sess.run(element), sess.run(element)
    (1.0, 3.0)
    """
    return lambda dataset: dataset._made(ops.IgnoreErrorsDataset)


def enumerate_dataset(start: Any = 0) -> Transformation:
    """Pairs of a number and an element.

    >>> dataset = tf.data.Dataset.from_tensor_slices(["a", "b"]).apply(tf.contrib.data.enumerate_dataset(start=5))
    >>> element = dataset.make_one_shot_iterator().get_next()
    >>> sess.run(element), sess.run(element)
    ((5, b'a'), (6, b'b'))
    """
    return lambda dataset: dataset.enumerate(start)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements before the first for which `predicate` gives False.

    >>> dataset = tf.data.Dataset.range(10).apply(tf.data.experimental.take_while(lambda x: x < 2))
    >>> element = dataset.make_one_shot_iterator().get_next()
    >>> sess.run(element), sess.run(element)
    (0, 1)
    """
    def apply(dataset: Dataset) -> Dataset:
        call = Called(predicate, dataset._element, "Dataset_take_while")
        single(call, dtypes.bool, "`predicate`")
        return dataset._made(ops.TakeWhileDataset, call.captured, predicate=call.f)
    return apply


def unique() -> Transformation:
    """Each element once, where it first comes: of int32, int64 or string scalars. Raises TypeError for others.

    >>> dataset = tf.data.Dataset.from_tensor_slices([3, 1, 3, 2]).apply(tf.contrib.data.unique())
    >>> element = dataset.make_one_shot_iterator().get_next()
    >>> [sess.run(element) for _ in range(3)]
    [3, 1, 2]
    """
    def apply(dataset: Dataset) -> Dataset:
        found = dataset._element
        if structure.is_structure(found) or found.dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError("`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`, "
                            f"`tf.int64`, or `tf.string` component, not {dataset.output_types}")
        return dataset._made(ops.UniqueDataset)
    return apply


def parallel_interleave(map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1, sloppy: Any = False,
                        buffer_output_elements: Any = None, prefetch_input_elements: Any = None) -> Transformation:
    """`Dataset.interleave`; the order is always the same here, also with `sloppy`.

    >>> dataset = tf.data.Dataset.range(1, 3).apply(
    ...     tf.contrib.data.parallel_interleave(lambda x: tf.data.Dataset.from_tensors(10 * x), cycle_length=1))
    >>> element = dataset.make_one_shot_iterator().get_next()
    >>> sess.run(element), sess.run(element)
    (10, 20)
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, cycle_length)


def bucket_by_sequence_length(element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
                              bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
                              pad_to_bucket_boundary: bool = False, no_padding: bool = False,
                              drop_remainder: bool = False) -> Transformation:
    """Padded batches of elements of similar length, an int32 scalar that `element_length_func` gives.

    bucket_boundaries: the upper limits, not included, of the buckets but the last; bucket_batch_sizes: of each bucket.
    pad_to_bucket_boundary: pad unknown sizes to the limit - 1 instead of the longest. Raises ValueError if the numbers
    of boundaries and sizes don't fit.

    >>> dataset = tf.data.Dataset.from_generator(lambda: [[1], [2, 3, 4], [5]], tf.int32, [None])
    >>> rule = tf.contrib.data.bucket_by_sequence_length(tf.size, bucket_boundaries=[2], bucket_batch_sizes=[2, 2])
    >>> sess.run(dataset.apply(rule).make_one_shot_iterator().get_next())
    array([[1],
           [5]], dtype=int32)
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
    limits = np.array([*bucket_boundaries, np.iinfo(np.int32).max], np.int64)
    sizes = np.array(bucket_batch_sizes, np.int64)

    def bucket(*args: Any) -> Any:
        length = cast(element_length_func(*args), dtypes.int64)
        return reduce_sum(cast(greater_equal(length, limits[:-1]), dtypes.int64))

    def size_of(key: Any) -> Any:
        return gather(sizes, key)

    def batch(key: Any, window: Dataset) -> Dataset:
        size = size_of(key)
        if no_padding:
            return window.batch(size, drop_remainder)
        shapes = window.output_shapes if padded_shapes is None else padded_shapes
        if pad_to_bucket_boundary:
            limit = gather(limits, key) - 1
            shapes = structure.pack(window._element, [
                stack([limit if n is None else convert_to_tensor(n, dtype=dtypes.int64)
                       for n in TensorShape(shape).static or ()])
                for shape in structure.flatten_up_to(window._element, shapes, "padded_shapes")])
        return window.padded_batch(size, shapes, padding_values, drop_remainder)
    return group_by_window(bucket, batch, None, size_of)


def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """The next element of the dataset that each element (int64) of `choice_dataset` numbers.

    >>> datasets = [tf.data.Dataset.range(5), tf.data.Dataset.range(10, 15)]
    >>> choice = tf.data.Dataset.from_tensor_slices(np.array([1, 0, 1]))
    >>> element = tf.contrib.data.choose_from_datasets(datasets, choice).make_one_shot_iterator().get_next()
    >>> [sess.run(element) for _ in range(3)]
    [10, 0, 11]
    """
    first = datasets[0]
    if any(d.output_types != first.output_types for d in datasets):
        raise TypeError("all datasets must have elements of the same dtypes, but got "
                        + ", ".join(str(d.output_types) for d in datasets))
    return Dataset(ops.DirectedInterleaveDataset(choice_dataset._variant_tensor, [d._variant_tensor for d in datasets],
                                                 **structure.attrs(first._element)), first._element)


def sample_from_datasets(datasets: Sequence[Dataset], weights: Any = None, seed: Any = None) -> Dataset:
    """Elements of several datasets, each of one drawn at random. weights: of the datasets, by default equal.

    >>> datasets = [tf.data.Dataset.range(5), tf.data.Dataset.range(10, 15)]
    >>> dataset = tf.contrib.data.sample_from_datasets(datasets, weights=[0.0, 1.0])
    >>> element = dataset.make_one_shot_iterator().get_next()
    >>> sess.run(element), sess.run(element)
    (10, 11)
    """
    shares = np.full(len(datasets), 1 / len(datasets)) if weights is None else np.asarray(weights, np.float64)
    if shares.shape != (len(datasets),):
        raise ValueError(f"`weights` must be a vector of length `len(datasets)`, got {weights!r}")
    limits = np.cumsum(shares / shares.sum())[:-1]

    def draw(_: Any) -> Any:
        drawn = random_uniform([], dtype=dtypes.float64, seed=seed)
        return reduce_sum(cast(greater_equal(drawn, limits), dtypes.int64))
    return choose_from_datasets(datasets, Dataset.range(1).repeat().map(draw))


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset, as tensors. Running them raises InvalidArgumentError if it has not just one.

    >>> sess.run(tf.contrib.data.get_single_element(tf.data.Dataset.from_tensors([1, 2])))
    array([1, 2], dtype=int32)
    """
    made = iterators.DatasetToSingleElement(dataset._variant_tensor, **structure.attrs(dataset._element))
    return structure.as_values(dataset._element, made)


def Counter(start: int = 0, step: int = 1, dtype: Any = dtypes.int64) -> Dataset:
    """Numbers without end, from `start`.

    >>> element = tf.contrib.data.Counter(start=3, step=2).make_one_shot_iterator().get_next()
    >>> [sess.run(element) for _ in range(3)]
    [3, 5, 7]
    """
    counted = Dataset.range(start, dtypes.int64.max if step > 0 else dtypes.int64.min, step)
    return counted if dtype == dtypes.int64 else counted.map(lambda x: cast(x, dtype))


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """`Dataset.prefetch`; elements are in the memory of the CPU.

    >>> dataset = tf.data.Dataset.range(3).apply(tf.contrib.data.prefetch_to_device("/cpu:0"))
    >>> sess.run(dataset.make_one_shot_iterator().get_next())
    0
    """
    return lambda dataset: dataset.prefetch(buffer_size)


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Transformation:
    """The dataset itself; elements are in the memory of the CPU.

    >>> dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.copy_to_device("/cpu:0"))
    >>> sess.run(dataset.make_one_shot_iterator().get_next())
    0
    """
    return lambda dataset: dataset


Structure, OptionalStructure = TypeSpec, OptionalSpec


describe(globals(), DATASETS)

_explain(__name__)
