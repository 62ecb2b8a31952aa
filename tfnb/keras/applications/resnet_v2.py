"""`tf.keras.applications.resnet_v2`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.applications.nets.parts import decode_predictions
from tfnb.keras.applications.nets.parts import tf_input as preprocess_input
from tfnb.keras.applications.nets.residual import ResNet50V2, ResNet101V2, ResNet152V2

_explain(__name__)
