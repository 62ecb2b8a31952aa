"""Lookup tables: `tf.contrib.lookup`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.lookup.initializers import (
    KeyValueTensorInitializer,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
)
from tfnb.lookup.mutable import MutableDenseHashTable, MutableHashTable
from tfnb.lookup.static import HashTable, InitializableLookupTableBase, LookupInterface
from tfnb.lookup.vocabulary import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    StrongHashSpec,
    index_table_from_file,
    index_table_from_tensor,
    index_to_string,
    index_to_string_table_from_file,
    index_to_string_table_from_tensor,
    string_to_index,
)

string_to_index_table_from_file = index_table_from_file         # their names before 1.0
string_to_index_table_from_tensor = index_table_from_tensor

_explain(__name__)
