"""Ops that are examples of how to add ops: `tf.user_ops`."""
# ruff: noqa: F401
from tfnb.ops.strings.string_ops import my_fact
