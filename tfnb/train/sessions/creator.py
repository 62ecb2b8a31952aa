"""Session creators for MonitoredSession: the chief initializes, workers wait."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import SESSIONS, describe
from tfnb.runtime.session import Session
from tfnb.train.sessions.manager import SessionManager
from tfnb.train.sessions.scaffold import Scaffold


class SessionCreator:
    """Factory of sessions: subclasses define `create_session`.

    >>> class Plain(tf.train.SessionCreator):
    ...     def create_session(self):
    ...         return tf.Session()
    >>> x = tf.constant(3.0)
    >>> with tf.train.MonitoredSession(Plain()) as session:
    ...     session.run(x)
    3.0
    """

    def create_session(self) -> Session:
        """Create a session whose variables are initialized."""
        raise NotImplementedError("create_session is not implemented.")


class _ScaffoldCreator(SessionCreator):
    """Creator of sessions of the default graph, whose scaffold is finalized at the first one."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: Any) -> None:
        self._scaffold = scaffold or Scaffold()
        self._manager: SessionManager | None = None
        self._master, self._config = master, config

    def _session_manager(self) -> SessionManager:
        if self._manager is None:
            made = self._scaffold.finalize()
            self._manager = SessionManager(made.local_init_op, made.ready_op, made.ready_for_local_init_op,
                                           local_init_feed_dict=made.local_init_feed_dict)
        return self._manager


class ChiefSessionCreator(_ScaffoldCreator):
    """Creator of sessions restored from `checkpoint_filename_with_path` or the newest checkpoint in `checkpoint_dir`,
    or else initialized by `scaffold`. master: the target; config: a ConfigProto.

    >>> v = tf.Variable(7.0)
    >>> with tf.train.MonitoredSession(tf.train.ChiefSessionCreator()) as session:
    ...     session.run(v)
    7.0
    """

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
                 checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint_dir, self._path = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Session:
        """Create a ready session, finalizing the graph. Raises as SessionManager.prepare_session."""
        manager = self._session_manager()
        made = self._scaffold
        return manager.prepare_session(
            self._master, saver=made.saver, checkpoint_dir=self._checkpoint_dir, init_op=made.init_op,
            checkpoint_filename_with_path=self._path, config=self._config, init_feed_dict=made.init_feed_dict,
            init_fn=made.init_fn)


class WorkerSessionCreator(_ScaffoldCreator):
    """Creator of sessions that wait, max_wait_secs at most, until a chief has initialized the variables.

    >>> server = tf.train.Server.create_local_server()
    >>> v = tf.Variable(7.0)
    >>> with tf.Session(server.target) as chief:
    ...     chief.run(v.initializer)
    >>> with tf.train.MonitoredSession(tf.train.WorkerSessionCreator(master=server.target)) as session:
    ...     session.run(v)
    7.0
    """

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
                 max_wait_secs: float = 30 * 60) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Session:
        """Create a ready session, finalizing the graph. Raises DeadlineExceededError after max_wait_secs."""
        return self._session_manager().wait_for_session(self._master, self._config, self._max_wait_secs)


describe(globals(), SESSIONS)
