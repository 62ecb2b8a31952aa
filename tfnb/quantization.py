"""Quantized and fake-quantized numbers: `tf.quantization`."""
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
