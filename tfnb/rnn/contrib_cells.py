"""Recurrent cells of `tf.contrib.rnn`: layer normalization, phases, and the cells that are one op in TensorFlow."""
from __future__ import annotations

from math import log as _log
from typing import Any

from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.dtypes import float32
from tfnb.graph.convert import convert_to_tensor
from tfnb.layers.contrib.layer_norm import layer_norm
from tfnb.ops.array.slicing import split
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import where
from tfnb.ops.math.division import mod
from tfnb.ops.math.functions import exp, sigmoid, tanh
from tfnb.ops.nn.activations import dropout
from tfnb.ops.random.random_ops import random_uniform
from tfnb.rnn.cells import GRUCell, LSTMCell, LSTMStateTuple, RNNCell
from tfnb.rnn.linear import linear
from tfnb.variables.initializers import constant_initializer
from tfnb.variables.scope import get_variable, variable_scope


class _LSTM(RNNCell):
    """A cell whose state is (c, h), each of `num_units`."""

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units

    @property
    def state_size(self) -> LSTMStateTuple:
        """An LSTMStateTuple of the number of units, twice."""
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        """The number of units."""
        return self._num_units


class Normed:
    """Layer normalization of the gates of a cell, by variables in scopes, which begin as `_gain` and `_shift`."""

    _layer_norm: bool
    _gain: float
    _shift: float

    def _normed(self, x: Any, scope: str) -> Any:
        if not self._layer_norm:
            return x
        with variable_scope(scope):
            for name, start in (("gamma", self._gain), ("beta", self._shift)):
                get_variable(name, x.shape[-1:], x.dtype, initializer=constant_initializer(start))
        return layer_norm(x, reuse=True, scope=scope)


class LayerNormBasicLSTMCell(Normed, _LSTM):
    """An LSTM with layer normalization (Ba et al., 2016) and recurrent dropout (Semeniuta et al., 2016).

    layer_norm: normalize each gate and the memory, by `gamma` and `beta` of the scopes input, transform, forget, output
    and state, which begin as norm_gain and norm_shift; the gates then have no bias. dropout_keep_prob: of what enters
    the memory, a number or a tensor. Other arguments as of BasicLSTMCell; input_size does nothing.

    >>> cell = tf.contrib.rnn.LayerNormBasicLSTMCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, input_size: Any = None, activation: Any = tanh,
                 layer_norm: bool = True, norm_gain: float = 1.0, norm_shift: float = 0.0,
                 dropout_keep_prob: Any = 1.0, dropout_prob_seed: int | None = None, reuse: Any = None) -> None:
        super().__init__(num_units, reuse)
        self._forget_bias, self._activation, self._layer_norm = forget_bias, activation, layer_norm
        self._gain, self._shift = norm_gain, norm_shift
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (h, the next state)."""
        c, h = state
        gates = linear([inputs, h], 4 * self._num_units, bias=not self._layer_norm)
        i, j, f, o = (self._normed(part, scope) for part, scope in
                      zip(split(gates, 4, 1), ("input", "transform", "forget", "output"), strict=True))
        new = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = dropout(new, self._keep_prob, seed=self._seed)
        c = self._normed(c * sigmoid(f + self._forget_bias) + sigmoid(i) * new, "state")
        h = self._activation(c) * sigmoid(o)
        return h, LSTMStateTuple(c, h)


class PhasedLSTMCell(_LSTM):
    """An LSTM whose units change only while they are open, each with a period and phase of its own (Neil et al., 2016).

    Inputs are (time, x): times (batch, 1) and (batch, size). leak: what passes closed units, in training. ratio_on: the
    part of a period in which a unit is open, trained if trainable_ratio_on. Periods begin between period_init_min and
    period_init_max, with logarithms distributed uniformly.

    >>> cell = tf.contrib.rnn.PhasedLSTMCell(4)
    >>> time, x = tf.ones([2, 1]), tf.ones([2, 3])
    >>> output, state = cell((time, x), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, leak: float = 0.001, ratio_on: float = 0.1,
                 trainable_ratio_on: bool = True, period_init_min: float = 1.0, period_init_max: float = 1000.0,
                 reuse: Any = None) -> None:
        super().__init__(num_units, reuse)
        self._use_peepholes, self._leak = use_peepholes, leak
        self._ratio_on, self._trains_ratio = ratio_on, trainable_ratio_on
        self._periods = _log(period_init_min), _log(period_init_max)

    def _openness(self, time: Any, dtype: Any) -> Any:
        """Return the openness k of each unit, (batch, units): it rises and falls in the part ratio_on of its period."""
        def start(shape: Any, dtype: Any = float32, partition_info: Any = None) -> Any:
            """Return periods with logarithms distributed uniformly."""
            return exp(random_uniform(shape, *self._periods, dtype=dtype))
        size = [self._num_units]
        period = get_variable("period", size, dtype, initializer=start)
        phase = get_variable("phase", size, dtype,
                             initializer=lambda shape, dtype, partition_info=None: random_uniform(
                                 shape, 0.0, period.initial_value, dtype=dtype))
        ratio = get_variable("ratio_on", size, dtype, initializer=constant_initializer(self._ratio_on),
                             trainable=self._trains_ratio)
        passed = mod(cast(time, dtype) - phase, period) / period
        rising = 2 * passed / ratio
        falling_or_closed = where(passed < ratio, 2 - rising, self._leak * passed)
        return where(passed < 0.5 * ratio, rising, falling_or_closed)

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (h, the next state)."""
        (time, x), (c, h) = inputs, state
        x = convert_to_tensor(x)
        seen = [x, h, c] if self._use_peepholes else [x, h]
        take, forget = split(sigmoid(linear(seen, 2 * self._num_units, True, scope="mask_gates")), 2, 1)
        new = tanh(linear([x, h], self._num_units, True, scope="new_input"))
        new_c = c * forget + take * new
        seen = [x, h, new_c] if self._use_peepholes else [x, h]
        new_h = tanh(new_c) * sigmoid(linear(seen, self._num_units, True, scope="output_gate"))
        k = self._openness(time, x.dtype)
        new_c, new_h = k * new_c + (1 - k) * c, k * new_h + (1 - k) * h
        return new_h, LSTMStateTuple(new_c, new_h)


class GRUBlockCellV2(GRUCell):
    """GRUCell under the name of TensorFlow's cell that is one op: the same numbers, and the same variables.

    >>> cell = tf.contrib.rnn.GRUBlockCellV2(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int | None = None, cell_size: int | None = None, reuse: Any = None,
                 name: str = "gru_cell") -> None:
        size = cell_size if num_units is None else num_units
        if size is None or None not in (num_units, cell_size):
            raise ValueError(f"expected num_units or cell_size, got {num_units} and {cell_size}")
        super().__init__(size, reuse=reuse, name=name)


class GRUBlockCell(GRUBlockCellV2):
    """GRUCell under the name of TensorFlow's cell that is one op. Variables: w_ru, b_ru, w_c, b_c.

    >>> cell = tf.contrib.rnn.GRUBlockCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> [v.op.name for v in cell.variables]
    ['gru_cell/w_ru', 'gru_cell/b_ru', 'gru_cell/w_c', 'gru_cell/b_c']
    """

    def build(self, input_shape: Any) -> None:
        """Make kernels and biases."""
        units = self._num_units
        rows = self._depth(input_shape) + units
        self._gate_kernel = self.add_variable("w_ru", [rows, 2 * units])
        self._gate_bias = self.add_variable("b_ru", [2 * units], initializer=constant_initializer(1.0))
        self._candidate_kernel = self.add_variable("w_c", [rows, units])
        self._candidate_bias = self.add_variable("b_c", [units], initializer=constant_initializer(0.0))
        self.built = True


class LSTMBlockCell(LSTMCell):
    """LSTMCell under the name of TensorFlow's cell that is one op: the same numbers, and the same variables.

    >>> cell = tf.contrib.rnn.LSTMBlockCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, cell_clip: float | None = None,
                 use_peephole: bool = False, dtype: Any = None, reuse: Any = None, name: str = "lstm_cell") -> None:
        super().__init__(num_units, use_peephole, cell_clip, forget_bias=forget_bias, reuse=reuse, name=name,
                         dtype=dtype)


describe(globals(), RECURRENT)
