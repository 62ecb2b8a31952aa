"""tf.py_func: Python functions as ops. A graph keeps its functions alive; other processes don't have them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from tfnb.core import dtypes, errors
from tfnb.core.dtypes import DType
from tfnb.graph.stack import get_default_graph
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import public


class _Held:
    """A function that graphs hold."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn


_functions: WeakValueDictionary[bytes, _Held] = WeakValueDictionary()
_made = [0]
_CLASSES: tuple[tuple[tuple[type[Exception], ...], Callable[..., errors.OpError]], ...] = (
    ((ValueError, TypeError), errors.InvalidArgumentError), ((StopIteration,), errors.OutOfRangeError),
    ((MemoryError,), errors.ResourceExhaustedError), ((NotImplementedError,), errors.UnimplementedError))


def _call(inputs: Sequence[np.ndarray], token: bytes, types: Sequence[DType], ctx: Any) -> Any:
    held = _functions.get(token)
    if held is None:
        raise errors.InternalError(None, ctx.op, f"callback {token.decode()} is not found: functions of tf.py_func are "
                                                 "not part of a GraphDef")
    try:
        result = held.fn(*(a if a.ndim else a[()] for a in inputs))
    except errors.OpError:
        raise
    except Exception as error:
        cls = next((cls for kinds, cls in _CLASSES if isinstance(error, kinds)), errors.UnknownError)
        raise cls(None, ctx.op, f"{type(error).__name__}: {error}") from error
    results = list(result) if isinstance(result, (list, tuple)) else [] if result is None else [result]
    arrays = [np.array(value, order="C") for value in results]
    names = [_name(i, array, ctx) for i, array in enumerate(arrays)]
    if len(results) != len(types):
        raise errors.InvalidArgumentError(None, ctx.op, f"{token.decode()} returns {len(results)} values, but expects "
                                                        f"to see {len(types)} values.")
    for i, (value, array, name, dtype) in enumerate(zip(results, arrays, names, types, strict=True)):
        if name != dtype.name and (isinstance(value, (np.ndarray, np.generic)) or not _takes(dtype, array.dtype)):
            raise errors.InvalidArgumentError(None, ctx.op, f"{i}-th value returned by {token.decode()} is {name}, but "
                                                            f"expects {dtype.name}")
        arrays[i] = _bytes(np.asarray(value, object)) if name == "string" else array.astype(dtype.as_numpy_dtype)
    return tuple(arrays)


def _name(i: int, array: np.ndarray, ctx: Any) -> str:
    """Return the name of the dtype of a returned value. Raises InternalError if no dtype fits."""
    if array.dtype.kind in "SU":
        return "string"
    if array.dtype.kind == "O":
        others = [v for v in array.reshape(-1) if not isinstance(v, (bytes, str))]
        if not others:
            return "string"
        raise errors.InternalError(None, ctx.op, f"{ctx.op.name}: Unsupported object type {type(others[0]).__name__} "
                                                 f"in the {i}-th value that the function returned")
    try:
        return dtypes.as_dtype(array.dtype).name
    except TypeError:
        raise errors.InternalError(None, ctx.op, f"{ctx.op.name}: Unsupported numpy type {array.dtype} of the {i}-th "
                                                 "value that the function returned") from None


def _takes(dtype: DType, given: np.dtype[Any]) -> bool:
    """May Python numbers that NumPy gives the dtype `given` become a `dtype`? Integers become any numbers."""
    wanted = np.dtype(dtype.as_numpy_dtype)
    if given.kind == "b" or wanted.kind in "bO":
        return False
    return np.can_cast(given, wanted, "same_kind") or given.kind == "i"


def _bytes(array: np.ndarray) -> np.ndarray:
    flat = [v.encode() if isinstance(v, str) else v for v in array.reshape(-1)]
    made = np.empty(len(flat), object)
    made[:] = flat
    return made.reshape(array.shape)


@host("input: Tin -> output: Tout", shape=shapes.unknown, stateful=True, calls=True, token="string",
      Tin="list(type) >= 0", Tout="list(type) >= 0")
def PyFunc(input: Sequence[np.ndarray], *, token: bytes, Tout: Sequence[DType], ctx: Any) -> Any:
    """Call the Python function `token` on the inputs. It may have side effects."""
    return _call(input, token, Tout, ctx)


@host("input: Tin -> output: Tout", shape=shapes.unknown, calls=True, token="string", Tin="list(type) >= 0",
      Tout="list(type) >= 0")
def PyFuncStateless(input: Sequence[np.ndarray], *, token: bytes, Tout: Sequence[DType], ctx: Any) -> Any:
    """Call the Python function `token` on the inputs; it is a pure function of them."""
    return _call(input, token, Tout, ctx)


for _op in (PyFunc, PyFuncStateless):
    _op.no_gradient("nobody knows what the function does")


@public("numpy_function")
def numpy_function(func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True,
                   name: str | None = None) -> Any:
    """Return the results of `func`, called on arrays in each run: `tf.py_func` under its newer name.

    func, inp, Tout, stateful: as of `tf.py_func`. Raises ValueError if `func` can't be called.

    >>> sess.run(tf.numpy_function(lambda x: x.sum(), [tf.constant([1.0, 2.0])], tf.float32))
    3.0
    """
    return py_func(func, inp, Tout, stateful, name)


class _Value(np.ndarray[Any, Any]):
    """An array with the method `numpy()`, which functions of `tf.py_function` call on what they get."""

    def numpy(self) -> Any:
        """Return the plain array, or the number."""
        return np.asarray(self) if self.ndim else self[()]


@public("py_function")
def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:
    """Return the results of `func`, called in each run on arrays that have a method `numpy()`.

    func: gets arrays, not eager tensors (there are none), and returns arrays or numbers: no ops can be called in it,
    and no gradient goes through it. inp, Tout: as of `tf.py_func`. Raises ValueError if `func` can't be called.

    >>> sess.run(tf.py_function(lambda x: x.numpy() * 2, [tf.constant([1.0, 2.0])], tf.float32))
    array([2., 4.], dtype=float32)
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func} of type {type(func)}.")

    def call(*arrays: Any) -> Any:
        return func(*(np.asarray(array).view(_Value) for array in arrays))
    return py_func(call, inp, Tout, True, name)


def py_func(func: Callable[..., Any], inp: Sequence[Any], Tout: Any, stateful: bool = True,
            name: str | None = None) -> Any:
    """Return the results of `func`, called on the values of `inp` (arrays; scalars as NumPy scalars) in each run.

    Tout: the dtype of the result, or a list of them for several (a list is returned then). func must return NumPy
    values of exactly these dtypes (Python numbers take them). stateful: it has effects, or returns not always the
    same. Its exceptions become errors of tf.errors: ValueError and TypeError InvalidArgumentError, others UnknownError.
    With an empty list for Tout the operation is returned: what runs it calls func. Raises ValueError if `func` can't be
    called.

    >>> double = tf.py_func(lambda x: 2 * x, [tf.constant([1.0, 2.0])], tf.float32)
    >>> sess.run(double)
    array([2., 4.], dtype=float32)
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func} of type {type(func)}.")
    held = _Held(func)
    token = f"pyfunc_{_made[0]}".encode()
    _made[0] += 1
    _functions[token] = held
    graph = get_default_graph()
    vars(graph).setdefault("_py_functions", []).append(held)
    several = isinstance(Tout, (list, tuple))
    op = PyFunc if stateful else PyFuncStateless
    results = op(list(inp), token=token, Tout=list(Tout) if several else [Tout], name=name)
    return results if several or not isinstance(results, list) else results[0]
