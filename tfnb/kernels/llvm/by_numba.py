"""Kernel source -> LLVM IR through numba: for source beyond what lowering.py compiles, and to compare with it.

    module_source(text, symbol) -> (str, names)
        the unoptimised module, whose `symbol` is void(int64*, int64, int64), and what the source defines

numba is used to type the kernel and to lower it to LLVM IR, nothing more. We wrap the kernel in a C function.
"""
from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection
from functools import cache
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.kernels.llvm import prelude
from tfnb.kernels.llvm.intrinsics import NAMES, lowered
from tfnb.kernels.llvm.natives import Native
from tfnb.kernels.scalar.primitives import PRIMITIVES

numba = lazy_module("numba")
extending = lazy_module("numba.extending")

WRAPPER = """
define void @{symbol}(ptr %args, i64 %begin, i64 %end) {{
  %result = alloca ptr, align 8
  %error = alloca ptr, align 8
  %status = call i32 @"{inner}"(ptr %result, ptr %error, ptr %args, i64 %begin, i64 %end)
  ret void
}}
"""


def module_source(text: str, symbol: str) -> tuple[str, dict[str, Any]]:
    """Return the LLVM module of a kernel's source, and the names it defines. Raises SyntaxError and numba's errors."""
    scope = load_source(text)
    compiled = _unoptimised(scope["kernel"], scope.get("FASTMATH", prelude.FASTMATH))
    inner = compiled.native_name.removeprefix("cfunc.")
    return str(compiled.inspect_llvm()) + WRAPPER.format(symbol=symbol, inner=inner), scope


def load_source(text: str) -> dict[str, Any]:
    """Execute the source of a kernel module; return its names, `kernel` among them."""
    scope = dict(namespace())
    exec(compile(text, "<tfnb kernel>", "exec"), scope)
    return scope


def _unoptimised(function: Callable[..., None], fastmath: Collection[str]) -> Any:
    """Return numba's cfunc of a kernel, whose IR is as numba lowers it: optimising it is left to us."""
    wanted = _numba_type("void")(*map(_numba_type, prelude.SIGNATURE))
    with numba.core.compiler_lock.global_compiler_lock:     # so that no compilation of the user's sees our setting
        config = numba.config
        before = config.OPT
        config.OPT = type(before)(0)
        try:
            return numba.cfunc(wanted, error_model="numpy", fastmath=set(fastmath))(function)
        finally:
            config.OPT = before


@cache
def namespace() -> dict[str, Any]:
    """Return name -> object for all names that prelude.py lists. Imports numba (0.4 s)."""
    names: dict[str, Any] = {"np": np, "math": math, "device": numba.njit(error_model="numpy")}
    names |= {name: getattr(numba.types, name) for name in prelude.TYPES if name != "bfloat16"}
    names |= {name: _intrinsic(name, native) for name, native in prelude.primitives().items()}
    arities = {name: PRIMITIVES[name].arity if name in PRIMITIVES else 2 for name in NAMES}
    return names | {name: _scalar_primitive(name, arity) for name, arity in arities.items()}


def _numba_type(type: str) -> Any:
    if type.endswith("*"):
        return numba.types.CPointer(_numba_type(type[:-1]))
    return getattr(numba.types, type.replace("bool", "boolean"))


def _intrinsic(name: str, native: Native) -> Any:
    """Return numba's intrinsic of a native function."""
    count = len(native.operands)

    def typed(typingctx: Any, *given: Any) -> Any:
        """Return the function's type for operands of these types, and its code generator."""
        operands = [_numba_type(type) for type in native.wanted(list(map(str, given)))]
        rest = [numba.types.StarArgUniTuple(operands[-1], len(given) - count)] if native.more else []
        if isinstance(native.result, tuple):
            result = numba.types.Tuple([_numba_type(type) for type in native.result])
        else:
            result = _numba_type(native.result)
        return result(*operands[:count], *rest), codegen

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Emit its LLVM instructions."""
        if native.more:
            args = [*args[:-1], *numba.core.cgutils.unpack_tuple(builder, args[-1])]
        made = native.make(builder, *args)
        if native.result == "void":
            return context.get_dummy_value()
        return context.make_tuple(builder, signature.return_type, made) if isinstance(native.result, tuple) else made

    kinds = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
             for name in ("typingctx", *(f"x{i}" for i in range(count)))]
    if native.more:
        kinds.append(inspect.Parameter("more", inspect.Parameter.VAR_POSITIONAL))
    typed.__name__, typed.__signature__ = name, inspect.Signature(kinds)   # type: ignore[attr-defined]
    return extending.intrinsic(typed)


def _scalar_primitive(name: str, arity: int) -> Any:
    """Return numba's intrinsic of a primitive."""
    def typed(*operands: Any) -> Any:
        """Return the primitive's type for operands of these types, and its code generator."""
        own = [numba.types.unliteral(operand) for operand in operands]
        found = lowered(name, tuple(map(str, own)))
        if found is None:
            return None
        type, make = found
        return _numba_type(type)(*own), lambda context, builder, signature, args: make(builder, args)

    def unary(typingctx: Any, x: Any) -> Any:
        return typed(x)

    def binary(typingctx: Any, x: Any, y: Any) -> Any:
        return typed(x, y)

    def ternary(typingctx: Any, x: Any, y: Any, z: Any) -> Any:
        return typed(x, y, z)

    return extending.intrinsic((unary, binary, ternary)[arity - 1])
