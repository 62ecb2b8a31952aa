"""`tf.keras.applications.nasnet`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.applications.nets.nasnet import NASNetLarge, NASNetMobile
from tfnb.keras.applications.nets.parts import decode_predictions
from tfnb.keras.applications.nets.parts import tf_input as preprocess_input

_explain(__name__)
