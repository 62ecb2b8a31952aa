"""Regular expressions over all strings in one buffer (spans.py): the tables of an automaton, walked byte by byte.

ops/strings/patterns.py makes the tables. State 0 is dead, state 1 the first; `classes` has the column of each byte.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, bool_, int64, uint8
from tfnb.kernels.library.text.spans import cut

PATIENCE = 64                            # steps for each byte: a search that takes more is RE2's, which is linear


@dataclass(frozen=True, eq=False)
class Automaton:
    """A deterministic automaton. next: [states, columns]; accepts: [states]. marks, accept_marks: the slots (bits) that
    get the place before a byte, and at an end; slots: how many there are, two for each group."""

    classes: np.ndarray
    next: np.ndarray
    accepts: np.ndarray
    marks: np.ndarray
    accept_marks: np.ndarray
    slots: int = 0

    @property
    def columns(self) -> int:
        """The number of columns of the tables."""
        return int(self.next.shape[1])


@kernel_function
def match_whole(text: Array, begins: Array, classes: Array, next: Array, accepts: Array, columns: int, matches: Array,
                item: int) -> None:
    """Walk through a whole string."""
    at, stop, state = int(begins[item]), int(begins[item + 1]), 1
    while at < stop and state > 0:
        state = int(next[state * columns + int(classes[int(text[at])])])
        at += 1
    matches[item] = bool_(accepts[state] != 0)


@kernel_function
def find_matches(text: Array, begins: Array, classes: Array, next: Array, accepts: Array, marks: Array,
                 accept_marks: Array, columns: int, slots: int, places: Array, spans: Array, counts: Array,
                 found: Array, count: int, everywhere: int, limit: int, item: int) -> None:
    """Write the matches of all strings: start, end and slots of each; places: room for the slots of one.

    found: how many there are, -1 after `limit` steps. Only the first of a string unless `everywhere`.
    """
    made, i, steps, width = 0, 0, 0, slots + 2
    while i < count:
        start, stop, before = int(begins[i]), int(begins[i + 1]), made
        while start < stop and steps <= limit:
            state, at, end = 1, start, -1
            for k in range(slots):
                places[k] = int64(-1)
            while at < stop and state > 0:
                cell = state * columns + int(classes[int(text[at])])
                state = int(next[cell])
                if slots > 0 and state > 0:
                    bits = int(marks[cell])
                    for k in range(slots):
                        if bits >> k & 1 > 0:
                            places[k] = int64(at)
                at += 1
                steps += 1
                if accepts[state] != 0:
                    end = at
                    for k in range(slots):
                        spans[made * width + 2 + k] = int64(at) if int(accept_marks[state]) >> k & 1 > 0 else places[k]
            if end >= 0:
                spans[made * width], spans[made * width + 1] = int64(start), int64(end)
                made += 1
                start = end if everywhere > 0 else stop
            else:
                start += 1
        counts[i] = int64(made - before)
        i += 1
        if steps > limit:
            made, i = -1, count
    found[0] = int64(made)


@kernel_function
def rewrite_matches(text: Array, begins: Array, spans: Array, counts: Array, parts: Array, part_count: int, slots: int,
                    made: Array, ends: Array, count: int, item: int) -> None:
    """Write all strings with their matches replaced. parts: a byte, or -1 - the number of a group."""
    at, match, width = 0, 0, slots + 2
    for i in range(count):
        place = int(begins[i])
        for _ in range(int(counts[i])):
            for k in range(place, int(spans[match * width])):
                made[at] = text[k]
                at += 1
            for p in range(part_count):
                part = int(parts[p])
                if part >= 0:
                    made[at] = uint8(part)
                    at += 1
                else:
                    slot = match * width + 2 * (-1 - part)
                    for k in range(int(spans[slot]), int(spans[slot + 1])):
                        made[at] = text[k]
                        at += 1
            place = int(spans[match * width + 1])
            match += 1
        for k in range(place, int(begins[i + 1])):
            made[at] = text[k]
            at += 1
        ends[i + 1] = int64(at)


def whole_matches(automaton: Automaton, text: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Return whether the whole of each string matches: bool."""
    matches = np.empty(len(begins) - 1, bool)
    match_whole.run(len(matches), text, begins, automaton.classes, automaton.next, automaton.accepts, automaton.columns,
                    matches)
    return matches


def replaced(automaton: Automaton, text: np.ndarray, begins: np.ndarray, parts: Sequence[bytes | int],
             everywhere: bool) -> list[bytes] | None:
    """Return strings in which matches, none of them empty, are replaced by `parts`: bytes, and numbers of groups.

    None if a search takes more steps than a linear one would.
    """
    count, width = len(begins) - 1, automaton.slots + 2
    most = len(text) if everywhere else min(len(text), count)
    spans, counts, found = np.empty(most * width, np.int64), np.empty(count, np.int64), np.empty(1, np.int64)
    find_matches.run(1, text, begins, automaton.classes, automaton.next, automaton.accepts, automaton.marks,
                     automaton.accept_marks, automaton.columns, automaton.slots, np.empty(width, np.int64), spans,
                     counts, found, count, int(everywhere), PATIENCE * (len(text) + count))
    matches = found.item()
    if matches < 0:
        return None
    ends_of = spans[:matches * width].reshape(matches, width)
    coded = [code for part in parts for code in ([*part] if isinstance(part, bytes) else [-1 - part])]
    groups = [part for part in parts if isinstance(part, int)]
    size = len(text) + matches * (len(coded) - len(groups)) - int((ends_of[:, 1] - ends_of[:, 0]).sum()) + sum(
        int((ends_of[:, 2 * group + 1] - ends_of[:, 2 * group]).sum()) for group in groups)
    made, ends = np.empty(size, np.uint8), np.zeros(count + 1, np.int64)
    rewrite_matches.run(1, text, begins, spans, counts, np.array(coded or [0], np.int64), len(coded), automaton.slots,
                        made, ends, count)
    return cut(made.tobytes(), ends[:-1], ends[1:])
