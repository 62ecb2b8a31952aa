"""`tf.keras.callbacks`."""
from tfnb.core.lazy import lazy_names as _lazy_names

_PLACES = {
    "tfnb.keras.callbacks.base": "BaseLogger Callback CallbackList History LambdaCallback TerminateOnNaN",
    "tfnb.keras.callbacks.files": "CSVLogger ModelCheckpoint RemoteMonitor",
    "tfnb.keras.callbacks.plateau": "EarlyStopping LearningRateScheduler ReduceLROnPlateau",
    "tfnb.keras.callbacks.progress": "ProgbarLogger",
    "tfnb.keras.callbacks.tensorboard": "TensorBoard",
}
__getattr__ = _lazy_names(__name__, {name: module for module, names in _PLACES.items() for name in names.split()})
