"""Wrappers of cells in `tf.contrib.rnn`: attention to the cell's own past, highways, compilation."""
from __future__ import annotations

from typing import Any

from tfnb.core import nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, reshape
from tfnb.ops.array.slicing import split
from tfnb.ops.math.functions import sigmoid, tanh
from tfnb.ops.nn.activations import xw_plus_b
from tfnb.ops.nn.conv_functions import conv2d
from tfnb.ops.nn.cross_entropy import softmax
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.rnn.cell_wrappers import CellWrapper
from tfnb.rnn.linear import linear
from tfnb.variables.initializers import constant_initializer
from tfnb.variables.scope import get_variable, variable_scope


class AttentionCellWrapper(CellWrapper):
    """A cell that attends to its own last `attn_length` outputs (Bahdanau et al., 2015).

    attn_length: number of steps it looks back; attn_size: size of what it attends to and of the output, by default the
    cell's; attn_vec_size: units of the score, by default attn_size; input_size: of what the cell gets, a projection of
    inputs and attention, by default that of the inputs. State: (the cell's, attention, window) or one tensor. Raises
    ValueError for attn_length below 1 and for cells whose state is no tuple where state_is_tuple says so.

    >>> cell = tf.contrib.rnn.AttentionCellWrapper(tf.contrib.rnn.GRUCell(4), attn_length=3)
    >>> output, state = cell(tf.ones([2, 5]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), [part.shape.as_list() for part in state]
    ([2, 4], [[2, 4], [2, 4], [2, 12]])
    """

    def __init__(self, cell: Any, attn_length: int, attn_size: int | None = None, attn_vec_size: int | None = None,
                 input_size: int | None = None, state_is_tuple: bool = True, reuse: Any = None) -> None:
        super().__init__(cell, _reuse=reuse)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError("Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: "
                             f"{cell.state_size}")
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._length, self._size = attn_length, attn_size or cell.output_size
        self._vec_size, self._input_size = attn_vec_size or self._size, input_size
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        """(The cell's, that of attention, that of the window), or their sum."""
        sizes = (self.cell.state_size, self._size, self._size * self._length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """The size of attention."""
        return self._size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return zeros in the structure of `state_size`."""
        return super(CellWrapper, self).zero_state(batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (output, next state)."""
        if not self._state_is_tuple:
            state = split(state, [self.cell.state_size, self._size, self._size * self._length], 1)
        before, attention, window = state
        window = reshape(window, [-1, self._length, self._size])
        size = inputs.shape.as_list()[1] if self._input_size is None else self._input_size
        output, new_state = self.cell(linear([inputs, attention], size, True), before)
        query = concat(nest.flatten(new_state), 1) if nest.is_nested(new_state) else new_state
        attention = self._attend(query, window)
        with variable_scope("attn_output_projection"):
            output = linear([output, attention], self._size, True)
        window = reshape(concat([window[:, 1:], expand_dims(output, 1)], 1), [-1, self._length * self._size])
        parts = (new_state, attention, window)
        return output, parts if self._state_is_tuple else concat(list(parts), 1)

    def _attend(self, query: Any, window: Any) -> Any:
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, self._size, self._vec_size], query.dtype)
            v = get_variable("attn_v", [self._vec_size], query.dtype)
            hidden = reshape(window, [-1, self._length, 1, self._size])
            y = reshape(linear(query, self._vec_size, True), [-1, 1, 1, self._vec_size])
            score = softmax(reduce_sum(v * tanh(conv2d(hidden, kernel, [1, 1, 1, 1], "SAME") + y), [2, 3]))
            return reshape(reduce_sum(reshape(score, [-1, self._length, 1, 1]) * hidden, [1, 2]), [-1, self._size])


class HighwayWrapper(CellWrapper):
    """A cell with a highway from inputs to outputs (Srivastava et al., 2015): carry * inputs + transform * outputs.

    couple_carry_transform_gates: transform is 1 - carry, else a gate of its own; carry_bias_init: the start of the bias
    of carry, and minus that of transform. Variables: carry_w, carry_b, transform_w, transform_b. Raises ValueError
    where inputs and outputs have different shapes.

    >>> cell = tf.contrib.rnn.HighwayWrapper(tf.contrib.rnn.GRUCell(3))
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 3]
    """

    def __init__(self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0) -> None:
        super().__init__(cell)
        self._coupled, self._start = couple_carry_transform_gates, carry_bias_init

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Return (output, next state). The gates' variables are of the current scope, beside the cell's."""
        outputs, state = self.cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        for a, b in zip(nest.flatten(inputs), nest.flatten(outputs), strict=True):
            a.shape.assert_is_compatible_with(b.shape)
        return nest.map_structure(self._highway, inputs, outputs), state

    def _gate(self, name: str, x: Any, start: float) -> Any:
        size = x.shape.as_list()[1]
        kernel = get_variable(f"{name}_w", [size, size], x.dtype)
        bias = get_variable(f"{name}_b", [size], x.dtype, initializer=constant_initializer(start))
        return sigmoid(xw_plus_b(x, kernel, bias))

    def _highway(self, x: Any, y: Any) -> Any:
        carry = self._gate("carry", x, self._start)
        transform = 1 - carry if self._coupled else self._gate("transform", x, -self._start)
        return x * carry + y * transform


class CompiledWrapper(CellWrapper):
    """A cell as it is: whatever runs twice is compiled. compile_stateful: accepted, without effect.

    >>> cell = tf.contrib.rnn.CompiledWrapper(tf.contrib.rnn.GRUCell(3))
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 3]
    """

    def __init__(self, cell: Any, compile_stateful: bool = False) -> None:
        super().__init__(cell)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Return (output, next state) of the cell inside."""
        return self.cell(inputs, state, scope=scope)


describe(globals(), RECURRENT)
