"""Ops that are examples of how to add ops: `tf.user_ops`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.ops.strings.string_ops import my_fact

_explain(__name__)
