"""FileWriter: summaries, graphs and run metadata into the event files that TensorBoard shows."""
from __future__ import annotations

import os
import threading
import time
import warnings
from types import TracebackType
from typing import Any, ClassVar, Self

from tfnb.core import taps
from tfnb.graph.graph import Graph
from tfnb.graph.stack import get_default_graph
from tfnb.proto.config_pb2 import RunMetadata
from tfnb.proto.event_files import EventFile, summary_event
from tfnb.proto.event_pb2 import Event, SessionLog, TaggedRunMetadata
from tfnb.proto.graph_pb2 import GraphDef
from tfnb.proto.meta_graph_pb2 import MetaGraphDef
from tfnb.proto.summary_pb2 import Summary


class FileWriter:
    """Writes event files into the folder `logdir`, which is made if there is none (`tf.summary.FileWriter`).

    A thread of its own writes, so that a training loop does not wait for the disk. graph: drawn by TensorBoard;
    graph_def: an older name for it; max_queue: how many events may wait; flush_secs: they are on disk after that many
    seconds at most; filename_suffix: the end of the file name; session: taken for TF 1's sake, makes no difference.

    >>> with tf.summary.FileWriter("logs") as writer:
    ...     writer.add_summary(sess.run(tf.summary.scalar("loss", 0.5)), global_step=1)
    >>> len(tf.gfile.ListDirectory("logs"))
    1
    """

    def __init__(self, logdir: str, graph: Graph | GraphDef | None = None, max_queue: int = 10,
                 flush_secs: float = 120, graph_def: GraphDef | None = None, filename_suffix: str | None = None,
                 session: Any = None) -> None:
        if isinstance(max_queue, str):             # ran under Python 2, where a string is larger than any number
            warnings.warn(f"FileWriter takes max_queue, a number, as its third argument, got {max_queue!r}, which it "
                          "ignores: graphs go into the event file", stacklevel=2)
            max_queue = 10
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (its older name), but not both.")
        self._logdir = os.fsdecode(logdir) if isinstance(logdir, (bytes, os.PathLike)) else str(logdir)
        self._settings = (max_queue, flush_secs, filename_suffix or "")
        self._file = EventFile(self._logdir, *self._settings)
        self._lock = threading.Lock()
        self._described: set[str] = set()          # tags whose metadata is in a file already
        self._run_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)

    def get_logdir(self) -> str:
        """The folder of the event files."""
        return self._logdir

    def add_summary(self, summary: Summary | bytes, global_step: Any = None) -> None:
        """Add what a summary op gave (`bytes`, as `sess.run` returns it, or a Summary), for step `global_step`."""
        data = summary if isinstance(summary, bytes) else summary.SerializeToString()
        parsed, step = Summary.FromString(data), _step(global_step)
        if self._drop_known_metadata(parsed):
            data = parsed.SerializeToString()
        if taps.on_summary is not None:
            taps.on_summary(data, step, self._logdir)
        self._write(summary_event(data, step or 0))

    def _drop_known_metadata(self, summary: Summary) -> bool:
        """Remove the metadata of tags that a file has already (viewers need it once); return whether there was any."""
        dropped = False
        for value in summary.value:
            if value.HasField("metadata"):
                with self._lock:
                    known = value.tag in self._described
                    self._described.add(value.tag)
                if known:
                    value.ClearField("metadata")
                    dropped = True
        return dropped

    def add_graph(self, graph: Graph | GraphDef | None, global_step: Any = None,
                  graph_def: GraphDef | None = None) -> None:
        """Add a Graph, with its static shapes.

        Raises ValueError for both `graph` and `graph_def`, TypeError for neither a Graph nor a GraphDef.
        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (its older name), but not both.")
        given = graph if graph is not None else graph_def
        if isinstance(given, Graph):
            given = given.as_graph_def(add_shapes=True)
        if not isinstance(given, GraphDef):
            raise TypeError(f"The passed graph must be an instance of `Graph` or `GraphDef`, not {given!r}")
        self._add(Event(graph_def=given.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def: MetaGraphDef, global_step: Any = None) -> None:
        """Add a MetaGraphDef. Raises TypeError for anything else."""
        if not isinstance(meta_graph_def, MetaGraphDef):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: RunMetadata, tag: str, global_step: Any = None) -> None:
        """Add what a traced run reported. Raises ValueError if `tag` was used before."""
        if tag in self._run_tags:
            raise ValueError(f"The provided tag was already used for this event type: {tag!r}")
        self._run_tags.add(tag)
        tagged = TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add(Event(tagged_run_metadata=tagged), global_step)

    def add_session_log(self, session_log: SessionLog, global_step: Any = None) -> None:
        """Add a SessionLog: that a session started, stopped or saved a checkpoint."""
        self._add(Event(session_log=session_log), global_step)

    def _add(self, event: Event, global_step: Any) -> None:
        event.wall_time = time.time()
        event.step = _step(global_step) or 0
        self.add_event(event)

    def add_event(self, event: Event) -> None:
        """Add an Event as it is. On a closed writer this warns, and does nothing."""
        self._write(event.SerializeToString())

    def _write(self, data: bytes) -> None:
        if self._file.closed:
            warnings.warn(f"Attempting to use a closed FileWriter of {self._logdir}: the event is lost unless the "
                          "writer is reopened.", stacklevel=3)
        else:
            self._file.add(data)

    def flush(self) -> None:
        """Wait until all that was added is on disk. On a closed writer this warns, and does nothing."""
        if self._file.closed:
            warnings.warn(f"Attempting to use a closed FileWriter of {self._logdir}.", stacklevel=2)
        else:
            self._file.flush()

    def close(self) -> None:
        """Write what waits and close the file."""
        self._file.close()

    def reopen(self) -> None:
        """After `close`: go on, in a new file of the same folder. Does nothing on an open writer."""
        if self._file.closed:
            self._file = EventFile(self._logdir, *self._settings)

    def __enter__(self) -> Self:
        if self._file.closed:
            raise RuntimeError("SummaryWriter is closed")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def _step(global_step: Any) -> int | None:
    return None if global_step is None else int(global_step)


SummaryWriter = FileWriter                         # its name before r0.12, as tf.train.SummaryWriter


class FileWriterCache:
    """One FileWriter for each folder, shared by all who ask for it (`tf.summary.FileWriterCache`).

    >>> writer = tf.summary.FileWriterCache.get("logs")
    >>> tf.summary.FileWriterCache.get("logs") is writer
    True
    >>> tf.summary.FileWriterCache.clear()
    """

    _cache: ClassVar[dict[str, FileWriter]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The writer of `logdir`, made with the default graph where there is none yet."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._cache[logdir]

    @staticmethod
    def clear() -> None:
        """Close and forget all writers."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache.clear()
