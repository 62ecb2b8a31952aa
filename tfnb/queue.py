"""Queues: `tf.queue`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.ops.data_flow.queues import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue

_explain(__name__)
