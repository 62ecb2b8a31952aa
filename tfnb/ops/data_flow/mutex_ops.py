"""Mutex ops: locks between the runs of a session, of which `tf.CriticalSection` is made."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.resources.monitor import Mutex


def _scalar(value: Any) -> np.ndarray:
    made = np.empty((), object)
    made[()] = value
    return made


@host("-> resource: resource", shape=shapes.scalar, stateful=True, container="string = ''", shared_name="string = ''")
def MutexV2(*, ctx: Any) -> np.ndarray:
    """Create a mutex of the session."""
    found = ctx.store.resource(ctx.op, Mutex)
    if not isinstance(found, Mutex):
        raise InvalidArgumentError(None, ctx.op, f"'{ctx.op.attrs['shared_name'].decode()}' is no mutex, but a "
                                                 f"{type(found).__name__}")
    return _scalar(found)


@host("mutex: resource -> mutex_lock: variant", shape=shapes.scalar, stateful=True, waits=True,
      role="lock")
def MutexLock(mutex: Any, *, ctx: Any) -> np.ndarray:
    """Lock a mutex, waiting while another run holds it, until ConsumeMutexLock or the end of the run."""
    return _scalar((mutex[()], mutex[()].lock(ctx.timeout)))


@host("mutex_lock: variant", shape=shapes.unknown, stateful=True)
def ConsumeMutexLock(mutex_lock: np.ndarray) -> tuple[()]:
    """Unlock what MutexLock locked."""
    mutex, held = mutex_lock[()]
    mutex.unlock(held)
    return ()


for _op in (MutexV2, MutexLock, ConsumeMutexLock):
    _op.no_gradient("a lock has no numbers")
