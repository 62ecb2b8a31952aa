"""`tf.data`: input pipelines."""
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.data.dataset import Dataset, Options
from tfnb.data.iterator import Iterator
from tfnb.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from tfnb.runtime.functions import runner as _runner  # noqa: F401  it lets ops call functions

experimental = _lazy_module("tfnb.data.experimental")

__all__ = ["Dataset", "FixedLengthRecordDataset", "Iterator", "Options", "TFRecordDataset", "TextLineDataset",
           "experimental", "get_output_classes", "get_output_shapes", "get_output_types",
           "make_initializable_iterator", "make_one_shot_iterator"]


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """`dataset.make_one_shot_iterator()`."""
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
    """`dataset.make_initializable_iterator(shared_name)`."""
    return dataset.make_initializable_iterator(shared_name)


def get_output_types(dataset_or_iterator: Dataset | Iterator) -> object:
    """The dtype of each component of an element, in its structure."""
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator: Dataset | Iterator) -> object:
    """The static shape of each component of an element, in its structure."""
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator: Dataset | Iterator) -> object:
    """The class of each component of an element, in its structure."""
    return dataset_or_iterator.output_classes
