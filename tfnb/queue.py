"""Queues: `tf.queue`."""
# ruff: noqa: F401
from tfnb.ops.data_flow.queues import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
