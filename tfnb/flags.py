"""Command-line flags: `tf.flags`."""
# ruff: noqa: F401, I001
from tfnb.core.program.flags import (
    DEFINE_bool, DEFINE_boolean, DEFINE_enum, DEFINE_float, DEFINE_integer, DEFINE_list, DEFINE_multi_float,
    DEFINE_multi_integer, DEFINE_multi_string, DEFINE_string, DuplicateFlagError, Error, FLAGS, Flag, FlagValues,
    IllegalFlagValueError, UnrecognizedFlagError, ValidationError, mark_flag_as_required, mark_flags_as_required,
    register_validator,
)
