"""Session tensors: values of one run that the session keeps, by handles, for later runs.

The handle is a string; `Session.run` returns a fetched one as a TensorHandle (`runtime/tensor_handle.py`).
"""
from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import DType, as_dtype, string
from tfnb.core.errors import InternalError, InvalidArgumentError
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.control.source import placeholder
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import declared, host
from tfnb.ops.declaration.public import public

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"    # the last part of a handle: kept values are of the host
_numbers = count()


@host("value: T -> handle: string", shape=shapes.scalar, stateful=True, role="session handle", T="type")
def GetSessionHandle(value: np.ndarray, *, ctx: Any) -> np.ndarray:
    """Keep a copy of `value` in the session and return its handle."""
    name = f"{ctx.op.name};{next(_numbers)};{_DEVICE}".encode()
    ctx.store.tensors[name] = np.array(value)
    return np.array(name, object)


GetSessionHandleV2 = declared(GetSessionHandle.spec.replaced(
    name="GetSessionHandleV2", outputs=tuple(replace(arg, type="resource") for arg in GetSessionHandle.spec.outputs)))


@host("handle: string -> value: dtype", shape=shapes.unknown, stateful=True, ranks={"handle": 0}, dtype="type")
def GetSessionTensor(handle: Any, *, dtype: DType, ctx: Any) -> np.ndarray:
    """Return the value that the session keeps behind a handle. Raises InvalidArgumentError if there is none."""
    found: np.ndarray | None = ctx.store.tensors.get(handle[()])
    if found is None:
        raise InvalidArgumentError(None, ctx.op, f"The tensor with handle '{handle[()].decode()}' is not in the "
                                                 "session store.")
    if found.dtype != dtype.as_numpy_dtype:
        raise InternalError(None, ctx.op, f"Output 0 of type {found.dtype} does not match declared output type "
                                          f"{dtype.name}")
    return np.array(found)


@host("handle: string", shape=lambda ctx: [], stateful=True, ranks={"handle": 0})
def DeleteSessionTensor(handle: Any, *, ctx: Any) -> tuple[()]:
    """Drop the value behind a handle. Raises InvalidArgumentError if there is none."""
    if ctx.store.tensors.pop(handle[()], None) is None:
        raise InvalidArgumentError(None, ctx.op, f"Failed to delete a tensor with handle '{handle[()].decode()}' in "
                                                 "the session store.")
    return ()


for _op in (GetSessionHandle, GetSessionHandleV2, GetSessionTensor, DeleteSessionTensor):
    _op.no_gradient("a handle stands between two runs")


@public("get_session_handle")
def get_session_handle(data: Any, name: str | None = None) -> Tensor:
    """Return a handle of `data`, whose value stays in the session when it is run.

    Fetched, it is a TensorHandle: its `handle` is the string that `tf.get_session_tensor` takes; as the value of a
    feed it stands for what it holds; `eval()` returns that; `delete()`, or dropping the object, frees it.
    Raises TypeError if `data` is no tensor.

    >>> h = sess.run(tf.get_session_handle(tf.constant([1, 2]) * 3))
    >>> holder, x = tf.get_session_tensor(h.handle, tf.int32)
    >>> sess.run(x + 1, {holder: h.handle}), h.eval()
    (array([4, 7], dtype=int32), array([3, 6], dtype=int32))
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"`data` must be of type Tensor, got {data!r}")
    made: Tensor = GetSessionHandle(data, name=name)
    return made


@public("get_session_tensor")
def get_session_tensor(handle: Any, dtype: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return (holder, tensor): tensor is the value behind the handle that is fed to holder, a string scalar.

    handle: of a value of this `dtype`; one pair serves for all handles of it. Raises ValueError for a text that is no
    handle. Running the tensor raises InvalidArgumentError if nothing is kept behind it.

    >>> h = sess.run(tf.get_session_handle(tf.constant(2.0)))
    >>> holder, x = tf.get_session_tensor(h.handle, tf.float32)
    >>> sess.run(x * x, feed_dict={holder: h.handle})
    4.0
    """
    _check_handle(handle)
    holder = placeholder(string)
    made: Tensor = GetSessionTensor(holder, as_dtype(dtype), name=name)
    return holder, made


@public("delete_session_tensor")
def delete_session_tensor(handle: Any, name: str | None = None) -> tuple[Tensor, Operation]:
    """Return (holder, deleter): running deleter drops the value behind the handle that is fed to holder.

    handle: as of `tf.get_session_tensor`. Running the deleter twice raises InvalidArgumentError.

    >>> h = sess.run(tf.get_session_handle(tf.constant(2.0)))
    >>> holder, deleter = tf.delete_session_tensor(h.handle)
    >>> sess.run(deleter, feed_dict={holder: h.handle})
    """
    _check_handle(handle)
    holder = placeholder(string)
    made: Operation = DeleteSessionTensor(holder, name=name)
    return holder, made


def _check_handle(handle: Any) -> None:
    if str(handle).count(";") != 2:
        raise ValueError(f"handle must be a text 'name;number;device', as a fetched handle has it, got {handle!r}")


describe(globals(), TENSORS)
