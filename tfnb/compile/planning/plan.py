"""Execution plans: the stages that compute a set of fetches, made before any shape is known (by region.py)."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef import kinds

OnGpu = Callable[[Operation], bool]      # whether the op is placed on a GPU
LEAVES = (kinds.Const, kinds.Variable)

# A conjunction of literals: (predicate, the value it must have), or (merged value that must exist, None).
Guard = tuple[tuple[Tensor, "bool | None"], ...]


@dataclass(frozen=True)
class Stage:
    """A sequence of ops compiled to one program (device), or of host calls, which runs only if its guard holds.

    A stage may also be a number of merges, or one loop.

    inputs: tensors computed before this stage, fed ones included; outputs: tensors used after it; by_value: the inputs
    for whose values, not only shapes, a program of this stage is specialized; variables: the variable ops it reads or
    writes; targets: ops that must run though nobody reads their outputs; fixed: the loop-invariant inputs, where the
    stage is the whole body of a loop; gpu: its kernels are for the GPU.
    """

    on_device: bool
    ops: tuple[Operation, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    by_value: tuple[Tensor, ...]
    variables: tuple[Operation, ...]
    targets: tuple[Operation, ...] = ()
    guard: Guard = ()
    merges: tuple[Choice, ...] = ()
    loop: Loop | None = None
    fixed: tuple[Tensor, ...] = ()
    gpu: bool = False


@dataclass(frozen=True)
class Choice:
    """A Merge: its outputs are the first of `inputs` whose guard holds, and the index of that."""

    op: Operation
    inputs: tuple[tuple[Guard, Tensor], ...]


@dataclass(frozen=True)
class Loop:
    """A while loop: the plan `test` computes its condition, the plan `step` its body.

    names: of its LoopCond, for messages; initial: the outside tensors that its loop variables start from, by index;
    constants: loop-invariant outside tensors that both plans take, numbered after the variables; test_feeds,
    step_feeds: the index of the value that each feed of a plan takes. nexts: for each variable the fetch of `step` that
    is its next value, or -1 less the index of the variable or constant that is. fused: the last fetch of step is the
    condition of the next iteration; else `test` runs each time. exits: (index of a variable, tensor outside). whole:
    `step` as one device stage, where it is one if kernels access its TensorArrays and stacks. first: None, or a loop
    that is peeled off for the first iteration; it has the same inputs and outputs.
    """

    name: str
    op: Operation
    initial: tuple[Tensor, ...]
    constants: tuple[Tensor, ...]
    test: Plan
    step: Plan
    test_feeds: tuple[int, ...]
    step_feeds: tuple[int, ...]
    nexts: tuple[int, ...]
    fused: bool
    exits: tuple[tuple[int, Tensor], ...]
    whole: Plan | None = None
    first: Loop | None = None


@dataclass(frozen=True)
class Plan:
    """The stages that compute `fetches` and run `targets` from `feeds`.

    before: None, or for each stage the indices of its predecessors. Then some ops may block until others have run
    (queues), and the stages run in any order that these dependencies allow.
    """

    fetches: tuple[Tensor, ...]
    targets: tuple[Operation, ...]
    feeds: tuple[Tensor, ...]
    stages: tuple[Stage, ...]
    before: tuple[frozenset[int], ...] | None = None

    @cached_property
    def calls(self) -> tuple[bool, ...]:
        """Whether each stage calls a Python function of the user."""
        return tuple(any(op.spec.calls for op in stage.ops) for stage in self.stages)

    @cached_property
    def waits(self) -> bool:
        """Whether there are ops of queues, which the run may put off."""
        return any(op.spec.waits for stage in self.stages for op in stage.ops)

    @property
    def direct(self) -> bool:
        """Whether the plan is one unconditional stage of ops with the plan's own inputs and outputs."""
        if len(self.stages) != 1:
            return False
        stage = self.stages[0]
        return not (stage.guard or stage.merges or stage.loop) and stage.inputs == self.feeds \
            and stage.outputs == self.fetches

    @cached_property
    def slots(self) -> dict[Tensor, int]:
        """The number of each value in a run: the feeds in order, then the outputs of the stages.

        A tensor that several stages compute (a variable read again) has one slot.
        """
        found: dict[Tensor, int] = {}
        for t in (*self.feeds, *(t for stage in self.stages for t in stage.outputs)):
            found.setdefault(t, len(found))
        return found

    @property
    def ops(self) -> list[Operation]:
        """All ops in execution order; those of a loop once."""
        loops = [stage.loop for stage in self.stages if stage.loop is not None]
        loops += [loop.first for loop in loops if loop.first is not None]
        inner = [op for loop in loops for plan in (loop.test, loop.step) for op in plan.ops]
        return [op for stage in self.stages for op in stage.ops] + inner

    def gpu_ops(self) -> set[Operation]:
        """Return the ops of stages for the GPU, those in loops too."""
        steps = [stage.loop.step for stage in self.stages if stage.loop is not None]
        return {op for stage in self.stages if stage.gpu for op in stage.ops}.union(*(p.gpu_ops() for p in steps))

    def graph_ops(self) -> list[Operation]:
        """`ops` without those that only plans have: the stand-ins of loops."""
        return [op for op in self.ops if op.graph._by_name.get(op.name) is op]
