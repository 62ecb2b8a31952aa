"""Normalizing flows: masked autoregressive (Papamakarios et al., 2017), real NVP (Dinh et al., 2017), normalization."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.control_flow.while_loop import while_loop
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.bijectors.bijector import Bijector
from tfnb.graph.stack import name_scope
from tfnb.layers.core import dense
from tfnb.layers.normalization import BatchNormalization as _BatchNormalization
from tfnb.ops.array.joining import concat, unstack
from tfnb.ops.array.reshape import reshape
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.array.slicing import split
from tfnb.ops.declaration.raw import raw
from tfnb.ops.nn.activations import moments, relu
from tfnb.ops.reductions.clip import clip_by_value
from tfnb.variables.initializers import glorot_uniform_initializer
from tfnb.variables.template import make_template

_OfLayers = Callable[..., Any]


def _depth(x: Any) -> int:
    depth = x.shape.as_list()[-1] if x.shape.ndims else None
    if depth is None:
        raise ValueError("expected vectors whose size, the last axis, is known when the graph is built")
    return int(depth)


class MaskedAutoregressiveFlow(Bijector):
    """Autoregressive flow: y[i] = x[i] * exp(log_scale[i]) + shift[i], where these depend on y[:i].

    The inverse, and so the log-probability of data, is one call of the network; forward, and so sampling, is one for
    each element.

    shift_and_log_scale_fn: fn(y) -> (shift, log_scale) of the shape of y, log_scale possibly None; element i may depend
    on y[:i] alone, as `masked_autoregressive_default_template` makes it. is_constant_jacobian: whether log_scale is
    None or constant; unroll_loop: True writes the loop of forward out.

    >>> tfd, tfb = tf.contrib.distributions, tf.contrib.distributions.bijectors
    >>> flow = tfd.TransformedDistribution(
    ...     tfd.MultivariateNormalDiag(tf.zeros([2])),
    ...     tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template(hidden_layers=[8])))
    >>> flow.log_prob(flow.sample(5)).shape.as_list()
    [5]
    """

    def __init__(self, shift_and_log_scale_fn: _OfLayers, is_constant_jacobian: bool = False,
                 validate_args: bool = False, unroll_loop: bool = False, name: str | None = None) -> None:
        self._fn, self._unroll = shift_and_log_scale_fn, unroll_loop
        super().__init__(None, is_constant_jacobian, validate_args, forward_min_event_ndims=1,
                         name=name or "masked_autoregressive_flow")

    def _step(self, x: Any, y: Any) -> Any:
        shift, log_scale = self._fn(y)
        y = x if log_scale is None else x * raw.Exp(log_scale)
        return y if shift is None else y + shift

    def _forward(self, x: Any) -> Any:
        size, y = _depth(x), self._step(x, raw.ZerosLike(x))
        if self._unroll:
            for _ in range(size - 1):
                y = self._step(x, y)
            return y
        return while_loop(lambda i, y: i < size, lambda i, y: (i + 1, self._step(x, y)), [1, y])[1]

    def _inverse(self, y: Any) -> Any:
        shift, log_scale = self._fn(y)
        x = y if shift is None else y - shift
        return x if log_scale is None else x * raw.Exp(-log_scale)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        log_scale = self._fn(y)[1]
        return 0.0 if log_scale is None else -raw.Sum(log_scale, [-1])


def _mask(blocks: int, rows: int, columns: int, exclusive: bool) -> np.ndarray:
    """Return ones (rows, columns) where an input's block is before an output's block, or the same unless exclusive."""
    of_row, of_column = (np.minimum(np.arange(n) // (n // blocks), blocks - 1) for n in (rows, columns))
    later = of_row[:, None] < of_column[None, :] if exclusive else of_row[:, None] <= of_column[None, :]
    return later.astype(np.float32)


def masked_dense(inputs: Any, units: int, num_blocks: int | None = None, exclusive: bool = False,
                 kernel_initializer: Any = None, reuse: bool | None = None, name: str | None = None,
                 activation: Any = None) -> Any:
    """Return a dense layer whose outputs of block i depend on the inputs of the blocks up to i.

    inputs: (..., depth), of which the last axis is known; units: of the output; num_blocks: into which both are cut;
    exclusive: whether outputs of block i depend on those before i alone; kernel_initializer: of the kernel, which is
    zero outside of the mask; activation: function of the output. reuse: whether to share the variables of that name.

    >>> tf.contrib.distributions.bijectors.masked_dense(tf.ones([3, 2]), units=8, num_blocks=2).shape.as_list()
    [3, 8]
    """
    depth = _depth(inputs)
    mask = _mask(num_blocks or depth, depth, units, exclusive)
    initial = kernel_initializer or glorot_uniform_initializer()
    return dense(inputs, units, activation, kernel_constraint=lambda kernel: kernel * mask, name=name, reuse=reuse,
                 kernel_initializer=lambda shape, dtype=None, partition_info=None: mask * initial(shape, dtype))


def masked_autoregressive_default_template(hidden_layers: Sequence[int], shift_only: bool = False,
                                           activation: Any = relu, log_scale_min_clip: float = -5.0,
                                           log_scale_max_clip: float = 3.0, log_scale_clip_gradient: bool = False,
                                           name: str | None = None) -> Any:
    """Return fn(x) -> (shift, log_scale) of masked dense layers, for `MaskedAutoregressiveFlow` (Germain et al., 2015).

    hidden_layers: units of the hidden layers; shift_only: True makes log_scale None; activation: of the hidden layers;
    log_scale_min_clip, log_scale_max_clip: bounds of log_scale; log_scale_clip_gradient: whether its gradient is zero
    outside of them.

    >>> fn = tf.contrib.distributions.bijectors.masked_autoregressive_default_template([16])
    >>> shift, log_scale = fn(tf.ones([5, 3]))
    >>> shift.shape.as_list()
    [5, 3]
    """
    with name_scope(name, "masked_autoregressive_default_template"):
        def network(x: Any) -> tuple[Any, Any]:
            """Return shift and log_scale of vectors."""
            depth, given = _depth(x), shape_of(x)
            x = x if x.shape.ndims != 1 else x[None, :]
            for i, units in enumerate(hidden_layers):
                x = masked_dense(x, units, depth, exclusive=i == 0, activation=activation)
            x = masked_dense(x, (1 if shift_only else 2) * depth, depth, exclusive=not hidden_layers)
            if shift_only:
                return reshape(x, given), None
            shift, log_scale = unstack(reshape(x, concat([given, [2]], 0)), num=2, axis=-1)
            clipped = clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
            if not log_scale_clip_gradient:
                clipped = log_scale + raw.StopGradient(clipped - log_scale)
            return shift, clipped
        return make_template("masked_autoregressive_default_template", network)


class RealNVP(Bijector):
    """Real-valued non-volume preserving flow: the first elements stay, and scale and shift the others.

    num_masked: how many stay; shift_and_log_scale_fn: fn(first elements, how many others) -> (shift, log_scale), as
    `real_nvp_default_template` makes it; is_constant_jacobian: whether log_scale is None or constant.

    >>> tfb = tf.contrib.distributions.bijectors
    >>> b = tfb.RealNVP(num_masked=2, shift_and_log_scale_fn=tfb.real_nvp_default_template([8]))
    >>> b.forward(tf.ones([5, 3])).shape.as_list()
    [5, 3]
    """

    def __init__(self, num_masked: int, shift_and_log_scale_fn: _OfLayers, is_constant_jacobian: bool = False,
                 validate_args: bool = False, name: str | None = None) -> None:
        if num_masked <= 0:
            raise ValueError(f"num_masked must be a positive integer, got {num_masked}")
        self._masked, self._fn = num_masked, shift_and_log_scale_fn
        super().__init__(None, is_constant_jacobian, validate_args, forward_min_event_ndims=1,
                         name=name or "real_nvp")

    def _parts(self, x: Any) -> Any:
        depth = _depth(x)
        if self._masked >= depth:
            raise ValueError(f"num_masked must be smaller than the event size {depth}, got {self._masked}")
        first = x[..., :self._masked]
        return first, x[..., self._masked:], *self._fn(first, depth - self._masked)

    def _forward(self, x: Any) -> Any:
        first, rest, shift, log_scale = self._parts(x)
        rest = rest if log_scale is None else rest * raw.Exp(log_scale)
        return concat([first, rest if shift is None else rest + shift], -1)

    def _inverse(self, y: Any) -> Any:
        first, rest, shift, log_scale = self._parts(y)
        rest = rest if shift is None else rest - shift
        return concat([first, rest if log_scale is None else rest * raw.Exp(-log_scale)], -1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        log_scale = self._parts(x)[3]
        return 0.0 if log_scale is None else raw.Sum(log_scale, [-1])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -self._forward_log_det_jacobian(y)


def real_nvp_default_template(hidden_layers: Sequence[int], shift_only: bool = False, activation: Any = relu,
                              name: str | None = None) -> Any:
    """Return fn(x, output_units) -> (shift, log_scale) of dense layers, for `RealNVP`.

    hidden_layers: units of the hidden layers; shift_only: True makes log_scale None; activation: of the hidden layers.

    >>> fn = tf.contrib.distributions.bijectors.real_nvp_default_template([16])
    >>> fn(tf.ones([5, 2]), 3)[0].shape.as_list()
    [5, 3]
    """
    with name_scope(name, "real_nvp_default_template"):
        def network(x: Any, output_units: int) -> tuple[Any, Any]:
            """Return shift and log_scale of `output_units` elements."""
            for units in hidden_layers:
                x = dense(x, units, activation)
            x = dense(x, (1 if shift_only else 2) * output_units)
            return (x, None) if shift_only else tuple(split(x, 2, axis=-1))        # type: ignore[return-value]
        return make_template("real_nvp_default_template", network)


class BatchNormalization(Bijector):
    """Batch normalization as a bijector: its inverse normalizes data, forward gives samples the mean and variance back.

    The log-probability of data uses mean and variance of the batch while training; forward always uses the moving
    averages, whose updates go to UPDATE_OPS.

    batchnorm_layer: a tf.layers.BatchNormalization, without renorm and virtual_batch_size (else ValueError), by default
    one whose gamma stays positive; training: whether the inverse uses mean and variance of the batch.

    >>> b = tf.contrib.distributions.bijectors.BatchNormalization()
    >>> x = b.inverse(tf.constant([[1.0], [3.0]]))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(x)
    array([[-0.9995],
           [ 0.9995]], dtype=float32)
    """

    def __init__(self, batchnorm_layer: Any = None, training: bool = True, validate_args: bool = False,
                 name: str = "batch_normalization") -> None:
        layer = batchnorm_layer or _BatchNormalization(gamma_constraint=lambda gamma: relu(gamma) + 1e-6)
        if not isinstance(layer, _BatchNormalization):
            raise ValueError(f"batchnorm_layer must be an instance of BatchNormalization layer, got {type(layer)}")
        if layer.renorm or layer.virtual_batch_size:
            raise ValueError("BatchNormalization Bijector does not support renormalization and virtual batch sizes")
        self.batchnorm, self._training = layer, training
        super().__init__(forward_min_event_ndims=max([1, *(-axis for axis in layer.axis if axis < 0)]),
                         validate_args=validate_args, name=name)

    def _built(self, x: Any) -> Any:
        if not self.batchnorm.built:
            self.batchnorm.build(x.shape)
        return self.batchnorm

    def _broadcast(self, x: Any, variable: Any) -> Any:
        """Return a variable of the layer, of a shape that broadcasts with x."""
        if len(self.batchnorm.axis) > 1 or self.batchnorm.axis[0] in (-1, x.shape.ndims - 1):
            return variable
        return reshape(variable, [-1 if i == self.batchnorm.axis[0] else 1 for i in range(x.shape.ndims)])

    def _forward(self, x: Any) -> Any:
        layer = self._built(x)
        if layer.center:
            x = x - self._broadcast(x, layer.beta)
        if layer.scale:
            x = x / self._broadcast(x, layer.gamma)
        spread = raw.Sqrt(self._broadcast(x, layer.moving_variance) + layer.epsilon)
        return x * spread + self._broadcast(x, layer.moving_mean)

    def _inverse(self, y: Any) -> Any:
        self._built(y)
        return self.batchnorm.apply(y, training=self._training)

    def _log_scale(self, x: Any, variance: Any) -> Any:
        """Return the logarithm of the determinant of x -> normalized x."""
        layer: Any = self.batchnorm
        found = -0.5 * raw.Sum(raw.Log(variance + layer.epsilon), np.arange(variance.shape.ndims, dtype=np.int32))
        if layer.scale:
            found = found + raw.Sum(raw.Log(layer.gamma), np.arange(layer.gamma.shape.ndims, dtype=np.int32))
        return found + raw.ZerosLike(raw.Sum(x, np.arange(-self._forward_ndims, 0, dtype=np.int32)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -self._log_scale(x, self._built(x).moving_variance)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        layer = self._built(y)
        if not self._training:
            return self._log_scale(y, layer.moving_variance)
        axes = {axis % y.shape.ndims for axis in layer.axis}
        return self._log_scale(y, moments(y, [i for i in range(y.shape.ndims) if i not in axes])[1])


describe(globals(), DISTRIBUTIONS)
