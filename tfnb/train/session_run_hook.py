"""What a hook is: code that a MonitoredSession calls before and after each of its runs (`tf.train.SessionRunHook`)."""
from __future__ import annotations

from typing import Any, NamedTuple


class SessionRunArgs(NamedTuple):
    """What to run: fetches (as of Session.run), a feed_dict and RunOptions, or None for these two."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a run gave: the values of a hook's own fetches (None if it has none), its RunOptions and RunMetadata."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """A run that is about to begin, or has ended: what was asked for, and the way to ask for a stop."""

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self._original_args, self._session = original_args, session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What the caller of `run` gave, without what hooks add."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The Session that runs."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Was a stop requested?"""
        return self._stop_requested

    def request_stop(self) -> None:
        """Let this run be the last one: `should_stop()` of the session is True from now on."""
        self._stop_requested = True


class SessionRunHook:
    """Subclasses override what they need; each method does nothing by itself."""

    def begin(self) -> None:
        """Called once, before the session is made: the graph may still be changed here, and only here."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when a session was made, which may happen again after errors: the graph is final, variables have
        values, queue runners run under the coordinator `coord`."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each run. What is returned is fetched and fed in the same run."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each run that raised nothing."""

    def end(self, session: Any) -> None:
        """Called at the end, unless the session ends by an error other than OutOfRangeError or StopIteration."""
