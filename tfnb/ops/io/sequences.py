"""tf.train.SequenceExample messages as tensors: features of the whole (context), and lists with a Feature a step."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import DType
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import Static, TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import public
from tfnb.ops.io.parsed import Parsed, brackets, flat
from tfnb.ops.io.parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    dense_shape,
    feature_default,
    sorted_kinds,
)

_example = lazy_module("tfnb.proto.example_pb2")
_NUMBER, _KINDS, _SHAPES = "int >= 0 = 0", "list({float, int64, string}) >= 0 = []", "list(shape) >= 0 = []"
_SPLITS, _KEYS = "list({int32, int64}) >= 0 = []", "list(string) >= 0"


class _Steps(Parsed):
    """The lists of features of sequence examples: in place of a feature's values, those of each step."""

    def steps(self, row: int, key: bytes, dtype: DType) -> list[Any] | None:
        """Return the values of each step; None if the list is missing. Raises InvalidArgumentError for a dtype."""
        found = self.examples[row].get(key.decode())
        if found is None:
            return None
        return [self.values_of(feature, row, key.decode(), dtype) or () for feature in found.feature]

    def sparse(self, key: bytes, dtype: DType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return indices (int64: example, step, place), values and dense shape of a list of features of any length."""
        rows = [self.steps(i, key, dtype) or [] for i in range(len(self.examples))]
        places = [(i, t, j) for i, row in enumerate(rows) for t, step in enumerate(row) for j in range(len(step))]
        steps = [step for row in rows for step in row]
        shape = [len(rows), max(map(len, rows), default=0), max(map(len, steps), default=0)]
        first = int(self.single)
        return (np.array(places, np.int64).reshape(-1, 3)[:, first:], flat(steps, dtype),
                np.array(shape[first:], np.int64))

    def padded_steps(self, key: bytes, dtype: DType, shape: Static, empty: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return a list of features of `shape`, zeros after the last step, and the number of steps of each example.

        empty: a missing list is an empty one. Raises InvalidArgumentError for a missing list, other sizes or dtypes.
        """
        assert shape is not None
        size = int(np.prod(shape, dtype=np.int64))                                      # type: ignore[arg-type]
        rows = [self.steps(i, key, dtype) for i in range(len(self.examples))]
        for i, row in enumerate(rows):
            if row is None and not empty:
                raise self.error(i, key.decode(), "Feature list is required but could not be found. Did you mean to "
                                                  "allow that it is missing?")
            for t, step in enumerate(row or ()):
                if len(step) != size:
                    raise self.error(i, key.decode(), f"Number of values of step {t} != expected.  Values size: "
                                                      f"{len(step)} but output shape: {brackets(shape)}")
        counts = np.array([len(row or ()) for row in rows], np.int64)
        made = np.full((len(rows), int(counts.max(initial=0)), size), b"" if dtype == dtypes.string else 0,
                       dtype.np_dtype)
        for line, row in zip(made, rows, strict=True):
            for place, step in zip(line, row or (), strict=False):
                place[:] = step
        made = made.reshape((*made.shape[:2], *shape))
        return (made[0], counts[0]) if self.single else (made, counts)

    def ragged(self, key: bytes, dtype: DType, kind: DType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the values of a list, the row splits of its examples over steps, and of its steps over values."""
        rows = [self.steps(i, key, dtype) or [] for i in range(len(self.examples))]
        steps = [step for row in rows for step in row]
        outer = _splits(rows, kind) if not self.single else np.zeros(0, kind.np_dtype)
        return flat(steps, dtype), outer, _splits(steps, kind)


def _splits(rows: Sequence[Sequence[Any]], kind: DType) -> np.ndarray:
    return np.cumsum([0, *map(len, rows)]).astype(kind.np_dtype)


def _read(op: Any, serialized: np.ndarray, names: np.ndarray) -> tuple[Parsed, _Steps]:
    """Return the context and the lists of serialized SequenceExamples. Raises InvalidArgumentError for other bytes."""
    context, messages = Parsed.read(op, _example.SequenceExample, serialized, names, "context")
    lists = [message.feature_lists.feature_list for message in messages]
    return context, _Steps(op, lists, names, context.single)


def _shapes(ctx: Any, lengths: bool = True) -> list[Static]:
    """Return the shapes of all outputs, in the order of the signatures. lengths: the op has those of dense lists."""
    attrs, lead = ctx.attrs, ctx.shape(0)
    rank = None if lead is None else len(lead) + 1

    def sparse(count: int, axes: int) -> list[Static]:
        known = None if rank is None else rank + axes
        return [*[(None, known)] * count, *[(None,)] * count, *[(known,)] * count]

    def dense(shapes: Sequence[Static], *steps: None) -> list[Static]:
        return [None if lead is None or s is None else (*lead, *steps, *s) for s in shapes]
    ragged, inner = (len(attrs.get(name, ())) for name in ("context_ragged_value_types",
                                                           "feature_list_ragged_value_types"))
    lists = attrs["feature_list_dense_shapes"]
    found = [*sparse(len(attrs["context_sparse_types"]), 0), *dense(attrs["context_dense_shapes"]),
             *[(None,)] * (2 * ragged), *sparse(len(attrs["feature_list_sparse_types"]), 1), *dense(lists, None)]
    return [*found, *[lead] * (len(lists) if lengths else 0), *[(None,)] * (3 * inner)]


def _parsed(context: Parsed, lists: _Steps, keys: Sequence[Sequence[bytes]], empty: Sequence[bool],
            defaults: Any, attrs: Mapping[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the outputs of the context, those of the lists, and the lengths of the dense lists.

    keys: of sparse and dense features, of sparse and dense lists; empty: which of the last may be missing.
    """
    first = [*context.sparse_parts(keys[0], attrs["context_sparse_types"]),
             *map(context.dense, keys[1], attrs["Tcontext_dense"], attrs["context_dense_shapes"], defaults)]
    dense = list(map(lists.padded_steps, keys[3], attrs["feature_list_dense_types"],
                     attrs["feature_list_dense_shapes"], empty))
    second = [*lists.sparse_parts(keys[2], attrs["feature_list_sparse_types"]), *[made for made, _ in dense]]
    return first, second, [counts for _, counts in dense]


def _texts(arrays: Sequence[np.ndarray]) -> list[bytes]:
    return [bytes(array[()]) for array in arrays]


_GROUPS = ("context_sparse", "context_dense", "feature_list_sparse", "feature_list_dense")
_LISTED: dict[str, Any] = {f"{group}_keys": _KEYS for group in _GROUPS}
_NUMBERS: dict[str, Any] = {f"N{group}": _NUMBER for group in _GROUPS}
_TYPES: dict[str, Any] = {"context_sparse_types": _KINDS, "Tcontext_dense": _KINDS, "feature_list_dense_types": _KINDS,
                          "context_dense_shapes": _SHAPES, "feature_list_sparse_types": _KINDS,
                          "feature_list_dense_shapes": _SHAPES}
_SPARSE = "{0}_indices: N{0} * int64, {0}_values: {0}_types, {0}_shapes: N{0} * int64"
_CONTEXT = _SPARSE.format("context_sparse") + ", context_dense_values: Tcontext_dense"
_LISTS = _SPARSE.format("feature_list_sparse") + ", feature_list_dense_values: feature_list_dense_types"
_LENGTHS = "feature_list_dense_lengths: Nfeature_list_dense * int64"


@host("serialized: string, feature_list_dense_missing_assumed_empty: string, "
      + ", ".join(f"{group}_keys: N{group} * string" for group in _GROUPS)
      + f", context_dense_defaults: Tcontext_dense, debug_name: string -> {_CONTEXT}, {_LISTS}",
      shape=lambda ctx: _shapes(ctx, lengths=False),
      ranks={"serialized": 0, "feature_list_dense_missing_assumed_empty": 1}, **_NUMBERS, **_TYPES)
def ParseSingleSequenceExample(serialized: Any, may_miss: Any, context_sparse: Any, context_dense: Any,
                               lists_sparse: Any, lists_dense: Any, defaults: Any, debug_name: Any, *,
                               ctx: Any) -> Any:
    """Parse one SequenceExample: features of its context, and lists of features with one row a step."""
    keys = [_texts(each) for each in (context_sparse, context_dense, lists_sparse, lists_dense)]
    first, second, _ = _parsed(*_read(ctx.op, serialized, debug_name.ravel()), keys,
                               [key in may_miss.tolist() for key in keys[3]], defaults, ctx.op.attrs)
    return [*first, *second]


@host("serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense -> "
      f"{_CONTEXT}, {_LISTS}, {_LENGTHS}", shape=_shapes, ranks={"serialized": 1, "debug_name": 1},
      feature_list_dense_missing_assumed_empty=_KEYS, **_LISTED, **_NUMBERS, **_TYPES)
def ParseSequenceExample(serialized: Any, debug_name: Any, defaults: Any, *,
                         feature_list_dense_missing_assumed_empty: Any, ctx: Any, **attrs: Any) -> Any:
    """Parse a vector of SequenceExamples: features of their context, and lists of features, padded to the longest."""
    keys = [ctx.op.attrs[f"{group}_keys"] for group in _GROUPS]
    empty = [key in feature_list_dense_missing_assumed_empty for key in keys[3]]
    first, second, lengths = _parsed(*_read(ctx.op, serialized, debug_name), keys, empty, defaults, ctx.op.attrs)
    return [*first, *second, *lengths]


_RAGGED = "feature_list_ragged_{}: feature_list_ragged_{}_types"


@host("serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys: string, "
      "context_ragged_keys: string, feature_list_sparse_keys: string, feature_list_dense_keys: string, "
      "feature_list_ragged_keys: string, feature_list_dense_missing_assumed_empty: bool, "
      f"context_dense_defaults: Tcontext_dense -> {_CONTEXT}, context_ragged_values: context_ragged_value_types, "
      f"context_ragged_row_splits: context_ragged_split_types, {_LISTS}, {_LENGTHS}, "
      f"{_RAGGED.format('values', 'value')}, {_RAGGED.format('outer_splits', 'split')}, "
      f"{_RAGGED.format('inner_splits', 'split')}", shape=_shapes,
      Ncontext_sparse=_NUMBER, Tcontext_dense=_KINDS, context_sparse_types=_KINDS, context_ragged_value_types=_KINDS,
      context_ragged_split_types=_SPLITS, context_dense_shapes=_SHAPES, Nfeature_list_sparse=_NUMBER,
      Nfeature_list_dense=_NUMBER, feature_list_dense_types=_KINDS, feature_list_sparse_types=_KINDS,
      feature_list_ragged_value_types=_KINDS, feature_list_ragged_split_types=_SPLITS,
      feature_list_dense_shapes=_SHAPES)
def ParseSequenceExampleV2(serialized: Any, debug_name: Any, context_sparse: Any, context_dense: Any,
                           context_ragged: Any, lists_sparse: Any, lists_dense: Any, lists_ragged: Any, may_miss: Any,
                           defaults: Any, *, ctx: Any) -> Any:
    """Parse SequenceExamples, a vector or one: as ParseSequenceExample, and ragged features (values, row splits)."""
    attrs = ctx.op.attrs
    context, lists = _read(ctx.op, serialized, debug_name.ravel())
    keys = [each.tolist() for each in (context_sparse, context_dense, lists_sparse, lists_dense)]
    first, second, lengths = _parsed(context, lists, keys, may_miss.tolist(), defaults, attrs)
    rows = [context.rows(key, dtype) for key, dtype in
            zip(context_ragged.tolist(), attrs["context_ragged_value_types"], strict=True)]
    values = list(map(flat, rows, attrs["context_ragged_value_types"]))
    splits = [np.zeros(0, kind.np_dtype) if context.single else _splits(row, kind)
              for row, kind in zip(rows, attrs["context_ragged_split_types"], strict=True)]
    ragged = list(map(lists.ragged, lists_ragged.tolist(), attrs["feature_list_ragged_value_types"],
                      attrs["feature_list_ragged_split_types"]))
    return [*first, *values, *splits, *second, *lengths, *[parts[i] for i in range(3) for parts in ragged]]


for _op in (ParseSingleSequenceExample, ParseSequenceExample, ParseSequenceExampleV2):
    _op.no_gradient("it reads strings")


class _Asked:
    """Features that a program asks for: keys by group, dense shapes and defaults, lists that may be missing."""

    def __init__(self, context: Mapping[str, Any] | None, sequence: Mapping[str, Any] | None) -> None:
        if not (context or sequence):
            raise ValueError("expected context_features or sequence_features, got neither")
        self.context, self.lists = dict(context or {}), dict(sequence or {})
        sparse, dense = sorted_kinds(self.context, FixedLenFeature)
        list_sparse, list_dense = sorted_kinds(self.lists, FixedLenSequenceFeature)
        self.keys = [sparse, dense, list_sparse, list_dense]
        self.may_miss = [key for key in list_dense if self.lists[key].allow_missing]
        for key in list_dense:
            if self.lists[key].default_value is not None:
                raise ValueError(f"expected no default_value for feature list {key!r}, got "
                                 f"{self.lists[key].default_value}")
        self.shapes = [dense_shape(key, self.context[key]) for key in dense]
        self.defaults = [feature_default(key, self.context[key], shape)
                         for key, shape in zip(dense, self.shapes, strict=True)]

    def attrs(self) -> dict[str, Any]:
        """Return the attrs that both ops have."""
        types = [[kinds[key].dtype for key in keys] for kinds, keys in
                 zip((self.context, self.context, self.lists, self.lists), self.keys, strict=True)]
        return {**{f"N{group}": len(keys) for group, keys in zip(_GROUPS, self.keys, strict=True)},
                "context_sparse_types": types[0], "Tcontext_dense": types[1], "feature_list_sparse_types": types[2],
                "feature_list_dense_types": types[3], "context_dense_shapes": self.shapes,
                "feature_list_dense_shapes": [TensorShape(self.lists[key].shape) for key in self.keys[3]]}

    def found(self, made: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the tensors of the context and of the lists, by key; `made`: the groups of outputs."""
        context: dict[str, Any] = {key: SparseTensor(*parts)
                                   for key, *parts in zip(self.keys[0], *made[:3], strict=True)}
        context.update(zip(self.keys[1], made[3], strict=True))
        lists: dict[str, Any] = {key: SparseTensor(*parts)
                                 for key, *parts in zip(self.keys[2], *made[4:7], strict=True)}
        lists.update(zip(self.keys[3], made[7], strict=True))
        return context, lists


@public("parse_single_sequence_example", "io.parse_single_sequence_example")
def parse_single_sequence_example(
        serialized: Any, context_features: Mapping[str, Any] | None = None,
        sequence_features: Mapping[str, Any] | None = None, example_name: Any = None,
        name: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse one serialized SequenceExample: (tensors of its context, tensors of its feature lists), by name.

    serialized: a scalar string. context_features: name -> FixedLenFeature or VarLenFeature.
    sequence_features: name -> FixedLenSequenceFeature, a dense tensor [steps, *shape], or VarLenFeature, a SparseTensor
    [steps, most values of a step]. example_name: what messages call the example. Running it raises
    InvalidArgumentError for a missing feature or list (unless it has a default, or `allow_missing`) and for other
    sizes or dtypes. Raises ValueError for other kinds of features, or without any.

    >>> example = tf.train.SequenceExample()
    >>> example.context.feature["label"].int64_list.value.append(1)
    >>> for word in (7, 8, 9):
    ...     example.feature_lists.feature_list["words"].feature.add().int64_list.value.append(word)
    >>> context, lists = tf.parse_single_sequence_example(
    ...     example.SerializeToString(), {"label": tf.FixedLenFeature([], tf.int64)},
    ...     {"words": tf.FixedLenSequenceFeature([], tf.int64)})
    >>> sess.run([context, lists])
    [{'label': 1}, {'words': array([7, 8, 9])}]
    """
    with name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        asked = _Asked(context_features, sequence_features)
        scalar = convert_to_tensor(serialized, dtype=dtypes.string, name="serialized")
        scalar.set_shape([])
        made = ParseSingleSequenceExample(
            scalar, convert_to_tensor(asked.may_miss, dtype=dtypes.string), *asked.keys, asked.defaults,
            "" if example_name is None else example_name, **asked.attrs())
        return asked.found(made)


@public("io.parse_sequence_example")
def parse_sequence_example(
        serialized: Any, context_features: Mapping[str, Any] | None = None,
        sequence_features: Mapping[str, Any] | None = None, example_names: Any = None,
        name: str | None = None) -> tuple[dict[str, Any], dict[str, Any], dict[str, Tensor]]:
    """Parse a vector of serialized SequenceExamples: (context, feature lists, lengths of the dense lists), by name.

    context_features, sequence_features: as of `tf.parse_single_sequence_example`; the tensors have an axis of examples
    before the others, and dense lists are padded with zeros to the longest one. lengths: int64 [examples].
    example_names: what messages call the examples.

    >>> examples = [tf.train.SequenceExample() for _ in range(2)]
    >>> for i, word in ((0, 7), (0, 8), (1, 9)):
    ...     examples[i].feature_lists.feature_list["words"].feature.add().int64_list.value.append(word)
    >>> _, lists, lengths = tf.io.parse_sequence_example(
    ...     [e.SerializeToString() for e in examples], None, {"words": tf.FixedLenSequenceFeature([], tf.int64)})
    >>> sess.run([lists["words"], lengths["words"]])
    [array([[7, 8],
           [9, 0]]), array([2, 1])]
    """
    with name_scope(name, "ParseSequenceExample", [serialized, example_names]):
        asked = _Asked(context_features, sequence_features)
        groups: dict[str, Any] = {f"{group}_keys": keys for group, keys in zip(_GROUPS, asked.keys, strict=True)}
        made = ParseSequenceExample(
            convert_to_tensor(serialized, dtype=dtypes.string), [] if example_names is None else example_names,
            asked.defaults, feature_list_dense_missing_assumed_empty=asked.may_miss, **groups, **asked.attrs())
        return *asked.found(made), dict(zip(asked.keys[3], made[8], strict=True))


describe(globals(), TENSORS)
