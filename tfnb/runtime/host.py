"""Running a host stage: its calls one after another, with all looked up beforehand that is the same at each run."""
from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tfnb.compile.plan import Stage
from tfnb.graph.operation import Operation, Tensor
from tfnb.opdef.spec import Kind
from tfnb.ops.evaluate import host_call, refers
from tfnb.runtime.interpreter import named
from tfnb.runtime.store import Store
from tfnb.runtime.trace import Trace, clock


def is_plain(stage: Stage, fed: Collection[Tensor]) -> bool:
    """Is the stage made of host ops and constants only, none of which reads a variable or is fed in part?"""
    return not stage.on_device and all(
        op.spec.kind in (Kind.HOST, Kind.CONST, Kind.CONTROL)
        and not any(refers(t) for t in (*op.inputs, *op.outputs))
        and not any(t in fed for t in op.outputs) for op in stage.ops)


class HostRunner:
    """A plain host stage (see `is_plain`) over a store. Several threads may run it at once; no lock is held."""

    def __init__(self, stage: Stage, store: Store) -> None:
        slots = {tensor: i for i, tensor in enumerate(stage.inputs)}
        self._known: list[np.ndarray | None] = []
        self._steps = []
        for op in stage.ops:
            first = len(slots)
            slots.update((t, first + i) for i, t in enumerate(op.outputs))
            self._known += [op.attrs["value"] if op.spec.kind is Kind.CONST else None] * len(op.outputs)
            if op.spec.kind is Kind.HOST:
                self._steps.append((op, host_call(op, store), tuple(slots[t] for t in op.inputs),
                                    slice(first, first + len(op.outputs))))
        self._outputs = tuple(slots[t] for t in stage.outputs)

    def run(self, inputs: Sequence[np.ndarray], trace: Trace | None = None) -> list[np.ndarray]:
        """The outputs of the stage, in arrays of their own. trace: where to note what ran when."""
        values = [*inputs, *self._known]
        args: list[np.ndarray] = []
        op: Operation | None = None
        try:
            for op, call, taken, made in self._steps:  # noqa: B007 (the handler names the op that failed)
                args = [values[i] for i in taken]  # type: ignore[misc]
                start = 0 if trace is None else clock()
                values[made] = call(args)
                if trace is not None:
                    trace.add((op,), start, values[made])  # type: ignore[arg-type]
        except Exception as error:
            assert op is not None
            raise named(op, error, args)  # noqa: B904 (`named` chains)
        return [_own(values[i], inputs, self._known) for i in self._outputs]  # type: ignore[arg-type]


def _own(array: np.ndarray, inputs: Sequence[np.ndarray], known: Sequence[np.ndarray | None]) -> np.ndarray:
    """A copy of what belongs to someone else: a fed value, a constant, a part of another array."""
    if array.base is not None or any(array is a for a in inputs) or any(array is a for a in known):
        return np.array(array)
    return array
