"""Constant folding over Python's AST, for kernel functions."""
from __future__ import annotations

import ast
import copy
import math
from typing import Any

import numpy as np

from tfnb.kernels.functions.language import CASTS

DYNAMIC = object()                         # the value of an expression that only a run knows
BUILTINS = {"min": min, "max": max, "abs": abs, "len": len}


def constant_value(node: ast.expr) -> Any:
    """Return the value of a constant expression, DYNAMIC for others. A type is its name."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name.rstrip("_") in CASTS:
            return name
        case ast.Tuple(elts=nodes):
            values = tuple(constant_value(each) for each in nodes)
            return DYNAMIC if any(value is DYNAMIC for value in values) else values
        case ast.UnaryOp(op=ast.USub(), operand=ast.Attribute() as operand):
            return -constant_value(operand)
        case ast.Attribute(value=ast.Name(id="math"), attr=attr):
            return getattr(math, attr)
    return DYNAMIC


def folded(node: ast.expr) -> ast.expr:
    """Return the constant that an expression over constants is; others as they are."""
    parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)
             and not (isinstance(node, ast.Call) and part is node.func)]
    if any(constant_value(part) is DYNAMIC for part in parts):
        return node
    named = ast.fix_missing_locations(ast.Expression(_Types().visit(copy.deepcopy(node))))
    try:
        value = eval(compile(named, "<constants>", "eval"), {"__builtins__": BUILTINS, "math": math})
    except ZeroDivisionError:
        return node
    return ast.Constant(value) if isinstance(value, (bool, int, float)) and value == value and abs(value) != math.inf \
        else node


class _Types(ast.NodeTransformer):
    """Types as strings, to be compared."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the name of a cast as a constant."""
        return ast.Constant(node.id) if node.id.rstrip("_") in CASTS else node


def literal(value: Any) -> ast.expr | None:
    """Return an expression for a number, string, None, dtype or a tuple of them; None for anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        made: ast.expr = ast.Attribute(ast.Name("math", ast.Load()), "nan" if value != value else "inf", ast.Load())
        return ast.UnaryOp(ast.USub(), made) if value < 0 else made
    if isinstance(value, (bool, int, float, str)) or value is None:
        return ast.Constant(value)
    if isinstance(value, (tuple, list)):
        several = [part for each in value if (part := literal(each)) is not None]
        return ast.Tuple(several, ast.Load()) if len(several) == len(value) else None
    if is_type(value):
        name = value.name if isinstance(value, np.dtype) else CASTS.get(value.__name__, value.__name__)
        return ast.Name("bool_" if name == "bool" else name, ast.Load())
    return None


def is_type(value: Any) -> bool:
    """Return whether a value is a dtype, or a type that casts to one."""
    return isinstance(value, np.dtype) or isinstance(value, type) and issubclass(value, (np.generic, int, float))
