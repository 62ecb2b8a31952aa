"""Functions that users declare as ops: their names, signatures and errors, and the names that their bodies may use.

A scalar body may use the primitives by their names (`exp(x)`), by those of `tf`, `np` and `math` (`tf.exp(x)`), and
numbers of the module or cell around it, with the values that they have at the declaration.
"""
from __future__ import annotations

import inspect
import linecache
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.kernels.functions.definition import KernelSyntaxError
from tfnb.kernels.functions.language import PlainPrimitive, is_primitive
from tfnb.kernels.scalar.definition import NotStraightLine, Program, Scalar
from tfnb.kernels.scalar.primitives import ALIASES, PRIMITIVES
from tfnb.kernels.scalar.symbols import primitive
from tfnb.opdef import registry
from tfnb.opdef.op import Op
from tfnb.ops.declaration.construct import Constructor, official_name

_MODULES = ("tfnb", "tensorflow", "numpy", "math")
_SHORT = {"absolute": "abs", "multiply": "mul", "subtract": "sub"}
_KINDS: dict[type, str] = {bool: "bool", int: "int", float: "float"}


class CustomOp(Constructor):
    """An op that a user declared: calling it adds a node, as the functions of `tf` do.

    `op.gradient` registers a gradient as a decorator: fn(op, *output_gradients) -> gradients of the inputs.
    """

    def __init__(self, spec: Op, fn: Callable[..., Any]) -> None:
        super().__init__(spec)
        self.__wrapped__ = fn


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of a user's function. attrs: keyword-only ones -> their default (None: it must be given)."""

    operands: tuple[str, ...]
    attrs: dict[str, Any]
    defaults: dict[str, Any]

    def specs(self, fn: FunctionType) -> dict[str, str]:
        """Return the specification of each attr in the language of signatures: "float = 0.2"."""
        return {name: _attr_spec(fn, name, default) for name, default in self.attrs.items()}


def parameters(fn: Any) -> Parameters:
    """Return the parameters of a function. Raises TypeError for what is no function, KernelSyntaxError for `*args`."""
    if not isinstance(fn, FunctionType):
        raise TypeError(f"expected a function made by `def` or `lambda`, got {fn!r}")
    operands: list[str] = []
    attrs: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for p in inspect.signature(fn).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise error_at(fn, fn.__code__.co_firstlineno, f"expected named parameters only, got `*{p.name}`")
        if p.kind is p.KEYWORD_ONLY:
            attrs[p.name] = None if p.default is p.empty else p.default
        else:
            operands.append(p.name)
            if p.default is not p.empty:
                defaults[p.name] = p.default
    return Parameters(tuple(operands), attrs, defaults)


def _attr_spec(fn: FunctionType, name: str, default: Any) -> str:
    """Return the specification of one attr: its type by its default, else by its annotation."""
    note = fn.__annotations__.get(name)
    kind = _KINDS.get(note) if isinstance(note, type) else note if note in _KINDS.values() else None
    if kind is None:
        kind = _KINDS.get(type(default), "float" if default is None else None)
    if kind is None:
        raise error_at(fn, fn.__code__.co_firstlineno, f"expected a number as the default of `{name}`, got {default!r}")
    if default is None:
        return kind
    return f"{kind} = {str(bool(default)).lower() if kind == 'bool' else default}"


def official_types(given: Any) -> str:
    """Return dtypes as a signature lists them. given: "numbertype", "{float, int32}", a dtype or a list of dtypes."""
    if isinstance(given, str):
        return given
    several = given if isinstance(given, Sequence) else [given]
    return "{" + ", ".join(official_name(dtypes.as_dtype(each)) for each in several) + "}"


def op_name(fn: FunctionType, name: str | None, prefix: str = "") -> str:
    """Return the op type of a function: its name in CamelCase behind `prefix`.

    Raises ValueError if TensorFlow has an op of that name.
    """
    found = prefix + (name or "".join(part[:1].upper() + part[1:] for part in fn.__name__.split("_")))
    if not found.isidentifier():
        raise ValueError(f"expected a name for the op, as `name=\"Swish\"`, got {found!r}")
    if found in registry.names() and found not in registry.CUSTOM:
        raise ValueError(f"op {found!r} is one of TensorFlow's: give the function another name, or `name=`")
    return found


def declared(spec: Op, fn: Callable[..., Any], kind: type[CustomOp] = CustomOp) -> Any:
    """Register the record of an op that a user declared, in place of one of that name, and return its constructor."""
    spec.amend(origin=inspect.unwrap(fn).__code__)
    registry.declare_custom(spec)
    return kind(spec, fn)


# --- scalar bodies ---

class _Words:
    """The functions of a module (`tf`, `np`, `math`) that a scalar body may use: those that are primitives.

    found: what a primitive is: a function over the symbols of the body that is read, or over NumPy's numbers.
    """

    def __init__(self, module: ModuleType, path: str, found: Callable[[str], Any] = primitive) -> None:
        self._module, self._path, self._found = module, path, found

    def __getattr__(self, name: str) -> Any:
        if name in ("nn", "math"):
            return _Words(self._module, f"{self._path}.{name}", self._found)
        short = "a" + name[3:] if name.startswith("arc") else _SHORT.get(name, name)
        short = ALIASES.get(short, short)
        if short in PRIMITIVES and PRIMITIVES[short].rule not in ("row", "column"):
            return self._found(short)
        found = getattr(self._module, name, None)
        if isinstance(found, (int, float)):                 # pi, e, inf, nan
            return found
        raise TypeError(f"expected a function of single numbers, got {self._path}.{name}")


def _folded(name: str) -> Callable[..., Any]:
    two = primitive(name)

    def fold(first: Any, *others: Any) -> Any:
        """Return the smallest or largest of several numbers."""
        for other in others:
            first = two(first, other)
        return first
    return fold


_BUILTINS = {"abs": primitive("abs"), "round": primitive("rint"), "min": _folded("minimum"), "max": _folded("maximum"),
             "range": range, "len": len, "float": float, "int": int, "bool": bool, "True": True, "False": False}


def scalar_body(fn: Any, made: dict[Any, FunctionType] | None = None) -> FunctionType:
    """Return a function whose names are primitives and numbers: the scalar definition of an op.

    Functions that it calls become such functions, too. made: those that there are already.
    """
    made = {} if made is None else made
    fn = inspect.unwrap(fn)
    if fn in made:
        return made[fn]
    scope: dict[str, Any] = {"__builtins__": _BUILTINS}
    scope |= {name: primitive(ALIASES.get(name, name)) for name in (*PRIMITIVES, *ALIASES)}
    cells = {name: _filled(cell) for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)}
    body = made[fn] = FunctionType(fn.__code__, scope, fn.__name__, fn.__defaults__, tuple(cells.values()) or None)
    body.__kwdefaults__, body.__doc__, body.__module__ = fn.__kwdefaults__, fn.__doc__, fn.__module__
    for name in _names(fn.__code__) & fn.__globals__.keys() - cells.keys():
        scope[name] = _meaning(name, fn.__globals__[name], scope.get(name), made)
    for name, cell in cells.items():
        cell.cell_contents = _meaning(name, cell.cell_contents, None, made)
    return body


def _filled(cell: Any) -> Any:
    """Return a copy of a closure cell: what stands in the user's own is not changed."""
    value = cell.cell_contents
    return (lambda: value).__closure__[0]                   # type: ignore[index]


def _meaning(name: str, value: Any, before: Any, made: dict[Any, FunctionType]) -> Any:
    """Return what a name of the user's stands for in a scalar body; `before` if that is none of its own."""
    if isinstance(value, (bool, int, float, np.generic)):
        return value
    if isinstance(value, ModuleType) and value.__name__ in _MODULES:
        return _Words(value, name)
    if isinstance(value, FunctionType) and before is None:
        return scalar_body(value, made)
    return before if before is not None else value


def _names(code: CodeType) -> set[str]:
    """Return the names that code, and code inside of it, takes from outside."""
    inner = [_names(each) for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*inner)


def plain(fn: Any) -> Callable[..., Any]:
    """Return an item kernel as plain Python: the functions of `tf` are those of NumPy's numbers, as primitives are."""
    scope = {name: _Words(value, name, PlainPrimitive) for name, value in fn.__globals__.items()
             if isinstance(value, ModuleType) and value.__name__ in _MODULES[:2]}
    missing = {name: PlainPrimitive(name) for name in _names(fn.__code__) - fn.__globals__.keys() if is_primitive(name)}
    return FunctionType(fn.__code__, {**missing, **fn.__globals__, **scope}, fn.__name__, None, fn.__closure__)


# --- errors ---

def error_at(fn: FunctionType, line: int, what: str) -> KernelSyntaxError:
    """Return the error for a line of a user's function."""
    file = fn.__code__.co_filename
    text = linecache.getline(file, line).strip() or None
    return KernelSyntaxError(f"{fn.__name__!r}, line {line}: {what}", (file, line, None, text))


def line_of(fn: FunctionType, error: BaseException) -> int:
    """Return the line of the function where an error was raised; its first one if it was raised elsewhere."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code is fn.__code__]
    return lines[-1] if lines else fn.__code__.co_firstlineno


class BeyondSubset(Exception):
    """A body that is not straight-line: it branches on a value, or loops over one. cause: what was found, and where."""

    def __init__(self, cause: SyntaxError) -> None:
        self.cause = cause
        super().__init__(str(cause))


def read_body(fn: FunctionType, body: Scalar, attrs: Mapping[str, Any]) -> Program:
    """Read the body of a function, for the defaults of its attrs (None: it has none; 1 is taken).

    Raises SyntaxError with the line at fault, or BeyondSubset.
    """
    try:
        return body.program({name: 1.0 if value is None else value for name, value in attrs.items()})
    except (TypeError, NameError, AttributeError, ValueError, LookupError) as error:
        cause = error.__cause__ or error
        what = str(error).partition(": ")[2] if str(error).startswith("definition ") else str(error)
        found = error_at(fn, line_of(fn, cause), what)
        if isinstance(error, NotStraightLine):
            raise BeyondSubset(found) from error
        raise found from None
