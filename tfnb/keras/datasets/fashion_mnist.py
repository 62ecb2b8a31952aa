"""Pictures of clothes, 28 x 28, of ten classes (Xiao et al., 2017): `tf.keras.datasets.fashion_mnist`."""
from __future__ import annotations

import gzip
from typing import Any

import numpy as np

from tfnb.core.absent import explain as _explain
from tfnb.keras.datasets.archives import ORIGIN
from tfnb.keras.utils.files import get_file


def _read(name: str, header: int) -> Any:
    with gzip.open(get_file(name, ORIGIN + name, cache_subdir="datasets/fashion-mnist"), "rb") as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)


def load_data() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return (images, labels) for training, 60,000 of them, and for test, 10,000: uint8.

    They are read from four files in ~/.keras/datasets/fashion-mnist. Raises OSError where there are neither these nor a
    network.

    >>> import gzip, os, tempfile
    >>> os.environ["KERAS_HOME"] = home = tempfile.mkdtemp()
    >>> folder = os.path.join(home, "datasets", "fashion-mnist")
    >>> os.makedirs(folder)
    >>> for part in ("train", "t10k"):
    ...     for name, size in (("labels-idx1", 8 + 2), ("images-idx3", 16 + 2 * 784)):
    ...         with gzip.open(os.path.join(folder, f"{part}-{name}-ubyte.gz"), "wb") as file:
    ...             _ = file.write(bytes(size))
    >>> (x_train, y_train), (x_test, y_test) = tf.keras.datasets.fashion_mnist.load_data()
    >>> x_train.shape, y_test.tolist()
    ((2, 28, 28), [0, 0])
    >>> del os.environ["KERAS_HOME"]
    """
    parts = []
    for part in ("train", "t10k"):
        labels = _read(f"{part}-labels-idx1-ubyte.gz", 8)
        parts.append((_read(f"{part}-images-idx3-ubyte.gz", 16).reshape(len(labels), 28, 28), labels))
    return parts[0], parts[1]


_explain(__name__)
