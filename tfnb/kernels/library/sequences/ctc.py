"""Connectionist temporal classification: loss and gradient by the forward-backward algorithm (Graves et al., 2006).

    loss(call)      CTCLoss (inputs, labels_indices, labels_values, sequence_length) -> loss, gradient
    greedy(x, ...)  the labels of the largest inputs, of CTCGreedyDecoder
    Layout          the labels of each example, checked

An example of L labels has 2 L + 1 states: a blank, the first label, a blank, ..., a blank. alpha[t, state] is the log
of the sum of the probabilities of all ways to be in a state at step t, beta[t, state] of all ways from there to the
end, both in float64. Of N labels in B examples all rows together have 2 N + 3 B elements.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function, type_name
from tfnb.kernels.functions.language import Array, KernelFailure, Static, Type, exp, fail, log
from tfnb.kernels.launch import Call, Launch

# Codes of failures (kernels/launch.py)
NO_TIME, BEHIND_NULL, NEGATIVE_LABEL, LONG_SEQUENCE, BAD_PLACE, NO_LABELS = range(11, 17)
LOWEST = -1e300             # below all logs of probabilities, above -infinity


@kernel_function
def lay_out_labels(indices: Array, values: Array, lengths: Array, labels: Array, starts: Array, counts: Array, n: int,
                   batch: int, steps: int, classes: int, null: int, collapse: Static, ignore: Static,
                   item: int) -> None:
    """Put the labels of each example in one row: from starts[b] on, counts[b] of them; -1 where they are left out.

    Labels from `null` on end an example. Reports labels that are out of order, missing, negative, or too many.
    """
    for b in range(batch):
        if lengths[b] > steps:
            fail(LONG_SEQUENCE, b, int(lengths[b]), steps)
            return
    at = 0
    for b in range(batch):
        first = at
        starts[b] = first
        count, ended, last = 0, False, -1
        while at < n and int(indices[2 * at]) == b:
            place = int(indices[2 * at + 1])
            if place <= last:
                fail(BAD_PLACE, at, b, place)
                return
            last = place
            label = int(values[at])
            if not (collapse and at > first and int(values[at - 1]) == label):
                if label >= null:
                    ended = True
                elif ended:
                    fail(BEHIND_NULL, b, label, null)
                    return
                elif label < 0:
                    fail(NEGATIVE_LABEL, b, label)
                    return
                else:
                    labels[first + count] = label
                    count += 1
            at += 1
        if at == first:
            fail(NO_LABELS, b)
            return
        if int(lengths[b]) < count:
            if not ignore:
                fail(NO_TIME, b, count, int(lengths[b]))
                return
            count = -1
        counts[b] = count
    if at < n:
        fail(BAD_PLACE, at, int(indices[2 * at]), int(indices[2 * at + 1]))


@kernel_function(independent=True)
def normalize_row(x: Array, y: Array, norms: Array, classes: int, T: Type, item: int) -> None:
    """Compute the softmax of a row, its largest element, and the log of the sum of exp(x - that)."""
    row = x[item * classes:]
    out = y[item * classes:]
    highest = row[0]
    for c in range(classes):
        highest = max(highest, row[c])
    total = T(0)
    for c in range(classes):
        value = exp(T(row[c] - highest))
        out[c] = value
        total = T(total + value)
    for c in range(classes):
        out[c] = T(out[c] / total)
    norms[2 * item] = float(highest)
    norms[2 * item + 1] = log(float(total))


def add_logs(a: float, b: float, c: float) -> float:
    """Return log(exp(a) + exp(b) + exp(c)); -infinity for three of them, as log(0)."""
    highest = max(max(a, LOWEST), max(b, c))
    return float(highest + log(exp(a - highest) + exp(b - highest) + exp(c - highest)))


def label_at(labels: Array, state: int, blank: int) -> int:
    """Return the label of a state."""
    return int(labels[state // 2]) if state % 2 == 1 else blank


def log_y(x: Array, norms: Array, row: int, classes: int, label: int) -> float:
    """Return the log of the softmax of a row, for one label."""
    return float(float(x[row * classes + label]) - norms[2 * row] - norms[2 * row + 1])


@kernel_function(independent=True, fastmath=())
def forward_backward(x: Array, norms: Array, lengths: Array, labels: Array, starts: Array, counts: Array, alphas: Array,
                     work: Array, losses: Array, steps: int, batch: int, classes: int, blank: int, T: Type,
                     merge: Static, item: int) -> None:
    """Compute the loss of an example, and in place of alphas the probabilities of its states at each step.

    Rows have two elements of -infinity beside the states: alphas before, betas behind them.
    """
    time, count, start = int(lengths[item]), int(counts[item]), int(starts[item])
    losses[item] = T(0)
    if time > 0 and count >= 0:
        states, place = 2 * count + 1, 2 * start + 3 * item
        width = states + 2
        own = labels[start:]
        alpha = alphas[place * steps:]
        seen = work[5 * place:]
        skip = work[5 * place + width:]
        stay = work[5 * place + 2 * width:]
        betas = work[5 * place + 3 * width:]
        for state in range(width):
            skip[state] = -inf
            stay[state] = 0.0 if merge or state % 2 == 0 else -inf
        for label in range(1, count):
            if not merge or own[label] != own[label - 1]:
                skip[2 * label + 1] = 0.0
        for t in range(time):
            row = t * batch + item
            now = alpha[t * width:]
            now[0] = -inf
            now[1] = -inf
            for state in range(states):
                seen[state] = log_y(x, norms, row, classes, label_at(own, state, blank))
            if t == 0:
                for state in range(states):
                    now[state + 2] = seen[state] if state < 2 else -inf
            else:
                before = alpha[(t - 1) * width:]
                for state in range(states):
                    now[state + 2] = seen[state] + add_logs(before[state + 2] + stay[state], before[state + 1],
                                                            before[state] + skip[state])
        final = alpha[(time - 1) * width:]
        total = add_logs(final[states + 1], final[states], -inf)
        losses[item] = T(-total)
        whole = max(total, LOWEST)                     # no way: all sums below are -infinity
        for back in range(time):
            t = time - 1 - back
            row = t * batch + item
            now = alpha[t * width:]
            beta = betas[t % 2 * width:]
            later = betas[(t + 1) % 2 * width:]
            beta[states] = -inf
            beta[states + 1] = -inf
            if back == 0:
                for state in range(states):
                    beta[state] = 0.0 if state >= states - 2 else -inf
            else:
                for state in range(states):
                    beta[state] = add_logs(later[state] + stay[state], later[state + 1],
                                           later[state + 2] + skip[state + 2])
            for state in range(states):
                seen[state] = log_y(x, norms, row, classes, label_at(own, state, blank))
            for state in range(states):
                now[state + 2] = exp(now[state + 2] + beta[state] - whole)
                beta[state] = beta[state] + seen[state]        # from here on with the probability of this step


@kernel_function
def subtract_states(shares: Array, lengths: Array, labels: Array, starts: Array, counts: Array, gradient: Array,
                    steps: int, batch: int, classes: int, blank: int, T: Type, item: int) -> None:
    """Subtract from the softmax of a step the probability of each of the states; behind the end it becomes 0."""
    example, t = item % batch, item // batch
    row = gradient[item * classes:]
    count, start = int(counts[example]), int(starts[example])
    if count < 0 or t >= int(lengths[example]):
        for c in range(classes):
            row[c] = T(0)
    else:
        width = 2 * count + 3
        share = shares[(2 * start + 3 * example) * steps + t * width + 2:]
        own = labels[start:]
        for state in range(width - 2):
            label = label_at(own, state, blank)
            row[label] = T(row[label] - T(share[state]))


def loss(blank_first: bool = False) -> Callable[[Call], list[Launch]]:
    """Return the launches of CTCLoss, or with blank_first of an op whose blank is class 0."""
    def launches(call: Call) -> list[Launch]:
        x, n, attrs = call.inputs[0], call.inputs[1].shape[0], call.attrs
        steps, batch, classes = x.shape
        blank, null = (0, classes) if blank_first else (classes - 1, classes - 1)
        room, whole = 2 * n + 3 * batch, x.size * x.itemsize

        def scratch(count: int, type: str) -> Any:
            return call.scratch(8 * count).reach(8 * count).of(type)
        labels, starts, counts = (scratch(size, "int64") for size in (n, batch, batch))
        norms, alphas, work = (scratch(size, "float64") for size in (2 * steps * batch, room * steps, 5 * room))
        lengths, inputs = call.input(3).reach(4 * batch), call.input(0).reach(whole)
        gradient = call.output(1).reach(whole)
        return [
            lay_out_labels.launch(call, 1, call.input(1).reach(16 * n), call.input(2).reach(4 * n), lengths, labels,
                                  starts, counts, n, batch, steps, classes, null,
                                  collapse=bool(attrs["preprocess_collapse_repeated"]),
                                  ignore=bool(attrs["ignore_longer_outputs_than_inputs"]), grain=0, label="CTC labels"),
            normalize_row.launch(call, steps * batch, inputs, gradient, norms, classes, T=x.type, cost=4 * classes,
                                 label="CTC softmax"),
            forward_backward.launch(call, batch, inputs, norms, lengths, labels, starts, counts, alphas, work,
                                    call.output(0).reach(batch * x.itemsize), steps, batch, classes, blank, T=x.type,
                                    merge=bool(attrs["ctc_merge_repeated"]), grain=1, label="CTC"),
            subtract_states.launch(call, steps * batch, alphas, lengths, labels, starts, counts, gradient, steps, batch,
                                   classes, blank, T=x.type, cost=classes + 2 * n // max(1, batch),
                                   label="CTC gradient"),
        ]
    return launches


@dataclass(frozen=True, slots=True)
class Layout:
    """A check of the labels of examples, and their rows. input: number of the values among the inputs."""

    steps: int
    classes: int
    null: int
    collapse: bool
    ignore: bool
    input: int = 2
    by_kernel: bool = True

    def positions(self, arrays: Sequence[np.ndarray | None]) -> None:
        """Return None: positions are numbers of examples."""

    def rows(self, indices: np.ndarray, values: np.ndarray, lengths: np.ndarray) -> list[list[int] | None]:
        """Return the labels of each example, None where they are left out. Raises KernelFailure."""
        labels, starts, counts = (np.zeros(size, int) for size in (len(values), len(lengths), len(lengths)))
        lay_out_labels.python(1, indices.reshape(-1), values, lengths, labels, starts, counts, len(values),
                              len(lengths), self.steps, self.classes, self.null, self.collapse, self.ignore)
        return [None if count < 0 else labels[start:start + count].tolist()
                for start, count in zip(starts.tolist(), counts.tolist(), strict=True)]

    def find(self, arrays: Sequence[np.ndarray | None]) -> tuple[int, ...] | None:
        """Return the status words of the first fault, or None."""
        try:
            self.rows(*arrays[1:4])        # type: ignore[arg-type]
        except KernelFailure as failure:
            return failure.code, *failure.words
        return None


@kernel_function(fastmath=())
def take_best(x: Array, lengths: Array, labels: Array, counts: Array, sums: Array, steps: int, batch: int, classes: int,
              blank: int, merge: Static, T: Type, item: int) -> None:
    """Keep the class of the largest input of each step of an example, but blanks and with `merge` equal neighbours."""
    count, last, total = 0, -1, T(0)
    own = labels[item * steps:]
    for step in range(int(lengths[item])):
        row = x[(step * batch + item) * classes:]
        best, highest = 0, row[0]
        for c in range(1, classes):
            if row[c] > highest:
                best, highest = c, row[c]
        total = T(total + highest)
        if best != blank and (not merge or best != last):
            own[count] = best
            count += 1
        last = best
    counts[item] = count
    sums[item] = T(-total)


@kernel_function(independent=True)
def put_in_rows(labels: Array, splits: Array, indices: Array, values: Array, steps: int, item: int) -> None:
    """Store the labels of an example behind those of the examples before it, with their indices."""
    begin = int(splits[item])
    for j in range(int(splits[item + 1]) - begin):
        values[begin + j] = labels[item * steps + j]
        indices[2 * (begin + j)] = item
        indices[2 * (begin + j) + 1] = j


def greedy(x: np.ndarray, lengths: np.ndarray, merge: bool,
           blank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the sparse labels of each example (indices, values, shape), and minus the sums of the largest inputs.

    x: [steps, batch, classes], float32 or float64; lengths: int32, of at most `steps`. sums: [batch, 1].
    """
    steps, batch, classes = x.shape
    labels, counts, sums = np.empty((batch, steps), np.int64), np.empty(batch, np.int64), np.empty((batch, 1), x.dtype)
    take_best.run(batch, x, lengths, labels, counts, sums, steps, batch, classes, blank, merge=merge,
                  T=type_name(x.dtype))
    splits = np.zeros(batch + 1, np.int64)
    np.cumsum(counts, out=splits[1:])
    total = int(splits[-1])
    indices, values = np.empty((total, 2), np.int64), np.empty(total, np.int64)
    put_in_rows.run(batch, labels, splits, indices, values, steps)
    return indices, values, np.array([batch, counts.max(initial=0)], np.int64), sums
