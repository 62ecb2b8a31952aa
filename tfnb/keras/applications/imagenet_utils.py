"""`tf.keras.applications.imagenet_utils`."""
# ruff: noqa: F401
from tfnb.keras.applications.nets.parts import decode_predictions, preprocess_input
