"""Batch normalization: `tf.layers.BatchNormalization` (Ioffe and Szegedy, 2015), with renormalization (Ioffe, 2017)."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import LAYERS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import colocate_with, control_dependencies, name_scope
from tfnb.layers.base import Layer
from tfnb.layers.choices import either, initializer_of, known
from tfnb.layers.input_spec import InputSpec
from tfnb.ops.array.create import ones_like, zeros_like
from tfnb.ops.array.reshape import identity, reshape, shape, stop_gradient
from tfnb.ops.control.source import constant
from tfnb.ops.math.arithmetic import maximum, minimum
from tfnb.ops.math.casting import cast
from tfnb.ops.math.functions import sqrt
from tfnb.ops.nn.activations import batch_normalization as _normalized
from tfnb.ops.nn.activations import moments, relu
from tfnb.ops.nn.batch_norm import fused_batch_norm
from tfnb.ops.reductions.reduce import reduce_mean
from tfnb.ops.state.assign import assign, assign_sub
from tfnb.variables.initializers import ones_initializer, zeros_initializer
from tfnb.variables.variable import VariableAggregation, VariableSynchronization


class BatchMoments:
    """Batch normalization without the ways in which a layer makes variables: for `tf.layers` and `tf.keras`."""

    add_weight: Any
    add_update: Any
    dtype: str | None

    def _settle(self, axis: Any, momentum: float, epsilon: float, center: bool, scale: bool, beta_initializer: Any,
                gamma_initializer: Any, moving_mean_initializer: Any, moving_variance_initializer: Any,
                beta_regularizer: Any, gamma_regularizer: Any, beta_constraint: Any, gamma_constraint: Any,
                renorm: bool, renorm_clipping: Any, renorm_momentum: float, fused: bool | None,
                virtual_batch_size: int | None, adjustment: Any) -> None:
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis: list[int] = [axis] if isinstance(axis, int) else list(axis)
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = map(initializer_of, (beta_initializer, gamma_initializer))
        self.moving_mean_initializer = initializer_of(moving_mean_initializer)
        self.moving_variance_initializer = initializer_of(moving_variance_initializer)
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint
        self.renorm, self.renorm_momentum = renorm, renorm_momentum
        self.renorm_clipping = renorm_clipping or {}
        unknown = set(self.renorm_clipping) - {"rmax", "rmin", "dmax"}
        if unknown:
            raise ValueError(f"renorm_clipping {renorm_clipping} contains keys not in ['rmax', 'rmin', 'dmax']")
        self.fused, self.virtual_batch_size, self.adjustment = fused, virtual_batch_size, adjustment

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        sizes = TensorShape(input_shape)
        if not sizes.ndims:
            raise ValueError(f"Input has undefined rank: {sizes}")
        self._settle_axes(sizes.ndims)
        known = {axis: sizes.as_list()[axis] for axis in self.axis}
        channels = {axis: size for axis, size in known.items() if size is not None}
        if len(channels) < len(known):
            raise ValueError(f"Input has undefined `axis` dimension. Input shape: {sizes}")
        self.input_spec = InputSpec(ndim=sizes.ndims, axes=known)
        each = list(channels.values())
        if len(each) > 1 or self.virtual_batch_size is not None:
            each = [channels.get(axis, 1) for axis in range(sizes.ndims)]
        if self.virtual_batch_size is not None:
            each.insert(1, 1)
            self.axis = [axis + 1 for axis in self.axis]
        self._make_variables(each)
        self.built = True

    def _settle_axes(self, rank: int) -> None:
        axes = [axis + rank if axis < 0 else axis for axis in self.axis]
        wrong = [axis for axis in axes if not 0 <= axis < rank]
        if wrong or len(set(axes)) != len(axes):
            raise ValueError(f"Invalid axis: {wrong[0]}" if wrong else f"Duplicate axis: {axes}")
        if self.virtual_batch_size is not None:
            if self.virtual_batch_size <= 0 or 0 in axes or self.adjustment is not None:
                raise ValueError("virtual_batch_size must be positive, and excludes adjustment and the axis 0")
        self.axis = axes
        self.fused = (self.fused is not False and rank == 4 and not self.renorm and axes in ([1], [3]) and
                      self.virtual_batch_size is None and self.adjustment is None)

    def _make_variables(self, each: list[int]) -> None:
        kind = "float32" if self.dtype in ("float16", "bfloat16") else self.dtype or "float32"
        self._kind = kind
        self.gamma = self.beta = None
        if self.scale:
            self.gamma = self.add_weight("gamma", each, kind, self.gamma_initializer, self.gamma_regularizer, True,
                                         self.gamma_constraint)
        elif self.fused:
            self._gamma_const = constant(1.0, kind, each)
        if self.center:
            self.beta = self.add_weight("beta", each, kind, self.beta_initializer, self.beta_regularizer, True,
                                        self.beta_constraint)
        elif self.fused:
            self._beta_const = constant(0.0, kind, each)
        with self._uncut():
            self.moving_mean = self._average("moving_mean", each, self.moving_mean_initializer)
            self.moving_variance = self._average("moving_variance", each, self.moving_variance_initializer)
            if self.renorm:
                self._make_renorm_variables(each)

    def _uncut(self) -> Any:
        """Return a context in which variables are not partitioned: averages never are."""
        return nullcontext()

    def _average(self, name: str, each: list[int], start: Any) -> Any:
        return self.add_weight(name, each, self._kind, start, trainable=False,
                               synchronization=VariableSynchronization.ON_READ, aggregation=VariableAggregation.MEAN)

    def _make_renorm_variables(self, each: list[int]) -> None:
        def deviation(*args: Any, **kwargs: Any) -> Any:
            return sqrt(self.moving_variance_initializer(*args, **kwargs))
        with colocate_with(self.moving_variance):
            self.moving_stddev = self._average("moving_stddev", each, deviation)
        with colocate_with(self.moving_mean):
            self.renorm_mean = self._average("renorm_mean", each, self.moving_mean_initializer)
        with colocate_with(self.moving_stddev):
            self.renorm_stddev = self._average("renorm_stddev", each, deviation)

    def _assign_moving_average(self, variable: Any, value: Any, momentum: Any) -> Any:
        with name_scope("AssignMovingAvg") as scope, colocate_with(variable):
            decay = convert_to_tensor(1.0 - momentum, name="decay")
            if decay.dtype != variable.dtype.base_dtype:
                decay = cast(decay, variable.dtype.base_dtype)
            change = (variable - cast(value, variable.dtype.base_dtype)) * decay
            return assign_sub(variable, change, name=scope)

    def _assign_variance(self, variance: Any, momentum: Any) -> Any:
        if not self.renorm:
            return self._assign_moving_average(self.moving_variance, variance, momentum)
        # epsilon is part of the moving deviation, as it is while training
        deviation = self._assign_moving_average(self.moving_stddev, sqrt(variance + self.epsilon), momentum)
        with name_scope("AssignNewValue") as scope, colocate_with(self.moving_variance):
            return assign(self.moving_variance, relu(deviation * deviation - self.epsilon), name=scope)

    def call(self, inputs: Any, training: Any = False) -> Any:
        """training: a bool, or a bool tensor that says it when the graph runs."""
        if self.fused:
            return self._fused(inputs, training)
        if self.virtual_batch_size is None:
            return self._composed(inputs, training)
        sizes = [-1, *inputs.shape.as_list()[1:]]
        parts = reshape(inputs, [self.virtual_batch_size, -1, *sizes[1:]])
        return reshape(self._composed(parts, training), sizes)

    def _fused(self, inputs: Any, training: Any) -> Any:
        beta = self.beta if self.center else self._beta_const
        gamma = self.gamma if self.scale else self._gamma_const
        order = "NCHW" if self.axis == [1] else "NHWC"

        def normalized(**statistics: Any) -> Any:
            return fused_batch_norm(inputs, gamma, beta, epsilon=self.epsilon, data_format=order, **statistics)
        output, mean, variance = either(
            training, normalized,
            lambda: normalized(mean=self.moving_mean, variance=self.moving_variance, is_training=False))
        value = known(training)
        momentum = either(training, lambda: self.momentum, lambda: 1.0) if value is None else \
            convert_to_tensor(self.momentum)
        if value is not False:
            self.add_update(lambda: self._assign_moving_average(self.moving_mean, mean, momentum))
            self.add_update(lambda: self._assign_variance(variance, momentum))
        return output

    def _composed(self, inputs: Any, training: Any) -> Any:
        """By the ops of which batch normalization is made."""
        rank = inputs.shape.ndims
        reduced = [axis for axis in range(rank) if axis not in self.axis]
        if self.virtual_batch_size is not None:
            del reduced[1]

        def wide(value: Any) -> Any:
            if value is None or len(value.shape) == rank or reduced == list(range(rank - 1)):
                return value
            sizes = [1] * rank
            sizes[self.axis[0]] = inputs.shape.as_list()[self.axis[0]]
            return reshape(value, sizes)
        scale, offset = wide(self.gamma), wide(self.beta)
        if known(training) is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            if self.adjustment:
                own_scale, own_bias = self.adjustment(shape(inputs))
                own_scale = either(training, lambda: own_scale, lambda: ones_like(own_scale))
                own_bias = either(training, lambda: own_bias, lambda: zeros_like(own_bias))
                scale, offset = _composition(own_scale, own_bias, scale, offset)
            mean, variance, scale, offset = self._trained(inputs, training, reduced, scale, offset, wide)
        mean, variance = cast(mean, inputs.dtype), cast(variance, inputs.dtype)
        offset = None if offset is None else cast(offset, inputs.dtype)
        scale = None if scale is None else cast(scale, inputs.dtype)
        made = _normalized(inputs, wide(mean), wide(variance), offset, scale, self.epsilon)
        made.set_shape(inputs.shape)
        return made

    def _trained(self, inputs: Any, training: Any, reduced: list[int], scale: Any, offset: Any, wide: Any) -> Any:
        """(mean, variance, scale, offset) of a batch, with the updates of the averages added."""
        keep = self.virtual_batch_size is not None or len(self.axis) > 1
        batch_mean, batch_variance = moments(cast(inputs, self._kind), reduced, keepdims=keep)
        mean = either(training, lambda: batch_mean, lambda: convert_to_tensor(self.moving_mean))
        variance = either(training, lambda: batch_variance, lambda: convert_to_tensor(self.moving_variance))
        new_mean, new_variance = mean, variance
        if self.virtual_batch_size is not None:
            new_mean, new_variance = reduce_mean(mean, 1, keepdims=True), reduce_mean(variance, 1, keepdims=True)
        if self.renorm:
            r, d, new_mean, new_variance = self._corrections(new_mean, new_variance, training)
            r, d = wide(stop_gradient(r, name="renorm_r")), wide(stop_gradient(d, name="renorm_d"))
            scale, offset = _composition(r, d, scale, offset)
        self.add_update(lambda: either(training, lambda: self._assign_moving_average(
            self.moving_mean, new_mean, self.momentum), lambda: self.moving_mean))
        self.add_update(lambda: either(training, lambda: self._assign_variance(new_variance, self.momentum),
                                       lambda: self.moving_variance))
        return mean, variance, scale, offset

    def _corrections(self, mean: Any, variance: Any, training: Any) -> Any:
        """(r, d, mean, variance) of batch renormalization: the values after the updates of its averages."""
        deviation = sqrt(variance + self.epsilon)
        average = maximum(self.renorm_stddev, sqrt(constant(self.epsilon, dtypes.float32)))
        r, d = deviation / average, (mean - self.renorm_mean) / average
        with control_dependencies([r, d]):                  # they see the averages before their updates
            mean, deviation = identity(mean), identity(deviation)
        smallest, largest, furthest = (self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        r = r if smallest is None else maximum(r, smallest)
        r = r if largest is None else minimum(r, largest)
        d = d if furthest is None else minimum(maximum(d, -furthest), furthest)
        r, d = either(training, lambda: r, lambda: ones_like(r)), either(training, lambda: d, lambda: zeros_like(d))

        def updated(variable: Any, value: Any) -> Any:
            value = identity(value)
            return either(training, lambda: self._assign_moving_average(variable, value, self.renorm_momentum),
                          lambda: identity(variable))
        updates = [updated(self.renorm_mean, mean), updated(self.renorm_stddev, deviation)]
        with control_dependencies(updates):
            return r, d, identity(mean), identity(variance)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The same."""
        return TensorShape(input_shape)


class BatchNormalization(BatchMoments, Layer):
    """Normalizes each channel by mean and variance: of the batch while training, else by their moving averages.

    Variables: gamma (with `scale`), beta (with `center`), moving_mean, moving_variance. The updates of the averages go
    to UPDATE_OPS, and must be run with each training step. axis: of the channels, or a list. momentum: how much of the
    averages stays at each update. renorm: with renorm_clipping (rmax, rmin, dmax) and renorm_momentum, correct towards
    the averages while training too. fused: one op does it, which takes images (rank 4, one axis that is 1 or 3); None:
    if it can. virtual_batch_size: normalize parts of this size of the batch on their own. adjustment: function of the
    input's shape -> (scale, bias) for the normalized values while training.

    Raises ValueError for an axis that is not there or of unknown size, and for options that exclude each other.

    >>> x = tf.constant([[1.0, 10.0], [3.0, 30.0]])
    >>> y = tf.layers.batch_normalization(x, training=True)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([[-0.9995, -1.    ],
           [ 0.9995,  1.    ]], dtype=float32)
    >>> len(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    2
    """

    def __init__(self, axis: Any = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True,
                 scale: bool = True, beta_initializer: Any = zeros_initializer(),                # noqa: B008
                 gamma_initializer: Any = ones_initializer(),                                    # noqa: B008
                 moving_mean_initializer: Any = zeros_initializer(),                             # noqa: B008
                 moving_variance_initializer: Any = ones_initializer(),                          # noqa: B008
                 beta_regularizer: Any = None, gamma_regularizer: Any = None, beta_constraint: Any = None,
                 gamma_constraint: Any = None, renorm: bool = False, renorm_clipping: Any = None,
                 renorm_momentum: float = 0.99, fused: bool | None = None, trainable: bool = True,
                 virtual_batch_size: int | None = None, adjustment: Any = None, name: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(trainable, name, **kwargs)
        self._settle(axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer,
                     moving_mean_initializer, moving_variance_initializer, beta_regularizer, gamma_regularizer,
                     beta_constraint, gamma_constraint, renorm, renorm_clipping, renorm_momentum, fused,
                     virtual_batch_size, adjustment)

    @contextmanager
    def _uncut(self) -> Iterator[None]:
        assert self._scope is not None
        partitioner, self._scope.partitioner = self._scope.partitioner, None
        try:
            yield
        finally:
            self._scope.partitioner = partitioner



def _composition(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> tuple[Any, Any]:
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    return scale, offset if then_offset is None else offset + then_offset


def batch_normalization(inputs: Any, axis: Any = -1, momentum: float = 0.99, epsilon: float = 1e-3,
                        center: bool = True, scale: bool = True,
                        beta_initializer: Any = zeros_initializer(),                            # noqa: B008
                        gamma_initializer: Any = ones_initializer(),                            # noqa: B008
                        moving_mean_initializer: Any = zeros_initializer(),                     # noqa: B008
                        moving_variance_initializer: Any = ones_initializer(),                  # noqa: B008
                        beta_regularizer: Any = None, gamma_regularizer: Any = None, beta_constraint: Any = None,
                        gamma_constraint: Any = None, training: Any = False, trainable: bool = True, name: Any = None,
                        reuse: Any = None, renorm: bool = False, renorm_clipping: Any = None,
                        renorm_momentum: float = 0.99, fused: bool | None = None,
                        virtual_batch_size: int | None = None, adjustment: Any = None) -> Any:
    """A layer `BatchNormalization`, called. While training, the ops in UPDATE_OPS must be run with each step.

    >>> y = tf.layers.batch_normalization(tf.constant([[1.0, 10.0], [3.0, 30.0]]), training=True)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([[-0.9995, -1.    ],
           [ 0.9995,  1.    ]], dtype=float32)
    """
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer,
        moving_variance_initializer, beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint, renorm,
        renorm_clipping, renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name, _scope=name,
        _reuse=reuse)
    return layer(inputs, training=training)


describe(globals(), LAYERS)
