"""Runtime state of TensorArrays and stacks: Python objects behind a resource handle, freed with their run."""
from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from sys import getrefcount, maxsize
from typing import Any

import numpy as np

from tfnb.core.shape import Static, compatible, is_known, merge, shape_str
from tfnb.resources import rows
from tfnb.resources.rows import Items, Rows


class Memory(np.ndarray):
    """Memory block of one large result of a program.

    NumPy lets a view of a view reference the root array, unless that is of another class: so a view of a result
    references the result itself, and the result's reference count covers all its views.
    """


def own(array: np.ndarray) -> np.ndarray:
    """Return `array`, or a row-major copy if it is a view of another array, which may be a variable that changes.

    A view of a whole array that nothing else refers to (`made.reshape(...)`) is as good as that array.
    """
    base = array.base
    alone = base is None or type(base) is Memory or (      # 3: the view's, this name's, the argument's
        type(base) is np.ndarray and base.flags.owndata and base.nbytes == array.nbytes and getrefcount(base) <= 3)
    return array if alone and array.flags.c_contiguous else np.array(array, order="C")


class Elements:
    """Elements of one TensorArray, by index. Methods raise ValueError where the official op does.

    They are separate arrays until all are known to have one shape, and then lie in one buffer.
    gradients: the arrays of the gradients of this one, by source. sums: writing twice adds up (of gradients). pieces:
    how many elements the last split made, if there was one; those the gradient of a split puts together.
    """

    def __init__(self, name: str, dtype: np.dtype[Any], size: int, shape: Static, dynamic: bool, clears: bool,
                 same_shapes: bool, sums: bool = False) -> None:
        if size < 0:
            raise ValueError(f"Size should be >= 0, got {size}")
        self.name, self.dtype, self._shape = name, dtype, shape
        self.dynamic, self.clears, self.same_shapes, self.sums = dynamic, clears, same_shapes, sums
        self.places: Items | Rows = Items(size)
        self.gradients: dict[bytes, Elements] = {}
        self.closed = False
        self.pieces: int | None = None

    def __len__(self) -> int:
        return len(self.places)

    @property
    def shape(self) -> Static:
        """Static shape of all elements."""
        if isinstance(self.places, Rows) and self.places.flags & rows.ZEROS:
            return self.places.shape
        return self._shape

    @property
    def element(self) -> tuple[int, ...] | None:
        """Common shape of the elements, present or expected; None if it is unknown or they differ."""
        if isinstance(self.places, Rows):
            return self.places.shape
        if is_known(self._shape):
            return self._shape
        return next(iter(self.places.kinds)) if len(self.places.kinds) == 1 else None

    def settle(self, shape: tuple[int, ...], data: np.ndarray | None = None) -> Rows | None:
        """Return the elements in one buffer, each of `shape`; None if one has, or can only have, another shape.

        data: rows that are all elements, where there were none.
        """
        if isinstance(self.places, Rows):
            return self.places if self.places.shape == shape else None
        if self.closed or self.dtype.kind == "O" or not compatible(self._shape, shape) \
                or not self.places.kinds <= {shape}:
            return None
        same = self.same_shapes and not self.sums
        flags = rows.CLEARS * self.clears | rows.DYNAMIC * self.dynamic | rows.SUMS * self.sums \
            | rows.SAME * same | rows.ZEROS * is_known(self._shape)
        self.places = rows.gathered(self.places, self.dtype, shape, flags) if data is None \
            else Rows(self.dtype, shape, len(data), flags=flags, data=data)
        return self.places

    def gradient(self, source: bytes, before: tuple[int, ...] = ()) -> Elements:
        """Return the TensorArray of the gradients that `source` computes; the size is fixed from now on.

        before: sizes of the axes that its elements have before those of this array, where it is new.
        """
        self.check_open()
        if self.sums:
            raise ValueError(f"TensorArray {self.name} holds gradients: there is no second order of them, as in "
                             "TensorFlow")
        found = self.gradients.get(source)
        if found is None:
            self.dynamic = False
            if isinstance(self.places, Rows):
                self.places.head[rows.FLAGS] &= ~rows.DYNAMIC
            found = Elements(f"{self.name}@{source.decode()}", self.dtype, len(self),
                             None if self.shape is None else (*before, *self.shape), False, False, self.same_shapes,
                             True)
            known = self.places.all_shapes()
            if before:
                known = [None if shape is None else (*before, *shape) for shape in known]
            found.places = Items(len(self), known)
            found.pieces = self.pieces
            self.gradients[source] = found
        return found

    def check_open(self) -> None:
        """Raise ValueError if the array is closed."""
        if self.closed:
            raise ValueError(f"TensorArray {self.name} has already been closed.")

    def close(self) -> None:
        """Drop all elements; later uses of the array raise."""
        self.closed = True
        self.places = Items(0)

    def _fail(self, what: str) -> ValueError:
        return ValueError(f"TensorArray {self.name}: {what}")

    def _check_write(self, index: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self.check_open()
        if dtype != self.dtype:
            raise self._fail(f"Could not write to TensorArray index {index} because the value dtype is {dtype} "
                             f"but TensorArray dtype is {self.dtype}.")
        known = self.shape
        if shape != known and not compatible(known, shape):
            raise self._fail(f"Could not write to TensorArray index {index} because the value shape is "
                             f"{shape_str(shape)} which is incompatible with the TensorArray's inferred element "
                             f"shape: {shape_str(known)} (consider setting infer_shape=False).")
        if index < 0 or (index >= len(self) and not self.dynamic):
            raise self._fail(f"Tried to write to index {index} but array is not resizeable and size is: {len(self)}")

    def open_place(self, index: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        """Make room for a value of this dtype and shape at `index`. Raises ValueError if it can't be written there."""
        self._check_write(index, dtype, shape)
        if isinstance(self.places, Rows) and self.places.shape != shape:
            self.places = rows.scattered(self.places)
        if index >= len(self):
            self.places.extend(index + 1)
        if self.sums and self.places.has(index):
            before = self.places.shape_of(index)
            if before != shape:
                raise self._fail(f"Could not aggregate to TensorArray index {index} because the existing shape is "
                                 f"{shape_str(before)} but the new input shape is {shape_str(shape)}.")
            if isinstance(self.places, Rows):
                self.places.keep()
        elif self.places.has(index) or self.places.gone(index):
            raise self._fail(f"Could not write to TensorArray index {index} because it has already been written to.")

    def write(self, index: int, value: np.ndarray) -> None:
        """Write a value at `index`, at most once; an array that sums adds later writes."""
        self.open_place(index, value.dtype, value.shape)
        if self.same_shapes and not self.sums and value.shape != self._shape:
            self._shape = merge(self._shape, value.shape)
        if self.places.has(index):
            self.places.add(index, value)
        else:
            self.places.put(index, value)

    def read(self, index: int) -> np.ndarray:
        """Return the value at `index`: zeros if nothing was written and the shape is known."""
        self.check_open()
        if not 0 <= index < len(self):
            raise self._fail(f"Tried to read from index {index} but array size is: {len(self)}")
        if self.places.gone(index):
            raise self._fail(f"Could not read index {index} twice because it was cleared after a previous read "
                             "(perhaps try setting clear_after_read = false?).")
        if not self.places.has(index):
            return self._zeros(index)
        return self.places.take(index) if self.clears else self.places.get(index)

    def _zeros(self, index: int) -> np.ndarray:
        known = self.places.shape_of(index)
        shape: Any = self.shape if known is None else known
        if not is_known(shape):
            raise self._fail(f"Could not read from TensorArray index {index}.  Furthermore, the element shape is not "
                             f"fully defined: {shape_str(self.shape)}.  It is possible you are working with a "
                             "resizeable TensorArray and stop_gradients is not allowing the gradients to be written.  "
                             "If you set the full element_shape property on the forward TensorArray, the proper "
                             "all-zeros tensor will be returned instead of incurring this error.")
        return np.full(shape, b"", object) if self.dtype.kind == "O" else np.zeros(shape, self.dtype)

    def gather(self, indices: np.ndarray, shape: Static) -> np.ndarray:
        """Return the values at `indices`, stacked. shape: of an element, used if there are no indices."""
        if isinstance(self.places, Rows) and len(indices) == len(self) and not self.closed and _counts(indices):
            whole = self.places.take_all()
            if whole is not None:
                return whole
        values = [self.read(i) for i in indices.tolist()]
        if not values:
            known = merge(shape, self.shape)
            if not is_known(known):
                raise self._fail("has size zero, but element shape is not fully defined. Currently only static shapes "
                                 "are supported when packing zero-size TensorArrays.")
            return np.zeros((0, *known), self.dtype)
        for i, value in enumerate(values):
            if value.shape != values[0].shape:
                raise self._fail(f"has inconsistent shapes.  Index 0 has shape: {shape_str(values[0].shape)} but index "
                                 f"{i} has shape: {shape_str(value.shape)}")
        return np.stack(values)

    def scatter(self, indices: np.ndarray, value: np.ndarray) -> None:
        """Write the rows of a value at `indices`."""
        if value.ndim < 1 or len(value) != len(indices):
            raise self._fail(f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. "
                             f"{shape_str(value.shape)}")
        value = own(value)
        if self._adopts(indices, value):
            return
        if len(indices) and not self.dynamic and indices.max() >= len(self):
            raise self._fail(f"Max scatter index must be < array size ({indices.max()} vs. {len(self)})")
        for row, i in enumerate(indices.tolist()):
            self.write(i, value[row, ...])

    def _adopts(self, indices: np.ndarray, value: np.ndarray) -> bool:
        """Adopt the rows of `value` as all elements, if none was ever written and they can lie in one buffer."""
        if len(indices) != len(self) or not len(self) or not _counts(indices) or not value.flags.c_contiguous:
            return False
        self._check_write(0, value.dtype, value.shape[1:])
        new = isinstance(self.places, Items) and self.places.untouched()
        settled = self.settle(value.shape[1:], value if new else None)
        return settled is not None and (new or settled.put_all(value))

    def concat(self, shape: Static) -> tuple[np.ndarray, np.ndarray]:
        """Return all values concatenated, and the length of each. shape: of an element, without its first axis."""
        count = len(self) if self.pieces is None or not self.sums else self.pieces
        values = [self.read(i) for i in range(count)]
        if not values:
            known = merge(shape, None if self.shape is None else self.shape[1:])
            if not is_known(known):
                raise self._fail("has size zero, but element shape is not fully defined")
            return np.zeros((0, *known), self.dtype), np.zeros(0, np.int64)
        for i, value in enumerate(values):
            if value.ndim < 1:
                raise self._fail(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
            if value.shape[1:] != values[0].shape[1:]:
                raise self._fail(f"has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: "
                                 f"{shape_str(values[0].shape[1:])} but index {i} has (excepting dimension 0) shape: "
                                 f"{shape_str(value.shape[1:])}")
        return np.concatenate(values), np.array([len(v) for v in values], np.int64)

    def split(self, value: np.ndarray, lengths: Sequence[int]) -> None:
        """Write consecutive pieces of these lengths, one per index."""
        if value.ndim < 1:
            raise self._fail(f"Expected value to be at least a vector, but received shape: {shape_str(value.shape)}")
        if sum(lengths) != len(value):
            raise self._fail(f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                             f"{sum(lengths)} and value's shape is: {shape_str(value.shape)}")
        if not self.dynamic and len(lengths) != len(self):
            raise self._fail(f"TensorArray's size is not equal to the size of lengths ({len(self)} vs. "
                             f"{len(lengths)}), and the TensorArray is not marked as dynamically resizeable")
        value, start = own(value), 0
        for i, length in enumerate(lengths):
            self.write(i, value[start:start + length])
            start += length
        if not self.sums:
            self.pieces = len(lengths)


def _counts(indices: np.ndarray) -> bool:
    """Return whether the indices are 0, 1, 2..."""
    return indices.tobytes() == _counted(len(indices), indices.dtype)


@lru_cache(maxsize=64)                     # two calls of NumPy between two loops: 17 us
def _counted(count: int, dtype: np.dtype[Any]) -> bytes:
    return np.arange(count, dtype=dtype).tobytes()


_SMALL = 16                # elements of what may be a shape


class Stack:
    """Stack (LIFO) of values. limit: the largest count; negative: unbounded.

    They are separate arrays until all are known to have one shape (see Elements).
    """

    def __init__(self, name: str, limit: int) -> None:
        self.name, self.limit = name, limit
        self.items: list[np.ndarray] = []
        self.rows: Rows | None = None
        self.alike: bytes | None = None            # of small integers, mostly shapes: what all are equal to

    @property
    def element(self) -> tuple[int, ...] | None:
        """Shape of the values; None if there are none."""
        if self.rows is not None:
            return self.rows.shape
        return self.items[-1].shape if self.items else None

    def settle(self, dtype: np.dtype[Any], shape: tuple[int, ...], capacity: int = 0) -> Rows | None:
        """Return the values in one buffer, each of `shape`; None if one has another shape or dtype."""
        if self.rows is not None:
            return self.rows if (self.rows.dtype, self.rows.shape) == (dtype, shape) else None
        if any(v.shape != shape or v.dtype != dtype for v in {id(v): v for v in self.items}.values()):
            return None
        capacity = max(capacity, len(self.items))
        self.rows = Rows(dtype, shape, 0, capacity if self.limit < 0 else min(capacity, self.limit))
        for value in self.items:
            self.rows.extend(len(self.rows) + 1)
            self.rows.put(len(self.rows) - 1, value)
        self.items = []
        return self.rows

    def __len__(self) -> int:
        return len(self.items) if self.rows is None else len(self.rows)

    def note(self, value: bytes | None, first: bool) -> None:
        """Record the bytes of pushed values (None: they differ). first: the stack was empty."""
        self.alike = value if first or value == self.alike else None

    def _check_room(self, count: int) -> None:
        if 0 <= self.limit <= count:
            raise ValueError(f"Stack[{self.name}] overflowed its max_size ({self.limit})")

    def make_room(self) -> None:
        """Make room for one more value. Raises ValueError if the stack is full."""
        assert self.rows is not None
        self._check_room(len(self.rows))
        self.rows.reserve(len(self.rows) + 1, self.limit)

    def push(self, value: np.ndarray) -> None:
        """Push a value. Raises ValueError if the stack is full."""
        self.note(value.tobytes() if value.dtype.kind == "i" and value.size <= _SMALL else None, not len(self))
        if self.rows is not None and (self.rows.dtype, self.rows.shape) != (value.dtype, value.shape):
            self.items, self.rows = [self.rows.get(i) for i in range(len(self.rows))], None
        if self.rows is None:
            self._check_room(len(self.items))
            self.items.append(value)
            return
        self._check_room(len(self.rows))
        self.rows.extend(len(self.rows) + 1)
        self.rows.put(len(self.rows) - 1, value)

    def pop(self) -> np.ndarray:
        """Pop the top value. Raises ValueError if the stack is empty."""
        if self.rows is None and self.items:
            return self.items.pop()
        if self.rows is None or not len(self.rows):
            raise ValueError(f"Stack[{self.name}] is empty when calling Pop().")
        value = self.rows.get(len(self.rows) - 1)
        self.rows.head[rows.COUNT] -= 1
        return value

    def room(self) -> int:
        """Return how many values there is room for."""
        return maxsize if self.limit < 0 else max(0, self.limit - len(self))

    def push_many(self, value: np.ndarray, count: int) -> None:
        """Push one value several times. There must be room."""
        if self.rows is None and count:
            self.note(value.tobytes(), not self.items)
            self.items += [value] * count
        else:
            for _ in range(count):
                self.push(value)

    def drop(self, count: int) -> None:
        """Drop the top values; there must be as many."""
        if self.rows is not None:
            self.rows.head[rows.COUNT] -= count
        else:
            del self.items[len(self.items) - count:]

    def clear(self) -> None:
        """Drop all values."""
        self.items, self.rows = [], None
