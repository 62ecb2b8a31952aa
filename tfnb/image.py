"""Images: `tf.image`."""
# ruff: noqa: F401, I001
from tfnb.ops.image import (
    central_crop, crop_to_bounding_box, flip_left_right, flip_up_down, pad_to_bounding_box, random_flip_left_right,
    random_flip_up_down, resize_image_with_crop_or_pad, rot90, transpose_image,
)
from tfnb.ops.image import resize_image_with_crop_or_pad as resize_with_crop_or_pad
from tfnb.ops.image import transpose_image as transpose
from tfnb.ops.image_resize import (
    ResizeMethod, resize_area, resize_bicubic, resize_bilinear, resize_image_with_pad, resize_images,
    resize_nearest_neighbor,
)
from tfnb.ops.image_resize import resize_images as resize
from tfnb.ops.random import random_crop
