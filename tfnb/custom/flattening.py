"""Item kernels over arrays of several axes as kernel functions over flat ones.

A user's function handles one element of its (first) output: `out[i, j] = image[i - 1, j]`. What it reads of an array
outside of its shape is the element nearest to that place (the border is repeated); what it writes outside is dropped.
So a kernel touches no memory but its own, whatever its indices are.
"""
from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType
from typing import Any

from tfnb.kernels.functions import language
from tfnb.kernels.functions.definition import Definition
from tfnb.kernels.scalar.primitives import ALIASES

_MODULES = ("tfnb", "tensorflow", "numpy", "math")


def nearest(i: int, n: int):                          # type: ignore[no-untyped-def]
    """Return the index in [0, n) that is nearest to `i`."""
    return min(max(i, 0), n - 1)


_HELPERS = {"nearest index": nearest}


def _parameter(name: str, kind: str) -> ast.arg:
    return ast.arg(name, ast.Name(kind, ast.Load()))


@dataclass
class Flattened(Definition):
    """A user's item kernel, as a kernel function whose arrays are flat.

    For each array A there is a parameter A_shape, its sizes. ranks: array -> the number of indices that the function
    gives it; complete: the outputs of which each item writes its own element, whatever its values are.
    """

    inputs: Sequence[str]
    outputs: Sequence[str]
    indices: Sequence[str]
    attrs: Sequence[str]
    ranks: dict[str, int] = field(default_factory=dict)
    complete: set[str] = field(default_factory=set)

    @cached_property
    def node(self) -> ast.FunctionDef:
        """The rewritten function. Raises KernelSyntaxError for what it may not hold."""
        given = copy.deepcopy(super().node)
        arrays = [*self.inputs, *self.outputs]
        given.decorator_list = []
        given.args = ast.arguments([], [
            *(_parameter(name, "Array") for name in arrays),
            *(_parameter(f"{name}_shape", "Ints") for name in arrays),
            *(_parameter(name, "Static") for name in self.attrs), _parameter("item", "int")], None,
            [], [], None, [])
        rewriter = _Rewriter(self)
        body = [made for statement in given.body for made in rewriter.statements(statement, top=True)]
        self.ranks.setdefault(self.outputs[0], len(self.indices))
        given.body = [*self._places(), *body]
        return ast.fix_missing_locations(given)

    def _places(self) -> list[ast.stmt]:
        """Return the statements that find the indices of an item."""
        lines, count, out = [], len(self.indices), f"{self.outputs[0]}_shape"
        for axis, name in enumerate(self.indices):
            inner = "".join(f" // {out}[{k}]" for k in range(count - 1, axis, -1))
            lines.append(f"{name} = item{inner}" + (f" % {out}[{axis}]" if axis else ""))
        return ast.parse("\n".join(lines)).body

    def lookup(self, name: str) -> Any:
        """Return what a name stands for: of the function's own module, or one of our helpers."""
        found = _HELPERS[name] if name in _HELPERS else super().lookup(name)
        is_foreign = isinstance(found, FunctionType) and found.__module__ not in (self.fn.__module__, __name__)
        return _Foreign() if is_foreign else found


class _Foreign:
    """A function of another module: no part of a kernel."""


class _Rewriter(ast.NodeTransformer):
    """Rewriter of indices and shapes."""

    def __init__(self, kernel: Flattened) -> None:
        self.kernel = kernel
        self.arrays = {*kernel.inputs, *kernel.outputs}

    def statements(self, node: ast.stmt, top: bool = False) -> list[ast.stmt]:
        """Return the statements that one of the user's becomes. top: whether it is done for each item."""
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Subscript) and self._array(target.value):
                return [self._store(node, target, top)]
        for name in ("body", "orelse"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                setattr(node, name, [made for each in inner for made in self.statements(each)])
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, name, self.visit(value))
            elif isinstance(value, list) and name not in ("body", "orelse"):
                setattr(node, name, [self.visit(each) if isinstance(each, ast.AST) else each for each in value])
        return [node]

    def _array(self, node: ast.expr) -> str | None:
        return node.id if isinstance(node, ast.Name) and node.id in self.arrays else None

    def _indices(self, node: ast.Subscript) -> list[ast.expr]:
        """Return the indices of an element. Raises KernelSyntaxError unless there are as many as everywhere else."""
        found = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        name = self._array(node.value)
        assert name is not None
        if any(isinstance(each, (ast.Slice, ast.Starred)) or isinstance(each, ast.Constant) and each.value in
               (None, Ellipsis) for each in found):
            raise self.kernel.error(node, f"expected an element of `{name}`, got a slice")
        rank = len(self.kernel.indices) if name == self.kernel.outputs[0] else len(found)
        if self.kernel.ranks.setdefault(name, rank) != len(found):
            raise self.kernel.error(node, f"expected {self.kernel.ranks[name]} indices of `{name}`, got {len(found)}")
        return found

    def _flat(self, name: str, places: Sequence[ast.expr]) -> ast.expr:
        made = places[0]
        for axis, place in enumerate(places[1:], 1):
            made = ast.BinOp(ast.BinOp(made, ast.Mult(), self._size(name, axis)), ast.Add(), place)
        return made

    def _size(self, name: str, axis: int) -> ast.expr:
        return ast.Subscript(ast.Name(f"{name}_shape", ast.Load()), ast.Constant(axis), ast.Load())

    def _store(self, node: Any, target: ast.Subscript, top: bool) -> ast.stmt:
        """Return the store of an element, which is left out where its place is outside."""
        name = self._array(target.value)
        assert name is not None
        if name not in self.kernel.outputs:
            raise self.kernel.error(node, f"expected an assignment to an output, got one to the input `{name}`")
        found = self._indices(target)
        own = name == self.kernel.outputs[0] and [getattr(each, "id", "") for each in found] == [*self.kernel.indices]
        if own and top and isinstance(node, ast.Assign):
            self.kernel.complete.add(name)
        places = [self.visit(each) for each in found]
        node.value = self.visit(node.value)
        to = ast.Subscript(target.value, ast.Name("item", ast.Load()) if own else self._flat(name, places), ast.Store())
        if isinstance(node, ast.Assign):
            node.targets = [to]
        else:
            node.target = to
        if own:
            return node                                      # type: ignore[no-any-return]
        tests: list[ast.expr] = []
        for axis, place in enumerate(places):
            tests += [ast.Compare(copy.deepcopy(place), [ast.GtE()], [ast.Constant(0)]),
                      ast.Compare(copy.deepcopy(place), [ast.Lt()], [self._size(name, axis)])]
        return ast.If(ast.BoolOp(ast.And(), tests), [node], [])

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Rewrite an element that is read."""
        name = self._array(node.value)
        if name is None:
            self.generic_visit(node)
            return node
        places: list[ast.expr] = [ast.Call(ast.Name("nearest index", ast.Load()),
                                           [self.visit(each), self._size(name, axis)], [])
                                  for axis, each in enumerate(self._indices(node))]
        return ast.copy_location(ast.Subscript(node.value, self._flat(name, places), ast.Load()), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Rewrite `x.shape`, `x.ndim`, and functions of modules that are primitives."""
        name = self._array(node.value)
        if name is not None:
            shape = ast.Name(f"{name}_shape", ast.Load())
            if node.attr == "shape":
                return ast.copy_location(shape, node)
            if node.attr == "ndim":
                return ast.copy_location(ast.Call(ast.Name("len", ast.Load()), [shape], []), node)
            raise self.kernel.error(node, f"expected `{name}.shape` or `{name}.ndim`, got `{name}.{node.attr}`")
        if isinstance(node.value, ast.Name):
            try:
                module = self.kernel.lookup(node.value.id)
            except KeyError:
                return node
            word = ALIASES.get(node.attr, node.attr)
            if getattr(module, "__name__", "") in _MODULES and language.is_primitive(word):
                return ast.copy_location(ast.Name(word, ast.Load()), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Rewrite `len(x)`."""
        if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
            name = self._array(node.args[0])
            if name is not None:
                return ast.copy_location(self._size(name, 0), node)
        self.generic_visit(node)
        return node
