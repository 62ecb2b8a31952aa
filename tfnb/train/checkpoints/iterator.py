"""Iterator over the checkpoints that another process saves (`tf.train.checkpoints_iterator`)."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from tfnb.core.arguments import CHECKPOINTS, describe
from tfnb.train.checkpoints.state import latest_checkpoint

_POLL_SECS = 1.0


def wait_for_new_checkpoint(checkpoint_dir: Any, last_checkpoint: str | None = None, seconds_to_sleep: float = 1,
                            timeout: float | None = None) -> str | None:
    """Wait for a checkpoint newer than `last_checkpoint` and return its prefix; None after `timeout` seconds.

    seconds_to_sleep: between two looks.

    >>> tf.contrib.training.wait_for_new_checkpoint(".", timeout=0) is None
    True
    """
    end = None if timeout is None else time.time() + timeout
    while True:
        found = latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            return found
        if end is not None and time.time() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir: Any, min_interval_secs: float = 0, timeout: float | None = None,
                         timeout_fn: Callable[[], bool] | None = None) -> Iterator[str]:
    """Yield the newest checkpoint of a directory whenever there is a new one.

    min_interval_secs: least time between two of them. timeout: seconds without a new one after which it ends, unless
    timeout_fn() is false; None: it waits for ever.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> path = tf.train.Saver().save(sess, "./model", global_step=3)
    >>> next(tf.train.checkpoints_iterator(".", timeout=5))
    './model-3'
    """
    path: str | None = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, path, _POLL_SECS, timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        start = time.time()
        path = found
        yield path
        left = start + min_interval_secs - time.time()
        if left > 0:
            time.sleep(left)


describe(globals(), CHECKPOINTS)
