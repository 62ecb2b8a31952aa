"""Levenshtein (edit) distance between sequences: `tf.edit_distance`."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.composite.sparse_tensor import SparseTensor, SparseTensorValue
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.shapes import of_rank


def _distance_shape(ctx: Any) -> list[Static]:
    for i, rank in enumerate((2, 1, 1, 2, 1, 1)):
        of_rank(ctx.shape(i), rank)
    sizes = [ctx.value(i) for i in (2, 5)]
    if sizes[0] is None or sizes[1] is None:
        return [None]
    return [tuple(np.maximum(*sizes)[:-1].tolist())]


def _sequences(indices: np.ndarray, values: np.ndarray) -> dict[tuple[int, ...], list[Any]]:
    found: dict[tuple[int, ...], list[Any]] = {}
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        found.setdefault(tuple(place), []).append(value)
    return found


def levenshtein(a: list[Any], b: list[Any]) -> int:
    """Return the Levenshtein distance: the minimum number of insertions, deletions and substitutions."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


@host("hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, "
      "truth_values: T, truth_shape: int64 -> output: float", shape=_distance_shape,
      ranks={f"{side}_{part}": 2 if part == "indices" else 1 for side in ("hypothesis", "truth")
             for part in ("indices", "values", "shape")}, normalize="bool = true", T="type")
def EditDistance(hypothesis_indices: np.ndarray, hypothesis_values: np.ndarray, hypothesis_shape: np.ndarray,
                 truth_indices: np.ndarray, truth_values: np.ndarray, truth_shape: np.ndarray, *,
                 normalize: bool) -> np.ndarray:
    """Compute the Levenshtein distance of the sequences along the last axis; `normalize`: by the truth's length."""
    if hypothesis_shape.shape != truth_shape.shape or len(truth_shape) < 2:
        raise ValueError("truth and hypothesis must have the same rank, at least 2, but have the shapes "
                         f"{truth_shape.tolist()} and {hypothesis_shape.tolist()}")
    guesses, truths = _sequences(hypothesis_indices, hypothesis_values), _sequences(truth_indices, truth_values)
    out = np.zeros(np.maximum(hypothesis_shape, truth_shape)[:-1], np.float32)
    for place in {**guesses, **truths}:
        guess, truth = guesses.get(place, []), truths.get(place, [])
        changes = float(levenshtein(guess, truth))
        out[place] = changes if not normalize else changes / len(truth) if truth else np.inf
    return out


EditDistance.no_gradient("it counts")


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance") -> Tensor:
    """Compute the Levenshtein distances of the sequences along the last axes of two SparseTensors of one rank: float32.

    normalize: as parts of the lengths of the truths; infinite where that is empty. Raises TypeError for others.

    >>> def word(letters):
    ...     return tf.SparseTensor([[0, i] for i in range(len(letters))], list(letters), [1, len(letters)])
    >>> sess.run(tf.edit_distance(word("kitten"), word("sitting"), normalize=False))
    array([3.], dtype=float32)
    """
    for what, given in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(given, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"{what} must be a SparseTensor.")
    tensor: Tensor = EditDistance(hypothesis.indices, hypothesis.values, hypothesis.dense_shape, truth.indices,
                                  truth.values, truth.dense_shape, normalize=normalize, name=name)
    return tensor


describe(globals(), TENSORS)
