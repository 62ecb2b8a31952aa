"""Service threads of a Supervisor: summaries, step counter and checkpoints."""
from __future__ import annotations

import logging
import time
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.train.global_step import global_step as step_value
from tfnb.train.input.coordinator import LooperThread

_log = logging.getLogger("tensorflow")
_event_pb2 = lazy_module("tfnb.proto.event_pb2")
_summary_pb2 = lazy_module("tfnb.proto.summary_pb2")


class SVSummaryThread(LooperThread):
    """Thread that runs the supervisor's summary_op every save_summaries_secs seconds, and writes the summaries."""

    def __init__(self, sv: Any, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Write summaries once."""
        if self._sv.global_step is not None:
            summary, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        else:
            summary, step = self._sess.run(self._sv.summary_op), None
        if self._sv.summary_writer:
            _log.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summary, step)


class SVStepCounterThread(LooperThread):
    """Thread that writes the global steps per second every save_summaries_secs seconds."""

    def __init__(self, sv: Any, sess: Any, step_counter: Any = None) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess
        self._counter = sv.global_step if step_counter is None else step_counter
        self._tag = f"{self._counter.op.name}/sec"

    def start_loop(self) -> None:
        """Record the time and the step."""
        self._last_time, self._last_step = time.time(), step_value(self._sess, self._counter)

    def run_loop(self) -> None:
        """Measure the rate once."""
        now, step = time.time(), step_value(self._sess, self._counter)
        passed, steps = now - self._last_time, step - self._last_step
        rate = steps / passed if passed > 0 else float("inf")
        self._last_time, self._last_step = now, step
        if self._sv.summary_writer:
            value = _summary_pb2.Summary.Value(tag=self._tag, simple_value=rate)
            self._sv.summary_writer.add_summary(_summary_pb2.Summary(value=[value]), step)
        _log.info("%s: %g", self._tag, rate)


class SVTimerCheckpointThread(LooperThread):
    """Thread that saves a checkpoint every save_model_secs seconds."""

    def __init__(self, sv: Any, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Save a checkpoint once."""
        _log.info("Saving checkpoint to path %s", self._sv.save_path)
        self._sv.saver.save(self._sess, self._sv.save_path, global_step=self._sv.global_step)
        if self._sv.summary_writer and self._sv.global_step is not None:
            step = step_value(self._sess, self._sv.global_step)
            self._sv.summary_writer.add_session_log(_event_pb2.SessionLog(
                status=_event_pb2.SessionLog.CHECKPOINT, checkpoint_path=self._sv.save_path), step)
