"""Coordinators, queue runners and input pipelines: what they give, how they end, and the names of their nodes."""
from __future__ import annotations

import os
import re
import signal
import threading
import time

import numpy as np
import pytest

import tfnb as tf
from tfnb.ops.io.files import MatchingFiles


def ended(threads) -> bool:
    for thread in threads:
        thread.join(10)
    return not any(thread.is_alive() for thread in threads)


# ---- Coordinator -----------------------------------------------------------------------------------------------------

def test_a_coordinator_raises_what_a_thread_reported():
    coord = tf.train.Coordinator()

    def work():
        with coord.stop_on_exception():
            raise KeyError("lost")
    threads = [threading.Thread(target=work), threading.Thread(target=coord.wait_for_stop)]
    for thread in threads:
        thread.start()
    with pytest.raises(KeyError, match="lost"):
        coord.join(threads)
    assert coord.joined and coord.should_stop()
    with pytest.raises(ValueError, match="late"):
        coord.request_stop(ValueError("late"))
    with pytest.raises(KeyError):
        coord.raise_requested_exception()
    coord.clear_stop()
    assert not coord.joined and not coord.should_stop()
    coord.raise_requested_exception()


def test_the_end_of_an_input_is_no_error():
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.OutOfRangeError(None, None, "end"))
    coord.join([])
    other = tf.train.Coordinator(clean_stop_exception_types=(KeyError,))
    other.request_stop(KeyError("clean"))
    other.join([])
    with pytest.raises(TypeError, match="must be an exception"):
        coord.request_stop("text")


def test_laggards_are_named():
    coord, go = tf.train.Coordinator(), threading.Event()
    thread = threading.Thread(target=go.wait, name="slowpoke")
    thread.start()
    coord.register_thread(thread)
    coord.request_stop()
    with pytest.raises(RuntimeError, match="Coordinator stopped with threads still running: slowpoke"):
        coord.join(stop_grace_period_secs=0.02)
    coord.join([thread], stop_grace_period_secs=0.01, ignore_live_threads=True)
    go.set()
    assert ended([thread])


def test_a_looper_thread_loops_until_it_is_stopped():
    coord, calls = tf.train.Coordinator(), []

    def target(value):
        calls.append(value)
        if len(calls) == 3:
            coord.request_stop()
    looper = tf.train.LooperThread.loop(coord, 0.001, target, args=(7,))
    coord.join([looper])
    assert calls == [7, 7, 7]
    with pytest.raises(ValueError, match="require that you also pass 'target'"):
        tf.train.LooperThread(coord, None, args=(1,))


# ---- QueueRunner -----------------------------------------------------------------------------------------------------

def test_runners_fill_a_queue_and_end_with_the_coordinator():
    queue = tf.FIFOQueue(3, [tf.float32], [[]])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 2)
    tf.train.add_queue_runner(runner)
    taken = queue.dequeue_many(10)
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        assert len(threads) == 3 and tf.train.start_queue_runners(coord=coord) == []
        np.testing.assert_array_equal(session.run(taken), np.ones(10))
        coord.request_stop()
        coord.join(threads)
        assert ended(threads) and session.run(queue.is_closed())


def test_an_error_of_a_runner_reaches_the_main_thread():
    queue = tf.FIFOQueue(3, [tf.float32], [[]])
    bad = queue.enqueue(tf.placeholder(tf.float32, [], name="unfed"))
    runner = tf.train.QueueRunner(queue, [bad, queue.enqueue(1.0)])
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = runner.create_threads(session, coord, daemon=True, start=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match="unfed"):
            coord.join(threads)
        assert ended(threads)
    with tf.Session() as session:
        threads = runner.create_threads(session, daemon=True, start=True)
        threads[0].join(10)
        session.run(runner.cancel_op)
        assert ended(threads)
        kinds = {type(error) for error in runner.exceptions_raised}
        assert kinds == {tf.errors.InvalidArgumentError, tf.errors.CancelledError}


def test_a_closed_session_ends_its_runners():
    tf.train.range_input_producer(5)
    empty = tf.FIFOQueue(1, [tf.int32], [[]])
    waiting = empty.dequeue()
    session, results = tf.Session(), []

    def take():
        try:
            session.run(waiting)
        except tf.errors.CancelledError as error:
            results.append(error)
    coord = tf.train.Coordinator()
    threads = [*tf.train.start_queue_runners(session, coord), threading.Thread(target=take)]
    threads[-1].start()
    time.sleep(0.05)
    session.close()
    assert ended(threads) and results[0].op is waiting.op


def test_a_run_may_have_a_time_limit():
    queue = tf.FIFOQueue(3, [tf.int32], [[]])
    taken, put = queue.dequeue_many(2), queue.enqueue(1)
    with tf.Session() as session:
        session.run(put)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(taken, options=tf.RunOptions(timeout_in_ms=20))
        session.run(put)
        assert session.run(taken).tolist() == [1, 1]
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20)) as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(taken)


def test_an_interrupt_loses_no_element():
    queue = tf.FIFOQueue(3, [tf.int32], [[]])
    taken, put = queue.dequeue_many(2), queue.enqueue(1)
    with tf.Session() as session:
        session.run(put)
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            session.run(taken)
        session.run(put)
        assert session.run(taken).tolist() == [1, 1]


def test_start_needs_a_session():
    with pytest.raises(ValueError, match="No default session is registered"):
        tf.train.start_queue_runners()
    with pytest.raises(TypeError, match="must be a `tf.Session`"):
        tf.train.start_queue_runners(3)


def test_a_runner_goes_through_its_proto():
    queue = tf.FIFOQueue(3, [tf.float32], [[]], name="q")
    proto = tf.train.QueueRunner(queue, [queue.enqueue(1.0)]).to_proto()
    runner = tf.train.QueueRunner.from_proto(proto)
    assert (runner.name, runner.enqueue_ops[0].name, runner.close_op.name, runner.cancel_op.name) == (
        "q", "q_enqueue", "q_Close", "q_Close_1")
    assert runner.queue_closed_exception_types == (tf.errors.OutOfRangeError,)


# ---- pipelines -------------------------------------------------------------------------------------------------------

def run_to_the_end(fetch) -> list:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        found = []
        try:
            while True:
                found.append(session.run(fetch))
        except tf.errors.OutOfRangeError:
            coord.request_stop()
        coord.join(threads)
        assert ended(threads)
        return found


@pytest.mark.parametrize("batch", [
    lambda tensors: tf.train.batch(tensors, 4, num_threads=2, allow_smaller_final_batch=True),
    lambda tensors: tf.train.batch_join([tensors] * 2, 4, allow_smaller_final_batch=True),
    lambda tensors: tf.train.shuffle_batch(tensors, 4, 20, 6, num_threads=2, allow_smaller_final_batch=True),
    lambda tensors: tf.train.shuffle_batch_join([tensors] * 3, 4, 20, 6, allow_smaller_final_batch=True),
])
def test_every_example_comes_once_an_epoch(batch):
    rows = np.arange(20, dtype="f").reshape(10, 2)
    row, label = tf.train.slice_input_producer([rows, np.arange(10)], num_epochs=3, shuffle=True, seed=3)
    batches = run_to_the_end(batch([row * 2, label]))
    labels = np.concatenate([b[1] for b in batches])
    assert sorted(labels) == sorted([*range(10)] * 3)
    np.testing.assert_array_equal(np.concatenate([b[0] for b in batches]), rows[labels] * 2)


def test_dicts_padding_and_many_at_once():
    length = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    ragged = tf.train.batch({"x": tf.fill([length], length), "n": length}, 3, dynamic_pad=True,
                            allow_smaller_final_batch=True, shapes=[[], [None]])
    found = run_to_the_end(ragged)
    assert found[0]["x"].tolist() == [[0, 0], [1, 0], [2, 2]] and found[1]["n"].tolist() == [3, 4]
    tf.reset_default_graph()
    producer = tf.train.input_producer(np.arange(6.0), num_epochs=1, shuffle=False)
    many = tf.train.batch([tf.stack([producer.dequeue()] * 2)], 4, enqueue_many=True)
    assert [b.tolist() for b in run_to_the_end(many)] == [[0, 0, 1, 1], [2, 2, 3, 3], [4, 4, 5, 5]]


def test_maybe_batch_keeps_what_it_is_told_to():
    number = tf.train.range_input_producer(9, num_epochs=1, shuffle=False).dequeue()
    kept = tf.train.maybe_batch([number], tf.equal(number % 2, 1), 2, allow_smaller_final_batch=True)
    assert np.concatenate(run_to_the_end(kept)).tolist() == [1, 3, 5, 7]
    tf.reset_default_graph()
    number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    several = tf.train.maybe_batch([tf.stack([number, -number])], [True, False], 2, enqueue_many=True)
    assert np.concatenate(run_to_the_end(several)).tolist() == [0, 1, 2, 3, 4, 5]


def test_errors_of_pipelines():
    with pytest.raises(ValueError, match="requires a non-null input tensor"):
        tf.train.string_input_producer([])
    with pytest.raises(ValueError, match="Cannot infer Tensor's rank"):
        tf.train.batch([tf.placeholder(tf.float32)], 3)
    with pytest.raises(ValueError, match="Expected at least one tensor in batch"):
        tf.train.batch([], 3)
    with pytest.raises(TypeError, match="Expected types to be consistent: float32 vs. int32"):
        tf.train.batch_join([[1.0], [1]], 3)
    with pytest.raises(ValueError, match="capacity 5 must be bigger than min_after_dequeue 5"):
        tf.train.shuffle_batch([1.0], 3, 5, 5)
    with pytest.raises(ValueError, match="num_epochs must be > 0 not 0"):
        tf.train.limit_epochs(tf.zeros([]), 0)


def test_files_that_match(tmp_path):
    for name in ("b.txt", "a.txt", "c.dat"):
        (tmp_path / name).write_text(name)
    found = tf.train.match_filenames_once(str(tmp_path / "*.txt"))
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert [name.decode() for name in session.run(found)] == [str(tmp_path / n) for n in ("a.txt", "b.txt")]
        assert session.run(MatchingFiles([str(tmp_path / "c*"), str(tmp_path / "none")])).size == 1


PIPELINES = {
    "strings": "tf.train.string_input_producer(['a', 'b'], num_epochs=2, seed=3)",
    "range": "tf.train.range_input_producer(5)",
    "slices": "tf.train.slice_input_producer([np.zeros((4, 2), 'f'), ['a', 'b', 'c', 'd']], shuffle=False)",
    "batch": "tf.train.batch([tf.zeros([2]), tf.constant(1)], 4, num_threads=2)",
    "named": "tf.train.batch([tf.zeros([2])], 4, name='mine', shared_name='ours')",
    "padded": "tf.train.batch({'a': tf.zeros([2]), 'b': tf.placeholder(tf.int32, [None])}, 4, dynamic_pad=True, "
              "allow_smaller_final_batch=True)",
    "many": "tf.train.batch([tf.zeros([5, 2])], 4, enqueue_many=True)",
    "shuffle": "tf.train.shuffle_batch([tf.zeros([2]), tf.constant(1)], 4, capacity=20, min_after_dequeue=5)",
    "join": "tf.train.batch_join([[tf.zeros([2])], [tf.ones([2])]], 4)",
    "shuffle join": "tf.train.shuffle_batch_join([[tf.zeros([2])], [tf.ones([2])]], 4, 20, 5)",
    "match": "tf.train.match_filenames_once('*.py')",
    "queues": "[tf.RandomShuffleQueue(5, 2, tf.int32, seed=1).dequeue(), tf.PriorityQueue(5, [tf.int32], [[]]), "
              "tf.FIFOQueue(5, [tf.int32, tf.float32], [[], []], ['a', 'b']).enqueue({'a': 1, 'b': 2.0})]",
}
DESCRIBE = """
made = {code}
graph = tf.get_default_graph()
result = [(n.name, n.op, list(n.input), n.device) for n in graph.as_graph_def().node], sorted(
    (key, [getattr(x, "name", "") for x in graph.get_collection(key)]) for key in graph.get_all_collection_keys()), [
    str(t.get_shape()) for t in (made if isinstance(made, list) else [made]) if hasattr(t, "get_shape")]
"""


@pytest.mark.parametrize("name", PIPELINES)
def test_nodes_are_those_of_tensorflow(oracle, name):
    code = DESCRIBE.replace("{code}", PIPELINES[name])
    scope = {"tf": tf, "np": np}
    exec(code, scope)
    assert scope["result"] == oracle(code)


def test_shuffling_draws_the_numbers_of_tensorflow(oracle):
    code = """
queue = tf.RandomShuffleQueue(20, 3, [tf.int32], [[]], seed=7)
with tf.Session() as session:
    session.run(queue.enqueue_many([np.arange(10, dtype='i')]))
    result = [session.run(queue.dequeue_many(7)).tolist()]
    session.run(queue.close())
    result.append(session.run(queue.dequeue_up_to(9)).tolist())
"""
    scope = {"tf": tf, "np": np}
    exec(code, scope)
    assert scope["result"] == oracle(code) == [[7, 1, 5, 6, 4, 3, 2], [0, 9, 8]]


ERRORS = """
import re
def text(make):
    try:
        make()
        return "none"
    except Exception as error:
        found = re.search(r"Node: .*?\\n(.*?)(\\n|$)", str(error), re.S)
        message = found[1] if found else str(error).split("\\n")[0]
        return type(error).__name__ + ": " + re.sub(r"'_[0-9]+_", "'", message)
P = tf.placeholder(tf.float32)
full = tf.FIFOQueue(3, [tf.float32, tf.int32], [[2], []], name="f")
free = tf.FIFOQueue(3, [tf.int32], name="free")
one, many = full.enqueue([P, 1]), full.enqueue_many([P, [1]])
makes = {
    "fifo": tf.FIFOQueue(3, [tf.int32], shared_name="x"), "size": tf.FIFOQueue(4, [tf.int32], shared_name="x"),
    "type": tf.FIFOQueue(3, [tf.float32], shared_name="x"),
    "kind": tf.RandomShuffleQueue(3, 1, [tf.int32], shared_name="x"),
    "min": tf.RandomShuffleQueue(3, 4, [tf.int32]), "negative": tf.RandomShuffleQueue(3, -1, [tf.int32]),
    **{f"padding {shape}": tf.PaddingFIFOQueue(3, [tf.int32], [shape], shared_name="p")
       for shape in ([None, 2], [3, 2], [None, None], [None, 3], [2])}}
sizes = {key: queue.size() for key, queue in makes.items()}
wrong = tf.QueueBase([tf.float32], [[]], None, makes["fifo"].queue_ref)
runs = [wrong.dequeue(), wrong.enqueue(1.0), free.dequeue_many(2), full.close(), full.enqueue([[1.0, 2.0], 1]),
        full.dequeue_many(2), full.dequeue_up_to(2), full.dequeue(), full.close(), full.close(True)]
with tf.Session() as session:
    result = [text(lambda: session.run(one, {P: [1, 2, 3]})), text(lambda: session.run(many, {P: [[1, 2, 3]]}))]
    result += [text(lambda: session.run(sizes[key])) for key in makes]
    result += [text(lambda: session.run(run)) for run in runs]
result += [text(make) for make in (
    lambda: tf.FIFOQueue(5, [tf.int32], [[], []]), lambda: tf.FIFOQueue(5, [tf.int32], names=["a", "b"]),
    lambda: tf.PaddingFIFOQueue(3, [tf.int32], [None]), lambda: full.enqueue({"a": 1}),
    lambda: full.enqueue([[1.0], 1]), lambda: tf.train.QueueRunner(full))]
"""


def test_errors_are_those_of_tensorflow(oracle):
    scope = {"tf": tf, "np": np}
    exec(ERRORS, scope)
    ours = [re.sub(r"All shapes must be.*", "", text) for text in scope["result"]]
    theirs = [re.sub(r"All shapes must be.*", "", text) for text in oracle(ERRORS)]
    assert ours == theirs


@pytest.mark.parametrize("make, expected", [
    (lambda x: tf.train.batch([x], 2, capacity=8), {0: 0.0, 2: 0.25, 8: 1.0}),
    (lambda x: tf.train.shuffle_batch([x], 2, 8, min_after_dequeue=4), {0: 0.0, 3: 0.0, 4: 0.0, 5: 0.25, 8: 1.0})])
def test_summaries_say_how_full_queues_are(make, expected):
    x = tf.placeholder(tf.float32, [])
    make(x)
    runner, = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    merged, count = tf.summary.merge_all(), 0
    with tf.Session() as session:
        for size, value in expected.items():
            for _ in range(size - count):
                session.run(runner.enqueue_ops[0], {x: 1.0})
            count = size
            assert tf.Summary.FromString(session.run(merged)).value[0].simple_value == value


@pytest.mark.parametrize("make, name", [
    (lambda x: tf.train.batch([x], 2, capacity=8), "batch/fraction_of_8_full"),
    (lambda x: tf.train.shuffle_batch([x], 2, 8, 4), "shuffle_batch/fraction_over_4_of_4_full"),
    (lambda x: tf.train.input_producer([1.0, 2.0], capacity=5), None),
    (lambda x: tf.train.input_producer([1.0, 2.0], capacity=5, summary_name="full"), "input_producer/full"),
    (lambda x: tf.train.range_input_producer(3, capacity=5), "input_producer/fraction_of_5_full"),
    (lambda x: tf.train.string_input_producer(["a"], capacity=5), "input_producer/fraction_of_5_full")])
def test_tags_of_these_summaries(make, name):
    make(tf.constant(1.0))
    made = tf.get_collection(tf.GraphKeys.SUMMARIES)
    with tf.Session() as session:
        tags = [tf.Summary.FromString(session.run(s)).value[0].tag for s in made]
    assert tags == ([] if name is None else [name])
