"""Ops that users declare by a function of single numbers: of each element, or of an accumulator and an element."""
from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from tfnb.custom.by_numba import vectorized
from tfnb.custom.definition import (
    BeyondSubset,
    CustomOp,
    Parameters,
    declared,
    error_at,
    official_types,
    op_name,
    parameters,
    read_body,
    scalar_body,
)
from tfnb.custom.derivative import derived
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.scalar.definition import Scalar, reference
from tfnb.opdef import kinds
from tfnb.opdef.op import Op
from tfnb.ops.array.create import range_
from tfnb.ops.array.reshape import rank
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import fields

FLOATS = "{bfloat16, half, float, double}"


def elementwise(fn: Callable[..., Any] | None = None, *, name: str | None = None, dtypes: Any = FLOATS) -> Any:
    """Declare an op that applies a function of single numbers to each element of its (broadcast) inputs.

    The function's positional parameters are the inputs, keyword-only ones are attrs of the op (numbers, known when the
    graph is built). Its body is arithmetic, comparisons and the functions of numbers that `tf` and `np` have;
    `where(condition, a, b)` chooses. Then the op fuses with the ops beside it, has a gradient (that of its body, unless
    `@op.gradient` registers another), and runs on a GPU. A body with `if` or `while` on values is compiled by numba
    instead: one call for each run on the CPU, and no gradient of its own.

    name: the op type, by default the function's name in CamelCase. dtypes: those of inputs and outputs, all of one
    dtype: tf.DTypes, or as signatures list them, such as "numbertype". Returns the op: calling it with tensors adds a
    node. Raises SyntaxError for a body that can't be compiled, with the line; ValueError for the name of an op of
    TensorFlow. fn: the function, of a decorator without arguments.

    >>> @tf.custom.elementwise
    ... def hard_swish(x):
    ...     return x * minimum(maximum(x + 3, 0), 6) / 6
    >>> sess.run(hard_swish([-4.0, 0.0, 1.5]))
    array([-0.   ,  0.   ,  1.125], dtype=float32)
    """
    def declare(fn: FunctionType) -> CustomOp:
        given = parameters(fn)
        if not given.operands:
            raise error_at(fn, fn.__code__.co_firstlineno, "expected a parameter for each input, got none")
        outputs = 1
        try:
            body = Scalar(scalar_body(fn))
            outputs = len(read_body(fn, body, given.attrs).results)
        except BeyondSubset as beyond:
            spec: Op = _by_numba(fn, given, beyond, op_name(fn, name), official_types(dtypes))
        else:
            results = ["y"] if outputs == 1 else [f"y{i}" for i in range(outputs)]
            text = _signature(given.operands, results)
            stated = fields(fn, text, {"T": official_types(dtypes), **given.specs(fn)}, shapes.broadcast_inputs)
            spec = kinds.Elementwise(**stated | {"name": op_name(fn, name)}, body=body, gradient=derived)
        made: CustomOp = declared(spec, fn)
        return made
    return declare if fn is None else declare(fn)               # type: ignore[arg-type]


def _signature(operands: tuple[str, ...], results: list[str]) -> str:
    taken = [each if each not in operands else f"{each}_out" for each in results]
    return ", ".join(f"{each}: T" for each in operands) + " -> " + ", ".join(f"{each}: T" for each in taken)


def _by_numba(fn: FunctionType, given: Parameters, beyond: BeyondSubset, name: str, types: str) -> Op:
    """Return the record of an op whose body numba compiles. Raises SyntaxError if it can't."""
    call = vectorized(fn, given, beyond.cause)
    text = _signature(given.operands, ["y"])
    stated = fields(fn, text, {"T": types, **given.specs(fn)}, shapes.broadcast_inputs)

    def host(*arrays: np.ndarray, ctx: Any) -> np.ndarray:
        """Apply the compiled function to each element."""
        numbers = [ctx.op.attrs[key] for key in given.attrs]
        return np.asarray(call(*arrays, *numbers)).astype(arrays[0].dtype, copy=False)
    return kinds.Host(**stated | {"name": name}, call=host)


class CustomReduction(CustomOp):
    """A reduction that a user declared, over `axis` (by default all axes); `keepdims` keeps them with size 1."""

    def __call__(self, x: Any, axis: Any = None, keepdims: bool = False,      # type: ignore[override]
                 name: str | None = None) -> Tensor:
        """Add a node that reduces `x`."""
        x = convert_to_tensor(x, name="x")
        if axis is None:
            ndims = x.shape.ndims
            axis = range_(0, rank(x)) if ndims is None else np.arange(ndims, dtype=np.int32)
        made: Tensor = super().__call__(x, axis, keep_dims=bool(keepdims), name=name)
        return made

    def prepare(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Register the map of each element before elements are combined."""
        self.spec.amend(prepare=Scalar(scalar_body(fn)))
        return fn

    def finish(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Register the final step: applied to the accumulator and the number of elements."""
        self.spec.amend(finish=Scalar(scalar_body(fn)))
        return fn


_SAMPLES = np.array([0.5, -1.25, 3.0, 2.0])


def _check_combination(fn: FunctionType, body: Scalar, identity: float | str) -> None:
    """Raise SyntaxError for a function that gives something else than x for (identity, x), or depends on the order."""
    start, line = {"lowest": -np.inf, "highest": np.inf}.get(str(identity), identity), fn.__code__.co_firstlineno
    x, y = _SAMPLES, _SAMPLES[::-1].copy()
    first, = reference(body, [np.full_like(x, start), x])
    if not np.allclose(first, x):
        raise error_at(fn, line, f"expected x for ({start:g}, x), got {first[0]:g} for x = {x[0]:g}: what is done to "
                                 "each element belongs into @op.prepare")
    either, other = reference(body, [x, y])[0], reference(body, [y, x])[0]
    nested, = reference(body, [either, x + y])
    turned, = reference(body, [x, reference(body, [y, x + y])[0]])
    if not np.allclose(either, other) or not np.allclose(nested, turned):
        raise error_at(fn, line, "expected a combination that does not depend on the order of the elements, got "
                                 f"{either[0]:g} for {x[0]:g}, {y[0]:g} and {other[0]:g} for {y[0]:g}, {x[0]:g}")


def reduction(fn: Callable[..., Any] | None = None, *, identity: float | str, name: str | None = None,
              dtypes: Any = FLOATS) -> Any:
    """Declare an op that combines the elements along axes: fn(accumulator, element) -> accumulator.

    Parts of the elements are combined side by side, and the parts then: so the function must be associative and
    commutative, and give x for (identity, x). identity: the initial accumulator: a number, "lowest" or "highest" of the
    dtype. `@op.prepare` registers a function of each element before they are combined, `@op.finish` one of
    (accumulator, number of elements) at the end. name, dtypes, and the body: see `elementwise`. Returns the op:
    op(x, axis=None, keepdims=False, name=None). A gradient must be registered by `@op.gradient`: fn(op, dy). Raises
    SyntaxError for a body that is not straight-line, and for one that combines otherwise.

    >>> @tf.custom.reduction(identity=0)
    ... def power(total, x):
    ...     return total + x
    >>> @power.prepare
    ... def _(x):
    ...     return x * x
    >>> @power.finish
    ... def _(total, count):
    ...     return total / count
    >>> sess.run(power([[1.0, 2.0], [3.0, 4.0]], axis=1))
    array([ 2.5, 12.5], dtype=float32)
    """
    def declare(fn: FunctionType) -> CustomOp:
        given, body = parameters(fn), Scalar(scalar_body(fn))
        if len(given.operands) != 2 or given.attrs:
            raise error_at(fn, fn.__code__.co_firstlineno, "expected two parameters, the accumulator and an element, "
                                                           f"got {', '.join((*given.operands, *given.attrs))}")
        try:
            read_body(fn, body, given.attrs)
        except BeyondSubset as beyond:
            raise beyond.cause from None
        _check_combination(fn, body, identity)
        text = "input: T, reduction_indices: Tidx -> output: T"
        attrs = {"keep_dims": "bool = false", "T": official_types(dtypes), "Tidx": "indextype = DT_INT32"}
        stated = fields(fn, text, attrs, shapes.reduced, values=("reduction_indices",)) | {"name": op_name(fn, name)}
        spec = kinds.Reduction(**stated, body=body, identity=identity)
        made: CustomReduction = declared(spec, fn, CustomReduction)
        return made
    return declare if fn is None else declare(fn)               # type: ignore[arg-type]
