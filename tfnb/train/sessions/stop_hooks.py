"""Session hooks that stop or delay training: at a step, at a NaN loss, until a step is reached."""
from __future__ import annotations

import logging
import time
from typing import Any

import numpy as np

from tfnb.train.global_step import required_global_step
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_log = logging.getLogger("tensorflow")
_POLL_SECS = 0.5


class StopAtStepHook(SessionRunHook):
    """Hook that requests a stop after `num_steps` steps from now, or at the global step `last_step`.

    Raises ValueError unless exactly one of them is given; RuntimeError where there is no global step.

    >>> step = tf.train.get_or_create_global_step()
    >>> train = tf.assign_add(step, 1)
    >>> with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(num_steps=5)]) as session:
    ...     while not session.should_stop():
    ...         done = session.run(train)
    >>> done
    5
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        """Find the global step."""
        self._step = required_global_step("StopAtStepHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Compute the last step. A session that is made again after an error goes on to the same step."""
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = int(session.run(self._step)) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the global step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Request a stop if the last step is reached: the fetched step is that before this run."""
        assert self._last_step is not None
        if run_values.results + 1 >= self._last_step and run_context.session.run(self._step) >= self._last_step:
            run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Hook that delays the first run until the global step, which others increment, reaches `wait_until_step`.

    >>> step = tf.train.get_or_create_global_step()
    >>> train = tf.assign_add(step, 1)
    >>> with tf.train.MonitoredTrainingSession(hooks=[tf.train.GlobalStepWaiterHook(0)]) as session:
    ...     session.run(train)
    1
    """

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Find the global step. Raises RuntimeError where there is none."""
        self._waited = False
        self._step = required_global_step("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        """Wait, polling the global step twice a second."""
        if self._waited or self._wait_until_step <= 0:
            self._waited = True
            return
        while int(run_context.session.run(self._step)) < self._wait_until_step:
            time.sleep(_POLL_SECS)
        self._waited = True


class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN during training.

    >>> x = tf.placeholder(tf.float32, [])
    >>> loss = tf.log(x)
    >>> with tf.train.MonitoredTrainingSession(hooks=[tf.train.NanTensorHook(loss)]) as session:
    ...     session.run(loss, {x: -1.0})
    Traceback (most recent call last):
        ...
    NanLossDuringTrainingError: NaN loss during training.
    """

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Hook that checks `loss_tensor` after each run: NaN raises NanLossDuringTrainingError, or requests a stop.

    fail_on_nan_loss: raise instead of requesting a stop.

    >>> x = tf.placeholder(tf.float32, [])
    >>> loss = tf.log(x)
    >>> with tf.train.MonitoredTrainingSession(hooks=[tf.train.NanTensorHook(loss)]) as session:
    ...     session.run(loss, {x: -1.0})
    Traceback (most recent call last):
        ...
    NanLossDuringTrainingError: NaN loss during training.
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the loss."""
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Check the loss."""
        if not np.isnan(run_values.results).any():
            return
        failure = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            _log.error(failure)
            raise NanLossDuringTrainingError
        _log.warning(failure)
        run_context.request_stop()
