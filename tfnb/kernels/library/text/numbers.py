"""Decimal numbers in bytes, exactly rounded where arithmetic of doubles does that (Clinger's fast path).

    parse_floats, parse_integers    spans of bytes -> values, and how it went: PARSED, MISSING, HARD
    fixed(values, precision), decimal(values)   values -> strings
"""
from __future__ import annotations

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Static, int64, uint8, unrolled

PARSED, MISSING, HARD = 0, 1, 2              # HARD: for slower code, which may find that it is no number
POWERS = 10.0 ** np.arange(23)               # those that are doubles exactly
EXACT = 1 << 53                              # integers up to it are
DIGITS = 18                                  # that an int64 always holds
LARGE, WORD, HALF, EXTREME = 2.0 ** 63, 2.0 ** 32, 1 << 62, (1 << 63) - 1
MOST_DIGITS = 9                              # behind the point, for which 128 bits are enough
ZERO, NINE, PLUS, MINUS, POINT, SPACE, LOWER, LETTER_E, NEWLINE = 48, 57, 43, 45, 46, 32, 32, 101, 10


def digits_from(text: Array, start: int, stop: int, first: int, digits: int) -> tuple[int, int, int]:
    """Return `first` with the decimal digits from `start` on appended, their count without leading zeros, and the end.
    """
    value, count, at, going = first, digits, start, True
    while going and at < stop:
        digit = int(text[at]) - ZERO
        going = digit >= 0 and digit <= 9
        if going:
            value = value * 10 + digit
            count += 1 if value != 0 else 0
            at += 1
    return value, count, at


def is_space(code: int) -> bool:
    """Return whether a byte is a space, a tab or an end of a line."""
    return code == SPACE or (code >= 9 and code <= 13)


def trimmed(text: Array, start: int, stop: int) -> tuple[int, int]:
    """Return the span without the spaces at its ends."""
    first, end = start, stop
    while first < end and is_space(int(text[first])):
        first += 1
    while first < end and is_space(int(text[end - 1])):
        end -= 1
    return first, end


def is_missing(text: Array, start: int, stop: int, missing: Array, length: int) -> bool:
    """Return whether a span is empty, or the word that says so."""
    same = stop - start == length
    at = 0
    while same and at < length:
        same = text[start + at] == missing[at]
        at += 1
    return stop == start or same


@kernel_function(fastmath=())
def parse_floats(text: Array, starts: Array, stops: Array, missing: Array, length: int, powers: Array, values: Array,
                 states: Array, item: int) -> None:
    """Parse the span of an item as a double. missing: the word of `length` bytes for a value that is not there."""
    start, stop = int(starts[item]), int(stops[item])
    state = MISSING
    if not is_missing(text, start, stop, missing, length):
        at, end = trimmed(text, start, stop)
        state, negative = HARD, False
        if at < end and (text[at] == PLUS or text[at] == MINUS):
            negative = text[at] == MINUS
            at += 1
        whole, digits, after = digits_from(text, at, end, 0, 0)
        seen = after - at
        at, exponent = after, 0
        if at < end and text[at] == POINT:
            whole, digits, after = digits_from(text, at + 1, end, whole, digits)
            exponent = at + 1 - after
            seen += after - at - 1
            at = after
        if seen > 0 and at < end - 1 and (int(text[at]) | LOWER) == LETTER_E:
            at += 1
            down = text[at] == MINUS
            at += 1 if down or text[at] == PLUS else 0
            size, more, after = digits_from(text, at, end, 0, 0)
            seen = after - at
            at = after
            exponent = 99 if more > 2 else exponent - size if down else exponent + size
        if seen > 0 and at == end and digits <= DIGITS and whole <= EXACT and exponent >= -22 and exponent <= 22:
            value = float(whole)
            value = value / powers[-exponent if exponent < 0 else 0] * powers[exponent if exponent > 0 else 0]
            values[item] = -value if negative else value
            state = PARSED
    states[item] = state


@kernel_function
def parse_integers(text: Array, starts: Array, stops: Array, missing: Array, length: int, low: int, high: int,
                   values: Array, states: Array, item: int) -> None:
    """Parse the span of an item as an integer from `low` to `high`. missing: as of `parse_floats`."""
    start, stop = int(starts[item]), int(stops[item])
    state = MISSING
    if not is_missing(text, start, stop, missing, length):
        at, end = trimmed(text, start, stop)
        state, negative = HARD, False
        if at < end and (text[at] == PLUS or text[at] == MINUS):
            negative = text[at] == MINUS
            at += 1
        value, digits, after = digits_from(text, at, end, 0, 0)
        value = -value if negative else value
        if after > at and after == end and digits <= DIGITS and value >= low and value <= high:
            values[item] = value
            state = PARSED
    states[item] = state


def write_digits(text: Array, at: int, value: int) -> int:
    """Write an integer of at least 0; return the byte after it."""
    places, left = 1, value // 10
    while left > 0:
        places += 1
        left = left // 10
    left = value
    for k in range(places):
        text[at + places - 1 - k] = uint8(ZERO + left % 10)
        left = left // 10
    return at + places


@kernel_function
def format_integers(values: Array, text: Array, found: Array, count: int, item: int) -> None:
    """Write int64 in decimal, each before the end of a line; found: how many bytes there are."""
    at = 0
    for i in range(count):
        value = int(values[i])
        if value < 0:
            text[at] = uint8(MINUS)
            at += 1
            value = -value
        at = write_digits(text, at, value)
        text[at] = uint8(NEWLINE)
        at += 1
    found[0] = int64(at)


@kernel_function(fastmath=())
def format_fixed(values: Array, bits: Array, text: Array, found: Array, count: int, precision: Static,
                 scale: Static, item: int) -> None:
    """Write float64 as printf's %.<precision>f does (up to 9 digits), each before the end of a line.

    found: how many bytes there are; -1 if one is 2**63 or more, infinite or NaN. What is behind the point is an integer
    multiple of 2**-64, but for a rest that no tie of two numbers has: it decides nothing but the direction.
    """
    at, i = 0, 0
    while i < count:
        size = abs(float(values[i]))
        if size < LARGE:
            whole = int(size)
            high = (size - float(whole)) * WORD
            first = int(high)
            low = (high - float(first)) * WORD
            second = int(low)
            rest = (low - float(second)) * float(scale)
            tail = second * scale + int(rest)
            sum = first * scale + (tail >> 32)
            digits, left = sum >> 32, (sum & 0xFFFFFFFF) << 31 | (tail & 0xFFFFFFFF) >> 1      # in units of 2**-63
            exact = (tail & 1) == 0 and rest == 0.0
            last = whole if precision == 0 else digits
            if left > HALF or left == HALF and (not exact or last & 1 == 1):
                digits += 1
            if digits == scale:
                whole += 1
                digits = 0
            if bits[i] < 0:
                text[at] = uint8(MINUS)
                at += 1
            at = write_digits(text, at, whole)
            if precision > 0:
                text[at] = uint8(POINT)
                for k in unrolled(precision):
                    text[at + precision - k] = uint8(ZERO + digits % 10)
                    digits = digits // 10
                at += precision + 1
            text[at] = uint8(NEWLINE)
            at += 1
            i += 1
        else:
            at, i = -1, count
    found[0] = int64(at)


def fixed(values: np.ndarray, precision: int) -> list[bytes] | None:
    """Return floats as printf's %.<precision>f writes them; None for a precision above 9, or one of 2**63 or more.

    >>> fixed(np.array([0.5, -1e-7, 2.675]), 2)
    [b'0.50', b'-0.00', b'2.67']
    """
    if precision > MOST_DIGITS or not values.size:
        return None
    flat, found = values.reshape(-1).astype(np.float64), np.empty(1, np.int64)
    text = np.empty(flat.size * (precision + 22), np.uint8)
    format_fixed.run(1, flat, flat.view(np.int64), text, found, flat.size, precision=precision,
                     scale=10 ** precision)
    made = found.item()
    return None if made < 0 else text[:made - 1].tobytes().split(b"\n")


def decimal(values: np.ndarray) -> list[bytes] | None:
    """Return integers in decimal; None for one that an int64 has not, or has no negative of.

    >>> decimal(np.array([-70, 0]))
    [b'-70', b'0']
    """
    if not values.size or values.dtype.itemsize == 8 and (
            values.max() > EXTREME if values.dtype.kind == "u" else values.min() < -EXTREME):
        return None
    flat, found = values.reshape(-1).astype(np.int64), np.empty(1, np.int64)
    text = np.empty(flat.size * 21, np.uint8)
    format_integers.run(1, flat, text, found, flat.size)
    return text[:found.item() - 1].tobytes().split(b"\n")
