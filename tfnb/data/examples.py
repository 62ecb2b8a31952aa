"""Datasets of serialized Examples: `parse_example_dataset`, `make_batched_features_dataset`."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfnb.core.arguments import DATASETS, describe
from tfnb.data.csv_files import files_of, repeated, shuffled_files
from tfnb.data.dataset import AUTOTUNE, Dataset
from tfnb.data.readers import TFRecordDataset
from tfnb.ops.io.parsing import parse_example


def parse_example_dataset(features: Mapping[str, Any], num_parallel_calls: Any = 1) -> Callable[[Dataset], Dataset]:
    """The parsed features of batches of serialized Examples: dicts of names to tensors and SparseTensors.

    features: a dict of names to FixedLenFeature, VarLenFeature and SparseFeature. Raises ValueError for None.

    >>> example = tf.train.Example()
    >>> example.features.feature["x"].float_list.value.append(1.5)
    >>> dataset = tf.data.Dataset.from_tensors([example.SerializeToString()])
    >>> dataset = dataset.apply(tf.data.experimental.parse_example_dataset({"x": tf.FixedLenFeature([], tf.float32)}))
    >>> sess.run(dataset.make_one_shot_iterator().get_next())
    {'x': array([1.5], dtype=float32)}
    """
    if features is None:
        raise ValueError("Missing: features was None. Expected a dict of names to FixedLenFeature, VarLenFeature, ...")
    calls = None if num_parallel_calls == 1 else num_parallel_calls
    return lambda dataset: dataset.map(lambda serialized: parse_example(serialized, features), calls)


def make_batched_features_dataset(file_pattern: Any, batch_size: int, features: Mapping[str, Any],
                                  reader: Any = TFRecordDataset, label_key: str | None = None,
                                  reader_args: Sequence[Any] | None = None, num_epochs: int | None = None,
                                  shuffle: bool = True, shuffle_buffer_size: int = 10000,
                                  shuffle_seed: int | None = None, prefetch_buffer_size: int = AUTOTUNE,
                                  reader_num_threads: int = 1, parser_num_threads: int = 2,
                                  sloppy_ordering: bool = False, drop_final_batch: bool = False) -> Dataset:
    """Batches of the Examples in files: dicts of names to features, or pairs of such a dict and the labels.

    file_pattern: a pattern of names of files, or several; features: as for tf.parse_example; reader: what makes a
    dataset of a name and of `reader_args`; label_key: the feature of the labels; num_epochs: None for ever; shuffle:
    in random order, of Examples and of files; reader_num_threads: files to read in turns; drop_final_batch: leave out
    a last batch that would be smaller; sloppy_ordering: without effect. Raises ValueError if no file matches, or
    `label_key` is no feature.

    >>> example = tf.train.Example()
    >>> example.features.feature["x"].float_list.value.append(1.5)
    >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
    ...     writer.write(example.SerializeToString())
    >>> features = {"x": tf.FixedLenFeature([], tf.float32)}
    >>> batches = tf.data.experimental.make_batched_features_dataset("data.tfrecord", 2, features)
    >>> sess.run(batches.make_one_shot_iterator().get_next())
    {'x': array([1.5, 1.5], dtype=float32)}
    """
    if label_key is not None and label_key not in features:
        raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys: expected one "
                         f"of {sorted(features)}")
    names = shuffled_files(files_of(file_pattern), shuffle, shuffle_seed)
    found = names.interleave(lambda name: reader(name, *(reader_args or ())), reader_num_threads or 1)
    if isinstance(found._element, tuple):              # a key and a value
        found = found.map(lambda _, value: value)
    found = repeated(found, shuffle, shuffle_buffer_size, shuffle_seed, num_epochs)
    found = found.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    found = found.apply(parse_example_dataset(features, parser_num_threads or 1))
    if label_key is not None:
        found = found.map(lambda parsed: (parsed, parsed.pop(label_key)))
    return found.prefetch(prefetch_buffer_size)


describe(globals(), DATASETS)
