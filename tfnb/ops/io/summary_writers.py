"""Summary ops that write to event files themselves: a writer is a resource of the session (`tf.contrib.summary`)."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

from tfnb.core import taps
from tfnb.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfnb.core.lazy import lazy_module
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host, scalars
from tfnb.ops.io.summary import (
    REAL,
    AudioSummaryV2,
    HistogramSummary,
    ImageSummary,
    ScalarSummary,
    parsed,
    store_tensor,
)

_files = lazy_module("tfnb.proto.event_files")
_event = lazy_module("tfnb.proto.event_pb2")
_graph = lazy_module("tfnb.proto.graph_pb2")
_summary = lazy_module("tfnb.proto.summary_pb2")


class _Writer:
    """The resource behind SummaryWriter: an event file between CreateSummaryFileWriter and CloseSummaryWriter."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.logdir = ""
        self.file: Any = None

    def open(self, logdir: str, max_queue: int, seconds: float, suffix: str) -> None:
        """Open an event file, unless there is one. Raises the error of tf.errors that the folder's making raises."""
        if self.file is None:
            self.logdir, self.file = logdir, _files.EventFile(logdir, max_queue, seconds, suffix)

    def close(self) -> None:
        """Write what waits and close the file."""
        file, self.file = self.file, None
        if file is not None:
            file.close()

    def cancel(self) -> None:
        """Close the file: the session ends, or another op took the place of the writer's."""
        self.close()


def _open(writer: Any, ctx: Any) -> _Writer:
    """Return the writer behind a handle. Raises NotFoundError for one that has no file."""
    found: _Writer = writer[()]
    if found.file is None:
        raise NotFoundError(None, ctx.op, f"Summary writer {found.name!r} has no event file: expected its init op to "
                                          "have run (tf.contrib.summary.initialize), and no close since")
    return found


def _add(writer: Any, step: np.ndarray, summary: bytes, ctx: Any) -> tuple[()]:
    """Add a serialized Summary for a step."""
    held, number = _open(writer, ctx), int(step)
    if taps.on_summary is not None:
        taps.on_summary(summary, number, held.logdir)
    held.file.add(_files.summary_event(summary, number))
    return ()


def _made(of: Any, ctx: Any, *inputs: np.ndarray, **attrs: Any) -> bytes:
    """Return the Summary that the op `of`, whose output is one, makes."""
    made: bytes = of.spec.call(*inputs, ctx=ctx, **attrs)[()]
    return made


@host("-> writer: resource", shape=shapes.scalar, stateful=True, shared_name="string = ''", container="string = ''")
def SummaryWriter(*, ctx: Any) -> np.ndarray:
    """Create the handle of a summary writer, which has no file before CreateSummaryFileWriter."""
    shared = ctx.op.attrs["shared_name"].decode()
    found = ctx.store.resource(ctx.op, lambda: _Writer(shared or ctx.op.name))
    if not isinstance(found, _Writer):
        raise InvalidArgumentError(None, ctx.op, f"{shared!r} is no summary writer, but a {type(found).__name__}")
    handle = np.empty((), object)
    handle[()] = found
    return handle


@host("writer: resource, logdir: string, max_queue: int32, flush_millis: int32, filename_suffix: string",
      shape=shapes.unknown, stateful=True, validate=scalars("logdir", "max_queue", "flush_millis", "filename_suffix"))
def CreateSummaryFileWriter(writer: Any, logdir: Any, max_queue: Any, flush_millis: Any, filename_suffix: Any) -> Any:
    """Open a new event file in the folder `logdir` for a writer that has none; one that has keeps it."""
    writer[()].open(logdir[()].decode(), int(max_queue), int(flush_millis) / 1000, filename_suffix[()].decode())
    return ()


@host("writer: resource", shape=shapes.unknown, stateful=True)
def FlushSummaryWriter(writer: Any, *, ctx: Any) -> Any:
    """Wait until all events of a writer are in its file."""
    _open(writer, ctx).file.flush()
    return ()


@host("writer: resource", shape=shapes.unknown, stateful=True)
def CloseSummaryWriter(writer: Any, *, ctx: Any) -> Any:
    """Write what waits and close a writer's file; CreateSummaryFileWriter may open another one."""
    _open(writer, ctx).close()
    return ()


@host("writer: resource, step: int64, tag: string, value: T", shape=shapes.unknown, stateful=True,
      validate=scalars("step", "tag"), T=REAL)
def WriteScalarSummary(writer: Any, step: Any, tag: Any, value: Any, *, ctx: Any) -> Any:
    """Write a number, a `value` of one element, under `tag`."""
    if value.size != 1:
        raise InvalidArgumentError(None, ctx.op, f"value must have one element, got shape {list(value.shape)}")
    return _add(writer, step, _made(ScalarSummary, ctx, tag, value.reshape(())), ctx)


@host("writer: resource, step: int64, tag: string, values: T", shape=shapes.unknown, stateful=True,
      validate=scalars("step", "tag"),
      T="{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, bool} = DT_FLOAT")
def WriteHistogramSummary(writer: Any, step: Any, tag: Any, values: Any, *, ctx: Any) -> Any:
    """Write a histogram of all elements of `values`, which must be finite."""
    numbers = values.astype(np.uint8) if values.dtype == np.bool_ else values
    return _add(writer, step, _made(HistogramSummary, ctx, tag, numbers), ctx)


@host("writer: resource, step: int64, tag: string, tensor: T, bad_color: uint8", shape=shapes.unknown, stateful=True,
      validate=scalars("step", "tag"), max_images="int >= 1 = 3", T="{uint8, double, float, half} = DT_FLOAT")
def WriteImageSummary(writer: Any, step: Any, tag: Any, tensor: Any, bad_color: Any, *, max_images: int,
                      ctx: Any) -> Any:
    """Write up to `max_images` images of [batch, height, width, channels], 1, 3 or 4 channels, as ImageSummary."""
    made = _made(ImageSummary, ctx, tag, tensor, max_images=max_images, bad_color=np.atleast_1d(bad_color))
    return _add(writer, step, made, ctx)


@host("writer: resource, step: int64, tag: string, tensor: float, sample_rate: float", shape=shapes.unknown,
      stateful=True, validate=scalars("step", "tag", "sample_rate"), max_outputs="int >= 1 = 3")
def WriteAudioSummary(writer: Any, step: Any, tag: Any, tensor: Any, sample_rate: Any, *, max_outputs: int,
                      ctx: Any) -> Any:
    """Write up to `max_outputs` sounds of [batch, frames, channels] or [batch, frames], as AudioSummaryV2."""
    return _add(writer, step, _made(AudioSummaryV2, ctx, tag, tensor, sample_rate, max_outputs=max_outputs), ctx)


@host("writer: resource, step: int64, tensor: T, tag: string, summary_metadata: string", shape=shapes.unknown,
      stateful=True, validate=scalars("step", "tag", "summary_metadata"), T="type")
def WriteSummary(writer: Any, step: Any, tensor: Any, tag: Any, summary_metadata: Any, *, ctx: Any) -> Any:
    """Write a whole tensor under `tag`, with a serialized SummaryMetadata, or "", that names its viewer."""
    value = _summary.Summary.Value(tag=tag[()])
    if summary_metadata[()]:
        parsed(ctx, value.metadata, summary_metadata[()], "a SummaryMetadata")
    store_tensor(value, ctx.op.inputs[2], tensor)
    return _add(writer, step, _summary.Summary(value=[value]).SerializeToString(), ctx)


@host("writer: resource, step: int64, tensor: string", shape=shapes.unknown, stateful=True, validate=scalars("step"))
def WriteRawProtoSummary(writer: Any, step: Any, tensor: Any, *, ctx: Any) -> Any:
    """Write serialized Summary messages, of any shape, as one. Raises DataLossError for other bytes."""
    whole = b"".join(tensor.ravel().tolist())      # a message of one repeated field: its parts side by side
    _checked(_summary.Summary, whole, ctx)
    return _add(writer, step, whole, ctx)


@host("writer: resource, step: int64, tensor: string", shape=shapes.unknown, stateful=True,
      validate=scalars("step", "tensor"))
def WriteGraphSummary(writer: Any, step: Any, tensor: Any, *, ctx: Any) -> Any:
    """Write a serialized GraphDef. Raises DataLossError for other bytes."""
    _checked(_graph.GraphDef, tensor[()], ctx)
    event = _event.Event(wall_time=time.time(), step=int(step), graph_def=tensor[()])
    _open(writer, ctx).file.add(event.SerializeToString())
    return ()


@host("writer: resource, event: string", shape=shapes.unknown, stateful=True, validate=scalars("event"))
def ImportEvent(writer: Any, event: Any, *, ctx: Any) -> Any:
    """Write a serialized Event as it is. Raises DataLossError for other bytes."""
    _checked(_event.Event, event[()], ctx)
    _open(writer, ctx).file.add(event[()])
    return ()


def _checked(kind: Any, data: bytes, ctx: Any) -> None:
    try:
        kind.FromString(data)
    except Exception as error:                     # the protobuf runtime's own class, not worth an import
        raise DataLossError(None, ctx.op, f"Expected a serialized {kind.DESCRIPTOR.name}, got {len(data)} bytes "
                                          f"that are none: {error}") from None


for _op in (SummaryWriter, CreateSummaryFileWriter, FlushSummaryWriter, CloseSummaryWriter, WriteScalarSummary,
            WriteHistogramSummary, WriteImageSummary, WriteAudioSummary, WriteSummary, WriteRawProtoSummary,
            WriteGraphSummary, ImportEvent):
    _op.no_gradient("it writes to a file")
