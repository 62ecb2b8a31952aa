"""`tf.contrib.data`: what became tf.data.experimental, under its first names."""
# ruff: noqa: F401, I001
from tfnb.core.absent import explain as _explain
from typing import Any

from tfnb.data.dataset import Dataset
from tfnb.data.experimental import (
    Counter, CsvDataset, Reducer, bucket_by_sequence_length, choose_from_datasets,
    copy_to_device, dense_to_sparse_batch, enumerate_dataset, get_single_element, group_by_reducer, group_by_window,
    ignore_errors, make_batched_features_dataset, make_csv_dataset, map_and_batch, parallel_interleave,
    parse_example_dataset, prefetch_to_device, rejection_resample, sample_from_datasets, scan, shuffle_and_repeat,
    unbatch, unique,
)
from tfnb.data.iterator import Iterator
from tfnb.data.readers import FixedLengthRecordDataset, TFRecordDataset, TextLineDataset
from tfnb.data.windows import Transformation


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """`Dataset.batch(batch_size)`, without a last batch that would be smaller.

    >>> dataset = tf.data.Dataset.range(5).apply(tf.contrib.data.batch_and_drop_remainder(2))
    >>> element = dataset.make_one_shot_iterator().get_next()
    >>> sess.run(element), sess.run(element)
    (array([0, 1]), array([2, 3]))
    """
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any, padding_values: Any = None) -> Transformation:
    """`padded_batch` without a last batch that would be smaller.

    batch_size, padded_shapes, padding_values: as there.

    >>> dataset = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
    >>> dataset = dataset.apply(tf.contrib.data.padded_batch_and_drop_remainder(2, padded_shapes=[None]))
    >>> sess.run(dataset.make_one_shot_iterator().get_next())
    array([[1, 0],
           [2, 2]])
    """
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)

_explain(__name__)
