"""The tape player and the pool: order, binding, errors, threads, forks."""
from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from tfnb.core.options import options
from tfnb.kernels.llvm import jit, pool
from tfnb.kernels.llvm.tape import MANY, ROW, WRITES, Tape

ADD = """
def kernel(args, begin, end):
    x = int64_array(args[0], end)
    y = int64_array(args[1], end)
    for i in range(begin, end):
        y[i] = x[i] + args[2]
"""
FAIL = """
def kernel(args, begin, end):
    store(args[0] + 8, 42)
    store(args[0], 7)
"""
SLOW = """
def kernel(args, begin, end):
    atomic_add(args[0], 1)
    spins = 0
    while spins < 20000 and load_acquire(args[1]) == 0:
        pause()
        spins += 1
"""
MEET = """
def kernel(args, begin, end):
    atomic_add(args[0], 1)
    spins = 0
    while load_acquire(args[0]) < 2 and spins < 2000000000:
        pause()
        spins += 1
    if spins == 2000000000:
        store(args[1], 1)
"""


def add(x: np.ndarray, y: np.ndarray, amount: int, grain: int = 0, repeat: int = 1) -> Tape:
    """y = x + amount (repeat > 1: then y = y + amount...)."""
    first, others = [x.ctypes.data, y.ctypes.data, amount], [y.ctypes.data, y.ctypes.data, amount]
    blocks = np.array([first] + [others] * (repeat - 1), np.int64)
    address = jit.address(ADD)
    rows = [(address, block.ctypes.data, x.size, grain) for block in blocks]
    return Tape(rows, keep=(blocks, x, y))


@pytest.fixture(params=[1, 2, 5])
def threads(request, monkeypatch):
    monkeypatch.setattr(options, "threads", request.param)
    return request.param


def test_an_empty_tape():
    Tape([]).play()


def test_rows_run_in_order():
    x, y = np.arange(10), np.zeros(10, np.int64)
    tape = add(x, y, 3, repeat=4)
    tape.play()
    assert y.tolist() == (x + 12).tolist()
    assert tape.status.tolist() == [0] * 7 + [3]
    assert not tape.parallel


def test_binds_point_at_the_arrays_given():
    blocks = np.array([[0, 0, 1]], np.int64)
    at = blocks.ctypes.data
    tape = Tape([(jit.address(ADD), at, 2, 0)], [(at, 0, 8), (at + 8, 1, 0)], 2, keep=blocks)
    for start in (10, 20):
        x, y = np.arange(start, start + 3), np.zeros(2, np.int64)
        tape.point(id(x), id(y))
        tape.play()
        assert y.tolist() == [start + 2, start + 3]


COUNT_DOWN = """
def kernel(args, begin, end):
    before = int64_array(args[0], 1)
    after = int64_array(args[1], 1)
    goes_on = uint8_array(args[2], 1)
    after[0] = before[0] - 1
    if before[0] > 1:
        goes_on[0] = 1
    else:
        goes_on[0] = 0
    store(args[3], load(args[3]) + 1)
"""
NOTE = """
def kernel(args, begin, end):
    noted = int64_array(args[0], 20)
    noted[0] += 1
    noted[noted[0]] = args[1]
"""


@pytest.mark.parametrize("repeat", [1, MANY + 1])
@pytest.mark.parametrize("count", [1, 3, 100])
def test_a_repeated_tape_takes_turns_between_two_sets_of_arrays(count, repeat):
    count_down, add_one = jit.addresses([COUNT_DOWN, ADD])
    hits, zero, left = np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64)
    blocks = np.array([[0, 0, 0, hits.ctypes.data], [zero.ctypes.data, left.ctypes.data, 1, 0]], np.int64)
    at = blocks.ctypes.data
    rows = [(add_one, at + 32, 1, 0)] + [(count_down, at, 1, 0)] + [(add_one, at + 32, 1, 0)] * (repeat - 1)
    tape = Tape(rows, [(at + 8 * i, i, 0) for i in range(3)], 3, keep=blocks)
    values, truths = np.array([[9], [0], [0]], np.int64), np.ones((2, 1), bool)
    start, here, there, truth, other = (*values, *truths)
    repetition = tape.repeat([tuple(map(id, row)) for row in (
        (there, here, truth), (here, there, other), (start, here, truth))], 2, 1)
    plays = 0
    while not plays or (truth, other)[repetition.turn % 2][0]:
        repetition.play(count)
        plays += 1
    repetition.end()
    assert (start[0], here[0], there[0], hits[0], left[0]) == (9, 0, 1, 9, 1)
    assert plays == -(-9 // count) and tape.start == 0
    tape.point(id(start), id(here), id(truth))
    tape.play()
    assert here[0] == 8


@pytest.mark.parametrize("left, period, want", [(9, 4, [4, 4, 1]), (8, 4, [4, 4]), (1, 4, [1]), (3, 1, [1, 1, 1])])
@pytest.mark.parametrize("count", [1, 5, 100])
def test_last_rows_are_played_at_the_end_of_each_period(left, period, want, count):
    count_down, note = jit.addresses([COUNT_DOWN, NOTE])
    hits, noted = np.zeros(1, np.int64), np.zeros(20, np.int64)
    blocks = np.array([[0, 0, 0, hits.ctypes.data], [noted.ctypes.data, 1, 0, 0]], np.int64)
    at = blocks.ctypes.data
    tape = Tape([(count_down, at, 1, 0), (note, at + 32, 1, 0)], [(at + 8 * i, i, 0) for i in range(3)], 3, keep=blocks)
    values, truths = np.array([[0], [left]], np.int64), np.ones((2, 1), bool)
    (here, there), (truth, other) = values, truths
    cycle = [(there, here, truth), (here, there, other)] * max(1, period // 2)
    repetition = tape.repeat([tuple(map(id, row)) for row in (*cycle, cycle[0])], 2, 0, 1, period, 1)
    while not hits[0] or (truth, other)[repetition.turn % 2][0]:
        repetition.play(count)
    repetition.end()
    assert noted[1:noted[0] + 1].tolist() == want and blocks[1, 1] == 1
    there[0] = 5
    tape.point(id(there), id(here), id(truth))
    tape.play()
    assert noted[noted[0]] == 1


def test_bad_binds_are_refused():
    with pytest.raises(ValueError, match="outside"):
        Tape([], [(0, 2, 0)], 2)


def test_a_failed_row_stops_the_tape():
    x, y = np.arange(4), np.zeros(4, np.int64)
    blocks = np.array([[0, 0, 0], [x.ctypes.data, y.ctypes.data, 1]], np.int64)
    good, bad = jit.addresses([ADD, FAIL])
    at = blocks.ctypes.data
    tape = Tape([(good, at + 24, 4, 0), (bad, at, 1, 0), (good, at + 24, 4, 0)], keep=blocks)
    blocks[0, 0] = tape.status_address
    blocks[1, 2] = 5
    tape.play()
    assert (tape.status[0], tape.status[1], tape.status[ROW]) == (7, 42, 1)
    rows = Tape([(good, at + 24, 4, 0)], keep=blocks)
    rows.play()
    assert rows.status[0] == 0 and y.tolist() == [5, 6, 7, 8]


@pytest.mark.parametrize("items, grain", [(1, 1), (2, 1), (7, 3), (1000, 1), (1000, 7), (64, 64), (64, 100), (0, 4)])
def test_chunks_cover_all_items(items, grain, threads):
    x, y = np.arange(items), np.zeros(items, np.int64)
    tape = add(x, y, 5, grain, repeat=3)
    for _ in range(3):
        y[:] = -1
        tape.play()
        assert y.tolist() == (x + 15).tolist()
    assert tape.parallel == (items > grain)


def test_the_pool_helps(monkeypatch):
    """Two items that wait for each other: only two threads can end this."""
    monkeypatch.setattr(options, "threads", 2)
    words = np.zeros(2, np.int64)
    block = np.array([words.ctypes.data, words.ctypes.data + 8], np.int64)
    tape = Tape([(jit.address(MEET), block.ctypes.data, 2, 1)], keep=(words, block))
    for _ in range(20):
        words[0] = 0
        tape.play()
        assert words[1] == 0, "the second thread never came"


def test_many_threads_play_at_once(threads):
    failures = []

    def work(seed: int) -> None:
        x, y = np.arange(300) * seed, np.zeros(300, np.int64)
        tape = add(x, y, seed, grain=10, repeat=5)
        for _ in range(50):
            y[:] = 0
            tape.play()
            if not np.array_equal(y, x + 5 * seed):
                failures.append(seed)
    workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_playing_outlives_the_tape():
    x, y = np.arange(5), np.zeros(5, np.int64)
    play = add(x, y, 1).play
    for _ in range(3):
        np.zeros(1000)
        play()
    assert y.tolist() == [1, 2, 3, 4, 5]


SCRIPT = """
import os, sys, threading, time
import numpy as np
sys.path.insert(0, {here!r})
from test_tape import add, options
options.threads = 3
x, y = np.arange(1000), np.zeros(1000, np.int64)
tape = add(x, y, 2, grain=10)
tape.play()
"""
ENDINGS = {
    "at once": "",
    "while resting": "time.sleep(0.05)",
    "while another thread plays": """
def forever():
    while True:
        tape.play()
threading.Thread(target=forever, daemon=True).start()
time.sleep(0.05)
""",
    "after a fork": """
child = os.fork()
y[:] = 0
tape.play()
assert (y == x + 2).all()
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
    "in a forked child, by its own interpreter": """
child = os.fork()
tape.play()
if child:
    assert os.waitpid(child, 0)[1] == 0
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_process_ends_well(ending):
    if "fork" in ending and not hasattr(os, "fork"):
        pytest.skip("no fork here")
    script = SCRIPT.format(here=os.path.dirname(__file__)) + ENDINGS[ending]
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")


def test_the_pool_follows_the_number_of_threads(monkeypatch):
    x, y = np.arange(100), np.zeros(100, np.int64)
    tape = add(x, y, 1, grain=1)
    for number in (3, 2, 4, 1):
        monkeypatch.setattr(options, "threads", number)
        tape.play()
        names = [thread.name for thread in threading.enumerate() if thread.name.startswith("tfnb-worker")]
        assert len(names) == (number - 1 or 3)          # one thread alone leaves the pool as it is
        assert pool.usable_threads() == number


def slow(items: int, grain: int, rows: int = 1) -> tuple[Tape, np.ndarray]:
    """Return a tape of hours, and its words: the count of chunks that ran, and one that makes all others quick."""
    words = np.zeros(2, np.int64)
    block = np.array([words.ctypes.data, words.ctypes.data + 8], np.int64)
    return Tape([(jit.address(SLOW), block.ctypes.data, items, grain)] * rows, keep=(words, block)), words


def interrupt_once_begun(words: np.ndarray) -> threading.Thread:
    def work() -> None:
        while words[0] < 3:
            time.sleep(0.01)
        _thread.interrupt_main()
    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.mark.parametrize("items, rows", [(10 ** 8, 1), (1, 10 ** 6)])
def test_an_interrupt_ends_a_long_play(items, rows, threads):
    """It comes in the midst: a play that could not be interrupted would take hours."""
    tape, words = slow(items, 1, rows)
    thread = interrupt_once_begun(words)
    with pytest.raises(KeyboardInterrupt):
        tape.play()
    thread.join()
    count = words[0]
    assert count < items * rows
    time.sleep(0.01)
    assert words[0] == count, "a worker goes on"
    words[1] = 1
    short, words = slow(3, 1)
    short.play()                                   # the pool is free, and nothing is left of the interrupt
    assert words[0] == 3


def test_a_row_that_writes_to_a_variable_is_not_cut_in_two(threads):
    """Neither is what follows at once, if it ends in a second."""
    tape, words = slow(2000, 1)
    rows = tape._rows.copy()
    rows[0, 3] |= WRITES
    tape = Tape([tuple(rows[0].tolist())] * (MANY + 1), keep=tape)
    thread = interrupt_once_begun(words)
    threading.Timer(0.05, words.__setitem__, (1, 1)).start()
    with pytest.raises(KeyboardInterrupt):
        tape.play()
        thread.join()
        time.sleep(5)
    assert words[0] == 2000 * (MANY + 1)


def test_a_handler_that_raises_nothing_lets_the_play_go_on(threads, monkeypatch):
    """What it runs itself is not interrupted, and nothing of it is lost."""
    tape, words = slow(10 ** 8, 1)
    inner, done = slow(200, 1)

    def handle(number: int, frame: object) -> None:
        if done[0]:
            raise OSError("the second signal")
        inner.play()
        interrupt_once_begun(words)
    before = signal.signal(signal.SIGINT, handle)
    try:
        interrupt_once_begun(words)
        with pytest.raises(OSError, match="the second"):
            tape.play()
    finally:
        signal.signal(signal.SIGINT, before)
    assert done[0] == 200
