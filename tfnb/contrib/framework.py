"""`tf.contrib.framework`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
import sys as _sys

from tfnb.control_flow.assertions import assert_same_float_dtype, assert_scalar
from tfnb.control_flow.critical_section import CriticalSection
from tfnb.core.program.deprecation import deprecated, deprecated_arg_values, deprecated_args
from tfnb.layers.choices import either as smart_cond, known as smart_constant_value
from tfnb.layers.contrib import nest
from tfnb.layers.contrib.arg_scope import (
    add_arg_scope, arg_scope, arg_scope_func_key, arg_scoped_arguments, current_arg_scope, has_arg_scope,
)
from tfnb.layers.contrib.variables import (
    add_model_variable, assign_from_checkpoint, assign_from_checkpoint_fn, assign_from_values,
    assign_from_values_fn, filter_variables, get_local_variables, get_model_variables,
    get_trainable_variables, get_unique_variable, get_variable_full_name, get_variables, get_variables_by_name,
    get_variables_by_suffix, get_variables_to_restore, global_variable, local_variable, model_variable, variable,
)
from tfnb.losses.weights import broadcast_weights
from tfnb.losses.contrib import remove_squeezable_dimensions
from tfnb.ops.array.searching import argsort, sort
from tfnb.ops.composite.specs import TensorSpec
from tfnb.ops.control.group import with_dependencies
from tfnb.ops.control.inspection import convert_to_tensor_or_sparse_tensor
from tfnb.train.checkpoints.iterator import checkpoints_iterator
from tfnb.train.checkpoints.reader import init_from_checkpoint, list_variables, load_checkpoint, load_variable
from tfnb.train.global_step import (
    assert_global_step, create_global_step, get_global_step, get_or_create_global_step,
)
from tfnb.variables.helpers import is_tensor
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.framework")        # contrib.framework.python and below

_explain(__name__)
