"""Scheduling of an acyclic region with branches, and with loops as single ops, into the predicated stages of a plan.

A Switch becomes two Identity ops, each predicated on its side of the branch; a Merge selects the input that has a value
(a phi). Ops with the same predicate that are ready together form one stage.
"""
from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tfnb.compile.guards import ALWAYS, Condition, Guards
from tfnb.compile.order import cycle, is_silent, kind_rank
from tfnb.compile.place import for_gpu, place, types_compile
from tfnb.compile.plan import LEAVES, Choice, Guard, Loop, OnGpu, Plan, Stage
from tfnb.compile.reads import Written, read_again, updates_before
from tfnb.core.errors import InvalidArgumentError
from tfnb.graph.operation import Operation, Tensor
from tfnb.opdef.spec import FLOW, Kind, OpSpec
from tfnb.opdef.tables import OPS
from tfnb.ops.evaluate import ref_variable, refers

_ORDER = OpSpec("NoOp", (), (), (), Kind.CONTROL)
_EFFECTS = frozenset({Kind.UPDATE, Kind.SCATTER, Kind.HOST, Kind.RANDOM})
ATTEMPTS = 8             # iterations: ops that turn out to need a value from another stage go to the host, then again

Group = tuple[Condition, str, "Operation | None"]


def stand_in(like: Operation, spec: OpSpec, inputs: Sequence[Tensor], outputs: Sequence[Tensor],
             attrs: dict[str, Any] | None = None) -> Operation:
    """Build an op that belongs to no graph: it has the name of `like`, and existing tensors as outputs."""
    if attrs is None:
        attrs = {"T": outputs[0].dtype.base_dtype} if outputs else {}
    made = Operation(spec, like.graph, like.name, list(inputs), attrs, like._id, like._recorded, like.owner)
    made.outputs = list(outputs)
    return made


def named_again(tensor: Tensor) -> Tensor:
    """Build a new tensor for a copy of `tensor`."""
    made = Tensor(tensor.op, tensor.value_index, tensor.dtype.base_dtype, tensor.graph)
    made.static = tensor.static
    return made


class Region:
    """Builder of one plan: collects the ops that run (units) with their predicates, schedules and splits them.

    needed, passed: see order.reach; loops: the op that represents each loop -> the loop; within: op of a loop -> the
    op that represents that. aliases: tensor -> tensor that it is a copy of. varying: feeds that change in each run.
    cut: border nodes of the loop that this region is a part of; after: op -> ops that must run before it; reads: more
    ops, that read variables; resident: see `place`; on_gpu: see structure.build.
    """

    def __init__(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor],
                 needed: Collection[Operation], passed: Collection[Operation], loops: Mapping[Operation, Loop],
                 within: dict[Operation, Operation], aliases: Mapping[Tensor, Tensor] | None = None,
                 varying: Collection[Tensor] = (), cut: Collection[Operation] = (),
                 after: Mapping[Operation, set[Operation]] | None = None, reads: Sequence[Operation] = (),
                 resident: bool = False, on_gpu: OnGpu | None = None) -> None:
        self.fetches, self.targets, self.feeds = tuple(fetches), tuple(targets), tuple(feeds)
        self.fed, self.varying, self.loops, self.within = frozenset(feeds), varying, loops, within
        self.needed = {op for op in needed if op not in within} | set(loops)
        self.guards = Guards((op for op in (*self.needed, *passed) if op not in within), self.fed, within, cut)
        self.units: dict[Operation, Condition] = {}
        self.makers: dict[Tensor, Operation] = {}
        self.choices: dict[Operation, Choice] = {}
        self.reads: dict[Tensor, Tensor] = {}
        self.after: dict[Operation, set[Operation]] = {}
        for op, before in (after or {}).items():
            self.after.setdefault(within.get(op, op), set()).update(within.get(b, b) for b in before)
        self.cut, self.resident = cut, resident
        self._known: dict[Operation, set[Operation]] = {}
        self.on_gpu, self.gpu = on_gpu, set[Operation]()
        self._enter_units(aliases or {}, reads)

    # Units

    def _enter_units(self, aliases: Mapping[Tensor, Tensor], reads: Sequence[Operation]) -> None:
        """Add the ops with side effects, and all that they, the fetches or the predicates depend on."""
        for op in reads:
            self._add(op, ALWAYS)
        for t, source in aliases.items():
            self._copy(source, t, source.op, self.guards.of(source))
        effects = [op for op in self.needed if op in self.loops or not is_silent(op)
                   or op in self.targets and op.spec.kind not in FLOW]
        for op in sorted(effects, key=lambda op: op._id):
            if not op.outputs or not all(t in self.fed for t in op.outputs):
                self._add(op, self.guards.ops.get(op, ALWAYS))
        todo = [*self.fetches, *(t for op in self.targets if op.spec.kind in FLOW for t in op.outputs)]
        done = 0
        while todo or done < len(self.units):
            if not todo:
                op = list(self.units)[done]
                done += 1
                todo = [*op.inputs, *(t for t, _ in self._guard(self.units[op]))]
                if op in self.choices:
                    todo += [t for guard, _ in self.choices[op].inputs for t, _ in guard]
                continue
            self._take(todo.pop())

    def _take(self, t: Tensor) -> None:
        """Add the unit that computes `t`, if it takes one."""
        op = t.op
        op = self.within.get(op, op)
        kind = op.spec.kind
        if t in self.fed or t in self.makers or kind in LEAVES or op not in self.needed or op in self.loops:
            return
        if kind is Kind.EXIT:
            raise InvalidArgumentError(None, op, f"Invalid Exit op {op.name!r}: cannot find a corresponding Enter op")
        if kind in (Kind.NEXT_ITERATION, Kind.LOOP_COND):          # of no loop: they forward their input
            self._copy(op.inputs[0], t, op, self.guards.of(t))
        elif kind is Kind.SWITCH:
            self._copy(self._behind_switches(op.inputs[0]), t, op, self.guards.of(t))
        elif op not in self.units:
            self._add(op, self.guards.ops.get(op, ALWAYS) - {(op.outputs[-1], None)})
            if kind is Kind.MERGE:
                self.choices[op] = Choice(op, tuple((self._guard(self.guards.of(t)), t) for t in op.inputs))

    def _behind_switches(self, t: Tensor) -> Tensor:
        """Return the tensor that `t` is equal to whenever it has a value: the input of its chain of Switches."""
        while t not in self.fed and t.op.spec.kind is Kind.SWITCH and t.op not in self.within \
                and not refers(t):
            t = t.op.inputs[0]
        return t

    def _copy(self, source: Tensor, made: Tensor, like: Operation, condition: Condition) -> Operation:
        if refers(made):                    # its users read the variable itself: only the order counts
            op = stand_in(like, _ORDER, (), ())
            self.makers[made] = op
            self.units[op] = condition
            self.after[op] = self._makers_of([source])
            return op
        op = stand_in(like, OPS["Identity"], [source], [made])
        self._add(op, condition)
        return op

    def _add(self, op: Operation, condition: Condition) -> None:
        self.units[op] = condition
        self.makers.update((t, op) for t in op.outputs if t not in self.fed)

    def _guard(self, condition: Condition) -> Guard:
        """Return the guard of a stage; predicates that have no slot while a plan runs (constants, variables) are
        copied."""
        found = []
        for t, want in condition:
            if t not in self.fed and (t.op.spec.kind in LEAVES or refers(t)):
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
        before = self._makers_of(op.inputs) | self._behind(op.control_inputs) | self.after.get(op, set())
        for condition in (self.units[op], *(self.guards.of(t) for t in op.inputs if op in self.choices)):
            before |= self._makers_of(self.reads.get(t, t) for t, _ in condition)
        return before - {op}

    def _maker(self, t: Tensor) -> Operation | None:
        """Return the op that computes `t`, None if it is fed."""
        return None if t in self.fed else self.makers.get(t, t.op)

    def _before_or_inside(self, op: Operation) -> set[Operation]:
        """Return the predecessors of a unit, and the ops of the loop that it represents."""
        if op not in self.units:
            return set()
        inside = {o for o, loop in self.within.items() if loop is op} if op in self.loops else set()
        return self._before(op) | inside

    def _class(self, op: Operation, device: Collection[Operation]) -> tuple[str, Operation | None, int]:
        """Return (kind of stage, the loop if it is one, priority): lower ranks first."""
        kind = op.spec.kind
        if kind is Kind.MERGE:
            return "merge", None, 0
        if op in self.loops:
            effects = any(o.spec.kind in _EFFECTS for o, loop in self.within.items() if loop is op)
            return "loop", op, 2 if effects else 1
        if op in device:
            return "gpu" if op in self.gpu else "device", None, kind_rank(op)
        return "host", None, 3

    def schedule(self, device: Collection[Operation]) -> list[tuple[Group, list[Operation]]]:
        """Sort the units topologically into runs of one group each. Raises InvalidArgumentError for a cycle."""
        waiting: dict[Operation, int] = {}
        users: dict[Operation, list[Operation]] = {}
        ready: dict[Group, list[tuple[int, int, int, Operation]]] = {}
        count = 0

        def release(op: Operation) -> None:
            nonlocal count
            name, loop, rank = self._class(op, device)
            count += 1
            heapq.heappush(ready.setdefault((self.units[op], name, loop), []), (rank, op._id, count, op))

        for op in self.units:
            before = self._before(op)
            waiting[op] = len(before)
            for b in before:
                users.setdefault(b, []).append(op)
        for op in self.units:
            if not waiting[op]:
                release(op)
        runs: list[tuple[Group, list[Operation]]] = []
        done = 0
        while ready:
            current = runs[-1][0] if runs else None
            # What has effects comes late; but a run of host ops goes on while any is ready (see order.py).
            group = min(ready, key=lambda g: (ready[g][0][0] >= 2 and (g != current or g[1] != "host"), g != current,
                                              *ready[g][0][:3]))
            op = heapq.heappop(ready[group])[3]
            if not ready[group]:
                del ready[group]
            if group != current:
                runs.append((group, []))
            runs[-1][1].append(op)
            done += 1
            for user in users.get(op, ()):
                waiting[user] -= 1
                if not waiting[user]:
                    release(user)
        if done != len(self.units):
            stuck = sorted(op.name for op in self.units if waiting[op])
            raise cycle(stuck)
        return runs

    # Stages

    def plan(self) -> Plan:
        """Build the plan: schedule, place and split into stages."""
        inner = [op for _, ops in self.schedule(self.units) for op in ops]
        leaves = dict.fromkeys(t.op for op in inner for t in op.inputs
                               if t.op.spec.kind in LEAVES and t not in self.fed)
        device = place([*leaves, *inner], self.fed, None, self.varying, self.resident)[0]
        if self.on_gpu is not None:
            self.gpu = for_gpu([*leaves, *inner], self.fed, device, self.on_gpu)
        for _ in range(ATTEMPTS):
            stages, barred = self._stages(self.schedule(device), device)
            if not barred:
                break
            device -= barred
        return Plan(self.fetches, self.targets, self.feeds, tuple(stages))

    def _stages(self, runs: list[tuple[Group, list[Operation]]],
                device: set[Operation]) -> tuple[list[Stage], set[Operation]]:
        """Build the stages; return them, and the ops that can't be on the device after all."""
        plain = [t for t in self.fetches if t not in self.fed and (refers(t) or t.op.spec.kind in LEAVES)]
        last = runs[-1][0] if runs else None
        if plain or last is None:
            wanted_class = "device" if all(types_compile(t.op) for t in plain) else "host"
            runs = [*runs, ((ALWAYS, wanted_class, None), [])]
        wanted, barred = set(self.fetches), set[Operation]()
        stages: list[Stage] = []
        written = updates_before(self._before_or_inside)
        runs = [found for run in runs for found in (*self._reads_of_loop(run, device, written), run)]
        for i, ((condition, name, loop), ops) in reversed(list(enumerate(runs))):
            extra = plain if i == len(runs) - 1 else []
            if name in ("device", "gpu", "host"):
                fits = bool if name == "host" else device.__contains__
                ops = [*read_again(ops, fits, self._maker, written), *ops]
            stage = self._stage(name, ops, loop, wanted, extra, len(runs) == 1)
            if stage.on_device:
                varying = [t for t in stage.inputs if t in self.varying]
                placed, by_value, _ = place(stage.ops, stage.inputs, None, varying, self.resident)
                barred.update(op for op in ops if op not in placed)
                stage = replace(stage, by_value=tuple(t for t in stage.inputs if t in by_value))
            if len(runs) == 1 and self.varying:
                stage = replace(stage, fixed=tuple(t for t in stage.inputs if t not in self.varying))
            stage = replace(stage, guard=self._guard(condition))
            stages.append(stage)
            guards = [stage.guard, *(guard for choice in stage.merges for guard, _ in choice.inputs)]
            wanted |= {*stage.inputs, *(t for guard in guards for t, _ in guard)}
        return stages[::-1], barred

    def _reads_of_loop(self, run: tuple[Group, list[Operation]], device: set[Operation],
                       written: Written) -> list[tuple[Group, list[Operation]]]:
        """Return the run that repeats variable reads before a loop, which takes values and no references."""
        (condition, name, _), ops = run
        again = read_again(ops, bool, self._maker, written) if name == "loop" else []
        if not again:
            return []
        return [((condition, "device" if device.issuperset(again) else "host", None), again)]

    def _stage(self, name: str, ops: Sequence[Operation], loop: Operation | None, wanted: Collection[Tensor],
               extra: Sequence[Tensor], only: bool) -> Stage:
        used = {t: None for op in ops for t in op.inputs}
        if only:                                        # then its inputs are the feeds, in order
            used = dict.fromkeys([*self.feeds, *used])
        used.update((t, None) for t in extra)
        if name in ("merge", "loop"):
            made = {t: None for op in ops for t in op.outputs}
            inputs = tuple(t for t in used if t not in made and not self._is_plain(t))
            return Stage(False, tuple(ops), inputs, tuple(t for t in made if t in wanted), (), (),
                         merges=tuple(self.choices[op] for op in ops if op in self.choices),
                         loop=self.loops[loop] if loop is not None else None)
        refs = [t for t in used if refers(t) and t not in self.fed]
        used.update((ref_variable(t).outputs[0], None) for t in refs)
        leaves = {t.op: None for t in used if t not in self.fed and t.op.spec.kind in LEAVES and t not in self.makers}
        made = {t: None for op in (*leaves, *ops) for t in op.outputs if t not in self.fed}
        inputs = tuple(t for t in used if t not in made and (t in self.fed or not refers(t)))
        outputs = tuple(t for t in made if t in wanted and self.makers.get(t) is not None
                        and not refers(t)) + tuple(extra)
        if only and set(outputs) == set(self.fetches):
            outputs = self.fetches
        return Stage(name in ("device", "gpu"), (*leaves, *ops), inputs, outputs, (),
                     tuple(op for op in leaves if op.spec.kind is Kind.VARIABLE),
                     tuple(op for op in self.targets if op in ops), gpu=name == "gpu")

    def _is_plain(self, t: Tensor) -> bool:
        """Return whether it is a constant or a reference, which stages don't pass on."""
        return t not in self.fed and t not in self.makers and (t.op.spec.kind in LEAVES or refers(t))


