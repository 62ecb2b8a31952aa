"""Images as arrays, and their random transforms: shifts, rotations, shear, zoom, brightness, channels."""
from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.keras.backend.config import floatx, image_data_format

pil = lazy_module("PIL.Image")
enhance = lazy_module("PIL.ImageEnhance")
ndimage = lazy_module("scipy.ndimage", extra="scipy")
_RESAMPLE = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}


def load_img(path: Any, grayscale: bool = False, color_mode: str = "rgb", target_size: Any = None,
             interpolation: str = "nearest") -> Any:
    """Return an image of Pillow from a file.

    path: the file. grayscale: color_mode "grayscale". color_mode: "grayscale", "rgb" or "rgba". target_size: (height,
    width), or None for its own. interpolation: "nearest", "bilinear", "bicubic", "lanczos", "box" or "hamming". Raises
    ValueError for other words.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.png")
    >>> tf.keras.preprocessing.image.save_img(path, np.zeros([4, 6, 3]))
    >>> tf.keras.preprocessing.image.load_img(path, target_size=(2, 3)).size
    (3, 2)
    """
    modes = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}
    color_mode = "grayscale" if grayscale else color_mode
    if color_mode not in modes:
        raise ValueError(f'color_mode must be "grayscale", "rgb", or "rgba", got {color_mode!r}')
    if interpolation not in _RESAMPLE:
        raise ValueError(f"Invalid interpolation method {interpolation!r}: expected one of {', '.join(_RESAMPLE)}")
    image = pil.open(io.BytesIO(Path(path).read_bytes()))
    image = image if image.mode == modes[color_mode] else image.convert(modes[color_mode])
    wanted = None if target_size is None else (target_size[1], target_size[0])
    return image if wanted in (None, image.size) else image.resize(wanted, _RESAMPLE[interpolation])


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> Any:
    """Return an image of Pillow as an array of rank 3. dtype: None for floatx.

    img: the image, or an array. data_format: "channels_last" or "channels_first"; None: the default.

    >>> image = tf.keras.preprocessing.image.array_to_img(np.zeros([4, 6, 3]))
    >>> tf.keras.preprocessing.image.img_to_array(image).shape
    (4, 6, 3)
    """
    first = _first(data_format)
    x = np.asarray(img, dtype=dtype or floatx())
    if x.ndim == 2:
        return x[None] if first else x[..., None]
    if x.ndim != 3:
        raise ValueError(f"Unsupported image shape: expected rank 2 or 3, got {x.shape}")
    return x.transpose(2, 0, 1) if first else x


def array_to_img(x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None) -> Any:
    """Return an array of rank 3 as an image of Pillow.

    x: the array. data_format: "channels_last" or "channels_first"; None: the default. scale: whether its values are
    spread over [0, 255]. dtype: in which that is computed. Raises ValueError for another rank or count of channels.

    >>> tf.keras.preprocessing.image.array_to_img(np.zeros([4, 6, 3])).size
    (6, 4)
    """
    x = np.asarray(x, dtype=dtype or floatx())
    if x.ndim != 3:
        raise ValueError(f"Expected image array to have rank 3 (single image). Got array with shape: {x.shape}")
    x = x.transpose(1, 2, 0) if _first(data_format) else x
    if scale:
        x = x - x.min()
        x = x / x.max() * 255 if x.max() else x
    modes = {1: "L", 3: "RGB", 4: "RGBA"}
    if x.shape[2] not in modes:
        raise ValueError(f"Unsupported channel number: {x.shape[2]}; expected 1, 3 or 4")
    if x.shape[2] == 1 and x.max() > 255:
        return pil.fromarray(x[..., 0].astype("int32"))
    return pil.fromarray((x[..., 0] if x.shape[2] == 1 else x).astype("uint8"))


def save_img(path: Any, x: Any, data_format: str | None = None, file_format: str | None = None, scale: bool = True,
             **kwargs: Any) -> None:
    """Write an array as an image file.

    path: the file. x: the array. data_format: "channels_last" or "channels_first"; None: the default. file_format: of
    Pillow; None: by the name. scale: whether its values are spread over [0, 255]. Other arguments are Pillow's.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.png")
    >>> tf.keras.preprocessing.image.save_img(path, np.zeros([4, 6, 3]))
    >>> os.path.exists(path)
    True
    """
    image = array_to_img(x, data_format, scale)
    if image.mode == "RGBA" and (file_format in ("jpg", "jpeg") or str(path).lower().endswith((".jpg", ".jpeg"))):
        image = image.convert("RGB")
    image.save(path, format=file_format, **kwargs)


def _first(data_format: str | None) -> bool:
    found = image_data_format() if data_format is None else data_format
    if found not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {found!r}")
    return found == "channels_first"


def apply_affine_transform(x: Any, theta: float = 0, tx: float = 0, ty: float = 0, shear: float = 0, zx: float = 1,
                           zy: float = 1, row_axis: int = 0, col_axis: int = 1, channel_axis: int = 2,
                           fill_mode: str = "nearest", cval: float = 0.0, order: int = 1) -> Any:
    """Return an image, rotated, shifted, sheared and zoomed about its center.

    x: an array of rank 3. theta: degrees. tx, ty: rows and columns. shear: degrees. zx, zy: factors of rows and columns
    (below 1: larger). row_axis, col_axis, channel_axis: the axes. fill_mode: "constant" (cval), "nearest", "reflect" or
    "wrap". order: of the spline, 0 to 5.

    >>> x = np.arange(4.0).reshape(2, 2, 1)
    >>> tf.keras.preprocessing.image.apply_affine_transform(x, tx=1)[..., 0]
    array([[2., 3.],
           [2., 3.]])
    """
    matrix = np.eye(3)
    if theta:
        angle = np.deg2rad(theta)
        matrix = matrix @ [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    if tx or ty:
        matrix = matrix @ [[1, 0, tx], [0, 1, ty], [0, 0, 1]]
    if shear:
        angle = np.deg2rad(shear)
        matrix = matrix @ [[1, -np.sin(angle), 0], [0, np.cos(angle), 0], [0, 0, 1]]
    if zx != 1 or zy != 1:
        matrix = matrix @ np.diag([zx, zy, 1])
    if np.array_equal(matrix, np.eye(3)):
        return x
    center = [x.shape[axis] / 2 - 0.5 for axis in (row_axis, col_axis)]
    offset = center - matrix[:2, :2] @ center + matrix[:2, 2]
    planes = [ndimage.affine_transform(plane, matrix[:2, :2], offset, order=order, mode=fill_mode, cval=cval)
              for plane in np.moveaxis(x, channel_axis, 0)]
    return np.moveaxis(np.stack(planes), 0, channel_axis)


def random_rotation(x: Any, rg: float, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
                    fill_mode: str = "nearest", cval: float = 0.0, interpolation_order: int = 1) -> Any:
    """Return an image rotated by up to `rg` degrees.

    x: an array of rank 3. Other arguments: as of `apply_affine_transform`: row_axis, col_axis, channel_axis, fill_mode,
    cval, and interpolation_order, its order.

    >>> tf.keras.preprocessing.image.random_rotation(np.ones([3, 4, 5]), 90).shape
    (3, 4, 5)
    """
    return apply_affine_transform(x, np.random.uniform(-rg, rg), row_axis=row_axis, col_axis=col_axis,
                                  channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_shift(x: Any, wrg: float, hrg: float, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
                 fill_mode: str = "nearest", cval: float = 0.0, interpolation_order: int = 1) -> Any:
    """Return an image shifted by up to shares of its width and height, wrg and hrg.

    x: an array of rank 3. Other arguments: as of `apply_affine_transform`: row_axis, col_axis, channel_axis, fill_mode,
    cval, and interpolation_order, its order.

    >>> tf.keras.preprocessing.image.random_shift(np.ones([3, 4, 5]), 0.5, 0.5).shape
    (3, 4, 5)
    """
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(x, tx=tx, ty=ty, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
                                  fill_mode=fill_mode, cval=cval, order=interpolation_order)


def random_shear(x: Any, intensity: float, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
                 fill_mode: str = "nearest", cval: float = 0.0, interpolation_order: int = 1) -> Any:
    """Return an image sheared by up to `intensity` degrees.

    x: an array of rank 3. Other arguments: as of `apply_affine_transform`: row_axis, col_axis, channel_axis, fill_mode,
    cval, and interpolation_order, its order.

    >>> tf.keras.preprocessing.image.random_shear(np.ones([3, 4, 5]), 20).shape
    (3, 4, 5)
    """
    return apply_affine_transform(x, shear=np.random.uniform(-intensity, intensity), row_axis=row_axis,
                                  col_axis=col_axis, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval,
                                  order=interpolation_order)


def random_zoom(x: Any, zoom_range: Any, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
                fill_mode: str = "nearest", cval: float = 0.0, interpolation_order: int = 1) -> Any:
    """Return an image zoomed by factors in zoom_range, a pair (else ValueError).

    x: an array of rank 3. Other arguments: as of `apply_affine_transform`: row_axis, col_axis, channel_axis, fill_mode,
    cval, and interpolation_order, its order.

    >>> tf.keras.preprocessing.image.random_zoom(np.ones([3, 4, 5]), (0.5, 1.5)).shape
    (3, 4, 5)
    """
    if len(zoom_range) != 2:
        raise ValueError(f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}")
    zx, zy = np.random.uniform(zoom_range[0], zoom_range[1], 2) if tuple(zoom_range) != (1, 1) else (1, 1)
    return apply_affine_transform(x, zx=zx, zy=zy, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis,
                                  fill_mode=fill_mode, cval=cval, order=interpolation_order)


def apply_channel_shift(x: Any, intensity: float, channel_axis: int = 0) -> Any:
    """Return an image with `intensity` added, within its own range of values. channel_axis: accepted.

    x: an array.

    >>> tf.keras.preprocessing.image.apply_channel_shift(np.array([[[1.0, 3.0]]]), 1.0)
    array([[[2., 3.]]])
    """
    return np.clip(x + intensity, x.min(), x.max())


def random_channel_shift(x: Any, intensity_range: float, channel_axis: int = 0) -> Any:
    """Return an image with up to intensity_range added, within its own range of values. channel_axis: accepted.

    x: an array.

    >>> tf.keras.preprocessing.image.random_channel_shift(np.ones([3, 4, 5]), 1.0).shape
    (3, 4, 5)
    """
    return apply_channel_shift(x, np.random.uniform(-intensity_range, intensity_range), channel_axis)


def apply_brightness_shift(x: Any, brightness: float) -> Any:
    """Return an image of another brightness, a factor. x: an array of rank 3.

    >>> x = np.array([[[0.0], [100.0]], [[200.0], [50.0]]])
    >>> tf.keras.preprocessing.image.apply_brightness_shift(x, 0.5).max()
    127.0
    """
    return img_to_array(enhance.Brightness(array_to_img(x)).enhance(brightness))


def random_brightness(x: Any, brightness_range: Any) -> Any:
    """Return an image of a brightness in brightness_range, a pair (else ValueError). x: an array of rank 3.

    >>> tf.keras.preprocessing.image.random_brightness(np.ones([4, 5, 3]), (0.5, 1.5)).shape
    (4, 5, 3)
    """
    if len(brightness_range) != 2:
        raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
    return apply_brightness_shift(x, np.random.uniform(*brightness_range))
