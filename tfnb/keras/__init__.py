"""`tf.keras` in graph mode."""
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.core.lazy import lazy_names as _lazy_names

backend = _lazy_module("tfnb.keras.backend")
layers = _lazy_module("tfnb.keras.layers")
utils = _lazy_module("tfnb.keras.utils")
__version__ = "2.2.4-tf"

_PLACES = {
    "tfnb.keras.engine.input_layer": "Input",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
