"""Handwritten digits, 28 x 28 (LeCun et al., 1998): `tf.keras.datasets.mnist`."""
from __future__ import annotations

from typing import Any

from tfnb.core.absent import explain as _explain
from tfnb.keras.datasets.archives import arrays


def load_data(path: str = "mnist.npz") -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return (images, labels) for training, 60,000 of them, and for test, 10,000: uint8.

    path: the file below ~/.keras/datasets, or an absolute path. Raises OSError where there is neither it nor a network.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "mnist.npz")
    >>> x, y = np.zeros([2, 28, 28], np.uint8), np.array([3, 1], np.uint8)
    >>> np.savez(path, x_train=x, y_train=y, x_test=x[:1], y_test=y[:1])
    >>> (x_train, y_train), (x_test, y_test) = tf.keras.datasets.mnist.load_data(path)
    >>> x_train.shape, y_test
    ((2, 28, 28), array([3], dtype=uint8))
    """
    found = arrays(path, "mnist.npz")
    return (found["x_train"], found["y_train"]), (found["x_test"], found["y_test"])


_explain(__name__)
