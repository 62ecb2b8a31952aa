"""Validation of an op's inputs: the one place where shapes, attrs and known values are checked before an op runs.

The interpreter, constant folding, host calls and the tracer (for CPU and GPU) all ask `validate`; none of the forms in
which an op runs repeats its checks. What the values of a run decide is stated by the op's `Check`s: the interpreter
looks for such values before the NumPy form, a program by a kernel before (or in) the op's own.
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tfnb.core import errors
from tfnb.core.dtypes import DType
from tfnb.core.shape import MOST_AXES, Static, compatible, is_known, shape_str
from tfnb.graph.parts.operation import Operation, Tensor, brackets
from tfnb.graph.parts.references import element_dtype
from tfnb.kernels.launch import OUT_OF_RANGE, failure_text
from tfnb.kernels.library.checks import Check
from tfnb.opdef import kinds
from tfnb.opdef.ranks import check_ranks, input_names
from tfnb.ops.declaration.construct import official_name

# Their shape functions tell what is known before a run; what they are given is checked where it is used.
_UNSHAPED = (kinds.Host, kinds.Const, kinds.Variable, kinds.Control)

Shape = tuple[int, ...]
MOST_BYTES = (1 << 63) - 1
FEW = 64                                   # elements of a value that is part of a key
KEPT = 64                                  # keys of an op


class Concrete:
    """A ShapeContext over the shapes of the inputs at hand, and the values that are known (None: not known).

    Of an op with kernels only those values are seen that its declaration lists in `values`: what a program can't know
    when it is built must not be checked by the interpreter alone.
    """

    __slots__ = ("op", "attrs", "read", "_shapes", "_values")
    concrete = True

    def __init__(self, op: Operation, shapes: Sequence[Shape], values: Sequence[np.ndarray | None]) -> None:
        self.op, self.attrs, self._shapes, self._values = op, op.attrs, shapes, values
        self.read: set[int] = set()                # inputs whose value was asked for

    def shape(self, i: int) -> Shape:
        """Return the shape of input i."""
        return self._shapes[i]

    def value(self, i: int) -> np.ndarray | None:
        """Return the value of input i, if it is known."""
        self.read.add(i)
        return self._values[i] if _decides(self.op, i) else None

    def partial(self, i: int) -> Static:
        """Return the value of input i as a shape: None for a size that is negative."""
        array = self.value(i)
        return None if array is None else tuple(n if n >= 0 else None for n in array.reshape(-1).tolist())


def _decides(op: Operation, i: int) -> bool:
    spec = op.spec
    if spec.cpu is None and spec.cuda is None:
        return True
    one_each = len(spec.inputs) == len(op.inputs)  # no lists, or lists of one
    return (spec.inputs[i].name if one_each else input_names(op)[i]) in spec.value_inputs


def validate(op: Operation, shapes: Sequence[Shape], values: Sequence[np.ndarray | None]) -> list[Static]:
    """Return the shapes of the outputs of `op` for inputs of these shapes and values (None: not known yet).

    None is in them only where the values of a run decide. Raises ValueError, or an OpError, for ranks, shapes, attrs
    or known values that the op does not take.
    """
    return _accepted(Concrete(op, shapes, values))


def _accepted(ctx: Concrete) -> list[Static]:
    op, spec = ctx.op, ctx.op.spec
    if isinstance(spec, _UNSHAPED):
        found: list[Static] = [None] * len(op.outputs)
        if spec.ranks:
            check_ranks(spec.inputs, spec.ranks, ctx)
    else:
        found = spec.shape(ctx)
    if spec.validate is not None:
        spec.validate(ctx)
    for tensor, shape in zip(op.outputs, found, strict=True):
        if shape and len(shape) > MOST_AXES:
            raise ValueError(f"expected a shape of at most {MOST_AXES} axes, got {len(shape)}")
        if shape and is_known(shape) and (prod(shape) or prod(filter(None, shape))) > MOST_BYTES // 16:
            _check_size(op, tensor, shape)
    return found


def _check_size(op: Operation, tensor: Tensor, shape: Shape) -> None:
    """Raise InvalidArgumentError, as TensorFlow, for more elements than an int64 counts; MemoryError for more bytes.

    ValueError for an empty array whose other sizes would be that many: NumPy has none.
    """
    if 0 in shape:
        raise ValueError(f"NumPy has no array of shape {brackets(shape)}, though it would be empty")
    if prod(shape) > MOST_BYTES:
        raise errors.InvalidArgumentError(
            None, op, f"{op.name}: shape {brackets(shape)} would have more than 2**63 - 1 elements (op {op.type})")
    dtype = tensor.dtype.base_dtype
    if prod(shape) * dtype.size > MOST_BYTES:
        raise MemoryError(f"cannot allocate an array of shape {brackets(shape)} and type {dtype.name}")


def value_checks(op: Operation, shapes: Sequence[Shape], values: Sequence[np.ndarray | None]) -> Sequence[Check]:
    """Return the checks of values that the op states for inputs of these shapes, which `validate` has accepted.

    No value is bad of an elementwise op whose output has no elements, for it reads none.
    """
    return _checks(Concrete(op, shapes, values), shapes)


def _checks(ctx: Concrete, shapes: Sequence[Shape]) -> Sequence[Check]:
    spec = ctx.op.spec
    if spec.checks is None or (isinstance(spec, kinds.Elementwise) and any(0 in shape for shape in shapes)):
        return ()
    made: Sequence[Check] = spec.checks(ctx)
    return made


def require(op: Operation, check: Check, arrays: Sequence[np.ndarray | None]) -> None:
    """Raise ValueError, or the OpError of the check, if the inputs of `op` have a value that the check bans."""
    status = check.find(arrays)
    if status is not None:
        raise bad_value(op, status) if status[0] in OUT_OF_RANGE else ValueError(
            failure_text(status, check.positions(arrays)))


def bad_value(op: Operation, status: Sequence[int]) -> errors.OpError:
    """Return the error of a value that `op` does not take, by the status words that say which."""
    kind = errors.OutOfRangeError if status[0] in OUT_OF_RANGE else errors.InvalidArgumentError
    return kind(None, op, f"{op.name}: {failure_text(status)}")


def validate_arrays(op: Operation, arrays: Sequence[np.ndarray]) -> list[Static]:
    """Return what `validate` does, of inputs whose values are all at hand; the op's value checks are done too."""
    found = validate(op, [a.shape for a in arrays], arrays)
    require_values(op, arrays)
    return found


def decided(op: Operation, arrays: Sequence[np.ndarray], constant: Sequence[bool]
            ) -> tuple[list[Static], Sequence[Check]] | None:
    """Return the shapes of the outputs and the checks of values that remain, if only constant values decide them.

    Raises as `validate`.
    """
    shapes = [a.shape for a in arrays]
    ctx = Concrete(op, shapes, arrays)
    found = _accepted(ctx), _checks(ctx, shapes)
    return found if all(constant[i] for i in ctx.read) else None


class Validator:
    """`validate_arrays` of one op in many runs: what the shapes decide, and the values of few elements, is memoized."""

    def __init__(self, op: Operation) -> None:
        self._op = op
        self._read: tuple[int, ...] = ()           # inputs whose values decide, too
        self._known: dict[Any, tuple[list[Static], Sequence[Check]]] = {}

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[Static]:
        """Return the shapes of the outputs; raises as `validate_arrays`."""
        key = self._key(arrays, self._read)
        known = self._known.get(key)
        if known is None:
            shapes = [a.shape for a in arrays]
            ctx = Concrete(self._op, shapes, arrays)
            known = _accepted(ctx), _checks(ctx, shapes)
            self._keep(arrays, ctx.read, known)
        for check in known[1]:
            require(self._op, check, arrays)
        return known[0]

    def _keep(self, arrays: Sequence[np.ndarray], read: set[int], known: tuple[list[Static], Sequence[Check]]) -> None:
        if not read.issubset(self._read) or len(self._known) >= KEPT:
            self._read, self._known = tuple(sorted(read.union(self._read))), {}
        key = self._key(arrays, self._read)
        if key is not None:
            self._known = {**self._known, key: known}      # threads may be reading

    @staticmethod
    def _key(arrays: Sequence[np.ndarray], read: Sequence[int]) -> Any:
        """Return what decides; None: too much, or what may change (a handle)."""
        shapes = tuple([a.shape for a in arrays])
        if not read:
            return shapes
        if any([arrays[i].size > FEW or arrays[i].dtype.hasobject for i in read]):
            return None
        return shapes, *[arrays[i].tobytes() for i in read]


def require_values(op: Operation, arrays: Sequence[np.ndarray]) -> None:
    """Do the op's value checks on inputs that `validate` has accepted; raises as `require`."""
    for check in value_checks(op, [a.shape for a in arrays], arrays):
        require(op, check, arrays)


def require_shapes(op: Operation, made: Sequence[Any], expected: Sequence[Static]) -> None:
    """Raise InternalError if an output does not have the shape that `validate` returned for it.

    made: arrays or values of the compiler, whatever has a `shape`.
    """
    for i, (output, shape) in enumerate(zip(made, expected, strict=True)):
        if output.shape != shape and not compatible(output.shape, shape):
            raise errors.InternalError(None, op, f"{op.name}: output {i} of {op.type} has shape "
                                                 f"{shape_str(output.shape)}, expected {shape_str(shape)} by its shape "
                                                 "function")


def check_handle(op: Operation, variable: Any, dtype: DType | None) -> None:
    """Raise InvalidArgumentError if what a handle of `op` holds is no variable, or one of another dtype (None: any)."""
    if not isinstance(getattr(variable, "spec", None), kinds.Handle):
        raise errors.InvalidArgumentError(None, op, f"{op.name}: the handle is not a variable's, but of {variable!r}")
    if dtype is not None and variable.attrs["dtype"] is not dtype:
        raise errors.InvalidArgumentError(
            None, op, f"{op.name}: Trying to access resource {variable.name} as a variable of {dtype.name}, but it is "
                      f"of {variable.attrs['dtype'].name}")


def misused(op: Operation, error: Exception, shapes: Sequence[tuple[int, ...]]) -> errors.OpError:
    """Return `error`, raised while `op` got inputs of these shapes, as the error of a run.

    ResourceExhaustedError where memory did not suffice, else InvalidArgumentError.
    """
    given = ", ".join(f"{element_dtype(op, i).name}{list(s)}" for i, s in enumerate(shapes))
    place = f"(op {op.name!r} of type {op.type}, inputs {given})"
    if isinstance(error, MemoryError):
        return errors.ResourceExhaustedError(None, op, f"OOM: {error or 'no memory left'} {place}")
    return errors.InvalidArgumentError(None, op, f"{error} {place}")


def unfed(op: Operation) -> errors.InvalidArgumentError:
    """Return the error of a placeholder that is not fed."""
    tensor = op.outputs[0]
    shape = "" if tensor.static is None else f" and shape {brackets(tensor.static)}"
    return errors.InvalidArgumentError(None, op, f"You must feed a value for placeholder tensor {op.name!r} with dtype "
                                          f"{official_name(tensor.dtype)}{shape}")
