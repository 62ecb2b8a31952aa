"""Reading scalars out of serialized Summary messages, many at a time, without a protobuf library.

The steps of one loop make messages of one layout: the same tags in the same order, where only the four bytes of each
value differ. So the layout is read once and the values of a batch are columns of a byte matrix.
"""
from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import numpy as np

VALUE, TAG, SIMPLE_VALUE = 1, 1, 2        # field numbers of Summary.value, Value.tag and Value.simple_value
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """The bytes are no protocol-buffer message."""


def scalar_layout(data: bytes) -> tuple[list[tuple[str, int]], bool]:
    """The tag of each scalar in a serialized Summary and where its four bytes (little-endian float32) stand.

    And whether it holds more: histograms, images and the like. Raises WireError if `data` is not a message.
    """
    found = [_value(data, begin, end) for field, kind, begin, end in _fields(data, 0, len(data))
             if field == VALUE and kind == BYTES]
    scalars = [(tag, place) for tag, place in found if place >= 0]
    return scalars, len(scalars) < len(found)


def _value(data: bytes, begin: int, end: int) -> tuple[str, int]:
    tag, place = "", -1
    for field, kind, start, stop in _fields(data, begin, end):
        if field == TAG and kind == BYTES:
            tag = data[start:stop].decode("utf-8", "replace")
        elif field == SIMPLE_VALUE and kind == FIXED32:
            place = start
    return tag, place


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(field number, wire type, first byte, byte after the last) of each field between two positions."""
    while at < end:
        key, at = _varint(data, at, end)
        kind, size = key & 7, 0
        if kind == BYTES:
            size, at = _varint(data, at, end)
        elif kind == VARINT:
            size = _varint(data, at, end)[1] - at
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
        else:
            raise WireError(f"wire type {kind} at byte {at}")
        if at + size > end:
            raise WireError(f"field of {size} bytes at byte {at} of {end}")
        yield key >> 3, kind, at, at + size
        at += size


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    result = shift = 0
    while at < end and shift < 64:
        byte = data[at]
        at, result, shift = at + 1, result | (byte & 127) << shift, shift + 7
        if byte < 128:
            return result, at
    raise WireError(f"number without an end at byte {at}")


Column = tuple[str, "np.ndarray", "np.ndarray"]


def read_scalars(messages: Sequence[bytes], rich: list[int] | None = None) -> list[Column]:
    """(tag, indices of the messages that have it, float32 values) for the scalars of a batch of Summary messages.

    What is no Summary is passed over. A tag may come several times, for messages of different layouts. rich: takes the
    indices of the messages that hold more than scalars.
    """
    sizes = list(map(len, messages))
    found = rich if rich is not None else []
    if len(set(sizes)) == 1:
        return list(_columns(messages, np.arange(len(messages)), found))
    by_size: dict[int, list[int]] = {}
    for index, size in enumerate(sizes):
        by_size.setdefault(size, []).append(index)
    return [column for indices in by_size.values() for column in _columns(messages, np.array(indices), found)]


def _columns(messages: Sequence[bytes], rest: np.ndarray, rich: list[int]) -> Iterator[Column]:
    """The columns of the messages with these indices, which have one size."""
    while len(rest):
        layout, more = _layout_or_none(messages[rest[0]])
        chosen = messages if len(rest) == len(messages) else [messages[i] for i in rest.tolist()]
        table = np.frombuffer(b"".join(chosen), np.uint8).reshape(len(rest), -1)
        equal = table == table[0]
        for _, place in layout:
            equal[:, place:place + 4] = True
        alike = equal.all(axis=1)
        taken = rest[alike]
        if more:
            rich += taken.tolist()
        for tag, place in layout:
            yield tag, taken, np.ascontiguousarray(table[alike, place:place + 4]).view("<f4")[:, 0]
        rest, few = rest[~alike], len(taken) * 4 < len(rest)
        if few:                                  # other bytes differ too (histograms): no use to go on in batches
            yield from _each(messages, rest, rich)
            return


def _layout_or_none(data: bytes) -> tuple[list[tuple[str, int]], bool]:
    try:
        return scalar_layout(data)
    except WireError:
        return [], False


def _each(messages: Sequence[bytes], indices: np.ndarray, rich: list[int]) -> Iterator[Column]:
    for index in indices:
        layout, more = _layout_or_none(messages[index])
        if more:
            rich.append(int(index))
        for tag, place in layout:
            yield tag, np.array([index]), np.array(struct.unpack_from("<f", messages[index], place), np.float32)
