"""`tf.keras.applications.densenet`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.applications.nets.dense import DenseNet121, DenseNet169, DenseNet201
from tfnb.keras.applications.nets.parts import decode_predictions
from tfnb.keras.applications.nets.parts import torch_input as preprocess_input

_explain(__name__)
