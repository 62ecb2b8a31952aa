"""Neural Turing machine: `tf.contrib.rnn.NTMCell`."""
from __future__ import annotations

from collections import namedtuple
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.shape import TensorShape
from tfnb.layers.weighted import channel_size
from tfnb.ops.array.create import zeros
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, reshape
from tfnb.ops.array.roll import roll
from tfnb.ops.array.slicing import split
from tfnb.ops.control.source import constant
from tfnb.ops.math.arithmetic import square
from tfnb.ops.math.compare import equal, where_v2
from tfnb.ops.math.functions import sigmoid, sqrt, tanh
from tfnb.ops.nn.activations import bias_add, softplus
from tfnb.ops.nn.cross_entropy import softmax
from tfnb.ops.reductions.clip import clip_by_value
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.rnn.cell_shapes import zero_states
from tfnb.rnn.cells import RNNCell
from tfnb.variables.initializers import (
    glorot_uniform_initializer,
    truncated_normal_initializer,
    zeros_initializer,
)

NTMControllerState = namedtuple("NTMControllerState", ("controller_state", "read_vector_list", "w_list", "M", "time"))

_FIRST_MEMORY = 1e-6                               # Collier and Beel, 2018: converges faster than random memory
_EPSILON = 1e-8                                    # below the product of norms, so that empty memory has no NaN


class NTMCell(RNNCell):
    """A neural Turing machine (Graves et al., 2014), with the first state of Collier and Beel (2018).

    A controller, any cell, gets the inputs and what was read in the step before; its outputs choose where each head
    reads or writes, by content (cosine similarity), then by location (interpolation, circular shift, sharpening). All
    heads read the memory of the step before; write heads erase, then add, one after the other.

    memory_size: number N of locations. memory_vector_dim: size M of each. read_head_num, write_head_num: number of
    heads. shift_range: the most locations by which a head moves in a step. output_dim: size of the outputs, by default
    that of the inputs. clip_value: outputs, and the parameters of the heads, are clipped to [-clip_value, clip_value].
    State: NTMControllerState of the controller's state, read vectors (batch, M), weights of the heads (batch, N), those
    that read first, memory (batch, N * M), and the number of steps. In step 0 read vectors and weights are trained
    variables, and the memory is 1e-6, whatever the state has. Raises ValueError if shifts go around the memory.

    >>> cell = tf.contrib.rnn.NTMCell(tf.nn.rnn_cell.LSTMCell(8), memory_size=6, memory_vector_dim=4, read_head_num=1,
    ...                               write_head_num=1, output_dim=2)
    >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([3, 5, 2]), dtype=tf.float32)
    >>> outputs.shape.as_list(), state.M.shape.as_list()
    ([3, 5, 2], [3, 24])
    """

    def __init__(self, controller: Any, memory_size: int, memory_vector_dim: int, read_head_num: int,
                 write_head_num: int, shift_range: int = 1, output_dim: int | None = None, clip_value: float = 20,
                 dtype: Any = dtypes.float32, name: str | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        if 2 * shift_range + 1 > memory_size:
            raise ValueError(f"shift_range must be at most (memory_size - 1) / 2, got {shift_range} with memory_size "
                             f"{memory_size}")
        self._controller, self._shifts = controller, shift_range
        self._locations, self._width = memory_size, memory_vector_dim
        self._readers, self._writers = read_head_num, write_head_num
        self._output_dim, self._clip = output_dim, clip_value

    @property
    def state_size(self) -> NTMControllerState:
        """The sizes of the parts of the state."""
        heads = self._readers + self._writers
        return NTMControllerState(self._controller.state_size, [self._width] * self._readers, [self._locations] * heads,
                                  TensorShape([self._locations * self._width]), TensorShape([]))

    @property
    def output_size(self) -> int | None:
        """The size of the outputs: None until it is known from the inputs."""
        return self._output_dim

    def zero_state(self, batch_size: Any, dtype: Any) -> NTMControllerState:
        """Return zeros (batch_size, size) in the structure of `state_size`, and step 0, an int32 scalar."""
        made: NTMControllerState = zero_states(self.state_size, batch_size, dtype)
        return made._replace(time=zeros([], dtypes.int32))

    def build(self, input_shape: Any) -> None:
        """Make the variables. The controller makes its own."""
        if self._output_dim is None:
            self._output_dim = channel_size(TensorShape(input_shape), -1, "last dimension")
        hidden, width, places = self._controller.output_size, self._width, self._locations
        heads = self._readers + self._writers
        head = width + 3 + 2 * self._shifts + 1
        affine = []
        for part, rows, columns in (("parameters", hidden, head * heads + 2 * width * self._writers),
                                    ("output", hidden + width * self._readers, self._output_dim)):
            affine.append((
                self.add_variable(f"{part}_kernel", [rows, columns],
                                  initializer=truncated_normal_initializer(stddev=rows ** -0.5)),
                self.add_variable(f"{part}_bias", [columns], initializer=zeros_initializer())))
        self._parameters, self._output = affine
        start = glorot_uniform_initializer()
        self._first_reads = [self.add_variable(f"initial_read_{i}", [1, width], initializer=start)
                             for i in range(self._readers)]
        self._first_weights = [self.add_variable(f"initial_weights_{i}", [1, places], initializer=start)
                               for i in range(heads)]
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (output, next state)."""
        begins = equal(state.time, 0)
        reads = [where_v2(begins, tanh(first), read)
                 for first, read in zip(self._first_reads, state.read_vector_list, strict=True)]
        before = [where_v2(begins, softmax(first), weights)
                  for first, weights in zip(self._first_weights, state.w_list, strict=True)]
        memory = where_v2(begins, constant(_FIRST_MEMORY, state.M.dtype), state.M)
        memory = reshape(memory, [-1, self._locations, self._width])

        hidden, controller_state = self._controller(concat([inputs, *reads], 1), state.controller_state)
        parameters = self._clipped(hidden, self._parameters)
        heads = len(before)
        sizes = [self._width, 1, 1, 2 * self._shifts + 1, 1] * heads + [self._width, self._width] * self._writers
        parts = split(parameters, sizes, 1)
        weights = [self._addressed(memory, last, *parts[5 * i:5 * i + 5]) for i, last in enumerate(before)]
        reads = [reduce_sum(expand_dims(each, 2) * memory, 1) for each in weights[:self._readers]]
        changes = parts[5 * heads:]
        for each, erase, add in zip(weights[self._readers:], changes[::2], changes[1::2], strict=True):
            place = expand_dims(each, 2)
            memory = memory * (1 - place * expand_dims(sigmoid(erase), 1)) + place * expand_dims(tanh(add), 1)
        output = self._clipped(concat([hidden, *reads], 1), self._output)
        memory = reshape(memory, [-1, self._locations * self._width])
        return output, NTMControllerState(controller_state, reads, weights, memory, state.time + 1)

    def _clipped(self, x: Any, affine: Any) -> Any:
        kernel, bias = affine
        return clip_by_value(bias_add(matmul(x, kernel), bias), -self._clip, self._clip)

    def _addressed(self, memory: Any, last: Any, key: Any, strength: Any, gate: Any, shift: Any, sharpness: Any) -> Any:
        """Return the weights (batch, N) of a head from its parameters before activation, by section 3.3."""
        key = expand_dims(tanh(key), 1)
        norms = sqrt(reduce_sum(square(memory), 2)) * sqrt(reduce_sum(square(key), 2))
        similarity = reduce_sum(memory * key, 2) / (norms + _EPSILON)
        content = softmax(softplus(strength) * similarity)
        gate = sigmoid(gate)
        mixed = gate * content + (1 - gate) * last
        # Probabilities of shifts 0, 1, ..., R, -R, ..., -1: the order of a circular convolution.
        shares = split(softmax(shift), 2 * self._shifts + 1, 1)
        offsets = [*range(self._shifts + 1), *range(-self._shifts, 0)]
        moved = shares[0] * mixed
        for share, offset in zip(shares[1:], offsets[1:], strict=True):
            moved += share * roll(mixed, offset, 1)
        sharp = moved ** (softplus(sharpness) + 1)
        return sharp / reduce_sum(sharp, 1, keepdims=True)


describe(globals(), RECURRENT)
