"""Execution plans: the stages that compute a set of fetches, made before any shape is known."""
from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from tfnb.compile.order import ancestors, contenders, order, required, split
from tfnb.compile.place import for_gpu, place, types_compile
from tfnb.compile.reads import read_again, updates_before
from tfnb.graph.operation import Operation, Tensor
from tfnb.opdef.spec import Kind
from tfnb.ops.evaluate import ref_variable, refers

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

    @property
    def direct(self) -> bool:
        """Whether the plan is one unconditional stage with the plan's own inputs and outputs."""
        if len(self.stages) != 1 or self.stages[0].guard:
            return False
        return self.stages[0].inputs == self.feeds and self.stages[0].outputs == self.fetches

    @property
    def ops(self) -> list[Operation]:
        """All ops in execution order; those of a loop once."""
        loops = [stage.loop for stage in self.stages if stage.loop is not None]
        loops += [loop.first for loop in loops if loop.first is not None]
        inner = [op for loop in loops for plan in (loop.test, loop.step) for op in plan.ops]
        return [op for stage in self.stages for op in stage.ops] + inner


    def graph_ops(self) -> list[Operation]:
        """`ops` without those that only plans have: the stand-ins of loops."""
        return [op for op in self.ops if op.graph._by_name.get(op.name) is op]


OnGpu = Callable[[Operation], bool]      # whether the op is placed on a GPU
LEAVES = (Kind.CONST, Kind.VARIABLE)


def straight(needed: set[Operation], fetches: Sequence[Tensor], targets: Sequence[Operation],
             feeds: Sequence[Tensor], on_gpu: OnGpu | None = None) -> Plan:
    """Place, order and split into stages the needed ops of a graph without control flow."""
    fed = frozenset(feeds)
    first = order(needed, fed, needed)
    device, by_value, hidden = place(first, fed, fetches)
    alone = contenders(first, fed)
    stages = _split(first, needed, device, by_value, fetches, targets, feeds, alone, on_gpu)
    if hidden and any(t in hidden for stage in stages for t in stage.outputs):
        device, by_value, _ = place(first, fed)
        stages = _split(first, needed, device, by_value, fetches, targets, feeds, alone, on_gpu)
    before = _before(stages, needed, fed) if alone else None
    return Plan(tuple(fetches), tuple(targets), tuple(feeds), stages, before)


def _before(stages: Sequence[Stage], needed: set[Operation], fed: frozenset[Tensor]) -> tuple[frozenset[int], ...]:
    """Compute for each stage the indices of the stages that its ops depend on."""
    home: dict[Operation, int] = {}                # the first stage of ops that later ones repeat
    for i, stage in enumerate(stages):
        for op in stage.ops:
            if op.spec.kind not in LEAVES:
                home.setdefault(op, i)
    found = []
    for i, stage in enumerate(stages):
        behind = {b for op in stage.ops for b in ancestors(op, fed, needed)}
        found.append(frozenset(home[b] for b in behind if b in home) - {i})
    return (*found[:-1], frozenset(range(len(stages) - 1)))


def _split(first: list[Operation], needed: set[Operation], device: set[Operation], by_value: set[Tensor],
           fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
           alone: Sequence[Operation] = (), on_gpu: OnGpu | None = None) -> tuple[Stage, ...]:
    """Split into stages, given the ops on the device and those that are a stage each. first: the order if all are."""
    fed = frozenset(feeds)
    gpu = for_gpu(order(needed, fed, device), fed, device, on_gpu) if on_gpu is not None else set()
    ordered = first if not gpu and device >= needed else order(needed, fed, device, gpu)
    inner = [op for op in ordered if op.spec.kind not in LEAVES]
    runs = split(inner, device, alone, gpu) or [("gpu" if any(t.op in gpu for t in fetches) else "cpu", [])]
    if alone:
        runs.append(("host", []))                  # the fetches are gathered after all else
    elif runs[-1][0] != "host" and any(t.op.spec.kind in LEAVES and not types_compile(t.op) for t in fetches):
        runs.append(("host", []))                  # dtypes that kernels lack are copied on the host
    return tuple(_stages(runs, needed, device, fetches, feeds, by_value, targets))


def _stages(runs: list[tuple[str, list[Operation]]], needed: Collection[Operation], device: Collection[Operation],
            fetches: Sequence[Tensor], feeds: Sequence[Tensor], by_value: set[Tensor],
            targets: Sequence[Operation]) -> list[Stage]:
    """Build the stages of a schedule. Constants and variables belong to every stage that uses them, fetched ones to
    the last.

    References never pass between stages: a later user reads the variable itself.
    """
    fed = frozenset(feeds)
    written = updates_before(lambda op: required(op, fed, needed))
    wanted: set[Tensor] = set(fetches)             # backward liveness: used by later stages or the caller
    stages: list[Stage] = []
    for where, run in reversed(runs):
        fits = bool if where == "host" else device.__contains__
        ops = [*read_again(run, fits, lambda t: None if t in fed else t.op, written), *run]
        used = {t: None for op in ops for t in op.inputs}
        if not stages:
            used.update((t, None) for t in fetches)
        if len(runs) == 1:                         # then the stage is the plan: its inputs are the feeds, in order
            used = dict.fromkeys([*feeds, *used])
        refs = [t for t in used if refers(t) and t not in fed]
        used.update((ref_variable(t).outputs[0], None) for t in refs)
        leaves = {t.op: None for t in used if t not in fed and t.op.spec.kind in LEAVES}
        made = {t: None for op in (*leaves, *ops) for t in op.outputs if t not in fed}
        inputs = tuple(t for t in used if t not in made and (t in fed or not refers(t)))
        outputs = tuple(t for t in (made if stages else fetches) if t in wanted and t not in fed and (
            t.op not in leaves and not refers(t) if stages else t in made or refers(t)))
        stages.append(Stage(where != "host", (*leaves, *ops), inputs, outputs,
                            tuple(t for t in inputs if t in by_value),
                            tuple(op for op in leaves if op.spec.kind is Kind.VARIABLE),
                            tuple(op for op in targets if op in ops), gpu=where == "gpu"))
        wanted |= set(inputs)
    return stages[::-1]
