"""Loop nests: the depth at which each value of a kernel is computed, and the pass over a row that computes it."""
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tfnb.kernels.block import Block
from tfnb.kernels.spec import Operand


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops of a row kernel: depth 0 is the kernel, 1 a row (the `outer` dimensions), then the inner dimensions.

    depths: of each value; a value is computed at its depth. passes: of each value, the number of passes over the
    row after which its operands are known (a reduction that needs nothing but loads takes pass 1).
    """

    depths: tuple[int, ...]
    passes: tuple[int, ...]
    full: int                             # the depth of the innermost loop


def nest(block: Block, loads: Sequence[Operand], outer: int, inner: int) -> Nest:
    """Return the nest of a block whose loads walk over outer + inner dimensions."""
    full = 1 + inner
    depths: list[int] = []
    passes: list[int] = []
    for value in block.values:
        depth = max((depths[arg] for arg in value.args), default=0)
        if value.primitive == "load":
            depth = depth_of(loads[value.data].steps, outer)
        elif value.primitive in ("acc", "column"):
            depth = full
        elif value.primitive in ("reduced", "count"):
            depth = 1
        depths.append(depth)
        ready = max((passes[arg] for arg in value.args), default=0)
        if value.primitive == "reduced":
            ready = 1 + passes[block.reductions[value.data].update]
        passes.append(ready)
    return Nest(tuple(depths), tuple(passes), full)


def depth_of(steps: Sequence[str], outer: int) -> int:
    """Return the depth of the innermost loop that an operand moves with."""
    moving = [dimension for dimension, step in enumerate(steps) if step != "0"]
    return 0 if not moving else 1 if moving[-1] < outer else 2 + moving[-1] - outer


def frontier(block: Block, values: Collection[int], depths: Sequence[int], depth: int,
             roots: Collection[int]) -> list[int]:
    """Return those of `values` at this depth that a deeper one, or nobody but the kernel itself (a root), uses."""
    used = {arg for value in values if depths[value] > depth for arg in block.values[value].args}
    return [value for value in sorted(values) if depths[value] == depth and (value in used or value in roots)]
