"""Normalization of Keras: by the moments of the batch, or of each example."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.keras.backend import ops
from tfnb.keras.backend.phase import learning_phase
from tfnb.keras.layers.core import Same
from tfnb.keras.layers.described import shape_list
from tfnb.layers.normalization import BatchMoments


class BatchNormalization(BatchMoments, Same):
    """Normalizes each channel by mean and variance: of the batch while training, else by their moving averages.

    Variables: gamma (with scale), beta (with center), moving_mean, moving_variance; `updates` has the ops that update
    the averages, which `fit` runs. axis: of the channels, or a list. momentum: the share of the averages that stays at
    each update. renorm: with renorm_clipping and renorm_momentum, correct towards the averages while training too.
    fused: whether one op does it; None: if it can. virtual_batch_size: normalize parts of this size of the batch on
    their own. adjustment: function of the input's shape -> (scale, bias) for the normalized values while training.

    >>> y = tf.keras.layers.BatchNormalization()(tf.constant([[1.0, 10.0], [3.0, 30.0]]), training=True)
    >>> tf.keras.backend.eval(y)
    array([[-0.9995, -1.    ],
           [ 0.9995,  1.    ]], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = (
        "momentum", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer", "moving_mean_initializer",
        "moving_variance_initializer", "beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint")

    def __init__(self, axis: Any = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True,
                 scale: bool = True, beta_initializer: Any = "zeros", gamma_initializer: Any = "ones",
                 moving_mean_initializer: Any = "zeros", moving_variance_initializer: Any = "ones",
                 beta_regularizer: Any = None, gamma_regularizer: Any = None, beta_constraint: Any = None,
                 gamma_constraint: Any = None, renorm: bool = False, renorm_clipping: Any = None,
                 renorm_momentum: float = 0.99, fused: bool | None = None, trainable: bool = True,
                 virtual_batch_size: int | None = None, adjustment: Any = None, name: str | None = None,
                 **kwargs: Any) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._keep(beta_initializer=beta_initializer, gamma_initializer=gamma_initializer,
                   moving_mean_initializer=moving_mean_initializer,
                   moving_variance_initializer=moving_variance_initializer, beta_regularizer=beta_regularizer,
                   gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint,
                   gamma_constraint=gamma_constraint)
        self._settle(axis, momentum, epsilon, center, scale, self.beta_initializer, self.gamma_initializer,
                     self.moving_mean_initializer, self.moving_variance_initializer, self.beta_regularizer,
                     self.gamma_regularizer, self.beta_constraint, self.gamma_constraint, renorm, renorm_clipping,
                     renorm_momentum, fused, virtual_batch_size, adjustment)

    def call(self, inputs: Any, training: Any = None) -> Any:
        """training: a bool, int or bool tensor; None: the learning phase."""
        return super().call(inputs, learning_phase() if training is None else training)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        config = {**super().get_config(), "axis": self.axis[0] if len(self.axis) == 1 else list(self.axis)}
        if self.renorm:
            config.update(renorm=True, renorm_clipping=self.renorm_clipping, renorm_momentum=self.renorm_momentum)
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        return config


class LayerNormalization(Same):
    """Normalizes each example by its own mean and variance along axes (Ba et al., 2016).

    Variables: gamma (with scale) and beta (with center), of the sizes of the axes. axis: one or a list.

    >>> y = tf.keras.layers.LayerNormalization()(tf.constant([[1.0, 3.0]]))
    >>> tf.keras.backend.eval(y)
    array([[-0.9995,  0.9995]], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = (
        "epsilon", "center", "scale", "beta_initializer", "gamma_initializer", "beta_regularizer", "gamma_regularizer",
        "beta_constraint", "gamma_constraint")

    def __init__(self, axis: Any = -1, epsilon: float = 0.001, center: bool = True, scale: bool = True,
                 beta_initializer: Any = "zeros", gamma_initializer: Any = "ones", beta_regularizer: Any = None,
                 gamma_regularizer: Any = None, beta_constraint: Any = None, gamma_constraint: Any = None,
                 trainable: bool = True, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise ValueError(f"Expected an int or a list/tuple of ints for the argument 'axis', but received: {axis!r}")
        self.axis = axis
        self._keep(epsilon=epsilon, center=center, scale=scale, beta_initializer=beta_initializer,
                   gamma_initializer=gamma_initializer, beta_regularizer=beta_regularizer,
                   gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint,
                   gamma_constraint=gamma_constraint)
        self.center: bool
        self.scale: bool

    def build(self, input_shape: Any) -> None:
        """Make gamma and beta. Raises ValueError for axes that are not there, repeated, or of unknown size."""
        sizes = shape_list(input_shape)
        given = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        self._axes = [axis + len(sizes) if axis < 0 else axis for axis in given]
        if any(not 0 <= axis < len(sizes) for axis in self._axes) or len(set(self._axes)) < len(given):
            raise ValueError(f"Invalid axis: {self.axis} for inputs of shape {TensorShape(input_shape)}")
        wanted = [sizes[axis] for axis in self._axes]
        if None in wanted:
            raise ValueError(f"Axes {self.axis} of the inputs should have known sizes, got {sizes}")
        self.gamma = self.add_weight("gamma", wanted, None, self.gamma_initializer, self.gamma_regularizer, True,
                                     self.gamma_constraint) if self.scale else None
        self.beta = self.add_weight("beta", wanted, None, self.beta_initializer, self.beta_regularizer, True,
                                    self.beta_constraint) if self.center else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The inputs, normalized."""
        rank = inputs.shape.ndims
        mean, variance = ops.moments(inputs, self._axes, keepdims=True)
        sizes = [inputs.shape.as_list()[axis] if axis in self._axes else 1 for axis in range(rank)]

        def wide(value: Any) -> Any:
            return value if value is None or self._axes == [rank - 1] else ops.reshape(value, sizes)
        made = ops.batch_normalization(inputs, mean, variance, wide(self.beta), wide(self.gamma), self.epsilon)
        made.set_shape(inputs.shape)
        return made

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {**super().get_config(), "axis": self.axis}


describe(globals(), KERAS)
