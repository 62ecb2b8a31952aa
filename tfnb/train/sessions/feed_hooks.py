"""Session hooks that feed each run (FeedFnHook), or run final ops (FinalOpsHook)."""
from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from tfnb.core.errors import OutOfRangeError
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook

_log = logging.getLogger("tensorflow")


class FeedFnHook(SessionRunHook):
    """Hook that feeds each run with the dict that `feed_fn` returns.

    >>> x = tf.placeholder(tf.float32, [])
    >>> y = 2 * x
    >>> with tf.train.MonitoredTrainingSession(hooks=[tf.train.FeedFnHook(lambda: {x: 3.0})]) as session:
    ...     session.run(y)
    6.0
    """

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the feeds."""
        return SessionRunArgs(None, self.feed_fn())


class FinalOpsHook(SessionRunHook):
    """Hook that runs `final_ops` (fetches, as of Session.run) at the end, with `final_ops_feed_dict`.

    >>> v = tf.Variable(1.0)
    >>> hook, step = tf.train.FinalOpsHook(final_ops=v), v.assign_add(1.0)
    >>> with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
    ...     session.run(step)
    2.0
    >>> hook.final_ops_values
    2.0
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._final_ops, self._feed_dict = final_ops, final_ops_feed_dict
        self._values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """Values of `final_ops`; None before the end."""
        return self._values

    def end(self, session: Any) -> None:
        """Run the final ops. An OutOfRangeError, the end of an input, is logged as a likely mistake and raised."""
        if self._final_ops is None:
            return
        try:
            self._values = session.run(self._final_ops, feed_dict=self._feed_dict)
        except (OutOfRangeError, StopIteration) as error:
            _log.warning("An OutOfRangeError or StopIteration exception is raised by the code in FinalOpsHook. This "
                         "typically means the Ops running by the FinalOpsHook have a dependency back to some input "
                         "source, which should not happen. The error is: %s", error)
            raise
