"""Pass planning of kernels with reductions: the values computed in each pass over the rows, for both emitters."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfnb.kernels.block import Block, Reduction


@dataclass(frozen=True, slots=True)
class Passes:
    """reductions[p], roots[p]: the reductions of pass p (from 1), and all values it is for: updates, then stores.

    values: all that the kernel needs; ends: the values that are stored or accumulated.
    """

    count: int
    reductions: dict[int, list[Reduction]]
    roots: dict[int, list[int]]
    values: frozenset[int]
    ends: frozenset[int]


def plan(block: Block, passes: Sequence[int], full: Sequence[int], row: Sequence[int]) -> Passes:
    """Return the passes that store the values `full` at each element and `row` once for each row.

    passes: the number of passes after which each value can be computed. Elements are stored in the last pass, so that
    no store overwrites what a later pass loads.
    """
    used = _used_reductions(block, [*full, *row])
    count = max([passes[r.result] for r in used] + [1 + passes[value] for value in full], default=0)
    reductions = {p: [r for r in used if passes[r.result] == p] for p in range(1, count + 1)}
    roots = {p: [r.update for r in found] for p, found in reductions.items()}
    if full:
        roots[count] = [*roots[count], *full]
    ends = [*row, *(value for found in roots.values() for value in found)]
    return Passes(count, reductions, roots, frozenset(block.needed(ends)), frozenset(ends))


def _used_reductions(block: Block, roots: Sequence[int]) -> list[Reduction]:
    found: dict[int, Reduction] = {}
    todo = list(roots)
    while todo:
        for value in block.needed([todo.pop()]):
            if block.values[value].primitive == "reduced" and value not in found:
                found[value] = block.reductions[block.values[value].data]
                todo.append(found[value].update)
    return [found[value] for value in sorted(found)]
