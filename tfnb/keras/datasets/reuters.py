"""News as word indices, in 46 topics: `tf.keras.datasets.reuters`."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.absent import explain as _explain
from tfnb.keras.datasets.archives import arrays, limited, mixed, word_index


def load_data(path: str = "reuters.npz", num_words: int | None = None, skip_top: int = 0, maxlen: int | None = None,
              test_split: float = 0.2, seed: int = 113, start_char: int | None = 1, oov_char: int | None = 2,
              index_from: int = 3) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return (sequences, topics) for training and for test.

    path: the file below ~/.keras/datasets, or an absolute path. test_split: the share for test. num_words: words of
    larger indices are left out. skip_top: so are the most frequent ones below. maxlen: longer sequences are left out.
    seed: of the order. start_char: the first element of each sequence. oov_char: stands for words left out; None:
    nothing does. index_from: added to the indices. Raises OSError where there is neither the file nor a network.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "reuters.npz")
    >>> np.savez(path, x=np.array([[5, 9], [1, 2, 40]], dtype=object), y=[3, 4])
    >>> (x_train, y_train), (x_test, y_test) = tf.keras.datasets.reuters.load_data(path, test_split=0.5)
    >>> sorted([y_train[0], y_test[0]])
    [3, 4]
    """
    found = arrays(path, "reuters.npz")
    xs, labels = mixed(seed, found["x"], np.asarray(found["y"]))
    rows, labels = limited(xs, labels, num_words, skip_top, maxlen, start_char, oov_char, index_from)
    made = np.empty(len(rows), dtype=object)
    made[:] = rows
    cut = int(len(made) * (1 - test_split))
    return (made[:cut], labels[:cut]), (made[cut:], labels[cut:])


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """Return a dict of word to index. path: the file below ~/.keras/datasets, or an absolute path.

    >>> import os, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "words.json")
    >>> _ = path.write_text('{"the": 1}')
    >>> tf.keras.datasets.reuters.get_word_index(str(path))
    {'the': 1}
    """
    return word_index(path, "reuters_word_index.json")


_explain(__name__)
