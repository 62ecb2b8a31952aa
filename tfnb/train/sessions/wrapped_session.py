"""Session wrappers, the layers of a MonitoredSession: hooks, coordinator, recovery from errors."""
from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core.errors import AbortedError, UnavailableError
from tfnb.core.lazy import lazy_module
from tfnb.graph.graph import Graph
from tfnb.train.input.coordinator import Coordinator
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_log = logging.getLogger("tensorflow")
_config_pb2 = lazy_module("tfnb.proto.config_pb2")
# After these a new session may go on: whoever held the state has gone and may come back.
RECOVERABLE = (AbortedError, UnavailableError)


class WrappedSession:
    """Wrapper of a session `sess`, which may be a wrapper too."""

    def __init__(self, sess: Any) -> None:
        self._sess = sess
        self._wrapped_is_stoppable = isinstance(sess, WrappedSession)

    @property
    def graph(self) -> Graph:
        """Graph of the session."""
        graph: Graph = self._sess.graph
        return graph

    @property
    def sess_str(self) -> str:
        """Target of the session."""
        return str(self._sess.sess_str)

    def should_stop(self) -> bool:
        """Return whether training should end; True for a closed session."""
        if self._check_stop() or self._sess is None:
            return True
        return bool(self._wrapped_is_stoppable and self._sess.should_stop())

    def _check_stop(self) -> bool:
        """Return whether this layer has a reason to end."""
        return False

    def close(self) -> None:
        """Close the session; errors of one that is lost already are suppressed."""
        if self._sess is not None:
            try:
                self._sess.close()
            except RECOVERABLE as error:
                _log.error("An error occurred when attempting to close the session. This may be due to a preemption. "
                           "Error: %s", error)
            finally:
                self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run as Session.run."""
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Any,
                    run_with_hooks: Callable[..., Any] | None) -> Any:
        """Call `step_fn` with a StepContext; run_with_hooks: what its method of that name does, `run` if None."""
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class StepContext:
    """Argument of the step function of MonitoredSession.run_step_fn."""

    def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]) -> None:
        self._session, self._run_with_hooks = session, run_with_hooks_fn

    @property
    def session(self) -> Any:
        """Plain Session, whose runs bypass hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Run as MonitoredSession.run."""
        return self._run_with_hooks(*args, **kwargs)

    def request_stop(self) -> None:
        """End training by raising StopIteration, which the session handles."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class HookedSession(WrappedSession):
    """Wrapper that calls hooks before and after each run, and adds their fetches and feeds to it."""

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]) -> None:
        super().__init__(sess)
        self._hooks = list(hooks)
        self._stop = False

    def _check_stop(self) -> bool:
        return self._stop

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run as Session.run, with hooks. Raises RuntimeError after a stop, or if a tensor would be fed twice."""
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        asked = [hook.before_run(context) for hook in self._hooks]
        feeds = _merged_feeds(asked, feed_dict)
        wanted = [a.fetches for a in asked if a is not None and a.fetches is not None]
        given = _merged_options([options, *(a.options for a in asked if a is not None)])
        metadata = run_metadata if run_metadata is not None else _config_pb2.RunMetadata()
        results = self._sess.run([fetches, *wanted], feed_dict=feeds, options=given, run_metadata=metadata)
        values = iter(results[1:])
        given = given if given is not None else _config_pb2.RunOptions()
        for hook, a in zip(self._hooks, asked, strict=True):
            result = next(values) if a is not None and a.fetches is not None else None
            hook.after_run(context, SessionRunValues(result, given, metadata))
        self._stop = self._stop or context.stop_requested
        return results[0]


def _merged_feeds(asked: Sequence[SessionRunArgs | None], feed_dict: Any) -> Any:
    """Merge the feeds of all hooks and the caller's."""
    feeds: dict[Any, Any] = {}
    for args in asked:
        if args is not None and args.feed_dict:
            if feeds.keys() & args.feed_dict.keys():
                raise RuntimeError("Same tensor is fed by two hooks.")
            feeds.update(args.feed_dict)
    if not feeds:
        return feed_dict
    if feed_dict and feeds.keys() & feed_dict.keys():
        raise RuntimeError("Same tensor is fed by a SessionRunHook and user.")
    return {**feeds, **(feed_dict or {})}


def _merged_options(given: Sequence[Any]) -> Any:
    """Merge RunOptions: the highest trace level, the longest timeout, every requested output; None for none."""
    asked = [o for o in given if o is not None]
    if len(asked) < 2:
        return asked[0] if asked else None
    made = _config_pb2.RunOptions()
    made.trace_level = max(o.trace_level for o in asked)
    made.timeout_in_ms = max(o.timeout_in_ms for o in asked)
    made.inter_op_thread_pool = max(o.inter_op_thread_pool for o in asked)
    made.output_partition_graphs = any(o.output_partition_graphs for o in asked)
    return made


class CoordinatedSession(WrappedSession):
    """Wrapper that stops with the queue runners' coordinator, and raises the exception that a thread reported."""

    def __init__(self, sess: Any, coord: Coordinator, stop_grace_period_secs: float = 120) -> None:
        super().__init__(sess)
        self._coord, self._stop_grace_period_secs = coord, stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        """Stop the threads, wait for them, and close the session."""
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            super().close()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run as Session.run. If a thread's failure caused that of this run, raise the thread's error."""
        try:
            return super().run(*args, **kwargs)
        except RECOVERABLE:
            raise
        except Exception as error:
            try:
                self._coord.raise_requested_exception()
            except Exception as reported:
                raise reported from error
            raise


class RecoverableSession(WrappedSession):
    """Wrapper that replaces a lost session: `create` is called again after AbortedError and UnavailableError."""

    def __init__(self, create: Callable[[], Any]) -> None:
        self._create = create
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._create()
            except RECOVERABLE as error:
                _log.info("An error was raised while a session was being created. This may be due to a preemption. A "
                          "new session will be created. Error: %s", error)

    def _check_stop(self) -> bool:
        """Return whether to end; a lost session is replaced and is no reason to end."""
        try:
            return bool(self._sess is not None and self._sess._check_stop())
        except RECOVERABLE as error:
            self._lose(error)
            self._sess = self._create_session()
            return False
        except Exception:
            return False                           # it is raised by the run that failed

    def _lose(self, error: Exception) -> None:
        _log.info("An error was raised. This may be due to a preemption in a connected worker or parameter server. "
                  "The current session will be closed and a new session will be created. Error: %s", error)
        self.close()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run as Session.run, repeated until the session is not lost during it."""
        return self._again(lambda: self._sess.run(*args, **kwargs))

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Any,
                    run_with_hooks: Callable[..., Any] | None) -> Any:
        """Call as WrappedSession.run_step_fn; the whole step is repeated if the session is lost."""
        return self._again(lambda: self._sess.run_step_fn(step_fn, self._sess._sess._sess, run_with_hooks))

    def _again(self, action: Callable[[], Any]) -> Any:
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return action()
            except RECOVERABLE as error:
                self._lose(error)
