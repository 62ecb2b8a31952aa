"""Buffers of tuples between the runs of a session: `tf.contrib.staging`."""
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
