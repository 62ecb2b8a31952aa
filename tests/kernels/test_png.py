from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from tfnb.kernels.arrays.png import encode_png


def decode(png: bytes) -> tuple[tuple, np.ndarray]:
    """(header fields, raw rows) of a PNG, by its specification; all checksums are looked at."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, place = {}, 8
    while place < len(png):
        size, kind = struct.unpack(">I4s", png[place:place + 8])
        body = png[place + 8:place + 8 + size]
        assert struct.unpack(">I", png[place + 8 + size:place + 12 + size])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        place += 12 + size
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    header = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    return header, np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(header[1], -1)


@pytest.mark.parametrize("channels, color", [(1, 0), (2, 4), (3, 2), (4, 6)])
def test_bytes(channels, color):
    image = np.random.default_rng(0).integers(0, 256, (5, 7, channels), np.uint8)
    header, rows = decode(encode_png(image))
    assert header == (7, 5, 8, color, 0, 0, 0)
    assert not rows[:, 0].any()
    assert np.array_equal(rows[:, 1:].reshape(5, 7, channels), image)


def test_words_are_big_endian():
    header, rows = decode(encode_png(np.array([[[0x1234]]], np.uint16)))
    assert header == (1, 1, 16, 0, 0, 0, 0)
    assert rows.tolist() == [[0, 0x12, 0x34]]


def test_a_strided_image():
    image = np.arange(24, dtype=np.uint8).reshape(4, 6, 1)[::2, ::3]
    assert decode(encode_png(image))[1][:, 1:].tolist() == [[0, 3], [12, 15]]


@pytest.mark.parametrize("image", [np.zeros((2, 2), np.uint8), np.zeros((2, 2, 5), np.uint8), np.zeros((2, 2, 1))])
def test_what_is_no_image(image):
    with pytest.raises(ValueError, match="no PNG can be made"):
        encode_png(image)


def test_tensorflow_decodes_it(oracle):
    image = np.random.default_rng(0).integers(0, 256, (9, 4, 3), np.uint8)
    assert np.array_equal(oracle("result = tf.Session().run(tf.image.decode_png(png))", png=encode_png(image)), image)
