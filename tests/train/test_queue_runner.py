"""QueueRunner: its arguments, what its threads do with errors, its proto."""
from __future__ import annotations

import pytest

import tfnb as tf


def a_queue(name="q"):
    queue = tf.FIFOQueue(3, [tf.float32], [[]], name=name)
    return queue, queue.enqueue(1.0)


def ended(threads) -> bool:
    for thread in threads:
        thread.join(10)
    return not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("types", [
    [tf.errors.OutOfRangeError], tf.errors.OutOfRangeError, (), (3,), ("OutOfRangeError",), (int,),
    (tf.errors.OutOfRangeError, 3), (tf.errors.OutOfRangeError(None, None, "end"),), (KeyboardInterrupt,)])
def test_types_of_exceptions_are_a_tuple_of_exception_classes(types):
    queue, put = a_queue()
    with pytest.raises(TypeError, match="must be a tuple of tf.error types, but saw"):
        tf.train.QueueRunner(queue, [put], queue_closed_exception_types=types)


def test_arguments():
    queue, put = a_queue()
    proto = tf.train.QueueRunner(queue, [put]).to_proto()
    for arguments in ({}, {"queue": queue}, {"queue": queue, "enqueue_ops": []}, {"enqueue_ops": [put]}):
        with pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
            tf.train.QueueRunner(**arguments)
    for arguments in ({"queue": queue}, {"enqueue_ops": [put]}, {"queue": queue, "enqueue_ops": [put]}):
        with pytest.raises(ValueError, match="mutually exclusive"):
            tf.train.QueueRunner(queue_runner_def=proto, **arguments)


def test_what_is_given_is_used_and_the_rest_is_made():
    queue, put = a_queue()
    close, cancel = tf.no_op("close"), tf.no_op("cancel")
    given = tf.train.QueueRunner(queue, (put,), close, cancel, (tf.errors.InvalidArgumentError, tf.errors.AbortedError))
    assert (given.queue, given.enqueue_ops, given.close_op, given.cancel_op) == (queue, [put], close, cancel)
    assert given.queue_closed_exception_types == (tf.errors.InvalidArgumentError, tf.errors.AbortedError)
    made = tf.train.QueueRunner(queue, [put])
    assert made.queue_closed_exception_types == (tf.errors.OutOfRangeError,)
    ops = made.close_op, made.cancel_op
    assert [op.type for op in ops] == ["QueueCloseV2"] * 2
    assert [op.get_attr("cancel_pending_enqueues") for op in ops] == [False, True]


@pytest.mark.parametrize("types, closed", [
    ((tf.errors.InvalidArgumentError,), True), ((tf.errors.AbortedError, tf.errors.InvalidArgumentError), True),
    (None, False)])
def test_an_exception_of_these_types_closes_the_queue(types, closed):
    """All else is an error, for the coordinator or to be kept."""
    queue, _ = a_queue()
    bad = queue.enqueue(tf.placeholder(tf.float32, [], name="unfed"))
    runner = tf.train.QueueRunner(queue, [bad], queue_closed_exception_types=types)
    with tf.Session() as session:
        assert ended(runner.create_threads(session, start=True))
        assert bool(session.run(queue.is_closed())) is closed
        kept = [] if closed else [tf.errors.InvalidArgumentError]
        assert [type(error) for error in runner.exceptions_raised] == kept
        assert [type(error) for error in runner.failures] == kept


def test_the_last_thread_that_ends_closes_the_queue():
    queue, _ = a_queue()
    fed = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    runner = tf.train.QueueRunner(queue, [queue.enqueue(tf.cast(fed, tf.float32)), queue.enqueue(tf.placeholder(
        tf.float32, [], name="unfed"))], queue_closed_exception_types=(tf.errors.OutOfRangeError,
                                                                       tf.errors.InvalidArgumentError))
    taken, size = queue.dequeue_many(4), queue.size()
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert runner.threads_in(session) == 0
        producer = tf.train.start_queue_runners(session)
        threads = runner.create_threads(session, start=True)
        # The thread that fails at once must not close the queue under the other.
        assert sorted(session.run(taken)) == [0, 1, 2, 3]
        assert ended([*producer, *threads]) and runner.threads_in(session) == 0
        assert session.run(queue.is_closed()) and session.run(size) == 0


def test_threads_are_made_once_a_session_until_they_end():
    queue, put = a_queue()
    runner = tf.train.QueueRunner(queue, [put, put])
    coord = tf.train.Coordinator()
    with tf.Session() as session, tf.Session() as other:
        threads = runner.create_threads(session, coord)
        assert runner.threads_in(session) == 2 and runner.threads_in(other) == 0
        assert [thread.name for thread in threads] == [
            "QueueRunnerThread-q-q_enqueue"] * 2 + ["QueueRunnerThread-q-close_on_stop"]
        assert not any(thread.is_alive() or thread.daemon for thread in threads)
        assert runner.create_threads(session, coord, start=True) == []
        assert len(runner.create_threads(other, daemon=True)) == 2 == runner.threads_in(other)
        for thread in threads:
            thread.start()
        coord.request_stop()
        coord.join()
        assert ended(threads) and runner.threads_in(session) == 0
        again = runner.create_threads(session, daemon=True, start=True)
        assert [thread.daemon for thread in again] == [True] * 2 and ended(again)
        assert all(isinstance(error, tf.errors.CancelledError) for error in runner.exceptions_raised)


def test_one_thread_is_not_made_twice():
    queue, put = a_queue()
    runner = tf.train.QueueRunner(queue, [put])
    with tf.Session() as session:
        threads = runner.create_threads(session, start=True)
        assert len(threads) == 1 == runner.threads_in(session) and runner.create_threads(session) == []
        session.run(runner.cancel_op)
        assert ended(threads) and len(runner.create_threads(session)) == 1


def test_protos_lose_one_scope_and_get_another():
    with tf.name_scope("a"):
        queue, put = a_queue()
        runner = tf.train.QueueRunner(queue, [put], queue_closed_exception_types=(
            tf.errors.OutOfRangeError, tf.errors.CancelledError))
    assert runner.to_proto("b") is None and runner.to_proto().queue_name == "a/q"
    proto = runner.to_proto("a")
    assert (proto.queue_name, list(proto.enqueue_op_name), proto.close_op_name, proto.cancel_op_name) == (
        "q", ["q_enqueue"], "q_Close", "q_Close_1")
    assert runner.to_proto("a/") == proto
    again = tf.train.QueueRunner.from_proto(proto, import_scope="a")
    assert again.name == "a/q" and again.enqueue_ops == [put]
    assert (again.close_op, again.cancel_op) == (runner.close_op, runner.cancel_op)
    assert again.queue_closed_exception_types == (tf.errors.OutOfRangeError, tf.errors.CancelledError)
    proto.ClearField("queue_closed_exception_types")
    old = tf.train.QueueRunner(queue_runner_def=proto, import_scope="a")
    assert old.queue_closed_exception_types == (tf.errors.OutOfRangeError,)


def test_runners_of_a_collection_are_started_as_they_are_told():
    queue, put = a_queue()
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [put]), "mine")
    assert not tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    with tf.Session() as session:
        assert tf.train.start_queue_runners() == []
        threads = tf.train.start_queue_runners(session, start=False, daemon=False, collection="mine")
        assert [(thread.is_alive(), thread.daemon) for thread in threads] == [(False, False)]
    with tf.Session() as session:
        threads = tf.train.start_queue_runners(collection="mine")
        assert [thread.daemon for thread in threads] == [True]
        session.run(queue.close(cancel_pending_enqueues=True))
        assert ended(threads)
