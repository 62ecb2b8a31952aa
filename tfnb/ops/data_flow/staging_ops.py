"""Ops of staging areas: buffers between runs, found by their shared names (`resources/staging.py`)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from tfnb.core.errors import InvalidArgumentError
from tfnb.opdef.op import Op
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import declared, host
from tfnb.resources.staging import MapStaging, Staging

_BOUNDS: dict[str, Any] = {"capacity": "int >= 0 = 0", "memory_limit": "int >= 0 = 0"}
_SHARED: dict[str, Any] = {"container": "string = ''", "shared_name": "string = ''"}
_SOME, _ANY = "list(type) >= 1", "list(type)"
_ordered_specs: set[Op] = set()
Area = TypeVar("Area", Staging, MapStaging)


def _found(ctx: Any, kind: type[Area], make: Any) -> Area:
    """Return the area of an op's shared name. Raises InvalidArgumentError for another resource of that name."""
    found = ctx.store.resource(ctx.op, make)
    if not isinstance(found, kind):
        raise InvalidArgumentError(None, ctx.op, f"'{ctx.op.attrs['shared_name'].decode()}' is no staging area of this "
                                                 f"kind, but a {type(found).__name__}")
    return found


def _area(ctx: Any) -> Staging:
    attrs = ctx.op.attrs
    return _found(ctx, Staging, lambda: Staging(attrs["capacity"], attrs["memory_limit"]))


def _copies(values: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    return tuple([np.array(value) for value in values])


@host("values: dtypes", shape=shapes.unknown, stateful=True, waits=True, **_BOUNDS, dtypes=_SOME, **_SHARED)
def Stage(values: Any, *, ctx: Any) -> tuple[()]:
    """Append a tuple to a staging area, waiting while it is full."""
    _area(ctx).put(_copies(values), ctx.timeout)
    return ()


@host("-> values: dtypes", shape=shapes.unknown, stateful=True, waits=True, **_BOUNDS, dtypes=_SOME, **_SHARED)
def Unstage(*, ctx: Any) -> Any:
    """Remove and return the first tuple of a staging area, waiting for one."""
    return _checked(ctx, _area(ctx).get(ctx.timeout))


@host("index: int32 -> values: dtypes", shape=shapes.unknown, stateful=True, waits=True, ranks={"index": 0}, **_BOUNDS,
      dtypes=_SOME, **_SHARED)
def StagePeek(index: np.ndarray, *, ctx: Any) -> Any:
    """Return the tuple at `index` of a staging area, waiting until there are as many; it stays."""
    return _checked(ctx, _area(ctx).peek(int(index), ctx.timeout))


def _checked(ctx: Any, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """Return the values. Raises InvalidArgumentError unless they are of the dtypes of the op."""
    types = [t.dtype.as_numpy_dtype for t in ctx.op.outputs[len(ctx.op.outputs) - len(values):]]
    if len(types) != len(values) or any(value.dtype != kind for value, kind in zip(values, types, strict=True)):
        raise InvalidArgumentError(None, ctx.op, f"Expected values of {[t.dtype.name for t in ctx.op.outputs]}, but "
                                   f"the staging area holds {[str(value.dtype) for value in values]}")
    return values


@host("-> size: int32", shape=shapes.scalar, stateful=True, **_BOUNDS, dtypes=_ANY, **_SHARED)
def StageSize(*, ctx: Any) -> np.ndarray:
    """Return the number of tuples in a staging area."""
    return np.array(len(_area(ctx)), np.int32)


@host("->", shape=shapes.unknown, stateful=True, **_BOUNDS, dtypes=_ANY, **_SHARED)
def StageClear(*, ctx: Any) -> tuple[()]:
    """Remove everything from a staging area."""
    _area(ctx).clear()
    return ()


def _map(ctx: Any) -> MapStaging:
    attrs, ordered = ctx.op.attrs, ctx.op.spec in _ordered_specs
    return _found(ctx, MapStaging, lambda: MapStaging(attrs["capacity"], attrs["memory_limit"], len(attrs["dtypes"]),
                                                      ordered))


_KEYED: dict[str, Any] = {"shape": shapes.unknown, "stateful": True, **_BOUNDS}


@host("key: int64, indices: int32, values: fake_dtypes", waits=True, ranks={"key": 0, "indices": 1}, **_KEYED,
      dtypes=_ANY, fake_dtypes=_SOME, **_SHARED)
def MapStage(key: np.ndarray, indices: np.ndarray, values: Any, *, ctx: Any) -> tuple[()]:
    """Insert the components at `indices` of the tuple of a key, waiting while the staging area is full."""
    _map(ctx).put(int(key), indices.tolist(), _copies(values), ctx.timeout)
    return ()


@host("key: int64, indices: int32 -> values: dtypes", waits=True, ranks={"key": 0, "indices": 1}, **_KEYED,
      dtypes=_SOME, **_SHARED)
def MapUnstage(key: np.ndarray, indices: np.ndarray, *, ctx: Any) -> Any:
    """Remove and return components of the tuple of a key, waiting for it."""
    return _checked(ctx, _map(ctx).get(int(key), indices.tolist(), ctx.timeout))


@host("key: int64, indices: int32 -> values: dtypes", waits=True, ranks={"key": 0, "indices": 1}, **_KEYED,
      dtypes=_SOME, **_SHARED)
def MapPeek(key: np.ndarray, indices: np.ndarray, *, ctx: Any) -> Any:
    """Return components of the tuple of a key, waiting for it; they stay."""
    return _checked(ctx, _map(ctx).get(int(key), indices.tolist(), ctx.timeout, remove=False))


@host("indices: int32 -> key: int64, values: dtypes", waits=True, ranks={"indices": 1}, **_KEYED, dtypes=_SOME,
      **_SHARED)
def MapUnstageNoKey(indices: np.ndarray, *, ctx: Any) -> Any:
    """Remove and return a key, of an ordered area the least one, and components of its tuple, waiting for one."""
    key, values = _map(ctx).pop(indices.tolist(), ctx.timeout)
    return [np.array(key, np.int64), *_checked(ctx, values)]


@host("-> size: int32", **{**_KEYED, "shape": shapes.scalar}, dtypes=_ANY, **_SHARED)
def MapSize(*, ctx: Any) -> np.ndarray:
    """Return the number of whole tuples in a staging area."""
    return np.array(len(_map(ctx)), np.int32)


@host("-> size: int32", **{**_KEYED, "shape": shapes.scalar}, dtypes=_ANY, **_SHARED)
def MapIncompleteSize(*, ctx: Any) -> np.ndarray:
    """Return the number of tuples in a staging area of which components are missing."""
    return np.array(_map(ctx).incomplete(), np.int32)


@host("->", **_KEYED, dtypes=_ANY, **_SHARED)
def MapClear(*, ctx: Any) -> tuple[()]:
    """Remove everything from a staging area."""
    _map(ctx).clear()
    return ()


def _ordered(of: Constructor) -> Constructor:
    """Declare the same op of areas that are ordered by key."""
    made = declared(of.spec.replaced(name=f"Ordered{of.spec.name}"))
    _ordered_specs.add(made.spec)
    return made


_MAPS = (MapStage, MapUnstage, MapPeek, MapUnstageNoKey, MapSize, MapIncompleteSize, MapClear)
for _op in (Stage, Unstage, StagePeek, StageSize, StageClear, *_MAPS):
    _op.no_gradient("a staging area stands between runs")
(OrderedMapStage, OrderedMapUnstage, OrderedMapPeek, OrderedMapUnstageNoKey, OrderedMapSize, OrderedMapIncompleteSize,
 OrderedMapClear) = map(_ordered, _MAPS)
