"""The TensorArrays and stacks of a run that a program uses: the buffers of their elements, and what stops it there."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfnb.compile.residents import Element, Resident
from tfnb.compile.trace import misused
from tfnb.core.elements import Elements, Stack
from tfnb.core.errors import InternalError
from tfnb.core.rows import Rows
from tfnb.graph.operation import Operation
from tfnb.opdef import tables


def element_of(handle: np.ndarray) -> Element | None:
    """What is known of the elements behind a handle; None if it is that of something else."""
    found = handle.item() if handle.ndim == 0 else None
    if isinstance(found, Elements):
        return Element(found.dtype.name, found.element, found.sums)
    return Element(None, found.element, False) if isinstance(found, Stack) else None


@dataclass(frozen=True, slots=True)
class Held:
    """The elements of one TensorArray or stack, in a buffer for the time of a loop and from then on."""

    owner: Elements | Stack
    rows: Rows
    shape: tuple[int, ...]

    def clear_way(self, op: Operation, index: int) -> None:
        """Make room for the element `index`, at which a kernel of `op` stopped.

        Raises InvalidArgumentError where the op itself would.
        """
        access = tables.RESIDENT[op.spec.name]
        shapes = {"write": [(), (), self.shape, ()], "push": [(), self.shape]}.get(access, [() for _ in op.inputs])
        try:
            if isinstance(self.owner, Stack):
                if access == "push":
                    return self.owner.make_room()
                self.owner.pop()
            else:
                if access == "write":
                    return self.owner.open_place(index, self.rows.dtype, self.shape)
                self.owner.read(index)
        except ValueError as error:
            raise misused(op, error, shapes) from error
        raise InternalError(None, op, f"{op.name}: its kernel stopped at element {index} for no reason")


def held(resident: Resident, inputs: Sequence[np.ndarray], capacity: int) -> Held | None:
    """The elements that a program uses, in one buffer; None where they can't be. capacity: of a stack, at first."""
    owner: Elements | Stack = inputs[resident.input].item()
    if resident.shape is None or resident.type is None:
        return None
    if isinstance(owner, Stack):
        rows = owner.settle(np.dtype(resident.type), resident.shape, capacity)
    else:
        if owner.closed:
            return None
        owner = owner if resident.source is None else owner.gradient(resident.source)
        rows = owner.settle(resident.shape)
    return None if rows is None else Held(owner, rows, resident.shape)
