"""Assertions about tensors: checked statically where all is known while the graph is built, else by operations."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.control_flow.cond import cond
from tfnb.core import dtypes, errors
from tfnb.core.arguments import ASSERTIONS, describe
from tfnb.core.dtypes import DType
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, get_default_graph, name_scope
from tfnb.ops.array.reshape import Reshape, rank
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.checks import check_numerics
from tfnb.ops.control.group import group, no_op
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import abs, multiply
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, greater, greater_equal, less, less_equal, not_equal
from tfnb.ops.reductions.reduce import reduce_all


def Assert(condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None) -> Operation:
    """`tf.Assert`: return an operation that raises InvalidArgumentError with `data` unless `condition` holds.

    >>> sess.run(tf.Assert(tf.constant(1) > 2, ["1 is not larger"]))
    Traceback (most recent call last):
        ...
    InvalidArgumentError: assertion failed: [1 is not larger]
    """
    with name_scope(name, "Assert", [condition, data]):
        condition = convert_to_tensor(condition, name="condition", dtype=dtypes.bool)
        tensors = [convert_to_tensor(value) for value in data]
        # TensorFlow converts what is no tensor yet again, for the op, which runs only where the condition fails.
        if all(t.dtype.base_dtype in (dtypes.string, dtypes.int32) for t in tensors):
            return raw.Assert(condition, list(data), summarize=summarize, name="Assert")
        guarded = cond(condition, no_op, lambda: raw.Assert(condition, list(data), summarize=summarize, name="Assert"),
                       name="AssertGuard")
        return guarded.op


def _head(message: str | None) -> str:
    """Return the beginning of an error that is raised while the graph is built."""
    return f"{message}.  " if message else ""


def _data(message: str | None, data: Any, default: Sequence[Any]) -> list[Any]:
    return ([message] if message is not None else []) + list(default if data is None else data)


def _check(condition: Tensor, data: Sequence[Any], summarize: int | None, known: Any) -> Operation:
    """Return the assertion; InvalidArgumentError at once if `known` says that it does not hold."""
    if known is not None and not np.all(known):
        words = [str(t if (value := constant_value(t)) is None else value) if isinstance(t, Tensor) else str(t)
                 for t in data]
        raise errors.InvalidArgumentError(None, None, "\n".join(words))
    return Assert(condition, data, summarize=summarize)


def _binary(sign: str, opname: str, op: Callable[..., Any], static: Callable[..., Any], x: Any, y: Any, data: Any,
            summarize: int | None, message: str | None, name: str | None) -> Operation:
    with name_scope(name, opname, [x, y, data]):
        x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
        data = _data(message, data, [f"Condition x {sign} y did not hold element-wise:", f"x ({x.name}) = ", x,
                                     f"y ({y.name}) = ", y])
        condition = reduce_all(op(x, y))
        known = constant_value(x), constant_value(y)
        return _check(condition, data, summarize, None if any(v is None for v in known) else static(*known))


def assert_equal(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                 name: str | None = None) -> Operation:
    """Return an operation that raises InvalidArgumentError unless x == y everywhere (they broadcast).

    data: tensors to print then, instead of x and y; message: text before it. Raises at once where that is known.

    >>> x = tf.placeholder(tf.int32)
    >>> with tf.control_dependencies([tf.assert_equal(x, 1, message="x must be 1")]):
    ...     y = tf.identity(x)
    >>> sess.run(y, {x: 1})
    1
    >>> sess.run(y, {x: 2})
    Traceback (most recent call last):
        ...
    InvalidArgumentError: assertion failed: [x must be 1] [Condition x == y did not hold element-wise:] ...
    """
    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return no_op()
    return _binary("==", "assert_equal", equal, np.equal, x, y, data, summarize, message, name)


def assert_none_equal(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                      name: str | None = None) -> Operation:
    """As assert_equal, that x != y everywhere.

    >>> tf.assert_none_equal([1, 2], 2)
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Condition x != y did not hold element-wise:
    """
    return _binary("!=", "assert_none_equal", not_equal, np.not_equal, x, y, data, summarize, message, name)


def assert_less(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                name: str | None = None) -> Operation:
    """As assert_equal, that x < y everywhere.

    >>> tf.assert_less([1, 2], 2)
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Condition x < y did not hold element-wise:
    """
    return _binary("<", "assert_less", less, np.less, x, y, data, summarize, message, name)


def assert_less_equal(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                      name: str | None = None) -> Operation:
    """As assert_equal, that x <= y everywhere.

    >>> tf.assert_less_equal([1, 2], 1)
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Condition x <= y did not hold element-wise:
    """
    return _binary("<=", "assert_less_equal", less_equal, np.less_equal, x, y, data, summarize, message, name)


def assert_greater(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                   name: str | None = None) -> Operation:
    """As assert_equal, that x > y everywhere.

    >>> tf.assert_greater([1, 2], 1)
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Condition x > y did not hold element-wise:
    """
    return _binary(">", "assert_greater", greater, np.greater, x, y, data, summarize, message, name)


def assert_greater_equal(x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                         name: str | None = None) -> Operation:
    """As assert_equal, that x >= y everywhere.

    >>> tf.assert_greater_equal([1, 2], 2)
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Condition x >= y did not hold element-wise:
    """
    return _binary(">=", "assert_greater_equal", greater_equal, np.greater_equal, x, y, data, summarize, message, name)


def assert_near(x: Any, y: Any, rtol: Any = None, atol: Any = None, data: Any = None, summarize: int | None = None,
                message: str | None = None, name: str | None = None) -> Operation:
    """As assert_equal, that |x - y| < atol + rtol * |y| everywhere; both are 10 units in the last place by default.

    >>> sess.run(tf.assert_near([1.0, 2.0], [1.0, 2.1]))
    Traceback (most recent call last):
        ...
    InvalidArgumentError: assertion failed: [x and y not equal to tolerance rtol = ] [1.19209e-06] [, ...
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype)
        kind = x.dtype.real_dtype
        eps = 10 * np.finfo(kind.as_numpy_dtype).eps if kind != dtypes.bfloat16 else 10 * 2.0 ** -7
        rtol, atol = (convert_to_tensor(eps if value is None else value, name=word, dtype=kind)
                      for value, word in ((rtol, "rtol"), (atol, "atol")))
        data = _data(message, data, ["x and y not equal to tolerance rtol = ", rtol, ", atol = ", atol,
                                     f"x ({x.name}) = ", x, f"y ({y.name}) = ", y])
        tolerance = atol + multiply(rtol, abs(y))
        return Assert(reduce_all(less(abs(x - y), tolerance)), data, summarize=summarize)


def _unary(opname: str, condition: str, compare: Callable[..., Operation], zero_first: bool, x: Any, data: Any,
           summarize: int | None, message: str | None, name: str | None) -> Operation:
    with name_scope(name, opname, [x, data]):
        x = convert_to_tensor(x, name="x")
        data = [message or "", f"Condition x {condition} 0 did not hold element-wise:", f"x ({x.name}) = ", x] \
            if data is None else data
        zero = convert_to_tensor(0, dtype=x.dtype)
        return compare(*((zero, x) if zero_first else (x, zero)), data=data, summarize=summarize)


def assert_negative(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                    name: str | None = None) -> Operation:
    """As assert_equal, that x < 0 everywhere.

    >>> tf.assert_negative([-1, 0])
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Condition x < 0 did not hold element-wise:
    """
    return _unary("assert_negative", "<", assert_less, False, x, data, summarize, message, name)


def assert_positive(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                    name: str | None = None) -> Operation:
    """As assert_equal, that x > 0 everywhere.

    >>> tf.assert_positive([1, 0])
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Condition x > 0 did not hold element-wise:
    """
    return _unary("assert_positive", ">", assert_less, True, x, data, summarize, message, name)


def assert_non_negative(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                        name: str | None = None) -> Operation:
    """As assert_equal, that x >= 0 everywhere.

    >>> tf.assert_non_negative([1, -1])
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Condition x >= 0 did not hold element-wise:
    """
    return _unary("assert_non_negative", ">=", assert_less_equal, True, x, data, summarize, message, name)


def assert_non_positive(x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                        name: str | None = None) -> Operation:
    """As assert_equal, that x <= 0 everywhere.

    >>> tf.assert_non_positive([-1, 1])
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Condition x <= 0 did not hold element-wise:
    """
    return _unary("assert_non_positive", "<=", assert_less_equal, False, x, data, summarize, message, name)


def _rank_check(opname: str, what: str, fits: Callable[[int], bool] | None, dynamic: Callable[[Tensor], Tensor], x: Any,
                data: Any, summarize: int | None, message: str | None, name: str | None) -> Operation:
    with name_scope(name, opname, [x, data]):
        x = convert_to_tensor(x, name="x")
        if x.static is not None and fits is not None:
            if not fits(len(x.static)):
                raise ValueError(f"{_head(message)}Tensor {x.name} must have {what}.  Received rank "
                                 f"{len(x.static)}, shape {x.shape}")
            return no_op(name="static_checks_determined_all_ok")
        found = rank(x)
        data = _data(message, data, [f"Tensor {x.name} must have {what}", "Received rank: ", found])
        return Assert(dynamic(found), data, summarize=summarize)


def _rank(value: Any) -> Any:
    """A rank: an integer, or an int32 scalar where only a run tells it. Raises TypeError, ValueError for others."""
    given = convert_to_tensor(value, name="rank")
    if not given.dtype.is_integer:
        raise TypeError(f"rank must be an integer, got {value!r} of dtype {given.dtype.base_dtype.name}")
    if given.static not in ((), None):
        raise ValueError(f"Rank must be a scalar, got shape {given.shape}")
    known = constant_value(given)
    return cast(given, dtypes.int32) if known is None else int(known)


def assert_rank(x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                name: str | None = None) -> Operation:
    """Return an operation that raises InvalidArgumentError unless x has `rank` axes; ValueError at once if known.

    rank: an integer, or a scalar tensor.

    >>> tf.assert_rank([1, 2, 3], 2)
    Traceback (most recent call last):
        ...
    ValueError: Tensor assert_rank/x:0 must have rank 2.  Received rank 1, shape (3,)
    """
    wanted = _rank(rank)
    return _rank_check("assert_rank", f"rank {wanted}", _if_known([wanted], lambda n: n == wanted),
                       lambda n: equal(n, wanted), x, data, summarize, message, name)


def _if_known(ranks: Sequence[Any], fits: Callable[[int], bool]) -> Callable[[int], bool] | None:
    return None if any(isinstance(rank, Tensor) for rank in ranks) else fits


def assert_rank_at_least(x: Any, rank: Any, data: Any = None, summarize: int | None = None,
                         message: str | None = None, name: str | None = None) -> Operation:
    """As assert_rank, that x has `rank` axes or more.

    >>> tf.assert_rank_at_least([1, 2], 2)
    Traceback (most recent call last):
        ...
    ValueError: Tensor assert_rank_at_least/x:0 must have rank at least 2.  Received rank 1, shape (2,)
    """
    wanted = _rank(rank)
    return _rank_check("assert_rank_at_least", f"rank at least {wanted}", _if_known([wanted], lambda n: n >= wanted),
                       lambda n: greater_equal(n, wanted), x, data, summarize, message, name)


def assert_rank_in(x: Any, ranks: Sequence[Any], data: Any = None, summarize: int | None = None,
                   message: str | None = None, name: str | None = None) -> Operation:
    """As assert_rank, that the number of axes of x is one of `ranks`.

    >>> tf.assert_rank_in([1, 2], [0, 2])
    Traceback (most recent call last):
        ...
    ValueError: Tensor assert_rank_in/x:0 must have rank in (0, 2).  Received rank 1, shape (2,)
    """
    wanted = [_rank(r) for r in ranks]
    return _rank_check("assert_rank_in", f"rank in {tuple(wanted)}", _if_known(wanted, lambda n: n in wanted),
                       lambda n: _is_one_of(n, wanted), x, data, summarize, message, name)


def _is_one_of(x: Tensor, values: Sequence[Any]) -> Tensor:
    """Return whether the scalar is one of these."""
    found = equal(x, values[0])
    for value in values[1:]:
        found = found | equal(x, value)
    return found


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Operation:
    """Raise TypeError at once unless `tensor` has the dtype; the operation returned does nothing.

    >>> tf.assert_type(tf.constant(1), tf.float32)
    Traceback (most recent call last):
        ...
    TypeError: Const:0 must be of type tf.float32; got tf.int32
    """
    with name_scope(name, "assert_type", [tensor]):
        tensor = tensor.values if isinstance(tensor, SparseTensor) else convert_to_tensor(tensor, name="tensor")
        if tensor.dtype.base_dtype != dtypes.as_dtype(tf_type).base_dtype:
            raise TypeError(f"{_head(message)}{tensor.name} must be of type {dtypes.as_dtype(tf_type)!r}; got "
                            f"{tensor.dtype!r}")
        return no_op("statically_determined_correct_type")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Operation:
    """Raise TypeError at once unless x has an integer dtype; the operation returned does nothing.

    >>> tf.assert_integer([1.5])
    Traceback (most recent call last):
        ...
    TypeError: Expected "x" to be integer type.  Found: assert_integer/x:0 of dtype tf.float32
    """
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(f"{_head(message)}Expected \"x\" to be integer type.  Found: {x.name} of dtype {x.dtype!r}")
        return no_op("statically_determined_was_integer")


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """Return `tensor` itself. Raises ValueError at once if it is known to have axes.

    >>> tf.assert_scalar([1])
    Traceback (most recent call last):
        ...
    ValueError: Expected scalar shape for assert_scalar:0, saw shape: (1,).
    """
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.static != () and tensor.static is not None:
            raise ValueError(f"{_head(message)}Expected scalar shape for {tensor.name}, saw shape: {tensor.shape}.")
        return tensor


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: Any = None) -> DType:
    """Return the dtype of all `tensors`, by default float32. Raises ValueError for different ones or no float.

    >>> tf.assert_same_float_dtype([tf.constant(1.0), tf.constant(2.0)])
    tf.float32
    """
    found = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    for t in tensors or ():
        if t is not None and found is not None and t.dtype.base_dtype != found:
            raise ValueError(f"Tensor {t.name} must be of type {found.name}, not {t.dtype.base_dtype.name}")
        found = found if t is None else t.dtype.base_dtype
    found = dtypes.float32 if found is None else found
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found.name}.")
    return found


def is_numeric_tensor(tensor: Any) -> bool:
    """Return whether `tensor` is a tensor of integers, floats or complex numbers (quantized ones included).

    >>> tf.is_numeric_tensor(tf.constant(1)), tf.is_numeric_tensor(tf.constant("a"))
    (True, False)
    """
    return isinstance(tensor, Tensor) and (tensor.dtype.is_integer or tensor.dtype.is_floating
                                           or tensor.dtype.is_complex or tensor.dtype.is_quantized)


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Return a bool scalar: whether the elements of x, in row-major order, never decrease.

    >>> sess.run(tf.is_non_decreasing([1, 2, 2]))
    True
    """
    with name_scope(name, "is_non_decreasing", [x]):
        return reduce_all(greater_equal(*_neighbours(x)))


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Return a bool scalar: whether the elements of x, in row-major order, strictly increase.

    >>> sess.run(tf.is_strictly_increasing([1, 2, 2]))
    False
    """
    with name_scope(name, "is_strictly_increasing", [x]):
        return reduce_all(greater(*_neighbours(x)))


def _neighbours(x: Any) -> tuple[Tensor, Tensor]:
    """(all elements but the first, all but the last), as vectors."""
    x = convert_to_tensor(x, name="x")
    flat = Reshape(x, [-1])
    return flat[1:], flat[:-1]


def add_check_numerics_ops() -> Operation:
    """Return an operation that raises InvalidArgumentError if any float tensor of the graph has a NaN or an infinity.

    Raises ValueError in a graph with control flow.

    >>> x = tf.placeholder(tf.float32)
    >>> y = tf.log(x)
    >>> check = tf.add_check_numerics_ops()
    >>> sess.run([y, check], {x: -1.0})
    Traceback (most recent call last):
        ...
    InvalidArgumentError: Log:0 : Tensor had NaN values
    """
    last: list[Tensor] = []
    for op in get_default_graph().get_operations():
        for t in op.outputs:
            if t.dtype.base_dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
                if op._get_control_flow_context() is not None:
                    raise ValueError("`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow "
                                     "operations such as `tf.cond()` or `tf.while_loop()`.")
                with control_dependencies(last):
                    last = [check_numerics(t, message=f"{op.name}:{t.value_index}")]
    return group(*last)


describe(globals(), ASSERTIONS)
