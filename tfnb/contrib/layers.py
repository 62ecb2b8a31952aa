"""`tf.contrib.layers`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
import sys as _sys

from tfnb.feature_column.contrib import (
    bucketized_column, create_feature_spec_for_parsing, crossed_column, embedding_column, input_from_feature_columns,
    make_place_holder_tensors_for_base_features, one_hot_column, parse_feature_columns_from_examples,
    real_valued_column, shared_embedding_columns, sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature, sparse_column_with_keys, sparse_column_with_vocabulary_file,
    transform_features, weighted_sparse_column, weighted_sum_from_feature_columns,
)
from tfnb.layers.contrib.initializers import (
    variance_scaling_initializer, xavier_initializer, xavier_initializer_conv2d,
)
from tfnb.layers.contrib.layers import (
    batch_norm, bias_add, conv1d, conv2d, conv2d_transpose, conv3d, convolution, convolution1d, convolution2d,
    convolution2d_transpose, convolution3d, dropout, embed_sequence, flatten, fully_connected, linear, elu, relu, relu6,
    separable_conv2d, separable_convolution2d,
)
from tfnb.layers.contrib.pools import avg_pool2d, avg_pool3d, max_pool2d, max_pool3d
from tfnb.layers.contrib.group_norm import group_norm, instance_norm, maxout, spatial_softmax
from tfnb.layers.contrib.layer_norm import layer_norm
from tfnb.layers.contrib.optimize_loss import OPTIMIZER_CLS_NAMES, OPTIMIZER_SUMMARIES, optimize_loss
from tfnb.losses.regularizers import (
    apply_regularization, l1_l2_regularizer, l1_regularizer, l2_regularizer, sum_regularizer,
)
from tfnb.layers.contrib.repeating import one_hot_encoding, repeat, softmax, stack, unit_norm
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.layers")        # contrib.layers.python and below

_explain(__name__)
