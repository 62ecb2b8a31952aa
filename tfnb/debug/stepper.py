"""Graph debugger: steps through a run op by op, forwards and backwards, and inspects or changes any value."""
from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfnb.core.dtypes import resource, variant
from tfnb.core.errors import NotFoundError
from tfnb.core.text import did_you_mean
from tfnb.debug.conditions import Condition, conditions, split_slice
from tfnb.debug.nan import patterns
from tfnb.debug.tap import Inspection, Tap
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import ref_variable, refers
from tfnb.opdef import kinds
from tfnb.runtime.fetch import Feed

Stop = Callable[[int, Operation], bool]
HANDLES = (resource, variant)       # dtypes of handles, which have no values


class _Stopped(Exception):
    """Raised inside a run when it has reached the stop position."""


@dataclass(frozen=True)
class Change:
    """An override of a tensor's value, as output of call number `call`; call -1: of a feed or a variable."""

    call: int
    tensor: Tensor
    value: np.ndarray


class Stepper:
    """A run that is stopped before an op. It uses a copy of the session's values, which is discarded.

    `position`: the number of op calls so far (constants don't count, ops of a loop do in each iteration); `op`: the
    next one, None at the end; `inputs`: its inputs; `values`: the last value of each tensor by name; `calls`: the ops
    of the whole run as far as is known; `seconds`: how long each of them took, the best of all replays; `result`: the
    values of the plan's fetches, at the end; `error`: the error that ended the run.

    breaks: expressions of the names of ops before which `go` stops; when: conditions (tfnb.debug.conditions) on the
    values that ops make, after which it stops; `met` is the one that did, in words.

    Each move replays the run up to its position, from the same variables and random numbers; only elements of queues
    and files are consumed again.
    """

    def __init__(self, run: Inspection, breaks: str | Iterable[str] = (), when: str | Iterable[str] = ()) -> None:
        self.breaks: list[re.Pattern[str]] = patterns(breaks)
        self.when: list[Condition] = conditions(when)
        self.met = ""
        self.seconds: list[float] = []
        self.changes: list[Change] = []
        self.position = 0
        self.op: Operation | None = None
        self.inputs: list[tuple[Tensor, np.ndarray]] = []
        self.values: dict[str, np.ndarray] = {}
        self.calls: list[Operation] = []
        self.result: list[np.ndarray] | None = None
        self.error: Exception | None = None
        self._run = run
        self._checked: list[Condition] = []
        self._from = 0                          # the call from which on conditions are checked
        self._wrong: ValueError | None = None
        self._made: dict[str, tuple[int, Tensor]] = {}          # tensor name -> the call that made it last
        self._play(lambda i, op: False)
        self._play(lambda i, op: True)

    @property
    def done(self) -> bool:
        """Whether the run is at its end, or at an op that fails."""
        return self.result is not None or self.error is not None

    def step(self, calls: int = 1) -> Stepper:
        """Step forwards by a number of ops. Returns the stepper."""
        goal = self.position + calls
        return self._play(lambda i, op: i >= goal)

    def back(self, calls: int = 1) -> Stepper:
        """Step backwards by a number of ops. Returns the stepper."""
        goal = max(0, self.position - calls)
        return self._play(lambda i, op: i >= goal)

    def go(self, until: str = "", when: str = "") -> Stepper:
        """Continue to the next op whose name matches a breakpoint or the expression `until`, to after the next op whose
        value meets a condition or `when`, or to the end.

        Raises ValueError for a condition that can't be evaluated; it stands behind the op whose value that was.
        """
        here, wanted = self.position, patterns(until) if until else [] if when else self.breaks
        self._checked, self._from = conditions(when) if when else [] if until else self.when, here
        try:
            self._play(lambda i, op: i > here and (self._wrong is not None or bool(self.met)
                                                   or any(pattern.search(op.name) for pattern in wanted)))
        finally:
            self._checked = []
        if self._wrong is not None:
            raise self._wrong
        return self

    def restart(self) -> Stepper:
        """Go back to the beginning; overrides stay. Returns the stepper."""
        return self._play(lambda i, op: True)

    def value(self, name: str) -> np.ndarray:
        """Return the current value of a tensor by name, ":0" is optional, or of a slice of it: "h[0:10, :]".

        Raises NotFoundError while it has none, ValueError for a slice that it does not have.
        """
        tensor, index = split_slice(name)
        value = self.values[self._known(tensor)]
        try:
            return np.asarray(value[index]) if index != () else value
        except IndexError as error:
            raise ValueError(f"{tensor} has the shape {value.shape}: {error}") from None

    def set(self, name: str, value: Any) -> Stepper:
        """Override the value of a tensor, a feed or a variable by one of the same shape; replays what has run since.

        Raises NotFoundError while it has no value, ValueError for another shape, and for what is `fixed`.
        """
        key = self._known(name)
        call, tensor = self._made[key]
        if why := self.fixed(key):
            raise ValueError(why)
        array = Feed(tensor).array(value)
        if array.shape != self.values[key].shape:
            raise ValueError(f"{key} has the shape {self.values[key].shape}, but the new value {array.shape}")
        self.changes = [c for c in self.changes if (c.call, c.tensor) != (call, tensor)]
        self.changes.append(Change(call, tensor, array))
        goal = self.position
        return self._play(lambda i, op: i >= goal)

    def fixed(self, key: str) -> str:
        """Return the reason for which the current value of a tensor can't be changed; "" if it can."""
        call, tensor = self._made[key]
        if tensor.dtype in HANDLES:
            return f"{key} is a {tensor.dtype.name}: a handle stays what it is"
        if call < 0 and tensor not in self._run.feeds and not isinstance(tensor.op.spec, (kinds.Variable, kinds.Const)):
            return f"{key} passes a value on into a loop or a branch: change the value that it takes"
        return ""

    def take_back(self, change: Change) -> Stepper:
        """Undo a change; replays what has run since. Returns the stepper."""
        self.changes = [c for c in self.changes if c is not change]
        goal = self.position
        return self._play(lambda i, op: i >= goal)

    def _known(self, name: str) -> str:
        for key in (name, f"{name}:0"):
            if key in self.values:
                return key
        names = {op.name for op in self.calls}.union(key.removesuffix(":0") for key in self._made)
        if name.partition(":")[0] not in names:
            raise NotFoundError(None, None, f"the run has no op {name!r}{did_you_mean(name, names)}")
        raise NotFoundError(None, None, f"{name!r} has no value before op {self.position} of the run")

    def _play(self, stop: Stop) -> Stepper:
        """Replay from the beginning until `stop` returns true."""
        self.position, self.op, self.inputs, self.result, self.error = 0, None, [], None, None
        self.values, self._made, self.met, self._wrong = {}, {}, "", None
        changed = {c.tensor: c.value for c in self.changes if c.call < 0}
        store = self._run.store.copy()
        for tensor, value in changed.items():
            if tensor not in self._run.feeds:
                store.assign(tensor.op, value)
        feeds = {t: changed.get(t, a) for t, a in self._run.feeds.items()}
        try:
            self.result = list(replace(self._run, feeds=feeds).run(_Player(self, stop), store))
            self.op, self.inputs = None, []
        except _Stopped:
            pass
        except Exception as error:
            self.error = error
        return self


class _Player(Tap):
    """Tap that keeps a stepper's state, and stops its run."""

    def __init__(self, stepper: Stepper, stop: Stop) -> None:
        self._stepper, self._stop = stepper, stop
        self._changes = {(c.call, c.tensor): c.value for c in stepper.changes}
        self._since = 0.0
        self._runs: Operation | None = None     # what leaves a branch or a loop is made without having run as an op

    def before(self, op: Operation, inputs: Sequence[np.ndarray]) -> None:
        """Record the next op; stop if this is the position."""
        here = self._stepper
        for tensor, array in zip(op.inputs, inputs, strict=True):
            source = ref_variable(tensor).outputs[0] if refers(tensor) else tensor
            if source.name not in here._made or refers(source):
                here.values[source.name] = array.copy()
                here._made.setdefault(source.name, (-1, source))
        if isinstance(op.spec, kinds.Const):
            return
        here.op, here.inputs = op, [(t, a.copy()) for t, a in zip(op.inputs, inputs, strict=True)]
        if here.position == len(here.calls):
            here.calls.append(op)
            here.seconds.append(float("inf"))
        if self._stop(here.position, op):
            raise _Stopped
        self._runs, self._since = op, time.perf_counter()

    def after(self, op: Operation, outputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Record the outputs, or their overrides."""
        here, took = self._stepper, time.perf_counter() - self._since
        made = tuple(self._changes.get((here.position, t), a) for t, a in zip(op.outputs, outputs, strict=True))
        for tensor, array, given in zip(op.outputs, made, outputs, strict=True):
            if refers(tensor) and array is not given:
                given[...] = array                  # the variable's own array
            here.values[tensor.name] = array.copy()
            here._made[tensor.name] = (here.position, tensor)
        if op is self._runs:
            here.seconds[here.position] = min(here.seconds[here.position], took)
            if here._checked and here.position >= here._from and not here.met:
                self._check(op, made)
            here.position += 1
        self._runs = None
        return made

    def _check(self, op: Operation, made: Sequence[np.ndarray]) -> None:
        """Note the first condition that a value meets, or that fails."""
        here = self._stepper
        try:
            here.met = next((f"{tensor.name} meets {condition.text.strip()}" for condition in here._checked
                             for tensor, array in zip(op.outputs, made, strict=True)
                             if tensor.dtype not in HANDLES and condition.holds(array, op, here.position)), "")
        except ValueError as error:
            here._wrong = here._wrong or error
