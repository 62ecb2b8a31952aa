"""Interrupts wait until a block is whole; sessions stay usable after them."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tfnb.core.interrupts import held_back

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
