"""Evaluation of one op on NumPy arrays: the interpreter's step, and constant folding.

The same scalar definitions as in the kernels, evaluated on whole arrays; the NumPy form of hand-written kernels.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, TypeVar

import numpy as np

from tfnb.core.dtypes import DType, resource, variant
from tfnb.core.interrupts import interruptible
from tfnb.core.shape import Static, is_known
from tfnb.graph.parts.constant_value import LARGEST, set_evaluator
from tfnb.graph.parts.operation import Operation
from tfnb.graph.parts.references import element_dtype
from tfnb.kernels.scalar.bound import bound
from tfnb.kernels.scalar.definition import Program, Scalar, Step, reference, row_level_results
from tfnb.kernels.scalar.number_types import computed_as, wide
from tfnb.kernels.view import NeedsCopy, View
from tfnb.opdef import kinds
from tfnb.opdef.op import Op
from tfnb.ops.declaration.by_kernel import outputs_by_kernel
from tfnb.ops.declaration.shapes import normalized_axes
from tfnb.ops.declaration.validate import Validator, require_shapes, require_values, validate_arrays
from tfnb.resources.lists import TensorList

Arrays = Sequence[np.ndarray]
Array = np.ndarray
Call = Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]
Operand = TypeVar("Operand")
LARGE = 1 << 18          # numbers that a NumPy form takes and returns, from which on another thread computes it
SMALL = 1 << 15          # numbers that a NumPy form takes, up to which no kernel is looked for
MOST_AT_ONCE = 32        # inputs of one list (AddN) that a scalar definition takes


@dataclass(slots=True)
class Context:
    """Context of a NumPy implementation: the op, its attrs, its generator state, the store of the session."""

    op: Operation
    state: np.ndarray | None = None
    store: Any = None

    @property
    def attrs(self) -> dict[str, Any]:
        """The attrs of the op."""
        return self.op.attrs

    @property
    def timeout(self) -> float | None:
        """Seconds that this run may still wait; None: without limit."""
        return self.store.time_left()


def scalar_type(op: Operation) -> str:
    """Return the dtype name of an op's literals: attr T if it has one, else the dtype of the first input."""
    dtype = op.attrs.get("T") or (element_dtype(op, 0) if op.inputs else op.outputs[0].dtype.base_dtype)
    return numpy_name(dtype)


@cache
def numpy_name(dtype: DType) -> str:
    """The NumPy name of a dtype ("float32", "bool", "object" for strings)."""
    return np.dtype(dtype.as_numpy_dtype).name


def scalar_attrs(op: Operation, definition: Scalar) -> tuple[tuple[str, Any], ...]:
    """Return the attrs that a scalar definition reads (its keyword-only parameters), with their values."""
    return tuple((name, op.attrs[name]) for name in definition.keywords)


def evaluate(op: Operation, arrays: Arrays, context: Context) -> tuple[np.ndarray, ...]:
    """Validate the inputs of a pure, random or host op and return its outputs.

    Raises ValueError, or an OpError, for shapes, attrs and values that it does not take, and what `computed` raises.
    """
    return computed(op, arrays, context, validate_arrays(op, arrays))


def computed(op: Operation, arrays: Arrays, context: Context, shapes: Sequence[Static]) -> tuple[np.ndarray, ...]:
    """Return the outputs of a pure, random or host op for inputs that are validated. shapes: what they must have.

    Raises what the op's NumPy form raises; InternalError for outputs of other shapes.
    """
    spec = op.spec
    made: tuple[np.ndarray, ...] | None = None
    if spec.cpu is not None and isinstance(spec, (kinds.Kernel, kinds.Random)):
        if nothing := _empties(op, shapes):
            return nothing                         # as in programs, where no kernel is launched for it
        made = outputs_by_kernel(op, arrays, shapes, context.state)
    if made is not None:
        pass
    elif isinstance(spec, kinds.Kernel) and _may_last(arrays, shapes):
        made = interruptible(_numpy, op, arrays, context)
    else:
        made = _FORMS[type(spec)](op, arrays, context)
    require_shapes(op, made, shapes)
    return made


def _may_last(arrays: Arrays, shapes: Sequence[Static]) -> bool:
    """Return whether NumPy may be busy for long, which no interrupt would end. Not with handles of resources."""
    counts = [prod(shape) for shape in shapes if shape is not None and None not in shape]  # type: ignore[arg-type]
    return sum([a.size for a in arrays]) + sum(counts) >= LARGE and not any(a.dtype.hasobject for a in arrays)


def constants(op: Operation, arrays: Arrays, shapes: Sequence[Static]) -> tuple[np.ndarray, ...]:
    """Return the outputs of a pure op of constants that `validate` gave these shapes; do its value checks."""
    require_values(op, arrays)
    return computed(op, arrays, Context(op), shapes)


def _empties(op: Operation, shapes: Sequence[Static]) -> tuple[np.ndarray, ...]:
    """Return the outputs if all of them are empty, else ()."""
    if any(shape is None or 0 not in shape or None in shape for shape in shapes):
        return ()
    return tuple(np.empty(shape, _array_type(t.dtype)) for t, shape in  # type: ignore[arg-type]
                 zip(op.outputs, shapes, strict=True))


def reads_operand(op: Operation, definition: Scalar, index: int) -> bool:
    """Return whether the op's definition reads operand `index`. (Assign does not read the value that it overwrites.)"""
    program = definition.program(scalar_attrs(op, definition))
    return any(index in step.args for step in program.steps) or index in program.results


def wants_lock(op: Operation) -> bool:
    """Return whether reading and writing a generator or variable needs its lock. (A plain overwrite needs none.)

    Updates that have no attr for it (AssignAddVariableOp) always take it, as in TensorFlow.
    """
    if isinstance(op.spec, kinds.Update):
        return bool(op.attrs.get("use_locking", True)) and reads_operand(op, op.spec.body, 0)
    return isinstance(op.spec, kinds.Random) or bool(op.attrs.get("use_locking"))


def definition_of(op: Operation, count: int = 0) -> Scalar:
    """Return the scalar definition of an op; of one with a list of inputs, for `count` of them."""
    assert isinstance(op.spec, (kinds.Elementwise, kinds.Reduction, kinds.Rowwise, kinds.Writer))
    found = op.spec.body
    return found if isinstance(found, Scalar) else found(count)


def folded(op: Operation, inputs: list[Operand],
           combine: Callable[[Scalar, list[Operand]], Sequence[Operand]]) -> list[Operand]:
    """Return `combine` applied to an op's definition and inputs.

    A list of more than MOST_AT_ONCE inputs is combined part by part, each with the result of those before it: Python's
    compiler, LLVM's and a processor's registers have no room for thousands of operands.
    """
    assert isinstance(op.spec, kinds.Elementwise)
    if isinstance(op.spec.body, Scalar):
        return list(combine(definition_of(op), inputs))
    first, rest = inputs[:MOST_AT_ONCE], inputs[MOST_AT_ONCE:]
    made = combine(definition_of(op, len(first)), first)
    for start in range(0, len(rest), MOST_AT_ONCE - 1):
        part = [made[0], *rest[start:start + MOST_AT_ONCE - 1]]
        made = combine(definition_of(op, len(part)), part)
    return list(made)


def aligned_shapes(op: Operation, shapes: Sequence[tuple[int, ...]]) -> Sequence[tuple[int, ...]]:
    """Return the shapes that the inputs of an elementwise op take before they are broadcast."""
    assert isinstance(op.spec, kinds.Elementwise)
    return shapes if op.spec.align is None else op.spec.align(op.attrs, *shapes)


def reduced_axes(op: Operation, rank: int, axes: np.ndarray | None) -> list[int]:
    """Return the axes that a reduction combines: those of its own, else `axes`, the value of its second input."""
    assert isinstance(op.spec, kinds.Reduction)
    named: Any = axes if op.spec.axes is None else op.spec.axes(op.attrs, rank)
    found = normalized_axes(named, rank)
    if len(found) != np.size(named):
        raise ValueError(f"Invalid reduction arguments: Axes contains a dimension twice: {np.ravel(named).tolist()}")
    return found


def _elementwise(op: Operation, arrays: Arrays, context: Context) -> tuple[np.ndarray, ...]:
    shapes = aligned_shapes(op, [a.shape for a in arrays])
    arrays = [a if a.shape == shape else a.reshape(shape) for a, shape in zip(arrays, shapes, strict=True)]
    if op.outputs[0].dtype.base_dtype == variant:
        return (_of_lists(op, arrays),)
    kinds = [np.dtype(t.dtype.base_dtype.as_numpy_dtype) for t in op.outputs]
    if any(kind.names for kind in (*kinds, *(a.dtype for a in arrays))):
        return _quantized(op, arrays, kinds)
    types = [numpy_name(t.dtype.base_dtype) for t in op.outputs]
    return tuple(folded(op, list(arrays), lambda definition, part: reference(
        definition, part, scalar_attrs(op, definition), scalar_type(op), types)))


def _of_lists(op: Operation, arrays: Arrays) -> np.ndarray:
    """Apply an op to lists of tensors, the elements of arrays of handles. Raises ValueError for other handles."""
    assert isinstance(op.spec, kinds.Elementwise)
    made = np.empty(arrays[0].shape, object)
    for at in np.ndindex(made.shape):
        handles = [a[at] for a in arrays]
        if op.spec.of_lists is None or not all(isinstance(handle, TensorList) for handle in handles):
            raise ValueError(f"Expected lists of tensors, got handles of {[type(h).__name__ for h in handles]}")
        made[at] = op.spec.of_lists(*handles)
    return made


def _quantized(op: Operation, arrays: Arrays, kinds: Sequence[np.dtype]) -> tuple[np.ndarray, ...]:
    """As _elementwise, of quantized numbers: records of one integer in NumPy, integers in the definition."""
    plain = [_integers(a.dtype) for a in arrays]
    definition, names = definition_of(op), [_integers(kind).name for kind in kinds]
    made = reference(definition, [np.ascontiguousarray(a).view(kind) for a, kind in zip(arrays, plain, strict=True)],
                     scalar_attrs(op, definition), plain[0].name, names)
    return tuple(np.ascontiguousarray(y).view(kind).reshape(y.shape) for y, kind in zip(made, kinds, strict=True))


def _integers(kind: np.dtype) -> np.dtype:
    return kind[0] if kind.names else kind


def _reduction(op: Operation, arrays: Arrays, context: Context) -> tuple[np.ndarray, ...]:
    assert isinstance(op.spec, kinds.Reduction)
    x, axes = arrays[0], reduced_axes(op, arrays[0].ndim, arrays[1] if len(arrays) > 1 else None)
    keep = [i for i in range(x.ndim) if i not in axes]
    count = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
    kept = [x.shape[i] for i in keep]
    kind = scalar_type(op)
    kind = op.spec.accumulators.get(kind, computed_as(kind))
    if keep and sorted(axes) == list(range(len(axes))) and op.spec.prepare is None and _is_sum(op.spec.body, x.dtype):
        with np.errstate(all="ignore"):
            rows = _sum_of_first(x.reshape([count, *kept]))[..., None]            # without a transposed copy
    else:
        rows = x.transpose([*keep, *axes]).reshape([*kept, count])
    rows = rows.astype(kind, copy=False)
    if op.spec.prepare is not None:
        rows = reference(op.spec.prepare, (rows,), (), kind)[0]
    result = _fold(op.spec.body, op.spec.identity, rows, kind)
    if op.spec.finish is not None:
        result = np.asarray(reference(op.spec.finish, (result, np.asarray(count, kind)), (), kind)[0])
    ones = [1 if i in axes else n for i, n in enumerate(x.shape)]
    return (result.astype(x.dtype, copy=False).reshape(ones if op.attrs.get("keep_dims") else kept),)


def _fold(combine: Scalar, identity: float | str, rows: np.ndarray, kind: str) -> np.ndarray:
    """Combine the last axis by halves: as accurate as pairwise summation, in log2(n) NumPy calls; sums in one."""
    if rows.shape[-1] == 0:
        return np.full(rows.shape[:-1], identity_value(identity, rows.dtype), rows.dtype)
    if _is_sum(combine, rows.dtype):
        with np.errstate(all="ignore"):
            return np.asarray(np.add.reduce(np.ascontiguousarray(rows), -1))
    while rows.shape[-1] > 1:
        half = rows.shape[-1] // 2
        pair = np.asarray(reference(combine, (rows[..., :half], rows[..., half:2 * half]), (), kind)[0])
        rows = np.concatenate([pair, rows[..., 2 * half:]], -1) if rows.shape[-1] % 2 else pair
    return rows[..., 0]


_SUM = Program(2, (Step("add", (0, 1)),), (2,))


def _is_sum(combine: Scalar, dtype: np.dtype) -> bool:
    return dtype.char in "fdFD" and combine.program() == _SUM


def _sum_of_first(x: np.ndarray) -> np.ndarray:
    """Return the sum over the first axis, by halves. The caller ignores floating-point errors."""
    count = len(x)
    if not count:
        return np.zeros(x.shape[1:], x.dtype)
    made = False
    while count > 1:
        half = count // 2
        pair = np.add(x[:half], x[half:2 * half], x[:half]) if made else x[:half] + x[half:2 * half]
        if count % 2:
            pair[0] += x[count - 1]
        x, count, made = pair, half, True
    return x[0]


def identity_value(identity: float | str, dtype: np.dtype) -> Any:
    """Return the initial value of an accumulator of `dtype`."""
    if not isinstance(identity, str):
        return identity
    if dtype.kind == "b":
        return identity == "highest"
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return info.min if identity == "lowest" else info.max
    return -np.inf if identity == "lowest" else np.inf


def _rowwise(op: Operation, arrays: Arrays, context: Context) -> tuple[np.ndarray, ...]:
    assert isinstance(op.spec, kinds.Rowwise)
    definition, rows = op.spec.body, op.spec.rows
    names = [arg.name for arg in op.spec.inputs]
    wide = [a[..., None] if name in rows else a for name, a in zip(names, arrays, strict=True)]
    types = [numpy_name(t.dtype.base_dtype) for t in op.outputs]
    shape = np.broadcast_shapes(*(a.shape for a in wide))
    wide = [a if name in rows else np.broadcast_to(a, (*a.shape[:-1], shape[-1]))     # sums go over whole rows
            for name, a in zip(names, wide, strict=True)]
    results = reference(definition, wide, scalar_attrs(op, definition), scalar_type(op), types)
    level = row_level_results(definition, op.spec, rows)
    return tuple(np.broadcast_to(r[..., 0] if row else r, shape[:-1] if row else shape)
                 for r, row in zip(results, level, strict=True))


def movement_views(op: Operation, view: View, values: Arrays) -> tuple[View, ...]:
    """Return a movement op's views of its first input. Raises NeedsCopy where strides can't express them."""
    assert isinstance(op.spec, (kinds.Movement, kinds.Kernel)) and op.spec.view is not None
    attrs = {name: op.attrs[name] for name in _keywords(op.spec.view)}
    views = op.spec.view(view, *values, **attrs)
    return tuple(views) if isinstance(views, (list, tuple)) else (views,)


def viewed_and_values(op: Operation, inputs: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return the input of a movement op that gets other strides, and the others."""
    assert isinstance(op.spec, kinds.Movement)
    at = op.spec.viewed
    return inputs[at], [*inputs[:at], *inputs[at + 1:]]


def _movement(op: Operation, arrays: Arrays, context: Context) -> tuple[np.ndarray, ...]:
    """Return the input itself where it is only reshaped: as in the kernels, reading a variable is not a copy of it."""
    array, values = viewed_and_values(op, arrays)
    if isinstance(op.spec, kinds.Movement) and op.spec.same:
        return (array,)
    try:
        views = movement_views(op, View.whole(array.shape), values)
    except NeedsCopy as error:
        raise AssertionError(f"{op.name}: a row-major array has every view") from error
    return tuple(view.of(array) if view.size == array.size and view.is_row_major() else np.array(view.of(array))
                 for view in views)


def _keywords(fn: Callable[..., Any]) -> tuple[str, ...]:
    code = fn.__code__
    return code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]


def _shapeof(op: Operation, arrays: Arrays, context: Context) -> tuple[np.ndarray, ...]:
    return shape_values(op, [a.shape for a in arrays])


def shape_values(op: Operation, shapes: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, ...]:
    """Return the outputs of an op that needs only the shapes of its inputs."""
    assert isinstance(op.spec, kinds.ShapeOf)
    fn = op.spec.numpy
    result = fn(*shapes, **{name: op.attrs[name] for name in _keywords(fn)})
    return _as_arrays(op, result)


def _numpy(op: Operation, arrays: Arrays, context: Context) -> tuple[np.ndarray, ...]:
    assert isinstance(op.spec, (kinds.Kernel, kinds.Random))
    if op.spec.cpu is not None and op.spec.halves in ("widened", "summed"):
        arrays = [wide(a) for a in arrays]                                     # as its kernel does
    return _as_arrays(op, op.spec.numpy(context, *arrays))


def _host(op: Operation, arrays: Arrays, context: Context) -> tuple[np.ndarray, ...]:
    assert isinstance(op.spec, kinds.Host)
    fn = op.spec.call
    attrs = {name: context if name == "ctx" else op.attrs[name] for name in _keywords(fn)}
    return _as_arrays(op, fn(*_grouped(op, arrays), **attrs))


def _grouped(op: Operation, arrays: Arrays) -> list[Any]:
    """Return the input arrays as the signature groups them: a list argument is one list."""
    groups: list[Any] = []
    start = 0
    for arg in op.spec.inputs:
        count = len(op.attrs[arg.type_list]) if arg.type_list else op.attrs[arg.number] if arg.number else 1
        groups.append(list(arrays[start:start + count]) if arg.is_list else arrays[start])
        start += count
    return groups


def _as_arrays(op: Operation, result: Any) -> tuple[np.ndarray, ...]:
    results = result if isinstance(result, (tuple, list)) else (result,) if op.outputs else ()
    if len(results) != len(op.outputs):
        raise AssertionError(f"op {op.name} ({op.type}) has {len(op.outputs)} outputs, its NumPy form {len(results)}")
    # programs that take over from here read rows one after another
    return tuple([np.asarray(r, _array_type(t.dtype), order="C") for r, t in zip(results, op.outputs, strict=True)])


@cache
def _array_type(dtype: DType) -> Any:
    """Return the element type of an array of `dtype`: handles of the runtime are Python objects."""
    return np.dtype(object if dtype.base_dtype.name in ("resource", "variant") else dtype.as_numpy_dtype)


def specialized(op: Operation, store: Any, values: Sequence[np.ndarray | None], shapes: Sequence[tuple[int, ...]],
                dtypes: Sequence[np.dtype], found: Sequence[Static]) -> Call:
    """Return `computed` of a pure op for inputs of these shapes and dtypes, with what they decide done beforehand.

    values: those of constant inputs; found: the shapes of the outputs. The caller ignores floating-point errors.
    """
    spec, context = op.spec, Context(op, None, store)
    plain = not any(dtype.hasobject or dtype.names or dtype.itemsize == 2 for dtype in dtypes)
    made: Call | None = None
    if plain and not any(t.dtype.base_dtype == variant for t in op.outputs):
        if isinstance(spec, kinds.Elementwise):
            made = _bound_elementwise(op, shapes, dtypes)
        elif isinstance(spec, kinds.Movement):
            made = _bound_movement(op, values, shapes, found)
        elif isinstance(spec, kinds.Reduction):
            made = _bound_reduction(op, values, shapes, dtypes)
        elif type(spec) is kinds.Kernel:
            made = _bound_kernel(op, context, shapes, found)
    return made or (lambda arrays: computed(op, arrays, context, found))


def _bound_elementwise(op: Operation, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[np.dtype]) -> Call | None:
    assert isinstance(op.spec, kinds.Elementwise)
    types = [np.dtype(t.dtype.base_dtype.as_numpy_dtype) for t in op.outputs]
    if len(shapes) > MOST_AT_ONCE or any(dtype.names for dtype in types):
        return None
    definition, aligned = definition_of(op, len(shapes)), aligned_shapes(op, shapes)
    made = bound(definition, aligned, dtypes, scalar_attrs(op, definition), scalar_type(op), [t.name for t in types])
    if made is None or op.spec.align is None:
        return made
    return lambda arrays: made([a.reshape(shape) for a, shape in zip(arrays, aligned, strict=True)])


def _bound_movement(op: Operation, values: Sequence[np.ndarray | None], shapes: Sequence[tuple[int, ...]],
                    found: Sequence[Static]) -> Call | None:
    assert isinstance(op.spec, kinds.Movement)
    at = op.spec.viewed
    if op.spec.same:
        return lambda arrays: (arrays[at],)
    others = [*values[:at], *values[at + 1:]]
    if any(value is None for value in others):
        return None
    view, *more = movement_views(op, View.whole(shapes[at]), others)       # type: ignore[arg-type]
    if more:
        return None
    size, shape, steps, offset = prod(shapes[at]), view.shape, view.strides, view.offset
    if view.size == size and view.is_row_major():
        return lambda arrays: (arrays[at].reshape(shape),)

    def moved(arrays: Arrays) -> Arrays:
        array = np.ascontiguousarray(arrays[at])
        width = array.itemsize
        return (np.ndarray(shape, array.dtype, array, offset * width, [s * width for s in steps]).copy(),)
    return moved if view.size else None


def _bound_reduction(op: Operation, values: Sequence[np.ndarray | None], shapes: Sequence[tuple[int, ...]],
                     dtypes: Sequence[np.dtype]) -> Call | None:
    """As _reduction, of sums and means."""
    assert isinstance(op.spec, kinds.Reduction)
    spec, (shape, *_), dtype = op.spec, shapes, dtypes[0]
    if spec.prepare is not None or not _is_sum(spec.body, dtype) or (len(values) > 1 and values[1] is None):
        return None
    axes = reduced_axes(op, len(shape), values[1] if len(values) > 1 else None)
    keep = [i for i in range(len(shape)) if i not in axes]
    count, kept = prod([shape[i] for i in axes]), [shape[i] for i in keep]
    kind = spec.accumulators.get(scalar_type(op), computed_as(scalar_type(op)))
    final = [1 if i in axes else n for i, n in enumerate(shape)] if op.attrs.get("keep_dims") else kept
    first, divisor = bool(keep) and sorted(axes) == list(range(len(axes))), np.asarray(count, kind)
    finish = None
    if spec.finish is not None:
        finish = bound(spec.finish, [tuple(kept), ()], [divisor.dtype] * 2, (), kind, [kind])
    if np.dtype(kind) != dtype or not count or (spec.finish is not None and finish is None):
        return None

    def reduced(arrays: Arrays) -> Arrays:
        x = arrays[0]
        result = _sum_of_first(x.reshape([count, *kept])) if first else np.asarray(np.add.reduce(
            np.ascontiguousarray(x.transpose([*keep, *axes]).reshape([*kept, count])), -1))
        if finish is not None:
            result = finish((result, divisor))[0]
        return (result.reshape(final),)
    return reduced


def _size(shape: Static) -> int:
    assert is_known(shape)
    return prod(shape)


def _bound_kernel(op: Operation, context: Context, shapes: Sequence[tuple[int, ...]], found: Sequence[Static]
                  ) -> Call | None:
    assert isinstance(op.spec, kinds.Kernel)
    elements = sum(map(prod, shapes))
    if any(not is_known(shape) or 0 in shape for shape in found) or elements + sum(map(_size, found)) >= LARGE or \
            (op.spec.contraction is None and elements >= SMALL):
        return None
    if op.spec.contraction is not None and op.spec.contraction.bound is not None:
        dtypes = {np.dtype(_array_type(t.dtype)) for t in (*op.inputs, *op.outputs)}
        product = op.spec.contraction.bound(shapes, dtypes.pop(), op.attrs) if len(dtypes) == 1 else None
        if product is not None:
            return lambda arrays: (product(*arrays),)
    form, wanted = op.spec.numpy, [_array_type(t.dtype) for t in op.outputs]
    only = wanted[0] if len(wanted) == 1 else None

    def call(arrays: Arrays) -> Arrays:
        result = form(context, *arrays)
        if result.__class__ is np.ndarray and result.dtype == only and result.flags.c_contiguous:
            return (result,)
        return _as_arrays(op, result)
    return call


def pure_call(op: Operation, store: Any) -> Callable[[list[np.ndarray]], Sequence[np.ndarray]]:
    """Return `evaluate` for a pure op in a session; what the shapes of a run decide is memoized."""
    context, validated = Context(op, None, store), Validator(op)
    return lambda arrays: computed(op, arrays, context, validated(arrays))


def host_call(op: Operation, store: Any) -> Callable[[list[np.ndarray]], Sequence[np.ndarray]]:
    """Return `evaluate` for a host op in a session, with the work that all runs have in common done beforehand."""
    assert isinstance(op.spec, kinds.Host)
    fn = op.spec.call
    context = Context(op, None, store)
    attrs = {name: context if name == "ctx" else op.attrs[name] for name in _keywords(fn)}
    grouped = any(arg.is_list for arg in op.spec.inputs)
    types = [_array_type(t.dtype) for t in op.outputs]
    only = types[0] if len(types) == 1 else None
    handles = only is not None and op.outputs[0].dtype.base_dtype == resource
    validated = Validator(op) if op.spec.ranks or op.spec.validate or op.spec.checks else None

    def call(arrays: list[np.ndarray]) -> Sequence[np.ndarray]:
        """Return the outputs of one run, as arrays of the op's dtypes."""
        if validated is not None:
            validated(arrays)
        result = fn(*(_grouped(op, arrays) if grouped else arrays), **attrs)
        if only is not None:
            if handles and not isinstance(result, (np.ndarray, tuple, list)):
                handle = np.empty((), object)      # NumPy would look for elements in it
                handle[()] = result
                return (handle,)
            if type(result) is np.ndarray and result.dtype == only:
                return (result,)
        results = result if isinstance(result, (tuple, list)) else (result,)
        for found, dtype in zip(results, types, strict=bool(types)):
            if type(found) is not np.ndarray or found.dtype != dtype:
                return _as_arrays(op, result)
        return results
    return call


_FORMS: dict[type[Op], Callable[[Operation, Arrays, Context], tuple[np.ndarray, ...]]] = {
    kinds.Elementwise: _elementwise,
    kinds.Reduction: _reduction,
    kinds.Rowwise: _rowwise,
    kinds.Movement: _movement,
    kinds.ShapeOf: _shapeof,
    kinds.Kernel: _numpy,
    kinds.Random: _numpy,
    kinds.Host: _host,
    kinds.Const: lambda op, arrays, context: (op.attrs["value"],),
    kinds.Control: lambda op, arrays, context: (),
    kinds.ControlTrigger: lambda op, arrays, context: (),
}

def _while_building(op: Operation, arrays: Arrays) -> tuple[np.ndarray, ...]:
    """The outputs of an op of constants, none if they are large: a graph is not to take memory before it runs."""
    shapes = validate_arrays(op, arrays)
    if not all(is_known(t.static) for t in op.outputs):
        for shape in shapes:
            if is_known(shape) and prod(shape) > LARGEST:
                return ()
    return computed(op, arrays, Context(op), shapes)


set_evaluator(_while_building)
