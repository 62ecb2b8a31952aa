"""Expressions of kernel source -> LLVM instructions, for the statements of lowering.py.

Every value has a type as soon as it is there (arithmetic.py); a name is a slot on the stack, which LLVM turns into
values. A choice (`x if c else y`, `and`, `or`) computes only the way it takes.
"""
from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.llvm import arithmetic, intrinsics, prelude
from tfnb.kernels.llvm.arithmetic import Typed, Unsupported, constant, convert
from tfnb.kernels.llvm.natives import Native, declared, llvm_type
from tfnb.kernels.llvm.special_functions import symbol
from tfnb.kernels.scalar.number_types import kind
from tfnb.kernels.scalar.primitives import PRIMITIVES
from tfnb.kernels.scalar.routines import epsilon

ir = lazy_module("llvmlite.ir")

SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&",
         ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Eq: "==", ast.NotEq: "!=",
         ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi}
_FUNCTIONS = {row.libm: row.arity for row in PRIMITIVES.values() if row.libm}
_ROUTINES = {name: row.arity for name, row in PRIMITIVES.items() if row.routine}
_SCIPY = {name: row.arity for name, row in PRIMITIVES.items() if row.scipy}

Found = Typed | tuple[Typed, ...]
Types = str | tuple[str, ...]             # of a value, of a tuple; "void": of nothing


@dataclass
class Expressions:
    """Compiler of one function's expressions. made: the LLVM function; settings: constants of the source.

    device(name, types of the arguments) -> (LLVM function, types that it leaves at its last argument); `functions` are
    the names that it knows. allocas: a builder that stands in the function's first block.
    """

    made: Any
    settings: Mapping[str, Any]
    functions: Mapping[str, ast.FunctionDef]
    device: Callable[[str, tuple[str, ...]], tuple[Any, Types]]
    slots: dict[str, Typed] = field(default_factory=dict)
    builder: Any = None
    allocas: Any = None

    def value(self, node: ast.expr) -> Typed:
        """Return the one value of an expression. Raises Unsupported for a tuple."""
        return single(self.found(node))

    def integer(self, node: ast.expr) -> Typed:
        """Return an index or count: an integer of 64 bits."""
        value = self.value(node)
        if kind(value.type) != "i" or value.type.endswith("*"):
            raise Unsupported(f"{value.type} as an index")
        return convert(self.builder, value, "uint64" if value.type == "uint64" else "int64")

    def found(self, node: ast.expr) -> Found:
        """Return the value of an expression, or a tuple of values. Raises Unsupported for what only numba compiles."""
        match node:
            case ast.Name(id=name):
                return self.name(name)
            case ast.Constant(value=number) if isinstance(number, (bool, int, float)):
                kinds = {bool: "bool", int: "int64" if number < 1 << 63 else "uint64", float: "float64"}
                return constant(number, kinds[type(number)])
            case ast.Tuple(elts=nodes):
                return tuple(self.value(each) for each in nodes)
            case ast.Attribute(value=ast.Name(id="math" | "np"), attr=name) if name in _CONSTANTS:
                return constant(_CONSTANTS[name], "float64")
            case ast.Subscript(value=array, slice=ast.Slice(lower=ast.expr() as first, upper=None, step=None)):
                pointer, type_ = self.element(array, first)
                return Typed(f"{type_}*", pointer)
            case ast.Subscript(value=array, slice=index):
                pointer, type_ = self.element(array, index)
                return Typed(type_, self.builder.load(pointer))
            case ast.BinOp(left=x, op=op, right=y) if type(op) in SIGNS:
                return arithmetic.binary(self.builder, SIGNS[type(op)], self.value(x), self.value(y))
            case ast.UnaryOp(op=op, operand=x):
                return self._unary(op, x)
            case ast.Compare(left=x, ops=ops, comparators=others):
                return self._compare(self.value(x), ops, others)
            case ast.BoolOp(op=op, values=nodes):
                return self._bool(isinstance(op, ast.And), nodes, self._flag)
            case ast.IfExp(test=test, body=x, orelse=y):
                return self._choose(self.truth(test), lambda: self.found(x), lambda: self.found(y))
            case ast.Call():
                found = self.call(node)
                if found is not None:
                    return found
        raise Unsupported(ast.unparse(node))

    def name(self, name: str) -> Typed:
        """Return the value of a variable, or of a constant of the source. Raises Unsupported for other names."""
        slot = self.slots.get(name)
        if slot is not None:
            return Typed(slot.type, self.builder.load(slot.value))
        if type(number := self.settings.get(name)) in (bool, int):
            return constant(number, "bool" if isinstance(number, bool) else "int64")
        raise Unsupported(f"{name} is not known here")

    def element(self, array: ast.expr, index: ast.expr) -> tuple[Any, str]:
        """Return the address of an element and its type."""
        base, place = self.value(array), self.integer(index)
        if not base.type.endswith("*"):
            raise Unsupported(f"{base.type} is no array")
        return self.builder.gep(base.value, [place.value]), base.type[:-1]

    def truth(self, node: ast.expr) -> Any:
        """Return whether a condition holds, as an LLVM i1."""
        if isinstance(node, ast.BoolOp):
            return self._bool(isinstance(node.op, ast.And), node.values, self.truth).value
        return convert(self.builder, self.value(node), "bool").value

    def _flag(self, node: ast.expr) -> Any:
        value = self.value(node)
        if value.type != "bool":
            raise Unsupported(f"and, or of {value.type}")
        return value.value

    def _unary(self, op: ast.unaryop, node: ast.expr) -> Typed:
        if isinstance(op, ast.USub) and isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return constant(-node.value, "int64" if isinstance(node.value, int) else "float64")
        if isinstance(op, ast.Not):
            return Typed("bool", self.builder.not_(self.truth(node)))
        x = self.value(node)
        make = {ast.USub: arithmetic.negated, ast.Invert: arithmetic.inverted}.get(type(op))
        if make is None:
            raise Unsupported(ast.unparse(node))
        return make(self.builder, x)

    def _compare(self, x: Typed, ops: Sequence[ast.cmpop], others: Sequence[ast.expr]) -> Typed:
        made = None
        for op, node in zip(ops, others, strict=True):
            y = self.value(node)
            if type(op) not in SIGNS:
                raise Unsupported(ast.unparse(node))
            holds = arithmetic.compare(self.builder, SIGNS[type(op)], x, y)
            made = holds if made is None else arithmetic.binary(self.builder, "&", made, holds)
            x = y
        return single(made)

    def _bool(self, is_and: bool, nodes: Sequence[ast.expr], truth: Callable[[ast.expr], Any]) -> Typed:
        """Emit `and` or `or` of conditions, with short-circuit evaluation."""
        first = Typed("bool", truth(nodes[0]))
        if len(nodes) == 1:
            return first
        rest, known = (lambda: self._bool(is_and, nodes[1:], truth)), (lambda: constant(not is_and, "bool"))
        return single(self._choose(first.value, rest if is_and else known, known if is_and else rest))

    def _choose(self, test: Any, *ways: Callable[[], Found]) -> Found:
        """Emit a branch: the first value if the test holds, else the second; only that one is computed."""
        builder = self.builder
        blocks = [self.made.append_basic_block(where) for where in ("then", "else")]
        after = self.made.append_basic_block("after")
        builder.cbranch(test, *blocks)
        found = []
        for block, way in zip(blocks, ways, strict=True):
            builder.position_at_end(block)
            made = way()
            found.append((builder.block, made if isinstance(made, tuple) else (made,)))
        if len(found[0][1]) != len(found[1][1]):
            raise Unsupported("a choice between tuples of two lengths")
        types = [arithmetic.unified([x.type, y.type]) for x, y in zip(found[0][1], found[1][1], strict=True)]
        ends = []
        for block, values in found:
            builder.position_at_end(block)
            ends.append([convert(builder, x, type).value for x, type in zip(values, types, strict=True)])
            builder.branch(after)
        builder.position_at_end(after)
        met = [self._meet(found, pair) for pair in zip(*ends, strict=True)]
        made = tuple(Typed(type, value) for type, value in zip(types, met, strict=True))
        return made if len(made) > 1 else made[0]

    def _meet(self, found: Any, pair: Sequence[Any]) -> Any:
        phi = self.builder.phi(pair[0].type)
        for (block, _), value in zip(found, pair, strict=True):
            phi.add_incoming(value, block)
        return phi

    # --- calls ---

    def call(self, node: ast.Call) -> Found | None:
        """Return the value of a call; None if it has none."""
        match node:
            case ast.Call(func=ast.Name(id=name), args=[ast.BinOp(left=x, op=op, right=y)]) if (
                    name in prelude.TYPES and type(op) in SIGNS):
                made = arithmetic.binary(self.builder, SIGNS[type(op)], self.value(x), self.value(y), name)
                return convert(self.builder, made, name.removesuffix("_"))
            case ast.Call(keywords=[_, *_]):
                raise Unsupported(ast.unparse(node))
        args = [self.found(arg) for arg in node.args]
        values = [single(arg) for arg in args]
        match node.func:
            case ast.Attribute(value=ast.Name(id="math"), attr=name):
                return self._library(name, values)
            case ast.Name(id=name):
                return self._named(name, values)
        raise Unsupported(ast.unparse(node.func))

    def _named(self, name: str, values: Sequence[Typed]) -> Found | None:
        if name in self.functions:
            return self._call_device(name, values)
        if native := prelude.primitives().get(name):
            return self._native(name, native, values)
        if name in ("min", "max") and len(values) > 1:
            return arithmetic.extreme(self.builder, "<" if name == "min" else ">", values)
        if len(values) == 1:
            if name in prelude.TYPES:
                return convert(self.builder, values[0], name.removesuffix("_"))
            if name == "abs":
                return arithmetic.absolute(self.builder, values[0])
        word = intrinsics.lowered(name, tuple(value.type for value in values)) if name in intrinsics.NAMES else None
        if word is None:
            raise Unsupported(f"{name}({', '.join(value.type for value in values)})")
        type, make = word
        return Typed(type, make(self.builder, [value.value for value in values]))

    def _native(self, name: str, native: Native, values: Sequence[Typed]) -> Found | None:
        wanted = native.wanted([value.type for value in values])
        if len(values) != len(wanted):
            raise Unsupported(f"{name} with {len(values)} arguments")
        if any(not type or kind(value.type) != kind(type) for value, type in zip(values, wanted, strict=True)):
            raise Unsupported(f"{name}({', '.join(value.type for value in values)})")
        passed = [convert(self.builder, value, type).value for value, type in zip(values, wanted, strict=True)]
        made = native.make(self.builder, *passed)
        if isinstance(native.result, tuple):
            return tuple(Typed(type, value) for type, value in zip(native.result, made, strict=True))
        return None if native.result == "void" else Typed(native.result, made)

    def _library(self, name: str, values: Sequence[Typed]) -> Typed:
        """Emit a call of a function of `math`, of floats of one type; SciPy's and routines have float64 alone."""
        types = {value.type for value in values}
        if name in _ROUTINES and len(values) == _ROUTINES[name]:
            wide = [convert(self.builder, value, "float64") for value in values]
            found = self._call_device(f"math.{name}", [*wide, constant(epsilon(values[0].type), "float64")])
            return convert(self.builder, single(found), values[0].type)
        if name in _SCIPY and len(values) == _SCIPY[name]:
            found = self._called(symbol(name), [convert(self.builder, value, "float64") for value in values])
            return convert(self.builder, found, values[0].type)
        if types not in ({"float32"}, {"float64"}) or len(values) != _FUNCTIONS.get(name):
            raise Unsupported(f"math.{name}({', '.join(types)})")
        return self._called(name + ("f" if types == {"float32"} else ""), values)

    def _called(self, name: str, values: Sequence[Typed]) -> Typed:
        """Emit a call of a C function without side effects whose operands and result have one type."""
        of, module = values[0].value.type, self.builder.module
        function = declared(module, name, of, [of] * len(values))
        function.attributes.add("readonly")
        function.attributes.add("nounwind")
        return Typed(values[0].type, self.builder.call(function, [value.value for value in values]))

    def _call_device(self, name: str, values: Sequence[Typed]) -> Found | None:
        """Emit a call of a device function of the source."""
        made, returned = self.device(name, tuple(value.type for value in values))
        passed = [value.value for value in values]
        if returned == "void":
            self.builder.call(made, [*passed, ir.Constant(ir.PointerType(), None)])
            return None
        place = self.allocas.alloca(struct_of(returned))
        self.builder.call(made, [*passed, self.builder.bitcast(place, ir.PointerType())])
        whole = self.builder.load(place)
        types = (returned,) if isinstance(returned, str) else returned
        found = tuple(Typed(type, self.builder.extract_value(whole, i)) for i, type in enumerate(types))
        return found[0] if isinstance(returned, str) else found


def single(found: Found | None) -> Typed:
    """Return the one value that is no tuple. Raises Unsupported."""
    if not isinstance(found, Typed):
        raise Unsupported("no number where one is wanted")
    return found


def struct_of(types: str | tuple[str, ...]) -> Any:
    """Return LLVM's type of a device function's result."""
    return ir.LiteralStructType([llvm_type(type) for type in ((types,) if isinstance(types, str) else types)])
