"""Reviews of films as word indices, with their sentiment (Maas et al., 2011): `tf.keras.datasets.imdb`."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.absent import explain as _explain
from tfnb.keras.datasets.archives import arrays, limited, mixed, word_index


def load_data(path: str = "imdb.npz", num_words: int | None = None, skip_top: int = 0, maxlen: int | None = None,
              seed: int = 113, start_char: int | None = 1, oov_char: int | None = 2,
              index_from: int = 3) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return (sequences, labels) for training and for test: 25,000 each, labels 0 and 1.

    path: the file below ~/.keras/datasets, or an absolute path. num_words: words of larger indices are left out.
    skip_top: so are the most frequent ones below. maxlen: longer sequences are left out. seed: of the order.
    start_char: the first element of each sequence. oov_char: stands for words left out; None: nothing does.
    index_from: added to the indices. Raises OSError where there is neither the file nor a network.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "imdb.npz")
    >>> x = np.array([[5, 9], [1, 2, 40]], dtype=object)
    >>> np.savez(path, x_train=x, y_train=[1, 0], x_test=x, y_test=[1, 0])
    >>> (x_train, y_train), _ = tf.keras.datasets.imdb.load_data(path, num_words=20)
    >>> sorted(x_train), sorted(y_train)
    ([[1, 4, 5, 2], [1, 8, 12]], [0, 1])
    """
    found = arrays(path, "imdb.npz")
    x_train, y_train = mixed(seed, found["x_train"], np.asarray(found["y_train"]))
    x_test, y_test = mixed(seed, found["x_test"], np.asarray(found["y_test"]))
    count = len(x_train)
    if maxlen:
        count = sum(len(row) + (start_char is not None) < maxlen for row in x_train)
    rows, labels = limited([*x_train, *x_test], np.concatenate([y_train, y_test]), num_words, skip_top, maxlen,
                           start_char, oov_char, index_from)
    made = np.empty(len(rows), dtype=object)
    made[:] = rows
    return (made[:count], labels[:count]), (made[count:], labels[count:])


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """Return a dict of word to index. path: the file below ~/.keras/datasets, or an absolute path.

    >>> import os, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "words.json")
    >>> _ = path.write_text('{"the": 1}')
    >>> tf.keras.datasets.imdb.get_word_index(str(path))
    {'the': 1}
    """
    return word_index(path, "imdb_word_index.json")


_explain(__name__)
