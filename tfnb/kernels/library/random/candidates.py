"""Kernels of candidate samplers: classes, one after another, and expected counts.

    sampler(log)(call)      UniformCandidateSampler, LogUniformCandidateSampler (true_classes) -> classes, both counts
    weighted(state, ...)    classes by weights, of an alias table: a host call
    Counts(n)               counts of classes that grow, and classes drawn by them: host calls
    chain(state, distances) a point by the Markov chain of k-MC2: a host call
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Static, float32, int64, libm, uint64, unrolled, where
from tfnb.kernels.launch import Call, Launch
from tfnb.kernels.library.random.draws import HALF, STATE, philox, step, unit32, unit64

BLOCKS = 512                # of the generator, which TensorFlow sets apart for each candidate
CHAIN = 64                  # blocks that are drawn at once for a Markov chain
ONE, GOLDEN = np.uint64(1), np.uint64(0x9E3779B97F4A7C15)


@kernel_function(fastmath=())
def sample_classes(state: Array, table: Array, sampled: Array, tried: Array, count: int, most: int, rest: int,
                   mask: int, shift: int, log: Static, item: int) -> None:
    """Sample `count` classes below `most` from two words each; tried[0]: how many were drawn for them.

    table: None, or a hash table (see library/searching.py) of the classes that there are: each comes once. rest:
    uniform draws below it would be biased.
    """
    key, low, high, block = state[0], state[2], state[3], uint64(0)
    third, fourth, half = uint64(0), uint64(0), 0
    if table is not None:
        for i in range(mask + 1):
            table[i] = int64(0)
    found, tries, scale = 0, 0, libm.log1p(float(most))
    while found < count:
        first, second = third, fourth
        if half == 0:
            words = philox(key, low, high, block)
            block += ONE
            first, second = words[0], words[1]
            third, fourth = words[2], words[3]
        half = 1 - half
        sample = -1
        if log:
            sample = int(libm.exp(unit64(first, second) * scale)) - 1
        else:
            drawn = first | second << HALF
            if drawn >= uint64(rest):
                sample = int(drawn % uint64(most))
        if sample >= 0:
            tries += 1
            new = 1
            if table is not None:
                slot = int64((uint64(sample) * GOLDEN) >> uint64(shift))
                while table[slot] != 0 and table[slot] != sample + 1:
                    slot = (slot + 1) & mask
                if table[slot] == 0:
                    table[slot] = int64(sample + 1)
                else:
                    new = 0
            if new == 1:
                sampled[found] = sample
                found += 1
    tried[0] = tries


@kernel_function(fastmath=())
def expect_counts(classes: Array, tried: Array, expected: Array, count: int, most: int, log: Static,
                  item: int) -> None:
    """Compute how often a class is expected among those that were drawn, or to be among them."""
    p = 1.0 / most
    if log:
        number = float(classes[item])
        p = libm.log((number + 2.0) / (number + 1.0)) / libm.log1p(float(most))
    tries = int(tried[0])
    if tries == count:
        expected[item] = float32(p * count)
    else:
        expected[item] = float32(-libm.expm1(tries * libm.log1p(-p)))


@kernel_function(fastmath=())
def sample_weighted(state: Array, first: Array, second: Array, table: Array, sampled: Array, tried: Array,
                    words: Array, count: int, n: int, rest: int, mask: int, shift: int, alias: Static,
                    item: int) -> None:
    """Sample `count` of n classes by weights; tried[0]: how many were drawn for them.

    alias: two words each, a fraction and a class, by Walker's method: `first` has the fraction that is accepted,
    `second` the class in its place. Else one word each: `first` is the tree of `learn_classes`, the greatest power of 2
    up to n is `second`. table, rest: as of sample_classes. words: room for a block.
    """
    if table is not None:
        for i in range(mask + 1):
            table[i] = int64(0)
    found, tries, at, held, unit = 0, 0, 0, 0, float32(0)
    total = n if alias else int(first[0])
    while found < count:
        if at % 4 == 0:
            made = philox(state[0], state[2], state[3], uint64(at // 4))
            for k in unrolled(4):
                words[k] = made[k]
        word, sample = words[at % 4], -1
        at += 1
        if alias and held == 0:
            unit, held = unit32(word), 1
        elif word >= uint64(rest):
            place, held = int(word % uint64(total)), 0
            if alias:
                sample = place if unit < first[place] else int(second[place])
            else:
                step = int(second[0])
                sample = 0
                while step > 0:
                    if sample + step <= n and int(first[sample + step]) <= place:
                        sample += step
                        place -= int(first[sample])
                    step = step // 2
        if sample >= 0:
            tries += 1
            new = 1
            if table is not None:
                slot = int64((uint64(sample) * GOLDEN) >> uint64(shift))
                while table[slot] != 0 and table[slot] != sample + 1:
                    slot = (slot + 1) & mask
                if table[slot] == 0:
                    table[slot] = int64(sample + 1)
                else:
                    new = 0
            if new == 1:
                sampled[found] = sample
                found += 1
    tried[0] = tries


@kernel_function(independent=True, fastmath=())
def follow_chain(state: Array, distances: Array, units: Array, chosen: Array, count: int, item: int) -> None:
    """Take each of `count` points with the probability min(1, its distance / that of the point taken before).

    units: room for the draws of CHAIN blocks.
    """
    key, low, high, taken, limit = state[0], state[2], state[3], int64(0), distances[0]
    for first in range(1, count, 4 * CHAIN):
        for block in range(CHAIN):
            words = philox(key, low, high, uint64((first - 1) // 4 + block))
            for k in unrolled(4):
                units[4 * block + k] = unit32(words[k])
        for i in range(min(4 * CHAIN, count - first)):
            distance = distances[first + i]
            moves = distance > float32(units[i] * limit)
            taken = where(moves, int64(first + i), taken)
            limit = where(moves, distance, limit)
    chosen[0] = taken


def chain(state: np.ndarray, distances: np.ndarray) -> np.int64:
    """Return the point at which a chain over all points, of these distances (float32), ends."""
    chosen = np.empty(1, np.int64)
    follow_chain.run(1, state, distances, np.empty(4 * CHAIN, np.float32), chosen, distances.size)
    return np.int64(chosen[0])


def _slots(count: int) -> int:
    """Return how many bits number the slots of a hash table of `count` classes."""
    return max(4, (2 * count - 1).bit_length())


@kernel_function(fastmath=())
def learn_classes(classes: Array, counts: Array, tree: Array, n: int, item: int) -> None:
    """Count a class. tree: a Fenwick tree of n counts, node i + 1 of the classes i + 1 - (its lowest bit) to i; the
    total comes first."""
    number = int(classes[item])
    counts[number] += 1
    tree[0] += 1
    at = number + 1
    while at <= n:
        tree[at] += 1
        at += at & -at


class Counts:
    """Counts of n classes, each 1 at first, and their Fenwick tree: a class is counted and drawn in log n steps."""

    def __init__(self, n: int) -> None:
        self.counts, self.tree = np.ones(n, np.int64), np.arange(n + 1)
        self.tree &= -self.tree
        self.tree[0] = n
        self.first_step = np.array([1 << n.bit_length() - 1])

    def learn(self, classes: np.ndarray) -> None:
        """Count classes, which are in [0, n)."""
        learn_classes.run(classes.size, classes, self.counts, self.tree, self.counts.size)

    def draw(self, state: np.ndarray, sampled: np.ndarray, unique: bool) -> int:
        """Fill `sampled` with classes by their counts, as `weighted`."""
        return _drawn(state, sampled, unique, self.tree, self.first_step, self.counts.size, int(self.tree[0]), False)


def weighted(state: np.ndarray, sampled: np.ndarray, unique: bool, accepted: np.ndarray, aliases: np.ndarray) -> int:
    """Fill `sampled` with classes, and return how many were drawn for them. The state is left as it is.

    accepted, aliases: fractions (float32) of the classes and the classes in place of the rest (int64), by Walker's
    method. unique: each class comes once.
    """
    return _drawn(state, sampled, unique, accepted, aliases, len(accepted), len(accepted), True)


def _drawn(state: np.ndarray, sampled: np.ndarray, unique: bool, first: np.ndarray, second: np.ndarray, n: int,
           total: int, alias: bool) -> int:
    bits, tried = _slots(len(sampled)), np.empty(1, np.int64)
    rest = 0 if total & (total - 1) == 0 else (2**32 - 1) % total + 1
    given: dict[str, None] = {} if unique else {"table": None}
    arrays = [state, first, second, *[np.empty(1 << bits, np.int64)] * unique, sampled, tried, np.empty(4, np.uint64)]
    sample_weighted.run(1, *arrays, len(sampled), n, rest, (1 << bits) - 1, 64 - bits, alias=alias, **given)
    return int(tried[0])


def sampler(log: bool) -> Callable[[Call], list[Launch]]:
    """Return the function that launches a sampler, and then moves its generator on."""
    def launch(call: Call) -> list[Launch]:
        """Return launches of the classes and of both counts."""
        count, most = int(call.attrs["num_sampled"]), int(call.attrs["range_max"])
        bits = _slots(count)
        table = call.scratch(8 << bits).reach(8 << bits).of("int64") if call.attrs["unique"] else None
        tried = call.scratch(8).reach(8).of("int64")
        rest = 0 if most & (most - 1) == 0 else (2**64 - 1) % most + 1
        sampled = call.output(0).reach(8 * count)
        found = [sample_classes.launch(call, 1, STATE, table, sampled, tried, count, most, rest, (1 << bits) - 1,
                                       64 - bits, log=log, grain=0, label="sample classes")]
        for classes, output in ((call.input(0).reach(8 * call.inputs[0].size), 1), (sampled, 2)):
            size = call.outputs[output].size
            if size:
                found.append(expect_counts.launch(call, size, classes, tried, call.output(output).reach(4 * size),
                                                  count, most, log=log, cost=64, label="expected counts"))
        return [*found, *step(call, BLOCKS * count)]
    return launch
