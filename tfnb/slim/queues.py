"""Queue runners of a block: `tf.contrib.slim.queues`."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfnb.train.input.coordinator import Coordinator
from tfnb.train.input.queue_runner import start_queue_runners

__all__ = ["QueueRunners"]
_GRACE_SECONDS = 120


@contextmanager
def QueueRunners(session: Any) -> Iterator[None]:
    """Run the queue runners of the graph of `session` during a block, and stop and join their threads at its end.

    >>> queue = tf.train.input_producer(tf.constant([7.0]), shuffle=False)
    >>> item = queue.dequeue()
    >>> sess.run(tf.local_variables_initializer())
    >>> with tf.contrib.slim.queues.QueueRunners(sess):
    ...     sess.run(item)
    7.0
    """
    coordinator = Coordinator()
    threads = start_queue_runners(session, coordinator)
    try:
        yield
    finally:
        coordinator.request_stop()
        try:
            coordinator.join(threads, stop_grace_period_secs=_GRACE_SECONDS)
        except RuntimeError:                       # a thread waits in a queue until the session ends
            session.close()
