"""Layouts of CPU programs: kernels, argument blocks and arena, before any array has an address."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfnb.compile.lower import Ref, Step
from tfnb.compile.values import Buffer, Value
from tfnb.kernels.launch import Code
from tfnb.kernels.llvm import jit
from tfnb.kernels.llvm.tape import WRITES
from tfnb.kernels.symbolic import Pinned, Size, is_size, plain

Made = list[tuple[tuple[int, ...], np.dtype[Any]]]
Patches = Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
_COLUMNS = {"rows": 4, "words": 1, "temps": 3, "binds": 3, "status": 2, "elements": 3, "tables": 2}


@dataclass(frozen=True)
class Layout:
    """The numbers of a program. Words are counted from the first of all argument blocks.

    rows: kernel address, first word, items and grain of each launch; words: the numbers of all blocks, 0 where an
    address goes. temps: (word, number of the temporary buffer, bytes further on); binds: (word, slot, bytes);
    status: (word, bytes); elements: (word, number of a stack, bytes) of what a launch points at an element; tables:
    (word, number of the stack) of the lists of these; fixed: (word, variable, state or constant, bytes). offsets: of
    each temporary buffer. made: shape and dtype of each output that is computed; known: each output, None where it is
    computed. constants: those that follow from sizes, by the `id` of what a buffer has as its array. factors: the bytes
    of those of a period, of each deferred product (compile/products.py).
    """

    rows: np.ndarray
    words: np.ndarray
    temps: np.ndarray
    binds: np.ndarray
    status: np.ndarray
    elements: np.ndarray
    tables: np.ndarray
    fixed: list[tuple[int, Buffer, int]]
    offsets: Sequence[int]
    arena_bytes: int
    made: Made
    known: list[np.ndarray | None]
    constants: Mapping[int, np.ndarray] = field(default_factory=dict)
    factors: Sequence[int] = ()


@dataclass
class _Table:
    """Rows of integers. sizes: (row, column, Size) of those that are Sizes."""

    rows: list[tuple[int, ...]] = field(default_factory=list)
    sizes: list[tuple[int, int, Any]] = field(default_factory=list)

    def add(self, *numbers: Any) -> None:
        """Add a row."""
        self.sizes += [(len(self.rows), i, n) for i, n in enumerate(numbers) if is_size(n)]
        self.rows.append(numbers)

    def array(self, columns: int) -> np.ndarray:
        """Return the table for the sizes at hand."""
        rows = [[plain(n) for n in row] for row in self.rows] if self.sizes else self.rows
        return np.array(rows, np.int64).reshape(-1, columns)


def lay_out(steps: Sequence[Step], outputs: Sequence[Value], inputs: int,
            offsets: Mapping[Buffer, int], arena_bytes: int) -> Layout:
    """Return the layout of a program. inputs: their number."""
    return _laid_out(steps, outputs, inputs, offsets, arena_bytes)[0]


def lay_out_sizes(steps: Sequence[Step], outputs: Sequence[Value], inputs: int, temps: Sequence[Buffer],
                  sizes: dict[Any, Size]) -> tuple[Layout, Patches]:
    """Return the layout for the sizes at hand, without an arena, and where in it there are Sizes.

    sizes: Sizes by their terms, to which those of the layout are added. Patches: of an array, rows, columns, and the
    place of each Size in `sizes`. Raises Pinned where a Size is what it can't be: an offset in a variable.
    """
    layout, tables = _laid_out(steps, outputs, inputs, dict.fromkeys(temps, 0), 0)
    sizes.update((n.terms, n) for table in tables.values() for _, _, n in table.sizes)
    index = {terms: i for i, terms in enumerate(sizes)}
    patches = {name: np.array([(i, j, index[n.terms]) for i, j, n in table.sizes], np.intp).T
               for name, table in tables.items() if table.sizes}
    return layout, patches  # type: ignore[return-value]


def _laid_out(steps: Sequence[Step], outputs: Sequence[Value], inputs: int, offsets: Mapping[Buffer, int],
              arena_bytes: int) -> tuple[Layout, dict[str, _Table]]:
    tables = {name: _Table() for name in _COLUMNS}
    computed = [v.buffer.index for v in outputs if v.known is None]
    buffers = {arg.buffer for step in steps for arg in step.args if isinstance(arg, Ref)}
    factors = {b.index: b.nbytes for b in buffers if b.role == "factors"}
    first = {"input": 0, "factor": inputs + len(computed), "factors": inputs + len(computed) + len(factors),
             "resident": inputs + len(computed) + 2 * len(factors)}
    slots, temps = {index: inputs + i for i, index in enumerate(computed)}, {b: i for i, b in enumerate(offsets)}
    fixed: list[tuple[int, Buffer, int]] = []
    words = tables["words"]
    for step, address in zip(steps, jit.addresses([step.source for step in steps]), strict=True):
        tables["rows"].add(address, len(words.rows), step.items, step.grain + WRITES * _updates(step))
        for arg in step.args:
            at = len(words.rows)
            words.add(0 if isinstance(arg, Ref) else jit.address(arg.source) if isinstance(arg, Code) else arg)
            if not isinstance(arg, Ref):
                continue
            buffer, offset = arg.buffer, arg.offset
            if buffer.role == "status":
                tables["status"].add(at, offset)
            elif buffer.role == "temp":
                tables["temps"].add(at, temps[buffer], offset)
            elif buffer.role == "element":
                tables["elements"].add(at, buffer.index, offset)
            elif buffer.role == "table":
                tables["tables"].add(at, buffer.index)
            elif buffer.role in ("input", "output", "factor", "factors", "resident"):
                slot = slots[buffer.index] if buffer.role == "output" else first[buffer.role] + buffer.index
                tables["binds"].add(at, slot, offset)
            elif is_size(offset):
                raise Pinned
            else:
                fixed.append((at, buffer, offset))
    arrays: dict[str, Any] = {name: table.array(_COLUMNS[name]) for name, table in tables.items()}
    made = [(v.shape, np.dtype(v.type)) for v in outputs if v.known is None]
    return Layout(**arrays, fixed=fixed, offsets=list(offsets.values()), arena_bytes=arena_bytes, made=made,
                  known=[v.known for v in outputs], factors=[factors[i] for i in sorted(factors)]), tables


def patched(layout: Layout, patches: Patches, values: Sequence[int]) -> dict[str, Any]:
    """Return the arrays of a layout that hold Sizes, for other values of these."""
    numbers = np.array(values, np.int64)
    made: dict[str, Any] = {}
    for name, (rows, columns, which) in patches.items():
        array = made[name] = getattr(layout, name).copy()
        array[rows, columns] = numbers[which]
    return made


def _updates(step: Step) -> bool:
    """Return whether the launch writes to a variable, so that it is not to be cut in two by an interrupt.

    The state of a generator is one short launch.
    """
    return step.writes and any(isinstance(arg, Ref) and arg.buffer.role == "variable" for arg in step.args)
