"""Functions for `Dataset.apply` with a state of their own: `scan`, `group_by_window`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import DATASETS, describe
from tfnb.core.shape import TensorShape
from tfnb.data import structure
from tfnb.data.calls import Called, dataset_of, single, with_state
from tfnb.data.dataset import Dataset
from tfnb.data.structure import Component
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.data import datasets as ops

Transformation = Callable[[Dataset], Dataset]


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """The second part of what `scan_func(state, element)` returns; the first is the state for the next element.

    >>> totals = tf.contrib.data.scan(np.int64(0), lambda total, x: (total + x, total + x))
    >>> dataset = tf.data.Dataset.range(1, 5).apply(totals)
    >>> element = dataset.make_one_shot_iterator().get_next()
    >>> [sess.run(element) for _ in range(4)]
    [1, 3, 6, 10]
    """
    def apply(dataset: Dataset) -> Dataset:
        with name_scope("initial_state"):
            state, flat = structure.as_tensors(initial_state)
        call, state = with_state(scan_func, state, dataset._element, "Dataset_scan", lambda made: made[0])
        return dataset._made(ops.ScanDataset, flat, call.captured, element=call.element[1], f=call.f)
    return apply


def group_by_window(key_func: Callable[..., Any], reduce_func: Callable[[Any, Dataset], Dataset],
                    window_size: Any = None, window_size_func: Callable[[Any], Any] | None = None) -> Transformation:
    """The datasets that `reduce_func(key, window)` makes of `window_size` elements of one key (int64).

    Raises ValueError unless one of `window_size` and `window_size_func` is given, or if a function returns another
    type than it must.

    >>> even = tf.contrib.data.group_by_window(lambda x: x % 2, lambda key, window: window.batch(2), window_size=2)
    >>> element = tf.data.Dataset.range(4).apply(even).make_one_shot_iterator().get_next()
    >>> sess.run(element), sess.run(element)
    (array([0, 2]), array([1, 3]))
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func, and not both.")
    number = Component(dtypes.int64, TensorShape([]))

    def size_of(key: Any) -> Any:
        return convert_to_tensor(window_size if window_size_func is None else window_size_func(key), dtype=dtypes.int64)

    def apply(dataset: Dataset) -> Dataset:
        key = Called(key_func, dataset._element, "Dataset_key")
        single(key, dtypes.int64, "`key_func`")
        window = Component(dtypes.variant, TensorShape([]), dataset._element, Dataset)
        reduced = Called(reduce_func, (number, window), "Dataset_reduce")
        size = Called(size_of, number, "Dataset_window_size")
        return dataset._made(ops.GroupByWindowDataset, key.captured, reduced.captured, size.captured,
                             element=dataset_of(reduced, "group_by_window"), key_func=key.f, reduce_func=reduced.f,
                             window_size_func=size.f)
    return apply


describe(globals(), DATASETS)
