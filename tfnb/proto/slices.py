"""Rectangular parts of tensors: as messages, as the text of a save op, as keys of a checkpoint's table."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tfnb.core.lazy import lazy_module

_messages = lazy_module("tfnb.proto.tensor_slice_pb2")

Extent = tuple[int, int] | None                    # start and length; None: the whole dimension
Slice = tuple[Extent, ...]
Shape = tuple[int, ...]


def read_spec(text: str) -> tuple[Shape, Slice]:
    """The full shape and the part that "10 4 0,5:-" names: rows 0...4 of [10, 4]. Raises ValueError."""
    *sizes, extents = text.split(" ")
    if not all(s.isdecimal() for s in sizes):
        raise ValueError(f"a slice is '<sizes> <start,length or - of each dimension, with : between>', not {text!r}")
    shape = tuple(map(int, sizes))
    parts: list[Extent] = []
    for part in extents.split(":"):
        start, comma, length = part.partition(",")
        if part != "-" and not (comma and start.isdecimal() and length.isdecimal()):
            raise ValueError(f"{part!r} is no extent of a slice, in {text!r}")
        parts.append(None if part == "-" else (int(start), int(length)))
    if len(parts) != len(shape):
        raise ValueError(f"the slice {text!r} has {len(parts)} extents for {len(shape)} dimensions")
    if not inside(shape, tuple(parts)):
        raise ValueError(f"the slice {text!r} is not inside its shape")
    return shape, tuple(parts)


def inside(shape: Shape, part: Slice) -> bool:
    """Return whether the slice fits the shape."""
    return len(part) == len(shape) and all(e is None or (e[0] >= 0 and e[1] >= 0 and e[0] + e[1] <= n)
                                           for e, n in zip(part, shape, strict=True))


def extents(shape: Shape, part: Slice) -> list[tuple[int, int]]:
    """Start and length in every dimension."""
    return [(0, n) if e is None else e for e, n in zip(part, shape, strict=True)]


def shape_of(shape: Shape, part: Slice) -> Shape:
    """The shape of a part."""
    return tuple(length for _, length in extents(shape, part))


def is_full(shape: Shape, part: Slice) -> bool:
    """Return whether the part is the whole tensor."""
    return extents(shape, part) == [(0, n) for n in shape]


def common(shape: Shape, a: Slice, b: Slice) -> tuple[tuple[slice, ...], tuple[slice, ...]] | None:
    """Return where two parts overlap, as indices into the first and into the second; None where they don't."""
    in_a, in_b = [], []
    for (start_a, n), (start_b, m) in zip(extents(shape, a), extents(shape, b), strict=True):
        low, high = max(start_a, start_b), min(start_a + n, start_b + m)
        if low >= high:
            return None
        in_a.append(slice(low - start_a, high - start_a))
        in_b.append(slice(low - start_b, high - start_b))
    return tuple(in_a), tuple(in_b)


def volume(index: Sequence[slice]) -> int:
    """Count the elements that an index selects."""
    return math.prod(s.stop - s.start for s in index)


def to_message(part: Slice) -> Any:
    """The TensorSliceProto of a part."""
    made = _messages.TensorSliceProto()
    for extent in part:
        added = made.extent.add()
        if extent is not None:
            added.start, added.length = extent
    return made


def from_message(message: Any) -> Slice:
    """The part that a TensorSliceProto names."""
    return tuple((e.start, e.length) if e.WhichOneof("has_length_hack") else None for e in message.extent)


# ---- keys: an encoding of names and numbers that sorts as they do ----------------------------------------------------

def _number(value: int) -> bytes:
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(digits)]) + digits


def _string(text: bytes) -> bytes:
    return b"".join(_ESCAPED.get(byte, bytes([byte])) for byte in text) + b"\x00\x01"


_ESCAPED = {0: b"\x00\xff", 255: b"\xff\x00"}


def _signed(value: int) -> bytes:
    size = 1                                       # as many first bits are ones as there are bytes
    while not -(1 << 7 * size - 1) <= value < 1 << 7 * size - 1:
        size += 1
    head = ((1 << size) - 1) << 7 * size
    return ((value & (1 << 8 * size) - 1) ^ head).to_bytes(size, "big")


def key(name: str, part: Slice) -> bytes:
    """The key under which a part of the tensor `name` is stored."""
    made = _number(0) + _string(name.encode()) + _number(len(part))
    for extent in part:
        start, length = (0, -1) if extent is None else extent
        made += _signed(start) + _signed(length)
    return made
