"""What TensorArrays and stacks are while a graph runs: Python objects behind a resource handle, gone with their run."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tfnb.core.shape import Static, compatible, is_known, merge, text


class Memory(np.ndarray):
    """What large results of programs lie in, each in one of its own.

    NumPy makes a view of a view hold the array at the root, unless that is of another class: so a view of a result
    holds the result itself, and who counts its holders counts all.
    """


def own(array: np.ndarray) -> np.ndarray:
    """`array`, or a copy if it is a part of another one, which may be a variable that changes."""
    return array if array.base is None or type(array.base) is Memory else np.array(array)


class Elements:
    """The elements of one TensorArray, by number. Methods raise ValueError where the official op does.

    gradients: the arrays of the gradients of this one, by source. sums: writing twice adds up (of gradients).
    """

    def __init__(self, name: str, dtype: np.dtype[Any], size: int, shape: Static, dynamic: bool, clears: bool,
                 same_shapes: bool, sums: bool = False) -> None:
        if size < 0:
            raise ValueError(f"Size should be >= 0, got {size}")
        self.name, self.dtype, self.shape = name, dtype, shape
        self.dynamic, self.clears, self.same_shapes, self.sums = dynamic, clears, same_shapes, sums
        self.items: list[np.ndarray | None] = [None] * size
        self.shapes: list[tuple[int, ...] | None] = [None] * size       # of what was ever written there
        self.read_once: set[int] = set()
        self.gradients: dict[bytes, Elements] = {}
        self.closed = False

    def gradient(self, source: bytes) -> Elements:
        """The array of the gradients that `source` computes; from now on the size is fixed."""
        self.check_open()
        if self.sums:
            raise ValueError(f"TensorArray {self.name} holds gradients: there is no second order of them, as in "
                             "TensorFlow")
        found = self.gradients.get(source)
        if found is None:
            self.dynamic = False
            found = Elements(f"{self.name}@{source.decode()}", self.dtype, len(self.items), self.shape, False, False,
                             self.same_shapes, True)
            found.shapes = list(self.shapes)
            self.gradients[source] = found
        return found

    def check_open(self) -> None:
        """Raises ValueError once the array is closed."""
        if self.closed:
            raise ValueError(f"TensorArray {self.name} has already been closed.")

    def _fail(self, what: str) -> ValueError:
        return ValueError(f"TensorArray {self.name}: {what}")

    def _check_write(self, index: int, value: np.ndarray) -> None:
        self.check_open()
        if value.dtype != self.dtype:
            raise self._fail(f"Could not write to TensorArray index {index} because the value dtype is {value.dtype} "
                             f"but TensorArray dtype is {self.dtype}.")
        if value.shape != self.shape and not compatible(self.shape, value.shape):
            raise self._fail(f"Could not write to TensorArray index {index} because the value shape is "
                             f"{text(value.shape)} which is incompatible with the TensorArray's inferred element "
                             f"shape: {text(self.shape)} (consider setting infer_shape=False).")
        if index < 0 or (index >= len(self.items) and not self.dynamic):
            raise self._fail(f"Tried to write to index {index} but array is not resizeable and size is: "
                             f"{len(self.items)}")

    def write(self, index: int, value: np.ndarray) -> None:
        """Put a value at its place, for the first time (or add it to what is there)."""
        self._check_write(index, value)
        if index >= len(self.items):
            more = index + 1 - len(self.items)
            self.items += [None] * more
            self.shapes += [None] * more
        if self.same_shapes and not self.sums and value.shape != self.shape:
            self.shape = merge(self.shape, value.shape)
        before = self.items[index]
        if before is not None and self.sums:
            if before.shape != value.shape:
                raise self._fail(f"Could not aggregate to TensorArray index {index} because the existing shape is "
                                 f"{text(before.shape)} but the new input shape is {text(value.shape)}.")
            self.items[index] = before + value
            return
        if before is not None or index in self.read_once:
            raise self._fail(f"Could not write to TensorArray index {index} because it has already been written to.")
        self.items[index] = value
        self.shapes[index] = value.shape

    def read(self, index: int) -> np.ndarray:
        """The value at a place: zeros where nothing was written and the shape is known."""
        self.check_open()
        if not 0 <= index < len(self.items):
            raise self._fail(f"Tried to read from index {index} but array size is: {len(self.items)}")
        if index in self.read_once:
            raise self._fail(f"Could not read index {index} twice because it was cleared after a previous read "
                             "(perhaps try setting clear_after_read = false?).")
        found = self.items[index]
        if found is None:
            return self._zeros(index)
        if not self.clears:
            return found.copy()
        self.items[index] = None
        self.read_once.add(index)
        return found

    def _zeros(self, index: int) -> np.ndarray:
        shape: Any = self.shapes[index] if self.shapes[index] is not None else self.shape
        if not is_known(shape):
            raise self._fail(f"Could not read from TensorArray index {index}.  Furthermore, the element shape is not "
                             f"fully defined: {text(self.shape)}.  It is possible you are working with a resizeable "
                             "TensorArray and stop_gradients is not allowing the gradients to be written.  If you set "
                             "the full element_shape property on the forward TensorArray, the proper all-zeros tensor "
                             "will be returned instead of incurring this error.")
        return np.full(shape, b"", object) if self.dtype.kind == "O" else np.zeros(shape, self.dtype)

    def gather(self, indices: Iterable[int], shape: Static) -> np.ndarray:
        """The values at these places, stacked. shape: of an element, for when there are no places."""
        values = [self.read(i) for i in indices]
        if not values:
            known = merge(shape, self.shape)
            if not is_known(known):
                raise self._fail("has size zero, but element shape is not fully defined. Currently only static shapes "
                                 "are supported when packing zero-size TensorArrays.")
            return np.zeros((0, *known), self.dtype)          # type: ignore[misc]
        for i, value in enumerate(values):
            if value.shape != values[0].shape:
                raise self._fail(f"has inconsistent shapes.  Index 0 has shape: {text(values[0].shape)} but index {i} "
                                 f"has shape: {text(value.shape)}")
        return np.stack(values)

    def scatter(self, indices: Sequence[int], value: np.ndarray) -> None:
        """Write the rows of a value to these places."""
        if value.ndim < 1 or len(value) != len(indices):
            raise self._fail(f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. "
                             f"{text(value.shape)}")
        if len(indices) and not self.dynamic and max(indices) >= len(self.items):
            raise self._fail(f"Max scatter index must be < array size ({max(indices)} vs. {len(self.items)})")
        value = own(value)
        for row, i in enumerate(indices):
            self.write(i, value[row, ...])

    def concat(self, shape: Static) -> tuple[np.ndarray, np.ndarray]:
        """All values one behind the other, and the length of each. shape: of an element, without its first axis."""
        values = [self.read(i) for i in range(len(self.items))]
        if not values:
            known = merge(shape, None if self.shape is None else self.shape[1:])
            if not is_known(known):
                raise self._fail("has size zero, but element shape is not fully defined")
            return np.zeros((0, *known), self.dtype), np.zeros(0, np.int64)          # type: ignore[misc]
        for i, value in enumerate(values):
            if value.ndim < 1:
                raise self._fail(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
            if value.shape[1:] != values[0].shape[1:]:
                raise self._fail(f"has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: "
                                 f"{text(values[0].shape[1:])} but index {i} has (excepting dimension 0) shape: "
                                 f"{text(value.shape[1:])}")
        return np.concatenate(values), np.array([len(v) for v in values], np.int64)

    def split(self, value: np.ndarray, lengths: Sequence[int]) -> None:
        """Write pieces of these lengths, one to each place."""
        if value.ndim < 1:
            raise self._fail(f"Expected value to be at least a vector, but received shape: {text(value.shape)}")
        if sum(lengths) != len(value):
            raise self._fail(f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                             f"{sum(lengths)} and value's shape is: {text(value.shape)}")
        if not self.dynamic and len(lengths) != len(self.items):
            raise self._fail(f"TensorArray's size is not equal to the size of lengths ({len(self.items)} vs. "
                             f"{len(lengths)}), and the TensorArray is not marked as dynamically resizeable")
        value, start = own(value), 0
        for i, length in enumerate(lengths):
            self.write(i, value[start:start + length])
            start += length


class Stack:
    """Values on top of one another. limit: how many there may be; negative: any number."""

    def __init__(self, name: str, limit: int) -> None:
        self.name, self.limit = name, limit
        self.items: list[np.ndarray] = []

    def push(self, value: np.ndarray) -> None:
        """Put a value on top. Raises ValueError if the stack is full."""
        if 0 <= self.limit <= len(self.items):
            raise ValueError(f"Stack[{self.name}] overflowed its max_size ({self.limit})")
        self.items.append(value)

    def pop(self) -> np.ndarray:
        """Take the top value. Raises ValueError if there is none."""
        if not self.items:
            raise ValueError(f"Stack[{self.name}] is empty when calling Pop().")
        return self.items.pop()
