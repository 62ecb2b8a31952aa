"""`tf.keras.applications.xception`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.applications.nets.parts import decode_predictions
from tfnb.keras.applications.nets.parts import tf_input as preprocess_input
from tfnb.keras.applications.nets.separable import Xception

_explain(__name__)
