"""Scalar definitions: the body of an op, written once as a plain function over scalars.

    def Sigmoid(x):
        return sigmoid(x)

A definition is straight-line and knows only the primitives of `kernels/scalar/primitives.py` and operators. It is read
by running it once on symbols: what comes out is a `Program`, a list of steps with no names in it, from which come the
NumPy reference (`reference`, below) and the kernels (`kernels/cpu`, `kernels/cuda`).

Positional parameters are the operands; keyword-only ones are attrs of the op, ordinary Python values in the body (so
`where(flag, a, b)` and arithmetic with them are done while reading). A symbol has no truth value: `if`, `and`, `or`
and chained comparisons of operands raise TypeError.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from math import prod
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from tfnb.kernels.scalar.number_types import HALVES, Literal, dtype_of, name_of, wide
from tfnb.kernels.scalar.numpy_forms import has_scipy, of_c_library
from tfnb.kernels.scalar.primitives import ALIASES, OF_SCIPY, PRIMITIVES, ROW_COMBINATIONS, signature
from tfnb.kernels.scalar.symbols import primitive, reading
from tfnb.opdef.op import Op

Array = np.ndarray[Any, Any]
BLOCK = 1 << 14                           # elements of large arrays that a definition of several steps takes at a time
Ref = int | Literal                       # a value of a program (operands first, then steps), or a number
Attrs = tuple[tuple[str, Any], ...]
# An operand of a typed step: the value of that number, converted to a type if it has another; or a number as an array.
Operand = tuple[int, str, Array | None]
# A step for operands of given dtypes: its NumPy form (None: of "column"), its operands, its result's dtype and type.
TypedStep = tuple[Callable[..., Any] | None, tuple[Operand, ...], np.dtype[Any], str]


@dataclass(frozen=True, slots=True)
class Step:
    """One primitive applied to earlier values."""

    primitive: str
    args: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A definition that has been read: values 0 .. operands - 1 are the operands, then one for each step.

    typed: its steps for the type and the dtypes of operands that `reference` has met: signatures take longer than sums.
    """

    operands: int
    steps: tuple[Step, ...]
    results: tuple[Ref, ...]
    typed: dict[tuple[Any, ...], list[TypedStep]] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A definition: equal to another if it is the same function. Read when first used, by `program`."""

    fn: FunctionType

    @property
    def name(self) -> str:
        """The name of the function: that of its op."""
        return self.fn.__name__

    @property
    def params(self) -> tuple[str, ...]:
        """The names of the operands."""
        code = self.fn.__code__
        return code.co_varnames[:code.co_argcount]

    @property
    def keywords(self) -> tuple[str, ...]:
        """The names of the attrs that the body reads."""
        code = self.fn.__code__
        return code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]

    @property
    def primitives(self) -> frozenset[str]:
        """The primitives named in the body (operators are not among them)."""
        return frozenset(self.fn.__code__.co_names)

    @property
    def is_rowwise(self) -> bool:
        """Whether the body reduces rows or uses the column index."""
        return _is_rowwise(self)

    def program(self, attrs: Attrs | Mapping[str, Any] = ()) -> Program:
        """Return the steps, for these values of the attrs. Raises TypeError where the body is not straight-line."""
        if not self.fn.__code__.co_kwonlyargcount:
            return _program(self, (), ())
        given = dict(attrs)
        chosen = tuple((name, given[name]) for name in self.keywords if name in given)
        try:
            return _program(self, chosen, tuple(map(type, dict(chosen).values())))
        except TypeError as error:
            if "unhashable" in str(error):
                return _trace(self, chosen)
            raise


@cache
def _is_rowwise(scalar: Scalar) -> bool:
    return not scalar.primitives.isdisjoint({*ROW_COMBINATIONS, "column"})


def read(fn: Callable[..., Any]) -> Scalar:
    """Return the scalar definition `fn`. Raises TypeError for *args, **kwargs, or an unknown primitive."""
    assert isinstance(fn, FunctionType)
    code = fn.__code__
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR):
        raise TypeError(f"{_place(code)}: a scalar definition has named parameters only and returns its results")
    unknown = [name for name in code.co_names if name not in PRIMITIVES and name not in ALIASES]
    if unknown:
        raise TypeError(f"{_place(code)}: {', '.join(unknown)}: no such primitive (primitives.py has them)")
    return Scalar(fn)


@cache
def expansion(name: str, type: str, bits: bool = True) -> Scalar | None:
    """Return the definition of a primitive over operands of `type` (a NumPy dtype name), or None if it has none.

    bits: whether the target has the primitive `bits`, which the polynomials need.
    """
    body = PRIMITIVES[name].definition(type, bits) if name in PRIMITIVES else None
    return None if body is None else Scalar(body)      # type: ignore[arg-type]


def row_level_results(scalar: Scalar, spec: Op, rows: Iterable[str]) -> tuple[bool, ...]:
    """Return, for each result of a rowwise op, whether it has one value per row (else one per element).

    rows: the names of the inputs that have one number for each row.
    """
    inputs = [arg.name for arg in spec.inputs]
    program = scalar.program({name: spec.attr(name).default for name in scalar.keywords})
    level = [inputs[i] in rows for i in range(program.operands)]
    for step in program.steps:
        level.append(step.primitive in ROW_COMBINATIONS or (step.primitive != "column" and all(
            isinstance(arg, Literal) or level[arg] for arg in step.args)))
    return tuple(isinstance(result, Literal) or level[result] for result in program.results)


# --- reading ------------------------------------------------------------------------------------------------------

class NotStraightLine(TypeError):
    """A body that branches on a value, loops over one, or passes one to what is no primitive."""


class _Reader:
    """Records the primitives that a definition applies to its symbols; equal steps are one step."""

    def __init__(self, operands: int) -> None:
        self.operands = operands
        self.steps: list[Step] = []
        self.known: dict[Any, Symbol] = {}

    def step(self, primitive: str, *args: Any) -> Any:
        """Return the symbol of a primitive applied to symbols and numbers."""
        if primitive == "where" and isinstance(args[0], bool | np.bool_):
            return args[1] if args[0] else args[2]
        if primitive == "pow" and type(args[1]) in (int, float) and args[1] == 2:
            primitive, args = "square", args[:1]
        refs = tuple(map(self.ref, args))
        if len(refs) != PRIMITIVES[primitive].arity:
            raise TypeError(f"{primitive} takes {PRIMITIVES[primitive].arity} operands, not {len(refs)}")
        key = (primitive, *(ref if isinstance(ref, int) else (type(ref.value), repr(ref.value)) for ref in refs))
        if key not in self.known:
            self.known[key] = Symbol(self, self.operands + len(self.steps))
            self.steps.append(Step(primitive, refs))
        return self.known[key]

    def ref(self, value: Any) -> Ref:
        """Return the reference of a symbol or literal in a step. Raises TypeError for anything else."""
        if isinstance(value, Symbol):
            return value.ref
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, bool | int | float | complex):
            return Literal(value)
        raise NotStraightLine(f"{value!r} is neither an operand nor a number")


class Symbol:
    """A symbolic value of a definition while it is read."""

    __slots__ = ("reader", "ref")
    __hash__ = None                       # type: ignore[assignment]

    def __init__(self, reader: _Reader, ref: int) -> None:
        self.reader = reader
        self.ref = ref

    def __bool__(self) -> bool:
        raise NotStraightLine("a definition is straight-line: it may not branch on a value; use where(condition, a, "
                              "b), and &, |, ~ for and, or, not")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):          # NumPy asks for some, and does without
            raise AttributeError(name)
        raise _refusal(name)


def _refusal(name: str) -> NotStraightLine:
    return NotStraightLine(f"a definition is straight-line: it may not ask a value for `{name}`")


def _refused(name: str) -> Callable[..., Any]:
    def refuse(self: Symbol, *args: Any, **kwargs: Any) -> Any:
        raise _refusal(name)
    return refuse


for _name in ("iter", "index", "int", "float", "complex", "round", "trunc", "floor", "ceil",
              "call", "divmod", "rdivmod", "matmul", "rmatmul", "fspath", "format", "enter"):
    setattr(Symbol, f"__{_name}__", _refused(f"__{_name}__"))


def _forward(primitive: str) -> Callable[..., Any]:
    return lambda self, *others: self.reader.step(primitive, self, *others)


def _backward(primitive: str) -> Callable[..., Any]:
    return lambda self, other: self.reader.step(primitive, other, self)


_OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "floormod",
              "pow": "pow", "and": "and", "or": "or", "xor": "xor", "lshift": "shift_left", "rshift": "shift_right"}
for _name, _primitive in _OPERATORS.items():
    setattr(Symbol, f"__{_name}__", _forward(_primitive))
    setattr(Symbol, f"__r{_name}__", _backward(_primitive))
for _name, _primitive in {"neg": "neg", "invert": "invert", "abs": "abs", "eq": "equal", "ne": "not_equal",
                          "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
    setattr(Symbol, f"__{_name}__", _forward(_primitive))


_FUNCTIONS = {name: primitive(ALIASES.get(name, name)) for name in (*PRIMITIVES, *ALIASES)}


@lru_cache(maxsize=4096)
def _program(scalar: Scalar, attrs: Attrs, types: tuple[type, ...]) -> Program:
    return _trace(scalar, attrs)


def _trace(scalar: Scalar, attrs: Attrs) -> Program:
    code, operands = scalar.fn.__code__, len(scalar.params)
    fn = FunctionType(code, scalar.fn.__globals__ | _FUNCTIONS, code.co_name, None, scalar.fn.__closure__)
    fn.__kwdefaults__ = scalar.fn.__kwdefaults__
    outer, reader = getattr(reading, "reader", None), _Reader(operands)
    reading.reader = reader
    try:
        results = fn(*(Symbol(reader, i) for i in range(operands)), **dict(attrs))
        refs = tuple(map(reader.ref, results if isinstance(results, tuple) else (results,)))
    except TypeError as error:
        told = isinstance(error, NotStraightLine) or isinstance(error.__cause__, NotStraightLine)  # (NumPy's, of x.sin)
        kind = NotStraightLine if told else TypeError
        raise kind(f"{_place(code)}: {error}") from error
    finally:
        reading.reader = outer
    return live(Program(operands, tuple(reader.steps), refs))


def live(program: Program) -> Program:
    """Dead-code elimination: return the program without steps that no result needs (attrs may select others)."""
    needed = {ref for ref in program.results if isinstance(ref, int)}
    for number in range(program.operands + len(program.steps) - 1, program.operands - 1, -1):
        if number in needed:
            needed |= {ref for ref in program.steps[number - program.operands].args if isinstance(ref, int)}
    place: dict[Ref, int] = {i: i for i in range(program.operands)}
    steps: list[Step] = []
    for number, step in enumerate(program.steps, program.operands):
        if number in needed:
            place[number] = program.operands + len(steps)
            steps.append(Step(step.primitive, tuple(place.get(ref, ref) for ref in step.args)))
    return Program(program.operands, tuple(steps), tuple(place.get(ref, ref) for ref in program.results))


def _place(code: CodeType) -> str:
    return f"definition {code.co_name} ({code.co_filename}, line {code.co_firstlineno})"


# --- the meaning in NumPy -----------------------------------------------------------------------------------------

def reference(scalar: Scalar, arrays: Sequence[Array], attrs: Attrs | Mapping[str, Any] = (), type: str = "",
              types: Sequence[str] = ()) -> tuple[Array, ...]:
    """Compute the results of a definition over broadcast NumPy arrays; overflow, 0/0 and the like give no warning.

    type: of the literals (by default that of the first array); types: what the results are cast to (by default they
    stay what they are: `type`, or bool for comparisons). Results have the broadcast shape of all arrays. In a rowwise
    definition the rows lie along the last axis: give row-level operands, and expect row-level results, with a last
    axis of size 1.
    """
    values = [array if array.__class__ is np.ndarray else np.asarray(array) for array in arrays]
    program, type = scalar.program(attrs), type or name_of(values[0].dtype)
    shapes = {value.shape for value in values}
    shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)      # 10 us, mostly for nothing
    if len(program.steps) > 1 and prod(shape) > 2 * BLOCK and not scalar.is_rowwise and all(
            value.size == 1 or value.shape == shape and value.flags.c_contiguous for value in values):
        return _by_blocks(scalar, values, attrs, type, types, shape)
    key = type, *[value.dtype for value in values]
    steps = program.typed.get(key)
    if steps is None:
        steps = program.typed[key] = typed_steps(program, [name_of(value.dtype) for value in values], type)
    with np.errstate(all="ignore"):
        for form, operands, dtype, name in steps:
            if form is None:
                values.append(np.arange(shape[-1], dtype=dtype))
                continue
            made = form(*[(wide(convert(values[number], wanted)) if wanted else values[number]) if known is None
                          else known for number, wanted, known in operands])
            array = made if made.__class__ is np.ndarray else np.asarray(made)
            values.append(array if array.dtype == dtype else convert(array, name))
        results = [values[ref] if isinstance(ref, int) else np.array(ref.value).astype(dtype_of(type))
                   for ref in program.results]
        if types:
            results = [convert(result, name) for result, name in zip(results, types, strict=True)]
    if not scalar.is_rowwise:
        results = [r if r.shape == shape else np.array(np.broadcast_to(r, shape)) for r in results]
    return tuple(results)


def _by_blocks(scalar: Scalar, values: Sequence[Array], attrs: Attrs | Mapping[str, Any], type: str,
               types: Sequence[str], shape: tuple[int, ...]) -> tuple[Array, ...]:
    """Compute `reference` of large arrays of one shape, or of one element, in parts that stay in the cache."""
    flat = [value.reshape(()) if value.size == 1 else value.reshape(-1) for value in values]
    made: list[Array] = []
    for start in range(0, prod(shape), BLOCK):
        part = reference(scalar, [value[start:start + BLOCK] if value.ndim else value for value in flat], attrs, type,
                         types)
        made = made or [np.empty(prod(shape), result.dtype) for result in part]
        for whole, result in zip(made, part, strict=True):
            whole[start:start + BLOCK] = result
    return tuple(whole.reshape(shape) for whole in made)


def typed_steps(program: Program, types: Sequence[str], type: str) -> list[TypedStep]:
    """Return the steps of a program for operands of these types, in a definition of `type`."""
    made: list[TypedStep] = []
    types = list(types)
    for step in program.steps:
        wanted, result = signature(step.primitive, [arg if isinstance(arg, Literal) else types[arg]
                                                    for arg in step.args], type)
        result = "int32" if step.primitive == "column" else result
        form = None if step.primitive == "column" else numpy_form(step.primitive)
        operands = [(0, name, wide(convert(np.asarray(arg.value), name))) if isinstance(arg, Literal) else
                    (arg, "" if types[arg] == name and name not in HALVES else name, None)
                    for arg, name in zip(step.args, wanted, strict=True)]
        made.append((form, tuple(operands) if form is not None else (), dtype_of(result), result))
        types.append(result)
    return made


def numpy_form(name: str) -> Callable[..., Any]:
    """Return the function of arrays that a primitive is, which SciPy's special functions need not be installed for.

    Those of which SciPy has the only form raise ImportError when they are called without it.
    """
    row = PRIMITIVES[name]
    return row.numpy if name not in OF_SCIPY or has_scipy() else partial(_without_scipy, name)


def _without_scipy(name: str, *arrays: Array) -> Array:
    row, type = PRIMITIVES[name], name_of(arrays[0].dtype)
    body = expansion(name, type)
    if body is not None:
        return reference(body, arrays)[0]
    return np.asarray((of_c_library(row.libm) if row.libm else row.numpy)(*arrays))


def evaluated(step: Step, values: Sequence[Array], type: str, shape: tuple[int, ...]) -> Array:
    """Return what a step makes of values, in a definition of `type` whose results have this shape."""
    given = [arg if isinstance(arg, Literal) else name_of(values[arg].dtype) for arg in step.args]
    wanted, result = signature(step.primitive, given, type)
    if step.primitive == "column":
        return np.arange(shape[-1], dtype=np.int32)
    args = [convert(np.asarray(arg.value) if isinstance(arg, Literal) else values[arg], name)
            for arg, name in zip(step.args, wanted, strict=True)]
    args = [wide(arg) for arg in args]                     # each primitive rounds once, as in the kernels of TensorFlow
    return convert(np.asarray(numpy_form(step.primitive)(*args)), result)


def convert(array: Array, type: str) -> Array:
    """Return the array as another dtype: to bool by != 0, complex to real by dropping the imaginary part, to 16-bit
    floats by way of float32, as TensorFlow does."""
    dtype = dtype_of(type)
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "c" and dtype.kind != "c":
        return array != 0 if dtype.kind == "b" else convert(array.real, type)
    if type in HALVES:
        array = array.astype(np.float32, copy=False)
    return array.astype(dtype)
