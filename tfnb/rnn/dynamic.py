"""Recurrent networks as loops of the graph: `tf.nn.dynamic_rnn`, `bidirectional_dynamic_rnn`, `raw_rnn`."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfnb.control_flow.assertions import Assert
from tfnb.control_flow.tensor_array import TensorArray
from tfnb.control_flow.while_loop import while_loop
from tfnb.core import dtypes, nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.array.create import range_, zeros
from tfnb.ops.array.joining import concat, stack
from tfnb.ops.array.reshape import identity, rank, reverse, shape, transpose
from tfnb.ops.array.reverse_sequence import reverse_sequence
from tfnb.ops.control.source import constant
from tfnb.ops.math.arithmetic import maximum, minimum
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, logical_not, logical_or
from tfnb.ops.reductions.reduce import reduce_all, reduce_max, reduce_min
from tfnb.rnn.cell_shapes import joined, joined_static
from tfnb.rnn.cells import assert_like_rnncell
from tfnb.rnn.step import Lengths, choose, chosen, initial_state_of, state_dtype
from tfnb.variables.scope import variable_scope


def transpose_batch_time(x: Any) -> Any:
    """Transpose (batch, time, ...) to (time, batch, ...), and back: tensors of rank 2 or more; others stay as they are.

    x: a tensor.

    >>> tf.contrib.rnn.transpose_batch_time(tf.zeros([2, 5, 3])).shape.as_list()
    [5, 2, 3]
    """
    static = x.static
    if static is not None and len(static) < 2:
        return x
    made = transpose(x, concat(([1, 0], range_(2, rank(x))), axis=0))
    if static is not None:
        made.set_shape([static[1], static[0], *static[2:]])
    return made


def _batch_size(inputs: list[Any]) -> Any:
    """The batch size of inputs (time, batch, ...), an integer if one of them tells it. ValueError below rank 2."""
    for tensor in inputs:
        if tensor.static is not None and len(tensor.static) < 2:
            raise ValueError(f"Input tensor should have rank >= 2. Received input={tensor}")
        if tensor.static is not None and tensor.static[1] is not None:
            return tensor.static[1]
    sizes: Any = shape(inputs[0])
    return sizes[1]


def dynamic_rnn(cell: Any, inputs: Any, sequence_length: Any = None, initial_state: Any = None, dtype: Any = None,
                parallel_iterations: int | None = None, swap_memory: bool = False, time_major: bool = False,
                scope: Any = None) -> tuple[Any, Any]:
    """(outputs, final state) of a cell over sequences: one loop, whose number of rounds is known when it runs.

    inputs: (batch, time, ...), or (time, batch, ...) with `time_major`, or a structure of these. sequence_length: one
    for each example: beyond it outputs are zero and the state stays. initial_state: by default the cell's zero state,
    of `dtype`. parallel_iterations, swap_memory: as of `tf.while_loop`.

    Raises TypeError if `cell` is no cell; ValueError if neither initial_state nor dtype is given, or the size of the
    inputs is not known.

    >>> cell = tf.nn.rnn_cell.BasicRNNCell(4)
    >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 7, 3]), sequence_length=[7, 2], dtype=tf.float32)
    >>> outputs.shape.as_list(), state.shape.as_list()
    ([2, 7, 4], [2, 4])
    """
    assert_like_rnncell("cell", cell)
    with variable_scope(scope or "rnn"):
        flat = nest.flatten(inputs)
        if not time_major:
            flat = [transpose_batch_time(tensor) for tensor in [convert_to_tensor(tensor) for tensor in flat]]
        if sequence_length is not None:
            sequence_length = cast(sequence_length, dtypes.int32)
            if sequence_length.shape.ndims not in (None, 1):
                raise ValueError("Argument sequence_length must be a vector of length batch_size. Received "
                                 f"sequence_length={sequence_length} of shape: {sequence_length.shape}")
            sequence_length = identity(sequence_length, name="sequence_length")
        batch_size = _batch_size(flat)
        state = initial_state_of(cell, initial_state, batch_size, dtype)
        if sequence_length is not None:
            with control_dependencies([_assert_length(sequence_length, batch_size)]):
                sequence_length = identity(sequence_length, name="CheckSeqLen")
        outputs, state = _loop(cell, nest.pack_sequence_as(inputs, flat), state, parallel_iterations or 32,
                               swap_memory, sequence_length, dtype)
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, state


def _assert_length(lengths: Any, batch_size: Any) -> Any:
    found, wanted = shape(lengths), stack([batch_size])
    return Assert(reduce_all(equal(found, wanted)), [f"Expected shape for Tensor {lengths.name} is ", wanted,
                                                      " but saw shape: ", found])


@dataclass(frozen=True)
class _Sizes:
    """Time and batch as they are known when the graph is made, and the shapes of the inputs."""

    time: int | None
    batch: int | None
    inputs: tuple[TensorShape, ...]


def _sizes(flat: list[Any]) -> _Sizes:
    shapes = tuple(tensor.shape.with_rank_at_least(3) for tensor in flat)
    time, batch = shapes[0].as_list()[:2]
    for tensor, found in zip(flat, shapes, strict=True):
        if not found[2:].is_fully_defined():
            raise ValueError("Input size (depth of inputs) must be accessible via shape inference, but saw value None "
                             f"for input={tensor}.")
        if found.as_list()[:2] != [time, batch]:
            raise ValueError(f"Time steps or batch sizes are not the same for all inputs: {[str(s) for s in shapes]}")
    return _Sizes(time, batch, shapes)


def _loop(cell: Any, inputs: Any, state: Any, parallel: int, swap: bool, lengths: Any,
          dtype: Any) -> tuple[Any, Any]:
    """The outputs (time, batch, ...) and the final state."""
    flat, sizes_out = nest.flatten(inputs), nest.flatten(cell.output_size)
    whole: Any = shape(flat[0])
    steps = whole[0]
    batch, known = _batch_size(flat), _sizes(flat)
    kind = state_dtype(dtype, state)
    zero = nest.pack_sequence_as(cell.output_size, [zeros(stack(joined(batch, size)), kind) for size in sizes_out])
    span = None if lengths is None else Lengths(lengths, reduce_min(lengths), reduce_max(lengths))
    time = constant(0, dtype=dtypes.int32, name="time")
    with name_scope("dynamic_rnn") as base:
        pass
    made = tuple(TensorArray(kind, size=steps, tensor_array_name=f"{base}output_{number}",
                             element_shape=TensorShape([known.batch]).concatenate(_static(size)))
                 for number, size in enumerate(sizes_out))
    given = tuple(TensorArray(tensor.dtype, size=steps, tensor_array_name=f"{base}input_{number}",
                              element_shape=tensor.shape[1:]) for number, tensor in enumerate(flat))
    given = tuple(array.unstack(tensor) for array, tensor in zip(given, flat, strict=True))

    def step(time: Any, made: Any, state: Any) -> Any:
        read = [array.read(time) for array in given]
        for tensor, found in zip(read, known.inputs, strict=True):
            tensor.set_shape(found[1:])
        ended = None if span is None else time >= span.each         # before the cell, as TensorFlow's graphs have it
        output, new = cell(nest.pack_sequence_as(inputs, read), state)
        if ended is not None:
            output, new = chosen(ended, zero, state, output, new)
        written = tuple(array.write(time, tensor) for array, tensor in zip(made, nest.flatten(output), strict=True))
        return time + 1, written, new
    bound = minimum(steps, maximum(1, steps if span is None else span.longest))
    _, made, state = while_loop(lambda time, *_: time < bound, step, (time, made, state),
                                parallel_iterations=parallel, maximum_iterations=steps, swap_memory=swap)
    outputs = [array.stack() for array in made]
    for output, size in zip(outputs, sizes_out, strict=True):
        output.set_shape(joined_static([known.time, known.batch], size))
    return nest.pack_sequence_as(cell.output_size, outputs), state


def _static(size: Any) -> TensorShape:
    return TensorShape(constant_value(size) if isinstance(size, Tensor) else size)


def bidirectional_dynamic_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, sequence_length: Any = None,
                              initial_state_fw: Any = None, initial_state_bw: Any = None, dtype: Any = None,
                              parallel_iterations: int | None = None, swap_memory: bool = False,
                              time_major: bool = False, scope: Any = None) -> tuple[Any, Any]:
    """((outputs forward, backward), (final states)): `dynamic_rnn` of one cell, and of another over reversed inputs.

    The outputs backward stand in the order of the inputs. Arguments as of `dynamic_rnn`.

    >>> forward, backward = tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4)
    >>> outputs, states = tf.nn.bidirectional_dynamic_rnn(forward, backward, tf.ones([2, 7, 3]), dtype=tf.float32)
    >>> tf.concat(outputs, axis=2).shape.as_list()
    [2, 7, 8]
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)
    options = {"sequence_length": sequence_length, "dtype": dtype, "parallel_iterations": parallel_iterations,
               "swap_memory": swap_memory, "time_major": time_major}

    def turned(x: Any) -> Any:
        if sequence_length is None:
            return reverse(x, axis=[time_axis])
        return reverse_sequence(x, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            forward, state_fw = dynamic_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=inner, **options)
        with variable_scope("bw") as inner:
            turned_inputs = nest.map_structure(turned, inputs)
            backward, state_bw = dynamic_rnn(cell_bw, turned_inputs, initial_state=initial_state_bw, scope=inner,
                                             **options)
    return (forward, nest.map_structure(turned, backward)), (state_fw, state_bw)


def raw_rnn(cell: Any, loop_fn: Callable[..., Any], parallel_iterations: int | None = None, swap_memory: bool = False,
            scope: Any = None) -> tuple[Any, Any, Any]:
    """(TensorArrays of what is emitted, final state, final loop state) of a cell whose inputs `loop_fn` makes.

    loop_fn(time, output, state, loop_state) -> (which examples are finished, next input, next state, what to emit,
    next loop_state); at first, for time 0, the other arguments are None, and it returns the initial state and an
    example of what will be emitted (None: the output). Raises TypeError if it can't be called, or `cell` is no cell.

    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> def step(time, output, state, loop_state):
    ...     following = cell.zero_state(2, tf.float32) if output is None else state
    ...     return time >= 5, tf.ones([2, 3]), following, output, None
    >>> outputs, state, _ = tf.nn.raw_rnn(cell, step)
    >>> state.shape.as_list()
    [2, 4]
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError(f"Argument `loop_fn` must be a callable. Received: {loop_fn}.")
    with variable_scope(scope or "rnn"):
        time = constant(0, dtype=dtypes.int32)
        finished, next_input, state, example, first_loop_state = loop_fn(time, None, None, None)
        loop_state = constant(0, dtype=dtypes.int32) if first_loop_state is None else first_loop_state
        flat = nest.flatten(next_input)
        fixed = flat[0].shape.as_list()[0]
        whole: Any = None if fixed is not None else shape(flat[0])
        batch = whole[0] if fixed is None else fixed
        nest.assert_same_structure(state, cell.state_size)
        parts = [convert_to_tensor(part) for part in nest.flatten(state)]
        state = nest.pack_sequence_as(state, parts)
        structure, sizes, kinds = _emitted(cell, example, parts)
        arrays = [TensorArray(kind, size=0, dynamic_size=True, name=f"rnn_output_{number}",
                              element_shape=TensorShape([fixed]).concatenate(_static(size)))
                  for number, (size, kind) in enumerate(zip(sizes, kinds, strict=True))]
        zero = nest.pack_sequence_as(structure, [zeros(joined(batch, size), kind)
                                                 for size, kind in zip(sizes, kinds, strict=True)])
        step = _raw_step(cell, loop_fn, zero)
        start = [time, finished, next_input, nest.pack_sequence_as(structure, arrays), state, loop_state]
        returned = while_loop(lambda time, finished, *_: logical_not(reduce_all(finished)), step, start,
                              parallel_iterations=parallel_iterations or 32, swap_memory=swap_memory)
        emitted, state, loop_state = returned[-3:]
        return emitted, state, None if first_loop_state is None else loop_state


def _emitted(cell: Any, example: Any, state: list[Any]) -> tuple[Any, list[Any], list[Any]]:
    """(structure, sizes, dtypes) of what is emitted at each step."""
    if example is None:
        sizes = nest.flatten(cell.output_size)
        return cell.output_size, sizes, [state[0].dtype] * len(sizes)
    flat = nest.flatten(example)
    sizes = [part.shape if part.shape.is_fully_defined() else shape(part) for part in flat]
    return example, sizes, [part.dtype for part in flat]


def _raw_step(cell: Any, loop_fn: Callable[..., Any], zero: Any) -> Callable[..., Any]:
    def step(time: Any, finished: Any, current: Any, arrays: Any, state: Any, loop_state: Any) -> Any:
        output, cell_state = cell(current, state)
        nest.assert_same_structure(state, cell_state)
        nest.assert_same_structure(cell.output_size, output)
        later = time + 1
        done, next_input, next_state, emit, next_loop_state = loop_fn(later, output, cell_state, loop_state)
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(current, next_input)
        nest.assert_same_structure(arrays, emit)
        emit = nest.map_structure(lambda old, new: choose(finished, old, new), zero, emit)
        next_state = nest.map_structure(lambda old, new: choose(finished, old, new), state, next_state)
        arrays = nest.map_structure(lambda array, value: array.write(time, value), arrays, emit)
        return (later, logical_or(finished, done), next_input, arrays, next_state,
                loop_state if next_loop_state is None else next_loop_state)
    return step


describe(globals(), RECURRENT)
