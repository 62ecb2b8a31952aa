"""The planner: an acyclic region, with loops as single ops, becomes the stages of a plan, each with a guard.

Without control flow all guards hold always. A Switch becomes two Identity ops, each predicated on its side of the
branch; a Merge selects the input that has a value (a phi). Ops with the same predicate that are ready together form one
stage.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from tfnb.compile.planning.collectives import chain
from tfnb.compile.planning.guards import ALWAYS, Condition, Guards
from tfnb.compile.planning.order import (
    HOST,
    UPDATE,
    WAITS,
    ancestors,
    contenders,
    cycle,
    is_silent,
    kind_rank,
    schedule,
)
from tfnb.compile.planning.placement import for_gpu, not_folded, place, types_compile
from tfnb.compile.planning.plan import LEAVES, Choice, Guard, Loop, OnGpu, Plan, Stage
from tfnb.compile.planning.reads import Written, first_writes, memory_of, read_again, updates_before
from tfnb.compile.planning.stand_ins import named_again, stand_in
from tfnb.core.dtypes import resource
from tfnb.core.errors import InvalidArgumentError
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import ref_variable, refers
from tfnb.opdef import kinds
from tfnb.ops.array.reshape import Identity

_ORDER = kinds.Control(name="NoOp", inputs=(), outputs=(), attrs=())
_EFFECTS = (kinds.Writer, kinds.Host, kinds.Random)

# A kind of stage under a condition: "device", "gpu", "host", "merge" or "loop"; the op, where it is a stage of its own.
Group = tuple[Condition, str, "Operation | None"]
Run = tuple[Group, list[Operation]]


class Region:
    """Builder of one plan: collects the ops that run (units) with their predicates, schedules and splits them.

    needed, passed: see order.reach; loops: the op that represents each loop -> the loop; within: op of a loop -> the
    op that represents that. aliases: tensor -> tensor that it is a copy of. varying: feeds that change in each run.
    cut: border nodes of the loop that this region is a part of; after: op -> ops that must run before it; reads: more
    ops, that read variables; resident: see `place`; on_gpu, late: see structure.build. flow: False if there is none.
    """

    def __init__(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
                 needed: Collection[Operation], passed: Collection[Operation], loops: Mapping[Operation, Loop],
                 within: dict[Operation, Operation], aliases: Mapping[Tensor, Tensor] | None = None,
                 varying: Collection[Tensor] = (), cut: Collection[Operation] = (),
                 after: Mapping[Operation, set[Operation]] | None = None, reads: Sequence[Operation] = (),
                 resident: bool = False, on_gpu: OnGpu | None = None, flow: bool = True, late: bool = False) -> None:
        self.fetches, self.targets, self.feeds = tuple(fetches), tuple(targets), tuple(feeds)
        self.fed, self.varying, self.loops, self.within = frozenset(feeds), varying, loops, within
        self.needed = {op for op in needed if op not in within} | set(loops) if loops else needed
        self.late = self.fed if late else frozenset()
        self.guards = Guards([op for op in (*self.needed, *passed) if op not in within] if flow or late else (),
                             self.fed, within, cut, self.late)
        self.units: dict[Operation, Condition] = {}
        self._found: list[Operation] = []                   # the units in the order in which they were added
        self._leaves: dict[Operation, None] = {}            # constants and variables that are used
        self.makers: dict[Tensor, Operation] = {}
        self.choices: dict[Operation, Choice] = {}
        self.reads: dict[Tensor, Tensor] = {}
        self.after: dict[Operation, set[Operation]] = {}
        for op, before in (after or {}).items():
            self.after.setdefault(within.get(op, op), set()).update(within.get(b, b) for b in before)
        self.cut, self.resident = cut, resident
        self._known: dict[Operation, set[Operation]] = {}
        self.on_gpu, self.gpu = on_gpu, set[Operation]()
        self.alone: Sequence[Operation] = ()                # ops that may block on one another
        self._enter_units(aliases or {}, reads)

    # Units

    def _enter_units(self, aliases: Mapping[Tensor, Tensor], reads: Sequence[Operation]) -> None:
        """Add the ops with side effects, and all that they, the fetches or the predicates depend on."""
        for op in reads:
            self._add(op, ALWAYS)
        for t, source in aliases.items():
            self._copy(source, t, source.op, self.guards.of(source))
        if self.guards.trivial and not (self.loops or aliases or reads):
            for op in self.needed:
                if isinstance(op.spec, LEAVES):
                    self._leaves[op] = None
                elif not self._is_fed(op):
                    self._add(op, ALWAYS)
            return
        for op in self._effects():
            if not isinstance(op.spec, LEAVES) and not self._is_fed(op):
                self._add(op, self.guards.ops.get(op, ALWAYS))
        for t in (*self.fetches, *(t for op in self.targets if isinstance(op.spec, kinds.Flow) for t in op.outputs)):
            self._take(t)
        for op in self._found:                              # which grows
            for t in (*op.inputs, *(t for t, _ in self._guard(self.units[op]))):
                self._take(t)
            for guard, _ in self.choices[op].inputs if op in self.choices else ():
                for t, _ in guard:
                    self._take(t)
        self._leaves = dict.fromkeys(t.op for t in (*(t for op in self._found for t in op.inputs), *self.fetches)
                                     if isinstance(t.op.spec, LEAVES) and t not in self.fed)

    def _is_fed(self, op: Operation) -> bool:
        return bool(op.outputs) and self.fed.issuperset(op.outputs)

    def _effects(self) -> list[Operation]:
        """Return the loops, the ops with side effects and the targets."""
        targets = set(self.targets)
        found = [op for op in self.needed if op in self.loops or not is_silent(op)
                 or op in targets and not isinstance(op.spec, kinds.Flow)]
        return sorted(found, key=lambda op: op._id)

    def _take(self, t: Tensor) -> None:
        """Add the unit that computes `t`, if it takes one."""
        if t in self.makers or t in self.fed:
            return
        op = self.within.get(t.op, t.op)
        spec = op.spec
        if isinstance(spec, LEAVES) or op not in self.needed or op in self.loops:
            return
        if isinstance(spec, kinds.Exit):
            raise InvalidArgumentError(None, op, f"Invalid Exit op {op.name!r}: cannot find a corresponding Enter op")
        if isinstance(spec, (kinds.NextIteration, kinds.LoopCond)):          # of no loop: they forward their input
            self._copy(op.inputs[0], t, op, self.guards.of(t))
        elif isinstance(spec, kinds.Switch):
            self._copy(self._behind_switches(op.inputs[0]), t, op, self.guards.of(t))
        elif op not in self.units:
            self._add(op, self.guards.ops.get(op, ALWAYS) - {(op.outputs[-1], None)})
            if isinstance(spec, kinds.Merge):
                self.choices[op] = Choice(op, tuple((self._guard(self.guards.of(t)), t) for t in op.inputs))

    def _behind_switches(self, t: Tensor) -> Tensor:
        """Return the tensor that `t` is equal to whenever it has a value: the input of its chain of Switches."""
        while t not in self.fed and isinstance(t.op.spec, kinds.Switch) and t.op not in self.within \
                and not refers(t):
            t = t.op.inputs[0]
        return t

    def _copy(self, source: Tensor, made: Tensor, like: Operation, condition: Condition) -> Operation:
        if refers(made):                    # its users read the variable itself: only the order counts
            op = stand_in(like, _ORDER, (), ())
            self.makers[made] = op
            self._add(op, condition)
            self.after[op] = self._makers_of([source])
            return op
        op = stand_in(like, Identity.spec, [source], [made])
        self._add(op, condition)
        return op

    def _add(self, op: Operation, condition: Condition) -> None:
        self.units[op] = condition
        self._found.append(op)
        self.makers.update((t, op) for t in op.outputs if t not in self.fed)

    def _guard(self, condition: Condition) -> Guard:
        """Return the guard of a stage; predicates that have no slot while a plan runs (constants, variables) are
        copied."""
        if not condition:
            return ()
        found = []
        for t, want in condition:
            if t not in self.fed and (isinstance(t.op.spec, LEAVES) or refers(t)):
                if t not in self.reads:
                    self.reads[t] = named_again(t)
                    self._copy(t, self.reads[t], t.op, ALWAYS)
                t = self.reads[t]
            found.append((t, want))
        return tuple(sorted(found, key=lambda literal: (literal[0].op._id, literal[0].value_index, literal[1] is True)))

    # Order

    def _makers_of(self, tensors: Iterable[Tensor]) -> set[Operation]:
        """Return the units that compute the tensors; for constants and variables, those that they wait for."""
        found: set[Operation] = set()
        for t in tensors:
            if t in self.fed:
                continue
            if t in self.makers:
                found.add(self.makers[t])
            else:
                found |= self._behind([t.op])
        return found

    def _behind(self, ops: Iterable[Operation]) -> set[Operation]:
        """Return the units that `ops` depend on, seen through ops that are no units."""
        found: set[Operation] = set()
        seen: set[Operation] = set()
        todo = list(ops)
        while todo:
            op = todo.pop()
            op = self.within.get(op, op)
            if op in self.units:
                found.add(op)
            elif op not in seen and op not in self.cut:
                seen.add(op)
                for t in op.inputs:
                    if t in self.makers:
                        found.add(self.makers[t])
                    elif t not in self.fed:
                        todo.append(t.op)
                todo += op.control_inputs
        return found

    def _before(self, op: Operation) -> set[Operation]:
        """Return the predecessors of a unit, memoized: called often, once all units are known."""
        known = self._known.get(op)
        if known is None:
            known = self._known[op] = self._find_before(op)
        return known

    def _find_before(self, op: Operation) -> set[Operation]:
        before: set[Operation] = set()
        behind = list(op.control_inputs)
        for t in op.inputs:
            maker = self.makers.get(t)
            if maker is not None:
                before.add(maker)
            elif t not in self.fed and (t.op.inputs or t.op.control_inputs or t.op in self.within):
                behind.append(t.op)
        if behind:
            found = self._behind(behind)
            if op in found and op not in self.loops:        # by ops that don't run themselves
                raise cycle([op.name])
            before |= found
        if not self.guards.trivial:
            for condition in (self.units[op], *(self.guards.of(t) for t in op.inputs if op in self.choices)):
                before |= self._makers_of(self.reads.get(t, t) for t, _ in condition)
        before.update(self.after.get(op, ()))
        before.discard(op)
        return before

    def _maker(self, t: Tensor) -> Operation | None:
        """Return the op that computes `t`, None if it is fed."""
        return None if t in self.fed else self.makers.get(t, t.op)

    def _before_or_inside(self, op: Operation) -> set[Operation]:
        """Return the predecessors of a unit, and the ops of the loop that it represents."""
        if op not in self.units:
            return set()
        inside = {o for o, loop in self.within.items() if loop is op} if op in self.loops else set()
        return self._before(op) | inside

    def _group(self, op: Operation, device: Collection[Operation]) -> tuple[Group, int]:
        """Return the group of a unit, given those that kernels compute, and its rank (see order.py)."""
        spec, condition = op.spec, self.units[op]
        if isinstance(spec, kinds.Merge):
            return (condition, "merge", None), 0
        if op in self.loops:
            effects = any(isinstance(o.spec, _EFFECTS) for o, loop in self.within.items() if loop is op)
            return (condition, "loop", op), UPDATE if effects else 1
        if op in device:
            return (condition, "gpu" if op in self.gpu else "device", None), kind_rank(op)
        return (condition, "host", op if op in self.alone else None), WAITS if op.spec.waits else HOST

    def schedule(self, device: Collection[Operation]) -> list[Run]:
        """Sort the units topologically into runs of one group each. Raises InvalidArgumentError for a cycle."""
        return schedule(self.units, self._before, lambda op: self._group(op, device),  # type: ignore[return-value]
                        (ALWAYS, "device", None))

    # Stages

    def plan(self) -> Plan:
        """Build the plan: schedule, place and split into stages."""
        self.within = chain(self.units, self.within, self.after, self._before, self._add, self.schedule)
        self._known.clear()
        runs = self.schedule(self.units)
        inner = [op for _, ops in runs for op in ops]
        self.alone = contenders(inner, self._before, self._are_exclusive)
        ops = [*self._leaves, *inner]
        stages, hidden = self._placed(ops, runs, self.fetches)
        if any(t in hidden for stage in stages for t in stage.outputs):
            stages, _ = self._placed(ops, runs, None)
        return Plan(self.fetches, self.targets, self.feeds, tuple(stages), self._stages_before(stages))

    def _are_exclusive(self, a: Operation, b: Operation) -> bool:
        """Return whether two units are in opposite branches of a predicate."""
        return any(want is not None and (t, not want) in self.units[b] for t, want in self.units[a])

    def _placed(self, ops: Sequence[Operation], runs: list[Run],
                fetches: Sequence[Tensor] | None) -> tuple[list[Stage], set[Tensor]]:
        """Place and build the stages; return them and the padded tensors. runs: the schedule if all are kernels;
        fetches: as for `place`."""
        device, by_value, hidden = place(ops, self.fed, fetches, self.varying, self.resident)
        if self.on_gpu is not None:
            self.gpu = for_gpu(ops, self.fed, device, self.on_gpu)
        if self.gpu or not device.issuperset(op for (_, name, _), run in runs if name == "device" for op in run):
            runs = self.schedule(device)
        stages = self._stages(runs, device, by_value)
        while left := {op for stage in stages for op in not_folded(stage, self.resident)}:
            device, self.gpu = device - left, self.gpu - left
            stages = self._stages(self.schedule(device), device, by_value)
        return stages, hidden

    def _gathered(self, runs: list[Run]) -> tuple[list[Run], list[Tensor]]:
        """Return the runs with a last one that gathers the fetched constants and variables; and these."""
        plain = [t for t in self.fetches if t not in self.fed and (refers(t) or isinstance(t.op.spec, LEAVES))]
        if self.alone:
            return [*runs, ((ALWAYS, "host", None), [])], plain
        condition, name, _ = runs[-1][0] if runs else (None, "", None)
        compiled = all(types_compile(t.op) and t.dtype is not resource for t in plain)     # else copied on the host
        if runs and (not plain or (not condition and (name == "host" or name in ("device", "gpu") and compiled))):
            return runs, plain
        name = ("gpu" if any(t.op in self.gpu for t in plain) else "device") if compiled else "host"
        return [*runs, ((ALWAYS, name, None), [])], plain

    def _stages(self, runs: list[Run], device: Collection[Operation], by_value: Collection[Tensor]) -> list[Stage]:
        """Build the stages, the last one first: what a stage passes on is what later ones take (backward liveness)."""
        runs, plain = self._gathered(runs)
        wanted = set(self.fetches)
        stages: list[Stage] = []
        written = updates_before(self._before_or_inside) if not self.late else lambda op, variable: True
        runs = [found for run in runs for found in (*self._reads_of_loop(run, device, written), run)]
        inside = self._before_or_inside
        first = None if self.alone else first_writes(
            [each for op in ops for each in (op, *(inside(op) if op in self.loops else ()))] for _, ops in runs)
        for i, ((condition, name, loop), ops) in reversed(list(enumerate(runs))):
            if name in ("device", "gpu", "host"):
                fits = bool if name == "host" else device.__contains__
                again = written if name == "host" or first is None else \
                    lambda op, variable, i=i: written(op, variable) or i <= first.get(memory_of(variable), i)
                ops = [*read_again(ops, fits, self._maker, again), *ops]
                stage = self._stage(name, ops, self._guard(condition), wanted, by_value,
                                    plain if not stages else (), len(runs) == 1 and not self.late)
            else:
                stage = self._flow_stage(ops, self._guard(condition), wanted, loop)
            stages.append(stage)
            guards = [stage.guard, *(guard for choice in stage.merges for guard, _ in choice.inputs)]
            wanted |= {*stage.inputs, *(t for guard in guards for t, _ in guard)}
        return stages[::-1]

    def _stages_before(self, stages: Sequence[Stage]) -> tuple[frozenset[int], ...] | None:
        """Compute for each stage the indices of those that its ops depend on, where ops may block on one another."""
        if not self.alone:
            return None
        home: dict[Operation, int] = {}            # the first stage of ops that later ones repeat
        for i, stage in enumerate(stages):
            for op in stage.ops:
                home.setdefault(op, i)
        found = []
        for i, stage in enumerate(stages):
            behind = {b for op in stage.ops if op in self.units for b in (op, *ancestors(op, self._before))}
            found.append(frozenset(home[b] for b in behind) - {i})
        return (*found[:-1], frozenset(range(len(stages) - 1)))

    def _reads_of_loop(self, run: Run, device: Collection[Operation],
                       written: Written) -> list[Run]:
        """Return the run that repeats variable reads before a loop, which takes values and no references."""
        (condition, name, _), ops = run
        again = read_again(ops, bool, self._maker, written) if name == "loop" else []
        if not again:
            return []
        return [((condition, "device" if all(op in device for op in again) else "host", None), again)]

    def _stage(self, name: str, ops: Sequence[Operation], guard: Guard, wanted: Collection[Tensor],
               by_value: Collection[Tensor], plain: Sequence[Tensor], only: bool) -> Stage:
        """Build a stage of ops. Constants and variables belong to every stage that uses them, `plain`, the fetched
        ones, to the last. References never pass between stages: a later user reads the variable itself.

        wanted: the tensors that later stages or the caller use; only: whether there is no other stage.
        """
        used = {t: None for op in ops for t in op.inputs}
        if only:                                        # then its inputs are the feeds, in order
            used = dict.fromkeys([*self.feeds, *used])
        used.update((t, None) for t in plain)
        refs = [t for t in used if refers(t) and t not in self.fed]
        used.update((ref_variable(t).outputs[0], None) for t in refs)
        leaves = {t.op: None for t in used
                  if isinstance(t.op.spec, LEAVES) and t not in self.fed and t not in self.makers}
        made = {t: None for op in (*leaves, *ops) for t in op.outputs if t not in self.fed}
        inputs = tuple(t for t in used if t not in made and (t in self.fed or not refers(t)))
        outputs = dict.fromkeys([*(t for t in made if t in wanted and t in self.makers and not refers(t)), *plain])
        if only:
            outputs = {t: None for t in self.fetches if t in outputs}
        return Stage(name != "host", (*leaves, *ops), inputs, tuple(outputs),
                     tuple(t for t in inputs if t in by_value) if name != "host" else (),
                     tuple(op for op in leaves if isinstance(op.spec, kinds.Variable)),
                     tuple(op for op in self.targets if op in ops), guard,
                     fixed=tuple(t for t in inputs if t not in self.varying) if only and self.varying else (),
                     gpu=name == "gpu")

    def _flow_stage(self, ops: Sequence[Operation], guard: Guard, wanted: Collection[Tensor],
                    loop: Operation | None) -> Stage:
        """Build a stage of merges, or of one loop."""
        made = {t: None for op in ops for t in op.outputs}
        inputs = tuple(t for t in dict.fromkeys(t for op in ops for t in op.inputs)
                       if t not in made and not self._is_plain(t))
        return Stage(False, tuple(ops), inputs, tuple(t for t in made if t in wanted), (), (), guard=guard,
                     merges=tuple(self.choices[op] for op in ops if op in self.choices),
                     loop=self.loops[loop] if loop is not None else None)

    def _is_plain(self, t: Tensor) -> bool:
        """Return whether it is a constant or a reference, which stages don't pass on."""
        return t not in self.fed and t not in self.makers and (isinstance(t.op.spec, LEAVES) or refers(t))
