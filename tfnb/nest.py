"""Nested structures of values: `tf.nest`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.core.nest import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as

_explain(__name__)
