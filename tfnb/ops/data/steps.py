"""Iteration over datasets at run time: sources of elements, and transformations of them.

An element is a tuple of arrays, one for each component. A step that fails leaves its iterator where it was: the next
call goes on after the element that failed, as in TensorFlow.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError, OpError, OutOfRangeError

Element = tuple[np.ndarray, ...]
Elements = Iterator[Element]
Function = Callable[[Element], Element]
AUTOTUNE = -1


@dataclass(frozen=True, eq=False)
class Source:
    """A dataset at run time. start: makes a new iterator; fresh: whether its arrays belong to who takes them.

    rows: if its elements are rows of arrays, these and a source of the numbers of the rows. To bring numbers in order
    takes a fifth of the time that rows take, and a batch of rows is one copy.

    many: if it maps a function that holds for stacked elements, too (lifting.py), the source of these and the function.
    """

    start: Callable[[], Iterator[Any]]                # Elements; numbers, of a source that others are ordered by
    fresh: bool = False
    rows: tuple[Sequence[np.ndarray], Source] | None = None
    many: tuple[Source, Function] | None = None


class Steps:
    """An iterator over what `step` returns until it raises StopIteration. Unlike a generator, it outlives errors."""

    __slots__ = ("_step", "__weakref__")

    def __init__(self, step: Callable[[], Element]) -> None:
        self._step = step

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Element:
        return self._step()


def of_slices(arrays: Sequence[np.ndarray]) -> Source:
    """Return a source of the rows of arrays of one length."""
    return of_rows(arrays, Source(lambda: iter(range(len(arrays[0])))))


def of_rows(arrays: Sequence[np.ndarray], order: Source) -> Source:
    """Rows of arrays in an order: a source of their numbers."""
    def row(i: Any) -> Element:
        return tuple([a[i, ...] for a in arrays])
    return Source(lambda: map(row, order.start()), rows=(arrays, order))


def ordering(fn: Callable[..., Source]) -> Callable[..., Source]:
    """Return a function that permutes the elements of a source, rows by their indices."""
    @wraps(fn)
    def ordered(source: Source, *args: Any) -> Source:
        """Return `fn` of the source, or of the order of its rows."""
        if source.rows is None:
            return fn(source, *args)
        arrays, order = source.rows
        return of_rows(arrays, fn(order, *args))
    return ordered


@ordering
def repeat(source: Source, count: int) -> Source:
    """Return `source` repeated `count` times; without end for a negative count. An empty source stays empty."""
    def start() -> Elements:
        current, left, some = source.start(), count - 1, False

        def step() -> Element:
            nonlocal current, left, some
            while True:
                for element in current:
                    some = True
                    return element
                if left == 0 or count < 0 and not some:
                    raise StopIteration
                current, left, some = source.start(), left - 1, False
        return Steps(step)
    return Source(start, source.fresh) if count else Source(lambda: iter(()))


def concatenate(sources: Sequence[Source]) -> Source:
    """Return a source of the elements of several sources, one source after the other."""
    def start() -> Elements:
        rest = iter(sources)
        current: Elements = iter(())

        def step() -> Element:
            nonlocal current
            while True:
                for element in current:
                    return element
                current = next(rest).start()
        return Steps(step)
    return Source(start, all(s.fresh for s in sources))


def zipped(sources: Sequence[Source]) -> Source:
    """Return a source of tuples of elements, as long as all sources have one."""
    def start() -> Elements:
        parts = [source.start() for source in sources]
        return Steps(lambda: tuple([array for part in parts for array in next(part)]))
    return Source(start, all(s.fresh for s in sources))


@ordering
def sliced(source: Source, start: int, stop: int | None, step: int = 1) -> Source:
    """Return a source of every `step`-th element from index `start` to before index `stop`."""
    return Source(lambda: islice(source.start(), start, stop, step), source.fresh)


def mapped(source: Source, fn: Function, lifts: bool = False) -> Source:
    """Return a source of `fn` applied to each element. lifts: it gives stacked results for stacked elements."""
    return Source(lambda: map(fn, source.start()), True, many=(source, fn) if lifts else None)


def filtered(source: Source, keeps: Callable[[Element], bool]) -> Source:
    """Return a source of the elements for which `keeps` returns True."""
    return Source(lambda: filter(keeps, source.start()), source.fresh)


def taken_while(source: Source, keeps: Callable[[Element], bool]) -> Source:
    """Return a source of the elements before the first for which `keeps` returns False."""
    def start() -> Elements:
        elements, over = source.start(), False

        def step() -> Element:
            nonlocal over
            element = next(elements) if not over else None
            over = over or not keeps(element)  # type: ignore[arg-type]
            if over or element is None:
                raise StopIteration
            return element
        return Steps(step)
    return Source(start, source.fresh)


def without_errors(source: Source) -> Source:
    """Return a source of the elements that can be computed without an error."""
    def start() -> Elements:
        elements = source.start()

        def step() -> Element:
            while True:
                try:
                    return next(elements)
                except OpError:
                    continue
        return Steps(step)
    return Source(start, source.fresh)


def interleaved(source: Source, fn: Callable[[Element], Source], cycle: int, block: int) -> Source:
    """Interleave the datasets that `fn` makes: `block` of one, then of the next of `cycle` that are open at a time."""
    def start() -> Elements:
        inputs = source.start()
        open_: list[Elements | None] = [None] * cycle
        at = taken = 0
        more = True

        def step() -> Element:
            nonlocal at, taken, more
            while more or any(slot is not None for slot in open_):
                slot = open_[at]
                if slot is not None:
                    for element in slot:
                        taken += 1
                        if taken == block:
                            at, taken = (at + 1) % cycle, 0
                        return element
                    open_[at] = None
                elif more:
                    try:
                        open_[at] = fn(next(inputs)).start()
                        continue
                    except StopIteration:
                        more = False
                at, taken = (at + 1) % cycle, 0
            raise StopIteration
        return Steps(step)
    return Source(start)


def flattened(source: Source, fn: Callable[[Element], Source]) -> Source:
    """Concatenate the datasets that `fn` makes of each element."""
    return interleaved(source, fn, 1, 1)


def scanned(source: Source, state: Element, fn: Function, width: int) -> Source:
    """Return a source of `fn` folded over the elements: from the state (`width` arrays), a new state and an element."""
    def start() -> Elements:
        now = state

        def step() -> Element:
            nonlocal now
            made = fn((*now, *next(elements)))
            now = made[:width]
            return made[width:]
        elements = source.start()
        return Steps(step)
    return Source(start, True)


def chosen(selector: Source, sources: Sequence[Source]) -> Source:
    """Return the next element of that one of several that each element of `selector` numbers; one that is at its end is
    left out."""
    def start() -> Elements:
        parts: list[Elements | None] = [source.start() for source in sources]
        numbers = selector.start()

        def step() -> Element:
            while any(part is not None for part in parts):
                which = int(next(numbers)[0])
                if not 0 <= which < len(parts):
                    raise InvalidArgumentError(None, None, f"Selector index out of range: {which} >= {len(parts)}")
                part = parts[which]
                if part is not None:
                    for element in part:
                        return element
                    parts[which] = None
            raise StopIteration
        return Steps(step)
    return Source(start, all(s.fresh for s in sources))


def generated(first: Function, following: Function, last: Function) -> Source:
    """Return a source of `following` applied to the state of `first` until OutOfRangeError; then `last` runs."""
    def start() -> Elements:
        state: Element | None = None
        over = False

        def step() -> Element:
            nonlocal state, over
            if over:
                raise StopIteration
            if state is None:
                state = first(())
            try:
                return following(state)
            except OutOfRangeError:
                over = True
                last(state)
                raise StopIteration from None
        return Steps(step)
    return Source(start, True)


def unique(source: Source) -> Source:
    """Return a source without duplicates: each element of one component where it first came."""
    def start() -> Elements:
        seen: set[Any] = set()

        def new(element: Element) -> bool:
            before = len(seen)
            seen.add(element[0].tolist())
            return len(seen) > before
        return filter(new, source.start())
    return Source(start, source.fresh)


def as_handle(source: Source) -> np.ndarray:
    """Wrap a source as the value that passes between ops: a scalar of type variant."""
    handle = np.empty((), object)
    handle[()] = source
    return handle
