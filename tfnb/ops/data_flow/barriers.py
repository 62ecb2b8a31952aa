"""Barriers: ops and the class over them. Components of tuples arrive one by one (`resources/barriers.py`)."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.shape import Static, TensorShape, as_shape, merge
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.data_flow.queue_ops import stacked
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.resources.barriers import Barrier as _Barrier

_TYPES = "list(type) >= 1"


def _invalid(ctx: Any, message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, ctx.op, message)


@host("-> handle: Ref(string)", shape=lambda ctx: [(2,)], stateful=True, component_types=_TYPES,
      shapes_="list(shape) >= 0 = []", capacity="int = -1", container="string = ''", shared_name="string = ''")
def Barrier(*, component_types: Any, capacity: int, ctx: Any) -> Any:
    """Create a barrier: tuples are complete, and can be taken, once each component is there under their key."""
    shared = ctx.op.attrs["shared_name"].decode()
    sizes = tuple(() if size is None else size for size in ctx.op.attrs["shapes"])
    types = [kind.np_dtype for kind in component_types]
    if len(sizes) != len(types) or any(None in size for size in sizes):
        raise _invalid(ctx, f"All of the component shapes must be specified: expected {len(types)}, got {list(sizes)}")
    if capacity != -1:
        raise _invalid(ctx, f"Barrier only accepts capacity=-1, got {capacity}: a queue before it bounds what comes")
    held = ctx.store.resource(ctx.op, lambda: _Barrier(shared or ctx.op.name, types, sizes))
    if not isinstance(held, _Barrier):
        raise _invalid(ctx, f"'{shared}' is not a barrier")
    if held.types != tuple(map(np.dtype, types)) or held.shapes != sizes:
        raise _invalid(ctx, f"Shared barrier '{shared}' has components of {[str(t) for t in held.types]} and shapes "
                            f"{held.shapes}, but requested were {[kind.name for kind in component_types]}, {sizes}")
    handle = np.empty(2, object)
    handle[:] = held
    return handle


def _inserted(ctx: Any) -> list[Static]:
    keys, values = ctx.shape(1), ctx.shape(2)
    if keys is not None and len(keys) != 1:
        raise ValueError(f"keys: Shape must be rank 1 but is rank {len(keys)}")
    if values is not None and not values:
        raise ValueError("values: Shape must be at least rank 1 but is rank 0")
    merge(keys, None if values is None else values[:1])
    return []


@host("handle: Ref(string), keys: string, values: T", shape=_inserted, T="type", component_index="int")
def BarrierInsertMany(handle: Any, keys: Any, values: Any, *, component_index: int, ctx: Any) -> Any:
    """Insert a component into the tuples of `keys`, a row of `values` each."""
    held: _Barrier = handle[0]
    if not 0 <= component_index < len(held.types):
        raise _invalid(ctx, f"The component ID is out of range: expected less than {len(held.types)}, got "
                            f"{component_index}")
    if values.dtype != held.types[component_index]:
        raise _invalid(ctx, f"Expected values of {held.types[component_index]}, got {values.dtype}")
    if len(keys) and not values.size:
        raise _invalid(ctx, f"Tensors with no elements are not supported {held.name}: received shape "
                            f"{list(values.shape)}")
    held.insert(component_index, keys.tolist(), [np.array(value) for value in values])
    return ()


def _taken(ctx: Any) -> list[Static]:
    return [(None,), (None,), *[None] * (len(ctx.op.outputs) - 2)]


@host("handle: Ref(string), num_elements: int32 -> indices: int64, keys: string, values: component_types",
      shape=_taken, waits=True, component_types=_TYPES, allow_small_batch="bool = false",
      wait_for_incomplete="bool = false", timeout_ms="int = -1")
def BarrierTakeMany(handle: Any, num_elements: Any, *, component_types: Any, allow_small_batch: bool,
                    timeout_ms: int, ctx: Any) -> Any:
    """Remove and return `num_elements` complete tuples, in the order of their first insertion, waiting for them.

    Of a closed barrier: raise OutOfRangeError where there will never be as many, or, with `allow_small_batch`, return
    the complete ones, but at least one.
    """
    held: _Barrier = handle[0]
    if num_elements.ndim or num_elements < 0:
        raise _invalid(ctx, f"num_elements must be a scalar that is at least 0, got {num_elements.tolist()}")
    if timeout_ms != -1:
        raise _invalid(ctx, f"timeout_ms must be -1 (a barrier waits without end), got {timeout_ms}")
    if held.types != tuple(np.dtype(kind.np_dtype) for kind in component_types):
        raise _invalid(ctx, f"Expected components of {[str(kind) for kind in held.types]}, got "
                            f"{[kind.name for kind in component_types]}")
    found = held.take(int(num_elements), allow_small_batch, ctx.timeout)
    columns = [dtypes.int64, dtypes.string, *component_types]
    return [stacked([np.asarray(row[i], kind.np_dtype) for row in found], kind, ((), (), *held.shapes)[i])
            for i, kind in enumerate(columns)]


@host("handle: Ref(string)", shape=shapes.unknown, cancel_pending_enqueues="bool = false")
def BarrierClose(handle: Any, *, cancel_pending_enqueues: bool) -> Any:
    """Close a barrier for new keys; those that have begun may become complete, unless they are cancelled."""
    handle[0].close(cancel_pending_enqueues)
    return ()


@host("handle: Ref(string) -> size: int32", shape=shapes.scalar)
def BarrierReadySize(handle: Any) -> Any:
    """Return the number of complete tuples."""
    return np.int32(handle[0].sizes()[0])


@host("handle: Ref(string) -> size: int32", shape=shapes.scalar)
def BarrierIncompleteSize(handle: Any) -> Any:
    """Return the number of incomplete tuples."""
    return np.int32(handle[0].sizes()[1])


for _op in (Barrier, BarrierInsertMany, BarrierTakeMany, BarrierClose, BarrierReadySize, BarrierIncompleteSize):
    _op.no_gradient("a barrier stands between computations: what is taken does not depend on this run's inputs")


class KeyedBarrier:
    """A barrier of the graph, `Barrier` of TensorFlow's `data_flow_ops`: tuples whose components come one by one.

    types, shapes: of the components (shapes: fully defined, without sizes of 0; None: scalars); shared_name: barriers
    of one shared name are one in a session. Raises ValueError for other shapes.

    >>> from tfnb.python.ops.data_flow_ops import Barrier
    >>> barrier = Barrier([tf.float32, tf.int32], shapes=[[], []])
    >>> sess.run([barrier.insert_many(0, ["a", "b"], [0.5, 1.5]), barrier.insert_many(1, ["b"], [7])])
    [None, None]
    >>> indices, keys, values = barrier.take_many(1)
    >>> sess.run([keys, values, barrier.incomplete_size()])
    [array([b'b'], dtype=object), [array([1.5], dtype=float32), array([7], dtype=int32)], 1]
    """

    def __init__(self, types: Any, shapes: Any = None, shared_name: str | None = None, name: str = "barrier") -> None:
        listed = types if isinstance(types, (list, tuple)) else [types]
        self._types = [dtypes.as_dtype(kind) for kind in listed]
        self._shapes = [TensorShape(None)] * len(listed) if shapes is None else _defined(shapes, len(listed))
        self._barrier_ref: Tensor = Barrier(self._types, self._shapes, shared_name=shared_name or "", name=name)

    @property
    def barrier_ref(self) -> Tensor:
        """The tensor that holds the barrier."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        """The name of the barrier's op."""
        return self._barrier_ref.op.name

    def _called(self, what: str, name: str | None) -> str:
        return name or f"{self.name.split('/')[-1]}_{what}"

    def insert_many(self, component_index: int, keys: Any, values: Any, name: str | None = None) -> Operation:
        """Return an operation that inserts a component into the tuples of `keys`, a row of `values` each.

        Running it raises InvalidArgumentError for a component that a key has, CancelledError once the barrier is
        closed.
        """
        made: Operation = BarrierInsertMany(self._barrier_ref, keys, values, component_index=component_index,
                                            name=self._called("BarrierInsertMany", name))
        return made

    def take_many(self, num_elements: Any, allow_small_batch: bool = False, timeout: int | None = None,
                  name: str | None = None) -> tuple[Any, ...]:
        """Return (indices, keys, values) of `num_elements` complete tuples, waiting for them; they leave the barrier.

        indices: int64, the number of the first insertion of each; allow_small_batch: fewer, once the barrier is
        closed. timeout: None. Running it raises OutOfRangeError once there will never be as many.
        """
        made: tuple[Any, ...] = BarrierTakeMany(
            self._barrier_ref, num_elements, self._types, allow_small_batch, timeout_ms=-1 if timeout is None else
            timeout, name=self._called("BarrierTakeMany", name))
        rows = None if allow_small_batch else constant_value(made[0].op.inputs[1])
        size = TensorShape([None if rows is None else int(rows)])
        for tensor in made[:2]:
            tensor.set_shape(size)
        for tensor, shape in zip(made[2], self._shapes, strict=True):
            tensor.set_shape(size.concatenate(shape))
        return made

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Return an operation that closes the barrier for new keys; with `cancel_pending_enqueues` for all."""
        made: Operation = BarrierClose(self._barrier_ref, cancel_pending_enqueues,
                                       name=self._called("BarrierClose", name))
        return made

    def ready_size(self, name: str | None = None) -> Tensor:
        """Return the number of complete tuples, an int32 scalar."""
        made: Tensor = BarrierReadySize(self._barrier_ref, name=self._called("BarrierReadySize", name))
        return made

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """Return the number of incomplete tuples, an int32 scalar."""
        made: Tensor = BarrierIncompleteSize(self._barrier_ref, name=self._called("BarrierIncompleteSize", name))
        return made


def _defined(shapes: Any, count: int) -> list[TensorShape]:
    found = [as_shape(shape) for shape in shapes]
    if len(found) != count:
        raise ValueError(f"Barrier shapes must have the same length as types, got {len(found)} for {count}")
    if not all(shape.is_fully_defined() for shape in found):
        raise ValueError(f"All shapes must be fully defined: {found}")
    for i, shape in enumerate(found):
        if shape.num_elements() == 0:
            raise ValueError(f"Empty tensors are not supported, but received shape '{shape}' at index {i}")
    return found
