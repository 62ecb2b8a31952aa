"""Cells that attend: `tf.contrib.seq2seq.AttentionWrapper`."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tfnb.control_flow.assertions import assert_equal
from tfnb.control_flow.tensor_array import TensorArray
from tfnb.core import dtypes, nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.layers.core import Dense
from tfnb.ops.array.create import zeros
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, identity, shape, squeeze
from tfnb.ops.reductions.matmul import matmul
from tfnb.rnn.cell_shapes import zero_states
from tfnb.rnn.cells import RNNCell, assert_like_rnncell
from tfnb.seq2seq.attention import AttentionMechanism


class AttentionWrapperState(namedtuple("AttentionWrapperState", (
        "cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"))):
    """The state of AttentionWrapper.

    cell_state: of the cell inside; attention: the last output of attention; time: number of steps so far; alignments:
    the last ones; alignment_history: a TensorArray of all of them, or (); attention_state: of the mechanism. With
    several mechanisms the last three are tuples.

    >>> attention = tf.contrib.seq2seq.LuongAttention(4, tf.ones([2, 7, 6]))
    >>> cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), attention)
    >>> state = cell.zero_state(2, tf.float32).clone(cell_state=tf.ones([2, 4]))
    >>> state.alignments.shape.as_list()
    [2, 7]
    """

    __slots__ = ()

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """Return the state with some fields replaced, tensors of the same shape. Raises ValueError for other shapes.

        >>> attention = tf.contrib.seq2seq.LuongAttention(4, tf.ones([2, 7, 6]))
        >>> cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), attention)
        >>> state = cell.zero_state(2, tf.float32).clone(time=tf.constant(3))
        """
        replaced = self._replace(**kwargs)
        nest.assert_same_structure(self, replaced)
        return nest.map_structure(_of_same_shape, self, replaced)      # type: ignore[no-any-return]


def _of_same_shape(old: Any, new: Any) -> Any:
    if isinstance(old, Tensor) and isinstance(new, Tensor):
        if not old.shape.is_compatible_with(new.shape):
            raise ValueError(f"Expected a tensor of the shape {old.shape} of {old.name}, got {new.shape} of {new.name}")
        new.set_shape(old.shape)
    return new


class AttentionWrapper(RNNCell):
    """A cell whose inputs and outputs have attention in them.

    At each step the cell gets its input with the last attention behind it; with its output as query each mechanism
    weighs the memory; the sum of the memory by these weights is the context, and attention is the context or, with
    attention_layer_size, a Dense layer without bias of (cell output, context).

    cell: an RNNCell; attention_mechanism: one or a list of them, such as BahdanauAttention or LuongAttention;
    attention_layer_size: None, or the size of attention, for each mechanism; alignment_history: whether the state has
    the alignments of all steps; cell_input_fn: (inputs, attention) -> inputs of the cell, by default these two side by
    side; output_attention: whether outputs are attention, else the cell's; initial_cell_state: of the cell, in
    zero_state, for example an encoder's last state; attention_layer: in place of attention_layer_size a layer, for each
    mechanism; attention_fn: (mechanism, cell_output, attention_state, attention_layer) -> (attention, alignments, next
    attention state).

    Raises TypeError for what is no cell or mechanism or can't be called; ValueError for sizes and layers of another
    number, or both; in the run InvalidArgumentError where the batch of the memory is another one than the cell's.

    >>> memory = tf.ones([2, 7, 6])
    >>> attention = tf.contrib.seq2seq.BahdanauAttention(5, memory, memory_sequence_length=[7, 3])
    >>> cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), attention, attention_layer_size=3)
    >>> output, state = cell(tf.ones([2, 2]), cell.zero_state(2, tf.float32))
    >>> output.shape.as_list(), state.alignments.shape.as_list()
    ([2, 3], [2, 7])
    """

    def __init__(self, cell: Any, attention_mechanism: Any, attention_layer_size: Any = None,
                 alignment_history: bool = False, cell_input_fn: Any = None, output_attention: bool = True,
                 initial_cell_state: Any = None, name: str | None = None, attention_layer: Any = None,
                 attention_fn: Any = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = tuple(attention_mechanism) if self._is_multi else (attention_mechanism,)
        for mechanism in mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError("attention_mechanism must be an AttentionMechanism or list of multiple "
                                f"AttentionMechanism instances, saw type: {type(mechanism).__name__}")
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        self._cell, self._mechanisms = cell, mechanisms
        self._cell_input_fn = _side_by_side if cell_input_fn is None else cell_input_fn
        self._attention_fn = attend if attention_fn is None else attention_fn
        self._output_attention, self._keeps_history = output_attention, alignment_history
        self._layers = _layers(mechanisms, attention_layer_size, attention_layer, dtype)
        self._sizes = [_size(layer, cell, mechanism)
                       for layer, mechanism in zip(self._layers, mechanisms, strict=True)]
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = initial_cell_state
            if initial_cell_state is not None:
                found: Any = shape(nest.flatten(initial_cell_state)[-1])
                with control_dependencies(self._batch_checks(found[0], "initial_cell_state", (
                        "You may need to tile your initial state via the tf.contrib.seq2seq.tile_batch function with "
                        "argument multiple=beam_width."))):
                    self._initial_cell_state = nest.map_structure(
                        lambda part: identity(part, name="check_initial_cell_state"), initial_cell_state)

    def _batch_checks(self, size: Any, what: str, advice: str) -> list[Any]:
        """Return operations that fail where a batch size is not that of the memory."""
        message = (f"When calling AttentionWrapper {self._base_name}: Non-matching batch sizes between the memory "
                   f"(encoder output) and {what}.  Are you using the BeamSearchDecoder?  {advice}")
        return [assert_equal(mechanism.batch_size, size, message=message) for mechanism in self._mechanisms]

    def _one_or_all(self, parts: Sequence[Any]) -> Any:
        return tuple(parts) if self._is_multi else parts[0]

    @property
    def output_size(self) -> Any:
        """The size of attention, or of the cell's output."""
        return sum(self._sizes) if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """The sizes of the parts of the state."""
        sizes = [mechanism.alignments_size for mechanism in self._mechanisms]
        return AttentionWrapperState(
            cell_state=self._cell.state_size, time=TensorShape([]), attention=sum(self._sizes),
            alignments=self._one_or_all(sizes),
            attention_state=self._one_or_all([mechanism.state_size for mechanism in self._mechanisms]),
            alignment_history=self._one_or_all([size if self._keeps_history else () for size in sizes]))

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """Return the first state: initial_cell_state or zeros, attention of zeros, the mechanisms' first alignments."""
        with name_scope(f"{type(self).__name__}ZeroState"):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.zero_state(batch_size, dtype)
            # Here, not in each step: a cell's output has the batch of its state.
            with control_dependencies(self._batch_checks(batch_size, "the requested batch size", (
                    "If so, make sure your encoder output has been tiled to beam_width via "
                    "tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to zero_state is "
                    "batch_size * beam_width."))):
                cell_state = nest.map_structure(lambda part: identity(part, name="checked_cell_state"), cell_state)
            alignments = [mechanism.initial_alignments(batch_size, dtype) for mechanism in self._mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state, time=zeros([], dtype=dtypes.int32),
                attention=zero_states(sum(self._sizes), batch_size, dtype), alignments=self._one_or_all(alignments),
                attention_state=self._one_or_all([mechanism.initial_state(batch_size, dtype)
                                                  for mechanism in self._mechanisms]),
                alignment_history=self._one_or_all([
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=each.shape) if self._keeps_history
                    else () for each in alignments]))

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (attention or the cell's output, the next state). Raises TypeError for another state."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError("Expected state to be instance of AttentionWrapperState. Received type "
                            f"{type(state).__name__} instead.")
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        states, histories = ((part if self._is_multi else (part,))
                             for part in (state.attention_state, state.alignment_history))
        made = [self._attention_fn(mechanism, output, before, layer)
                for mechanism, before, layer in zip(self._mechanisms, states, self._layers, strict=True)]
        attention = concat([each[0] for each in made], 1) if len(made) > 1 else made[0][0]
        following = AttentionWrapperState(
            time=state.time + 1, cell_state=cell_state, attention=attention,
            alignments=self._one_or_all([each[1] for each in made]),
            attention_state=self._one_or_all([each[2] for each in made]),
            alignment_history=self._one_or_all([
                history.write(state.time, each[1]) if self._keeps_history else ()
                for history, each in zip(histories, made, strict=True)]))
        return attention if self._output_attention else output, following


def _side_by_side(inputs: Any, attention: Any) -> Any:
    return concat([inputs, attention], -1)


def attend(mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any) -> tuple[Any, Any, Any]:
    """Return (attention, alignments, next state): the memory's sum weighted by alignments, through the layer."""
    alignments, following = mechanism(cell_output, state=attention_state)
    context = squeeze(matmul(expand_dims(alignments, 1), mechanism.values), [1])
    if attention_layer is not None:
        context = attention_layer(concat([cell_output, context], 1))
    return context, alignments, following


def _layers(mechanisms: Sequence[Any], sizes: Any, layers: Any, dtype: Any) -> list[Any]:
    """Return the layer of each mechanism or None. Raises ValueError for another number of them, or two of both."""
    if sizes is not None and layers is not None:
        raise ValueError("Only one of attention_layer_size and attention_layer should be set")
    given = layers if sizes is None else sizes
    if given is None:
        return [None] * len(mechanisms)
    what = "attention_layer" if sizes is None else "attention_layer_size"
    many = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(many) != len(mechanisms):
        raise ValueError(f"If provided, {what} must contain exactly one element per attention_mechanism, saw: "
                         f"{len(many)} vs {len(mechanisms)}")
    if sizes is None:
        return many
    return [Dense(size, name="attention_layer", use_bias=False, dtype=dtype) for size in many]


def _size(layer: Any, cell: Any, mechanism: Any) -> int:
    """Return the size of the attention of a mechanism."""
    width: int = mechanism.values.shape.as_list()[-1]
    if layer is None:
        return width
    found: int = layer.compute_output_shape([None, cell.output_size + width]).as_list()[-1]
    return found


describe(globals(), RECURRENT)
