"""`tf.keras.backend`: sessions, the learning phase, settings, functions of tensors."""
from tfnb.core.lazy import lazy_names as _lazy_names

_PLACES = {
    "tfnb.keras.backend.config":
        "backend epsilon floatx image_data_format set_epsilon set_floatx set_image_data_format",
    "tfnb.keras.backend.phase": "learning_phase set_learning_phase",
    "tfnb.keras.backend.session":
        "clear_session get_session get_uid manual_variable_initialization reset_uids set_session",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
