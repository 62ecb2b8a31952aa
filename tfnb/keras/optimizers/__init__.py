"""`tf.keras.optimizers`."""
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.core.lazy import lazy_names as _lazy_names

schedules = _lazy_module("tfnb.keras.optimizers.schedules")

_PLACES = {
    "tfnb.keras.optimizers.lookup": "deserialize get serialize",
    "tfnb.keras.optimizers.optimizer": "Optimizer",
    "tfnb.keras.optimizers.rules": "Adadelta Adagrad Adam Adamax Ftrl Nadam RMSprop SGD",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
