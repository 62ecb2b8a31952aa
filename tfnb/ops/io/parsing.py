"""tf.train.Example messages as tensors: `tf.parse_example` and what describes the features."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import Static, TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.reshape import reshape
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.source import constant
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import public
from tfnb.ops.io import scanned
from tfnb.ops.io.parsed import Parsed, flat
from tfnb.ops.sparse.shapes import sparse_merge

_example = lazy_module("tfnb.proto.example_pb2")
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


@public("SparseFeature", "io.SparseFeature")
class SparseFeature(NamedTuple):
    """A feature whose indices and values stand under keys of their own: a SparseTensor.

    index_key: the key of the int64 indices, or a list of keys, one for each axis. value_key: that of the values, as
    many, of `dtype`. size: the size of that axis, or a list. already_sorted: the indices of an Example ascend.

    >>> index = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 1]))
    >>> value = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, 2.0]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"i": index, "v": value}))
    >>> kind = tf.SparseFeature(index_key="i", value_key="v", dtype=tf.float32, size=4)
    >>> x = tf.parse_example([example.SerializeToString()], {"x": kind})["x"]
    >>> sess.run(tf.sparse_tensor_to_dense(x))
    array([[0. , 2. , 0. , 0.5]], dtype=float32)
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False

    @property
    def index_keys(self) -> list[str]:
        """The keys of the indices, one for each axis."""
        return [self.index_key] if isinstance(self.index_key, str) else list(self.index_key)


def _shapes(ctx: Any) -> list[Static]:
    lead, attrs = ctx.shape(0), ctx.attrs
    rank = None if lead is None else len(lead) + 1
    count, ragged = len(attrs["sparse_types"]), len(attrs.get("ragged_value_types", ()))
    dense: list[Static] = [None if lead is None or s is None else (*lead, *s) for s in attrs["dense_shapes"]]
    found: list[Static] = [*[(None, rank)] * count, *[(None,)] * count, *[(rank,)] * count, *dense]
    return [*found, *[(None,)] * (2 * ragged)]


def _features(parsed: Parsed, sparse_keys: Any, sparse_types: Any, dense_keys: Any, dense_types: Any, shapes: Any,
              defaults: Any) -> list[np.ndarray]:
    """Return indices, values and shapes of the sparse features, and the dense ones."""
    return [*parsed.sparse_parts(sparse_keys, sparse_types), *map(parsed.dense, dense_keys, dense_types, shapes,
                                                                  defaults)]


def _of_fixed_sizes(op: Operation) -> bool:
    attrs = op.attrs
    return not attrs["sparse_types"] and not attrs["ragged_value_types"] and op.inputs[1].shape == [0] and all(
        shape is not None and None not in shape for shape in attrs["dense_shapes"])


@host("serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, "
      "dense_defaults: Tdense -> sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
      "sparse_shapes: num_sparse * int64, dense_values: Tdense, ragged_values: ragged_value_types, "
      "ragged_row_splits: ragged_split_types", shape=_shapes, Tdense=_KINDS, num_sparse="int >= 0",
      sparse_types=_KINDS, ragged_value_types=_KINDS, ragged_split_types="list({int32, int64}) >= 0",
      dense_shapes="list(shape) >= 0", lifts=_of_fixed_sizes)
def ParseExampleV2(serialized: Any, names: Any, sparse_keys: Any, dense_keys: Any, ragged_keys: Any,
                   dense_defaults: Any, *, Tdense: Any, sparse_types: Any, ragged_value_types: Any,
                   ragged_split_types: Any, dense_shapes: Any, ctx: Any) -> Any:
    """Parse the features of Examples, by key: sparse, dense and ragged ones (values and row splits)."""
    found = scanned.features(serialized, (sparse_keys, sparse_types),
                             (dense_keys, Tdense, dense_shapes, dense_defaults),
                             (ragged_keys, ragged_value_types, ragged_split_types))
    if found is not None:
        return found
    parsed, _ = Parsed.read(ctx.op, _example.Example, serialized, names.ravel())
    fixed = _features(parsed, sparse_keys, sparse_types, dense_keys, Tdense, dense_shapes, dense_defaults)
    ragged = [parsed.rows(key, dtype) for key, dtype in zip(ragged_keys, ragged_value_types, strict=True)]
    splits = [np.cumsum([0, *map(len, rows)]).astype(kind.np_dtype) if serialized.ndim else np.zeros(0, kind.np_dtype)
              for rows, kind in zip(ragged, ragged_split_types, strict=True)]
    return [*fixed, *[flat(rows, dtype) for rows, dtype in zip(ragged, ragged_value_types, strict=True)], *splits]


_FIXED = ("sparse_indices: {0} * int64, sparse_values: sparse_types, sparse_shapes: {0} * int64, "
          "dense_values: Tdense")


@host("serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense * string, "
      f"dense_defaults: Tdense -> {_FIXED.format('Nsparse')}", shape=_shapes, ranks={"serialized": 1, "names": 1},
      Nsparse="int >= 0", Ndense="int >= 0", sparse_types=_KINDS, Tdense=_KINDS, dense_shapes="list(shape) >= 0")
def ParseExample(serialized: Any, names: Any, sparse_keys: Any, dense_keys: Any, dense_defaults: Any, *,
                 sparse_types: Any, Tdense: Any, dense_shapes: Any, ctx: Any) -> Any:
    """Parse the features of a vector of Examples, by key: sparse and dense ones."""
    sparse, dense = [k[()] for k in sparse_keys], [k[()] for k in dense_keys]
    made = scanned.features(serialized, (sparse, sparse_types), (dense, Tdense, dense_shapes, dense_defaults))
    return made or _features(Parsed.read(ctx.op, _example.Example, serialized, names)[0], sparse, sparse_types, dense,
                             Tdense, dense_shapes, dense_defaults)


@host(f"serialized: string, dense_defaults: Tdense -> {_FIXED.format('num_sparse')}", shape=_shapes,
      ranks={"serialized": 0}, num_sparse="int >= 0", sparse_keys="list(string) >= 0",
      dense_keys="list(string) >= 0", sparse_types=_KINDS, Tdense=_KINDS, dense_shapes="list(shape) >= 0")
def ParseSingleExample(serialized: Any, dense_defaults: Any, *, sparse_keys: Any, dense_keys: Any, sparse_types: Any,
                       Tdense: Any, dense_shapes: Any, ctx: Any) -> Any:
    """Parse the features of one Example, by key: sparse and dense ones."""
    made = scanned.features(serialized, (sparse_keys, sparse_types), (dense_keys, Tdense, dense_shapes, dense_defaults))
    return made or _features(Parsed.read(ctx.op, _example.Example, serialized, np.empty(0, object))[0], sparse_keys,
                             sparse_types, dense_keys, Tdense, dense_shapes, dense_defaults)


for _op in (ParseExampleV2, ParseExample, ParseSingleExample):
    _op.no_gradient("it reads strings")


def _label(before: str, key: str) -> str:
    return before + re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)


def feature_default(key: str, feature: Any, shape: TensorShape) -> Tensor:
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


def dense_shape(key: str, feature: Any) -> TensorShape:
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


def with_parts(features: Mapping[str, Any]) -> dict[str, Any]:
    """Return the features with those that a SparseFeature is made of in its place.

    Raises ValueError where a key has two kinds.
    """
    found: dict[str, Any] = {}
    for key, kind in features.items():
        parts = {key: kind}
        if isinstance(kind, SparseFeature):
            parts = dict.fromkeys(kind.index_keys, VarLenFeature(dtypes.int64)) | {
                kind.value_key: VarLenFeature(dtypes.as_dtype(kind.dtype))}
        for name, part in parts.items():
            if name in found and found[name] != part:
                raise ValueError(f"expected one kind of feature for key {name!r}, got {found[name]} and {part}")
            found[name] = part
    return found


def sorted_kinds(features: Mapping[str, Any], *dense: type) -> tuple[list[str], list[str]]:
    """Return the sorted keys of the VarLenFeatures and of the `dense` ones. Raises ValueError for other kinds."""
    for key, kind in features.items():
        if not isinstance(kind, (*dense, VarLenFeature)):
            raise ValueError(f"Unsupported {type(kind).__name__} {kind} for key '{key}'")
    of_any_size = [key for key in sorted(features) if isinstance(features[key], VarLenFeature)]
    return of_any_size, [key for key in sorted(features) if key not in of_any_size]


def merged(kind: SparseFeature, found: Mapping[str, Any]) -> SparseTensor:
    """Return the SparseTensor of a SparseFeature, by its indices and values."""
    several = not isinstance(kind.index_key, str)
    ids = [found[key] for key in kind.index_keys]
    return sparse_merge(ids if several else ids[0], found[kind.value_key], kind.size,
                        already_sorted=kind.already_sorted)


def parse_example(serialized: Any, features: Mapping[str, Any], name: str | None = None,
                  example_names: Any = None) -> dict[str, Any]:
    """Parse a vector of serialized Examples: dense tensors and SparseTensors by name, one row an Example.

    features: name -> FixedLenFeature, FixedLenSequenceFeature, VarLenFeature or SparseFeature; example_names: what
    messages call the Examples. Running it raises InvalidArgumentError for an Example that lacks a feature without a
    default, or has one of another size or dtype. Raises ValueError for other kinds of features.

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
        expanded = with_parts(features)
        sparse, dense = sorted_kinds(expanded, FixedLenFeature, FixedLenSequenceFeature)
        shapes = [dense_shape(key, expanded[key]) for key in dense]
        defaults = [feature_default(key, expanded[key], shape) for key, shape in zip(dense, shapes, strict=True)]
        made = ParseExampleV2(
            serialized, [] if example_names is None else example_names, sparse, dense, [], defaults,
            num_sparse=len(sparse), sparse_types=[expanded[key].dtype for key in sparse], ragged_value_types=[],
            ragged_split_types=[], dense_shapes=shapes)
        found: dict[str, Any] = {key: SparseTensor(*parts) for key, *parts in zip(sparse, *made[:3], strict=True)}
        found.update(zip(dense, made[3], strict=True))
        return {key: merged(kind, found) if isinstance(kind, SparseFeature) else found[key]
                for key, kind in sorted(features.items())}


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
