"""Loop nests over iteration spaces: axis order (loop interchange) and collapsing of adjacent axes (loop coalescing)."""
from __future__ import annotations

from collections.abc import Sequence

from tfnb.compile.fuse import Group, Pattern

NARROW = 8               # columns: with fewer of them the loops over rows are as fast
SHORT_ROW, VECTORS = 128, 32     # elements: longer rows, and those of whole vectors, take no loop for what is left


def walks_columns(group: Group, least: int) -> bool:
    """Return whether the loop nest collapses to rows and columns, with at least `least` columns."""
    order, lead = axis_order(group, columns=True)
    patterns = [p for found in group.read.values() for p in found] + list(group.written.values())
    sizes = collapse(group.space, patterns, order, lead)[0]
    return len(sizes) == 2 and sizes[1] >= least


Blocks = tuple[list[int], list[list[int]]]


def blocks_of_columns(group: Group, patterns: Sequence[Pattern]) -> Blocks | None:
    """Return the sizes and strides of the loops kept x reduced x kept, where that is what a reduction collapses to.

    None where the last loop is short or its elements are not adjacent.
    """
    big = [i for i, n in enumerate(group.space) if n != 1]
    reduced = [i for i in big if i in (group.axes or ())]
    if not reduced:
        return None
    parts = ([i for i in big if i < reduced[0]], reduced, [i for i in big if i > reduced[-1]])
    if [i for part in parts for i in part] != big:
        return None
    loops = [collapse(group.space, patterns, part, len(part))[:2] for part in parts]
    if [len(sizes) for sizes, _ in loops] != [1, 1, 1] or loops[2][0][0] < NARROW:
        return None
    strides = [[steps[0] for steps in each] for each in zip(*(found for _, found in loops), strict=True)]
    if any(steps[2] not in (0, 1) for steps in strides):
        return None
    return [sizes[0] for sizes, _ in loops], strides


def axis_order(group: Group, columns: bool = False) -> tuple[list[int], int]:
    """Return the axes of the space in loop order, and the number of those before the border kept/reduced."""
    axes = group.axes or frozenset()
    kept = [i for i in range(len(group.space)) if i not in axes]
    reduced = sorted(axes)
    return (reduced + kept, len(reduced)) if columns else (kept + reduced, len(kept))


def collapse(space: Sequence[int], patterns: Sequence[Pattern], order: Sequence[int],
              lead: int) -> tuple[list[int], list[list[int]], int]:
    """Collapse adjacent axes that every operand traverses with one stride.

    Returns the sizes of the loops, the strides of each pattern over them, and the number of loops before the border.
    """
    sizes: list[int] = []
    strides: list[list[int]] = [[] for _ in patterns]
    border = 0
    for place, axis in enumerate(order):
        size = space[axis]
        if size == 1:
            continue
        steps = [p[0][axis] for p in patterns]
        same_side = bool(sizes) and (place < lead or len(sizes) > border)
        if same_side and all(have[-1] == step * size for have, step in zip(strides, steps, strict=True)):
            sizes[-1] *= size
            for have, step in zip(strides, steps, strict=True):
                have[-1] = step
        else:
            sizes.append(size)
            for have, step in zip(strides, steps, strict=True):
                have.append(step)
        if place < lead:
            border = len(sizes)
    return sizes, strides, border
