"""Training steps that sessions of this kernel run on servers, by the server's address."""
from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tfnb.compile.planning.plan import Plan
from tfnb.core import taps
from tfnb.graph.parts.keys import GraphKeys

KEPT = 100              # steps over which speed is measured


class Activity:
    """Steps of one server: how many, how fast the last ones came, and the last loss.

    loss: (name of the tensor, value), None as long as no step has fetched a scalar. clock: seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.steps = 0
        self.loss: tuple[str, float] | None = None
        self._clock = clock
        self._times: deque[float] = deque(maxlen=KEPT)

    def add(self, loss: tuple[str, float] | None) -> None:
        """Count a step that ended now."""
        self.steps += 1
        self._times.append(self._clock())
        self.loss = loss or self.loss

    @property
    def speed(self) -> float | None:
        """Steps per second, over the last 100 steps; None for fewer than two."""
        times = list(self._times)
        return (len(times) - 1) / max(times[-1] - times[0], 1e-9) if len(times) > 1 else None


activities: dict[str, Activity] = {}                        # address -> its steps
_read: WeakKeyDictionary[Any, tuple[bool, int | None]] = WeakKeyDictionary()       # executor -> of its plan


def of_plan(plan: Plan) -> tuple[bool, int | None]:
    """Return whether a run of a plan is a training step, and which of its fetches is the loss.

    A step runs an optimizer's op, or gives gradients to an accumulator: not the chief's that takes them. Its loss is
    the first scalar of a floating-point type that it fetches, one of the collection LOSSES before others.
    """
    types = {op.type for op in plan.ops}
    step = any(op.spec.role == "optimizer" for op in plan.ops) or any(t.endswith("ApplyGradient") for t in types)
    if not step or any(t.endswith("TakeGradient") for t in types):
        return False, None
    scalars = [i for i, t in enumerate(plan.fetches) if t.dtype.base_dtype.is_floating and t.shape.rank == 0]
    losses = [i for i in scalars if plan.fetches[i] in plan.fetches[i].graph.get_collection(GraphKeys.LOSSES)]
    return True, next(iter([*losses, *scalars]), None)


def _hear(executor: Any, values: Sequence[np.ndarray]) -> None:
    found = _read.get(executor)
    if found is None:
        found = _read[executor] = of_plan(executor.plan)
    step, place = found
    if step:
        loss = None if place is None else (executor.plan.fetches[place].name, float(values[place]))
        activities.setdefault(executor.address, Activity()).add(loss)


def listen() -> None:
    """Count the steps of all runs on servers from now on."""
    taps.on_remote_run = _hear
