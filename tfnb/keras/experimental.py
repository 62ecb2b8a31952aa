"""`tf.keras.experimental`."""
from tfnb.core.lazy import lazy_names as _lazy_names

_PLACES = {
    "tfnb.keras.layers.cells": "PeepholeLSTMCell",
    "tfnb.keras.layers.dense_features": "SequenceFeatures",
    "tfnb.keras.optimizers.schedules": "CosineDecay CosineDecayRestarts LinearCosineDecay NoisyLinearCosineDecay",
    "tfnb.keras.saving.models": "export_saved_model load_from_saved_model",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
