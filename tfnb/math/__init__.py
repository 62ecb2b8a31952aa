"""Mathematical functions: `tf.math`."""
# ruff: noqa: F401, I001
from tfnb.control_flow.assertions import is_non_decreasing, is_strictly_increasing
from tfnb.ops.array.reshape import invert_permutation
from tfnb.ops.math.compare import (
    equal, greater, greater_equal, is_finite, is_inf, is_nan, less, less_equal, logical_and, logical_not, logical_or,
    logical_xor, not_equal,
)
from tfnb.ops.math.complex import angle, conj, imag, real
from tfnb.ops.nn.cross_entropy import log_softmax, softmax
from tfnb.ops.math.functions import (
    acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, erf, erfc, exp, expm1, log, log1p, log_sigmoid, rsqrt,
    sigmoid, sin, sinh, sqrt, tan, tanh, xdivy, xlogy,
)
from tfnb.ops.math.division import multiply_no_nan
from tfnb.ops.math.arithmetic import (
    abs, accumulate_n, add, add_n, ceil, floor, maximum, minimum, multiply, negative, pow, reciprocal, rint, round,
    scalar_mul, sign, square, squared_difference, subtract,
)
from tfnb.ops.math.division import divide, floordiv, floormod, mod, truediv
from tfnb.ops.nn.activations import softplus, softsign
from tfnb.ops.reductions.reduce import (
    argmax, argmin, count_nonzero, cumprod, cumsum, l2_normalize, reduce_all, reduce_any, reduce_logsumexp,
    reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_std, reduce_sum, reduce_variance, zero_fraction,
)
from tfnb.ops.reductions.top import in_top_k, top_k
from tfnb.core.lazy import lazy_module as _lazy_module, lazy_names as _lazy_names
from tfnb.ops.declaration.public import exports as _exports

special = _lazy_module("tfnb.math.special")
_LAZY = dict.fromkeys(
    ("segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max unsorted_segment_mean "
     "unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum").split(),
    "tfnb.ops.reductions.segments")
__getattr__ = _exports(__name__, _lazy_names(__name__, _LAZY))
