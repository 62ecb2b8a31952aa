"""Sequences of integers and time series: `tf.keras.preprocessing.sequence`."""
from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from tfnb.core.absent import explain as _explain
from tfnb.keras.utils.sequences import Sequence


def pad_sequences(sequences: Any, maxlen: int | None = None, dtype: Any = "int32", padding: str = "pre",
                  truncating: str = "pre", value: Any = 0.0) -> Any:
    """Return sequences as the rows of one array.

    sequences: a list of lists. maxlen: the length; None: that of the longest. dtype: of the result. padding,
    truncating: "pre" or "post": the end at which `value` is added, and what is too long is cut. Raises ValueError for
    other words, for what is no list of lists, and for steps of several shapes.

    >>> tf.keras.preprocessing.sequence.pad_sequences([[1], [2, 3, 4]], maxlen=2)
    array([[0, 1],
           [3, 4]], dtype=int32)
    """
    if not hasattr(sequences, "__len__") or any(not hasattr(each, "__len__") for each in sequences):
        raise ValueError(f"`sequences` must be a list of iterables. Found: {sequences!r}")
    for name, word in (("padding", padding), ("truncating", truncating)):
        if word not in ("pre", "post"):
            raise ValueError(f"{name.capitalize()} type {word!r} not understood: expected 'pre' or 'post'")
    lengths = [len(each) for each in sequences]
    length = max(lengths, default=0) if maxlen is None else maxlen
    shape = next((np.asarray(each).shape[1:] for each in sequences if len(each)), ())
    is_text = np.issubdtype(np.dtype(dtype) if dtype is not str else np.dtype("U"), np.str_)
    if isinstance(value, str) and np.dtype(dtype) != object and not is_text:
        raise ValueError(f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\nYou should set "
                         "`dtype=object` for variable length strings.")
    made = np.full((len(sequences), length, *shape), value, dtype=dtype)
    for row, each in zip(made, sequences, strict=True):
        if not len(each) or not length:
            continue
        cut = np.asarray(each[-length:] if truncating == "pre" else each[:length], dtype=dtype)
        if cut.shape[1:] != shape:
            raise ValueError(f"Shape of sample {cut.shape[1:]} of sequence at position {lengths.index(len(each))} is "
                             f"different from expected shape {shape}")
        if padding == "post":
            row[:len(cut)] = cut
        else:
            row[-len(cut):] = cut
    return made


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> Any:
    """Return probabilities to keep the words of each rank, where frequencies follow Zipf's law (word2vec).

    size: the number of words. sampling_factor: the frequency from which words are dropped.

    >>> tf.keras.preprocessing.sequence.make_sampling_table(3)
    array([0.0032, 0.0032, 0.0055])
    """
    gamma = 0.577
    rank = np.arange(size)
    rank[0] = 1
    inverse = sampling_factor * (rank * (np.log(rank) + gamma) + 0.5 - 1.0 / (12.0 * rank))
    return np.minimum(1.0, inverse / np.sqrt(inverse))


def skipgrams(sequence: Any, vocabulary_size: int, window_size: int = 4, negative_samples: float = 1.0,
              shuffle: bool = True, categorical: bool = False, sampling_table: Any = None,
              seed: int | None = None) -> tuple[list[Any], list[Any]]:
    """Return pairs (word, word in its window) with label 1, and (word, random word) with label 0.

    sequence: word indices, 0 for none. vocabulary_size: the largest index and 1. window_size: how far words are from
    each other. negative_samples: random pairs for each true one. shuffle: whether pairs are mixed. categorical: labels
    [0, 1] and [1, 0]. sampling_table: probabilities to keep each word. seed: of the random numbers.

    >>> tf.keras.preprocessing.sequence.skipgrams([1, 2], 3, negative_samples=0.0, shuffle=False)
    ([[1, 2], [2, 1]], [1, 1])
    """
    couples, labels = [], []
    for i, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)):
            if j != i and sequence[j]:
                couples.append([word, sequence[j]])
                labels.append([0, 1] if categorical else 1)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [pair[0] for pair in couples]
        random.shuffle(words)
        couples += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)]
        labels += [[1, 0] if categorical else 0] * count
    if shuffle:
        seed = random.randint(0, int(10e6)) if seed is None else seed
        for listed in (couples, labels):
            random.Random(seed).shuffle(listed)
    return couples, labels


class TimeseriesGenerator(Sequence):
    """Batches of windows of a time series, and of the values behind each.

    data: the series, an array whose first axis is time. targets: the value for each step. length: steps of a window.
    sampling_rate: distance between the steps that are taken. stride: distance between windows. start_index, end_index:
    the range that is used. shuffle: whether windows are drawn at random. reverse: whether windows run backward.
    batch_size: windows of a batch. Raises ValueError where there is no window.

    >>> x = np.arange(6)
    >>> generator = tf.keras.preprocessing.sequence.TimeseriesGenerator(x, x, length=3, batch_size=2)
    >>> generator[0]
    (array([[0, 1, 2],
           [1, 2, 3]]),
     array([3, 4]))
    """

    def __init__(self, data: Any, targets: Any, length: int, sampling_rate: int = 1, stride: int = 1,
                 start_index: int = 0, end_index: int | None = None, shuffle: bool = False, reverse: bool = False,
                 batch_size: int = 128) -> None:
        if len(data) != len(targets):
            raise ValueError(f"Data and targets have to be of same length. Data length is {len(data)} while target "
                             f"length is {len(targets)}")
        self.data, self.targets, self.length = data, targets, length
        self.sampling_rate, self.stride, self.start_index = sampling_rate, stride, start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse, self.batch_size = shuffle, reverse, batch_size
        if self.start_index > self.end_index:
            raise ValueError(f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, as "
                             "no part of the sequence would be left to be used as current step.")

    def __len__(self) -> int:
        return -(-(self.end_index - self.start_index + 1) // (self.batch_size * self.stride))

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            rows = np.arange(first, min(first + self.batch_size * self.stride, self.end_index + 1), self.stride)
        samples = np.array([self.data[row - self.length:row:self.sampling_rate] for row in rows])
        targets = np.array([self.targets[row] for row in rows])
        return (samples[:, ::-1, ...] if self.reverse else samples), targets

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor; arrays as lists in JSON."""
        def plain(value: Any) -> str:
            return json.dumps(value.tolist() if isinstance(value, np.ndarray) else value)
        return {"data": plain(self.data), "targets": plain(self.targets), "length": self.length,
                "sampling_rate": self.sampling_rate, "stride": self.stride, "start_index": self.start_index,
                "end_index": self.end_index, "shuffle": self.shuffle, "reverse": self.reverse,
                "batch_size": self.batch_size}


_explain(__name__)
