"""`tf.keras.preprocessing`: images, sequences, text."""
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module

image = _lazy_module("tfnb.keras.preprocessing.image")
sequence = _lazy_module("tfnb.keras.preprocessing.sequence")
text = _lazy_module("tfnb.keras.preprocessing.text")

_explain(__name__)
