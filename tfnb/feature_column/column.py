"""Kinds of feature columns, and the features of a batch as the columns transform them.

A column is a description, with no tensor in it. A `FeatureCache` holds the features of one batch, and what columns
made of them; a `Variables` makes the variables that a column asks for.
"""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from tfnb.core import dtypes
from tfnb.core.dtypes import string
from tfnb.core.shape import Static
from tfnb.core.text import cut
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.gather import gather_nd
from tfnb.ops.array.reshape import expand_dims, shape
from tfnb.ops.composite.sparse_tensor import SparseTensor, SparseTensorValue
from tfnb.ops.math.compare import not_equal, where
from tfnb.ops.sparse.shapes import sparse_reshape


class Variables(Protocol):
    """Maker of the variables of columns."""

    def variable(self, column: FeatureColumn, name: str, size: tuple[int, ...], initializer: Any,
                 trainable: bool) -> Any:
        """Return the variable of a column that is called `name`, made at the first call."""


class FeatureColumn(ABC):
    """Description of what a model gets of one or several features."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the column, by which columns are sorted and variables called."""

    @property
    @abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """The features of tf.Example protos that the column needs: name -> FixedLenFeature or VarLenFeature."""

    @property
    def var_scope_name(self) -> str:
        """The scope of the column's variables."""
        return self.name

    @abstractmethod
    def transform_feature(self, cache: FeatureCache, variables: Variables | None = None) -> Any:
        """Return what the column makes of the features; `cache.get(column)` calls it once."""


class DenseColumn(FeatureColumn):
    """Column whose features are dense: floats of shape [batch] + variable_shape."""

    @property
    @abstractmethod
    def variable_shape(self) -> tuple[int, ...]:
        """The shape of one example."""

    @abstractmethod
    def get_dense_tensor(self, cache: FeatureCache, variables: Variables) -> Tensor:
        """Return the dense tensor."""


class IdWeightPair(NamedTuple):
    """Ids of a categorical column, and their weights, or None for 1. Two SparseTensors of the same indices."""

    ids: SparseTensor
    weights: SparseTensor | None


class CategoricalColumn(FeatureColumn):
    """Column whose features are ids from 0 to num_buckets - 1."""

    @property
    @abstractmethod
    def num_buckets(self) -> int:
        """The number of ids."""

    def get_sparse_tensors(self, cache: FeatureCache, variables: Variables | None = None) -> IdWeightPair:
        """Return the ids and weights: the transformed feature, without weights."""
        return IdWeightPair(cache.get(self, variables), None)


@dataclass(frozen=True)
class AroundCategories(CategoricalColumn):
    """Categorical column that is another one in some other way."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:
        """That of the column."""
        return self.categorical_column.name

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the column."""
        return self.categorical_column.parse_example_spec

    @property
    def num_buckets(self) -> int:
        """The number of ids."""
        return self.categorical_column.num_buckets

    def transform_feature(self, cache: FeatureCache, variables: Variables | None = None) -> Any:
        """Return what the column makes."""
        return cache.get(self.categorical_column, variables)


class SequenceDense(NamedTuple):
    """Dense tensor [batch, time, ...] of a sequence column, and the length of each sequence, int64 [batch]."""

    dense_tensor: Tensor
    sequence_length: Tensor


class SequenceDenseColumn(FeatureColumn):
    """Column whose features are sequences of dense tensors."""

    @abstractmethod
    def get_sequence_dense_tensor(self, cache: FeatureCache, variables: Variables) -> SequenceDense:
        """Return the tensor of all sequences, padded, and their lengths."""


# ---- features --------------------------------------------------------------------------------------------------------

class FeatureCache:
    """The features of a batch, a dict of names to tensors or SparseTensors, and what columns made of them."""

    def __init__(self, features: Mapping[str, Any]) -> None:
        self._features, self._made = dict(features), dict[Any, Any]()

    def get(self, key: str | FeatureColumn, variables: Variables | None = None) -> Any:
        """Return a feature, of rank 2 at least, or what a column makes of its features.

        Raises ValueError for a feature that is not there, or is a scalar.
        """
        if key not in self._made:
            self._made[key] = self._raw(key) if isinstance(key, str) else key.transform_feature(self, variables)
        return self._made[key]

    def _raw(self, key: str) -> Any:
        if key not in self._features:
            raise ValueError(f"Feature {key} is not in features dictionary.")
        given = self._features[key]
        if isinstance(given, SparseTensorValue):
            given = SparseTensor(*given)
        tensor: Any = given if isinstance(given, SparseTensor) else convert_to_tensor(given)
        rank = tensor.get_shape().ndims
        if rank == 0:
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {tensor}")
        if rank is None and not isinstance(tensor, SparseTensor):
            raise ValueError(f"Feature (key: {key}) must have a known rank, got {tensor}: use set_shape")
        if rank != 1:
            return tensor
        return sparse_reshape(tensor, [tensor.dense_shape[0], 1]) if isinstance(tensor, SparseTensor) \
            else expand_dims(tensor, -1)


def to_sparse(tensor: Any, ignored: Any = None) -> SparseTensor:
    """Return a feature as a SparseTensor; of a dense one without "" and -1 (or `ignored`), which mean: none."""
    if isinstance(tensor, SparseTensor):
        return tensor
    with name_scope(None, "to_sparse_input", [tensor, ignored]):
        if ignored is None:
            ignored = "" if tensor.dtype == string else -1 if tensor.dtype.is_integer else 0.0
        marked = convert_to_tensor(ignored, tensor.dtype, name="ignore_value/x")
        indices = where(not_equal(tensor, marked, name="NotEqual"), name="indices")
        return SparseTensor(indices, gather_nd(tensor, indices, name="values"),
                            shape(tensor, out_type=dtypes.int64, name="dense_shape"))


# ---- checks of arguments ---------------------------------------------------------------------------------------------

def check_key(key: Any) -> str:
    """Return a key. Raises ValueError for one that is no string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")
    return key


def check_string_or_int(dtype: Any, prefix: str) -> None:
    """Raise ValueError for a dtype that is neither string nor integer; prefix: of the message."""
    if dtype != string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def check_columns(columns: Any, wanted: Callable[[FeatureColumn], bool] = lambda column: True,
                  explanation: str = "") -> list[FeatureColumn]:
    """Return columns as a list, sorted by their names.

    columns: one or several; wanted: which kinds can be used, explanation: of that, for the message. Raises ValueError
    for none, other things than columns, and two of one name.
    """
    if isinstance(columns, FeatureColumn):
        columns = [columns]
    if isinstance(columns, Mapping):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    found = list(columns)
    for column in found:
        if not isinstance(column, FeatureColumn):
            raise ValueError("Items of feature_columns must be a _FeatureColumn. Given (type "
                             f"{type(column)}): {column}.")
    if not found:
        raise ValueError("feature_columns must not be empty.")
    named: dict[str, FeatureColumn] = {}
    for column in found:
        if column.name in named:
            raise ValueError("Duplicate feature column name found for columns: "
                             f"{cut(repr(column), 300)} and {cut(repr(named[column.name]), 300)}. "
                             "This usually means that these columns refer to same base feature. Either one must be "
                             "discarded or a duplicated but renamed item must be inserted in features dict.")
        if not wanted(column):
            raise ValueError(f"{explanation} Given: {column}")
        named[column.name] = column
    return sorted(found, key=lambda column: column.name)


def batch_size_of(tensor: Tensor) -> int | None:
    """Return the static size of the first axis."""
    static: Static = tuple(tensor.get_shape().as_list())
    return static[0] if static else None


def check_batch_sizes(tensors: list[Tensor], columns: list[FeatureColumn]) -> None:
    """Raise ValueError unless the known batch sizes of the columns' tensors are equal."""
    first: tuple[int, FeatureColumn] | None = None
    for tensor, column in zip(tensors, columns, strict=True):
        size = batch_size_of(tensor)
        if size is None:
            continue
        if first is None:
            first = size, column
        elif size != first[0]:
            raise ValueError("Batch size (first dimension) of each feature must be same. Batch size of columns "
                             f"({first[1].name}, {column.name}): ({first[0]}, {size})")
