"""Further recurrent cells of `tf.contrib.rnn`: groups, normalized weights, one gate or contractions."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import RECURRENT, describe
from tfnb.layers.choices import initializer_of
from tfnb.ops.array.joining import concat, tile
from tfnb.ops.array.slicing import split
from tfnb.ops.math.functions import sigmoid, tanh
from tfnb.ops.nn.activations import bias_add
from tfnb.ops.reductions.clip import clip_by_value
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import l2_normalize
from tfnb.rnn.cells import LayerRNNCell, LSTMStateTuple, RNNCell
from tfnb.rnn.contrib_cells import Normed
from tfnb.rnn.linear import linear
from tfnb.variables.initializers import (
    glorot_uniform_initializer,
    ones_initializer,
    random_uniform_initializer,
    zeros_initializer,
)
from tfnb.variables.scope import get_variable, get_variable_scope, variable_scope


class _Projected(RNNCell):
    """An LSTM whose outputs may be projected. Subclasses have `_gates`: the sums of input, new, forget and output."""

    def __init__(self, num_units: int, num_proj: int | None, initializer: Any, forget_bias: float, activation: Any,
                 reuse: Any) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._num_proj, self._initializer = num_units, num_proj, initializer
        self._forget_bias, self._activation = forget_bias, activation or tanh
        self._use_peepholes = False
        self._cell_clip: float | None = None
        self._proj_clip: float | None = None

    @property
    def state_size(self) -> LSTMStateTuple:
        """The sizes of memory and output."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        """The size of the projection, or the number of units."""
        return self._num_proj or self._num_units

    def _gates(self, inputs: Any, h: Any) -> Any:
        raise NotImplementedError

    def _memory(self, c: Any) -> Any:
        return c

    def _project(self, h: Any) -> Any:
        with variable_scope("projection"):
            return linear(h, self.output_size, False)

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (output, next state)."""
        before, h = state
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            i, j, f, o = self._gates(inputs, h)
            f_seen, i_seen, o_seen = [get_variable(f"w_{gate}_diag", [self._num_units], inputs.dtype)
                                      for gate in "fio"] if self._use_peepholes else (None, None, None)
            if self._use_peepholes:
                f, i = f + f_seen * before, i + i_seen * before
            c = self._memory(sigmoid(f + self._forget_bias) * before + sigmoid(i) * self._activation(j))
            if self._cell_clip is not None:
                c = clip_by_value(c, -self._cell_clip, self._cell_clip)
            h = sigmoid(o + o_seen * c if self._use_peepholes else o) * self._activation(c)
            if self._num_proj is not None:
                h = self._project(h)
                if self._proj_clip is not None:
                    h = clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h)


class GLSTMCell(_Projected):
    """An LSTM of groups (Kuchaiev and Ginsburg, 2017), each with its part of inputs and outputs.

    number_of_groups: divides num_units, num_proj and the size of the inputs, else ValueError. num_proj: outputs are
    projected to this size. Variables: group0/kernel..., bias_i, bias_j, bias_f, bias_o, projection/kernel.

    >>> cell = tf.contrib.rnn.GLSTMCell(4, number_of_groups=2)
    >>> output, state = cell(tf.ones([2, 6]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, initializer: Any = None, num_proj: int | None = None,
                 number_of_groups: int = 1, forget_bias: float = 1.0, activation: Any = tanh,
                 reuse: Any = None) -> None:
        super().__init__(num_units, num_proj, initializer, forget_bias, activation, reuse)
        for name, size in (("num_units", num_units), ("num_proj", num_proj or 0)):
            if size % number_of_groups:
                raise ValueError(f"{name} must be divisible by number_of_groups, got {size} and {number_of_groups}")
        self._groups = number_of_groups

    def _gates(self, inputs: Any, h: Any) -> Any:
        size = inputs.shape.with_rank(2).as_list()[1]
        if size is None or size % self._groups:
            raise ValueError(f"input size ({size}) must be divisible by number_of_groups ({self._groups})")
        parts = []
        for k, (x, part) in enumerate(zip(split(inputs, self._groups, 1), split(h, self._groups, 1), strict=True)):
            with variable_scope(f"group{k}"):
                product = linear(concat([x, part], 1), 4 * self._num_units // self._groups, False)
            parts.append(split(product, 4, 1))
        return [bias_add(concat(list(gate), 1), get_variable(
            f"bias_{name}", [self._num_units], inputs.dtype, initializer=zeros_initializer()))
            for name, gate in zip("ijfo", zip(*parts, strict=True), strict=True)]


class LayerNormLSTMCell(Normed, _Projected):
    """An LSTM with peepholes, projection and layer normalization (Ba et al., 2016).

    cell_clip: the memory is cut to [-cell_clip, cell_clip]. num_proj: outputs are projected to this size, and cut to
    [-proj_clip, proj_clip]. layer_norm: normalize gates and memory, by `gamma` and `beta` of the scopes input,
    transform, forget, output and state, which begin as norm_gain and norm_shift; then the bias has no effect.

    >>> cell = tf.contrib.rnn.LayerNormLSTMCell(4, use_peepholes=True, layer_norm=True)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, use_peepholes: bool = False, cell_clip: float | None = None,
                 initializer: Any = None, num_proj: int | None = None, proj_clip: float | None = None,
                 forget_bias: float = 1.0, activation: Any = None, layer_norm: bool = False, norm_gain: float = 1.0,
                 norm_shift: float = 0.0, reuse: Any = None) -> None:
        super().__init__(num_units, num_proj, initializer, forget_bias, activation, reuse)
        self._use_peepholes, self._cell_clip, self._proj_clip = use_peepholes, cell_clip, proj_clip
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift

    def _gates(self, inputs: Any, h: Any) -> Any:
        size = 4 * self._num_units
        sums = linear([inputs, h], size, bias=not self._layer_norm)
        if self._layer_norm:
            get_variable("bias", [size], inputs.dtype, initializer=zeros_initializer())
        return [self._normed(part, scope) for part, scope in
                zip(split(sums, 4, 1), ("input", "transform", "forget", "output"), strict=True)]

    def _memory(self, c: Any) -> Any:
        return self._normed(c, "state")


class WeightNormLSTMCell(_Projected):
    """An LSTM with normalized weights (Salimans and Kingma, 2016): columns of length `norm_0`, `norm_1`.

    norm: False leaves weights as they are. cell_clip, num_proj, proj_clip: as of LSTMCell. Variables in the scope
    wn_lstm_cell.

    >>> cell = tf.contrib.rnn.WeightNormLSTMCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, norm: bool = True, use_peepholes: bool = False, cell_clip: float | None = None,
                 initializer: Any = None, num_proj: int | None = None, proj_clip: float | None = None,
                 forget_bias: float = 1, activation: Any = None, reuse: Any = None) -> None:
        super().__init__(num_units, num_proj, initializer, forget_bias, activation, reuse)
        self._use_peepholes, self._cell_clip, self._proj_clip = use_peepholes, cell_clip, proj_clip
        self._norm = norm

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (output, next state)."""
        with variable_scope("wn_lstm_cell"):
            return super().call(inputs, state)

    def _weighted(self, parts: list[Any], size: int) -> Any:
        depths = [part.shape.as_list()[1] for part in parts]
        kernel = get_variable("kernel", [sum(depths), size], parts[0].dtype)
        if self._norm:
            kernel = concat([l2_normalize(rows, 0) * get_variable(f"norm_{k}", [size], kernel.dtype)
                             for k, rows in enumerate(split(kernel, depths, 0))], 0)
        return matmul(concat(parts, 1) if len(parts) > 1 else parts[0], kernel)

    def _gates(self, inputs: Any, h: Any) -> Any:
        size = 4 * self._num_units
        sums = self._weighted([inputs, h], size)
        bias = get_variable("bias", [size], inputs.dtype, initializer=zeros_initializer())
        return split(bias_add(sums, bias), 4, 1)

    def _project(self, h: Any) -> Any:
        with variable_scope("projection"):
            return self._weighted([h], self.output_size)


class IndyGRUCell(LayerRNNCell):
    """A GRU whose units see only themselves at the step before. Variables: gates/ and candidate/ kernels and biases.

    >>> cell = tf.contrib.rnn.IndyGRUCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None, kernel_initializer: Any = None,
                 bias_initializer: Any = None, name: Any = None, dtype: Any = None) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)
        self._starts = initializer_of(kernel_initializer), initializer_of(bias_initializer)

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        kernel, bias = self._starts
        depth, units, own = self._depth(input_shape), self._num_units, random_uniform_initializer(-1.0, 1.0)
        self._gates = [
            self.add_variable("gates/kernel_w", [depth, 2 * units], initializer=kernel),
            self.add_variable("gates/kernel_u", [1, 2 * units], initializer=own),
            self.add_variable("gates/bias", [2 * units], initializer=bias or ones_initializer())]
        self._candidate = [
            self.add_variable("candidate/kernel", [depth, units], initializer=kernel),
            self.add_variable("candidate/kernel_u", [1, units], initializer=own),
            self.add_variable("candidate/bias", [units], initializer=bias or zeros_initializer())]
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Return the next state, twice."""
        w, u, b = self._gates
        reset, update = split(sigmoid(bias_add(matmul(inputs, w) + tile(state, [1, 2]) * u, b)), 2, 1)
        w, u, b = self._candidate
        candidate = self._activation(bias_add(matmul(inputs, w) + reset * state * u, b))
        made = update * state + (1 - update) * candidate
        return made, made


class _Described(LayerRNNCell):
    """A cell of `units` with initializers and an activation by name."""

    def __init__(self, units: int, activation: Any = "tanh", kernel_initializer: Any = "glorot_uniform",
                 bias_initializer: Any = "ones", name: Any = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(units, activation, None, name, dtype, **kwargs)
        self.units = units
        known = {"glorot_uniform": glorot_uniform_initializer(), "ones": ones_initializer(),
                 "zeros": zeros_initializer()}
        self._kernel_start = initializer_of(known.get(kernel_initializer, kernel_initializer))
        self._bias_start = initializer_of(known.get(bias_initializer, bias_initializer))


class MinimalRNNCell(_Described):
    """A MinimalRNN (Chen et al., 2018): gate * state + (1 - gate) * activation(projected inputs).

    Variables: kernel, bias. units: of state and output. kernel_initializer, bias_initializer: names or functions.

    >>> cell = tf.contrib.rnn.MinimalRNNCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        self._inputs = self._depth(input_shape)
        self._kernel = self.add_variable("kernel", [self._inputs + 2 * self.units, self.units],
                                         initializer=self._kernel_start)
        self._bias = self.add_variable("bias", [self.units], initializer=self._bias_start)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Return the next state, twice."""
        forward, gate = split(self._kernel, [self._inputs, 2 * self.units], 0)
        seen = self._activation(matmul(inputs, forward))
        update = sigmoid(bias_add(matmul(concat([seen, state], 1), gate), self._bias))
        made = update * state + (1 - update) * seen
        return made, made


class CFNCell(_Described):
    """A chaos-free network (Laurent and von Brecht, 2017). Variables: kernel, recurrent_kernel, bias.

    theta * activation(state) + (1 - eta) * activation(inputs * W): the input gate is 1 - eta, as in TensorFlow.
    units: of state and output. kernel_initializer, bias_initializer: names or functions.

    >>> cell = tf.contrib.rnn.CFNCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def build(self, input_shape: Any) -> None:
        """Make the variables."""
        units = self.units
        self._kernel = self.add_variable("kernel", [self._depth(input_shape), 3 * units],
                                         initializer=self._kernel_start)
        self._recurrent = self.add_variable("recurrent_kernel", [units, 2 * units], initializer=self._kernel_start)
        self._bias = self.add_variable("bias", [2 * units], initializer=self._bias_start)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Return the next state, twice."""
        gates, seen = split(matmul(inputs, self._kernel), [2 * self.units, self.units], 1)
        theta, eta = split(sigmoid(bias_add(matmul(state, self._recurrent) + gates, self._bias)), 2, 1)
        made = theta * self._activation(state) + (1 - eta) * self._activation(seen)
        return made, made


describe(globals(), RECURRENT)
