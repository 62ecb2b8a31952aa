"""`tf.contrib.framework`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
import sys as _sys

from tfnb.core import nest
from tfnb.layers.contrib.arg_scope import (
    add_arg_scope, arg_scope, arg_scope_func_key, arg_scoped_arguments, current_arg_scope, has_arg_scope,
)
from tfnb.layers.contrib.variables import (
    assign_from_checkpoint, assign_from_checkpoint_fn, get_local_variables, get_model_variables,
    get_trainable_variables, get_unique_variable, get_variables, get_variables_by_name, get_variables_by_suffix,
    get_variables_to_restore, local_variable, model_variable, variable,
)
from tfnb.ops.control.group import with_dependencies
from tfnb.train.checkpoints.reader import init_from_checkpoint, list_variables, load_checkpoint, load_variable
from tfnb.train.global_step import (
    assert_global_step, create_global_step, get_global_step, get_or_create_global_step,
)
from tfnb.tools.as_tensorflow import find_inside as _find_inside

_find_inside(_sys.modules[__name__], "contrib.framework")        # contrib.framework.python and below

_explain(__name__)
