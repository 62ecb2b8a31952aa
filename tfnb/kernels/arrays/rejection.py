"""Gamma and Poisson samples as TensorFlow's CPU ops draw them from Philox, in NumPy.

Sample i has the blocks from counter + 256 i on, as many as its rejections need; each block is two doubles, of which the
second is used first. Gamma: Marsaglia and Tsang, 2000. Poisson: products of uniform values below rate 10 (Knuth), from
there on transformed rejection (Hormann, 1993). kernels/library/random/rejection.py has the same as kernels.
"""
from __future__ import annotations

from math import prod

import numpy as np

from tfnb.core import indexing
from tfnb.kernels.arrays.philox import BLOCKS_PER_ELEMENT, advance, blocks, normal_pairs, uniform_pairs, words_from
from tfnb.kernels.scalar.definition import numpy_form

_lgamma = numpy_form("lgamma")
FEW = 10.0                                # rates below it: Knuth's method


class _Stream:
    """Uniform and normal doubles of many samples, each from its own blocks."""

    def __init__(self, state: np.ndarray, count: int) -> None:
        self._state = state
        self._block = np.arange(count, dtype=np.uint64) * np.uint64(BLOCKS_PER_ELEMENT)
        self._spare = {"uniform": np.zeros(count), "normal": np.zeros(count)}
        self._has = {kind: np.zeros(count, bool) for kind in self._spare}

    def take(self, kind: str, live: np.ndarray) -> np.ndarray:
        """Return the next value of each sample in `live` (indices); kind: "uniform" or "normal"."""
        has, spare = self._has[kind], self._spare[kind]
        found = np.asarray(spare[live])
        new = live[~has[live]]
        if new.size:
            draw = uniform_pairs if kind == "uniform" else normal_pairs
            first, second = draw(blocks(self._state, self._block[new]))
            self._block[new] += np.uint64(1)
            found[~has[live]] = second
            spare[new] = first
        has[live] = ~has[live]
        return found


def gamma(state: np.ndarray, samples: int, alpha: np.ndarray) -> np.ndarray:
    """Draw `samples` values of Gamma(alpha, 1) for each alpha: (samples, *alpha.shape), of its dtype."""
    count = samples * alpha.size
    a = indexing.repeat(alpha.reshape(-1).astype(np.float64), samples)
    stream, found = _Stream(state, count), np.empty(count)
    with np.errstate(all="ignore"):
        one = np.flatnonzero(a == 1)
        found[one] = -np.log1p(-stream.take("uniform", one))
        d = a + np.where(a < 1, 2 / 3, -1 / 3)
        c = 1 / 3 / np.sqrt(d)
        live = np.flatnonzero((a != 1) & (a > 0))
        found[~(a > 0)] = np.nan
        while live.size:
            x = stream.take("normal", live)
            v = 1 + c[live] * x
            inside = v > 0
            tried, x, v = live[inside], x[inside], v[inside]
            v = v * v * v
            u = stream.take("uniform", tried)
            kept = (u < 1 - 0.0331 * (x * x) * (x * x)) | (np.log(u) < 0.5 * x * x + d[tried] * (1 - v + np.log(v)))
            done = tried[kept]
            found[done] = d[done] * v[kept]
            small = done[a[done] < 1]
            found[small] *= stream.take("uniform", small) ** (1 / a[small])
            live = np.setdiff1d(live, done, assume_unique=True)
    advance(state, count * BLOCKS_PER_ELEMENT)
    return found.reshape(alpha.size, samples).T.reshape(samples, *alpha.shape).astype(alpha.dtype)


def poisson(state: np.ndarray, samples: int, rate: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Draw `samples` Poisson values for each rate: (samples, *rate.shape). A rate below 0 or NaN: NaN, or -1."""
    count = samples * rate.size
    lam = indexing.repeat(rate.reshape(-1).astype(np.float64), samples)
    stream, found = _Stream(state, count), np.zeros(count)
    with np.errstate(all="ignore"):
        found[~(lam >= 0) | np.isinf(lam)] = np.nan if dtype.kind not in "iu" else -1
        _by_products(stream, lam, found)
        _by_transform(stream, lam, found)
    advance(state, count * BLOCKS_PER_ELEMENT)
    return found.reshape(rate.size, samples).T.reshape(samples, *rate.shape).astype(dtype)


def _by_products(stream: _Stream, lam: np.ndarray, found: np.ndarray) -> None:
    live = np.flatnonzero((lam >= 0) & (lam < FEW))
    product, limit = np.ones(lam.size), np.exp(-lam)
    while live.size:
        product[live] *= stream.take("uniform", live)
        live = live[product[live] > limit[live]]
        found[live] += 1


def _by_transform(stream: _Stream, lam: np.ndarray, found: np.ndarray) -> None:
    live = np.flatnonzero((lam >= FEW) & (lam < np.inf))
    b = 0.931 + 2.53 * np.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    while live.size:
        u = stream.take("uniform", live) - 0.5
        v = stream.take("uniform", live)
        shifted = 0.5 - np.abs(u)
        al, bl, rate = a[live], b[live], lam[live]
        k = np.floor((2 * al / shifted + bl) * u + rate + 0.43)
        quick = (shifted >= 0.07) & (v <= 0.9277 - 3.6224 / (bl - 2))
        s = np.log(v * inverse[live] / (al / (shifted * shifted) + bl))
        t = -rate + k * np.log(rate) - _lgamma(k + 1)
        kept = quick | (k >= 0) & ~((shifted < 0.013) & (v > shifted)) & (s <= t)
        found[live[kept]] = k[kept]
        live = live[~kept]


def binomial(state: np.ndarray, samples: int, counts: np.ndarray, probs: np.ndarray) -> np.ndarray:
    """Draw `samples` numbers of successes for each pair of counts and probabilities, of one shape: float64.

    Where 10 successes or more are expected (of the rarer outcome) the values are TensorFlow's; below that they have the
    same distribution. The counter stays where it is. A count that is not positive, or a probability not above 0, gives
    0; a probability from 1 on the count; NaN gives NaN, and so does a count that is infinite.
    """
    n, p = (indexing.repeat(each.reshape(-1).astype(np.float64), samples) for each in (counts, probs))
    stream, found = _Stream(state, n.size), np.zeros(n.size)
    with np.errstate(all="ignore"):
        turned = p > 0.5
        q = np.where(turned, 1 - p, p)
        known = ~(n > 0) | ~(q > 0) | np.isinf(n)
        _by_geometric(stream, n, q, found, np.flatnonzero(~known & (n * q < FEW)))
        _by_binomial_transform(stream, n, q, found, np.flatnonzero(~known & (n * q >= FEW)))
        found = np.where(turned, np.maximum(n, 0) - found, found)
    found[np.isnan(n) | np.isnan(p) | np.isposinf(n)] = np.nan
    return found.reshape(counts.size, samples).T.reshape(samples, *counts.shape)


def _by_geometric(stream: _Stream, n: np.ndarray, p: np.ndarray, found: np.ndarray, live: np.ndarray) -> None:
    """Count the geometric waiting times that fit into n trials."""
    waited = np.zeros(n.size)
    while live.size:
        waited[live] += np.ceil(np.log(stream.take("uniform", live)) / np.log1p(-p[live]))
        live = live[waited[live] <= n[live]]
        found[live] += 1


def _by_binomial_transform(stream: _Stream, n: np.ndarray, p: np.ndarray, found: np.ndarray, live: np.ndarray) -> None:
    """Transformed rejection, BTRS (Hormann, "The generation of binomial random variates", 1993)."""
    deviation = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    odds, alpha, mode = p / (1 - p), (2.83 + 5.1 / b) * deviation, np.floor((n + 1) * p)
    while live.size:
        u = stream.take("uniform", live) - 0.5
        v = stream.take("uniform", live)
        al, bl, nl, r, m = a[live], b[live], n[live], odds[live], mode[live]
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * al / shifted + bl) * u + nl * p[live] + 0.5)
        quick = (shifted >= 0.07) & (v <= 0.92 - 4.2 / bl)
        bound = (m + 0.5) * np.log((m + 1) / (r * (nl - m + 1))) + (nl + 1) * np.log((nl - m + 1) / (nl - k + 1)) \
            + (k + 0.5) * np.log(r * (nl - k + 1) / (k + 1)) \
            + _stirling_rest(m) + _stirling_rest(nl - m) - _stirling_rest(k) - _stirling_rest(nl - k)
        inside = (k >= 0) & (k <= nl)
        kept = quick | inside & (np.log(v * alpha[live] / (al / (shifted * shifted) + bl)) <= bound)
        found[live[kept]] = k[kept]
        live = live[~kept]


def _stirling_rest(k: np.ndarray) -> np.ndarray:
    """Return log(k!) less Stirling's approximation of it."""
    x = np.maximum(k, 0) + 1
    exact = _lgamma(x) - ((x - 0.5) * np.log(x) - x + 0.5 * np.log(2 * np.pi))
    made: np.ndarray = np.where(k <= 9, exact, (1 / 12 - (1 / 360 - 1 / 1260 / (x * x)) / (x * x)) / x)
    return made


def scrambled(seed: np.ndarray) -> np.ndarray:
    """Return the state of a stateless op: key and counter are made of its two seeds by one block of Philox."""
    low, high = (int(each) & 0xFFFFFFFFFFFFFFFF for each in seed.tolist())
    words = words_from(np.array([0x02461E293EC8F720, 0, low, high], np.uint64))
    mixed = [next(words) for _ in range(4)]
    return np.array([mixed[0] | mixed[1] << 32, 0, 0, mixed[2] | mixed[3] << 32], np.uint64)


def samples_of(shape: np.ndarray, each: np.ndarray) -> int:
    """Return how many samples of each parameter fill `shape`."""
    return prod(shape.tolist()) // each.size if each.size else 0
