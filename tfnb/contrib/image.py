"""`tf.contrib.image`: transforms and warps of images, connected areas, matchings, colors in YIQ."""
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
