"""Prices of houses by 13 features (Harrison and Rubinfeld, 1978): `tf.keras.datasets.boston_housing`."""
from __future__ import annotations

from typing import Any

from tfnb.core.absent import explain as _explain
from tfnb.keras.datasets.archives import arrays, mixed


def load_data(path: str = "boston_housing.npz", test_split: float = 0.2,
              seed: int = 113) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return (features, prices) for training and for test.

    path: the file below ~/.keras/datasets, or an absolute path. test_split: the share for test. seed: of the order.
    Raises OSError where there is neither the file nor a network, ValueError for a share outside of [0, 1).

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "boston.npz")
    >>> np.savez(path, x=np.zeros([10, 13]), y=np.arange(10.0))
    >>> (x_train, y_train), (x_test, y_test) = tf.keras.datasets.boston_housing.load_data(path)
    >>> x_train.shape, y_test.shape
    ((8, 13), (2,))
    """
    if not 0 <= test_split < 1:
        raise ValueError(f"test_split: expected a share in [0, 1), got {test_split}")
    found = arrays(path, "boston_housing.npz")
    x, y = mixed(seed, found["x"], found["y"])
    cut = int(len(x) * (1 - test_split))
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


_explain(__name__)
