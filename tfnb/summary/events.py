"""Events of files: `tf.train.summary_iterator`."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tfnb.core.errors import DataLossError
from tfnb.proto.event_pb2 import Event
from tfnb.proto.records import read_records


def summary_iterator(path: str | Path) -> Iterator[Event]:
    """The events of a file, in order; one cut off at the end is left out, since its writer may still be at work.

    Raises NotFoundError, and DataLossError where a checksum is wrong or a record is no Event. path: the file.

    >>> with tf.summary.FileWriter("logs") as writer:
    ...     writer.add_summary(sess.run(tf.summary.scalar("loss", 0.5)), global_step=3)
    >>> path = "logs/" + tf.gfile.ListDirectory("logs")[0]
    >>> events = list(tf.summary.summary_iterator(path))
    >>> [(event.step, value.simple_value) for event in events for value in event.summary.value]
    [(3, 0.5)]
    """
    for record in read_records(path, partial=True):
        try:
            event = Event.FromString(record)
        except Exception as error:                 # the protobuf runtime's own class
            raise DataLossError(None, None, f"{path}: a record is no Event: {error}") from None
        yield event
