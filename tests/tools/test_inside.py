"""Modules inside of TensorFlow: where programs import from though it is not public. Cases in processes of their own."""
from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
import pytest

import tfnb as tf
from tfnb.opdef import registry
from tfnb.tools import paths
from tfnb.tools.inside import inside, snake_case

ROOT = Path(__file__).resolve().parents[2]
# All that must work, as programs of each era write it.
IMPORTS = """
from tensorflow.python.lib.io import file_io, tf_record, python_io
from tensorflow.python.framework import constant_op, dtypes, errors, graph_util, importer, ops, random_seed
from tensorflow.python.framework import sparse_tensor, tensor_shape, tensor_util, test_util, meta_graph, graph_io
from tensorflow.python.framework import device
from tensorflow.python.ops import array_ops, check_ops, clip_ops, control_flow_ops, data_flow_ops, embedding_ops
from tensorflow.python.ops import gradients, gen_array_ops, gen_io_ops, gen_math_ops, gen_nn_ops, gen_state_ops
from tensorflow.python.ops import gen_training_ops
from tensorflow.python.ops import image_ops, init_ops, io_ops, linalg_ops, logging_ops, math_ops, nn, nn_impl, nn_ops
from tensorflow.python.ops import parsing_ops, partitioned_variables, random_ops, rnn, rnn_cell, rnn_cell_impl
from tensorflow.python.ops import script_ops, resource_variable_ops, sparse_ops, state_ops, string_ops, template
from tensorflow.python.ops import tensor_array_ops
from tensorflow.python.ops import variable_scope as vs, variables, functional_ops, candidate_sampling_ops, standard_ops
from tensorflow.python.training import adam, checkpoint_utils, coordinator, learning_rate_decay, monitored_session
from tensorflow.python.training import moving_averages, optimizer, queue_runner, saver, session_run_hook, slot_creator
from tensorflow.python.training import training_ops, training_util, basic_session_run_hooks, input, supervisor, training
from tensorflow.python.layers import base, convolutional, core, layers, normalization, pooling, utils
from tensorflow.python.saved_model import builder, loader, main_op, signature_constants, signature_def_utils
from tensorflow.python.saved_model import tag_constants
from tensorflow.python.client import device_lib, session, timeline
from tensorflow.python.platform import app, flags, gfile, googletest, resource_loader, test, tf_logging
from tensorflow.python.util import compat, nest, tf_inspect, deprecation
from tensorflow.python.data.ops import dataset_ops, iterator_ops
from tensorflow.python.eager import context
from tensorflow.python.tools import freeze_graph, inspect_checkpoint
from tensorflow.python import pywrap_tensorflow, control_flow_ops, gfile, timeline
from tensorflow.python.pywrap_tensorflow import NewCheckpointReader
from tensorflow.python.framework.test_util import TensorFlowTestCase, run_deprecated_v1
from tensorflow.python.framework.ops import IndexedSlices, RegisterGradient, Tensor, convert_n_to_tensor, name_scope
from tensorflow.python.framework.tensor_shape import TensorShape, as_shape, unknown_shape
from tensorflow.python.framework.tensor_util import MakeNdarray, constant_value, is_tensor, make_tensor_proto
from tensorflow.python.framework.errors_impl import InvalidArgumentError
from tensorflow.python.lib.io.file_io import FileIO, file_exists, get_matching_files, read_file_to_string
from tensorflow.python.lib.io.tf_record import TFRecordCompressionType, TFRecordOptions, TFRecordWriter
from tensorflow.python.ops.rnn_cell_impl import LSTMStateTuple, RNNCell, _linear, assert_like_rnncell
from tensorflow.python.ops.rnn_cell import _linear, BasicLSTMCell
from tensorflow.python.ops.gen_nn_ops import _max_pool_grad, max_pool_grad, conv2d_backprop_input
from tensorflow.python.ops.control_flow_ops import cond, group, merge, switch, with_dependencies
from tensorflow.python.ops.init_ops import Constant, Initializer, Zeros, glorot_uniform_initializer
from tensorflow.python.ops.variables import PartitionedVariable, Variable, VariableV1
from tensorflow.python.ops.math_ops import *
from tensorflow.python.ops.losses.losses import softmax_cross_entropy
from tensorflow.python.ops.losses.losses_impl import Reduction
from tensorflow.python.training.moving_averages import assign_moving_average
from tensorflow.python.training.training_ops import apply_adam, apply_gradient_descent
from tensorflow.python.training.checkpoint_management import latest_checkpoint
from tensorflow.python.layers.core import Dense, dense
from tensorflow.python import keras
from tensorflow.python.keras import backend as K, layers
from tensorflow.python.keras.layers import Dense, Input
from tensorflow.python.keras.layers.core import Lambda
from tensorflow.python.keras.engine.base_layer import Layer
from tensorflow.python.keras.utils.np_utils import to_categorical
from tensorflow.python.keras.datasets.mnist import load_data
from tensorflow.python.keras.preprocessing.image import ImageDataGenerator
from tensorflow.python.keras.applications.vgg16 import VGG16, preprocess_input
from tensorflow.contrib.keras.python.keras.layers import Dense
from tensorflow.contrib.keras.api.keras.models import Sequential
from tensorflow_core.python.keras.optimizers import Adam
from tensorflow_core.contrib.rnn import LSTMCell
from tensorflow_estimator.python.estimator.estimator import Estimator
from tensorflow.python.estimator.model_fn import EstimatorSpec, ModeKeys
from tensorflow.python.estimator.canned import dnn, head, metric_keys, prediction_keys
from tensorflow.python.estimator.canned.prediction_keys import PredictionKeys
from tensorflow.python.estimator.export.export import ServingInputReceiver
from tensorflow.python.estimator.inputs.numpy_io import numpy_input_fn
from tensorflow.python.feature_column.feature_column import numeric_column
from tensorflow.python.ops.lookup_ops import HashTable, index_table_from_file, index_table_from_tensor
from tensorflow.python.ops.parallel_for.gradients import batch_jacobian, jacobian
from tensorflow.python.ops.rnn_cell_impl import _Linear, _concat, _like_rnncell, _zero_state_tensors
from tensorflow.python.ops.rnn import _best_effort_input_batch_size, _transpose_batch_time
from tensorflow.python.ops.data_flow_ops import StagingArea
from tensorflow.python.ops import inplace_ops, weights_broadcast_ops
from tensorflow.python.layers.convolutional import Convolution2D, Convolution3DTranspose
from tensorflow.python.framework.function import Defun
from tensorflow.python.eager.context import in_graph_mode
from tensorflow.python.data.util import nest
from tensorflow.python.util import all_util, function_utils, tf_contextlib, tf_decorator
from tensorflow.python.util.nest import flatten_up_to, is_sequence
from tensorflow.python.util.deprecation import deprecated_arg_values, deprecated_args
from tensorflow.python.training.evaluation import _evaluate_once
from tensorflow.python.tf2 import enabled
from tensorflow.python.ops.confusion_matrix import confusion_matrix, remove_squeezable_dimensions
from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import _BaseAttentionMechanism, _bahdanau_score
from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import _compute_attention, _maybe_mask_score
from tensorflow.contrib.learn.python.learn.preprocessing.text import VocabularyProcessor
from tensorflow.contrib.framework.python.ops.variables import add_model_variable
from tensorflow.contrib.signal import stft
from tensorflow.contrib.predictor import from_saved_model
from tensorflow.contrib.tpu.python.tpu import tpu_config, tpu_estimator, tpu_function, tpu_optimizer
from tensorflow.contrib.losses.python.metric_learning.metric_loss_ops import npairs_loss, triplet_semihard_loss
from tensorflow.python.ops.rnn import rnn_cell_impl
from tensorflow.contrib.slim.python.slim.data import data_decoder, dataset_data_provider, tfexample_decoder
from tensorflow.contrib.slim.python.slim.data.data_decoder import DataDecoder
from tensorflow.python.layers.utils import smart_cond
from tensorflow.python.summary.writer.writer import FileWriter
from tensorflow.python.summary.summary_iterator import summary_iterator
from tensorflow.python.user_ops import user_ops
from tensorflow.python.util.tf_export import tf_export
from tensorflow.contrib.rnn.python.ops import core_rnn, core_rnn_cell, rnn_cell
from tensorflow.contrib.rnn.python.ops.core_rnn import static_rnn
from tensorflow.contrib.rnn.python.ops.core_rnn_cell import BasicLSTMCell, EmbeddingWrapper, _linear
from tensorflow.contrib.rnn.python.ops.core_rnn_cell_impl import _linear
from tensorflow.contrib.rnn import GRUBlockCellV2, LayerNormBasicLSTMCell, LSTMBlockCell, PhasedLSTMCell
from tensorflow.contrib.layers.python.layers import batch_norm, initializers, layers, regularizers, utils
from tensorflow.contrib.layers.python.layers.layers import batch_norm, layer_norm
from tensorflow.contrib.framework.python.ops import add_arg_scope, arg_scope, variables
from tensorflow.contrib.framework.python.ops.variables import get_or_create_global_step
from tensorflow.contrib.learn.python.learn.datasets import base, mnist
from tensorflow.contrib.learn.python.learn.datasets.mnist import DataSet, read_data_sets
from tensorflow.contrib.learn.datasets import load_dataset
from tensorflow.contrib.legacy_seq2seq.python.ops import seq2seq
from tensorflow.models.rnn import rnn, rnn_cell, seq2seq
from tensorflow.ops import reset_default_graph
from tensorflow.core.framework import attr_value_pb2, graph_pb2, node_def_pb2, summary_pb2, types_pb2
from tensorflow.core.example import example_pb2
import tensorflow.python.platform
import tensorflow.python.ops.array_ops as array_ops
import tensorflow.contrib.slim as slim
from tensorflow.contrib.slim.nets import resnet_v1, vgg
from tensorflow.contrib.slim.python.slim.nets.resnet_v1 import resnet_arg_scope, resnet_v1_50
from tensorflow.contrib.slim.python.slim.learning import train_step
"""
ABSENT = {
    "from tensorflow.python.ops import nothing": "ImportError: cannot import name 'nothing'",
    "from tensorflow.python.framework.ops import nothing": "ImportError: cannot import name 'nothing'",
    "from tensorflow.python.ops.nn_ops import _nothing": "ImportError: cannot import name '_nothing'",
    "from tensorflow.contrib.layers.python.layers.layers import nothing": "ImportError: cannot import name 'nothing'",
    "import tensorflow.python.ops.nothing": "ModuleNotFoundError: No module named 'tensorflow.python.ops.nothing'",
    "import tensorflow.contrib.nothing.python": "ModuleNotFoundError: No module named 'tensorflow.contrib.nothing'",
    "import tensorflow.contrib.layers.python.nothing": "ModuleNotFoundError: No module named",
    "import tensorflow.python.keras.nothing": "ModuleNotFoundError: No module named 'tensorflow.python.keras.nothing'",
}
PROGRAM = """
import sys
import tfnb
tfnb.install_as_tensorflow()
import tensorflow as tf
imports, absent, modules = eval(sys.stdin.read())
for statement in imports.strip().split("\\n"):
    try:
        exec(statement, {})
    except Exception as error:
        print(f"{statement}: {error!r}")
for statement, wanted in absent.items():
    try:
        exec(statement, {})
    except Exception as error:
        if not f"{type(error).__name__}: {error}".startswith(wanted):
            print(f"{statement}: {error!r}, not {wanted}")
    else:
        print(f"{statement}: no error")
import importlib
found = 0
for name in modules:
    module = importlib.import_module(f"tensorflow.{name}")
    for symbol in module.__all__:
        getattr(module, symbol)
        found += 1
assert found > 5000, found
assert tf.python.framework.ops.Graph is tf.Graph is tf.ops.Graph
assert tf.contrib.rnn.python.ops.core_rnn_cell.GRUCell is tf.nn.rnn_cell.GRUCell
import tensorflow.python.ops.gen_math_ops as gen_math_ops
x = gen_math_ops.mat_mul([[1.0, 2.0]], [[3.0], [4.0]], name="product")
assert (x.op.type, x.op.name) == ("MatMul", "product") and tf.Session().run(x) == 11
"""


def python(code, text=""):
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120)
    assert not done.returncode, done.stderr
    return done.stdout


def test_programs_import_what_is_not_public():
    present = [name for name in (*paths.MODULES, *(f"python.ops.{one}" for one in paths.GENERATED))
               if not name.startswith("contrib.") and inside(name) is not None]
    assert python(PROGRAM, repr((IMPORTS, ABSENT, present))) == ""


def test_the_same_below_tfnb():
    looked = "module 'tfnb.{}' has no attribute 'nothing'"
    absent = "No module named 'tfnb.python.nothing': tfnb stands in for TensorFlow here, and has nothing of that name"
    assert python("""
import tfnb as tf
assert tf.python.framework.ops.Graph is tf.Graph
assert tf.ops.Graph is tf.Graph and tf.ops.reset_default_graph is tf.reset_default_graph
from tfnb.python.client import device_lib, timeline
from tfnb.python.ops.rnn_cell_impl import _linear
import tfnb.python.ops.array_ops as array_ops
assert tf.contrib.rnn.python.ops.core_rnn_cell.GRUCell is tf.nn.rnn_cell.GRUCell
from tfnb.contrib.layers.python.layers.layers import batch_norm
assert batch_norm is tf.contrib.layers.batch_norm is tf.contrib.layers.python.layers.batch_norm
assert tf.VERSION == "1.15.0" and tf.get_logger().name == "tensorflow" and tf.concat_v2 is tf.concat
assert array_ops.reshape is tf.reshape and tf.nn.rnn_cell._linear is _linear
for look in (lambda: __import__("tfnb.python.nothing"), lambda: tf.python.nothing, lambda: tf.ops.nothing):
    try:
        look()
    except (ImportError, AttributeError) as error:
        print(error)
""").splitlines() == [absent, looked.format("python"), looked.format("ops")]


def test_functions_of_ops_have_tensorflows_names(oracle):
    theirs = {name.lstrip("_") for name in oracle("""
import importlib
result = []
for name in modules:
    try:
        result += dir(importlib.import_module(f"tensorflow.python.ops.{name}"))
    except ImportError:
        pass
""", modules=sorted(paths.GENERATED))}
    ours = {snake_case(op): op for op in registry.names()}
    renamed = {name: op for name, op in ours.items() if name not in theirs and op in theirs}
    assert not renamed, "TensorFlow calls the functions of these ops otherwise"
    assert len(ours.keys() & theirs) > 450


def test_linear_joins_its_arguments():
    x, y = np.ones([2, 3], "f"), np.full([2, 1], 2, "f")
    linear = tf.nn.rnn_cell._linear
    with tf.variable_scope("a"):
        made = linear([x, y], 2, True, 0.5)
        plain = linear(x, 2, False, scope="plain")
    assert [v.op.name for v in tf.trainable_variables()] == ["a/kernel", "a/bias", "a/plain/kernel"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        kernel, bias, other = sess.run(tf.trainable_variables())
        assert bias.tolist() == [0.5, 0.5]
        np.testing.assert_allclose(sess.run(made), np.concatenate([x, y], 1) @ kernel + bias, 1e-6)
        np.testing.assert_allclose(sess.run(plain), x @ other, 1e-6)
    for bad, match in ((None, "must be specified"), ([], "must be specified"),
                       (np.ones([2, 2, 2], "f"), r"expects arguments of shape \(batch, size\)"),
                       (tf.placeholder(tf.float32, [2, None]), r"expects arguments of shape \(batch, size\)")):
        with pytest.raises(ValueError, match=match):
            linear(bad, 2, True)


def test_decorators_of_tests_give_them_graphs_of_their_own():
    util = tf.python.framework.test_util
    seen = []

    class Case(tf.test.TestCase):
        @util.run_deprecated_v1
        def test_one(self):
            seen.append(tf.get_default_graph())

        @util.run_in_graph_and_eager_modes
        def test_two(self):
            seen.append(tf.get_default_graph())
            self.assertEqual(self.evaluate(tf.constant(3)), 3)

        @util.run_v1_only("it is a graph")
        def test_three(self):
            seen.append(tf.get_default_graph())

    @util.run_deprecated_v1
    class Whole(tf.test.TestCase):
        def test_four(self):
            seen.append(tf.get_default_graph())

    outside = tf.get_default_graph()
    found = unittest.TestResult()
    for case in (Case, Whole):
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(found)
    assert found.wasSuccessful(), found.errors
    assert len({*seen, outside}) == 5


def test_marks_of_functions():
    deprecation, tf_export = tf.python.util.deprecation, tf.python.util.tf_export.tf_export

    @tf_export("nn.mine", v1=["mine"])
    @deprecation.deprecated("2030-01-01", "Call yours.")
    def mine(x):
        return x + 1
    with pytest.warns(DeprecationWarning, match="mine is deprecated and will be removed after 2030-01-01: Call yours."):
        assert mine(1) == 2
    assert mine(2) == 3
    assert deprecation.deprecated_argument_lookup("a", None, "b", 3) == 3
    with pytest.raises(ValueError, match="Cannot specify both 'b' and 'a'"):
        deprecation.deprecated_argument_lookup("a", 1, "b", 3)


def test_files_beside_a_program():
    path = tf.resource_loader.get_path_to_datafile("test_inside.py")
    assert path == os.path.abspath(__file__) and tf.resource_loader.get_data_files_path() == os.path.dirname(path)
    assert tf.resource_loader.load_resource("test_inside.py") == Path(__file__).read_bytes()
    with pytest.raises(tf.errors.NotFoundError, match="absent"):
        tf.resource_loader.load_resource("absent")
    assert tf.python.lib.io.file_io.read_file_to_string(path).startswith('"""Modules inside of TensorFlow')


def test_sounds_are_found_by_who_asks_first():
    program = "import tfnb as tf; print(tf.contrib.framework.python.ops.audio_ops.encode_wav is tf.audio.encode_wav)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
