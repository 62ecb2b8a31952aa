"""Linear-chain conditional random fields: `tf.contrib.crf` (Lafferty et al., 2001).

The score of tags is the sum of inputs[t, tag[t]] and transition_params[tag[t], tag[t + 1]] over the steps;
its log likelihood is the score minus the log of the sum of exp(score) over all tags, by the forward algorithm.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import CRF, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.ops.array.create import fill, range_, zeros_like
from tfnb.ops.array.gather import gather, sequence_mask
from tfnb.ops.array.joining import concat, pad
from tfnb.ops.array.reshape import expand_dims, reshape, shape, squeeze
from tfnb.ops.array.reverse_sequence import reverse_sequence
from tfnb.ops.math.arithmetic import maximum
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import where
from tfnb.ops.reductions.reduce import argmax, reduce_logsumexp, reduce_max, reduce_sum
from tfnb.rnn.cells import RNNCell
from tfnb.rnn.dynamic import dynamic_rnn
from tfnb.variables.scope import get_variable


def _int32(x: Any, name: str) -> Any:
    return cast(convert_to_tensor(x, name=name), dtypes.int32)


def _after_first(sequence_lengths: Any) -> Any:
    """Return the number of steps behind the first one."""
    return maximum(_int32(sequence_lengths, "sequence_lengths") - 1, 0)


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Return the scores of tags, [batch]; 0 for empty sequences.

    >>> inputs, transitions = tf.constant([[[1.0, 2.0], [3.0, 4.0]]]), tf.constant([[0.1, 0.2], [0.3, 0.4]])
    >>> sess.run(tf.contrib.crf.crf_sequence_score(inputs, [[0, 1]], [2], transitions))
    array([5.2], dtype=float32)
    """
    return crf_unary_score(tag_indices, sequence_lengths, inputs) + crf_binary_score(tag_indices, sequence_lengths,
                                                                                     transition_params)


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """Return the sums of inputs[t, tag[t]] over the steps of each sequence, [batch].

    >>> inputs = tf.constant([[[1.0, 2.0], [3.0, 4.0]]])
    >>> sess.run(tf.contrib.crf.crf_unary_score([[0, 1]], [2], inputs))
    array([5.], dtype=float32)
    """
    tags, inputs = _int32(tag_indices, "tag_indices"), convert_to_tensor(inputs, name="inputs")
    sizes: Any = shape(inputs)
    places = range_(sizes[0] * sizes[1]) * sizes[2] + reshape(tags, [-1])
    scores = reshape(gather(reshape(inputs, [-1]), places), [sizes[0], sizes[1]])
    mask = sequence_mask(_int32(sequence_lengths, "sequence_lengths"), maxlen=sizes[1], dtype=scores.dtype)
    return reduce_sum(scores * mask, 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Return the sums of transition_params[tag[t], tag[t + 1]] over the steps of each sequence, [batch].

    >>> transitions = tf.constant([[0.1, 0.2], [0.3, 0.4]])
    >>> sess.run(tf.contrib.crf.crf_binary_score([[0, 1, 0]], [3], transitions))
    array([0.5], dtype=float32)
    """
    tags, transitions = _int32(tag_indices, "tag_indices"), convert_to_tensor(transition_params)
    count: Any = shape(transitions)
    scores = gather(reshape(transitions, [-1]), tags[:, :-1] * count[0] + tags[:, 1:])
    steps: Any = shape(scores)
    mask = sequence_mask(_after_first(sequence_lengths), maxlen=steps[1], dtype=scores.dtype)
    return reduce_sum(scores * mask, 1)


def crf_multitag_sequence_score(inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Return log(sum(exp(score))) over all tags that a bitmap allows, [batch].

    tag_bitmap: bool [batch, steps, tags], True where a tag is allowed.

    >>> inputs, transitions = tf.constant([[[1.0, 2.0], [3.0, 4.0]]]), tf.constant([[0.1, 0.2], [0.3, 0.4]])
    >>> allowed = tf.constant([[[True, False], [False, True]]])
    >>> sess.run(tf.contrib.crf.crf_multitag_sequence_score(inputs, allowed, [2], transitions))
    array([5.2], dtype=float32)
    """
    inputs = convert_to_tensor(inputs, name="inputs")
    allowed = cast(tag_bitmap, dtypes.bool)
    return crf_log_norm(where(allowed, inputs, fill(shape(inputs), cast(-np.inf, inputs.dtype))), sequence_lengths,
                        transition_params)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Return log(sum(exp(score))) over all tags, [batch]; 0 for empty sequences.

    >>> sess.run(tf.contrib.crf.crf_log_norm(tf.zeros([1, 2, 2]), [2], tf.zeros([2, 2])))
    array([1.3863], dtype=float32)
    """
    inputs = convert_to_tensor(inputs, name="inputs")
    lengths = _int32(sequence_lengths, "sequence_lengths")
    norm = reduce_logsumexp(crf_forward(inputs[:, 1:], inputs[:, 0], transition_params, lengths), [1])
    return where(lengths <= 0, zeros_like(norm), norm)


def crf_forward(inputs: Any, state: Any, transition_params: Any, sequence_lengths: Any) -> Any:
    """Compute the last alphas of the forward algorithm, [batch, tags].

    inputs: [batch, steps, tags], without the first step; state: [batch, tags], the first step; sequence_lengths: with
    the first step.

    >>> alphas = tf.contrib.crf.crf_forward(tf.zeros([1, 2, 2]), tf.zeros([1, 2]), tf.zeros([2, 2]), [3])
    >>> sess.run(alphas)
    array([[1.3863, 1.3863]], dtype=float32)
    """
    _, alphas = dynamic_rnn(CrfForwardRnnCell(transition_params), inputs, _after_first(sequence_lengths), state,
                            dtype=state.dtype)
    return alphas


def crf_log_likelihood(inputs: Any, tag_indices: Any, sequence_lengths: Any,
                       transition_params: Any = None) -> tuple[Any, Any]:
    """Return (log likelihoods of tags, [batch]; transition_params).

    transition_params: None makes the variable "transitions", to be trained.

    >>> inputs, transitions = tf.constant([[[1.0, 2.0], [3.0, 4.0]]]), tf.constant([[0.1, 0.2], [0.3, 0.4]])
    >>> likelihood, _ = tf.contrib.crf.crf_log_likelihood(inputs, [[1, 1]], [2], transitions)
    >>> sess.run(tf.exp(likelihood))
    array([0.5766], dtype=float32)
    """
    inputs = convert_to_tensor(inputs, name="inputs")
    tags = inputs.shape.as_list()[2]
    if transition_params is None:
        transition_params = get_variable("transitions", [tags, tags], dtype=inputs.dtype)
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


class _Chain(RNNCell):
    """A cell whose state has an element for each tag."""

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transitions = expand_dims(convert_to_tensor(transition_params, name="transition_params"), 0)
        self._tags = self._transitions.shape.as_list()[1]

    @property
    def state_size(self) -> int:
        """The number of tags."""
        return self._tags

    @property
    def output_size(self) -> int:
        """The number of tags."""
        return self._tags

    def _paths(self, state: Any) -> Any:
        """Return the scores of going on from each tag to each, [batch, from, to]."""
        return expand_dims(state, 2) + self._transitions


class CrfForwardRnnCell(_Chain):
    """A step of the forward algorithm: output and next state are alphas [batch, tags].

    >>> cell = tf.contrib.crf.CrfForwardRnnCell(tf.zeros([2, 2]))
    >>> output, state = cell(tf.zeros([1, 2]), tf.zeros([1, 2]))
    >>> sess.run(state)
    array([[0.6931, 0.6931]], dtype=float32)
    """

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (alphas, alphas)."""
        alphas = inputs + reduce_logsumexp(self._paths(state), [1])
        return alphas, alphas


class CrfDecodeForwardRnnCell(_Chain):
    """A step of the Viterbi algorithm: outputs are the best previous tags, int32 [batch, tags], states the scores.

    >>> cell = tf.contrib.crf.CrfDecodeForwardRnnCell(tf.zeros([2, 2]))
    >>> output, state = cell(tf.zeros([1, 2]), tf.constant([[1.0, 2.0]]))
    >>> sess.run([output, state])
    [array([[1, 1]], dtype=int32), array([[2., 2.]], dtype=float32)]
    """

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (backpointers, scores)."""
        paths = self._paths(state)
        return argmax(paths, 1, output_type=dtypes.int32), inputs + reduce_max(paths, [1])


class CrfDecodeBackwardRnnCell(RNNCell):
    """A step back along the best tags: output and next state are the tag that backpointers name, int32 [batch, 1].

    num_tags: number of tags.

    >>> cell = tf.contrib.crf.CrfDecodeBackwardRnnCell(num_tags=2)
    >>> output, state = cell(tf.constant([[1, 0]]), tf.constant([[0]]))
    >>> sess.run(output)
    array([[1]], dtype=int32)
    """

    def __init__(self, num_tags: int) -> None:
        super().__init__()
        self._tags = num_tags

    @property
    def state_size(self) -> int:
        """One tag."""
        return 1

    @property
    def output_size(self) -> int:
        """One tag."""
        return 1

    def call(self, inputs: Any, state: Any) -> Any:
        """Return (tags, tags)."""
        batch: Any = shape(inputs)
        places = range_(batch[0]) * self._tags + squeeze(state, [1])
        tags = expand_dims(gather(reshape(inputs, [-1]), places), 1)
        return tags, tags


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[Any, Any]:
    """Find the tags of the highest score by the Viterbi algorithm: (int32 [batch, steps], scores [batch]).

    potentials: [batch, steps, tags], the inputs of crf_log_likelihood; sequence_length: [batch]. Behind the end of a
    sequence tags are 0.

    >>> potentials = tf.constant([[[1.0, 0.0], [0.0, 2.0], [0.0, 3.0]]])
    >>> tags, score = tf.contrib.crf.crf_decode(potentials, tf.zeros([2, 2]), [3])
    >>> sess.run([tags, score])
    [array([[0, 1, 1]], dtype=int32), array([6.], dtype=float32)]
    """
    potentials = convert_to_tensor(potentials, name="potentials")
    lengths, rest = _int32(sequence_length, "sequence_length"), _after_first(sequence_length)
    static, steps = potentials.shape.as_list(), shape(potentials)[1]
    # A step of padding: loops over no step at all could not say the shape of their outputs.
    inputs = pad(potentials[:, 1:], [[0, 0], [0, 1], [0, 0]])
    pointers, scores = dynamic_rnn(CrfDecodeForwardRnnCell(transition_params), inputs, rest, potentials[:, 0],
                                   dtype=dtypes.int32, scope="crf_fwd")
    last = expand_dims(argmax(scores, 1, output_type=dtypes.int32), 1)
    backwards, _ = dynamic_rnn(CrfDecodeBackwardRnnCell(static[2]), reverse_sequence(pointers, rest, seq_axis=1), rest,
                               last, dtype=dtypes.int32, scope="crf_bwd")
    tags = reverse_sequence(concat([last, squeeze(backwards, [2])], 1), lengths, seq_axis=1)[:, :steps]
    tags.set_shape(static[:2])
    return tags, reduce_max(scores, 1)


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], Any]:
    """Find the tags of the highest score of one sequence with NumPy: (list of tags, score).

    score: an array [steps, tags]; transition_params: an array [tags, tags].

    >>> tf.contrib.crf.viterbi_decode(np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 3.0]]), np.zeros([2, 2]))
    ([0, 1, 1], 6.0)
    """
    scores, pointers = score[0], []
    for step in score[1:]:
        paths = scores[:, None] + transition_params
        pointers.append(paths.argmax(0))
        scores = step + paths.max(0)
    tags = [int(scores.argmax())]
    for pointer in reversed(pointers):
        tags.append(int(pointer[tags[-1]]))
    return tags[::-1], scores.max()


describe(globals(), CRF)
