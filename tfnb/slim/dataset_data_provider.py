"""Decoded examples of a dataset, one after the other: `tf.contrib.slim.dataset_data_provider`."""
from __future__ import annotations

from typing import Any

from tfnb.slim.data_decoder import DataProvider
from tfnb.slim.parallel_reader import parallel_read


class DatasetDataProvider(DataProvider):
    """Tensors of the next example of a dataset, which readers in the background read.

    dataset: a tf.contrib.slim.dataset.Dataset. num_readers: readers at a time. reader_kwargs: their arguments. shuffle:
    draw at random among the records in a queue, of common_queue_capacity and at least common_queue_min. num_epochs: how
    often the files are read. record_key: the item with the record's key. seed: of the order. scope: of the ops. Raises
    ValueError if the decoder has an item record_key.

    >>> slim = tf.contrib.slim
    >>> decoder = slim.tfexample_decoder.TFExampleDecoder(
    ...     {"y": tf.FixedLenFeature([], tf.int64)}, {"label": slim.tfexample_decoder.Tensor("y")})
    >>> with tf.python_io.TFRecordWriter("data") as writer:
    ...     features = tf.train.Features(feature={"y": tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))})
    ...     writer.write(tf.train.Example(features=features).SerializeToString())
    >>> dataset = slim.dataset.Dataset("data", tf.TFRecordReader, decoder, 1, {"label": "a digit"})
    >>> provider = slim.dataset_data_provider.DatasetDataProvider(dataset, shuffle=False, num_epochs=1)
    >>> label, = provider.get(["label"])
    >>> with tf.train.MonitoredSession() as session:
    ...     session.run(label)
    7
    """

    def __init__(self, dataset: Any, num_readers: int = 1, reader_kwargs: Any = None, shuffle: bool = True,
                 num_epochs: int | None = None, common_queue_capacity: int = 256, common_queue_min: int = 128,
                 record_key: str = "record_key", seed: int | None = None, scope: str | None = None) -> None:
        key, record = parallel_read(
            dataset.data_sources, dataset.reader, num_epochs, num_readers, reader_kwargs, shuffle,
            capacity=common_queue_capacity, min_after_dequeue=common_queue_min, seed=seed, scope=scope)
        items = dataset.decoder.list_items()
        if record_key in items:
            raise ValueError(f"expected a record_key that is no item of the dataset, got {record_key!r}")
        tensors = dict(zip(items, dataset.decoder.decode(record, items), strict=True))
        super().__init__({**tensors, record_key: key}, dataset.num_samples)
