"""Data types, and conversion to them: `tf.dtypes`."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from tfnb.core.dtypes import (
    DType, QUANTIZED_DTYPES, as_dtype, bfloat16, bool, complex128, complex64, double, float16, float32, float64, half,
    int16, int32, int64, int8, qint16, qint32, qint8, quint16, quint8, resource, string, uint16, uint32, uint64, uint8,
    variant,
)
from tfnb.ops.math.arithmetic import saturate_cast
from tfnb.ops.math.casting import cast
from tfnb.ops.math.complex import complex
from tfnb.ops.strings.numbers import as_string

_explain(__name__)
