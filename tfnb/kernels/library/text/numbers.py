"""Decimal numbers in bytes, exactly rounded where arithmetic of doubles does that (Clinger's fast path).

    parse_floats, parse_integers    spans of bytes -> values, and how it went: PARSED, MISSING, HARD
"""
from __future__ import annotations

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array

PARSED, MISSING, HARD = 0, 1, 2              # HARD: for slower code, which may find that it is no number
POWERS = 10.0 ** np.arange(23)               # those that are doubles exactly
EXACT = 1 << 53                              # integers up to it are
DIGITS = 18                                  # that an int64 always holds
ZERO, NINE, PLUS, MINUS, POINT, SPACE, LOWER, LETTER_E = 48, 57, 43, 45, 46, 32, 32, 101


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
