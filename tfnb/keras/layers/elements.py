"""Layers of Keras over elements: activations with parameters, noise."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.keras.backend import ops
from tfnb.keras.backend.control import in_train_phase
from tfnb.keras.functions import activations
from tfnb.keras.layers.core import Same
from tfnb.keras.layers.described import shape_list
from tfnb.layers.input_spec import InputSpec


class LeakyReLU(Same):
    """`inputs` where they are positive, else alpha * inputs.

    >>> sess.run(tf.keras.layers.LeakyReLU()(tf.constant([-1.0, 2.0])))
    array([-0.3,  2. ], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("alpha",)

    def __init__(self, alpha: float = 0.3, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = float(alpha)

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return activations.relu(inputs, alpha=self.alpha)


class PReLU(Same):
    """`inputs` where they are positive, else alpha * inputs, where alpha is trained.

    Variables: alpha, of the shape of an example; 1 along shared_axes.

    >>> layer = tf.keras.layers.PReLU(alpha_initializer=tf.keras.initializers.Constant(0.5))
    >>> tf.keras.backend.eval(layer(tf.constant([[-1.0, 2.0]])))
    array([[-0.5,  2. ]], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = (
        "alpha_initializer", "alpha_regularizer", "alpha_constraint", "shared_axes")

    def __init__(self, alpha_initializer: Any = "zeros", alpha_regularizer: Any = None, alpha_constraint: Any = None,
                 shared_axes: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep(alpha_initializer=alpha_initializer, alpha_regularizer=alpha_regularizer,
                   alpha_constraint=alpha_constraint)
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else shared_axes and list(shared_axes)

    def build(self, input_shape: Any) -> None:
        """Make alpha."""
        sizes = shape_list(input_shape)[1:]
        for axis in self.shared_axes or []:
            sizes[axis - 1] = 1
        self.alpha = self.add_weight("alpha", sizes, None, self.alpha_initializer, self.alpha_regularizer, True,
                                     self.alpha_constraint)
        self.input_spec = InputSpec(ndim=len(sizes) + 1)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return ops.relu(inputs) - self.alpha * ops.relu(-inputs)


class ELU(Same):
    """`inputs` where they are positive, else alpha * (exp(inputs) - 1).

    >>> sess.run(tf.keras.layers.ELU()(tf.constant([-1.0, 2.0])))
    array([-0.6321,  2.    ], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("alpha",)

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = float(alpha)

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return activations.elu(inputs, self.alpha)


class ThresholdedReLU(Same):
    """`inputs` where they are above theta, else 0.

    >>> sess.run(tf.keras.layers.ThresholdedReLU(theta=1.0)(tf.constant([0.5, 2.0])))
    array([0., 2.], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("theta",)

    def __init__(self, theta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.theta = float(theta)

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return inputs * ops.cast(ops.greater(inputs, self.theta), inputs.dtype)


class Softmax(Same):
    """exp(inputs) / sum(exp(inputs)) along an axis.

    >>> sess.run(tf.keras.layers.Softmax()(tf.constant([[1.0, 1.0]])))
    array([[0.5, 0.5]], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("axis",)

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return activations.softmax(inputs, axis=self.axis)


class ReLU(Same):
    """The rectified linear unit: max_value above that, negative_slope * (x - threshold) below threshold, else x.

    Raises ValueError for a max_value or negative_slope below 0.

    >>> sess.run(tf.keras.layers.ReLU(max_value=6.0)(tf.constant([-1.0, 2.0, 9.0])))
    array([0., 2., 6.], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("max_value", "negative_slope", "threshold")

    def __init__(self, max_value: float | None = None, negative_slope: float = 0, threshold: float = 0,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0:
            raise ValueError(f"max_value of Relu layer cannot be negative value: {max_value}")
        if negative_slope < 0:
            raise ValueError(f"negative_slope of Relu layer cannot be negative value: {negative_slope}")
        self.max_value = None if max_value is None else float(max_value)
        self.negative_slope, self.threshold = float(negative_slope), float(threshold)

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class GaussianNoise(Same):
    """Add normally distributed noise of mean 0 while training. stddev: its standard deviation.

    >>> sess.run(tf.keras.layers.GaussianNoise(1.0)(tf.constant([1.0, 2.0])))
    array([1., 2.], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("stddev",)

    def __init__(self, stddev: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stddev = stddev

    def call(self, inputs: Any, training: Any = None) -> Any:
        """training: a bool, int or bool tensor; None: the learning phase."""
        return in_train_phase(lambda: inputs + ops.random_normal(ops.shape(inputs), 0.0, self.stddev, inputs.dtype),
                              inputs, training)


class GaussianDropout(Same):
    """Multiply by normally distributed noise of mean 1 and variance rate / (1 - rate) while training.

    >>> sess.run(tf.keras.layers.GaussianDropout(0.5)(tf.constant([1.0, 2.0])))
    array([1., 2.], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("rate",)

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs: Any, training: Any = None) -> Any:
        """training: a bool, int or bool tensor; None: the learning phase."""
        if not 0 < self.rate < 1:
            return ops.identity(inputs)
        deviation = (self.rate / (1 - self.rate)) ** 0.5
        return in_train_phase(lambda: inputs * ops.random_normal(ops.shape(inputs), 1.0, deviation, inputs.dtype),
                              inputs, training)


class AlphaDropout(Same):
    """Dropout that keeps mean and variance of inputs to SELU: what is dropped gets its negative saturation value.

    noise_shape: axes of size 1 are kept or dropped as a whole.

    >>> sess.run(tf.keras.layers.AlphaDropout(0.5)(tf.constant([1.0, 2.0])))
    array([1., 2.], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("rate", "noise_shape", "seed")
    _LOWEST = -1.6732632423543772 * 1.0507009873554805

    def __init__(self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = None) -> Any:
        """training: a bool, int or bool tensor; None: the learning phase."""
        if not 0 < self.rate < 1:
            return ops.identity(inputs)

        def dropped() -> Any:
            shape = ops.shape(inputs) if self.noise_shape is None else self.noise_shape
            kept = ops.cast(ops.random_uniform(shape, seed=self.seed) >= self.rate, inputs.dtype)
            factor = ((1 - self.rate) * (1 + self.rate * self._LOWEST ** 2)) ** -0.5
            return factor * (inputs * kept + self._LOWEST * (1 - kept)) - factor * self._LOWEST * self.rate
        return in_train_phase(dropped, inputs, training)




describe(globals(), KERAS)
