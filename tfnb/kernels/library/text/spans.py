"""Strings as one buffer: where each begins, and spans of the buffer as strings."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def joined(texts: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of strings, one string after another, and where each begins, with the end of the last (int64).

    >>> joined([b"ab", b"", b"c"])
    (array([97, 98, 99], dtype=uint8), array([0, 2, 2, 3]))
    """
    begins = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=begins[1:])
    return np.frombuffer(bytearray().join(texts), np.uint8), begins


def cut(text: bytes, starts: np.ndarray, stops: np.ndarray) -> list[bytes]:
    """Return the spans of a buffer as strings.

    >>> cut(b"a,bc", np.array([0, 2]), np.array([1, 4]))
    [b'a', b'bc']
    """
    return [text[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]


def row_indices(counts: np.ndarray) -> np.ndarray:
    """Return the places (row, column) of elements in order, `counts` of them in each row: int64 [elements, 2].

    >>> row_indices(np.array([2, 0, 1])).tolist()
    [[0, 0], [0, 1], [2, 0]]
    """
    made = np.empty((int(counts.sum()), 2), np.int64)
    made[:, 0] = np.repeat(np.arange(len(counts)), counts)
    made[:, 1] = np.arange(len(made)) - np.repeat(np.cumsum(counts) - counts, counts)
    return made
