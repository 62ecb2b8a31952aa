"""Event files: a thread that appends events to one."""
from __future__ import annotations

import itertools
import os
import queue
import socket
import threading
import time
import weakref
from enum import Enum
from pathlib import Path

from tfnb.core.files.paths import local, make_folders
from tfnb.core.options import options
from tfnb.proto.event_pb2 import Event
from tfnb.proto.records import RecordWriter
from tfnb.proto.varints import varint

FILE_VERSION = "brain.Event:2"                     # what readers look for in the first event
_NUMBERS = itertools.count()
_SUMMARY_FIELD = bytes([5 << 3 | 2])               # Event.summary: field 5, a length and bytes


def summary_event(summary: bytes, step: int) -> bytes:
    """Return the serialized Event of now with a serialized Summary for the global step `step`."""
    # The last field of the event, as bytes: parts of a message may stand side by side.
    event = Event(wall_time=time.time(), step=step).SerializeToString()
    return event + _SUMMARY_FIELD + varint(len(summary)) + summary


class Ask(Enum):
    """Messages in the queue besides events."""

    FLUSH = 1
    CLOSE = 2


class EventFile:
    """One event file, open for appending: events wait in a bounded queue and a thread writes them.

    Without threads (`options.background`) they are written at once.

    max_queue: how many events may wait before `add` does. flush_secs: an event is in the file after that many seconds
    at most. What is left is written when the object is dropped or the interpreter ends. Raises the error of tf.errors
    for what the operating system says: FailedPreconditionError where `logdir` is a file.
    """

    def __init__(self, logdir: str | Path, max_queue: int = 10, flush_secs: float = 120, suffix: str = "") -> None:
        make_folders(logdir)
        now = time.time()
        # Process and number: two writers in one second don't meet in one file.
        name = f"events.out.tfevents.{int(now):010d}.{socket.gethostname()}.{os.getpid()}.{next(_NUMBERS)}{suffix}"
        self.path = Path(local(logdir)) / name
        self._queue: queue.Queue[bytes | Ask] = queue.Queue(max(1, max_queue))
        self._failure: list[Exception] = []
        records = RecordWriter(self.path)
        records.write(Event(wall_time=now, file_version=FILE_VERSION).SerializeToString())
        records.flush()
        self._direct: RecordWriter | None = None
        self._flush_secs = flush_secs
        self._deadline: float | None = None
        if not options.background:
            self._direct = records
            self._close: weakref.finalize[..., EventFile] = weakref.finalize(self, records.close)
            return
        # The thread must not hold this object: dropping it is what ends the thread.
        work = (records, self._queue, flush_secs, self._failure)
        thread = threading.Thread(target=_write_events, args=work, name=f"events {self.path.name}", daemon=True)
        thread.start()
        self._close = weakref.finalize(self, _finish, self._queue, thread)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return not self._close.alive

    def add(self, event: bytes) -> None:
        """Append a serialized Event. Raises the error of tf.errors that writing an earlier one raised."""
        self._check()
        if self._direct is not None:
            self._deadline = _write(self._direct, event, self._flush_secs, self._deadline)
        else:
            self._queue.put(event)

    def flush(self) -> None:
        """Wait until every event added so far is in the file. Raises as `add`."""
        if self._direct is not None:
            self._direct.flush()
            return
        self._queue.put(Ask.FLUSH)
        self._queue.join()
        self._check()

    def close(self) -> None:
        """Write what waits and end the file. A second call does nothing. Raises as `add`."""
        self._close()
        self._check()

    def _check(self) -> None:
        if self._failure:
            raise self._failure[0]


def _finish(events: queue.Queue[bytes | Ask], thread: threading.Thread) -> None:
    events.put(Ask.CLOSE)
    thread.join()


def _write_events(records: RecordWriter, events: queue.Queue[bytes | Ask], flush_secs: float,
                  failure: list[Exception]) -> None:
    """Process the queue until CLOSE comes. After an error events are only taken, so that nobody waits for ever."""
    deadline: float | None = None                  # when to flush; None: everything is flushed
    data: bytes | Ask = Ask.FLUSH
    while data is not Ask.CLOSE:
        try:
            data = events.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
            taken = True
        except queue.Empty:
            data, taken = Ask.FLUSH, False
        try:
            deadline = _write(records, data, flush_secs, deadline)
        except Exception as error:
            failure.append(error)
            deadline = None
        if taken:
            events.task_done()


def _write(records: RecordWriter, data: bytes | Ask, flush_secs: float, deadline: float | None) -> float | None:
    """Write an event, flush or close; returns when the next flush is due, or None."""
    if data is Ask.CLOSE:
        records.close()
        return None
    if isinstance(data, bytes):
        records.write(data)
        deadline = deadline or time.monotonic() + flush_secs
        if time.monotonic() < deadline:
            return deadline
    records.flush()
    return None
