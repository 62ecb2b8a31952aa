"""Checks that what a program has trained comes back from a checkpoint."""
from __future__ import annotations

from typing import Any

import numpy as np

import tfnb as tf
from tfnb.core import nest


def assert_restores(session: Any, fetches: Any, feed_dict: Any, folder: Any) -> None:
    """Fail unless a new session that restores a checkpoint of `session` fetches the same values."""
    wanted = session.run(fetches, feed_dict)
    saver = tf.train.Saver()
    path = saver.save(session, str(folder / "model.ckpt"))
    with tf.Session(graph=session.graph) as other:
        saver.restore(other, path)
        found = other.run(fetches, feed_dict)
    for a, b in zip(nest.flatten(found), nest.flatten(wanted), strict=True):
        np.testing.assert_allclose(a, b, 1e-4, 1e-5)
