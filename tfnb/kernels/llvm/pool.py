"""The thread pool of large kernels.

Worker threads are Python threads that sit in native code (without the GIL) while there may be work, and block on a
lock when there was none for a while. One play of a tape at a time holds the pool; another runs alone meanwhile, over
the same chunks, with the same result.

    hold(helpers) -> int    the address of the pool's words for a play, which helpers workers could help with; or 0: no
                            workers, or taken by another play
    release()               after the play; only if hold() was not 0
    JOB_SOURCE                `run_chunks(pool, kernel, args, items, grain, watch)` for the source of the tape player

A job is (kernel, args, items, grain). Its ticket word holds (low << 32 | high): the chunks [low, high) are not claimed
yet. Claiming some is one compare-and-exchange, and as the job cannot end before they are done, who has claimed them
may read the job's words. The caller claims from below and workers from above, a part of what is left at a time, so
that in successive kernels a core mostly meets the data it has in its cache. Whether a worker sleeps stands in its state
word (0 or 1): only who turns it from 0 to 1 wakes it.

A worker that finds no chunk for a while gives way to other processes: where there are none, it is back at once, where
one that slept would miss half of a loop's products, each of them 40 us long. A caller whose chunks are at work
elsewhere sleeps: a thread that gives way loses its turn to whoever is busy.

Interrupts: between two chunks the caller may look for signals (signals.py). If one ends the run, the stop word is set,
and all chunks that are left count as done without being run.
"""
from __future__ import annotations

import atexit
import ctypes
import os
import threading
from typing import Any

import numpy as np

from tfnb.core.options import options
from tfnb.kernels import c_library
from tfnb.kernels.llvm import jit, signals

# Offsets in bytes of the pool's words; what different threads write stands 128 bytes apart (two cache lines).
TICKET, DONE, JOB, SETUP, STATE, STRIDE = 0, 128, 256, 384, 512, 128
KERNEL, ARGS, ITEMS, GRAIN = (JOB + 8 * i for i in range(4))
ACTIVE, CLOSING, NAP, WORKERS, SHARE, ASLEEP, STOP, NAP_LENGTH, YIELD = (SETUP + 8 * i for i in range(9))
SPIN = 2000                                             # pauses (25 to 45 ns each) before an idle thread gives up
YIELDS = 20_000                                         # and gives way (0.5 us each) before it sleeps
LINGER = SPIN + 1_000                                   # as many when no play goes on: a run's next stage begins soon

HELP_SOURCE = signals.LOOK_SOURCE + f"""
@device
def help(pool, from_above, watch):
    '''Claim and run some chunks of the present job; False if there are none.'''
    ticket = load_acquire(pool + {TICKET})
    low, high = ticket >> 32, ticket & 0x7fffffff
    if low >= high:
        return False
    count = max((high - low) // load(pool + {SHARE}), 1)
    left = (low << 32) | (high - count) if from_above else ((low + count) << 32) | high
    if compare_exchange(pool + {TICKET}, ticket, left):
        kernel, args, items, grain = (
            load(pool + {KERNEL}), load(pool + {ARGS}), load(pool + {ITEMS}), load(pool + {GRAIN}))
        first = high - count if from_above else low
        for begin in range(first * grain, (first + count) * grain, grain):
            if load(pool + {STOP}) == 0:
                call_kernel(kernel, args, begin, min(begin + grain, items))
                if watch != 0 and look(watch) != 0:
                    store(pool + {STOP}, 1)
        atomic_add(pool + {DONE}, count)
    return True

@device
def rest(pool, idle):
    '''Wait a moment: spinning at first, later asleep.'''
    nap = load(pool + {NAP})
    if idle < {SPIN} or nap == 0:
        pause()
    else:
        call_address(nap, load(pool + {NAP_LENGTH}))
"""

JOB_SOURCE = HELP_SOURCE + f"""
@device
def run_chunks(pool, kernel, args, items, grain, watch):
    '''Run kernel(args, b, e) over all chunks of `grain` items, with the pool's help unless `pool` is 0.

    Looks for signals between chunks unless `watch` is 0; one that ends the run ends this too.
    '''
    chunks = (items + grain - 1) // grain
    if pool == 0:
        for i in range(chunks):
            call_kernel(kernel, args, i * grain, min(i * grain + grain, items))
            if watch != 0 and look(watch) != 0:
                return
        return
    store(pool + {KERNEL}, kernel)
    store(pool + {ARGS}, args)
    store(pool + {ITEMS}, items)
    store(pool + {GRAIN}, grain)
    store(pool + {DONE}, 0)
    store(pool + {STOP}, 0)
    store_release(pool + {TICKET}, chunks)
    while help(pool, False, watch):
        pass
    idle = 0
    while load_acquire(pool + {DONE}) != chunks:
        rest(pool, idle)
        idle += 1
        if watch != 0 and idle > {SPIN} and look(watch) != 0:
            store(pool + {STOP}, 1)
"""

WORKER_SOURCE = HELP_SOURCE + f"""
def kernel(args, begin, end):
    pool, state, idle = args[0], args[1], 0
    while True:
        if help(pool, True, 0):
            idle = 0
        elif idle < {SPIN} or (idle < {LINGER} or load_acquire(pool + {ACTIVE})) and not load_acquire(pool + {CLOSING}):
            way = load(pool + {YIELD})
            if {SPIN} <= idle and idle < {YIELDS} and way != 0:
                call_address(way, 0)
            else:
                rest(pool, idle)
            idle += 1
        else:
            atomic_exchange(state, 0)
            if atomic_add(pool + {ACTIVE}, 0) == 0 or load_acquire(pool + {CLOSING}) or atomic_exchange(state, 1):
                return                                  # the lock of this worker is or will be released to wake it
            idle = 0                                    # a play began just now and had not looked at our state yet
"""

ENTER_SOURCE = f"""
def kernel(args, begin, end):
    pool, asleep = args[0], 0
    atomic_exchange(pool + {ACTIVE}, 1)
    for i in range(min(load(pool + {WORKERS}), end)):
        if atomic_exchange(pool + {STATE} + {STRIDE} * i, 1) == 0:
            asleep |= 1 << i
    store(pool + {ASLEEP}, asleep)
"""

CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def usable_threads() -> int:
    """Return the thread count of a play: `options.threads`, at most 64 (a word has one bit for each)."""
    return max(1, min(64, int(options.threads)))


class Pool:
    """Worker threads and the words they share with the player."""

    def __init__(self, workers: int) -> None:
        size = STATE + STRIDE * workers + 128
        self._memory = np.zeros(size // 8, np.int64)
        self.address = (self._memory.ctypes.data + 127) & -128
        first = (self.address - self._memory.ctypes.data) // 8
        self._words: Any = self._memory.data[first:]
        self._words[NAP // 8], self._words[NAP_LENGTH // 8] = c_library.nap()
        self._words[YIELD // 8] = c_library.give_way()
        self._words[WORKERS // 8] = workers
        self._words[SHARE // 8] = 2 * (workers + 1)
        self._closing = False
        self._block = np.array([self.address], np.int64)
        self._place = self._block.ctypes.data
        self._enter = CALL(jit.address(ENTER_SOURCE))
        self._help = CALL(jit.address(WORKER_SOURCE))
        self._locks = [threading.Lock() for _ in range(workers)]
        self._threads = [threading.Thread(target=self._work, args=(i,), name=f"tfnb-worker-{i}", daemon=True)
                         for i in range(workers)]
        for lock, thread in zip(self._locks, self._threads, strict=True):
            lock.acquire()
            thread.start()

    def _work(self, number: int) -> None:
        block = np.array([self.address, self.address + STATE + STRIDE * number], np.int64)
        place, lock = block.ctypes.data, self._locks[number]
        while not self._closing:                   # looked at after helping, too: nobody wakes who was awake
            lock.acquire()
            if not self._closing:
                self._help(place, 0, 0)

    def enter(self, helpers: int) -> None:
        """Announce a play and wake, of its first `helpers` workers, those that sleep."""
        self._enter(self._place, 0, helpers)
        if asleep := self._words[ASLEEP // 8]:
            for i, lock in enumerate(self._locks):
                if asleep >> i & 1:
                    lock.release()

    def leave(self) -> None:
        """End a play: workers may go to sleep soon."""
        self._words[ACTIVE // 8] = 0

    def close(self) -> None:
        """End the threads. Only when no play holds the pool."""
        self._closing = True
        self._words[CLOSING // 8] = 1
        self.enter(len(self._threads))
        self.leave()
        for thread in self._threads:
            thread.join(1.0)


_holder = threading.Lock()
_pool: Pool | None = None


def hold(helpers: int) -> int:
    """Take the pool for one play: return the address of its words, or 0 when the play must run alone.

    helpers: how many workers could find something to do, e.g. the largest number of chunks less one.
    """
    global _pool
    threads = usable_threads()
    if threads == 1 or not _holder.acquire(blocking=False):
        return 0
    try:
        if _pool is None or len(_pool._threads) != threads - 1:
            old, _pool = _pool, None
            if old is not None:
                old.close()
            _pool = Pool(threads - 1)
        _pool.enter(helpers)
        return _pool.address
    except BaseException:
        _holder.release()
        raise


def release() -> None:
    """Give the pool back after a play for which `hold` did not return 0."""
    if _pool is not None:
        _pool.leave()
    _holder.release()


def _forget() -> None:
    """Forget the pool in a forked child: its parent's workers do not exist here."""
    global _pool, _holder
    _pool, _holder = None, threading.Lock()


def _shut_down() -> None:
    """End the workers at exit, so that none runs while the interpreter is taken down."""
    global _pool
    if _pool is not None and _holder.acquire(timeout=1.0):
        _pool.close()
        _pool = None
        _holder.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
atexit.register(_shut_down)
