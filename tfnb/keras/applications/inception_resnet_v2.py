"""`tf.keras.applications.inception_resnet_v2`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.applications.nets.inception import InceptionResNetV2
from tfnb.keras.applications.nets.parts import decode_predictions
from tfnb.keras.applications.nets.parts import tf_input as preprocess_input

_explain(__name__)
