"""Further recurrent cells of `tf.contrib.rnn`: UGRNN, IntersectionRNN, NAS, SRU, IndRNN, coupled gates."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import RECURRENT, describe
from tfnb.layers.choices import initializer_of
from tfnb.ops.array.joining import concat, tile
from tfnb.ops.array.slicing import split
from tfnb.ops.math.functions import sigmoid, tanh
from tfnb.ops.nn.activations import bias_add, relu
from tfnb.ops.reductions.clip import clip_by_value
from tfnb.ops.reductions.matmul import matmul
from tfnb.rnn.cells import LayerRNNCell, LSTMStateTuple, RNNCell
from tfnb.rnn.linear import linear
from tfnb.variables.initializers import random_uniform_initializer, zeros_initializer
from tfnb.variables.scope import get_variable, get_variable_scope, variable_scope


class _Units(RNNCell):
    """A cell whose state and output have `num_units`."""

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units

    @property
    def state_size(self) -> Any:
        """The number of units."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """The number of units."""
        return self._num_units


class UGRNNCell(_Units):
    """An update gate RNN (Collins et al., 2017): state * gate + candidate * (1 - gate). Variables: kernel, bias.

    >>> cell = tf.contrib.rnn.UGRNNCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, initializer: Any = None, forget_bias: float = 1.0, activation: Any = tanh,
                 reuse: Any = None) -> None:
        super().__init__(num_units, reuse)
        self._initializer, self._forget_bias, self._activation = initializer, forget_bias, activation

    def call(self, inputs: Any, state: Any) -> Any:
        """Return the next state, twice."""
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            gate, candidate = split(linear(concat([inputs, state], 1), 2 * self._num_units, True), 2, 1)
        gate = sigmoid(gate + self._forget_bias)
        made = gate * state + (1.0 - gate) * self._activation(candidate)
        return made, made


class IntersectionRNNCell(_Units):
    """An intersection RNN (Collins et al., 2017): gates in depth and in time. Variables: kernel, bias.

    num_in_proj: size of a projection of the inputs, in_projection/kernel and bias: num_units, where inputs have another
    size; y_activation: of the candidate outputs. Raises ValueError for inputs of another size without it.

    >>> cell = tf.contrib.rnn.IntersectionRNNCell(4, num_in_proj=4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, num_in_proj: int | None = None, initializer: Any = None,
                 forget_bias: float = 1.0, y_activation: Any = relu, reuse: Any = None) -> None:
        super().__init__(num_units, reuse)
        self._initializer, self._forget_bias = initializer, forget_bias
        self._projected, self._y_activation = num_in_proj, y_activation

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (output, next state)."""
        size = inputs.shape.with_rank(2).as_list()[1]
        if size is None:
            raise ValueError("Could not infer input size from inputs.shape[-1]")
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            if size != self._num_units:
                if not self._projected:
                    raise ValueError("Must have input size == output size for Intersection RNN. To fix, num_in_proj "
                                     "should be set to num_units at cell init.")
                with variable_scope("in_projection"):
                    inputs = linear(inputs, self._num_units, True)
            parts = split(linear(concat([inputs, state], 1), 4 * self._num_units, True), 4, 1)
        gate, candidate, depth_gate, output = parts
        gate, depth_gate = sigmoid(gate + self._forget_bias), sigmoid(depth_gate + self._forget_bias)
        made = gate * state + (1.0 - gate) * tanh(candidate)
        return depth_gate * inputs + (1.0 - depth_gate) * self._y_activation(output), made


class NASCell(LayerRNNCell):
    """The cell that neural architecture search found (Zoph and Le, 2017). State: LSTMStateTuple.

    num_proj: outputs are projected to this size by projection_weights; use_bias: whether there is a variable bias.
    Variables: kernel, recurrent_kernel.

    >>> cell = tf.contrib.rnn.NASCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, num_proj: int | None = None, use_bias: bool = False, reuse: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(num_units, reuse=reuse, **kwargs)
        self._num_proj, self._use_bias = num_proj, use_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        """The sizes of memory and output."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        """The size of the projection, or the number of units."""
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        units = self._num_units
        self._recurrent = self.add_variable("recurrent_kernel", [self.output_size, 8 * units])
        self._kernel = self.add_variable("kernel", [self._depth(input_shape), 8 * units])
        if self._use_bias:
            self._bias = self.add_variable("bias", [8 * units], initializer=zeros_initializer())
        if self._num_proj is not None:
            self._projection = self.add_variable("projection_weights", [units, self._num_proj])
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (output, next state)."""
        c, m = state
        again = matmul(m, self._recurrent)
        if self._use_bias:
            again = bias_add(again, self._bias)
        x, y = split(matmul(inputs, self._kernel), 8, 1), split(again, 8, 1)
        first = tanh(sigmoid(x[0] + y[0]) * relu(x[1] + y[1]))
        second = tanh(sigmoid(x[2] + y[2]) + relu(x[3] * y[3]))
        third = tanh(tanh(x[4] + y[4]) * sigmoid(x[5] + y[5]))
        fourth = sigmoid(tanh(x[6] + y[6]) + sigmoid(x[7] + y[7]))
        new_c = tanh(first + c) * second
        new_m = tanh(new_c * tanh(third + fourth))
        if self._num_proj is not None:
            new_m = matmul(new_m, self._projection)
        return new_m, LSTMStateTuple(new_c, new_m)


class SRUCell(LayerRNNCell):
    """A simple recurrent unit (Lei et al., 2017): gates of the inputs alone. Variables: kernel, bias.

    >>> cell = tf.contrib.rnn.SRUCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None, name: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(num_units, activation, reuse, name, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        self._kernel = self.add_variable("kernel", [self._depth(input_shape), 4 * self._num_units])
        self._bias = self.add_variable("bias", [2 * self._num_units], initializer=zeros_initializer())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (output, next state)."""
        candidate, forget, reset, passed = split(matmul(inputs, self._kernel), 4, 1)
        forget, reset = split(sigmoid(bias_add(concat([forget, reset], 1), self._bias)), 2, 1)
        c = forget * state + (1.0 - forget) * candidate
        return reset * self._activation(c) + (1.0 - reset) * passed, c


class _Independent(LayerRNNCell):
    """A cell whose units see only themselves at the step before: kernel_u has one row."""

    def _variables(self, depth: int, gates: int) -> None:
        size = gates * self._num_units
        self._kernel_w = self.add_variable("kernel_w", [depth, size])
        self._kernel_u = self.add_variable("kernel_u", [1, size], initializer=random_uniform_initializer(-1.0, 1.0))
        self._bias = self.add_variable("bias", [size], initializer=zeros_initializer())
        self.built = True

    def _sum(self, inputs: Any, h: Any) -> Any:
        return bias_add(matmul(inputs, self._kernel_w) + h * self._kernel_u, self._bias)


class IndRNNCell(_Independent):
    """An independently recurrent network (Li et al., 2018): activation(inputs * kernel_w + state . kernel_u + bias).

    >>> cell = tf.contrib.rnn.IndRNNCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        self._variables(self._depth(input_shape), 1)

    def call(self, inputs: Any, state: Any) -> Any:
        """Return the next state, twice."""
        output = self._activation(self._sum(inputs, state))
        return output, output


class IndyLSTMCell(_Independent):
    """An LSTM whose units see only themselves at the step before. Variables: kernel_w, kernel_u, bias.

    >>> cell = tf.contrib.rnn.IndyLSTMCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, activation: Any = None, reuse: Any = None,
                 kernel_initializer: Any = None, bias_initializer: Any = None, name: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)
        self._forget_bias = forget_bias
        self._starts = initializer_of(kernel_initializer), initializer_of(bias_initializer)

    @property
    def state_size(self) -> LSTMStateTuple:
        """An LSTMStateTuple of the number of units, twice."""
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        kernel, bias = self._starts
        size = 4 * self._num_units
        self._kernel_w = self.add_variable("kernel_w", [self._depth(input_shape), size], initializer=kernel)
        self._kernel_u = self.add_variable("kernel_u", [1, size], initializer=random_uniform_initializer(-1.0, 1.0)
                                           if kernel is None else kernel)
        self._bias = self.add_variable("bias", [size], initializer=zeros_initializer() if bias is None else bias)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (h, the next state)."""
        c, h = state
        i, j, f, o = split(self._sum(inputs, tile(h, [1, 4])), 4, 1)
        c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * self._activation(j)
        h = self._activation(c) * sigmoid(o)
        return h, LSTMStateTuple(c, h)


class CoupledInputForgetGateLSTMCell(_Units):
    """An LSTM whose input gate is 1 - the forget gate (Greff et al., 2015). Variables: W_0, B.

    num_proj: outputs are projected to this size by W_P_0 and cut to [-proj_clip, proj_clip]; use_peepholes: gates see
    the memory by W_F_diag and W_O_diag. num_unit_shards, num_proj_shards: 1. layer_norm: not there, an error;
    norm_gain, norm_shift: of it.

    >>> cell = tf.contrib.rnn.CoupledInputForgetGateLSTMCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, initializer: Any = None,
                 num_proj: int | None = None, proj_clip: Any = None, num_unit_shards: int = 1,
                 num_proj_shards: int = 1, forget_bias: float = 1.0, state_is_tuple: bool = True,
                 activation: Any = tanh, reuse: Any = None, layer_norm: bool = False, norm_gain: float = 1.0,
                 norm_shift: float = 0.0) -> None:
        super().__init__(num_units, reuse)
        if layer_norm or num_unit_shards != 1 or num_proj_shards != 1:
            raise NotImplementedError("CoupledInputForgetGateLSTMCell has no layer_norm and no shards here: use "
                                      "LayerNormBasicLSTMCell, or one shard")
        self._use_peepholes, self._initializer, self._activation = use_peepholes, initializer, activation
        self._num_proj, self._proj_clip, self._forget_bias = num_proj, proj_clip, forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        """An LSTMStateTuple of sizes, or the sum of both."""
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """The size of the projection, or the number of units."""
        return self._num_proj or self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (h, the next state)."""
        units, dtype = self._num_units, inputs.dtype
        before, h = state if self._state_is_tuple else split(state, [units, self.output_size], 1)
        depth = inputs.shape.with_rank(2).as_list()[1]
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            kernel = get_variable("W_0", [depth + self.output_size, 3 * units], dtype)
            bias = get_variable("B", [3 * units], dtype, initializer=zeros_initializer())
            j, f, o = split(bias_add(matmul(concat([inputs, h], 1), kernel), bias), 3, 1)
            if self._use_peepholes:
                f = f + get_variable("W_F_diag", [units], dtype) * before
            forget = sigmoid(f + self._forget_bias)
            c = forget * before + (1 - forget) * self._activation(j)
            if self._use_peepholes:
                o = o + get_variable("W_O_diag", [units], dtype) * c
            m = sigmoid(o) * self._activation(c)
            if self._num_proj is not None:
                m = matmul(m, get_variable("W_P_0", [units, self._num_proj], dtype))
                if self._proj_clip is not None:
                    m = clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else concat([c, m], 1)


describe(globals(), RECURRENT)
