"""Ops of conditional accumulators, which average gradients over a required count before they are taken.

The accumulator (`resources/accumulators.py`) is a resource of the session. Dense ones are behind a resource handle, or
behind the string reference of releases before 1.13, which sparse ones have until today.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import behind_handle, host
from tfnb.resources.accumulators import Accumulator, DenseAccumulator, SparseAccumulator

_MADE: dict[str, Any] = {"dtype": "numbertype", "shape_": "shape", "container": "string = ''",
                         "shared_name": "string = ''", "reduction_type": "{'MEAN', 'SUM'} = 'MEAN'"}


def _sparse_shapes(ctx: Any) -> list[Any]:
    return [(None,), None, (None,)]


def _handle(ctx: Any, kind: type[Accumulator]) -> np.ndarray:
    """Return the handle of this op's accumulator in the session, made at its first use."""
    attrs = ctx.op.attrs

    def make() -> Accumulator:
        return kind(attrs["dtype"].as_numpy_dtype, attrs["shape"], attrs["reduction_type"] == b"MEAN")
    held = ctx.store.resource(ctx.op, make)
    name = attrs["shared_name"].decode()
    if type(held) is not kind:
        raise InvalidArgumentError(None, ctx.op, f"'{name}' is another kind of resource")
    if held.dtype != attrs["dtype"].as_numpy_dtype:
        raise InvalidArgumentError(None, ctx.op, f"Shared conditional accumulator '{name}' has dtype {held.dtype}, but "
                                                 f"requested was {attrs['dtype'].name}")
    handle = np.empty((), object)
    handle[()] = held
    return handle


def _check_dtype(ctx: Any, held: Accumulator) -> None:
    dtype = ctx.op.attrs["dtype"]
    if held.dtype != dtype.as_numpy_dtype:
        raise InvalidArgumentError(None, ctx.op, f"Signature mismatch: the accumulator is of dtype {held.dtype}, the "
                                                 f"gradient of {dtype.name}")


def _apply(ctx: Any, held: Accumulator, local_step: Any, gradient: Any) -> tuple[()]:
    _check_dtype(ctx, held)
    held.apply(int(local_step), gradient)
    return ()


def _take(ctx: Any, held: Accumulator, num_required: Any) -> Any:
    _check_dtype(ctx, held)
    return held.take(int(num_required), ctx.timeout)


@host("-> handle: Ref(string)", shape=shapes.scalar, stateful=True, **_MADE)
def ConditionalAccumulator(*, ctx: Any) -> Any:
    """Create an accumulator of dense gradients."""
    return _handle(ctx, DenseAccumulator)


@host("handle: Ref(string), local_step: int64, gradient: dtype", shape=shapes.unknown, dtype="numbertype")
def AccumulatorApplyGradient(handle: Any, local_step: Any, gradient: Any, *, ctx: Any) -> Any:
    """Add a gradient, unless `local_step` is older than the accumulator's step."""
    return _apply(ctx, handle[()], local_step, gradient)


@host("handle: Ref(string), num_required: int32 -> average: dtype", shape=shapes.unknown, dtype="numbertype")
def AccumulatorTakeGradient(handle: Any, num_required: Any, *, ctx: Any) -> Any:
    """Wait for `num_required` gradients and return their mean; the accumulator's step grows by one."""
    return _take(ctx, handle[()], num_required)


@host("handle: Ref(string), new_global_step: int64", shape=shapes.unknown)
def AccumulatorSetGlobalStep(handle: Any, new_global_step: Any) -> Any:
    """Set the accumulator's step."""
    handle[()].set_global_step(int(new_global_step))
    return ()


@host("handle: Ref(string) -> num_accumulated: int32", shape=shapes.scalar)
def AccumulatorNumAccumulated(handle: Any) -> Any:
    """Return the number of gradients accumulated so far."""
    return np.int32(handle[()].count)


@host("-> handle: Ref(string)", shape=shapes.scalar, stateful=True, **_MADE)
def SparseConditionalAccumulator(*, ctx: Any) -> Any:
    """Create an accumulator of sparse gradients."""
    return _handle(ctx, SparseAccumulator)


@host("handle: Ref(string), local_step: int64, gradient_indices: int64, gradient_values: dtype, gradient_shape: int64",
      shape=shapes.unknown, dtype="numbertype", has_known_shape="bool")
def SparseAccumulatorApplyGradient(handle: Any, local_step: Any, gradient_indices: Any, gradient_values: Any,
                                   gradient_shape: Any, *, has_known_shape: bool, ctx: Any) -> Any:
    """Add the rows of a gradient, unless `local_step` is older than the accumulator's step."""
    shape = gradient_shape if has_known_shape else None
    return _apply(ctx, handle[()], local_step, (gradient_indices, gradient_values, shape))


@host("handle: Ref(string), num_required: int32 -> indices: int64, values: dtype, shape: int64", shape=_sparse_shapes,
      dtype="numbertype")
def SparseAccumulatorTakeGradient(handle: Any, num_required: Any, *, ctx: Any) -> Any:
    """Wait for `num_required` gradients and return the mean of each row over those that have it."""
    return _take(ctx, handle[()], num_required)


def _by_handle(of: Any) -> Any:
    return behind_handle(of, f"Resource{of.spec.name}")


ResourceConditionalAccumulator = _by_handle(ConditionalAccumulator)
ResourceAccumulatorApplyGradient = _by_handle(AccumulatorApplyGradient)
ResourceAccumulatorTakeGradient = _by_handle(AccumulatorTakeGradient)
ResourceAccumulatorSetGlobalStep = _by_handle(AccumulatorSetGlobalStep)
ResourceAccumulatorNumAccumulated = _by_handle(AccumulatorNumAccumulated)
for _op in (ResourceConditionalAccumulator, ResourceAccumulatorApplyGradient, ResourceAccumulatorTakeGradient,
            ResourceAccumulatorSetGlobalStep, ResourceAccumulatorNumAccumulated, ConditionalAccumulator,
            AccumulatorApplyGradient, AccumulatorTakeGradient, AccumulatorSetGlobalStep, AccumulatorNumAccumulated,
            SparseConditionalAccumulator, SparseAccumulatorApplyGradient, SparseAccumulatorTakeGradient):
    _op.no_gradient("what is taken out does not depend on this run's inputs")
