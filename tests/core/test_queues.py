"""Queues under threads: nothing lost or doubled, nobody left waiting, order kept."""
from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from itertools import count

import pytest

from tfnb.core.errors import CancelledError, DeadlineExceededError, OpError, OutOfRangeError
from tfnb.resources.queues import PriorityQueue, Queue, ShuffleQueue


def fifo(capacity: int = 8) -> Queue:
    return Queue("FIFOQueue", "q", capacity)


def shuffle(capacity: int = 8, min_after: int = 0) -> ShuffleQueue:
    return ShuffleQueue("RandomShuffleQueue", "q", capacity, min_after, lambda: random.randrange(1 << 30))


def priority(capacity: int = 8) -> PriorityQueue:
    return PriorityQueue("PriorityQueue", "q", capacity)


class Caller(threading.Thread):
    """Calls a function in a thread and keeps what it returned or raised."""

    def __init__(self, fn):
        super().__init__(daemon=True)
        self.fn, self.result = fn, None
        self.start()

    def run(self):
        try:
            self.result = self.fn()
        except BaseException as error:
            self.result = error

    def value(self):
        self.join(10)
        assert not self.is_alive(), "a thread is left behind"
        return self.result


def waiting(line, number: int = 1) -> None:
    """Return when so many threads stand in a line."""
    for _ in range(2000):
        if len(line) >= number:
            return
        time.sleep(0.001)
    raise AssertionError(f"{len(line)} threads wait, not {number}")


def test_order_of_elements():
    queue = fifo()
    queue.enqueue_many([1, 2, 3])
    queue.enqueue(4)
    assert (queue.size(), queue.dequeue(), queue.dequeue_many(3), queue.size()) == (4, 1, [2, 3, 4], 0)
    first = priority()
    first.enqueue_many([(3, "c"), (1, "a"), (2, "b"), (1, "a2")])
    assert [e[1] for e in first.dequeue_many(4)] == ["a", "a2", "b", "c"]
    any_order = shuffle(100)
    any_order.enqueue_many(range(100))
    taken = any_order.dequeue_many(100)
    assert sorted(taken) == list(range(100)) and taken != list(range(100))


def test_a_shuffling_queue_keeps_some_to_choose_from():
    queue = shuffle(10, 3)
    queue.enqueue_many(range(5))
    queue.dequeue_many(2)
    caller = Caller(queue.dequeue)
    waiting(queue._taking)
    assert caller.is_alive() and queue.size() == 3
    queue.enqueue(9)
    caller.value()
    queue.close()
    assert len(queue.dequeue_many(3)) == 3


def test_more_than_fits_goes_through_piece_by_piece():
    queue = fifo(2)
    caller = Caller(lambda: queue.dequeue_many(7))
    queue.enqueue_many(range(9))
    assert caller.value() == list(range(7)) and queue.dequeue_many(2) == [7, 8]


def test_lines_are_served_in_order():
    queue = fifo(1)
    queue.enqueue(0)
    callers = []
    for i in range(1, 4):
        callers.append(Caller(lambda i=i: queue.enqueue(i)))
        waiting(queue._putting, i)
    assert [queue.dequeue() for _ in range(4)] == [0, 1, 2, 3]
    assert [c.value() for c in callers] == [None] * 3


def test_closing():
    queue = fifo()
    queue.enqueue_many([1, 2])
    queue.close()
    assert queue.is_closed()
    with pytest.raises(CancelledError, match="^FIFOQueue 'q' is closed.$"):
        queue.enqueue(3)
    with pytest.raises(CancelledError, match="^Queue 'q' is already closed.$"):
        queue.close()
    queue.close(cancel_pending=True)
    with pytest.raises(OutOfRangeError, match=r"\(requested 3, current size 2\)"):
        queue.dequeue_many(3)
    assert queue.dequeue_many(3, partial=True) == [1, 2]
    with pytest.raises(OutOfRangeError, match=r"closed and has insufficient elements \(requested 1, current size 0\)"):
        queue.dequeue()


def test_closing_lets_those_go_who_wait_for_elements():
    queue = fifo()
    queue.enqueue_many([1, 2])
    callers = [Caller(lambda: queue.dequeue_many(3)), Caller(lambda: queue.dequeue_many(3, partial=True))]
    waiting(queue._taking, 2)
    queue.close()
    assert isinstance(callers[0].value(), OutOfRangeError)         # and the queue got back what it had taken
    assert callers[1].value() == [1, 2]


def test_closing_waits_for_enqueues_before_it_unless_they_are_cancelled():
    queue = fifo(1)
    queue.enqueue(0)
    putting = Caller(lambda: queue.enqueue_many([1, 2]))
    waiting(queue._putting)
    closing = Caller(queue.close)
    waiting(queue._putting, 2)
    late = Caller(lambda: queue.enqueue(9))
    assert [queue.dequeue() for _ in range(3)] == [0, 1, 2]
    assert putting.value() is None and closing.value() is None and isinstance(late.value(), CancelledError)
    other = fifo(1)
    other.enqueue(0)
    putting = Caller(lambda: other.enqueue(1))
    waiting(other._putting)
    other.close(cancel_pending=True)
    assert "Enqueue operation was cancelled" in str(putting.value()) and other.dequeue() == 0


def test_cancelling_wakes_both_lines_for_good():
    full, empty = fifo(1), fifo(1)
    full.enqueue(0)
    callers = [Caller(lambda: full.enqueue(1)), Caller(empty.dequeue)]
    waiting(full._putting)
    waiting(empty._taking)
    full.cancel()
    empty.cancel()
    assert all(isinstance(c.value(), CancelledError) for c in callers)
    with pytest.raises(CancelledError, match="Dequeue operation was cancelled"):
        full.dequeue()


def test_a_time_limit_loses_nothing():
    queue = fifo()
    queue.enqueue(1)
    with pytest.raises(DeadlineExceededError):
        queue.dequeue_many(2, timeout=0.01)
    assert queue.dequeue() == 1
    full = fifo(1)
    full.enqueue(0)
    with pytest.raises(DeadlineExceededError):
        full.enqueue(1, timeout=0.01)
    assert full.size() == 1


def test_an_interrupt_leaves_the_line():
    """KeyboardInterrupt comes out of the lock that the main thread waits at."""
    queue = fifo()
    queue.enqueue(1)

    class Interrupted:
        def acquire(self, timeout):
            raise KeyboardInterrupt

    stand = queue._stand

    def interrupted(line, attempt):
        stand(line, attempt)
        attempt.gate = Interrupted()
        return attempt
    queue._stand = interrupted
    with pytest.raises(KeyboardInterrupt):
        queue.dequeue_many(2)
    del queue._stand
    assert not queue._taking and queue.dequeue() == 1


def pass_through(queue: Queue, total: int) -> None:
    """8 threads put numbers in, 4 take them out, by ones and by many."""
    numbers, taken = count(), Counter()
    lock = threading.Lock()

    def put():
        while True:
            with lock:
                i = next(numbers)
                few = [(j,) for j in range(5 * i, min(5 * i + 5, total))]
            if not few:
                return
            if i % 2:
                queue.enqueue_many(few)
            else:
                for element in few:
                    queue.enqueue(element)

    def take(n):
        mine = []
        try:
            while True:
                mine += queue.dequeue_many(n, partial=True) if n > 1 else [queue.dequeue()]
        except OutOfRangeError:
            with lock:
                taken.update(e[0] for e in mine)

    takers = [Caller(lambda n=n: take(n)) for n in (1, 3, 7, 20)]
    putters = [Caller(put) for _ in range(8)]
    for thread in putters:
        thread.join(60)
        assert thread.value() is None
    queue.close()
    for thread in takers:
        thread.join(60)
        assert thread.value() is None
    assert len(taken) == total and set(taken.values()) == {1}


@pytest.mark.parametrize("make", [fifo, shuffle, lambda: shuffle(20, 5), priority])
def test_nothing_is_lost_or_doubled(make):
    pass_through(make(), 2000)


@pytest.mark.slow
@pytest.mark.parametrize("make", [fifo, lambda: shuffle(20, 5), priority])
def test_nothing_of_many_is_lost_or_doubled(make):
    pass_through(make(), 300_000)


def end_at_random(seed: int) -> None:
    """Threads at work on a queue that ends somehow, sometime: all come to an end, and no element is there twice."""
    rng = random.Random(seed)
    queue = rng.choice([fifo, shuffle, priority])()
    taken: list[int] = []
    stop = threading.Event()

    def put(start):
        for i in range(start, start + 10_000):
            queue.enqueue((i,)) if i % 3 else queue.enqueue_many([(i,), (i + 500_000,)])

    def take(n):
        while True:
            got = queue.dequeue_many(n, partial=n % 2 == 0, timeout=0.05 if n == 3 else None)
            taken.extend(e[0] for e in got)
            if stop.is_set() and n == 4:
                raise ValueError("an exception of the program")

    callers = [Caller(lambda k=k: put(k * 10_000)) for k in range(8)]
    callers += [Caller(lambda n=n: take(n)) for n in (1, 2, 3, 4)]
    time.sleep(rng.random() * 0.01)
    stop.set()
    rng.choice([queue.cancel, queue.close, lambda: queue.close(True)])()
    results = [c.value() for c in callers]
    assert all(r is None or isinstance(r, (OpError, ValueError)) for r in results), results
    assert len(set(taken)) == len(taken)
    assert not queue._putting and not queue._taking


def test_ends_at_random_moments():
    for seed in range(2000 if os.environ.get("TFNB_STRESS") else 200):
        end_at_random(seed)
