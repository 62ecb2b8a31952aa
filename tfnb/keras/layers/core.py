"""Layers of Keras that every model has: dense, dropout, shapes, functions, masks."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.core.dtypes import as_dtype
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import ops
from tfnb.keras.backend.config import image_data_format
from tfnb.keras.backend.control import in_train_phase
from tfnb.keras.backend.shapes import repeat
from tfnb.keras.functions import regularizers
from tfnb.keras.layers.described import Described, product, shape_list
from tfnb.layers.choices import channels_first
from tfnb.layers.input_spec import InputSpec
from tfnb.layers.weighted import channel_size


class Dense(Described):
    """`activation(inputs * kernel + bias)`, over the last axis of the inputs.

    Variables: kernel (inputs, units), bias (units) with use_bias. Raises ValueError if the last size of the inputs is
    not known.

    >>> layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    >>> tf.keras.backend.eval(layer(tf.constant([[1.0, 2.0, 3.0]])))
    array([[6., 6.]], dtype=float32)
    """

    supports_masking = True
    _arguments: ClassVar[tuple[str, ...]] = (
        "units", "activation", "use_bias", "kernel_initializer", "bias_initializer", "kernel_regularizer",
        "bias_regularizer", "activity_regularizer", "kernel_constraint", "bias_constraint")

    def __init__(self, units: int, activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self._keep(units=int(units), activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                   bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                   bias_regularizer=bias_regularizer, kernel_constraint=kernel_constraint,
                   bias_constraint=bias_constraint)
        self.units: int
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        if self.dtype is not None and not (as_dtype(self.dtype).is_floating or as_dtype(self.dtype).is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {self.dtype}")
        size = channel_size(TensorShape(input_shape), -1, "last dimension")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self.add_weight("kernel", [size, self.units], None, self.kernel_initializer,
                                      self.kernel_regularizer, True, self.kernel_constraint)
        self.bias = self.add_weight("bias", [self.units], None, self.bias_initializer, self.bias_regularizer, True,
                                    self.bias_constraint) if self.use_bias else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        """(..., inputs) -> (..., units)."""
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is not None and rank > 2:
            made = ops.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            made.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            made = ops.matmul(ops.cast(inputs, self.dtype), self.kernel)
        return self.activation(ops.bias_add(made, self.bias) if self.use_bias else made)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The last size becomes `units`."""
        return TensorShape([*shape_list(input_shape)[:-1], self.units])


class Same(Described):
    """A layer whose outputs have the shape of the inputs, and their mask."""

    supports_masking = True

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The same."""
        return TensorShape(input_shape)


class Activation(Same):
    """A function of the elements. activation: a name or a function.

    >>> layer = tf.keras.layers.Activation("relu")
    >>> sess.run(layer(tf.constant([-1.0, 2.0])))
    array([0., 2.], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("activation",)

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep(activation=activation)

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return self.activation(inputs)


class Dropout(Same):
    """Set elements to 0 with probability `rate` while training and scale the rest by 1 / (1 - rate).

    noise_shape: axes of size 1 are kept or dropped as a whole.

    >>> layer = tf.keras.layers.Dropout(0.5)
    >>> np.unique(sess.run(layer(tf.ones([1000]), training=True)))
    array([0., 2.], dtype=float32)
    """

    _arguments: ClassVar[tuple[str, ...]] = ("rate", "noise_shape", "seed")

    def __init__(self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def _noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None or not isinstance(self.noise_shape, (list, tuple)):
            return self.noise_shape
        sizes: Any = ops.shape(inputs)
        return convert_to_tensor([sizes[i] if n is None else n for i, n in enumerate(self.noise_shape)])

    def call(self, inputs: Any, training: Any = None) -> Any:
        """training: a bool, int or bool tensor; None: the learning phase."""
        return in_train_phase(lambda: ops.dropout(inputs, noise_shape=self._noise_shape(inputs), seed=self.seed,
                                                  rate=self.rate), lambda: ops.identity(inputs), training)


class SpatialDropout1D(Dropout):
    """Dropout of whole channels of sequences (batch, steps, channels).

    >>> y = sess.run(tf.keras.layers.SpatialDropout1D(0.5)(tf.ones([1, 4, 100]), training=True))
    >>> bool((y == y[:, :1]).all())
    True
    """

    _arguments: ClassVar[tuple[str, ...]] = ("rate",)
    _rank = 1

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def _noise_shape(self, inputs: Any) -> Any:
        sizes: Any = ops.shape(inputs)
        return ops.stack([sizes[0], *[1] * self._rank, sizes[self._rank + 1]])


class SpatialDropout2D(SpatialDropout1D):
    """Dropout of whole channels of images.

    >>> y = sess.run(tf.keras.layers.SpatialDropout2D(0.5)(tf.ones([1, 4, 4, 100]), training=True))
    >>> bool((y == y[:, :1, :1]).all())
    True
    """

    _arguments: ClassVar[tuple[str, ...]] = ("rate", "data_format")
    _rank = 2

    def __init__(self, rate: float, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)
        self.data_format = image_data_format() if data_format is None else data_format
        self.first = channels_first(self.data_format)

    def _noise_shape(self, inputs: Any) -> Any:
        sizes: Any = ops.shape(inputs)
        return ops.stack([sizes[0], sizes[1], *[1] * self._rank]) if self.first else super()._noise_shape(inputs)


class SpatialDropout3D(SpatialDropout2D):
    """Dropout of whole channels of volumes.

    >>> y = sess.run(tf.keras.layers.SpatialDropout3D(0.5)(tf.ones([1, 2, 2, 2, 100]), training=True))
    >>> bool((y == y[:, :1, :1, :1]).all())
    True
    """

    _rank = 3


class Flatten(Described):
    """(batch, ...) -> (batch, elements), channels last.

    >>> tf.keras.layers.Flatten()(tf.zeros([4, 5, 6])).shape.as_list()
    [4, 30]
    """

    _arguments: ClassVar[tuple[str, ...]] = ("data_format",)

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = image_data_format() if data_format is None else data_format
        self.first = channels_first(self.data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        """The elements of each example in one row."""
        rank = inputs.shape.ndims
        if self.first and rank is not None and rank > 1:
            inputs = ops.transpose(inputs, [0, *range(2, rank), 1])
        sizes: Any = ops.shape(inputs)
        made = ops.reshape(inputs, [inputs.shape.as_list()[0] or sizes[0], -1])
        made.set_shape(self.compute_output_shape(inputs.shape))
        return made

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, the product of the other sizes if they are known)."""
        sizes = shape_list(input_shape)
        return TensorShape([sizes[0], product(sizes[1:])])


class Reshape(Described):
    """Give each example another shape. target_shape: the sizes without the batch, of which one may be -1.

    >>> tf.keras.layers.Reshape((2, -1))(tf.zeros([4, 6])).shape.as_list()
    [4, 2, 3]
    """

    _arguments: ClassVar[tuple[str, ...]] = ("target_shape",)

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, target_shape...); the size that is -1 from the others. Raises ValueError where they don't fit."""
        sizes = shape_list(input_shape)
        total, wanted = product(sizes[1:]), list(self.target_shape)
        if total is None:
            return TensorShape([sizes[0], *[None if each == -1 else each for each in wanted]])
        known = product([each for each in wanted if each != -1]) or 1
        if total % known or (-1 not in wanted and known != total) or wanted.count(-1) > 1:
            raise ValueError(f"total size of new array must be unchanged: layer {self.name!r} cannot reshape "
                             f"{tuple(sizes[1:])} to {self.target_shape}")
        return TensorShape([sizes[0], *[total // known if each == -1 else each for each in wanted]])

    def call(self, inputs: Any) -> Any:
        """The same elements in another shape."""
        shape = self.compute_output_shape(inputs.shape)
        sizes: Any = ops.shape(inputs)
        batch = inputs.shape.as_list()[0]
        made = ops.reshape(inputs, [sizes[0] if batch is None else batch, *self.target_shape])
        made.set_shape(shape)
        return made


class Permute(Described):
    """Reorder the axes of each example. dims: the axes, counted from 1. Raises ValueError if they are no permutation.

    >>> tf.keras.layers.Permute((2, 1))(tf.zeros([4, 5, 6])).shape.as_list()
    [4, 6, 5]
    """

    _arguments: ClassVar[tuple[str, ...]] = ("dims",)

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in `dims` "
                             "must be consecutive and start from 1.")
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Any) -> Any:
        """The axes in the order of `dims`."""
        return ops.transpose(inputs, [0, *self.dims])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes in the order of `dims`."""
        sizes = shape_list(input_shape)
        return TensorShape([sizes[0], *[sizes[axis] for axis in self.dims]])


class RepeatVector(Described):
    """(batch, features) -> (batch, n, features). n: how often.

    >>> tf.keras.layers.RepeatVector(3)(tf.zeros([4, 5])).shape.as_list()
    [4, 3, 5]
    """

    _arguments: ClassVar[tuple[str, ...]] = ("n",)

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n, self.input_spec = n, InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        """Each example n times."""
        return repeat(inputs, self.n)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, n, features)."""
        sizes = shape_list(input_shape)
        return TensorShape([sizes[0], self.n, sizes[1]])


class ActivityRegularization(Same):
    """Add l1 * sum(abs(inputs)) + l2 * sum(inputs ** 2) to the losses.

    >>> layer = tf.keras.layers.ActivityRegularization(l1=1.0)
    >>> y = layer(tf.constant([[1.0, -2.0]]))
    >>> sess.run(layer.losses)
    [3.0]
    """

    _arguments: ClassVar[tuple[str, ...]] = ("l1", "l2")

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1, l2), **kwargs)
        self.l1, self.l2 = l1, l2


class Masking(Same):
    """Mask the steps of sequences all of whose features are mask_value.

    >>> layer = tf.keras.layers.Masking()
    >>> sess.run(layer.compute_mask(tf.constant([[[1.0, 2.0], [0.0, 0.0]]])))
    array([[ True, False]])
    """

    _arguments: ClassVar[tuple[str, ...]] = ("mask_value",)

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value = mask_value

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """True where a feature differs from mask_value."""
        return ops.reduce_any(ops.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:
        """The inputs, zeros where masked."""
        found = ops.reduce_any(ops.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        return inputs * ops.cast(found, inputs.dtype)




describe(globals(), KERAS)
