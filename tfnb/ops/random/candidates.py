"""Candidate samplers: classes sampled to represent all the others in a loss, for `tf.nn`'s sampled softmax and NCE."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from tfnb.core import errors
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.arrays import philox
from tfnb.kernels.library.checks import BAD_INDEX, Check
from tfnb.kernels.library.random.candidates import BLOCKS, Counts, sampler, weighted
from tfnb.ops.declaration.declare import kernel, random
from tfnb.ops.declaration.public import public
from tfnb.ops.random.random_ops import get_seed

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

_SIGNATURE = "true_classes: int64 -> sampled_candidates: int64, true_expected_count: float, " \
             "sampled_expected_count: float"
_ATTRS: dict[str, Any] = {"num_true": "int >= 1", "num_sampled": "int >= 1", "unique": "bool", "range_max": "int >= 1",
                          "seed": "int = 0", "seed2": "int = 0"}


def _sampled_shapes(ctx: ShapeContext) -> list[Static]:
    true, attrs = ctx.shape(0), ctx.attrs
    if true is not None and (len(true) != 2 or true[1] not in (None, attrs["num_true"])):
        raise ValueError(f"true_classes must have the shape [batch, {attrs['num_true']}], not {true}")
    batch = None if true is None else true[0]
    return [(attrs["num_sampled"],), (batch, attrs["num_true"]), (attrs["num_sampled"],)]


def _shape(ctx: ShapeContext) -> list[Static]:
    attrs = ctx.attrs
    if attrs["unique"] and attrs["num_sampled"] > attrs["range_max"]:
        raise ValueError(f"Sampler's range is too small: {attrs['num_sampled']} unique candidates of "
                         f"{attrs['range_max']}")
    return _sampled_shapes(ctx)


def _doubles(words: Iterator[int]) -> Iterator[float]:
    """Numbers in [0, 1) of 52 bits, of two words each."""
    for high in words:
        yield philox.unit_double(high, next(words))


def _integers(words: Iterator[int], n: int) -> Iterator[int]:
    """Numbers in [0, n), without bias, of 64 bits each."""
    while True:
        yield philox.below_wide(n, words)


def _expected(p: np.ndarray, count: int, tries: int) -> np.ndarray:
    """Return the expected counts of classes of probabilities p among `count` of which `tries` were drawn."""
    made: np.ndarray = p * count if tries == count else -np.expm1(tries * np.log1p(-p))
    return made.astype(np.float32)


def _sampler(draw: Callable[[Iterator[int], int], Iterator[int]],
             probability: Callable[[np.ndarray, int], np.ndarray]) -> Callable[..., tuple[np.ndarray, ...]]:
    """Return the NumPy form of a sampler: `draw` samples its classes, the other argument gives their probabilities."""
    def numpy(ctx: Any, true: np.ndarray) -> tuple[np.ndarray, ...]:
        """Sample classes, and return them with the expected counts of the true and of the sampled classes."""
        count, most = int(ctx.attrs["num_sampled"]), int(ctx.attrs["range_max"])
        sampled = np.empty(count, np.int64)        # before the first is drawn: there may be no room for them
        drawn, tries = draw(philox.words_from(ctx.state), most), count
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
        philox.advance(ctx.state, BLOCKS * count)
        return sampled, *(_expected(probability(classes, most), count, tries) for classes in (true, sampled))
    return numpy


def _sampled_by_weights(ctx: Any, true: np.ndarray, draw: Callable[[np.ndarray, np.ndarray, bool], int],
                        weights: np.ndarray, total: float) -> tuple[np.ndarray, ...]:
    """Sample classes by `weights` of that total. draw: fn(state, sampled, unique) fills `sampled`, and returns how many
    it drew for that."""
    count = int(ctx.attrs["num_sampled"])
    sampled = np.empty(count, np.int64)
    tries = draw(ctx.state, sampled, bool(ctx.attrs["unique"])) if count else 0
    philox.advance(ctx.state, BLOCKS * count)
    return sampled, *(_expected(weights[classes] / total, count, tries) for classes in (true, sampled))


def _log_uniform(words: Iterator[int], most: int) -> Iterator[int]:
    yield from (int(np.exp(x * np.log1p(most))) - 1 for x in _doubles(words))


def _log_probability(classes: np.ndarray, most: int) -> np.ndarray:
    made: np.ndarray = np.log((classes + 2.0) / (classes + 1.0)) / np.log1p(most)
    return made


@random(_SIGNATURE, shape=_shape, numpy=_sampler(_log_uniform, _log_probability), launch=sampler(True), **_ATTRS)
def LogUniformCandidateSampler() -> None:
    """Sample classes from the log-uniform (Zipfian) distribution, and compute their expected counts."""


@random(_SIGNATURE, shape=_shape, **_ATTRS, launch=sampler(False),
        numpy=_sampler(_integers, lambda classes, most: np.full(classes.shape, 1.0 / most)))
def UniformCandidateSampler() -> None:
    """Sample classes from the uniform distribution, and compute their expected counts."""


class _Unigrams:
    """Classes drawn by given weights, by Walker's alias method; numbered within their shard."""

    def __init__(self, attrs: Any) -> None:
        given = list(attrs["unigrams"]) or _read_weights(attrs["vocab_file"].decode())
        weights = [0.0] * attrs["num_reserved_ids"] + [float(np.float32(w) ** attrs["distortion"]) for w in given]
        self.weights = np.array(weights, np.float32)[attrs["shard"]::attrs["num_shards"]]
        if len(self.weights) != attrs["range_max"]:
            raise errors.InvalidArgumentError(None, None, f"range_max is {attrs['range_max']}, expected the number of "
                                              f"weights of the shard, reserved ids among them: {len(self.weights)}")
        self.exact = self.weights.astype(np.float64)
        self.total = float(self.exact.sum())
        if not (self.weights >= 0).all() or not 0 < self.total < np.inf:
            raise errors.InvalidArgumentError(None, None, "expected weights of 0 or more that have a sum above 0, got "
                                              f"{self.weights.tolist()[:20]}")
        n = len(self.weights)
        scaled = [float(w) * n / self.total for w in self.weights]
        alias = list(range(n))
        low, high = [i for i in range(n) if scaled[i] < 1], [i for i in range(n) if scaled[i] >= 1]
        while low and high:
            small, large = low.pop(), high.pop()
            alias[small] = large
            scaled[large] -= 1 - scaled[small]
            (low if scaled[large] < 1 else high).append(large)
        for rest in (*low, *high):
            scaled[rest] = 1.0
        self.alias, self.accepted = np.array(alias, np.int64), np.array(scaled, np.float32)


def _read_weights(path: str) -> list[float]:
    """Return the last column of a file of comma-separated values."""
    with open(path, encoding="utf-8") as file:
        return [float(line.rsplit(",", 1)[-1]) for line in file if line.strip()]


_TABLES: WeakKeyDictionary[Operation, _Unigrams] = WeakKeyDictionary()


def _by_weights(ctx: Any, true: np.ndarray) -> tuple[np.ndarray, ...]:
    if ctx.op not in _TABLES:
        _TABLES[ctx.op] = _Unigrams(ctx.op.attrs)      # of 50,000 weights 40 ms, once
    table = _TABLES[ctx.op]
    positive, count = int((table.weights > 0).sum()), int(ctx.attrs["num_sampled"])
    if ctx.attrs["unique"] and positive < count:            # TensorFlow draws for ever
        raise errors.InvalidArgumentError(None, None, f"expected {count} classes of weights above 0 to draw unique "
                                          f"ones from, got {positive}")
    draw = partial(weighted, accepted=table.accepted, aliases=table.alias)
    return _sampled_by_weights(ctx, true, draw, table.exact, table.total)


@random(_SIGNATURE, shape=_shape, numpy=_by_weights, **{
    **{name: _ATTRS[name] for name in ("num_true", "num_sampled", "unique", "range_max")}, "vocab_file": "string = ''",
    "distortion": "float = 1.0", "num_reserved_ids": "int = 0", "num_shards": "int >= 1 = 1", "shard": "int >= 0 = 0",
    "unigrams": "list(float) = []", "seed": "int = 0", "seed2": "int = 0"})
def FixedUnigramCandidateSampler() -> None:
    """Sample classes by their counts in a list or a file, and compute their expected counts."""


def _learned(ctx: Any, true: np.ndarray) -> tuple[np.ndarray, ...]:
    """Sample by the counts of the true classes of all runs before this one, each from 1 on; then count this one's."""
    kept: Counts = ctx.store.resource(ctx.op, lambda: Counts(ctx.attrs["range_max"]))
    found = _sampled_by_weights(ctx, true, kept.draw, kept.counts, float(kept.tree[0]))
    kept.learn(true)
    return found


@random(_SIGNATURE, shape=_shape, numpy=_learned, **_ATTRS)
def LearnedUnigramCandidateSampler() -> None:
    """Sample classes by how often they have been true classes in this session, and compute their expected counts."""


@random(_SIGNATURE, shape=_shape, numpy=_learned, **_ATTRS)
def ThreadUnsafeUnigramCandidateSampler() -> None:
    """Sample classes as LearnedUnigramCandidateSampler."""


for _op in (LogUniformCandidateSampler, UniformCandidateSampler, FixedUnigramCandidateSampler,
            LearnedUnigramCandidateSampler, ThreadUnsafeUnigramCandidateSampler):
    _op.checked(lambda ctx: [Check(0, BAD_INDEX, int(ctx.attrs["range_max"]))])


def _all(ctx: Any, true: np.ndarray) -> tuple[np.ndarray, ...]:
    count = int(ctx.attrs["num_sampled"])
    return np.arange(count, dtype=np.int64), np.ones(true.shape, np.float32), np.ones(count, np.float32)


@random(_SIGNATURE, shape=_sampled_shapes, numpy=_all,
        **{name: attr for name, attr in _ATTRS.items() if name != "range_max"})
def AllCandidateSampler() -> None:
    """Return all classes, each with the expected count 1."""


def _hits(ctx: Any, true: np.ndarray, sampled: np.ndarray) -> tuple[np.ndarray, ...]:
    rows, _, places = np.nonzero(true[:, :, None] == sampled[None, None, :])
    order = np.lexsort((places, rows))
    rows, places = rows[order], places[order]
    return rows.astype(np.int32), places.astype(np.int64), np.full(len(rows), -np.finfo(np.float32).max, np.float32)


@kernel("true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float",
        shape=lambda ctx: [(None,)] * 3, numpy=_hits, num_true="int", seed="int = 0", seed2="int = 0")
def ComputeAccidentalHits() -> None:
    """Find sampled candidates that are true classes: (example, index of the candidate), with a weight to mask them."""


for _op in (LogUniformCandidateSampler, UniformCandidateSampler, FixedUnigramCandidateSampler,
            AllCandidateSampler, LearnedUnigramCandidateSampler, ThreadUnsafeUnigramCandidateSampler):
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


@public("random.fixed_unigram_candidate_sampler", "nn.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                                    vocab_file: str = "", distortion: float = 1.0, num_reserved_ids: int = 0,
                                    num_shards: int = 1, shard: int = 0, unigrams: Any = (), seed: int | None = None,
                                    name: str | None = None) -> Sampled:
    """As `log_uniform_candidate_sampler`, with classes drawn by the weights that are given.

    unigrams: the weights; vocab_file: a file whose lines end in ",weight", in their place; distortion: a power that
    weights are raised to; num_reserved_ids: classes before these that are never drawn; num_shards, shard: only
    weights i with i % num_shards == shard count, whose classes are i // num_shards; range_max is their number.
    true_classes, num_true, num_sampled, unique, seed: as there.

    >>> true = tf.constant([[3]], tf.int64)
    >>> sampled, _, _ = tf.nn.fixed_unigram_candidate_sampler(
    ...     true, 1, num_sampled=3, unique=True, range_max=4, unigrams=[1.0, 2.0, 0.0, 3.0])
    >>> sorted(sess.run(sampled))
    [0, 1, 3]
    """
    first, second = get_seed(seed)
    return Sampled(*FixedUnigramCandidateSampler(
        true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, range_max=range_max,
        vocab_file=vocab_file, distortion=distortion, num_reserved_ids=num_reserved_ids, num_shards=num_shards,
        shard=shard, unigrams=list(unigrams), seed=first, seed2=second, name=name))


@public("random.learned_unigram_candidate_sampler", "nn.learned_unigram_candidate_sampler")
def learned_unigram_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
                                      seed: int | None = None, name: str | None = None) -> Sampled:
    """As `log_uniform_candidate_sampler`, by a distribution that it learns: how often each class was a true class.

    Each class counts once at first. true_classes, num_true, num_sampled, unique, range_max, seed: as there.

    >>> true = tf.constant([[3]], tf.int64)
    >>> _, expected, _ = tf.nn.learned_unigram_candidate_sampler(true, 1, num_sampled=1, unique=False, range_max=4)
    >>> [float(sess.run(expected)[0, 0]) for _ in range(2)]
    [0.25, 0.4000000059604645]
    """
    first, second = get_seed(seed)
    return Sampled(*LearnedUnigramCandidateSampler(true_classes, num_true=num_true, num_sampled=num_sampled,
                                                   unique=unique, range_max=range_max, seed=first, seed2=second,
                                                   name=name))


@public("random.all_candidate_sampler", "nn.all_candidate_sampler")
def all_candidate_sampler(true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: int | None = None,
                          name: str | None = None) -> Sampled:
    """Return all `num_sampled` classes as candidates, each with the expected count 1.

    true_classes, num_true, unique, seed: as of `log_uniform_candidate_sampler`.

    >>> sampled, _, _ = tf.nn.all_candidate_sampler(tf.constant([[3]], tf.int64), 1, num_sampled=4, unique=True)
    >>> sess.run(sampled)
    array([0, 1, 2, 3])
    """
    first, second = get_seed(seed)
    return Sampled(*AllCandidateSampler(true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique,
                                        seed=first, seed2=second, name=name))


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
