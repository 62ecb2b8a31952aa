"""Neural-network ops: activations, biases, dropout, normalization."""
from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.opdef.ranks import AtLeast
from tfnb.ops.array.create import zeros_like
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import shape, squeeze, stop_gradient
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import elementwise, reduction
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import functions
from tfnb.ops.declaration.raw import raw
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.math.arithmetic import Neg, SquaredDifference, abs
from tfnb.ops.math.casting import cast
from tfnb.ops.math.functions import Rsqrt
from tfnb.ops.random.random_ops import random_uniform
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import reduce_mean

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
    """Compute the rectified linear unit `max(features, 0)`, element-wise.

    >>> sess.run(tf.nn.relu([-1.0, 0.0, 2.0]))
    array([0., 0., 2.], dtype=float32)
    """
    return maximum(features, 0)


@elementwise(GRADIENT, T=REAL)
def ReluGrad(gradients, features):
    """Compute the gradient of Relu, from its input or its output."""
    return where(features > 0, gradients, 0)


@Relu.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return ReluGrad(dy, op.outputs[0])


@ReluGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return [ReluGrad(dz, op.inputs[1]), zeros_like(op.inputs[1])]


@elementwise("features: T -> activations: T", T=REAL)
def Relu6(features):
    """Compute the rectified linear unit clipped at 6, `min(max(features, 0), 6)`, element-wise.

    >>> sess.run(tf.nn.relu6([-1.0, 3.0, 8.0]))
    array([0., 3., 6.], dtype=float32)
    """
    return minimum(maximum(features, 0), 6)


@elementwise(GRADIENT, T=REAL)
def Relu6Grad(gradients, features):
    """Compute the gradient of Relu6, from its input or its output."""
    return where((features > 0) & (features < 6), gradients, 0)


@Relu6.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return Relu6Grad(dy, op.outputs[0])


@Relu6Grad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return [Relu6Grad(dz, op.inputs[1]), zeros_like(op.inputs[1])]


@elementwise("features: T -> activations: T", alpha=NEGATIVE_SLOPE, T="floattype = DT_FLOAT")
def LeakyRelu(features, *, alpha):
    """Compute the leaky rectified linear unit: `features`, times `alpha` where negative, element-wise."""
    return where(features > 0, features, alpha * features)


@elementwise(GRADIENT, alpha=NEGATIVE_SLOPE, T="floattype = DT_FLOAT")
def LeakyReluGrad(gradients, features, *, alpha):
    """Compute the gradient of LeakyRelu, from its input."""
    return where(features > 0, gradients, alpha * gradients)


@LeakyRelu.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return LeakyReluGrad(dy, op.inputs[0], alpha=op.attrs["alpha"])


@LeakyReluGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return [LeakyReluGrad(dz, op.inputs[1], alpha=op.attrs["alpha"]), zeros_like(op.inputs[1])]


@elementwise("features: T -> activations: T", T=FLOAT)
def Elu(features):
    """Compute the exponential linear unit: `features`, and `exp(features) - 1` where negative, element-wise.

    >>> sess.run(tf.nn.elu([-1.0, 0.0, 2.0]))
    array([-0.6321,  0.    ,  2.    ], dtype=float32)
    """
    return where(features < 0, expm1(minimum(features, 0)), features)


@elementwise("gradients: T, outputs: T -> backprops: T", T=FLOAT)
def EluGrad(gradients, outputs):
    """Compute the gradient of Elu, from its output."""
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
    """Compute the scaled exponential linear unit of `features`, element-wise.

    >>> sess.run(tf.nn.selu([-1.0, 0.0, 2.0]))
    array([-1.1113,  0.    ,  2.1014], dtype=float32)
    """
    return where(features < 0, 1.7580993408473766 * expm1(minimum(features, 0)), 1.0507009873554805 * features)


@elementwise("gradients: T, outputs: T -> backprops: T", T=FLOAT)
def SeluGrad(gradients, outputs):
    """Compute the gradient of Selu, from its output."""
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
    """Compute `log(1 + exp(features))` element-wise, without overflow.

    >>> sess.run(tf.nn.softplus([-1.0, 0.0, 10.0]))
    array([ 0.3133,  0.6931, 10.    ], dtype=float32)
    """
    return maximum(features, 0) + log1p(exp(-abs(features)))


@elementwise(GRADIENT, T=FLOAT)
def SoftplusGrad(gradients, features):
    """Compute the gradient of Softplus, from its input."""
    return gradients * sigmoid(features)


@Softplus.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy * raw.Sigmoid(op.inputs[0])


@SoftplusGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    dy, x = op.inputs
    curve = raw.Sigmoid(x)
    return [SoftplusGrad(dz, x), dz * dy * curve * (1.0 - curve)]


@elementwise("features: T -> activations: T", T=FLOAT)
def Softsign(features):
    """Compute `features / (1 + abs(features))`, element-wise.

    >>> sess.run(tf.nn.softsign([-1.0, 0.0, 3.0]))
    array([-0.5 ,  0.  ,  0.75], dtype=float32)
    """
    return features / (1 + abs(features))


@elementwise(GRADIENT, T=FLOAT)
def SoftsignGrad(gradients, features):
    """Compute the gradient of Softsign, from its input."""
    return gradients / square(1 + abs(features))


@Softsign.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return SoftsignGrad(dy, op.inputs[0])


@SoftsignGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    dy, x = op.inputs
    size = 1.0 + raw.Abs(x)
    return [SoftsignGrad(dz, x), -2.0 * dz * dy * raw.Sign(x) / (size * size * size)]


# Biases and losses

def _bias_shape(ctx: ShapeContext) -> list[Static]:
    value, bias = ctx.shape(0), ctx.shape(1)
    of_rank(bias, 1)
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
    """Align the bias with the channels: the last axis, or axis 1 in NCHW."""
    return [value, bias + (1,) * (len(value) - 1 - _channel(attrs, len(value)))]


@elementwise("value: T, bias: T -> output: T", shape=_bias_shape, align=_aligned, T="numbertype",
             data_format="{'NHWC', 'NCHW'} = 'NHWC'")
def BiasAdd(value, bias):
    """Add a bias for each channel to `value`."""
    return value + bias


@elementwise("value: T, bias: T -> output: T", shape=lambda ctx: [ctx.shape(0)], T="numbertype")
def BiasAddV1(value, bias):
    """Add a bias along the last axis to `value` (the older op)."""
    return value + bias


@reduction("out_backprop: T -> output: T", identity=0, ranks={"out_backprop": AtLeast(2)}, T="numbertype",
           data_format="{'NHWC', 'NCHW'} = 'NHWC'",
           axes=lambda attrs, rank: [i for i in range(rank) if i != _channel(attrs, rank)])
def BiasAddGrad(acc, x):
    """Compute the gradient of the bias: the sum over all axes but that of the channels."""
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


@reduction("t: T -> output: T", identity=0, shape=shapes.scalar, axes=lambda attrs, rank: list(range(rank)), T=FLOAT)
def L2Loss(acc, x):
    """Compute half the sum of the squares.

    >>> sess.run(tf.nn.l2_loss([3.0, 4.0]))
    12.5
    """
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


# What users call

relu, relu6, elu, selu, l2_loss = functions(Relu, Relu6, Elu, Selu, L2Loss, module="tfnb.nn")
softplus, softsign = functions(Softplus, Softsign, module="tfnb.nn")


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """Compute the leaky rectified linear unit: `features`, times `alpha` where they are negative.

    >>> sess.run(tf.nn.leaky_relu([-1.0, 0.0, 2.0], alpha=0.2))
    array([-0.2,  0. ,  2. ], dtype=float32)
    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        x = convert_to_tensor(features, name="features")
        x = cast(x, dtypes.float32) if x.dtype.is_integer else x
        return LeakyRelu(x, alpha=alpha, name=scope)


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """Concatenate Relu of `features` and of `-features` along `axis`.

    >>> sess.run(tf.nn.crelu([-1.0, 2.0]))
    array([0., 2., 1., 0.], dtype=float32)
    """
    with name_scope(name, "CRelu", [features]) as scope:
        x = convert_to_tensor(features, name="features")
        return Relu(concat([x, Neg(x)], axis, name=scope))


def swish(features: Any, beta: float = 1.0) -> Tensor:
    """Compute `features * sigmoid(beta * features)`, element-wise.

    >>> sess.run(tf.nn.swish([-1.0, 0.0, 2.0]))
    array([-0.2689,  0.    ,  1.7616], dtype=float32)
    """
    x = convert_to_tensor(features, name="features")
    return x * raw.Sigmoid(convert_to_tensor(beta, dtype=x.dtype, name="beta") * x)


silu = swish


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Add a bias for each channel: along the last axis, or axis 1 with data_format "NCHW".

    bias: a vector of as many numbers as there are channels, of the dtype of `value`. Raises ValueError for another size
    or data_format.

    >>> sess.run(tf.nn.bias_add([[1, 2], [3, 4]], [10, 20]))
    array([[11, 22],
           [13, 24]], dtype=int32)
    """
    layout = "NCHW" if data_format and data_format.startswith("NC") else "NHWC"
    if data_format and not data_format.startswith(("NC", "N")):
        raise ValueError(f"`data_format` must be of the form `N...C` or `NC...`, not {data_format!r}")
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype.base_dtype, name="bias")
        return BiasAdd(value, bias, data_format=layout, name=scope)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """Compute `matmul(x, weights) + biases`: (batch, in), (in, out) and (out) give (batch, out). Errors as of these.

    >>> sess.run(tf.nn.xw_plus_b([[1.0, 2.0]], [[1.0], [10.0]], [0.5]))
    array([[21.5]], dtype=float32)
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x, weights = convert_to_tensor(x, name="x"), convert_to_tensor(weights, name="weights")
        return bias_add(matmul(x, weights), convert_to_tensor(biases, name="biases"), name=scope)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """Compute `relu(matmul(x, weights) + biases)`.

    >>> sess.run(tf.nn.relu_layer([[1.0, 2.0]], [[1.0, -1.0], [10.0, 0.0]], [0.5, 0.0]))
    array([[21.5,  0. ]], dtype=float32)
    """
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        x, weights = convert_to_tensor(x, name="x"), convert_to_tensor(weights, name="weights")
        return Relu(bias_add(matmul(x, weights), convert_to_tensor(biases, name="biases")), name=scope)


@dispatched
def dropout(x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None,
            name: str | None = None, rate: Any = None) -> Tensor:
    """Set elements to 0 with probability `rate` (1 - `keep_prob`) and scale the rest by 1 / (1 - rate).

    noise_shape: axes of size 1 in it are kept or dropped as a whole. Raises ValueError for a probability outside of
    (0, 1], for both `keep_prob` and `rate`, or for elements that are not floats.

    >>> x = sess.run(tf.nn.dropout(tf.ones([1000]), rate=0.2))
    >>> np.unique(x)
    array([0.  , 1.25], dtype=float32)
    """
    if keep_prob is not None and rate is not None:
        raise ValueError("Only one of `keep_prob` and `rate` can be given.")
    if keep_prob is None and rate is None:
        raise ValueError("`rate` must be provided")
    if rate is None:
        try:
            rate = 1 - keep_prob
        except TypeError:
            raise ValueError("`keep_prob` must be a floating point number or Tensor. Received: "
                             f"keep_prob={keep_prob}") from None
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError("`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype="
                             f"{x.dtype!r}")
        if isinstance(rate, numbers.Real):
            if not 0 <= float(rate) < 1:
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
    """Return the shape to draw: that of `x`, with the sizes that `given` leaves open (None) filled in."""
    if given is None:
        return shape(x)
    if isinstance(given, Tensor) or x.static is None:
        return given
    given = given.as_list() if isinstance(given, TensorShape) else given
    sizes = [None if n is None else n if isinstance(n, Tensor) else int(n) for n in given]
    if len(sizes) == len(x.static):
        sizes = [m if n is None else n for n, m in zip(sizes, x.static, strict=True)]
    whole: Any = shape(x) if None in sizes else None
    return [whole[i] if n is None else n for i, n in enumerate(sizes)]


def moments(x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: bool | None = None,
            keepdims: bool | None = None) -> tuple[Tensor, Tensor]:
    """Compute the mean and the variance of `x` over `axes`. shift: not used, as in TensorFlow.

    Both have the dtype of `x`, and its shape without those axes, or with size 1 there if `keep_dims` says so.

    >>> mean, variance = tf.nn.moments(tf.constant([[1.0, 10.0], [3.0, 30.0]]), axes=[0])
    >>> sess.run([mean, variance])
    [array([ 2., 20.], dtype=float32), array([  1., 100.], dtype=float32)]
    """
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


def batch_norm_with_global_normalization(
        t: Any = None, m: Any = None, v: Any = None, beta: Any = None, gamma: Any = None, variance_epsilon: Any = None,
        scale_after_normalization: bool | None = None, name: str | None = None, input: Any = None, mean: Any = None,
        variance: Any = None) -> Tensor:
    """The older form of `batch_normalization`; gamma counts only if `scale_after_normalization`.

    input, mean, variance: other names of t, m, v. Raises ValueError if both are given.

    >>> x = tf.reshape([1.0, 3.0], [2, 1, 1, 1])
    >>> y = tf.nn.batch_norm_with_global_normalization(
    ...     x, tf.constant([2.0]), tf.constant([1.0]), tf.constant([0.5]), tf.constant([10.0]), 0.0, True)
    >>> sess.run(tf.squeeze(y))
    array([-9.5, 10.5], dtype=float32)
    """
    x, mean = renamed("input", input, "t", t), renamed("mean", mean, "m", m)
    return batch_normalization(x, mean, renamed("variance", variance, "v", v), beta,
                               gamma if scale_after_normalization else None, variance_epsilon, name)


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float,
                        name: str | None = None) -> Tensor:
    """Compute `(x - mean) / sqrt(variance + variance_epsilon)`, times `scale` plus `offset` unless None.

    >>> x = tf.constant([[1.0], [3.0]])
    >>> mean, variance = tf.nn.moments(x, [0])
    >>> sess.run(tf.nn.batch_normalization(x, mean, variance, offset=0.0, scale=2.0, variance_epsilon=0.0))
    array([[-2.],
           [ 2.]], dtype=float32)
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor = Rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor = factor * scale
        scaled = x * cast(factor, x.dtype)
        shifted = offset - mean * factor if offset is not None else -mean * factor
        return scaled + cast(shifted, x.dtype)


describe(globals(), TENSORS)
