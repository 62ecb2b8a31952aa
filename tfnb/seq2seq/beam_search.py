"""Beam search: `tf.contrib.seq2seq.BeamSearchDecoder`.

Scores: log probabilities, divided by the length penalty ((5 + length) / 6) ** weight, plus the coverage penalty
sum(log(min(attention to a step of the memory, 1))) * weight (Wu et al., 2016).
"""
from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from tfnb.control_flow.tensor_array import TensorArray
from tfnb.core import dtypes, nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.program import log
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.stack import name_scope
from tfnb.layers.base import Layer
from tfnb.ops.array.create import fill, ones_like, range_, zeros
from tfnb.ops.array.gather import gather, gather_nd, one_hot, sequence_mask
from tfnb.ops.array.joining import Tile, concat, stack
from tfnb.ops.array.reshape import expand_dims, reshape, shape, transpose
from tfnb.ops.math.arithmetic import minimum
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, logical_not, logical_or, where, where_v2
from tfnb.ops.math.functions import log as _log
from tfnb.ops.nn.beams import GatherTree
from tfnb.ops.nn.cross_entropy import log_softmax
from tfnb.ops.reductions.reduce import reduce_max, reduce_sum
from tfnb.ops.reductions.top import top_k
from tfnb.rnn.cells import assert_like_rnncell
from tfnb.seq2seq.attention_wrapper import AttentionWrapperState
from tfnb.seq2seq.decoder import Decoder
from tfnb.seq2seq.helper import checked_tokens, embedding_function


class BeamSearchDecoderState(namedtuple("BeamSearchDecoderState", (
        "cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"))):
    """The state of BeamSearchDecoder.

    cell_state: of the cell, with axes [batch, beam, ...]; log_probs, finished, lengths: [batch, beam];
    accumulated_attention_probs: () or [batch, beam, steps of the memory].

    >>> tf.contrib.seq2seq.BeamSearchDecoderState((), 0.0, True, 5, ()).lengths
    5
    """

    __slots__ = ()


class BeamSearchDecoderOutput(namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))):
    """The outputs of one step of BeamSearchDecoder, each [batch, beam].

    scores: of the beams so far; predicted_ids: the last id of each; parent_ids: the beams that they continue.

    >>> tf.contrib.seq2seq.BeamSearchDecoderOutput(scores=-1.5, predicted_ids=7, parent_ids=0).predicted_ids
    7
    """

    __slots__ = ()


class FinalBeamSearchDecoderOutput(namedtuple("FinalBeamDecoderOutput", (
        "predicted_ids", "beam_search_decoder_output"))):
    """The outputs of `dynamic_decode` with a BeamSearchDecoder.

    predicted_ids: int32 [batch, steps, beam], the best beam first, filled with the end token;
    beam_search_decoder_output: a BeamSearchDecoderOutput, of all steps.

    >>> tf.contrib.seq2seq.FinalBeamSearchDecoderOutput([[[1], [2]]], None).predicted_ids
    [[[1], [2]]]
    """

    __slots__ = ()


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Repeat each example of tensors [batch, ...] `multiplier` times: [batch * multiplier, ...].

    t: a tensor or a structure of them, for example an encoder's last state; multiplier: the width of the beam. Raises
    ValueError for scalars and tensors of unknown rank.

    >>> sess.run(tf.contrib.seq2seq.tile_batch([[1], [2]], multiplier=2))
    array([[1],
           [1],
           [2],
           [2]], dtype=int32)
    """
    t = t if nest.is_nested(t) and any(hasattr(leaf, "shape") for leaf in nest.flatten(t)) else convert_to_tensor(t)
    with name_scope(name, "tile_batch", [*nest.flatten(t), multiplier]):
        return nest.map_structure(lambda each: _tiled(each, multiplier), t)


def _tiled(t: Any, multiplier: Any) -> Any:
    t = convert_to_tensor(t, name="t")
    if not t.shape.ndims:
        raise ValueError(f"t must have statically known rank of 1 or more, got shape {t.shape}")
    sizes: Any = shape(t)
    multiples = [1] * (t.shape.ndims + 1)
    multiples[1] = multiplier
    made = reshape(Tile(expand_dims(t, 1), multiples), concat([[sizes[0] * multiplier], sizes[1:]], 0))
    batch, static = t.shape.as_list()[0], constant_value(convert_to_tensor(multiplier))
    made.set_shape([None if batch is None or static is None else batch * int(static), *t.shape.as_list()[1:]])
    return made


class BeamSearchDecoder(Decoder):
    """Keeps the `beam_width` likeliest sequences of each example at each step.

    cell: an RNNCell, whose memory (of an AttentionWrapper) and initial_state are tiled by `tile_batch(...,
    multiplier=beam_width)`; embedding: a function of ids, or the params of embedding_lookup; start_tokens: int32
    [batch]; end_token: an int32 scalar; output_layer: a tf.layers.Layer from outputs to logits;
    length_penalty_weight: 0 for none, larger for longer sequences; coverage_penalty_weight: of attention that leaves
    out parts of the memory; reorder_tensor_arrays: whether TensorArrays of the final cell state (alignment_history)
    become tensors whose beams are those of predicted_ids.

    Raises TypeError for what is no cell or layer, ValueError for tokens of other ranks.

    >>> cell, layer = tf.nn.rnn_cell.GRUCell(4), tf.layers.Dense(10)
    >>> state = tf.contrib.seq2seq.tile_batch(tf.ones([2, 4]), multiplier=3)
    >>> decoder = tf.contrib.seq2seq.BeamSearchDecoder(
    ...     cell, tf.ones([10, 5]), start_tokens=[0, 0], end_token=9, initial_state=state, beam_width=3,
    ...     output_layer=layer)
    >>> outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=6)
    >>> outputs.predicted_ids.shape.as_list(), lengths.shape.as_list()
    ([2, None, 3], [2, 3])
    """

    def __init__(self, cell: Any, embedding: Any, start_tokens: Any, end_token: Any, initial_state: Any,
                 beam_width: int, output_layer: Any = None, length_penalty_weight: Any = 0.0,
                 coverage_penalty_weight: Any = 0.0, reorder_tensor_arrays: bool = True) -> None:
        assert_like_rnncell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._output_layer, self._width = cell, output_layer, beam_width
        self._reorders = reorder_tensor_arrays
        self._embed = embedding_function(embedding)
        tokens, self._end = checked_tokens(start_tokens, end_token)
        sizes: Any = shape(tokens)
        static = tokens.shape.as_list()[0]
        self._batch_size = sizes[0] if static is None else static
        self._static = static
        self._start_inputs = self._embed(Tile(expand_dims(tokens, 1), [1, beam_width]))
        self._length_weight, self._coverage_weight = length_penalty_weight, _coverage_weight(coverage_penalty_weight)
        self._initial_state = nest.map_structure(self._split, initial_state)

    @property
    def batch_size(self) -> Any:
        """The number of examples."""
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams change places."""
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        """The width of the beam, three times."""
        size = TensorShape([self._width])
        return BeamSearchDecoderOutput(size, size, size)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        """The dtype of the state for scores, int32 for ids."""
        return BeamSearchDecoderOutput(self._dtype, dtypes.int32, dtypes.int32)

    @property
    def _dtype(self) -> Any:
        return nest.flatten(self._initial_state)[0].dtype

    def _split(self, t: Any) -> Any:
        """Return [batch * beam, ...] as [batch, beam, ...]; scalars and TensorArrays as they are."""
        if isinstance(t, TensorArray) or t.shape.ndims == 0:
            return t
        sizes: Any = shape(t)
        made = reshape(t, concat([[self._batch_size, self._width], sizes[1:]], 0))
        made.set_shape([self._static, self._width, *t.shape.as_list()[1:]])
        return made

    def _merge(self, t: Any) -> Any:
        """Return [batch, beam, ...] as [batch * beam, ...]; scalars and TensorArrays as they are."""
        if isinstance(t, TensorArray) or t.shape.ndims == 0:
            return t
        sizes: Any = shape(t)
        made = reshape(t, concat([[self._batch_size * self._width], sizes[2:]], 0))
        made.set_shape([None if self._static is None else self._static * self._width, *t.shape.as_list()[2:]])
        return made

    def _pick(self, t: Any, places: Any, count: Any) -> Any:
        """Return t[example, places[example]] of [batch, count, ...]; scalars and TensorArrays as they are."""
        if isinstance(t, TensorArray) or t.shape.ndims == 0:
            return t
        sizes: Any = shape(t)
        flat = reshape(places + expand_dims(range_(self._batch_size) * count, 1), [-1])
        rows = gather(reshape(t, concat([[-1], sizes[2:]], 0)), flat)
        made = reshape(rows, concat([[self._batch_size, self._width], sizes[2:]], 0))
        made.set_shape([self._static, self._width, *t.shape.as_list()[2:]])
        return made

    def initialize(self, name: str | None = None) -> Any:
        """Return (finished, first inputs, first state); of the beams, equal at first, only one is not finished."""
        batch, width = self._batch_size, self._width
        first = one_hot(fill([batch], 0), width, on_value=False, off_value=True, dtype=dtypes.bool)
        log_probs = one_hot(fill([batch], 0), width, on_value=convert_to_tensor(0.0, dtype=self._dtype),
                            off_value=convert_to_tensor(-np.inf, dtype=self._dtype), dtype=self._dtype)
        attention = _attention(self._initial_state, self._coverage_weight)
        return first, self._start_inputs, BeamSearchDecoderState(
            self._initial_state, log_probs, first, zeros([batch, width], dtypes.int64),
            () if attention is None else attention)

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Return (FinalBeamSearchDecoderOutput, final state) of the outputs of all steps."""
        lengths = final_state.lengths
        ids = GatherTree(outputs.predicted_ids, outputs.parent_ids, cast(reduce_max(lengths, 1), dtypes.int32),
                         self._end)
        if self._reorders:
            cell_state = nest.map_structure(lambda t: self._reordered(t, outputs.parent_ids, lengths),
                                            final_state.cell_state)
            final_state = final_state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(ids, outputs), final_state

    def _reordered(self, t: Any, parent_ids: Any, lengths: Any) -> Any:
        if not isinstance(t, TensorArray):
            return t
        if t.element_shape.ndims in (None, 0):
            log.warning("The TensorArray %s in the cell state is not amenable to sorting based on the beam search "
                        "result. For a TensorArray to be sorted, its elements shape must be defined and have at least "
                        "a rank of 1.", t.handle.name)
            return t
        return gather_tree_from_array(t.stack(), parent_ids, lengths)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Return (BeamSearchDecoderOutput, next state, next inputs, finished)."""
        with name_scope(name, "BeamSearchDecoderStep", [time, inputs, state]):
            outputs, cell_state = self._cell(nest.map_structure(self._merge, inputs),
                                             nest.map_structure(self._merge, state.cell_state))
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            made, state = self._search(self._split(outputs), nest.map_structure(self._split, cell_state), state)
            return made, state, self._embed(made.predicted_ids), state.finished

    def _search(self, logits: Any, cell_state: Any, state: Any) -> tuple[Any, Any]:
        """Return (outputs, next state): the best continuations of each example's beams."""
        sizes: Any = shape(logits)
        static = logits.shape.as_list()[-1]
        words = sizes[-1] if static is None else static
        going_on = logical_not(state.finished)
        totals = expand_dims(state.log_probs, 2) + self._step_log_probs(logits, state.finished, words)
        is_word = one_hot(fill([self._batch_size, self._width], self._end), words, on_value=0, off_value=1,
                          dtype=dtypes.int64)
        lengths = is_word * expand_dims(cast(going_on, dtypes.int64), 2) + expand_dims(state.lengths, 2)
        attended = _attention(cell_state, self._coverage_weight)
        if attended is not None:
            attended = state.accumulated_attention_probs + attended * expand_dims(cast(going_on, attended.dtype), 2)
        scores = self._scores(totals, lengths, state.finished, attended)
        best, places = top_k(reshape(scores, [self._batch_size, -1]), self._width)
        best.set_shape([self._static, self._width])
        beams, ids = places // words, places % words
        ended = self._pick(state.finished, beams, self._width)
        following = BeamSearchDecoderState(
            nest.map_structure(lambda t: self._pick(t, beams, self._width), cell_state),
            self._pick(reshape(totals, [self._batch_size, -1]), places, self._width * words),
            logical_or(ended, equal(ids, self._end)),
            self._pick(state.lengths, beams, self._width) + cast(logical_not(ended), dtypes.int64),
            () if attended is None else self._pick(attended, beams, self._width))
        return BeamSearchDecoderOutput(best, ids, beams), following

    def _step_log_probs(self, logits: Any, finished: Any, words: Any) -> Any:
        """Return the log probabilities of a step; finished beams go on with the end token alone."""
        lowest = convert_to_tensor(logits.dtype.min, dtype=logits.dtype)
        only_end = one_hot(fill([self._batch_size, self._width], self._end), words,
                           on_value=convert_to_tensor(0.0, dtype=logits.dtype), off_value=lowest, dtype=logits.dtype)
        return where_v2(expand_dims(finished, 2), only_end, log_softmax(logits))

    def _scores(self, totals: Any, lengths: Any, finished: Any, attended: Any) -> Any:
        weight = constant_value(convert_to_tensor(self._length_weight))
        if weight is None or weight != 0:
            totals = totals / ((5.0 + cast(lengths, totals.dtype)) / 6.0) ** self._length_weight
        if attended is None:
            return totals
        seen = where(equal(attended, 0.0), ones_like(attended), attended)       # masked steps of the memory are 0
        coverage = reduce_sum(_log(minimum(seen, 1.0)), 2) * cast(finished, totals.dtype)
        return totals + expand_dims(coverage * self._coverage_weight, 2)


def _coverage_weight(given: Any) -> Any:
    """Return the weight, None for 0. Raises ValueError for one that is no scalar."""
    weight = convert_to_tensor(given, dtype=dtypes.float32, name="coverage_penalty_weight")
    if weight.shape.ndims != 0:
        raise ValueError(f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}")
    return None if constant_value(weight) == 0 else weight


def _attention(cell_state: Any, weight: Any) -> Any:
    """Return the alignments of all AttentionWrapperStates side by side; None if there is no weight.

    Raises ValueError where there is one, but no attention.
    """
    if weight is None:
        return None
    wrappers = [cell_state] if isinstance(cell_state, AttentionWrapperState) else [
        part for part in (cell_state if isinstance(cell_state, tuple) else ())
        if isinstance(part, AttentionWrapperState)]
    found = [part for wrapper in wrappers for part in nest.flatten(wrapper.alignments)]
    if not found:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell state is AttentionWrapperState")
    return found[0] if len(found) == 1 else concat(found, -1)


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> Any:
    """Return `t`, one tensor for each step and beam, in the order of full beams.

    t: [steps, batch, beam, ...] or [steps, batch * beam, ...], such as the stacked alignments of steps; parent_ids:
    int32 [steps, batch, beam]; sequence_length: [batch, beam]. The result has the shape and dtype of `t`.

    >>> t = tf.constant([[[1.0, 2.0]], [[3.0, 4.0]]])
    >>> parents = tf.constant([[[0, 0]], [[1, 0]]])
    >>> beams = tf.contrib.seq2seq.gather_tree_from_array(t, parents, sequence_length=[[2, 2]])
    >>> sess.run(beams)[:, 0]
    array([[2., 1.],
           [3., 4.]], dtype=float32)
    """
    t, parent_ids = convert_to_tensor(t), convert_to_tensor(parent_ids)
    lengths = convert_to_tensor(sequence_length)
    sizes: Any = shape(parent_ids)
    steps, batch, width = sizes[0], sizes[1], sizes[2]
    own = zeros(sizes, dtypes.int32) + range_(width)
    sorted_ids = GatherTree(own, parent_ids, cast(reduce_max(lengths, 1), dtypes.int32), width + 1)
    within = transpose(sequence_mask(lengths, maxlen=steps), [2, 0, 1])
    beams = where(within, sorted_ids, own)
    times = zeros(sizes, dtypes.int32) + reshape(range_(steps), [-1, 1, 1])
    examples = zeros(sizes, dtypes.int32) + reshape(range_(batch), [-1, 1])
    made = gather_nd(reshape(t, concat([sizes, [-1]], 0)), stack([times, examples, beams], -1))
    return reshape(made, shape(t))


describe(globals(), RECURRENT)
