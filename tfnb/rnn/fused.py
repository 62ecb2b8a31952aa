"""Cells over whole sequences, and stacks of bidirectional networks: `tf.contrib.rnn`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core import nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.ops.array.joining import concat, stack, unstack
from tfnb.ops.array.reshape import reverse
from tfnb.ops.array.reverse_sequence import reverse_sequence
from tfnb.rnn.cells import LSTMStateTuple
from tfnb.rnn.contrib_cells import LSTMBlockCell
from tfnb.rnn.dynamic import bidirectional_dynamic_rnn, dynamic_rnn
from tfnb.rnn.static import static_bidirectional_rnn, static_rnn
from tfnb.variables.scope import get_variable_scope, variable_scope


class FusedRNNCell:
    """The interface of cells over whole sequences: (inputs [steps, batch, size], initial state) -> (outputs, state).

    >>> issubclass(tf.contrib.rnn.FusedRNNCellAdaptor, tf.contrib.rnn.FusedRNNCell)
    True
    """

    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
                 scope: Any = None) -> Any:
        """Return (outputs [steps, batch, size], final state)."""
        raise NotImplementedError("Abstract method")


class FusedRNNCellAdaptor(FusedRNNCell):
    """An RNNCell over whole sequences. use_dynamic_rnn: as one loop; else unrolled, for a known number of steps.

    >>> fused = tf.contrib.rnn.FusedRNNCellAdaptor(tf.contrib.rnn.GRUCell(4), use_dynamic_rnn=True)
    >>> outputs, state = fused(tf.ones([5, 2, 3]), dtype=tf.float32)
    >>> outputs.shape.as_list(), state.shape.as_list()
    ([5, 2, 4], [2, 4])
    """

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
                 scope: Any = None) -> Any:
        """Return (outputs [steps, batch, size], final state)."""
        listed = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            outputs, state = dynamic_rnn(self._cell, stack(inputs) if listed else inputs, sequence_length,
                                         initial_state, dtype, time_major=True, scope=scope)
            return (unstack(outputs) if listed else outputs), state
        steps, state = static_rnn(self._cell, inputs if listed else unstack(convert_to_tensor(inputs)), initial_state,
                                  dtype, sequence_length, scope=scope)
        return (steps if listed else stack(steps)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A cell over whole sequences from their end to their beginning; outputs stand in the order of the inputs.

    >>> fused = tf.contrib.rnn.TimeReversedFusedRNN(tf.contrib.rnn.LSTMBlockFusedCell(4))
    >>> outputs, state = fused(tf.ones([5, 2, 3]), dtype=tf.float32)
    >>> outputs.shape.as_list()
    [5, 2, 4]
    """

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
                 scope: Any = None) -> Any:
        """Return (outputs [steps, batch, size], final state)."""
        def turned(x: Any) -> Any:
            if sequence_length is None:
                return reverse(x, axis=[0])
            return reverse_sequence(x, sequence_length, seq_axis=0, batch_axis=1)
        outputs, state = self._cell(turned(convert_to_tensor(inputs)), initial_state, dtype, sequence_length,
                                    scope=scope)
        return nest.map_structure(turned, outputs), state


class LSTMBlockFusedCell(FusedRNNCell):
    """An LSTM over whole sequences: one compiled loop, with the variables of one kernel.

    Variables: lstm_fused_cell/kernel and bias, with use_peephole also w_i_diag, w_f_diag and w_o_diag. reuse: whether
    variables exist already. State: LSTMStateTuple.

    >>> outputs, state = tf.contrib.rnn.LSTMBlockFusedCell(4)(tf.ones([5, 2, 3]), dtype=tf.float32)
    >>> outputs.shape.as_list(), state.c.shape.as_list()
    ([5, 2, 4], [2, 4])
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, cell_clip: float | None = None,
                 use_peephole: bool = False, reuse: Any = None, dtype: Any = None,
                 name: str = "lstm_fused_cell") -> None:
        self._cell = LSTMBlockCell(num_units, forget_bias, cell_clip, use_peephole, dtype, reuse, name)
        self._num_units = num_units

    @property
    def num_units(self) -> int:
        """The number of units."""
        return self._num_units

    @property
    def trainable_variables(self) -> list[Any]:
        """The variables to train."""
        return self._cell.trainable_variables

    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
                 scope: Any = None) -> Any:
        """Return (outputs [steps, batch, units], final state); a list of inputs gives a list of outputs."""
        listed = isinstance(inputs, list)
        x = stack(inputs) if listed else convert_to_tensor(inputs)
        cell, dtype = self._cell, dtype or x.dtype
        if not cell.built:                             # in this scope, not in that of the loop
            cell._set_scope(scope)
            cell._dtype = cell._dtype or x.dtype.name
            cell.build(x.shape[1:])
        if initial_state is not None:
            initial_state = LSTMStateTuple(*initial_state)
        outputs, state = dynamic_rnn(cell, x, sequence_length, initial_state, dtype, time_major=True)
        return (unstack(outputs) if listed else outputs), state


def _checked_cells(forward: Any, backward: Any, states_fw: Any, states_bw: Any) -> None:
    for what, cells in (("fw", forward), ("bw", backward)):
        if not cells:
            raise ValueError(f"Must specify at least one {what} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{what} must be a list of RNNCells (one per layer).")
    if len(forward) != len(backward):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for what, states in (("fw", states_fw), ("bw", states_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(forward)):
            raise ValueError(f"initial_states_{what} must be a list of state tensors (one per layer).")


def _layers(cells_fw: Any, cells_bw: Any, inputs: Any, states_fw: Any, states_bw: Any, scope: Any,
            layer: Callable[..., tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
    _checked_cells(cells_fw, cells_bw, states_fw, states_bw)
    last_fw, last_bw = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (forward, backward) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{number}"):
                inputs, state_fw, state_bw = layer(forward, backward, inputs, states_fw and states_fw[number],
                                                   states_bw and states_bw[number])
            last_fw.append(state_fw)
            last_bw.append(state_bw)
    return inputs, tuple(last_fw), tuple(last_bw)


def stack_bidirectional_rnn(cells_fw: Any, cells_bw: Any, inputs: Any, initial_states_fw: Any = None,
                            initial_states_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                            scope: Any = None) -> tuple[Any, Any, Any]:
    """Stack bidirectional networks, unrolled: (outputs, last states forward, last states backward).

    cells_fw, cells_bw: lists of cells, one for each layer; the inputs of a layer are both outputs of the one below side
    by side. initial_states_fw, initial_states_bw: lists of first states. Raises ValueError for other lists.

    >>> cells = [[tf.nn.rnn_cell.GRUCell(4) for _ in range(2)] for _ in range(2)]
    >>> outputs, states, _ = tf.contrib.rnn.stack_bidirectional_rnn(*cells, [tf.ones([2, 3])] * 5, dtype=tf.float32)
    >>> len(outputs), outputs[0].shape.as_list(), len(states)
    (5, [2, 8], 2)
    """
    return _layers(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope,
                   lambda forward, backward, x, first, last: static_bidirectional_rnn(
                       forward, backward, x, first, last, dtype, sequence_length, get_variable_scope()))


def stack_bidirectional_dynamic_rnn(cells_fw: Any, cells_bw: Any, inputs: Any, initial_states_fw: Any = None,
                                    initial_states_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                                    parallel_iterations: int | None = None, time_major: bool = False,
                                    scope: Any = None, swap_memory: bool = False) -> tuple[Any, Any, Any]:
    """Stack bidirectional networks as loops: (outputs, last states forward, last states backward).

    cells_fw, cells_bw: lists of cells, one for each layer; the inputs of a layer are both outputs of the one below side
    by side. initial_states_fw, initial_states_bw: lists of first states. Raises ValueError for other lists.

    >>> cells = [[tf.nn.rnn_cell.GRUCell(4) for _ in range(2)] for _ in range(2)]
    >>> inputs = tf.ones([2, 5, 3])
    >>> outputs, states, _ = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(*cells, inputs, dtype=tf.float32)
    >>> outputs.shape.as_list(), len(states)
    ([2, 5, 8], 2)
    """
    def layer(forward: Any, backward: Any, x: Any, first: Any, last: Any) -> tuple[Any, Any, Any]:
        outputs, states = bidirectional_dynamic_rnn(
            forward, backward, x, sequence_length, first, last, dtype, parallel_iterations, swap_memory, time_major)
        return concat(outputs, 2), *states
    return _layers(cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope, layer)


describe(globals(), RECURRENT)
