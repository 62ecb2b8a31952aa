"""Random values that seeds given as tensors decide: `tf.contrib.stateless`."""
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
