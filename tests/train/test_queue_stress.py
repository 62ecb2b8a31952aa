"""Queues under many threads: nothing lost, nothing doubled, no thread left behind, however and whenever they end.

With TFNB_STRESS=1 a million elements and 1,000 endings, which takes some minutes; else a fraction of that.
"""
from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

import tfnb as tf

FULL = os.environ.get("TFNB_STRESS") == "1"
ELEMENTS, ENDINGS = (1_000_000, 1_000) if FULL else (80_000, 150)
ENQUEUING, DEQUEUING = 8, 4
KINDS = {
    "fifo": lambda capacity: tf.FIFOQueue(capacity, tf.int64, []),
    "shuffle": lambda capacity: tf.RandomShuffleQueue(capacity, capacity // 2, tf.int64, [], seed=1),
    "padding": lambda capacity: tf.PaddingFIFOQueue(capacity, [tf.int64], [[]]),
    "priority": lambda capacity: tf.PriorityQueue(capacity, tf.string, []),
}
ENDED = (tf.errors.CancelledError, tf.errors.OutOfRangeError)


class Ends:
    """The ops of a queue as functions of a session; a second component, where there is one, goes along."""

    def __init__(self, queue, sess):
        feed, batch = tf.placeholder(tf.int64, []), tf.placeholder(tf.int64, [None])
        n = tf.placeholder(tf.int32, [])
        more = len(queue.dtypes) - 1
        self.enqueue = sess.make_callable(queue.enqueue([feed] + [tf.as_string(feed)] * more), feed_list=[feed])
        self.enqueue_many = sess.make_callable(queue.enqueue_many([batch] + [tf.as_string(batch)] * more),
                                               feed_list=[batch])
        self.dequeue = sess.make_callable(self.first(queue.dequeue()))
        self.dequeue_many = sess.make_callable(self.first(queue.dequeue_many(n)), feed_list=[n])
        self.dequeue_up_to = sess.make_callable(self.first(queue.dequeue_up_to(n)), feed_list=[n])
        self.size = sess.make_callable(queue.size())
        self.close = sess.make_callable(queue.close())
        self.cancel = sess.make_callable(queue.close(cancel_pending_enqueues=True))

    @staticmethod
    def first(components):
        return components[0] if isinstance(components, list) else components

    def put(self, ids, random):
        """Enqueue `ids`, one by one or together."""
        if len(ids) == 1 and random.integers(2):
            self.enqueue(ids[0])
        else:
            self.enqueue_many(ids)

    def take(self, most, random):
        """Dequeue some elements."""
        how = random.integers(3)
        if how == 0:
            return [int(self.dequeue())]
        return [self.dequeue_many, self.dequeue_up_to][how - 1](int(random.integers(1, most + 1))).tolist()

    def drain(self):
        """What is left in a closed queue."""
        return self.dequeue_up_to(int(self.size())).tolist() if self.size() else []


def run_all(threads, seconds):
    """Start and join threads; those that still run after so many seconds fail the test."""
    for thread in threads:
        thread.start()
    return lambda: end_all(threads, seconds)


def end_all(threads, seconds):
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
    assert not [t.name for t in threads if t.is_alive()]


@pytest.mark.parametrize("kind", KINDS)
def test_none_lost_none_doubled(kind):
    total = ELEMENTS // len(KINDS) // ENQUEUING * ENQUEUING
    got, errors = [[] for _ in range(DEQUEUING)], []
    with tf.Session() as sess:
        ends = Ends(KINDS[kind](50), sess)

        def put(number):
            random, i = np.random.default_rng(number), number
            while i < total:
                ids = np.arange(i, min(total, i + int(random.integers(1, 8)) * ENQUEUING), ENQUEUING)
                ends.put(ids, random)
                i += len(ids) * ENQUEUING

        def take(number):
            random = np.random.default_rng(100 + number)
            try:
                while True:
                    got[number] += ends.take(20, random)
            except tf.errors.OutOfRangeError:
                pass

        def guarded(work, number):
            try:
                work(number)
            except Exception as error:
                errors.append(error)
        putting = [threading.Thread(target=guarded, args=(put, i)) for i in range(ENQUEUING)]
        taking = [threading.Thread(target=guarded, args=(take, i)) for i in range(DEQUEUING)]
        finish_taking = run_all(taking, 600 if FULL else 60)
        run_all(putting, 600 if FULL else 60)()
        ends.close()
        finish_taking()
        rest = ends.drain()
    assert not errors
    assert sorted(sum(got, rest)) == list(range(total))


class Round:
    """One queue, threads at both of its ends, and the books they keep."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.tried, self.put, self.got, self.errors = [], [], [], []
        self.next_id, self.lock = 0, threading.Lock()

    def ids(self, random):
        with self.lock:
            ids = np.arange(self.next_id, self.next_id + int(random.integers(1, 6)))
            self.next_id += len(ids)
            self.tried += ids.tolist()
        return ids

    def putting(self, ends, seed):
        random = np.random.default_rng(seed)
        while True:
            ids = self.ids(random)
            ends.put(ids, random)
            with self.lock:
                self.put += ids.tolist()

    def taking(self, ends, seed):
        random = np.random.default_rng(seed)
        while True:
            found = ends.take(5, random)
            with self.lock:
                self.got += found

    def work(self, what, ends, seed):
        try:
            what(ends, seed)
        except ENDED:
            pass
        except RuntimeError as error:
            if "closed Session" not in str(error):
                self.errors.append(error)
        except Exception as error:
            self.errors.append(error)


def test_endings_at_random_moments():
    before = threading.active_count()
    for seed in range(ENDINGS):
        tf.reset_default_graph()
        book = Round(seed)
        random = book.random
        sess = tf.Session()
        ends = Ends(KINDS[random.choice(list(KINDS))](int(random.integers(1, 12))), sess)
        kinds = [book.putting] * int(random.integers(1, 5)) + [book.taking] * int(random.integers(1, 4))
        threads = [threading.Thread(target=book.work, args=(what, ends, 1000 * seed + i))
                   for i, what in enumerate(kinds)]
        finish = run_all(threads, 30)
        time.sleep(float(random.uniform(0, 0.004)))
        ending = ["close", "cancel", "session"][random.integers(3)]
        {"close": ends.close, "cancel": ends.cancel, "session": sess.close}[ending]()
        finish()
        assert not book.errors, (seed, ending, book.errors)
        rest = [] if ending == "session" else ends.drain()
        found = book.got + rest
        assert len(found) == len(set(found)), (seed, ending, "doubled")
        assert set(found) <= set(book.tried), (seed, ending, "invented")
        if ending != "session":
            assert set(book.put) <= set(found), (seed, ending, "lost")
        sess.close()
    assert threading.active_count() == before


@pytest.mark.slow
def test_coordinated_threads_end_with_an_exception_at_any_moment():
    before = threading.active_count()
    for seed in range(ENDINGS // 2):
        tf.reset_default_graph()
        random = np.random.default_rng(seed)
        queue = tf.RandomShuffleQueue(20, 5, tf.float32, [], seed=seed)
        limited = tf.train.limit_epochs(tf.constant(1.0), num_epochs=int(random.integers(1, 200)))
        runner = tf.train.QueueRunner(queue, [queue.enqueue(limited)] * 3)
        tf.train.add_queue_runner(runner)
        batch = queue.dequeue_many(4)
        fails = int(random.integers(0, 30))
        with tf.Session() as sess:
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coord)
            for step in range(1000):
                if coord.should_stop() or step == fails:
                    break
                try:
                    assert sess.run(batch).tolist() == [1.0] * 4
                except tf.errors.OutOfRangeError as error:
                    coord.request_stop(error)
            if not coord.should_stop():
                coord.request_stop(KeyError(seed))
                with pytest.raises(KeyError):
                    coord.join(threads, stop_grace_period_secs=10)
            else:
                coord.join(threads, stop_grace_period_secs=10)
        assert not [t.name for t in threads if t.is_alive()], seed
    assert threading.active_count() == before
