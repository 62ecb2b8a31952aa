"""WAV encoder: 16-bit PCM."""
from __future__ import annotations

import struct

import numpy as np

_FULL_SCALE = 1 << 15


def encode_wav(samples: np.ndarray, sample_rate: int) -> bytes:
    """Encode samples, float [frames, channels], as a WAV file; [-1, 1] is the full range (others are clipped).

    Raises ValueError for a rate or a number of channels that the format has no room for.
    """
    if not 0 < sample_rate < 2**32:
        raise ValueError(f"sample_rate must be in (0, 2^32), got: {sample_rate}")
    if not 0 < samples.shape[1] < 2**16:
        raise ValueError(f"num_channels must be in (0, 2^16), got: {samples.shape[1]}")
    scaled = samples.astype(np.float32) * np.float32(_FULL_SCALE)
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))      # halves away from zero
    data: bytes = np.clip(rounded, -_FULL_SCALE, _FULL_SCALE - 1).astype("<i2").tobytes()
    block = 2 * samples.shape[1]
    head = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, samples.shape[1], sample_rate,
                       sample_rate * block % 2**32, block % 2**16, 16)
    start = struct.pack("<4sI4s", b"RIFF", 36 + len(data), b"WAVE")
    return start + head + struct.pack("<4sI", b"data", len(data)) + data
