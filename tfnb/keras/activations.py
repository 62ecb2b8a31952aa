"""`tf.keras.activations`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.functions.activations import (
    deserialize,
    elu,
    exponential,
    get,
    hard_sigmoid,
    linear,
    relu,
    selu,
    serialize,
    sigmoid,
    softmax,
    softplus,
    softsign,
    tanh,
)

_explain(__name__)
