"""Summaries and event files: `tf.summary`."""
# ruff: noqa: F401, I001
from tfnb.ops.summary import histogram, image, merge, merge_all, scalar, tensor_summary, text
from tfnb.summary.writer import FileWriter, FileWriterCache
from tfnb.core.lazy import lazy_names as _lazy_names

__getattr__ = _lazy_names(__name__, {
    "Event": "tfnb.proto.event_pb2", "SessionLog": "tfnb.proto.event_pb2", "Summary": "tfnb.proto.summary_pb2",
    "SummaryDescription": "tfnb.proto.summary_pb2",
})
