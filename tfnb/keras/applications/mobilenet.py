"""`tf.keras.applications.mobilenet`."""
# ruff: noqa: F401
from tfnb.keras.applications.nets.mobile import MobileNet
from tfnb.keras.applications.nets.parts import decode_predictions
from tfnb.keras.applications.nets.parts import tf_input as preprocess_input
