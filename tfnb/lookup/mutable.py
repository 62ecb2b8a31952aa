"""Mutable lookup tables, which checkpoints keep."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, get_default_graph, name_scope
from tfnb.lookup.static import OpTable
from tfnb.ops.data_flow import table_ops as ops
from tfnb.train.checkpoints.saver_builder import SaveableObject, SaveSpec


class _TableSaveable(SaveableObject):
    """Saveable of a mutable table: its exported keys and values."""

    def __init__(self, table: MutableTable) -> None:
        name, exported = table.name, table.export()
        super().__init__(table, [SaveSpec(tensor, "", f"{name}-{what}")
                                 for tensor, what in zip(exported, ("keys", "values"), strict=True)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Any] | None) -> Any:
        """Return the op that replaces the table's entries by the restored ones."""
        handle = self.op.resource_handle
        with name_scope(f"{self.name}_table_restore"), colocate_with(handle):
            return ops.LookupTableImportV2(handle, *restored_tensors)


class MutableTable(OpTable):
    """Methods of the mutable tables. checkpoint: whether savers save it (collection SAVEABLE_OBJECTS)."""

    _lookup_scope = "lookup_table_find"

    def _finish(self, handle: Tensor, checkpoint: bool) -> None:
        self._hold(handle)
        if checkpoint:
            get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _TableSaveable(self))

    @staticmethod
    def _sharing(shared_name: str | None, checkpoint: bool, name: str) -> dict[str, Any]:
        """Return the attrs by which a table is shared; a saved one needs a name, and takes that of its op."""
        return {"shared_name": shared_name or "", "use_node_name_sharing": checkpoint and shared_name is None,
                "name": name}

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """Return an operation that sets the values of keys.

        keys: of any shape; values: of that shape and the shape of a value. Raises TypeError for other dtypes. Running
        it raises InvalidArgumentError for shapes that don't fit.
        """
        with name_scope(name, f"{self.name}_lookup_table_insert", [self._resource_handle]):
            keys = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            values = convert_to_tensor(values, dtype=self._value_dtype, name="values")
            made: Operation = ops.LookupTableInsertV2(self._resource_handle, keys, values)
            return made

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """Return an operation that drops the entries of keys. Raises TypeError for keys of another dtype."""
        keys = self._checked_keys(keys)
        with name_scope(name, f"{self.name}_lookup_table_remove", [self._resource_handle, keys]):
            made: Operation = ops.LookupTableRemoveV2(self._resource_handle, keys)
            return made

    insert_or_assign, erase = insert, remove

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return all keys and values; of a dense table all buckets, also those without an entry."""
        return self._export("lookup_table_export_values", name)


class MutableHashTable(MutableTable):
    """Mutable lookup table, which savers save.

    key_dtype, value_dtype: of keys and values. default_value: the value of keys that are not in the table, a scalar or
    a vector: the shape of all values. shared_name: tables of this name are one in a session. name: of its op, and in
    checkpoints. checkpoint: whether savers save it.

    >>> table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> sess.run(table.insert(["a", "b"], [7, 8]))
    >>> sess.run(table.lookup(tf.constant(["b", "c"])))
    array([ 8, -1])
    >>> sess.run(table.remove(tf.constant(["b"])))
    >>> sess.run(table.size())
    1
    """

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, shared_name: str | None = None,
                 name: str = "MutableHashTable", checkpoint: bool = True) -> None:
        super().__init__(key_dtype, value_dtype, default_value)
        types: dict[str, Any] = {"key_dtype": self._key_dtype, "value_dtype": self._value_dtype,
                                 **self._sharing(shared_name, checkpoint, name)}
        shape = self._value_shape
        self._finish(ops.MutableHashTableOfTensorsV2(value_shape=shape, **types) if shape.ndims
                     else ops.MutableHashTableV2(**types), checkpoint)


class DenseHashTable(MutableTable):
    """Mutable lookup table in one array of buckets, which savers save.

    key_dtype, value_dtype, shared_name, name, checkpoint: as for MutableHashTable. default_value: of any shape, that of
    all values. empty_key, deleted_key: two keys, of the shape of all keys, that mark buckets and are no keys of
    entries. initial_num_buckets: a power of 2, 131072 by default; more are taken where needed.

    Running its ops raises InvalidArgumentError for these two keys, and for keys and values of other shapes.

    >>> table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, default_value=[0., 0.], empty_key=-1,
    ...                                               deleted_key=-2, initial_num_buckets=8)
    >>> sess.run(table.insert(tf.constant([3, 5], tf.int64), [[1., 2.], [3., 4.]]))
    >>> sess.run(table.lookup(tf.constant([5, 6], tf.int64)))
    array([[3., 4.],
           [0., 0.]], dtype=float32)
    """

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, empty_key: Any, deleted_key: Any,
                 initial_num_buckets: int | None = None, shared_name: str | None = None,
                 name: str = "MutableDenseHashTable", checkpoint: bool = True) -> None:
        super().__init__(key_dtype, value_dtype, default_value)
        empty = convert_to_tensor(empty_key, dtype=dtypes.as_dtype(key_dtype), name="empty_key")
        deleted = convert_to_tensor(deleted_key, dtype=dtypes.as_dtype(key_dtype), name="deleted_key")
        buckets: dict[str, Any] = {} if initial_num_buckets is None else {"initial_num_buckets": initial_num_buckets}
        self._finish(ops.MutableDenseHashTableV2(
            empty, deleted, value_dtype=self._value_dtype, value_shape=self._value_shape, **buckets,
            **self._sharing(shared_name, checkpoint, name)), checkpoint)

    def _default_name(self) -> dict[str, str]:
        return {"name": "default_value"}


class MutableDenseHashTable(DenseHashTable):
    __doc__ = (DenseHashTable.__doc__ or "").replace("lookup.experimental.DenseHashTable",
                                                     "contrib.lookup.MutableDenseHashTable")
