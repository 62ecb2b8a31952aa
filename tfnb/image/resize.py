"""Image resizing: the ops, their gradients and the user's functions."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import IMAGES, describe
from tfnb.core.shape import Static, compatible
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value_as_shape
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.image.geometry import batch_of, larger, pad_to_bounding_box, positive_targets, sizes, unbatched
from tfnb.kernels.arrays import resize as arrays
from tfnb.kernels.arrays.resize import Axis
from tfnb.kernels.library.image import resize as kernels
from tfnb.ops.array.reshape import expand_dims, shape
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.raw import raw
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.math.arithmetic import minimum, round
from tfnb.ops.math.casting import cast
from tfnb.ops.nn.conv import rank4

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

ANY = "{int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}"
CORNERS: dict[str, Any] = {"align_corners": "bool = false", "half_pixel_centers": "bool = false"}


# Shapes and checks

def size_pair(ctx: ShapeContext, i: int) -> tuple[int | None, ...]:
    """Return the two sizes in the value of input `i`. Raises ValueError if it does not hold two."""
    given = ctx.shape(i)
    if not compatible(given, (2,)):
        raise ValueError(f"Dimension must be 2 but is {of_rank(given, 1)[0]}")
    return of_rank(ctx.partial(i), 2)


def _resized(ctx: ShapeContext) -> list[Static]:
    batch, _, _, channels = rank4(ctx.shape(0))
    return [(batch, *size_pair(ctx, 1), channels)]


def _like_original(ctx: ShapeContext) -> list[Static]:
    grads, original = rank4(ctx.shape(0)), rank4(ctx.shape(1))
    return [(grads[0], *original[1:3], grads[3])]


def _exclusive(ctx: Any) -> None:
    """Raise ValueError for rules that exclude one another."""
    if ctx.attrs.get("align_corners") and ctx.attrs.get("half_pixel_centers"):
        raise ValueError("If half_pixel_centers is True, align_corners must be False.")


def _positive(sizes: Any, what: str) -> None:
    """Raise ValueError for sizes of what has no pixels."""
    if min(sizes) <= 0:
        raise ValueError(f"{what}, got {[int(n) for n in sizes]}")


def _validate(ctx: Any) -> None:
    """Of (images, size)."""
    _exclusive(ctx)
    _positive(ctx.value(1), "output dimensions must be positive")
    _positive(ctx.shape(0)[1:3], "input image must be of non-zero size")
    _positive(ctx.shape(0)[3:], "image must have at least one channel")


def _validate_gradient(ctx: Any) -> None:
    """Of (grads, original_image)."""
    _exclusive(ctx)
    _positive(ctx.shape(0)[1:3], "resized dimensions must be positive")
    _positive(ctx.shape(1)[1:3], "original dimensions must be positive")


def _validate_nearest_gradient(ctx: Any) -> None:
    """Of (grads, size)."""
    _exclusive(ctx)
    _positive(ctx.value(1), "size must be positive")


def _axes(ctx: Any, image: Sequence[int], result: Sequence[int]) -> tuple[Axis, Axis]:
    return kernels.axes(ctx.attrs, image, result)


def _toward(ctx: Any, images: np.ndarray, size: np.ndarray) -> tuple[Axis, Axis]:
    return _axes(ctx, images.shape, (images.shape[0], *size.tolist(), images.shape[3]))


# The ops

@kernel("images: T, size: int32 -> resized_images: float", shape=_resized, values=("size",), T=ANY, **CORNERS,
        numpy=lambda ctx, images, size: arrays.bilinear(images, *_toward(ctx, images, size)),
        launch=kernels.bilinear, validate=_validate)
def ResizeBilinear() -> None:
    """Resize images by bilinear interpolation."""


@kernel("grads: float, original_image: T -> output: T", shape=_like_original, T="{float, bfloat16, half, double}",
        numpy=lambda ctx, grads, image: arrays.bilinear_gradient(grads, *_axes(ctx, image.shape, grads.shape),
                                                                 image.dtype),
        launch=kernels.bilinear_gradient, validate=_validate_gradient, **CORNERS)
def ResizeBilinearGrad() -> None:
    """Compute the gradient of ResizeBilinear for images like `original_image`."""


@kernel("images: T, size: int32 -> resized_images: T", shape=_resized, values=("size",), T=ANY, **CORNERS,
        numpy=lambda ctx, images, size: arrays.nearest(images, *_toward(ctx, images, size)),
        launch=kernels.nearest, validate=_validate)
def ResizeNearestNeighbor() -> None:
    """Resize images by nearest-neighbor interpolation."""


def _nearest_gradient(ctx: Any, grads: np.ndarray, size: np.ndarray) -> np.ndarray:
    image = (grads.shape[0], *size.tolist(), grads.shape[-1])
    if not grads.size:
        return np.zeros(image, grads.dtype)
    return arrays.nearest_gradient(grads, *_axes(ctx, image, grads.shape))


@kernel("grads: T, size: int32 -> output: T", shape=_resized, values=("size",), numpy=_nearest_gradient,
        launch=kernels.nearest_gradient, validate=_validate_nearest_gradient,
        T="{uint8, int8, int32, half, float, double, bfloat16}", **CORNERS)
def ResizeNearestNeighborGrad() -> None:
    """Compute the gradient of ResizeNearestNeighbor for images of `size`."""


def _cubic(ctx: Any, images: np.ndarray, size: np.ndarray) -> np.ndarray:
    y, x = _toward(ctx, images, size)
    return arrays.weighted(images, y.cubic(), x.cubic())


@kernel("images: T, size: int32 -> resized_images: float", shape=_resized, values=("size",), numpy=_cubic,
        launch=kernels.cubic, validate=_validate, T=ANY, **CORNERS)
def ResizeBicubic() -> None:
    """Resize images by bicubic interpolation."""


def _cubic_gradient(ctx: Any, grads: np.ndarray, image: np.ndarray) -> np.ndarray:
    y, x = _axes(ctx, image.shape, grads.shape)
    shape = (grads.shape[0], *image.shape[1:3], grads.shape[3])
    return arrays.weighted_gradient(grads, shape, y.cubic(), x.cubic(), image.dtype)


@kernel("grads: float, original_image: T -> output: T", shape=_like_original, numpy=_cubic_gradient,
        launch=kernels.cubic_gradient, validate=_validate_gradient, T="{float, double}", **CORNERS)
def ResizeBicubicGrad() -> None:
    """Compute the gradient of ResizeBicubic for images like `original_image`."""


def _area(ctx: Any, images: np.ndarray, size: np.ndarray) -> np.ndarray:
    y, x = _toward(ctx, images, size)
    return arrays.weighted(images, y.area(), x.area())


@kernel("images: T, size: int32 -> resized_images: float", shape=_resized, values=("size",), numpy=_area,
        launch=kernels.area, validate=_validate, T=ANY, align_corners="bool = false")
def ResizeArea() -> None:
    """Resize images by area interpolation: each pixel is the mean of those that it covers."""


# Any scale

_SAMPLED: dict[str, Any] = {"kernel_type": "string = 'lanczos3'", "antialias": "bool = true"}


def _sampled_shape(ctx: ShapeContext) -> list[Static]:
    for i in (2, 3):
        if not compatible(ctx.shape(i), (2,)):
            name = ctx.op.spec.inputs[i].name
            raise ValueError(f"{name} must have two elements, got shape {list(ctx.shape(i) or ())}")
    return _resized(ctx)


def _validate_sampled(ctx: Any, first: int, sizes: Any) -> None:
    """Raise ValueError for an unknown kernel, and for scales (input `first`) and sizes that are not positive."""
    kind = ctx.attrs["kernel_type"].decode()
    if kind not in arrays.SAMPLING:
        raise ValueError(f"Unrecognized kernel type: {kind!r}, expected one of {', '.join(arrays.SAMPLING)}")
    if not min(ctx.value(first)) > 0:
        raise ValueError(f"Scale must be greater than zero, got {ctx.value(first).tolist()}")
    _positive(sizes, "dimensions must be positive")


def _weights(ctx: Any, image: Sequence[int], result: Sequence[int], scale: np.ndarray, translation: np.ndarray) -> Any:
    how = arrays.SAMPLING[ctx.attrs["kernel_type"].decode()]
    return [arrays.sampled(n, out, s, t, how, ctx.attrs["antialias"])
            for n, out, s, t in zip(image[1:3], result, scale, translation, strict=True)]


def _sample(ctx: Any, images: np.ndarray, size: np.ndarray, scale: np.ndarray, translation: np.ndarray) -> np.ndarray:
    return arrays.weighted(images, *_weights(ctx, images.shape, size.tolist(), scale, translation))


def _sample_gradient(ctx: Any, grads: np.ndarray, image: np.ndarray, scale: np.ndarray,
                     translation: np.ndarray) -> np.ndarray:
    y, x = _weights(ctx, image.shape, grads.shape[1:3], scale, translation)
    return arrays.weighted_gradient(grads, (grads.shape[0], *image.shape[1:3], grads.shape[3]), y, x, grads.dtype,
                                    arrays.share)


@kernel("images: T, size: int32, scale: float, translation: float -> resized_images: float", shape=_sampled_shape,
        values=("size", "scale"), numpy=_sample, launch=kernels.sampled, T=ANY, **_SAMPLED,
        validate=lambda ctx: _validate_sampled(ctx, 2, [*ctx.value(1), *ctx.shape(0)[1:]]))
def ScaleAndTranslate() -> None:
    """Resample images at `scale` * position + `translation` with a filter; what lies outside of the image is 0.

    >>> image = tf.reshape([0.0, 2.0], [1, 1, 2, 1])
    >>> made = tf.raw_ops.ScaleAndTranslate(images=image, size=[1, 4], scale=[1.0, 2.0], translation=[0.0, 0.0],
    ...                                     kernel_type="triangle")
    >>> sess.run(tf.squeeze(made))
    array([0. , 0.5, 1.5, 2. ], dtype=float32)
    """


@kernel("grads: T, original_image: T, scale: float, translation: float -> output: T", shape=_like_original,
        values=("scale",), numpy=_sample_gradient, launch=kernels.sampled_gradient, T="{float}", **_SAMPLED,
        validate=lambda ctx: _validate_sampled(ctx, 2, [*ctx.shape(0)[1:3], *ctx.shape(1)[1:3]]))
def ScaleAndTranslateGrad() -> None:
    """Compute the gradient of ScaleAndTranslate for images like `original_image`."""


@ScaleAndTranslate.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    images, _, scale, translation = op.inputs
    return [ScaleAndTranslateGrad(dy, images, scale, translation, **{n: op.attrs[n] for n in _SAMPLED}), None, None,
            None]


ScaleAndTranslateGrad.no_gradient("as in TensorFlow, there is one order only")


# Gradients

def _corners(op: Operation) -> dict[str, Any]:
    return {name: op.attrs[name] for name in CORNERS}


@ResizeBilinear.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [ResizeBilinearGrad(dy, op.inputs[0], **_corners(op)), None]


@ResizeNearestNeighbor.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    static = op.inputs[0].static
    known = static is not None and None not in static[1:3]
    size = list(static[1:3]) if known and static else shape(op.inputs[0])[1:3]
    return [ResizeNearestNeighborGrad(dy, size, **_corners(op)), None]


@ResizeBicubic.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    if op.inputs[0].dtype not in (dtypes.float32, dtypes.float64):
        return [None, None]
    return [ResizeBicubicGrad(dy, op.inputs[0], **_corners(op)), None]


for _op in (ResizeBilinearGrad, ResizeNearestNeighborGrad, ResizeBicubicGrad):
    _op.no_gradient("as in TensorFlow, there is one order only")
ResizeArea.no_gradient("as in TensorFlow")


# What users call

def resize_bilinear(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                    half_pixel_centers: bool = False) -> Tensor:
    """Resize images [batch, height, width, channels] to `size` (new_height, new_width) bilinearly, as float32.

    >>> image = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.image.resize_bilinear(image, [3, 3], align_corners=True)))
    array([[1. , 1.5, 2. ],
           [2. , 2.5, 3. ],
           [3. , 3.5, 4. ]], dtype=float32)
    """
    tensor: Tensor = ResizeBilinear(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers,
                                    name=name)
    return tensor


def resize_nearest_neighbor(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                            half_pixel_centers: bool = False) -> Tensor:
    """Resize images [batch, height, width, channels] to `size` (new_height, new_width) by nearest neighbor.

    >>> image = tf.reshape([1, 2, 3, 4], [1, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.image.resize_nearest_neighbor(image, [3, 4])))
    array([[1, 1, 2, 2],
           [1, 1, 2, 2],
           [3, 3, 4, 4]], dtype=int32)
    """
    tensor: Tensor = ResizeNearestNeighbor(images, size, align_corners=align_corners,
                                           half_pixel_centers=half_pixel_centers, name=name)
    return tensor


def resize_bicubic(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                   half_pixel_centers: bool = False) -> Tensor:
    """Resize images [batch, height, width, channels] to `size` (new_height, new_width) bicubically, as float32.

    >>> image = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.image.resize_bicubic(image, [3, 3], align_corners=True)))
    array([[1. , 1.5, 2. ],
           [2. , 2.5, 3. ],
           [3. , 3.5, 4. ]], dtype=float32)
    """
    tensor: Tensor = ResizeBicubic(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers,
                                   name=name)
    return tensor


def resize_area(images: Any, size: Any, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Resize images [batch, height, width, channels] to `size` (new_height, new_width) by area, as float32.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> sess.run(tf.squeeze(tf.image.resize_area(image, [2, 2])))
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """
    tensor: Tensor = ResizeArea(images, size, align_corners=align_corners, name=name)
    return tensor


class ResizeMethod:
    """The methods of `resize_images`.

    >>> image = tf.reshape([1.0, 2.0, 3.0, 4.0], [2, 2, 1])
    >>> method = tf.image.ResizeMethod.NEAREST_NEIGHBOR
    >>> sess.run(tf.squeeze(tf.image.resize_images(image, [2, 4], method)))
    array([[1., 1., 2., 2.],
           [3., 3., 4., 4.]], dtype=float32)
    """

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_METHODS = (ResizeBilinear, ResizeNearestNeighbor, ResizeBicubic, ResizeArea)
_METHOD_NAMES = {"bilinear": 0, "nearest": 1, "bicubic": 2, "area": 3}


def _resizer(method: Any) -> Any:
    number: Any = _METHOD_NAMES.get(method, method) if isinstance(method, str) else method
    if number not in range(len(_METHODS)):
        raise ValueError(f"Resize method is not implemented: {method}")
    return _METHODS[number]


def resize_images(images: Any, size: Any, method: Any = ResizeMethod.BILINEAR, align_corners: Any = False,
                  preserve_aspect_ratio: bool = False, name: str | None = None, *old: Any) -> Tensor:
    """Resize an image, or a batch, to `size` (new_height, new_width); float32 but for the method NEAREST_NEIGHBOR.

    images of that size already are returned as they are. method: one of ResizeMethod, or its name. The argument order
    of r0.x (images, new_height, new_width, method, align_corners) is recognised. preserve_aspect_ratio: `size` is the
    most that either side may have. Raises ValueError for images that have not 3 or 4 axes, another size or method.

    >>> image = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.image.resize_images(image, [4, 4])))
    array([[1. , 1.5, 2. , 2. ],
           [2. , 2.5, 3. , 3. ],
           [3. , 3.5, 4. , 4. ],
           [3. , 3.5, 4. , 4. ]], dtype=float32)
    """
    if _is_number(size) and _is_number(method):
        given = (align_corners, preserve_aspect_ratio)
        size, method, align_corners, preserve_aspect_ratio = [size, method], int(given[0]), bool(given[1]), False
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        if images.static is None:
            raise ValueError("'images' contains no shape.")
        if len(images.static) not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        is_batch = len(images.static) == 4
        images = images if is_batch else expand_dims(images, 0)
        size = _size_tensor(size)
        if preserve_aspect_ratio:
            size = _within(images, size)
        wanted = of_rank(constant_value_as_shape(size), 2)
        if None in wanted or images.static[1:3] != wanted:
            images = _resizer(method)(images, size, align_corners=align_corners)
            images.set_shape([None, *wanted, None])
        return unbatched(images, is_batch)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _size_tensor(size: Any) -> Tensor:
    try:
        made = convert_to_tensor(size, dtypes.int32, name="size")
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if not compatible(made.static, (2,)):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return made


def _within(images: Tensor, size: Tensor) -> Tensor:
    """Return the largest size with the ratio of the images that has at most `size`."""
    _, height, width, _ = sizes(images, 4)
    by_height = cast(size[0], dtypes.float32) / cast(height, dtypes.float32)
    by_width = cast(size[1], dtypes.float32) / cast(width, dtypes.float32)
    factor = minimum(by_height, by_width)
    scaled = [cast(round(factor * cast(n, dtypes.float32)), dtypes.int32) for n in (height, width)]
    return convert_to_tensor(scaled, dtypes.int32, name="size")


def resize_image_with_pad(image: Any, target_height: Any, target_width: Any, method: Any = ResizeMethod.BILINEAR,
                          align_corners: bool = False) -> Tensor:
    """Resize an image, or a batch, to the largest size that fits with its aspect ratio kept, and pad with zeros.

    >>> image = tf.ones([2, 2, 1])
    >>> sess.run(tf.squeeze(tf.image.resize_image_with_pad(image, 2, 4)))
    array([[0., 1., 1., 0.],
           [0., 1., 1., 0.]], dtype=float32)
    """
    with name_scope(None, "resize_image_with_pad", [image]):
        image, is_batch = batch_of(image)
        image, _ = positive_targets(image, target_height, target_width)
        _, height, width, _ = sizes(image, 4)
        height, width, full_height, full_width = (cast(n, dtypes.float32) for n in
                                                  (height, width, target_height, target_width))
        ratio = larger(width / full_width, height / full_height)
        new_height, new_width = height / ratio, width / ratio
        inner = [cast(raw.Floor(n), dtypes.int32) for n in (new_height, new_width)]
        rest = (full_height - new_height) / 2, (full_width - new_width) / 2
        floors = [raw.Floor(n) for n in rest]
        above, left = (larger(0, cast(n, dtypes.int32)) for n in floors)
        resized = resize_images(image, inner, method, align_corners=align_corners)
        padded = pad_to_bounding_box(resized, above, left, target_height, target_width)
        sizes(padded, 4)
        return unbatched(padded, is_batch)


describe(globals(), IMAGES)
