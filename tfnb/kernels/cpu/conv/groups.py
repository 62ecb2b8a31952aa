"""Grouped convolutions: one group of channels after the other.

    by_group(call, groups, type, sources, target, made)     launches of `made` for each group, over its own channels
    regroup(call, part, groups, type, source, target, back) the launch that copies to one array a group, or from there
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Static
from tfnb.kernels.launch import Address, Call, Launch

GRAIN_BYTES = 1 << 17


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
    apart = [regroup(call, source, groups, type_, source.address, place)
             for source, place in zip(sources, places, strict=False)]
    launches = made(places[:-1], places[-1])
    back = regroup(call, target, groups, type_, places[-1], target.address, back=True)
    return [*apart, *(_moved(launch, steps, group) for group in range(groups) for launch in launches), back]


def _moved(launch: Launch, steps: dict[int, int], group: int) -> Launch:
    """Return the launch for another group: addresses in the buffers of `steps` are that many bytes further on."""
    def moved(word: Address) -> Address:
        return replace(word, offset_bytes=word.offset_bytes + group * steps.get(word.index, 0))
    return replace(launch, args=tuple(
        moved(word) if isinstance(word, Address) and word.kind == "scratch" else word for word in launch.args))


@kernel_function(independent=True)
def regroup_row(x: Array, y: Array, groups: int, length: int, rows: int, back: Static, item: int) -> None:
    """Copy row `item` of `groups` parts of `length` elements to, or back from, arrays with the rows of a group each."""
    for group in range(groups):
        joined, apart = (item * groups + group) * length, (group * rows + item) * length
        for j in range(length):
            y[(joined if back else apart) + j] = x[(apart if back else joined) + j]


def regroup(call: Call, part: Rows, groups: int, type_: str, source: Address, target: Address,
            back: bool = False) -> Launch:
    """Copy rows of groups x length elements to arrays of one group each; or, `back`, from there."""
    row = groups * part.length * np.dtype(type_).itemsize
    return regroup_row.launch(call, part.rows, source.reach(part.rows * row).of(type_),
                              target.reach(part.rows * row).of(type_), groups, part.length, part.rows, back,
                              grain=max(1, GRAIN_BYTES // max(1, row)), label="channels by group")
