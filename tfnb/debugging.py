"""Assertions on tensors: `tf.debugging`."""
# ruff: noqa: F401, I001
from tfnb.control_flow.assertions import (
    Assert, assert_equal, assert_greater, assert_greater_equal, assert_integer, assert_less,
    assert_less_equal, assert_near, assert_negative, assert_non_negative, assert_non_positive, assert_none_equal,
    assert_positive, assert_rank, assert_rank_at_least, assert_rank_in, assert_same_float_dtype, assert_scalar,
    assert_type, is_non_decreasing, is_numeric_tensor, is_strictly_increasing,
)
from tfnb.ops.control.checks import check_numerics, verify_tensor_all_finite as assert_all_finite
from tfnb.ops.math.compare import is_finite, is_inf, is_nan
from tfnb.core.lazy import lazy_names as _lazy_names
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__, _lazy_names(__name__, dict.fromkeys(
    ("disable_check_numerics", "enable_check_numerics", "get_log_device_placement", "set_log_device_placement"),
    "tfnb.runtime.process_config")))
