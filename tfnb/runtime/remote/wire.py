"""Requests and responses of runs on the wire: large values are copied once on their way into a message."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType, as_dtype
from tfnb.graph.formats.protos import make_ndarray, make_tensor_proto
from tfnb.proto.varints import read_varint, varint

# (field number << 3) | 2: length-delimited. The numbers are those of master.proto and tensor.proto.
FEED_OF_STEP, FEED_OF_CALLABLE, NAME, TENSOR, CONTENT = (n << 3 | 2 for n in (2, 3, 1, 2, 4))
SMALL = 4096            # bytes: below, protobuf's own copies cost less than the parts

Part = bytes | memoryview


def step_request(head: bytes, feeds: Iterable[tuple[str, DType, np.ndarray]]) -> bytes:
    """Return a serialized RunStepRequest: all but its feeds (`head`), and the feeds."""
    parts: list[Part] = [head]
    for name, dtype, value in feeds:
        tensor = _tensor(value, dtype)
        named = name.encode()
        inner = [_key(NAME, len(named)), named, _key(TENSOR, _size(tensor)), *tensor]
        parts += [_key(FEED_OF_STEP, _size(inner)), *inner]
    return b"".join(parts)


def callable_request(head: bytes, feeds: Iterable[tuple[DType, np.ndarray]]) -> bytes:
    """Return a serialized RunCallableRequest: all but its feeds (`head`), and the feeds."""
    parts: list[Part] = [head]
    for dtype, value in feeds:
        tensor = _tensor(value, dtype)
        parts += [_key(FEED_OF_CALLABLE, _size(tensor)), *tensor]
    return b"".join(parts)


def value_of(tensor: Any) -> np.ndarray:
    """Return the value in a TensorProto, an array of the caller's own."""
    if tensor.tensor_content and as_dtype(tensor.dtype).name == "string":
        return _strings(tensor.tensor_content, [dim.size for dim in tensor.tensor_shape.dim])
    made = make_ndarray(tensor)
    return made if made.flags.writeable else made.copy()


def _strings(content: bytes, shape: Sequence[int]) -> np.ndarray:
    """Return the strings that servers pack as all lengths (varints) and then all bytes."""
    made, at = np.empty(prod(shape), object), 0
    lengths = []
    for _ in range(made.size):
        length, at = read_varint(content, at)
        lengths.append(length)
    for i, length in enumerate(lengths):
        made[i] = content[at:at + length]
        at += length
    return made.reshape(shape)


def _tensor(value: np.ndarray, dtype: DType) -> list[Part]:
    """Return the parts of a serialized TensorProto."""
    if value.nbytes < SMALL or not dtype.is_numpy_compatible or dtype.name in ("string", "bool") or dtype.is_quantized:
        return [make_tensor_proto(value, dtype).SerializeToString()]
    head = make_tensor_proto(np.empty(0, value.dtype), dtype)
    del head.tensor_shape.dim[:]
    for n in value.shape:
        head.tensor_shape.dim.add(size=n)
    content = memoryview(np.ascontiguousarray(value, value.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data)
    return [head.SerializeToString(), _key(CONTENT, content.nbytes), content]


def _size(parts: Sequence[Part]) -> int:
    return sum(part.nbytes if isinstance(part, memoryview) else len(part) for part in parts)


def _key(tag: int, length: int) -> bytes:
    """Return a field's tag and length."""
    return varint(tag) + varint(length)
