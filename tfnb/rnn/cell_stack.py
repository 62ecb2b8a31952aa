"""Stacked recurrent cells: `tf.nn.rnn_cell.MultiRNNCell`."""
from __future__ import annotations

from typing import Any

from tfnb.core import nest
from tfnb.core.program import log
from tfnb.graph.stack import name_scope
from tfnb.layers.base import Layer
from tfnb.ops.array.joining import concat
from tfnb.ops.array.slicing import slice_
from tfnb.rnn.cells import RNNCell
from tfnb.variables.scope import variable_scope


class MultiRNNCell(RNNCell):
    """Stacked recurrent cells: the output of each is the input of the next. Their variables are in cell_0, cell_1...

    state_is_tuple: the state is the tuple of their states; else these side by side in one tensor. Raises ValueError
    for no cells, and for cells with tuples as states where state_is_tuple is False; TypeError for what is no list.

    >>> cell = tf.contrib.rnn.MultiRNNCell([tf.contrib.rnn.GRUCell(size) for size in (8, 4)])
    >>> output, states = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), [state.shape.as_list() for state in states]
    ([2, 4], [[2, 8], [2, 4]])
    """

    def __init__(self, cells: Any, state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if len({id(cell) for cell in cells}) < len(cells):
            log.warning("At least two cells provided to MultiRNNCell are the same object and will share weights.")
        if not state_is_tuple and any(nest.is_nested(cell.state_size) for cell in cells):
            raise ValueError("Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes "
                             f"are: {[cell.state_size for cell in cells]}")
        self._cells, self._state_is_tuple = cells, state_is_tuple

    @property
    def state_size(self) -> Any:
        """The tuple of the cells' state sizes, or their sum."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """The size of the last cell's output."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros in the structure of `state_size`."""
        with name_scope(f"{type(self).__name__}ZeroState"):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables to train, of all cells."""
        layers = [cell for cell in self._cells if isinstance(cell, Layer)]
        return [weight for cell in layers for weight in cell.trainable_weights] if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables of all cells."""
        layers = [cell for cell in self._cells if isinstance(cell, Layer)]
        frozen = [] if self.trainable else [weight for cell in layers for weight in cell.trainable_weights]
        return frozen + [weight for cell in layers for weight in cell.non_trainable_weights]

    trainable_variables, non_trainable_variables = trainable_weights, non_trainable_weights

    def call(self, inputs: Any, state: Any) -> Any:
        """(the output of the last cell, the next states)."""
        if self._state_is_tuple and not nest.is_nested(state):
            raise ValueError(f"Expected state to be a tuple of length {len(self.state_size)}, but received: {state}")
        position, states = 0, []
        for number, cell in enumerate(self._cells):
            with variable_scope(f"cell_{number}"):
                if self._state_is_tuple:
                    own = state[number]
                else:
                    own = slice_(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                inputs, new = cell(inputs, own)
                states.append(new)
        return inputs, tuple(states) if self._state_is_tuple else concat(states, 1)
