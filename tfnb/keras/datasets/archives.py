"""Files of data sets: where they come from, arrays and texts in them."""
from __future__ import annotations

import json
import zipfile
from typing import Any

import numpy as np

from tfnb.keras.datasets.pickles import unpickled
from tfnb.keras.utils.files import get_file

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def arrays(path: str, origin: str) -> dict[str, Any]:
    """Return the arrays of an .npz file, by name; those of lists are objects."""
    with zipfile.ZipFile(get_file(path, ORIGIN + origin)) as archive:
        return {name.removesuffix(".npy"): _array(archive, name) for name in archive.namelist()}


def _array(archive: zipfile.ZipFile, name: str) -> Any:
    with archive.open(name) as file:
        header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, _, dtype = header[np.lib.format.read_magic(file)](file)
        if dtype.hasobject:                        # by NumPy a pickle of any classes
            return np.reshape(unpickled(file), shape)
    with archive.open(name) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def word_index(path: str, origin: str) -> dict[str, int]:
    """Return the word index that a JSON file has."""
    with open(get_file(path, ORIGIN + origin), encoding="utf-8") as file:
        found: dict[str, int] = json.load(file)
    return found


def mixed(seed: int, *parts: Any) -> list[Any]:
    """Return arrays with their rows in one random order."""
    order = np.arange(len(parts[0]))
    np.random.RandomState(seed).shuffle(order)
    return [part[order] for part in parts]


def limited(xs: Any, labels: Any, num_words: int | None, skip_top: int, maxlen: int | None, start_char: int | None,
            oov_char: int | None, index_from: int) -> tuple[list[list[int]], Any]:
    """Return sequences of word indices with marks for their start and for words that are left out, and the labels."""
    if start_char is not None:
        rows = [[start_char, *(word + index_from for word in row)] for row in xs]
    else:
        rows = [[word + index_from for word in row] for row in xs]
    if maxlen:
        kept = [(row, label) for row, label in zip(rows, labels, strict=True) if len(row) < maxlen]
        if not kept:
            raise ValueError(f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. "
                             "Increase maxlen.")
        rows, labels = [row for row, _ in kept], np.array([label for _, label in kept])
    most = num_words or max(max(row, default=0) for row in rows)
    most = most if num_words else most + 1
    if oov_char is not None:
        return [[word if skip_top <= word < most else oov_char for word in row] for row in rows], labels
    return [[word for word in row if skip_top <= word < most] for row in rows], labels
