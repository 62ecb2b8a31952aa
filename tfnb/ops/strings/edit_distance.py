"""Levenshtein (edit) distance between sequences: `tf.edit_distance`."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.library.sequences.edits import distances
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


def _numbered(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers for the values of both, the same for equal ones; NaN is equal to nothing."""
    if first.dtype != object:
        every = np.unique(np.concatenate([first, second]), return_inverse=True, equal_nan=False)[1]
    else:
        known: dict[Any, int] = {}
        every = np.array([known.setdefault(x, len(known)) for x in (*first.tolist(), *second.tolist())], np.int64)
    return every[:len(first)], every[len(first):]


def _sequences(indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of sequence after sequence, of all that there are in `shape`, and their lengths."""
    if len(indices) and (indices[:, :-1].min() < 0 or (indices[:, :-1] >= shape).any()):
        wrong = indices[((indices[:, :-1] < 0) | (indices[:, :-1] >= shape)).any(1)][0]
        raise ValueError(f"expected indices of sequences within {shape.tolist()}, got {wrong[:-1].tolist()}")
    places = np.ravel_multi_index(tuple(indices[:, :-1].T), tuple(shape)) if len(indices) else np.zeros(0, np.int64)
    return values[np.argsort(places, kind="stable")], indexing.bincount(places, minlength=int(np.prod(shape)))


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
    shape = np.maximum(hypothesis_shape, truth_shape)[:-1]
    guess_values, truth_values = _numbered(hypothesis_values, truth_values)
    guesses, guess_counts = _sequences(hypothesis_indices, guess_values, shape)
    truths, truth_counts = _sequences(truth_indices, truth_values, shape)
    changes = distances(guesses, guess_counts, truths, truth_counts).astype(np.float64)
    if normalize:
        changes = np.divide(changes, truth_counts, out=np.where(guess_counts > 0, np.inf, 0.0), where=truth_counts > 0)
    return changes.astype(np.float32).reshape(shape)


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
