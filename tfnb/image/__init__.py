"""Images: `tf.image`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.image.geometry import (
    central_crop, crop_to_bounding_box, flip_left_right, flip_up_down, pad_to_bounding_box, random_flip_left_right,
    random_flip_up_down, resize_image_with_crop_or_pad, rot90, transpose_image,
)
from tfnb.image.geometry import resize_image_with_crop_or_pad as resize_with_crop_or_pad
from tfnb.image.geometry import transpose_image as transpose
from tfnb.image.boxes import (
    crop_and_resize, draw_bounding_boxes, extract_glimpse, non_max_suppression, non_max_suppression_overlaps,
    non_max_suppression_padded, non_max_suppression_with_scores, sample_distorted_bounding_box,
)
from tfnb.image.color import (
    adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_saturation, convert_image_dtype,
    grayscale_to_rgb, hsv_to_rgb, per_image_standardization, random_brightness, random_contrast, random_hue,
    random_saturation, rgb_to_grayscale, rgb_to_hsv, rgb_to_yiq, rgb_to_yuv, yiq_to_rgb, yuv_to_rgb,
)
from tfnb.image.color import per_image_standardization as per_image_whitening
from tfnb.image.detections import combined_non_max_suppression
from tfnb.image.files import (
    adjust_jpeg_quality, decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png,
    encode_jpeg, encode_png, extract_jpeg_shape, is_jpeg, random_jpeg_quality,
)
from tfnb.image.quality import (
    image_gradients, psnr, sobel_edges, ssim, ssim_multiscale, total_variation,
)
from tfnb.image.resize import (
    ResizeMethod, resize_area, resize_bicubic, resize_bilinear, resize_image_with_pad, resize_images,
    resize_nearest_neighbor,
)
from tfnb.image.resize import resize_images as resize
from tfnb.ops.nn.patches import extract_image_patches, extract_patches
from tfnb.ops.random.random_ops import random_crop

_explain(__name__)
