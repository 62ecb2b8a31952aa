"""Session hooks: callbacks of a MonitoredSession before and after each run (`tf.train.SessionRunHook`)."""
from __future__ import annotations

from typing import Any, NamedTuple


class SessionRunArgs(NamedTuple):
    """Arguments that a hook adds to a run: fetches (as of Session.run), a feed_dict and options (RunOptions), or None.

    >>> class Watch(tf.train.SessionRunHook):
    ...     def before_run(self, context):
    ...         return tf.train.SessionRunArgs(loss)
    ...     def after_run(self, context, values):
    ...         print("loss:", values.results)
    >>> loss, other = tf.constant(0.5), tf.constant(1)
    >>> with tf.train.MonitoredTrainingSession(hooks=[Watch()]) as session:
    ...     session.run(other)
    loss: 0.5
    1
    """

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """Values of a run: results of a hook's own fetches (None if it has none), options and run_metadata of the run.

    >>> class Watch(tf.train.SessionRunHook):
    ...     def before_run(self, context):
    ...         return tf.train.SessionRunArgs(loss)
    ...     def after_run(self, context, values):
    ...         print("loss:", values.results)
    >>> loss, other = tf.constant(0.5), tf.constant(1)
    >>> with tf.train.MonitoredTrainingSession(hooks=[Watch()]) as session:
    ...     session.run(other)
    loss: 0.5
    1
    """

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """Context of a run, before or after it: original_args, the session, and the means to request a stop.

    >>> class Once(tf.train.SessionRunHook):
    ...     def after_run(self, context, values):
    ...         context.request_stop()
    >>> x = tf.constant(1)
    >>> with tf.train.MonitoredTrainingSession(hooks=[Once()]) as session:
    ...     session.run(x), session.should_stop()
    (1, True)
    """

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self._original_args, self._session = original_args, session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """Arguments of the caller of `run`, without those of hooks."""
        return self._original_args

    @property
    def session(self) -> Any:
        """Session of the run."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a stop was requested."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Request that training stop after this run: the session's `should_stop()` is True from now on."""
        self._stop_requested = True


class SessionRunHook:
    """Base class of session hooks: each method does nothing; subclasses override those they need.

    >>> class Counter(tf.train.SessionRunHook):
    ...     runs = 0
    ...     def after_run(self, context, values):
    ...         self.runs += 1
    >>> counter, x = Counter(), tf.constant(1)
    >>> with tf.train.MonitoredTrainingSession(hooks=[counter]) as session:
    ...     session.run(x), session.run(x)
    (1, 1)
    >>> counter.runs
    2
    """

    def begin(self) -> None:
        """Prepare the graph; called once, before the session is made. Only here the graph may be changed."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Handle a new session, also one made after an error: the graph is final, variables have
        values, queue runners run under the coordinator `coord`."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Return the fetches and feeds to add to a run, or None; called before each run."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Handle the results of a run that raised nothing."""

    def end(self, session: Any) -> None:
        """Handle the end, unless an error other than OutOfRangeError or StopIteration ends the session."""
