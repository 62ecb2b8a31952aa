"""Softmax, and cross-entropy losses of logits."""
from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes, errors
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, broadcast, is_known
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library.checks import NO_CLASS, Check
from tfnb.ops.array.create import range_, zeros_like
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import rank, reshape, shape, stop_gradient, transpose
from tfnb.ops.array.slicing import Slice
from tfnb.ops.declaration.arguments import logits_first, renamed
from tfnb.ops.declaration.declare import rowwise
from tfnb.ops.declaration.raw import raw
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.math.arithmetic import AddV2, Neg, Sub, abs
from tfnb.ops.math.broadcast import unbroadcast
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import Select
from tfnb.ops.math.functions import Exp, Log1p
from tfnb.ops.reductions.reduce import reduce_sum

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

FLOAT = "floattype"


# Softmax and cross-entropy

@rowwise("logits: T -> softmax: T", T=FLOAT)
def Softmax(logits):
    """Compute the softmax over the last axis: `exp(logits)` divided by its sum."""
    e = exp(logits - rowmax(logits))
    return e * (1 / rowsum(e))


@Softmax.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    y = op.outputs[0]
    return (dy - reduce_sum(dy * y, -1, keepdims=True)) * y


@rowwise("logits: T -> logsoftmax: T", T=FLOAT)
def LogSoftmax(logits):
    """Compute the logarithm of Softmax, without overflow."""
    low = logits - rowmax(logits)
    return low - log(rowsum(exp(low)))


@LogSoftmax.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    y = Exp(op.outputs[0])
    return dy - reduce_sum(dy, -1, keepdims=True) * y


def _crossed(ctx: ShapeContext) -> list[Static]:
    """Infer the shapes of loss and gradient: features and labels are matrices that broadcast."""
    both = broadcast(of_rank(ctx.shape(0), 2), of_rank(ctx.shape(1), 2))
    return [None if both is None else both[:1], both]


@rowwise("features: T, labels: T -> loss: T, backprop: T", shape=_crossed, T=FLOAT)
def SoftmaxCrossEntropyWithLogits(features, labels):
    """Compute the cross-entropy of each row of `labels` with the Softmax of `features`, and its gradient."""
    low = features - rowmax(features)
    e = exp(low)
    total = rowsum(e)
    return rowsum(where(labels == 0, 0, labels * (log(total) - low))), e / total - labels


def _cross_entropy_gradient(op: Operation, dloss: Tensor, dbackprop: Tensor | None) -> Tensor:
    logits, backprop = op.inputs[0], op.outputs[1]
    gradient = raw.ExpandDims(dloss, -1) * backprop
    if dbackprop is None or _is_zero(dbackprop):
        return gradient
    y = Softmax(logits)                        # second order: the gradient of `backprop` is that of Softmax
    return gradient + (dbackprop - reduce_sum(dbackprop * y, -1, keepdims=True)) * y


def _is_zero(x: Tensor) -> bool:
    """Return whether `x` is the zeros that represent an output without a gradient."""
    if x.op.type in ("ZerosLike", "Zeros"):
        return True
    if x.op.type == "Fill":
        x = x.op.inputs[1]
    known = constant_value(x) if x.op.type == "Const" else None
    return known is not None and not known.any()


@SoftmaxCrossEntropyWithLogits.gradient
def _(op: Operation, dloss: Tensor, dbackprop: Tensor | None) -> list[Tensor]:
    features = _cross_entropy_gradient(op, dloss, dbackprop)
    minus = Neg(LogSoftmax(op.inputs[0]))
    labels = raw.ExpandDims(dloss, -1) * minus
    rows = [t.static[0] if t.static else None for t in op.inputs]
    return unbroadcast(op, features, labels) if 1 in rows and rows != [1, 1] else [features, labels]


@rowwise("features: T, labels: Tlabels -> loss: T, backprop: T", rows=("labels",), T=FLOAT,
         Tlabels="indextype = DT_INT64")
def SparseSoftmaxCrossEntropyWithLogits(features, labels):
    """Compute the cross-entropy of class `labels` with the Softmax of each row, and its gradient."""
    low = features - rowmax(features)
    e = exp(low)
    total = rowsum(e)
    hit = column() == labels
    found = rowsum(where(hit, 1.0, 0.0))
    return log(total) - rowsum(where(hit, low, 0)) + log(2 * found - 1), e / total - where(hit, 1, 0)


@SparseSoftmaxCrossEntropyWithLogits.checked
def _(ctx: Any) -> list[Check]:
    return [Check(1, NO_CLASS, ctx.shape(0)[-1])]


@SparseSoftmaxCrossEntropyWithLogits.gradient
def _(op: Operation, dloss: Tensor, dbackprop: Tensor | None) -> list[Tensor | None]:
    return [_cross_entropy_gradient(op, dloss, dbackprop), None]


# What users call

def _over_axis(constructor: Any, logits: Any, axis: int | None, name: str | None) -> Tensor:
    """`constructor`, which works on the last axis, over another: the two change places, and back."""
    x = convert_to_tensor(logits)
    known = constant_value(axis) if isinstance(axis, Tensor) else axis
    if (axis is None or known == -1) or (x.static is not None and known == len(x.static) - 1):
        return constructor(x, name=name)
    if x.static is None or known is None:
        perm = _swapped(axis if known is None else int(known), rank(x))
        made = transpose(constructor(transpose(x, perm)), perm, name=name or "transpose")
        made.set_shape(x.shape)
        return made
    axis, count = int(known), len(x.static)
    if not -count <= axis < count:
        raise errors.InvalidArgumentError(None, None, f"`axis` must be in the range [{-count}, {count}) where "
                                                      f"{count} is the number of dimensions in the input. Received: "
                                                      f"axis={axis}")
    order = list(range(count))
    order[axis], order[-1] = order[-1], order[axis]
    return transpose(constructor(transpose(x, order)), order, name=name or "transpose")


def _swapped(axis: Any, count: Tensor) -> Tensor:
    """Return the permutation that exchanges `axis` and the last axis, of a tensor with `count` axes."""
    axis = cast(convert_to_tensor(axis), dtypes.int32)
    axis = Select(axis < 0, axis + count, axis)
    order: Any = range_(0, count)
    of_axis = raw.Equal(order, axis)
    return raw.SelectV2(of_axis, Sub(count, 1), raw.SelectV2(raw.Equal(order, Sub(count, 1)), axis, order))


def softmax(logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """Compute the softmax over `axis`, by default the last: `exp(logits)` divided by its sum.

    logits: floats; the result has their dtype and shape. Raises InvalidArgumentError for an axis out of range.

    >>> sess.run(tf.nn.softmax([[0.0, 0.0], [0.0, 2.0]]))
    array([[0.5   , 0.5   ],
           [0.1192, 0.8808]], dtype=float32)
    """
    return _over_axis(Softmax, logits, renamed("axis", axis, "dim", dim), name)


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """Compute the logarithm of `softmax`, without overflow.

    >>> sess.run(tf.nn.log_softmax([[0.0, 0.0], [0.0, 2.0]]))
    array([[-0.6931, -0.6931],
           [-2.1269, -0.1269]], dtype=float32)
    """
    return _over_axis(LogSoftmax, logits, renamed("axis", axis, "dim", dim), name)


def _both(function: str, labels: Any, logits: Any) -> None:
    if labels is None or logits is None:
        raise ValueError(f"Both `labels` and `logits` must be provided to {function}.")


def _as_matrix(x: Tensor) -> Tensor:
    """Reshape to a matrix: all axes but the last made one."""
    count = rank(x)
    size = Slice(shape(x), [Sub(count, 1)], [1])
    matrix = reshape(x, concat([[-1], size], 0))
    if x.static is not None and is_known(rows := x.static[:-1]):
        matrix.set_shape([prod(rows), x.static[-1]])
    return matrix


def softmax_cross_entropy_with_logits_v2(labels: Any, logits: Any, axis: int | None = None,
                                         name: str | None = None, dim: int | None = None) -> Tensor:
    """Compute the cross-entropy of the distributions `labels` with softmax(`logits`) along `axis`, which is dropped.

    >>> sess.run(tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.0, 1.0]], logits=[[0.0, 2.0]]))
    array([0.1269], dtype=float32)
    """
    axis = renamed("axis", axis, "dim", dim, default=-1)
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        given = convert_to_tensor(logits, name="logits")
        wide = given.dtype in (dtypes.float16, dtypes.bfloat16)
        x = cast(given, dtypes.float32) if wide else given
        y = cast(convert_to_tensor(labels, name="labels"), x.dtype)
        count = rank(x)
        known = constant_value(axis) if isinstance(axis, Tensor) else axis
        if known is None or known != -1:
            x, y = (_axis_last(t, axis if known is None else int(known), count) for t in (x, y))
        sizes = shape(x)
        loss, _ = SoftmaxCrossEntropyWithLogits(_as_matrix(x), _as_matrix(y), name=scope)
        loss = reshape(loss, Slice(sizes, [0], [Sub(count, 1)]))
        if given.static is not None and known is not None:
            kept = list(given.static)
            del kept[int(known)]
            loss.set_shape(kept)
        return cast(loss, given.dtype) if wide else loss


def _axis_last(x: Tensor, axis: Any, count: Tensor) -> Tensor:
    if isinstance(axis, Tensor) or axis < 0 and x.static is None:
        axis = cast(convert_to_tensor(axis), dtypes.int32)
        axis = Select(axis < 0, axis + count, axis)
    else:
        axis = axis if axis >= 0 or x.static is None else axis + len(x.static)
    return transpose(x, concat([range_(axis), range_(axis + 1, count), [axis]], 0))


@logits_first("dim", "name")
def softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, dim: int = -1,
                                      name: str | None = None, axis: int | None = None) -> Tensor:
    """As softmax_cross_entropy_with_logits_v2, with `labels` as constants for gradients.

    By position, the order is that of 0.x: (logits, labels, dim, name); 1.x takes named arguments only.

    >>> sess.run(tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[[0.0, 2.0]]))
    array([0.1269], dtype=float32)
    """
    dim = dim if axis is None else axis
    _both("softmax_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = stop_gradient(labels, name="labels_stop_gradient")
        return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=dim, name=scope)


@logits_first("name")
def sparse_softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                             name: str | None = None) -> Tensor:
    """Compute the cross-entropy of the classes `labels` with softmax(`logits`) over the last axis.

    labels: int32 or int64, of one axis less. By position, the order is that of 0.x: (logits, labels, name). Raises
    ValueError where the shapes don't fit. A label outside of the classes gives NaN.

    >>> sess.run(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0], logits=[[0.0, 2.0], [0.0, 2.0]]))
    array([0.1269, 2.1269], dtype=float32)
    """
    _both("sparse_softmax_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        y, given = convert_to_tensor(labels), convert_to_tensor(logits)
        wide = given.dtype in (dtypes.float16, dtypes.bfloat16)
        x = cast(given, dtypes.float32) if wide else given
        sizes = shape(y)
        _check_labels(y, given)
        if x.static is not None and len(x.static) == 2:
            loss, _ = SparseSoftmaxCrossEntropyWithLogits(x, y, name=name)
            return cast(loss, given.dtype) if wide else loss
        classes = shape(x)[rank(x) - 1]
        matrix, flat = reshape(x, [-1, classes]), reshape(y, [-1])
        loss, _ = SparseSoftmaxCrossEntropyWithLogits(matrix, flat, name=name)
        loss = reshape(loss, sizes)
        loss.set_shape(y.shape)
        return cast(loss, given.dtype) if wide else loss


def _check_labels(labels: Tensor, logits: Tensor) -> None:
    if logits.static == ():
        raise ValueError(f"`logits` cannot be a scalar. Received logits={logits} with shape {logits.shape}")
    if labels.static is None or logits.static is None:
        return
    if len(labels.static) != len(logits.static) - 1:
        raise ValueError("`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
                         f"labels.shape={labels.shape} of rank {len(labels.static)} and "
                         f"logits.shape={logits.shape} of rank {len(logits.static)}")
    if is_known(labels.static) and is_known(logits.static) and labels.static != logits.static[:-1]:
        raise ValueError("`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
                         f"labels.shape={labels.shape} and logits.shape={logits.shape}")


@logits_first("name")
def sigmoid_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                      name: str | None = None) -> Tensor:
    """Compute the cross-entropy of the probabilities `labels` with sigmoid(`logits`), element-wise, without overflow.

    By position, the order is that of 0.x: (logits, labels, name). Raises ValueError if their shapes differ.

    >>> sess.run(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[2.0, 2.0]))
    array([0.1269, 2.1269], dtype=float32)
    """
    _both("sigmoid_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        x, y = convert_to_tensor(logits, name="logits"), convert_to_tensor(labels, name="labels")
        _same_shape(x, y)
        zeros = zeros_like(x, dtype=x.dtype)
        positive = x >= zeros
        high, low = Select(positive, x, zeros), Select(positive, Neg(x), x)
        return AddV2(high - x * y, Log1p(Exp(low)), name=scope)


def _same_shape(x: Tensor, y: Tensor) -> None:
    try:
        y.shape.merge_with(x.shape)
    except ValueError:
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({x.shape} vs {y.shape}).") \
            from None


def weighted_cross_entropy_with_logits(labels: Any = None, logits: Any = None, pos_weight: Any = None,
                                       name: str | None = None, targets: Any = None) -> Tensor:
    """As sigmoid_cross_entropy_with_logits, with the positive part of the loss times `pos_weight`.

    >>> sess.run(tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], logits=[2.0, 2.0], pos_weight=10.0))
    array([1.2693, 2.1269], dtype=float32)
    """
    labels = renamed("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        x, y = convert_to_tensor(logits, name="logits"), convert_to_tensor(labels, name="labels")
        _same_shape(x, y)
        weight = 1 + (pos_weight - 1) * y
        return AddV2((1 - y) * x, weight * (Log1p(Exp(-abs(x))) + raw.Relu(-x)), name=scope)


def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False,
                     name: str | None = None) -> Tensor:
    """Compute the Poisson log-likelihood loss of `targets` under rates `exp(log_input)`, element-wise.

    compute_full_loss: with Stirling's approximation of the part that does not depend on `log_input`.

    >>> sess.run(tf.nn.log_poisson_loss(targets=tf.constant([1.0, 2.0]), log_input=tf.constant([0.0, 1.0])))
    array([1.    , 0.7183], dtype=float32)
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        x, y = convert_to_tensor(log_input, name="log_input"), convert_to_tensor(targets, name="targets")
        result = Exp(x) - x * y
        if compute_full_loss:
            full = y * raw.Log(y) - y + 0.5 * raw.Log(2 * np.pi * y)
            small = raw.LogicalAnd(y >= 0, y <= 1)
            result = result + raw.SelectV2(small, zeros_like(y), full)
        return result


describe(globals(), TENSORS)
