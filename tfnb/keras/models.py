"""`tf.keras.models`."""
from tfnb.core.lazy import lazy_names as _lazy_names

_PLACES = {
    "tfnb.keras.saving.json_text": "model_from_config model_from_json model_from_yaml",
    "tfnb.keras.saving.models": "clone_model load_model save_model",
    "tfnb.keras.training.model": "Model",
    "tfnb.keras.training.sequential": "Sequential",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
