"""tf.train.Example messages as tensors: `tf.parse_example` and what describes the features."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import DType
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import Static, TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.reshape import reshape
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.source import constant
from tfnb.ops.declaration.declare import host

_example = lazy_module("tfnb.proto.example_pb2")
_LISTS = {"float32": "float_list", "int64": "int64_list", "string": "bytes_list"}
_WORDS = {"float_list": "float", "int64_list": "int64", "bytes_list": "string"}
_KINDS = "list({float, int64, string}) >= 0"


class FixedLenFeature(NamedTuple):
    """A feature with as many values in each Example: a dense tensor. default_value: where an Example has none.

    >>> example = tf.train.Example()
    >>> example.features.feature["age"].int64_list.value.append(7)
    >>> parsed = tf.parse_single_example(example.SerializeToString(), {"age": tf.FixedLenFeature([], tf.int64)})
    >>> sess.run(parsed)
    {'age': 7}
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """A feature with several rows of `shape`: a dense tensor, padded with `default_value` to the longest Example.

    >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"sizes": feature}))
    >>> kind = tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)
    >>> sess.run(tf.parse_single_example(example.SerializeToString(), {"sizes": kind}))
    {'sizes': array([3, 4])}
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values: a SparseTensor.

    >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"sizes": feature}))
    >>> parsed = tf.parse_single_example(example.SerializeToString(), {"sizes": tf.VarLenFeature(tf.int64)})
    >>> sess.run(parsed["sizes"].values)
    array([3, 4])
    """

    dtype: Any


def _shapes(ctx: Any) -> list[Static]:
    lead, attrs = ctx.shape(0), ctx.attrs
    rank = None if lead is None else len(lead) + 1
    count, ragged = attrs["num_sparse"], len(attrs["ragged_value_types"])
    dense: list[Static] = [None if lead is None or s is None else (*lead, *s) for s in attrs["dense_shapes"]]
    found: list[Static] = [*[(None, rank)] * count, *[(None,)] * count, *[(rank,)] * count, *dense]
    return [*found, *[(None,)] * (2 * ragged)]


@host("serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, "
      "dense_defaults: Tdense -> sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
      "sparse_shapes: num_sparse * int64, dense_values: Tdense, ragged_values: ragged_value_types, "
      "ragged_row_splits: ragged_split_types", shape=_shapes, Tdense=_KINDS, num_sparse="int >= 0",
      sparse_types=_KINDS, ragged_value_types=_KINDS, ragged_split_types="list({int32, int64}) >= 0",
      dense_shapes="list(shape) >= 0")
def ParseExampleV2(serialized: Any, names: Any, sparse_keys: Any, dense_keys: Any, ragged_keys: Any,
                   dense_defaults: Any, *, Tdense: Any, sparse_types: Any, ragged_value_types: Any,
                   ragged_split_types: Any, dense_shapes: Any, ctx: Any) -> Any:
    """Parse the features of Examples, by key: sparse, dense and ragged ones (values and row splits)."""
    parsed = _Parsed(ctx.op, serialized, names.ravel())
    sparse = [parsed.sparse(key, dtype) for key, dtype in zip(sparse_keys, sparse_types, strict=True)]
    dense = [parsed.dense(key, dtype, shape, default) for key, dtype, shape, default in
             zip(dense_keys, Tdense, dense_shapes, dense_defaults, strict=True)]
    ragged = [parsed.rows(key, dtype) for key, dtype in zip(ragged_keys, ragged_value_types, strict=True)]
    splits = [np.cumsum([0, *map(len, rows)]).astype(kind.np_dtype) if serialized.ndim else np.zeros(0, kind.np_dtype)
              for rows, kind in zip(ragged, ragged_split_types, strict=True)]
    return [*[s[0] for s in sparse], *[s[1] for s in sparse], *[s[2] for s in sparse], *dense,
            *[_flat(rows, dtype) for rows, dtype in zip(ragged, ragged_value_types, strict=True)], *splits]


ParseExampleV2.no_gradient("it reads strings")


def _flat(rows: Sequence[Sequence[Any]], dtype: DType) -> np.ndarray:
    made = np.empty(sum(map(len, rows)), dtype.np_dtype)
    made[:] = [x for row in rows for x in row]
    return made


class _Parsed:
    """Examples that were read, and how messages name them."""

    def __init__(self, op: Any, serialized: np.ndarray, names: np.ndarray) -> None:
        self.op, self.names, self.single = op, names, not serialized.ndim
        self.examples = []
        for i, data in enumerate(serialized.ravel()):
            try:
                self.examples.append(_example.Example.FromString(data).features.feature)
            except Exception:                      # the protobuf runtime's own class, not worth an import
                raise self.error(i, "", f"Could not parse example input, value: {data[:80]!r}") from None

    def error(self, row: int, key: str, message: str) -> InvalidArgumentError:
        """Return an InvalidArgumentError that names the example and the feature. key: "" for the example as a whole."""
        name = self.names[row].decode("utf-8", "replace") if len(self.names) else "<unknown>"
        where = f"Key: {key}" + (f", Index: {row}" if not self.single else "") if key else ""
        before = ", ".join(part for part in ("" if self.single else f"Name: {name}", where) if part)
        return InvalidArgumentError(None, self.op, before + (".  " if key else ", " if before else "") + message)

    def values(self, row: int, key: bytes, dtype: DType) -> Any:
        """Return the values of a feature; None if it is missing. Raises InvalidArgumentError for another dtype."""
        text = key.decode()
        feature = self.examples[row].get(text)
        kind = None if feature is None else feature.WhichOneof("kind")
        if feature is None or kind is None:
            return None
        if kind != _LISTS[dtype.name]:
            raise self.error(row, text, f"Data types don't match. Data type: {_WORDS[kind]} but expected type: "
                                        f"{_WORDS[_LISTS[dtype.name]]}")
        return getattr(feature, kind).value

    def rows(self, key: bytes, dtype: DType) -> list[Any]:
        """Return the values of a feature in each example; none where it is missing."""
        return [self.values(i, key, dtype) or () for i in range(len(self.examples))]

    def sparse(self, key: bytes, dtype: DType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the indices (int64), values and dense shape (int64) of a feature of any length."""
        rows = self.rows(key, dtype)
        values = _flat(rows, dtype)
        columns = np.array([j for row in rows for j in range(len(row))], np.int64)
        if self.single:
            return columns[:, None], values, np.array([len(values)], np.int64)
        lines = np.repeat(np.arange(len(rows)), [len(row) for row in rows]).astype(np.int64)
        return np.stack([lines, columns], 1), values, np.array([len(rows), max(map(len, rows), default=0)], np.int64)

    def dense(self, key: bytes, dtype: DType, shape: Static, default: np.ndarray) -> np.ndarray:
        """Return a feature of shape (examples, *shape), `default` if missing. Raises InvalidArgumentError."""
        assert shape is not None
        if shape and shape[0] is None:
            return self.padded(key, dtype, shape[1:], default)
        size, word = int(np.prod(shape, dtype=np.int64)), _WORDS[_LISTS[dtype.name]]  # type: ignore[arg-type]
        made = np.empty((len(self.examples), size), dtype.np_dtype)
        for i in range(len(self.examples)):
            values = self.values(i, key, dtype)
            if values is None:
                if not default.size and size:
                    raise self.error(i, "", f"Feature: {key.decode()} (data type: {word}) is required but could not be "
                                            "found.")
                made[i] = default.ravel()
                continue
            if len(values) != size:
                raise self.error(i, key.decode(), f"Number of {word} values != expected.  Values size: {len(values)} "
                                                  f"but output shape: {_brackets(shape)}")
            made[i] = values
        lead = () if self.single else (len(self.examples),)
        return made.reshape((*lead, *shape))

    def padded(self, key: bytes, dtype: DType, shape: tuple[int | None, ...], default: np.ndarray) -> np.ndarray:
        """Return a feature of varying first size, padded with `default` to the longest. Raises InvalidArgumentError."""
        size = int(np.prod(shape, dtype=np.int64))  # type: ignore[arg-type]
        rows = self.rows(key, dtype)
        for i, row in enumerate(rows):
            if len(row) % size:
                raise self.error(i, key.decode(), f"Number of {_WORDS[_LISTS[dtype.name]]} values is not a multiple of "
                                                  f"stride length. Saw {len(row)} values but output shape is: "
                                                  f"{_brackets((None, *shape))}")
        longest = max(map(len, rows), default=0)
        made = np.empty((len(rows), longest), dtype.np_dtype)
        made[...] = default.ravel()[0]
        for line, row in zip(made, rows, strict=True):
            line[:len(row)] = row
        lead = () if self.single else (len(rows),)
        return made.reshape((*lead, longest // size if size else 0, *shape))


def _brackets(shape: Sequence[int | None]) -> str:
    return "[" + ",".join("?" if n is None else str(n) for n in shape) + "]"


def _label(before: str, key: str) -> str:
    return before + re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)


def _default(key: str, feature: Any, shape: TensorShape) -> Tensor:
    """Return the tensor that stands for a feature where an Example has none; an empty one where it must have it."""
    value, dtype = feature.default_value, dtypes.as_dtype(feature.dtype)
    if isinstance(feature, FixedLenSequenceFeature):
        if value is None:
            return convert_to_tensor("" if dtype == dtypes.string else 0, dtype=dtype)
        return reshape(convert_to_tensor(value, dtype=dtype, name=_label("padding_", key)), [])
    if value is None:
        return constant([], dtype=dtype)
    if isinstance(value, Tensor):
        return value
    name = _label("key_", key)
    return reshape(convert_to_tensor(value, dtype=dtype, name=name), shape)


def _dense_shape(key: str, feature: Any) -> TensorShape:
    shape = TensorShape(feature.shape)
    if isinstance(feature, FixedLenSequenceFeature):
        if not feature.allow_missing:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
        return TensorShape([None]).concatenate(shape)
    if shape.ndims is None or (shape.ndims and shape[0].value is None):
        raise ValueError(f"First dimension of shape for feature {key} unknown. Consider using "
                         f"FixedLenSequenceFeature. Received feature={feature}.")
    if not shape.is_fully_defined():
        raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {feature.shape}.")
    return shape


def parse_example(serialized: Any, features: Mapping[str, Any], name: str | None = None,
                  example_names: Any = None) -> dict[str, Any]:
    """Parse a vector of serialized Examples: dense tensors and SparseTensors by name, one row an Example.

    features: name -> FixedLenFeature, FixedLenSequenceFeature or VarLenFeature; example_names: what messages call the
    Examples. Running it raises InvalidArgumentError for an Example that lacks a feature without a default, or has one
    of another size or dtype. Raises ValueError for other kinds of features.

    >>> examples = []
    >>> for age in (7, 8):
    ...     feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[age]))
    ...     features = tf.train.Features(feature={"age": feature})
    ...     examples.append(tf.train.Example(features=features).SerializeToString())
    >>> sess.run(tf.parse_example(examples, {"age": tf.FixedLenFeature([], tf.int64)}))
    {'age': array([7, 8])}
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    with name_scope(name, "ParseExample", [serialized, example_names]):
        sparse: list[str] = []
        dense: list[str] = []
        for key in sorted(features):
            kind = features[key]
            if not isinstance(kind, (FixedLenFeature, FixedLenSequenceFeature, VarLenFeature)):
                raise ValueError(f"Unsupported {type(kind).__name__} {kind} for key '{key}'")
            (sparse if isinstance(kind, VarLenFeature) else dense).append(key)
        shapes = [_dense_shape(key, features[key]) for key in dense]
        defaults = [_default(key, features[key], shape) for key, shape in zip(dense, shapes, strict=True)]
        made = ParseExampleV2(
            serialized, [] if example_names is None else example_names, sparse, dense, [], defaults,
            num_sparse=len(sparse), sparse_types=[features[key].dtype for key in sparse], ragged_value_types=[],
            ragged_split_types=[], dense_shapes=shapes)
        found: dict[str, Any] = {key: SparseTensor(*parts) for key, *parts in zip(sparse, *made[:3], strict=True)}
        found.update(zip(dense, made[3], strict=True))
        return found


def parse_single_example(serialized: Any, features: Mapping[str, Any], name: str | None = None,
                         example_names: Any = None) -> dict[str, Any]:
    """As `parse_example`, of one serialized Example, a scalar: the tensors lack the first axis.

    >>> features = tf.train.Features(feature={"size": tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4]))})
    >>> serialized = tf.train.Example(features=features).SerializeToString()
    >>> sess.run(tf.parse_single_example(serialized, {"size": tf.FixedLenFeature([2], tf.int64)}))
    {'size': array([3, 4])}
    """
    if not features:
        raise ValueError("Missing features.")
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        scalar = convert_to_tensor(serialized, name="serialized", dtype=dtypes.string)
        scalar.get_shape().assert_is_compatible_with([])
        scalar.set_shape([])
        return parse_example(scalar, features, None, example_names)


describe(globals(), TENSORS)
