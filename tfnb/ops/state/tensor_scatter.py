"""Copies of a tensor with some slices changed: `tf.tensor_scatter_nd_update` and its kin, the scatter ops without a
variable."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels import scatter
from tfnb.kernels.cpu.scatter_nd import tensor_scatter
from tfnb.opdef import kinds
from tfnb.ops.array.create import zeros_like
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.evaluate import scalar_type
from tfnb.ops.declaration.raw import raw
from tfnb.ops.state.scatter import ScatterNdAdd, ScatterNdMax, ScatterNdMin, ScatterNdSub, ScatterNdUpdate


def _changed(of: Constructor, tindices: str = "indextype", tensor: str = "tensor",
             types: str = "type") -> Callable[[Any], Constructor]:
    """Declare an op that does to a copy of a tensor, its input of this name, what `of` does to a variable."""
    assert isinstance(of.spec, kinds.Scatter)
    form = of.spec.form

    def numpy(ctx: Any, tensor: Any, indices: Any, updates: Any) -> Any:
        made = np.array(tensor)
        scatter.apply(form, [made, indices, updates], (), scalar_type(ctx.op))
        return made
    launch = tensor_scatter(form)
    return kernel(f"{tensor}: T, indices: Tindices, updates: T -> output: T", shape=of.spec.shape, numpy=numpy,
                  cpu=launch, cuda=launch, T=types, Tindices=tindices, bad_indices_policy="string = ''")


@_changed(ScatterNdUpdate, "{int16, int32, int64, uint16}")
def TensorScatterUpdate() -> None:
    """Return a tensor with the slices at index vectors replaced; of duplicates the last one stays."""


@_changed(ScatterNdAdd)
def TensorScatterAdd() -> None:
    """Return a tensor with `updates` added at index vectors; duplicates add up."""


@_changed(ScatterNdAdd, tensor="input", types="{float, double, int32, uint8, int16, int8, complex64, int64, qint8, "
          "quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}")
def ScatterNdNonAliasingAdd() -> None:
    """Return a tensor with `updates` added at index vectors: TensorScatterAdd by an older name."""


@_changed(ScatterNdSub)
def TensorScatterSub() -> None:
    """Return a tensor with `updates` subtracted at index vectors; duplicates add up."""


@_changed(ScatterNdMax)
def TensorScatterMax() -> None:
    """Return a tensor with the element-wise maximum of slices and `updates` at index vectors."""


@_changed(ScatterNdMin)
def TensorScatterMin() -> None:
    """Return a tensor with the element-wise minimum of slices and `updates` at index vectors."""


@TensorScatterUpdate.gradient
def _(op: Operation, dy: Tensor) -> list[Any]:
    indices = op.inputs[1]
    return [TensorScatterUpdate(dy, indices, zeros_like(op.inputs[2])), None, raw.GatherNd(dy, indices)]


@ScatterNdNonAliasingAdd.gradient
@TensorScatterAdd.gradient
def _(op: Operation, dy: Tensor) -> list[Any]:
    return [dy, None, raw.GatherNd(dy, op.inputs[1])]


@TensorScatterSub.gradient
def _(op: Operation, dy: Tensor) -> list[Any]:
    return [dy, None, raw.Neg(raw.GatherNd(dy, op.inputs[1]))]


for _op in (TensorScatterMax, TensorScatterMin):
    _op.no_gradient("which of the numbers for a place it took is not kept")


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with `updates` at `indices`, whose last axis holds coordinates: see `tf.scatter_nd_update`.

    >>> sess.run(tf.tensor_scatter_nd_update([1, 2, 3], indices=[[0], [2]], updates=[10, 30]))
    array([10,  2, 30], dtype=int32)
    """
    made: Tensor = TensorScatterUpdate(tensor, indices, updates, name=name)
    return made


def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with `updates` added at `indices`: see `tf.scatter_nd_add`.

    >>> sess.run(tf.tensor_scatter_add([1, 2, 3], indices=[[0], [0], [2]], updates=[10, 10, 30]))
    array([21,  2, 33], dtype=int32)
    """
    made: Tensor = TensorScatterAdd(tensor, indices, updates, name=name)
    return made


def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with `updates` subtracted at `indices`: see `tf.scatter_nd_sub`.

    >>> sess.run(tf.tensor_scatter_nd_sub([1, 2, 3], indices=[[0], [2]], updates=[10, 30]))
    array([ -9,   2, -27], dtype=int32)
    """
    made: Tensor = TensorScatterSub(tensor, indices, updates, name=name)
    return made


def tensor_scatter_nd_max(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with slices raised to at least `updates` at `indices`.

    >>> sess.run(tf.tensor_scatter_nd_max([1, 2, 3], indices=[[0], [2]], updates=[10, 0]))
    array([10,  2,  3], dtype=int32)
    """
    made: Tensor = TensorScatterMax(tensor, indices, updates, name=name)
    return made


def tensor_scatter_nd_min(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with slices lowered to at most `updates` at `indices`.

    >>> sess.run(tf.tensor_scatter_nd_min([1, 2, 3], indices=[[0], [2]], updates=[10, 0]))
    array([1, 2, 0], dtype=int32)
    """
    made: Tensor = TensorScatterMin(tensor, indices, updates, name=name)
    return made


tensor_scatter_update, tensor_scatter_add, tensor_scatter_sub = (
    tensor_scatter_nd_update, tensor_scatter_nd_add, tensor_scatter_nd_sub)
