"""Image codecs: JPEG, PNG, GIF and BMP to arrays of pixels, and arrays to JPEG. Pillow reads and writes them.

An array is uint8 (of a PNG with 16 bits uint16), [frames, height, width, channels]. Invalid data raises
ValueError with TensorFlow's message.
"""
from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np

from tfnb.core import indexing
from tfnb.core.lazy import lazy_module

pil = lazy_module("PIL.Image")

_STARTS = {b"\xff\xd8\xff": "JPEG", b"\x89PN": "PNG", b"GIF8": "GIF", b"BM": "BMP"}
_GRAY_PARTS = np.array([9797, 19234, 3737])        # of red, green and blue, in 1 / 32768
_IHDR_DEPTH = 24                                   # offset of a PNG's bits per sample; the color type is next
_BMP_HEAD = struct.Struct("<10xi4xii2xh")          # the start of the pixels, width, height (< 0: top first), bits
JPEG_SIDE, JPEG_MARKER = 65500, 65533 - 29          # pixels of a side; bytes of metadata, behind the name of their kind
_JFIF_DENSITY = struct.Struct(">BHH")              # unit, dots along x and y
_NOTHING: Mapping[str, Any] = {}


def kind_of(data: bytes) -> str:
    """Return "JPEG", "PNG", "GIF" or "BMP", by the first bytes. Raises ValueError for anything else."""
    if not data:
        raise ValueError("Input is empty.")
    for start, kind in _STARTS.items():
        if data.startswith(start):
            return kind
    raise ValueError("Unknown image file format. One of JPEG, PNG, GIF, BMP required.")


@contextmanager
def _reading(message: str) -> Iterator[None]:
    """Turn whatever Pillow raises for invalid data into ValueError."""
    try:
        yield
    except (OSError, SyntaxError, ValueError, IndexError, EOFError, struct.error, zlib.error,
            pil.DecompressionBombError, pil.DecompressionBombWarning) as error:     # the warning where it is an error
        raise ValueError(f"{message} ({error})") from None


def _opened(data: bytes, kind: str, message: str) -> Any:
    with _reading(message):
        return pil.open(BytesIO(data), formats=[kind])


def _pixels(image: Any, message: str, mode: str = "") -> np.ndarray:
    """Return the pixels of an open image, [height, width, channels]. mode: of Pillow; "" for that of the file."""
    with _reading(message):
        found = np.asarray(image.convert(mode) if mode not in ("", image.mode) else image)
    return found.reshape(*found.shape[:2], -1)


# ---- JPEG ------------------------------------------------------------------------------------------------------------

_BAD_JPEG = "jpeg::Uncompress failed. Invalid JPEG data or crop window."


def decode_jpeg(data: bytes, channels: int = 0, ratio: int = 1, recover: bool = False) -> np.ndarray:
    """Decode a JPEG to uint8 [height, width, channels]. channels: 1, 3, or 0: as in the file.

    ratio: 1, 2, 4 or 8, by how much the result is smaller. recover: what is missing of cut data may be gray.
    """
    if channels == 4:
        raise ValueError("JPEG does not support 4 channels")
    if ratio not in (1, 2, 4, 8):
        raise ValueError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    image = _opened(data + b"\xff\xd9" if recover else data, "JPEG", _BAD_JPEG)
    if image.mode == "CMYK" and channels == 1:
        raise ValueError(f"{_BAD_JPEG} (it has the colors CMYK)")
    mode = {0: "RGB" if image.mode == "CMYK" else image.mode, 1: "L", 3: "RGB"}[channels]
    if ratio > 1 or mode != image.mode:
        image.draft(mode, (image.width // ratio, image.height // ratio))
    return _pixels(image, _BAD_JPEG, mode)


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Return (height, width, channels) of a JPEG, by its header."""
    image = _opened(data, "JPEG", "Invalid JPEG data")
    return image.height, image.width, len(image.getbands())


def encode_jpeg(image: np.ndarray, quality: int = 95, options: Mapping[str, Any] = _NOTHING) -> bytes:
    """Encode an array [height, width, 1 or 3], uint8, as JPEG, byte for byte TensorFlow's.

    options: the attrs of EncodeJpeg, of which all but the format and the quality count. Raises ValueError for an array
    with other channels, and for a quality that is not in [0, 100]; OSError for what is too large for the format.
    """
    if not 0 <= quality <= 100:
        raise ValueError(f"quality must be in [0,100], got {quality}")
    if image.shape[2] not in (1, 3):
        raise ValueError(f"image must have 1 or 3 channels, not be of shape {list(image.shape)}")
    buffer = BytesIO()
    gray = image.shape[2] == 1
    picture = pil.fromarray(np.ascontiguousarray(image[..., 0] if gray else image))
    if max(image.shape[:2]) > JPEG_SIDE or len(options.get("xmp_metadata", b"")) > JPEG_MARKER:
        raise OSError(f"JPEG encoding failed: image of {list(image.shape)} with "
                      f"{len(options.get('xmp_metadata', b''))} bytes of XMP")
    picture.save(buffer, "JPEG", quality=quality, progressive=bool(options.get("progressive")),
                 optimize=bool(options.get("optimize_size")), dpi=(1, 1), xmp=options.get("xmp_metadata", b""),
                 subsampling=2 if options.get("chroma_downsampling", True) and not gray else 0)
    made = bytearray(buffer.getvalue())
    unit = {b"in": 1, b"cm": 2}[options.get("density_unit", b"in")]
    _JFIF_DENSITY.pack_into(made, 13, unit, *(options.get(name, 300) % 2**16 for name in ("x_density", "y_density")))
    return bytes(made)


# ---- PNG -------------------------------------------------------------------------------------------------------------

def decode_png(data: bytes, channels: int = 0, dtype: Any = np.uint8) -> np.ndarray:
    """Decode a PNG to uint8 or uint16 [height, width, channels]. channels: 1, 3, 4, or 0: as in the file."""
    bad = f"Invalid PNG data, size {len(data)}"
    image = _opened(data, "PNG", bad)
    depth, kind = data[_IHDR_DEPTH:_IHDR_DEPTH + 2]
    if depth == 16 and (dtype != np.uint8 or kind == 4 or channels == 1):
        found = _wide_png(data, image, kind, bad)
    else:
        found = _plain_png(image, channels, bad)
    found = _in_channels(found, channels, (1 << depth) - 1)       # by libpng's rule a lower depth is less than opaque
    if found.dtype != dtype:
        found = (found >> 8).astype(np.uint8) if dtype == np.uint8 else found.astype(np.uint16) * np.uint16(257)
    return found


def _plain_png(image: Any, channels: int, bad: str) -> np.ndarray:
    """Return the upper 8 bits of each sample; uint16 for gray of 16 bits."""
    clear = "transparency" in image.info
    if image.mode == "P" or (clear and channels == 4):
        return _pixels(image, bad, "RGBA" if clear else "RGB")
    found = _pixels(image, bad)
    if image.mode == "1":
        return found.astype(np.uint8) * np.uint8(255)
    return found.astype(np.uint16) if image.mode.startswith("I") else found


def _wide_png(data: bytes, image: Any, kind: int, bad: str) -> np.ndarray:
    """Return all 16 bits of each sample, for which Pillow has a mode only in gray: read as two images of 8 bits."""
    if kind == 0:
        return _plain_png(image, 0, bad)
    if kind == 4:                                  # gray and alpha, of two bytes each: as many as four of one byte
        head = data[12:_IHDR_DEPTH] + bytes([8, 6]) + data[_IHDR_DEPTH + 2:29]
        four = data[:12] + head + struct.pack(">I", zlib.crc32(head)) + data[33:]
        pairs = _pixels(_opened(four, "PNG", bad), bad).astype(np.uint16)
        return pairs[..., ::2] << 8 | pairs[..., 1::2]
    upper, lower = _pixels(image, bad), _opened(data, "PNG", bad)
    codec, extents, offset, _ = lower.tile[0][:4]
    lower.tile = [(codec, extents, offset, f"{lower.mode};16L")]             # taken for the other order of bytes
    return np.asarray(upper.astype(np.uint16) << 8 | _pixels(lower, bad))


def _in_channels(pixels: np.ndarray, channels: int, opaque: int = 255) -> np.ndarray:
    """Convert to gray, RGB or RGBA. opaque: alpha where there is none."""
    count = pixels.shape[2]
    if channels in (0, count):
        return pixels
    color, alpha = pixels[..., :count - 1 + count % 2], pixels[..., count - 1:]
    if channels == 1:
        return color if color.shape[2] == 1 else _gray(color)
    color = indexing.repeat(color, 3, 2) if color.shape[2] == 1 else color
    if channels == 3:
        return color
    alpha = np.full_like(color[..., :1], min(opaque, np.iinfo(color.dtype).max)) if count % 2 else alpha
    return np.concatenate([color, alpha], 2)


def _gray(color: np.ndarray) -> np.ndarray:
    """Convert to gray as libpng does: colors that are gray stay as they are."""
    mixed = (color.astype(np.int64) @ _GRAY_PARTS + (1 << 14 if color.dtype == np.uint16 else 0)) >> 15
    return np.asarray(mixed, color.dtype)[..., None]


# ---- GIF and BMP -----------------------------------------------------------------------------------------------------

def decode_gif(data: bytes) -> np.ndarray:
    """Decode all frames of a GIF to uint8 [frames, height, width, 3]; of a truncated one those before the cut."""
    bad, frames = "Invalid GIF data", list[np.ndarray]()
    image = _opened(data, "GIF", bad)
    while True:
        try:
            with _reading(bad):
                image.seek(len(frames))
            frames.append(_pixels(image, bad, "RGB"))
        except ValueError:
            if not frames:
                raise
            return np.stack(frames)


def decode_bmp(data: bytes, channels: int = 0) -> np.ndarray:
    """Decode a BMP that is not compressed, to uint8 [height, width, channels].

    channels: 3, 4, or 0: as in the file. Numbers of a palette are taken for gray.
    """
    if channels == 1:
        raise ValueError("`channels` must be 0, 3 or 4 for BMP, but got 1")
    if len(data) < _BMP_HEAD.size:
        raise ValueError(f"Incomplete bmp content, requires at least {_BMP_HEAD.size} bytes, got {len(data)}")
    start, width, height, bits = _BMP_HEAD.unpack_from(data)
    if width <= 0 or height == 0 or bits not in (8, 24, 32):
        raise ValueError(f"Invalid BMP data: {width} x {height} pixels of {bits} bits")
    count, rows = bits // 8, abs(height)
    row = -(-width * count // 4) * 4
    if start < _BMP_HEAD.size or len(data) - start < rows * row:
        raise ValueError("Input size should match (header_size + row_size * abs_height) but they differ by "
                         f"{len(data) - start - rows * row}")
    lines = np.frombuffer(data, np.uint8, rows * row, start).reshape(rows, row)
    pixels = lines[::-1 if height > 0 else 1, :width * count].reshape(rows, width, count)
    return _in_channels(pixels if count == 1 else pixels[..., [2, 1, 0, 3][:count]], channels)
