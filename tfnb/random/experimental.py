"""`tf.random.experimental`: generators with a state."""
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
