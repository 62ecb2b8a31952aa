"""Functions of integers that are also ones of symbolic sizes: where Python's own would need a guard, or an integer."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfnb.kernels.symbolic import Pinned, Size, plain, terms_of


def exact(number: Any) -> int:
    """Return a plain integer: of a Size its value, which becomes a guard."""
    if isinstance(number, Size) and not number == number.value:
        raise Pinned
    return plain(number)


def require_plain(values: Iterable[Any]) -> None:
    """Raise Pinned for a Size among values, or in a tuple of these."""
    for value in values:
        if isinstance(value, Size) or isinstance(value, (tuple, list)) and any(isinstance(n, Size) for n in value):
            raise Pinned


def range_of(start: Any, stop: Any, step: int, size: Any) -> tuple[Any, Any]:
    """Return the first index and the number of indices that a slice takes of an axis, as Python's `slice` does."""
    if not any(isinstance(n, Size) for n in (start, stop, size)):
        places = range(*slice(start, stop, step).indices(size))
        return places.start, len(places)
    low, high = (0, size) if step > 0 else (-1, size - 1)

    def index(bound: Any, default: Any) -> Any:
        """Return a bound between those that the direction allows."""
        if bound is None:
            return default
        return highest(low, bound + size) if bound < 0 else lowest(high, bound)
    first, last = (index(start, low), index(stop, high)) if step > 0 else (index(start, high), index(stop, low))
    return first, count_of(first, last, step)


def count_of(start: Any, stop: Any, step: Any) -> Any:
    """Return the length of `range(start, stop, step)`."""
    if not any(isinstance(n, Size) for n in (start, stop, step)):
        return len(range(start, stop, step))
    distance = start - stop if step > 0 else stop - start
    return highest(0, -(distance // abs(step)))


def lowest(a: Any, b: Any) -> Any:
    """Return the lesser of two integers or Sizes, with no guard for which of them it is."""
    return _extreme("min", min, a, b)


def highest(a: Any, b: Any) -> Any:
    """Return the greater of two integers or Sizes, with no guard for which of them it is."""
    return _extreme("max", max, a, b)


def _extreme(kind: str, choose: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    difference = a - b
    if not isinstance(difference, Size):
        return choose(a, b) if difference else a
    symbols = difference.symbols
    low, high = symbols.bounds(difference.terms)
    if low >= 0 or high <= 0:
        return a if (low >= 0) == (kind == "max") else b
    of_a, of_b = symbols.bounds(terms_of(a)), symbols.bounds(terms_of(b))
    bounds = choose(of_a[0], of_b[0]), choose(of_a[1], of_b[1])
    return symbols.atom(kind, a, b, bounds, choose(plain(a), plain(b)))
