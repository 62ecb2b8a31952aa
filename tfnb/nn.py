"""Neural network ops: `tf.nn`."""
# ruff: noqa: F401, I001
from tfnb.ops.cross_entropy import (
    log_poisson_loss, log_softmax, sigmoid_cross_entropy_with_logits, softmax, softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2, sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from tfnb.ops.embedding import embedding_lookup
from tfnb.ops.functions import sigmoid, tanh
from tfnb.ops.nn import (
    batch_normalization, bias_add, crelu, dropout, elu, l2_loss, leaky_relu, moments, relu, relu6, relu_layer, selu,
    silu, softplus, softsign, swish, xw_plus_b,
)
from tfnb.ops.reduce import l2_normalize, zero_fraction
from tfnb.ops.top import in_top_k, top_k
