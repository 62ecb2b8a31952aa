"""Execution of merges: each passes on the value of the branch that was taken."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tfnb.compile.planning.plan import Choice, Guard, Stage
from tfnb.core.dtypes import resource
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.parts.references import ref_variable, refers
from tfnb.runtime.runners.interpreter import Taps
from tfnb.runtime.state.store import Store, handle_array
from tfnb.runtime.state.trace import Trace

Literals = tuple[tuple[int, "bool | None"], ...]   # a guard whose predicates are numbers of values


def numbered(guard: Guard, numbers: Mapping[Tensor, int], absent: int) -> Literals:
    """Return a guard over the numbers of its predicates, `absent` for those without."""
    return tuple((numbers.get(t, absent), want) for t, want in guard)


def holds(guard: Literals, values: Sequence[np.ndarray | None]) -> bool:
    """Return whether each predicate has a value, the wanted one."""
    for i, want in guard:
        found = values[i]
        if found is None or (want is not None and bool(found) is not want):
            return False
    return True


def unslotted(tensor: Tensor, store: Store) -> np.ndarray:
    """Return a copy of the value of a tensor that no stage computes: a constant, a handle, or a variable as it is
    now."""
    if tensor.dtype is resource:
        return handle_array(ref_variable(tensor))
    if refers(tensor):
        return np.array(store.value(ref_variable(tensor), tensor.op))
    return np.array(tensor.op.attrs["value"])


class MergeRunner:
    """A stage of merges. inputs: the tensors that it takes, and the predicates of their guards."""

    def __init__(self, stage: Stage, store: Store, tap: Taps | None = None) -> None:
        self._store, self._tap = store, tap
        self._outputs = stage.outputs
        found = [(t, *(predicate for predicate, _ in guard)) for choice in stage.merges for guard, t in choice.inputs]
        self.inputs = tuple(dict.fromkeys(t for tensors in found for t in tensors))
        numbers = {t: i for i, t in enumerate(self.inputs)}
        self._choices = [(choice, [(numbered(guard, numbers, -1), numbers[t]) for guard, t in choice.inputs])
                         for choice in stage.merges]

    def run(self, inputs: Sequence[np.ndarray | None], trace: Trace | None = None) -> list[np.ndarray | None]:
        """Return the outputs, None where no branch was taken; see `Runner`."""
        made: dict[Tensor, np.ndarray] = {}
        for choice, branches in self._choices:
            for i, (guard, number) in enumerate(branches):
                if holds(guard, inputs):
                    self._merge(choice, i, inputs[number], made)
                    break
        return [made.get(t) for t in self._outputs]

    def _merge(self, choice: Choice, i: int, value: np.ndarray | None, made: dict[Tensor, np.ndarray]) -> None:
        """Set the outputs of a merge to its input number `i`; None: a tensor that no stage computes."""
        output, index = choice.op.outputs
        made[index] = np.array(i, np.int32)
        if refers(output):                         # its users read the variable itself
            return
        made[output] = unslotted(choice.inputs[i][1], self._store) if value is None else value
        if self._tap is not None:
            made[output], made[index] = self._tap.after(choice.op, (made[output], made[index]))
