"""What the document on tf.GraphKeys (r1.14) states. Its values are compared in tests/test_reference_status.py."""
from __future__ import annotations

import pytest

import tfnb as tf

K = tf.GraphKeys


def held(key):
    return tf.get_collection(key)


def test_optimizers_train_the_trainable_variables_unless_they_are_given_others():
    a, b, c = tf.Variable(1.0), tf.Variable(1.0), tf.Variable(1.0, trainable=False)
    loss = a * b * c
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    assert [v for _, v in optimizer.compute_gradients(loss)] == [a, b] == tf.trainable_variables()
    assert [v for _, v in optimizer.compute_gradients(loss, var_list=[c])] == [c]


def test_global_variables_are_the_default_collection():
    v, w = tf.Variable(1.0), tf.get_variable("w", [])
    assert held(K.GLOBAL_VARIABLES) == [v, w] == tf.global_variables() and K.VARIABLES == K.GLOBAL_VARIABLES
    assert tf.all_variables() == [v, w]


def test_local_variables_are_no_global_ones():
    v = tf.get_local_variable("v", [])
    assert held(K.LOCAL_VARIABLES) == [v] == tf.local_variables() and not tf.global_variables()
    assert not tf.trainable_variables()


def test_collections_of_a_variable_are_those_it_is_given_and_trainable():
    v = tf.Variable(1.0, collections=[K.MODEL_VARIABLES, K.GLOBAL_VARIABLES, "mine"])
    assert all(held(k) == [v] for k in (K.MODEL_VARIABLES, K.GLOBAL_VARIABLES, K.TRAINABLE_VARIABLES, "mine"))
    assert tf.model_variables() == [v]


@pytest.mark.parametrize("make", [
    lambda: tf.summary.scalar("a", 1.0), lambda: tf.summary.histogram("a", [1.0]),
    lambda: tf.summary.image("a", tf.zeros([1, 2, 2, 3])), lambda: tf.scalar_summary("a", 1.0)])
def test_summaries_are_collected_for_merge_all(make):
    assert tf.summary.merge_all() is None
    made = make()
    assert held(K.SUMMARIES) == [made]
    assert tf.summary.merge_all().op.inputs[0] is made


def test_queue_runners_are_what_start_queue_runners_starts():
    queue = tf.FIFOQueue(10, tf.float32)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)])
    tf.train.add_queue_runner(runner)
    assert held(K.QUEUE_RUNNERS) == [runner]
    batch = tf.train.batch([tf.constant(1.0)], 2)
    assert len(held(K.QUEUE_RUNNERS)) == 2 and batch.shape.as_list() == [2]
    with tf.Session() as sess:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        assert sess.run(batch).tolist() == [1.0, 1.0] and sess.run(queue.dequeue()) == 1.0
        coordinator.request_stop()
        sess.run(queue.close(cancel_pending_enqueues=True))
        coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)


def test_moving_average_variables_are_those_that_averages_are_kept_of():
    v = tf.Variable(1.0)
    tf.train.ExponentialMovingAverage(0.9).apply([v])
    assert held(K.MOVING_AVERAGE_VARIABLES) == [v] == tf.moving_average_variables()


def test_regularization_losses_are_collected_while_the_graph_is_made():
    w = tf.get_variable("w", [2], regularizer=lambda v: tf.reduce_sum(v, name="loss"))
    (loss,) = held(K.REGULARIZATION_LOSSES)
    assert loss.op.name == "w/Regularizer/loss" and w.op in (t.op for t in loss.op.inputs[0].op.inputs)


def test_savers_and_steps():
    step = tf.train.get_or_create_global_step()
    assert held(K.GLOBAL_STEP) == [step]
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.Variable(1.0) * 2.0, step)
    assert [op.type for op in held(K.TRAIN_OP)] == ["AssignAdd"]


def test_contexts_of_control_flow():
    tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2))
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    assert len(held(K.COND_CONTEXT)) == 2 and len(held(K.WHILE_CONTEXT)) == 1


def test_weights_biases_and_activations_are_not_filled_by_themselves():
    x = tf.Variable(tf.ones([2, 2]), name="weights")
    tf.nn.relu(tf.nn.bias_add(tf.matmul(x, x), tf.Variable([1.0, 1.0], name="biases")))
    assert not (held(K.WEIGHTS) or held(K.BIASES) or held(K.ACTIVATIONS))
    assert {K.WEIGHTS, K.BIASES, K.ACTIVATIONS} == {"weights", "biases", "activations"}
