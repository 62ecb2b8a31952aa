"""Elements in other places: `tf.manip`."""
# ruff: noqa: F401, I001
from tfnb.ops.array.gather import gather_nd
from tfnb.ops.array.scatter_nd import scatter_nd
from tfnb.ops.array.joining import tile
from tfnb.ops.array.reshape import reshape, reverse
from tfnb.ops.array.roll import roll
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
