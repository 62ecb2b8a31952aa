"""Buffering dataset steps: shuffling, caching, prefetching and parallel map."""
from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import Queue
from typing import Any

from tfnb.core.errors import OpError
from tfnb.core.options import options
from tfnb.ops.data.steps import AUTOTUNE, Element, Elements, Function, Source, Steps, mapped, ordering

_PREFETCHED = 2                                    # elements that AUTOTUNE keeps ready
_END = object()


def mapped_by_threads(source: Source, fn: Function, threads: int, lifts: bool = False) -> Source:
    """As `mapped`, in order, by several threads: as many elements are under way."""
    threads = options.threads if threads == AUTOTUNE else threads
    if threads < 2 or not options.background:
        return mapped(source, fn, lifts)

    def start() -> Elements:
        elements, pool = source.start(), ThreadPoolExecutor(threads, "tfnb-map")
        waiting: deque[Future[Element]] = deque()

        def step() -> Element:
            while len(waiting) < threads:
                try:
                    element = next(elements)
                except StopIteration:
                    break
                except OpError as error:           # its turn comes after those that are under way
                    failed: Future[Element] = Future()
                    failed.set_exception(error)
                    waiting.append(failed)
                else:
                    waiting.append(pool.submit(fn, element))
            if not waiting:
                raise StopIteration
            return waiting.popleft().result()
        return Steps(step)
    return Source(start, True, many=(source, fn) if lifts else None)


@ordering
def shuffled(source: Source, buffer: int, draws: Callable[[], Iterator[int]], count: int = 1) -> Source:
    """The elements in random order: each is drawn from the next `buffer` ones.

    draws: gives the random words of a new iterator, and of each further time; count: how many times `source` goes by,
    negative for ever, with the next time filling the buffer while the last one still empties it.
    """
    def start() -> Elements:
        return map(_given, _drawn(source, buffer, draws, count))
    return Source(start, source.fresh)


@dataclass(frozen=True)
class _Failed:
    """Placeholder of an element whose computation failed."""

    error: Exception


def _given(element: Any) -> Element:
    if element.__class__ is _Failed:
        raise element.error
    return element


def _drawn(source: Source, buffer: int, draws: Callable[[], Iterator[int]], count: int) -> Iterator[Any]:
    """See `shuffled`. A generator, for its speed; so errors are given as elements."""
    words, places = draws(), [None] * min(buffer, 1 << 16)      # a ring of `buffer`, as long as was needed so far
    elements: Elements | None = source.start()
    left, some, held = count - 1, False, 0
    first, end, later = 0, 0, deque([0])           # of the time that is drawn from: its places; ends of all times
    while True:
        while held < buffer and elements is not None:
            try:
                element = next(elements)
            except StopIteration:
                if left == 0 or count < 0 and not some:
                    elements = None
                    break
                left, some, elements = left - 1, False, source.start()
                later.append(later[-1])
                continue
            except OpError as error:
                yield _Failed(error)
                continue
            at, some = later[-1] % buffer, True
            if at >= len(places):
                places.extend([None] * min(buffer - len(places), len(places)))
            places[at] = element  # type: ignore[call-overload]
            later[-1] += 1
            held += 1
        if not held:
            return
        while first == (end := later[0]):
            later.popleft()
            words = draws()
        at, head = (first + next(words) % (end - first)) % buffer, first % buffer
        element, places[at] = places[at], places[head]  # type: ignore[assignment]
        places[head] = None
        first += 1
        held -= 1
        yield element


class Memory:
    """Cache of the elements of the first complete iteration over a source."""

    def __init__(self) -> None:
        self._elements: list[Element] | None = None

    def over(self, source: Source) -> Source:
        """`source`, or the elements it gave before."""
        def start() -> Elements:
            if self._elements is not None:
                return iter(self._elements)
            elements, found = source.start(), list[Element]()

            def step() -> Element:
                try:
                    element = next(elements)
                except StopIteration:
                    self._elements = found
                    raise
                found.append(element)
                return element
            return Steps(step)
        return Source(start)


def ahead(source: Source, size: int) -> Source:
    """Return the same elements, up to `size` of them made beforehand by a thread, where there are threads."""
    if size == 0 or not options.background:
        return source
    size = _PREFETCHED if size == AUTOTUNE else size

    def start() -> Elements:
        ready: Queue[Any] = Queue(size)
        stop = threading.Event()
        thread: list[threading.Thread] = []
        over = False

        def step() -> Element:
            nonlocal over
            if not thread:                         # at the first call: an iterator that nobody uses makes nothing
                thread.append(threading.Thread(target=_make, args=(source.start(), ready, stop), daemon=True,
                                               name="tfnb-prefetch"))
                thread[0].start()
            if over:
                raise StopIteration
            found = ready.get()
            if found is _END:
                over = True
                raise StopIteration
            if isinstance(found, BaseException):
                raise found
            return found
        steps = Steps(step)
        weakref.finalize(steps, _stop, ready, stop).atexit = False
        return steps
    return Source(start, source.fresh)


def _make(elements: Elements, ready: Queue[Any], stop: threading.Event) -> None:
    """Run the producer thread of `ahead`. An error takes the place of its element."""
    while not stop.is_set():
        try:
            found: Any = next(elements)
        except StopIteration:
            found = _END
        except BaseException as error:             # noqa: BLE001  it is raised where the element is asked for
            found = error
        ready.put(found)
        if found is _END or isinstance(found, BaseException) and not isinstance(found, OpError):
            return


def _stop(ready: Queue[Any], stop: threading.Event) -> None:
    """Let the thread of `ahead` end: nobody waits for its elements any more."""
    stop.set()
    while not ready.empty():
        ready.get_nowait()
