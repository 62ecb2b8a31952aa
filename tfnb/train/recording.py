"""Summaries that write themselves: writers of the graph and the functions that record into the default one.

`tf.contrib.summary`. An op of `scalar`, `histogram`... writes to an event file where it runs, without a fetched
Summary; whether it does is a condition of the graph, such as every n-th global step.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfnb.control_flow.cond import cond
from tfnb.core import dtypes
from tfnb.core.arguments import SUMMARIES, describe
from tfnb.core.program.log import warning
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import (
    control_dependencies,
    device,
    get_default_graph,
    get_default_session,
    name_scope,
)
from tfnb.ops.array.reshape import Identity
from tfnb.ops.control.group import no_op
from tfnb.ops.control.source import constant, placeholder
from tfnb.ops.io import summary_writers as ops
from tfnb.ops.io.summary import summary_scope
from tfnb.ops.math.compare import equal
from tfnb.ops.math.division import floormod
from tfnb.train.global_step import get_or_create_global_step

_INITIALIZERS = "_SUMMARY_WRITER_V2"               # collection of the ops that open the files of writers
_MAX_QUEUE, _FLUSH_MILLIS = 10, 2 * 60 * 1000      # of create_file_writer


class _Recording(threading.local):
    writer: Any = None                             # the default writer
    condition: Any = False                         # a bool, a tensor, or a function that returns one


_recording = _Recording()


class ResourceSummaryWriter:
    """A writer of summaries in the graph, made by `tf.contrib.summary.create_file_writer`.

    resource: its handle; init_op: the operation that opens its event file.

    >>> writer = tf.contrib.summary.create_file_writer("logs")
    >>> with writer.as_default(), tf.contrib.summary.always_record_summaries():
    ...     written = tf.contrib.summary.scalar("loss", 0.5, step=3)
    >>> sess.run(writer.init())
    >>> sess.run(written)
    True
    >>> sess.run(writer.close())
    >>> path = "logs/" + tf.gfile.ListDirectory("logs")[0]
    >>> [(event.step, event.summary.value[0].tag) for event in tf.train.summary_iterator(path) if event.summary.value]
    [(3, 'loss')]
    """

    def __init__(self, resource: Tensor, init_op: Operation) -> None:
        self._resource, self._init_op = resource, init_op
        get_default_graph().add_to_collection(_INITIALIZERS, init_op)

    def init(self) -> Operation:
        """Return the operation that opens the event file."""
        return self._init_op

    def set_as_default(self) -> None:
        """Let summaries of this thread go to this writer."""
        _recording.writer = self

    @contextmanager
    def as_default(self) -> Iterator[ResourceSummaryWriter]:
        """Let summaries that are made in a `with` block go to this writer."""
        with _changed("writer", self):
            yield self

    def flush(self) -> Operation:
        """Return an operation that waits until all events are in the file."""
        return _flushed(self)

    def close(self) -> Operation:
        """Return an operation that writes what waits and closes the file."""
        with control_dependencies([self.flush()]), device("cpu:0"):
            made: Operation = ops.CloseSummaryWriter(self._resource)
        return made


class NoopSummaryWriter:
    """The writer of no folder: it leaves the default writer as it is, and where there is none summaries do nothing.

    >>> with tf.contrib.summary.create_file_writer(None).as_default(), tf.contrib.summary.always_record_summaries():
    ...     sess.run(tf.contrib.summary.scalar("loss", 0.5, step=3))
    """

    def init(self) -> None:
        """Return None: there is nothing to open."""

    def set_as_default(self) -> None:
        """Leave the default writer as it is."""

    @contextmanager
    def as_default(self) -> Iterator[NoopSummaryWriter]:
        """Leave the default writer as it is."""
        yield self

    def flush(self) -> None:
        """Return None: nothing waits."""

    def close(self) -> None:
        """Return None: nothing is open."""


@contextmanager
def _changed(name: str, value: Any) -> Iterator[None]:
    before = getattr(_recording, name)
    setattr(_recording, name, value)
    try:
        yield
    finally:
        setattr(_recording, name, before)


def create_file_writer(logdir: Any, max_queue: Any = None, flush_millis: Any = None, filename_suffix: Any = None,
                       name: str | None = None) -> Any:
    """Return a writer of summaries into a new event file of the folder `logdir`, which its `init()` makes.

    logdir: None for a writer that does nothing. max_queue: how many events wait before they are written (10);
    flush_millis: they are on disk after that many milliseconds (120,000); filename_suffix: the end of the file name
    (".v2"); name: writers of one name share a file in a session ("logdir:" and the folder).

    >>> writer = tf.contrib.summary.create_file_writer("logs", flush_millis=1000)
    >>> sess.run(writer.init())
    >>> tf.gfile.ListDirectory("logs")[0].endswith(".v2")
    True
    """
    if logdir is None:
        return NoopSummaryWriter()
    folder = os.fsdecode(logdir) if isinstance(logdir, (bytes, os.PathLike)) else str(logdir)
    with device("cpu:0"):
        handle = ops.SummaryWriter(shared_name=f"logdir:{folder}" if name is None else name)
        return ResourceSummaryWriter(handle, ops.CreateSummaryFileWriter(
            handle, folder, constant(_MAX_QUEUE) if max_queue is None else max_queue,
            constant(_FLUSH_MILLIS) if flush_millis is None else flush_millis,
            constant(".v2") if filename_suffix is None else filename_suffix))


def create_summary_file_writer(*args: Any, **kwargs: Any) -> Any:
    """Call `create_file_writer`, of which this is the older name, with all arguments.

    >>> tf.contrib.summary.create_summary_file_writer("logs", name="w").init().type
    'CreateSummaryFileWriter'
    """
    warning("Deprecation Warning: create_file_writer was renamed to create_file_writer")
    return create_file_writer(*args, **kwargs)


def summary_writer_initializer_op() -> list[Operation]:
    """Return the operations of the default graph that open the files of its writers.

    >>> writer = tf.contrib.summary.create_file_writer("logs")
    >>> tf.contrib.summary.summary_writer_initializer_op() == [writer.init()]
    True
    """
    return get_default_graph().get_collection(_INITIALIZERS)


def initialize(graph: Any = None, session: Any = None) -> None:
    """Open the files of all writers in a session, and write `graph` to the default writer.

    graph: a Graph or GraphDef, None for none. session: the default session if None. Raises RuntimeError without a
    default writer, ValueError without a session.

    >>> with tf.contrib.summary.create_file_writer("logs").as_default():
    ...     tf.contrib.summary.initialize(graph=tf.get_default_graph(), session=sess)
    """
    if _recording.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found: expected a call of as_default() or "
                           "set_as_default() of one that create_file_writer made")
    session = session or get_default_session()
    if session is None:
        raise ValueError("initialize: expected a session as `session`, or a default session, got neither")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        data = placeholder(dtypes.string)
        session.run(globals()["graph"](data, 0), {data: _serialized(graph)})


def _serialized(graph: Any) -> bytes:
    given = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
    data: bytes = given.SerializeToString()
    return data


def should_record_summaries() -> Any:
    """Return whether summaries that are made now are written: a bool, or a bool tensor.

    >>> tf.contrib.summary.should_record_summaries()
    False
    >>> with tf.contrib.summary.always_record_summaries():
    ...     tf.contrib.summary.should_record_summaries()
    True
    """
    return _recording.condition() if callable(_recording.condition) else _recording.condition


def always_record_summaries() -> Any:
    """Return a context manager in which summaries are written whenever they run.

    >>> with tf.contrib.summary.always_record_summaries():
    ...     tf.contrib.summary.should_record_summaries()
    True
    """
    return _changed("condition", True)


def never_record_summaries() -> Any:
    """Return a context manager in which no summaries are written.

    >>> with tf.contrib.summary.never_record_summaries():
    ...     tf.contrib.summary.should_record_summaries()
    False
    """
    return _changed("condition", False)


def record_summaries_every_n_global_steps(n: Any, global_step: Any = None) -> Any:
    """Return a context manager in which summaries are written where the global step is a multiple of `n`.

    n: an integer or a tensor. global_step: the graph's own if None.

    >>> step = tf.train.get_or_create_global_step()
    >>> with tf.contrib.summary.record_summaries_every_n_global_steps(2):
    ...     record = tf.contrib.summary.should_record_summaries()
    >>> sess.run(step.initializer)
    >>> sess.run(record)
    True
    >>> sess.run(step.assign_add(1)), sess.run(record)
    (1, False)
    """
    counted = get_or_create_global_step() if global_step is None else global_step
    with device("cpu:0"):
        return _changed("condition", equal(floormod(counted, n), 0))


def all_v2_summary_ops() -> list[Any]:
    """Return the summaries of the default graph that write themselves.

    >>> with tf.contrib.summary.create_file_writer("logs").as_default():
    ...     with tf.contrib.summary.always_record_summaries():
    ...         loss = tf.contrib.summary.scalar("loss", 0.5, step=3)
    >>> tf.contrib.summary.all_summary_ops() == [loss]
    True
    """
    return get_default_graph().get_collection(GraphKeys._SUMMARY_COLLECTION)


all_summary_ops = all_v2_summary_ops             # its name in tf.contrib.summary


def _recorded(name: str, tensor: Any, family: str | None, write: Callable[[Any, str, str], Any]) -> Any:
    """Return a tensor, or operation, that writes a summary where the condition holds. write: fn(writer's handle, tag,
    name of the node)."""
    outside = get_default_graph().get_name_scope()

    def record() -> Tensor:
        # Inside of a conditional the tag is still that of the scope around it.
        with name_scope(f"{outside}/" if outside else None), \
                summary_scope(name, family, [tensor]) as (tag, scope), \
                control_dependencies([write(_recording.writer._resource, tag, scope)]):
            return constant(True)

    if _recording.writer is None:
        return no_op()
    with device("cpu:0"):
        should = should_record_summaries()
        if isinstance(should, Tensor):
            made: Any = cond(should, record, lambda: constant(False), name="")
        else:
            made = record() if should else constant(False)
    get_default_graph().add_to_collection(GraphKeys._SUMMARY_COLLECTION, made)
    return made


def _step(step: Any) -> Any:
    if step is None:
        return get_or_create_global_step()
    return step if isinstance(step, Tensor) else convert_to_tensor(step, dtypes.int64)


def generic(name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None) -> Any:
    """Write a whole tensor as a summary; see `scalar`.

    metadata: a SummaryMetadata that names its viewer, a serialized one, or None.

    >>> with tf.contrib.summary.create_file_writer("logs").as_default():
    ...     with tf.contrib.summary.always_record_summaries():
    ...         written = tf.contrib.summary.generic("numbers", [1.0, 2.0], step=3)
    ...     tf.contrib.summary.initialize(session=sess)
    >>> sess.run(written)
    True
    """
    data = "" if metadata is None else metadata if isinstance(metadata, (str, bytes, Tensor)) \
        else metadata.SerializeToString()
    return _recorded(name, tensor, family, lambda writer, tag, scope: ops.WriteSummary(
        writer, _step(step), Identity(tensor), tag, data, name=scope))


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Write a number as a summary to the default writer where it runs, and return True, False where it is not written.

    Nothing is written without a default writer, nor outside of `always_record_summaries()` and
    `record_summaries_every_n_global_steps(n)`. name: with the scopes around it the tag; family: goes before the tag,
    to group plots.

    >>> with tf.contrib.summary.create_file_writer("logs").as_default():
    ...     with tf.contrib.summary.always_record_summaries():
    ...         written = tf.contrib.summary.scalar("loss", 0.5, step=3)
    ...     tf.contrib.summary.initialize(session=sess)
    >>> sess.run(written)
    True
    """
    return _recorded(name, tensor, family, lambda writer, tag, scope: ops.WriteScalarSummary(
        writer, _step(step), tag, Identity(tensor), name=scope))


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Write the distribution of a tensor's elements as a summary; see `scalar`.

    >>> with tf.contrib.summary.create_file_writer("logs").as_default():
    ...     with tf.contrib.summary.always_record_summaries():
    ...         written = tf.contrib.summary.histogram("weights", [1.0, 2.0], step=3)
    ...     tf.contrib.summary.initialize(session=sess)
    >>> sess.run(written)
    True
    """
    return _recorded(name, tensor, family, lambda writer, tag, scope: ops.WriteHistogramSummary(
        writer, _step(step), tag, Identity(tensor), name=scope))


def image(name: str, tensor: Any, bad_color: Any = None, max_images: int = 3, family: str | None = None,
          step: Any = None) -> Any:
    """Write images [batch, height, width, channels] as a summary; see `scalar`.

    bad_color: uint8, of pixels that are not finite (red if None); max_images: how many of the batch.

    >>> with tf.contrib.summary.create_file_writer("logs").as_default():
    ...     with tf.contrib.summary.always_record_summaries():
    ...         written = tf.contrib.summary.image("digit", tf.zeros([1, 28, 28, 1]), step=3)
    ...     tf.contrib.summary.initialize(session=sess)
    >>> sess.run(written)
    True
    """
    color = constant([255, 0, 0, 255], dtypes.uint8) if bad_color is None else bad_color
    return _recorded(name, tensor, family, lambda writer, tag, scope: ops.WriteImageSummary(
        writer, _step(step), tag, Identity(tensor), color, max_images=max_images, name=scope))


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int, family: str | None = None,
          step: Any = None) -> Any:
    """Write sounds [batch, frames(, channels)] in [-1, 1] as a summary; see `scalar`.

    sample_rate: in Hertz; max_outputs: how many of the batch.

    >>> with tf.contrib.summary.create_file_writer("logs").as_default():
    ...     with tf.contrib.summary.always_record_summaries():
    ...         written = tf.contrib.summary.audio("tone", tf.zeros([1, 100]), 8000.0, max_outputs=1, step=3)
    ...     tf.contrib.summary.initialize(session=sess)
    >>> sess.run(written)
    True
    """
    return _recorded(name, tensor, family, lambda writer, tag, scope: ops.WriteAudioSummary(
        writer, _step(step), tag, Identity(tensor), sample_rate=sample_rate, max_outputs=max_outputs, name=scope))


def graph(param: Any, step: Any = None, name: str | None = None) -> Operation:
    """Return an operation that writes a serialized GraphDef, `param`, a string tensor, to the default writer.

    Raises TypeError for what is no tensor.

    >>> data = tf.placeholder(tf.string)
    >>> with tf.contrib.summary.create_file_writer("logs").as_default():
    ...     written = tf.contrib.summary.graph(data, step=0)
    ...     tf.contrib.summary.initialize(session=sess)
    >>> sess.run(written, {data: tf.get_default_graph().as_graph_def().SerializeToString()})
    """
    if not isinstance(param, Tensor):
        raise TypeError(f"graph() needs a tf.Tensor (e.g. tf.placeholder) of a serialized GraphDef, got {param!r}")
    if _recording.writer is None:
        return no_op()
    with device("cpu:0"):
        made: Operation = ops.WriteGraphSummary(_recording.writer._resource, _step(step), Identity(param), name=name)
    return made


def import_event(tensor: Any, name: str | None = None) -> Operation:
    """Return an operation that writes a serialized Event, a string scalar, to the default writer as it is.

    >>> with tf.contrib.summary.create_file_writer("logs").as_default():
    ...     written = tf.contrib.summary.import_event(tf.summary.Event(step=3).SerializeToString())
    ...     tf.contrib.summary.initialize(session=sess)
    >>> sess.run(written)
    """
    if _recording.writer is None:
        return no_op()
    made: Operation = ops.ImportEvent(_recording.writer._resource, tensor, name=name)
    return made


def flush(writer: Any = None, name: str | None = None) -> Operation:
    """Return an operation that waits until all events of a writer, the default one if None, are in its file.

    >>> with tf.contrib.summary.create_file_writer("logs").as_default():
    ...     tf.contrib.summary.initialize(session=sess)
    ...     sess.run(tf.contrib.summary.flush())
    """
    return _flushed(_recording.writer if writer is None else writer, name)


def _flushed(writer: Any, name: str | None = None) -> Operation:
    if not isinstance(writer, ResourceSummaryWriter):
        return no_op()
    with device("cpu:0"):
        made: Operation = ops.FlushSummaryWriter(writer._resource, name=name)
    return made


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """Return the folder of evaluation summaries below `model_dir`: "eval", or "eval_" and `name`.

    >>> tf.contrib.summary.eval_dir("model", "test").replace("\\\\", "/")
    'model/eval_test'
    """
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")


describe(globals(), SUMMARIES)
