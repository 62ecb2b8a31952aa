"""`tf.keras.applications.imagenet_utils`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.applications.nets.parts import decode_predictions, preprocess_input

_explain(__name__)
