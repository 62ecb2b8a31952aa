"""Spectra: `tf.spectral`, the older name of part of `tf.signal`."""
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
