"""Convolutional LSTM of Keras (Shi et al., 2015): sequences of images."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.keras.backend import convolution, ops
from tfnb.keras.backend.config import image_data_format
from tfnb.keras.functions import regularizers
from tfnb.keras.layers.cells import Cell, forget_bias, lstm_step
from tfnb.keras.layers.described import shape_list
from tfnb.keras.layers.recurrent import Named
from tfnb.layers.choices import channels_first, sizes_for
from tfnb.layers.convolutional import output_length


class ConvLSTM2DCell(Cell):
    """One step of `ConvLSTM2D`: an LSTM cell whose products are convolutions."""

    gates = 4
    _arguments: ClassVar[tuple[str, ...]] = (
        *(name for name in Cell._arguments if name != "units"), "filters", "kernel_size", "strides", "padding",
        "data_format", "dilation_rate", "recurrent_activation", "unit_forget_bias")

    def __init__(self, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid",
                 data_format: str | None = None, dilation_rate: Any = (1, 1), activation: Any = "tanh",
                 recurrent_activation: Any = "hard_sigmoid", use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform", recurrent_initializer: Any = "orthogonal",
                 bias_initializer: Any = "zeros", unit_forget_bias: bool = True, kernel_regularizer: Any = None,
                 recurrent_regularizer: Any = None, bias_regularizer: Any = None, kernel_constraint: Any = None,
                 recurrent_constraint: Any = None, bias_constraint: Any = None, dropout: float = 0.0,
                 recurrent_dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = filters
        self._settle(locals())
        self.kernel_size = sizes_for(kernel_size, 2, "kernel_size")
        self.strides, self.padding = sizes_for(strides, 2, "strides"), padding.lower()
        self.dilation_rate = sizes_for(dilation_rate, 2, "dilation_rate")
        self.data_format = image_data_format() if data_format is None else data_format
        self.first = channels_first(self.data_format)

    def build(self, input_shape: Any) -> None:
        """Make the kernels and the bias."""
        sizes = shape_list(input_shape)
        channels = sizes[1 if self.first else -1]
        spatial = sizes[2:] if self.first else sizes[1:-1]
        lengths = [output_length(size, window, self.padding, stride, dilation) for size, window, stride, dilation in
                   zip(spatial, self.kernel_size, self.strides, self.dilation_rate, strict=True)]
        inner = TensorShape([self.filters, *lengths] if self.first else [*lengths, self.filters])
        self.state_size, self.output_size = [inner, inner], inner
        self.kernel = self.add_weight("kernel", [*self.kernel_size, channels, 4 * self.filters], None,
                                      self.kernel_initializer, self.kernel_regularizer, True, self.kernel_constraint)
        self.recurrent_kernel = self.add_weight(
            "recurrent_kernel", [*self.kernel_size, self.filters, 4 * self.filters], None, self.recurrent_initializer,
            self.recurrent_regularizer, True, self.recurrent_constraint)
        start = forget_bias(self.filters, self.bias_initializer, 1) if self.unit_forget_bias else self.bias_initializer
        self.bias = self.add_weight("bias", [4 * self.filters], None, start, self.bias_regularizer, True,
                                    self.bias_constraint) if self.use_bias else None
        self.built = True

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Return zeros of the size of the images that come out."""
        found = convolution.conv2d(ops.zeros_like(inputs), ops.zeros([*self.kernel_size, inputs.shape.as_list()[
            1 if self.first else -1], self.filters], inputs.dtype), self.strides, self.padding, self.data_format,
            self.dilation_rate)
        return [found, found]

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        """Return (output, [h, c]) of one step."""
        h, c = states
        masks = self.get_dropout_mask_for_cell(inputs, training, 4)
        recurrent = self.get_recurrent_dropout_mask_for_cell(h, training, 4)
        xs = self._convolved(inputs, self.kernel, masks, self.strides, self.padding, self.dilation_rate)
        hs = self._convolved(h, self.recurrent_kernel, recurrent, (1, 1), "same", (1, 1))
        biases = [None] * 4 if self.bias is None else ops.split(self.bias, 4)
        sums = [(x if bias is None else convolution.bias_add(x, bias, self.data_format)) + y
                for x, y, bias in zip(xs, hs, biases, strict=True)]
        return lstm_step(sums, c, self.activation, self.recurrent_activation)

    def _convolved(self, x: Any, kernel: Any, masks: Any, strides: Any, padding: str, dilation: Any) -> list[Any]:
        """Return the convolution for each gate."""
        if masks is None:
            made = convolution.conv2d(x, kernel, strides, padding, self.data_format, dilation)
            return list(ops.split(made, 4, axis=1 if self.first else 3))
        return [convolution.conv2d(x * mask, part, strides, padding, self.data_format, dilation)
                for mask, part in zip(masks, ops.split(kernel, 4, axis=3), strict=True)]


class ConvLSTM2D(Named):
    """An LSTM over sequences of images (batch, steps, height, width, channels), whose products are convolutions.

    >>> tf.keras.layers.ConvLSTM2D(4, 3, padding="same")(tf.ones([1, 2, 5, 5, 3])).shape.as_list()
    [1, 5, 5, 4]
    """

    _cell_class = ConvLSTM2DCell
    _settings: ClassVar[tuple[str, ...]] = ("return_sequences", "return_state", "go_backwards", "stateful")

    def __init__(self, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid",
                 data_format: str | None = None, dilation_rate: Any = (1, 1), activation: Any = "tanh",
                 recurrent_activation: Any = "hard_sigmoid", use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform", recurrent_initializer: Any = "orthogonal",
                 bias_initializer: Any = "zeros", unit_forget_bias: bool = True, kernel_regularizer: Any = None,
                 recurrent_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, recurrent_constraint: Any = None, bias_constraint: Any = None,
                 return_sequences: bool = False, go_backwards: bool = False, stateful: bool = False,
                 dropout: float = 0.0, recurrent_dropout: float = 0.0, **kwargs: Any) -> None:
        self._begin({**locals(), "return_state": kwargs.pop("return_state", False)})
        self.activity_regularizer = regularizers.get(activity_regularizer)


describe(globals(), KERAS)
