"""Assertions on the shapes of several tensors that share sizes: `tf.debugging.assert_shapes`."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfnb.control_flow.assertions import Assert
from tfnb.core.arguments import ASSERTIONS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.reshape import rank, shape
from tfnb.ops.control.group import group
from tfnb.ops.declaration.public import public
from tfnb.ops.math.compare import equal, greater_equal

_ANY = (None, ".")                                 # sizes that are not checked
_LEADING = (..., "*")


@public("debugging.assert_shapes")
def assert_shapes(shapes: Mapping[Any, Any] | Iterable[tuple[Any, Any]], data: Any = None, summarize: int | None = None,
                  message: str | None = None, name: str | None = None) -> Operation:
    """Return an operation that checks shapes with sizes in common: {x: ("N", 3), y: ("N",)}.

    shapes: tensor -> its sizes, or a list of such pairs: numbers, names of sizes that are the same wherever they stand,
    None or "." for any size; ... or "*" at the beginning, before other sizes, for any number of axes; () for a scalar,
    which is checked only where the rank is known. A size that is known to be another one raises ValueError at once,
    else running the operation raises InvalidArgumentError. Raises TypeError for sizes that are no list or tuple.

    >>> x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    >>> check = tf.debugging.assert_shapes([(x, ("N", 3)), (y, ("N",))])
    >>> sess.run(check, {x: [[1, 2, 3], [4, 5, 6]], y: [7, 8]})
    """
    pairs = list(shapes.items() if isinstance(shapes, Mapping) else shapes)
    with name_scope(name, "assert_shapes"):
        checks: list[Operation] = []
        sizes: dict[str, tuple[Any, str]] = {}     # name -> its size, a number or a tensor, and where it was found
        for value, symbols in pairs:
            _check(convert_to_tensor(value), _listed(symbols), sizes, checks, (data, summarize, message or ""))
        return group(*checks)


def _listed(symbols: Any) -> list[Any]:
    if isinstance(symbols, int):
        raise ValueError(f"sizes must be a list or tuple of numbers and names, got {symbols}")
    if not isinstance(symbols, (list, tuple, str)):
        raise TypeError(f"sizes must be a list or tuple of numbers and names, got {symbols!r}")
    found = list(symbols)
    if any(symbol in _LEADING for symbol in found[1:]) or found and len(found) == 1 and found[0] in _LEADING:
        raise ValueError(f"... and '*' stand before other sizes, got {symbols!r}")
    return found


def _check(x: Tensor, symbols: list[Any], sizes: dict[str, tuple[Any, str]], checks: list[Operation],
           options: tuple[Any, Any, str]) -> None:
    """Add the checks of one tensor. Raises ValueError for what its static shape rules out."""
    _, _, message = options
    free = bool(symbols) and symbols[0] in _LEADING
    symbols = symbols[1:] if free else symbols
    known, count = x.static, len(symbols)
    what = f"{message}  Shape of tensor {x.op.name}"
    if known is not None and (len(known) < count if free else len(known) != count):
        raise ValueError(f"{what} mismatch: expected rank {'of at least ' * free}{count}, got shape {list(known)}")
    if known is None and count:
        compare = greater_equal if free else equal
        checks.append(_assertion(compare(rank(x), count), f"{what} must have rank {'>= ' * free}{count}", x, options))
    for k, symbol in enumerate(symbols):
        if symbol in _ANY:
            continue
        at = k - count
        static = None if known is None else known[at]
        size: Any = shape(x)[at] if static is None else static
        expected, source = (symbol, "the number given") if isinstance(symbol, int) else sizes.setdefault(
            str(symbol), (size, x.op.name))
        text = f"{what} dimension {at} must have size"
        if isinstance(size, int) and isinstance(expected, int):
            if size != expected:
                raise ValueError(f"{text} {expected} ({symbol!r}, by {source}), but its shape is {list(known or ())}")
        elif size is not expected:
            checks.append(_assertion(equal(size, expected), f"{text} {symbol!r}, by {source}", x, options))


def _assertion(holds: Tensor, text: str, x: Tensor, options: tuple[Any, Any, Any]) -> Operation:
    data, summarize, _ = options
    told: Sequence[Any] = [text, "Received shape: ", shape(x)] if data is None else data
    made: Operation = Assert(holds, told, summarize=summarize)
    return made


describe(globals(), ASSERTIONS)
