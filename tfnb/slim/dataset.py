"""Datasets of files with a reader and a decoder: `tf.contrib.slim.dataset`."""
from __future__ import annotations

from typing import Any


class Dataset:
    """A dataset: files, how they are read and decoded, what is known of it.

    data_sources: files or patterns. reader: class of a reader, such as tf.TFRecordReader. decoder: has `list_items` and
    `decode`, such as a TFExampleDecoder. num_samples: of all files. items_to_descriptions: dict of items to texts.
    kwargs: further attributes, such as num_classes.

    >>> slim = tf.contrib.slim
    >>> made = slim.dataset.Dataset("train*", tf.TFRecordReader, None, 50000, {"label": "a digit"}, num_classes=10)
    >>> made.num_samples, made.num_classes
    (50000, 10)
    """

    def __init__(self, data_sources: Any, reader: Any, decoder: Any, num_samples: Any, items_to_descriptions: Any,
                 **kwargs: Any) -> None:
        vars(self).update(kwargs, data_sources=data_sources, reader=reader, decoder=decoder, num_samples=num_samples,
                          items_to_descriptions=items_to_descriptions)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the dataset has no attribute {name!r}: it has {', '.join(vars(self))}")
