"""Wrappers of cells: a projection (matmul) of inputs or outputs, and an embedding of integer inputs."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core import nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape
from tfnb.ops.nn.activations import bias_add
from tfnb.ops.reductions.matmul import matmul
from tfnb.rnn.cell_wrappers import CellWrapper
from tfnb.variables.embedding import embedding_lookup
from tfnb.variables.initializers import random_uniform_initializer, zeros_initializer
from tfnb.variables.scope import get_variable, get_variable_scope


def linear(values: Sequence[Any], size: int) -> Any:
    """`values` (batch, n) side by side, times a variable `kernel`, plus a variable `bias`: (batch, size)."""
    sizes = [value.shape.with_rank(2).as_list()[1] for value in values]
    if None in sizes:
        raise ValueError(f"linear expects sizes that are known along the second axis, but got "
                         f"{[str(value.shape) for value in values]}")
    dtype = values[0].dtype
    kernel = get_variable("kernel", [sum(sizes), size], dtype=dtype)
    made = matmul(values[0] if len(values) == 1 else concat(list(values), 1), kernel)
    return bias_add(made, get_variable("bias", [size], dtype=dtype, initializer=zeros_initializer()))


class EmbeddingWrapper(CellWrapper):
    """A cell whose inputs are integers (batch,) or (batch, 1), the rows of a variable `embedding`.

    Raises ValueError for sizes below 1.

    >>> cell = tf.contrib.rnn.EmbeddingWrapper(tf.contrib.rnn.GRUCell(4), embedding_classes=10, embedding_size=3)
    >>> output, state = cell(tf.constant([[1], [2]]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, cell: Any, embedding_classes: int, embedding_size: int, initializer: Any = None,
                 reuse: bool | None = None) -> None:
        super().__init__(cell, _reuse=reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError("Both embedding_classes and embedding_size must be > 0: "
                             f"{embedding_classes}, {embedding_size}.")
        self._shape, self._initializer = [embedding_classes, embedding_size], initializer

    def call(self, inputs: Any, state: Any) -> Any:
        """(output, next state) of the cell inside for the rows that `inputs` numbers."""
        bound = 3 ** 0.5                           # uniform numbers of variance 1, official
        initializer = self._initializer or get_variable_scope().initializer or random_uniform_initializer(-bound, bound)
        embedding = get_variable("embedding", self._shape, dtype=nest.flatten(state)[0].dtype, initializer=initializer)
        return self.cell(embedding_lookup(embedding, reshape(inputs, [-1])), state)


class InputProjectionWrapper(CellWrapper):
    """A cell whose inputs are multiplied by a variable first, to `num_proj` numbers, and given to `activation`.

    >>> cell = tf.contrib.rnn.InputProjectionWrapper(tf.contrib.rnn.GRUCell(4), num_proj=7)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list()
    [2, 4]
    """

    def __init__(self, cell: Any, num_proj: int, activation: Callable[[Any], Any] | None = None,
                 input_size: Any = None, reuse: bool | None = None) -> None:
        super().__init__(cell, _reuse=reuse)
        self._size, self._activation = num_proj, activation

    def call(self, inputs: Any, state: Any) -> Any:
        """(output, next state) of the cell inside for the projected inputs."""
        projected = linear([inputs], self._size)
        return self.cell(projected if self._activation is None else self._activation(projected), state)


class OutputProjectionWrapper(CellWrapper):
    """A cell whose outputs are multiplied by a variable, to `output_size` numbers, and given to `activation`.

    Raises ValueError for a size below 1.

    >>> cell = tf.contrib.rnn.OutputProjectionWrapper(tf.contrib.rnn.GRUCell(4), output_size=7)
    >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), state.shape.as_list()
    ([2, 7], [2, 4])
    """

    def __init__(self, cell: Any, output_size: int, activation: Callable[[Any], Any] | None = None,
                 reuse: bool | None = None) -> None:
        super().__init__(cell, _reuse=reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._size, self._activation = output_size, activation

    @property
    def output_size(self) -> int:
        """The size of the projected outputs."""
        return self._size

    def call(self, inputs: Any, state: Any) -> Any:
        """(projected output, next state)."""
        output, state = self.cell(inputs, state)
        projected = linear([output], self._size)
        return projected if self._activation is None else self._activation(projected), state


describe(globals(), RECURRENT)
