"""The classes of queues: `tf.FIFOQueue` and the others, over the ops of `ops/data_flow/queue_ops.py`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core import dtypes as _dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import DType
from tfnb.core.shape import Dimension, TensorShape, as_shape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import device, name_scope
from tfnb.ops.array.gather import gather
from tfnb.ops.array.joining import stack
from tfnb.ops.data_flow import queue_ops as ops
from tfnb.ops.random.random_ops import get_seed


def _as_types(dtypes: Any) -> list[DType]:
    return [_dtypes.as_dtype(t) for t in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]


def _as_shapes(shapes: Any, dtypes: Sequence[DType], partial: bool = False) -> list[TensorShape] | None:
    if shapes is None:
        return None
    if not isinstance(shapes, (TensorShape, list, tuple)):
        raise TypeError(f"Shapes must be a TensorShape or a list or tuple of TensorShapes, got {type(shapes)} instead.")
    if isinstance(shapes, TensorShape) or all(n is None or isinstance(n, (int, Dimension)) for n in shapes):
        shapes = [shapes]                          # one shape, for queues of one component: [] is that of scalars
    found = [as_shape(s) for s in shapes]
    if len(found) != len(dtypes):
        raise ValueError(f"Queue shapes must have the same length as dtypes, received len(shapes)={len(found)}, "
                         f"len(dtypes)={len(dtypes)}")
    if not partial and any(not s.is_fully_defined() for s in found):
        raise ValueError(f"All shapes must be fully defined: {found}")
    return found


def _as_names(names: Any, dtypes: Sequence[DType]) -> list[str] | None:
    if names is None:
        return None
    found = list(names) if isinstance(names, (list, tuple)) else [names]
    if len(found) != len(dtypes):
        raise ValueError("List of names must have the same length as the list of dtypes, received "
                         f"len(names)={len(found)},len(dtypes)={len(dtypes)}")
    return found


class QueueBase:
    """A queue of the graph: elements are tuples of tensors, or dicts of them for a queue with names.

    dtypes, shapes: of the components (shapes: None where they differ from element to element); names: of the
    components, or None; queue_ref: the tensor that holds the queue. Programs make one of the subclasses.

    >>> queue = tf.FIFOQueue(10, [tf.int32], shapes=[[]])
    >>> isinstance(queue, tf.QueueBase), queue.dtypes[0].name, sess.run(queue.size())
    (True, 'int32', 0)
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Tensor) -> None:
        self._dtypes = list(dtypes)
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError("Queue shapes must have the same length as dtypes, received "
                             f"len(shapes)={len(shapes)}, len(dtypes)={len(self._dtypes)}")
        self._shapes = [TensorShape(s) for s in shapes] if shapes is not None else \
            [TensorShape(None) for _ in self._dtypes]
        self._names = _as_names(names, self._dtypes)
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: Any, queues: Sequence[QueueBase]) -> QueueBase:
        """Return the queue at `index` (an int32 tensor) of several. Raises TypeError, ValueError where they differ."""
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if any(q.dtypes != first.dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(q.names != first.names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [s if all(q.shapes[i].is_compatible_with(s) and q.shapes[i].ndims == s.ndims for q in queues)
                  else TensorShape(None) for i, s in enumerate(first.shapes)]
        return QueueBase(first.dtypes, shapes, first.names, gather(stack([q.queue_ref for q in queues]), index))

    @property
    def queue_ref(self) -> Tensor:
        """The tensor that holds the queue."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the queue's op, without the scopes before it."""
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes of the components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of the components."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The names of the components, or None."""
        return self._names

    def _components(self, values: Any, batch: bool = False) -> list[Tensor]:
        """`values` as tensors of the dtypes and shapes of the components."""
        if self._names:
            if not isinstance(values, dict):
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            if sorted(self._names) != sorted(values):
                raise ValueError("Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                                 f"{sorted(values)},Queue: {sorted(self._names)}")
            values = [values[name] for name in self._names]
        elif isinstance(values, dict):
            raise ValueError("Queue must have names to enqueue a dictionary")
        elif not isinstance(values, (list, tuple)):
            values = [values]
        tensors = []
        for i, (value, dtype) in enumerate(zip(values, self._dtypes, strict=False)):
            tensors.append(_component(value, dtype, f"component_{i}"))
        return tensors

    def enqueue(self, vals: Any, name: str | None = None) -> Operation:
        """Return an operation that puts one element in, waiting while the queue is full.

        vals: a tensor, a list or tuple of them, or a dict for a queue with names. Running it raises CancelledError
        if the queue or the session is closed. Raises TypeError, ValueError for values that don't fit the queue.
        """
        with name_scope(name, f"{self._name}_enqueue", self._scope_values(vals)) as scope:
            tensors = self._components(vals)
            for tensor, shape in zip(tensors, self._shapes, strict=False):
                tensor.get_shape().assert_is_compatible_with(shape)
            op: Operation = ops.QueueEnqueueV2(self._queue_ref, tensors, name=scope)
            return op

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """As `enqueue`, for the rows along the first axis of `vals`: as many elements, one after another."""
        with name_scope(name, f"{self._name}_EnqueueMany", self._scope_values(vals)) as scope:
            tensors = self._components(vals)
            rows = tensors[0].get_shape().with_rank_at_least(1)[0]
            for tensor, shape in zip(tensors, self._shapes, strict=False):
                rows = rows.merge_with(tensor.get_shape().with_rank_at_least(1)[0])
                tensor.get_shape()[1:].assert_is_compatible_with(shape)
            op: Operation = ops.QueueEnqueueManyV2(self._queue_ref, tensors, name=scope)
            return op

    @staticmethod
    def _scope_values(vals: Any) -> list[Any]:
        return list(vals) if isinstance(vals, (list, tuple)) else list(vals.values()) if isinstance(vals, dict) \
            else [vals]

    def _returned(self, tensors: list[Tensor]) -> Any:
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name: str | None = None) -> Any:
        """Return one element, waiting while there is none: a tensor, a list, or a dict for a queue with names.

        Running it raises OutOfRangeError if the queue is closed and empty, CancelledError if the session is closed.
        """
        made = ops.QueueDequeueV2(self._queue_ref, self._dtypes, name=name or f"{self._name}_Dequeue")
        for tensor, shape in zip(made, self._shapes, strict=True):
            tensor.set_shape(shape)
        return self._returned(made)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Return `n` elements, stacked along a new first axis, waiting until there are as many; else as `dequeue`."""
        made = ops.QueueDequeueManyV2(self._queue_ref, n, self._dtypes, name=name or f"{self._name}_DequeueMany")
        rows = constant_value(made[0].op.inputs[1])
        for tensor, shape in zip(made, self._shapes, strict=True):
            tensor.set_shape(TensorShape([None if rows is None else int(rows)]).concatenate(shape))
        return self._returned(made)

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """As `dequeue_many`; once the queue is closed, also fewer than `n` elements, but at least one."""
        made = ops.QueueDequeueUpToV2(self._queue_ref, n, self._dtypes, name=name or f"{self._name}_DequeueUpTo")
        for tensor, shape in zip(made, self._shapes, strict=True):
            tensor.set_shape(TensorShape([None]).concatenate(shape))
        return self._returned(made)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Return an operation that closes the queue for new elements.

        Enqueues that wait at that time are done first, or, with `cancel_pending_enqueues`, raise CancelledError.
        """
        op: Operation = ops.QueueCloseV2(self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues,
                                         name=name or f"{self._name}_Close")
        return op

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements in the queue, an int32 scalar."""
        tensor: Tensor = ops.QueueSizeV2(self._queue_ref, name=name or f"{self._name}_Size")
        return tensor

    def is_closed(self, name: str | None = None) -> Tensor:
        """Return whether the queue is closed for new elements: a bool scalar."""
        tensor: Tensor = ops.QueueIsClosedV2(self._queue_ref, name=name or f"{self._name}_Is_Closed")
        return tensor


def _component(value: Any, dtype: DType, name: str) -> Tensor:
    try:
        return convert_to_tensor(value, dtype=dtype, name=name)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


class FIFOQueue(QueueBase):
    """First-in-first-out queue of the graph.

    capacity: how many elements it holds at most; dtypes, shapes: of the components of an element (without shapes they
    may differ, but not be taken by dequeue_many); names: of the components; shared_name: queues of one shared name
    are one in a session. Raises ValueError, TypeError for arguments that don't fit together.

    >>> queue = tf.FIFOQueue(capacity=3, dtypes=[tf.int32], shapes=[[]])
    >>> sess.run(queue.enqueue_many([[1, 2]]))
    >>> sess.run(queue.dequeue()), sess.run(queue.size())
    (1, 1)
    """

    def __init__(self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None,
                 shared_name: str | None = None, name: str = "fifo_queue") -> None:
        types = _as_types(dtypes)
        sizes, words = _as_shapes(shapes, types), _as_names(names, types)
        with device("CPU"):
            ref = ops.FIFOQueueV2(types, sizes, capacity, shared_name=_shared(shared_name), name=name)
        super().__init__(types, sizes, words, ref)


class RandomShuffleQueue(QueueBase):
    """A queue that gives elements in random order; see FIFOQueue.

    min_after_dequeue: how many elements stay in it, until it is closed, so that there are enough to choose from; seed:
    for an order that is the same each time.

    >>> queue = tf.RandomShuffleQueue(capacity=10, min_after_dequeue=0, dtypes=[tf.int32], shapes=[[]])
    >>> sess.run(queue.enqueue_many([[1, 2, 3]]))
    >>> sorted(sess.run(queue.dequeue_many(3)))
    [1, 2, 3]
    """

    def __init__(self, capacity: int, min_after_dequeue: int, dtypes: Any, shapes: Any = None, names: Any = None,
                 seed: int | None = None, shared_name: str | None = None, name: str = "random_shuffle_queue") -> None:
        types = _as_types(dtypes)
        sizes, words = _as_shapes(shapes, types), _as_names(names, types)
        seed1, seed2 = get_seed(seed)
        ref = ops.RandomShuffleQueueV2(types, sizes, capacity, min_after_dequeue, seed1 or 0, seed2 or 0,
                                       shared_name=_shared(shared_name), name=name)
        super().__init__(types, sizes, words, ref)


class PaddingFIFOQueue(QueueBase):
    """A FIFO queue whose elements may differ in size: axes of unknown size in `shapes`; see FIFOQueue.

    dequeue_many pads the elements it takes with zeros (empty strings) to a common size. Raises ValueError if `shapes`
    is not a list of shapes of known rank.

    >>> queue = tf.PaddingFIFOQueue(capacity=10, dtypes=[tf.int32], shapes=[[None]])
    >>> sess.run(queue.enqueue([[1, 2, 3]])), sess.run(queue.enqueue([[4]]))
    (None, None)
    >>> sess.run(queue.dequeue_many(2))
    array([[1, 2, 3],
           [4, 0, 0]], dtype=int32)
    """

    def __init__(self, capacity: int, dtypes: Any, shapes: Any, names: Any = None, shared_name: str | None = None,
                 name: str = "padding_fifo_queue") -> None:
        types = _as_types(dtypes)
        if isinstance(shapes, (list, tuple)) and all(n is None or isinstance(n, int) for n in shapes):
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        sizes, words = _as_shapes(shapes, types, partial=True), _as_names(names, types)
        if sizes is None or any(s.ndims is None for s in sizes):
            raise ValueError(f"Shapes of a PaddingFIFOQueue must be of known rank, got {shapes}")
        ref = ops.PaddingFIFOQueueV2(types, sizes, capacity, shared_name=_shared(shared_name), name=name)
        super().__init__(types, sizes, words, ref)


class PriorityQueue(QueueBase):
    """A queue that gives the element of the least priority first; see FIFOQueue.

    types, shapes: of the components after the first, which is the priority, an int64 scalar.

    >>> queue = tf.PriorityQueue(capacity=10, types=[tf.string], shapes=[[]])
    >>> sess.run(queue.enqueue_many([np.array([7, 2]), ["late", "soon"]]))
    >>> sess.run(queue.dequeue())
    [2, b'soon']
    """

    def __init__(self, capacity: int, types: Any, shapes: Any = None, names: Any = None,
                 shared_name: str | None = None, name: str = "priority_queue") -> None:
        found = _as_types(types)
        sizes = _as_shapes(shapes, found)
        ref = ops.PriorityQueueV2(sizes or [], found, capacity, shared_name=_shared(shared_name), name=name)
        full = [TensorShape([]), *sizes] if sizes is not None else None
        super().__init__([_dtypes.int64, *found], full, names, ref)


def _shared(name: str | None) -> str:
    return name or ""


describe(globals(), TENSORS)
