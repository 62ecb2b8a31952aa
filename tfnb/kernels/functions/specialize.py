"""Specialization of kernel functions: constant folding, dead-branch elimination and name resolution.

What a function may hold: assignments to names, to elements of arrays and to tuples of names; `for` over `range` or
`unrolled`, `while`, `if`, `break`, `continue`; `return` (in a loop only after `fail`); arithmetic, comparisons, `and`,
`or`, `not`, conditional expressions; calls of casts, primitives, `min`, `max`, `abs`, `len` of a tuple, and of other
functions of this kind, whose parameters are annotated alike and which may return something. Names of the module that
hold numbers or tuples of them are constants.
"""
from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from typing import Any

from tfnb.kernels.functions import language
from tfnb.kernels.functions.dead import without_dead_code
from tfnb.kernels.functions.definition import Definition
from tfnb.kernels.functions.folding import DYNAMIC, constant_value
from tfnb.kernels.functions.language import CASTS
from tfnb.kernels.functions.specialize_expressions import Device, Expressions, Specialized


def specialize(definition: Definition, constants: Mapping[str, Any], device: Device) -> Specialized:
    """Return a kernel function for the values of its constant parameters (and of others that are known).

    Raises KernelSyntaxError for what a kernel function may not hold.
    """
    return _Specializer(definition, constants, device, {}).run()


class _Specializer(Expressions):
    """Rewriter of one function."""

    def run(self) -> Specialized:
        """Return the function rewritten."""
        node = copy.deepcopy(self.definition.node)
        if self.kernel and "float" in self.kinds.values():
            raise self.definition.error(node, "expected integers and arrays as arguments of a kernel, got a float")
        self.locals = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)
                       and isinstance(each.ctx, ast.Store)} | set(self.kinds)
        self.result.body = without_dead_code(self._block(node.body), self.made) or [ast.Pass()]
        return self.result

    # --- statements ---

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for i, node in enumerate(body):
            failed = i > 0 and self._is_call(body[i - 1], "fail")
            made += self._statement(node, failed)
            if made and isinstance(made[-1], (ast.Return, ast.Break, ast.Continue)):
                break
        return made

    def _statement(self, node: ast.stmt, failed: bool) -> list[ast.stmt]:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                return []
            case ast.Expr(value=ast.Call() as call):
                return (self._fail(call) if self._is_call(node, "fail") else self._stream(call)
                        if self._is_call(node, "stream") else [ast.Expr(self.visited(call))])
            case ast.Assign(targets=[ast.Name() as target], value=ast.Subscript(slice=ast.Slice()) as value):
                return [self._part(target, value)]
            case ast.Assign(targets=[ast.Name() as target], value=ast.Call() as call) if self._calls(call, "array_at"):
                return [self._view(target, call)]
            case ast.Assign(targets=[target], value=value):
                made = self._tuple(value)
                count, wanted = self._count(made), len(target.elts) if isinstance(target, ast.Tuple) else 1
                if count != wanted and not isinstance(target, ast.Name):
                    raise self.definition.error(node, f"expected {wanted} values, got {count}")
                return [self._assigned(self._target(target, count), made, node.lineno)]
            case ast.AugAssign(target=target, op=op, value=value):
                place: Any = self._target(target)       # a name or an element, as `target` is
                return [ast.AugAssign(place, self.operator(op, node), self.visited(value))]
            case ast.If():
                return self._if(node)
            case ast.For(target=ast.Name(), iter=ast.Call(func=ast.Name()), orelse=[]):
                return self._for(node)
            case ast.While(test=test, body=body, orelse=[]):
                return [ast.While(self.visited(test), self._loop(body), [])]
            case ast.Return():
                return self._return(node, failed)
            case ast.Break() | ast.Continue():
                return [node]
        raise self.refused(node)

    def _assigned(self, target: ast.expr, value: ast.expr, line: int) -> ast.stmt:
        """Return an assignment. A name keeps its type: that of its first value."""
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=False))
        for name, made in pairs:
            if isinstance(name, ast.Name) and self.is_integer(made):
                self.integers.add(name.id)
        return ast.Assign([target], value, lineno=line)

    def _part(self, target: ast.Name, node: ast.Subscript) -> ast.stmt:
        """Return the assignment of an array from an element on; on a GPU, of where it begins."""
        match node:
            case ast.Subscript(value=ast.Name(id=array), slice=ast.Slice(lower=ast.expr() as first, upper=None,
                                                                         step=None)) if (
                    self.is_array(node.value) and array != target.id):
                base, start = self.element(node.value, self.visited(first))
            case _:
                raise self.refused(node)
        self._target(target)
        if self.parts.setdefault(target.id, base.id) != base.id:
            raise self.definition.error(node, f"expected a part of `{self.parts[target.id]}`, as `{target.id}` was")
        if self.device.slices:
            return ast.Assign([target], ast.Subscript(base, ast.Slice(start), ast.Load()), lineno=node.lineno)
        return ast.Assign([ast.Name(f"{target.id}_at", ast.Store())], start, lineno=node.lineno)

    def _view(self, target: ast.Name, call: ast.Call) -> ast.stmt:
        """Return the assignment of an array at an address."""
        type = str(constant_value(self.visit(call.args[1]))).rstrip("_") if len(call.args) == 2 else ""
        if type not in CASTS.values() or call.keywords:
            raise self.definition.error(call, "expected array_at(address, type)")
        made = self.device.array_at(self.visited(call.args[0]), type)
        if made is None:
            raise self.definition.error(call, "array_at has no form on this device")
        self.views.add(target.id)
        return ast.Assign([self._target(target)], made, lineno=call.lineno)

    def _is_call(self, node: ast.stmt, name: str) -> bool:
        return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and self._calls(node.value, name)

    def _calls(self, call: ast.Call, name: str) -> bool:
        return self.resolve(call.func) is getattr(language, name)

    def _stream(self, call: ast.Call) -> list[ast.stmt]:
        """Return the statement that copies past the caches."""
        made = None
        if len(call.args) == 3 and all(map(self.is_array, call.args[:2])):
            made = self.device.stream(*map(self.visited, call.args))
        if made is None:
            raise self.definition.error(call, "expected stream(array, array, count), on the CPU")
        self.result.streams = True
        return [made]

    def _fail(self, call: ast.Call) -> list[ast.stmt]:
        if not self.kernel:
            raise self.definition.error(call, "expected `fail` in the kernel function, got it in one that it calls")
        if not call.args or call.keywords:
            raise self.definition.error(call, "expected fail(code, ...)")
        self.result.fails = True
        return self.device.fail(self.visited(call.args[0]), [self.visited(arg) for arg in call.args[1:]])

    def _target(self, node: ast.expr, count: int = 1) -> ast.expr:
        """Return what is assigned to. count: how many elements a name gets."""
        match node:
            case ast.Name(id=name):
                if name in self.kinds or name in self.constants:
                    raise self.definition.error(node, f"got an assignment to parameter or constant `{name}`")
                if self.tuples.setdefault(name, count) != count:
                    raise self.definition.error(node, f"expected {self.tuples[name]} elements in `{name}`, got {count}")
                return ast.Tuple(self.elements(name, count, ast.Store()), ast.Store()) if count > 1 else node
            case ast.Tuple(elts=nodes):
                return ast.Tuple([self._target(each) for each in nodes], ast.Store())
            case ast.Subscript() if self.is_array(node.value):
                return ast.Subscript(*self.element(node.value, self.visited(node.slice)), ast.Store())
        raise self.refused(node)

    def _tuple(self, node: ast.expr) -> ast.expr:
        """Return a value to be assigned, which alone may be a tuple."""
        if isinstance(node, ast.Name) and self.kinds.get(node.id) == "ints":
            return ast.Tuple(self._several(node) or [], ast.Load())
        return ast.Tuple([self.visited(each) for each in node.elts], ast.Load()) if isinstance(node, ast.Tuple) \
            else self.visited(node, tuples=True)

    def _count(self, made: ast.expr | None) -> int:
        """Return how many numbers an expression has."""
        match made:
            case ast.Tuple(elts=elts):
                return len(elts)
            case ast.Call(func=ast.Name(id=name)) if name in self.made:
                return self.made[name].results
        return 1

    def _if(self, node: ast.If) -> list[ast.stmt]:
        test = self.visit(node.test)
        known = constant_value(test)
        if known is not DYNAMIC:
            return self._block(node.body if known else node.orelse)
        then = self._block(node.body) or [ast.Pass()]
        return [ast.If(self.checked(test, node.test), then, self._block(node.orelse))]

    def _for(self, node: ast.For) -> list[ast.stmt]:
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        self._target(node.target)
        self.integers.add(node.target.id)
        args = [self.visited(arg) for arg in node.iter.args]
        if self.resolve(node.iter.func) is language.unrolled:
            return self._unrolled(node, args)
        if self.resolve(node.iter.func) is not range or node.iter.keywords or not 1 <= len(args) <= 3:
            raise self.refused(node)
        return [ast.For(node.target, ast.Call(ast.Name("range", ast.Load()), args, []), self._loop(node.body), [])]

    def _unrolled(self, node: ast.For, args: list[ast.expr]) -> list[ast.stmt]:
        assert isinstance(node.target, ast.Name)
        name, count = node.target.id, constant_value(args[0]) if len(args) == 1 else DYNAMIC
        if not isinstance(count, int):
            raise self.definition.error(node, "expected a constant in `unrolled(...)`")
        if any(isinstance(each, (ast.Break, ast.Continue)) for each in ast.walk(node)):
            raise self.definition.error(node, "expected no `break` or `continue` in a loop that is unrolled")
        made: list[ast.stmt] = []
        for index in range(count):
            self.constants[name] = index
            made += self._block(copy.deepcopy(node.body))
        self.constants.pop(name, None)
        return made

    def _loop(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        self.loops += 1
        made = self._block(body) or [ast.Pass()]
        self.loops -= 1
        return made

    def _return(self, node: ast.Return, failed: bool) -> list[ast.stmt]:
        if not self.kernel:
            made = None if node.value is None else self._tuple(node.value)
            self.result.results = self._count(made)
            return [ast.Return(made)]
        if node.value is not None:
            raise self.definition.error(node, "expected `return` with no value: a kernel function writes to its arrays")
        if self.loops and not failed:
            raise self.definition.error(node, "expected `return` in a loop only after `fail(...)`")
        return [ast.Return() if failed else ast.Continue()]
