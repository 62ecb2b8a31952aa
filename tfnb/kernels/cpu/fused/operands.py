"""Argument words and array views in the source of CPU kernels."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tfnb.kernels.scalar.number_types import dtype_of
from tfnb.kernels.spec import Operand, Word


@dataclass
class Arguments:
    """The words of an argument block, in the order in which the source first asks for them."""

    layout: list[Word] = field(default_factory=list)

    def text(self, *word: str | int) -> str:
        """Return the source that reads a word."""
        wanted: Word = word                   # type: ignore[assignment]
        if wanted not in self.layout:
            self.layout.append(wanted)
        return f"args[{self.layout.index(wanted)}]"


@dataclass(frozen=True)
class Place:
    """An operand of a kernel: its side ("load", "store"), the name of its array in the source, and its strides."""

    side: str
    array: str
    operand: Operand

    def step(self, args: Arguments, dimension: int) -> str:
        """Return the source of a stride, in elements."""
        kind = self.operand.steps[dimension]
        return kind if kind != "s" else args.text("step", self.side, self.operand.name, dimension)

    def view(self, args: Arguments, indices: Sequence[tuple[str, int]], n: str) -> str:
        """Return the line that makes the array, of n elements, from the index (source) in each of some dimensions."""
        return self._array(self.address(args, indices), n)

    def address(self, args: Arguments, indices: Sequence[tuple[str, int]]) -> str:
        """Return the source of the address at the index (source) in each of some dimensions."""
        terms = []
        for index, dimension in indices:
            step = self.step(args, dimension)
            terms += [] if step == "0" else [index if step == "1" else f"{index} * {step}"]
        return self._moved(args, " + ".join(terms))

    def at(self, args: Arguments, offset: str, n: str) -> str:
        """Return the line that makes the array, of n elements, from an offset in elements (source; may be empty)."""
        return self._array(self._moved(args, offset), n)

    def _array(self, address: str, n: str) -> str:
        return f"{self.array} = {self.operand.type.replace('bool', 'uint8')}_array({address}, {n})"

    def _moved(self, args: Arguments, offset: str) -> str:
        address, size = args.text(self.side, self.operand.name), dtype_of(self.operand.type).itemsize
        offset = f"({offset})" if " " in offset else offset
        scaled = offset if size == 1 or not offset else f"{size} * {offset}"
        return f"{address}{' + ' if scaled else ''}{scaled}"

    def load(self, index: str, dimension: int) -> str:
        """Return the source that loads the element at an index of the last dimension. Booleans are bytes in memory."""
        element = self._element(index, dimension)
        return f"{element} != uint8(0)" if self.operand.type == "bool" else element

    def store(self, index: str, dimension: int, value: str) -> str:
        """Return the line that stores a value (source) at an index of the last dimension."""
        value = f"uint8({value})" if self.operand.type == "bool" else value
        if self.operand.streams == "element":
            return f"stream_element({self.array}, {index}, {value})"
        return f"{self._element(index, dimension)} = {value}"

    def _element(self, index: str, dimension: int) -> str:
        """Return the source of an element. The product of index and stride is unsigned: see cpu/emit.py."""
        kind = self.operand.steps[dimension]
        if kind == "0":
            return f"{self.array}[0]"
        return f"{self.array}[{index}]" if kind == "1" else f"{self.array}[uint64({index}) * {self.array}_step]"

    def step_line(self, args: Arguments, dimension: int) -> list[str]:
        """Return the line that reads the stride of the last dimension, where the source of an element needs one."""
        if self.operand.steps[dimension] != "s":
            return []
        return [f"{self.array}_step = uint64({self.step(args, dimension)})"]


def places(loads: Sequence[Operand], stores: Sequence[Operand], args: Arguments) -> tuple[list[Place], list[Place]]:
    """Return the operands as places; their addresses are the first words of the argument block."""
    assert len({store.name for store in stores}) == len(stores), "a value has two stores: the layout tells by name"
    for side, operands in (("load", loads), ("store", stores)):
        for operand in operands:
            args.text(side, operand.name)
    return ([Place("load", f"a{i}", operand) for i, operand in enumerate(loads)],
            [Place("store", f"o{i}", operand) for i, operand in enumerate(stores)])
