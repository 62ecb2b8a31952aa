"""Records of files through several readers into one queue: `tf.contrib.slim.parallel_reader`."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.core.files.gfile import Glob
from tfnb.graph.stack import name_scope
from tfnb.ops.data_flow.queues import FIFOQueue, RandomShuffleQueue
from tfnb.train.input.batching import string_input_producer
from tfnb.train.input.queue_runner import QueueRunner, add_queue_runner


def get_data_files(data_sources: Any) -> list[str]:
    """Return the files of names and patterns. Raises ValueError if there are none.

    data_sources: a name, a pattern with * or ?, or a list of them.

    >>> with open("a.txt", "w") as file:
    ...     n = file.write("one")
    >>> tf.contrib.slim.parallel_reader.get_data_files("*.txt")
    ['./a.txt']
    """
    if isinstance(data_sources, (list, tuple)):
        found = [file for source in data_sources for file in get_data_files(source)]
    else:
        found = Glob(data_sources) if any(mark in data_sources for mark in "*?[") else [data_sources]
    if not found:
        raise ValueError(f"No data files found in {data_sources}")
    return found


class ParallelReader:
    """Readers that fill one queue, from which `read` takes.

    reader_class: of the readers; reader_kwargs: their arguments. common_queue: of keys and values. num_readers: one or
    more.

    >>> queue = tf.FIFOQueue(10, [tf.string, tf.string], shapes=[(), ()])
    >>> reader = tf.contrib.slim.parallel_reader.ParallelReader(tf.TextLineReader, queue, num_readers=2)
    >>> len(reader.read(tf.train.string_input_producer(["a.txt"])))
    2
    """

    def __init__(self, reader_class: Any, common_queue: Any, num_readers: int = 4, reader_kwargs: Any = None) -> None:
        if len(common_queue.dtypes) != 2:
            raise TypeError(f"common_queue must hold keys and values, got dtypes {common_queue.dtypes}")
        self._queue = common_queue
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]

    @property
    def common_queue(self) -> Any:
        """The queue."""
        return self._queue

    def read(self, queue: Any, name: str | None = None) -> Any:
        """Return (key, value) of the next record of the files whose names `queue` gives; adds a queue runner."""
        add_queue_runner(QueueRunner(self._queue, [self._queue.enqueue(reader.read(queue))
                                                   for reader in self._readers]))
        return self._queue.dequeue(name=name)


def parallel_read(data_sources: Any, reader_class: Any, num_epochs: int | None = None, num_readers: int = 4,
                  reader_kwargs: Any = None, shuffle: bool = True, dtypes: Any = (dtypes.string, dtypes.string),
                  capacity: int = 256, min_after_dequeue: int = 128, seed: int | None = None,
                  scope: str | None = None) -> Any:
    """Return tensors (key, value) of the next record, which `num_readers` readers read in the background.

    data_sources: as of get_data_files. reader_class, reader_kwargs: of the readers. num_epochs: how often files are
    read; None: without end. shuffle: draw records at random among those in the queue, at least min_after_dequeue.
    dtypes: of keys and values. capacity: of the queue. seed: of the order. scope: of the ops.

    >>> with open("a.txt", "w") as file:
    ...     n = file.write("one\\n")
    >>> key, value = tf.contrib.slim.parallel_reader.parallel_read(
    ...     "a.txt", tf.TextLineReader, num_epochs=1, num_readers=1, shuffle=False)
    >>> with tf.train.MonitoredSession() as session:
    ...     session.run(value)
    b'one'
    """
    with name_scope(scope, "parallel_read"):
        files = string_input_producer(get_data_files(data_sources), num_epochs=num_epochs, shuffle=shuffle, seed=seed,
                                      name="filenames")
        queue: Any = FIFOQueue(capacity, list(dtypes), [(), ()], name="common_queue") if not shuffle else \
            RandomShuffleQueue(capacity, min_after_dequeue, list(dtypes), [(), ()], seed=seed, name="common_queue")
        return ParallelReader(reader_class, queue, num_readers, reader_kwargs).read(files)
