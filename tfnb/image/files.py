"""Image file formats: decoding of JPEG, PNG, GIF and BMP, encoding of JPEG and PNG."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import IMAGES, describe
from tfnb.core.dtypes import DType
from tfnb.core.errors import InternalError
from tfnb.core.shape import Static, compatible
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.image.color import convert_image_dtype
from tfnb.kernels.arrays import image_files as files
from tfnb.kernels.arrays.png import encode_png as png_bytes
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.math.compare import equal
from tfnb.ops.random.random_ops import random_uniform
from tfnb.ops.strings.string_ops import substr
from tfnb.variables.variable import Variable

JPEG: dict[str, Any] = {"channels": "int = 0", "ratio": "int = 1", "fancy_upscaling": "bool = true",
                        "try_recover_truncated": "bool = false", "acceptable_fraction": "float = 1",
                        "dct_method": "string = ''"}
METHODS = (b"", b"INTEGER_FAST", b"INTEGER_ACCURATE")


# Shapes

def _channels(ctx: Any) -> int | None:
    count = ctx.attrs.get("channels", 0)
    if count < 0:
        raise ValueError(f"channels must be non-negative, got {count}")
    return count or None


def _picture(ctx: Any) -> list[Static]:
    of_rank(ctx.shape(0), 0)
    return [(None, None, _channels(ctx))]


def _frames(ctx: Any) -> list[Static]:
    of_rank(ctx.shape(0), 0)
    return [(None, None, None, 3)]


def _maybe_frames(ctx: Any) -> list[Static]:
    of_rank(ctx.shape(0), 0)
    channels = _channels(ctx)
    return [None if ctx.attrs["expand_animations"] else (None, None, channels)]


def _window(ctx: Any) -> list[Static]:
    of_rank(ctx.shape(0), 0)
    given = ctx.shape(1)
    if given is not None and not compatible(given, (4,)):
        raise ValueError(f"Dimension must be 4 but is {of_rank(given, 1)[0]}")
    window = ctx.value(1)
    return [(*((None, None) if window is None else window[2:].tolist()), _channels(ctx))]


def _one_string(ctx: Any) -> list[Static]:
    for i, rank in enumerate((3, 0)[:len(ctx.op.inputs)]):
        of_rank(ctx.shape(i), rank)
    return [()]


def _strings(ctx: Any) -> list[Static]:
    shape = ctx.shape(0)
    if shape is not None and len(shape) < 3:
        raise ValueError(f"Shape must be at least rank 3 but is rank {len(shape)}")
    return [None if shape is None else shape[:-3]]


def _three(ctx: Any) -> list[Static]:
    of_rank(ctx.shape(0), 0)
    return [(3,)]


# Decoding. A ValueError here becomes the InvalidArgumentError of the op.

def _bytes(contents: Any) -> bytes:
    if contents.ndim:
        raise ValueError(f"contents must be scalar, got shape {list(contents.shape)}")
    data: bytes = contents[()]
    return data


def _decoded(op: Operation, contents: np.ndarray, channels: int = 0, dtype: DType = dtypes.uint8) -> np.ndarray:
    """[frames, height, width, channels] of a GIF, else [height, width, channels], in the range of the dtype."""
    data = _bytes(contents)
    if channels not in (0, 1, 3, 4):
        raise ValueError(f"`channels` must be 0, 1, 3 or 4 but got {channels}")
    kind = files.kind_of(data)
    if kind == "GIF" and channels not in (0, 3):
        raise ValueError(f"channels must be 0 or 3 for GIF, got {channels}")
    if (kind == "BMP") != (op.type == "DecodeBmp") and op.type != "DecodeImage":
        raise ValueError(f"Trying to decode {kind} format using {op.type} op. Use `decode_{kind.lower()}` or "
                         "`decode_image` instead.")
    if kind == "PNG":
        return _in_range(files.decode_png(data, channels, np.uint8 if dtype == dtypes.uint8 else np.uint16), dtype)
    if kind == "JPEG":
        ratio, recover = op.attrs.get("ratio", 1), op.attrs.get("try_recover_truncated", False)
        return _in_range(files.decode_jpeg(data, channels, ratio, recover), dtype)
    return _in_range(files.decode_gif(data) if kind == "GIF" else files.decode_bmp(data, channels), dtype)


def _in_range(pixels: np.ndarray, dtype: DType) -> np.ndarray:
    """Pixels as [0, 1] for floats, and in the upper bits of uint16."""
    if dtype == dtypes.float32:
        return pixels.astype(np.float32) / np.float32(np.iinfo(pixels.dtype).max)
    if dtype == dtypes.uint16 and pixels.dtype == np.uint8:
        return pixels.astype(np.uint16) * np.uint16(256)
    return pixels


def _single(pixels: np.ndarray) -> np.ndarray:
    if pixels.ndim == 4 and len(pixels) > 1:
        raise ValueError(f"Got {len(pixels)} frames, but animated gifs can only be decoded by tf.io.decode_gif or "
                         "tf.io.decode_image")
    return pixels[0] if pixels.ndim == 4 else pixels


def _jpeg(op: Operation, contents: np.ndarray) -> np.ndarray:
    method = op.attrs["dct_method"]
    if method not in METHODS:
        raise ValueError("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}, not "
                         f"{method.decode()!r}")
    return _single(_decoded(op, contents, op.attrs["channels"]))


@host("contents: string -> image: uint8", shape=_picture, **JPEG)
def DecodeJpeg(contents: np.ndarray, *, ctx: Any) -> np.ndarray:
    """Decode a JPEG (or another file, as DecodePng) to [height, width, channels]."""
    return _jpeg(ctx.op, contents)


@host("contents: string, crop_window: int32 -> image: uint8", shape=_window, **JPEG)
def DecodeAndCropJpeg(contents: np.ndarray, crop_window: np.ndarray, *, ctx: Any) -> np.ndarray:
    """Decode the part of a JPEG that begins at crop_window[:2] and has the size crop_window[2:]."""
    if crop_window.shape != (4,):
        raise ValueError(f"crop_window must have four elements, not shape {crop_window.shape}")
    pixels = _jpeg(ctx.op, contents)
    y, x, height, width = crop_window.tolist()
    if min(y, x) < 0 or min(height, width) <= 0 or y + height > pixels.shape[0] or x + width > pixels.shape[1]:
        raise ValueError("jpeg::Uncompress failed. Invalid JPEG data or crop window: "
                         f"{crop_window.tolist()} of {list(pixels.shape)}")
    return pixels[y:y + height, x:x + width].copy()


@host("contents: string -> image: dtype", shape=_picture, channels="int = 0", dtype="{uint8, uint16} = DT_UINT8")
def DecodePng(contents: np.ndarray, *, channels: int, dtype: DType, ctx: Any) -> np.ndarray:
    """Decode a PNG, or a JPEG or a GIF with one frame, to [height, width, channels]."""
    return _single(_decoded(ctx.op, contents, channels, dtype))


@host("contents: string -> image: uint8", shape=_frames)
def DecodeGif(contents: np.ndarray, *, ctx: Any) -> np.ndarray:
    """Decode the frames of a GIF to [frames, height, width, 3]; of a PNG or JPEG one."""
    pixels = _decoded(ctx.op, contents, 3)
    return pixels if pixels.ndim == 4 else pixels[None]


@host("contents: string -> image: uint8", shape=_picture, channels="int = 0")
def DecodeBmp(contents: np.ndarray, *, channels: int, ctx: Any) -> np.ndarray:
    """Decode a BMP to [height, width, channels]."""
    return _decoded(ctx.op, contents, channels)


@host("contents: string -> image: dtype", shape=_maybe_frames, channels="int = 0",
      dtype="{uint8, uint16, float} = DT_UINT8", expand_animations="bool = true")
def DecodeImage(contents: np.ndarray, *, channels: int, dtype: DType, expand_animations: bool, ctx: Any) -> np.ndarray:
    """Decode a JPEG, PNG or BMP to [height, width, channels], or the frames of a GIF (or its first)."""
    pixels = _decoded(ctx.op, contents, channels, dtype)
    return pixels if pixels.ndim == 3 or expand_animations else pixels[0]


@host("contents: string -> image_shape: output_type", shape=_three, output_type="{int32, int64} = DT_INT32")
def ExtractJpegShape(contents: np.ndarray, *, output_type: DType) -> np.ndarray:
    """Return [height, width, channels] of a JPEG, without decoding it."""
    return np.array(files.jpeg_shape(_bytes(contents)), output_type.np_dtype)


# Encoding

def _image(image: np.ndarray) -> np.ndarray:
    if image.ndim != 3 or not image.size:
        raise ValueError(f"image must be 3-dimensional and not empty: {list(image.shape)}")
    return image


@host("image: uint8 -> contents: string", shape=_one_string, format="{'', 'grayscale', 'rgb'} = ''", quality="int = 95",
      progressive="bool = false", optimize_size="bool = false", chroma_downsampling="bool = true",
      density_unit="{'in', 'cm'} = 'in'", x_density="int = 300", y_density="int = 300", xmp_metadata="string = ''")
def EncodeJpeg(image: np.ndarray, *, format: bytes, quality: int, ctx: Any) -> np.ndarray:
    """Encode an image with 1 or 3 channels as JPEG."""
    wanted = {b"": image.shape[-1:], b"grayscale": (1,), b"rgb": (3,)}[format]
    if _image(image).shape[2:] != wanted:
        raise ValueError(f"format {format.decode()!r} expects image with {wanted[0]} channels, got {list(image.shape)}")
    return _jpeg_of(ctx, image, quality, ctx.op.attrs)


def _jpeg_of(ctx: Any, *given: Any) -> np.ndarray:
    try:
        return np.array(files.encode_jpeg(*given), object)
    except OSError as error:
        raise InternalError(None, ctx.op, str(error)) from None


@host("images: uint8, quality: int32 -> contents: string", shape=_one_string)
def EncodeJpegVariableQuality(images: np.ndarray, quality: np.ndarray, *, ctx: Any) -> np.ndarray:
    """Encode an image with 1 or 3 channels as JPEG, with the quality as an input."""
    if quality.ndim:
        raise ValueError(f"quality must be scalar: {list(quality.shape)}")
    return _jpeg_of(ctx, _image(images), int(quality))


@host("image: T -> contents: string", shape=_strings, compression="int = -1", T="{uint8, uint16} = DT_UINT8")
def EncodePng(image: np.ndarray, *, compression: int) -> np.ndarray:
    """Encode images with 1 to 4 channels as PNG, one string for each of a batch."""
    if image.ndim < 3 or not image.size or image.shape[-1] > 4:
        raise ValueError("image must be at least rank 3, not empty, and have 1, 2, 3, or 4 channels, got "
                         f"{list(image.shape)}")
    if not -1 <= compression <= 9:
        raise ValueError(f"compression should be in [-1,9], got {compression}")
    made = np.empty(image.shape[:-3], object)
    for place in np.ndindex(made.shape):
        made[place] = png_bytes(image[place], compression)
    return made


for _op in (DecodeJpeg, DecodeAndCropJpeg, DecodePng, DecodeGif, DecodeBmp, DecodeImage, ExtractJpegShape, EncodeJpeg,
            EncodeJpegVariableQuality, EncodePng):
    _op.no_gradient("it deals with strings")


# What users call

def decode_jpeg(contents: Any, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
                try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = "",
                name: str | None = None) -> Tensor:
    """Decode a JPEG to uint8 [height, width, channels]; PNGs and GIFs of one frame are read too.

    channels: 1 (gray), 3 (RGB), 0: as in the file. ratio: 1, 2, 4 or 8, by how much the result is smaller.
    try_recover_truncated: what a file that is cut does not tell becomes gray. Colors are always interpolated, by the
    accurate method: docs/compatibility.md. Running it raises InvalidArgumentError for bytes that are no such picture.

    >>> image = tf.image.encode_jpeg(np.full([8, 8, 3], 100, np.uint8))
    >>> pixels = sess.run(tf.image.decode_jpeg(image, channels=3))
    >>> pixels.shape, pixels[0, 0]
    ((8, 8, 3), array([100, 100, 100], dtype=uint8))
    """
    tensor: Tensor = DecodeJpeg(contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
                                try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction,
                                dct_method=dct_method, name=name)
    return tensor


def decode_and_crop_jpeg(contents: Any, crop_window: Any, channels: int = 0, ratio: int = 1,
                         fancy_upscaling: bool = True, try_recover_truncated: bool = False,
                         acceptable_fraction: float = 1, dct_method: str = "", name: str | None = None) -> Tensor:
    """Decode a part of a JPEG. crop_window: [first row, first column, height, width]; else as `decode_jpeg`.

    >>> jpeg = tf.image.encode_jpeg(np.full([8, 16, 3], 100, np.uint8))
    >>> sess.run(tf.image.decode_and_crop_jpeg(jpeg, crop_window=[2, 2, 4, 6])).shape
    (4, 6, 3)
    """
    tensor: Tensor = DecodeAndCropJpeg(contents, crop_window, channels=channels, ratio=ratio,
                                       fancy_upscaling=fancy_upscaling, try_recover_truncated=try_recover_truncated,
                                       acceptable_fraction=acceptable_fraction, dct_method=dct_method, name=name)
    return tensor


def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Tensor:
    """Decode a PNG to uint8 or uint16 [height, width, channels]. channels: 1, 3, 4, or 0: as in the file.

    >>> png = tf.image.encode_png(np.array([[[1], [2]]], np.uint8))
    >>> sess.run(tf.image.decode_png(png)).tolist()
    [[[1], [2]]]
    """
    tensor: Tensor = DecodePng(contents, channels=channels, dtype=dtype, name=name)
    return tensor


def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """Decode the frames of a GIF to uint8 [frames, height, width, 3].

    >>> sess.run(tf.image.decode_gif(b"BM"))
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Trying to decode BMP format using DecodeGif op. Use `decode_bmp` or ...
    """
    tensor: Tensor = DecodeGif(contents, name=name)
    return tensor


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """Decode a BMP that is not compressed to uint8 [height, width, channels]. channels: 3, 4, or 0.

    >>> sess.run(tf.image.decode_bmp(b"GIF89a"))
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Trying to decode GIF format using DecodeBmp op. Use `decode_gif` or ...
    """
    tensor: Tensor = DecodeBmp(contents, channels=channels, name=name)
    return tensor


def decode_image(contents: Any, channels: int | None = None, dtype: Any = dtypes.uint8, name: str | None = None,
                 expand_animations: bool = True) -> Tensor:
    """Decode a JPEG, PNG, BMP or GIF to [height, width, channels], a GIF to [frames, height, width, 3].

    dtype: of a float the range is [0, 1], of an integer all that it has. Nothing is known of the shape before the run,
    unless expand_animations is False: then only the first frame of a GIF is read.

    >>> png = tf.image.encode_png(np.array([[[1], [2]]], np.uint8))
    >>> sess.run(tf.image.decode_image(png)).tolist()
    [[[1], [2]]]
    """
    wanted = dtypes.as_dtype(dtype)
    with name_scope(name, "decode_image"):
        direct = wanted in (dtypes.float32, dtypes.uint8, dtypes.uint16)
        image: Tensor = DecodeImage(contents, channels=channels or 0, expand_animations=expand_animations,
                                    dtype=wanted if direct else dtypes.uint16)
        return image if direct else convert_image_dtype(image, wanted)


def extract_jpeg_shape(contents: Any, output_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Return [height, width, channels] of a JPEG, without decoding it.

    >>> jpeg = tf.image.encode_jpeg(np.full([8, 16, 3], 100, np.uint8))
    >>> sess.run(tf.image.extract_jpeg_shape(jpeg))
    array([ 8, 16,  3], dtype=int32)
    """
    tensor: Tensor = ExtractJpegShape(contents, output_type=output_type, name=name)
    return tensor


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Return whether strings begin with the signature of a JPEG, bool.

    >>> jpeg = tf.image.encode_jpeg(np.full([8, 8, 3], 100, np.uint8))
    >>> sess.run(tf.image.is_jpeg(jpeg))
    True
    """
    with name_scope(name, "is_jpeg"):
        return equal(substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


def encode_jpeg(image: Any, format: str = "", quality: int = 95, progressive: bool = False, optimize_size: bool = False,
                chroma_downsampling: bool = True, density_unit: str = "in", x_density: int = 300, y_density: int = 300,
                xmp_metadata: str = "", name: str | None = None) -> Tensor:
    """Encode a uint8 image [height, width, 1 or 3] as JPEG. format: '', 'grayscale' or 'rgb', which it must be.

    >>> jpeg = sess.run(tf.image.encode_jpeg(np.full([8, 8, 3], 100, np.uint8), quality=80))
    >>> sess.run(tf.image.extract_jpeg_shape(jpeg))
    array([8, 8, 3], dtype=int32)
    """
    tensor: Tensor = EncodeJpeg(image, format=format, quality=quality, progressive=progressive,
                                optimize_size=optimize_size, chroma_downsampling=chroma_downsampling,
                                density_unit=density_unit, x_density=x_density, y_density=y_density,
                                xmp_metadata=xmp_metadata, name=name)
    return tensor


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """Encode a uint8 or uint16 image [height, width, 1 to 4] as PNG, a string (a tensor of them for a batch).

    >>> png = sess.run(tf.image.encode_png(np.array([[[1], [2]]], np.uint8)))
    >>> png[1:4]
    b'PNG'
    """
    tensor: Tensor = EncodePng(convert_to_tensor(image), compression=compression, name=name)
    return tensor


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None) -> Tensor:
    """Encode the image [height, width, 1 or 3] as JPEG of that quality (0 to 100) and decode it; of the same dtype.

    >>> image = np.full([8, 8, 3], 100, np.uint8)
    >>> sess.run(tf.image.adjust_jpeg_quality(image, 50))[0, 0]
    array([100, 100, 100], dtype=uint8)
    """
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        channels, original = image.shape.as_list()[-1], image.dtype
        image = convert_image_dtype(image, dtypes.uint8, saturate=True)
        if not isinstance(jpeg_quality, (Tensor, Variable)):
            jpeg_quality = convert_to_tensor(jpeg_quality, dtype=dtypes.int32)
        image = DecodeJpeg(EncodeJpegVariableQuality(image, jpeg_quality), channels=channels, dct_method=dct_method)
        return convert_image_dtype(image, original, saturate=True)


def random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None) -> Tensor:
    """As `adjust_jpeg_quality`, with a random quality in [min_jpeg_quality, max_jpeg_quality).

    Raises ValueError unless 0 <= min_jpeg_quality < max_jpeg_quality <= 100.

    >>> image = np.full([8, 8, 3], 100, np.uint8)
    >>> sess.run(tf.image.random_jpeg_quality(image, 50, 90))[0, 0]
    array([100, 100, 100], dtype=uint8)
    """
    if not (0 <= min_jpeg_quality <= 100 and 0 <= max_jpeg_quality <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality)


describe(globals(), IMAGES)
