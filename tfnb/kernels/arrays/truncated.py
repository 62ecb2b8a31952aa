"""Normal samples between bounds as TensorFlow's CPU ops draw them from Philox, in NumPy.

By rejection from a normal distribution where one bound is at least 1.3 standard deviations behind the mean, else from
a uniform one where the bounds are near one another, else from an exponential one (Robert, 1995). A run of samples with
the same parameters takes whole blocks of the stream.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfnb.core.errors import InternalError
from tfnb.kernels.arrays import philox

MOST_TRIES = 1000                                  # rejected one after another, before TensorFlow gives up
WIDE = 1.3
_CHUNK = 1 << 12                                   # blocks at a time


def failed(low: np.floating, high: np.floating) -> InternalError:
    """Return the error for bounds between which no sample is accepted."""
    return InternalError(None, None, "the rejection sampler of a truncated normal distribution failed to accept a "
                                     f"sample between {low} and {high}")


def misfit(deviation: np.floating, low: np.floating, high: np.floating) -> ValueError:
    """Return the error for parameters that name no distribution."""
    return ValueError(f"Invalid parameters: expected stdevs > 0 and minvals < maxvals, one of them finite, got "
                      f"{deviation}, {low} and {high}")


class _Stream:
    """Blocks of the stream from a state on: `size` values each."""

    def __init__(self, state: np.ndarray, dtype: np.dtype) -> None:
        self.state, self.dtype, self.size = state.copy(), dtype, 2 if dtype.itemsize == 8 else 4

    def normal(self, blocks: int) -> np.ndarray:
        """Return the normal values of the next blocks; they stay the next ones."""
        return philox.normal(self.state.copy(), (blocks * self.size,), self.dtype)

    def uniform(self, blocks: int) -> np.ndarray:
        """Return the values in [0, 1) of the next blocks, which stay the next ones, a row each."""
        return philox.uniform(self.state.copy(), (blocks * self.size,), self.dtype).reshape(blocks, self.size)

    def skip(self, blocks: int) -> None:
        """Take blocks."""
        philox.advance(self.state, blocks)


class _Truncated:
    """The standard normal distribution between two bounds, the lower of which is finite.

    propose: fn(stream, count) -> (proposed values, which are accepted, blocks that `step` of them take, step).
    """

    def __init__(self, low: np.floating, high: np.floating) -> None:
        kind = low.dtype.type
        self.low, self.high, self.span = low, high, high - low
        root = np.sqrt(low * low + kind(4))
        cutoff = kind(2) * np.exp(kind(0.5) + low * (low - root) / kind(4)) / (low + root)
        self.alpha = (low + root) / kind(2)
        wide = kind(WIDE)
        by_normal = low < -wide and high >= 0 or high > wide and low <= 0
        self.propose = self._normal if by_normal else self._uniform if self.span < cutoff else self._exponential

    def _normal(self, stream: _Stream, count: int) -> tuple[np.ndarray, np.ndarray, int, int]:
        found = stream.normal(count)
        return found, (found >= self.low) & (found <= self.high), 1, stream.size

    def _uniform(self, stream: _Stream, count: int) -> tuple[np.ndarray, np.ndarray, int, int]:
        drawn = stream.uniform(2 * count).reshape(count, 2, stream.size)
        kind = self.low.dtype.type
        found = drawn[:, 0] * self.span + self.low
        least = kind(0) if self.low < 0 else self.low * self.low
        kept = drawn[:, 1] <= np.exp((least - found * found) / kind(2))
        return found.reshape(-1), kept.reshape(-1), 2, stream.size

    def _exponential(self, stream: _Stream, count: int) -> tuple[np.ndarray, np.ndarray, int, int]:
        first, second = stream.uniform(count).reshape(-1, 2).T
        kind = self.low.dtype.type
        with np.errstate(divide="ignore"):
            found = -np.log(first) / self.alpha + self.low
        x = self.alpha - found if self.low < self.alpha else self.low - self.alpha
        kept = (second <= np.exp(-x * x / kind(2))) & (found < self.high)
        return found, kept, 1, stream.size // 2

    def draw(self, stream: _Stream, out: np.ndarray) -> None:
        """Fill an array with samples. Raises InternalError where too many are rejected one after another."""
        tries, count = 0, len(out)
        while count > 0:
            with np.errstate(over="ignore", invalid="ignore"):
                found, kept, blocks, step = self.propose(stream, min(count + 1, _CHUNK))
            places = np.flatnonzero(kept)[:count]
            out[len(out) - count:len(out) - count + len(places)] = found[places]
            tries = 0 if len(places) else tries + len(kept)
            if tries > MOST_TRIES:
                raise failed(self.low, self.high)
            count -= len(places)
            used = len(kept) if count else int(places[-1]) + 1
            stream.skip(-(-used // step) * blocks)


def truncated(state: np.ndarray, parameters: Sequence[tuple[np.floating, ...]], count: int,
              dtype: np.dtype) -> np.ndarray:
    """Return a row of `count` samples for each (mean, deviation, lower bound, upper bound), as one thread draws them.

    The state is left as it is. Raises ValueError for a deviation that is not positive, for bounds that are not in order
    or both infinite; InternalError where too many samples are rejected.
    """
    made = np.empty((len(parameters), count), dtype)       # first: there may be no room for it
    stream = _Stream(state, dtype)
    for row, (mean, deviation, low, high) in zip(made, parameters, strict=True):
        if not (deviation > 0 and low < high and (np.isfinite(low) or np.isfinite(high))):
            raise misfit(deviation, low, high)
        if low == -np.inf or high < mean:
            low, high, deviation = high, low, -deviation
        between = _Truncated((low - mean) / deviation, (high - mean) / deviation)
        between.draw(stream, row)
        row[:] = row * deviation + mean
    return made
