"""Sequences to sequences in the first form of `tf.contrib.learn`: `tf.contrib.learn.ops.rnn_seq2seq` and its like."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import zeros
from tfnb.ops.array.joining import stack, unstack
from tfnb.ops.array.reshape import shape
from tfnb.ops.math.arithmetic import add_n
from tfnb.ops.nn.cross_entropy import softmax, softmax_cross_entropy_with_logits
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.rnn.static import static_rnn
from tfnb.variables.scope import variable_scope


def seq2seq_inputs(x: Any, y: Any, input_length: int, output_length: int, sentinel: Any = None,
                   name: str | None = None) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the steps of (encoder inputs, decoder inputs, targets) of a sequence to sequence model.

    x: [batch_size, input_length, features]; y: [batch_size, output_length, features]. sentinel: the first input of the
    decoder and its last target, [batch_size, features]; by default zeros.

    >>> x, y = tf.zeros([2, 3, 4]), tf.ones([2, 2, 5])
    >>> encoder, decoder, targets = tf.contrib.learn.ops.seq2seq_inputs(x, y, input_length=3, output_length=2)
    >>> len(encoder), len(decoder), sess.run([decoder[0][0, 0], targets[0][0, 0], targets[2][0, 0]])
    (3, 3, [0.0, 1.0, 0.0])
    """
    with name_scope(name, "seq2seq_inputs", [x, y]):
        x = convert_to_tensor(x)
        steps = unstack(y, output_length, axis=1)
        if sentinel is None:
            sizes: Any = shape(x)
            sentinel = zeros(stack([sizes[0], steps[0].shape[1].value]), steps[0].dtype)
            sentinel.set_shape(steps[0].shape)
        return unstack(x, input_length, axis=1), [sentinel, *steps], [*steps, sentinel]


def rnn_decoder(decoder_inputs: Sequence[Any], initial_state: Any, cell: Any, scope: Any = None
                ) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Return (outputs, states, sampled outputs, sampled states) of a cell over `decoder_inputs`.

    In the sampled ones each step takes the output before it in place of its input. Outputs must have the size of the
    inputs. initial_state: of the cell. scope: name of the variable scope, by default "dnn_decoder".

    >>> cell = tf.nn.rnn_cell.GRUCell(2)
    >>> outputs, states, sampled, _ = tf.contrib.learn.ops.rnn_decoder([tf.ones([1, 2])] * 3, tf.zeros([1, 2]), cell)
    >>> len(outputs), len(states), outputs[0] is sampled[0]
    (3, 4, True)
    """
    with variable_scope(scope or "dnn_decoder") as within:
        outputs: list[Any] = []
        sampled: list[Any] = []
        states, sampled_states = [initial_state], [initial_state]
        for given in decoder_inputs:
            output, state = cell(given, states[-1])
            outputs.append(output)
            states.append(state)
            if sampled:
                output, state = cell(sampled[-1], sampled_states[-1])
            sampled.append(output)
            sampled_states.append(state)
            within.reuse_variables()
        return outputs, states, sampled, sampled_states


def rnn_seq2seq(encoder_inputs: Sequence[Any], decoder_inputs: Sequence[Any], encoder_cell: Any,
                decoder_cell: Any = None, dtype: Any = dtypes.float32, scope: Any = None
                ) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Return what `rnn_decoder` does, from the last state of a cell over `encoder_inputs`.

    decoder_inputs: of the decoder. encoder_cell: of the encoder; decoder_cell: of the decoder, by default the same.
    dtype: of the state. scope: name of the variable scope, by default "rnn_seq2seq".

    >>> cell = tf.nn.rnn_cell.GRUCell(2)
    >>> encoder, decoder = [tf.ones([1, 3])] * 2, [tf.ones([1, 2])] * 3
    >>> decoding, _, sampling, _ = tf.contrib.learn.ops.rnn_seq2seq(
    ...     encoder, decoder, cell, tf.nn.rnn_cell.GRUCell(2))
    >>> len(decoding), decoding[2].shape
    (3, TensorShape([Dimension(1), Dimension(2)]))
    """
    with variable_scope(scope or "rnn_seq2seq"):
        _, last = static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, last, decoder_cell or encoder_cell)


def sequence_classifier(decoding: Sequence[Any], labels: Sequence[Any], sampling_decoding: Sequence[Any] | None = None,
                        name: str | None = None) -> tuple[Any, Any]:
    """Return (probabilities [batch_size, steps, classes], loss) of the outputs of a decoder.

    decoding: logits of each step; labels: one-hot, of each step. sampling_decoding: logits of the probabilities, by
    default `decoding`. The loss is the sum over steps and examples.

    >>> logits, labels = [tf.zeros([1, 2])] * 3, [tf.constant([[1.0, 0.0]])] * 3
    >>> predictions, loss = tf.contrib.learn.ops.sequence_classifier(logits, labels)
    >>> predictions.shape, sess.run(loss)
    (TensorShape([Dimension(1), Dimension(3), Dimension(2)]), 2.0794)
    """
    with name_scope(name, "sequence_classifier", [*decoding, *labels]):
        losses = [softmax_cross_entropy_with_logits(labels=label, logits=logits, name=f"sequence_loss/xent_raw{i}")
                  for i, (logits, label) in enumerate(zip(decoding, labels, strict=False))]
        predictions = [softmax(each) for each in sampling_decoding or decoding]
        loss = reduce_sum(add_n(losses, name="sequence_loss/xent"), name="sequence_loss")
        return stack(predictions, axis=1), loss
