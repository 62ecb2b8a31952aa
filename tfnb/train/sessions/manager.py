"""Session manager: restores or initializes sessions for training (`tf.train.SessionManager`)."""
from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tfnb.core.errors import DeadlineExceededError, FailedPreconditionError
from tfnb.graph.graph import Graph
from tfnb.graph.stack import get_default_graph
from tfnb.runtime.session import Session
from tfnb.train.checkpoints.state import get_checkpoint_state

_log = logging.getLogger("tensorflow")


class SessionManager:
    """Manager that creates sessions and initializes their variables, from a checkpoint or by ops.

    local_init_op: run in each session, with local_init_feed_dict and RunOptions local_init_run_options, once
    ready_for_local_init_op gives no names any more. ready_op: gives the names of what has no value. graph: default:
    the default graph. recovery_wait_secs: between two checks for a checkpoint or a ready session.

    >>> v = tf.Variable(7.0)
    >>> manager = tf.train.SessionManager()
    >>> session = manager.prepare_session("", init_op=v.initializer)
    >>> session.run(v)
    7.0
    >>> session.close()
    """

    def __init__(self, local_init_op: Any = None, ready_op: Any = None, ready_for_local_init_op: Any = None,
                 graph: Graph | None = None, recovery_wait_secs: float = 30, local_init_run_options: Any = None,
                 local_init_feed_dict: Any = None) -> None:
        if local_init_op is None and ready_for_local_init_op is not None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op, got "
                             f"ready_for_local_init_op = {ready_for_local_init_op!r} and local_init_op = None")
        self._local_init_op, self._ready_op = local_init_op, ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = graph or get_default_graph()
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options, self._local_init_feed_dict = local_init_run_options, local_init_feed_dict
        self._target: str | None = None

    def prepare_session(self, master: str, init_op: Any = None, saver: Any = None, checkpoint_dir: str | None = None,
                        checkpoint_filename_with_path: str | None = None, wait_for_checkpoint: bool = False,
                        max_wait_secs: float = 7200, config: Any = None, init_feed_dict: Any = None,
                        init_fn: Callable[[Any], Any] | None = None) -> Session:
        """Create a ready session: restored from the newest checkpoint, or else by `init_op` and `init_fn(session)`.

        master: the target of the session. saver: restores `checkpoint_filename_with_path`, or the newest checkpoint
        in `checkpoint_dir`, for which it waits up to max_wait_secs with wait_for_checkpoint. init_feed_dict: the feeds
        of init_op. Raises RuntimeError if there is nothing to initialize with, or variables have no value at the end;
        ValueError if both a folder and a file are given.
        """
        session, restored = self._restore_checkpoint(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                                     wait_for_checkpoint, max_wait_secs, config)
        if not restored:
            if init_op is None and init_fn is None and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn is not None:
                init_fn(session)
        problem = self._try_local_init(session)
        what = "ready for local_init" if problem else "ready"
        problem = problem or missing_values(self._ready_op, session, "Model not ready")
        if problem:
            raise RuntimeError(f"Init operations did not make model {what}.  Init op: {_name(init_op)}, init fn: "
                               f"{init_fn}, local_init_op: {_name(self._local_init_op)}, error: {problem}")
        return session

    def recover_session(self, master: str, saver: Any = None, checkpoint_dir: str | None = None,
                        checkpoint_filename_with_path: str | None = None, wait_for_checkpoint: bool = False,
                        max_wait_secs: float = 7200, config: Any = None) -> tuple[Session, bool]:
        """Return a session, and whether it is restored from a checkpoint and ready. Arguments as prepare_session."""
        session, restored = self._restore_checkpoint(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                                     wait_for_checkpoint, max_wait_secs, config)
        problem = self._try_local_init(session)
        if not restored:
            return session, False
        source = checkpoint_dir or checkpoint_filename_with_path
        problem = problem or missing_values(self._ready_op, session, "Model not ready")
        if problem:
            _log.info("Restoring model from %s did not make model ready: %s", source, problem)
            return session, False
        _log.info("Restored model from %s", source)
        return session, True

    def wait_for_session(self, master: str, config: Any = None, max_wait_secs: float = float("inf")) -> Session:
        """Return a session once its variables are initialized by others (the sessions of one Server share them).

        Raises DeadlineExceededError if they are not after max_wait_secs.
        """
        self._target = master
        end = time.monotonic() + (float("inf") if max_wait_secs is None else max_wait_secs)
        while True:
            session = Session(self._target, graph=self._graph, config=config)
            problem = self._try_local_init(session) or missing_values(self._ready_op, session, "Model not ready")
            if not problem:
                return session
            session.close()
            if time.monotonic() + self._recovery_wait_secs > end:
                raise DeadlineExceededError(None, None, f"Session was not ready after waiting {max_wait_secs} secs.")
            _log.info("Waiting for model to be ready: %s", problem)
            time.sleep(self._recovery_wait_secs)

    def _restore_checkpoint(self, master: str, saver: Any, folder: str | None, path: str | None, wait: bool,
                            max_wait_secs: float, config: Any) -> tuple[Session, bool]:
        """Return a new session, and whether a checkpoint was restored in it."""
        self._target = master
        session = Session(self._target, graph=self._graph, config=config)
        if folder and path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        if saver is None or not (folder or path):
            return session, False
        if path:
            saver.restore(session, path)
            return session, True
        end = time.monotonic() + max_wait_secs
        state = get_checkpoint_state(folder)
        while state is None or not state.model_checkpoint_path:
            if not wait or time.monotonic() >= end:
                return session, False
            _log.info("Waiting for checkpoint to be available.")
            time.sleep(min(self._recovery_wait_secs, max(0.0, end - time.monotonic())))
            state = get_checkpoint_state(folder)
        saver.restore(session, os.fspath(state.model_checkpoint_path))
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return session, True

    def _try_local_init(self, session: Session) -> str | None:
        """Run local_init_op, if there is one. Return the reason why it can't run yet, or None."""
        if self._local_init_op is None:
            return None
        problem = missing_values(self._ready_for_local_init_op, session, "Model not ready for local init")
        if problem is None:
            _log.info("Running local_init_op.")
            session.run(self._local_init_op, feed_dict=self._local_init_feed_dict,
                        options=self._local_init_run_options)
            _log.info("Done running local_init_op.")
        return problem


def missing_values(op: Any, session: Any, message: str) -> str | None:
    """Return the names of uninitialized objects that `op` reports; None if there are none, or `op` is None.

    An op may also say so by failing; `message` is logged where it fails for another reason.
    """
    if op is None:
        return None
    try:
        names = session.run(op)
    except FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            _log.warning("%s : error [%s]", message, error)
            raise
        return str(error)
    if names is None or not np.size(names) or names.dtype == np.int32:  # int32: of assert_variables_initialized
        return None
    return "Variables not initialized: " + ", ".join(name.decode() for name in np.ravel(names))


def _name(op: Any) -> str:
    """Return the name of an op, or names of nested ops, for a message."""
    if isinstance(op, (list, tuple)):
        return "[" + ", ".join(_name(o) for o in op) + "]"
    return str(getattr(op, "name", op))
