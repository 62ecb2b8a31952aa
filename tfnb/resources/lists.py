"""Tensor lists: the values behind the variant handles of TensorList ops. They never change: each op makes a new one."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from tfnb.core.shape import Static, compatible, is_known, merge, shape_str

Items = tuple[np.ndarray | None, ...]


@dataclass(frozen=True, eq=False, slots=True)
class TensorList:
    """A list of tensors of one dtype. shape: static, of all elements; most: how many it may hold (-1: any number).

    An item None has no value yet. Methods raise ValueError where the official op does.
    """

    dtype: np.dtype[Any]
    shape: Static
    items: Items = ()
    most: int = -1

    def zeros(self) -> TensorList:
        """Return the list with zeros in place of the values that there are."""
        return replace(self, items=tuple(None if a is None else self._zeros(a.shape) for a in self.items))

    def added(self, other: TensorList) -> TensorList:
        """Return the list of the sums of elements, where one without a value counts as zeros."""
        if len(self.items) != len(other.items):
            raise ValueError("Trying to add two lists of tensors with different lengths: expected "
                             f"{len(self.items)} elements, got {len(other.items)}")
        self.check_dtype(other.dtype, "those of the other list are")
        items = [b if a is None else a if b is None else np.asarray(a + b)
                 for a, b in zip(self.items, other.items, strict=True)]
        return replace(self, shape=merge(self.shape, other.shape), items=tuple(items))

    def check_dtype(self, dtype: np.dtype[Any], what: str) -> None:
        """Raise ValueError unless the elements are of this dtype."""
        if dtype != self.dtype:
            raise ValueError(f"Invalid data types; list elements {self.dtype} but {what} {dtype}")

    def _check(self, value: np.ndarray, what: str) -> None:
        self.check_dtype(value.dtype, what)
        if not compatible(self.shape, value.shape):
            raise ValueError(f"Tried to {what.split()[-1]} a tensor with incompatible shape to a list. Op element "
                             f"shape: {shape_str(value.shape)} list shape: {shape_str(self.shape)}")

    def pushed(self, value: np.ndarray) -> TensorList:
        """Return the list with one element more. Raises ValueError if it is full."""
        self._check(value, "tried to append")
        if 0 <= self.most <= len(self.items):
            raise ValueError(f"Tried to push item into a full list list size: {len(self.items)} max_num_elements: "
                             f"{self.most}")
        return replace(self, items=(*self.items, value))

    def with_item(self, index: int, value: np.ndarray, grows: bool = False) -> TensorList:
        """Return the list with another value at `index`; with `grows` one beyond its end makes it longer."""
        self._check(value, "tried to set")
        if grows and index >= len(self.items):
            return replace(self, items=(*self.resized(index).items, value))
        self._check_index(index, "modify")
        return replace(self, items=(*self.items[:index], value, *self.items[index + 1:]))

    def _check_index(self, index: int, what: str) -> None:
        if not 0 <= index < len(self.items):
            raise ValueError(f"Trying to {what} element {index} in a list with {len(self.items)} elements.")

    def resized(self, size: int) -> TensorList:
        """Return the list with `size` elements: cut, or with new ones that have no value."""
        if size < 0:
            raise ValueError(f"TensorListSlice expects size to be non-negative. Got: {size}")
        return replace(self, items=(*self.items[:size], *[None] * (size - len(self.items))))

    def popped(self, shape: Static) -> tuple[TensorList, np.ndarray]:
        """Return the list without its last element, and that element."""
        if not self.items:
            raise ValueError("Trying to pop from an empty list.")
        return replace(self, items=self.items[:-1]), self.item(len(self.items) - 1, shape)

    def item(self, index: int, shape: Static) -> np.ndarray:
        """Return the element at `index`: zeros of `shape`, as far as that and the list know it, if it has no value."""
        self._check_index(index, "access")
        found = self.items[index]
        if found is not None:
            return found
        known = self.known(shape)
        if not is_known(known):
            raise ValueError(f"Trying to read an uninitialized tensor but element_shape is not fully defined. "
                             f"{shape_str(known)}")
        return self._zeros(known)

    def known(self, shape: Static) -> Static:
        """Return the shape of the elements, by that of the list, `shape` and the values that there are."""
        found = merge(self.shape, shape)
        for value in self.items:
            if value is not None:
                found = merge(found, value.shape)
        return found

    def _zeros(self, shape: Any) -> np.ndarray:
        return np.full(shape, b"", object) if self.dtype.kind == "O" else np.zeros(shape, self.dtype)

    def stacked(self, shape: Static, indices: Sequence[int] | None = None) -> np.ndarray:
        """Return the elements, or those at `indices`, as rows of one array."""
        what = "stack" if indices is None else "gather"
        chosen = range(len(self.items)) if indices is None else indices
        known = merge(self.shape, shape) if not chosen else self.known(shape)
        if not is_known(known):
            empty = "elements of an empty list with" if not chosen else "list which only contains uninitialized " \
                "tensors and has a"
            raise ValueError(f"Tried to {what} {empty} non-fully-defined element_shape: {shape_str(known)}")
        if not chosen:
            return self._zeros((0, *(known or ())))
        return np.stack([self.item(i, known) for i in chosen])

    def concatenated(self, shape: Static, lengths: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the elements one after another along their first axes, and the size of each axis.

        shape: of an element without its first axis; lengths: first sizes of elements that have no value.
        """
        rest = merge(None if self.shape is None else self.shape[1:], shape)
        sizes = []
        for i, value in enumerate(self.items):
            if value is None:
                if i >= len(lengths):
                    raise ValueError(f"List contains uninitialized tensor at index {i} but leading_dims has only "
                                     f"{len(lengths)} elements.")
                sizes.append(int(lengths[i]))
                continue
            if value.ndim < 1:
                raise ValueError(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
            rest, sizes = merge(rest, value.shape[1:]), [*sizes, len(value)]
        if not is_known(rest):
            raise ValueError("All except the first dimension must be fully defined when concating an empty tensor "
                             f"list. element_shape: {shape_str(rest)}")
        parts = [self._zeros((n, *(rest or ()))) if value is None else value
                 for n, value in zip(sizes, self.items, strict=True)]
        whole = np.concatenate(parts) if parts else self._zeros((0, *(rest or ())))
        return whole, np.array(sizes, np.int64)


def sum_of_lists(*lists: TensorList) -> TensorList:
    """Return the list of the sums of elements of lists of one length."""
    return reduce(TensorList.added, lists)
