"""Kernel functions: a Python function that handles one item, for the CPU, a GPU and plain Python.

    @kernel_function
    def scale(x: Array, y: Array, factor: int, T: Type, item: int):
        y[item] = T(x[item] * factor)

    scale.launch(call, items, call.input(0), call.output(), 3, T="float32") -> Launch       in an op's launch function
    scale.python(items, x, y, 3, T="float32")                                               in a test or a debugger

The last parameter is the item; kernels/functions/language.py says what the others take. The source is read, and
specialized for the constants (specialize.py), when a program with the kernel is first compiled.
"""
from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from types import FunctionType
from typing import Any, overload

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.core.options import has_compiler
from tfnb.kernels.cuda.geometry import over
from tfnb.kernels.functions import language
from tfnb.kernels.functions.definition import Definition, Parameter
from tfnb.kernels.launch import Address, Call, Launch, Word
from tfnb.kernels.scalar.primitives import PRIMITIVES
from tfnb.kernels.sizes import highest, require_plain

specialization = lazy_module("tfnb.kernels.functions.specialize")        # 5 ms, which `import tfnb` goes without
sources = lazy_module("tfnb.kernels.functions.sources")
jit = lazy_module("tfnb.kernels.llvm.jit")

GRAIN = 1 << 16                             # elements that a thread of the CPU takes at a time

Key = tuple[tuple[str, Any], ...]


def address(array: np.ndarray) -> int:
    """Return where the elements of a contiguous array begin."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]  # (the quickest way)
    except (TypeError, ValueError):                    # read-only, empty
        assert array.flags.c_contiguous
        found: int = array.__array_interface__["data"][0]
        return found


@cache
def type_name(dtype: np.dtype) -> str:
    """Return `dtype.name`, which NumPy puts together anew each time (1 us)."""
    return dtype.name


class KernelFunction:
    """A function that handles one item. settings: INDEPENDENT and FASTMATH of its CPU source (cpu/prelude.py)."""

    def __init__(self, definition: Definition, settings: Mapping[str, object]) -> None:
        self.definition, self.settings = definition, settings
        self._sources: dict[tuple[str, Key, Key, bool], tuple[str, bool]] = {}
        self._natives: dict[tuple[Any, ...], tuple[Callable[[Any, int, int], None], bool]] = {}

    @cached_property
    def _ones(self) -> frozenset[str]:
        return frozenset(p.name for p in self.definition.parameters if p.kind == "one")

    def launch(self, call: Call, items: int, *args: Any, cost: int = 1, grain: int | None = None, label: str = "",
               **named: Any) -> Launch:
        """Return the launch over `items` items on the device of the call.

        args, named: of each parameter but the item: an Address of an array (or None), an int, several, or a constant.
        cost: elements that an item handles; `grain`, the items that a thread of the CPU takes at a time, follows.
        """
        runtime, constants = self._bound(args, named)
        types = tuple((p.name, call.type_of(value)) for p, value in runtime if isinstance(value, Address))
        source, fails = self._source(call.device, tuple(constants.items()), types, items == 1 and grain == 0)
        words: list[Word] = []
        for _, value in runtime:
            words += value if isinstance(value, (tuple, list)) else [value]
        words += [Address("status")] * fails
        label = label or self.definition.name.strip("_").replace("_", " ")
        if call.device == "cuda":
            return over(source, words, items, label)
        grain = highest(1, GRAIN // highest(1, cost)) if grain is None else grain
        return Launch(source, tuple(words), items, grain, label)

    def source(self, device: str, types: Mapping[str, str], **constants: Any) -> str:
        """Return the source for these constants. device: "cpu" or "cuda"; types: of the elements of each array."""
        return self._source(device, tuple(constants.items()), tuple(types.items()))[0]

    def native(self, types: Mapping[str, str], **constants: Any) -> Callable[[Any, int, int], None]:
        """Return the compiled form, called without a program: (address of the words, begin, end).

        The words are the address or integer of each parameter, in order. Releases the GIL.
        """
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        return call(jit.address(self.source("cpu", types, **constants)))

    def run(self, items: int, *args: Any, **constants: Any) -> None:
        """Run the compiled form (the function itself, without a compiler) for each item, in order. Releases the GIL.

        args: NumPy arrays of any shape and integers, in the order of the parameters; constants: the others, None for an
        array that there is not included. Arrays that are not contiguous are copied: none that the function writes to
        may be one. Compiles at the first call for dtypes and constants.
        Raises KernelFailure for a value that the function does not take.
        """
        args = tuple([np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x for x in args])
        if not has_compiler():
            flat = [x.reshape(-1) if isinstance(x, np.ndarray) else x for x in args]
            self.python(items, **dict(zip(self._others(constants), flat, strict=True)), **constants)
            return
        if self._ones:
            args, constants = self._with_ones(args, constants)
        key = ("".join([x.dtype.char for x in args if isinstance(x, np.ndarray)]), *constants.items())
        native = self._natives.get(key)
        if native is None:
            types = {p: x.dtype.name for p, x in zip(self._others(constants), args, strict=True)
                     if isinstance(x, np.ndarray)}
            fails = self._source("cpu", tuple(constants.items()), tuple(types.items()))[1]
            native = self._natives[key] = self.native(types, **constants), fails
        words, status = [address(x) if isinstance(x, np.ndarray) else x for x in args], None
        if native[1]:
            status = np.zeros(8, np.int64)
            words.append(address(status))
        native[0]((ctypes.c_int64 * len(words))(*words), 0, items)
        if status is not None and status[0]:
            code, *rest = status.tolist()
            raise language.KernelFailure(code, rest)

    def _with_ones(self, args: Sequence[Any], constants: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments without, and the constants with, each MaybeOne that is 1."""
        ones = {name: 1 for name, x in zip(self._others(constants), args, strict=True) if name in self._ones and x == 1}
        if not ones:
            return tuple(args), constants
        kept = [x for name, x in zip(self._others(constants), args, strict=True) if name not in ones]
        return tuple(kept), constants | ones

    def _others(self, constants: Mapping[str, Any]) -> list[str]:
        """Return the names of the parameters but the item that are not among the constants."""
        return [p.name for p in self.definition.parameters[:-1] if p.name not in constants]

    def python(self, items: int, *args: Any, **named: Any) -> None:
        """Run the function as it is written, for each item: over flat NumPy arrays. Raises KernelFailure."""
        bound = self._by_name(args, named)
        for parameter in self.definition.parameters:
            if parameter.kind == "type":
                bound[parameter.name] = np.dtype(bound[parameter.name]).type
        function, item = self._plain(), self.definition.parameters[-1].name
        with np.errstate(all="ignore"):
            for number in range(items):
                function(**bound, **{item: number})

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call the function as it is written."""
        return self.definition.fn(*args, **named)

    def _plain(self) -> FunctionType:
        """Return the function with the names of the kernel language, which it need not import."""
        fn = self.definition.fn
        names = [*language.CASTS, *filter(language.is_primitive, PRIMITIVES), "unrolled", "fail", "array_at"]
        scope = {name: getattr(language, name) for name in names if name not in ("int", "float", "bool")}
        return FunctionType(fn.__code__, {**scope, **fn.__globals__}, fn.__name__, None, fn.__closure__)

    def _by_name(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        names = [parameter.name for parameter in self.definition.parameters[:-1]]
        bound = dict(zip(names, args, strict=False)) | dict(named)
        if len(args) + len(named) != len(names) or bound.keys() != set(names):
            raise TypeError(f"{self.definition.name}: expected the arguments {', '.join(names)}; got {len(args)} and "
                            f"{', '.join(named) or 'none by name'}")
        return bound

    def _bound(self, args: Sequence[Any],
               named: Mapping[str, Any]) -> tuple[list[tuple[Parameter, Any]], dict[str, Any]]:
        """Return the parameters that are known in the run only, with their arguments, and the constants."""
        bound = self._by_name(args, named)
        constants: dict[str, Any] = {}
        runtime: list[tuple[Parameter, Any]] = []
        for parameter in self.definition.parameters[:-1]:
            value = bound[parameter.name]
            if parameter.kind == "type":
                constants[parameter.name] = str(value)
            elif parameter.kind == "static" or value is None:
                constants[parameter.name] = value
            elif parameter.kind == "one" and value == 1:
                constants[parameter.name] = 1
            else:
                runtime.append((parameter, value))
                if parameter.kind == "ints":
                    constants[f"len({parameter.name})"] = len(value)
        return runtime, constants

    def _source(self, device: str, constants: Key, types: Key, single: bool = False) -> tuple[str, bool]:
        """Return the source, and whether the kernel may report a failure. single: there is item 0 alone."""
        require_plain(value for _, value in constants)             # the source would be one for these sizes alone
        key = device, constants, types, single and device == "cpu"
        if key not in self._sources:
            form = sources.CUDA if device == "cuda" else sources.CPU
            made = specialization.specialize(self.definition, dict(constants), form)
            text = sources.cuda_source(made) if device == "cuda" else \
                sources.cpu_source(made, dict(types), self.settings, single)
            self._sources[key] = text, made.fails
        return self._sources[key]


@overload
def kernel_function(fn: Callable[..., None]) -> KernelFunction: ...
@overload
def kernel_function(*, independent: bool = False,
                    fastmath: tuple[str, ...] | None = None) -> Callable[[Callable[..., None]], KernelFunction]: ...


def kernel_function(fn: Callable[..., None] | None = None, *, independent: bool = False,
                    fastmath: tuple[str, ...] | None = None) -> Any:
    """Make a kernel of a function that handles one item: its parameters are annotated, the last one is the item.

    independent: no iteration of an innermost loop touches what another one stores, so that the loop is vectorized.
    fastmath: LLVM's flags for float arithmetic (by default contract, reassoc); () keeps the order of additions.
    """
    def make(fn: Callable[..., None]) -> KernelFunction:
        assert isinstance(fn, FunctionType)
        settings: dict[str, object] = {} if fastmath is None else {"FASTMATH": fastmath}
        return KernelFunction(Definition(fn), settings | ({"INDEPENDENT": True} if independent else {}))
    return make if fn is None else make(fn)
