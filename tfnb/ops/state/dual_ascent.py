"""Stochastic dual coordinate ascent of linear models with L1 and L2 regularization: `tf.train.sdca_optimizer`.

The objective is sum(loss(w x_i)) + l2 / 2 |w|^2 + l1 |w| (Shalev-Shwartz and Zhang, "Accelerated Proximal Stochastic
Dual Coordinate Ascent", 2013); with several partitions of the loss, that of Ma et al. ("Adding vs. Averaging in
Distributed Primal-Dual Optimization", 2015). Examples are taken in an order that follows from their state, so that
equal inputs have equal results.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from tfnb.core import indexing
from tfnb.core.shape import Static
from tfnb.kernels.library.rows.dual_ascent import LOSSES, ascend, find_twice
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import functions

_INPUTS = (
    "sparse_example_indices: num_sparse_features * int64, sparse_feature_indices: num_sparse_features * int64, "
    "sparse_feature_values: num_sparse_features_with_values * float, dense_features: num_dense_features * float, "
    "example_weights: float, example_labels: float, sparse_indices: num_sparse_features * int64, "
    "sparse_weights: num_sparse_features * float, dense_weights: num_dense_features * float, "
    "example_state_data: float -> out_example_state_data: float, "
    "out_delta_sparse_weights: num_sparse_features * float, out_delta_dense_weights: num_dense_features * float")
_COUNTS: dict[str, Any] = {"num_sparse_features": "int >= 0", "num_sparse_features_with_values": "int >= 0",
           "num_dense_features": "int >= 0", "l1": "float", "l2": "float", "num_loss_partitions": "int >= 1",
           "num_inner_iterations": "int >= 1"}
_LOSS = "{" + ", ".join(f"'{loss}'" for loss in LOSSES) + "}"
_SMOOTHNESS = {"logistic_loss": 4.0, "squared_loss": 1.0, "smooth_hinge_loss": 1.0}


def _shapes(ctx: Any) -> list[Static]:
    sparse, dense = ctx.attrs["num_sparse_features"], ctx.attrs["num_dense_features"]
    first = 2 * sparse + ctx.attrs["num_sparse_features_with_values"] + dense + 2 + sparse
    weights = [ctx.shape(first + i) for i in range(sparse + dense)]
    return [ctx.shape(first + sparse + dense), *weights]


@dataclass(frozen=True)
class _Examples:
    """Examples of a linear model: dense features [n, width], then spans of places and values, those of sparse ones."""

    dense: np.ndarray
    starts: np.ndarray
    places: np.ndarray
    values: np.ndarray

    def rows(self) -> np.ndarray:
        """Return the example of each sparse value."""
        return indexing.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def products(self, w: np.ndarray) -> np.ndarray:
        """Return the dot product of each example with the weights."""
        width = self.dense.shape[1]
        return self.dense @ w[:width] + self._row_sums(self.values * w[self.places])

    def squares(self) -> np.ndarray:
        """Return the squared norm of each example."""
        return np.square(self.dense).sum(1) + self._row_sums(np.square(self.values))

    def _row_sums(self, values: np.ndarray) -> np.ndarray:
        return indexing.bincount(self.rows(), values, len(self.starts) - 1)


def _places(wanted: np.ndarray, known: np.ndarray, group: int) -> np.ndarray:
    """Return where each feature stands among the `known` ones, which come once each."""
    if known.size and np.array_equal(known, np.arange(known.size)):
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < known.size:
            raise ValueError(f"sparse feature group {group} has a feature outside of its {known.size} sparse_indices")
        return wanted
    order = np.argsort(known, kind="stable")
    ordered = known[order]
    if (ordered[1:] == ordered[:-1]).any():
        raise ValueError(f"sparse_indices of feature group {group} must differ, got {known.tolist()[:8]}")
    found = np.searchsorted(ordered, wanted)
    if wanted.size and (not known.size or (ordered[np.minimum(found, known.size - 1)] != wanted).any()):
        raise ValueError(f"sparse feature group {group} has features that are not in its sparse_indices")
    return order[found]


def _sparse_part(n: int, first: int, examples: Sequence[np.ndarray], features: Sequence[np.ndarray],
                 values: Sequence[np.ndarray], known: Sequence[np.ndarray],
                 weights: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return starts, places and values of the sparse features of n examples. first: place of the first weight."""
    rows, places, found = [], [], []
    for i, (row, feature, index, weight) in enumerate(zip(examples, features, known, weights, strict=True)):
        value = values[i] if i < len(values) else np.ones(feature.size, np.float32)
        if not row.size == feature.size == value.size:
            raise ValueError(f"sparse feature group {i} has {row.size} example indices, {feature.size} feature indices "
                             f"and {value.size} values; expected as many of each")
        if index.size != weight.size:
            raise ValueError(f"sparse feature group {i} has {index.size} sparse_indices and {weight.size} "
                             "sparse_weights; expected as many of each")
        if row.size and not 0 <= row.min() <= row.max() < n:
            raise ValueError(f"example indices of sparse feature group {i} must be from 0 to {n - 1}")
        rows.append(row.ravel())
        places.append(first + _places(feature.ravel(), index.ravel(), i))
        found.append(value.ravel())
        first += weight.size
    if not rows:
        return np.zeros(n + 1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32)
    row, place, value = np.concatenate(rows), np.concatenate(places), np.concatenate(found)
    if (row[1:] < row[:-1]).any():
        order = np.argsort(row, kind="stable")
        row, place, value = row[order], place[order], value[order]
    starts = np.searchsorted(row, np.arange(n + 1)).astype(np.int64)
    place = place.astype(np.int64, copy=False)
    _check_once(starts, place, first)
    return starts, place, value.astype(np.float32, copy=False)


def _check_once(starts: np.ndarray, places: np.ndarray, size: int) -> None:
    """Raise ValueError where an example has a feature twice."""
    found = np.full(1, -1, np.int64)
    find_twice.run(len(starts) - 1, starts, places, np.zeros(size, np.int64), found)
    if found[0] >= 0:
        raise ValueError(f"example {found[0]} has a sparse feature twice")


def _dense_part(n: int, features: Sequence[np.ndarray], weights: Sequence[np.ndarray]) -> np.ndarray:
    for i, (feature, weight) in enumerate(zip(features, weights, strict=True)):
        if feature.ndim != 2 or feature.shape[0] != n or feature.shape[1] != weight.size:
            raise ValueError(f"dense features {i} must be a matrix of {n} examples and a column for each of "
                             f"{weight.size} weights, got the shape {list(feature.shape)}")
    if len(features) == 1:
        return features[0]
    return np.concatenate(features, 1) if features else np.zeros((n, 0), np.float32)


def _signed(labels: np.ndarray, loss: str) -> np.ndarray:
    """Return labels as the loss takes them: -1 and 1 for 0 and 1 of a classification."""
    if loss == "squared_loss":
        return labels
    if loss == "poisson_loss":
        wrong = labels[~(labels >= 0)]
        if wrong.size:
            raise ValueError(f"labels of the Poisson loss must not be negative, got {wrong[0]}")
        return labels
    wrong = labels[(labels != 0) & (labels != 1)]
    if wrong.size:
        raise ValueError(f"labels must be 0 or 1, got {wrong[0]}")
    return labels * np.float32(2) - np.float32(1)


def _residuals(duals: np.ndarray, y: np.ndarray, scores: np.ndarray, loss: str) -> np.ndarray:
    """Return how far each dual variable is from minus the derivative of the loss, where it is at the optimum."""
    if loss == "squared_loss":
        return duals - (y - scores)
    if loss == "poisson_loss":
        return duals - (y - np.exp(scores))
    margins = y * scores
    if loss == "logistic_loss":
        return duals - y * (0.5 - 0.5 * np.tanh(0.5 * margins))
    return duals - y * (margins < 1 if loss == "hinge_loss" else np.clip(1 - margins, 0, 1))


def _order(state: np.ndarray, adaptive: bool, probabilities: Any, rounds: int) -> np.ndarray:
    """Return the examples of the steps: each once in a random order, or drawn by `probabilities()`."""
    random, n = np.random.default_rng(crc32(state.tobytes())), len(state)
    if adaptive:
        total = np.cumsum(probabilities())
        if n and np.isfinite(total[-1]) and total[-1] > 0:
            drawn = np.searchsorted(total, random.random(n * rounds) * total[-1], "right")
            return np.minimum(drawn, n - 1).astype(np.int64)
    return random.permutation(n)


def _solve(arrays: Sequence[Any], loss: str, adaptive: bool, l1: float, l2: float, partitions: int,
           rounds: int) -> tuple[np.ndarray, ...]:
    rows, features, values, dense, weights, labels, known, sparse_weights, dense_weights, before = arrays
    weights, labels, n = weights.ravel(), labels.ravel(), weights.size
    if labels.size != n:
        raise ValueError(f"example_labels must be as many as example_weights, {n}, got {labels.size}")
    if before.shape != (n, 4):
        raise ValueError(f"example_state_data must have the shape [{n}, 4], got {list(before.shape)}")
    matrix = _dense_part(n, dense, dense_weights)
    width = matrix.shape[1]
    examples = _Examples(matrix, *_sparse_part(n, width, rows, features, values, known, sparse_weights))
    y, state = _signed(labels, loss), np.array(before, np.float32, order="C")      # (written to)
    all_weights = [*dense_weights, *sparse_weights]
    w = np.concatenate([each.ravel() for each in all_weights]) if all_weights else np.zeros(0, np.float32)
    with np.errstate(all="ignore"):
        settings = np.array([l1, 1, partitions], np.float32) / np.array([l2, l2, 1], np.float32)
        shrunk = np.sign(w) * np.maximum(np.abs(w) - settings[0], np.float32(0)) if l1 else w
        delta = np.zeros_like(w)

        def probabilities() -> np.ndarray:
            far = np.abs(_residuals(state[:, 0], y, examples.products(shrunk), loss))
            return weights * far * np.sqrt(weights * examples.squares() / l2 + _SMOOTHNESS.get(loss, 0.0))
        order = _order(state, adaptive, probabilities, rounds)
        ascend.run(len(order), order, state, y, weights, matrix, examples.starts, examples.places, examples.values, w,
                   shrunk, delta, settings, width, LOSSES.index(loss))
    parts = np.split(delta, np.cumsum([each.size for each in all_weights])[:-1]) if all_weights else []
    shaped = [part.reshape(each.shape) for part, each in zip(parts, all_weights, strict=True)]
    return state, *shaped[len(dense_weights):], *shaped[:len(dense_weights)]


@host(_INPUTS, shape=_shapes, loss_type=_LOSS, adaptative="bool = false", **_COUNTS)
def SdcaOptimizer(*arrays: Any, loss_type: bytes, adaptative: bool, l1: float, l2: float, num_loss_partitions: int,
                  num_inner_iterations: int) -> Any:
    """Take a step of stochastic dual coordinate ascent for each example of a linear model."""
    return _solve(arrays, loss_type.decode(), adaptative, l1, l2, num_loss_partitions, num_inner_iterations)


@host(_INPUTS, shape=_shapes, loss_type=_LOSS, adaptive="bool = false", **_COUNTS)
def SdcaOptimizerV2(*arrays: Any, loss_type: bytes, adaptive: bool, l1: float, l2: float, num_loss_partitions: int,
                    num_inner_iterations: int) -> Any:
    """Take a step of stochastic dual coordinate ascent for each example of a linear model.

    >>> made = tf.raw_ops.SdcaOptimizerV2(
    ...     sparse_example_indices=[[0]], sparse_feature_indices=[[5]], sparse_feature_values=[[2.]], dense_features=[],
    ...     example_weights=[1.], example_labels=[1.], sparse_indices=[[5]], sparse_weights=[[0.]], dense_weights=[],
    ...     example_state_data=tf.zeros([1, 4]), loss_type="hinge_loss", l1=0., l2=1., num_loss_partitions=1,
    ...     num_inner_iterations=1)
    >>> sess.run(made.out_delta_sparse_weights)
    [array([0.5], dtype=float32)]
    """
    return _solve(arrays, loss_type.decode(), adaptive, l1, l2, num_loss_partitions, num_inner_iterations)


@host("weights: Ref(num_features * float)", shape=lambda ctx: [], writes=True, num_features="int >= 0", l1="float",
      l2="float")
def SdcaShrinkL1(weights: Any, *, l1: float, l2: float, ctx: Any) -> None:
    """Move each weight by l1 / l2 towards 0, in place; those that are nearer become 0.

    >>> weights = tf.Variable([1., -0.1])
    >>> sess.run(weights.initializer)
    >>> sess.run(tf.train.sdca_shrink_l1([weights], l1=0.2, l2=1.))
    >>> sess.run(weights)
    array([0.8, 0. ], dtype=float32)
    """
    with ctx.store.updating, np.errstate(all="ignore"):
        threshold = np.float32(l1) / np.float32(l2)
        for each in weights:
            each[...] = np.sign(each) * np.maximum(np.abs(each) - threshold, np.float32(0))


def sdca_optimizer(sparse_example_indices: Any, sparse_feature_indices: Any, sparse_feature_values: Any,
                   dense_features: Any, example_weights: Any, example_labels: Any, sparse_indices: Any,
                   sparse_weights: Any, dense_weights: Any, example_state_data: Any, loss_type: str, l1: float,
                   l2: float, num_loss_partitions: int, num_inner_iterations: int, adaptative: bool = True,
                   name: str | None = None) -> Any:
    """Take a step of stochastic dual coordinate ascent for each example of a linear model.

    sparse_example_indices, sparse_feature_indices: of each group of sparse features an int64 vector, with the example
    and the feature of each value; sparse_feature_values: float32 vectors with these values, or fewer vectors for
    groups of ones. dense_features: float32 matrices, a row for each example. example_weights, example_labels: float32
    vectors; labels of a classification are 0 or 1. sparse_indices: of each group the features that sparse_weights has
    weights of. dense_weights: of each dense group a weight for each column. example_state_data: float32 [n, 4], zeros
    at first: dual variable, primal loss, dual loss and weight of each example.

    loss_type: "logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss" or "poisson_loss". l1, l2: strength of
    regularization. num_loss_partitions: how many such ops work on one model. adaptative: draw examples in proportion
    to how far they are from their optimum, num_inner_iterations times as many as there are; else each is taken once.

    Returns the new state, and lists of what is to be added to sparse_weights and to dense_weights (without the soft
    threshold of l1: see sdca_shrink_l1). Running it raises InvalidArgumentError for sizes that don't fit, features
    without a weight, and labels that the loss does not take.

    >>> made = tf.train.sdca_optimizer([], [], [], [[[1., 2.]]], [1.], [1.], [], [], [[0., 0.]], tf.zeros([1, 4]),
    ...                                "squared_loss", l1=0., l2=1., num_loss_partitions=1, num_inner_iterations=1)
    >>> sess.run(made.out_delta_dense_weights)
    [array([0.16666667, 0.33333334], dtype=float32)]
    """
    return SdcaOptimizer(
        sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features, example_weights,
        example_labels, sparse_indices, sparse_weights, dense_weights, example_state_data, loss_type=loss_type, l1=l1,
        l2=l2, num_loss_partitions=num_loss_partitions, num_inner_iterations=num_inner_iterations,
        adaptative=adaptative, name=name)


for _op in (SdcaOptimizer, SdcaOptimizerV2):
    _op.no_gradient("it is an optimizer's step")
SdcaShrinkL1.no_gradient("it writes to variables")

(sdca_shrink_l1,) = functions(SdcaShrinkL1, module="tfnb.train")
