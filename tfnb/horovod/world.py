"""The ranks of an MPI job: their numbers, and the agreement before each collective that all ranks call the same one.

A collective begins with an allgather of 24 bytes: what this rank calls (a hash), and a size. If the hashes differ, the
ranks exchange descriptions and each raises the same error; no rank moves data that the others don't wait for. A rank
that ends says so in the same way. It waits by polling, so that interrupts and time limits end it.
"""
from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from tfnb.core.errors import CancelledError, FailedPreconditionError, UnimplementedError
from tfnb.core.lazy import lazy_module
from tfnb.core.program.log import warning

mpi = lazy_module("mpi4py.MPI")
_CALLS, _ENDS = 0, 1                    # the first number of a record
_SPIN, _PAUSE = 0.0005, 0.0001          # seconds: of polling without a pause, and of each pause from then on
STALL = 60.0                            # seconds of waiting for other ranks until a line says so
MISSING = ("Horovod's collectives run on MPI and need the package mpi4py and an MPI library: pip install 'tfnb[mpi]' "
           "(mpi4py and Open MPI); then start the program by: mpiexec -n 4 python train.py")


@dataclass(frozen=True)
class Call:
    """One collective, as all ranks must call it. lines: descriptions of its tensors."""

    lines: tuple[str, ...]
    digest: int = field(init=False)

    def __post_init__(self) -> None:
        hashed = blake2b("\n".join(self.lines).encode(), digest_size=8).digest()
        object.__setattr__(self, "digest", int.from_bytes(hashed, "little", signed=True))


class World:
    """The ranks of one communicator. comm: an mpi4py communicator, of which this is a duplicate.

    rank, size: in all; local_rank, local_size: on this host; cross_rank, cross_size: among the ranks with this local
    rank. homogeneous: whether all hosts have equally many ranks.
    """

    def __init__(self, comm: Any) -> None:
        self.comm = comm.Dup()
        self.rank, self.size = self.comm.rank, self.comm.size
        local = self.comm.Split_type(mpi.COMM_TYPE_SHARED)
        self.local_rank, self.local_size = local.rank, local.size
        cross = self.comm.Split(local.rank, self.rank)
        self.cross_rank, self.cross_size = cross.rank, cross.size
        self.homogeneous = len(set(self.comm.allgather(local.size))) == 1
        local.Free()
        cross.Free()
        self.lock = threading.RLock()           # one collective at a time
        self._ended: tuple[int, ...] = ()       # the ranks that ended while this one called a collective
        self._broken = ""                       # the collective that was left half-way
        self._mine = np.zeros(3, np.int64)
        self._all = np.zeros((self.size, 3), np.int64)

    @property
    def one_host(self) -> bool:
        """Whether all ranks run on this host."""
        return bool(self.local_size == self.size)

    def agree(self, call: Call, size: int = 0, check: Callable[[], None] = lambda: None) -> Sequence[int]:
        """Wait until all ranks call a collective; return the `size` that each gives. The caller holds the lock.

        check: called while it waits, to raise at a time limit. Raises FailedPreconditionError if they don't all call
        this one, CancelledError if a rank has ended.
        """
        if self._broken:
            raise FailedPreconditionError(None, None, f"a collective was left half-way in this rank ({self._broken}), "
                                          "so that the ranks are out of step: call hvd.shutdown() and then hvd.init() "
                                          "in all ranks")
        if self._ended:
            raise self._over(call)
        found = self._gathered((_CALLS, call.digest, size), call, check)
        if (found[:, 0] == _CALLS).all() and (found[:, 1] == call.digest).all():
            sizes: Sequence[int] = found[:, 2].tolist()
            return sizes
        texts = self.comm.allgather(call.lines)
        if (found[:, 0] == _ENDS).any():
            self._ended = tuple(np.flatnonzero(found[:, 0]).tolist())
            raise self._over(call)
        raise FailedPreconditionError(None, None, "the ranks call different collectives:\n" + differences(texts) +
                                      "\nExpected the same ops with the same shapes and dtypes, in the same order, in "
                                      "all ranks: build the same graph in each, and fetch the same training ops")

    @contextmanager
    def moving(self, call: Call | None) -> Iterator[None]:
        """Remember the collective (None: the end) that an error leaves half-way: others wait there for this rank.

        At the end of this process the whole job ends, theirs as well.
        """
        try:
            yield
        except BaseException:
            self._broken = _short(call.lines) if call else "the end"
            raise

    def _over(self, call: Call) -> CancelledError:
        return CancelledError(None, None, f"{_ranks(self._ended)} ended or called hvd.shutdown(), by an exception or "
                              f"because {'its' if len(self._ended) == 1 else 'their'} data ended, while rank "
                              f"{self.rank} calls {_short(call.lines)}: expected all ranks to take the same number of "
                              "steps")

    def _gathered(self, record: tuple[int, int, int], call: Call | None, check: Callable[[], None]) -> np.ndarray:
        self._mine[:] = record
        request = self.comm.Iallgather(self._mine, self._all)
        with self.moving(call):
            self._wait(request, call, check)
        return self._all

    def _wait(self, request: Any, call: Call | None, check: Callable[[], None]) -> None:
        start, stall = time.monotonic(), STALL
        while not request.Test():
            waited = time.monotonic() - start
            time.sleep(0 if waited < _SPIN else _PAUSE if waited < 1 else 10 * _PAUSE)
            check()
            if waited > stall and call is not None:
                stall *= 2
                warning("rank %d has waited %d s in %s for the other ranks", self.rank, waited, _short(call.lines))

    def end(self) -> None:
        """Say that this rank calls no more collectives, and wait until all ranks say so.

        A rank whose collective was left half-way can't: at the end of its process it ends the job.
        """
        with self.lock:
            while not self._broken:
                found = self._gathered((_ENDS, 0, 0), None, lambda: None)
                if (found[:, 0] == _ENDS).all():
                    self.comm.Free()
                    return
                self.comm.allgather(("hvd.shutdown()",))


def _ranks(ranks: Sequence[int]) -> str:
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {', '.join(map(str, ranks))}"


def _short(lines: Sequence[str]) -> str:
    return lines[0] + (f" and {len(lines) - 1} more" if len(lines) > 1 else "")


def differences(texts: Sequence[Sequence[str]]) -> str:
    """Return a line for each different collective among those of all ranks: the first tensor in which they differ."""
    at = next((i for i, lines in enumerate(zip(*texts, strict=False)) if len(set(lines)) > 1),
              min(len(lines) for lines in texts))
    by_text: dict[str, list[int]] = {}
    for rank, lines in enumerate(texts):
        text = lines[at] if at < len(lines) else f"none after {lines[-1]}"
        by_text.setdefault(text, []).append(rank)
    return "\n".join(f"  {_ranks(ranks)}: {text}" for text, ranks in by_text.items())


_world: list[World] = []


def world() -> World:
    """Return the ranks. Raises ValueError before `init`."""
    if not _world:
        raise ValueError("Horovod has not been initialized; use hvd.init().")
    return _world[0]


def init(comm: Any = None) -> None:
    """Initialize MPI and find this process's rank. Collective: all ranks must call it. Again it does nothing.

    comm: an mpi4py communicator, or a list of ranks of the job; None: all. In a process that `mpiexec` did not start
    there is one rank. Raises ImportError without mpi4py or an MPI library, UnimplementedError for a rank that is not in
    the list.

    >>> hvd.init()
    >>> hvd.rank(), hvd.size()
    (0, 1)
    """
    if _world:
        return
    try:
        job = mpi.COMM_WORLD
    except (ImportError, RuntimeError) as error:        # RuntimeError: "cannot load MPI library"
        raise ImportError(f"{MISSING} ({error})") from None
    if isinstance(comm, (list, tuple)):
        ranks = [int(rank) for rank in comm] or list(range(job.size))
        if job.rank not in ranks:
            raise UnimplementedError(None, None, f"rank {job.rank} calls hvd.init, but is none of its ranks {ranks}: "
                                                 "expected only these to call it")
        job = job.Create_group(job.group.Incl(ranks))
    elif comm is not None:
        job = comm
    _world.append(World(job))
    atexit.unregister(_at_exit)
    atexit.register(_at_exit)


def shutdown() -> None:
    """End the collectives of this rank; wait until all ranks have called it. `init` may follow.

    A rank that still calls a collective gets CancelledError there, and so does one whose process ended otherwise.

    >>> hvd.shutdown()
    >>> hvd.is_initialized()
    False
    """
    if _world:
        _world.pop().end()


def _at_exit() -> None:
    """Let the other ranks know that this process ends; where that is impossible, end the job."""
    if not _world:
        return
    ending = _world[0]
    shutdown()
    if ending._broken and ending.size > 1:
        sys.stderr.write(f"tfnb: rank {ending.rank} ends in the middle of {ending._broken}; ending all ranks\n")
        sys.stderr.flush()
        mpi.COMM_WORLD.Abort(1)


def is_initialized() -> bool:
    """Return whether `init` was called, and `shutdown` not since.

    >>> hvd.is_initialized()
    False
    """
    return bool(_world)


def size() -> int:
    """Return the number of ranks. Raises ValueError before `init`, as all of these.

    >>> hvd.init()
    >>> hvd.size()
    1
    """
    return int(world().size)


def rank() -> int:
    """Return the number of this rank, 0 to size - 1.

    >>> hvd.init()
    >>> hvd.rank()
    0
    """
    return int(world().rank)


def local_size() -> int:
    """Return the number of ranks on this host.

    >>> hvd.init()
    >>> hvd.local_size()
    1
    """
    return int(world().local_size)


def local_rank() -> int:
    """Return the number of this rank among those on this host: the GPU to use, where each rank has one.

    >>> hvd.init()
    >>> hvd.local_rank()
    0
    """
    return int(world().local_rank)


def cross_size() -> int:
    """Return the number of hosts that have a rank with this local rank.

    >>> hvd.init()
    >>> hvd.cross_size()
    1
    """
    return int(world().cross_size)


def cross_rank() -> int:
    """Return the number of this host among those that have a rank with this local rank.

    >>> hvd.init()
    >>> hvd.cross_rank()
    0
    """
    return int(world().cross_rank)


def is_homogeneous() -> bool:
    """Return whether all hosts have equally many ranks.

    >>> hvd.init()
    >>> hvd.is_homogeneous()
    True
    """
    return world().homogeneous


def mpi_threads_supported() -> bool:
    """Return whether MPI may be called from several threads at once, so that a program may use mpi4py beside it.

    >>> hvd.init()
    >>> hvd.mpi_threads_supported()
    True
    """
    world()
    return bool(mpi.Query_thread() == mpi.THREAD_MULTIPLE)
