"""Interrupts wait until a block is whole; sessions stay usable after them."""
from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tfnb.core.interrupts import held_back, interruptible, leave_if_abandoned

ROOT = Path(__file__).resolve().parents[2]


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_comes_after_the_block() -> None:
    before, done = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt):
        with held_back():
            with held_back():
                interrupt()
                done.append("inner")
            interrupt()
            done.append("outer")
    assert done == ["inner", "outer"] and signal.getsignal(signal.SIGINT) is before
    with held_back():
        pass


def test_an_error_of_the_block_is_kept_with_the_interrupt() -> None:
    with pytest.raises(KeyError), held_back():
        raise KeyError("a")
    with pytest.raises(KeyboardInterrupt) as caught, held_back():
        interrupt()
        raise KeyError("a")
    assert isinstance(caught.value.__context__, KeyError)


def test_other_threads_are_left_alone() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with held_back():
            seen.append(signal.getsignal(signal.SIGINT))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_long_native_calls_are_left_at_an_interrupt() -> None:
    begun, free, left = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        free.wait()
        try:
            leave_if_abandoned()
        except SystemExit:
            left.set()
    threading.Thread(target=lambda: begun.wait() and _thread.interrupt_main()).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    free.set()
    assert left.wait(60)
    leave_if_abandoned()


def test_results_and_errors_of_long_calls() -> None:
    assert interruptible(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        interruptible(divmod, 7, 0)


def test_long_calls_are_made_by_one_thread_until_it_is_abandoned() -> None:
    free = threading.Event()
    first = interruptible(threading.get_ident)
    assert interruptible(threading.get_ident) == first != threading.get_ident()
    threading.Timer(0.05, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(free.wait)
    assert interruptible(threading.get_ident) != first           # `first` is still at its work
    free.set()


LONG = """
import _thread, threading, time
import numpy as np
import tfnb as tf
from tfnb.kernels.llvm.tape import Tape

x = tf.placeholder(tf.float32, [None, None])
count = tf.Variable(0)
y = x
for _ in range(1000):
    y = tf.matmul(y, x)
with tf.control_dependencies([y]):
    step = tf.group(count.assign_add(tf.cast(tf.reduce_sum(y) * 0, tf.int32) + 1))
i = tf.while_loop(lambda i: i < 10 ** 9, lambda i: i + 1, [0])
queue = tf.FIFOQueue(1, tf.int32)
item = queue.dequeue()

playing, shared = threading.Event(), Tape._shared

def noted(tape, play):
    playing.set()
    shared(tape, play)

Tape._shared = noted

def stopped(fetches, feed_dict=None):
    def poke():
        playing.wait() if feed_dict else None
        time.sleep(0.5)
        _thread.interrupt_main()
    thread = threading.Thread(target=poke)
    thread.start()
    try:
        sess.run(fetches, feed_dict)
        thread.join()
        time.sleep(5)
    except KeyboardInterrupt:
        thread.join()
        return True
    return False

for threads in (1, 2):
    sess = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=threads))
    sess.run(count.initializer)
    small, large = np.eye(8, dtype="f"), np.eye(1000, dtype="f")
    for _ in range(2):
        sess.run(step, {x: small})
    playing.clear()
    assert stopped(step, {x: large})               # minutes
    assert sess.run(count) == 2, "the tape was played to its end"
    sess.run(step, {x: small})
    assert sess.run(count) == 3
assert stopped(i) and stopped(item)
sess.run(queue.enqueue(7))
assert sess.run(item) == 7
"""


def test_long_runs_are_interrupted(tmp_path: Path) -> None:
    """A tape of minutes, a loop of hours, a queue that nobody fills; the session goes on."""
    done = subprocess.run([sys.executable, "-c", LONG], cwd=ROOT, capture_output=True, text=True, check=False,
                          env={**os.environ, "TFNB_CACHE_DIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr


PROGRAM = """
import _thread, random, signal, sys, threading, time
import numpy as np
import tfnb as tf

x = tf.placeholder(tf.float32, [None, 8])
w = tf.Variable(tf.zeros([8, 8]))
count = tf.Variable(0)
y = tf.reduce_sum(tf.tanh(tf.matmul(x, w) + x))
step = tf.group(w.assign_add(tf.ones([8, 8])), count.assign_add(1))
sess = tf.Session()
sess.run(tf.global_variables_initializer())
sess.run(step), sess.run(step)                     # compiled: a whole program is played or none of it
sys.unraisablehook = lambda unraisable: None       # interrupts that __del__ methods swallow
going, armed, interrupts, runs = True, False, 0, 0

def interrupt(number, frame):                      # raises between try and except only
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt

signal.signal(signal.SIGINT, interrupt)

def poke():
    while going:
        time.sleep(random.random() * 0.02)
        _thread.interrupt_main()

thread = threading.Thread(target=poke, daemon=True)
end = time.monotonic() + 2
thread.start()
while time.monotonic() < end:
    try:
        armed = True
        runs += 1
        sess.run(y, {x: np.ones([1 + runs % 40, 8])})
        sess.run(step)
        armed = False
    except KeyboardInterrupt:
        interrupts += 1
going = False
thread.join()
ones = np.ones([3, 8], "f")
steps, weights = sess.run([count, w])
assert set(weights.ravel().tolist()) == {float(steps)}, "an update was cut in two"
assert interrupts > 5 and steps > 5, (interrupts, steps)
np.testing.assert_allclose(sess.run(y, {x: ones}), np.tanh(ones @ weights + 1).sum(), rtol=1e-5)
"""


@pytest.mark.slow
def test_a_session_goes_on_after_interrupts(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False,
                          env={**os.environ, "TFNB_CACHE_DIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
