"""Strings made of others byte by byte, in one buffer: without whitespace at the ends; base64 in its URL-safe alphabet.

Base64 is that of RFC 4648, section 5.
"""
from __future__ import annotations

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, int64, uint8
from tfnb.kernels.library.text.spans import cut, joined

LEAST = 64                                # strings from which kernels are quicker
LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8)
VALUES = np.full(256, 255, np.uint8)
VALUES[LETTERS] = np.arange(64)
LINE, PAD = 10, 61                        # the end of a line, "="


def is_space(byte: int) -> bool:
    """Return whether a byte is whitespace of ASCII."""
    return byte == 32 or byte >= 9 and byte <= 13


@kernel_function
def strip_span(text: Array, begins: Array, starts: Array, stops: Array, item: int) -> None:
    """Write where a string begins and ends without whitespace."""
    start, stop = int(begins[item]), int(begins[item + 1])
    going = start < stop
    while going:
        going = is_space(int(text[start]))
        if going:
            start += 1
            going = start < stop
    going = start < stop
    while going:
        going = is_space(int(text[stop - 1]))
        if going:
            stop -= 1
    starts[item], stops[item] = int64(start), int64(stop)


@kernel_function
def encode_bytes(text: Array, begins: Array, letters: Array, ends: Array, coded: Array, pad: int, item: int) -> None:
    """Write a string in base64, and the end of a line, before the end of its place."""
    at, count = int(begins[item]), int(begins[item + 1]) - int(begins[item])
    left = count % 3
    to = int(ends[item]) - 1 - count // 3 * 4 - ((4 if pad > 0 else left + 1) if left > 0 else 0)
    for k in range(count // 3):
        three = int(text[at + 3 * k]) << 16 | int(text[at + 3 * k + 1]) << 8 | int(text[at + 3 * k + 2])
        coded[to] = letters[three >> 18]
        coded[to + 1] = letters[three >> 12 & 63]
        coded[to + 2] = letters[three >> 6 & 63]
        coded[to + 3] = letters[three & 63]
        to += 4
    if left > 0:
        at += count - left
        some = int(text[at]) << 16
        if left > 1:
            some = some | int(text[at + 1]) << 8
        coded[to] = letters[some >> 18]
        coded[to + 1] = letters[some >> 12 & 63]
        to += 2
        if left > 1:
            coded[to] = letters[some >> 6 & 63]
            to += 1
        if pad > 0:
            for _ in range(3 - left):
                coded[to] = uint8(PAD)
                to += 1
    coded[to] = uint8(LINE)


@kernel_function
def decode_bytes(text: Array, begins: Array, values: Array, decoded: Array, stops: Array, wrong: Array,
                 item: int) -> None:
    """Write the bytes that a string in base64 stands for, from where it begins itself, and where they end."""
    at, stop = int(begins[item]), int(begins[item + 1])
    padding, going, length = 0, at < stop, stop - at
    while going:
        going = int(text[stop - 1]) == PAD
        if going:
            stop -= 1
            padding += 1
            going = at < stop
    bad = padding > 2 or padding > 0 and length % 4 != 0 or (stop - at) % 4 == 1
    to, held, bits = at, 0, 0
    for k in range(stop - at):
        value = int(values[int(text[at + k])])
        bad = bad or value > 63
        held = (held << 6 | value & 63) & 0xFFFF
        bits += 6
        if bits >= 8:
            bits -= 8
            decoded[to] = uint8(held >> bits & 255)
            to += 1
    stops[item] = int64(to)
    wrong[item] = uint8(1 if bad else 0)


def encoded(texts: np.ndarray, pad: bool) -> list[bytes] | None:
    """Return strings in base64; None for few, which Python encodes in less time."""
    if texts.size < LEAST or not has_compiler():
        return None
    text, begins = joined(texts)
    sizes = np.diff(begins)
    left = sizes % 3
    ends = np.cumsum(sizes // 3 * 4 + np.where(left > 0, 4 if pad else left + 1, 0) + 1)
    coded = np.empty(int(ends[-1]), np.uint8)
    encode_bytes.run(texts.size, text, begins, LETTERS, ends, coded, int(pad))
    return coded[:-1].tobytes().split(b"\n")


def decoded(texts: np.ndarray) -> list[bytes] | None:
    """Return the bytes that strings in base64 stand for; None for few, or if one is no base64."""
    if texts.size < LEAST or not has_compiler():
        return None
    text, begins = joined(texts)
    made, wrong, stops = np.empty_like(text), np.empty(texts.size, np.uint8), np.empty(texts.size, np.int64)
    decode_bytes.run(texts.size, text, begins, VALUES, made, stops, wrong)
    return None if wrong.any() else cut(made.tobytes(), begins[:-1], stops)
