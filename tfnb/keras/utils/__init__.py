"""`tf.keras.utils`."""
from tfnb.core.lazy import lazy_names as _lazy_names

_PLACES = {
    "tfnb.keras.utils.graphs": "get_source_inputs multi_gpu_model plot_model",
    "tfnb.keras.utils.progress": "Progbar",
    "tfnb.keras.utils.arrays": "normalize to_categorical",
    "tfnb.keras.utils.files": "HDF5Matrix get_file",
    "tfnb.keras.utils.registry":
        "CustomObjectScope custom_object_scope deserialize_keras_object get_custom_objects serialize_keras_object",
    "tfnb.keras.utils.sequences": "GeneratorEnqueuer OrderedEnqueuer Sequence SequenceEnqueuer",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
