"""Structuring of dataflow control flow: each while loop becomes one op with nested plans for condition and body.

Branches are predicated instead (compile/planning/guards.py): so a Merge may join the outputs of several Switches on one
predicate, as in the graphs of gradients.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tfnb.compile.planning.loop_aliases import loop_aliases
from tfnb.compile.planning.loops import Frame, find_frames
from tfnb.compile.planning.order import reach
from tfnb.compile.planning.plan import LEAVES, Loop, OnGpu, Plan
from tfnb.compile.planning.reads import Alias, alias_of, writes_variables
from tfnb.compile.planning.region import Region
from tfnb.compile.planning.stand_ins import named_again, stand_in
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import refers
from tfnb.opdef import kinds
from tfnb.ops.array.reshape import Identity

Reached = tuple[set[Operation], set[Operation]]
_LOOP = kinds.Loop(name="While", inputs=(), outputs=(), attrs=())


def build(fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
          on_gpu: OnGpu | None = None, late: bool = False) -> Plan:
    """Build the plan of a run: prune, find loops and branches, place, order and split into stages.

    on_gpu: the ops that are assigned to a GPU, where it has kernels for them; None: no op. In a loop it is all ops of
    an iteration, in one stage, or none.
    late: the feeds come one after another, and the guard of a stage has those that it depends on. Constants, variables
    and references among the fetches are no outputs then: they are read when they are asked for.

    Fetches and feeds must be distinct tensors of one graph. Raises InvalidArgumentError for control-flow nodes that
    form no loop.
    """
    needed, passed = reach(fetches, targets, frozenset(feeds))
    if late:
        fetches = [t for t in fetches if t in feeds or not (refers(t) or isinstance(t.op.spec, LEAVES))]
    return _region(fetches, targets, feeds, needed, passed, on_gpu=on_gpu, late=late).plan()


def _region(fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor], needed: set[Operation],
            passed: set[Operation], shown: Mapping[Tensor, Alias] | None = None, **options: Any) -> Region:
    """Build the region of a plan, its loops first. shown: aliases of variables in the loops around it."""
    loops: dict[Operation, Loop] = {}
    within: dict[Operation, Operation] = {}
    reached = needed | passed
    flow = any(isinstance(op.spec, kinds.Flow) for op in reached)
    for frame in find_frames(reached, frozenset(feeds)) if flow else ():
        loop = _loop(frame, frozenset(feeds), shown or {}, options.get("on_gpu"))
        loops[loop.op] = loop
        within.update((op, loop.op) for op in frame.ops)
    return Region(fetches, targets, feeds, needed, passed, loops, within, flow=flow, **options)


def _loop(frame: Frame, fed: Collection[Tensor], around: Mapping[Tensor, Alias], on_gpu: OnGpu | None) -> Loop:
    """Build the plans of a loop, and recursively those of its inner loops."""
    found = loop_aliases(frame, fed, around)
    loop = _Iterations(frame, found.constants, found.steady, around).loop(on_gpu)
    if found.first == found.steady:
        return loop
    return replace(loop, first=_Iterations(frame, found.constants, found.first, around).loop(on_gpu))


class _Iterations:
    """Builder of the condition and body plans for the iterations of one loop.

    constants: loop-invariant aliases of variables that the loop writes to; shown: the indices of the loop variables
    that are such aliases in these iterations; around: the aliases in enclosing loops. None of these is a feed of the
    plans: each read goes to the variable.
    """

    def __init__(self, frame: Frame, constants: Mapping[Tensor, Alias], shown: Mapping[int, Alias],
                 around: Mapping[Tensor, Alias]) -> None:
        self.frame, self.border = frame, frame.border
        self.constants = [op for op in frame.constants if op.outputs[0] not in constants and not refers(op.outputs[0])]
        self.heads = {v.merge.outputs[0]: k for k, v in enumerate(frame.variables)}
        self.bodies = {op.outputs[1]: k for k, v in enumerate(frame.variables) for op in v.switches}
        self.fixed = {op.outputs[0]: len(frame.variables) + k for k, op in enumerate(self.constants)}
        self.aliases = {**constants, **{t: shown[k] for t, k in (*self.heads.items(), *self.bodies.items())
                                        if k in shown}}
        self.shown = {**around, **self.aliases}
        self.copies: dict[Tensor, Tensor] = {}          # value that is passed on -> its copy
        self.late: list[Operation] = []                 # copies of variables, made after all writes
        assert frame.condition is not None
        self.truth = frame.condition.inputs[0]
        self.nexts = [v.next for v in frame.variables]
        self.waits = [c for op in frame.sends for c in op.control_inputs]

    def loop(self, on_gpu: OnGpu | None = None) -> Loop:
        """Build the record of the loop with its plans."""
        feeds = {t: k for t, k in {**self.heads, **self.fixed}.items() if t not in self.aliases}
        tested = reach([self.truth], (), {*self.heads, *self.fixed}, self.border)
        test_feeds = _used(feeds, tested, [self.truth])
        test = _region([self.truth], (), test_feeds, *tested, varying=set(self.heads), cut=self.border,
                       reads=self._read(tested, [self.truth]), shown=self.shown).plan()
        inside = {t: k for t, k in {**self.bodies, **self.fixed}.items() if t not in self.aliases}
        moved = reach(self.nexts, (), {*self.bodies, *self.fixed}, self.border, self.waits)
        mixed = _used(self.heads, moved, self.nexts)    # read before the Switch: test and step can't be fused
        fused = not mixed
        aliases = self._copy_nexts({**inside, **dict.fromkeys(mixed, 0)})
        nexts = [self.copies.get(t, t) for t in self.nexts]
        truth = self._late_copy(self.truth, inside)
        after: dict[Operation, set[Operation]] = {}
        if mixed:
            inside.update((t, self.heads[t]) for t in mixed if t not in self.aliases)
            needed, passed = reach(self.nexts, (), {*self.bodies, *self.fixed, *mixed}, self.border, self.waits)
            ends = []
        else:
            aliases.update((t, nexts[self.heads[t]]) for t in _used(self.heads, tested, [self.truth]))
            after = _after_effects(tested[0] - moved[0], moved[0])
            needed, passed = moved[0] | tested[0], moved[1] | tested[1]
            fused = truth not in inside                 # else it is a constant of the loop
            ends = [truth] if fused else []
        fetches = [*(t for t in dict.fromkeys(nexts) if t not in inside), *ends]
        writes = {op for op in needed if writes_variables(op)}
        after.update((op, writes) for op in self.late if op.outputs[0] in fetches)
        taken = [*self.nexts, *aliases.values(), self.truth]
        known = _used(inside, (needed, passed), taken)
        reads = [*self._read((needed, passed), taken, aliases), *(op for op in self.late if op in after)]
        make = partial(_region, fetches, (), known, needed, passed, aliases=aliases, cut=self.border, after=after,
                       reads=reads, shown=self.shown, varying={t for t in known if inside[t] < len(self.nexts)})
        whole = None
        step = None if on_gpu is None or not fused else make(on_gpu=on_gpu).plan()
        if step is None or not (step.direct and step.stages[0].gpu):
            step = make().plan()
        if fused and all(stage.loop is None for stage in step.stages) \
                and any(op.spec.element for op in step.ops) and not self._keeps_look(step.ops, inside):
            whole = make(resident=True).plan()
            whole = whole if whole.direct and whole.stages[0].on_device else None
        places = {t: i for i, t in enumerate(fetches)}
        return Loop(self.frame.name, _stand_in(self.frame, self.constants),
                    tuple(_entered(v.enter) for v in self.frame.variables), tuple(map(_entered, self.constants)),
                    test, step, tuple(feeds[t] for t in test_feeds), tuple(inside[t] for t in known),
                    tuple(places[t] if t in places else -1 - inside[t] for t in nexts), fused,
                    tuple((k, op.outputs[0]) for k, op in self.frame.exits), whole)

    def _keeps_look(self, ops: Sequence[Operation], inside: Collection[Tensor]) -> bool:
        """Return whether a TensorArray or stack gets an alias, no copy, of a variable that the loop writes to."""
        writes = any(writes_variables(op) for op in ops)
        return writes and any(alias_of(t, inside, self.shown) is not None for op in ops
                              if op.spec.element in ("write", "push") for t in op.inputs[1:])

    def _read(self, reached: Reached, taken: Sequence[Tensor], made: Collection[Tensor] = ()) -> list[Operation]:
        """Build reads of the variables whose aliases are used and not `made` otherwise."""
        return [op for t in _used(self.aliases, reached, taken) if t not in made for op in _reads(t, self.aliases[t])]

    def _copy_nexts(self, inside: Collection[Tensor]) -> dict[Tensor, Tensor]:
        """Copy next values that are constants, references or aliases; return those that wait for no writer."""
        aliases: dict[Tensor, Tensor] = {}
        for t in self.nexts:
            if t not in self.copies and self._late_copy(t, inside) is t and t not in inside \
                    and (isinstance(t.op.spec, LEAVES) or refers(t)):
                self.copies[t] = named_again(t)
                aliases[self.copies[t]] = t
        return aliases

    def _late_copy(self, t: Tensor, inside: Collection[Tensor]) -> Tensor:
        """Return a copy of `t` as it is at the end of the iteration if it aliases a variable, else `t`."""
        if t not in self.copies and t not in inside and alias_of(t, inside, self.aliases) is not None:
            self.copies[t] = named_again(t)
            self.late.append(stand_in(t.op, Identity.spec, [t], [self.copies[t]]))
        return self.copies.get(t, t)


def _reads(tensor: Tensor, alias: Alias) -> list[Operation]:
    """Build ops that read a variable, of which the last one outputs `tensor`."""
    made: list[Operation] = []
    source = alias.ref
    for op in alias.ops:
        made.append(stand_in(tensor.op, op.spec, [source, *op.inputs[1:]], [named_again(op.outputs[0])], op.attrs))
        source = made[-1].outputs[0]
    return [*made, stand_in(tensor.op, Identity.spec, [source], [tensor])]


def _after_effects(test: Collection[Operation], body: Collection[Operation]) -> dict[Operation, set[Operation]]:
    """Return the predecessors in the body of each op of the condition, which sees the effects of the body."""
    writes = {op for op in body if writes_variables(op)}
    effects = writes | {op for op in body if _sees_state(op)}
    return {op: effects if _sees_state(op) else writes for op in test}


def _sees_state(op: Operation) -> bool:
    """Return whether the op may read or change state of other host calls (TensorArrays are ordered by their flow)."""
    return isinstance(op.spec, kinds.Host) and not op.spec.element


def _entered(op: Operation) -> Tensor:
    return op.inputs[0]


def _used(feeds: Iterable[Tensor], reached: Reached, fetches: Sequence[Tensor]) -> list[Tensor]:
    """Return those of `feeds` that the reached ops and fetches use, in order."""
    used = {t for op in reached[0] for t in op.inputs} | set(fetches)
    return [t for t in feeds if t in used]


def _stand_in(frame: Frame, constants: Sequence[Operation]) -> Operation:
    """Build the op that represents the loop: its inputs are those of the Enters, its outputs those of the Exits."""
    assert frame.condition is not None
    inputs = dict.fromkeys(op.inputs[0] for op in (*(v.enter for v in frame.variables), *constants))
    made = stand_in(frame.condition, _LOOP, list(inputs), [])
    made.outputs = [op.outputs[0] for _, op in frame.exits]
    inside = set(frame.ops)
    waits = [c for op in frame.ops for c in op.control_inputs if c not in inside]
    waits += [op.inputs[0].op for op in frame.constants if op not in constants]
    made.control_inputs = list(dict.fromkeys(waits))
    return made
