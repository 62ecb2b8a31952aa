"""Incremental execution (`Session.partial_run`): each step runs the stages whose feeds have come, each stage once."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tfnb.compile.planning.order import ancestors
from tfnb.compile.planning.plan import LEAVES, Plan, Stage
from tfnb.compile.planning.reads import alias_of
from tfnb.core.errors import InvalidArgumentError
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import refers
from tfnb.runtime.runners.interpreter import run_op
from tfnb.runtime.runners.merges import unslotted
from tfnb.runtime.runners.waiting import run_waiting
from tfnb.runtime.state.store import Store
from tfnb.runtime.state.trace import Trace

Values = list["np.ndarray | None"]              # by slot; None: not computed, or in a branch that was not taken


class PartialRunner:
    """One run of a plan for late feeds (structure.build), in steps.

    run_stage: runs the stage of a number, if its guard holds, over the values of the run.
    """

    def __init__(self, plan: Plan, store: Store, run_stage: Callable[[int, Values], None]) -> None:
        self._plan, self._store, self._run_stage = plan, store, run_stage
        self._needs = _feeds_of_stages(plan)
        self._left = list(range(len(plan.stages)))
        self._error: Exception | None = None
        self._values: Values = [None] * (len(plan.slots) + 1)       # the last slot stays empty

    def run(self, inputs: Sequence[np.ndarray | None], trace: Trace | None = None) -> Values:
        """Run the stages that have not run and whose feeds are there; return the outputs.

        inputs: the feeds so far, None for those to come; outputs: None for those that are not computed yet. After an
        error the run is over: each call raises that.
        """
        if self._error is not None:
            raise self._error
        self._values[:len(inputs)] = inputs
        there = {t for t, value in zip(self._plan.feeds, inputs, strict=True) if value is not None}
        ready = [i for i in self._left if self._needs[i] <= there]
        self._left = [i for i in self._left if i not in ready]
        try:
            self._run_stages(ready)
        except Exception as error:
            self._error = error
            raise
        return [self._values[self._plan.slots[t]] for t in self._plan.fetches]

    def _run_stages(self, numbers: Sequence[int]) -> None:
        plan = self._plan
        if plan.before is None:
            for i in numbers:
                self._run_stage(i, self._values)
            return
        place = {i: k for k, i in enumerate(numbers)}
        before = [frozenset(place[b] for b in plan.before[i] if b in place) for i in numbers]
        part = replace(plan, stages=tuple(plan.stages[i] for i in numbers), before=tuple(before))
        run_waiting(part, self._store, lambda k: self._run_stage(numbers[k], self._values))


def _feeds_of_stages(plan: Plan) -> list[set[Tensor]]:
    """Return the feeds that each stage depends on."""
    needs = {t: {t} for t in plan.feeds}
    found = []
    for stage in plan.stages:
        taken = {t for used in _taken(stage) for t in needs.get(used, ())}
        needs.update((t, taken) for t in stage.outputs)
        found.append(taken)
    return found


def _taken(stage: Stage) -> list[Tensor]:
    """Return all that a stage reads: inputs, the predicates of its guard and of the inputs of merges."""
    guards = [stage.guard, *(guard for choice in stage.merges for guard, _ in choice.inputs)]
    merged = [t for choice in stage.merges for _, t in choice.inputs]
    looped = () if stage.loop is None else (*stage.loop.initial, *stage.loop.constants)
    return [*stage.inputs, *merged, *looped, *(t for guard in guards for t, _ in guard)]


class PartialRun:
    """The run behind a handle of `partial_run_setup`: its runner, the feeds so far, the fetches to come."""

    def __init__(self, runner: PartialRunner, plan: Plan, fetches: Sequence[Tensor], store: Store) -> None:
        self._runner, self._plan, self._store = runner, plan, store
        self._given: dict[Tensor, np.ndarray] = {}
        self._fetches, self._unfetched = frozenset(fetches), set(fetches)

    @property
    def done(self) -> bool:
        """Whether all has been fetched and fed."""
        return not self._unfetched and len(self._given) == len(self._plan.feeds)

    def step(self, fetches: Sequence[Tensor], feeds: Mapping[Tensor, np.ndarray]) -> list[np.ndarray]:
        """Add `feeds`, run all that depends on no other ones, and return `fetches`.

        Raises InvalidArgumentError, and does nothing, for tensors that can't be fed or fetched now; the error of an op,
        as all steps after it.
        """
        _check("feed", "fed", feeds, self._plan.feeds, self._given)
        _check("fetch", "fetched", fetches, self._fetches, self._fetches - self._unfetched)
        given = {**self._given, **feeds}
        for t in fetches:
            if not given.keys() >= self._feeds_behind(t):
                raise InvalidArgumentError(None, t.op, f"Fetch {t.name} can't be computed from the feeds that have "
                                                       "been fed so far.")
        outputs = self._runner.run([given.get(t) for t in self._plan.feeds])
        made = dict(zip(self._plan.fetches, outputs, strict=True))
        self._given = given
        self._unfetched.difference_update(fetches)
        return [self._value(t, made.get(t)) for t in fetches]

    def _feeds_behind(self, tensor: Tensor) -> set[Tensor]:
        """Return the feeds that a tensor depends on."""
        feeds = set(self._plan.feeds)
        if tensor in feeds:
            return {tensor}

        def before(op: Operation) -> list[Operation]:
            return [*(t.op for t in op.inputs if t not in feeds), *op.control_inputs]

        return feeds.intersection(
            t for op in (tensor.op, *ancestors(tensor.op, before))
            for t in (*op.inputs, *(t for c in op.control_inputs for t in c.outputs)))

    def _value(self, tensor: Tensor, made: np.ndarray | None) -> np.ndarray:
        """Return a copy of a fetched value; what aliases a variable is read now."""
        if tensor in self._given:
            return np.array(made)
        if refers(tensor) or isinstance(tensor.op.spec, LEAVES):
            return unslotted(tensor, self._store)
        if made is None:
            raise InvalidArgumentError(None, tensor.op, f"Retval[0] does not have value: {tensor.name!r} is in a "
                                                        "branch that was not taken")
        alias = alias_of(tensor, self._plan.feeds, {})
        if alias is None:
            return np.array(made)
        value = unslotted(alias.ref, self._store)
        for op in alias.ops:
            env = {t: np.array(t.op.attrs["value"]) for t in op.inputs[1:]}
            value, = run_op(op, {**env, op.inputs[0]: value}, self._store)
        return value


def _check(verb: str, past: str, tensors: Collection[Tensor], known: Collection[Tensor],
           gone: Collection[Tensor]) -> None:
    """Raise InvalidArgumentError for tensors that were not announced, or had their turn."""
    for t in tensors:
        if t in gone:
            raise InvalidArgumentError(None, t.op, f"The {verb} {t.name} has already been {past}.")
        if t not in known:
            raise InvalidArgumentError(None, t.op, f"The {verb} {t.name} was not specified in partial_run_setup.")
