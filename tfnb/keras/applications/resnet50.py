"""`tf.keras.applications.resnet50`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.applications.nets.parts import caffe_input as preprocess_input
from tfnb.keras.applications.nets.parts import decode_predictions
from tfnb.keras.applications.nets.residual import ResNet50

_explain(__name__)
