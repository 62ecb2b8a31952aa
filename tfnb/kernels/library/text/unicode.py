"""UTF-8 to code points and code points to UTF-8, UTF-16-BE and UTF-32-BE, for all strings in one buffer (spans.py).

Malformed bytes are found by maximal subparts (Unicode 15, section 3.9).
"""
from __future__ import annotations

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, int32, int64, uint8
from tfnb.kernels.library.text.spans import cut

WIDTHS = {"utf-8": 1, "utf-16-be": 2, "utf-32-be": 4}          # the least bytes of a character


def sequence(text: Array, at: int, stop: int) -> tuple[int, int]:
    """Return the code point that begins at a byte, -1 for a malformed one, and how many bytes it has."""
    code, size, left, least, most = int(text[at]), 1, 0, 0x80, 0xBF
    if code >= 0x80:
        lead = code
        code = -1
        if lead >= 0xC2 and lead <= 0xDF:
            left, code = 1, lead & 0x1F
        elif lead >= 0xE0 and lead <= 0xEF:
            left, code = 2, lead & 0x0F
            least = 0xA0 if lead == 0xE0 else 0x80                       # no longer form than need be
            most = 0x9F if lead == 0xED else 0xBF                        # no surrogates
        elif lead >= 0xF0 and lead <= 0xF4:
            left, code = 3, lead & 0x07
            least = 0x90 if lead == 0xF0 else 0x80
            most = 0x8F if lead == 0xF4 else 0xBF                        # up to U+10FFFF
    while left > 0:
        byte = 0
        if at + size < stop:
            byte = int(text[at + size])
        if byte >= least and byte <= most:
            code = code << 6 | byte & 0x3F
            size += 1
            left -= 1
        else:
            code, left = -1, 0
        least, most = 0x80, 0xBF
    return code, size


@kernel_function
def decode_utf8(text: Array, begins: Array, splits: Array, codes: Array, places: Array, found: Array, count: int,
                substitute: int, controls: int, item: int) -> None:
    """Write the code points of all strings, where in its string each begins, and the row splits.

    substitute: what replaces malformed bytes, and control characters if `controls`; -1 leaves them out.
    found: how many there are, how many of these are malformed, how many replaced.
    """
    made, malformed, replaced = 0, 0, 0
    splits[0] = int64(0)
    for i in range(count):
        start, stop = int(begins[i]), int(begins[i + 1])
        at = start
        while at < stop:
            code, size = sequence(text, at, stop)
            if code < 0:
                malformed += 1
            if code < 0 or controls > 0 and code <= 0x1F:
                code = substitute
                replaced += 1
            if code >= 0:
                codes[made] = int32(code)
                places[made] = int64(at - start)
                made += 1
            at += size
        splits[i + 1] = int64(made)
    found[0], found[1], found[2] = int64(made), int64(malformed), int64(replaced)


def decoded(text: np.ndarray, begins: np.ndarray, substitute: int,
            controls: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, int]:
    """Return row splits (int64), code points (int32), the byte of its string at which each begins (int64), the number
    of malformed sequences and that of replaced ones.

    >>> decoded(np.frombuffer("é!".encode(), np.uint8), np.array([0, 2, 3]), 63, False)
    (array([0, 1, 2]), array([233,  33], dtype=int32), array([0, 0]), 0, 0)
    """
    count = len(begins) - 1
    splits, found = np.empty(count + 1, np.int64), np.empty(3, np.int64)
    codes, places = np.empty(len(text), np.int32), np.empty(len(text), np.int64)
    decode_utf8.run(1, text, begins, splits, codes, places, found, count, substitute, int(controls))
    made, malformed, replaced = found.tolist()
    return splits, codes[:made], places[:made], malformed, replaced


def written(text: Array, start: int, code: int, width: int) -> int:
    """Write a code point in the encoding of WIDTHS; return the byte after it."""
    at = start
    if width == 4:
        text[at] = uint8(0)
        text[at + 1] = uint8(code >> 16)
        text[at + 2] = uint8(code >> 8 & 0xFF)
        text[at + 3] = uint8(code & 0xFF)
        at += 4
    elif width == 2:
        unit = code
        if code > 0xFFFF:
            lead = 0xD7C0 + (code >> 10)
            text[at] = uint8(lead >> 8)
            text[at + 1] = uint8(lead & 0xFF)
            at += 2
            unit = 0xDC00 + (code & 0x3FF)
        text[at] = uint8(unit >> 8)
        text[at + 1] = uint8(unit & 0xFF)
        at += 2
    else:
        left = 0
        if code < 0x80:
            text[at] = uint8(code)
        elif code < 0x800:
            text[at], left = uint8(0xC0 | code >> 6), 1
        elif code < 0x10000:
            text[at], left = uint8(0xE0 | code >> 12), 2
        else:
            text[at], left = uint8(0xF0 | code >> 18), 3
        at += 1
        while left > 0:
            left -= 1
            text[at] = uint8(0x80 | code >> 6 * left & 0x3F)
            at += 1
    return at


@kernel_function
def encode_codes(codes: Array, splits: Array, text: Array, ends: Array, count: int, width: int, item: int) -> None:
    """Write the strings of rows of code points one after another, and where each ends."""
    at = 0
    for i in range(count):
        for k in range(int(splits[i]), int(splits[i + 1])):
            at = written(text, at, int(codes[k]), width)
        ends[i + 1] = int64(at)


def encoded(codes: np.ndarray, splits: np.ndarray, codec: str) -> list[bytes]:
    """Return rows of valid code points as strings. codec: one of WIDTHS.

    >>> encoded(np.array([233, 33], np.int32), np.array([0, 1, 2]), "utf-16-be")
    [b'\\x00\\xe9', b'\\x00!']
    """
    count = len(splits) - 1
    text, ends = np.empty(4 * len(codes), np.uint8), np.zeros(count + 1, np.int64)
    encode_codes.run(1, codes, splits, text, ends, count, WIDTHS[codec])
    return cut(text[:ends[-1]].tobytes(), ends[:-1], ends[1:])
