"""Monitored sessions: initialization, queue runners, hooks and recovery (`tf.train.MonitoredSession`)."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Self

from tfnb.core.arguments import SESSIONS, describe
from tfnb.core.errors import OutOfRangeError
from tfnb.graph.graph import Graph
from tfnb.graph.stack import get_default_graph
from tfnb.runtime.remote.session import stay_lost
from tfnb.train.input.coordinator import Coordinator
from tfnb.train.input.queue_runner import start_queue_runners
from tfnb.train.sessions.checkpoint_hook import CheckpointSaverHook
from tfnb.train.sessions.creator import ChiefSessionCreator, SessionCreator, WorkerSessionCreator
from tfnb.train.sessions.hook import SessionRunHook
from tfnb.train.sessions.logging_hooks import StepCounterHook
from tfnb.train.sessions.scaffold import Scaffold
from tfnb.train.sessions.summary_hook import SummarySaverHook
from tfnb.train.sessions.wrapped_session import CoordinatedSession, HookedSession, RecoverableSession, WrappedSession
from tfnb.train.sessions.wrapped_session import StepContext as _StepContext

_ENDS = (OutOfRangeError, StopIteration)
USE_DEFAULT = object()


class _CoordinatedCreator:
    """Session creator that adds queue runners and hooks to the sessions of `creator`, and keeps the last one."""

    def __init__(self, creator: SessionCreator, hooks: Sequence[SessionRunHook], stop_grace_period_secs: float) -> None:
        self._creator, self._hooks, self._grace = creator, hooks, stop_grace_period_secs
        self.coord: Coordinator | None = None
        self.session: Any = None

    def create(self) -> CoordinatedSession:
        """Create a session, start its queue runners and call the hooks' after_create_session."""
        self.session = self._creator.create_session()
        stay_lost(self.session)
        self.coord = Coordinator(clean_stop_exception_types=[])
        if self.session.graph.get_collection("queue_runners"):
            start_queue_runners(sess=self.session, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.session, self.coord)
        return CoordinatedSession(HookedSession(self.session, self._hooks), self.coord, self._grace)


class _MonitoredSession:
    """Base class of MonitoredSession and SingularMonitoredSession."""

    StepContext = _StepContext

    def __init__(self, session_creator: SessionCreator | None, hooks: Sequence[SessionRunHook] | None,
                 should_recover: bool, stop_grace_period_secs: float) -> None:
        self._was_finalized = get_default_graph().finalized
        self._hooks = list(hooks or ())
        for hook in self._hooks:
            hook.begin()
        creator = session_creator or ChiefSessionCreator()
        self._coordinated = _CoordinatedCreator(creator, self._hooks, stop_grace_period_secs)
        create = self._coordinated.create
        self._sess: WrappedSession | None = RecoverableSession(create) if should_recover else create()

    @property
    def graph(self) -> Graph | None:
        """Graph of the session; None once it is closed."""
        return None if self._coordinated.session is None else self._coordinated.session.graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run as Session.run, with hooks. Raises RuntimeError after a stop request, or if the session is closed."""
        return self._open().run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Call `step_fn(step_context)`, whose runs may bypass hooks, and return its result.

        step_context: see StepContext. Raises ValueError if step_fn has other arguments (and a `self`).
        """
        names = list(inspect.signature(step_fn).parameters)
        if names != ["step_context"] and names != ["self", "step_context"]:
            raise ValueError(f"`step_fn` may either have one `step_context` argument, or `self` and `step_context` "
                             f"arguments if it's an instance method. Got {names} instead.")
        return self._open().run_step_fn(step_fn, self._coordinated.session, run_with_hooks=None)

    def should_stop(self) -> bool:
        """Return whether training should end. Raises the exception that a queue runner's thread reported."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """End: call the hooks' `end`, stop the threads, close the session and unfinalize the graph."""
        self._close(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> bool:
        if kind is not None and issubclass(kind, _ENDS):
            kind = None                            # the input has ended, which is no error
        self._close(kind)
        return kind is None

    def _open(self) -> WrappedSession:
        if self._sess is None:
            raise RuntimeError("Session is closed.")
        return self._sess

    def _close(self, kind: type[BaseException] | None) -> None:
        """Close the session: hooks' `end` is called unless an error ends it; threads stop in any case."""
        try:
            if not kind:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                for hook in self._hooks:
                    hook.end(self._coordinated.session)
        finally:
            try:
                if self._sess is not None:
                    self._sess.close()
            finally:
                self._sess = None
                graph, self._coordinated.session = self.graph, None
                self._coordinated.coord = None
                if graph is not None and not self._was_finalized:
                    graph._unsafe_unfinalize()

    def _is_closed(self) -> bool:
        return self._coordinated.session is None

    def _tf_sess(self) -> Any:
        """Return the plain Session."""
        return self._coordinated.session


class MonitoredSession(_MonitoredSession):
    """Session for training, a context manager: initialized or restored, with queue runners and hooks.

    session_creator: by default a ChiefSessionCreator. hooks: SessionRunHooks. A session that is lost by AbortedError
    or UnavailableError is made again, and the run repeated. OutOfRangeError and StopIteration end the `with` block
    without an error. stop_grace_period_secs: how long threads have to end.

    >>> v = tf.Variable(1.0)
    >>> step = v.assign_add(1.0)
    >>> with tf.train.MonitoredSession() as session:
    ...     session.run(step), session.run(step)
    (2.0, 3.0)
    """

    def __init__(self, session_creator: SessionCreator | None = None, hooks: Sequence[SessionRunHook] | None = None,
                 stop_grace_period_secs: float = 120) -> None:
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """MonitoredSession without recovery: errors are raised, and `raw_session` returns the plain session.

    scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path: as of ChiefSessionCreator.

    >>> v = tf.Variable(1.0)
    >>> step = v.assign_add(1.0)
    >>> with tf.train.SingularMonitoredSession() as session:
    ...     session.run(step)
    2.0
    """

    def __init__(self, hooks: Sequence[SessionRunHook] | None = None, scaffold: Scaffold | None = None,
                 master: str = "", config: Any = None, checkpoint_dir: str | None = None,
                 stop_grace_period_secs: float = 120, checkpoint_filename_with_path: str | None = None) -> None:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """Return the plain Session, which calls no hooks."""
        return self._tf_sess()


def MonitoredTrainingSession(  # noqa: N802 (the public name)
        master: str = "", is_chief: bool = True, checkpoint_dir: str | None = None, scaffold: Scaffold | None = None,
        hooks: Sequence[SessionRunHook] | None = None, chief_only_hooks: Sequence[SessionRunHook] | None = None,
        save_checkpoint_secs: Any = USE_DEFAULT, save_summaries_steps: Any = USE_DEFAULT,
        save_summaries_secs: Any = USE_DEFAULT, config: Any = None, stop_grace_period_secs: float = 120,
        log_step_count_steps: int | None = 100, max_wait_secs: float = 7200, save_checkpoint_steps: Any = USE_DEFAULT,
        summary_dir: str | None = None, save_graph_def: bool = True) -> MonitoredSession:
    """Return a MonitoredSession that saves checkpoints and summaries as it trains.

    is_chief: initialize, restore and save; else wait for the chief, max_wait_secs at most. checkpoint_dir: where
    checkpoints are, restored from and saved to every save_checkpoint_secs seconds (600) or save_checkpoint_steps
    steps. summary_dir (checkpoint_dir): where summaries go every save_summaries_steps steps (100) or
    save_summaries_secs seconds, and how fast it goes every log_step_count_steps steps. None switches something off.
    chief_only_hooks: hooks of the chief, which come first. save_graph_def: write the graph too. The rest: as of
    MonitoredSession and ChiefSessionCreator.

    >>> step = tf.train.get_or_create_global_step()
    >>> train = tf.assign_add(step, 1)
    >>> hook = tf.train.StopAtStepHook(last_step=3)
    >>> with tf.train.MonitoredTrainingSession(checkpoint_dir="logs", hooks=[hook]) as session:
    ...     while not session.should_stop():
    ...         done = session.run(train)
    >>> done, tf.train.latest_checkpoint("logs") is not None
    (3, True)
    """
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks or [], stop_grace_period_secs)
    all_hooks: list[SessionRunHook] = list(chief_only_hooks or ())
    steps, secs = _chosen(save_summaries_steps, save_summaries_secs, 100, None)
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir and log_step_count_steps and log_step_count_steps > 0:
        all_hooks.append(StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
    if summary_dir and _positive(steps, secs):
        all_hooks.append(SummarySaverHook(scaffold=scaffold, save_steps=steps, save_secs=secs, output_dir=summary_dir))
    steps, secs = _chosen(save_checkpoint_steps, save_checkpoint_secs, None, 600)
    if checkpoint_dir and _positive(steps, secs):
        all_hooks.append(CheckpointSaverHook(checkpoint_dir, save_steps=steps, save_secs=secs, scaffold=scaffold,
                                             save_graph_def=save_graph_def))
    chief = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(chief, [*all_hooks, *(hooks or ())], stop_grace_period_secs)


def _chosen(steps: Any, secs: Any, usual_steps: int | None, usual_secs: float | None) -> tuple[Any, Any]:
    """Return the intervals in steps and in seconds: the defaults if neither was given, else only those given."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return usual_steps, usual_secs
    return (None if steps is USE_DEFAULT else steps), (None if secs is USE_DEFAULT else secs)


def _positive(*numbers: Any) -> bool:
    return any(number and number > 0 for number in numbers)


describe(globals(), SESSIONS)
