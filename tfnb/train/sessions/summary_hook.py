"""Session hook that writes summaries during training (`tf.train.SummarySaverHook`)."""
from __future__ import annotations

from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.train.global_step import required_global_step
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tfnb.train.sessions.timers import SecondOrStepTimer

_writer = lazy_module("tfnb.summary.writer")
_event_pb2 = lazy_module("tfnb.proto.event_pb2")


class SummarySaverHook(SessionRunHook):
    """Hook that runs `summary_op` every save_steps steps or save_secs seconds, and writes its summaries.

    output_dir: the folder of event files, or summary_writer: a FileWriter. scaffold: of it the summary_op is taken;
    summary_op: a tensor, or a list of them. Raises ValueError unless exactly one of scaffold and summary_op, and of
    save_steps and save_secs, is given; RuntimeError where there is no global step.

    >>> loss = tf.summary.scalar("loss", 0.5)
    >>> step = tf.train.get_or_create_global_step()
    >>> hook = tf.train.SummarySaverHook(save_steps=1, output_dir="logs", summary_op=loss)
    >>> train = tf.assign_add(step, 1)
    >>> with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
    ...     session.run(train)
    1
    >>> len(tf.gfile.Glob("logs/events*"))
    1
    """

    def __init__(self, save_steps: int | None = None, save_secs: float | None = None, output_dir: str | None = None,
                 summary_writer: Any = None, scaffold: Any = None, summary_op: Any = None) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op, self._scaffold = summary_op, scaffold
        self._summary_writer, self._output_dir = summary_writer, output_dir
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        """Open the event file and find the global step."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = _writer.FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._step = required_global_step("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the global step, and the summaries if they are due."""
        requests = {"global_step": self._step}
        self._due = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        summaries = self._summaries() if self._due else None
        if summaries is not None:
            requests["summary"] = summaries
        return SessionRunArgs(requests)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the summaries."""
        if self._summary_writer is None:
            return
        step = int(run_values.results["global_step"]) + 1
        if self._next_step is None or self._due:
            step = int(run_context.session.run(self._step))
        if self._next_step is None:
            self._summary_writer.add_session_log(_event_pb2.SessionLog(status=_event_pb2.SessionLog.START), step)
        if self._due:
            self._timer.update_last_triggered_step(step)
        for summary in run_values.results.get("summary", ()):
            self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any = None) -> None:
        """Flush the event file."""
        if self._summary_writer is not None:
            self._summary_writer.flush()

    def _summaries(self) -> Any:
        found = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        return found if found is None or isinstance(found, list) else [found]
