"""Text, bytes and types of numbers: `tf.compat`. tfnb itself puts its own name here as `compat.v1`."""
# ruff: noqa: F401, I001
from tfnb.core.text import (
    as_bytes, as_str_any, as_text, as_text as as_str, bytes_or_text_types, complex_types, integral_types, path_to_str,
    real_types,
)
from tfnb.core.program.behavior import forward_compatibility_horizon, forward_compatible
from tfnb.ops.control.inspection import dimension_at_index, dimension_value
