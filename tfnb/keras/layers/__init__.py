"""`tf.keras.layers`."""
from tfnb.core.lazy import lazy_names as _lazy_names

_PLACES = {
    "tfnb.keras.engine.input_layer": "Input InputLayer",
    "tfnb.keras.engine.layer": "Layer",
    "tfnb.keras.layers.serialization": "deserialize serialize",
    "tfnb.layers.input_spec": "InputSpec",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
