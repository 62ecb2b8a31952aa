"""Image patches: the elements of each window, flattened (im2col)."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.arrays.window import along, output_size, window
from tfnb.kernels.arrays.windows import patches
from tfnb.ops.array.create import eye
from tfnb.ops.array.reshape import reshape, shape
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.complex import complex, imag, real
from tfnb.ops.nn.conv import rank4

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _window_attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """The attrs of an op of ours as those of a convolution. Raises ValueError for lists of other lengths and axes."""
    for name in ("ksizes", "strides", "rates"):
        given = attrs[name]
        if len(given) != 4 or given[0] != 1 or given[3] != 1 or min(given) < 1:
            raise ValueError(f"{name} must be [1, height, width, 1] with positive sizes, not {list(given)}")
    return {"strides": attrs["strides"], "dilations": attrs["rates"], "padding": attrs["padding"]}


def _patch_shape(ctx: ShapeContext) -> list[Static]:
    batch, height, width, channels = rank4(ctx.shape(0))
    attrs, taps = _window_attrs(ctx.attrs), ctx.attrs["ksizes"]
    places = [output_size(n, taps[i], *along(attrs, i)) for i, n in ((1, height), (2, width))]
    return [(batch, *places, None if channels is None else channels * taps[1] * taps[2])]


def _patches(ctx: Any, images: np.ndarray) -> np.ndarray:
    found = patches(images, window(images.shape, ctx.attrs["ksizes"][1:3], _window_attrs(ctx.attrs)))
    return found.reshape(*found.shape[:3], -1)


@kernel("images: T -> patches: T", shape=_patch_shape, numpy=_patches, ksizes="list(int) >= 4",
        strides="list(int) >= 4", rates="list(int) >= 4",
        T="{bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
          "complex128, bool}", padding="{'SAME', 'VALID'}")
def ExtractImagePatches() -> None:
    """Extract the windows of images, each flattened into the last axis (im2col)."""


@ExtractImagePatches.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    """Each window is a convolution that picks its elements; of complex numbers, of the real and imaginary parts."""
    if dy.dtype.is_complex:
        return complex(_put_back(op, real(dy)), _put_back(op, imag(dy)))
    return _put_back(op, dy)


def _put_back(op: Operation, dy: Tensor) -> Tensor:
    images, (_, height, width, _) = op.inputs[0], op.attrs["ksizes"]
    static = images.static
    channels = shape(images)[3] if static is None or static[3] is None else static[3]
    picks = reshape(eye(channels * (height * width), dtype=dy.dtype), [height, width, channels, -1])
    return raw.Conv2DBackpropInput(shape(images), picks, dy, **_window_attrs(op.attrs))


def _volume_attrs(ctx: Any) -> tuple[Any, Any]:
    """The sizes of the windows and the steps between. Raises ValueError for lists of other lengths and axes."""
    for name in ("ksizes", "strides"):
        given = ctx.attrs[name]
        if len(given) != 5 or given[0] != 1 or given[4] != 1 or min(given) < 1:
            raise ValueError(f"{name} must be [1, planes, rows, columns, 1] with positive sizes, got {list(given)}")
    return ctx.attrs["ksizes"], ctx.attrs["strides"]


def _volume_patch_shape(ctx: ShapeContext) -> list[Static]:
    given = ctx.shape(0)
    if given is not None and len(given) != 5:
        raise ValueError(f"Shape must be rank 5 but is rank {len(given)}")
    taps, steps = _volume_attrs(ctx)
    batch, *sizes, channels = given or (None,) * 5
    places = [output_size(n, taps[i], steps[i], 1, ctx.attrs["padding"].decode()) for i, n in enumerate(sizes, 1)]
    return [(batch, *places, None if channels is None else channels * prod(taps))]


def _volume_patches(ctx: Any, volumes: np.ndarray) -> np.ndarray:
    taps, steps = _volume_attrs(ctx)
    if ctx.attrs["padding"] == b"SAME":
        extra = [max((-(-n // step) - 1) * step + tap - n, 0)
                 for n, tap, step in zip(volumes.shape, taps, steps, strict=True)]
        volumes = np.pad(volumes, [(n // 2, n - n // 2) for n in extra])
    windows = np.lib.stride_tricks.sliding_window_view(volumes, taps[1:4], (1, 2, 3))
    found = windows[:, ::steps[1], ::steps[2], ::steps[3]].transpose(0, 1, 2, 3, 5, 6, 7, 4)
    return found.reshape(*found.shape[:4], -1)


@kernel("input: T -> patches: T", shape=_volume_patch_shape, numpy=_volume_patches, ksizes="list(int) >= 5",
        strides="list(int) >= 5", T="realnumbertype", padding="{'SAME', 'VALID'}")
def ExtractVolumePatches() -> None:
    """Extract the windows of volumes, each flattened into the last axis."""


@ExtractVolumePatches.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    volumes, taps = op.inputs[0], op.attrs["ksizes"]
    channels = shape(volumes)[4] if volumes.static is None or volumes.static[4] is None else volumes.static[4]
    picks = reshape(eye(channels * prod(taps), dtype=dy.dtype), [*taps[1:4], channels, -1])
    back: Tensor = raw.Conv3DBackpropInputV2(shape(volumes), picks, dy, strides=op.attrs["strides"],
                                             padding=op.attrs["padding"])
    return back


@public("extract_volume_patches")
def extract_volume_patches(input: Any, ksizes: Sequence[int], strides: Sequence[int], padding: str,
                           name: str | None = None) -> Tensor:
    """Extract the windows of volumes, each flattened into the last axis.

    input: real numbers [batch, planes, rows, columns, depth]. ksizes, strides: [1, planes, rows, columns, 1]: of the
    windows, and between them. padding: "SAME" or "VALID". Raises ValueError for other lists.

    >>> volume = tf.reshape(tf.range(8), [1, 2, 2, 2, 1])
    >>> sess.run(tf.extract_volume_patches(volume, [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID")).ravel()
    array([0, 1, 2, 3, 4, 5, 6, 7], dtype=int32)
    """
    tensor: Tensor = ExtractVolumePatches(input, ksizes=ksizes, strides=strides, padding=padding, name=name)
    return tensor


def extract_image_patches(images: Any, ksizes: Sequence[int] | None = None, strides: Sequence[int] | None = None,
                          rates: Sequence[int] | None = None, padding: str | None = None, name: str | None = None,
                          sizes: Sequence[int] | None = None) -> Tensor:
    """Extract the windows of images [batch, height, width, channels], each flattened into the last axis.

    ksizes, strides, rates: [1, rows, columns, 1]: of the windows, between them, and between their taps. padding: "SAME"
    or "VALID". sizes: another name of ksizes. Raises ValueError for other lists.

    >>> image = tf.reshape(tf.range(9), [1, 3, 3, 1])
    >>> patches = tf.extract_image_patches(image, ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1],
    ...                                    padding="VALID")
    >>> sess.run(patches)[0, 0]
    array([[0, 1, 3, 4],
           [1, 2, 4, 5]], dtype=int32)
    """
    tensor: Tensor = ExtractImagePatches(images, ksizes=renamed("sizes", sizes, "ksizes", ksizes), strides=strides,
                                         rates=rates, padding=padding, name=name)
    return tensor


def extract_patches(images: Any, sizes: Sequence[int] | None = None, strides: Sequence[int] | None = None,
                    rates: Sequence[int] | None = None, padding: str | None = None, name: str | None = None) -> Tensor:
    """As `tf.image.extract_image_patches`, whose ksizes are called `sizes` here.

    images, strides, rates, padding: as there.

    >>> image = tf.ones([1, 4, 4, 3])
    >>> tf.image.extract_patches(image, sizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1],
    ...                          padding="VALID").shape.as_list()
    [1, 2, 2, 12]
    """
    return extract_image_patches(images, sizes, strides, rates, padding, name)
