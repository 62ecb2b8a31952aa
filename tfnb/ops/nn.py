"""Neural-network ops: activations, softmax and cross-entropy, biases, dropout, normalisation."""
from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes, errors
from tfnb.core.shape import Static, is_known
from tfnb.graph.constant_value import constant_value
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.arguments import renamed
from tfnb.ops.array import rank, reshape, shape, squeeze, stop_gradient, transpose
from tfnb.ops.compare import Select
from tfnb.ops.create import range_, zeros_like
from tfnb.ops.declare import elementwise, kernel, reduction, rowwise
from tfnb.ops.functions import Exp, Log1p, Rsqrt
from tfnb.ops.joining import concat
from tfnb.ops.math import AddV2, Mul, Neg, SquaredDifference, Sub, abs, cast
from tfnb.ops.matmul import matmul
from tfnb.ops.random import random_uniform
from tfnb.ops.raw import raw
from tfnb.ops.reduce import reduce_mean, reduce_sum
from tfnb.ops.slicing import Slice

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

REAL = "realnumbertype"
FLOAT = "floattype"
GRADIENT = "gradients: T, features: T -> backprops: T"
NEGATIVE_SLOPE = "float = 0.20000000298023224"


# Activations

@elementwise("features: T -> activations: T", T="{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16,"
                                               " half, uint32, uint64, qint8}")
def Relu(features):
    """The larger of `features` and 0."""
    return maximum(features, 0)


@elementwise(GRADIENT, T=REAL)
def ReluGrad(gradients, features):
    """The gradient of Relu, from its input or its output."""
    return where(features > 0, gradients, 0)


@Relu.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return ReluGrad(dy, op.outputs[0])


@ReluGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return [ReluGrad(dz, op.inputs[1]), zeros_like(op.inputs[1])]


@elementwise("features: T -> activations: T", T=REAL)
def Relu6(features):
    """`features` cut to [0, 6]."""
    return minimum(maximum(features, 0), 6)


@elementwise(GRADIENT, T=REAL)
def Relu6Grad(gradients, features):
    """The gradient of Relu6, from its input or its output."""
    return where((features > 0) & (features < 6), gradients, 0)


@Relu6.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return Relu6Grad(dy, op.outputs[0])


@Relu6Grad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return [Relu6Grad(dz, op.inputs[1]), zeros_like(op.inputs[1])]


@elementwise("features: T -> activations: T", alpha=NEGATIVE_SLOPE, T="floattype = DT_FLOAT")
def LeakyRelu(features, *, alpha):
    """`features`, times `alpha` where they are negative."""
    return where(features > 0, features, alpha * features)


@elementwise(GRADIENT, alpha=NEGATIVE_SLOPE, T="floattype = DT_FLOAT")
def LeakyReluGrad(gradients, features, *, alpha):
    """The gradient of LeakyRelu, from its input."""
    return where(features > 0, gradients, alpha * gradients)


@LeakyRelu.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return LeakyReluGrad(dy, op.inputs[0], alpha=op.attrs["alpha"])


@LeakyReluGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return [LeakyReluGrad(dz, op.inputs[1], alpha=op.attrs["alpha"]), zeros_like(op.inputs[1])]


@elementwise("features: T -> activations: T", T=FLOAT)
def Elu(features):
    """`features`, and `exp(features) - 1` where they are negative."""
    return where(features < 0, expm1(minimum(features, 0)), features)


@elementwise("gradients: T, outputs: T -> backprops: T", T=FLOAT)
def EluGrad(gradients, outputs):
    """The gradient of Elu, from its output."""
    return where(outputs < 0, gradients * (outputs + 1), gradients)


@Elu.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return EluGrad(dy, op.outputs[0])


@EluGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    dy, y = op.inputs
    return [EluGrad(dz, y), raw.SelectV2(y < 0, dz * dy, zeros_like(y))]


@elementwise("features: T -> activations: T", T=FLOAT)
def Selu(features):
    """The scaled exponential linear unit."""
    return where(features < 0, 1.7580993408473766 * expm1(minimum(features, 0)), 1.0507009873554805 * features)


@elementwise("gradients: T, outputs: T -> backprops: T", T=FLOAT)
def SeluGrad(gradients, outputs):
    """The gradient of Selu, from its output."""
    return where(outputs < 0, gradients * (outputs + 1.7580993408473766), gradients * 1.0507009873554805)


@Selu.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return SeluGrad(dy, op.outputs[0])


@SeluGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    dy, y = op.inputs
    return [SeluGrad(dz, y), raw.SelectV2(y < 0, dz * dy, zeros_like(y))]


@elementwise("features: T -> activations: T", T=FLOAT)
def Softplus(features):
    """`log(1 + exp(features))`, without overflow."""
    return maximum(features, 0) + log1p(exp(-abs(features)))


@elementwise(GRADIENT, T=FLOAT)
def SoftplusGrad(gradients, features):
    """The gradient of Softplus, from its input."""
    return gradients * sigmoid(features)


@Softplus.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return SoftplusGrad(dy, op.inputs[0])


@SoftplusGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    dy, x = op.inputs
    curve = raw.Sigmoid(x)
    return [SoftplusGrad(dz, x), dz * dy * curve * (1.0 - curve)]


@elementwise("features: T -> activations: T", T=FLOAT)
def Softsign(features):
    """`features / (1 + abs(features))`."""
    return features / (1 + abs(features))


@elementwise(GRADIENT, T=FLOAT)
def SoftsignGrad(gradients, features):
    """The gradient of Softsign, from its input."""
    return gradients / square(1 + abs(features))


@Softsign.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return SoftsignGrad(dy, op.inputs[0])


@SoftsignGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    dy, x = op.inputs
    size = 1.0 + raw.Abs(x)
    return [SoftsignGrad(dz, x), -2.0 * dz * dy * raw.Sign(x) / (size * size * size)]


# Softmax and cross-entropy

@rowwise("logits: T -> softmax: T", T=FLOAT)
def Softmax(logits):
    """`exp(logits)` divided by its sum over the last axis."""
    e = exp(logits - rowmax(logits))
    return e / rowsum(e)


@Softmax.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    y = op.outputs[0]
    return Mul(Sub(dy, reduce_sum(Mul(dy, y), -1, keepdims=True)), y)


@rowwise("logits: T -> logsoftmax: T", T=FLOAT)
def LogSoftmax(logits):
    """The logarithm of Softmax, without overflow."""
    low = logits - rowmax(logits)
    return low - log(rowsum(exp(low)))


@LogSoftmax.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return Sub(dy, Mul(reduce_sum(dy, -1, keepdims=True), Exp(op.outputs[0])))


@rowwise("features: T, labels: T -> loss: T, backprop: T", T=FLOAT)
def SoftmaxCrossEntropyWithLogits(features, labels):
    """The cross-entropy of each row of `labels` with the Softmax of `features`, and its gradient."""
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
    """Is it the zeros that stand for an output without gradient?"""
    if x.op.type in ("ZerosLike", "Zeros"):
        return True
    if x.op.type == "Fill":
        x = x.op.inputs[1]
    known = constant_value(x) if x.op.type == "Const" else None
    return known is not None and not known.any()


@SoftmaxCrossEntropyWithLogits.gradient
def _(op: Operation, dloss: Tensor, dbackprop: Tensor | None) -> list[Tensor]:
    labels = raw.ExpandDims(dloss, -1) * Neg(LogSoftmax(op.inputs[0]))
    return [_cross_entropy_gradient(op, dloss, dbackprop), labels]


@rowwise("features: T, labels: Tlabels -> loss: T, backprop: T", rows=("labels",), T=FLOAT,
         Tlabels="indextype = DT_INT64")
def SparseSoftmaxCrossEntropyWithLogits(features, labels):
    """The cross-entropy of class `labels` with the Softmax of each row, and its gradient; NaN outside the classes."""
    low = features - rowmax(features)
    e = exp(low)
    total = rowsum(e)
    hit = column() == labels
    picked = rowsum(where(hit, low, 0)) + where(rowsum(where(hit, 1.0, 0.0)) == 0, 0.0 / 0.0, 0.0)
    return log(total) - picked, e / total - where(hit, 1, 0)


@SparseSoftmaxCrossEntropyWithLogits.gradient
def _(op: Operation, dloss: Tensor, dbackprop: Tensor | None) -> list[Tensor | None]:
    return [_cross_entropy_gradient(op, dloss, dbackprop), None]


# Biases and losses

def _bias_shape(ctx: ShapeContext) -> list[Static]:
    value, bias = ctx.shape(0), ctx.shape(1)
    if bias is not None and len(bias) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(bias)}")
    if value is None:
        return [None]
    if len(value) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {len(value)}")
    axis = _channel(ctx.attrs, len(value))
    channels = None if bias is None else bias[0]
    if None not in (channels, value[axis]) and channels != value[axis]:
        raise ValueError(f"Dimensions must be equal, but are {value[axis]} and {channels}")
    return [(*value[:axis], value[axis] if channels is None else channels, *value[axis + 1:])]


def _channel(attrs: Any, rank: int) -> int:
    return 1 if attrs["data_format"] == b"NCHW" else rank - 1


def _aligned(attrs: Any, value: tuple[int, ...], bias: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The bias stands along the channels: the last axis, or axis 1 in NCHW."""
    return [value, bias + (1,) * (len(value) - 1 - _channel(attrs, len(value)))]


@elementwise("value: T, bias: T -> output: T", shape=_bias_shape, align=_aligned, T="numbertype",
             data_format="{'NHWC', 'NCHW'} = 'NHWC'")
def BiasAdd(value, bias):
    """`value` plus a bias for each channel."""
    return value + bias


@elementwise("value: T, bias: T -> output: T", shape=lambda ctx: [ctx.shape(0)], T="numbertype")
def BiasAddV1(value, bias):
    """`value` plus a bias for each place in the last axis (the older op)."""
    return value + bias


@reduction("out_backprop: T -> output: T", identity=0, T="numbertype", data_format="{'NHWC', 'NCHW'} = 'NHWC'",
           axes=lambda attrs, rank: [i for i in range(rank) if i != _channel(attrs, rank)])
def BiasAddGrad(acc, x):
    """The sum over all axes but that of the channels."""
    return acc + x


@BiasAdd.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor]:
    return [dy, BiasAddGrad(dy, data_format=op.attrs["data_format"])]


@BiasAddV1.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor]:
    return [dy, BiasAddGrad(dy)]


@BiasAddGrad.gradient
def _(op: Operation, dz: Tensor) -> Tensor:
    x = op.inputs[0]
    zeros = raw.ZerosLike(x)
    return BiasAdd(zeros, dz, data_format=op.attrs["data_format"])


@reduction("t: T -> output: T", identity=0, axes=lambda attrs, rank: list(range(rank)), T=FLOAT)
def L2Loss(acc, x):
    """Half the sum of the squares."""
    return acc + x


@L2Loss.prepare
def _(x):
    return square(x)


@L2Loss.finish
def _(acc, count):
    return acc * 0.5


@L2Loss.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return op.inputs[0] * dy


# TopK

def _in_top(ctx: Any, predictions: np.ndarray, targets: np.ndarray, k: Any = None) -> np.ndarray:
    k = ctx.attrs["k"] if k is None else int(k)
    inside = (targets >= 0) & (targets < predictions.shape[1])
    own = np.take_along_axis(predictions, np.where(inside, targets, 0)[:, None].astype(np.int64), 1)
    finite = np.isfinite(own[:, 0]) & inside & np.isfinite(predictions).all(1)
    return finite & ((predictions > own).sum(1) < k)


@kernel("predictions: float, targets: T -> precision: bool", shape=lambda ctx: [ctx.shape(1)], numpy=_in_top,
        k="int", T="indextype = DT_INT32")
def InTopK() -> None:
    """Is the target class of each row among its `k` largest predictions (equal ones count as in)?"""


@kernel("predictions: float, targets: T, k: T -> precision: bool", shape=lambda ctx: [ctx.shape(1)], numpy=_in_top,
        T="indextype = DT_INT32")
def InTopKV2() -> None:
    """Is the target class of each row among its `k` largest predictions (equal ones count as in)?"""


def _top_shape(ctx: ShapeContext) -> list[Static]:
    shape, k = ctx.shape(0), ctx.attrs["k"] if len(ctx.op.inputs) == 1 else ctx.value(1)
    if shape is None:
        return [None, None]
    if not shape:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if k is not None and shape[-1] is not None and int(k) > shape[-1]:
        raise ValueError(f"input must have last dimension >= k = {int(k)} but is {shape[-1]}")
    return [(*shape[:-1], None if k is None else int(k))] * 2


def _top(ctx: Any, x: np.ndarray, k: Any = None) -> tuple[np.ndarray, np.ndarray]:
    k = ctx.attrs["k"] if k is None else int(k)
    if x.shape[-1] < k:
        raise errors.InvalidArgumentError(None, ctx.op, f"input must have at least k({k}) columns. Had "
                                                        f"{x.shape[-1]}")
    reverse = np.flip(x, -1)                   # a stable sort of the mirrored row: of equal ones the first comes first
    order = x.shape[-1] - 1 - np.flip(np.argsort(reverse, -1, kind="stable"), -1)[..., :k]
    kind = ctx.attrs["index_type"].as_numpy_dtype if "index_type" in ctx.attrs else np.int32
    return np.take_along_axis(x, order, -1), order.astype(kind)


@kernel("input: T -> values: T, indices: int32", shape=_top_shape, numpy=_top, k="int >= 0", sorted="bool = true",
        T=REAL)
def TopK() -> None:
    """The `k` largest numbers along the last axis, and where they stand (the older op)."""


@kernel("input: T, k: Tk -> values: T, indices: index_type", shape=_top_shape, numpy=_top, values=("k",),
        sorted="bool = true", T=REAL, Tk="{int16, int32, int64} = DT_INT32",
        index_type="{int16, int32, int64} = DT_INT32")
def TopKV2() -> None:
    """The `k` largest numbers along the last axis, the largest first, and where they stand."""


InTopK.no_gradient("a truth value has none")
InTopKV2.no_gradient("a truth value has none")


@TopK.gradient
@TopKV2.gradient
def _(op: Operation, dvalues: Tensor, dindices: Any) -> list[Tensor | None]:
    x, indices = op.inputs[0], op.outputs[1]
    if x.static is None or x.static[-1] is None:
        raise LookupError("the gradient of TopK needs a last axis of known size")
    spread = raw.OneHot(indices, x.static[-1], convert_to_tensor(1, dtype=x.dtype), convert_to_tensor(0, dtype=x.dtype))
    return [reduce_sum(raw.ExpandDims(dvalues, -1) * spread, -2)] + [None] * (len(op.inputs) - 1)


# What users call

relu, relu6, elu, selu, softplus, softsign = Relu, Relu6, Elu, Selu, Softplus, Softsign
l2_loss, bias_add_v1 = L2Loss, BiasAddV1


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`features`, times `alpha` where they are negative."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        x = convert_to_tensor(features, name="features")
        x = cast(x, dtypes.float32) if x.dtype.is_integer else x
        return LeakyRelu(x, alpha=alpha, name=scope)


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """Relu of `features` and of `-features`, one after the other along `axis`."""
    with name_scope(name, "CRelu", [features]) as scope:
        x = convert_to_tensor(features, name="features")
        return Relu(concat([x, Neg(x)], axis, name=scope))


def swish(features: Any, beta: float = 1.0) -> Tensor:
    """`features * sigmoid(beta * features)`."""
    x = convert_to_tensor(features, name="features")
    return x * raw.Sigmoid(convert_to_tensor(beta, dtype=x.dtype, name="beta") * x)


silu = swish


def _over_axis(constructor: Any, logits: Any, axis: int | None, name: str | None) -> Tensor:
    """`constructor`, which works on the last axis, over another: the two change places, and back."""
    x = convert_to_tensor(logits)
    last = axis is None or axis == -1
    if last or (x.static is not None and axis == len(x.static) - 1):
        return constructor(x, name=name)
    if x.static is None:
        raise ValueError(f"the rank of {x.name!r} must be known for axis {axis}")
    count = len(x.static)
    if not -count <= axis < count:
        raise errors.InvalidArgumentError(None, None, f"`axis` must be in the range [{-count}, {count}) where "
                                                      f"{count} is the number of dimensions in the input. Received: "
                                                      f"axis={axis}")
    perm = list(range(count))
    perm[axis], perm[-1] = perm[-1], perm[axis]
    return transpose(constructor(transpose(x, perm)), perm, name=name or "transpose")


def softmax(logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """`exp(logits)` divided by its sum over `axis`, by default the last."""
    return _over_axis(Softmax, logits, renamed("axis", axis, "dim", dim), name)


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """The logarithm of `softmax`, without overflow."""
    return _over_axis(LogSoftmax, logits, renamed("axis", axis, "dim", dim), name)


def _named_arguments(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None:
        raise ValueError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...): earlier "
                         "releases took (logits, labels), later ones (labels, logits)")
    if labels is None or logits is None:
        raise ValueError(f"Both `labels` and `logits` must be provided to {function}.")


def _as_matrix(x: Tensor) -> Tensor:
    """All axes but the last made one."""
    size = Slice(shape(x), [Sub(rank(x), 1)], [1])
    matrix = reshape(x, concat([[-1], size], 0))
    if x.static is not None and None not in x.static[:-1]:
        matrix.set_shape([int(np.prod(x.static[:-1], dtype=np.int64)), x.static[-1]])
    return matrix


def softmax_cross_entropy_with_logits_v2(labels: Any, logits: Any, axis: int | None = None,
                                         name: str | None = None, dim: int | None = None) -> Tensor:
    """The cross-entropy of the distributions `labels` with softmax(`logits`), along `axis` (which is dropped)."""
    axis = renamed("axis", axis, "dim", dim, default=-1)
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        given = convert_to_tensor(logits, name="logits")
        wide = given.dtype in (dtypes.float16, dtypes.bfloat16)
        x = cast(given, dtypes.float32) if wide else given
        y = cast(convert_to_tensor(labels, name="labels"), x.dtype)
        count = rank(x)
        if axis != -1:
            x, y = _axis_last(x, axis, count), _axis_last(y, axis, count)
        sizes = shape(x)
        loss, _ = SoftmaxCrossEntropyWithLogits(_as_matrix(x), _as_matrix(y), name=scope)
        loss = reshape(loss, Slice(sizes, [0], [Sub(count, 1)]))
        if given.static is not None:
            kept = list(given.static)
            del kept[axis]
            loss.set_shape(kept)
        return cast(loss, given.dtype) if wide else loss


def _axis_last(x: Tensor, axis: int, count: Tensor) -> Tensor:
    axis = axis if axis >= 0 or x.static is None else axis + len(x.static)
    return transpose(x, concat([range_(axis), range_(axis + 1, count), [axis]], 0))


def softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, dim: int = -1,
                                      name: str | None = None, axis: int | None = None) -> Tensor:
    """As softmax_cross_entropy_with_logits_v2, with `labels` as constants for gradients.

    labels and logits must be given by name (else ValueError): r0.x and r1.x order them differently.
    """
    dim = dim if axis is None else axis
    _named_arguments("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = stop_gradient(labels, name="labels_stop_gradient")
        return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=dim, name=scope)


def sparse_softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                             name: str | None = None) -> Tensor:
    """The cross-entropy of the classes `labels` with softmax(`logits`) over the last axis.

    labels: int32 or int64, of one axis less. labels and logits must be given by name (else ValueError). Raises
    ValueError where the shapes don't fit. A label outside of the classes gives NaN.
    """
    _named_arguments("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
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


def sigmoid_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                      name: str | None = None) -> Tensor:
    """The cross-entropy of the chances `labels` with sigmoid(`logits`), element by element, without overflow.

    labels and logits must be given by name (else ValueError). Raises ValueError if their shapes differ.
    """
    _named_arguments("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
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
    """As sigmoid_cross_entropy_with_logits, with the positive part of the loss times `pos_weight`."""
    labels = renamed("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        x, y = convert_to_tensor(logits, name="logits"), convert_to_tensor(labels, name="labels")
        _same_shape(x, y)
        weight = 1 + (pos_weight - 1) * y
        return AddV2((1 - y) * x, weight * (Log1p(Exp(-abs(x))) + Relu(-x)), name=scope)


def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False,
                     name: str | None = None) -> Tensor:
    """The Poisson log-likelihood loss of `targets` under rates `exp(log_input)`, element by element.

    compute_full_loss: with Stirling's approximation of the part that does not depend on `log_input`.
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        x, y = convert_to_tensor(log_input, name="log_input"), convert_to_tensor(targets, name="targets")
        result = Exp(x) - x * y
        if compute_full_loss:
            full = y * raw.Log(y) - y + 0.5 * raw.Log(2 * np.pi * y)
            small = raw.LogicalAnd(y >= 0, y <= 1)
            result = result + raw.SelectV2(small, zeros_like(y), full)
        return result


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """`value` plus a bias for each channel: along the last axis, or axis 1 with data_format "NCHW"."""
    layout = "NCHW" if data_format and data_format.startswith("NC") else "NHWC"
    if data_format and not data_format.startswith(("NC", "N")):
        raise ValueError(f"`data_format` must be of the form `N...C` or `NC...`, not {data_format!r}")
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype.base_dtype, name="bias")
        return BiasAdd(value, bias, data_format=layout, name=scope)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """`matmul(x, weights) + biases`."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x, weights = convert_to_tensor(x, name="x"), convert_to_tensor(weights, name="weights")
        return bias_add(matmul(x, weights), convert_to_tensor(biases, name="biases"), name=scope)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """`relu(matmul(x, weights) + biases)`."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        x, weights = convert_to_tensor(x, name="x"), convert_to_tensor(weights, name="weights")
        return Relu(bias_add(matmul(x, weights), convert_to_tensor(biases, name="biases")), name=scope)


def dropout(x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None,
            name: str | None = None, rate: Any = None) -> Tensor:
    """Each element kept with chance `keep_prob` (or 1 - `rate`) and divided by it, else 0.

    noise_shape: axes of size 1 in it are kept or dropped as a whole. Raises ValueError for a chance outside (0, 1],
    for both `keep_prob` and `rate`, or for numbers that are not floats.
    """
    if keep_prob is not None and rate is not None:
        raise ValueError("Only one of `keep_prob` and `rate` can be given.")
    if keep_prob is None and rate is None:
        raise ValueError("`rate` must be provided")
    if rate is None:
        rate = 1 - keep_prob
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError("`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype="
                             f"{x.dtype!r}")
        if isinstance(rate, numbers.Real):
            if not 0 <= rate < 1:
                raise ValueError("`rate` must be a scalar tensor or a float in the range [0, 1). Received: "
                                 f"rate={rate}")
            if rate == 0:
                return x
        rate = convert_to_tensor(rate, dtype=x.dtype.base_dtype, name="rate")
        rate.shape.assert_has_rank(0)
        known = constant_value(rate)
        if known is not None and known == 0:
            return x
        drawn = random_uniform(_noise_shape(x, noise_shape), seed=seed, dtype=x.dtype)
        scale = 1 / (1 - rate)
        kept = drawn >= rate
        result = x * scale * cast(kept, x.dtype)
        result.set_shape(x.shape)
        return result


def _noise_shape(x: Tensor, given: Any) -> Any:
    """The shape to draw: that of `x`, with the sizes that `given` leaves open (None) filled in."""
    if given is None:
        return shape(x)
    if isinstance(given, Tensor) or x.static is None:
        return given
    sizes = [None if n is None else n if isinstance(n, Tensor) else int(n) for n in given]
    if len(sizes) == len(x.static):
        sizes = [m if n is None else n for n, m in zip(sizes, x.static, strict=True)]
    return [-1 if n is None else n for n in sizes] if None in sizes else sizes


def moments(x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: bool | None = None,
            keepdims: bool | None = None) -> tuple[Tensor, Tensor]:
    """The mean and the variance of `x` over `axes`. shift: not used, as in TensorFlow."""
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims, default=False)
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x)
        y = cast(x, dtypes.float32) if x.dtype == dtypes.float16 else x
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        variance = reduce_mean(SquaredDifference(y, stop_gradient(mean)), axes, keepdims=True, name="variance")
        if not keep:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
        if x.dtype == dtypes.float16:
            mean, variance = cast(mean, dtypes.float16), cast(variance, dtypes.float16)
        return mean, variance


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float,
                        name: str | None = None) -> Tensor:
    """`(x - mean) / sqrt(variance + variance_epsilon)`, times `scale` plus `offset` where these are not None."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor = Rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor = factor * scale
        scaled = x * cast(factor, x.dtype)
        shifted = offset - mean * factor if offset is not None else -mean * factor
        return scaled + cast(shifted, x.dtype)


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Is the target class of each row among its `k` largest predictions (equal ones count as in)?"""
    with name_scope(name, "in_top_k"):
        return InTopKV2(predictions, targets, k)


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The `k` largest numbers along the last axis, the largest first, and where they stand."""
    return TopKV2(input, k, sorted=sorted, name=name)
