"""`tf.data`: input pipelines."""
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.data.cardinality import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from tfnb.data.dataset import Dataset, Options
from tfnb.data.iterator import Iterator
from tfnb.data.options import ThreadingOptions
from tfnb.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from tfnb.ops.data.steps import AUTOTUNE
from tfnb.runtime.functions import runner as _runner  # noqa: F401  it lets ops call functions

experimental = _lazy_module("tfnb.data.experimental")

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "FixedLengthRecordDataset", "Iterator",
           "Options", "TFRecordDataset", "TextLineDataset", "ThreadingOptions", "experimental", "get_output_classes",
           "get_output_shapes", "get_output_types", "make_initializable_iterator", "make_one_shot_iterator"]


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """`dataset.make_one_shot_iterator()`.

    >>> element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    >>> [sess.run(element) for _ in range(3)]
    [0, 1, 2]
    """
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
    """`dataset.make_initializable_iterator(shared_name)`.

    >>> limit = tf.placeholder(tf.int64, [])
    >>> iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(limit))
    >>> sess.run(iterator.initializer, {limit: 3})
    >>> sess.run(iterator.get_next())
    0
    """
    return dataset.make_initializable_iterator(shared_name)


def get_output_types(dataset_or_iterator: Dataset | Iterator) -> object:
    """The dtype of each component of an element of `dataset_or_iterator`, in its structure.

    >>> tf.data.get_output_types(tf.data.Dataset.from_tensors((1, "a")))
    (tf.int32, tf.string)
    """
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator: Dataset | Iterator) -> object:
    """The static shape of each component of an element of `dataset_or_iterator`, in its structure.

    >>> tf.data.get_output_shapes(tf.data.Dataset.from_tensors([[1, 2]])).as_list()
    [1, 2]
    """
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator: Dataset | Iterator) -> object:
    """The class of each component of an element of `dataset_or_iterator`, in its structure.

    >>> tf.data.get_output_classes(tf.data.Dataset.range(3)) is tf.Tensor
    True
    """
    return dataset_or_iterator.output_classes

_explain(__name__)
