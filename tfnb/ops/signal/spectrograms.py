"""Short-time Fourier and modified cosine transforms, mel filters and cepstra."""
from __future__ import annotations

from collections.abc import Callable
from math import ceil, log, log2
from typing import Any

import numpy as np

from tfnb.core.dtypes import as_dtype, float32, int32
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.joining import concat, pad, tile
from tfnb.ops.array.reshape import reshape, reverse, shape
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import square
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.ops.signal.fourier import dct, irfft, rfft
from tfnb.ops.signal.framing import frame, int_scalar, overlap_and_add
from tfnb.ops.signal.windows import hann_window, vorbis_window

_HERTZ, _MEL = 700.0, 1127.0            # mel(f) = 1127 ln(1 + f / 700)


def _power_of_two(length: Tensor) -> Any:
    """Return the smallest power of two that holds a frame."""
    known = constant_value(length)
    if known is not None:
        return 2 ** ceil(log2(int(known))) if known > 1 else 1
    exponent = raw.Ceil(raw.RealDiv(raw.Log(raw.Cast(length, DstT=float32)), convert_to_tensor(log(2), dtype=float32)))
    return raw.Cast(raw.Pow(convert_to_tensor(2.0), exponent), DstT=int32)


@public("signal.stft")
def stft(signals: Any, frame_length: Any, frame_step: Any, fft_length: Any = None,
         window_fn: Callable[..., Any] | None = hann_window, pad_end: bool = False, name: str | None = None) -> Tensor:
    """Compute the short-time Fourier transform: complex numbers, [..., frames, fft_length // 2 + 1].

    signals: float32 or float64, [..., samples]. frame_length: samples of a frame, an int32 scalar. frame_step: samples
    from the start of a frame to that of the next, an int32 scalar. fft_length: size of each transform; by default the
    least power of two that holds a frame. window_fn: makes the window of a frame from its length and `dtype`; None: all
    samples weigh the same. pad_end: make frames that reach beyond the end of the signal, too: zeros are there. Raises
    ValueError for signals of rank 0 and lengths that are no scalars.

    >>> tone = tf.sin(2 * 3.14159265 * tf.range(64.0) / 8)
    >>> abs(sess.run(tf.signal.stft(tone, 16, 16))).argmax(1)
    array([2, 2, 2, 2])
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        length, step = int_scalar(frame_length, "frame_length"), int_scalar(frame_step, "frame_step")
        size = _power_of_two(length) if fft_length is None else int_scalar(fft_length, "fft_length")
        frames = frame(signals, length, step, pad_end=pad_end)
        if window_fn is not None:
            frames = raw.Mul(frames, window_fn(length, dtype=frames.dtype))
        return rfft(frames, [size])


@public("signal.inverse_stft")
def inverse_stft(stfts: Any, frame_length: Any, frame_step: Any, fft_length: Any = None,
                 window_fn: Callable[..., Any] | None = hann_window, name: str | None = None) -> Tensor:
    """Compute signals from their short-time Fourier transforms: [..., (frames - 1) frame_step + frame_length].

    stfts: complex64 or complex128, [..., frames, fft_length // 2 + 1]. frame_length: samples of a frame, an int32
    scalar. frame_step: samples from the start of a frame to that of the next, an int32 scalar. fft_length: size of each
    transform; by default the least power of two that holds a frame. window_fn: makes the window of a frame from its
    length and `dtype`; None: all samples weigh the same; see `tf.signal.inverse_stft_window_fn`. Frames are weighed by
    the window and added where they overlap. Raises ValueError for a rank below 2 and lengths that are no scalars.

    >>> samples = tf.range(16.0)
    >>> back = tf.signal.inverse_stft(tf.signal.stft(samples, 4, 2), 4, 2,
    ...                               window_fn=tf.signal.inverse_stft_window_fn(2))
    >>> sess.run(back)[4:8].round(3)
    array([4., 5., 6., 7.], dtype=float32)
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        length, step = int_scalar(frame_length, "frame_length"), int_scalar(frame_step, "frame_step")
        size = _power_of_two(length) if fft_length is None else int_scalar(fft_length, "fft_length")
        frames: Any = irfft(stfts, [size])
        missing = raw.Maximum(0, length - size)
        frames = pad(frames[..., :length], concat([
            raw.Fill(raw.Pack([raw.Rank(frames) - 1, 2]), 0), [[0, missing]]], 0))
        known = constant_value(length)
        if stfts.shape.ndims is not None:
            frames.set_shape([*stfts.shape.as_list()[:-1], None if known is None else int(known)])
        if window_fn is not None:
            frames = raw.Mul(frames, window_fn(length, dtype=frames.dtype))
        return overlap_and_add(frames, step)


@public("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window,
                           name: str | None = None) -> Callable[..., Tensor]:
    """Return the window function for `tf.signal.inverse_stft` that undoes the window of `tf.signal.stft`.

    frame_step: samples from the start of a frame to that of the next, an int32 scalar. forward_window_fn: the window of
    `tf.signal.stft`: of its length and `dtype`. Each weight is that of the forward window over the sum of the squares
    of those that fall on the same sample.

    >>> sess.run(tf.signal.inverse_stft_window_fn(2)(4, dtype=tf.float32))
    array([0., 1., 1., 1.], dtype=float32)
    """
    def window(frame_length: Any, dtype: Any) -> Tensor:
        """Return the window of `frame_length` samples."""
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length, step = int_scalar(frame_length, "frame_length"), int_scalar(frame_step, "frame_step")
            forward = forward_window_fn(length, dtype=dtype)
            many = raw.Neg(raw.FloorDiv(raw.Neg(length), step))
            squares = reshape(pad(square(forward), [[0, many * step - length]]), [many, step])
            total = reshape(tile(reduce_sum(squares, 0, keepdims=True), [many, 1]), [-1])[:length]
            made: Tensor = raw.RealDiv(forward, total)
            return made
    return window


def _mdct_window(window_fn: Callable[..., Any] | None, half: Any, dtype: Any) -> Any:
    """Return the window; by default 1 / sqrt(2): squares of frames that overlap by half add up to 1."""
    return convert_to_tensor(0.5**0.5, dtype=dtype) if window_fn is None else window_fn(half * 2, dtype=dtype)


@public("signal.mdct")
def mdct(signals: Any, frame_length: Any, window_fn: Callable[..., Any] | None = vorbis_window, pad_end: bool = False,
         norm: str | None = None, name: str | None = None) -> Tensor:
    """Compute the modified discrete cosine transform: [..., frames, frame_length // 2].

    signals: float32 or float64, [..., samples]. frame_length: samples of a frame, an int32 scalar, a multiple of 4;
    frames overlap by half. window_fn: makes the window of a frame from its length and `dtype`; None: 1 / sqrt(2)
    throughout. pad_end: make frames that reach beyond the end of the signal, too: zeros are there. norm: "ortho" for
    the orthonormal transform. Raises ValueError for signals of rank 0 and for a length that is no multiple of 4.

    >>> tf.signal.mdct(tf.zeros([16]), 8).shape.as_list()
    [3, 4]
    """
    with name_scope(name, "mdct", [signals, frame_length]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        length = int_scalar(frame_length, "frame_length")
        known = constant_value(length)
        if known is not None and known % 4:
            raise ValueError(f"The frame length must be a multiple of 4, got {int(known)}")
        half = raw.FloorDiv(length, 2) if known is None else int(known) // 2
        frames = frame(signals, length, half, pad_end=pad_end)
        frames = raw.Mul(frames, _mdct_window(window_fn, half, frames.dtype))
        a, b, c, d = raw.Split(-1, frames, num_split=4)
        folded = concat([raw.Sub(raw.Neg(reverse(c, [-1])), d), raw.Sub(a, reverse(b, [-1]))], -1)
        return dct(folded, type=4, norm=norm)


@public("signal.inverse_mdct")
def inverse_mdct(mdcts: Any, window_fn: Callable[..., Any] | None = vorbis_window, norm: str | None = None,
                 name: str | None = None) -> Tensor:
    """Compute signals from their modified discrete cosine transforms: [..., (frames + 1) frame_length // 2].

    mdcts: float32 or float64, [..., frames, frame_length // 2]. window_fn: as of `tf.signal.mdct`. norm: as of
    `tf.signal.mdct`. The first and the last half of a frame are covered by one frame only, and not those of the signal.
    Raises ValueError for a rank below 2.

    >>> samples = tf.range(16.0)
    >>> back = tf.signal.inverse_mdct(tf.signal.mdct(samples, 8, norm="ortho"), norm="ortho")
    >>> sess.run(back)[4:8].round(3)
    array([4., 5., 6., 7.], dtype=float32)
    """
    with name_scope(name, "inverse_mdct", [mdcts]):
        mdcts = convert_to_tensor(mdcts, name="mdcts")
        mdcts.shape.with_rank_at_least(2)
        known = mdcts.shape[-1].value
        half: Any = shape(mdcts)[-1] if known is None else known
        factor = convert_to_tensor(1.0 if norm == "ortho" else 0.5, dtype=mdcts.dtype)
        if norm is None:
            factor = raw.RealDiv(factor, raw.Cast(half, DstT=mdcts.dtype))
        folded = raw.Mul(dct(mdcts, type=4, norm=norm), factor)
        first, second = raw.Split(-1, folded, num_split=2)
        frames = concat([second, raw.Neg(reverse(second, [-1])), raw.Neg(reverse(first, [-1])), raw.Neg(first)], -1)
        return overlap_and_add(raw.Mul(frames, _mdct_window(window_fn, half, frames.dtype)), half)


def _mel(hertz: Tensor) -> Tensor:
    made: Tensor = raw.Mul(convert_to_tensor(_MEL, dtype=hertz.dtype),
                           raw.Log(raw.AddV2(convert_to_tensor(1, dtype=hertz.dtype),
                                             raw.RealDiv(hertz, convert_to_tensor(_HERTZ, dtype=hertz.dtype)))))
    return made


@public("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(num_mel_bins: Any = 20, num_spectrogram_bins: Any = 129, sample_rate: Any = 8000,
                                lower_edge_hertz: Any = 125.0, upper_edge_hertz: Any = 3800.0, dtype: Any = float32,
                                name: str | None = None) -> Tensor:
    """Make the matrix that sums the frequencies of a spectrogram to mel bands: [num_spectrogram_bins, num_mel_bins].

    num_mel_bins: how many bands, an int. num_spectrogram_bins: how many frequencies a spectrogram has. sample_rate:
    samples a second of the signal. lower_edge_hertz: where the first band begins. upper_edge_hertz: where the last band
    ends; at most half of the sample rate. dtype: of the matrix. Bands are triangles, evenly spaced on the mel scale,
    1127 ln(1 + hertz / 700). Raises ValueError for edges and numbers that make no bands.

    >>> spectrogram = tf.ones([5, 129])
    >>> (spectrogram @ tf.signal.linear_to_mel_weight_matrix()).shape.as_list()
    [5, 20]
    """
    with name_scope(name, "linear_to_mel_weight_matrix"):
        dtype = as_dtype(dtype)
        if not isinstance(sample_rate, Tensor):
            _check_bands(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        lower, upper, rate = (convert_to_tensor(value, dtype=dtype) if not isinstance(value, Tensor)
                              else raw.Cast(value, DstT=dtype)
                              for value in (lower_edge_hertz, upper_edge_hertz, sample_rate))
        zero = convert_to_tensor(0, dtype=dtype)
        nyquist = raw.RealDiv(rate, convert_to_tensor(2, dtype=dtype))
        frequencies = _mel(raw.LinSpace(zero, nyquist, num_spectrogram_bins)[1:])           # 0 Hz is in no band
        edges = frame(raw.LinSpace(_mel(lower), _mel(upper), raw.AddV2(num_mel_bins, 2)), 3, 1)
        low, center, high = (reshape(part, [1, -1]) for part in raw.Split(1, edges, num_split=3))
        column = reshape(frequencies, [-1, 1])
        rise = raw.RealDiv(raw.Sub(column, low), raw.Sub(center, low))
        fall = raw.RealDiv(raw.Sub(high, column), raw.Sub(high, center))
        return pad(raw.Maximum(zero, raw.Minimum(rise, fall)), [[1, 0], [0, 0]])


def _check_bands(bands: Any, rate: Any, lower: Any, upper: Any, dtype: Any) -> None:
    if not isinstance(bands, Tensor) and bands <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bands}")
    if isinstance(lower, Tensor) or isinstance(upper, Tensor):
        return
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {rate}")
    if upper > rate / 2:
        raise ValueError("upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
                         f"Got {upper} for sample_rate: {rate}")
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")


@public("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Compute mel-frequency cepstral coefficients: the DCT-II over the bands, over sqrt(2 num_mel_bins).

    log_mel_spectrograms: float32 or float64, [..., num_mel_bins]: logarithms of the energies of mel bands. The result
    has the shape of the input; programs keep its first 13 or so. Raises ValueError for a rank of 0 and for no bands.

    >>> sess.run(tf.signal.mfccs_from_log_mel_spectrograms([[1.0, 1.0]])).round(3)
    array([[2., 0.]], dtype=float32)
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        given = convert_to_tensor(log_mel_spectrograms, name="log_mel_spectrograms")
        known = given.shape.with_rank_at_least(1)[-1].value
        if known == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {given.shape}")
        bands: Any = shape(given)[-1] if known is None else known
        scale = raw.Rsqrt(raw.Cast(raw.Mul(2, bands), DstT=given.dtype) if known is None
                          else convert_to_tensor(np.float64(2 * known), dtype=given.dtype))
        made: Tensor = raw.Mul(dct(given, type=2), scale)
        return made
