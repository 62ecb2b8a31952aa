"""`tf.contrib.image`: projective transforms of images."""
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
