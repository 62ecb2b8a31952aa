"""User-defined ops: `tf.custom`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.custom.elementwise import elementwise, reduction
from tfnb.custom.kernel import kernel
from tfnb.custom.optimizer import optimizer

_explain(__name__)
