"""Images 32 x 32 of ten classes (Krizhevsky, 2009): `tf.keras.datasets.cifar10`."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.absent import explain as _explain
from tfnb.keras.datasets.batches import folder, load_batch, shaped


def load_data() -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return (images, labels) for training, 50,000 of them, and for test, 10,000: uint8, labels (n, 1).

    They are read from ~/.keras/datasets/cifar-10-batches-py. Raises OSError where there is neither it nor a network.

    >>> import os, pickle, tempfile
    >>> os.environ["KERAS_HOME"] = home = tempfile.mkdtemp()
    >>> folder = os.path.join(home, "datasets", "cifar-10-batches-py")
    >>> os.makedirs(folder)
    >>> for name in ["test_batch"] + [f"data_batch_{i}" for i in range(1, 6)]:
    ...     with open(os.path.join(folder, name), "wb") as file:
    ...         pickle.dump({b"data": np.zeros([2, 3072], np.uint8), b"labels": [3, 1]}, file)
    >>> (x_train, y_train), (x_test, y_test) = tf.keras.datasets.cifar10.load_data()
    >>> x_train.shape, y_test.tolist()
    ((10, 32, 32, 3), [[3], [1]])
    >>> del os.environ["KERAS_HOME"]
    """
    path = folder("cifar-10-batches-py", "cifar-10-python.tar.gz")
    parts = [load_batch(path, f"data_batch_{i}") for i in range(1, 6)]
    train = shaped(np.concatenate([images for images, _ in parts]), [label for _, labels in parts for label in labels])
    return train, shaped(*load_batch(path, "test_batch"))


_explain(__name__)
