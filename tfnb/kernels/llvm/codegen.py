"""Kernel source -> a relocatable object with one symbol, through LLVM.

lowering.py makes LLVM IR of the source, or numba (by_numba.py) where lowering.py does not support it. Then LLVM
optimises, with what we know of the loops (loops.py), and emits an object that refers to no numba runtime, no Python and
no address of this process: it can be kept on disk and loaded without either.

A kernel of an MLP takes 5 to 55 ms: 1 to 7 to lower, 2 to 20 to optimise, 2 to 25 to emit (the loops with exp in them
take longest). numba takes 20 to 350 ms for the first of these.
"""
from __future__ import annotations

import re
from functools import cache
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.c_library import BY_LLVM, undefined_symbols
from tfnb.kernels.llvm import by_numba, lowering
from tfnb.kernels.llvm.arithmetic import Unsupported
from tfnb.kernels.llvm.loops import mark_independent
from tfnb.kernels.llvm.microkernel import processor_features
from tfnb.kernels.llvm.special_functions import SYMBOLS
from tfnb.kernels.scalar.primitives import PRIMITIVES

llvm = lazy_module("llvmlite.binding")

# of the C library: what primitives name, what LLVM makes of instructions, and what numba's own lowering calls
_FLOAT = {*(row.libm for row in PRIMITIVES.values() if row.libm),
          *("cbrt copysign exp2 fabs fdim fma fmax fmin frexp hypot ldexp log10 log2 logb modf nearbyint nextafter "
            "remainder round scalbn sincos tgamma").split()}
LIBRARY = frozenset([*_FLOAT, *(f"{name}f" for name in _FLOAT), "memcpy", "memmove", "memset", "memcmp"])
INLINED_LINES = 1000                       # of LLVM IR, of all calls of helpers: beyond, LLVM's own choice is quicker


class KernelError(RuntimeError):
    """A kernel source that does not compile: a fault of tfnb, not of the user."""


@cache
def machine() -> Any:
    """Return LLVM's description of this processor, for code generation (made once; 0.7 ms)."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=processor_features(), opt=3, jit=True)


def compile_source(text: str, symbol: str) -> bytes:
    """Compile a kernel's source to object code; its only global symbol is `symbol`.

    Raises KernelError when numba rejects the source or when the result calls anything but the C library and SciPy.
    """
    code, foreign = _emit(optimised_module(text, symbol))
    if any(name.startswith("__svml") for name in foreign):      # numba found Intel's vector library and told LLVM
        code, foreign = _emit(optimised_module(text, symbol, vectors=False))
    if foreign:
        raise KernelError(f"kernel calls {', '.join(foreign)}, which a stand-alone object may not\n{text}")
    return code


def _emit(module: Any) -> tuple[bytes, list[str]]:
    """Return the object code of a module, and the functions that it calls outside the C library."""
    outside = {fn.name for fn in module.functions if fn.is_declaration and not fn.name.startswith("llvm.")}
    code = bytes(machine().emit_object(module))
    return code, sorted((outside | undefined_symbols(code)) - LIBRARY - BY_LLVM - set(SYMBOLS))


def optimised_module(text: str, symbol: str, vectors: bool = True) -> Any:
    """Return the optimised LLVM module of a kernel: its function `symbol`, and what could not be inlined into it.

    A source whose time is spent in native functions and other kernels may say so: with `LEVEL = 2` loops are not
    unrolled or vectorised (convolutions: as fast, compiled in three quarters of the time), `LEVEL = 0` is bare
    translation (matmul: half the time).
    """
    made, settings = _lowered(text, symbol)
    if settings.get("INDEPENDENT"):
        made = mark_independent(_inlined(made, symbol) if made.count("\ndefine ") > 1 else made)
    module = _internal(made, symbol)
    level = settings.get("LEVEL", 3)
    _optimise(module, level, vectors and level == 3)
    module.verify()
    return module


def _inlined(made: str, symbol: str) -> str:
    """Return the module with its helper functions inlined, its loops unchanged: which are innermost shows only then.

    All of them if they are small: to choose what to inline, LLVM cleans up all of the module first.
    """
    module = _internal(made, symbol)
    helpers = [function for function in module.functions if not function.is_declaration and function.name != symbol]
    lines = sum((made.count(f'@"{function.name}"(') - 1) * str(function).count("\n") for function in helpers)
    if lines < INLINED_LINES:       # in the text: llvmlite before 0.46 would mark what they return
        names = "|".join(re.escape(function.name) for function in helpers) or "$"
        heads = re.compile(rf'^(define .*@"?(?:{names})"?\(.*\))([^)\n]*\{{)$', re.MULTILINE)
        module = llvm.parse_assembly(heads.sub(r"\1 alwaysinline\2", str(module)))
    _optimise(module, 0 if lines < INLINED_LINES else 1, vectors=False)
    return str(module)


def _internal(made: str, symbol: str) -> Any:
    """Return the module of a kernel, which alone may be called from outside."""
    module = llvm.parse_assembly(made)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != symbol:
            value.linkage = "internal"
    return module


def _lowered(text: str, symbol: str) -> tuple[str, dict[str, Any]]:
    """Return the unoptimised LLVM module of a kernel's source, and its module-level settings."""
    try:
        try:
            return lowering.module_source(text, symbol, machine().triple, str(machine().target_data))
        except Unsupported:
            return by_numba.module_source(text, symbol)
    except Exception as error:
        raise KernelError(f"kernel does not compile: {error}\n{text}") from error


def _optimise(module: Any, level: int, vectors: bool) -> None:
    """Optimise: level 1 inlines and cleans up and leaves the loops as they are; level 3 is all that LLVM has."""
    tuning = llvm.create_pipeline_tuning_options(speed_level=level)
    tuning.loop_unrolling = level == 3
    tuning.loop_vectorization = tuning.slp_vectorization = vectors
    builder = llvm.create_pass_builder(machine(), tuning)
    builder.getModulePassManager().run(module, builder)
