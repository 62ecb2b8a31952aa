"""Connectionist temporal classification with NumPy: loss and gradient, best and likeliest labels."""
from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappush, heapreplace
from itertools import count
from math import exp, inf, log1p

import numpy as np

_NUMBERS = count()                          # so that equal scores need not compare beams


def log_softmax(x: np.ndarray) -> np.ndarray:
    """Return log(softmax) over the last axis, in float64."""
    x = x.astype(np.float64) - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))         # type: ignore[no-any-return]


def loss(x: np.ndarray, rows: Sequence[Sequence[int] | None], lengths: np.ndarray, blank: int,
         merge: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return (losses [batch], gradient) of inputs [steps, batch, classes] for rows of labels, None: left out.

    The arrays of the states of all examples are computed together, step by step.
    """
    steps, batch, _ = x.shape
    used = np.array([0 if row is None else max(0, length) for row, length in zip(rows, lengths, strict=True)])
    counts = np.array([2 * len(row or ()) + 1 for row in rows])
    states = np.full((batch, counts.max()), blank)
    for example, row in enumerate(rows):
        states[example, 1:counts[example]:2] = row or ()
    place = np.arange(states.shape[1])
    stays = np.logical_or(merge, place % 2 == 0)[None]
    skips = (place % 2 == 1) & (place > 2) & (np.roll(states, 2, 1) != states if merge else True)
    there, log_y = place < counts[:, None], log_softmax(x)
    seen = np.take_along_axis(log_y, np.broadcast_to(states, (steps, *states.shape)), 2)
    seen = np.where(there, seen, -np.inf)
    alpha, beta = np.full(seen.shape, -np.inf), np.full((steps + 1, *seen.shape[1:]), -np.inf)
    final = np.where(there & (place >= counts[:, None] - 2), 0.0, -np.inf)
    with np.errstate(all="ignore"):
        for t in range(steps):
            alpha[t] = np.where(place < 2, 0.0, -np.inf) if t == 0 else _summed(
                np.where(stays, alpha[t - 1], -np.inf), _shifted(alpha[t - 1], 1),
                np.where(skips, _shifted(alpha[t - 1], 2), -np.inf))
            alpha[t] += seen[t]
        for t in reversed(range(steps)):
            later = beta[t + 1] + seen[t + 1] if t + 1 < steps else beta[t + 1]
            beta[t] = np.where(np.equal(t, used - 1)[:, None], final, _summed(
                np.where(stays, later, -np.inf), _shifted(later, -1), _shifted(np.where(skips, later, -np.inf), -2)))
        last = alpha[np.maximum(used - 1, 0), np.arange(batch)] + final
        total = np.logaddexp.reduce(last, 1)
        found = np.where(used > 0, -total, 0.0)
        gradient = np.exp(log_y)
        weights = np.exp(alpha + beta[:steps] - np.maximum(total, -1e300)[:, None])
    at = np.indices(seen.shape)
    np.subtract.at(gradient, (at[0], at[1], np.broadcast_to(states, seen.shape)), weights)
    gradient[np.arange(steps)[:, None] >= used] = 0
    return found.astype(x.dtype), gradient.astype(x.dtype)


def _shifted(x: np.ndarray, by: int) -> np.ndarray:
    """Return columns moved to the right by `by`, with -infinity in their place."""
    moved = np.full_like(x, -np.inf)
    if by > 0:
        moved[:, by:] = x[:, :-by]
    else:
        moved[:, :by] = x[:, -by:]
    return moved


def _summed(*logs: np.ndarray) -> np.ndarray:
    return np.logaddexp.reduce(np.stack(logs), 0)       # type: ignore[no-any-return]


def greedy(x: np.ndarray, lengths: np.ndarray, merge: bool, blank: int) -> tuple[list[list[int]], np.ndarray]:
    """Return (labels of each example, minus the sum of the largest input of each step [batch, 1])."""
    best, rows, sums = x.argmax(2), [], np.zeros((x.shape[1], 1), x.dtype)
    for example, length in enumerate(lengths):
        path = best[:max(length, 0), example]
        kept = path != blank
        if merge:
            kept[1:] &= path[1:] != path[:-1]
        rows.append(path[kept].tolist())
        sums[example] = -x[:max(length, 0), example].max(1).sum()
    return rows, sums


class _Beam:
    """A row of labels: the log probabilities of all of it, by a blank at the end and by its last label."""

    __slots__ = ("by_blank", "by_label", "children", "label", "old", "old_blank", "parent", "total")

    def __init__(self, parent: _Beam | None, label: int) -> None:
        self.parent, self.label, self.children = parent, label, dict[int, _Beam]()
        self.total = self.by_blank = self.by_label = self.old = self.old_blank = -inf

    def go_on(self, row: Sequence[float], blank: float) -> None:
        """Take a step without a new label."""
        if self.parent is not None:
            if self.parent.total > -inf:
                came = self.parent.old_blank if self.label == self.parent.label else self.parent.old
                self.by_label = _add_logs(self.by_label, came)
            self.by_label += row[self.label]
        self.by_blank = self.old + blank
        self.total = _add_logs(self.by_blank, self.by_label)

    def labels(self) -> list[int]:
        """Return the labels from the first on."""
        found, beam = [], self
        while beam.parent is not None:
            found.append(beam.label)
            beam = beam.parent
        return found[::-1]


def _add_logs(a: float, b: float) -> float:
    low, high = (a, b) if a < b else (b, a)
    return high if low == -inf else high + log1p(exp(low - high))


def beams(x: np.ndarray, length: int, width: int, paths: int, merge: bool) -> tuple[list[list[int]], np.ndarray]:
    """Return (labels, log probabilities) of the `paths` likeliest beams of one example [steps, classes].

    The blank is the last class. The order in which beams grow and give way is TensorFlow's, on which the result
    depends: a beam that gave way in a step, and is not worth being grown again from its parent, does not grow itself.
    Raises ValueError if there are fewer beams than paths.
    """
    log_y, start = log_softmax(x[:max(length, 0)]), _Beam(None, -1)
    start.total = start.by_blank = 0.0
    kept = [start]
    for row in log_y:
        kept.sort(key=lambda beam: -beam.total)
        for beam in kept:
            beam.old, beam.old_blank = beam.total, beam.by_blank
        values, blank = row.tolist(), float(row[-1])
        for beam in kept:
            beam.go_on(values, blank)
        worst = [(beam.total, next(_NUMBERS), beam) for beam in kept]
        heapify(worst)
        for beam in kept:
            _grow(beam, row, worst, width)
        kept = [beam for _, _, beam in worst]
    if len(kept) < paths:
        raise ValueError(f"Less leaves in the beam search than requested: {len(kept)} of {paths}")
    best = sorted(kept, key=lambda beam: -beam.total)[:paths]
    return [_collapsed(beam.labels(), merge) for beam in best], np.array([beam.total for beam in best])


def _grow(beam: _Beam, row: np.ndarray, worst: list[tuple[float, int, _Beam]], width: int) -> None:
    """Put the continuations of a beam by each label into the heap, in place of the worst beams."""
    limit = worst[0][0] if len(worst) == width else -inf
    if beam.old <= limit:
        return
    scores = row[:-1] + beam.old
    if beam.label >= 0:
        scores[beam.label] = row[beam.label] + beam.old_blank
    for label in sorted({*beam.children, *np.flatnonzero(scores > limit).tolist()}):
        child = beam.children.get(label) or _Beam(beam, label)
        if child.total > -inf:
            continue
        score = float(scores[label])
        if len(worst) < width:
            heappush(worst, (score, next(_NUMBERS), child))
        elif score > worst[0][0]:
            out = heapreplace(worst, (score, next(_NUMBERS), child))[2]
            out.total = out.by_blank = out.by_label = -inf
        else:
            child.old = child.old_blank = -inf
            continue
        beam.children[label] = child
        child.total, child.by_label, child.by_blank = score, score, -inf


def _collapsed(labels: Sequence[int], merge: bool) -> list[int]:
    return [label for number, label in enumerate(labels) if not (merge and number and labels[number - 1] == label)]
