"""Sounds, as programs import them: `from tensorflow.contrib.framework.python.ops import audio_ops`."""
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
