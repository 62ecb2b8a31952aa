"""Images 32 x 32 of a hundred classes (Krizhevsky, 2009): `tf.keras.datasets.cifar100`."""
from __future__ import annotations

from typing import Any

from tfnb.core.absent import explain as _explain
from tfnb.keras.datasets.batches import folder, load_batch, shaped


def load_data(label_mode: str = "fine") -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return (images, labels) for training, 50,000 of them, and for test, 10,000: uint8, labels (n, 1).

    They are read from ~/.keras/datasets/cifar-100-python. label_mode: "fine" (100 classes) or "coarse" (20), else
    ValueError. Raises OSError where there is neither the folder nor a network.

    >>> tf.keras.datasets.cifar100.load_data("some")
    ValueError: `label_mode` must be one of 'fine', 'coarse', got 'some'
    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError(f"`label_mode` must be one of 'fine', 'coarse', got {label_mode!r}")
    path = folder("cifar-100-python", "cifar-100-python.tar.gz")
    train, test = (shaped(*load_batch(path, name, f"{label_mode}_labels")) for name in ("train", "test"))
    return train, test


_explain(__name__)
