"""What tfnb is in a browser: no llvmlite, no numba, no threads. In one process, where all of these fail."""
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import asyncio, sys, threading
import numpy as np, scipy.special, google.protobuf.message
sys.modules.update(dict.fromkeys(["llvmlite", "numba", "fcntl"]))
def refuse(thread):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
sys.platform = "emscripten"
import tfnb as tf
from tfnb.core.options import options
from tfnb.notebook.ownership.start_page import StartPage
from tfnb.notebook.plots.board import LiveBoard
from tfnb.notebook.run_store.train import prepare
folder = sys.argv[1]
sess = tf.InteractiveSession()
def error_of(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

# test_all_runs_are_interpreted_and_nothing_else_can_be_asked_for
x = tf.placeholder(tf.float32, [None])
for size in 2, 2, 3:
    print(sess.run(tf.reduce_sum(tf.exp(x) * 0), {x: np.ones(size)}))
print(options.compile, options.background)
for mode in "always", "second":
    print(error_of(lambda: setattr(options, "compile", mode)))

# test_what_machine_code_does_elsewhere_python_and_numpy_do
numbers = np.arange(2000) % 7
print(sess.run(tf.unique(numbers))[0].tolist(), sess.run(tf.segment_sum(numbers, numbers * 0)).tolist())
print(sess.run(tf.string_to_number(["1.5"] * 2000))[-1], sess.run(tf.decode_csv(["1,2"] * 900, [[0], [0]]))[1][7])
print(sess.run(tf.strings.regex_replace(["a1b22"], "([0-9])+|(?:b{2,3})", "_")))
one, other = (tf.SparseTensor([[0, 0]], [letter], [1, 1]) for letter in "ab")
print(sess.run(tf.edit_distance(one, other)))
print(sess.run(tf.random_normal([700, 800], seed=1)).std().round(2))
boxes = np.tile(np.float32([[0, 0, 1, 1]]), (40, 1))
print(sess.run(tf.image.non_max_suppression(boxes, np.linspace(1, 2, 40), 5)))
@tf.custom.kernel("x: T -> y: T")
def step(x, y, i):
    y[i] = x[i + 1] - x[i]
@tf.custom.elementwise
def later(x):
    return {1: x}[1] + 1 if x > 0 else x
print(sess.run(step([1.0, 4.0, 9.0])), sess.run(later([1.0, -1.0])))
w = tf.Variable([1.0, 2.0])
w.initializer.run()
options.nan_check = True
print(error_of(lambda: sess.run(w.assign(tf.log(w - 2.0)))).split(":")[0])
options.nan_check = False
sess.run([tf.summary.histogram("w", np.ones(5000))] * 2)
writer = tf.summary.FileWriter(folder + "/logs", sess.graph)
writer.add_summary(sess.run(tf.summary.scalar("loss", 0.5)), 3)
writer.close()
path = folder + "/logs/" + tf.gfile.ListDirectory(folder + "/logs")[0]
print([event.step for event in tf.train.summary_iterator(path) if event.summary.value])
saver = tf.train.Saver([w])
w.load([1.0, 2.0], sess)
saver.restore(sess, saver.save(sess, folder + "/model"))
print(sess.run(w))

# test_threads_are_gone_without_or_said_to_be_missing
data = tf.data.Dataset.range(6).map(lambda x: x * x, num_parallel_calls=4).prefetch(2).batch(6)
print(sess.run(data.make_one_shot_iterator().get_next()))
queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
add, size = queue.enqueue_many([[1, 2]]), queue.size()
print(sess.run([queue.dequeue(), add])[0], sess.run(size))
print(sess.run(tf.py_func(lambda x: x + 1, [np.float32(1.5)], tf.float32)))
sess.run(queue.dequeue())
print(error_of(lambda: sess.run(queue.dequeue())).partition("\\n")[0].partition(" (op ")[0])
tf.train.add_queue_runner(tf.train.QueueRunner(queue, [add]))
print(error_of(tf.train.start_queue_runners))
sess.run(add)
print(sess.run(queue.dequeue()))

# test_a_training_takes_turns_with_the_notebook
def training(steps):
    return prepare(lambda number: {"loss": 1.0 / (number + 1)}, steps, run="a").start()
run = training(5)
print(run.status, run.steps, run.wait().status, run.steps)
run = training(None)
print(run.pause().steps, run.step(3).steps, run.status)
print(error_of(run.wait))
print(run.resume().stop().status, run.steps >= 3, [mark.kind for mark in run.marks])
print(error_of(prepare(lambda number: 1 / 0, 9).start().wait))
async def main():
    board, told = LiveBoard("loss"), []
    board.tick = lambda now: told.append(now)
    board.show()
    run = training(None)
    while run.steps < 20:
        await asyncio.sleep(0.01)
    run.stop()
    while not told:
        await asyncio.sleep(0.01)
    board.close()
    return run.status
print(asyncio.run(main()))

# test_the_start_page_says_that_nothing_is_compiled
print(repr(StartPage()).splitlines()[1])
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The lines that each part of the program prints, by the name of the test that it belongs to."""
    pytest.importorskip("IPython")
    folder = tmp_path_factory.mktemp("browser")
    script = folder / "program.py"
    parts = PROGRAM.split("# test_")
    names = [part.partition("\n")[0] for part in parts[1:]]
    script.write_text("".join(f"print('\\f{name}')\n# {part}" for name, part in zip(["", *names], parts, strict=True)),
                      "utf-8")
    done = subprocess.run([sys.executable, "-W", "error", script, folder], capture_output=True, text=True, timeout=120,
                          cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0, done.stderr
    return {part.partition("\n")[0]: part.splitlines()[1:] for part in done.stdout.split("\f")}


@pytest.fixture
def lines(printed: dict[str, list[str]], request: pytest.FixtureRequest) -> list[str]:
    """The lines for the test that asks."""
    return printed[request.node.name.removeprefix("test_")]


def test_all_runs_are_interpreted_and_nothing_else_can_be_asked_for(lines):
    assert lines == ["0.0", "0.0", "0.0", "never False", *[
        f"ValueError: options.compile: expected 'never', got {mode!r}: llvmlite, the compiler, is not installed"
        for mode in ("always", "second")]]


def test_what_machine_code_does_elsewhere_python_and_numpy_do(lines):
    assert lines == ["[0, 1, 2, 3, 4, 5, 6] [5995]", "1.5 2", "[b'a_b_']", "[1.]", "1.0", "[39]",
                     "[3. 5. 0.] [ 2. -1.]", "InvalidArgumentError", "[3]", "[1. 2.]"]


def test_threads_are_gone_without_or_said_to_be_missing(lines):
    assert lines == [
        "[ 0  1  4  9 16 25]", "1 1", "2.5",
        "UnimplementedError: It would wait for ever: what it waits for is another thread's work, and this Python has "
        "no threads",
        "UnimplementedError: The QueueRunner of fifo_queue enqueues in threads, and this Python has none: read the "
        "input by tf.data, or enqueue by session.run", "1"]


def test_a_training_takes_turns_with_the_notebook(lines):
    assert lines == ["running 0 done 5", "0 3 paused", "RuntimeError: the training is paused: without threads, nothing "
                     "can let it go on while this cell waits for it", "stopped True ['pause', 'pause', 'end']",
                     "ZeroDivisionError: division by zero", "stopped"]


def test_the_start_page_says_that_nothing_is_compiled(lines):
    assert lines == ["Runs are interpreted by NumPy: llvmlite, which compiles kernels, is not installed."]
