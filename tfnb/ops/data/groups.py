"""Grouping dataset steps: batches, padded batches, windows, groups by key."""
from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from tfnb.core import indexing
from tfnb.core.errors import InvalidArgumentError, OpError
from tfnb.ops.data.steps import Element, Elements, Function, Source, Steps, as_handle, flattened, of_slices


def batched(source: Source, size: int, drop: bool, join: Callable[[list[Element]], Element]) -> Source:
    """Return batches of `size` elements, each joined by `join`; the last may be smaller, unless `drop`."""
    if source.many is not None and join is stacked:
        return _batched_at_once(*source.many, size, drop)
    rows = source.rows
    if rows is not None and join is stacked:
        arrays, source = rows

        def join(group: list[Any]) -> Element:
            """Return the elements of a group of rows as one."""
            return tuple([indexing.take(a, group, 0) for a in arrays])

    def start() -> Elements:
        elements = source.start()

        def step() -> Element:
            group = list(islice(elements, size))
            if not group or drop and len(group) < size:
                raise StopIteration
            return join(group)
        return Steps(step)
    return Source(start, True)


def _batched_at_once(source: Source, fn: Function, size: int, drop: bool) -> Source:
    """Return batches of `fn` of elements, by one call for each batch; one by one where that fails."""
    def start() -> Elements:
        elements, left = source.start(), deque[Element]()

        def one_by_one(group: list[Element]) -> Element:
            left.extend(group)                    # what comes after one that fails is the start of the next batch
            made = []
            while left:
                made.append(fn(left.popleft()))
            return stacked(made)

        def step() -> Element:
            group = [left.popleft() for _ in range(min(size, len(left)))]
            group += islice(elements, size - len(group))
            if not group or drop and len(group) < size:
                raise StopIteration
            try:
                found = fn(stacked(group))
            except OpError:
                return one_by_one(group)
            return found if all(a.shape[:1] == (len(group),) for a in found) else one_by_one(group)
        return Steps(step)
    return Source(start, True)


def stacked(group: Sequence[Element]) -> Element:
    """Stack elements of equal shapes. Raises InvalidArgumentError if shapes differ."""
    made = []
    for component in range(len(group[0])):
        arrays = [element[component] for element in group]
        first = arrays[0]
        if len({array.shape for array in arrays}) > 1:
            i = next(i for i, array in enumerate(arrays) if array.shape != first.shape)
            raise InvalidArgumentError(
                None, None, f"Cannot batch tensors with different shapes in component {component}. First element had "
                            f"shape {_brackets(first.shape)} and element {i} had shape {_brackets(arrays[i].shape)}.")
        if first.ndim:
            made.append(np.concatenate(arrays).reshape(len(arrays), *first.shape))
        else:
            batch = np.empty(len(arrays), first.dtype)
            batch[:] = [array[()] for array in arrays]
            made.append(batch)
    return tuple(made)


def _brackets(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def padded(group: Sequence[Element], shapes: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> Element:
    """As `stacked`, after padding with `values` to `shapes`; -1 stands for the largest size in the batch."""
    made = []
    for component, (wanted, value) in enumerate(zip(shapes, values, strict=True)):
        arrays = [element[component] for element in group]
        sizes = [max(a.shape[axis] for a in arrays) if n < 0 else int(n) for axis, n in enumerate(wanted)
                 if _ranks_fit(arrays, wanted, component)]
        batch = np.full((len(arrays), *sizes), value[()], arrays[0].dtype)
        for i, array in enumerate(arrays):
            if any(n > size for n, size in zip(array.shape, sizes, strict=True)):
                raise InvalidArgumentError(
                    None, None, f"Attempted to pad to a smaller size than the input element: component {component} has "
                                f"shape {_brackets(array.shape)}, padded_shape is {_brackets(wanted.tolist())}")
            place: Any = (i, *(slice(n) for n in array.shape), ...)
            batch[place] = array
        made.append(batch)
    return tuple(made)


def _ranks_fit(arrays: Sequence[np.ndarray], wanted: np.ndarray, component: int) -> bool:
    for array in arrays:
        if array.ndim != len(wanted):
            raise InvalidArgumentError(
                None, None, f"All elements in a batch must have the same rank as the padded shape for component "
                            f"{component}: expected rank {len(wanted)} but got element with rank {array.ndim}")
    return True


def unbatched(source: Source) -> Source:
    """Return a source of the rows of each element."""
    def rows(element: Element) -> Source:
        sizes = {array.shape[:1] for array in element}
        if len(sizes) != 1 or not next(iter(sizes)):
            raise InvalidArgumentError(None, None, "unbatch() needs components of one size along their first axis, got "
                                                   "shapes " + ", ".join(_brackets(a.shape) for a in element))
        return of_slices(element)
    return flattened(source, rows)


def windows(source: Source, size: int, shift: int, stride: int, drop: bool) -> Source:
    """Return datasets of `size` elements, every `stride`-th one; the next begins `shift` elements later."""
    span = (size - 1) * stride + 1

    def start() -> Elements:
        elements = source.start()
        held: deque[Element] = deque()
        skip = 0

        def step() -> Element:
            nonlocal skip
            while skip:
                skip -= 1
                next(elements)
            held.extend(islice(elements, span - len(held)))
            window = list(islice(held, 0, None, stride))
            if not window or drop and len(window) < size:
                raise StopIteration
            skip = max(0, shift - len(held)) if len(held) == span else 0
            for _ in range(min(shift, len(held))):
                held.popleft()
            return tuple(as_handle(_column(window, i)) for i in range(len(window[0])))
        return Steps(step)
    return Source(start)


def _column(elements: Sequence[Element], component: int) -> Source:
    return Source(lambda: iter([(element[component],) for element in elements]))


def grouped(source: Source, key: Callable[[Element], int], size: Callable[[int], int],
            reduce: Callable[[int, Source], Source]) -> Source:
    """Group elements by `key`; `reduce` makes a dataset of each `size` elements of one key, and of the rest."""
    def start() -> Elements:
        elements = source.start()
        groups: OrderedDict[int, list[Element]] = OrderedDict()
        sizes: dict[int, int] = {}
        current: Elements = iter(())

        def full() -> int:
            for element in elements:
                of = key(element)
                if of not in sizes:
                    sizes[of] = size(of)
                    if sizes[of] <= 0:
                        raise InvalidArgumentError(None, None, f"Window size must be greater than zero, but got "
                                                               f"{sizes[of]}.")
                group = groups.setdefault(of, [])
                group.append(element)
                if len(group) == sizes[of]:
                    return of
            if not groups:
                raise StopIteration
            return min(groups)

        def step() -> Element:
            nonlocal current
            while True:
                for element in current:
                    return element
                of = full()
                current = reduce(of, Source(partial(iter, groups.pop(of)))).start()
        return Steps(step)
    return Source(start)
