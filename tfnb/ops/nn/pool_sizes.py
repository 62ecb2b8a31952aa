"""Max pooling whose window sizes and strides are inputs: MaxPoolV2 and its gradients, by the kernels of MaxPool."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.launch import Call, Launch, known_value
from tfnb.kernels.library import pools
from tfnb.ops.array.create import zeros_like
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.nn import pool
from tfnb.ops.nn.conv import only_spatial, rank4

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

_SIZES = ("ksize", "strides")
_INPUTS = "ksize: int32, strides: int32 -> output: T"
_ATTRS: dict[str, Any] = {"padding": "{'SAME', 'VALID'}", "data_format": pool.LAYOUT, "T": f"{pool.REAL} = DT_FLOAT"}
_BACK = "orig_input: T, orig_output: T, grad: T, " + _INPUTS


class _Sized:
    """The context of an op whose attrs have the sizes, too, that it gets as inputs."""

    def __init__(self, ctx: Any, sizes: Any) -> None:
        self._ctx = ctx
        self.attrs = {**ctx.attrs, **{name: value.reshape(-1).tolist()
                                      for name, value in zip(_SIZES, sizes, strict=True)}}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)


def _values(ctx: ShapeContext) -> list[Any]:
    """Return the values of ksize and strides, None where not known. Raises ValueError for other than four sizes."""
    first = len(ctx.op.inputs) - 2
    for i, name in enumerate(_SIZES, first):
        if of_rank(ctx.shape(i), 1)[0] not in (None, 4):
            raise ValueError(f"{name} must specify 4 dimensions, got shape {list(ctx.shape(i) or ())}")
    return [ctx.value(first), ctx.value(first + 1)]


def _shaped(of: Callable[[Any], list[Static]], like: int | None) -> Callable[[ShapeContext], list[Static]]:
    """Return the shape function `of` of an op with attrs. like: the input that gives the shape without sizes."""
    def shape(ctx: ShapeContext) -> list[Static]:
        values = _values(ctx)
        if any(value is None for value in values):
            return [(None,) * 4 if like is None else rank4(ctx.shape(like))]
        return of(_Sized(ctx, values))
    return shape


def _validate(ctx: Any) -> None:
    only_spatial(_Sized(ctx, _values(ctx)))


def _numpy(of: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda ctx, *arrays: of(_Sized(ctx, arrays[-2:]), *arrays[:-2])


def _launch(of: Callable[[Call], list[Launch]]) -> Callable[[Call], list[Launch]]:
    def launches(call: Call) -> list[Launch]:
        sizes = {name: known_value(meta).tolist() for name, meta in zip(_SIZES, call.inputs[-2:], strict=True)}
        return of(replace(call, inputs=call.inputs[:-2], attrs={**call.attrs, **sizes}))
    return launches


@kernel("input: T, " + _INPUTS, shape=_shaped(pool.pool_shape, None), numpy=_numpy(pool.max_values),
        launch=_launch(pools.max_pool), values=_SIZES, validate=_validate,
        T="{half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT",
        padding="{'SAME', 'VALID'}", data_format="{'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
def MaxPoolV2() -> None:
    """Compute the maximum of each window, per channel; the sizes of windows and strides are inputs.

    >>> image = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1])
    >>> sess.run(tf.raw_ops.MaxPoolV2(input=image, ksize=[1, 2, 2, 1], strides=[1] * 4, padding="VALID")).item()
    4.0
    """


@kernel(_BACK, shape=_shaped(pool.max_gradient_shape, 0), numpy=_numpy(pool.max_slopes),
        launch=_launch(pools.max_pool_gradient), values=_SIZES, validate=_validate, **_ATTRS)
def MaxPoolGradV2() -> None:
    """Compute the gradient of MaxPoolV2: each element goes to the (first) maximum of its window."""


@kernel(_BACK, shape=_shaped(pool.max_gradient2_shape, 1), numpy=_numpy(pool.values_at_maxima), values=_SIZES,
        launch=_launch(pools.max_pool_second_gradient), validate=_validate, **{**_ATTRS, "T": pool.REAL})
def MaxPoolGradGradV2() -> None:
    """Compute the gradient of MaxPoolGradV2 for `grad`: its element at the maximum of each window."""


def _how(op: Operation) -> dict[str, Any]:
    return {name: op.attrs[name] for name in ("padding", "data_format")}


@MaxPoolV2.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    x, *sizes = op.inputs
    return [MaxPoolGradV2(x, op.outputs[0], dy, *sizes, **_how(op)), None, None]


def _second(other: Any) -> Callable[[Operation, Tensor], list[Tensor | None]]:
    def gradient(op: Operation, dz: Tensor) -> list[Tensor | None]:
        """Return the gradients of (orig_input, orig_output, grad, ksize, strides): only `grad` has one."""
        x, y, _, *sizes = op.inputs
        return [zeros_like(x), zeros_like(y), other(x, y, dz, *sizes, **_how(op)), None, None]
    return gradient


MaxPoolGradV2.gradient(_second(MaxPoolGradGradV2))
MaxPoolGradGradV2.gradient(_second(MaxPoolGradV2))
