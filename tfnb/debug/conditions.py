"""Conditional breakpoints and slices of tensors, as users write them: `abs(x).max() > 100`, `h[0:10, :]`."""
from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np

from tfnb.core.text import did_you_mean, names_of
from tfnb.graph.parts.operation import Operation

# names in a condition -> from (value, its op, number of the call)
NAMES: dict[str, Callable[[np.ndarray, Operation, int], Any]] = {
    "x": lambda x, op, call: x,
    "has_nan": lambda x, op, call: x.dtype.kind in "fc" and bool(np.isnan(x).any()),
    "has_inf": lambda x, op, call: x.dtype.kind in "fc" and bool(np.isinf(x).any()),
    "has_inf_or_nan": lambda x, op, call: x.dtype.kind in "fc" and not bool(np.isfinite(x).all()),
    "name": lambda x, op, call: op.name,
    "op": lambda x, op, call: op.type,
    "shape": lambda x, op, call: x.shape,
    "dtype": lambda x, op, call: x.dtype.name,
    "call": lambda x, op, call: call,
    "np": lambda x, op, call: np,
    "math": lambda x, op, call: math,
}
FUNCTIONS = {fn.__name__: fn for fn in (abs, all, any, bool, float, int, len, max, min, round, sum)}
BUILTINS = {"__import__": __import__}           # which NumPy's methods ask for; a condition can't read it
_SLICED = re.compile(r"(.+?)\s*(\[.*\])\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class Condition:
    """A Python expression over the value that an op makes: `has_nan`, `abs(x).max() > 100`, `"conv" in name and ...`.

    x is the value, a NumPy array; NAMES and FUNCTIONS are the other names. Values without numbers and without elements
    meet none. Raises ValueError for what is no expression.
    """

    text: str
    _code: CodeType = field(init=False, repr=False, compare=False)
    _names: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            code = compile(self.text.strip(), "the condition", "eval")
        except (SyntaxError, ValueError) as error:
            raise ValueError(f"the condition {self.text!r} is no Python expression: {error}") from None
        known, read = [*NAMES, *FUNCTIONS], _read(self.text)
        for name in read:
            if name not in known:
                hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
                raise ValueError(f"the condition {self.text!r} reads {name!r}, which it does not have{hint}")
        object.__setattr__(self, "_code", code)
        object.__setattr__(self, "_names", tuple(name for name in read if name in NAMES))

    def holds(self, value: np.ndarray, op: Operation, call: int) -> bool:
        """Return whether a value meets it. Raises ValueError if the expression fails, or is no truth value."""
        if value.dtype.kind not in "bfiucV" or not value.size:
            return False
        numbers = value.astype(np.float32) if value.dtype.kind == "V" else value       # bfloat16 and its kin
        try:
            with np.errstate(all="ignore"):
                names = {name: NAMES[name](numbers, op, call) for name in self._names}
                return bool(eval(self._code, {"__builtins__": BUILTINS, **FUNCTIONS, **names}))
        except Exception as error:          # the user's expression may do anything
            problem = "it is an array of several elements: end it with .any() or .all()" if "ambiguous" in str(error) \
                else f"{type(error).__name__}: {error}"
            raise ValueError(f"the condition {self.text!r} can't be told of {op.name}, "
                             f"{value.dtype.name}{list(value.shape)}: {problem}") from None


def _read(text: str) -> list[str]:
    """The names that an expression reads from outside of it."""
    reads, binds = names_of(ast.parse(text.strip(), mode="eval"))
    return sorted(reads - binds)


def conditions(texts: str | Iterable[str]) -> list[Condition]:
    """Compile conditions. Raises ValueError for one that is no expression, or reads unknown names."""
    return [Condition(text) for text in ([texts] if isinstance(texts, str) else texts) if text.strip()]


def split_slice(text: str) -> tuple[str, Any]:
    """Return the name of a tensor and the index behind it: "h[0:10, :]" is ("h", (slice(0, 10), slice(None))).

    The index is () where there is none. Raises ValueError for one that is no constant index.
    """
    found = _SLICED.match(text.strip())
    if found is None:
        return text.strip(), ()
    try:
        subscript = ast.parse(f"x{found[2]}", mode="eval").body
        if isinstance(subscript, ast.Subscript):
            return found[1], _index(subscript.slice)
    except (SyntaxError, ValueError):
        pass
    raise ValueError(f"{found[2]} is no index: write numbers and slices, as in {found[1]}[0:10, :]")


def _index(node: ast.AST) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(map(_index, node.elts))
    if isinstance(node, ast.Slice):
        parts = (ast.literal_eval(part) if part is not None else None for part in (node.lower, node.upper, node.step))
        return slice(*parts)
    value = ast.literal_eval(node)
    if value is not None and value is not Ellipsis and not isinstance(value, (int, list)):
        raise ValueError(f"{value!r} is no index")
    return value
