"""Coherence of variables between host and GPU memory: each value is in one of the two at a time.

A GPU stage that uses a variable moves its value to the GPU, where it stays; whoever asks the store for its array (a
saver, a stage on the CPU, a view in a notebook) has it copied back first. So a training loop on the GPU copies no
variable, and no reader sees a stale value.
"""
from __future__ import annotations

import numpy as np

from tfnb.graph.parts.operation import Operation
from tfnb.kernels.cuda.memory import Memory, download, upload
from tfnb.runtime.state.store import Store, variable_key


class GpuArray:
    """A variable's GPU memory, kept in `Store.places` as long as the variable has this shape."""

    def __init__(self, like: np.ndarray) -> None:
        self.shape, self.dtype = like.shape, like.dtype
        self.memory = Memory(like.nbytes)
        self.flat = self.memory.span(0, like.size, like.dtype.name)

    def copy_to(self, array: np.ndarray) -> None:
        """Write the value to an array of the same shape and dtype."""
        download(self.flat, array)


def borrow(store: Store, op: Operation) -> GpuArray:
    """Move the value of a variable, which must have one, to the GPU and return its array there.

    The caller holds `store.lending`.
    """
    array, key = store.peek(op), variable_key(op)
    assert array is not None
    place = store.places.get(key)
    if not isinstance(place, GpuArray) or (place.shape, place.dtype) != (array.shape, array.dtype):
        place = GpuArray(array)
    if store.lent(op) is not place:
        upload(place.flat, store.value(op, op))
        store.places[key] = place
        store.lend(op, place)
    return place
