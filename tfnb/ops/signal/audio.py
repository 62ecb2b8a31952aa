"""Sounds: WAV files, spectrograms, mel-frequency cepstral coefficients (MFCC)."""
from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.ops.declaration.declare import host, kernel
from tfnb.ops.declaration.public import public

FULL_SCALE = 1 << 15                    # of 16-bit samples
FLOOR = 1e-12                           # of a filter's output, before the logarithm


# WAV files

def _chunks(contents: bytes) -> dict[bytes, bytes]:
    """Return the chunks of a WAV file by name. Raises ValueError for something else."""
    if contents[:4] != b"RIFF" or contents[8:12] != b"WAVE":
        raise ValueError(f"Header mismatch: expected RIFF and WAVE, got {contents[:4]!r} and {contents[8:12]!r}")
    found: dict[bytes, bytes] = {}
    at = 12
    while at + 8 <= len(contents) and b"data" not in found:
        name, size = contents[at:at + 4], int.from_bytes(contents[at + 4:at + 8], "little")
        if name == b"data" and at + 8 + size > len(contents):
            raise ValueError(f"Data too short when trying to read {size} bytes of samples, got "
                             f"{len(contents) - at - 8}")
        found[name] = contents[at + 8:at + 8 + size]
        at += 8 + size
    for name in (b"fmt ", b"data"):
        if name not in found:
            raise ValueError(f"Header mismatch: expected a chunk {name!r}, got {[*found]}")
    return found


def _decoded_shape(ctx: Any) -> list[Static]:
    merge(ctx.shape(0), ())
    channels, samples = (None if n == -1 else n for n in (ctx.attrs["desired_channels"], ctx.attrs["desired_samples"]))
    return [(samples, channels), ()]


@public("audio.decode_wav", "contrib.audio_ops.decode_wav")
@host("contents: string -> audio: float, sample_rate: int32", shape=_decoded_shape, ranks={"contents": 0},
      desired_channels="int = -1", desired_samples="int = -1")
def DecodeWav(contents: Any, *, desired_channels: int, desired_samples: int) -> Any:
    """Decode a WAV file of 16-bit samples into floats in [-1, 1), [samples, channels], and its sample rate.

    desired_channels: a file with fewer has its last one several times, of one with more the first ones are taken;
    desired_samples: it is cut or continues with zeros; -1: as the file has. Running it raises InvalidArgumentError for
    something else.

    >>> sound = tf.audio.encode_wav([[0.0], [0.5], [-1.0]], 8000)
    >>> sess.run(tf.audio.decode_wav(sound, desired_samples=4))
    DecodeWav(audio=array([[ 0. ],
           [ 0.5],
           [-1. ],
           [ 0. ]], dtype=float32), sample_rate=8000)
    """
    parts = _chunks(contents[()])
    form, channels, rate, _, frame, bits = struct.unpack_from("<HHIIHH", parts[b"fmt "].ljust(16, b"\0"))
    if form not in (1, 0xFFFE) or bits != 16:
        raise ValueError(f"Can only read 16-bit PCM WAV files, got format {form} with {bits} bits per sample")
    if not channels or frame != 2 * channels:
        raise ValueError(f"Bad bytes per sample in WAV header: expected {2 * channels} but got {frame}")
    samples = np.frombuffer(parts[b"data"][:len(parts[b"data"]) // frame * frame], "<i2").reshape(-1, channels)
    audio = samples.astype(np.float32) / np.float32(FULL_SCALE)
    if desired_channels not in (-1, channels):
        last = np.broadcast_to(audio[:, -1:], (len(audio), max(0, desired_channels - channels)))
        audio = np.concatenate([audio[:, :desired_channels], last], 1)
    if desired_samples != -1:
        audio = np.concatenate([audio[:desired_samples], np.zeros(
            (max(0, desired_samples - len(audio)), audio.shape[1]), np.float32)])
    return audio, np.int32(rate)


@public("audio.encode_wav", "contrib.audio_ops.encode_wav")
@host("audio: float, sample_rate: int32 -> contents: string", shape=lambda ctx: [()],
      ranks={"audio": 2, "sample_rate": 0})
def EncodeWav(audio: Any, sample_rate: Any) -> Any:
    """Encode floats in [-1, 1], [samples, channels], as a WAV file of 16-bit samples; louder ones are cut.

    >>> len(sess.run(tf.audio.encode_wav([[0.0], [0.5]], 44100)))
    48
    """
    count, channels = audio.shape
    if not 0 < channels < 1 << 16:
        raise ValueError(f"expected 1 to 65535 channels, got shape {list(audio.shape)}")
    rate = int(sample_rate)
    if rate <= 0:
        raise ValueError(f"sample_rate must be positive, got: {rate}")
    scaled = audio * np.float32(FULL_SCALE)
    rounded = np.copysign(np.floor(np.abs(scaled) + np.float32(0.5)), scaled)         # halves away from zero
    data = np.clip(rounded, -FULL_SCALE, FULL_SCALE - 1).astype("<i2").tobytes()
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, channels, rate,
                       rate * channels * 2 & 0xFFFFFFFF, channels * 2 & 0xFFFF, 16, b"data", len(data))
    return np.array(head + data, object)


# Spectrograms

def _spectrogram_shape(ctx: Any) -> list[Static]:
    samples, channels = merge(ctx.shape(0), (None, None)) or (None, None)
    window, stride = ctx.attrs["window_size"], ctx.attrs["stride"]
    frames = None if samples is None else _frames(samples, window, stride)
    return [(channels, frames, _enclosing(window) // 2 + 1)]


def _frames(samples: int, window: int, stride: int) -> int:
    if window < 2 or stride < 1:
        raise ValueError(f"expected a window of 2 or more samples and a stride of 1 or more, got {window}, {stride}")
    return 1 + (samples - window) // stride if samples >= window else 0


def _enclosing(size: int) -> int:
    """Return the least power of two that is not smaller."""
    return 1 << max(0, size - 1).bit_length()


def _spectrogram(ctx: Any, audio: np.ndarray) -> np.ndarray:
    window, stride = ctx.attrs["window_size"], ctx.attrs["stride"]
    frames, length = _frames(len(audio), window, stride), _enclosing(window)
    if not frames:
        return np.zeros((audio.shape[1], 0, length // 2 + 1), np.float32)
    starts = np.arange(frames)[:, None] * stride + np.arange(window)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
    spectrum = np.fft.rfft(audio.T[:, starts].astype(np.float64) * hann, length)
    power = spectrum.real ** 2 + spectrum.imag ** 2
    return (power if ctx.attrs["magnitude_squared"] else np.sqrt(power)).astype(np.float32)


@public("contrib.audio_ops.audio_spectrogram")
@kernel("input: float -> spectrogram: float", shape=_spectrogram_shape, numpy=_spectrogram, ranks={"input": 2},
        window_size="int", stride="int", magnitude_squared="bool = false")
def AudioSpectrogram() -> None:
    """Compute the spectrum of each window of a sound: [channels, windows, frequencies].

    input: [samples, channels]. window_size: in samples, from one to the next `stride`; weighted by Hann's window. The
    transform has the next power of two. magnitude_squared: power in place of magnitude. Raises ValueError for a window
    below 2.

    >>> from tfnb.contrib import audio_ops
    >>> sess.run(tf.shape(audio_ops.audio_spectrogram(np.ones([100, 1], "float32"), window_size=30, stride=10)))
    array([ 1,  8, 17], dtype=int32)
    """


AudioSpectrogram.no_gradient("as in TensorFlow, it has none")


# Mel-frequency cepstral coefficients

def _mel(frequency: Any) -> Any:
    return 1127.0 * np.log1p(frequency / 700.0)


@lru_cache(8)
def _filters(bins: int, rate: float, count: int, low: float, high: float) -> np.ndarray:
    """Return [bins, count]: triangles that overlap by half, of equal width in mel.

    A frequency gives a part of itself to the filter whose centre is below it, and the rest to the next.
    """
    if not (count > 0 and bins > 1 and 0 <= low < high):
        raise ValueError(f"expected 0 <= lower_frequency_limit < upper_frequency_limit, filters and frequencies, got "
                         f"{low}, {high}, {count} filters, {bins} frequencies")
    spacing = 0.5 * rate / (bins - 1)
    bottom = _mel(low)
    centres = bottom + (_mel(high) - bottom) / (count + 1) * np.arange(1, count + 2)
    weights = np.zeros((bins, count))
    for i in range(int(1.5 + low / spacing), min(int(high / spacing), bins - 1) + 1):
        place = _mel(i * spacing)
        above = min(int(np.searchsorted(centres, place)), count)
        start = centres[above - 1] if above else bottom
        share = (centres[above] - place) / (centres[above] - start)
        if above:
            weights[i, above - 1] += share
        if above < count:
            weights[i, above] += 1 - share
    return weights


def _mfcc(ctx: Any, spectrogram: np.ndarray, sample_rate: np.ndarray) -> np.ndarray:
    attrs = ctx.attrs
    filters = _filters(spectrogram.shape[2], float(sample_rate), attrs["filterbank_channel_count"],
                       attrs["lower_frequency_limit"], attrs["upper_frequency_limit"])
    logs = np.log(np.maximum(np.sqrt(spectrogram.astype(np.float64)) @ filters, FLOOR))
    count = filters.shape[1]
    turns = np.arange(attrs["dct_coefficient_count"])[:, None] * (np.arange(count) + 0.5) * np.pi / count
    return (logs @ (np.sqrt(2.0 / count) * np.cos(turns)).T).astype(np.float32)


def _mfcc_shape(ctx: Any) -> list[Static]:
    merge(ctx.shape(1), ())
    channels, frames, _ = merge(ctx.shape(0), (None, None, None)) or (None, None, None)
    return [(channels, frames, ctx.attrs["dct_coefficient_count"])]


@public("contrib.audio_ops.mfcc")
@kernel("spectrogram: float, sample_rate: int32 -> output: float", shape=_mfcc_shape, numpy=_mfcc,
        ranks={"spectrogram": 3, "sample_rate": 0}, upper_frequency_limit="float = 4000",
        lower_frequency_limit="float = 20", filterbank_channel_count="int = 40", dct_coefficient_count="int = 13")
def Mfcc() -> None:
    """Compute mel-frequency cepstral coefficients of a power spectrogram: [channels, windows, coefficients].

    spectrogram: squared magnitudes, as `audio_spectrogram(magnitude_squared=True)` gives. sample_rate: a scalar.
    `filterbank_channel_count` triangles of equal width in mel lie between the two limits, in Hz; the cosine transform
    of their logarithms is cut to `dct_coefficient_count` numbers. Running it raises InvalidArgumentError for limits in
    the wrong order.

    >>> power = np.ones([1, 2, 129], "float32")
    >>> from tfnb.contrib import audio_ops
    >>> sess.run(tf.shape(audio_ops.mfcc(power, 16000)))
    array([ 1,  2, 13], dtype=int32)
    """


Mfcc.no_gradient("as in TensorFlow, it has none")
for _op in (DecodeWav, EncodeWav):
    _op.no_gradient("its input or output is a string")


describe(globals(), TENSORS)
