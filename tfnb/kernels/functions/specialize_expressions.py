"""Expressions of a kernel function for the values of its constants, for the statements of specialize.py.

What constants decide is left out; a name of the module is the number, type, primitive or function that it is.
"""
from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from tfnb.kernels.functions import language
from tfnb.kernels.functions.definition import Definition, KernelSyntaxError, Parameter, definition_of
from tfnb.kernels.functions.folding import BUILTINS, DYNAMIC, constant_value, folded, is_type, literal
from tfnb.kernels.functions.language import CASTS
from tfnb.kernels.scalar.primitives import PRIMITIVES

_EXPRESSIONS = (ast.Name, ast.Constant, ast.Tuple, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare,
                ast.BoolOp, ast.IfExp, ast.Call)
_LIBM = {row.libm: name for name, row in PRIMITIVES.items() if row.libm}
_WORDS = {
    "ListComp": "a list comprehension", "List": "a list", "Dict": "a dict", "Lambda": "a lambda", "Try": "`try`",
    "With": "`with`", "Raise": "`raise` (use fail(code, ...))", "Assert": "`assert`", "FunctionDef": "a nested `def`",
    "Attribute": "an attribute", "Call": "this call", "For": "a `for` over anything but range(...)",
    "While": "`while ... else`", "Slice": "a slice", "JoinedStr": "a string", "NamedExpr": "`:=`", "Name": "this name",
    "AnnAssign": "an annotated assignment", "Assign": "this assignment", "Compare": "this comparison",
    "Import": "`import`", "ImportFrom": "`import`", "Global": "`global`", "Set": "a set", "Delete": "`del`",
    "GeneratorExp": "a generator", "Yield": "`yield`", "Starred": "`*`", "Expr": "this statement"}


class Device(Protocol):
    """Forms of a kernel's body on a CPU or a GPU. slices: whether a part of an array is a value."""

    slices: bool

    def element(self, type: str) -> str:
        """Return the name by which an element of an array of this dtype is cast."""

    def primitive(self, name: str, args: list[ast.expr]) -> ast.expr | None:
        """Return the call of a primitive, or None if there is none."""

    def array_at(self, address: ast.expr, type: str) -> ast.expr | None:
        """Return the array at an address, or None if a kernel knows no addresses."""

    def stream(self, target: ast.expr, source: ast.expr, count: ast.expr) -> ast.stmt | None:
        """Return the statement that copies elements past the caches, or None if there is none."""

    def fail(self, code: ast.expr, words: list[ast.expr]) -> list[ast.stmt]:
        """Return the statements that report a failure."""


@dataclass
class Specialized:
    """A function for given constants. body: its statements; helpers: the functions that it calls, by the names that
    they have there; fails, streams: whether it reports failures, stores past caches; results: how many it returns."""

    definition: Definition
    parameters: list[Parameter]
    constants: dict[str, Any]
    body: list[ast.stmt] = field(default_factory=list)
    helpers: dict[str, Specialized] = field(default_factory=dict)
    fails: bool = False
    streams: bool = False
    results: int = 0


class Expressions(ast.NodeTransformer):
    """Rewriter of a function's expressions. made: the helpers of the whole kernel, shared; kernel: whether the function
    is the kernel itself, and no helper."""

    def __init__(self, definition: Definition, constants: Mapping[str, Any], device: Device,
                 made: dict[str, Specialized], kernel: bool = True) -> None:
        self.definition, self.device, self.made, self.kernel = definition, device, made, kernel
        self.constants = dict(constants)
        self.kinds = {p.name: p.kind for p in definition.parameters}
        runtime = [p for p in definition.parameters if p.name not in constants]
        self.result = Specialized(definition, runtime, dict(constants), helpers=made)
        self.loops = 0
        self.locals: set[str] = set()
        self.integers: set[str] = {p.name for p in runtime if p.kind in ("int", "one")}    # names of integers
        self.tuples: dict[str, int] = {}               # names that hold tuples -> how many elements
        self.views: set[str] = set()                   # names of arrays at addresses
        self.parts: dict[str, str] = {}                # arrays from an element on -> those that they are parts of

    def run(self) -> Specialized:
        """Return the function rewritten."""
        raise NotImplementedError

    def visited(self, node: ast.expr, tuples: bool = False) -> ast.expr:
        """Return an expression specialized and checked."""
        return self.checked(self.visit(node), node, tuples)

    def checked(self, made: ast.expr, node: ast.expr, tuples: bool = False) -> ast.expr:
        """Return an expression that is left for the run. Raises KernelSyntaxError if it is no number."""
        if isinstance(made, ast.Constant) and not isinstance(made.value, (bool, int, float)) \
                or isinstance(made, ast.Tuple) and not tuples or isinstance(made, ast.Name) and made.id in CASTS:
            raise self.definition.error(node, f"expected a number, got {ast.unparse(made)}")
        return made

    def visit(self, node: ast.AST) -> Any:
        """Rewrite an expression."""
        if isinstance(node, ast.expr) and not isinstance(node, _EXPRESSIONS):
            raise self.refused(node)
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return a constant for a name that is known."""
        if node.id in self.constants:
            return self._literal(self.constants[node.id], node)
        if node.id in self.parts and not self.device.slices:
            base, start = self.element(node, ast.Constant(0))
            return ast.Subscript(base, ast.Slice(start), ast.Load())
        if self.tuples.get(node.id, 1) > 1:
            return ast.Tuple(self.elements(node.id, self.tuples[node.id], ast.Load()), ast.Load())
        if node.id in self.locals:
            return node
        value = self.resolve(node)
        made = self._literal(value, node)
        typed = isinstance(value, np.generic) and value.dtype.name not in ("int64", "float64", "bool")
        return ast.Call(ast.Name(value.dtype.name, ast.Load()), [made], []) if typed else made

    def elements(self, name: str, count: int, ctx: ast.expr_context) -> list[ast.expr]:
        """Return the names of the elements of a tuple that a name holds."""
        return [ast.Name(f"{name}_{i}", ctx) for i in range(count)]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Return `math.inf` and the like."""
        return self._literal(self.resolve(node), node)

    def _literal(self, value: Any, node: ast.expr) -> ast.expr:
        """Return an expression for a constant."""
        made = literal(value)
        if made is None:
            raise self.definition.error(node, f"expected a number or a tuple of numbers, got {ast.unparse(node)}, "
                                              f"a {type(value).__name__}")
        return made

    def resolve(self, node: ast.expr) -> Any:
        """Return what a name outside of the function is. Raises KernelSyntaxError for an unknown one."""
        match node:
            case ast.Name(id=name) if name in self.constants and self.kinds.get(name) == "type":
                return np.dtype(self.constants[name])
            case ast.Name(id=name) if name not in self.locals:
                try:
                    return self.definition.lookup(name)
                except KeyError:
                    pass
                if name in BUILTINS or name in ("range", "int", "float", "bool"):
                    return {**BUILTINS, "range": range, "int": int, "float": float, "bool": bool}[name]
                try:
                    return getattr(language, name)
                except AttributeError:
                    raise self.definition.error(node, f"name `{name}` is not known: expected a parameter, a variable, "
                                                "a number or function of the module, a cast or a primitive") from None
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name not in self.locals:
                module = self.resolve(node.value)
                if module in (math, np, language, language.libm) and hasattr(module, attr):
                    return getattr(module, attr)
        raise self.refused(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Fold, or rewrite the operands."""
        x, op, y = self.visited(node.left), self.operator(node.op, node), self.visited(node.right)
        return self._without_one(x, op, y) or folded(ast.BinOp(x, op, y))

    def _without_one(self, x: ast.expr, op: ast.operator, y: ast.expr) -> ast.expr | None:
        """Return an integer times, over or modulo 1, or plus or minus 0, without that; None for anything else."""
        if isinstance(op, ast.Mult) and isinstance(x, ast.Constant) and x.value == 0 and self.is_integer(y):
            return ast.Constant(0)
        unit = 0 if isinstance(op, (ast.Add, ast.Sub)) else 1
        if type(constant_value(y)) is int and constant_value(y) == unit and self.is_integer(x):
            if isinstance(op, ast.Mod):
                return ast.Constant(0)
            return x if isinstance(op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)) else None
        return None

    def is_integer(self, node: ast.expr) -> bool:
        """Return whether an expression is made of integers of 64 bits."""
        match node:
            case ast.Name(id=name):
                return name in self.integers
            case ast.BinOp(left=x, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right=y):
                return self.is_integer(x) and self.is_integer(y)
            case ast.Call(func=ast.Name(id="min" | "max"), args=args):
                return all(map(self.is_integer, args))
        return isinstance(node, ast.Constant) and type(node.value) is int

    def operator(self, op: ast.operator, node: ast.AST) -> ast.operator:
        """Return an operator of the language. Raises the error of the definition for another one."""
        if isinstance(op, (ast.Pow, ast.MatMult)):
            raise self.definition.error(node, "expected + - * / // % & | ^ << >>, got ** or @ (see pow(x, y))")
        return op

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Fold, or rewrite the operand."""
        return folded(ast.UnaryOp(node.op, self.visited(node.operand)))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Leave out what constants decide."""
        ending, left = isinstance(node.op, ast.Or), []
        for each in node.values:
            made = self.visit(each)
            known = constant_value(made)
            if known is DYNAMIC:
                left.append(self.checked(made, each))
            elif bool(known) is ending:
                left.append(ast.Constant(ending))
                break
        if not left:
            return ast.Constant(not ending)
        return left[0] if len(left) == 1 else ast.BoolOp(node.op, left)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Fold; whether a MaybeOne is 1, and whether a parameter is None, is always known."""
        sides = [self.visit(each) for each in (node.left, *node.comparators)]
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            negated = isinstance(node.ops[0], (ast.IsNot, ast.NotEq))
            kind, other = isinstance(sides[0], ast.Name) and self.kinds.get(sides[0].id), constant_value(sides[1])
            if kind and (other is None or kind == "one" and other == 1):
                return ast.Constant(negated)
        if all(constant_value(side) is not DYNAMIC for side in sides):
            swapped = [{ast.Is: ast.Eq(), ast.IsNot: ast.NotEq()}.get(type(op), op) for op in node.ops]
            return folded(ast.Compare(sides[0], swapped, sides[1:]))
        if any(isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for op in node.ops):
            raise self.refused(node)
        sides = [self.checked(side, each) for side, each in zip(sides, (node.left, *node.comparators), strict=True)]
        return ast.Compare(sides[0], node.ops, sides[1:])

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Keep the side that a constant chooses."""
        test = self.visit(node.test)
        known = constant_value(test)
        if known is not DYNAMIC:
            kept: ast.expr = self.visit(node.body if known else node.orelse)
            return kept
        return ast.IfExp(self.checked(test, node.test), self.visited(node.body), self.visited(node.orelse))

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        """Return a tuple, of constants or to be assigned."""
        return ast.Tuple([self.visit(each) for each in node.elts], ast.Load())

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Return an element of an array, or one of several integers by a constant index."""
        index = self.visited(node.slice)
        if self.is_array(node.value):
            return ast.Subscript(*self.element(node.value, index), ast.Load())
        several = self._several(node.value)
        at = constant_value(index)
        if several is None or not isinstance(at, int) or not -len(several) <= at < len(several):
            raise self.definition.error(node, "expected an element of an array, or of a tuple by a constant index")
        return several[at]

    def _several(self, node: ast.expr) -> list[ast.expr] | None:
        """Return the elements of a tuple that is known, or of a parameter that is several integers."""
        if isinstance(node, ast.Name) and self.kinds.get(node.id) == "ints":
            count = self.constants[f"len({node.id})"]
            self.integers.update(f"{node.id}_{i}" for i in range(count))
            return self.elements(node.id, count, ast.Load())
        made = self.visit(node)
        return made.elts if isinstance(made, ast.Tuple) else None

    def element(self, array: ast.expr, index: ast.expr) -> tuple[ast.Name, ast.expr]:
        """Return the array and the index by which an element is found."""
        assert isinstance(array, ast.Name)
        if array.id not in self.parts or self.device.slices:
            return array, index
        start = ast.Name(f"{array.id}_at", ast.Load())
        return ast.Name(self.parts[array.id], ast.Load()), ast.BinOp(start, ast.Add(), index)

    def is_array(self, node: ast.expr) -> bool:
        """Return whether an expression is the name of an array, or of a part or view of one."""
        return isinstance(node, ast.Name) and node.id not in self.constants and (
            self.kinds.get(node.id) == "array" or node.id in self.parts or node.id in self.views)

    # --- calls ---

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Return a cast, a primitive, or a call of a helper."""
        found = self.resolve(node.func)
        if found is len and len(node.args) == 1 and (several := self._several(node.args[0])) is not None:
            return ast.Constant(len(several))
        helper = definition_of(found) if found not in (language.fail, language.unrolled) else None
        if helper is not None:
            return self._helper(helper, node)
        args = [self.visited(arg) for arg in node.args]
        if node.keywords or found is len:
            raise self.refused(node)
        if found in (min, max, abs):
            return folded(ast.Call(ast.Name(found.__name__, ast.Load()), args, []))
        if is_type(found):
            return self._cast(found, args, node)
        if isinstance(found, language.LibraryFunction):
            return ast.Call(ast.Attribute(ast.Name("math", ast.Load()), found.__name__, ast.Load()), args, [])
        made = self.device.primitive(self._primitive(found, node), args)
        if made is None:
            raise self.definition.error(node, f"{ast.unparse(node.func)} has no form on this device")
        return made

    def _cast(self, found: Any, args: list[ast.expr], node: ast.Call) -> ast.expr:
        if len(args) != 1:
            raise self.definition.error(node, "expected one number to cast")
        if isinstance(found, np.dtype):
            return ast.Call(ast.Name(self.device.element(found.name), ast.Load()), args, [])
        name = CASTS.get(found.__name__, found.__name__)
        return ast.Call(ast.Name("bool_" if name == "bool" else name, ast.Load()), args, [])

    def _primitive(self, found: Any, node: ast.Call) -> str:
        if isinstance(found, language.PlainPrimitive):
            name = found.__name__
        else:
            name = _LIBM.get(node.func.attr, "") if isinstance(node.func, ast.Attribute) else ""
        if not name or PRIMITIVES[name].arity != len(node.args):
            raise self.refused(node)
        return name

    def _helper(self, definition: Definition, node: ast.Call) -> ast.expr:
        """Return the call of another function, which is specialized for the constants it gets."""
        names = [p.name for p in definition.parameters]
        given = dict(zip(names, node.args, strict=False)) | {str(k.arg): k.value for k in node.keywords}
        if set(given) != set(names) or len(node.args) + len(node.keywords) != len(names):
            raise self.definition.error(node, f"expected the arguments {', '.join(names)} of {definition.name}")
        constants: dict[str, Any] = {}
        passed: list[ast.expr] = []
        for parameter in definition.parameters:
            if parameter.kind == "ints":
                several = self._several(given[parameter.name])
                if several is None:
                    raise self.definition.error(node, f"expected a tuple, or a name that holds one, as "
                                                            f"`{parameter.name}` of {definition.name}")
                constants[f"len({parameter.name})"] = len(several)
                passed += several
                continue
            made = self.visit(given[parameter.name])
            known = constant_value(made)
            if parameter.kind in ("static", "type"):
                if known is DYNAMIC:
                    raise self.definition.error(node, f"expected a constant as `{parameter.name}` of {definition.name}")
                constants[parameter.name] = known
            elif parameter.kind == "one" and known == 1:
                constants[parameter.name] = 1
            else:
                passed.append(self.checked(made, given[parameter.name]))
        return ast.Call(ast.Name(self._made(definition, constants, node), ast.Load()), passed, [])

    def _made(self, definition: Definition, constants: dict[str, Any], node: ast.Call) -> str:
        """Return the name of a helper for these constants."""
        for name, known in self.made.items():
            if known.definition.fn is definition.fn and known.constants == constants:
                if not known.body:
                    raise self.definition.error(node, f"{definition.name} calls itself")
                return name
        name, number = definition.name, 1
        while name in self.made:
            number += 1
            name = f"{definition.name}_{number}"
        inner = type(self)(definition, constants, self.device, self.made, kernel=False)
        self.made[name] = inner.result
        inner.run()
        self.made[name] = self.made.pop(name)           # behind those that it calls itself
        return name

    def refused(self, node: ast.AST) -> KernelSyntaxError:
        """Build the error for what a kernel function may not hold."""
        words = _WORDS.get(type(node).__name__, type(node).__name__)
        return self.definition.error(node, f"{words} is not allowed in a kernel function (see docs/adding_an_op.md)")
