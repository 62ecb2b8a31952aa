"""Ops that the rooms of Keras compose, by the names that `tf` and `tf.nn` have for them."""
# ruff: noqa: A004, F401, I001
from tfnb.autodiff.gradients import gradients
from tfnb.control_flow.cond import cond
from tfnb.control_flow.functional import foldl, foldr, map_fn
from tfnb.control_flow.tensor_array import TensorArray
from tfnb.control_flow.while_loop import while_loop
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import colocate_with, control_dependencies, get_default_graph, name_scope
from tfnb.image.resize import resize_bilinear, resize_nearest_neighbor
from tfnb.ops.array.counting import confusion_matrix, repeat
from tfnb.ops.array.create import eye, fill, linspace, ones, ones_like, range_ as range, zeros, zeros_like
from tfnb.ops.array.gather import boolean_mask, gather, gather_nd, one_hot, sequence_mask
from tfnb.ops.array.joining import broadcast_to, concat, pad, stack, tile, unstack
from tfnb.ops.array.reshape import (
    expand_dims, identity, rank, reshape, reverse, shape, size, squeeze, stop_gradient, transpose,
)
from tfnb.ops.array.scatter_nd import scatter_nd
from tfnb.ops.array.slicing import slice_ as slice, split
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.checks import print_ as Print
from tfnb.ops.control.group import group, no_op
from tfnb.ops.control.source import constant, placeholder, placeholder_with_default
from tfnb.ops.math.arithmetic import (
    abs, add, add_n, ceil, floor, maximum, minimum, multiply, negative, pow, reciprocal, round, sign, square,
    squared_difference, subtract,
)
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import (
    equal, greater, greater_equal, is_finite, is_nan, less, less_equal, logical_and, logical_not, logical_or,
    logical_xor, not_equal, where,
)
from tfnb.ops.math.division import div_no_nan, divide, floordiv, mod, truediv
from tfnb.ops.math.functions import cos, exp, expm1, log, log1p, rsqrt, sigmoid, sin, sqrt, tanh
from tfnb.ops.nn.activations import (
    batch_normalization, bias_add, dropout, elu, leaky_relu, moments, relu, relu6, selu, softplus, softsign,
)
from tfnb.ops.nn.batch_norm import fused_batch_norm
from tfnb.ops.nn.conv_functions import (
    conv1d, conv2d, conv2d_transpose, conv3d, conv3d_transpose, convolution, depthwise_conv2d, separable_conv2d,
)
from tfnb.ops.nn.cross_entropy import (
    log_softmax, sigmoid_cross_entropy_with_logits, softmax, softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from tfnb.ops.nn.pool_functions import avg_pool, avg_pool3d, max_pool, max_pool3d, pool
from tfnb.ops.random.random_ops import random_normal, random_shuffle, random_uniform, truncated_normal
from tfnb.ops.reductions.clip import clip_by_value
from tfnb.ops.reductions.einsum import einsum, meshgrid
from tfnb.ops.reductions.matmul import batch_matmul, matmul, tensordot
from tfnb.ops.reductions.reduce import (
    argmax, argmin, cumprod, cumsum, l2_normalize, norm, reduce_all, reduce_any, reduce_logsumexp, reduce_max,
    reduce_mean, reduce_min, reduce_prod, reduce_sum,
)
from tfnb.ops.reductions.top import in_top_k, top_k
from tfnb.ops.sparse.conversion import sparse_placeholder, sparse_tensor_to_dense
from tfnb.ops.state.assign import assign, assign_add, assign_sub
from tfnb.variables.embedding import embedding_lookup
from tfnb.variables.helpers import variables_initializer
from tfnb.variables.variable import Variable
