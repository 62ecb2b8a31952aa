"""Grouped convolutions: one group of channels after the other.

    by_group(call, groups, type, sources, target, made)     launches of `made` for each group, over its own channels
    regroup(part, groups, type, source, target, back)       the launch that copies to one array a group, or from there
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tfnb.kernels.launch import Address, Call, Launch

GRAIN_BYTES = 1 << 17

# Item i: row i of `groups` parts of `length` numbers, to or (back) from arrays with the rows of one group each.
REGROUP_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    groups, length, rows, back = args[2], args[3], args[4], args[5]
    x, y = {type}_array(args[0], 0), {type}_array(args[1], 0)
    for i in range(begin, end):
        for group in range(groups):
            joined, apart = (i * groups + group) * length, (group * rows + i) * length
            source, target = (apart, joined) if back else (joined, apart)
            for j in range(length):
                y[target + j] = x[source + j]
"""


@dataclass(frozen=True, slots=True)
class Rows:
    """An array of `rows` rows of groups x length elements."""

    address: Address
    rows: int
    length: int


def by_group(call: Call, groups: int, type_: str, sources: list[Rows], target: Rows,
             made: Callable[[list[Address], Address], list[Launch]]) -> list[Launch]:
    """Return launches made(addresses of sources, address of target), for each group.

    They are made once and moved on from group to group, so that all groups use the same scratch memory.
    """
    if groups == 1:
        return made([source.address for source in sources], target.address)
    size = np.dtype(type_).itemsize
    places = [call.scratch(groups * part.rows * part.length * size) for part in (*sources, target)]
    steps = {place.index: part.rows * part.length * size
             for place, part in zip(places, (*sources, target), strict=True)}
    apart = [regroup(source, groups, type_, source.address, place)
             for source, place in zip(sources, places, strict=False)]
    launches = made(places[:-1], places[-1])
    back = regroup(target, groups, type_, places[-1], target.address, back=True)
    return [*apart, *(_moved(launch, steps, group) for group in range(groups) for launch in launches), back]


def _moved(launch: Launch, steps: dict[int, int], group: int) -> Launch:
    """Return the launch for another group: addresses in the buffers of `steps` are that many bytes further on."""
    def moved(word: Address) -> Address:
        return replace(word, offset_bytes=word.offset_bytes + group * steps.get(word.index, 0))
    return replace(launch, args=tuple(
        moved(word) if isinstance(word, Address) and word.kind == "scratch" else word for word in launch.args))


def regroup(part: Rows, groups: int, type_: str, source: Address, target: Address, back: bool = False) -> Launch:
    """Copy rows of groups x length elements to arrays of one group each; or, `back`, from there."""
    row = groups * part.length * np.dtype(type_).itemsize
    places = source.reach(part.rows * row), target.reach(part.rows * row)
    return Launch(REGROUP_TEXT.format(type=type_), (*places, groups, part.length, part.rows, int(back)),
                  part.rows, max(1, GRAIN_BYTES // max(1, row)), "channels by group")
