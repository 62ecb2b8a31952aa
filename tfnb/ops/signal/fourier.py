"""Discrete Fourier transforms over the last axes, and what is made of them: cosine transforms, shifts."""
from __future__ import annotations

from collections.abc import Callable
from math import pi, prod
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import Static, TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.scalar.numpy_forms import has_scipy
from tfnb.ops.array.roll import roll
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.complex import complex as complex_

# SciPy's transforms of many rows of float32 are two to ten times as fast as NumPy's.
fft_of = lazy_module("scipy.fft" if has_scipy() else "numpy.fft")
_COMPLEX = "{complex64, complex128} = DT_COMPLEX64"
_REAL = "{float, double} = DT_FLOAT"
_TITLES = {1: "over the last axis", 2: "over the last two axes", 3: "over the last three axes"}


def _enough_axes(ctx: Any, rank: int) -> Static:
    given: Static = ctx.shape(0)
    if given is not None and len(given) < rank:
        raise ValueError(f"expected at least {rank} axes, got shape {list(given)}")
    return given


def _axes(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


def _complex_kind(name: str, rank: int, inverse: bool) -> Any:
    """Declare a transform of complex numbers over the last `rank` axes."""
    def numpy(ctx: Any, x: np.ndarray) -> np.ndarray:
        """Return the transform, in the precision of x."""
        if not x.size:
            return x.copy()
        made: np.ndarray = (fft_of.ifftn if inverse else fft_of.fftn)(x, axes=_axes(rank))
        return made

    def op() -> None:
        """"""
    op.__name__ = name
    op.__doc__ = (f"Compute the {'inverse ' if inverse else ''}discrete Fourier transform {_TITLES[rank]}"
                  f"{', with 1 / n' if inverse else ''}.")
    declared = kernel("input: Tcomplex -> output: Tcomplex", shape=lambda ctx: [_enough_axes(ctx, rank)], numpy=numpy,
                      Tcomplex=_COMPLEX)(op)
    return declared


FFT, IFFT = _complex_kind("FFT", 1, False), _complex_kind("IFFT", 1, True)
FFT2D, IFFT2D = _complex_kind("FFT2D", 2, False), _complex_kind("IFFT2D", 2, True)
FFT3D, IFFT3D = _complex_kind("FFT3D", 3, False), _complex_kind("IFFT3D", 3, True)


def _length(ctx: Any, rank: int) -> list[int | None]:
    """Return the sizes of the transformed axes, where they are known."""
    value = ctx.value(1)
    if value is None:
        return [None] * rank
    sizes = [int(n) for n in value.reshape(-1)]
    if len(sizes) != rank:
        raise ValueError(f"Input must have length {rank} of fft_length, got {sizes}")
    return [*sizes]


def _real_shape(rank: int, inverse: bool) -> Callable[[Any], list[Static]]:
    def shape(ctx: Any) -> list[Static]:
        """Return the shape with the sizes of the transform."""
        given, sizes = _enough_axes(ctx, rank), _length(ctx, rank)
        if given is None:
            return [None]
        if not inverse:
            sizes[-1] = None if sizes[-1] is None else sizes[-1] // 2 + 1 if sizes[-1] else 0
        return [(*given[:-rank], *sizes)]
    return shape


def _long_enough(rank: int, inverse: bool) -> Callable[[Any], None]:
    def validate(ctx: Any) -> None:
        """Raise ValueError where an axis is shorter than the transform needs."""
        given, sizes = ctx.shape(0), [n or 0 for n in _length(ctx, rank)]
        needed = [*sizes[:-1], sizes[-1] // 2 + 1 if inverse and sizes[-1] else sizes[-1]]
        if any(n < 0 for n in sizes):
            raise ValueError(f"fft_length must be non-negative, got {sizes}")
        for i, least in enumerate(needed):
            if given[i - rank] < least and prod(given):
                raise ValueError(f"Input dimension {len(given) - rank + i} must have length of at least {least} but "
                                 f"got: {given[i - rank]}")
    return validate


def _real_kind(name: str, rank: int, inverse: bool) -> Any:
    """Declare a transform between real numbers and the half of their spectrum that says all."""
    def numpy(ctx: Any, x: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Return the transform of the first elements of each axis."""
        sizes, dtype = length.tolist(), ctx.op.outputs[0].dtype.as_numpy_dtype
        out = [*x.shape[:-rank], *sizes]
        if not inverse:
            out[-1] = sizes[-1] // 2 + 1 if sizes[-1] else 0
        if not x.size or 0 in out:
            return np.zeros(out, dtype)
        cut = [*sizes[:-1], sizes[-1] // 2 + 1 if inverse else sizes[-1]]
        part: Any = (..., *(slice(n) for n in cut))
        x = x[part]
        made = (fft_of.irfftn if inverse else fft_of.rfftn)(x, s=sizes, axes=_axes(rank))
        return np.asarray(made, dtype)

    def op() -> None:
        """"""
    op.__name__ = name
    op.__doc__ = (f"Compute the real numbers whose spectrum {_TITLES[rank]} begins with these n // 2 + 1 frequencies."
                  if inverse else
                  f"Compute the discrete Fourier transform of real numbers {_TITLES[rank]}: n // 2 + 1 frequencies.")
    text = ("input: Tcomplex, fft_length: int32 -> output: Treal" if inverse else
            "input: Treal, fft_length: int32 -> output: Tcomplex")
    return kernel(text, shape=_real_shape(rank, inverse), numpy=numpy, values=("fft_length",), ranks={"fft_length": 1},
                  validate=_long_enough(rank, inverse), Treal=_REAL, Tcomplex=_COMPLEX)(op)


RFFT, IRFFT = _real_kind("RFFT", 1, False), _real_kind("IRFFT", 1, True)
RFFT2D, IRFFT2D = _real_kind("RFFT2D", 2, False), _real_kind("IRFFT2D", 2, True)
RFFT3D, IRFFT3D = _real_kind("RFFT3D", 3, False), _real_kind("IRFFT3D", 3, True)
_FULL = {1: (FFT, IFFT), 2: (FFT2D, IFFT2D), 3: (FFT3D, IFFT3D)}
_HALF = {1: (RFFT, IRFFT), 2: (RFFT2D, IRFFT2D), 3: (RFFT3D, IRFFT3D)}


# Gradients: a transform is linear, and its adjoint the other one, up to the number of elements

def _count(tensor: Any, rank: int, dtype: Any) -> Tensor:
    """Return how many elements a transform is over, as a number of a dtype."""
    sizes: Any = raw.Shape(tensor)
    made: Tensor = raw.Cast(raw.Prod(sizes[-rank:], [0]), DstT=dtype)
    return made


def _full_gradient(rank: int, inverse: bool) -> Callable[[Operation, Tensor], Tensor]:
    def gradient(op: Operation, dy: Tensor) -> Tensor:
        """Return the other transform, with the factor that it has or lacks."""
        count = _count(dy, rank, dy.dtype)
        made: Tensor = _FULL[rank][not inverse](dy)
        result: Tensor = raw.RealDiv(made, count) if inverse else raw.Mul(made, count)
        return result
    return gradient


def _padded_to(tensor: Any, sizes: Any, rank: int) -> Tensor:
    """Return a tensor with zeros behind its last axes, up to `sizes`."""
    given: Any = raw.Shape(tensor)
    behind = raw.Sub(sizes, given[-rank:])
    ahead = raw.Fill(raw.Pack([raw.Sub(raw.Rank(tensor), rank)]), 0)
    ends = raw.ConcatV2([ahead, behind], 0)
    made: Tensor = raw.Pad(tensor, raw.Pack([raw.ZerosLike(ends), ends], axis=1))
    return made


def _rfft_gradient(rank: int) -> Callable[[Operation, Tensor], list[Tensor | None]]:
    def gradient(op: Operation, dy: Tensor) -> list[Tensor | None]:
        """Return the real part of the adjoint, zero for what was cut."""
        x, length = op.inputs
        spectrum = _padded_to(dy, length, rank)
        back = raw.Real(raw.Mul(_FULL[rank][True](spectrum), _count(spectrum, rank, dy.dtype)), Tout=x.dtype)
        sizes: Any = raw.Shape(x)
        return [raw.Reshape(_padded_to(back, sizes[-rank:], rank), sizes), None]
    return gradient


def _irfft_gradient(rank: int) -> Callable[[Operation, Tensor], list[Tensor | None]]:
    def gradient(op: Operation, dy: Tensor) -> list[Tensor | None]:
        """Return the spectrum of dy over its size, twice for frequencies that stand for two."""
        x, length = op.inputs
        spectrum: Any = _HALF[rank][False](dy, length, Tcomplex=x.dtype)
        size: Any = length[-1]
        places: Any = raw.Range(0, size // 2 + 1, 1)
        once = raw.LogicalOr(raw.Equal(places, 0), raw.Equal(places * 2, size))
        real = dy.dtype.base_dtype
        factor = raw.RealDiv(raw.SelectV2(once, convert_to_tensor(1, dtype=real), convert_to_tensor(2, dtype=real)),
                             _count(dy, rank, real))
        whole = raw.Mul(spectrum, raw.Cast(factor, DstT=x.dtype))
        sizes: Any = raw.Shape(x)
        return [raw.Reshape(_padded_to(whole, sizes[-rank:], rank), sizes), None]
    return gradient


for _rank in (1, 2, 3):
    _FULL[_rank][0].gradient(_full_gradient(_rank, False))
    _FULL[_rank][1].gradient(_full_gradient(_rank, True))
    _HALF[_rank][0].gradient(_rfft_gradient(_rank))
    _HALF[_rank][1].gradient(_irfft_gradient(_rank))


# What users call

def _names(name: str, rooted: bool = True) -> list[str]:
    return [name] * rooted + [f"signal.{name}", f"spectral.{name}"]


def _complex_function(name: str, op: Any, rank: int, inverse: bool) -> Any:
    def transform(input: Any, name: str | None = None) -> Tensor:
        if isinstance(input, np.ndarray) and input.dtype.kind == "c":
            input = convert_to_tensor(input)                    # which keeps its precision; others are complex64
        return op(input, name=name)
    transform.__name__ = transform.__qualname__ = name
    example = "[1.0 + 0j, 2.0]" if rank == 1 else "[[1.0 + 0j, 2.0]]" if rank == 2 else "[[[1.0 + 0j, 2.0]]]"
    values = ("[ 1.5+0.j, -0.5+0.j]" if inverse else "[ 3.+0.j, -1.+0.j]")
    shown = {1: values, 2: f"[{values}]", 3: f"[[{values}]]"}[rank]
    transform.__doc__ = f"""{op.spec.doc}

    input: complex64 or complex128, [..., {', '.join(f'n{i}' for i in range(rank))}]; the result has its shape. Raises
    ValueError for too few axes.

    >>> sess.run(tf.signal.{name}(tf.constant({example}, tf.complex64)))
    array({shown}, dtype=complex64)
    """
    return public(*_names(name))(transform)


fft, ifft = _complex_function("fft", FFT, 1, False), _complex_function("ifft", IFFT, 1, True)
fft2d, ifft2d = _complex_function("fft2d", FFT2D, 2, False), _complex_function("ifft2d", IFFT2D, 2, True)
fft3d, ifft3d = _complex_function("fft3d", FFT3D, 3, False), _complex_function("ifft3d", IFFT3D, 3, True)


def _lengthened(x: Tensor, length: Any, rank: int, inverse: bool) -> Tensor:
    """Return a signal with zeros behind it where it is shorter than the transform."""
    needed: Any = constant_value(length)
    if needed is not None:
        sizes = needed.tolist()
        sizes[-1] = sizes[-1] // 2 + 1 if inverse and sizes[-1] else sizes[-1]
        known = None if x.static is None else x.static[len(x.static) - rank:]
        if known is not None and None not in known and all(n >= m for n, m in zip(known, sizes, strict=True)):
            return x
        needed = convert_to_tensor(sizes, dtype=dtypes.int32)
    elif inverse:
        last: Any = length[-1:]
        needed = raw.ConcatV2([length[:-1], raw.Maximum(last // 2 + 1, 0)], 0)
    else:
        needed = length
    given: Any = raw.Shape(x)
    made = _padded_to(x, raw.Maximum(needed, given[-rank:]), rank)
    if x.static is not None:
        made.set_shape(TensorShape(x.static[:len(x.static) - rank]).concatenate([None] * rank))
    return made


def _real_function(name: str, op: Any, rank: int, inverse: bool) -> Any:
    def transform(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
        with name_scope(name, op.spec.name.lower(), [input_tensor, fft_length]) as scope:
            x = convert_to_tensor(input_tensor, preferred_dtype=dtypes.complex64 if inverse else dtypes.float32)
            x.shape.with_rank_at_least(rank)
            half = dtypes.complex128 if x.dtype == dtypes.float64 else dtypes.complex64
            other = dtypes.float64 if x.dtype == dtypes.complex128 else dtypes.float32
            if fft_length is None:
                length = _own_length(x, rank, inverse)
            else:
                length = convert_to_tensor(fft_length, dtype=dtypes.int32)
                x = _lengthened(x, length, rank, inverse)
            return op(x, length, name=scope, **{"Treal": other} if inverse else {"Tcomplex": half})
    transform.__name__ = transform.__qualname__ = name
    bare = "[1.0, 2.0, 3.0, 4.0]" if not inverse else "[10.0 + 0j, -2 + 2j, -2.0]"
    result = "[10.+0.j, -2.+2.j, -2.+0.j]" if not inverse else "[1., 2., 3., 4.]"
    for _ in range(rank - 1):
        bare, result = f"[{bare}]", f"[{result}]"
    transform.__doc__ = f"""{op.spec.doc}

    input_tensor: {'complex64 or complex128' if inverse else 'float32 or float64'}. fft_length: the sizes n of the
    transformed axes, [{rank}] int32; by default those of the input{', 2 (m - 1) for the last' if inverse else ''}.
    What is longer is cut, what is shorter continues with zeros. Raises ValueError for too few axes.

    >>> sess.run(tf.signal.{name}({bare}))
    array({result}, dtype={'float32' if inverse else 'complex64'})
    """
    return public(*_names(name, rooted=False))(transform)


def _own_length(x: Tensor, rank: int, inverse: bool) -> Tensor:
    """Return the sizes of the last axes; of an inverse transform the last is that of the real signal."""
    known = None if x.static is None else x.static[len(x.static) - rank:]
    if known is not None and None not in known:
        sizes = [n or 0 for n in known]
        sizes[-1] = max(0, 2 * (sizes[-1] - 1)) if inverse else sizes[-1]
        return convert_to_tensor(sizes, dtype=dtypes.int32)
    given: Any = raw.Shape(x)
    length: Any = given[-rank:]
    if inverse:
        length = raw.ConcatV2([length[:-1], raw.Maximum(0, 2 * (length[-1:] - 1))], 0)
    return length


rfft, irfft = _real_function("rfft", RFFT, 1, False), _real_function("irfft", IRFFT, 1, True)
rfft2d, irfft2d = _real_function("rfft2d", RFFT2D, 2, False), _real_function("irfft2d", IRFFT2D, 2, True)
rfft3d, irfft3d = _real_function("rfft3d", RFFT3D, 3, False), _real_function("irfft3d", IRFFT3D, 3, True)


# Shifts

def _shifted(x: Any, axes: Any, name: str, back: bool) -> Tensor:
    with name_scope(name):
        x = convert_to_tensor(x)
        if axes is None:
            axes = list(range(x.shape.ndims)) if x.shape.ndims is not None else raw.Range(0, raw.Rank(x), 1)
        every = [axes] if isinstance(axes, int) else axes
        sizes: Any = raw.GatherV2(raw.Shape(x), every, 0)
        by: Any = sizes // 2
        return roll(x, -by if back else by, every)


@public("signal.fftshift")
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Move frequency 0 to the middle of its axis.

    axes: an int or a list; by default all.

    >>> sess.run(tf.signal.fftshift([0.0, 1.0, 2.0, -2.0, -1.0]))
    array([-2., -1.,  0.,  1.,  2.], dtype=float32)
    """
    return _shifted(x, axes, name or "fftshift", False)


@public("signal.ifftshift")
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Move frequency 0 from the middle of its axis to the front: the inverse of `tf.signal.fftshift`.

    axes: an int or a list; by default all.

    >>> sess.run(tf.signal.ifftshift([-2.0, -1.0, 0.0, 1.0, 2.0]))
    array([ 0.,  1.,  2., -2., -1.], dtype=float32)
    """
    return _shifted(x, axes, name or "ifftshift", True)


# Cosine transforms

def _checked(type: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in (1, 2, 3, 4):
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported, got type {type}")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


@public("signal.dct", "spectral.dct")
def dct(input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
        name: str | None = None) -> Tensor:
    """Compute the discrete cosine transform of the last axis.

    input: float32 or float64. type: 1, 2, 3 or 4 for DCT-I to DCT-IV. n: the size of the transform; a longer axis is
    cut, a shorter one continues with zeros. axis: -1. norm: "ortho" for the orthonormal one (not of type 1). Raises
    ValueError for another type or norm, NotImplementedError for another axis.

    >>> sess.run(tf.signal.dct([1.0, 2.0, 3.0]))
    array([12.    , -3.4641, -0.    ], dtype=float32)
    """
    _checked(type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        x = convert_to_tensor(input)
        x = _cut_or_padded(x, n) if n is not None else x
        size = x.static[-1] if x.static else None
        if type == 1 and size is not None and size < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
        return _TRANSFORMS[type](x, norm)


def _cut_or_padded(x: Any, n: int) -> Tensor:
    cut: Tensor = _lengthened(x[..., :n], convert_to_tensor([n], dtype=dtypes.int32), 1, False)
    cut.set_shape(TensorShape(x.shape[:-1]).concatenate(n) if x.shape.ndims is not None else None)
    return cut


def _size(x: Any) -> tuple[Any, Tensor]:
    """Return the size of the last axis as an int where it is known, and as a number of the dtype."""
    known = x.static[-1] if x.static else None
    sizes: Any = raw.Shape(x)
    size: Any = known if known is not None else sizes[-1]
    return size, convert_to_tensor(known, dtype=x.dtype) if known is not None else raw.Cast(size, DstT=x.dtype)


def _turned(x: Tensor, sign: float, offset: float = 0.0) -> Tensor:
    """Return 2 exp(sign i pi (k + offset) / 2n) for each place k."""
    size, count = _size(x)
    places = raw.AddV2(raw.Cast(raw.Range(0, size, 1), DstT=x.dtype), convert_to_tensor(offset, dtype=x.dtype))
    angle = raw.Mul(places, raw.RealDiv(convert_to_tensor(sign * pi / 2, dtype=x.dtype), count))
    two = convert_to_tensor(2, dtype=x.dtype)
    return complex_(raw.Mul(two, raw.Cos(angle)), raw.Mul(two, raw.Sin(angle)))


def _weights(x: Tensor, first: Any, others: Any) -> Tensor:
    """Return a factor for each place: one for the first, another for those behind it."""
    size, _ = _size(x)
    made: Tensor = raw.SelectV2(raw.Equal(raw.Range(0, size, 1), 0), first, others)
    return made


def _first(x: Any, norm: str | None) -> Tensor:
    mirrored: Tensor = raw.Real(rfft(raw.ConcatV2([x, x[..., -2:0:-1]], -1)), Tout=x.dtype)
    return mirrored


def _second(x: Tensor, norm: str | None) -> Tensor:
    size, count = _size(x)
    spectrum: Any = rfft(x, fft_length=raw.Pack([2 * size]))
    made: Tensor = raw.Real(raw.Mul(spectrum[..., :size], _turned(x, -1)), Tout=x.dtype)
    if norm == "ortho":
        half = raw.Mul(convert_to_tensor(0.5, dtype=x.dtype), raw.Rsqrt(count))
        made = raw.Mul(made, _weights(x, half, raw.Mul(half, convert_to_tensor(np.sqrt(2), dtype=x.dtype))))
    return made


def _third(x: Tensor, norm: str | None) -> Tensor:
    size, count = _size(x)
    if norm == "ortho":
        root = raw.Sqrt(count)
        x = raw.Mul(x, _weights(x, root, raw.Mul(root, convert_to_tensor(np.sqrt(0.5), dtype=x.dtype))))
    else:
        x = raw.Mul(x, count)
    spectrum = raw.Mul(_turned(x, 1), complex_(x, raw.ZerosLike(x)))
    signal: Any = irfft(spectrum, fft_length=raw.Pack([2 * size]))
    made: Tensor = signal[..., :size]
    return made


def _fourth(x: Tensor, norm: str | None) -> Tensor:
    """As the odd frequencies of a type 2 transform of twice the size."""
    _, count = _size(x)
    doubled = raw.ConcatV2([x, raw.ZerosLike(x)], -1)
    whole: Any = _second(doubled, None)
    made: Tensor = whole[..., 1::2]
    if norm == "ortho":
        made = raw.Mul(made, raw.Rsqrt(raw.Mul(count, convert_to_tensor(2, dtype=x.dtype))))
    made.set_shape(x.shape)
    return made


_TRANSFORMS = {1: _first, 2: _second, 3: _third, 4: _fourth}


@public("signal.idct", "spectral.idct")
def idct(input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
         name: str | None = None) -> Tensor:
    """Compute the inverse cosine transform of the last axis: that of type 3 for 2, 2 for 3; 1 and 4 are their own.

    Without "ortho" it is the inverse up to the factor 2 n (2 (n - 1) for type 1). input, type, n, axis, norm: as of
    `tf.signal.dct`; n: None. Raises ValueError for another type or norm, NotImplementedError for another axis.

    >>> x = tf.signal.dct([1.0, 2.0, 3.0], norm="ortho")
    >>> sess.run(tf.signal.idct(x, norm="ortho"))
    array([1., 2., 3.], dtype=float32)
    """
    _checked(type, n, axis, norm)
    return dct(input, {1: 1, 2: 3, 3: 2, 4: 4}[type], n, axis, norm, name)


describe(globals(), TENSORS)
