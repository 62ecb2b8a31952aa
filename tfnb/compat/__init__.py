"""Text, bytes and types of numbers, and tfnb under the name `compat.v1`: `tf.compat`."""
# ruff: noqa: F401, I001
import tfnb as v1
from tfnb.core.text import (
    as_bytes, as_str_any, as_text, as_text as as_str, bytes_or_text_types, complex_types, integral_types, path_to_str,
    real_types,
)
