"""PNG encoder, for image summaries and fetched images."""
from __future__ import annotations

import struct
import zlib

import numpy as np

_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}            # channels -> the format's number: gray, gray+alpha, RGB, RGBA
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def encode_png(image: np.ndarray, compression: int = -1) -> bytes:
    """Encode an array [height, width, channels], uint8 or uint16, 1 to 4 channels, as PNG. Raises ValueError else.

    compression: 0 (none) to 9, or -1: what zlib takes for a good one.
    """
    if image.ndim != 3 or image.shape[2] not in _COLOR_TYPES or image.dtype not in (np.uint8, np.uint16):
        raise ValueError(f"no PNG can be made of {image.dtype} numbers of shape {image.shape}")
    height, width, channels = image.shape
    rows = image.astype(image.dtype.newbyteorder(">")).reshape(height, -1).view(np.uint8)
    filtered = np.concatenate([np.zeros((height, 1), np.uint8), rows], 1)        # each row begins with its filter: none
    header = struct.pack(">IIBBBBB", width, height, 8 * image.itemsize, _COLOR_TYPES[channels], 0, 0, 0)
    data = zlib.compress(filtered.tobytes(), compression)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
