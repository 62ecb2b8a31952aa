"""Candidate samplers: classes sampled to represent all the others in a loss, for `tf.nn`'s sampled softmax and NCE."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import errors
from tfnb.core.shape import Static
from tfnb.kernels.arrays import philox
from tfnb.ops.declaration.declare import kernel, random
from tfnb.ops.random.random_ops import get_seed

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

_SIGNATURE = "true_classes: int64 -> sampled_candidates: int64, true_expected_count: float, " \
             "sampled_expected_count: float"
_ATTRS: dict[str, Any] = {"num_true": "int >= 1", "num_sampled": "int >= 1", "unique": "bool", "range_max": "int >= 1",
                          "seed": "int = 0", "seed2": "int = 0"}
_BLOCKS = 512               # of four numbers, which TensorFlow sets apart for each candidate
_CHUNK = 64                 # blocks that are made at once


def _shape(ctx: ShapeContext) -> list[Static]:
    true, attrs = ctx.shape(0), ctx.attrs
    if true is not None and (len(true) != 2 or true[1] not in (None, attrs["num_true"])):
        raise ValueError(f"true_classes must have the shape [batch, {attrs['num_true']}], not {true}")
    if attrs["unique"] and attrs["num_sampled"] > attrs["range_max"]:
        raise ValueError(f"Sampler's range is too small: {attrs['num_sampled']} unique candidates of "
                         f"{attrs['range_max']}")
    batch = None if true is None else true[0]
    return [(attrs["num_sampled"],), (batch, attrs["num_true"]), (attrs["num_sampled"],)]


def _words(state: np.ndarray) -> Iterator[int]:
    """The numbers of a generator, one by one."""
    start = 0
    while True:
        yield from philox.blocks(state, np.arange(start, start + _CHUNK, dtype=np.uint64)).reshape(-1).tolist()
        start += _CHUNK


def _doubles(words: Iterator[int]) -> Iterator[float]:
    """Numbers in [0, 1) of 52 bits, of two words each."""
    for high in words:
        yield ((high & 0xFFFFF) << 32 | next(words)) / 2.0 ** 52


def _integers(words: Iterator[int], n: int) -> Iterator[int]:
    """Numbers in [0, n), without bias, of 64 bits each."""
    rest = 0 if n & (n - 1) == 0 else (2**64 - 1) % n + 1
    for low in words:
        drawn = next(words) << 32 | low
        if drawn >= rest:
            yield drawn % n


def _sampler(draw: Callable[[Iterator[int], int], Iterator[int]],
             probability: Callable[[np.ndarray, int], np.ndarray]) -> Callable[..., tuple[np.ndarray, ...]]:
    """Return the NumPy form of a sampler: `draw` samples its classes, the other argument gives their probabilities."""
    def numpy(ctx: Any, true: np.ndarray) -> tuple[np.ndarray, ...]:
        """Sample classes by `draw`, and return them with the expected counts of the true and of the sampled classes."""
        count, most = int(ctx.attrs["num_sampled"]), int(ctx.attrs["range_max"])
        if true.size and not 0 <= true.min() <= true.max() < most:
            raise errors.InvalidArgumentError(None, ctx.op, f"true_classes must be in [0, {most})")
        sampled = np.empty(count, np.int64)        # before the first is drawn: there may be no room for them
        drawn, tries = draw(_words(ctx.state), most), count
        if ctx.attrs["unique"]:
            taken: dict[int, None] = {}
            tries = 0
            while len(taken) < count:
                taken[next(drawn)] = None
                tries += 1
            sampled[:] = list(taken)
        else:
            for i in range(count):
                sampled[i] = next(drawn)
        philox.advance(ctx.state, _BLOCKS * count)

        def expected(classes: np.ndarray) -> np.ndarray:
            p = probability(classes, most)
            made: np.ndarray = p * count if tries == count else -np.expm1(tries * np.log1p(-p))
            return made.astype(np.float32)
        return sampled, expected(true), expected(sampled)
    return numpy


def _log_uniform(words: Iterator[int], most: int) -> Iterator[int]:
    yield from (int(np.exp(x * np.log1p(most))) - 1 for x in _doubles(words))


def _log_probability(classes: np.ndarray, most: int) -> np.ndarray:
    made: np.ndarray = np.log((classes + 2.0) / (classes + 1.0)) / np.log1p(most)
    return made


@random(_SIGNATURE, shape=_shape, numpy=_sampler(_log_uniform, _log_probability), **_ATTRS)
def LogUniformCandidateSampler() -> None:
    """Sample classes from the log-uniform (Zipfian) distribution, and compute their expected counts."""


@random(_SIGNATURE, shape=_shape, **_ATTRS,
        numpy=_sampler(_integers, lambda classes, most: np.full(classes.shape, 1.0 / most)))
def UniformCandidateSampler() -> None:
    """Sample classes from the uniform distribution, and compute their expected counts."""


def _hits(ctx: Any, true: np.ndarray, sampled: np.ndarray) -> tuple[np.ndarray, ...]:
    rows, _, places = np.nonzero(true[:, :, None] == sampled[None, None, :])
    order = np.lexsort((places, rows))
    rows, places = rows[order], places[order]
    return rows.astype(np.int32), places.astype(np.int64), np.full(len(rows), -np.finfo(np.float32).max, np.float32)


@kernel("true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float",
        shape=lambda ctx: [(None,)] * 3, numpy=_hits, num_true="int", seed="int = 0", seed2="int = 0")
def ComputeAccidentalHits() -> None:
    """Find sampled candidates that are true classes: (example, index of the candidate), with a weight to mask them."""


for _op in (LogUniformCandidateSampler, UniformCandidateSampler):
    _op.no_gradient("it is drawn, not computed")
ComputeAccidentalHits.no_gradient("it gives places")

Sampled = namedtuple("Sampled", ["sampled_candidates", "true_expected_count", "sampled_expected_count"])


def log_uniform_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                                  seed: int | None = None, name: str | None = None) -> Sampled:
    """Return (candidates (num_sampled), expected counts of the true classes (batch, num_true), of the candidates).

    Probabilities fall as 1 / (class + 1): for classes numbered by their frequency. unique: no candidate comes twice.
    Raises ValueError for more unique candidates than classes (`range_max`). true_classes: int64 (batch, num_true).
    seed: with the graph's it decides the candidates.

    >>> true = tf.constant([[3]], tf.int64)
    >>> sampled, _, _ = tf.nn.log_uniform_candidate_sampler(true, 1, num_sampled=4, unique=True, range_max=4)
    >>> sorted(sess.run(sampled))
    [0, 1, 2, 3]
    """
    first, second = get_seed(seed)
    return Sampled(*LogUniformCandidateSampler(true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique,
                                               range_max=range_max, seed=first, seed2=second, name=name))


def uniform_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                              seed: int | None = None, name: str | None = None) -> Sampled:
    """As `log_uniform_candidate_sampler`, with a uniform distribution over the classes below range_max.

    true_classes, num_true, num_sampled, unique, seed: as there.

    >>> true = tf.constant([[3]], tf.int64)
    >>> sampled, expected, others = tf.nn.uniform_candidate_sampler(true, 1, num_sampled=4, unique=True, range_max=4)
    >>> sorted(sess.run(sampled))
    [0, 1, 2, 3]
    """
    first, second = get_seed(seed)
    return Sampled(*UniformCandidateSampler(true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique,
                                            range_max=range_max, seed=first, seed2=second, name=name))


def compute_accidental_hits(true_classes: Any, sampled_candidates: Any, num_true: int, seed: int | None = None,
                            name: str | None = None) -> Any:
    """Return (examples, indices of candidates that are true classes of theirs, weights to add to their logits).

    true_classes: int64 (batch, num_true); sampled_candidates: of a sampler; seed: of the op, without effect.

    >>> true, sampled = tf.constant([[3], [5]], tf.int64), tf.constant([5, 7], tf.int64)
    >>> rows, columns, weights = tf.nn.compute_accidental_hits(true, sampled, num_true=1)
    >>> sess.run([rows, columns])
    [array([1], dtype=int32), array([0])]
    """
    first, second = get_seed(seed)
    return ComputeAccidentalHits(true_classes, sampled_candidates, num_true=num_true, seed=first, seed2=second,
                                 name=name)
