"""User-defined ops: `tf.custom`."""
# ruff: noqa: F401
from tfnb.core.absent import without as _without
from tfnb.custom.elementwise import elementwise, reduction
from tfnb.custom.kernel import kernel
from tfnb.custom.optimizer import optimizer

__getattr__ = _without(__name__)
