"""Batches by index, and queues that workers fill with them: `tf.keras.utils.Sequence`, enqueuers."""
from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class Sequence:
    """Base of data sets whose batches have numbers: subclasses define `__getitem__(index)` and `__len__()`.

    on_epoch_end() is called after each epoch.

    >>> class Squares(tf.keras.utils.Sequence):
    ...     def __len__(self):
    ...         return 3
    ...     def __getitem__(self, index):
    ...         return index ** 2
    >>> list(Squares())
    [0, 1, 4]
    """

    def __getitem__(self, index: int) -> Any:
        """Return the batch at an index."""
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__(index)")

    def __len__(self) -> int:
        """Return the number of batches."""
        raise NotImplementedError(f"{type(self).__name__} must define __len__()")

    def on_epoch_end(self) -> None:
        """Do nothing."""

    def __iter__(self) -> Iterator[Any]:
        yield from (self[index] for index in range(len(self)))


class SequenceEnqueuer:
    """Base of queues that threads fill with batches.

    sequence: what they are taken of. use_multiprocessing: True is refused: workers are threads.

    >>> issubclass(tf.keras.utils.OrderedEnqueuer, tf.keras.utils.SequenceEnqueuer)
    True
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False) -> None:
        if use_multiprocessing:
            raise NotImplementedError("use_multiprocessing=True: expected False, workers are threads here")
        self.sequence, self.use_multiprocessing = sequence, use_multiprocessing
        self.queue: queue.Queue[Any] | None = None
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def is_running(self) -> bool:
        """Return whether workers fill the queue."""
        return self._thread is not None and not self._stopped.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Start to fill the queue. workers: number of threads. max_queue_size: number of batches that wait."""
        self.queue = queue.Queue(max_queue_size)
        self._stopped.clear()
        self._thread = threading.Thread(target=self._run, args=(workers,), daemon=True)
        self._thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Stop the workers. timeout: seconds to wait for them."""
        self._stopped.set()
        if self.queue is not None:
            while not self.queue.empty():
                self.queue.get_nowait()
        if self._thread is not None:
            self._thread.join(timeout)

    def _put(self, item: Any) -> bool:
        """Wait for a place in the queue; return False once the workers are stopped."""
        assert self.queue is not None
        while not self._stopped.is_set():
            try:
                self.queue.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def _run(self, workers: int) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define how it takes batches")

    def get(self) -> Iterator[Any]:
        """Yield batches. An error of a worker is raised here."""
        assert self.queue is not None, "call start() first"
        while self.is_running():
            try:
                found = self.queue.get(timeout=0.1)
            except queue.Empty:
                continue
            if found is None:
                return
            item = found.result()
            if item is not None:
                yield item


class OrderedEnqueuer(SequenceEnqueuer):
    """A queue of the batches of a Sequence in their order, again and again.

    sequence: the Sequence. use_multiprocessing: True is refused. shuffle: whether the order of the batches is another
    one in each epoch.

    >>> class Squares(tf.keras.utils.Sequence):
    ...     def __len__(self):
    ...         return 3
    ...     def __getitem__(self, index):
    ...         return index ** 2
    >>> enqueuer = tf.keras.utils.OrderedEnqueuer(Squares())
    >>> enqueuer.start(workers=2)
    >>> batches = enqueuer.get()
    >>> [next(batches) for _ in range(4)]
    [0, 1, 4, 0]
    >>> enqueuer.stop()
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False) -> None:
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _run(self, workers: int) -> None:
        with ThreadPoolExecutor(workers) as pool:
            while not self._stopped.is_set():
                order = list(range(len(self.sequence)))
                if self.shuffle:
                    random.shuffle(order)
                futures = []
                for index in order:
                    futures.append(pool.submit(self.sequence.__getitem__, index))
                    if not self._put(futures[-1]):
                        return
                while not self._stopped.is_set() and not all(each.done() for each in futures):
                    time.sleep(0.001)               # the next epoch begins when this one is read
                self.sequence.on_epoch_end()


class GeneratorEnqueuer(SequenceEnqueuer):
    """A queue of what a generator yields.

    sequence: the generator. use_multiprocessing: True is refused.

    >>> enqueuer = tf.keras.utils.GeneratorEnqueuer(iter([1, 2]))
    >>> enqueuer.start()
    >>> list(enqueuer.get())
    [1, 2]
    >>> enqueuer.stop()
    """

    def _run(self, workers: int) -> None:
        with ThreadPoolExecutor(1) as pool:                 # a generator runs in one thread at a time
            end = object()
            while not self._stopped.is_set():
                future = pool.submit(next, self.sequence, end)
                if future.exception() is None and future.result() is end:
                    self._put(None)
                    return
                if not self._put(future) or future.exception() is not None:
                    return
