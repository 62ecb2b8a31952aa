"""Windows of signals: the weights of the samples of a frame."""
from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType, as_dtype, float32, int32
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import ones, range_
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reverse
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import square
from tfnb.ops.math.casting import cast
from tfnb.ops.math.functions import cos, sin, sqrt
from tfnb.ops.math.special_functions import BesselI0
from tfnb.ops.signal.framing import int_scalar


def _floating(name: str, dtype: Any) -> DType:
    found = as_dtype(dtype)
    if not found.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {found!r}, for {name}")
    return found


def _raised_cosine(name: str | None, default: str, window_length: Any, periodic: Any, dtype: Any, a: float,
                   b: float) -> Tensor:
    """Return a - b cos(2 pi k / n), k = 0, ...; n is one less than the length where the window is symmetric."""
    with name_scope(name, default, [window_length, periodic]):
        dtype, length = _floating(default, dtype), int_scalar(window_length, "window_length")
        even = raw.Sub(1, raw.FloorMod(length, 2))
        periodic = cast(convert_to_tensor(periodic, dtype=None, name="periodic"), int32)
        # An odd length has a middle sample anyhow: only an even one is made one longer, as in TensorFlow.
        n = cast(raw.Sub(raw.AddV2(length, raw.Mul(periodic, even)), 1), dtype)
        turns = raw.RealDiv(raw.Mul(convert_to_tensor(2 * pi, dtype=dtype), cast(range_(length), dtype)),
                            raw.Maximum(n, convert_to_tensor(1, dtype=dtype)))
        window = raw.Sub(convert_to_tensor(a, dtype=dtype), raw.Mul(convert_to_tensor(b, dtype=dtype), cos(turns)))
        only: Tensor = raw.SelectV2(raw.Equal(length, 1), ones([], dtype), window)
        return only


@public("signal.hann_window")
def hann_window(window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None) -> Tensor:
    """Make a Hann window, [window_length]: 0.5 - 0.5 cos(2 pi k / n). Raises ValueError for a dtype of integers.

    window_length: how many samples, an int32 scalar. periodic: False makes it symmetric, as filters need it. dtype: of
    the window, a floating one.

    >>> sess.run(tf.signal.hann_window(4))
    array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


@public("signal.hamming_window")
def hamming_window(window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None) -> Tensor:
    """Make a Hamming window, [window_length]: 0.54 - 0.46 cos(2 pi k / n). Raises ValueError for a dtype of integers.

    window_length: how many samples, an int32 scalar. periodic: False makes it symmetric, as filters need it. dtype: of
    the window, a floating one.

    >>> sess.run(tf.signal.hamming_window(2))
    array([0.08, 1.  ], dtype=float32)
    """
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


@public("signal.kaiser_window")
def kaiser_window(window_length: Any, beta: Any = 12.0, dtype: Any = float32, name: str | None = None) -> Tensor:
    """Make a Kaiser window, [window_length]: I0(beta sqrt(1 - t^2)) / I0(beta), t from -1 to 1.

    window_length: how many samples, an int32 scalar. beta: the larger, the narrower the window. dtype: of the window, a
    floating one. Raises ValueError for a dtype of integers.

    >>> sess.run(tf.signal.kaiser_window(3, 2.0))
    array([0.43867657, 1.        , 0.43867657], dtype=float32)
    """
    with name_scope(name, "kaiser_window"):
        dtype, length = _floating("kaiser_window", dtype), int_scalar(window_length, "window_length")
        shape = convert_to_tensor(beta, dtype=dtype)
        half = raw.Mul(cast(raw.Sub(length, 1), dtype), convert_to_tensor(0.5, dtype=dtype))
        offset = raw.Sub(cast(range_(length), dtype), half)
        inside = raw.Sub(ones([], dtype), raw.DivNoNan(square(offset), square(half)))
        height = BesselI0(raw.Mul(shape, sqrt(raw.Maximum(inside, convert_to_tensor(0, dtype=dtype)))))
        made: Tensor = raw.RealDiv(height, BesselI0(shape))
        return made


@public("signal.kaiser_bessel_derived_window")
def kaiser_bessel_derived_window(window_length: Any, beta: Any = 12.0, dtype: Any = float32,
                                 name: str | None = None) -> Tensor:
    """Make a Kaiser-Bessel derived window, [window_length], whose squares add up to 1 in frames that overlap by half.

    window_length: how many samples, an even int32 scalar. beta: the larger, the narrower the window. dtype: of the
    window, a floating one. Raises ValueError for a dtype of integers.

    >>> window = sess.run(tf.signal.kaiser_bessel_derived_window(4))
    >>> window[:2] ** 2 + window[2:] ** 2
    array([1., 1.], dtype=float32)
    """
    with name_scope(name, "kaiser_bessel_derived_window"):
        dtype, length = _floating("kaiser_bessel_derived_window", dtype), int_scalar(window_length, "window_length")
        half: Any = raw.FloorDiv(length, 2)
        sums: Any = raw.Cumsum(kaiser_window(raw.AddV2(half, 1), beta, dtype), 0)
        rising = sqrt(raw.RealDiv(sums[:-1], sums[-1]))
        return concat([rising, reverse(rising, [0])], 0)


@public("signal.vorbis_window")
def vorbis_window(window_length: Any, dtype: Any = float32, name: str | None = None) -> Tensor:
    """Make the window of the Vorbis codec, [window_length]: sin(pi / 2 sin^2(pi (k + 1/2) / n)).

    window_length: how many samples, an int32 scalar. dtype: of the window, a floating one. Raises ValueError for a
    dtype of integers.

    >>> window = sess.run(tf.signal.vorbis_window(4))
    >>> window[:2] ** 2 + window[2:] ** 2
    array([1., 1.], dtype=float32)
    """
    with name_scope(name, "vorbis_window"):
        dtype, length = _floating("vorbis_window", dtype), int_scalar(window_length, "window_length")
        places = raw.AddV2(cast(range_(length), dtype), convert_to_tensor(0.5, dtype=dtype))
        rise = sin(raw.RealDiv(raw.Mul(convert_to_tensor(np.pi, dtype=dtype), places), cast(length, dtype)))
        return sin(raw.Mul(convert_to_tensor(np.pi / 2, dtype=dtype), square(rise)))
