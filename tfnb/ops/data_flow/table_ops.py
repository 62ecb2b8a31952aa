"""Ops of lookup tables: maps from keys to values, which are resources of the session (`resources/tables.py`).

Each op is there twice: behind the string reference of releases before 1.0, and, with "V2", behind a resource handle.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType, string
from tfnb.core.errors import FailedPreconditionError, OutOfRangeError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local
from tfnb.core.shape import Static, merge
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import behind_handle, host
from tfnb.ops.strings.hashing import MASK, murmur
from tfnb.resources.tables import DenseTable, Key, StaticTable, Table, invalid

LINE_NUMBER, WHOLE_LINE = -1, -2                   # what takes the place of a column of a text file

_SHARED: dict[str, Any] = {"container": "string = ''", "shared_name": "string = ''",
                           "use_node_name_sharing": "bool = false", "key_dtype": "type", "value_dtype": "type"}
_VALUES: dict[str, Any] = {**_SHARED, "value_shape": "shape = []"}


# ---- tables ----------------------------------------------------------------------------------------------------------

def _made(ctx: Any, kind: type[Table], make: Callable[[Any, Any], Table]) -> np.ndarray:
    """Return the handle of this op's table in the session, made at its first use, and checked against `ctx.op`."""
    attrs = ctx.op.attrs
    keys, values = (np.dtype(attrs[name].as_numpy_dtype) for name in ("key_dtype", "value_dtype"))
    held = ctx.store.resource(ctx.op, lambda: make(keys, values))
    if type(held) is not kind:
        raise invalid(f"Expected a {kind.__name__} under the name '{_name(ctx)}', got a {type(held).__name__}")
    if (held.key_dtype, held.value_dtype) != (keys, values):
        raise invalid(f"Conflicting key/value dtypes {attrs['key_dtype'].name}->{attrs['value_dtype'].name} with "
                      f"{held.key_dtype}->{held.value_dtype} for table {_name(ctx)}")
    return held.handle


def _name(ctx: Any) -> str:
    return ctx.op.attrs["shared_name"].decode() or str(ctx.op.name)


@host("-> table_handle: Ref(string)", shape=shapes.scalar, stateful=True, **_SHARED)
def HashTable(*, ctx: Any) -> Any:
    """Create a table that is initialized once and immutable after that."""
    return _made(ctx, StaticTable, StaticTable)


@host("-> table_handle: Ref(string)", shape=shapes.scalar, stateful=True, **_SHARED)
def MutableHashTable(*, ctx: Any) -> Any:
    """Create an empty table of scalars, which ops insert into."""
    return _made(ctx, Table, Table)


@host("-> table_handle: Ref(string)", shape=shapes.scalar, stateful=True, **_VALUES)
def MutableHashTableOfTensors(*, value_shape: Static, ctx: Any) -> Any:
    """Create an empty table of vectors of one size, which ops insert into."""
    if value_shape is None or len(value_shape) != 1 or value_shape[0] is None:
        raise invalid(f"Default value must be a vector, got shape {value_shape}")
    size = value_shape[0]
    return _made(ctx, Table, lambda keys, values: Table(keys, values, (size,)))


_BUCKETS: dict[str, Any] = {**_VALUES, "initial_num_buckets": "int = 131072", "max_load_factor": "float = 0.8"}


def _dense(ctx: Any, empty: np.ndarray, deleted: np.ndarray | None) -> np.ndarray:
    attrs = ctx.op.attrs

    def make(keys: Any, values: Any) -> Table:
        hashed = murmur if keys.hasobject else lambda key: int(key) & MASK
        return DenseTable(values, tuple(attrs["value_shape"]), empty, deleted, hashed, attrs["initial_num_buckets"],
                          attrs["max_load_factor"])
    return _made(ctx, DenseTable, make)


@host("empty_key: key_dtype -> table_handle: Ref(string)", shape=shapes.scalar, stateful=True, **_BUCKETS)
def MutableDenseHashTable(empty_key: Any, *, ctx: Any) -> Any:
    """Create an empty table in buckets. `empty_key` marks those without an entry; entries are never removed."""
    return _dense(ctx, empty_key, None)


@host("empty_key: key_dtype, deleted_key: key_dtype -> table_handle: resource", shape=shapes.scalar, stateful=True,
      **_BUCKETS)
def MutableDenseHashTableV2(empty_key: Any, deleted_key: Any, *, ctx: Any) -> Any:
    """Create an empty table in buckets. `empty_key` marks those without an entry, `deleted_key` those that had one."""
    return _dense(ctx, empty_key, deleted_key)


# ---- use of a table --------------------------------------------------------------------------------------------------

def _value_shape(ctx: Any) -> Static:
    """Return the shape of a value as the table behind the handle states it, None where the graph does not tell."""
    attrs = ctx.op.inputs[0].op.attrs
    return attrs.get("value_shape", ()) if "value_dtype" in attrs else None


def _found(ctx: Any) -> list[Static]:
    keys, value = ctx.shape(1), _value_shape(ctx)
    if keys is None or value is None:
        return [None]
    return [(keys[:1] if _is_dense(ctx) else keys) + value]


def _is_dense(ctx: Any) -> bool:
    """Return whether the table behind the handle is one whose keys may be arrays, as far as the graph tells."""
    return "empty_key" in [arg.name for arg in ctx.op.inputs[0].op.spec.inputs]


def _exported(ctx: Any) -> list[Static]:
    """Check the dtypes: behind a handle, an export asks for those of the table."""
    _check_dtypes(ctx, ctx.attrs["Tkeys"], ctx.attrs["Tvalues"])
    return [None, None]


def _check_dtypes(ctx: Any, keys: DType, values: DType) -> None:
    attrs = ctx.op.inputs[0].op.attrs
    for got, want in ((keys, attrs.get("key_dtype")), (values, attrs.get("value_dtype"))):
        if want is not None and want != got:
            raise ValueError(f"Trying to read value with wrong dtype. Expected {want.name} got {got.name}")


def _loaded(ctx: Any) -> list[Static]:
    """Check that there is a value for each key."""
    keys, values = ctx.shape(1), ctx.shape(2)
    if not _is_dense(ctx):
        keys = merge(keys, (None,))
    if keys is not None and values is not None:
        if not keys or not values:
            raise ValueError(f"Expected keys and values of rank 1 or more, got shapes {keys} and {values}")
        merge(keys[:1], values[:1])
    return []


def _checked(ctx: Any, handle: Any, keys: Any, values: Any = None) -> Table:
    """Return the table behind a handle. Raises InvalidArgumentError for keys or values of other dtypes."""
    held = handle[()]
    if not isinstance(held, Table):
        raise invalid(f"Expected the handle of a lookup table, got that of a {type(held).__name__}")
    for what, got, want in (("key", keys, held.key_dtype), ("value", values, held.value_dtype)):
        if got is not None and got.as_numpy_dtype != want:
            raise invalid(f"Table {ctx.op.inputs[0].op.name} expects {what}s of dtype "
                          f"{_dtype_name(want)}, got {got.name}")
    return held


_TYPES: dict[str, Any] = {"Tin": "type", "Tout": "type"}


@host("table_handle: Ref(string), keys: Tin, default_value: Tout -> values: Tout", shape=_found, **_TYPES)
def LookupTableFind(table: Any, keys: Any, default: Any, *, Tin: DType, Tout: DType, ctx: Any) -> Any:
    """Return the value of each key, `default_value` for keys that are not in the table."""
    return _checked(ctx, table, Tin, Tout).find(keys, default)


@host("table_handle: Ref(string), keys: Tin, values: Tout", shape=shapes.unknown, **_TYPES)
def LookupTableInsert(table: Any, keys: Any, values: Any, *, Tin: DType, Tout: DType, ctx: Any) -> Any:
    """Set the values of keys in a mutable table."""
    _checked(ctx, table, Tin, Tout).insert(keys, values)
    return ()


@host("table_handle: Ref(string), keys: Tin, values: Tout", shape=_loaded, **_TYPES)
def LookupTableImport(table: Any, keys: Any, values: Any, *, Tin: DType, Tout: DType, ctx: Any) -> Any:
    """Replace what is in a table by what an export of it returned."""
    _checked(ctx, table, Tin, Tout).load(keys, values)
    return ()


@host("table_handle: Ref(string) -> keys: Tkeys, values: Tvalues", shape=_exported, Tkeys="type", Tvalues="type")
def LookupTableExport(table: Any, *, Tkeys: DType, Tvalues: DType, ctx: Any) -> Any:
    """Return all keys and values of a table."""
    return _checked(ctx, table, Tkeys, Tvalues).export()


@host("table_handle: Ref(string) -> size: int64", shape=shapes.scalar)
def LookupTableSize(table: Any, *, ctx: Any) -> Any:
    """Return the number of entries of a table."""
    return np.int64(_checked(ctx, table, None).size())


@host("table_handle: resource, keys: Tin", shape=shapes.unknown, stateful=True, Tin="type")
def LookupTableRemoveV2(table: Any, keys: Any, *, Tin: DType, ctx: Any) -> Any:
    """Drop the entries of keys from a mutable table; keys that are not in it are ignored."""
    _checked(ctx, table, Tin).remove(keys)
    return ()


# ---- initialization --------------------------------------------------------------------------------------------------

@host("table_handle: Ref(string), keys: Tkey, values: Tval", shape=_loaded, Tkey="type", Tval="type")
def InitializeTable(table: Any, keys: Any, values: Any, *, Tkey: DType, Tval: DType, ctx: Any) -> Any:
    """Initialize a table with keys and their values, two vectors of one size."""
    _initialized(_checked(ctx, table, Tkey, Tval)).load(keys, values)
    return ()


def _initialized(held: Table) -> StaticTable:
    if not isinstance(held, StaticTable):
        raise invalid("Expected a HashTable to initialize, got a mutable table: insert into it")
    return held


@host("table_handle: Ref(string), filename: string", shape=lambda ctx: [], ranks={"filename": 0},
      key_index="int >= -2", value_index="int >= -2", vocab_size="int >= -1 = -1", delimiter="string = '\t'",
      offset="int = 0")
def InitializeTableFromTextFile(table: Any, filename: Any, *, key_index: int, value_index: int, vocab_size: int,
                                delimiter: bytes, offset: int, ctx: Any) -> Any:
    """Initialize a table from the columns of a text file: -1 for the number of the line, -2 for all of it."""
    held = _initialized(_checked(ctx, table, None))
    if len(delimiter) != 1:
        raise invalid(f"Expected a delimiter of one character, got {delimiter!r}")
    read = [_column(name, index, dtype, delimiter, offset) for name, index, dtype in (
        ("key", key_index, held.key_dtype), ("value", value_index, held.value_dtype))]
    try:
        held.initialize(lambda: list(entries(filename[()], vocab_size, read)))
    except FailedPreconditionError:
        if not held.ready:
            raise
    return ()


Read = Callable[[int, bytes], Any]


def entries(name: bytes, count: int, read: list[Read]) -> Iterator[tuple[Key, Any]]:
    """Yield the keys and values of the first `count` lines of a file, -1: of all."""
    number = -1
    with os_errors(name), open(local(name), "rb") as file:
        for number, line in enumerate(file):
            if number == count:
                return
            text = line.replace(b"\r", b"").removesuffix(b"\n")
            yield read[0](number, text), read[1](number, text)
    if number < 0:
        raise OutOfRangeError(None, None, f"expected lines in {name.decode()}, got an empty file")
    if number + 1 < count:
        raise invalid(f"Invalid vocab_size in {name.decode()}: expected {count} but got {number + 1}")


def _column(role: str, index: int, dtype: Any, delimiter: bytes, offset: int) -> Read:
    """Return the function that reads a column of a line as `dtype`; role: "key" or "value", for messages."""
    if index == LINE_NUMBER:
        if dtype != np.int64:
            raise invalid(f"{role.capitalize()} index for line number requires dtype int64, got {_dtype_name(dtype)}")
        return lambda number, line: number + offset
    parse = _parser(dtype)

    def column(number: int, line: bytes) -> Any:
        parts = [line] if index == WHOLE_LINE else line.split(delimiter)
        if index >= len(parts):
            raise invalid(f"Invalid number of columns in line {number} ({line!r}): expected at least {index + 1}, got "
                          f"{len(parts)}")
        text = parts[max(index, 0)]
        try:
            return parse(text)
        except ValueError:
            raise invalid(f"Field {text!r} in line {number} is not a valid {_dtype_name(dtype)}.") from None
    return column


def _dtype_name(dtype: Any) -> str:
    return string.name if dtype.hasobject else str(dtype)


def _parser(dtype: Any) -> Callable[[bytes], Any]:
    if dtype.hasobject:
        return bytes
    if dtype.kind not in "iuf":
        raise invalid(f"Expected a table of strings, integers or floats to read from a file, got {_dtype_name(dtype)}")
    return lambda text: dtype.type(text.decode("latin-1")).item()


def _v2(of: Any) -> Any:
    made = behind_handle(of, f"{of.spec.name}V2")
    for op in (of, made):
        op.no_gradient("a table stands between computations")
    return made


HashTableV2 = _v2(HashTable)
MutableHashTableV2 = _v2(MutableHashTable)
MutableHashTableOfTensorsV2 = _v2(MutableHashTableOfTensors)
LookupTableFindV2 = _v2(LookupTableFind)
LookupTableInsertV2 = _v2(LookupTableInsert)
LookupTableImportV2 = _v2(LookupTableImport)
LookupTableExportV2 = _v2(LookupTableExport)
LookupTableSizeV2 = _v2(LookupTableSize)
InitializeTableV2 = _v2(InitializeTable)
InitializeTableFromTextFileV2 = _v2(InitializeTableFromTextFile)
for _op in (MutableDenseHashTable, MutableDenseHashTableV2, LookupTableRemoveV2):
    _op.no_gradient("a table stands between computations")
