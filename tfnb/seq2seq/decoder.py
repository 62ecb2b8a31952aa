"""Decoding loops of `tf.contrib.seq2seq`: the interface `Decoder`, `dynamic_decode`, and `BasicDecoder`."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from tfnb.control_flow.tensor_array import TensorArray
from tfnb.control_flow.while_loop import while_loop
from tfnb.core import dtypes, nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.stack import name_scope
from tfnb.layers.base import Layer
from tfnb.ops.array.create import fill, zeros, zeros_like
from tfnb.ops.array.reshape import shape
from tfnb.ops.control.source import constant
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import logical_not, logical_or, where
from tfnb.ops.reductions.reduce import reduce_all
from tfnb.rnn.cell_shapes import joined
from tfnb.rnn.cells import assert_like_rnncell
from tfnb.rnn.dynamic import transpose_batch_time
from tfnb.rnn.step import choose
from tfnb.seq2seq.helper import Helper
from tfnb.variables.scope import variable_scope


class Decoder:
    """A decoder to subclass, whose steps `dynamic_decode` calls in a loop.

    A subclass has `batch_size`; `output_size` and `output_dtype`, of one step of one example; `initialize()`; and
    `step(time, inputs, state)`.

    >>> class Doubling(tf.contrib.seq2seq.Decoder):
    ...     batch_size, output_size, output_dtype = 1, tf.TensorShape([]), tf.int32
    ...     def initialize(self, name=None):
    ...         return tf.constant([False]), tf.constant([1]), tf.constant([0])
    ...     def step(self, time, inputs, state, name=None):
    ...         return inputs, state, 2 * inputs, inputs > 10
    >>> outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(Doubling())
    >>> sess.run([outputs, lengths])
    [array([[ 1,  2,  4,  8, 16]], dtype=int32), array([5], dtype=int32)]
    """

    @property
    def batch_size(self) -> Any:
        """The number of examples, an int or an int32 scalar."""
        raise NotImplementedError("Abstract property")

    @property
    def output_size(self) -> Any:
        """The shapes of what a step returns for one example, in any structure."""
        raise NotImplementedError("Abstract property")

    @property
    def output_dtype(self) -> Any:
        """The dtypes of these, in the same structure."""
        raise NotImplementedError("Abstract property")

    def initialize(self, name: str | None = None) -> Any:
        """Return (which examples are finished, the first inputs, the first state)."""
        raise NotImplementedError("Abstract method")

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Return (outputs, the next state, the next inputs, which examples are finished)."""
        raise NotImplementedError("Abstract method")

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Return (final outputs, final state) of those of all steps. Not overridden: they stay as they are."""
        raise NotImplementedError("Abstract method")

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` itself keeps examples finished that were; beams change places, so that nothing else can."""
        return False


def dynamic_decode(decoder: Any, output_time_major: bool = False, impute_finished: bool = False,
                   maximum_iterations: Any = None, parallel_iterations: int = 32, swap_memory: bool = False,
                   scope: Any = None) -> tuple[Any, Any, Any]:
    """Decode until all examples are finished: (outputs, final state, int32 lengths).

    decoder: a Decoder. output_time_major: outputs are [steps, batch, ...], else [batch, steps, ...]. impute_finished:
    outputs of finished examples are 0 and their states stay. maximum_iterations: number of steps at most, an int or an
    int scalar. scope: the variable scope of the loop, by default "decoder".

    Raises TypeError for other decoders, ValueError for maximum_iterations that is no scalar.

    >>> inputs, lengths = tf.ones([2, 5, 3]), [5, 2]
    >>> helper = tf.contrib.seq2seq.TrainingHelper(inputs, lengths)
    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    >>> outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, impute_finished=True)
    >>> outputs.rnn_output.shape.as_list(), sess.run(lengths)
    ([2, None, 4], array([5, 2], dtype=int32))
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder"):
        most = None if maximum_iterations is None else _most(maximum_iterations)
        finished, inputs, state = decoder.initialize()
        if most is not None:
            finished = logical_or(finished, 0 >= most)
        arrays = nest.map_structure(lambda size, dtype: _array(size, dtype, decoder.batch_size),
                                    decoder.output_size, decoder.output_dtype)
        start = (constant(0, dtype=dtypes.int32), arrays, state, inputs, finished,
                 zeros_like(finished, dtype=dtypes.int32))
        _, arrays, state, _, _, lengths = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: logical_not(reduce_all(finished)),
            _loop_body(decoder, impute_finished), start, parallel_iterations=parallel_iterations,
            maximum_iterations=most, swap_memory=swap_memory)
        outputs = nest.map_structure(lambda array: array.stack(), arrays)
        try:
            outputs, state = decoder.finalize(outputs, state, lengths)
        except NotImplementedError:
            pass
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, state, lengths


def _most(given: Any) -> Any:
    most = convert_to_tensor(given, dtype=dtypes.int32, name="maximum_iterations")
    if most.shape.ndims != 0:
        raise ValueError(f"maximum_iterations must be a scalar, got shape {most.shape}")
    return most


def _array(size: Any, dtype: Any, batch_size: Any) -> TensorArray:
    batch = constant_value(convert_to_tensor(batch_size))
    shape_ = TensorShape([None if batch is None else int(batch)]).concatenate(size)
    return TensorArray(dtype, size=0, dynamic_size=True, element_shape=shape_)


def _loop_body(decoder: Decoder, impute: bool) -> Callable[..., Any]:
    zero = nest.map_structure(lambda size, dtype: zeros(joined(decoder.batch_size, size), dtype),
                              decoder.output_size, decoder.output_dtype) if impute else None

    def body(time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
        outputs, new_state, new_inputs, now_finished = decoder.step(time, inputs, state)
        if not decoder.tracks_own_finished:
            now_finished = logical_or(now_finished, finished)
        own = getattr(new_state, "lengths", None) if decoder.tracks_own_finished else None
        if own is None:
            lengths = where(finished, lengths, fill(shape(lengths), time + 1))
        else:
            lengths = cast(own, dtypes.int32)
        nest.assert_same_structure(state, new_state)
        nest.assert_same_structure(arrays, outputs)
        nest.assert_same_structure(inputs, new_inputs)
        if impute:
            outputs = nest.map_structure(lambda out, none: where(finished, none, out), outputs, zero)
            new_state = nest.map_structure(lambda new, old: _stay(finished, old, new), new_state, state)
        arrays = nest.map_structure(lambda array, out: array.write(time, out), arrays, outputs)
        return time + 1, arrays, new_state, new_inputs, now_finished, lengths
    return body


def _stay(finished: Any, old: Any, new: Any) -> Any:
    if not isinstance(old, TensorArray):
        new.set_shape(old.shape)
    return choose(finished, old, new)


class BasicDecoderOutput(namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """The outputs of BasicDecoder: `rnn_output` of the cell or the output layer, `sample_id` of the helper.

    >>> tf.contrib.seq2seq.BasicDecoderOutput(rnn_output=[0.1, 0.9], sample_id=1).sample_id
    1
    """

    __slots__ = ()


class BasicDecoder(Decoder):
    """A decoder of one cell, whose inputs a helper chooses.

    cell: an RNNCell; helper: a Helper; initial_state: of the cell, possibly an encoder's last state; output_layer: a
    tf.layers.Layer for the cell's outputs, for example a Dense of the size of the vocabulary, before a sample is taken
    of them. Raises TypeError for others.

    >>> cell, layer = tf.nn.rnn_cell.GRUCell(4), tf.layers.Dense(10)
    >>> helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(tf.ones([10, 3]), start_tokens=[0, 0], end_token=9)
    >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), layer)
    >>> outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=6)
    >>> outputs.rnn_output.shape.as_list(), outputs.sample_id.shape.as_list()
    ([2, None, 10], [2, None])
    """

    def __init__(self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None) -> None:
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._helper = cell, helper
        self._initial_state, self._output_layer = initial_state, output_layer

    @property
    def batch_size(self) -> Any:
        """That of the helper."""
        return self._helper.batch_size

    @property
    def output_size(self) -> BasicDecoderOutput:
        """The shapes of the outputs of a step, without the batch."""
        size = self._cell.output_size
        layer = self._output_layer
        if layer is not None:
            size = nest.map_structure(
                lambda each: layer.compute_output_shape(TensorShape([None]).concatenate(each))[1:], size)
        return BasicDecoderOutput(size, self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """The dtypes of the outputs: that of the first part of the state, and the helper's."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(nest.map_structure(lambda _: dtype, self.output_size.rnn_output),
                                  self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> Any:
        """Return (finished, first inputs) of the helper, and the initial state."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Return (BasicDecoderOutput, next state, next inputs, finished)."""
        with name_scope(name, "BasicDecoderStep", [time, inputs, state]):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, inputs, state = self._helper.next_inputs(time=time, outputs=outputs, state=state, sample_ids=ids)
        return BasicDecoderOutput(outputs, ids), state, inputs, finished


describe(globals(), RECURRENT)
