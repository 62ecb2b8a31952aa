"""Supervisor of a training session, the predecessor of monitored sessions (`tf.train.Supervisor`)."""
from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_default_graph
from tfnb.opdef import kinds
from tfnb.ops.control.group import group
from tfnb.ops.io.summary import merge_all
from tfnb.train.checkpoints.meta_graph import export_meta_graph, write_graph
from tfnb.train.checkpoints.saver import Saver
from tfnb.train.global_step import global_step as step_value
from tfnb.train.input.coordinator import Coordinator, LooperThread
from tfnb.train.sessions.manager import SessionManager
from tfnb.train.sessions.supervisor_services import SVStepCounterThread, SVSummaryThread, SVTimerCheckpointThread
from tfnb.variables.helpers import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
    tables_initializer,
)

_log = logging.getLogger("tensorflow")
_writer = lazy_module("tfnb.summary.writer")
_event_pb2 = lazy_module("tfnb.proto.event_pb2")


class Supervisor:
    """Supervisor that initializes or restores a session, and saves checkpoints and summaries in threads.

    With the value USE_DEFAULT: ready_op, ready_for_local_init_op, init_op, local_init_op, summary_op, saver and
    global_step come from the collections of GraphKeys, and are else made for all variables and summaries;
    summary_writer is a FileWriter of `logdir`. None is for doing without. is_chief: does all this; others only wait
    until the chief has initialized the variables. logdir: the folder of checkpoints (checkpoint_basename), graphs and
    events. save_summaries_secs, save_model_secs: intervals (0: never). init_feed_dict, init_fn(session): go with
    init_op. recovery_wait_secs, session_manager, local_init_run_options: see SessionManager. stop_grace_secs: see
    Coordinator.join. The graph (default: the default graph) is finalized.

    >>> v = tf.Variable(1.0)
    >>> step = v.assign_add(1.0)
    >>> supervisor = tf.train.Supervisor(logdir="logs")
    >>> with supervisor.managed_session() as session:
    ...     session.run(step)
    2.0
    >>> tf.train.latest_checkpoint("logs") is not None
    True
    """

    USE_DEFAULT = 0

    def __init__(self, graph: Graph | None = None, ready_op: Any = USE_DEFAULT,
                 ready_for_local_init_op: Any = USE_DEFAULT, is_chief: bool = True, init_op: Any = USE_DEFAULT,
                 init_feed_dict: Any = None, local_init_op: Any = USE_DEFAULT, logdir: str | None = None,
                 summary_op: Any = USE_DEFAULT, saver: Any = USE_DEFAULT, global_step: Any = USE_DEFAULT,
                 save_summaries_secs: float = 120, save_model_secs: float = 600, recovery_wait_secs: float = 30,
                 stop_grace_secs: float = 120, checkpoint_basename: str = "model.ckpt",
                 session_manager: SessionManager | None = None, summary_writer: Any = USE_DEFAULT,
                 init_fn: Callable[[Any], Any] | None = None, local_init_run_options: Any = None) -> None:
        self._graph = graph if graph is not None else get_default_graph()
        self._coord = Coordinator()
        self._recovery_wait_secs, self._stop_grace_secs = recovery_wait_secs, stop_grace_secs
        self._init_feed_dict, self._init_fn, self._is_chief = init_feed_dict, init_fn, is_chief
        with self._graph.as_default():
            self._ready_op = _default(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self._ready_for_local_init_op = _default(ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP)
            self._init_op = _default(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self._local_init_op = _default(local_init_op, GraphKeys.LOCAL_INIT_OP, _local_init)
            self._saver = _default(saver, GraphKeys.SAVERS, lambda: Saver() if global_variables() else None)
            self._summary_op = _default(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self._global_step = _default(global_step, GraphKeys.GLOBAL_STEP, _step_by_name)
        self._logdir = str(logdir) if logdir and is_chief else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path = os.path.join(self._logdir, checkpoint_basename) if self._logdir else None
        self._summary_writer: Any = None
        self._graph_written = False
        if is_chief:
            self._summary_writer = summary_writer if not _is_default(summary_writer) else (
                _writer.FileWriter(self._logdir) if self._logdir else None)
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op, ready_op=self._ready_op, graph=self._graph,
            ready_for_local_init_op=self._ready_for_local_init_op, recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options)
        self._verify_setup()
        self._graph.finalize()

    def _verify_setup(self) -> None:
        """Raise ValueError in a worker whose graph has variables without a device."""
        loose = [op for op in self._graph.get_operations() if isinstance(op.spec, kinds.Variable) and not op.device]
        if not self._is_chief and loose:
            raise ValueError(f"When using replicas, all Variables must have their device set: {loose[0].name}")

    @property
    def is_chief(self) -> bool:
        """Whether this supervisor initializes and saves."""
        return self._is_chief

    @property
    def session_manager(self) -> SessionManager:
        """SessionManager that creates the sessions."""
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        """Coordinator of all threads."""
        return self._coord

    @property
    def init_op(self) -> Any:
        """Op that initializes the variables, or None."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """Feeds of init_op."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """Names of uninitialized objects, or None."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """Names of uninitialized objects that local_init_op needs, or None."""
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> Any:
        """FileWriter of the summaries, or None."""
        return self._summary_writer

    @property
    def summary_op(self) -> Any:
        """Merged summaries, or None."""
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float | None:
        """Interval of writing summaries, in seconds."""
        return self._save_summaries_secs

    @property
    def global_step(self) -> Any:
        """Global step, or None."""
        return self._global_step

    @property
    def saver(self) -> Any:
        """Saver of the variables, or None."""
        return self._saver

    @property
    def save_model_secs(self) -> float | None:
        """Interval of saving checkpoints, in seconds."""
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """Path prefix of the checkpoints, without the step."""
        return self._save_path

    def start_standard_services(self, sess: Any) -> list[threading.Thread] | None:
        """Start and return the threads that save and count; None without a logdir.

        Raises RuntimeError if this is no chief.
        """
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can "
                               "write events.")
        if not self._logdir:
            _log.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer:
            self._note(_event_pb2.SessionLog.START, step_value(sess, self._global_step))
        threads: list[LooperThread] = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self._saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return list(threads)

    def prepare_or_wait_for_session(self, master: str = "", config: Any = None, wait_for_checkpoint: bool = False,
                                    max_wait_secs: float = 7200, start_standard_services: bool = True) -> Any:
        """Return a ready session (the chief initializes it, others wait), with services and queue runners started."""
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            session = self._session_manager.prepare_session(
                master, init_op=self._init_op, saver=self._saver, checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs, config=config,
                init_feed_dict=self._init_feed_dict, init_fn=self._init_fn)
            self._write_graph()
            if start_standard_services:
                _log.info("Starting standard services.")
                self.start_standard_services(session)
        else:
            session = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            _log.info("Starting queue runners.")
            self.start_queue_runners(session)
        return session

    def start_queue_runners(self, sess: Any, queue_runners: Sequence[Any] | None = None) -> list[threading.Thread]:
        """Start and return the threads of queue runners, by default of all in the graph."""
        runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS) if queue_runners is None else queue_runners
        return [thread for runner in runners
                for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)]

    def loop(self, timer_interval_secs: float | None, target: Callable[..., Any], args: Sequence[Any] | None = None,
             kwargs: Mapping[str, Any] | None = None) -> LooperThread:
        """Start and return a thread that calls `target` every `timer_interval_secs` (None: no pause) until the stop."""
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    def stop(self, threads: Sequence[threading.Thread] | None = None, close_summary_writer: bool = True,
             ignore_live_threads: bool = False) -> None:
        """Stop all threads (and `threads`), wait for them and close the event file. Raises as Coordinator.join."""
        self._coord.request_stop()
        try:
            self._coord.join(threads, stop_grace_period_secs=self._stop_grace_secs,
                             ignore_live_threads=ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer:
                self._note(_event_pb2.SessionLog.STOP)
                self._summary_writer.close()
                self._graph_written = False

    def request_stop(self, ex: Any = None) -> None:
        """See Coordinator.request_stop."""
        self._coord.request_stop(ex)

    def should_stop(self) -> bool:
        """See Coordinator.should_stop."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> AbstractContextManager[None]:
        """See Coordinator.stop_on_exception."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Wait until a stop is requested."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess: Any, summary: Any, global_step: int | None = None) -> None:
        """Write a summary, at the global step. Raises RuntimeError where there is no writer."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = step_value(sess, self._global_step)
        self._summary_writer.add_summary(summary, global_step)

    @contextmanager
    def managed_session(self, master: str = "", config: Any = None, start_standard_services: bool = True,
                        close_summary_writer: bool = True) -> Iterator[Any]:
        """Return a context manager of a session, which stops and closes everything at its end.

        Whatever the block, or a thread, raises comes out of it, except OutOfRangeError, the end of an input.
        """
        session: Any = None
        try:
            session = self.prepare_or_wait_for_session(master, config,
                                                       start_standard_services=start_standard_services)
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                # Raises the error of the block: it was reported to the coordinator.
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    with suppress(Exception):      # of no interest where training itself has failed
                        session.close()

    def _write_graph(self) -> None:
        if not self._logdir:
            return
        described = self._graph.as_graph_def(add_shapes=True)
        write_graph(described, self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_written:
            self._summary_writer.add_graph(self._graph)
            saver_def = self._saver.saver_def if self._saver else None
            self._summary_writer.add_meta_graph(export_meta_graph(
                graph_def=described, saver_def=saver_def, graph=self._graph))
            self._graph_written = True

    def _note(self, status: int, step: int | None = None) -> None:
        self._summary_writer.add_session_log(_event_pb2.SessionLog(status=status), step)

    # The names of early releases.
    PrepareSession = prepare_or_wait_for_session
    StartStandardServices = start_standard_services
    StartQueueRunners = start_queue_runners
    Loop = loop
    Stop = stop
    RequestStop = request_stop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _is_default(value: Any) -> bool:
    return isinstance(value, int) and value == Supervisor.USE_DEFAULT


def _default(given: Any, key: str, make: Callable[[], Any] | None = None) -> Any:
    """Return `given`; for USE_DEFAULT the first item of a collection, or a new one, which is added to it."""
    if not _is_default(given):
        return given
    graph = get_default_graph()
    found = graph.get_collection(key)
    made = found[0] if found else make() if make else None
    if made is not None and not found:
        graph.add_to_collection(key, made)
    return made


def _step_by_name() -> Any:
    """Return the tensor "global_step:0" if its dtype is an integer one, of any shape; else None."""
    try:
        found = get_default_graph().get_tensor_by_name(f"{GraphKeys.GLOBAL_STEP}:0")
    except KeyError:
        return None
    return found if found.dtype.base_dtype.is_integer else None


def _local_init() -> Any:
    return group(local_variables_initializer(), tables_initializer())
