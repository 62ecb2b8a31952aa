"""Session hook that saves checkpoints during training (`tf.train.CheckpointSaverHook`), and its listeners."""
from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.graph.parts.keys import GraphKeys
from tfnb.train.checkpoints.meta_graph import export_meta_graph, write_graph
from tfnb.train.checkpoints.saver import Saver, collected_saver
from tfnb.train.global_step import required_global_step
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tfnb.train.sessions.timers import SecondOrStepTimer

_log = logging.getLogger("tensorflow")
_writer = lazy_module("tfnb.summary.writer")
_event_pb2 = lazy_module("tfnb.proto.event_pb2")


class CheckpointSaverListener:
    """Listener that a CheckpointSaverHook calls around each save. Subclasses override the methods they need.

    >>> class Announce(tf.train.CheckpointSaverListener):
    ...     def after_save(self, session, step):
    ...         print("saved at step", step)
    >>> step = tf.train.get_or_create_global_step()
    >>> train = tf.assign_add(step, 1)
    >>> hook = tf.train.CheckpointSaverHook("logs", save_steps=100, listeners=[Announce()])
    >>> with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
    ...     done = session.run(train)
    saved at step 0
    saved at step 1
    """

    def begin(self) -> None:
        """Handle the start: called once, before the session is made."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Handle a save that is about to start."""

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Handle a finished save. Return True to end training."""

    def end(self, session: Any, global_step_value: int) -> None:
        """Handle the end of training, after the last save."""


class CheckpointSaverHook(SessionRunHook):
    """Hook that saves a checkpoint at the start, every save_secs seconds or save_steps steps, and at the end.

    checkpoint_dir: the folder; checkpoint_basename: of the files, "-<global step>" follows. saver: a Saver, or of
    `scaffold`, or the one in GraphKeys.SAVERS. listeners: CheckpointSaverListeners. save_graph_def: write graphs too
    ("graph.pbtxt" and meta graphs). Raises ValueError if both saver and scaffold are given, and unless exactly one of
    save_secs and save_steps is; RuntimeError where there is no global step, or no saver.

    >>> step = tf.train.get_or_create_global_step()
    >>> train = tf.assign_add(step, 1)
    >>> hook = tf.train.CheckpointSaverHook("logs", save_steps=100)
    >>> with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
    ...     session.run(train)
    1
    >>> tf.train.latest_checkpoint("logs").endswith("model.ckpt-1")
    True
    """

    def __init__(self, checkpoint_dir: str, save_secs: float | None = None, save_steps: int | None = None,
                 saver: Any = None, checkpoint_basename: str = "model.ckpt", scaffold: Any = None,
                 listeners: Sequence[CheckpointSaverListener] | None = None, save_graph_def: bool = True) -> None:
        _log.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._checkpoint_dir = str(checkpoint_dir)
        self._save_path = os.path.join(self._checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._listeners = list(listeners or ())
        self._save_graph_def = save_graph_def

    def begin(self) -> None:
        """Open the event file, find the global step and call the listeners."""
        self._summary_writer = _writer.FileWriterCache.get(self._checkpoint_dir)
        self._step = required_global_step("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Write the graph and the first checkpoint."""
        step = int(session.run(self._step))
        graph, saver_def = session.graph, self.saver.saver_def
        described = graph.as_graph_def(add_shapes=True)
        if self._save_graph_def:
            write_graph(described, self._checkpoint_dir, "graph.pbtxt")
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(export_meta_graph(graph_def=described, saver_def=saver_def, graph=graph))
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the global step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Save a checkpoint, if one is due."""
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
            return
        step = int(run_context.session.run(self._step))
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        """Save the last step, unless it is saved already."""
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    @property
    def saver(self) -> Any:
        """The Saver."""
        if self._saver is None:
            self._saver = self._scaffold.saver if self._scaffold is not None else _collected()
        return self._saver

    def _save(self, session: Any, step: int) -> bool:
        """Save a checkpoint and return whether a listener requests a stop."""
        _log.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self.saver.save(session, self._save_path, global_step=step, write_meta_graph=self._save_graph_def)
        self._summary_writer.add_session_log(_event_pb2.SessionLog(
            status=_event_pb2.SessionLog.CHECKPOINT, checkpoint_path=self._save_path), step)
        stops = [listener.after_save(session, step) for listener in self._listeners]
        return any(stops)


def _collected() -> Saver:
    found = collected_saver()
    if found is None:
        raise RuntimeError(f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the collection or "
                           "provide a saver or scaffold.")
    return found
