"""Dense layers, dropout, and flattening: classes and functions of `tf.layers`."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import LAYERS, describe
from tfnb.core.dtypes import as_dtype
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.layers.base import Layer
from tfnb.layers.choices import activation_of, channels_first, either, initializer_of
from tfnb.layers.functional import functional
from tfnb.layers.input_spec import InputSpec
from tfnb.layers.weighted import channel_size
from tfnb.ops.array.reshape import identity, reshape, shape, transpose
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.nn import activations as nn
from tfnb.ops.reductions.matmul import tensordot
from tfnb.variables.initializers import zeros_initializer


class Dense(Layer):
    """`activation(inputs * kernel + bias)`, over the last axis of the inputs.

    Variables: kernel (inputs, units), bias (units) with `use_bias`. Raises ValueError if the dtype is not floating or
    the last size of the inputs is not known.

    >>> tf.layers.dense(tf.ones([4, 3]), units=2, activation=tf.nn.relu).shape.as_list()
    [4, 2]
    >>> layer = tf.layers.Dense(units=2, kernel_initializer=tf.ones_initializer())
    >>> y = layer(tf.constant([[1.0, 2.0, 3.0]]))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(y)
    array([[6., 6.]], dtype=float32)
    """

    def __init__(self, units: int, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = None,
                 bias_initializer: Any = zeros_initializer(), kernel_regularizer: Any = None,   # noqa: B008
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: Any = None, **kwargs: Any) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.units, self.activation, self.use_bias = int(units), activation_of(activation), use_bias
        self.kernel_initializer = initializer_of(kernel_initializer)
        self.bias_initializer = initializer_of(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        if self.dtype is not None and not (as_dtype(self.dtype).is_floating or as_dtype(self.dtype).is_complex):
            raise ValueError(f"Unable to build `Dense` layer with non-floating point dtype {self.dtype}")
        inputs = channel_size(TensorShape(input_shape), -1, "last dimension")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: inputs})
        self.kernel = self.add_weight("kernel", [inputs, self.units], self.dtype, self.kernel_initializer,
                                      self.kernel_regularizer, True, self.kernel_constraint)
        self.bias = self.add_weight("bias", [self.units], self.dtype, self.bias_initializer, self.bias_regularizer,
                                    True, self.bias_constraint) if self.use_bias else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        """(..., inputs) -> (..., units)."""
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank > 2:
            made = tensordot(inputs, self.kernel, [[rank - 1], [0]])
            made.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            made = raw.MatMul(cast(inputs, self.dtype), self.kernel)
        if self.use_bias:
            made = nn.bias_add(made, self.bias)
        return made if self.activation is None else self.activation(made)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The last size becomes `units`."""
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([*sizes[:-1], self.units])


class Dropout(Layer):
    """Set elements to 0 with probability `rate` during training and scale the rest by 1 / (1 - rate).

    noise_shape: axes of size 1 are kept or dropped as a whole.

    >>> x = tf.ones([1000])
    >>> np.unique(sess.run(tf.layers.dropout(x, rate=0.5, training=True)))
    array([0., 2.], dtype=float32)
    >>> np.unique(sess.run(tf.layers.Dropout(rate=0.5)(x)))
    array([1.], dtype=float32)
    """

    def __init__(self, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, name: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = False) -> Any:
        """training: a bool, or a bool tensor that says it when the graph runs."""
        return either(training, lambda: nn.dropout(inputs, noise_shape=self._noise_shape(inputs), seed=self.seed,
                                                   rate=self.rate), lambda: identity(inputs))

    def _noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None or isinstance(self.noise_shape, Tensor):
            return self.noise_shape
        sizes: Any = shape(inputs)
        return convert_to_tensor([sizes[i] if n is None else n for i, n in enumerate(self.noise_shape)])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The same."""
        return TensorShape(input_shape)


class Flatten(Layer):
    """(batch, ...) -> (batch, numbers).

    >>> tf.layers.flatten(tf.zeros([4, 5, 6])).shape.as_list()
    [4, 30]
    >>> tf.layers.Flatten()(tf.zeros([4, 5, 6])).shape.as_list()
    [4, 30]
    """

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = data_format or "channels_last"
        self.first = channels_first(self.data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        """The numbers of each example in one row, channels last."""
        rank = inputs.shape.ndims
        if self.first and rank is not None and rank > 1:
            inputs = transpose(inputs, [0, *range(2, rank), 1])
        batch: Any = inputs.shape.as_list()[0]
        if not batch:
            sizes: Any = shape(inputs)
            batch = sizes[0]
        made = reshape(inputs, (batch, -1))
        made.set_shape(self.compute_output_shape(inputs.shape))
        return made

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, the product of the other sizes if they are known)."""
        sizes = TensorShape(input_shape).as_list()
        product: int | None = 1
        for size in sizes[1:]:
            product = None if product is None or size is None else product * size
        return TensorShape([sizes[0], product])


dense = functional(Dense, "dense")


def dropout(inputs: Any, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, training: Any = False,
            name: Any = None) -> Any:
    """A layer `Dropout`, called: nothing is dropped unless `training`.

    >>> np.unique(sess.run(tf.layers.dropout(tf.ones([1000]), rate=0.5, training=True)))
    array([0., 2.], dtype=float32)
    """
    return Dropout(rate, noise_shape, seed, name)(inputs, training=training)


def flatten(inputs: Any, name: Any = None, data_format: str = "channels_last") -> Any:
    """A layer `Flatten`, called: (batch, ...) -> (batch, numbers).

    >>> tf.layers.flatten(tf.zeros([4, 5, 6])).shape.as_list()
    [4, 30]
    """
    return Flatten(data_format, name=name)(inputs)


describe(globals(), LAYERS)
