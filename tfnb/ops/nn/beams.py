"""Beam search: full beams of the ids and parents of each step."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.shape import Static, merge
from tfnb.kernels.library.checks import BAD_INDEX, Check
from tfnb.kernels.library.sequences.beams import gather_tree as launch_gather_tree
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import function


def _beams_shape(ctx: Any) -> list[Static]:
    beams = merge(merge(ctx.shape(0), (None, None, None)), ctx.shape(1))
    assert beams is not None
    merge(ctx.shape(2), (beams[1],))
    return [beams]


def _gather_tree(ctx: Any, ids: np.ndarray, parents: np.ndarray, lengths: np.ndarray, end: np.ndarray) -> np.ndarray:
    steps, batch, width = ids.shape
    beams, examples = np.full_like(ids, end), np.arange(batch)[:, None]
    at = np.broadcast_to(np.arange(width), (batch, width))
    for time in reversed(range(steps)):
        valid = (time < lengths)[:, None]
        beams[time] = np.where(valid, ids[time][examples, at], end)
        at = np.where(valid, parents[time][examples, at], at)
    over = np.cumsum(beams == end, axis=0) > 0
    return np.where(over, end, beams).astype(ids.dtype)


@kernel("step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T -> beams: T", shape=_beams_shape,
        numpy=_gather_tree, launch=launch_gather_tree, T="{int32}",
        ranks={"step_ids": 3, "parent_ids": 3, "max_sequence_lengths": 1, "end_token": 0})
def GatherTree() -> None:
    """Compute full beams (steps, batch, width) from the ids of each step and the beams that they continue.

    Behind the longest sequence of an example, and behind the first `end_token` of a beam, beams are `end_token`.
    Raises InvalidArgumentError for parents outside of [0, width).

    >>> ids = [[[1, 2]], [[3, 4]], [[5, 6]]]
    >>> parents = [[[0, 0]], [[0, 0]], [[1, 0]]]
    >>> beams = tf.contrib.seq2seq.gather_tree(ids, parents, max_sequence_lengths=[3], end_token=9)
    >>> sess.run(beams)[:, 0, 0], sess.run(beams)[:, 0, 1]
    (array([1, 4, 5], dtype=int32), array([1, 3, 6], dtype=int32))
    """


@GatherTree.checked
def _(ctx: Any) -> list[Check]:
    return [Check(1, BAD_INDEX, ctx.shape(0)[2])]


GatherTree.no_gradient("it is made of ids")
gather_tree = function(GatherTree, module="tfnb.contrib.seq2seq")
