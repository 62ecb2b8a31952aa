"""Complex numbers: real and imaginary parts, conjugates, absolute values, arguments."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import DType
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import elementwise, kernel
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.broadcast import unbroadcast


@elementwise("input: T -> output: Tout", T="{complex64, complex128} = DT_COMPLEX64",
             Tout="{float, double} = DT_FLOAT")
def Real(input):
    """Compute the real part of complex numbers, element-wise."""
    return real(input)


@elementwise("input: T -> output: Tout", T="{complex64, complex128} = DT_COMPLEX64",
             Tout="{float, double} = DT_FLOAT")
def Imag(input):
    """Compute the imaginary part of complex numbers, element-wise."""
    return imag(input)


@elementwise("input: T -> output: T", T="{complex64, complex128, variant} = DT_COMPLEX64")
def Conj(input):
    """Compute the complex conjugate, element-wise."""
    return conj(input)


@elementwise("x: T -> y: Tout", T="{complex64, complex128} = DT_COMPLEX64", Tout="{float, double} = DT_FLOAT")
def ComplexAbs(x):
    """Compute the absolute value of complex numbers, element-wise."""
    return abs(x)


@elementwise("input: T -> output: Tout", T="{complex64, complex128} = DT_COMPLEX64",
             Tout="{float, double} = DT_FLOAT")
def Angle(input):
    """Compute the argument of complex numbers, in (-pi, pi], element-wise."""
    return atan2(imag(input), real(input))


def _complex(ctx: Any, real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    made = np.empty(np.broadcast_shapes(real.shape, imag.shape), ctx.attrs["Tout"].as_numpy_dtype)
    made.real, made.imag = real, imag
    return made


@kernel("real: T, imag: T -> out: Tout", shape=shapes.broadcast_inputs, numpy=_complex,
        T="{float, double} = DT_FLOAT", Tout="{complex64, complex128} = DT_COMPLEX64")
def Complex() -> None:
    """Compute `real + i imag`, element-wise."""


@Real.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return complex(dy, convert_to_tensor(0, dtype=dy.dtype))


@Imag.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return complex(convert_to_tensor(0, dtype=dy.dtype), dy)


@Angle.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    """`i dy x / |x|^2`: at right angles to `x`."""
    x, zero = op.inputs[0], convert_to_tensor(0, dtype=dy.dtype)
    return raw.RealDiv(complex(zero, dy), conj(x))


@Conj.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return Conj(dy)


@Complex.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return unbroadcast(op, real(dz), imag(dz))


@ComplexAbs.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    zero = convert_to_tensor(0, dtype=dy.dtype)
    return raw.DivNoNan(raw.Mul(complex(dy, zero), op.inputs[0]), complex(op.outputs[0], zero))


# What users call

@dispatched
def angle(input: Any, name: str | None = None) -> Tensor:
    """Compute the argument of each element, in (-pi, pi]; of reals 0 or pi. Floats of the precision of `input`.

    >>> sess.run(tf.angle([1.0 + 1.0j, -1.0 + 0.0j]))
    array([0.7854, 3.1416])
    """
    with name_scope(name, "Angle", [input]) as scope:
        x = convert_to_tensor(input, name="input")
        if x.dtype.is_complex:
            return Angle(x, Tout=x.dtype.real_dtype, name=scope)
        return raw.Select(raw.Less(x, convert_to_tensor(0, dtype=x.dtype)),
                          raw.Mul(convert_to_tensor(np.pi, dtype=x.dtype), raw.OnesLike(x)), raw.ZerosLike(x))


@dispatched
def conj(x: Any, name: str | None = None) -> Tensor:
    """Compute the complex conjugate; a real tensor is returned as it is. Raises TypeError for other dtypes.

    >>> sess.run(tf.conj([1.0 + 3.0j, 2.0 + 4.0j]))
    array([1.-3.j, 2.-4.j])
    """
    x = x if isinstance(x, Tensor) else convert_to_tensor(x, name="x")
    if x.dtype.is_complex or x.dtype.base_dtype == dtypes.variant:
        return Conj(x, name=name)
    if not (x.dtype.is_floating or x.dtype.is_integer):
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
    return x


@dispatched
def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """Compute `real + i imag`: complex64 from float32, complex128 from float64.

    >>> sess.run(tf.complex([1.0, 2.0], [3.0, 4.0]))
    array([1.+3.j, 2.+4.j], dtype=complex64)
    """
    real, imag = convert_to_tensor(real, name="real"), convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        kind: DType | None = {dtypes.float32: dtypes.complex64,
                              dtypes.float64: dtypes.complex128}.get(real.dtype.base_dtype)
        if kind is None or real.dtype.base_dtype != imag.dtype.base_dtype:
            raise TypeError(f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}")
        return Complex(real, imag, Tout=kind, name=scope)


@dispatched
def real(input: Any, name: str | None = None) -> Tensor:
    """Compute the real part; a real tensor is returned as it is. Raises TypeError for other dtypes.

    >>> sess.run(tf.real([1.0 + 3.0j, 2.0 + 4.0j]))
    array([1., 2.])
    """
    with name_scope(name, "Real", [input]) as scope:
        x = convert_to_tensor(input, name="input")
        if not (x.dtype.is_floating or x.dtype.is_integer or x.dtype.is_complex):
            raise TypeError(f"input must be a numeric tensor, but got tensor with dtype {x.dtype!r}")
        return Real(x, Tout=x.dtype.real_dtype, name=scope) if x.dtype.is_complex else x


@dispatched
def imag(input: Any, name: str | None = None) -> Tensor:
    """Compute the imaginary part; zeros for a real tensor.

    >>> sess.run(tf.imag([1.0 + 3.0j, 2.0 + 4.0j]))
    array([3., 4.])
    """
    with name_scope(name, "Imag", [input]) as scope:
        x = convert_to_tensor(input, name="input")
        if x.dtype.is_complex:
            return Imag(x, Tout=x.dtype.real_dtype, name=scope)
        return raw.ZerosLike(x)


describe(globals(), TENSORS)
