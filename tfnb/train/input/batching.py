"""Queue-based input pipelines: producers of file names and indices, and batches of examples.

Each function makes a queue and a QueueRunner that fills it, adds that to GraphKeys.QUEUE_RUNNERS, and a summary of
how full the queue is. `tf.train.start_queue_runners` starts the threads.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.control_flow.assertions import Assert
from tfnb.core import dtypes
from tfnb.core.arguments import INPUT, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.array.create import range_
from tfnb.ops.array.gather import boolean_mask, gather
from tfnb.ops.array.reshape import expand_dims, identity, shape, size
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.source import constant
from tfnb.ops.data_flow.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from tfnb.ops.io.files import matching_files
from tfnb.ops.io.summary import scalar
from tfnb.ops.math.arithmetic import maximum
from tfnb.ops.math.casting import cast
from tfnb.ops.random.random_ops import random_shuffle
from tfnb.train.input.queue_runner import QueueRunner, add_queue_runner
from tfnb.train.input.sparse_batches import restore, store
from tfnb.variables.variable import Variable


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """Return a local variable of the file names that match one or more glob patterns when it is initialized.

    >>> for name in ("a.txt", "b.txt", "c.png"):
    ...     with tf.gfile.GFile(name, "w") as file:
    ...         file.write("text")
    >>> names = tf.train.match_filenames_once("*.txt")
    >>> sess.run(names.initializer)
    >>> sess.run(names)
    array([b'./a.txt', b'./b.txt'], dtype=object)
    """
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(matching_files(pattern), trainable=False, name=scope, validate_shape=False,
                        collections=[GraphKeys.LOCAL_VARIABLES])


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """Return an identity of `tensor` that raises OutOfRangeError after `num_epochs` evaluations (None: never).

    The count is a local variable: run `tf.local_variables_initializer()`. Raises ValueError for num_epochs <= 0.

    >>> x = tf.train.limit_epochs(tf.constant([1, 2]), num_epochs=1)
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(x)
    array([1, 2], dtype=int32)
    >>> sess.run(x)
    Traceback (most recent call last):
        ...
    OutOfRangeError: Reached limit of 1 in CountUpTo 'limit_epochs/CountUpTo'
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = Variable(constant(0, dtypes.int64), name="epochs", trainable=False,
                          collections=[GraphKeys.LOCAL_VARIABLES])
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return identity(tensor, name=scope)


def input_producer(input_tensor: Any, element_shape: Any = None, num_epochs: int | None = None, shuffle: bool = True,
                   seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                   summary_name: str | None = None, name: str | None = None, cancel_op: Any = None) -> FIFOQueue:
    """Return a queue of the rows of `input_tensor` for `num_epochs` epochs (None: endless), reshuffled in each.

    element_shape: of a row, if the tensor's is unknown; shuffle: False keeps the order; summary_name: of the
    summary of how full the queue is, if there shall be one. Raises ValueError if the shape of a row is not known.

    >>> row = tf.train.input_producer([[1, 2], [3, 4]], shuffle=False).dequeue()
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(row), session.run(row)
    (array([1, 2], dtype=int32), array([3, 4], dtype=int32))
    """
    with name_scope(name, "input_producer", [input_tensor]):
        tensor = convert_to_tensor(input_tensor, name="input_tensor")
        row = tensor.get_shape()[1:].merge_with(element_shape)
        if not row.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                             "specified")
        if shuffle:
            tensor = random_shuffle(tensor, seed=seed)
        tensor = limit_epochs(tensor, num_epochs)
        queue = FIFOQueue(capacity, [tensor.dtype.base_dtype], [row], shared_name=shared_name,
                          name=name)  # type: ignore[arg-type]
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([tensor])], cancel_op=cancel_op))
        if summary_name is not None:
            scalar(summary_name, cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue


def string_input_producer(string_tensor: Any, num_epochs: int | None = None, shuffle: bool = True,
                          seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                          name: str | None = None, cancel_op: Any = None) -> FIFOQueue:
    """Return a queue of strings (file names for a reader); see `input_producer`. Raises ValueError for an empty list.

    A tensor that is empty only when it runs raises InvalidArgumentError then.

    >>> name = tf.train.string_input_producer(["a.txt", "b.txt"], shuffle=False).dequeue()
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(name), session.run(name), session.run(name)
    (b'a.txt', b'b.txt', b'a.txt')
    """
    message = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not hasattr(string_tensor, "op") and not len(string_tensor):
        raise ValueError(message)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        tensor = convert_to_tensor(string_tensor, dtype=dtypes.string)
        with control_dependencies([Assert(size(tensor) > 0, [message])]):
            tensor = identity(tensor)
        return input_producer(tensor, [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full", scope, cancel_op)


def range_input_producer(limit: Any, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
                         capacity: int = 32, shared_name: str | None = None, name: str | None = None) -> FIFOQueue:
    """Return a queue of the integers from 0 to `limit` - 1; see `input_producer`.

    >>> number = tf.train.range_input_producer(3, shuffle=False).dequeue()
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     [session.run(number) for _ in range(4)]
    [0, 1, 2, 0]
    """
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(range_(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full", scope)


def slice_input_producer(tensor_list: Sequence[Any], num_epochs: int | None = None, shuffle: bool = True,
                         seed: int | None = None, capacity: int = 32, shared_name: str | None = None,
                         name: str | None = None) -> list[Tensor]:
    """Return one slice of each tensor, at the same index; see `input_producer`. Raises ValueError for no tensor.

    Each run takes another index. All tensors have the same size of the first axis.

    >>> image, label = tf.train.slice_input_producer([["a.png", "b.png"], [0, 1]], shuffle=False)
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run([image, label])
    [b'a.png', 0]
    """
    with name_scope(name, "input_producer", list(tensor_list)):
        tensors = [convert_to_tensor(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        queue = range_input_producer(shape(tensors[0])[0], num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [gather(t, index) for t in tensors]


# ---- batches ---------------------------------------------------------------------------------------------------------

def as_list(tensors: Any) -> list[Any]:
    """Return the tensors of an example as a list; of a dict, sorted by key."""
    return [tensors[key] for key in sorted(tensors)] if isinstance(tensors, dict) else list(tensors)


def _as_lists(tensors_list: Any) -> list[list[Any]]:
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if isinstance(tensors_list[0], dict):
        keys = set(tensors_list[0])
        for tensors in tensors_list[1:]:
            if set(tensors) != keys:
                raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [as_list(tensors) for tensors in tensors_list]


def original(tensors: Any, made: Any) -> Any:
    """Pack the tensors of a batch into a dict, if a dict of tensors was given."""
    if not isinstance(tensors, dict):
        return made
    return dict(zip(sorted(tensors), made if len(tensors) > 1 else [made], strict=True))


def as_tensors(lists: list[list[Any]], what: str) -> list[list[Any]]:
    """Convert several examples to tensors and SparseTensors.

    Raises ValueError if there are none, or a component is sparse in one only, TypeError if their dtypes differ.
    """
    made = [[t if isinstance(t, SparseTensor) else convert_to_tensor(t) for t in tensors] for tensors in lists]
    if not made or not made[0]:
        raise ValueError(f"Expected at least one tensor in {what}().")
    for tensors in made[1:]:
        if len(tensors) != len(made[0]):
            raise ValueError(f"Expected the same number of tensors in each list, got {len(made[0])} and "
                             f"{len(tensors)}")
        for first, t in zip(made[0], tensors, strict=True):
            if isinstance(first, SparseTensor) != isinstance(t, SparseTensor):
                raise ValueError(f"Expected the same components to be SparseTensors in each list, got {first} and {t}")
            if first.dtype.base_dtype != t.dtype.base_dtype:
                raise TypeError(f"Expected types to be consistent: {first.dtype.base_dtype.name} vs. "
                                f"{t.dtype.base_dtype.name}.")
    return made


def element_shapes(lists: list[list[Tensor]], shapes: Any, enqueue_many: bool, partial: bool) -> list[TensorShape]:
    """Return the shapes of an example's components; partial: sizes may differ. Raises ValueError for unknown ranks."""
    if shapes is not None:
        return [TensorShape(s) for s in shapes]
    found = []
    for column in zip(*lists, strict=True):
        merged: TensorShape | None = None
        for tensor in column:
            given = tensor.get_shape()
            if given.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
            given = given.with_rank_at_least(1)[1:] if enqueue_many else given
            merged = given if merged is None else _common(merged, given) if partial else merged.merge_with(given)
        assert merged is not None
        found.append(merged)
    return found


def _common(a: TensorShape, b: TensorShape) -> TensorShape:
    """Return the most specific shape compatible with both; sizes that differ become unknown."""
    if a.ndims != b.ndims:
        raise ValueError(f"Shapes {a} and {b} must have the same rank")
    return TensorShape([m if m == n else None for m, n in zip(a.as_list(), b.as_list(), strict=True)])


def kept(keep_input: Any, enqueue_many: bool) -> Tensor:
    """Convert `keep_input` to a tensor. Raises ValueError for a wrong rank."""
    keep = convert_to_tensor(keep_input)
    rank = keep.get_shape().ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    if rank == 1 and not enqueue_many:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    return keep


def enqueue_kept(queue: QueueBase, tensors: list[Tensor], enqueue_many: bool, keep: Tensor) -> Any:
    """Return an enqueue op of the examples that `keep` selects: all if it is known to be true, else some rows."""
    known = constant_value(keep)
    if known is not None and known.ndim == 0 and known:
        return queue.enqueue_many(tensors) if enqueue_many else queue.enqueue(tensors)
    rows = tensors if enqueue_many else [expand_dims(t, 0) for t in tensors]
    mask = keep if keep.get_shape().ndims else identity(expand_dims(keep, 0)) if not enqueue_many else None
    if mask is None:                               # one answer for all rows
        count = shape(rows[0])[0] * cast(keep, dtypes.int32)
        return queue.enqueue_many([t[:count] for t in rows])
    return queue.enqueue_many([boolean_mask(t, mask) for t in rows])


def _fill(queue: QueueBase, lists: list[list[Tensor]], threads: int, enqueue_many: bool, keep: Tensor) -> None:
    ops = [enqueue_kept(queue, tensors, enqueue_many, keep) for tensors in lists]
    add_queue_runner(QueueRunner(queue, ops * threads))


def _batches(lists: list[list[Any]], batch_size: Any, capacity: int, enqueue_many: bool, shapes: Any,
             dynamic_pad: bool, smaller: bool, shared_name: str | None, name: str | None, keep_input: Any,
             threads: int, what: str) -> Any:
    with name_scope(name, what, [t for tensors in lists for t in tensors]) as scope:
        examples = as_tensors(lists, what)
        keep = kept(keep_input, enqueue_many)
        tensors, sparse = store(examples, keep, enqueue_many)
        sizes = element_shapes(tensors, shapes, enqueue_many, dynamic_pad)
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue = kind(capacity, [t.dtype.base_dtype for t in tensors[0]], sizes, shared_name=shared_name)
        _fill(queue, tensors, threads, enqueue_many, keep)
        scalar(f"fraction_of_{capacity}_full", cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        taken = queue.dequeue_up_to(batch_size, name=scope) if smaller else queue.dequeue_many(batch_size, name=scope)
        return restore(taken, sparse)


def _shuffled(lists: list[list[Any]], batch_size: Any, capacity: int, min_after: int, seed: int | None,
              enqueue_many: bool, shapes: Any, smaller: bool, shared_name: str | None, name: str | None,
              keep_input: Any, threads: int, what: str) -> Any:
    with name_scope(name, what, [t for tensors in lists for t in tensors]) as scope:
        if capacity <= min_after:
            raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {min_after}.")
        examples = as_tensors(lists, what)
        keep = kept(keep_input, enqueue_many)
        tensors, sparse = store(examples, keep, enqueue_many)
        sizes = element_shapes(tensors, shapes, enqueue_many, False)
        queue = RandomShuffleQueue(capacity, min_after, [t.dtype.base_dtype for t in tensors[0]], sizes, seed=seed,
                                   shared_name=shared_name)
        _fill(queue, tensors, threads, enqueue_many, keep)
        over = capacity - min_after
        full = cast(maximum(0, queue.size() - min_after), dtypes.float32) * (1.0 / over)
        scalar(f"fraction_over_{min_after}_of_{over}_full", full)
        taken = queue.dequeue_up_to(batch_size, name=scope) if smaller else queue.dequeue_many(batch_size, name=scope)
        return restore(taken, sparse)


def batch(tensors: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False,
          shapes: Any = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
          shared_name: str | None = None, name: str | None = None) -> Any:
    """Return batches of `batch_size` examples; each run of `tensors` (a list, or a dict: so is the result) is one.

    num_threads: threads that fill the queue of `capacity` examples; enqueue_many: `tensors` are many examples along
    their first axis; shapes: of an example, if the tensors' are unknown; dynamic_pad: pad examples of a batch to a
    common size; allow_smaller_final_batch: return the rest when the input ends. Raises ValueError, TypeError for
    tensors that don't fit together or whose shape is not known.

    >>> number = tf.train.range_input_producer(6, shuffle=False).dequeue()
    >>> batch = tf.train.batch([number], batch_size=3)
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(batch), session.run(batch)
    (array([0, 1, 2], dtype=int32), array([3, 4, 5], dtype=int32))
    """
    return original(tensors, _batches([as_list(tensors)], batch_size, capacity, enqueue_many, shapes, dynamic_pad,
                                       allow_smaller_final_batch, shared_name, name, True, num_threads, "batch"))


def maybe_batch(tensors: Any, keep_input: Any, batch_size: Any, num_threads: int = 1, capacity: int = 32,
                enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
                allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                name: str | None = None) -> Any:
    """Return batches as `batch`, of examples whose `keep_input` (a bool, with enqueue_many a vector) is true.

    >>> number = tf.train.range_input_producer(6, shuffle=False).dequeue()
    >>> even = tf.train.maybe_batch([number], keep_input=tf.equal(number % 2, 0), batch_size=3)
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(even)
    array([0, 2, 4], dtype=int32)
    """
    return original(tensors, _batches([as_list(tensors)], batch_size, capacity, enqueue_many, shapes, dynamic_pad,
                                       allow_smaller_final_batch, shared_name, name, keep_input, num_threads, "batch"))


def batch_join(tensors_list: Any, batch_size: Any, capacity: int = 32, enqueue_many: bool = False, shapes: Any = None,
               dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, shared_name: str | None = None,
               name: str | None = None) -> Any:
    """Return batches as `batch`, with one thread per set of tensors.

    >>> numbers = [tf.train.range_input_producer(6).dequeue() for _ in range(2)]
    >>> batch = tf.train.batch_join([[number] for number in numbers], batch_size=3)
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(batch).shape
    (3,)
    """
    return original(tensors_list[0] if tensors_list else None, _batches(
        _as_lists(tensors_list), batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name, name, True, 1, "batch_join"))


def maybe_batch_join(tensors_list: Any, keep_input: Any, batch_size: Any, capacity: int = 32,
                     enqueue_many: bool = False, shapes: Any = None, dynamic_pad: bool = False,
                     allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                     name: str | None = None) -> Any:
    """Return batches as `batch_join`, of the examples for which `keep_input` is true.

    >>> number = tf.train.range_input_producer(6, shuffle=False).dequeue()
    >>> even = tf.train.maybe_batch_join([[number]], keep_input=tf.equal(number % 2, 0), batch_size=3)
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(even)
    array([0, 2, 4], dtype=int32)
    """
    return original(tensors_list[0] if tensors_list else None, _batches(
        _as_lists(tensors_list), batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name, name, keep_input, 1, "batch_join"))


def shuffle_batch(tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, num_threads: int = 1,
                  seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                  allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                  name: str | None = None) -> Any:
    """Return batches as `batch`, in random order, sampled from more than `min_after_dequeue` buffered examples.

    Raises ValueError if `capacity` leaves no room for more than those.

    >>> number = tf.train.range_input_producer(6).dequeue()
    >>> batch = tf.train.shuffle_batch([number], batch_size=3, capacity=12, min_after_dequeue=6)
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(batch).shape
    (3,)
    """
    return original(tensors, _shuffled([as_list(tensors)], batch_size, capacity, min_after_dequeue, seed,
                                        enqueue_many, shapes, allow_smaller_final_batch, shared_name, name, True,
                                        num_threads, "shuffle_batch"))


def maybe_shuffle_batch(tensors: Any, batch_size: Any, capacity: int, min_after_dequeue: int, keep_input: Any,
                        num_threads: int = 1, seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                        allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                        name: str | None = None) -> Any:
    """Return batches as `shuffle_batch`, of the examples for which `keep_input` is true.

    >>> number = tf.train.range_input_producer(6, shuffle=False).dequeue()
    >>> even = tf.train.maybe_shuffle_batch([number], 3, capacity=12, min_after_dequeue=3,
    ...                                     keep_input=tf.equal(number % 2, 0))
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     set(session.run(even).tolist()) <= {0, 2, 4}
    True
    """
    return original(tensors, _shuffled([as_list(tensors)], batch_size, capacity, min_after_dequeue, seed,
                                        enqueue_many, shapes, allow_smaller_final_batch, shared_name, name, keep_input,
                                        num_threads, "shuffle_batch"))


def shuffle_batch_join(tensors_list: Any, batch_size: Any, capacity: int, min_after_dequeue: int,
                       seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                       allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                       name: str | None = None) -> Any:
    """Return batches as `shuffle_batch`, with one thread per set of tensors.

    >>> numbers = [tf.train.range_input_producer(6).dequeue() for _ in range(2)]
    >>> batch = tf.train.shuffle_batch_join([[number] for number in numbers], 3, capacity=12, min_after_dequeue=3)
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     session.run(batch).shape
    (3,)
    """
    return original(tensors_list[0] if tensors_list else None, _shuffled(
        _as_lists(tensors_list), batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name, True, 1, "shuffle_batch_join"))


def maybe_shuffle_batch_join(tensors_list: Any, batch_size: Any, capacity: int, min_after_dequeue: int,
                             keep_input: Any, seed: int | None = None, enqueue_many: bool = False, shapes: Any = None,
                             allow_smaller_final_batch: bool = False, shared_name: str | None = None,
                             name: str | None = None) -> Any:
    """Return batches as `shuffle_batch_join`, of the examples for which `keep_input` is true.

    >>> number = tf.train.range_input_producer(6, shuffle=False).dequeue()
    >>> even = tf.train.maybe_shuffle_batch_join([[number]], 3, capacity=12, min_after_dequeue=3,
    ...                                          keep_input=tf.equal(number % 2, 0))
    >>> with tf.train.MonitoredTrainingSession() as session:
    ...     set(session.run(even).tolist()) <= {0, 2, 4}
    True
    """
    return original(tensors_list[0] if tensors_list else None, _shuffled(
        _as_lists(tensors_list), batch_size, capacity, min_after_dequeue, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name, keep_input, 1, "shuffle_batch_join"))


describe(globals(), INPUT)
