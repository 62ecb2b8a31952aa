"""`tf.keras.preprocessing.image`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.preprocessing.generators import DirectoryIterator, ImageDataGenerator, Iterator, NumpyArrayIterator
from tfnb.keras.preprocessing.transforms import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
    array_to_img,
    img_to_array,
    load_img,
    random_brightness,
    random_channel_shift,
    random_rotation,
    random_shear,
    random_shift,
    random_zoom,
    save_img,
)

_explain(__name__)
