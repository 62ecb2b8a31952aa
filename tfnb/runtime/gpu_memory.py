"""The variables of a session in the memory of a GPU.

A variable has one place at a time. A GPU stage that uses it takes its value to the GPU, where it stays; who asks the
store for its array (a saver, a stage on the CPU, a view in a notebook) gets it back first. So a training loop on the
GPU copies no variable, and nobody ever sees an old value.
"""
from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from tfnb.graph.operation import Operation
from tfnb.kernels.cuda import device
from tfnb.runtime.store import Key, Store, variable_key


class GpuArray:
    """A variable's place in the GPU's memory."""

    def __init__(self, like: np.ndarray) -> None:
        self.shape, self.dtype = like.shape, like.dtype
        self.memory = device.Memory(like.nbytes)
        self.flat = self.memory.view(0, like.size, like.dtype.name)

    def copy_to(self, array: np.ndarray) -> None:
        """Write the value to an array of the same shape and dtype."""
        device.download(self.flat, array)


class Residence:
    """The places of a store's variables on the GPU, which stay where they are as long as shapes do."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._places: dict[Key, GpuArray] = {}

    def take(self, op: Operation) -> GpuArray:
        """Where a variable lies on the GPU; its value is there from now on. The caller holds `store.lending`.

        The variable must have a value.
        """
        array, key = self._store.peek(op), variable_key(op)
        assert array is not None
        place = self._places.get(key)
        if place is None or (place.shape, place.dtype) != (array.shape, array.dtype):
            place = self._places[key] = GpuArray(array)
        if self._store.lent(op) is not place:
            device.upload(place.flat, self._store.value(op, op))
            self._store.lend(op, place)
        return place


_residences: WeakKeyDictionary[Store, Residence] = WeakKeyDictionary()


def residence_of(store: Store) -> Residence:
    """The one of a store."""
    found = _residences.get(store)
    if found is None:
        found = _residences.setdefault(store, Residence(store))
    return found
