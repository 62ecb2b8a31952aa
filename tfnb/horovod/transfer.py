"""Collectives over NumPy arrays: sums, gathers, broadcasts and exchanges, each after the agreement of all ranks.

Arrays that one collective takes together lie one after the other in one block of memory, which MPI reduces in place.
On one host it does so in pieces that stay in the cache; between hosts in one, whose latency is paid once.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import groupby
from math import prod
from sys import getrefcount
from typing import Any

import ml_dtypes
import numpy as np

from tfnb.horovod.world import Call, World, mpi
from tfnb.resources.elements import Memory

AVERAGE, SUM, ADASUM, MIN, MAX, PRODUCT = range(6)
_FOLDS: dict[int, tuple[str, Any]] = {SUM: ("SUM", np.add), MIN: ("MIN", np.minimum), MAX: ("MAX", np.maximum),
                                      PRODUCT: ("PROD", np.multiply)}
_TITLES = {SUM: "sum", MIN: "minimum", MAX: "maximum", PRODUCT: "product"}
_ALIGN = 64                             # bytes: a cache line
_PIECE = 1 << 20                        # bytes in one MPI call on one host: 25 MB take 13 ms so, and 16 in one call
_WORDS = {1: "BYTE", 2: "UINT16_T", 4: "UINT32_T", 8: "UINT64_T", 16: "C_DOUBLE_COMPLEX"}
Check = Callable[[], None]


def unlimited() -> None:
    """Let a collective wait for the other ranks without a limit: one that is called outside of a run."""


@lru_cache(4096)
def call_of(what: str, names: tuple[str, ...], shapes: tuple[Any, ...], types: tuple[np.dtype[Any], ...]) -> Call:
    """Return the collective `what` on tensors of these names, shapes and dtypes. Raises TypeError for no numbers."""
    for name, dtype in zip(names, types, strict=True):
        if dtype.kind in "OSU" or dtype.itemsize not in _WORDS:
            raise TypeError(f"{what} {name!r}: expected numbers, got an array of {dtype}")
    return Call(tuple(f"{what} {name!r} of {dtype}{list(shape)}"
                      for name, shape, dtype in zip(names, shapes, types, strict=True)))


def _call(what: str, names: Sequence[str], arrays: Sequence[np.ndarray], rows: bool = True) -> Call:
    """Return the call for these arrays. rows: whether their first sizes have to be the same in all ranks."""
    shapes = tuple(a.shape if rows else ("rows", *a.shape[1:]) for a in arrays)
    return call_of(what, tuple(names), shapes, tuple(a.dtype for a in arrays))


class Blocks:
    """Memory for the results of each collective, which serves again once the results of the last run are dropped."""

    def __init__(self) -> None:
        self._spare: dict[int, Memory] = {}

    def take(self, key: int, nbytes: int) -> Memory:
        """Return a block, zero when it is new."""
        if key not in self._spare or self._spare[key].size != nbytes or _holders(self._spare, key) > _FREE:
            self._spare[key] = np.zeros(nbytes, np.uint8).view(Memory)
        return self._spare[key]

    def clear(self) -> None:
        """Drop all blocks that no results use."""
        self._spare.clear()


def _holders(table: dict[int, Memory], key: int) -> int:
    held = table[key]
    return getrefcount(held)


_FREE = _holders({0: np.zeros(1, np.uint8).view(Memory)}, 0)
blocks = Blocks()


def _laid_out(arrays: Sequence[np.ndarray], key: int) -> tuple[Memory, list[np.ndarray], list[int]]:
    """Return a block for arrays like these, the arrays in it, and where each ends, with what it is padded by."""
    ends: list[int] = []
    for array in arrays:
        ends.append((ends[-1] if ends else 0) + -(-array.nbytes // _ALIGN) * _ALIGN)
    block = blocks.take(key, max(ends[-1], 1))
    made = [np.ndarray(a.shape, a.dtype, block, start) for a, start in zip(arrays, [0, *ends], strict=False)]
    return block, made, ends


def _in_pieces(world: World, pairs: Iterable[tuple[np.ndarray, np.ndarray, int]], start: int,
               send: Callable[[int, int], None]) -> None:
    """Copy arrays into the block and send it piece by piece, each while it is in the cache.

    pairs: (array, its place in the block, its end); send: fn(start, end) in bytes.
    """
    sent = end = start
    for array, place, end in pairs:
        np.copyto(place, array)
        while world.one_host and end - sent >= _PIECE:
            send(sent, sent + _PIECE)
            sent += _PIECE
    if sent < end:
        send(sent, end)


@cache
def _half_fold(op: int, name: str) -> Any:
    """Return the MPI op for float16 or bfloat16, which MPI does not know."""
    fold, dtype = _FOLDS[op][1], np.dtype(getattr(ml_dtypes, name, None) or name)

    def combine(given: Any, kept: Any, datatype: Any) -> None:
        into = np.frombuffer(kept, dtype)
        fold(np.frombuffer(given, dtype), into, out=into)
    return mpi.Op.Create(combine, commute=True)


def _fold(op: int, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Return the MPI op and the MPI datatype (None: by the array's dtype) that reduce elements of a dtype."""
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        return _half_fold(op, dtype.name), mpi.UINT16_T
    return getattr(mpi, _FOLDS[op][0]), None


def reduce(world: World, names: Sequence[str], arrays: Sequence[np.ndarray], op: int,
           check: Check = unlimited) -> list[np.ndarray]:
    """Return the element-wise sums (or what `op` says) of the arrays over all ranks, bit-equal in all of them.

    The order of the terms depends on sizes and the number of ranks alone.
    """
    with world.lock:
        call = _call(f"allreduce ({_TITLES[op]})", names, arrays)
        order = sorted(range(len(arrays)), key=lambda i: arrays[i].dtype.str)
        arrays = [arrays[i] for i in order]
        block, made, ends = _laid_out(arrays, call.digest)
        world.agree(call, check=check)
        with world.moving(call):
            rows = zip(arrays, made, ends, strict=True)
            start = 0
            for dtype, group in groupby(rows, key=lambda row: row[0].dtype):
                run, (fold, word) = list(group), _fold(op, dtype)

                def send(begin: int, end: int, dtype: Any = dtype, fold: Any = fold, word: Any = word) -> None:
                    if world.size > 1:
                        part = np.asarray(block[begin:end]).view(dtype if word is None else np.uint16)
                        world.comm.Allreduce(mpi.IN_PLACE, part if word is None else [part, word], fold)
                _in_pieces(world, run, start, send)
                start = run[-1][2]
        found: list[Any] = [None] * len(order)
        for i, place in zip(order, made, strict=True):
            found[i] = place
        return found


def broadcast(world: World, names: Sequence[str], arrays: Sequence[np.ndarray], root: int,
              check: Check = unlimited) -> list[np.ndarray]:
    """Return the arrays of rank `root` in all ranks."""
    with world.lock:
        call = _call(f"broadcast from rank {root}", names, arrays)
        block, made, ends = _laid_out(arrays, call.digest)
        world.agree(call, check=check)

        def send(begin: int, end: int) -> None:
            if world.size > 1:
                world.comm.Bcast(np.asarray(block[begin:end]), root)
        with world.moving(call):
            _in_pieces(world, zip(arrays, made, ends, strict=True), 0, send)
        return made


def _word(array: np.ndarray) -> Any:
    return getattr(mpi, _WORDS[array.dtype.itemsize])


def gather(world: World, name: str, array: np.ndarray, check: Check = unlimited) -> np.ndarray:
    """Return the arrays of all ranks, concatenated along the first axis, along which their sizes may differ.

    Raises ValueError for a scalar, which has no such axis.
    """
    if not array.ndim:
        raise ValueError(f"allgather {name!r}: expected an array with a first axis to concatenate along, got a scalar")
    with world.lock:
        call = _call("allgather", [name], [array], False)
        sizes = world.agree(call, len(array), check)
        with world.moving(call):
            made = np.empty((sum(sizes), *array.shape[1:]), array.dtype)
            inner = prod(array.shape[1:])
            counts = [rows * inner for rows in sizes]
            given = np.ascontiguousarray(array)
            world.comm.Allgatherv([given, given.size, _word(given)], [made, counts, _word(made)])
        return made


def exchange(world: World, name: str, array: np.ndarray, splits: np.ndarray, check: Check) -> np.ndarray:
    """Send rows to all ranks, `splits[i]` of them to rank i, and return those that it gets, in the ranks' order."""
    with world.lock:
        call = _call("alltoall", [name], [array], False)
        world.agree(call, len(array), check)
        with world.moving(call):
            given, rows = np.ascontiguousarray(array), splits.astype(np.int64)
            got = np.empty(world.size, np.int64)
            world.comm.Alltoall(rows, got)
            inner = prod(array.shape[1:])
            made = np.empty((int(got.sum()), *array.shape[1:]), array.dtype)
            world.comm.Alltoallv([given, (rows * inner).tolist(), _word(given)],
                                 [made, (got * inner).tolist(), _word(made)])
        return made
