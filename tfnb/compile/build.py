"""From a device stage and the shapes it meets to launches: the passes, a line each."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tfnb.compile.fuse import Group, fuse, stored
from tfnb.compile.live import live
from tfnb.compile.lower import Step, lower
from tfnb.compile.memory import place_buffers
from tfnb.compile.plan import Stage
from tfnb.compile.products import straighten, sum_products
from tfnb.compile.tails import attach_tails
from tfnb.compile.trace import Meta, Traced, trace
from tfnb.compile.values import Buffer
from tfnb.graph.operation import Operation


@dataclass(frozen=True, slots=True)
class Built:
    """What each pass made; offsets: the place of each temporary buffer in the arena."""

    traced: Traced
    groups: list[Group]
    steps: list[Step]
    offsets: dict[Buffer, int]
    arena_bytes: int


def build_stage(stage: Stage, inputs: Sequence[Meta], shapes: Mapping[Operation, tuple[int, ...]]) -> Built:
    """Trace, rewrite, fuse, lower and place. shapes: of each variable of the stage. Raises what `trace` raises."""
    traced = trace(stage, inputs, shapes)
    traced.nodes = live(traced.nodes, traced.kept)
    traced.nodes = sum_products(straighten(traced.nodes), traced.kept)
    groups = fuse(traced.nodes)
    in_memory = stored(groups, traced.kept)
    groups = attach_tails(groups, traced.kept)
    steps = lower(groups, in_memory)
    return Built(traced, groups, steps, *place_buffers(steps))
