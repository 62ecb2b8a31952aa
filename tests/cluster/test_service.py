"""tfnb as the server: sessions of tfnb's and TensorFlow's clients over gRPC."""
from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

import tfnb as tf
from tfnb.cluster.service import Service
from tfnb.proto import master_pb2
from tfnb.runtime.targets import set_default_target

pytest.importorskip("grpc", reason="sessions on other processes need grpcio")

TRAINING = """
rng = np.random.RandomState(0)
X, Y = rng.rand(64, 20).astype("f"), rng.randint(0, 5, 64)
x, y = tf.placeholder(tf.float32, [None, 20]), tf.placeholder(tf.int64, [None])
w, b = tf.Variable(tf.zeros([20, 5]), name="w"), tf.Variable(tf.zeros([5]), name="b")
loss = tf.losses.sparse_softmax_cross_entropy(y, tf.matmul(x, w) + b)
train = tf.train.AdamOptimizer(0.01).minimize(loss)
total = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + tf.reduce_sum(x)), [0, 0.0])[1]

def go(target):
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        losses = [float(session.run([loss, train], {x: X, y: Y})[0]) for _ in range(20)]
        return losses, float(session.run(total, {x: X[:2]})), session.run(tf.reduce_sum(w * w))

def outcome(run):
    try:
        return run()
    except tf.errors.OpError as error:
        return type(error).__name__, error.op.name if error.op is not None else None
"""
CLIENT = TRAINING + """
result = {"here": go(""), "there": go(target)}
with tf.Session(target) as session:
    bad = tf.check_numerics(tf.log(-tf.reduce_sum(tf.ones([2]))), "bad", name="bad")
    missing = tf.Variable(1.0, name="missing")
    q = tf.FIFOQueue(3, tf.string)
    session.run(q.enqueue_many([["a", "bc"]]))
    handle = session.partial_run_setup([loss, total], [x, y])
    result["more"] = [outcome(lambda: session.run(bad)), outcome(lambda: session.run(missing)),
                      session.run(q.dequeue()), len(session.list_devices()), outcome(lambda: session.run(loss, {x: X})),
                      round(float(session.partial_run(handle, total, {x: X[:2]})), 3),
                      session.partial_run(handle, loss, {y: Y[:2]}) > 0,
                      session.make_callable(w[0, 0] * 0 + b[:2] * 0)().tolist(), session.run(w).shape]
    metadata = tf.RunMetadata()
    session.run(total, {x: X}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    result["stats"] = len(metadata.step_stats.dev_stats)
with tf.Session(target) as session:
    result["kept"] = session.run(w).shape
tf.Session.reset(target)
with tf.Session(target) as session:
    result["reset"] = outcome(lambda: session.run(w))[0]
"""


@pytest.fixture
def served() -> Iterator[str]:
    """The address of a server of this process, by a name that is not its target: clients here come over gRPC too."""
    server = tf.train.Server({"local": ["127.0.0.1:0"]}, serve=True)
    yield server.target.replace("127.0.0.1", "localhost")
    server.stop()


def client(target: str) -> dict:
    names = {"tf": tf, "np": np, "target": target}
    exec(CLIENT, names)
    return names["result"]


def check(result: dict) -> None:
    for here, there in zip(result["here"], result["there"], strict=True):
        np.testing.assert_allclose(here, there, rtol=2e-5)
    bad, missing, text, devices, unfed, total, partial, made, shape = result["more"]
    assert bad == ("InvalidArgumentError", "bad") and missing[0] == "FailedPreconditionError"
    assert text == b"a" and devices >= 1 and unfed[0] == "InvalidArgumentError" and partial
    assert total == pytest.approx(result["there"][1], rel=1e-5) and made == [0, 0] and shape == (20, 5)
    assert result["stats"] >= 1 and result["kept"] == (20, 5) and result["reset"] == "FailedPreconditionError"


def test_a_session_of_tfnb(served):
    check(client(served))


def test_a_session_of_tensorflow(oracle, served):
    check(oracle(CLIENT, target=served))


def test_sessions_share_variables_and_end_alone(served):
    v = tf.Variable(3.0, name="shared")
    with tf.Session(served) as first:
        first.run(v.initializer)
        with tf.Session(served) as second:
            second.run(v.assign_add(1.0))
        assert first.run(v) == 4
        with pytest.raises(tf.errors.AbortedError, match="not found"):
            handle = first._remote._handle
            first._remote.master.call("CloseSession", master_pb2.CloseSessionRequest(session_handle=handle))
            first.run(v)
        assert first.run(v) == 4                    # a new session there, the same variables


def test_a_session_with_threads_is_lost_for_good(served):
    """Else a thread that ends after a loss would close the queue of the server that was started again."""
    queue = tf.FIFOQueue(1, tf.float32, [[]], shared_name="kept")
    runner = tf.train.QueueRunner(queue, [queue.enqueue([7.0])])
    tf.train.add_queue_runner(runner)
    coordinator = tf.train.Coordinator()
    with tf.Session(served) as session:
        threads = tf.train.start_queue_runners(session, coordinator)
        assert session.run(queue.dequeue()) == 7
        session._remote.master.call("CloseSession", master_pb2.CloseSessionRequest(
            session_handle=session._remote._handle))
        for _ in range(2):
            with pytest.raises(tf.errors.AbortedError):
                session.run(queue.size())
        coordinator.request_stop()
        for thread in threads:
            thread.join(10)
    with tf.Session(served) as session:
        session.run(queue.dequeue_up_to(1) if session.run(queue.size()) else tf.no_op())
        session.run(queue.enqueue([8.0]))           # the cancelling op of the runner did not close it


@pytest.mark.parametrize("remote", [True, False])
def test_closing_a_session_cancels_what_waits_in_it(remote):
    """The queue stays with its server: an enqueue that went on waiting would fill it for others."""
    server = tf.train.Server({"local": ["127.0.0.1:0"]}, serve=True)
    target = server.target.replace("127.0.0.1", "localhost") if remote else server.target
    queue = tf.FIFOQueue(1, tf.float32, [[]], shared_name="kept")
    add = queue.enqueue([7.0])
    session, errors = tf.Session(target), []

    def fill() -> None:
        try:
            while True:
                session.run(add)
        except tf.errors.OpError as error:
            errors.append(error)
    thread = threading.Thread(target=fill)
    thread.start()
    with tf.Session(target) as other:
        while not other.run(queue.size()):
            time.sleep(0.01)
        time.sleep(0.1)                             # the second one waits now
        session.close()
        thread.join(10)
        assert not thread.is_alive() and isinstance(errors[0], tf.errors.CancelledError), errors
        assert other.run([queue.dequeue(), queue.size()])[0] == 7 and other.run(queue.size()) == 0
    server.stop()


def in_container(name: str, target: str, shape: list[int], given: float | None) -> np.ndarray:
    """Return the value of "w" in a container, with its initializer run if there is a value for it."""
    set_default_target("", name)
    try:
        with tf.Graph().as_default(), tf.Session(target) as session:
            w = tf.get_variable("w", initializer=tf.fill(shape, given or 0.0))
            if given is not None:
                session.run(w.initializer)
            return session.run(w)
    finally:
        set_default_target("")


def test_notebooks_have_variables_of_their_own(served):
    check_containers(served)


def check_containers(target: str) -> None:
    """Check that containers keep variables apart, and that one of another shape is another variable there."""
    for name, value in (("one", 1.0), ("two", 2.0), ("", 3.0)):
        in_container(name, target, [2], value)
    np.testing.assert_array_equal(in_container("one", target, [2], None), [1, 1])
    np.testing.assert_array_equal(in_container("two", target, [2], None), [2, 2])
    np.testing.assert_array_equal(in_container("", target, [2], None), [3, 3])
    np.testing.assert_array_equal(in_container("one", target, [3], 4.0), [4, 4, 4])     # its cell ran again
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
        in_container("two", target, [3], None)
    np.testing.assert_array_equal(in_container("two", target, [2], None), [2, 2])


@pytest.mark.parametrize("kind", ["queue", "queues", "accumulator", "loop"])
def test_a_step_whose_deadline_passed_is_cancelled(monkeypatch, kind):
    ended, statuses, original = threading.Event(), [], Service.run_step

    def recorded(self, request):
        response = original(self, request)
        statuses.append(response.status_code)
        ended.set()
        return response
    monkeypatch.setattr(Service, "run_step", recorded)
    server = tf.train.Server({"local": ["127.0.0.1:0"]}, serve=True)
    target = server.target.replace("127.0.0.1", "localhost")
    queue = tf.FIFOQueue(3, tf.float32, [[]], shared_name="shared")
    taken = queue.dequeue()
    blocked = {
        "queue": taken, "queues": tf.add(taken, tf.FIFOQueue(1, tf.float32).dequeue()),
        "accumulator": tf.ConditionalAccumulator(tf.float32, [2]).take_grad(1),
        "loop": tf.while_loop(lambda n: n > 0, lambda n: n + tf.size(tf.string_split([tf.as_string(n)])), [1])}[kind]
    try:
        with tf.Session(target) as session:
            request = master_pb2.RunStepRequest(session_handle=session._remote.prepared(), fetch=[blocked.name],
                                                store_errors_in_response_body=True)
            with pytest.raises(tf.errors.DeadlineExceededError):
                session._remote.master.call("RunStep", request, 0.2)
            assert ended.wait(20) and statuses == [tf.errors.CANCELLED]
            session.run(queue.enqueue(5.0))         # no run that was cancelled takes it away
            assert session.run(queue.size()) == 1 and session.run(taken) == 5
    finally:
        server.stop()


def test_an_address_that_is_taken(served):
    with pytest.raises(OSError, match="nothing can listen"):
        tf.train.Server({"local": [served.removeprefix("grpc://").replace("localhost", "127.0.0.1")]}, serve=True)
