"""Hue, saturation and value changed by a linear map of colors, a rotation in YIQ: `tf.contrib.image`."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import IMAGES, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.image.color import convert_image_dtype
from tfnb.ops.array.joining import stack
from tfnb.ops.array.reshape import reshape
from tfnb.ops.declaration.public import public
from tfnb.ops.math.functions import cos, sin
from tfnb.ops.random.random_ops import random_uniform
from tfnb.ops.reductions.matmul import matmul, tensordot

_TO_YIQ = np.array([[0.299, 0.596, 0.211], [0.587, -0.274, -0.523], [0.114, -0.322, 0.312]])      # of rows of RGB


@public("contrib.image.adjust_hsv_in_yiq")
def adjust_hsv_in_yiq(image: Any, delta_hue: Any = 0, scale_saturation: Any = 1, scale_value: Any = 1,
                      name: str | None = None) -> Tensor:
    """Turn the chrominance of RGB images by `delta_hue` radians, scale it, and then scale the whole color.

    image: [..., 3], floats or integers, which are taken as the part of their range and saturate. delta_hue,
    scale_saturation, scale_value: scalars; saturation is the length of chrominance (I, Q), value that of Y, I and Q. A
    linear map of colors. Raises ValueError for a last axis of another size.

    >>> sess.run(tf.contrib.image.adjust_hsv_in_yiq([[[1.0, 0.5, 0.0]]], scale_saturation=0, scale_value=0.5))
    array([[[0.2963, 0.2963, 0.2963]]], dtype=float32)
    """
    with name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = convert_to_tensor(image, name="image")
        if image.shape.ndims is not None and (not image.shape.ndims or image.shape[-1].value not in (None, 3)):
            raise ValueError(f"image must have 3 channels on its last axis, got the shape {image.shape}")
        whole = convert_image_dtype(image, dtypes.float32)
        angle = convert_to_tensor(delta_hue, dtype=dtypes.float32)
        scale = convert_to_tensor(scale_value, dtype=dtypes.float32)
        chroma = scale * convert_to_tensor(scale_saturation, dtype=dtypes.float32)
        along, across, none = chroma * cos(angle), chroma * sin(angle), scale * 0.0
        change = reshape(stack([scale, none, none, none, along, across, none, -across, along]), [3, 3])
        to, back = (convert_to_tensor(matrix, dtype=dtypes.float32) for matrix in (_TO_YIQ, np.linalg.inv(_TO_YIQ)))
        made = tensordot(whole, matmul(matmul(to, change), back), 1)
        made.set_shape(image.shape)
        return convert_image_dtype(made, image.dtype, saturate=True)


@public("contrib.image.random_hsv_in_yiq")
def random_hsv_in_yiq(image: Any, max_delta_hue: float = 0, lower_saturation: float = 1, upper_saturation: float = 1,
                      lower_value: float = 1, upper_value: float = 1, seed: int | None = None) -> Tensor:
    """Change hue, saturation and value of RGB images as adjust_hsv_in_yiq, by random amounts.

    image: as there. The hue is turned by up to max_delta_hue radians to either side; factors of saturation and value
    are drawn between lower_saturation and upper_saturation, lower_value and upper_value. Raises ValueError for a
    negative bound, or a lower one above the upper one.

    >>> sess.run(tf.contrib.image.random_hsv_in_yiq([[[0.2, 0.2, 0.2]]], lower_value=2, upper_value=2, seed=1))
    array([[[0.4, 0.4, 0.4]]], dtype=float32)
    """
    if max_delta_hue < 0:
        raise ValueError(f"max_delta_hue must be non-negative, got {max_delta_hue}")
    for what, lower, upper in (("saturation", lower_saturation, upper_saturation), ("value", lower_value, upper_value)):
        if lower < 0:
            raise ValueError(f"lower_{what} must be non-negative, got {lower}")
        if lower > upper:
            raise ValueError(f"lower_{what} must be at most upper_{what}, {upper}, got {lower}")
    with name_scope(None, "random_hsv_in_yiq", [image]):
        delta = random_uniform([], -max_delta_hue, max_delta_hue, seed=seed) if max_delta_hue else 0
        saturation, value = (lower if lower == upper else random_uniform([], lower, upper, seed=seed)
                             for lower, upper in ((lower_saturation, upper_saturation), (lower_value, upper_value)))
        return adjust_hsv_in_yiq(image, delta, saturation, value)


describe(globals(), IMAGES)
