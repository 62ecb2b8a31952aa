"""`tf.keras` in graph mode."""
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.core.lazy import lazy_names as _lazy_names

activations = _lazy_module("tfnb.keras.activations")
applications = _lazy_module("tfnb.keras.applications")
backend = _lazy_module("tfnb.keras.backend")
callbacks = _lazy_module("tfnb.keras.callbacks")
constraints = _lazy_module("tfnb.keras.constraints")
datasets = _lazy_module("tfnb.keras.datasets")
estimator = _lazy_module("tfnb.keras.estimator")
experimental = _lazy_module("tfnb.keras.experimental")
initializers = _lazy_module("tfnb.keras.initializers")
layers = _lazy_module("tfnb.keras.layers")
losses = _lazy_module("tfnb.keras.losses")
metrics = _lazy_module("tfnb.keras.metrics")
models = _lazy_module("tfnb.keras.models")
optimizers = _lazy_module("tfnb.keras.optimizers")
preprocessing = _lazy_module("tfnb.keras.preprocessing")
regularizers = _lazy_module("tfnb.keras.regularizers")
utils = _lazy_module("tfnb.keras.utils")
wrappers = _lazy_module("tfnb.keras.wrappers")
__version__ = "2.2.4-tf"

_PLACES = {
    "tfnb.keras.engine.input_layer": "Input",
    "tfnb.keras.training.model": "Model",
    "tfnb.keras.training.sequential": "Sequential",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
