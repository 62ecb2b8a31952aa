"""Static lookup tables: filled once by an initializer, immutable after that."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.lookup.initializers import TableInitializerBase
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.data_flow import table_ops as ops


class LookupInterface:
    """Base of lookup tables: maps from keys to values, which a session holds.

    key_dtype, value_dtype: of keys and values.

    >>> table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> isinstance(table, tf.contrib.lookup.LookupInterface), table.key_dtype.name, table.value_dtype.name
    (True, 'string', 'int64')
    """

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return self._value_dtype

    @property
    def name(self) -> str:
        """The name of the table's op, without the scopes before it."""
        raise NotImplementedError

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of entries, an int64 scalar."""
        raise NotImplementedError

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return the values of keys: a tensor, or for a SparseTensor of keys one of values."""
        raise NotImplementedError

    def _checked_keys(self, keys: Any) -> Any:
        """Return keys as a tensor or SparseTensor. Raises TypeError for another dtype."""
        if not isinstance(keys, (Tensor, SparseTensor)) and not hasattr(keys, "dtype"):
            keys = convert_to_tensor(keys, dtype=self._key_dtype)
        if dtypes.as_dtype(keys.dtype).base_dtype != self._key_dtype.base_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype.name}, got {keys.dtype}.")
        return keys


class OpTable(LookupInterface):
    """A lookup table that is a resource behind a handle. `kind`: what names of its ops say of a look-up."""

    _lookup_scope = "Lookup"

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value: Tensor = convert_to_tensor(default_value, dtype=self._value_dtype, **self._default_name())
        self._value_shape: TensorShape = self._default_value.get_shape()

    def _default_name(self) -> dict[str, str]:
        return {}

    def _hold(self, handle: Tensor) -> None:
        """Take the handle of the table's op."""
        self._resource_handle, self._table_name = handle, handle.op.name.split("/")[-1]

    @property
    def resource_handle(self) -> Tensor:
        """The tensor that holds the table."""
        return self._resource_handle

    @property
    def table_ref(self) -> Tensor:
        """`resource_handle` under its name in earlier releases."""
        return self._resource_handle

    @property
    def name(self) -> str:
        """The name of the table's op, without the scopes before it."""
        return self._table_name

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are not in the table."""
        return self._default_value

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of entries, an int64 scalar."""
        with name_scope(name, f"{self.name}_Size", [self._resource_handle]):
            made: Tensor = ops.LookupTableSizeV2(self._resource_handle)
            return made

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return the values of keys, the table's default value for those that are not in it.

        keys: a tensor of any shape, or a SparseTensor; the result is one, too. Raises TypeError for keys of another
        dtype. A static table raises FailedPreconditionError if it runs before the initializer.
        """
        keys = self._checked_keys(keys)
        tensor = keys.values if isinstance(keys, SparseTensor) else convert_to_tensor(keys)
        with name_scope(name, f"{self.name}_{self._lookup_scope}",
                        [self._resource_handle, tensor, self._default_value]):
            values: Tensor = ops.LookupTableFindV2(self._resource_handle, tensor, self._default_value)
        return SparseTensor(keys.indices, values, keys.dense_shape) if isinstance(keys, SparseTensor) else values

    def _export(self, scope: str, name: str | None) -> tuple[Tensor, Tensor]:
        with name_scope(name, f"{self.name}_{scope}", [self._resource_handle]):
            keys, values = ops.LookupTableExportV2(self._resource_handle, self._key_dtype, self._value_dtype)
        return keys, values


class InitializableLookupTableBase(OpTable):
    """Base of tables that an initializer fills.

    default_value: a scalar, the value of keys that are not in the table. initializer: of the table.

    >>> issubclass(tf.contrib.lookup.HashTable, tf.contrib.lookup.InitializableLookupTableBase)
    True
    """

    def __init__(self, default_value: Any, initializer: TableInitializerBase) -> None:
        with get_default_graph().control_dependencies(None):
            super().__init__(initializer.key_dtype, initializer.value_dtype, default_value)
            self._default_value.get_shape().merge_with(())
            self._initializer = initializer
            self._hold(self._create_resource())
            self._init_op = initializer.initialize(self)

    def _create_resource(self) -> Tensor:
        raise NotImplementedError

    @property
    def initializer(self) -> Operation:
        """The operation that fills the table; also part of `tf.tables_initializer()`."""
        return self._init_op

    @property
    def init(self) -> Operation:
        """`initializer` under its name in earlier releases."""
        return self._init_op


class StaticHashTable(InitializableLookupTableBase):
    """Lookup table that is filled once by its initializer and immutable after that.

    initializer: a KeyValueTensorInitializer or TextFileInitializer. default_value: the value of keys that are not in
    the table, a scalar. name: of its op, "hash_table" by default. Tables of the same text file and columns share
    their content in a session.

    Look-ups raise FailedPreconditionError before `sess.run(tf.tables_initializer())`; that raises it for a key that
    comes with two values. Raises TypeError for a default value of another dtype.

    >>> pairs = tf.lookup.KeyValueTensorInitializer(["cat", "dog"], [0, 1], value_dtype=tf.int64)
    >>> table = tf.lookup.StaticHashTable(pairs, default_value=-1)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run([table.lookup(tf.constant(["dog", "cow"])), table.size()])
    [array([ 1, -1]), 2]
    """

    def __init__(self, initializer: TableInitializerBase, default_value: Any, name: str | None = None) -> None:
        self._shared_name, self._op_name = initializer._shared_name, name or "hash_table"
        super().__init__(default_value, initializer)

    def _create_resource(self) -> Tensor:
        made: Tensor = ops.HashTableV2(
            key_dtype=self._key_dtype, value_dtype=self._value_dtype, shared_name=self._shared_name,
            use_node_name_sharing=not self._shared_name, name=self._op_name)
        return made

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return all keys and their values, two vectors."""
        keys, values = self._export("Export", name)
        values.set_shape(keys.get_shape().concatenate(self._value_shape))
        return keys, values


class HashTable(StaticHashTable):
    """Lookup table that is filled once by its initializer and immutable after that, of `tf.contrib.lookup`.

    initializer, default_value, name: as for `tf.lookup.StaticHashTable`. shared_name: tables of this name are one in a
    session, instead of those of one file.

    >>> pairs = tf.contrib.lookup.KeyValueTensorInitializer(["cat", "dog"], [0, 1], value_dtype=tf.int64)
    >>> table = tf.contrib.lookup.HashTable(pairs, -1)
    >>> sess.run(table.init)
    >>> sess.run(table.lookup(tf.constant(["dog", "cow"])))
    array([ 1, -1])
    """

    def __init__(self, initializer: TableInitializerBase, default_value: Any, shared_name: str | None = None,
                 name: str | None = None) -> None:
        self._shared_name, self._op_name = shared_name or "", name or "hash_table"
        InitializableLookupTableBase.__init__(self, default_value, initializer)
