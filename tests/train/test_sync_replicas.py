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
