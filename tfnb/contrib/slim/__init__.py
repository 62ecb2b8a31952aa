"""`tf.contrib.slim`: layers of tf.contrib.layers, variables, training and evaluation."""
# ruff: noqa: F401, I001, F403
from tfnb.core.absent import explain as _explain
from tfnb.contrib import framework as variables, layers, losses, metrics
from tfnb.contrib import layers as initializers, layers as regularizers
from tfnb.contrib.framework import (
    add_arg_scope, arg_scope, arg_scoped_arguments, assert_global_step, assign_from_checkpoint,
    assign_from_checkpoint_fn, create_global_step, get_global_step, get_local_variables, get_model_variables,
    get_or_create_global_step, get_trainable_variables, get_unique_variable, get_variables, get_variables_by_name,
    get_variables_by_suffix, get_variables_to_restore, has_arg_scope, local_variable, model_variable, variable,
)
from tfnb.contrib.layers import (
    apply_regularization, avg_pool2d, batch_norm, bias_add, conv1d, conv2d, conv2d_transpose, conv3d, convolution,
    convolution1d, convolution2d, convolution2d_transpose, convolution3d, dropout, embed_sequence, flatten,
    fully_connected, l1_l2_regularizer, l1_regularizer, l2_regularizer, layer_norm, linear, max_pool2d,
    one_hot_encoding, relu, relu6, repeat, separable_conv2d, separable_convolution2d, softmax, stack, sum_regularizer,
    unit_norm, variance_scaling_initializer, xavier_initializer, xavier_initializer_conv2d,
)
from tfnb.core.lazy import lazy_module as _lazy_module

data_decoder = _lazy_module("tfnb.slim.data_decoder")
data_provider = _lazy_module("tfnb.slim.data_decoder")
dataset = _lazy_module("tfnb.slim.dataset")
dataset_data_provider = _lazy_module("tfnb.slim.dataset_data_provider")
evaluation = _lazy_module("tfnb.slim.evaluation")
learning = _lazy_module("tfnb.slim.learning")
model_analyzer = _lazy_module("tfnb.slim.model_analyzer")
nets = _lazy_module("tfnb.contrib.slim.nets")
parallel_reader = _lazy_module("tfnb.slim.parallel_reader")
prefetch_queue = _lazy_module("tfnb.slim.prefetch_queue")
python = _lazy_module("tfnb.contrib.slim.python")
queues = _lazy_module("tfnb.slim.queues")
summaries = _lazy_module("tfnb.slim.summaries")
tfexample_decoder = _lazy_module("tfnb.slim.tfexample_decoder")
utils = _lazy_module("tfnb.layers.contrib.outputs")

_explain(__name__)
