"""Pickled batches of the CIFAR archives."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from tfnb.keras.backend.config import image_data_format
from tfnb.keras.datasets.pickles import unpickled
from tfnb.keras.utils.files import get_file

ORIGIN = "https://www.cs.toronto.edu/~kriz/"


def folder(name: str, archive: str) -> str:
    """Return the folder of an unpacked archive."""
    return get_file(name, ORIGIN + archive, untar=True)


def load_batch(path: str, name: str, label_key: str = "labels") -> tuple[Any, Any]:
    """Return (images (n, 3, 32, 32), labels) of the file `name` in a folder."""
    with open(os.path.join(path, name), "rb") as file:
        found = unpickled(file, "bytes")
    plain = {key.decode() if isinstance(key, bytes) else key: value for key, value in found.items()}
    return plain["data"].reshape(-1, 3, 32, 32), plain[label_key]


def shaped(images: Any, labels: Any) -> tuple[Any, Any]:
    """Return images in the default data format, and labels as a column of uint8."""
    images = images.transpose(0, 2, 3, 1) if image_data_format() == "channels_last" else images
    return images, np.reshape(np.asarray(labels, np.uint8), (-1, 1))
