"""Functions that are applied to the flat values of ragged tensors, and the operators that call them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.opdef.kinds import Elementwise as Elementwise
from tfnb.ops.array.create import ones_like, zeros_like
from tfnb.ops.array.reshape import identity, stop_gradient
from tfnb.ops.control.checks import check_numerics
from tfnb.ops.declaration.public import NAMES
from tfnb.ops.math.arithmetic import (
    abs,
    add,
    add_n,
    multiply,
    negative,
    pow,
    round,
    saturate_cast,
    sign,
    square,
    subtract,
)
from tfnb.ops.math.casting import (
    cast,
    to_bfloat16,
    to_complex64,
    to_complex128,
    to_double,
    to_float,
    to_int32,
    to_int64,
)
from tfnb.ops.math.compare import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
)
from tfnb.ops.math.complex import angle, complex, conj, imag, real
from tfnb.ops.math.division import (
    div,
    div_no_nan,
    divide,
    floordiv,
    floormod,
    multiply_no_nan,
    reciprocal_no_nan,
    truediv,
)
from tfnb.ops.math.functions import erf, log_sigmoid, sigmoid, sqrt, tanh
from tfnb.ops.nn.activations import dropout
from tfnb.ops.reductions.clip import clip_by_value
from tfnb.ops.strings import decoding, hashing, numbers, string_ops, transforms
from tfnb.ops.strings import unicode as _unicode  # noqa: F401 - declares ops of NAMES

Function = Callable[..., Any]
_STRINGS = "unicode_transcode unicode_script"

# Functions of one tensor, or of lists of tensors in the same rows. Ops that are elementwise need no entry.
EACH: tuple[Function, ...] = (
    abs, add_n, angle, cast, check_numerics, clip_by_value, conj, dropout, erf, identity, imag, log_sigmoid, negative,
    ones_like, real, reciprocal_no_nan, round, saturate_cast, sigmoid, sign, sqrt, square, stop_gradient, tanh,
    to_bfloat16, to_complex64, to_complex128, to_double, to_float, to_int32, to_int64, zeros_like,
    numbers.as_string, decoding.decode_base64, decoding.decode_raw, decoding.encode_base64, numbers.string_to_number,
    hashing.string_to_hash_bucket, hashing.string_to_hash_bucket_fast, hashing.string_to_hash_bucket_strong,
    string_ops.string_join, string_ops.substr, transforms.regex_full_match, transforms.regex_replace,
    transforms.string_length, transforms.string_lower, transforms.string_strip, transforms.string_upper,
    *(NAMES[f"strings.{name}"] for name in _STRINGS.split()), NAMES["io.decode_compressed"])

# Functions of two tensors that broadcast, their first arguments.
BINARY: tuple[Function, ...] = (add, complex, div, div_no_nan, divide, equal, floordiv, logical_xor, multiply_no_nan,
                                not_equal, truediv)

# Method of RaggedTensor, without "__" -> function of the operands; there are reflected ones, too.
OPERATORS: dict[str, Function] = {
    "add": add, "sub": subtract, "mul": multiply, "div": div, "truediv": truediv, "floordiv": floordiv, "mod": floormod,
    "pow": pow, "and": logical_and, "or": logical_or, "xor": logical_xor}
COMPARISONS: dict[str, Function] = {"lt": less, "le": less_equal, "gt": greater, "ge": greater_equal}
UNARY_OPERATORS: dict[str, Function] = {"abs": abs, "neg": negative, "invert": logical_not}
