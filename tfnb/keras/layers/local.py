"""Convolutions of Keras whose weights are not shared between the places."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.keras.backend import convolution
from tfnb.keras.layers.convolutional import Conv
from tfnb.keras.layers.described import product, shape_list
from tfnb.layers.input_spec import InputSpec


class _Local(Conv):
    """Variables: kernel (places, window * inputs, filters), bias (places..., filters)."""

    _arguments: ClassVar[tuple[str, ...]] = (
        *(name for name in Conv._arguments if name != "dilation_rate"), "implementation")

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str | None = None, activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, implementation: int = 1,
                 **kwargs: Any) -> None:
        super().__init__(filters, kernel_size, strides, padding, data_format, 1, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, **kwargs)
        if self.padding != "valid":
            raise ValueError(f'Invalid border mode for {type(self).__name__} (only "valid" is supported): {padding}')
        if implementation != 1:
            raise NotImplementedError(f"{type(self).__name__} has the weights of implementation=1, which computes the "
                                      f"same; got implementation={implementation}")
        self.implementation = implementation

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias. Raises ValueError where sizes of the inputs are not known."""
        channels, lengths = self._channels(input_shape), self._lengths(input_shape)
        if None in lengths:
            raise ValueError(f"The spatial dimensions of the inputs to {type(self).__name__} should be fully-defined, "
                             f"but layer received the inputs shape {shape_list(input_shape)}")
        self._places = lengths
        window = product([*self.kernel_size, channels])
        self.kernel = self.add_weight("kernel", [product(lengths), window, self.filters], None,
                                      self.kernel_initializer, self.kernel_regularizer, True, self.kernel_constraint)
        self.bias = self.add_weight("bias", [*lengths, self.filters], None, self.bias_initializer,
                                    self.bias_regularizer, True, self.bias_constraint) if self.use_bias else None
        axis = 1 if self.first else self.rank + 1
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        self.built = True

    def _convolved(self, inputs: Any) -> Any:
        if self.rank == 1:
            made = convolution.local_conv1d(inputs, self.kernel, self.kernel_size, self.strides, self.data_format)
        else:
            made = convolution.local_conv2d(inputs, self.kernel, self.kernel_size, self.strides, self._places,
                                            self.data_format)
        made.set_shape(self.compute_output_shape(inputs.shape))
        return made

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, places..., filters)."""
        return self._shape(input_shape, self._lengths(input_shape))


class LocallyConnected1D(_Local):
    """A convolution of rows with weights of its own at each place. implementation: 1, else NotImplementedError.

    >>> layer = tf.keras.layers.LocallyConnected1D(4, 3)
    >>> layer(tf.ones([1, 5, 2])).shape.as_list(), [w.shape.as_list() for w in layer.weights]
    ([1, 3, 4], [[3, 6, 4], [3, 4]])
    """

    rank = 1


class LocallyConnected2D(_Local):
    """A convolution of images with weights of its own at each place. implementation: 1, else NotImplementedError.

    >>> layer = tf.keras.layers.LocallyConnected2D(5, 3)
    >>> layer(tf.ones([1, 4, 4, 2])).shape.as_list(), [w.shape.as_list() for w in layer.weights]
    ([1, 2, 2, 5], [[4, 18, 5], [2, 2, 5]])
    """

    rank = 2

    def __init__(self, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid",
                 data_format: str | None = None, activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, implementation: int = 1,
                 **kwargs: Any) -> None:
        super().__init__(filters, kernel_size, strides, padding, data_format, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, implementation, **kwargs)


describe(globals(), KERAS)
