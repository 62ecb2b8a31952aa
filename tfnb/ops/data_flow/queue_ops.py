"""Queue ops: blocking queues of tensors between the parts of a program.

The queue itself (`resources/queues.py`) is a resource of the session; an op's handle is a scalar that holds it. An
element is a tuple of arrays, one for each component.
"""
from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.shape import Static, compatible, merge
from tfnb.kernels.arrays.philox import words
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.construct import official_name
from tfnb.ops.declaration.declare import behind_reference, host
from tfnb.resources.queues import PriorityQueue as _PriorityQueue
from tfnb.resources.queues import Queue, ShuffleQueue

_TYPES = "list(type) >= 1"
_WAIT = "int = -1"                                 # timeout_ms: TensorFlow takes no other value
_QUEUE: dict[str, Any] = {"component_types": _TYPES, "shapes": "list(shape) >= 0 = []", "capacity": "int = -1"}
_SHARED: dict[str, Any] = {"container": "string = ''", "shared_name": "string = ''"}
_numbers = count()


class Held:
    """A queue as the ops see it: what it is made of, and the handle that passes between ops."""

    __slots__ = ("queue", "types", "shapes", "kind", "capacity", "sizes", "least", "seeds", "handle")

    def __init__(self, op: Any, queue: Queue, types: Sequence[Any]) -> None:
        self.queue, self.kind, self.capacity = queue, op.type.removesuffix("V2"), op.attrs["capacity"]
        self.types, self.shapes = tuple(types), tuple(op.attrs["shapes"])
        self.least, self.seeds = op.attrs.get("min_after_dequeue"), _seeds(op)
        self.sizes = self.shapes if self.shapes and all(_defined(s) for s in self.shapes) else None
        self.handle = np.empty((), object)
        self.handle[()] = self

    def cancel(self) -> None:
        """Wake whoever waits: the session is closed."""
        self.queue.cancel()


def _seeds(op: Any) -> tuple[int, int]:
    return op.attrs.get("seed", 0), op.attrs.get("seed2", 0)


def _defined(shape: Static) -> bool:
    return shape is not None and None not in shape


def _brackets(shape: Static) -> str:
    return "<unknown>" if shape is None else "[" + ",".join("?" if n is None else str(n) for n in shape) + "]"


def _names(types: Sequence[Any]) -> str:
    return ", ".join(official_name(t) for t in types)


def _invalid(op: Any, message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, op, message)


def _held(ctx: Any, make: Any, types: Sequence[Any]) -> np.ndarray:
    """Return the handle of this op's queue in the session; made at its first use, and checked against `ctx.op`."""
    op = ctx.op
    shared = op.attrs["shared_name"].decode()
    held = ctx.store.resource(op, lambda: Held(op, make(shared or f"_{next(_numbers)}_{op.name}"), types))
    if held.__class__ is not Held:
        raise _invalid(op, f"'{shared or op.name}' is not a queue")
    if shared:
        _check_shared(op, held, shared, types)
    handle: np.ndarray = held.handle
    return handle


def _check_shared(op: Any, held: Held, name: str, types: Sequence[Any]) -> None:
    if held.kind != op.type.removesuffix("V2"):
        raise _invalid(op, f"Expected {held.kind}, found {op.type}")
    if held.capacity != op.attrs["capacity"]:
        raise _invalid(op, f"Shared queue '{name}' has capacity {held.capacity} but requested capacity was "
                           f"{op.attrs['capacity']}")
    if held.types != tuple(types):
        raise _invalid(op, f"Shared queue '{name}' has component types {_names(held.types)} but requested component "
                           f"types were {_names(types)}")
    if held.least != op.attrs.get("min_after_dequeue"):
        raise _invalid(op, f"Shared queue '{name}' has min_after_dequeue {held.least} but requested min_after_dequeue "
                           f"was {op.attrs['min_after_dequeue']}")
    if any(_seeds(op)) and held.seeds != _seeds(op):
        raise _invalid(op, f"Shared queue '{name}' has random seeds {held.seeds} but requested seeds were {_seeds(op)}")
    same = _fit if held.kind == "PaddingFIFOQueue" else tuple.__eq__
    if not same(held.shapes, tuple(op.attrs["shapes"])):
        have, want = ("[" + ",".join(_brackets(s) for s in of) + "]" if of else "[]"
                      for of in (held.shapes, op.attrs["shapes"]))
        raise _invalid(op, f"Shared queue '{name}' has component shapes {have} but requested component shapes were "
                           f"{want}")


def _fit(held: tuple[Static, ...], asked: tuple[Static, ...]) -> bool:
    """Return whether the shapes of two padding queues may be the same."""
    return len(held) == len(asked) and all(map(compatible, held, asked))


@host("-> handle: resource", shape=shapes.scalar, role="queue", stateful=True, **_QUEUE, **_SHARED)
def FIFOQueueV2(*, component_types: Any, capacity: int, ctx: Any) -> Any:
    """Create a first-in-first-out queue."""
    return _held(ctx, lambda name: Queue("FIFOQueue", name, capacity), component_types)


@host("-> handle: resource", shape=shapes.scalar, role="queue", stateful=True, **_QUEUE, **_SHARED)
def PaddingFIFOQueueV2(*, component_types: Any, capacity: int, ctx: Any) -> Any:
    """Create a FIFO queue whose elements may differ in size; those of a batch are padded to a common one."""
    return _held(ctx, lambda name: Queue("PaddingFIFOQueue", name, capacity), component_types)


@host("-> handle: resource", shape=shapes.scalar, role="queue", stateful=True, **_QUEUE, min_after_dequeue="int = 0",
      seed="int = 0",
      seed2="int = 0", **_SHARED)
def RandomShuffleQueueV2(*, component_types: Any, capacity: int, min_after_dequeue: int, seed: int, seed2: int,
                         ctx: Any) -> Any:
    """Create a queue that returns its elements in random order."""
    if min_after_dequeue < 0:
        raise _invalid(ctx.op, f"min_after_dequeue {min_after_dequeue} must be >= 0")
    if 0 <= capacity <= min_after_dequeue:
        raise _invalid(ctx.op, f"min_after_dequeue {min_after_dequeue} must be < capacity {capacity}")

    def make(name: str) -> Queue:
        return ShuffleQueue("RandomShuffleQueue", name, capacity, min_after_dequeue, words(seed, seed2).__next__)
    return _held(ctx, make, component_types)


@host("-> handle: resource", shape=shapes.scalar, role="queue", stateful=True, component_types="list(type) >= 0 = []",
      shapes_="list(shape) >= 0", capacity="int = -1", **_SHARED)
def PriorityQueueV2(*, component_types: Any, capacity: int, ctx: Any) -> Any:
    """Create a queue that returns the element of the least priority first: an int64 before its components."""
    return _held(ctx, lambda name: _PriorityQueue("PriorityQueue", name, capacity), [dtypes.int64, *component_types])


# ---- putting in ------------------------------------------------------------------------------------------------------

def _check_put(ctx: Any, held: Held, components: Sequence[np.ndarray], types: Sequence[Any], batch: bool) -> None:
    """Raise InvalidArgumentError unless the components are those of the queue's elements."""
    if held.types != tuple(types):
        raise _invalid(ctx.op, f"Signature mismatch, have: resource, {_names(types)}-> expected: resource, "
                               f"{_names(held.types)}->")
    lead = components[0].shape[:1] if batch else ()
    for i, array in enumerate(components):
        stated = _element_shape(held, i)
        want = (*lead, *((None,) * (array.ndim - len(lead)) if stated is None else stated))
        if len(want) != array.ndim or any(n not in (None, m) for n, m in zip(want, array.shape, strict=True)):
            raise _invalid(ctx.op, f"Shape mismatch in tuple component {i}. Expected {_brackets(want)}, got "
                                   f"{_brackets(array.shape)}")


def _element_shape(held: Held, i: int) -> Static:
    """Return the shape of component `i` as the queue states it. A priority is a scalar and stands in no attr."""
    stated = held.shapes
    if not stated and held.kind != "PriorityQueue":
        return None
    if len(stated) < len(held.types):
        return () if i == 0 else stated[i - 1]
    shape: Static = stated[i]
    return shape


@host("handle: resource, components: Tcomponents", shape=shapes.unknown,
      stateful=True, waits=True, Tcomponents=_TYPES, timeout_ms=_WAIT)
def QueueEnqueueV2(handle: Any, components: Any, *, Tcomponents: Any, ctx: Any) -> Any:
    """Enqueue one element, waiting while the queue is full."""
    held = handle[()]
    if held.sizes is None or len(components) != len(held.sizes) or held.types != tuple(Tcomponents) or any(
            array.shape != size for array, size in zip(components, held.sizes, strict=True)):
        _check_put(ctx, held, components, Tcomponents, False)
    held.queue.enqueue(tuple([array.copy() for array in components]), ctx.timeout)
    return ()


@host("handle: resource, components: Tcomponents", shape=shapes.unknown, stateful=True, waits=True, Tcomponents=_TYPES,
      timeout_ms=_WAIT)
def QueueEnqueueManyV2(handle: Any, components: Any, *, Tcomponents: Any, ctx: Any) -> Any:
    """Enqueue the rows of the components, one element after another, waiting while the queue is full."""
    held = handle[()]
    if not components[0].ndim:
        raise _invalid(ctx.op, "EnqueueMany needs components of at least one axis, got a scalar")
    _check_put(ctx, held, components, Tcomponents, True)
    own = [array.copy() for array in components]
    held.queue.enqueue_many([tuple([array[i, ...] for array in own]) for i in range(len(own[0]))], ctx.timeout)
    return ()


# ---- taking out ------------------------------------------------------------------------------------------------------

def _stated_shapes(ctx: Any) -> list[Static] | None:
    """Return the shapes that the queue behind the handle states for its components, as far as the graph tells."""
    op = ctx.op.inputs[0].op
    types, stated = op.attrs.get("component_types"), op.attrs.get("shapes")
    if types is None or not stated:
        return None
    full = [(), *stated] if op.type.startswith("PriorityQueue") else list(stated)
    return full if len(full) == len(ctx.op.outputs) else None


def _one(ctx: Any) -> list[Static]:
    return _stated_shapes(ctx) or [None] * len(ctx.op.outputs)


def _rows(known: bool) -> Any:
    def shape(ctx: Any) -> list[Static]:
        merge(ctx.shape(1), ())
        n = ctx.value(1) if known else None
        if n is not None and n < 0:
            raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {n}")
        stated = _stated_shapes(ctx) or [None] * len(ctx.op.outputs)
        return [None if s is None else (None if n is None else int(n), *s) for s in stated]
    return shape


def _check_taken(ctx: Any, held: Held, types: Sequence[Any]) -> None:
    if held.types != tuple(types):
        raise _invalid(ctx.op, f"Signature mismatch, have: resource->{_names(types)} expected: resource->"
                               f"{_names(held.types)}")


@host("handle: resource -> components: component_types", shape=_one, stateful=True, waits=True,
      component_types=_TYPES, timeout_ms=_WAIT)
def QueueDequeueV2(handle: Any, *, component_types: Any, ctx: Any) -> Any:
    """Dequeue one element, waiting while the queue is empty."""
    held = handle[()]
    _check_taken(ctx, held, component_types)
    return held.queue.dequeue(ctx.timeout)


@host("handle: resource, n: int32 -> components: component_types", shape=_rows(True), stateful=True, waits=True,
      component_types=_TYPES, timeout_ms=_WAIT)
def QueueDequeueManyV2(handle: Any, n: Any, *, component_types: Any, ctx: Any) -> Any:
    """Dequeue `n` elements, stacked along a new first axis, waiting until there are as many."""
    return _take(ctx, handle[()], int(n), component_types, False)


@host("handle: resource, n: int32 -> components: component_types", shape=_rows(False), stateful=True, waits=True,
      component_types=_TYPES, timeout_ms=_WAIT)
def QueueDequeueUpToV2(handle: Any, n: Any, *, component_types: Any, ctx: Any) -> Any:
    """Dequeue `n` elements as QueueDequeueManyV2; of a closed queue the rest, where that is less than `n`."""
    return _take(ctx, handle[()], int(n), component_types, True)


def _take(ctx: Any, held: Held, n: int, types: Sequence[Any], partial: bool) -> list[np.ndarray]:
    _check_taken(ctx, held, types)
    if n < 0:
        raise _invalid(ctx.op, f"Dequeue{'UpTo' if partial else 'Many'}Op requested {n} < 0 elements")
    padding = held.kind == "PaddingFIFOQueue"
    if not padding and not held.sizes:
        raise _invalid(ctx.op, f"{held.kind}'s DequeueMany and DequeueUpTo require the components to have specified "
                               "shapes.")
    taken = held.queue.dequeue_many(n, partial, ctx.timeout) if n else []
    return [stacked([element[i] for element in taken], dtype, _common(held, i, taken) if padding else
                     _element_shape(held, i)) for i, dtype in enumerate(held.types)]


def _common(held: Held, i: int, taken: Sequence[Any]) -> tuple[int, ...]:
    """Return the shape that component `i` of padded elements has: where the queue states none, that of the largest."""
    stated = _element_shape(held, i)
    assert stated is not None
    return tuple(max((element[i].shape[axis] for element in taken), default=0) if n is None else n
                 for axis, n in enumerate(stated))


def stacked(arrays: Sequence[np.ndarray], dtype: Any, size: Static) -> np.ndarray:
    """Return the arrays as rows of one, each in the corner of a row of `size`."""
    if not size and dtype != dtypes.string:
        return np.array(arrays, dtype.np_dtype)
    shape = (len(arrays), *[n or 0 for n in size or ()])
    made: np.ndarray = np.empty(shape, dtype.np_dtype)
    if any(array.shape != size for array in arrays):
        made[...] = b"" if dtype == dtypes.string else 0
    for row, array in zip(made, arrays, strict=True) if size else ():
        row[tuple(map(slice, array.shape))] = array
    for i, array in () if size else enumerate(arrays):
        made[i] = array[()]
    return made


# ---- the rest --------------------------------------------------------------------------------------------------------

@host("handle: resource", shape=shapes.unknown, stateful=True, cancel_pending_enqueues="bool = false")
def QueueCloseV2(handle: Any, *, cancel_pending_enqueues: bool) -> Any:
    """Close a queue for new elements; those in it can still be dequeued."""
    handle[()].queue.close(cancel_pending_enqueues)
    return ()


@host("handle: resource -> size: int32", shape=shapes.scalar, stateful=True)
def QueueSizeV2(handle: Any) -> Any:
    """Return the number of elements in a queue."""
    return np.int32(handle[()].queue.size())


@host("handle: resource -> is_closed: bool", shape=shapes.scalar, stateful=True)
def QueueIsClosedV2(handle: Any) -> Any:
    """Return whether a queue is closed for new elements."""
    return np.bool_(handle[()].queue.is_closed())


for _op in (FIFOQueueV2, PaddingFIFOQueueV2, RandomShuffleQueueV2, PriorityQueueV2, QueueEnqueueV2, QueueEnqueueManyV2,
            QueueDequeueV2, QueueDequeueManyV2, QueueDequeueUpToV2, QueueCloseV2, QueueSizeV2, QueueIsClosedV2):
    _op.no_gradient("a queue stands between computations: what is taken out does not depend on this run's inputs")
    behind_reference(_op)
