"""Batches of arrays through a queue that a thread fills by feeding it: the data is not in the graph."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from tfnb.core.dtypes import as_dtype
from tfnb.core.errors import OutOfRangeError
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.ops.control.source import placeholder
from tfnb.ops.data_flow.queues import FIFOQueue, RandomShuffleQueue
from tfnb.train.input.queue_runner import QueueRunner, add_queue_runner


class FeedingQueueRunner(QueueRunner):
    """Queue runner whose enqueue ops are fed. feeds: for each of them a function that returns an iterator of feeds."""

    def __init__(self, queue: Any, enqueue_ops: list[Any],
                 feeds: Sequence[Callable[[], Iterator[dict[Any, Any]]]]) -> None:
        super().__init__(queue, enqueue_ops)
        self._feeds = dict(zip(enqueue_ops, feeds, strict=True))

    def _enqueuer(self, sess: Any, enqueue_op: Any) -> Callable[[], Any]:
        feeds = self._feeds[enqueue_op]()

        def enqueue() -> None:
            """Enqueue the next rows. Raises OutOfRangeError at the end of the data."""
            feed = next(feeds, None)
            if feed is None:
                raise OutOfRangeError(None, enqueue_op, "the arrays have been fed num_epochs times")
            sess.run(enqueue_op, feed)
        return enqueue


def _feeds(arrays: list[np.ndarray], places: list[Any], step: int, epochs: int | None,
           start: int) -> Iterator[dict[Any, Any]]:
    """Yield feeds of at most `step` rows each; they go on into the next epoch, and end with the last one."""
    size = len(arrays[0])
    left = size * epochs if epochs is not None else None
    while size and (left is None or left > 0):
        count = step if left is None else min(step, left)
        rows = np.arange(start, start + count) % size
        yield {place: array[rows] for place, array in zip(places, arrays, strict=True)}
        start = (start + count) % size
        left = None if left is None else left - count


def enqueue_data(arrays: list[np.ndarray], batch_size: int, num_epochs: int | None, shuffle: bool, capacity: int,
                 num_threads: int = 1, seed: int | None = None) -> list[Any]:
    """Return tensors of batches of the arrays' rows, which come through a queue.

    arrays: of one length. shuffle: draw at random among up to `capacity` rows. The last batch of the last epoch may be
    smaller.
    """
    with name_scope("enqueue_input"):
        types = [as_dtype(array.dtype) for array in arrays]
        shapes = [array.shape[1:] for array in arrays]
        queue: Any = RandomShuffleQueue(capacity, capacity // 4, types, shapes, seed=seed) if shuffle \
            else FIFOQueue(capacity, types, shapes)
        chosen = get_default_graph().seed if seed is None else seed
        starts = np.random.RandomState(None if chosen is None else chosen % 2 ** 32)
        ops, feeds = [], []
        for _ in range(1 if num_epochs is not None else num_threads):      # each would go through all the epochs
            places = [placeholder(dtype, [None, *shape]) for dtype, shape in zip(types, shapes, strict=True)]
            ops.append(queue.enqueue_many(places))
            begin = int(starts.randint(len(arrays[0]))) if shuffle and num_epochs is None else 0
            feeds.append(partial(_feeds, arrays, places, max(1, min(batch_size, capacity)), num_epochs, begin))
        add_queue_runner(FeedingQueueRunner(queue, ops, feeds))
    found = queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)
    return found if isinstance(found, list) else [found]
