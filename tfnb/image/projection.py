"""Projective transforms of images: the op, and `tf.contrib.image`'s rotate, translate, transform."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.arguments import IMAGES, describe
from tfnb.core.shape import Static
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.image.resize import size_pair
from tfnb.kernels.arrays import projection as arrays
from tfnb.kernels.library.image import projection as kernels
from tfnb.ops.array.create import ones, zeros
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, reshape, shape, squeeze
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.nn.conv import rank4
from tfnb.ops.reductions.matmul import matmul

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

_MODES = {"interpolation": (b"NEAREST", b"BILINEAR"), "fill_mode": (b"CONSTANT", b"REFLECT", b"WRAP", b"NEAREST")}


def _shape(ctx: ShapeContext) -> list[Static]:
    batch, _, _, channels = rank4(ctx.shape(0))
    return [(batch, *size_pair(ctx, 2), channels)]


def _validate(ctx: Any) -> None:
    images, transforms = ctx.shape(0), ctx.shape(1)
    if len(transforms) != 2 or transforms[1] != 8 or transforms[0] not in (1, images[0]):
        raise ValueError(f"Input transform should be num_images x 8 or 1 x 8, got {list(transforms)} for "
                         f"{images[0]} images")
    if min(ctx.value(2)) <= 0:
        raise ValueError(f"output dimensions must be positive, got {ctx.value(2).tolist()}")
    for name, known in _MODES.items():
        if ctx.attrs[name] not in known:
            raise ValueError(f"{name} must be one of {', '.join(k.decode() for k in known)}, got "
                             f"{ctx.attrs[name].decode()!r}")
    if not min(images[1:3]):
        raise ValueError(f"input image must be of non-zero size, got {list(images)}")


def _numpy(ctx: Any, images: np.ndarray, transforms: np.ndarray, size: np.ndarray) -> np.ndarray:
    return arrays.transformed(images, transforms, tuple(size.tolist()), ctx.attrs["interpolation"] == b"BILINEAR",
                              ctx.attrs["fill_mode"].decode())


@kernel("images: dtype, transforms: float, output_shape: int32 -> transformed_images: dtype", shape=_shape,
        numpy=_numpy, launch=kernels.transform, validate=_validate, values=("output_shape",),
        dtype="{uint8, int32, int64, half, bfloat16, float, double}", interpolation="string",
        fill_mode="string = 'CONSTANT'")
def ImageProjectiveTransformV2() -> None:
    """Apply projective transforms (a0, a1, a2, b0, b1, b2, c0, c1) to images.

    Pixel (x, y) is taken from ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), where k = c0 x + c1 y + 1.
    """


@ImageProjectiveTransformV2.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    images, transforms, _ = op.inputs
    inverse = matrices_to_flat_transforms(raw.MatrixInverse(flat_transforms_to_matrices(transforms)))
    return [ImageProjectiveTransformV2(dy, inverse, shape(images)[1:3], **{
        name: op.attrs[name] for name in _MODES}), None, None]


# Transforms as vectors and as matrices

def _vectors(transforms: Any) -> Tensor:
    """Return transforms [count, 8] or [8] as [count or 1, 8]. Raises TypeError for another rank."""
    tensor = convert_to_tensor(transforms, dtype="float32", name="transforms")
    if tensor.static is None or len(tensor.static) not in (1, 2):
        raise TypeError(f"Transforms should have rank 1 or 2, but got shape {tensor.shape}.")
    return expand_dims(tensor, 0) if len(tensor.static) == 1 else tensor


@public("contrib.image.flat_transforms_to_matrices")
def flat_transforms_to_matrices(transforms: Any) -> Tensor:
    """Return projective transforms [count, 8] as matrices [count, 3, 3], whose last element is 1.

    transforms: also one of shape [8]; raises ValueError for other sizes.

    >>> sess.run(tf.contrib.image.flat_transforms_to_matrices([1.0, 0.0, 5.0, 0.0, 1.0, 7.0, 0.0, 0.0]))
    array([[[1., 0., 5.],
            [0., 1., 7.],
            [0., 0., 1.]]], dtype=float32)
    """
    with name_scope(None, "flat_transforms_to_matrices"):
        tensor = _vectors(transforms)
        if (tensor.static or ())[1] not in (8, None):
            raise ValueError(f"Transforms should be 3D and 2D tensors of 8 numbers, got shape {tensor.shape}.")
        whole = concat([reshape(tensor, [-1, 8]), ones([shape(tensor)[0], 1])], 1)
        return reshape(whole, [-1, 3, 3])


@public("contrib.image.matrices_to_flat_transforms")
def matrices_to_flat_transforms(transform_matrices: Any) -> Tensor:
    """Return matrices as projective transforms [count, 8]: divided by their last element, which is left out.

    transform_matrices: [count, 3, 3] or [3, 3]; raises ValueError for other ranks.

    >>> sess.run(tf.contrib.image.matrices_to_flat_transforms([[2.0, 0.0, 4.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]))
    array([[1., 0., 2., 0., 1., 0., 0., 0.]], dtype=float32)
    """
    with name_scope(None, "matrices_to_flat_transforms"):
        matrices = convert_to_tensor(transform_matrices, dtype="float32", name="transform_matrices")
        if matrices.static is None or len(matrices.static) not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, but got shape {matrices.shape}.")
        flat = reshape(matrices, [-1, 9])
        return (flat / flat[:, 8:])[:, :8]


@public("contrib.image.compose_transforms")
def compose_transforms(*transforms: Any) -> Tensor:
    """Return the transform [count, 8] that has the effect of several ones, applied in that order.

    transforms: [count, 8] or [8] each; raises TypeError for other ranks.

    >>> shift = tf.contrib.image.translations_to_projective_transforms([3.0, 0.0])
    >>> sess.run(tf.contrib.image.compose_transforms(shift, shift))
    array([[ 1.,  0., -6.,  0.,  1.,  0.,  0.,  0.]], dtype=float32)
    """
    if not transforms:
        raise ValueError("expected one transform at least, got none")
    with name_scope(None, "compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for transform_ in transforms[1:]:
            composed = matmul(composed, flat_transforms_to_matrices(transform_))
        return matrices_to_flat_transforms(composed)


@public("contrib.image.angles_to_projective_transforms")
def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any,
                                    name: str | None = None) -> Tensor:
    """Return the transforms [count, 8] that turn images around their centers, counter-clockwise.

    angles: in radians, a scalar or [count]. image_height, image_width: in pixels. Raises TypeError for other ranks.

    >>> made = tf.contrib.image.angles_to_projective_transforms(0.0, 3.0, 5.0)
    >>> sess.run(tf.abs(made)).tolist()
    [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]
    """
    with name_scope(name, "angles_to_projective_transforms"):
        turned = convert_to_tensor(angles, dtype="float32", name="angles")
        if turned.static is None or len(turned.static) > 1:
            raise TypeError(f"Angles should have rank 0 or 1, but got shape {turned.shape}.")
        turned = reshape(turned, [-1, 1])
        cos, sin = raw.Cos(turned), raw.Sin(turned)
        wide, high = (cast(size, "float32") - 1.0 for size in (image_width, image_height))
        x, y = (wide - (cos * wide - sin * high)) / 2.0, (high - (sin * wide + cos * high)) / 2.0
        return concat([cos, -sin, x, sin, cos, y, zeros([shape(turned)[0], 2])], 1)


@public("contrib.image.translations_to_projective_transforms")
def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Tensor:
    """Return the transforms [count, 8] that move images by (dx, dy) pixels, to the right and down.

    translations: [count, 2] or [2]; raises TypeError for another rank.

    >>> sess.run(tf.contrib.image.translations_to_projective_transforms([3.0, 1.0]))
    array([[ 1.,  0., -3.,  0.,  1., -1.,  0.,  0.]], dtype=float32)
    """
    with name_scope(name, "translations_to_projective_transforms"):
        moved = _vectors(translations)
        count = shape(moved)[0]
        one, none = ones([count, 1]), zeros([count, 1])
        return concat([one, none, -moved[:, :1], none, one, -moved[:, 1:], zeros([count, 2])], 1)


# What users call

@public("contrib.image.transform")
def transform(images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None,
              name: str | None = None) -> Tensor:
    """Apply projective transforms to images; what comes from outside of an image is 0.

    images: [batch, rows, columns, channels], [rows, columns, channels] or [rows, columns]. transforms: [8] or
    [batch, 8]: (a0, a1, a2, b0, b1, b2, c0, c1) take pixel (x, y) of the result from ((a0 x + a1 y + a2) / k,
    (b0 x + b1 y + b2) / k) of the image, k = c0 x + c1 y + 1. interpolation: "NEAREST" or "BILINEAR". output_shape:
    (rows, columns), by default those of the image. Raises TypeError for other ranks.

    >>> image = tf.reshape(tf.range(6.0), [2, 3])
    >>> sess.run(tf.contrib.image.transform(image, [1, 0, 1, 0, 1, 0, 0, 0]))
    array([[1., 2., 0.],
           [4., 5., 0.]], dtype=float32)
    """
    with name_scope(name, "transform"):
        image = convert_to_tensor(images, name="images")
        if image.static is None or len(image.static) not in (2, 3, 4):
            raise TypeError(f"Images should have rank between 2 and 4, but got shape {image.shape}.")
        rank = len(image.static)
        batch = image if rank == 4 else expand_dims(image, 0) if rank == 3 else image[None, :, :, None]
        size = shape(batch)[1:3] if output_shape is None else output_shape
        made = ImageProjectiveTransformV2(batch, _vectors(transforms), size, interpolation=interpolation.upper())
        return made if rank == 4 else squeeze(made, [0] if rank == 3 else [0, 3])


def _height_and_width(images: Tensor) -> tuple[Any, Any]:
    rank = len(images.static or ())
    if rank not in (2, 3, 4):
        raise TypeError(f"Images should have rank between 2 and 4, but got shape {images.shape}.")
    sizes = shape(images)
    return sizes[max(rank - 3, 0)], sizes[max(rank - 3, 0) + 1]


@public("contrib.image.rotate")
def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Turn images by angles (in radians, counter-clockwise) around their centers; what comes from outside is 0.

    images, interpolation: as of `tf.contrib.image.transform`. angles: a scalar, or one for each image.

    >>> sess.run(tf.contrib.image.rotate([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 3.14159265 / 2))
    array([[3, 6, 9],
           [2, 5, 8],
           [1, 4, 7]], dtype=int32)
    """
    with name_scope(name, "rotate"):
        image = convert_to_tensor(images, name="images")
        return transform(image, angles_to_projective_transforms(angles, *_height_and_width(image)), interpolation)


@public("contrib.image.translate")
def translate(images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Move images by (dx, dy) pixels, to the right and down; what comes from outside is 0.

    images, interpolation: as of `tf.contrib.image.transform`. translations: [2], or [batch, 2].

    >>> sess.run(tf.contrib.image.translate([[1, 2], [3, 4]], [1, 0]))
    array([[0, 1],
           [0, 3]], dtype=int32)
    """
    with name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


describe(globals(), IMAGES)
