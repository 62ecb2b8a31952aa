"""Recurrent networks in cuDNN's form: `tf.contrib.cudnn_rnn`.

The layers are stacks of cells here, on every device. Their variables are those that TensorFlow's layers write to
checkpoints, the "canonical" ones: kernel and bias of each cell.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.dtypes import as_dtype, float32
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.layers.choices import initializer_of
from tfnb.ops.array.create import zeros
from tfnb.ops.array.joining import concat, stack, unstack
from tfnb.ops.array.reshape import shape
from tfnb.ops.array.slicing import split
from tfnb.ops.math.functions import sigmoid, tanh
from tfnb.ops.nn.activations import bias_add, relu
from tfnb.ops.reductions.matmul import matmul
from tfnb.rnn.cell_stack import MultiRNNCell
from tfnb.rnn.cell_wrappers import DropoutWrapper
from tfnb.rnn.cells import BasicRNNCell, GRUCell, LSTMStateTuple
from tfnb.rnn.contrib_cells import LSTMBlockCell
from tfnb.rnn.dynamic import dynamic_rnn
from tfnb.rnn.fused import stack_bidirectional_dynamic_rnn
from tfnb.variables.initializers import glorot_uniform_initializer, zeros_initializer
from tfnb.variables.template import Template

CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION = "unidirectional", "bidirectional"
CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_RELU, CUDNN_RNN_TANH = "lstm", "gru", "rnn_relu", "rnn_tanh"
CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE = "linear_input", "skip_input", "auto_select"

_ARGUMENTS = {
    "num_layers": "how many layers", "num_units": "the size of a state", "input_mode": '"linear_input"',
    "direction": '"unidirectional" or "bidirectional"', "seed": "of the dropout and of the initial values",
    "dropout": "probability of setting an input of a layer above the first to 0, in training", "dtype": "a float",
    "kernel_initializer": "of each matrix of a gate, by default glorot_uniform",
    "bias_initializer": "None: biases begin as zeros", "name": "of the scope"}


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An LSTM cell with the numbers of a CudnnLSTM: LSTMBlockCell with forget_bias=0. Variables: kernel, bias.

    >>> cell = tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> [v.op.name for v in cell.variables]
    ['cudnn_compatible_lstm_cell/kernel', 'cudnn_compatible_lstm_cell/bias']
    """

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        super().__init__(num_units, forget_bias=0.0, reuse=reuse, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):
    """A GRU cell with the numbers of a CudnnGRU: the reset gate scales the product of the state, not the state.

    Variables: gates/kernel, gates/bias, and kernel and bias of candidate/input_projection and
    candidate/hidden_projection.

    >>> cell = tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(4)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, num_units: int, reuse: Any = None, kernel_initializer: Any = None) -> None:
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer,
                         name="cudnn_compatible_gru_cell")
        self._gate_initializer = self._kernel_initializer

    def build(self, input_shape: Any) -> None:
        """Make kernels and biases."""
        units, depth = self._num_units, self._depth(input_shape)

        def made(name: str, rows: int, columns: int, initializer: Any) -> tuple[Any, Any]:
            """Return kernel and bias."""
            return (self.add_variable(f"{name}/kernel", [rows, columns], initializer=initializer),
                    self.add_variable(f"{name}/bias", [columns], initializer=zeros_initializer()))
        self._gates = made("gates", depth + units, 2 * units, self._gate_initializer)
        self._projections = [made(f"candidate/{name}_projection", rows, units, self._kernel_initializer)
                             for name, rows in (("input", depth), ("hidden", units))]
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Return the next state, twice."""
        kernel, bias = self._gates
        reset, keep = split(value=sigmoid(bias_add(matmul(concat([inputs, state], 1), kernel), bias)),
                            num_or_size_splits=2, axis=1)
        of_inputs, of_state = (bias_add(matmul(x, kernel), bias)
                               for x, (kernel, bias) in zip((inputs, state), self._projections, strict=True))
        output = (1 - keep) * self._activation(of_inputs + reset * of_state) + keep * state
        return output, output


class _SimpleCell(BasicRNNCell):
    def __init__(self, num_units: int, activation: Any, initializer: Any) -> None:
        super().__init__(num_units, activation, name="basic_rnn_cell")
        self._initializer = initializer

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        rows, units = self._depth(input_shape) + self._num_units, self._num_units
        self._kernel = self.add_variable("kernel", [rows, units], initializer=self._initializer)
        self._bias = self.add_variable("bias", [units], initializer=zeros_initializer())
        self.built = True


class _Blocks:
    """Initializer of a kernel [inputs + units, gates * units], whose matrices of each gate are drawn apart."""

    def __init__(self, initializer: Any, units: int) -> None:
        self._initializer, self._units = initializer, units

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Return the initial value."""
        rows, columns = TensorShape(shape).as_list()
        sizes = [size for size in (rows - self._units, self._units) if size > 0]
        return concat([concat([self._initializer([size, self._units], dtype) for _ in range(columns // self._units)], 1)
                       for size in sizes], 0)


class _CudnnRNN:
    """Layers of recurrent cells over sequences, as TensorFlow's layers of cuDNN."""

    _mode = ""
    _states = 1

    def __init__(self, num_layers: int, num_units: int, input_mode: str = CUDNN_INPUT_LINEAR_MODE,
                 direction: str = CUDNN_RNN_UNIDIRECTION, dropout: float = 0.0, seed: int | None = None,
                 dtype: Any = float32, kernel_initializer: Any = None, bias_initializer: Any = None,
                 name: str | None = None) -> None:
        if direction not in (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION):
            raise ValueError(f"direction must be 'unidirectional' or 'bidirectional', got {direction!r}")
        if input_mode != CUDNN_INPUT_LINEAR_MODE:
            raise ValueError(f"input_mode must be 'linear_input' (inputs pass a matrix), got {input_mode!r}")
        if bias_initializer is not None:
            raise ValueError(f"bias_initializer must be None (biases begin as zeros), got {bias_initializer!r}")
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"dropout must be at least 0 and less than 1, got {dropout}")
        self.num_layers, self.num_units, self.direction = num_layers, num_units, direction
        self.num_dirs = 1 if direction == CUDNN_RNN_UNIDIRECTION else 2
        self.dropout, self.seed, self.dtype = dropout, seed, as_dtype(dtype)
        self._plain = initializer_of(kernel_initializer) or glorot_uniform_initializer(seed)
        self._initializer = _Blocks(self._plain, num_units)
        self._network = Template(type(self)._scope_name(), self._built, unique_name=name)

    @classmethod
    def _scope_name(cls) -> str:
        return f"cudnn_{cls._mode}"

    @property
    def rnn_mode(self) -> str:
        """Kind of the cells: "lstm", "gru", "rnn_tanh" or "rnn_relu"."""
        return self._mode

    @property
    def variables(self) -> list[Any]:
        """Variables that have been made."""
        return list(self._network.variables) if self._network._variables_created else []

    @property
    def trainable_variables(self) -> list[Any]:
        """Variables that are trained, that have been made."""
        return list(self._network.trainable_variables) if self._network._variables_created else []

    def state_shape(self, batch_size: int) -> tuple[list[int], ...]:
        """Return the shapes of the parts of a state."""
        return ([self.num_layers * self.num_dirs, batch_size, self.num_units],) * self._states

    def __call__(self, inputs: Any, initial_state: Any = None, sequence_lengths: Any = None, time_major: bool = True,
                 training: bool = True) -> tuple[Any, tuple[Any, ...]]:
        """Return (outputs, last states); see the class."""
        inputs = convert_to_tensor(inputs, self.dtype)
        inputs.shape.assert_has_rank(3)
        made: tuple[Any, tuple[Any, ...]] = self._network(inputs, initial_state, sequence_lengths, time_major, training)
        return made

    def _built(self, inputs: Any, initial_state: Any, lengths: Any, time_major: bool, training: bool) -> Any:
        batch = shape(inputs)[1 if time_major else 0]
        cells = self.num_layers * self.num_dirs
        size = [cells, batch, self.num_units]
        given = [zeros(size, self.dtype)] * self._states if initial_state is None else list(initial_state)
        if len(given) != self._states:
            raise ValueError(f"initial_state must have {self._states} parts, got {len(given)}")
        states = [self._joined(parts) for parts in zip(*(unstack(convert_to_tensor(part), cells) for part in given),
                                                       strict=True)]
        stacks = [[self._wrapped(i, training) for i in range(self.num_layers)] for _ in range(self.num_dirs)]
        if self.num_dirs == 1:
            outputs, last = dynamic_rnn(MultiRNNCell(stacks[0]), inputs, lengths, tuple(states), time_major=time_major)
        else:
            forward, backward = stacks
            outputs, *ends = stack_bidirectional_dynamic_rnn(forward, backward, inputs, states[::2], states[1::2],
                                                             self.dtype, lengths, time_major=time_major)
            last = [state for pair in zip(*ends, strict=True) for state in pair]
        return outputs, tuple(stack(list(parts)) for parts in zip(*map(self._parts, last), strict=True))

    def _wrapped(self, layer: int, training: bool) -> Any:
        cell = self._cell()
        if layer and training and self.dropout:
            return DropoutWrapper(cell, input_keep_prob=1.0 - self.dropout, seed=self.seed)
        return cell

    def _cell(self) -> Any:
        raise NotImplementedError

    def _joined(self, parts: Sequence[Any]) -> Any:
        """Return the state of a cell."""
        return parts[0]

    def _parts(self, state: Any) -> tuple[Any, ...]:
        """Return the parts of the state of a cell."""
        return (state,)


class CudnnLSTM(_CudnnRNN):
    """Layers of LSTM cells over sequences [time, batch, features]; a state is (h, c).

    Calling one takes inputs, initial_state (a tuple of tensors [layers * directions, batch, num_units], zeros if None),
    sequence_lengths, time_major (False: inputs and outputs are [batch, time, features]) and training, a bool, and
    returns (outputs [time, batch, directions * num_units], last states). Raises ValueError for other arguments.

    >>> lstm = tf.contrib.cudnn_rnn.CudnnLSTM(num_layers=2, num_units=4)
    >>> outputs, (h, c) = lstm(tf.ones([5, 2, 3]))
    >>> outputs.shape.as_list(), h.shape.as_list(), lstm.variables[0].op.name
    ([5, 2, 4],
     [2, 2, 4],
     'cudnn_lstm/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell/kernel')
    """

    _mode, _states = CUDNN_LSTM, 2

    def _cell(self) -> Any:
        cell = CudnnCompatibleLSTMCell(self.num_units)
        cell._initializer = self._initializer
        return cell

    def _joined(self, parts: Sequence[Any]) -> Any:
        h, c = parts
        return LSTMStateTuple(c, h)

    def _parts(self, state: Any) -> tuple[Any, ...]:
        return state.h, state.c


class CudnnGRU(_CudnnRNN):
    """Layers of GRU cells over sequences [time, batch, features]; a state is (h,).

    See `tf.contrib.cudnn_rnn.CudnnLSTM`.

    >>> gru = tf.contrib.cudnn_rnn.CudnnGRU(1, 4, direction="bidirectional")
    >>> outputs, (h,) = gru(tf.ones([5, 2, 3]))
    >>> outputs.shape.as_list(), h.shape.as_list()
    ([5, 2, 8], [2, 2, 4])
    """

    _mode = CUDNN_GRU

    def _cell(self) -> Any:
        cell = CudnnCompatibleGRUCell(self.num_units, kernel_initializer=self._plain)
        cell._gate_initializer = self._initializer
        return cell


class CudnnRNNTanh(_CudnnRNN):
    """Layers of cells tanh(W x + R h + b) over sequences [time, batch, features]; a state is (h,).

    See `tf.contrib.cudnn_rnn.CudnnLSTM`.

    >>> outputs, _ = tf.contrib.cudnn_rnn.CudnnRNNTanh(1, 4)(tf.ones([5, 2, 3]))
    >>> outputs.shape.as_list()
    [5, 2, 4]
    """

    _mode, _activation = CUDNN_RNN_TANH, staticmethod(tanh)

    def _cell(self) -> Any:
        return _SimpleCell(self.num_units, self._activation, self._initializer)


class CudnnRNNRelu(CudnnRNNTanh):
    """Layers of cells max(0, W x + R h + b) over sequences [time, batch, features]; a state is (h,).

    See `tf.contrib.cudnn_rnn.CudnnLSTM`.

    >>> outputs, _ = tf.contrib.cudnn_rnn.CudnnRNNRelu(1, 4)(tf.ones([5, 2, 3]))
    >>> outputs.shape.as_list()
    [5, 2, 4]
    """

    _mode, _activation = CUDNN_RNN_RELU, staticmethod(relu)


describe(globals(), {**RECURRENT, **_ARGUMENTS})
