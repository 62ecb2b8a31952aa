"""TensorFlow 1's graphs and sessions on an engine of their own: `import tfnb as tf`."""
# ruff: noqa: F401, I001
import sys as _sys

from tfnb.autodiff.aggregate import AggregationMethod
from tfnb.autodiff.custom_gradient import custom_gradient, grad_pass_through
from tfnb.autodiff.gradients import UnconnectedGradients, gradients, hessians
from tfnb.autodiff.tape import GradientTape
from tfnb.autodiff.registry import NoGradient, NotDifferentiable, NotDifferentiable as no_gradient, RegisterGradient
from tfnb.core.device import DeviceSpec
from tfnb.core.dimension import Dimension
from tfnb.core.dtypes import (
    DType, QUANTIZED_DTYPES, as_dtype, bfloat16, bool, complex128, complex64, double, float16, float32, float64, half,
    int16, int32, int64, int8, qint16, qint32, qint8, quint16, quint8, resource, string, uint16, uint32, uint64, uint8,
    variant,
)
from tfnb.core.errors import OpError
from tfnb.core.program.behavior import (
    disable_control_flow_v2, disable_eager_execution, disable_tensor_equality, disable_v2_behavior,
    disable_v2_tensorshape, enable_eager_execution, enable_v2_behavior, executing_eagerly,
)
from tfnb.core.program.log import get_logger
from tfnb.core.shape import TensorShape
from tfnb.graph.parts.context import get_default_session
from tfnb.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tfnb.graph.formats.protos import make_ndarray
from tfnb.graph.tensor_proto import make_tensor_proto
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import (
    add_to_collection, add_to_collections, colocate_with, container, control_dependencies, device, get_collection,
    get_collection_ref, get_default_graph, name_scope, op_scope, reset_default_graph,
)
from tfnb.ops.array.reshape import (
    broadcast_dynamic_shape, broadcast_static_shape, ensure_shape, expand_dims, identity, identity_n,
    invert_permutation, matrix_transpose, rank, reshape, reverse, reverse_v2, shape, shape_n, size, squeeze,
    stop_gradient, transpose,
)
from tfnb.control_flow.assertions import (
    add_check_numerics_ops, assert_equal, assert_greater, assert_greater_equal, assert_integer, assert_less,
    assert_less_equal, assert_near, assert_negative, assert_non_negative, assert_non_positive, assert_none_equal,
    assert_positive, assert_rank, assert_rank_at_least, assert_rank_in, assert_same_float_dtype, assert_scalar,
    assert_type, is_non_decreasing, is_numeric_tensor, is_strictly_increasing,
)
from tfnb.ops.math.casting import (
    cast, to_bfloat16, to_complex128, to_complex64, to_double, to_float, to_int32, to_int64,
)
from tfnb.control_flow.assertions import Assert
from tfnb.ops.control.checks import check_numerics, print_ as Print, verify_tensor_all_finite
from tfnb.ops.reductions.clip import clip_by_average_norm, clip_by_global_norm, clip_by_norm, clip_by_value, global_norm
from tfnb.ops.math.compare import (
    equal, greater, greater_equal, is_finite, is_inf, is_nan, less, less_equal, logical_and, logical_not, logical_or,
    logical_xor, not_equal, select, where, where_v2,
)
from tfnb.ops.math.complex import angle, complex, conj, imag, real
from tfnb.control_flow.cond import cond
from tfnb.ops.control.group import group, no_op, tuple_ as tuple
from tfnb.ops.array.create import (
    diag, diag_part, eye, fill, lin_space, linspace, ones, ones_like, range_ as range,
    zeros, zeros_like,
)
from tfnb.ops.math.functions import (
    acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, erf, erfc, exp, expm1, log,
    log1p, log_sigmoid, rsqrt, sigmoid, sin, sinh, sqrt, tan, tanh,
)
from tfnb.ops.array.gather import (
    boolean_mask, gather, gather_nd, listdiff, one_hot, sequence_mask, setdiff1d, sparse_mask, unique,
)
from tfnb.ops.composite.indexed_slices import IndexedSlices, IndexedSlicesValue, convert_to_tensor_or_indexed_slices
from tfnb.variables.initializers import (
    constant_initializer, glorot_normal_initializer, glorot_uniform_initializer, ones_initializer,
    orthogonal_initializer, random_normal_initializer, random_uniform_initializer, truncated_normal_initializer,
    uniform_unit_scaling_initializer, variance_scaling_initializer, zeros_initializer,
)
from tfnb.ops.array.joining import broadcast_to, concat, concat as concat_v2, pack, pad, stack, tile, unpack, unstack
from tfnb.ops.math.arithmetic import (
    abs, accumulate_n, add, add_n, ceil, complex_abs, floor, inv, maximum, minimum, mul, multiply, neg, negative, pow,
    reciprocal, rint, round, saturate_cast, scalar_mul, sign, square, squared_difference, sub, subtract,
)
from tfnb.ops.math.division import (
    div, div_no_nan, divide, floor_div, floordiv, floormod, mod, realdiv, truediv, truncatediv, truncatemod,
)
from tfnb.ops.reductions.matmul import batch_matmul, matmul, tensordot
from tfnb.ops.overloads import newaxis
from tfnb.variables.partitioners import (
    fixed_size_partitioner, min_max_variable_partitioner, variable_axis_size_partitioner,
)
from tfnb.ops.random.random_ops import (
    get_seed, multinomial, random_crop, random_normal, random_shuffle, random_uniform, set_random_seed,
    truncated_normal,
)
from tfnb.ops.reductions.reduce import (
    arg_max, arg_min, argmax, argmin, count_nonzero, cumprod, cumsum, norm, reduce_all, reduce_any, reduce_logsumexp,
    reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum, trace,
)
from tfnb.ops.state.scatter import (
    batch_scatter_update, scatter_add, scatter_div, scatter_max, scatter_min, scatter_mul, scatter_nd_add,
    scatter_nd_sub, scatter_nd_update, scatter_sub, scatter_update,
)
from tfnb.ops.array.slicing import slice_ as slice, split, strided_slice
from tfnb.ops.control.source import constant, placeholder, placeholder_with_default
from tfnb.ops.composite.sparse_tensor import SparseTensor, SparseTensorValue
from tfnb.ops.state.assign import assign, assign_add, assign_sub, count_up_to, is_variable_initialized
from tfnb.control_flow.tensor_array import TensorArray
from tfnb.variables.helpers import (
    all_variables, assert_variables_initialized, global_variables, global_variables_initializer,
    initialize_all_tables, initialize_all_variables, initialize_local_variables, initialize_variables, is_tensor,
    local_variables, local_variables_initializer, model_variables, moving_average_variables,
    report_uninitialized_variables, tables_initializer, trainable_variables, variables_initializer,
)
from tfnb.variables.scope import (
    VariableScope, create_partitioned_variables, get_local_variable, get_variable, get_variable_scope, no_regularizer,
    variable_op_scope, variable_scope,
)
from tfnb.variables.store import AUTO_REUSE
from tfnb.variables.variable import (
    Variable, VariableAggregation, VariableSynchronization, disable_resource_variables, enable_resource_variables,
    resource_variables_enabled,
)
from tfnb.control_flow.while_loop import while_loop
from tfnb import compat, errors, initializers, logging, math, nn, random, raw_ops
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.core.lazy import lazy_names as _lazy_names
from tfnb.opdef.index import PUBLIC as _PUBLIC
from tfnb.ops.declaration.public import exports as _exports
from tfnb.core import taps as _taps
from tfnb.core.stale import StaleTensorError
from tfnb.core.version import (
    GIT_VERSION, GIT_VERSION as __git_version__, GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER,
    GRAPH_DEF_VERSION_MIN_PRODUCER, VERSION, __version__,
)

for _module in (compat, errors, initializers, logging):         # the others explain when they load
    _explain(_module.__name__)
compat.v1 = _sys.modules[__name__]          # type: ignore[attr-defined]   # in place of its submodule of that name

# Notebook users alone pay for the notebook, and nobody for IPython before `%load_ext tfnb`.
notebook = _lazy_module("tfnb.notebook")
# Compositions of the ops above: programs that use none don't wait for them.
app = _lazy_module("tfnb.app")
audio = _lazy_module("tfnb.audio")
bitwise = _lazy_module("tfnb.bitwise")
contrib = _lazy_module("tfnb.contrib")
custom = _lazy_module("tfnb.custom")
data = _lazy_module("tfnb.data")
debugging = _lazy_module("tfnb.debugging")
distributions = _lazy_module("tfnb.distributions")
dtypes = _lazy_module("tfnb.dtypes")
estimator = _lazy_module("tfnb.estimator")
examples = _lazy_module("tfnb.examples")
feature_column = _lazy_module("tfnb.feature_column")
flags = _lazy_module("tfnb.flags")
gfile = _lazy_module("tfnb.gfile")
graph_util = _lazy_module("tfnb.graph_util")
image = _lazy_module("tfnb.image")
io = _lazy_module("tfnb.io")
keras = _lazy_module("tfnb.keras")
layers = _lazy_module("tfnb.layers")
linalg = _lazy_module("tfnb.linalg")
losses = _lazy_module("tfnb.losses")
lookup = _lazy_module("tfnb.lookup")
manip = _lazy_module("tfnb.manip")
metrics = _lazy_module("tfnb.metrics")
nest = _lazy_module("tfnb.nest")
user_ops = _lazy_module("tfnb.user_ops")
test = _lazy_module("tfnb.test")                    # imports unittest
python = _lazy_module("tfnb.python")
python_io = _lazy_module("tfnb.python_io")
quantization = _lazy_module("tfnb.quantization")
config = _lazy_module("tfnb.config")
queue = _lazy_module("tfnb.queue")
ragged = _lazy_module("tfnb.ragged")
resource_loader = _lazy_module("tfnb.resource_loader")
sets = _lazy_module("tfnb.sets")
signal = _lazy_module("tfnb.signal")
spectral = _lazy_module("tfnb.spectral")
saved_model = _lazy_module("tfnb.saved_model")
sparse = _lazy_module("tfnb.sparse")
strings = _lazy_module("tfnb.strings")
summary = _lazy_module("tfnb.summary")
train = _lazy_module("tfnb.train")
version = _lazy_module("tfnb.version")
_extension = _lazy_module("tfnb.notebook.extension")
_taps.nan_guard = _lazy_module("tfnb.debug.nan_guard")

# Families of ops that most programs don't use, messages (with them comes protobuf), and what runs graphs.
_PLACES = {
    "tfnb.autodiff.recompute": "recompute_grad",
    "tfnb.control_flow.case": "case",
    "tfnb.control_flow.functional": "foldl foldr map_fn scan",
    "tfnb.data.batch_functions": "nondifferentiable_batch_function",
    "tfnb.graph.importing": "import_graph_def",
    "tfnb.linalg.decompositions": "qr self_adjoint_eig self_adjoint_eigvals svd",
    "tfnb.linalg.matrices":
        "cholesky cholesky_solve cross matrix_band_part matrix_determinant matrix_inverse matrix_solve matrix_solve_ls "
        "matrix_triangular_solve",
    "tfnb.ops.array.diagonals": "matrix_diag matrix_diag_part matrix_set_diag",
    "tfnb.ops.array.partition": "dynamic_partition dynamic_stitch parallel_dynamic_stitch",
    "tfnb.ops.array.reverse_sequence": "reverse_sequence",
    "tfnb.ops.array.roll": "roll",
    "tfnb.ops.array.scatter_nd": "scatter_nd",
    "tfnb.ops.control.script": "py_func",
    "tfnb.ops.data_flow.accumulators": "ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator",
    "tfnb.ops.data_flow.queues": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "tfnb.ops.io.files": "matching_files read_file write_file",
    "tfnb.ops.io.parsing": "FixedLenFeature FixedLenSequenceFeature VarLenFeature parse_example parse_single_example",
    "tfnb.ops.io.readers":
        "FixedLengthRecordReader IdentityReader ReaderBase TFRecordReader TextLineReader WholeFileReader",
    "tfnb.ops.io.summary":
        "audio_summary histogram_summary image_summary merge_all_summaries merge_summary scalar_summary",
    "tfnb.ops.nn.patches": "extract_image_patches",
    "tfnb.ops.reductions.einsum": "einsum meshgrid",
    "tfnb.ops.reductions.segments":
        "segment_max segment_mean segment_min segment_prod segment_sum sparse_segment_mean sparse_segment_sqrt_n "
        "sparse_segment_sum unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod "
        "unsorted_segment_sqrt_n unsorted_segment_sum",
    "tfnb.ops.sparse.conversion": "sparse_placeholder sparse_tensor_to_dense sparse_to_dense",
    "tfnb.ops.state.tensor_scatter":
        "tensor_scatter_add tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min "
        "tensor_scatter_nd_sub tensor_scatter_nd_update tensor_scatter_sub tensor_scatter_update",
    "tfnb.ops.strings.decoding": "decode_base64 decode_raw encode_base64",
    "tfnb.ops.strings.edit_distance": "edit_distance",
    "tfnb.ops.strings.numbers": "as_string decode_csv string_to_number",
    "tfnb.ops.strings.string_ops": "string_join substr",
    "tfnb.variables.template": "make_template",
    "tfnb.proto.attr_value_pb2": "AttrValue NameAttrList",
    "tfnb.proto.config_pb2": "ConfigProto GPUOptions GraphOptions OptimizerOptions RunMetadata RunOptions",
    "tfnb.proto.event_pb2": "Event LogMessage SessionLog",
    "tfnb.proto.graph_pb2": "GraphDef",
    "tfnb.proto.histogram_pb2": "HistogramProto",
    "tfnb.proto.meta_graph_pb2": "MetaGraphDef TensorInfo",
    "tfnb.proto.node_def_pb2": "NodeDef",
    "tfnb.proto.summary_pb2": "Summary SummaryMetadata",
    "tfnb.data.optional": "OptionalSpec",
    "tfnb.debug.explain": "explain",
    "tfnb.debug.nan": "NanReport find_nan",
    "tfnb.runtime.session": "InteractiveSession Session",
    "tfnb.tools.as_tensorflow": "install_as_tensorflow",
}
_LAZY = {name: module for module, names in _PLACES.items() for name in names.split()}
__getattr__ = _exports(__name__, _lazy_names(__name__, _LAZY))


def load_ipython_extension(ip: object) -> None:
    """`%load_ext tfnb`: cells own the ops they make, and there are %graph, %fetch and %live. ip: the shell."""
    _extension.load_ipython_extension(ip)


def unload_ipython_extension(ip: object) -> None:
    """`%unload_ext tfnb`: cells stop owning ops. ip: the shell."""
    _extension.unload_ipython_extension(ip)


# `from tfnb import *` gives what is imported later, too.
__all__ = sorted(name for name in {*globals(), *_LAZY, *_PUBLIC.get("", ())} - {"print"}      # the builtin stays
                 if not name.startswith("_"))
