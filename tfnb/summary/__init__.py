"""Summaries and event files: `tf.summary`."""
# ruff: noqa: F401, I001
from tfnb.ops.io.summary import audio, histogram, image, merge, merge_all, scalar, tensor_summary, text
from tfnb.core.lazy import lazy_names as _lazy_names

# A program that writes no event files does not import protobuf.
__getattr__ = _lazy_names(__name__, {
    "FileWriter": "tfnb.summary.writer", "FileWriterCache": "tfnb.summary.writer",
    "get_summary_description": "tfnb.summary.descriptions", "summary_iterator": "tfnb.summary.events",
    "initialize": "tfnb.train.recording", "all_v2_summary_ops": "tfnb.train.recording",
    "Event": "tfnb.proto.event_pb2", "SessionLog": "tfnb.proto.event_pb2", "Summary": "tfnb.proto.summary_pb2",
    "SummaryDescription": "tfnb.proto.summary_pb2", "TaggedRunMetadata": "tfnb.proto.event_pb2",
})
