"""Tensors and sparse tensors as serialized TensorProtos, in strings; Examples written as JSON."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import DType
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import Static, merge
from tfnb.graph.formats.protos import make_ndarray, make_tensor_proto
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.composite.sparse_tensor import SparseTensor, SparseTensorValue
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import public
from tfnb.ops.sparse.maps import rows_of, stacked
from tfnb.ops.sparse.structure import Coordinates, belong, unknown_count
from tfnb.ops.strings.decoding import strings

_example = lazy_module("tfnb.proto.example_pb2")
_tensor = lazy_module("tfnb.proto.tensor_pb2")
_json = lazy_module("google.protobuf.json_format")


def _serialized(array: np.ndarray, dtype: DType) -> bytes:
    """Return the bytes of a TensorProto of an array, its elements as raw bytes where they are numbers."""
    proto = make_tensor_proto(array, dtype, packed=False) if dtype == dtypes.string else _tensor.TensorProto(
        dtype=dtype.as_datatype_enum, tensor_content=np.ascontiguousarray(array).tobytes(),
        tensor_shape=make_tensor_proto(np.zeros(array.shape, np.bool_)).tensor_shape)
    data: bytes = proto.SerializeToString()
    return data


def _array(op: Any, data: bytes, dtype: DType) -> np.ndarray:
    """Return the array of a serialized TensorProto. Raises InvalidArgumentError for other bytes or another dtype."""
    try:
        proto = _tensor.TensorProto.FromString(data)
        found = make_ndarray(proto)
    except Exception:                              # the protobuf runtime's own class, not worth an import
        raise InvalidArgumentError(None, op, f"Could not parse {data[:40]!r} as a TensorProto") from None
    if dtypes.as_dtype(proto.dtype) != dtype:
        raise InvalidArgumentError(None, op, f"Type mismatch between parsed tensor "
                                             f"({dtypes.as_dtype(proto.dtype).name}) and dtype ({dtype.name})")
    return found


@public("serialize_tensor", "io.serialize_tensor")
@host("tensor: T -> serialized: string", shape=shapes.scalar, T="type")
def SerializeTensor(tensor: Any, *, ctx: Any) -> Any:
    """Serialize a tensor as a TensorProto, a scalar string that `tf.parse_tensor` reads.

    >>> text = tf.serialize_tensor([1.5, 2.5])
    >>> sess.run(tf.parse_tensor(text, tf.float32))
    array([1.5, 2.5], dtype=float32)
    """
    return np.array(_serialized(tensor, ctx.op.attrs["T"]), object)


@host("serialized: string -> output: out_type", shape=shapes.unknown, validate=None, out_type="type")
def ParseTensor(serialized: Any, *, out_type: DType, ctx: Any) -> Any:
    """Parse a serialized TensorProto, a scalar, as a tensor of `out_type`."""
    if serialized.ndim:
        raise InvalidArgumentError(None, ctx.op, "Expected `serialized` to be a scalar, got shape: "
                                                 f"{list(serialized.shape)}")
    return _array(ctx.op, serialized[()], out_type)


@public("parse_tensor", "io.parse_tensor")
def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """Parse a serialized TensorProto, a scalar string, as a tensor of `out_type` and of unknown static shape.

    Running it raises InvalidArgumentError for other bytes, or a tensor of another dtype.

    >>> sess.run(tf.parse_tensor(tf.serialize_tensor([[1], [2]]), tf.int32))
    array([[1],
           [2]], dtype=int32)
    """
    tensor: Tensor = ParseTensor(serialized, out_type=out_type, name=name)
    return tensor


@public("decode_json_example", "io.decode_json_example")
@host("json_examples: string -> binary_examples: string", shape=shapes.like_first)
def DecodeJSONExample(json_examples: Any, *, ctx: Any) -> Any:
    """Convert tf.train.Examples written as JSON to serialized ones, element-wise.

    >>> text = '{"features": {"feature": {"n": {"int64List": {"value": [3]}}}}}'
    >>> sess.run(tf.parse_single_example(tf.decode_json_example(text), {"n": tf.FixedLenFeature([], tf.int64)}))
    {'n': 3}
    """
    found = []
    for text in json_examples.ravel():
        try:
            found.append(_json.Parse(text, _example.Example()).SerializeToString())
        except (_json.ParseError, UnicodeDecodeError) as error:
            raise InvalidArgumentError(None, ctx.op, f"Error while parsing JSON: {error}") from None
    return strings(found, json_examples.shape)


# Sparse tensors

_SPARSE = "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
_RANKS = Coordinates("sparse_indices", "sparse_values", "sparse_shape").ranks
_FORMS: dict[str, Any] = {"T": "type", "out_type": "{string, variant} = DT_STRING"}


def _no_variant(ctx: Any) -> None:
    kind = ctx.attrs.get("out_type", ctx.attrs.get("Tserialized"))
    if kind == dtypes.variant:
        raise ValueError("expected sparse tensors as strings, got variants, of which there are no arrays")


def _three(ctx: Any) -> list[Static]:
    _no_variant(ctx)
    belong(ctx)
    return [(3,)]


def _rows_of_three(ctx: Any) -> list[Static]:
    _no_variant(ctx)
    belong(ctx)
    return [(None, 3)]


def _texts(parts: Any, dtype: DType) -> list[bytes]:
    indices, values, shape = parts
    return [_serialized(indices, dtypes.int64), _serialized(values, dtype), _serialized(shape, dtypes.int64)]


@host(f"{_SPARSE} -> serialized_sparse: out_type", shape=_three, ranks=_RANKS, validate=belong, **_FORMS)
def SerializeSparse(indices: Any, values: Any, shape: Any, *, ctx: Any, out_type: Any) -> Any:
    """Serialize a sparse tensor: three strings, the TensorProtos of its indices, values and shape."""
    return strings(_texts((indices, values, shape), ctx.op.attrs["T"]))


@host(f"{_SPARSE} -> serialized_sparse: out_type", shape=_rows_of_three, ranks=_RANKS, validate=belong, **_FORMS)
def SerializeManySparse(indices: Any, values: Any, shape: Any, *, ctx: Any, out_type: Any) -> Any:
    """Serialize the rows, along the first axis, of a sparse tensor: [rows, 3] strings."""
    dtype, rows = ctx.op.attrs["T"], rows_of(ctx.op, indices, values, shape)
    return strings([text for row in rows for text in _texts(row, dtype)], (len(rows), 3))


def _read(op: Any, texts: Any, dtype: DType) -> SparseTensorValue:
    """Return the sparse tensor of three TensorProtos. Raises InvalidArgumentError for parts that don't belong together.
    """
    indices, values, shape = (_array(op, text, kind) for text, kind in
                              zip(texts, (dtypes.int64, dtype, dtypes.int64), strict=True))
    if (indices.ndim, values.ndim, shape.ndim) != (2, 1, 1) or indices.shape != (len(values), len(shape)):
        raise InvalidArgumentError(None, op, "expected indices [n, rank], values [n] and a shape [rank], got "
                                             f"{list(indices.shape)}, {list(values.shape)} and {list(shape.shape)}")
    return SparseTensorValue(indices, values, shape)


def _one(ctx: Any) -> list[Static]:
    _no_variant(ctx)
    return unknown_count(None)


def _three_last(ctx: Any) -> None:
    shape = ctx.shape(0)
    if not shape or shape[-1] != 3:
        raise ValueError(f"Serialized sparse should have 3 as the last dimension, got shape {list(shape)}")


@host("serialized_sparse: Tserialized -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64", shape=_one,
      validate=_three_last, dtype="type", Tserialized="{string, variant} = DT_STRING")
def DeserializeSparse(serialized: Any, *, dtype: DType, ctx: Any, Tserialized: Any) -> Any:
    """Deserialize sparse tensors [..., 3] into one whose first axes are those of `serialized` but the last."""
    found = [_read(ctx.op, texts, dtype) for texts in serialized.reshape(-1, 3)]
    if serialized.ndim == 1:
        return tuple(found[0])
    indices, values, shape = stacked(ctx.op, found, dtype)
    lead = serialized.shape[:-1]
    first = np.stack(np.unravel_index(indices[:, 0], lead), 1) if len(indices) else np.zeros((0, len(lead)), np.int64)
    return np.concatenate([first, indices[:, 1:]], 1), values, np.array([*lead, *shape[1:]], np.int64)


def _many(ctx: Any) -> list[Static]:
    merge(ctx.shape(0), (None, 3))
    return unknown_count(None)


@host("serialized_sparse: string -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64", shape=_many,
      ranks={"serialized_sparse": 2}, validate=_three_last, dtype="type")
def DeserializeManySparse(serialized: Any, *, dtype: DType, ctx: Any) -> Any:
    """Deserialize sparse tensors [N, 3] and stack them along a new first axis."""
    return stacked(ctx.op, [_read(ctx.op, texts, dtype) for texts in serialized], dtype)


for _op in (SerializeTensor, ParseTensor, DecodeJSONExample, SerializeSparse, SerializeManySparse, DeserializeSparse,
            DeserializeManySparse):
    _op.no_gradient("it makes or reads strings")


@public("serialize_sparse", "io.serialize_sparse")
def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """Serialize a SparseTensor: 3 strings, the TensorProtos of its indices, values and dense shape.

    out_type: tf.string; variants have no arrays here and are refused (ValueError). Raises TypeError for a dense tensor.

    >>> x = tf.SparseTensor(indices=[[0, 1]], values=[5], dense_shape=[2, 2])
    >>> sess.run(tf.serialize_sparse(x)).shape
    (3,)
    """
    sparse = SparseTensor.from_value(sp_input)
    tensor: Tensor = SerializeSparse(*sparse.parts, name=name, out_type=out_type)
    return tensor


@public("serialize_many_sparse", "io.serialize_many_sparse")
def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """Serialize each row (first axis) of a SparseTensor of rank 2 or more: strings [rows, 3].

    out_type: tf.string; variants are refused (ValueError). Raises TypeError for a dense tensor. Running it raises
    InvalidArgumentError for indices whose rows are out of order.

    >>> x = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[5, 6], dense_shape=[3, 2])
    >>> rows = tf.serialize_many_sparse(x)
    >>> sess.run(tf.deserialize_many_sparse(rows[1:], tf.int32))
    SparseTensorValue(indices=array([[1, 0]]), values=array([6], dtype=int32), dense_shape=array([2, 2]))
    """
    sparse = SparseTensor.from_value(sp_input)
    tensor: Tensor = SerializeManySparse(*sparse.parts, name=name, out_type=out_type)
    return tensor


@public("deserialize_many_sparse", "io.deserialize_many_sparse")
def deserialize_many_sparse(serialized_sparse: Any, dtype: Any, rank: int | None = None,
                            name: str | None = None) -> SparseTensor:
    """Deserialize and stack sparse tensors of one rank along a new first axis.

    serialized_sparse: strings [N, 3], as `tf.serialize_many_sparse` makes them. dtype: that of the values. rank: that
    of the result, for the static shape. Running it raises InvalidArgumentError for other strings, ranks or dtypes.

    >>> x = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[5, 6], dense_shape=[3, 2])
    >>> sess.run(tf.deserialize_many_sparse(tf.serialize_many_sparse(x), tf.int32)).dense_shape
    array([3, 2])
    """
    indices, values, sizes = DeserializeManySparse(serialized_sparse, dtype=dtype, name=name)
    indices.set_shape([None, rank])
    sizes.set_shape([rank])
    return SparseTensor(indices, values, sizes)


describe(globals(), TENSORS)
