"""Tapes: a compiled program as rows of words, and the native loop that plays them.

A tape row is (kernel address, argument block address, items, grain). The row runs kernel(args, 0, items) on the calling
thread if grain <= 0 or items <= grain; else chunks of `grain` items, claimed by the caller and the pool's workers. The
chunks are the same whatever the number of threads, so results do not depend on it.

A bind row is (destination address, slot, byte offset): before playing, the int64 word at `destination` becomes the
address of the data of the NumPy array in `slot`, plus the offset. The player finds that address itself, from the id()
of the array: to point a program at its arrays costs one `struct.pack_into`.

Signals (Ctrl-C) are handled between chunks and rows of tapes that share rows or have many (signals.py): `play` then
raises what the handler raised. A row that writes to a variable, marked by WRITES in its grain, is never cut in two, and
the rows after it are left alone for a second, so that an update of several variables is mostly done in whole.

Status: eight int64 words. A kernel that fails stores a code > 0 in word 0 (and what it knows in words 1 to 6); the
player stops after that row. Word 7 is the index of the row being played.

    tape = Tape(rows, binds, slots)
    tape.point(id(a), id(b), ...)        one id per slot; the caller keeps the arrays alive and C-contiguous
    tape.play()                          GIL released; a tape is played by one thread at a time
    tape.status[0]                       0, or the code of an error in row tape.status[7]
    tape.resume()                        plays on from that row, when what was in its way is gone
"""
from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from tfnb.kernels.llvm import jit, pool, signals

Row = tuple[int, int, int, int]
Bind = tuple[int, int, int]

BLOCK_WORDS, STATUS_WORDS, ROW = 20, 8, 7               # ROW: the status word that holds the row's index
WRITES = 1 << 40                                        # added to the grain of a row that writes to variables
MANY = 64                                               # rows of a tape in which signals are looked for: 10 us or more
DATA_OFFSET = object.__basicsize__                      # PyArrayObject: the object head, then the data pointer

_BINDS = """for i in range(n_binds):
        bind = binds + 24 * i
        array = load(objects + 8 * load(bind + 8))
        store(load(bind), load(array + offset) + load(bind + 16))"""
_ROWS = """for i in range({first}, {last}):
        row = tape + 32 * i
        store(status + 56, i)
        {run}
        if load(status) != 0:
            return"""
_PLAYER = """
def kernel(args, begin, end):
    tape, rows, binds, n_binds, objects, offset, status, pool, start = (
        args[0], args[1], args[2], args[3], args[4], args[5], args[6], args[7], args[8])
    {more}store(status, 0)
    {binds}
    {rows}
"""
# The rows again and again, with the arrays of table `cycle`, then of 1, 2, ..., cycle - 1, 0, 1, ..., until the last
# array is false or `left` is 0. From the second time on it begins with row `again`. Each `period` times, and at the
# end, rows `rows` to `rows + ends` follow, with how many times it has been in word `counter` of their arguments.
_REPEATER = """
def kernel(args, begin, end):
    tape, rows, binds, n_binds, offset, status, pool, start = (
        args[0], args[1], args[2], args[3], args[5], args[6], args[7], args[8])
    tables, slots, again, turn, left, truth, ends, cycle, period, counter = (
        args[10], args[11], args[12], args[13], args[14], args[15], args[16], args[17], args[18], args[19])
    block = address_of(args)
    {more}store(status, 0)
    while left > 0:
        objects = tables + 8 * slots * turn
        store(block + 8 * 4, objects)
        store(block + 8 * 13, turn)
        {binds}
        {rows}
        left -= 1
        store(block + 8 * 14, left)
        start = again
        turn = turn % cycle
        condition = uint8_array(load(load(objects + 8 * truth) + offset), 1)
        if ends > 0 and (condition[0] == 0 or turn % period == period - 1):
            for i in range(rows, rows + ends):
                store(load(tape + 32 * i + 8) + 8 * counter, turn % period + 1)
            {ends}
            for i in range(rows, rows + ends):
                store(load(tape + 32 * i + 8) + 8 * counter, 1)
        turn = (turn + 1) % cycle
        if condition[0] == 0:
            return
"""
_SERIAL = "call_kernel(load(row), load(row + 8), 0, load(row + 16))"
_MORE = """watch = args[9]
    written = False
    """
_SHARED = f"""items, grain = load(row + 16), load(row + 24) & {WRITES - 1}
        looks = watch
        if watch != 0 and load(row + 24) & {WRITES}:
            looks = 0
            if not written:
                hold(watch)
                written = True
        if grain <= 0 or items <= grain:
            call_kernel(load(row), load(row + 8), 0, items)
        else:
            run_chunks(pool, load(row), load(row + 8), items, grain, looks)
        if looks != 0 and look(looks) != 0:
            return"""


def _source(player: str, shared: bool) -> str:
    """Return the source of a player. shared: rows may be shared by threads, and signals are looked for."""
    def deep(text: str, levels: int) -> str:
        return text.replace("\n", "\n" + "    " * levels)
    inner = int(player is _REPEATER)
    run = _SHARED if shared else _SERIAL
    ends = deep(_ROWS.format(first="rows", last="rows + ends", run=run), 2)
    rows = deep(_ROWS.format(first="start", last="rows", run=run), inner)
    return (pool.JOB_SOURCE if shared else "") + player.format(more=_MORE if shared else "", rows=rows, ends=ends,
                                                               binds=deep(_BINDS, inner))


# Most tapes hold nothing to share: their player compiles in a tenth of the time, 0.1 s.
SERIAL_SOURCE, PARALLEL_SOURCE = _source(_PLAYER, False), _source(_PLAYER, True)
SERIAL_REPEATER, PARALLEL_REPEATER = _source(_REPEATER, False), _source(_REPEATER, True)
_POOL_WORD, _START_WORD, _WATCH_WORD, _TABLES_WORD, _TURN_WORD, _LEFT_WORD = 7, 8, 9, 10, 13, 14


def _check_array_layout() -> None:
    """Raise unless NumPy's arrays keep their data pointer where the player looks for it."""
    array = np.arange(3)
    if ctypes.c_void_p.from_address(id(array) + DATA_OFFSET).value != array.ctypes.data:
        raise ImportError(f"NumPy {np.__version__} does not keep an array's data pointer {DATA_OFFSET} bytes into the "
                          "object; tfnb cannot play programs with it")


_check_array_layout()


class Tape:
    """Rows and binds in native form.

    keep: what must live as long as `play` can be called (argument blocks); threads: how many may share a row at most;
    status_address: that of the status words, for argument blocks.
    """

    def __init__(self, rows: Sequence[Row] | np.ndarray, binds: Sequence[Bind] | np.ndarray = (), slots: int = 0,
                 keep: object = None, threads: int | None = None) -> None:
        self._rows = np.array(rows, np.int64).reshape(-1, 4)
        self._binds = np.array(binds, np.int64).reshape(-1, 3)
        if len(binds) and not 0 <= self._binds[:, 1].min() <= self._binds[:, 1].max() < slots:
            raise ValueError(f"bind rows name slots outside [0, {slots}): {binds}")
        memory = np.zeros(BLOCK_WORDS + STATUS_WORDS + max(slots, 1), np.int64)     # block, status, objects
        block = ctypes.c_void_p(memory.ctypes.data)
        block.owners = self._rows, self._binds, memory, keep     # type: ignore[attr-defined]
        self._words: Any = memory.data
        self.status_address: int = block.value + 8 * BLOCK_WORDS     # type: ignore[operator]  # for argument blocks
        self._words[0], self._words[1] = self._rows.ctypes.data, len(self._rows)
        self._words[2], self._words[3] = self._binds.ctypes.data, len(self._binds)
        self._words[4], self._words[5] = self.status_address + 8 * STATUS_WORDS, DATA_OFFSET
        self._words[6] = self.status_address
        shared = [(items, grain & WRITES - 1) for items, grain in self._rows[:, 2:].tolist()]
        self._helpers = max(1, *(-(-items // grain) for items, grain in shared if grain > 0), 1) - 1
        self.parallel = self._helpers > 0
        self._many = many = self.parallel or len(self._rows) > MANY
        if threads is not None:
            self._helpers = min(self._helpers, threads - 1)
        self._block, self._objects = block, self.status_address + 8 * STATUS_WORDS
        self._play = partial(_player(PARALLEL_SOURCE if many else SERIAL_SOURCE), block)
        self.point: Callable[..., None] = partial(struct.Struct(f"={slots}q").pack_into, self._words,
                                                  8 * (BLOCK_WORDS + STATUS_WORDS))
        self.status: Any = self._words[BLOCK_WORDS:BLOCK_WORDS + STATUS_WORDS]
        self.play: Callable[[], None] = partial(self._shared, self._play) if many else self._play

    @property
    def start(self) -> int:
        """The row that playing begins with."""
        first: int = self._words[_START_WORD]
        return first

    @start.setter
    def start(self, row: int) -> None:
        """Set the row that playing begins with: rows before it are skipped until it is set to 0 again."""
        self._words[_START_WORD] = row

    def resume(self) -> None:
        """Resume from the row that stopped, whose kernel has changed nothing."""
        start, self.start = self.start, self.status[ROW]
        try:
            self.play()
        finally:
            self.start = start

    def repeat(self, tables: Sequence[Sequence[int]], truth: int, again: int, ends: int = 0, period: int = 1,
               counter: int = 0) -> Repetition:
        """Return the repetition of this tape over several sets of arrays; see `Repetition`. One at a time."""
        return Repetition(self, tables, truth, again, ends, period, counter)

    def _shared(self, play: Callable[[], None]) -> None:
        address = pool.hold(self._helpers) if self._helpers else 0
        try:
            self._words[_POOL_WORD] = address
            self._words[_WATCH_WORD] = watched = signals.watch()
            play()
        finally:
            if address:
                pool.release()
        if watched:
            signals.raise_caught()


class Repetition:
    """A tape played again and again in native code, while the bool array in a slot is true.

    tables: the ids of the arrays in all slots. The first iteration has those of the last table; then the others, whose
    number is even, take turns, from number 1 on. truth: the slot of the condition; again: the row that iterations begin
    with after the first. ends: the number of the last rows, which are played in one of `period` iterations and at the
    end, after the count of iterations since has become word `counter` of their arguments. The caller keeps the arrays.
    """

    def __init__(self, tape: Tape, tables: Sequence[Sequence[int]], truth: int, again: int, ends: int, period: int,
                 counter: int) -> None:
        self._tape, self._words = tape, tape._words
        self.played = 0                            # iterations in all
        self._tables, self._again, self._begun = np.array(tables, np.int64), again, False
        self._cycle, self._main = len(tables) - 1, len(tape._rows) - ends
        words = (self._tables.ctypes.data, self._tables.shape[1], again, self._cycle, 0, truth, ends, self._cycle,
                 period, counter)
        for i, word in enumerate(words, _TABLES_WORD):
            self._words[i] = word
        self._words[1] = self._main
        native = partial(_player(PARALLEL_REPEATER if tape._many else SERIAL_REPEATER), tape._block)
        self._play: Callable[[], None] = partial(tape._shared, native) if tape._many else native

    @property
    def turn(self) -> int:
        """The number of the last iteration in its cycle of tables, or that of the table of the first iteration."""
        number: int = self._words[_TURN_WORD]
        return number

    def play(self, count: int) -> None:
        """Play up to `count` iterations; fewer where the condition becomes false or a kernel stops (`Tape.status`)."""
        words = self._words
        if self._begun:
            words[_TURN_WORD] = (self.turn % self._cycle + 1) % self._cycle
            words[_START_WORD] = self._again
        self._begun = True
        words[_LEFT_WORD] = count
        self._play()
        self.played += count - words[_LEFT_WORD]

    def finish(self) -> None:
        """Play what follows an iteration that stopped, when the tape has been resumed."""
        self._words[_START_WORD], self._words[_LEFT_WORD] = self._main, 1
        self._play()
        self.played += 1

    def end(self) -> None:
        """Give the tape back its own arrays and all of its rows."""
        words = self._words
        words[1], words[4], words[_START_WORD] = len(self._tape._rows), self._tape._objects, 0


@cache
def _player(text: str) -> Callable[[ctypes.c_void_p], None]:
    """Return the compiled player. It takes its block only: passing the two unused words would cost 0.1 us a call."""
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(jit.address(text))
