"""Convolutional LSTMs: `tf.contrib.rnn.ConvLSTMCell` (Shi et al., 2015)."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.shape import TensorShape
from tfnb.ops.array.joining import concat
from tfnb.ops.array.slicing import split
from tfnb.ops.math.functions import sigmoid, tanh
from tfnb.ops.nn.conv_functions import convolution
from tfnb.rnn.cells import LSTMStateTuple, RNNCell
from tfnb.variables.initializers import constant_initializer
from tfnb.variables.scope import get_variable


class ConvLSTMCell(RNNCell):
    """An LSTM over images, whose gates are convolutions of inputs and outputs. Variables: kernel, biases.

    conv_ndims: number of axes of space, 1 to 3; input_shape: of one input without the batch, the channels last;
    output_channels: channels of the state; kernel_shape: sizes of the kernel; use_bias: whether there is one;
    skip_connection: outputs have the inputs behind them; initializers: accepted, without effect.

    Raises ValueError for shapes of another rank.

    >>> cell = tf.contrib.rnn.ConvLSTMCell(2, input_shape=[8, 8, 3], output_channels=4, kernel_shape=[3, 3])
    >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 8, 8, 3]), dtype=tf.float32)
    >>> outputs.shape.as_list(), state.c.shape.as_list()
    ([2, 5, 8, 8, 4], [2, 8, 8, 4])
    """

    def __init__(self, conv_ndims: int, input_shape: Any, output_channels: int, kernel_shape: Any,
                 use_bias: bool = True, skip_connection: bool = False, forget_bias: float = 1.0,
                 initializers: Any = None, name: str = "conv_lstm_cell") -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        if conv_ndims != len(kernel_shape):
            raise ValueError(f"Invalid kernel_shape {kernel_shape} for conv_ndims={conv_ndims}.")
        self._ndims, self._kernel_shape, self._channels = conv_ndims, list(kernel_shape), output_channels
        self._use_bias, self._skip, self._forget_bias = use_bias, skip_connection, forget_bias
        space = list(input_shape[:-1])
        self._state = TensorShape([*space, output_channels])
        self._output = TensorShape([*space, output_channels + (input_shape[-1] if skip_connection else 0)])

    @property
    def state_size(self) -> LSTMStateTuple:
        """The shapes of memory and output."""
        return LSTMStateTuple(self._state, self._state)

    @property
    def output_size(self) -> TensorShape:
        """The shape of the outputs."""
        return self._output

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (output, next state)."""
        c, h = state
        both = concat([inputs, h], self._ndims + 1)
        depth = both.shape.as_list()[-1]
        kernel = get_variable("kernel", [*self._kernel_shape, depth, 4 * self._channels], inputs.dtype)
        gates = convolution(both, kernel, "SAME")
        if self._use_bias:
            gates = gates + get_variable("biases", [4 * self._channels], inputs.dtype,
                                         initializer=constant_initializer(0.0))
        i, new, f, o = split(gates, 4, self._ndims + 1)
        c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(new)
        h = tanh(c) * sigmoid(o)
        output = concat([h, inputs], self._ndims + 1) if self._skip else h
        return output, LSTMStateTuple(c, h)


class Conv1DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over one axis; kwargs: its arguments, without conv_ndims.

    >>> cell = tf.contrib.rnn.Conv1DLSTMCell(input_shape=[8, 3], output_channels=4, kernel_shape=[3])
    >>> cell.output_size.as_list()
    [8, 4]
    """

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over two axes; kwargs: its arguments, without conv_ndims.

    >>> cell = tf.contrib.rnn.Conv2DLSTMCell(input_shape=[8, 8, 3], output_channels=4, kernel_shape=[3, 3])
    >>> cell.output_size.as_list()
    [8, 8, 4]
    """

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over three axes; kwargs: its arguments, without conv_ndims.

    >>> cell = tf.contrib.rnn.Conv3DLSTMCell(input_shape=[4, 8, 8, 3], output_channels=4, kernel_shape=[3, 3, 3])
    >>> cell.output_size.as_list()
    [4, 8, 8, 4]
    """

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)


describe(globals(), RECURRENT)
