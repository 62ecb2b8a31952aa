"""Input specification of a layer: `tf.layers.InputSpec`."""
from __future__ import annotations

from typing import Any

from tfnb.core import nest
from tfnb.core.dtypes import as_dtype


class InputSpec:
    """Rank, dtype, shape and sizes of some axes of an input; None: any.

    shape: a full shape, with None for any size. ndim, max_ndim, min_ndim: bounds on the rank. axes: sizes by axis.

    >>> tf.layers.InputSpec(ndim=4, axes={-1: 3}).ndim
    4
    """

    def __init__(self, dtype: Any = None, shape: Any = None, ndim: int | None = None, max_ndim: int | None = None,
                 min_ndim: int | None = None, axes: dict[int, int | None] | None = None) -> None:
        self.dtype = None if dtype is None else as_dtype(dtype).name
        self.shape, self.ndim = shape, ndim if shape is None else len(shape)
        self.max_ndim, self.min_ndim, self.axes = max_ndim, min_ndim, axes or {}

    def __repr__(self) -> str:
        told = [f"{key}={value}" for key, value in vars(self).items() if value]
        return f"InputSpec({', '.join(told)})"


def check_input(spec: Any, inputs: Any, layer: str) -> None:
    """Raises ValueError if the inputs of `layer` don't fit their InputSpec (or list of them)."""
    if not spec:
        return
    tensors, specs = nest.flatten(inputs), nest.flatten(spec)
    if len(tensors) != len(specs):
        raise ValueError(f"Layer {layer} expects {len(specs)} inputs, but it received {len(tensors)} input tensors. "
                         f"Inputs received: {inputs}")
    for number, (tensor, wanted) in enumerate(zip(tensors, specs, strict=True)):
        problem = _problem(tensor, wanted)
        if problem:
            raise ValueError(f"Input {number} of layer {layer} is incompatible with the layer: {problem}. "
                             f"Full shape received: {tensor.shape}")


def _problem(tensor: Any, spec: InputSpec) -> str | None:
    """Return what is wrong with the input, or None."""
    rank = tensor.shape.ndims
    bounds = (spec.ndim, spec.max_ndim, spec.min_ndim)
    if rank is None:
        return "its rank is undefined, but the layer requires a defined rank" if bounds != (None,) * 3 else None
    if spec.ndim is not None and rank != spec.ndim:
        return f"expected ndim={spec.ndim}, found ndim={rank}"
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return f"expected min_ndim={spec.min_ndim}, found ndim={rank}"
    if spec.dtype is not None and tensor.dtype.base_dtype.name != spec.dtype:
        return f"expected dtype={spec.dtype}, found dtype={tensor.dtype.base_dtype.name}"
    sizes = tensor.shape.as_list()
    wanted = dict(enumerate(spec.shape)) if spec.shape is not None else spec.axes
    for axis, size in wanted.items():
        if size is not None and sizes[axis] not in (None, size):
            return f"expected axis {axis} of input shape to have value {size} but received {sizes[axis]}"
    return None
