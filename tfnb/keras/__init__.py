"""`tf.keras` in graph mode."""
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.core.lazy import lazy_names as _lazy_names

activations = _lazy_module("tfnb.keras.activations")
backend = _lazy_module("tfnb.keras.backend")
constraints = _lazy_module("tfnb.keras.constraints")
initializers = _lazy_module("tfnb.keras.initializers")
layers = _lazy_module("tfnb.keras.layers")
losses = _lazy_module("tfnb.keras.losses")
metrics = _lazy_module("tfnb.keras.metrics")
regularizers = _lazy_module("tfnb.keras.regularizers")
utils = _lazy_module("tfnb.keras.utils")
__version__ = "2.2.4-tf"

_PLACES = {
    "tfnb.keras.engine.input_layer": "Input",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
