"""Strings: `tf.strings`."""
# ruff: noqa: F401, I001
from tfnb.ops.strings.numbers import as_string, string_to_number as to_number
from tfnb.ops.strings.string_ops import string_join as join, substr
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
