"""Encoders and decoders unrolled over lists of steps: `tf.contrib.legacy_seq2seq` (`tf.nn.seq2seq` before 1.0).

Sutskever et al., 2014 (a decoder that begins with the encoder's last state); Vinyals et al., 2014 (attention).
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

from tfnb.control_flow.cond import cond
from tfnb.core import dtypes, nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.graph.stack import name_scope
from tfnb.losses.sequence import sequence_loss_by_example, sequence_loss_of_lists
from tfnb.ops.array.create import zeros
from tfnb.ops.array.joining import concat, stack
from tfnb.ops.array.reshape import reshape, shape, stop_gradient
from tfnb.ops.math.functions import tanh
from tfnb.ops.nn.activations import xw_plus_b
from tfnb.ops.nn.conv_functions import conv2d
from tfnb.ops.nn.cross_entropy import softmax
from tfnb.ops.reductions.reduce import argmax, reduce_sum
from tfnb.rnn.projections import EmbeddingWrapper, OutputProjectionWrapper, linear
from tfnb.rnn.static import static_rnn
from tfnb.variables.embedding import embedding_lookup
from tfnb.variables.scope import get_variable, get_variable_scope, variable_scope

Loop = Callable[[Any, int], Any]
Made = tuple[list[Any], Any]                       # outputs of all steps, last state


def _next_input(loop: Loop | None, previous: Any, step: int, given: Any) -> Any:
    """The input of a step: what the loop function makes of the last output, if there are both."""
    if loop is None or previous is None:
        return given
    with variable_scope("loop_function", reuse=True):
        return loop(previous, step)


def rnn_decoder(decoder_inputs: Iterable[Any], initial_state: Any, cell: Any, loop_function: Loop | None = None,
                scope: Any = None) -> Made:
    """(list of outputs, last state) of a cell over inputs (batch, size), from `initial_state` on.

    loop_function: (last output, number of the step) -> the input of a step, in place of those that are given, but for
    the first.

    >>> cell = tf.contrib.rnn.GRUCell(4)
    >>> outputs, state = tf.contrib.legacy_seq2seq.rnn_decoder([tf.ones([2, 3])] * 5, tf.zeros([2, 4]), cell)
    >>> len(outputs), state.shape.as_list()
    (5, [2, 4])
    """
    with variable_scope(scope or "rnn_decoder"):
        state, outputs, previous = initial_state, [], None
        for step, given in enumerate(decoder_inputs):
            current = _next_input(loop_function, previous, step, given)
            if step > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(current, state)
            outputs.append(output)
            previous = output
    return outputs, state


def basic_rnn_seq2seq(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any,
                      dtype: Any = dtypes.float32, scope: Any = None) -> Made:
    """(decoder's outputs, its last state): a copy of the cell reads the encoder's inputs, then the cell decodes.

    >>> inputs, cell = [tf.ones([2, 3])] * 5, tf.contrib.rnn.GRUCell(4)
    >>> outputs, state = tf.contrib.legacy_seq2seq.basic_rnn_seq2seq(inputs, inputs[:4], cell)
    >>> len(outputs), outputs[0].shape.as_list()
    (4, [2, 4])
    """
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any,
                     loop_function: Loop | None = None, dtype: Any = dtypes.float32, scope: Any = None) -> Made:
    """As `basic_rnn_seq2seq`, with the same variables in encoder and decoder.

    >>> inputs, cell = [tf.ones([2, 3])] * 5, tf.contrib.rnn.GRUCell(4)
    >>> outputs, state = tf.contrib.legacy_seq2seq.tied_rnn_seq2seq(inputs, inputs[:4], cell)
    >>> len(outputs), outputs[0].shape.as_list()
    (4, [2, 4])
    """
    with variable_scope("combined_tied_rnn_seq2seq"):
        name = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=name)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, name)


def _embedded_argmax(embedding: Any, output_projection: Any, update_embedding: bool) -> Loop:
    """A loop function: the row of `embedding` for the likeliest symbol of the last output."""
    def loop(previous: Any, step: int) -> Any:
        if output_projection is not None:
            previous = xw_plus_b(previous, *output_projection)
        row = embedding_lookup(embedding, argmax(previous, 1))
        return row if update_embedding else stop_gradient(row)
    return loop


def embedding_rnn_decoder(decoder_inputs: Sequence[Any], initial_state: Any, cell: Any, num_symbols: int,
                          embedding_size: int, output_projection: Any = None, feed_previous: bool = False,
                          update_embedding_for_previous: bool = True, scope: Any = None) -> Made:
    """As `rnn_decoder`, for inputs that are symbols, int32 (batch,), of which a variable `embedding` has the rows.

    feed_previous: each step takes the likeliest symbol of the one before; output_projection: (weights, biases) that
    make logits of outputs for that. Raises ValueError for a projection of other shapes.

    >>> words = [tf.constant([1, 2])] * 5
    >>> outputs, state = tf.contrib.legacy_seq2seq.embedding_rnn_decoder(
    ...     words, tf.zeros([2, 4]), tf.contrib.rnn.GRUCell(4), num_symbols=10, embedding_size=3)
    >>> len(outputs), outputs[0].shape.as_list()
    (5, [2, 4])
    """
    with variable_scope(scope or "embedding_rnn_decoder") as opened:
        _check_projection(output_projection, cell.output_size, num_symbols, opened.dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop = _embedded_argmax(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        return rnn_decoder((embedding_lookup(embedding, given) for given in decoder_inputs), initial_state, cell, loop)


def _check_projection(projection: Any, size: Any, symbols: int, dtype: Any) -> None:
    if projection is not None:
        for tensor, wanted in zip(projection, ([size, symbols], [symbols]), strict=True):
            if not tensor.shape.is_compatible_with(wanted):
                raise ValueError(f"output_projection must have shapes {[size, symbols]} and {[symbols]}, but one is "
                                 f"{tensor.shape}")


def _fed_or_not(feed_previous: Any, decode: Callable[[bool], Made]) -> Made:
    """`decode(feed_previous)`; for a tensor both ways are built, with the same variables, and it chooses."""
    if isinstance(feed_previous, bool):
        return decode(feed_previous)
    form: list[Any] = []

    def flat(fed: bool) -> list[Any]:
        with variable_scope(get_variable_scope(), reuse=None if fed else True):
            outputs, state = decode(fed)
        form[:] = [len(outputs), state]
        return [*outputs, *nest.flatten(state)]
    made = cond(feed_previous, lambda: flat(True), lambda: flat(False))
    count, state = form
    return made[:count], nest.pack_sequence_as(state, made[count:])


def embedding_rnn_seq2seq(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any,
                          num_encoder_symbols: int, num_decoder_symbols: int, embedding_size: int,
                          output_projection: Any = None, feed_previous: Any = False, dtype: Any = None,
                          scope: Any = None) -> Made:
    """`basic_rnn_seq2seq` over symbols, with an embedding for each side.

    Inputs are lists of int32 (batch,). Outputs are logits (batch, num_decoder_symbols), or what the cell gives if there
    is an output_projection. feed_previous: see `embedding_rnn_decoder`; may be a bool scalar tensor.

    >>> words, cell = [tf.constant([1, 2])] * 5, tf.contrib.rnn.GRUCell(4)
    >>> outputs, state = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
    ...     words, words[:4], cell, num_encoder_symbols=20, num_decoder_symbols=10, embedding_size=3)
    >>> len(outputs), outputs[0].shape.as_list()
    (4, [2, 10])
    """
    with variable_scope(scope or "embedding_rnn_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(deepcopy(cell), num_encoder_symbols, embedding_size)
        _, state = static_rnn(encoder, encoder_inputs, dtype=dtype or opened.dtype)
        decoder = OutputProjectionWrapper(cell, num_decoder_symbols) if output_projection is None else cell
        return _fed_or_not(feed_previous, lambda fed: embedding_rnn_decoder(
            decoder_inputs, state, decoder, num_decoder_symbols, embedding_size, output_projection, fed))


def one2many_rnn_seq2seq(encoder_inputs: Sequence[Any], decoder_inputs_dict: Mapping[Any, Sequence[Any]], enc_cell: Any,
                         dec_cells_dict: Mapping[Any, Any], num_encoder_symbols: int,
                         num_decoder_symbols_dict: Mapping[Any, int], embedding_size: int, feed_previous: Any = False,
                         dtype: Any = None, scope: Any = None) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """`embedding_rnn_seq2seq` with one encoder and several decoders: dicts of outputs and last states by name.

    enc_cell: of the encoder; decoder_inputs_dict, dec_cells_dict, num_decoder_symbols_dict: inputs, cell and number of
    symbols of each decoder. Their variables stand in the scopes one2many_decoder_NAME.

    >>> words, cells = [tf.constant([1, 2])] * 5, [tf.contrib.rnn.GRUCell(4) for _ in range(3)]
    >>> outputs, states = tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq(
    ...     words, {"a": words[:4], "b": words[:2]}, cells[0], {"a": cells[1], "b": cells[2]}, num_encoder_symbols=20,
    ...     num_decoder_symbols_dict={"a": 10, "b": 7}, embedding_size=3)
    >>> {name: (len(steps), steps[0].shape.as_list()) for name, steps in outputs.items()}
    {'a': (4, [2, 10]), 'b': (2, [2, 7])}
    """
    made, states = {}, {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, state = static_rnn(encoder, encoder_inputs, dtype=dtype or opened.dtype)
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)
                made[name], states[name] = _fed_or_not(feed_previous, partial(
                    embedding_rnn_decoder, inputs, state, cell, symbols, embedding_size, None))
    return made, states


def embedding_tied_rnn_seq2seq(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any,
                               num_symbols: int, embedding_size: int, num_decoder_symbols: int | None = None,
                               output_projection: Any = None, feed_previous: Any = False, dtype: Any = None,
                               scope: Any = None) -> Made:
    """`tied_rnn_seq2seq` over symbols, with one embedding for both sides.

    >>> words, cell = [tf.constant([1, 2])] * 5, tf.contrib.rnn.GRUCell(4)
    >>> outputs, state = tf.contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq(
    ...     words, words[:4], cell, num_symbols=10, embedding_size=3)
    >>> len(outputs), outputs[0].shape.as_list()
    (4, [2, 10])
    """
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as opened:
        count = num_symbols if num_decoder_symbols is None else num_decoder_symbols
        _check_projection(output_projection, cell.output_size, count, opened.dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        inputs, targets = ([embedding_lookup(embedding, given) for given in side]
                           for side in (encoder_inputs, decoder_inputs))
        used = OutputProjectionWrapper(cell, count) if output_projection is None else cell
        loop = _embedded_argmax(embedding, output_projection, True)
        return _fed_or_not(feed_previous, lambda fed: tied_rnn_seq2seq(
            inputs, targets, used, loop if fed else None, dtype or opened.dtype))


class _Attention:
    """Weighted means of attention states (batch, length, size), by how well each fits a query."""

    def __init__(self, states: Any, heads: int) -> None:
        self.length, self.size = states.shape.as_list()[1:]
        if self.length is None:
            self.length = shape(states)[1]
        self.hidden = reshape(states, [-1, self.length, 1, self.size])
        self.features, self.vectors = [], []
        for head in range(heads):
            kernel = get_variable(f"AttnW_{head}", [1, 1, self.size, self.size])
            self.features.append(conv2d(self.hidden, kernel, [1, 1, 1, 1], "SAME"))
            self.vectors.append(get_variable(f"AttnV_{head}", [self.size]))

    def __call__(self, query: Any) -> list[Any]:
        """A mean for each head."""
        parts = nest.flatten(query)
        means = []
        for head, (features, vector) in enumerate(zip(self.features, self.vectors, strict=True)):
            with variable_scope(f"Attention_{head}"):
                y = reshape(linear(parts, self.size), [-1, 1, 1, self.size])
                fit = softmax(reduce_sum(vector * tanh(features + y), [2, 3]))
                mean = reduce_sum(reshape(fit, [-1, self.length, 1, 1]) * self.hidden, [1, 2])
                means.append(reshape(mean, [-1, self.size]))
        return means


def attention_decoder(decoder_inputs: Iterable[Any], initial_state: Any, attention_states: Any, cell: Any,
                      output_size: int | None = None, num_heads: int = 1, loop_function: Loop | None = None,
                      dtype: Any = None, scope: Any = None, initial_state_attention: bool = False) -> Made:
    """As `rnn_decoder`; each step also reads means of `attention_states` (batch, length, size), weighted by its state.

    output_size: of the outputs, by default the cell's; num_heads: how many means; initial_state_attention: the first
    step reads those of the initial state, by default zeros. Raises ValueError for no inputs, no heads, and attention
    states of unknown size.

    >>> inputs, cell = [tf.ones([2, 3])] * 5, tf.contrib.rnn.GRUCell(4)
    >>> outputs, state = tf.contrib.legacy_seq2seq.attention_decoder(inputs, tf.zeros([2, 4]), tf.ones([2, 7, 6]), cell)
    >>> len(outputs), outputs[0].shape.as_list()
    (5, [2, 4])
    """
    inputs = list(decoder_inputs)
    if not inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape.as_list()[2] is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as opened:
        attend = _Attention(attention_states, num_heads)
        state, outputs, previous = initial_state, [], None
        batch = shape(inputs[0])[0]
        means = [zeros(stack([batch, attend.size]), dtype=dtype or opened.dtype) for _ in range(num_heads)]
        for mean in means:
            mean.set_shape([None, attend.size])
        if initial_state_attention:
            means = attend(initial_state)
        for step, given in enumerate(inputs):
            if step > 0:
                get_variable_scope().reuse_variables()
            current = _next_input(loop_function, previous, step, given)
            width = current.shape.with_rank(2).as_list()[1]
            if width is None:
                raise ValueError(f"Could not infer input size from input: {current.name}")
            output, state = cell(linear([current, *means], width), state)
            with variable_scope(get_variable_scope(), reuse=True if step == 0 and initial_state_attention else None):
                means = attend(state)
            with variable_scope("AttnOutputProjection"):
                output = linear([output, *means], size)
            outputs.append(output)
            previous = output
    return outputs, state


def embedding_attention_decoder(decoder_inputs: Sequence[Any], initial_state: Any, attention_states: Any, cell: Any,
                                num_symbols: int, embedding_size: int, num_heads: int = 1,
                                output_size: int | None = None, output_projection: Any = None,
                                feed_previous: bool = False, update_embedding_for_previous: bool = True,
                                dtype: Any = None, scope: Any = None, initial_state_attention: bool = False) -> Made:
    """`attention_decoder` over symbols: for the further arguments see `embedding_rnn_decoder`.

    >>> words, cell = [tf.constant([1, 2])] * 5, tf.contrib.rnn.GRUCell(4)
    >>> outputs, state = tf.contrib.legacy_seq2seq.embedding_attention_decoder(
    ...     words, tf.zeros([2, 4]), tf.ones([2, 7, 6]), cell, num_symbols=10, embedding_size=3)
    >>> len(outputs), outputs[0].shape.as_list()
    (5, [2, 4])
    """
    size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype) as opened:
        _check_projection(output_projection, size, num_symbols, opened.dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop = _embedded_argmax(embedding, output_projection, update_embedding_for_previous) if feed_previous else None
        return attention_decoder((embedding_lookup(embedding, given) for given in decoder_inputs), initial_state,
                                 attention_states, cell, size, num_heads, loop,
                                 initial_state_attention=initial_state_attention)


def embedding_attention_seq2seq(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], cell: Any,
                                num_encoder_symbols: int, num_decoder_symbols: int, embedding_size: int,
                                num_heads: int = 1, output_projection: Any = None, feed_previous: Any = False,
                                dtype: Any = None, scope: Any = None, initial_state_attention: bool = False) -> Made:
    """`embedding_rnn_seq2seq` whose decoder reads the outputs of all steps of the encoder (Bahdanau et al., 2014).

    >>> words, cell = [tf.constant([1, 2])] * 5, tf.contrib.rnn.GRUCell(4)
    >>> outputs, state = tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
    ...     words, words[:4], cell, num_encoder_symbols=20, num_decoder_symbols=10, embedding_size=3)
    >>> len(outputs), outputs[0].shape.as_list()
    (4, [2, 10])
    """
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(deepcopy(cell), num_encoder_symbols, embedding_size)
        read, state = static_rnn(encoder, encoder_inputs, dtype=dtype or opened.dtype)
        attention_states = concat([reshape(output, [-1, 1, cell.output_size]) for output in read], 1)
        decoder, size = cell, None
        if output_projection is None:
            decoder, size = OutputProjectionWrapper(cell, num_decoder_symbols), num_decoder_symbols
        return _fed_or_not(feed_previous, lambda fed: embedding_attention_decoder(
            decoder_inputs, state, attention_states, decoder, num_decoder_symbols, embedding_size, num_heads, size,
            output_projection, fed, initial_state_attention=initial_state_attention))


def model_with_buckets(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], targets: Sequence[Any],
                       weights: Sequence[Any], buckets: Sequence[tuple[int, int]], seq2seq: Callable[..., Made],
                       softmax_loss_function: Any = None, per_example_loss: bool = False,
                       name: str | None = None) -> tuple[list[Any], list[Any]]:
    """(outputs, losses) of a model for each bucket, (encoder steps, decoder steps), with the same variables.

    seq2seq: (encoder inputs, decoder inputs) -> (outputs, state). Raises ValueError if there are fewer inputs, targets
    or weights than the last bucket needs.

    >>> seq2seq, cell = tf.contrib.legacy_seq2seq, tf.nn.rnn_cell.BasicRNNCell(3)
    >>> words, targets, weights = [[tf.ones(shape, dtype) for _ in range(4)]
    ...                            for shape, dtype in (([2, 3], tf.float32), ([2], tf.int32), ([2], tf.float32))]
    >>> outputs, losses = seq2seq.model_with_buckets(
    ...     words, words, targets, weights, buckets=[(2, 2), (4, 4)],
    ...     seq2seq=lambda encoder, decoder: seq2seq.basic_rnn_seq2seq(encoder, decoder, cell))
    >>> [len(steps) for steps in outputs], [loss.shape.as_list() for loss in losses]
    ([2, 4], [[], []])
    """
    reads, writes = buckets[-1]
    for what, given, needed in (("encoder_inputs", encoder_inputs, reads), ("targets", targets, writes),
                                ("weights", weights, writes)):
        if len(given) < needed:
            raise ValueError(f"Length of {what} ({len(given)}) must be at least that of last bucket ({needed}).")
    measure = sequence_loss_by_example if per_example_loss else sequence_loss_of_lists
    losses, outputs = [], []
    with name_scope(name, "model_with_buckets", [*encoder_inputs, *decoder_inputs, *targets, *weights]):
        for number, (reads, writes) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if number > 0 else None):
                made, _ = seq2seq(encoder_inputs[:reads], decoder_inputs[:writes])
            outputs.append(made)
            losses.append(measure(made, targets[:writes], weights[:writes],
                                  softmax_loss_function=softmax_loss_function))
    return outputs, losses


describe(globals(), RECURRENT)
