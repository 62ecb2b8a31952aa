"""Session hooks that log tensor values and the rate of steps per second."""
from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.graph.graph import Graph
from tfnb.graph.stack import get_default_graph
from tfnb.train.global_step import get_global_step, required_global_step
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tfnb.train.sessions.timers import NeverTriggerTimer, SecondOrStepTimer

_log = logging.getLogger("tensorflow")
_writer = lazy_module("tfnb.summary.writer")
_summary_pb2 = lazy_module("tfnb.proto.summary_pb2")
_WARNINGS = 5                              # the most warnings of a global step that does not increase


class LoggingTensorHook(SessionRunHook):
    """Hook that logs tensor values every every_n_iter steps or every_n_secs seconds, and `at_end`, at level INFO.

    tensors: a dict of tags to tensors, or a list of tensors or their names, which are their own tags then. formatter: a
    function of a dict tag -> value that returns the whole message. Raises ValueError unless exactly one of
    every_n_iter and every_n_secs is given (none will do with at_end), and for an every_n_iter that is not positive.

    >>> loss = tf.constant(0.5, name="loss")
    >>> hook = tf.train.LoggingTensorHook({"loss": "loss:0"}, every_n_iter=100)
    >>> tf.logging.set_verbosity(tf.logging.INFO)
    >>> with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
    ...     session.run(loss)  # logs: loss = 0.5
    0.5
    >>> tf.logging.set_verbosity(tf.logging.WARN)
    """

    def __init__(self, tensors: Any, every_n_iter: int | None = None, every_n_secs: float | None = None,
                 at_end: bool = False, formatter: Callable[[dict[Any, Any]], str] | None = None) -> None:
        never = at_end and every_n_iter is None and every_n_secs is None
        if not never and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, Mapping):
            self._tensors = dict(tensors)
            self._tags: Sequence[Any] = sorted(self._tensors)
        else:
            self._tensors = {t: t for t in tensors}
            self._tags = list(self._tensors)
        self._formatter, self._at_end = formatter, at_end
        self._timer = NeverTriggerTimer() if never else SecondOrStepTimer(every_n_secs, every_n_iter)

    def begin(self) -> None:
        """Look up the tensors in the default graph. Raises KeyError or ValueError for a missing one."""
        self._timer.reset()
        self._iterations = 0
        graph = get_default_graph()
        self._fetches = {tag: _element(graph, tensor) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Request the tensors, if logging is due."""
        self._due = self._timer.should_trigger_for_step(self._iterations)
        return SessionRunArgs(self._fetches) if self._due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Log the tensors, if they were requested."""
        if self._due:
            self._tell(run_values.results)
        self._iterations += 1

    def end(self, session: Any) -> None:
        """Log the tensors once more, with `at_end`."""
        if self._at_end:
            self._tell(session.run(self._fetches))

    def _tell(self, values: dict[Any, Any]) -> None:
        passed, _ = self._timer.update_last_triggered_step(self._iterations)
        if self._formatter is not None:
            _log.info("%s", self._formatter(values))
            return
        with np.printoptions(suppress=True):
            text = ", ".join(f"{tag} = {values[tag]!s}" for tag in self._tags)
        _log.info("%s%s", text, "" if passed is None else f" ({passed:.3f} sec)")


def _element(graph: Graph, obj: Any) -> Any:
    """Return a tensor of the graph, given as itself or by name; "loss" means "loss:0" if that is the only output."""
    if not isinstance(obj, str):
        if getattr(obj, "graph", None) is not graph:
            raise ValueError(f"Passed {obj} should have graph attribute that is equal to current graph {graph}.")
        return obj
    if ":" in obj:
        return graph.as_graph_element(obj)
    found = graph.as_graph_element(f"{obj}:0")
    if len(found.op.outputs) > 1:
        raise ValueError(f"Name {obj} is ambiguous, as this `Operation` has multiple outputs (at least 2).")
    return found


class StepCounterHook(SessionRunHook):
    """Hook that logs the global steps per second, and writes them as the summary "global_step/sec".

    every_n_steps, every_n_secs: how often: exactly one of them, or ValueError. summary_writer: where to, by default
    the writer of the folder `output_dir`, if there is one.

    >>> step = tf.train.get_or_create_global_step()
    >>> train = tf.assign_add(step, 1)
    >>> hook = tf.train.StepCounterHook(every_n_steps=2, output_dir="logs")
    >>> with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
    ...     values = [session.run(train) for _ in range(5)]
    >>> len(tf.gfile.Glob("logs/events*"))
    1
    """

    def __init__(self, every_n_steps: int | None = 100, every_n_secs: float | None = None,
                 output_dir: str | None = None, summary_writer: Any = None) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._summary_writer, self._output_dir = summary_writer, output_dir
        self._last_global_step: int | None = None
        self._warnings = 0

    def begin(self) -> None:
        """Find the global step. Raises RuntimeError where there is none."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = _writer.FileWriterCache.get(self._output_dir)
        self._step = required_global_step("StepCounterHook")
        self._tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the global step."""
        return SessionRunArgs(self._step)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        """Log and record a measurement; subclasses may override it."""
        rate = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            value = _summary_pb2.Summary.Value(tag=self._tag, simple_value=rate)
            self._summary_writer.add_summary(_summary_pb2.Summary(value=[value]), global_step)
        _log.info("%s: %g", self._tag, rate)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Measure the rate, if it is due."""
        before = int(run_values.results)
        if self._timer.should_trigger_for_step(before + 1):
            step = int(run_context.session.run(self._step))
            if self._timer.should_trigger_for_step(step):
                passed, steps = self._timer.update_last_triggered_step(step)
                if passed is not None and steps is not None:
                    self._log_and_record(steps, passed, step)
        if self._last_global_step == before and self._warnings < _WARNINGS:
            self._warnings += 1
            _log.warning("It seems that global step (tf.train.get_global_step) has not been increased. Current value "
                         "(could be stable): %s vs previous value: %s. You could increase the global step by passing "
                         "tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize.", before,
                         self._last_global_step)
        self._last_global_step = before
