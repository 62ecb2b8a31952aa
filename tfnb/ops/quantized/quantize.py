"""Quantization of floats to integers of a range, and back: `tf.quantization`.

Each op is a host call (NumPy). Fake quantization, for training, is in ops/nn/fake_quant.py.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import errors
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.arrays import quantized as arrays
from tfnb.kernels.library.rows import quantizing as by_kernel
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.math.casting import cast

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

TYPES = "{qint8, quint8, qint32, qint16, quint16}"
_MODE: dict[str, Any] = {"mode": "{'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'"}
_AXIS: dict[str, Any] = {"axis": "int = -1"}
_FLOATS = "{bfloat16, half, float, double}"


def _range_shape(ctx: ShapeContext) -> Static:
    """Return the shape of both ends of the range: a scalar, or a vector along `axis`. Raises ValueError for others."""
    axis, x = ctx.attrs["axis"], ctx.shape(0)
    if axis < -1:
        raise ValueError(f"axis should be at least -1, got {axis}")
    if axis >= 0 and x is not None and len(x) <= axis:
        raise ValueError(f"Shape must be at least rank {axis + 1} but is rank {len(x)}")
    found: tuple[int | None, ...] = () if axis == -1 else (None if x is None else x[axis],)
    for i in (1, 2):
        found = merge(of_rank(ctx.shape(i), len(found)), found) or ()
    return found


def _shapes(ctx: ShapeContext) -> list[Static]:
    found = _range_shape(ctx)
    return [ctx.shape(0), found, found][:len(ctx.op.outputs)]


def _spread(ctx: Any, x: np.ndarray, *ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the range in a shape that broadcasts against x."""
    axis = ctx.attrs["axis"]
    shape = [1] * x.ndim if axis == -1 else [n if i == axis else 1 for i, n in enumerate(x.shape)]
    low, high = (end.astype(x.dtype if x.dtype.kind == "f" else np.float32).reshape(shape) for end in ends)
    return low, high


def _ordered(ctx: Any, first: int = 1) -> None:
    low, high = ctx.value(first), ctx.value(first + 1)
    if low is not None and high is not None and (low > high).any():
        names = [ctx.op.spec.inputs[i].name for i in (first + 1, first)]
        raise ValueError(f"{names[0]} must be larger than {names[1]}, got {high.tolist()} and {low.tolist()}")


def _validate_quantize(ctx: Any) -> None:
    mode = ctx.attrs["mode"].decode()
    if mode != "SCALED" and ctx.attrs["round_mode"] == b"HALF_TO_EVEN":
        raise ValueError(f"Round mode 'HALF_TO_EVEN' is only supported for mode 'SCALED', but mode is {mode!r}")
    _no_first_along_an_axis(ctx)
    _ordered(ctx)


def _no_first_along_an_axis(ctx: Any) -> None:
    if ctx.attrs["axis"] != -1 and ctx.attrs["mode"] == b"MIN_FIRST":
        raise errors.UnimplementedError(None, ctx.op, f"MIN_FIRST mode is not implemented for {ctx.op.type} with "
                                        f"axis != -1, got {ctx.attrs['axis']}")


def _quantize(ctx: Any, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, ...]:
    attrs = ctx.attrs
    low, high = _spread(ctx, x, low, high)
    least, kind = attrs["ensure_minimum_range"], np.dtype(attrs["T"].as_numpy_dtype)
    how = kind, attrs["mode"].decode(), attrs["round_mode"] == b"HALF_TO_EVEN", attrs["narrow_range"]
    if low.size == high.size == 1:
        form, steps = arrays.steps_of_one(low.item(), high.item(), least, *how)
    else:
        form, steps = arrays.steps_of(*arrays.apart(low, high, least), *how)
    if by_kernel.is_worth_it(x):
        y = arrays.records(by_kernel.quantized(x, form, steps, kind[0], arrays.limits(kind)), kind)
    else:
        y = arrays.quantized(x, form, steps, kind)
    shape = () if attrs["axis"] == -1 else (-1,)
    return y, *(np.array(end).reshape(shape) for end in steps[:2])


@kernel("input: float, min_range: float, max_range: float -> output: T, output_min: float, output_max: float",
        shape=_shapes, numpy=_quantize, validate=_validate_quantize, T=TYPES, **_MODE,
        round_mode="{'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'", narrow_range="bool = false",
        **_AXIS, ensure_minimum_range="float = 0.01")
def QuantizeV2() -> None:
    """Quantize floats to integers that represent a range; also the range that they have."""


def _validate_dequantize(ctx: Any) -> None:
    attrs = ctx.attrs
    if attrs["dtype"].name == "bfloat16" and attrs["mode"] != b"MIN_COMBINED":
        raise ValueError(f"Where the output is bfloat16, mode must be 'MIN_COMBINED', got {attrs['mode'].decode()!r}")
    _no_first_along_an_axis(ctx)


def _dequantize(ctx: Any, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    attrs = ctx.attrs
    low, high = _spread(ctx, x, low, high)
    found = arrays.dequantized(x, low, high, attrs["mode"].decode(), attrs["narrow_range"])
    return found.astype(attrs["dtype"].as_numpy_dtype)


@kernel("input: T, min_range: float, max_range: float -> output: dtype", shape=_shapes, numpy=_dequantize, T=TYPES,
        validate=_validate_dequantize, **_MODE, narrow_range="bool = false", **_AXIS,
        dtype="{bfloat16, float} = DT_FLOAT")
def Dequantize() -> None:
    """Return the floats that quantized elements represent."""


# Rounding to the numbers that integers could represent

def _bits_fit(ctx: Any) -> None:
    given = ctx.attrs.get("num_bits") if len(ctx.op.inputs) == 3 else ctx.value(3)
    signed = ctx.attrs["signed_input"]
    if given is not None and not int(signed) < int(given) < 64 - (not signed):
        raise ValueError(f"num_bits is out of range: expected a number between {1 + signed} and {62 + signed}, got "
                         f"{int(given)}")
    if ctx.attrs["range_given"]:
        _ordered(ctx)


def _rounded(ctx: Any, x: np.ndarray, low: np.ndarray, high: np.ndarray, bits: Any = None) -> np.ndarray:
    if not x.size:
        return x
    attrs, wide = ctx.attrs, x.astype(np.float32) if x.dtype.itemsize == 2 else x
    bits = int(attrs["num_bits"] if bits is None else bits)
    if not attrs["range_given"]:
        kept = tuple(i for i in range(x.ndim) if i != attrs["axis"])
        low, high = wide.min(kept), wide.max(kept)
    low, high = _spread(ctx, wide, low, high)
    integers = arrays.step_limits(bits, attrs["signed_input"], attrs["narrow_range"])
    if low.size == high.size == 1:
        steps = arrays.multiples_of_one(wide.dtype, low.item(), high.item(), integers)
    else:
        steps = arrays.multiples(wide.dtype, low, high, integers)
    even = attrs.get("round_mode", b"HALF_TO_EVEN") == b"HALF_TO_EVEN"
    made = (by_kernel if by_kernel.is_worth_it(x) else arrays).rounded_to(wide, steps, even, attrs["range_given"])
    return made.astype(x.dtype, copy=False)


_ROUNDED: dict[str, Any] = {"shape": _shapes, "numpy": _rounded, "validate": _bits_fit, "signed_input": "bool = true"}


@kernel("input: T, input_min: T, input_max: T -> output: T", **_ROUNDED, num_bits="int = 8", range_given="bool = false",
        T=_FLOATS, round_mode="{'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'", narrow_range="bool = false", **_AXIS)
def QuantizeAndDequantizeV2() -> None:
    """Round floats to the numbers that `num_bits` bits can represent between the given ends, or their own."""


@kernel("input: T, input_min: T, input_max: T, num_bits: int32 -> output: T", **_ROUNDED, range_given="bool = true",
        T=_FLOATS, narrow_range="bool = false", **_AXIS, ranks={"num_bits": 0})
def QuantizeAndDequantizeV3() -> None:
    """As QuantizeAndDequantizeV2, with the number of bits as an input."""


for _op in (QuantizeV2, Dequantize):
    _op.no_gradient("as in TensorFlow: integers have none; tf.fake_quant_with_min_max_vars is for training")


@QuantizeAndDequantizeV2.gradient
@QuantizeAndDequantizeV3.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [dy, *[None] * (len(op.inputs) - 1)]             # the straight-through estimator


# What users call

def _known_axis(input: Any, axis: int | None) -> int:
    if axis is None:
        return -1
    if axis >= 0:
        return axis
    if input.shape.ndims is None:
        raise ValueError("input should have known rank to use negative axis.")
    return axis % int(input.shape.ndims)


@public("quantization.quantize", "quantize")
def quantize(input: Any, min_range: Any, max_range: Any, T: Any, mode: str = "MIN_COMBINED",
             round_mode: str = "HALF_AWAY_FROM_ZERO", name: str | None = None, narrow_range: bool = False,
             axis: int | None = None, ensure_minimum_range: float = 0.01) -> tuple[Tensor, Tensor, Tensor]:
    """Quantize floats: (integers of the dtype T, the lowest and the highest number that these represent).

    input: float32. min_range, max_range: scalars, or vectors along `axis`; the range is made to hold 0, and at least
    ensure_minimum_range wide. T: tf.quint8, qint8, quint16, qint16 or qint32. mode: "MIN_COMBINED", "MIN_FIRST" (0 is
    represented exactly) or "SCALED" (symmetric, only there round_mode "HALF_TO_EVEN" and narrow_range, which leaves out
    the lowest integer). Fetched elements are records of one integer. Raises InvalidArgumentError in a run for
    min_range > max_range.

    >>> made, low, high = sess.run(tf.quantize([-1.0, 0.0, 0.5, 9.0], -1.0, 1.0, tf.qint8, mode="SCALED"))
    >>> made.astype(int).tolist(), float(high)
    ([-127, 0, 64, 127], 1.0)
    """
    return quantize_v2(input, min_range, max_range, T, mode, name, round_mode, narrow_range, axis,
                       ensure_minimum_range)


@public("quantize_v2")
def quantize_v2(input: Any, min_range: Any, max_range: Any, T: Any, mode: str = "MIN_COMBINED",
                name: str | None = None, round_mode: str = "HALF_AWAY_FROM_ZERO", narrow_range: bool = False,
                axis: int | None = None, ensure_minimum_range: float = 0.01) -> tuple[Tensor, Tensor, Tensor]:
    """Quantize floats as `tf.quantization.quantize`, with arguments in another order.

    input, min_range, max_range, T, mode, round_mode, narrow_range, axis, ensure_minimum_range: as there.

    >>> sess.run(tf.quantize_v2([0.0, 1.0], 0.0, 1.0, tf.quint8)[0]).astype(int).tolist()
    [0, 255]
    """
    tensor = convert_to_tensor(input, dtype="float32", name="input")
    made: tuple[Tensor, Tensor, Tensor] = QuantizeV2(
        tensor, min_range, max_range, T=T, mode=mode, round_mode=round_mode, narrow_range=narrow_range,
        axis=_known_axis(tensor, axis), ensure_minimum_range=ensure_minimum_range, name=name)
    return made


@public("quantization.dequantize", "dequantize")
def dequantize(input: Any, min_range: Any, max_range: Any, mode: str = "MIN_COMBINED", name: str | None = None,
               axis: int | None = None, narrow_range: bool = False, dtype: Any = "float32") -> Tensor:
    """Return the floats that quantized elements represent.

    input: of a quantized dtype. min_range, max_range: what `tf.quantization.quantize` returned; scalars, or vectors
    along `axis`. mode, narrow_range: as there. dtype: float32 or bfloat16.

    >>> made, low, high = tf.quantize([-1.0, 0.5, 1.0], -1.0, 1.0, tf.quint8)
    >>> sess.run(tf.dequantize(made, low, high)).round(2)
    array([-1. ,  0.5,  1. ], dtype=float32)
    """
    tensor = convert_to_tensor(input, name="input")
    axis = _known_axis(tensor, axis)
    if dtype == "float32" or axis >= 0 or narrow_range:
        made: Tensor = Dequantize(tensor, min_range, max_range, mode=mode, axis=axis, narrow_range=narrow_range,
                                  dtype=dtype, name=name)
        return made
    return cast(Dequantize(tensor, min_range, max_range, mode=mode), dtype, name=name)


@public("quantization.quantize_and_dequantize", "quantization.quantize_and_dequantize_v2")
def quantize_and_dequantize(input: Any, input_min: Any, input_max: Any, signed_input: bool = True, num_bits: int = 8,
                            range_given: bool = False, round_mode: str = "HALF_TO_EVEN", name: str | None = None,
                            narrow_range: bool = False, axis: int | None = None) -> Tensor:
    """Round floats to the numbers that `num_bits` bits can represent; the gradient passes as it is.

    input: floats. input_min, input_max: the range, if range_given, scalars or vectors along `axis`; else it is that of
    the elements. signed_input: the integers are signed; narrow_range: without the lowest. round_mode: "HALF_TO_EVEN"
    or "HALF_UP". Raises InvalidArgumentError in a run for other numbers of bits.

    >>> sess.run(tf.quantization.quantize_and_dequantize([-1.0, 0.3, 1.0], -1.0, 1.0, num_bits=3, range_given=True))
    array([-1.      ,  0.333333,  1.      ], dtype=float32)
    """
    tensor = convert_to_tensor(input, name="input")
    made: Tensor = QuantizeAndDequantizeV2(
        tensor, input_min, input_max, signed_input=signed_input, num_bits=num_bits, range_given=range_given,
        round_mode=round_mode, narrow_range=narrow_range, axis=_known_axis(tensor, axis), name=name)
    return made


describe(globals(), TENSORS)
