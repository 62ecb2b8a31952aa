"""`tf.keras.activations`."""
# ruff: noqa: F401
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
