"""The compiler's pass pipeline: from a device stage and concrete input shapes to kernel launches, a line a pass."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tfnb.compile.copies import join_in_place
from tfnb.compile.epilogues import attach_epilogues
from tfnb.compile.fuse import Group, fuse, stored
from tfnb.compile.live import live
from tfnb.compile.loop_invariant import split_invariant
from tfnb.compile.lower import GRAIN, Step, lower, renamed
from tfnb.compile.memory import place_buffers
from tfnb.compile.planning.plan import Stage
from tfnb.compile.products import accumulate, accumulated, defer, follow_products, straighten, sum_products
from tfnb.compile.reach import Ref
from tfnb.compile.residents import copy_moved, count_accesses, in_place, schedule_accesses
from tfnb.compile.target import CPU, Target
from tfnb.compile.trace import Meta, Traced, trace
from tfnb.compile.values import Buffer, Call
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.cpu.matmul import tiled
from tfnb.kernels.scalar.primitives import PRIMITIVES
from tfnb.kernels.sizes import highest, lowest
from tfnb.kernels.spec import ColumnKernel, Kernel, Reduce

SHARED = 2_000_000       # picoseconds of a fused kernel that one thread takes at a time
LINE = 64                # elements: chunks begin at cache lines
COLUMNS = 32             # of a chunk of a column reduction, at least
FEW = 2                  # chunks of a kernel: one with more is shared evenly


@dataclass(frozen=True, slots=True)
class Built:
    """Results of the passes for one stage.

    offsets: of each temporary buffer in the arena, in bytes; once: the number of leading steps that are loop-invariant,
    and so run in the first iteration only; accumulated: (number of an input, number of an output) of each that may have
    the same memory. ends: the number of the last steps, which add the products of `period` iterations (`defer`).
    """

    traced: Traced
    groups: list[Group]
    steps: list[Step]
    offsets: dict[Buffer, int]
    arena_bytes: int
    once: int = 0
    target: Target = CPU
    accumulated: tuple[tuple[int, int], ...] = ()
    ends: int = 0
    period: int = 1


def build_stage(stage: Stage, inputs: Sequence[Meta], shapes: Mapping[Operation, tuple[int, ...]],
                target: Target = CPU) -> Built:
    """Trace, rewrite, fuse, lower and place a stage's buffers. shapes: of each variable. Raises what `trace` raises."""
    traced, groups, steps, once, ends, period = lowered(stage, inputs, shapes, target, True)
    return Built(traced, groups, steps, *place_buffers(steps, once), once, target,
                 accumulated(traced.nodes, traced.outputs) if target.blocked else (), ends, period)


def lowered(stage: Stage, inputs: Sequence[Meta], shapes: Mapping[Operation, tuple[int, ...]],
            target: Target = CPU, defers: bool = False) -> tuple[Traced, list[Group], list[Step], int, int, int]:
    """Do the passes before memory planning, and return what `Built` says of them. defers: in a loop, its sums."""
    traced = trace(stage, inputs, shapes, target)
    traced.nodes = live(count_accesses(traced.nodes, traced.residents), traced.kept)
    fixed = {i for i, t in enumerate(stage.inputs) if t in stage.fixed}
    if target.blocked:
        traced.nodes = accumulate(sum_products(straighten(traced.nodes, fixed), traced.kept), traced.kept)
    else:
        traced.nodes = follow_products(traced.nodes, traced.kept)
    first, rest = split_invariant(schedule_accesses(traced.nodes), fixed)
    calls: list[Call] = []
    places: dict[Buffer, Ref] = {}
    period = 1
    if target.blocked:
        rest, places = join_in_place(copy_moved(rest), traced.kept)
    if defers and fixed and target.blocked:
        rest, calls, period = defer(rest, {v.buffer for node in first for v in node.outs}, traced.outputs)
    before, groups, ends = fuse(first), fuse(rest), fuse(calls)
    in_memory = stored([*before, *groups], traced.kept)
    if target.blocked:
        before = attach_epilogues(before, traced.kept | {v.buffer for node in rest for v in node.ins})
        groups = attach_epilogues(groups, traced.kept)
    once = lower(before, in_memory, target)
    last = [_of_one_iteration(step) for step in lower(ends, in_memory, target)]
    each = [renamed(step, places) for step in lower(groups, in_memory, target)]
    if traced.residents:
        each = in_place([*once, *last], each, [*first, *rest], traced.residents)
    if target.blocked:
        each = share(each)
    steps = [*once, *each, *last]
    return traced, [*before, *groups, *ends], steps, len(once), len(last), period


def _of_one_iteration(step: Step) -> Step:
    """Return the launch of a deferred sum for the factors of the first iteration of a period alone."""
    return replace(step, args=(*step.args[:tiled.COUNT], 1, *step.args[tiled.COUNT + 1:]))


def share(steps: Sequence[Step]) -> list[Step]:
    """Return the steps of a program with finer grains for fused kernels of some microseconds: threads share them.

    Where threads share no other step they share none: waking them takes longer.
    """
    if not any(step.items > step.grain > 0 for step in steps):
        return list(steps)
    return [replace(step, grain=_fine_grain(step, step.kernel)) if step.kernel is not None and step.grain else step
            for step in steps]


def _fine_grain(step: Step, kernel: Kernel) -> int:
    """Return the work items of some microseconds, where a fused kernel has few chunks; else those of its chunks."""
    cost = _element_cost(kernel)
    if step.items > FEW * step.grain or step.items * GRAIN // step.grain * cost < 2 * SHARED:
        return step.grain
    grain: int = highest(1, step.grain * highest(LINE, SHARED // cost // LINE * LINE) // GRAIN)
    if isinstance(kernel, ColumnKernel) and not kernel.outer:
        grain = highest(COLUMNS, grain // COLUMNS * COLUMNS)
    grain = lowest(step.grain, grain)
    return grain


def _element_cost(kernel: Kernel) -> int:
    """Return about how many picoseconds an element takes (Zen 4, operands in the second or third cache)."""
    names = [step.primitive for stmt in kernel.body for step in (
        stmt.combine.program(()) if isinstance(stmt, Reduce) else stmt.scalar.program(stmt.attrs)).steps]
    costly = sum(PRIMITIVES[name].costly for name in names)
    return 100 * (len(kernel.loads) + len(kernel.stores)) + 20 * len(names) + 400 * costly
