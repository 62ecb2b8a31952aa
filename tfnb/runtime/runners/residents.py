"""Run-time side of compiled TensorArrays and stacks: their element buffers, growth, and errors that stop a program."""
from __future__ import annotations

from collections.abc import Sequence
from sys import maxsize
from typing import NamedTuple

import numpy as np

from tfnb.compile.residents import Element, Resident
from tfnb.compile.values import type_name
from tfnb.core.errors import InternalError
from tfnb.graph.parts.operation import Operation
from tfnb.ops.declaration.validate import misused
from tfnb.resources.elements import Elements, Stack
from tfnb.resources.rows import Rows


def element_of(handle: np.ndarray, by_value: bool) -> Element | None:
    """Return the static properties of the elements behind a handle; None if it is that of another resource.

    by_value: with the value that all of them are equal to, if they are.
    """
    found = handle.item() if handle.ndim == 0 else None
    if isinstance(found, Elements):
        return Element(type_name(found.dtype), found.element, found.sums)
    if not isinstance(found, Stack):
        return None
    return Element(None, found.element, False, found.alike if by_value and len(found) else None)


class Counted(NamedTuple):
    """A stack of which only the number of elements changes, all equal: by `each` in an iteration. value: the element
    that is pushed."""

    owner: Stack
    each: int
    value: np.ndarray | None

    @property
    def most(self) -> int:
        """The number of iterations for which there are elements, or room for them."""
        return (len(self.owner) if self.value is None else self.owner.room()) // abs(self.each)

    def head(self) -> int:
        """Return no address: no kernel uses the elements."""
        return 0

    def end(self, iterations: int) -> int:
        """Push or pop what the iterations did, and return the number of elements."""
        if self.value is None:
            self.owner.drop(-self.each * iterations)
        else:
            self.owner.push_many(self.value, self.each * iterations)
        return len(self.owner)


class Held(NamedTuple):
    """The elements of one TensorArray or stack, in one buffer from the beginning of a loop on."""

    owner: Elements | Stack
    rows: Rows
    shape: tuple[int, ...]
    empty: bool                                    # whether there is no element before the loop
    pushed: set[bytes | None]
    most: int = maxsize                            # iterations: kernels find out when there is no element or room

    def head(self) -> int:
        """Return the `id` of the array that kernels find the elements by."""
        return id(self.rows.ready())

    def end(self, iterations: int) -> int:
        """Record the values that the iterations have pushed, and return the number of elements."""
        if isinstance(self.owner, Stack) and self.pushed:
            self.owner.note(next(iter(self.pushed)) if len(self.pushed) == 1 else None, self.empty)
        return len(self.rows)

    def clear_way(self, op: Operation, index: int) -> None:
        """Make room for the element `index`, at which a kernel of `op` stopped.

        Raises InvalidArgumentError where the op itself would.
        """
        access = op.spec.element
        shapes = {"write": [(), (), self.shape, ()], "push": [(), self.shape]}.get(access, [() for _ in op.inputs])
        try:
            self._try(access, index)
        except (ValueError, MemoryError) as error:
            raise misused(op, error, shapes) from error
        if access not in ("write", "push"):
            raise InternalError(None, op, f"{op.name}: its kernel stopped at element {index} for no reason")
        self.rows.ready()

    def _try(self, access: str, index: int) -> None:
        """Retry on the host the access that the kernel could not make, all but the value itself."""
        if isinstance(self.owner, Stack):
            if access == "push":
                self.owner.make_room()
            else:
                self.owner.pop()
        elif access == "write":
            self.owner.open_place(index, self.rows.dtype, self.shape)
        else:
            self.owner.read(index)


def held(resident: Resident, inputs: Sequence[np.ndarray], capacity: int) -> Held | Counted | None:
    """Move the elements that a program uses to one buffer; None where they can't be. capacity: a stack's at first."""
    owner: Elements | Stack = inputs[resident.input].item()
    if resident.shape is None or resident.type is None:
        return None
    if resident.counted:
        assert isinstance(owner, Stack)
        return Counted(owner, resident.counted, resident.element)
    if isinstance(owner, Stack):
        rows = owner.settle(np.dtype(resident.type), resident.shape, capacity)
    else:
        if owner.closed:
            return None
        owner = owner if resident.source is None else owner.gradient(resident.source)
        rows = owner.settle(resident.shape)
    return None if rows is None else Held(owner, rows, resident.shape, not len(rows), resident.pushed)
