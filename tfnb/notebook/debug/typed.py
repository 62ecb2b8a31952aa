"""Values that are typed into a view: numbers, lists of them, and arithmetic with the value that there is now."""
from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

MOST_LETTERS = 2000
WORDS = {"nan": float("nan"), "inf": float("inf"), "NaN": float("nan"), "True": True, "False": False}
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.USub: operator.neg, ast.UAdd: operator.pos}


def typed_value(text: str, value: np.ndarray) -> np.ndarray:
    """The array that `text` means in the place of `value`: in its dtype and shape, which a single number fills.

    text: "0", "[1, 2.5]", "nan", "value * 2 - 1". Nothing else is evaluated. Raises ValueError for other texts, and
    for what has not the shape.
    """
    try:
        return _filled(np.asarray(_evaluate(ast.parse(text[:MOST_LETTERS].strip(), mode="eval").body, value)), value)
    except SyntaxError as error:
        raise ValueError(f"{text!r} is no value: {error.msg}") from None
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"{text!r} can't stand for {value.dtype}{list(value.shape)}: {error}") from None


def _filled(found: np.ndarray, value: np.ndarray) -> np.ndarray:
    """`found` in the dtype and shape of `value`. Raises ValueError where that has no place for it."""
    if found.ndim > value.ndim or any(n not in (1, m) for n, m in zip(found.shape[::-1], value.shape[::-1],
                                                                      strict=False)):
        raise ValueError(f"it has the shape {list(found.shape)}")
    if found.dtype.kind == "c" and value.dtype.kind != "c":
        raise ValueError("it is complex")
    with np.errstate(all="ignore"):
        made = np.array(np.broadcast_to(found, value.shape), dtype=value.dtype)
    if value.dtype.kind in "iu" and found.dtype.kind in "fiu" and not (made == found).all():
        raise ValueError(f"there is no such {value.dtype}")
    return made


def _evaluate(node: ast.AST, value: np.ndarray) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex, str, bytes)):
        return node.value.encode() if isinstance(node.value, str) else node.value
    if isinstance(node, ast.Name) and node.id in WORDS:
        return WORDS[node.id]
    if isinstance(node, ast.Name) and node.id == "value":
        return value
    if isinstance(node, (ast.List, ast.Tuple)):
        return np.array([_evaluate(part, value) for part in node.elts])
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_evaluate(node.operand, value))
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        with np.errstate(all="ignore"):
            return OPERATORS[type(node.op)](_evaluate(node.left, value), _evaluate(node.right, value))
    raise ValueError("it may be a number, a list of numbers, or arithmetic with `value`")
