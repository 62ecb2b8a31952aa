"""Bucketed batching: `tf.contrib.training.bucket` and `bucket_by_sequence_length`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import INPUT, describe
from tfnb.core.errors import CancelledError, OutOfRangeError
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.control.group import group
from tfnb.ops.control.source import constant
from tfnb.ops.data_flow.queues import FIFOQueue, PaddingFIFOQueue, QueueBase
from tfnb.ops.io.summary import scalar
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.train.input.batching import as_list, as_tensors, element_shapes, enqueue_kept, kept
from tfnb.train.input.queue_runner import QueueRunner, add_queue_runner
from tfnb.train.input.sparse_batches import restore, store

_ENDS = (OutOfRangeError, CancelledError)


def bucket(tensors: Any, which_bucket: Any, batch_size: int | Sequence[int], num_buckets: int, num_threads: int = 1,
           capacity: int = 32, bucket_capacities: Sequence[int] | None = None, shapes: Any = None,
           dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, keep_input: Any = True,
           shared_name: str | None = None, name: str | None = None) -> tuple[Tensor, Any]:
    """Return (bucket, batch): batches of examples of the same one of `num_buckets` buckets.

    tensors: one example, a list or a dict of tensors (so is the batch); which_bucket: its bucket, an int32 scalar of
    each run; batch_size: of all buckets, or one for each; capacity: how many batches wait, and how many examples in
    each bucket unless bucket_capacities tells; keep_input: a bool scalar, False drops the example. Other arguments as
    for `tf.train.batch`. Raises ValueError for lists of other lengths than `num_buckets`, or sizes below 1.

    >>> number = tf.train.range_input_producer(8, shuffle=False).dequeue()
    >>> which, batch = tf.contrib.training.bucket([number], number % 2, batch_size=2, num_buckets=2)
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     bucket, numbers = session.run([which, batch])
    >>> bool(all(numbers[0] % 2 == bucket))
    True
    """
    sizes = list(batch_size) if isinstance(batch_size, Sequence) else [batch_size] * num_buckets
    rooms = list(bucket_capacities) if bucket_capacities is not None else [capacity] * num_buckets
    if num_buckets < 1 or len(sizes) != num_buckets or len(rooms) != num_buckets:
        raise ValueError(f"num_buckets is {num_buckets}, but there are {len(sizes)} batch sizes and {len(rooms)} "
                         "capacities of buckets")
    if any(size < 1 for size in sizes):
        raise ValueError(f"batch sizes must be positive: {sizes}")
    flat = as_list(tensors)
    with name_scope(name, "bucket", flat) as scope:
        keep, index = kept(keep_input, False), convert_to_tensor(which_bucket, dtypes.int32)
        lists, sparse = store(as_tensors([flat], "bucket"), keep, False)
        known = element_shapes(lists, shapes, False, dynamic_pad)
        types = [t.dtype.base_dtype for t in lists[0]]
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queues: list[QueueBase] = [kind(room, types, known, name=f"bucket_queue_{i}") for i, room in enumerate(rooms)]
        top = FIFOQueue(capacity, [dtypes.int32, *types], shared_name=shared_name, name="top_queue")
        _run_buckets(queues, top, lists[0], index, keep, num_threads, sizes, allow_smaller_final_batch)
        scalar(f"fraction_of_{capacity}_full", cast(top.size(), dtypes.float32) * (1.0 / capacity))
        number, *made = top.dequeue(name=scope)
        rows = None if allow_smaller_final_batch or len(set(sizes)) > 1 else sizes[0]
        number.set_shape([])
        for tensor, row in zip(made, known, strict=True):
            tensor.set_shape(TensorShape([rows]).concatenate(row))
        return number, _like(tensors, restore(made, sparse))


def _run_buckets(queues: list[QueueBase], top: QueueBase, example: list[Tensor], index: Tensor, keep: Tensor,
                 threads: int, sizes: Sequence[int], smaller: bool) -> None:
    """Add queue runners that enqueue examples into their buckets, and each bucket's batches into `top`."""
    chosen = QueueBase.from_list(index, queues)
    add_queue_runner(QueueRunner(
        queues[0], [enqueue_kept(chosen, example, False, keep)] * threads, group(*(q.close() for q in queues)),
        group(*(q.close(cancel_pending_enqueues=True) for q in queues)), _ENDS))
    moves = []
    for i, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        batch = queue.dequeue_up_to(size) if smaller else queue.dequeue_many(size)
        moves.append(top.enqueue([constant(i), *(batch if isinstance(batch, list) else [batch])]))
    add_queue_runner(QueueRunner(top, moves, queue_closed_exception_types=_ENDS))


def bucket_by_sequence_length(input_length: Any, tensors: Any, batch_size: int | Sequence[int],
                              bucket_boundaries: Sequence[int], num_threads: int = 1, capacity: int = 32,
                              bucket_capacities: Sequence[int] | None = None, shapes: Any = None,
                              dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
                              keep_input: Any = True, shared_name: str | None = None, name: str | None = None
                              ) -> tuple[Tensor, Any]:
    """Return (lengths, batch): batches of sequences of similar lengths. See `bucket`.

    input_length: of the example, an int32 scalar; bucket_boundaries: the lengths at which buckets begin after the
    first one, which begins at 0. Raises TypeError, ValueError for boundaries that are no integers or don't rise.

    >>> lengths, (words,) = tf.contrib.training.bucket_by_sequence_length(
    ...     3, [tf.constant([7, 8, 9])], batch_size=2, bucket_boundaries=[5, 10])
    >>> coordinator = tf.train.Coordinator()
    >>> threads = tf.train.start_queue_runners(sess, coordinator)
    >>> sess.run([lengths, words])
    [array([3, 3], dtype=int32), array([[7, 8, 9],
           [7, 8, 9]], dtype=int32)]
    >>> coordinator.request_stop()
    >>> coordinator.join(threads)
    """
    bounds = list(bucket_boundaries)
    if not bounds:
        raise ValueError("bucket_boundaries must not be empty")
    if not all(isinstance(bound, int) and not isinstance(bound, bool) for bound in bounds):
        raise TypeError(f"bucket boundaries must be integers, but saw: {bounds}")
    if any(a >= b for a, b in zip(bounds, bounds[1:], strict=False)):
        raise ValueError(f"Buckets must contain sequential increasing lengths, but saw: {bounds}")
    flat = as_list(tensors)
    with name_scope(name, "bucket_by_sequence_length", [input_length, *flat]):
        length = convert_to_tensor(input_length, dtypes.int32)
        which = reduce_sum(cast(length >= constant(bounds), dtypes.int32))
        _, (lengths, *made) = bucket(
            [length, *flat], which, batch_size, len(bounds) + 1, num_threads, capacity, bucket_capacities,
            None if shapes is None else [[], *shapes], dynamic_pad, allow_smaller_final_batch, keep_input, shared_name)
        return lengths, _like(tensors, made)


def _like(tensors: Any, made: list[Tensor]) -> Any:
    return dict(zip(sorted(tensors), made, strict=True)) if isinstance(tensors, dict) else made


describe(globals(), INPUT)
