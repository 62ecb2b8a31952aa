"""`tf.keras.applications.vgg16`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.applications.nets.parts import caffe_input as preprocess_input
from tfnb.keras.applications.nets.parts import decode_predictions
from tfnb.keras.applications.nets.vgg import VGG16

_explain(__name__)
