"""Recurrent networks unrolled: `tf.nn.static_rnn`, `static_bidirectional_rnn`, `static_state_saving_rnn`."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes, nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.shape import TensorShape, unknown_shape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import control_dependencies
from tfnb.ops.array.create import zeros
from tfnb.ops.array.joining import concat, stack, unstack
from tfnb.ops.array.reshape import identity, shape
from tfnb.ops.array.reverse_sequence import reverse_sequence
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.reduce import reduce_max, reduce_min
from tfnb.rnn.cell_shapes import joined, joined_static
from tfnb.rnn.cells import assert_like_rnncell
from tfnb.rnn.step import Lengths, chosen_by_branches, initial_state_of, state_dtype
from tfnb.variables.scope import variable_scope


def static_rnn(cell: Any, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
               scope: Any = None) -> tuple[list[Any], Any]:
    """(list of outputs, final state) of a cell over a list of inputs (batch, size): a copy of the cell for each step.

    sequence_length: one for each example: beyond it outputs are zero and the state stays, and no step is computed
    beyond the longest. Raises TypeError if `cell` is no cell or `inputs` no list; ValueError for no inputs, for sizes
    that are not known, or if neither initial_state nor dtype is given.

    >>> cell = tf.contrib.rnn.BasicRNNCell(4)
    >>> outputs, state = tf.contrib.rnn.static_rnn(cell, [tf.ones([2, 3])] * 5, dtype=tf.float32)
    >>> len(outputs), outputs[0].shape.as_list()
    (5, [2, 4])
    """
    assert_like_rnncell("cell", cell)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty.")
    outputs = []
    with variable_scope(scope or "rnn") as opened:
        first = nest.flatten(inputs)[0]
        fixed = _fixed_batch_size(inputs, first)
        batch = fixed or _first_size(first)
        state = initial_state_of(cell, initial_state, batch, dtype)
        span: Lengths | None = None
        zero: Any = None
        if sequence_length is not None:
            lengths = convert_to_tensor(sequence_length, name="sequence_length")
            if lengths.shape.ndims not in (None, 1):
                raise ValueError(f"Argument `sequence_length` must be a vector of length {batch}. Received "
                                 f"sequence_length={sequence_length}.")
            zero = nest.map_structure(lambda size: _zero(batch, fixed, size, state_dtype(dtype, state)),
                                      cell.output_size)
            lengths = cast(lengths, dtypes.int32)
            span = Lengths(lengths, reduce_min(lengths), reduce_max(lengths))
        for time, current in enumerate(inputs):
            if time > 0:
                opened.reuse_variables()
            if span is None:
                output, state = cell(current, state)
            else:
                output, state = chosen_by_branches(time, span, zero, state,
                                                   lambda x=current, s=state: cell(x, s))  # type: ignore[misc]
            outputs.append(output)
        return outputs, state


def _first_size(x: Any) -> Any:
    sizes: Any = shape(x)
    return sizes[0]


def _fixed_batch_size(inputs: Any, first: Any) -> int | None:
    """The batch size, if it is known. Raises ValueError for inputs of unknown or different sizes."""
    if first.shape.ndims == 1:
        found: int | None = first.shape.as_list()[0]
        return found
    batch = TensorShape([first.shape.with_rank_at_least(2).as_list()[0]])
    for tensor in nest.flatten(inputs):
        sizes = tensor.shape.with_rank_at_least(2).as_list()
        batch = batch.merge_with(TensorShape(sizes[:1]))
        if None in sizes[1:]:
            raise ValueError(f"Input size (dimension {sizes[1:].index(None)} of input {tensor}) must be accessible via "
                             "shape inference, but saw value None.")
    known: int | None = first.shape.as_list()[0]
    return known


def _zero(batch: Any, fixed: int | None, size: Any, dtype: Any) -> Any:
    made = zeros(stack(joined(batch, size)), dtype)
    made.set_shape(joined_static(fixed, size))
    return made


def static_bidirectional_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None,
                             initial_state_bw: Any = None, dtype: Any = None, sequence_length: Any = None,
                             scope: Any = None) -> tuple[list[Any], Any, Any]:
    """(outputs forward and backward side by side, final state forward, backward) of two cells, as `static_rnn`.

    >>> forward, backward = tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4)
    >>> inputs = [tf.ones([2, 3])] * 5
    >>> outputs, first, last = tf.nn.static_bidirectional_rnn(forward, backward, inputs, dtype=tf.float32)
    >>> len(outputs), outputs[0].shape.as_list()
    (5, [2, 8])
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty.")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            forward, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=inner)
        with variable_scope("bw") as inner:
            turned = _turned(inputs, sequence_length)
            backward, state_bw = static_rnn(cell_bw, turned, initial_state_bw, dtype, sequence_length, scope=inner)
    backward = _turned(backward, sequence_length)
    sides = [(nest.flatten(a), nest.flatten(b)) for a, b in zip(forward, backward, strict=True)]
    outputs = [nest.pack_sequence_as(like, [concat([a, b], 1) for a, b in zip(*pair, strict=True)])
               for like, pair in zip(forward, sides, strict=True)]
    return outputs, state_fw, state_bw


def _turned(steps: Any, lengths: Any) -> list[Any]:
    """The steps in reverse, each example by its length."""
    if lengths is None:
        return list(reversed(steps))
    turned = []
    for sequence in zip(*map(nest.flatten, steps), strict=True):
        found = unknown_shape(sequence[0].shape.ndims)
        for tensor in sequence:
            found = found.merge_with(tensor.shape)
        parts = unstack(reverse_sequence(stack(sequence), lengths, 0, 1))
        for part in parts:
            part.set_shape(found)
        turned.append(parts)
    return [nest.pack_sequence_as(like, parts) for like, parts in zip(steps, zip(*turned, strict=True), strict=True)]


def static_state_saving_rnn(cell: Any, inputs: Any, state_saver: Any, state_name: Any, sequence_length: Any = None,
                            scope: Any = None) -> tuple[list[Any], Any]:
    """`static_rnn` that begins with `state_saver.state(name)` and calls `state_saver.save_state(name, state)`.

    state_name: a name, or a tuple of them in the structure of the cell's states.

    >>> class Kept:
    ...     def __init__(self):
    ...         self.variable = tf.get_variable("kept", [2, 3], initializer=tf.zeros_initializer(), trainable=False)
    ...     def state(self, name):
    ...         return self.variable + 0.0
    ...     def save_state(self, name, value):
    ...         return self.variable.assign(value)
    >>> outputs, state = tf.nn.state_saving_rnn(tf.nn.rnn_cell.BasicRNNCell(3), [tf.ones([2, 4])] * 5, Kept(), "h")
    >>> len(outputs), state.shape.as_list()
    (5, [2, 3])
    """
    if nest.is_nested(cell.state_size) != nest.is_nested(state_name):
        raise ValueError("Argument `state_name` should be the same type as `cell.state_size`. Received: state_name="
                         f"{state_name}, cell.state_size={cell.state_size}.")
    names = nest.flatten(state_name)
    start = nest.pack_sequence_as(cell.state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial_state=start, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state), strict=True)]
    with control_dependencies(saved):
        outputs[-1] = nest.map_structure(identity, outputs[-1])
        return outputs, nest.map_structure(identity, state)


rnn, bidirectional_rnn, state_saving_rnn = static_rnn, static_bidirectional_rnn, static_state_saving_rnn   # before 1.0


describe(globals(), RECURRENT)
