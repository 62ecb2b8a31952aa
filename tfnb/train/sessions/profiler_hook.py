"""Session hook that traces runs and writes timelines (`tf.train.ProfilerHook`)."""
from __future__ import annotations

import logging
import os
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.debug.timeline import Timeline
from tfnb.train.global_step import required_global_step
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tfnb.train.sessions.timers import SecondOrStepTimer

_log = logging.getLogger("tensorflow")
_config_pb2 = lazy_module("tfnb.proto.config_pb2")
_writer = lazy_module("tfnb.summary.writer")


class ProfilerHook(SessionRunHook):
    """Hook that traces a run every save_steps steps or save_secs seconds to `output_dir`/timeline-<step>.json.

    Chrome shows the timelines. The run metadata goes to the directory's event file, for TensorBoard. show_dataflow,
    show_memory: see Timeline.generate_chrome_trace_format. Raises ValueError unless exactly one of save_steps and
    save_secs is given.

    >>> train = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    >>> hook = tf.train.ProfilerHook(save_steps=2, output_dir="traces")
    >>> with tf.train.MonitoredSession(hooks=[hook]) as session:
    ...     steps = [session.run(train) for _ in range(4)]
    >>> sorted(tf.gfile.ListDirectory("traces"))[-2:]
    ['timeline-2.json', 'timeline-4.json']
    """

    def __init__(self, save_steps: int | None = None, save_secs: float | None = None, output_dir: str = "",
                 show_dataflow: bool = True, show_memory: bool = False) -> None:
        self._output_dir = output_dir
        self._file = os.path.join(output_dir, "timeline-{}.json")
        self._show_dataflow, self._show_memory = show_dataflow, show_memory
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        """Open the event file and find the global step. Raises RuntimeError where there is none."""
        self._next_step: int | None = None
        self._step = required_global_step("ProfilerHook")
        self._summary_writer = _writer.FileWriterCache.get(self._output_dir)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the global step, and a trace if one is due; the first run is never traced."""
        self._due = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        options = _config_pb2.RunOptions(trace_level=_config_pb2.RunOptions.FULL_TRACE) if self._due else None
        return SessionRunArgs({"global_step": self._step}, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the timeline, if the run was traced."""
        before = int(run_values.results["global_step"])
        if self._next_step is None:                # the timer begins with the first run
            self._timer.update_last_triggered_step(before)
        step = before + 1
        if self._due:
            step = int(run_context.session.run(self._step))
            self._timer.update_last_triggered_step(step)
            self._save(step, run_values.run_metadata.step_stats)
            self._summary_writer.add_run_metadata(run_values.run_metadata, f"step_{step}", step)
        self._next_step = step + 1

    def _save(self, step: int, step_stats: Any) -> None:
        path = self._file.format(step)
        _log.info("Saving timeline for %d into '%s'.", step, path)
        text = Timeline(step_stats).generate_chrome_trace_format(self._show_dataflow, self._show_memory)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def end(self, session: Any) -> None:
        """Flush the event file."""
        self._summary_writer.flush()
