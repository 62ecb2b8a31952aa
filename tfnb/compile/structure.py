"""From nodes of control flow to nested plans: each while loop becomes one op with plans of its own.

Branches stay among the other ops, with the condition under which each runs (compile/guards.py): so a Merge may join
what several Switches of one truth value let through, as in the graphs of gradients.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tfnb.compile.loops import Frame, find_frames
from tfnb.compile.order import reach
from tfnb.compile.plan import Loop, OnGpu, Plan, straight
from tfnb.compile.reads import WRITERS
from tfnb.compile.region import Region, named_again, stand_in
from tfnb.graph.operation import Operation, Tensor
from tfnb.opdef import tables
from tfnb.opdef.spec import FLOW, Kind, OpSpec
from tfnb.ops.evaluate import refers

_LOOP = OpSpec("While", (), (), (), Kind.LOOP)


def build(fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
          on_gpu: OnGpu | None = None) -> Plan:
    """The plan of a run: prune, find loops and branches, place, order and split into stages.

    on_gpu: which ops are for a GPU, as far as it can do them; None: no op is. What is in a loop never is.

    Fetches and feeds must be distinct tensors of one graph. Raises InvalidArgumentError for nodes of control flow that
    make no loop.
    """
    needed, passed = reach(fetches, targets, frozenset(feeds))
    if not any(op.spec.kind in FLOW for op in needed):
        return straight(needed, fetches, targets, feeds, on_gpu)
    return _region(fetches, targets, feeds, needed, passed, on_gpu=on_gpu).plan()


def _region(fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor], needed: set[Operation],
            passed: set[Operation], **options: object) -> Region:
    loops: dict[Operation, Loop] = {}
    within: dict[Operation, Operation] = {}
    for frame in find_frames(needed | passed, frozenset(feeds)):
        loop = _loop(frame)
        loops[loop.op] = loop
        within.update((op, loop.op) for op in frame.ops)
    return Region(fetches, targets, feeds, needed, passed, loops, within, **options)  # type: ignore[arg-type]


def _loop(frame: Frame) -> Loop:
    """The plans of a loop, whose inner loops get plans in turn."""
    assert frame.condition is not None
    constants = [op for op in frame.constants if not refers(op.outputs[0])]
    heads = {v.merge.outputs[0]: k for k, v in enumerate(frame.variables)}
    bodies = {op.outputs[1]: k for k, v in enumerate(frame.variables) for op in v.switches}
    fixed = {op.outputs[0]: len(frame.variables) + k for k, op in enumerate(constants)}
    truth, border = frame.condition.inputs[0], frame.border
    tested = reach([truth], (), {*heads, *fixed}, border)
    test_feeds = _used({**heads, **fixed}, tested, [truth])
    test = _region([truth], (), test_feeds, *tested, varying=set(heads), cut=border).plan()

    nexts = [v.next for v in frame.variables]
    inside = {**bodies, **fixed}
    waits = [c for op in frame.sends for c in op.control_inputs]
    moved = reach(nexts, (), inside, border, waits)
    mixed = _used(heads, moved, nexts)          # what the body takes before the Switch: test and step can't be one plan
    aliases = {named_again(t): t for t in dict.fromkeys(nexts) if t not in inside and t not in mixed
               and (t.op.spec.kind in (Kind.CONST, Kind.VARIABLE) or refers(t))}
    sources = {source: alias for alias, source in aliases.items()}
    nexts = [sources.get(t, t) for t in nexts]
    writes = {op for op in moved[0] if op.spec.kind in WRITERS}
    after: dict[Operation, set[Operation]] = {}
    if mixed:
        inside.update((t, heads[t]) for t in mixed)
        needed, passed = reach([v.next for v in frame.variables], (), inside, border, waits)
        fetches = [t for t in dict.fromkeys(nexts) if t not in inside]
    else:
        for t in _used(heads, tested, [truth]):
            aliases[t] = nexts[heads[t]]
        after = {op: writes for op in tested[0] - moved[0]}     # the test sees what the body has written
        needed, passed = moved[0] | tested[0], moved[1] | tested[1]
        fetches = [*(t for t in dict.fromkeys(nexts) if t not in inside), truth]
    step_feeds = _used(inside, (needed, passed), [*nexts, *aliases.values(), truth])
    known = list(step_feeds)
    fused = not mixed
    if fused and truth in inside:               # the truth is a constant of the loop
        fetches = fetches[:-1]
        fused = False
    make = partial(_region, fetches, (), known, needed, passed, aliases=aliases, cut=border, after=after,
                   varying={t for t in known if inside[t] < len(frame.variables)})
    step, whole = make().plan(), None
    if fused and all(stage.loop is None for stage in step.stages) \
            and any(op.spec.name in tables.RESIDENT for op in step.ops):
        whole = make(resident=True).plan()
        whole = whole if whole.direct and whole.stages[0].on_device else None
    places = {t: i for i, t in enumerate(fetches)}
    return Loop(frame.name, _stand_in(frame, constants), tuple(_entered(v.enter) for v in frame.variables),
                tuple(_entered(op) for op in constants), test, step,
                tuple({**heads, **fixed}[t] for t in test_feeds), tuple(inside[t] for t in known),
                tuple(places[t] if t in places else -1 - inside[t] for t in nexts), fused,
                tuple((k, op.outputs[0]) for k, op in frame.exits), whole)


def _entered(op: Operation) -> Tensor:
    return op.inputs[0]


def _used(feeds: dict[Tensor, int], reached: tuple[set[Operation], set[Operation]],
          fetches: Sequence[Tensor]) -> list[Tensor]:
    """Those of `feeds` that are taken, in order."""
    used = {t for op in reached[0] for t in op.inputs} | set(fetches)
    return [t for t in feeds if t in used]


def _stand_in(frame: Frame, constants: Sequence[Operation]) -> Operation:
    """The op that stands for the loop: it takes what enters, and makes what leaves."""
    assert frame.condition is not None
    inputs = dict.fromkeys(op.inputs[0] for op in (*(v.enter for v in frame.variables), *constants))
    made = stand_in(frame.condition, _LOOP, list(inputs), [])
    made.outputs = [op.outputs[0] for _, op in frame.exits]
    inside = set(frame.ops)
    waits = [c for op in frame.ops for c in op.control_inputs if c not in inside]
    waits += [op.inputs[0].op for op in frame.constants if refers(op.outputs[0])]
    made.control_inputs = list(dict.fromkeys(waits))
    return made
