"""The variables of a session in the memory of a GPU.

A variable has one place at a time. A GPU stage that uses it takes its value to the GPU, where it stays; who asks the
store for its array (a saver, a stage on the CPU, a view in a notebook) gets it back first. So a training loop on the
GPU copies no variable, and nobody ever sees an old value.
"""
from __future__ import annotations

import numpy as np

from tfnb.graph.operation import Operation
from tfnb.kernels.cuda import device
from tfnb.runtime.store import Store, variable_key


class GpuArray:
    """A variable's place in the GPU's memory, kept in `Store.places` as long as the variable has this shape."""

    def __init__(self, like: np.ndarray) -> None:
        self.shape, self.dtype = like.shape, like.dtype
        self.memory = device.Memory(like.nbytes)
        self.flat = self.memory.view(0, like.size, like.dtype.name)

    def copy_to(self, array: np.ndarray) -> None:
        """Write the value to an array of the same shape and dtype."""
        device.download(self.flat, array)


def borrow(store: Store, op: Operation) -> GpuArray:
    """Where a variable, which must have a value, lies on the GPU; its value is there from now on.

    The caller holds `store.lending`.
    """
    array, key = store.peek(op), variable_key(op)
    assert array is not None
    place = store.places.get(key)
    if not isinstance(place, GpuArray) or (place.shape, place.dtype) != (array.shape, array.dtype):
        place = GpuArray(array)
    if store.lent(op) is not place:
        device.upload(place.flat, store.value(op, op))
        store.places[key] = place
        store.lend(op, place)
    return place
