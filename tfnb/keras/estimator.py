"""`tf.keras.estimator`."""
from tfnb.core.lazy import lazy_names as _lazy_names

__getattr__ = _lazy_names(__name__, {"model_to_estimator": "tfnb.estimator.keras_model"})
