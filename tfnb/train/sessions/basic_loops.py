"""Basic training loop under a Supervisor (`tf.train.basic_train_loop`)."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfnb.core.arguments import SESSIONS, describe
from tfnb.train.sessions.supervisor import Supervisor


def basic_train_loop(supervisor: Supervisor, train_step_fn: Callable[..., Any], args: Sequence[Any] | None = None,
                     kwargs: Mapping[str, Any] | None = None, master: str = "") -> None:
    """Call `train_step_fn(session, *args, **kwargs)` repeatedly until the supervisor is asked to stop.

    >>> step = tf.train.get_or_create_global_step()
    >>> train = tf.assign_add(step, 1)
    >>> supervisor = tf.train.Supervisor(logdir="logs")
    >>> def one_step(session):
    ...     if session.run(train) == 3:
    ...         supervisor.request_stop()
    >>> tf.train.basic_train_loop(supervisor, one_step)
    >>> tf.train.latest_checkpoint("logs") is not None
    True
    """
    with supervisor.managed_session(master) as session:
        while not supervisor.should_stop():
            train_step_fn(session, *(args or ()), **(kwargs or {}))


describe(globals(), SESSIONS)
