"""Protocol buffers' wire format: the fields of a serialized message one by one, by their descriptors.

Reading the bytes themselves, not through a message, tells a zero that is there from a field that is absent, and needs
no class for the message.
"""
from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tfnb.proto.varints import read_varint, varint

VARINT, FIXED64, BYTES, GROUP, END, FIXED32 = range(6)
_SIZES = {FIXED64: 8, FIXED32: 4}


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of field: its wire type, the names of NumPy dtypes that hold it, and its value of and to what is read.

    What is read is an integer where the wire type is VARINT, else bytes.
    """

    wire: int
    dtypes: tuple[str, ...]
    decode: Callable[[Any], Any]
    encode: Callable[[Any], Any]


def _signed(bits: int) -> Callable[[int], int]:
    half, mask = 1 << bits - 1, (1 << bits) - 1
    return lambda word: ((word & mask) ^ half) - half


def _zigzag(bits: int) -> Callable[[int], int]:
    mask = (1 << bits) - 1
    return lambda word: (word & mask) >> 1 ^ -(word & 1)


def _struct(form: str) -> tuple[Callable[[bytes], Any], Callable[[Any], bytes]]:
    return lambda data: struct.unpack(form, data)[0], lambda value: struct.pack(form, value)


_SIGNED64, _SIGNED32, _LONG, _INT = (1 << 64) - 1, _signed(32), ("int64",), ("int32", "int64")
_UINT, _ULONG = ("uint32", "uint64"), ("uint64",)
_INT_KIND = Kind(VARINT, _INT, _SIGNED32, lambda value: int(value) & _SIGNED64)
_TEXT_KIND = Kind(BYTES, ("object",), bytes, bytes)
# Numbers of types, as descriptors have them.
KINDS = {
    1: Kind(FIXED64, ("float64",), *_struct("<d")), 2: Kind(FIXED32, ("float32", "float64"), *_struct("<f")),
    3: Kind(VARINT, _LONG, _signed(64), lambda value: int(value) & _SIGNED64),
    4: Kind(VARINT, _ULONG, int, int), 5: _INT_KIND,
    6: Kind(FIXED64, _ULONG, *_struct("<Q")), 7: Kind(FIXED32, _UINT, *_struct("<I")),
    8: Kind(VARINT, ("bool",), bool, int), 9: _TEXT_KIND, 10: Kind(GROUP, ("object",), bytes, bytes),
    11: _TEXT_KIND, 12: _TEXT_KIND, 13: Kind(VARINT, _UINT, lambda word: word & 0xFFFFFFFF, int),
    14: Kind(VARINT, ("int32",), _SIGNED32, lambda value: int(value) & _SIGNED64),
    15: Kind(FIXED32, _INT, *_struct("<i")), 16: Kind(FIXED64, _LONG, *_struct("<q")),
    17: Kind(VARINT, _INT, _zigzag(32), lambda value: (int(value) << 1 ^ int(value) >> 31) & 0xFFFFFFFF),
    18: Kind(VARINT, _LONG, _zigzag(64), lambda value: (int(value) << 1 ^ int(value) >> 63) & _SIGNED64),
}


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer, and where it ends. Raises ValueError for one that does not end."""
    try:
        return read_varint(data, at)
    except (IndexError, ValueError):
        raise ValueError("an integer does not end") from None


def _read(data: bytes, at: int, wire: int, number: int) -> tuple[Any, int]:
    """Return what stands at a place, and where it ends. Raises ValueError for what is no message."""
    if wire == VARINT:
        return _read_varint(data, at)
    if wire == GROUP:
        return _read_group(data, at, number)
    if wire == BYTES:
        size, at = _read_varint(data, at)
    elif wire in _SIZES:
        size = _SIZES[wire]
    else:
        raise ValueError(f"there is no wire type {wire}")
    if at + size > len(data):
        raise ValueError(f"expected {size} bytes, got {len(data) - at}")
    return data[at:at + size], at + size


def _read_group(data: bytes, at: int, number: int) -> tuple[bytes, int]:
    begin = at
    while True:
        before = at
        tag, at = _read_varint(data, at)
        if tag & 7 == END:
            if tag >> 3 != number:
                raise ValueError(f"expected the end of group {number}, got that of {tag >> 3}")
            return data[begin:before], at
        _, at = _read(data, at, tag & 7, tag >> 3)


def read_fields(data: bytes, fields: Mapping[int, Any]) -> dict[int, list[Any]]:
    """Return the values of some fields of a serialized message, by number, in order. Raises ValueError for other bytes.

    fields: descriptors by number. Of a field that is not repeated, the last value; packed and unpacked values are both
    read. A value of another wire type than its field's is passed over, as values of unknown fields are.
    """
    found: dict[int, list[Any]] = {number: [] for number in fields}
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        if not number:
            raise ValueError("expected a field number, got 0")
        value, at = _read(data, at, wire, number)
        if number in found:
            found[number] += _values(value, wire, KINDS[fields[number].type])
    return {number: values if fields[number].is_repeated else values[-1:] for number, values in found.items()}


def _values(value: Any, wire: int, kind: Kind) -> list[Any]:
    if wire == kind.wire:
        return [kind.decode(value)]
    if wire != BYTES or kind.wire == GROUP:
        return []
    made, at = [], 0
    while at < len(value):                         # packed
        each, at = _read(value, at, kind.wire, 0)
        made.append(kind.decode(each))
    return made


def written(kind: Kind, value: Any) -> bytes:
    """Return the bytes of a value behind its tag."""
    made = kind.encode(value)
    if kind.wire == VARINT:
        return varint(made)
    return varint(len(made)) + made if kind.wire == BYTES else bytes(made)


def write_field(field: Any, values: Iterable[Any]) -> bytes:
    """Return the bytes of a field that has these values, packed where its descriptor says so."""
    kind, tag = KINDS[field.type], field.number << 3
    parts = [written(kind, value) for value in values]
    if field.is_packed and parts:
        return varint(tag | BYTES) + varint(sum(map(len, parts))) + b"".join(parts)
    end = varint(tag | END) if kind.wire == GROUP else b""
    return b"".join(varint(tag | kind.wire) + part + end for part in parts)
