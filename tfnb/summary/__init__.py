"""`tf.summary`: what summary ops make, and the event files that they go into."""
# ruff: noqa: F401, I001
from tfnb.ops.summary import histogram, image, merge, merge_all, scalar, tensor_summary, text
from tfnb.proto.event_pb2 import Event, SessionLog, TaggedRunMetadata
from tfnb.proto.summary_pb2 import Summary, SummaryDescription
from tfnb.summary.writer import FileWriter, FileWriterCache
