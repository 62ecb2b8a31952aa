"""Queue of batches that threads prepare: `tf.contrib.slim.prefetch_queue`."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.data_flow.queues import FIFOQueue, PaddingFIFOQueue
from tfnb.ops.io.summary import scalar
from tfnb.ops.math.casting import cast
from tfnb.train.input.queue_runner import QueueRunner, add_queue_runner


def prefetch_queue(tensors: Any, capacity: int = 8, num_threads: int = 1, dynamic_pad: bool = False,
                   shared_name: str | None = None, name: str | None = None) -> Any:
    """Return a queue of tensors, which threads of a queue runner fill; `dequeue()` gives them as they were.

    tensors: a tensor, a list or a dict. capacity: of the queue. num_threads: that fill it. dynamic_pad: whether sizes
    may differ, in a PaddingFIFOQueue. shared_name: by which sessions share it. name: of the ops.

    >>> images, labels = tf.train.batch([tf.ones([2]), tf.constant(3)], batch_size=4)
    >>> images, labels = tf.contrib.slim.prefetch_queue.prefetch_queue([images, labels]).dequeue()
    >>> with tf.train.MonitoredSession() as session:
    ...     session.run(labels)
    array([3, 3, 3, 3], dtype=int32)
    """
    names = list(tensors) if isinstance(tensors, Mapping) else None
    given = [tensors[key] for key in names] if names is not None else \
        list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
    with name_scope(name, "prefetch_queue", given):
        found = [convert_to_tensor(each) for each in given]
        make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue = make(capacity, [each.dtype.base_dtype for each in found], [each.shape for each in found], names=names,
                     shared_name=shared_name)
        enqueue = queue.enqueue(found if names is None else dict(zip(names, found, strict=True)))
        add_queue_runner(QueueRunner(queue, [enqueue] * num_threads, cancel_op=queue.close(
            cancel_pending_enqueues=True)))
        scalar(f"fraction_of_{capacity}_full", cast(queue.size(), "float32") * (1.0 / capacity))
    return queue
