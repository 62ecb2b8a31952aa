"""Kernel source -> LLVM IR, without numba: for the small part of Python that our kernels are written in.

    module_source(text, symbol, triple, layout) -> (str, settings)
        the unoptimised module, whose `symbol` is void(int64*, int64, int64), and its module-level settings

What the source may hold (else Unsupported is raised, and codegen.py asks numba): assignments to names of one type each,
to elements and to tuples of names; `for` over a range, `while`, `if`, `break`, `continue`, `return`; operators as in
arithmetic.py; conditional expressions; calls of the words of prelude.py, of min, max, abs, casts, and of the source's
own @device functions, which are compiled once for each list of argument types. Types are known as soon as a value is,
in the order of the source; that, and that there is nothing else, is why it takes 1 to 8 ms where numba takes 20 to 350.
"""
from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.llvm import arithmetic
from tfnb.kernels.llvm.arithmetic import Typed, Unsupported, constant, convert
from tfnb.kernels.llvm.expressions import SIGNS, Expressions, Found, Types, single, struct_of
from tfnb.kernels.llvm.natives import llvm_type
from tfnb.kernels.llvm.prelude import FASTMATH, SIGNATURE
from tfnb.kernels.scalar.routines import definitions

ir = lazy_module("llvmlite.ir")

_FAST = frozenset(["fadd", "fsub", "fmul", "fdiv", "frem", "fcmp"])


def module_source(text: str, symbol: str, triple: str, layout: str) -> tuple[str, dict[str, Any]]:
    """Return the LLVM module of a kernel's source, and its settings (FASTMATH...). Raises SyntaxError, Unsupported."""
    module = _Module(text)
    module.llvm.triple, module.llvm.data_layout = triple, layout
    kernel = module.functions.get("kernel")
    if kernel is None:
        raise Unsupported("a text without a kernel")
    made = ir.Function(module.llvm, ir.FunctionType(ir.VoidType(), [llvm_type(type) for type in SIGNATURE]), symbol)
    module.lower(kernel, made, SIGNATURE)
    _mark_fast(made, module.settings.get("FASTMATH", FASTMATH))
    return str(module.llvm), module.settings


def _mark_fast(function: Any, flags: Iterable[str]) -> None:
    """Set fast-math flags on instructions without any: in the kernel, not in its device functions, as numba does."""
    flags = list(flags)
    for block in function.blocks if flags else ():
        for made in block.instructions:
            if made.opname in _FAST and not made.flags:
                made.flags.extend(flags)
            elif made.opname == "call" and made.type in (ir.FloatType(), ir.DoubleType()):
                made.fastmath.update(flags)


class _Module:
    """The LLVM module of one source. settings: its module-level assignments."""

    def __init__(self, text: str) -> None:
        self.llvm = ir.Module()
        self.settings: dict[str, Any] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self._made: dict[tuple[str, tuple[str, ...]], tuple[Any, Types]] = {}
        for node in ast.parse(text).body:
            match node:
                case ast.FunctionDef(name=name):
                    self.functions[name] = node
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() | ast.Tuple() as value):
                    self.settings[name] = ast.literal_eval(value)
                case _:
                    raise Unsupported(ast.unparse(node))

    def device(self, name: str, types: tuple[str, ...]) -> tuple[Any, Types]:
        """Return a device function for arguments of these types, and the types of its results.

        Its last parameter is the address where it leaves that.
        """
        if (name, types) not in self._made:
            of = ir.FunctionType(ir.VoidType(), [*(llvm_type(type) for type in types), ir.PointerType()])
            made = ir.Function(self.llvm, of, f"{name.removeprefix('math.')}.{len(self._made)}")
            made.linkage = "internal"
            self._made[name, types] = made, ""
            self._made[name, types] = made, self._lowered(name, made, types)
        made, returned = self._made[name, types]
        if not returned:
            raise Unsupported(f"{name} calls itself")
        return made, returned

    def _lowered(self, name: str, made: Any, types: Sequence[str]) -> Types:
        """Fill a device function of the source, or a routine ("math.igamma"), which knows those of its file."""
        if name in self.functions:
            return self.lower(self.functions[name], made, types)
        routine = definitions()
        function = _Function(made, {}, routine, lambda name, types: self.device(f"math.{name}", types))
        return function.lower(routine[name.removeprefix("math.")], types)

    def lower(self, node: ast.FunctionDef, made: Any, types: Sequence[str]) -> Types:
        """Fill a function; return the types of its results."""
        function = _Function(made, self.settings, self.functions, self.device)
        return function.lower(node, types)


@dataclass
class _Loop:
    """Targets of `continue` and `break`."""

    following: Any
    after: Any


@dataclass
class _Function(Expressions):
    """One function while it is lowered to LLVM."""

    loops: list[_Loop] = field(default_factory=list)
    returned: Types = ""

    def lower(self, node: ast.FunctionDef, types: Sequence[str]) -> Types:
        """Fill the function; return the types of its results."""
        names = [arg.arg for arg in node.args.args]
        if len(names) != len(types) or node.args.defaults or node.args.vararg:
            raise Unsupported(f"{node.name} with {len(types)} arguments")
        start, body = self.made.append_basic_block("entry"), self.made.append_basic_block("body")
        self.allocas = ir.IRBuilder(start)
        self.allocas.position_before(self.allocas.branch(body))
        self.builder = ir.IRBuilder(body)
        for name, type, value in zip(names, types, self.made.args, strict=False):    # one more: see _Module.device
            self._assign_name(name, Typed(type, value))
        self._block(node.body)
        if not self.builder.block.is_terminated:
            self._return(None)
        return self.returned or "void"

    # --- statements ---

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            if self.builder.block.is_terminated:
                return
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[target], value=value):
                self._assign(target, self.found(value))
            case ast.AugAssign(target=target, op=op, value=value) if type(op) in SIGNS:
                self._augment(target, SIGNS[type(op)], value)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=args), orelse=[]):
                self._for(name, [self.integer(arg) for arg in args], node.body)
            case ast.While(test=test, orelse=[]):
                self._while(test, node.body)
            case ast.If():
                self._if(node)
            case ast.Return(value=value):
                self._return(value)
            case ast.Expr(value=ast.Call() as call):
                self.call(call)
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Break() | ast.Continue():
                loop = self.loops[-1]
                self.builder.branch(loop.after if isinstance(node, ast.Break) else loop.following)
            case _:
                raise Unsupported(ast.unparse(node))

    def _assign(self, target: ast.expr, value: Found) -> None:
        match target:
            case ast.Name(id=name):
                self._assign_name(name, single(value))
            case ast.Subscript(value=array, slice=index):
                pointer, type = self.element(array, index)
                self.builder.store(convert(self.builder, single(value), type).value, pointer)
            case ast.Tuple(elts=targets) if isinstance(value, tuple) and len(value) == len(targets):
                for each, one in zip(targets, value, strict=True):
                    self._assign(each, one)
            case _:
                raise Unsupported(f"assignment to {ast.unparse(target)}")

    def _assign_name(self, name: str, value: Typed) -> None:
        slot = self.slots.get(name)
        if slot is None:
            slot = self.slots[name] = Typed(value.type, self.allocas.alloca(llvm_type(value.type), name=name))
        if slot.type != value.type:
            raise Unsupported(f"{name} as {slot.type} and {value.type}")
        self.builder.store(value.value, slot.value)

    def _augment(self, target: ast.expr, sign: str, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                now = self.name(name)
                self._assign_name(name, arithmetic.binary(self.builder, sign, now, self.value(value)))
            case ast.Subscript(value=array, slice=index):
                pointer, type = self.element(array, index)
                now = Typed(type, self.builder.load(pointer))
                made = arithmetic.binary(self.builder, sign, now, self.value(value))
                self.builder.store(convert(self.builder, made, type).value, pointer)
            case _:
                raise Unsupported(ast.unparse(target))

    def _for(self, name: str, limits: list[Typed], body: Sequence[ast.stmt]) -> None:
        """Emit a counted loop: its test stands at its end, and one before it."""
        if not 1 <= len(limits) <= 3:
            raise Unsupported("a range of that")
        type = arithmetic.unified([limit.type for limit in limits])
        builder, given = self.builder, [convert(self.builder, limit, type) for limit in limits]
        start = given[0] if len(given) > 1 else constant(0, type)
        stop, step = given[min(1, len(given) - 1)], given[2] if len(given) > 2 else constant(1, type)
        before, inside, following, after = builder.block, *(self.made.append_basic_block(where) for where in
                                                            ("loop", "next", "after"))
        builder.cbranch(self._goes_on(start, stop, step), inside, after)
        builder.position_at_end(inside)
        index = builder.phi(start.value.type)
        index.add_incoming(start.value, before)
        self._assign_name(name, Typed(type, index))
        self._loop_body(body, following, after)
        builder.position_at_end(following)
        later = builder.add(index, step.value, flags=("nsw",) if type == "int64" else ())
        index.add_incoming(later, following)
        builder.cbranch(self._goes_on(Typed(type, later), stop, step), inside, after)
        builder.position_at_end(after)

    def _goes_on(self, index: Typed, stop: Typed, step: Typed) -> Any:
        up = arithmetic.compare(self.builder, "<", index, stop).value
        if isinstance(step.value, ir.Constant) and step.value.constant > 0:
            return up
        down = arithmetic.compare(self.builder, ">", index, stop).value
        return self.builder.select(arithmetic.compare(self.builder, ">", step, constant(0, step.type)).value, up, down)

    def _while(self, test: ast.expr, body: Sequence[ast.stmt]) -> None:
        builder = self.builder
        testing, inside, after = (self.made.append_basic_block(where) for where in ("while", "loop", "after"))
        builder.branch(testing)
        builder.position_at_end(testing)
        builder.cbranch(self.truth(test), inside, after)
        builder.position_at_end(inside)
        self._loop_body(body, testing, after)
        builder.position_at_end(after)

    def _loop_body(self, body: Sequence[ast.stmt], following: Any, after: Any) -> None:
        self.loops.append(_Loop(following, after))
        self._block(body)
        self.loops.pop()
        if not self.builder.block.is_terminated:
            self.builder.branch(following)

    def _if(self, node: ast.If) -> None:
        builder = self.builder
        then, other, after = (self.made.append_basic_block(where) for where in ("then", "else", "after"))
        builder.cbranch(self.truth(node.test), then, other)
        for block, body in ((then, node.body), (other, node.orelse)):
            builder.position_at_end(block)
            self._block(body)
            if not builder.block.is_terminated:
                builder.branch(after)
        builder.position_at_end(after)

    def _return(self, node: ast.expr | None) -> None:
        found = None if node is None else self.found(node)
        values = found if isinstance(found, tuple) else () if found is None else (found,)
        types = "void" if found is None else found.type if isinstance(found, Typed) else tuple(v.type for v in values)
        if values and not isinstance(self.made.args[-1].type, ir.PointerType):
            raise Unsupported("a kernel that returns something")
        if self.returned not in ("", types):
            raise Unsupported(f"a function that returns {self.returned} and {types}")
        self.returned = types
        if values:
            whole = ir.Constant(struct_of(types), ir.Undefined)
            for i, value in enumerate(values):
                whole = self.builder.insert_value(whole, value.value, i)
            self.builder.store(whole, self.made.args[-1])
        self.builder.ret_void()
