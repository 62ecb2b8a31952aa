"""Training in step: the graph and the numbers of TensorFlow, and several workers of one server."""
from __future__ import annotations

import threading

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.graph_rows import rows_here, rows_there

GRAPH = """
v = tf.Variable([1.0, 2.0], name="v")
w = tf.Variable([[1.0, 2.0]], name="w")
unused = tf.Variable(1.0, name="unused")
step = tf.train.get_or_create_global_step()
loss = tf.reduce_sum(v * v) + tf.reduce_sum(tf.gather(w, [0]))
average = tf.train.ExponentialMovingAverage(0.9)
optimizer = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 2, 3, average, [v])
train = optimizer.apply_gradients(optimizer.compute_gradients(loss), global_step=step)
optimizer.make_session_run_hook(True).begin()
"""
SETUP = """
def build(inner, replicas=1, total=None, **options):
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(v * v) + tf.reduce_sum(tf.square(tf.gather(w, [1])))
    optimizer = tf.train.SyncReplicasOptimizer(inner, replicas, total, **options)
    return v, w, step, optimizer, loss
"""
SNIPPETS = {
    "a step at a time": """
v, w, step, optimizer, loss = build(tf.train.MomentumOptimizer(0.1, 0.9))
train = optimizer.minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession(hooks=[optimizer.make_session_run_hook(True)],
                                       stop_grace_period_secs=0.1) as session:
    for _ in range(6):
        session.run(train)
    result = session.run([v, w, step])
[np.round(r, 4) for r in result], optimizer.get_slot_names(), sorted(x.name for x in optimizer.variables())""",
    "several gradients a step": """
v, w, step, optimizer, loss = build(tf.train.GradientDescentOptimizer(0.1), 3, 1)
train = optimizer.minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession(hooks=[optimizer.make_session_run_hook(True, num_tokens=2)],
                                       stop_grace_period_secs=0.1) as session:
    for _ in range(9):
        session.run(train)
    result = session.run(step)
2 <= result <= 3""",
    "errors": """
v, w, step, optimizer, loss = build(tf.train.GradientDescentOptimizer(0.1), 5, 2)
early = [outcome(optimizer.get_chief_queue_runner), outcome(optimizer.get_init_tokens_op),
         outcome(optimizer.make_session_run_hook(True).begin), outcome(lambda: optimizer.minimize(loss)),
         outcome(lambda: optimizer.apply_gradients([], global_step=step))]
optimizer.minimize(loss, global_step=step)
early + [outcome(lambda: optimizer.get_init_tokens_op(2)), optimizer.get_init_tokens_op(3).type,
         optimizer.get_init_tokens_op(0) is None, type(optimizer.get_chief_queue_runner()).__name__]""",
}


@pytest.mark.slow
def test_as_in_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)


def test_nodes(oracle):
    assert rows_here(GRAPH, tf) == rows_there(GRAPH, oracle)


def test_workers_of_one_server_go_in_step():
    """Two workers with different data: each step is that of the mean of their gradients."""
    target = tf.train.Server.create_local_server().target
    steps, runs = 5, [0, 0]

    def work(number: int) -> None:
        with tf.Graph().as_default():
            v = tf.Variable([1.0, 2.0], name="v")
            step = tf.train.get_or_create_global_step()
            optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 2)
            train = optimizer.minimize(tf.reduce_sum(v) * (number + 1.0), global_step=step)
            hook = optimizer.make_session_run_hook(number == 0, num_tokens=0)
            with tf.train.MonitoredTrainingSession(target, is_chief=number == 0, hooks=[hook], max_wait_secs=60,
                                                   stop_grace_period_secs=0.1) as session:
                for _ in range(steps):
                    session.run(train)
                    runs[number] += 1
                done.wait(timeout=20)

    done = threading.Barrier(2)
    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(2)]
    for thread in threads:
        thread.start()
        if thread is threads[0]:
            threading.Event().wait(0.5)            # a worker that comes too early looks again after 30 seconds only
    for thread in threads:
        thread.join(30)
    assert runs == [steps, steps]
    v, step = tf.Variable([0.0, 0.0], name="v"), tf.train.create_global_step()
    with tf.Session(target) as session:
        value, count = session.run([v, step])
    np.testing.assert_allclose(value, np.array([1.0, 2.0]) - 0.5 * 1.5 * steps)
    assert count == steps


# A run that waits for what never comes ends with an error.
PATIENCE = tf.ConfigProto(operation_timeout_in_ms=20_000)


def minimized(replicas: int, total: int | None = None, **options):
    """(optimizer, training op, variable, global step) of a loss with the gradient 1."""
    v = tf.Variable(10.0, name="v")
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), replicas, total, **options)
    return optimizer, optimizer.minimize(v * 1.0, global_step=step), v, step


@pytest.mark.parametrize("replicas, total, asked, expected", [
    (5, 2, -1, 5), (5, 2, 3, 3), (5, 2, 4, 4), (5, 2, 2, None), (5, 2, 0, None), (2, 2, -1, 2), (2, None, -1, 2),
    (2, None, 0, 0), (2, None, 1, 1), (2, 4, -1, 2), (2, 4, 0, 0), (3, 2, 1, 1), (3, 2, 0, None)])
def test_first_tokens(replicas, total, asked, expected):
    """By default replicas_to_aggregate; at least as many as the workers miss to make a first step."""
    optimizer, _, _, step = minimized(replicas, total)
    size = optimizer._sync_token_queue.size()
    if expected is None:
        with pytest.raises(ValueError, match=rf"Too few tokens.*: {asked} \(given\) vs {replicas - total} \(needed\)"):
            optimizer.get_init_tokens_op(asked)
        return
    tokens = optimizer.get_init_tokens_op(asked)
    with tf.Session(config=PATIENCE) as session:
        session.run(step.initializer)
        session.run(tokens)
        assert session.run(size) == expected


@pytest.mark.parametrize("replicas, total, tokens", [(2, None, 2), (2, 3, 3), (3, 1, 3)])
def test_a_step_takes_gradients_and_gives_tokens(replicas, total, tokens):
    """A step takes `replicas` gradients, whoever they are of, and hands each worker a token with the new step."""
    optimizer, train, v, step = minimized(replicas, total)
    queue = optimizer._sync_token_queue
    start, size, token = optimizer.get_init_tokens_op(replicas), queue.size(), queue.dequeue()
    apply, = optimizer.get_chief_queue_runner().enqueue_ops
    with tf.Session(config=PATIENCE) as session:
        session.run(tf.global_variables_initializer())
        session.run(optimizer.chief_init_op)
        session.run(start)
        for _ in range(replicas):
            assert session.run(v) == 10.0
            session.run(train)
        assert session.run(size) == 0
        session.run(apply)
        assert session.run([v, step]) == [9.0, 1] and session.run(size) == tokens
        assert [session.run(token) for _ in range(tokens)] == [1] * tokens


def test_gradients_of_an_older_step_are_dropped():
    optimizer, train, v, step = minimized(1, 2)
    start = optimizer.get_init_tokens_op(2)
    apply, = optimizer.get_chief_queue_runner().enqueue_ops
    with tf.Session(config=PATIENCE) as session:
        session.run(tf.global_variables_initializer())
        session.run(optimizer.chief_init_op)
        session.run(start)
        session.run(train)                                     # the worker goes on at step 0, with the second token
        session.run(apply)
        for _ in range(2):                                     # of step 0: dropped; then there is a token of step 1
            session.run(train)
            assert session.run([v, step]) == [9.0, 1]
        session.run(train)
        session.run(apply)
        assert session.run([v, step]) == [8.0, 2]


def test_averages_move_after_each_step():
    average = tf.train.ExponentialMovingAverage(0.5)
    v = tf.Variable(10.0, name="v")
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(2.0), 1, variable_averages=average,
                                               variables_to_average=[v])
    train = optimizer.minimize(v * 1.0, global_step=step)
    apply, = optimizer.get_chief_queue_runner().enqueue_ops
    start = optimizer.get_init_tokens_op()
    with tf.Session(config=PATIENCE) as session:
        session.run(tf.global_variables_initializer())
        session.run(optimizer.chief_init_op)
        session.run(start)
        session.run(train)
        session.run(apply)
        assert session.run([v, average.average(v)]) == [8.0, 9.0]


def test_the_hook_of_a_worker_starts_no_threads():
    optimizer, _, _, _ = minimized(1)
    for chief, threads in ((False, 0), (True, 1)):
        hook = optimizer.make_session_run_hook(chief)
        hook.begin()
        size = optimizer._sync_token_queue.size()
        coord = tf.train.Coordinator()
        with tf.Session(config=PATIENCE) as session:
            with pytest.raises(RuntimeError, match="Init operations did not make model ready"):
                hook.after_create_session(session, coord)
            session.run(tf.global_variables_initializer())
            hook.after_create_session(session, coord)
            assert optimizer.get_chief_queue_runner().threads_in(session) == threads == session.run(size)
        coord.request_stop()
        coord.join(stop_grace_period_secs=10)
