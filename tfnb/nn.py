"""Neural network ops: `tf.nn`."""
# ruff: noqa: F401, I001
from tfnb.ops.nn.cross_entropy import (
    log_poisson_loss, log_softmax, sigmoid_cross_entropy_with_logits, softmax, softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2, sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from tfnb.ops.math.functions import sigmoid, tanh
from tfnb.ops.nn.activations import (
    batch_norm_with_global_normalization, batch_normalization, bias_add, crelu, dropout, elu, l2_loss, leaky_relu,
    moments, relu, relu6, relu_layer, selu, silu, softplus, softsign, swish, xw_plus_b,
)
from tfnb.ops.reductions.reduce import l2_normalize, zero_fraction
from tfnb.ops.reductions.top import in_top_k, top_k
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.core.lazy import lazy_names as _lazy_names
from tfnb.ops.declaration.public import exports as _exports

rnn_cell = _lazy_module("tfnb.rnn.rnn_cell")
seq2seq = _lazy_module("tfnb.contrib.legacy_seq2seq")        # its place before 1.0
# Families that a program either uses or not: `import tfnb` doesn't wait for their kernels.
_PLACES = {
    "tfnb.losses.average": "compute_average_loss scale_regularization_loss",
    "tfnb.losses.sampled": "nce_loss sampled_softmax_loss",
    "tfnb.ops.nn.batch_norm": "fused_batch_norm",
    "tfnb.ops.nn.conv_functions":
        "atrous_conv2d atrous_conv2d_transpose conv1d conv1d_transpose conv2d conv2d_backprop_filter "
        "conv2d_backprop_input conv2d_transpose conv3d conv3d_backprop_filter conv3d_backprop_filter_v2 "
        "conv3d_transpose conv_transpose convolution deconv2d depthwise_conv2d depthwise_conv2d_backprop_filter "
        "depthwise_conv2d_backprop_input depthwise_conv2d_native depthwise_conv2d_native_backprop_filter "
        "depthwise_conv2d_native_backprop_input separable_conv2d",
    "tfnb.ops.nn.pool_functions":
        "avg_pool avg_pool1d avg_pool2d avg_pool3d avg_pool_v2 local_response_normalization lrn max_pool max_pool1d "
        "max_pool2d max_pool3d max_pool_v2 max_pool_with_argmax pool",
    "tfnb.ops.random.candidates":
        "compute_accidental_hits log_uniform_candidate_sampler uniform_candidate_sampler",
    "tfnb.rnn.dynamic": "bidirectional_dynamic_rnn dynamic_rnn raw_rnn",
    "tfnb.variables.embedding": "embedding_lookup",
    "tfnb.rnn.static": "bidirectional_rnn rnn state_saving_rnn static_bidirectional_rnn static_rnn "
                       "static_state_saving_rnn",
}
_LAZY = {name: module for module, names in _PLACES.items() for name in names.split()}
__getattr__ = _exports(__name__, _lazy_names(__name__, _LAZY))
