"""Signal delivery (Ctrl-C, a notebook's stop button) while native code runs in the main thread.

Python notes a signal at once, but its handler, which raises KeyboardInterrupt, runs in the main thread between two
bytecodes: never while that thread plays a long tape. So the player calls back into Python some times a second,
between two chunks or rows (`look` in its source). Handlers run there, and what they raise is kept for who called
the player.

    watch() -> int          the address of the words of a play; 0 in other threads, which no signal reaches
    raise_caught()          raises what a handler raised during the play, if one did
    LOOK_SOURCE               `look(watch)`, `hold(watch)` for the sources of the player and of the pool
"""
from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Generator
from typing import Any

import numpy as np

# Words: the clock's address and its two arguments, the two words that it writes, the shift of the second one; the last
# tick, the tick up to which nothing is looked for, the callback's address, whether a handler raised.
CLOCK, FIRST, SECOND, WHOLE, PART, SHIFT, TICK, UNTIL, CALLBACK, RAISED = range(0, 80, 8)
TICKS_LEFT = 8                    # of about 1/8 s: what a play that writes to variables gets to end by itself

LOOK_SOURCE = f"""
@device
def tick_of(watch):
    call_address(load(watch + {CLOCK}), load(watch + {FIRST}), load(watch + {SECOND}))
    return load(watch + {WHOLE}) * 8 + (load(watch + {PART}) >> load(watch + {SHIFT}))

@device
def look(watch):
    '''Let Python handle signals, at most once a tick; 1 if a handler raised an exception, else 0.'''
    tick = tick_of(watch)
    if tick != load(watch + {TICK}):
        store(watch + {TICK}, tick)
        if tick > load(watch + {UNTIL}):
            call_address(load(watch + {CALLBACK}), watch + {RAISED})
    return load(watch + {RAISED})

@device
def hold(watch):
    '''Look for nothing in the next second.'''
    store(watch + {UNTIL}, tick_of(watch) + {TICKS_LEFT})
"""


def _clock(words: np.ndarray) -> tuple[Any, int, int, int]:
    """Return a monotonic clock of the C library, its two arguments, and the shift of its smaller word to ticks.

    POSIX: seconds and nanoseconds, 8 ticks a second. Windows: units of 100 ns in one word, a tick is 0.105 s.
    """
    address = words.ctypes.data
    if sys.platform == "win32":
        return ctypes.WinDLL("kernel32").QueryUnbiasedInterruptTime, address + PART, 0, 20
    coarse = 6 if sys.platform == "linux" else time.CLOCK_MONOTONIC     # 5 ns a call instead of 25
    return ctypes.CDLL(None).clock_gettime, coarse, address + WHOLE, 27


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class _Signals:
    """The words of the main thread, and the callback that lets handlers run."""

    def __init__(self) -> None:
        self.caught: BaseException | None = None
        self.words: Any
        block = np.zeros(10, np.int64)
        self.address, self.words = block.ctypes.data, block.data
        self.handlers: Any = self._handle()              # gi_running is not in the type of generators
        next(self.handlers)
        self._callback = ctypes.CFUNCTYPE(None, ctypes.c_int64)(self.handlers.send)
        clock, first, second, shift = _clock(block)
        block[[word // 8 for word in (CLOCK, FIRST, SECOND, SHIFT, CALLBACK)]] = (
            _address(clock), first, second, shift, _address(self._callback))

    def _handle(self) -> Generator[None, int, None]:
        """Run pending handlers at each resumption.

        Python runs them where a function begins or goes on. What they raise where a function begins is lost on its
        way through ctypes; a generator goes on inside of its `try`. (The inner loop has a line of its own: without it
        Python 3.11 takes the place that its jump goes back to for one outside of the `try`.)
        """
        while True:
            try:
                while True:
                    yield
            except BaseException as error:
                self.caught = error
                self.words[RAISED // 8] = 1


_signals: _Signals | None = None


def watch() -> int:
    """Return the address of the watch words for a play in this thread, 0 if no signal can reach it.

    That is so in threads other than the main one, and inside of a handler that runs during a play.
    """
    global _signals
    if threading.get_ident() != threading.main_thread().ident:
        return 0
    if _signals is None or _signals.handlers.gi_frame is None:     # the latter after two signals within a microsecond
        _signals = _Signals()
    if _signals.handlers.gi_running:
        return 0
    _signals.words[UNTIL // 8] = 0
    return _signals.address


def raise_caught() -> None:
    """Raise the exception of a handler that ran during this play, if there is one."""
    signals = _signals
    if signals is not None and signals.caught is not None and not signals.handlers.gi_running:
        error, signals.caught = signals.caught, None
        signals.words[RAISED // 8] = 0
        raise error
