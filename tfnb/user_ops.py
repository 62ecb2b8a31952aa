"""Ops that are examples of how to add ops: `tf.user_ops`."""
# ruff: noqa: F401
from tfnb.ops.strings import my_fact
