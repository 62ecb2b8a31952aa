"""Queue runners, threads that fill queues: `tf.train.QueueRunner` and `tf.train.start_queue_runners`."""
from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core.arguments import SESSIONS, describe
from tfnb.core.errors import (
    CancelledError,
    OutOfRangeError,
    UnimplementedError,
    error_code_from_exception_type,
    exception_type_from_error_code,
)
from tfnb.core.lazy import lazy_module
from tfnb.core.options import options
from tfnb.graph.parts.context import get_default_session
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import get_default_graph
from tfnb.runtime.remote.session import stay_lost
from tfnb.train.input.coordinator import Coordinator

_pb = lazy_module("tfnb.proto.queue_runner_pb2")
_log = logging.getLogger("tensorflow")


class _Named:
    """Queue of a QueueRunner that was read from a proto: its name only."""

    def __init__(self, name: str) -> None:
        self.name = name


class QueueRunner:
    """Runner of a queue's enqueue ops, each run repeatedly in its own thread.

    close_op, cancel_op: close the queue when an enqueue op comes to its end, and with `cancel_pending_enqueues` when
    the coordinator stops; made where they are not given. queue_closed_exception_types: exceptions at the end of an
    enqueue op's input. queue_runner_def: a proto to read all of that from, in the default graph; import_scope: goes
    before the names in it. Raises ValueError for a wrong choice of arguments, TypeError for what is no exception type.

    >>> queue = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
    >>> tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue([7.0])] * 2))
    >>> x = queue.dequeue()
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(x)
    7.0
    """

    def __init__(self, queue: Any = None, enqueue_ops: Sequence[Any] | None = None, close_op: Any = None,
                 cancel_op: Any = None, queue_closed_exception_types: Any = None, queue_runner_def: Any = None,
                 import_scope: str | None = None) -> None:
        self._lock = threading.Lock()
        self._runs_per_session: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._exceptions_raised: list[Exception] = []
        self._failures: list[Exception] = []
        self._queue: Any
        if queue_runner_def is not None:
            if queue is not None or enqueue_ops is not None:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._read(queue_runner_def, import_scope)
            return
        if queue is None or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue, self._enqueue_ops = queue, list(enqueue_ops)
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        types = (OutOfRangeError,) if queue_closed_exception_types is None else queue_closed_exception_types
        if not isinstance(types, tuple) or not types or not all(isinstance(t, type) and issubclass(t, Exception)
                                                                for t in types):
            raise TypeError("queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: "
                            f"{types}")
        self._closed_types = types

    def _read(self, proto: Any, import_scope: str | None) -> None:
        graph = get_default_graph()
        before = f"{import_scope}/" if import_scope else ""

        def element(name: str) -> Any:
            return graph.as_graph_element(before + name)
        self._queue = _Named(before + proto.queue_name)
        self._enqueue_ops = [element(name) for name in proto.enqueue_op_name]
        self._close_op, self._cancel_op = element(proto.close_op_name), element(proto.cancel_op_name)
        self._closed_types = tuple(exception_type_from_error_code(code) for code in
                                   proto.queue_closed_exception_types) or (OutOfRangeError,)

    @property
    def queue(self) -> Any:
        """Queue that is filled."""
        return self._queue

    @property
    def enqueue_ops(self) -> list[Operation]:
        """Enqueue ops, one per thread."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Operation:
        """Op that closes the queue when the input has ended."""
        return self._close_op  # type: ignore[no-any-return]

    @property
    def cancel_op(self) -> Operation:
        """Op that closes the queue and cancels pending enqueues when the coordinator stops."""
        return self._cancel_op  # type: ignore[no-any-return]

    @property
    def queue_closed_exception_types(self) -> tuple[type[Exception], ...]:
        """Exception types that signal the end of the input of an enqueue op."""
        return self._closed_types

    @property
    def exceptions_raised(self) -> list[Exception]:
        """Exceptions that the threads raised without a coordinator to report them to."""
        return self._exceptions_raised

    @property
    def failures(self) -> list[Exception]:
        """Exceptions that the threads raised since their creation, reported to a coordinator or not."""
        return list(self._failures)

    def threads_in(self, sess: Any) -> int:
        """Return the count of threads that enqueue in a session."""
        with self._lock:
            return self._runs_per_session.get(sess, 0)

    @property
    def name(self) -> str:
        """Name of the queue."""
        return str(self._queue.name)

    def _enqueuer(self, sess: Any, enqueue_op: Operation) -> Callable[[], Any]:
        """Return the function that a thread calls repeatedly; subclasses may feed the op."""
        made: Callable[[], Any] = sess.make_callable(enqueue_op)
        return made

    def _run(self, sess: Any, enqueue_op: Operation, coord: Coordinator | None = None) -> None:
        ended = False
        try:
            enqueue = self._enqueuer(sess, enqueue_op)
            while not (coord and coord.should_stop()):
                try:
                    enqueue()
                except self._closed_types:
                    ended = True
                    break
        except Exception as error:
            if coord and coord.should_stop() and isinstance(error, CancelledError):
                _log.debug("Ignored exception: %s", error)     # the session was closed while an op waited
            elif coord:
                self._failures.append(error)
                coord.request_stop(error)
            else:
                self._failures.append(error)
                _log.error("Exception in QueueRunner: %s", error)
                with self._lock:
                    self._exceptions_raised.append(error)
        with self._lock:
            self._runs_per_session[sess] -= 1
            last = not self._runs_per_session[sess]
        if ended and last:
            self._quietly(sess, self._close_op)

    @staticmethod
    def _quietly(sess: Any, op: Operation) -> None:
        """Run a closing op, suppressing errors of a queue or session that is closed already."""
        try:
            sess.run(op)
        except Exception as error:
            _log.debug("Ignored exception: %s", error)

    def _close_on_stop(self, sess: Any, cancel_op: Operation, coord: Coordinator) -> None:
        coord.wait_for_stop()
        self._quietly(sess, cancel_op)

    def create_threads(self, sess: Any, coord: Coordinator | None = None, daemon: bool = False,
                       start: bool = False) -> list[threading.Thread]:
        """Create a thread per enqueue op, and with a coordinator one that closes the queue when it stops.

        Threads register with `coord`, end with it and report exceptions to it; without one, `exceptions_raised` has
        them. daemon: don't let them keep the program alive; start: start them. If threads of an earlier call still
        run in `sess` there are none. Raises UnimplementedError where threads can't be started (in a browser).
        """
        if start and not options.background:
            raise UnimplementedError(None, None, f"The QueueRunner of {self.name} enqueues in threads, and this Python "
                                     "has none: read the input by tf.data, or enqueue by session.run")
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
            self._failures = []
        stay_lost(sess)
        before = f"QueueRunnerThread-{self.name}-"
        threads = [threading.Thread(target=self._run, args=(sess, op, coord), name=before + op.name)
                   for op in self._enqueue_ops]
        if coord:
            threads.append(threading.Thread(target=self._close_on_stop, args=(sess, self._cancel_op, coord),
                                            name=before + "close_on_stop"))
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Convert to a QueueRunnerDef, names without `export_scope`; None if the queue is outside of that."""
        if export_scope and not self.name.startswith(export_scope):
            return None
        cut = len(export_scope.rstrip("/")) + 1 if export_scope else 0
        return _pb.QueueRunnerDef(
            queue_name=self.name[cut:], enqueue_op_name=[op.name[cut:] for op in self._enqueue_ops],
            close_op_name=self._close_op.name[cut:], cancel_op_name=self._cancel_op.name[cut:],
            queue_closed_exception_types=[error_code_from_exception_type(t) for t in self._closed_types])

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """Make the QueueRunner of a QueueRunnerDef, in the default graph."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Add a QueueRunner to a collection of the graph, from which `start_queue_runners` takes them.

    >>> queue = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
    >>> runner = tf.train.QueueRunner(queue, [queue.enqueue([7.0])])
    >>> tf.train.add_queue_runner(runner)
    >>> tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS) == [runner]
    True
    """
    get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(sess: Any = None, coord: Coordinator | None = None, daemon: bool = True, start: bool = True,
                        collection: str = GraphKeys.QUEUE_RUNNERS) -> list[threading.Thread]:
    """Return the threads of all QueueRunners in a collection of the session's graph, started unless `start` is False.

    sess: by default the default session. Raises ValueError without a session, TypeError for something else.

    >>> names = tf.train.string_input_producer(["a", "b"], shuffle=False)
    >>> coordinator = tf.train.Coordinator()
    >>> threads = tf.train.start_queue_runners(sess, coord=coordinator)
    >>> [sess.run(names.dequeue()) for _ in range(3)]
    [b'a', b'b', b'a']
    >>> coordinator.request_stop()
    >>> coordinator.join(threads)
    """
    if sess is None:
        sess = get_default_session()
        if not sess:
            raise ValueError("Cannot start queue runners: No default session is registered. Use `with "
                             "sess.as_default()` or pass an explicit session to tf.start_queue_runners(sess=sess)")
    if not hasattr(sess, "graph") or not hasattr(sess, "run"):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    with sess.graph.as_default():
        return [thread for runner in sess.graph.get_collection(collection)
                for thread in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)]


describe(globals(), SESSIONS)
