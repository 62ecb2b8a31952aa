"""Gauges of queues: fill, waiting calls, runners' threads and what they raised."""
import threading
import time

import pytest

import tfnb as tf
from tfnb.notebook.state.queue_view import QueuesView, gauges, html, queues


@pytest.fixture
def graph():
    tf.reset_default_graph()
    return tf.get_default_graph()


def until(check):
    end = time.monotonic() + 10
    while not check():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_fill_and_waiting_calls_are_told(graph):
    queue = tf.FIFOQueue(4, [tf.float32], shapes=[[]], name="inputs")
    put, take = queue.enqueue_many([[1.0, 2.0, 3.0]]), queue.dequeue()
    with tf.Session() as session:
        tf.FIFOQueue(2, [tf.int32], name="answers")
        assert [one.name for one in gauges(session)] == ["inputs", "answers"]
        assert queues(session, "^in").gauges() == gauges(session, "^in")
        with pytest.raises(ValueError, match="no queue matches 'inptus'; did you mean 'inputs'"):
            queues(session, "inptus")
        with pytest.raises(ValueError, match="no regular expression"):
            queues(session, "(")
        [one] = gauges(session, "inputs")
        assert (one.name, one.kind, one.size, one.capacity, one.words()) == \
            ("inputs", "FIFOQueue", None, 4, "not used yet")
        session.run(put)
        thread = threading.Thread(target=session.run, args=(put,))
        thread.start()
        until(lambda: gauges(session)[0].putting == 1)
        view = QueuesView(session)
        assert gauges(session)[0].fill() == "4 of 4" and "1 waiting to put in" in repr(view)
        for _ in range(3):
            session.run(take)
        thread.join(10)
        assert gauges(session)[0].fill() == "3 of 4" and gauges(session)[0].share() == 0.75
        session.run(queue.close())
        assert gauges(session)[0].closed
        view._told = view.gauges()
    one = view.gauges()[0]
    assert one.over and one.fill() == "was 3 of 4" and one.words() == "session closed"
    assert "waiting" not in repr(view) and "session closed" in html(view.gauges())
    assert "session closed" in repr(QueuesView(session))


def test_runners_threads(graph):
    queue = tf.FIFOQueue(100, [tf.float32], shapes=[[2]], name="examples")
    put = queue.enqueue([tf.constant([1.0, 2.0])])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [put, put]))
    coordinator = tf.train.Coordinator()
    with tf.Session() as session:
        threads = tf.train.start_queue_runners(session, coordinator)
        until(lambda: gauges(session)[0].size == 100)
        [one] = gauges(session)
        assert one.threads == 2 and "filled by 2 threads" in one.words() and one.failures == ()
        coordinator.request_stop()
        coordinator.join(threads)
        until(lambda: gauges(session)[0].threads == 0)


@pytest.mark.parametrize("told", [True, False])
def test_what_a_runners_thread_raised(graph, told):
    queue = tf.FIFOQueue(5, [tf.float32], shapes=[[2]], name="examples")
    unfed = tf.placeholder(tf.float32, [2], name="unfed")
    runner = tf.train.QueueRunner(queue, [queue.enqueue([unfed])])
    tf.train.add_queue_runner(runner)
    with tf.Session() as session:
        threads = runner.create_threads(session, tf.train.Coordinator() if told else None, daemon=True, start=True)
        until(lambda: gauges(session)[0].failures)
        threads[0].join(10)
        assert "unfed" in gauges(session)[0].failures[0] and "Error: " in html(gauges(session))


def test_a_graph_without_queues_and_hostile_names(graph):
    tf.constant(1.0)
    with tf.Session() as session:
        assert repr(QueuesView(session)) == "the graph has no queues"
    from tfnb.notebook.state.queue_view import Gauge
    shown = html([Gauge("<script>", "<img>", 1, 2, False, 0, 0, 0, ("<iframe>",))])
    assert "<script" not in shown and "<img" not in shown and "<iframe" not in shown and "width: 50%" in shown
