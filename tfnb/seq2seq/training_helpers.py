"""Helpers of decoders for training: targets, or with a probability the decoder's own samples and outputs."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.control_flow.cond import cond
from tfnb.control_flow.tensor_array import TensorArray
from tfnb.core import dtypes, nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import fill, zeros_like
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import shape
from tfnb.ops.math.arithmetic import maximum
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, greater, where
from tfnb.ops.random.random_ops import random_uniform
from tfnb.ops.reductions.reduce import argmax, reduce_all
from tfnb.rnn.dynamic import transpose_batch_time
from tfnb.seq2seq.helper import IntegerHelper, Next, class_sample, embedding_function, rows


class TrainingHelper(IntegerHelper):
    """Feeds the targets, whatever the decoder samples (teacher forcing).

    inputs: [batch, steps, ...], or with time_major [steps, batch, ...], or a structure of these; sequence_length: int32
    [batch], number of steps of each example. Samples are the argmax of the outputs. Raises ValueError for lengths of
    another rank.

    >>> helper = tf.contrib.seq2seq.TrainingHelper(tf.ones([2, 5, 4]), sequence_length=[5, 2])
    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    >>> outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(outputs.rnn_output).shape
    (2, 5, 4)
    """

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None) -> None:
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = nest.map_structure(convert_to_tensor, inputs)
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(transpose_batch_time, inputs)
            self._arrays = nest.map_structure(_unstacked, inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError("Expected sequence_length to be a vector, but received shape: "
                                 f"{self._sequence_length.shape}")
            self._zero_inputs = nest.map_structure(lambda x: zeros_like(x[0, :]), inputs)
            self._batch_size = rows(self._sequence_length)

    @property
    def inputs(self) -> Any:
        """The inputs that were given."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """The number of steps of each example."""
        return self._sequence_length

    @property
    def batch_size(self) -> Any:
        """The number of examples."""
        return self._batch_size

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return (which sequences are empty, the inputs of the first step)."""
        with name_scope(name, "TrainingHelperInitialize"):
            finished = equal(0, self._sequence_length)
            inputs = cond(reduce_all(finished), lambda: self._zero_inputs,
                          lambda: nest.map_structure(lambda array: array.read(0), self._arrays))
            return finished, nest.pack_sequence_as(self._zero_inputs, nest.flatten(inputs))

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return the argmax of the outputs, int32 [batch]."""
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any = None,
                    name: str | None = None) -> Next:
        """Return (finished, the next step of the inputs, the state)."""
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            following = time + 1
            finished = following >= self._sequence_length
            ended = reduce_all(finished)
            # No branch: an element that is there is read again, so that the loop stays one program.
            place = where(ended, zeros_like(following), following)
            inputs = nest.map_structure(lambda array, zero: where(ended, zero, array.read(place)), self._arrays,
                                        self._zero_inputs)
            return finished, inputs, state


def _unstacked(x: Any) -> TensorArray:
    whole: Any = shape(x)
    return TensorArray(x.dtype, size=whole[0], element_shape=x.shape[1:], clear_after_read=False).unstack(x)


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Feeds targets, or with sampling_probability the embeddings of samples (scheduled sampling; Bengio et al., 2015).

    Arguments as of TrainingHelper. embedding: a function of ids, or the params of embedding_lookup;
    sampling_probability: a float scalar, or [batch]; seed, scheduling_seed: of the samples, and of the choice whether
    one is taken. Where none is, the sample id is -1. Raises ValueError for probabilities of another rank.

    >>> embedding = tf.ones([10, 4])
    >>> helper = tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(
    ...     tf.zeros([2, 5, 4]), [5, 2], embedding, sampling_probability=tf.constant(0.1))
    >>> finished, inputs = helper.initialize()
    >>> inputs.shape.as_list()
    [2, 4]
    """

    def __init__(self, inputs: Any, sequence_length: Any, embedding: Any, sampling_probability: Any,
                 time_major: bool = False, seed: int | None = None, scheduling_seed: int | None = None,
                 name: str | None = None) -> None:
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]):
            self._embed = embedding_function(embedding)
            self._probability = _probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return samples of the classes, int32 [batch], -1 where targets are fed."""
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            chosen = _chosen(self._probability, self.batch_size, self._scheduling_seed)
            return where(chosen, class_sample(outputs, self._seed), fill([self.batch_size], -1))

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any = None,
                    name: str | None = None) -> Next:
        """Return (finished, targets or embeddings of samples, the state)."""
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, inputs, state = super().next_inputs(time, outputs, state, sample_ids)
            sampled = greater(sample_ids, -1)
            return finished, where(sampled, self._embed(maximum(sample_ids, 0)), inputs), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Feeds targets, or with sampling_probability the decoder's own outputs.

    Arguments as of TrainingHelper. sampling_probability: a float scalar, or [batch]; next_inputs_fn(outputs) -> inputs,
    where they differ in shape; auxiliary_inputs: as `inputs`, appended to inputs and to outputs that are fed. Sample
    ids are 1 where outputs are fed, else 0. Raises ValueError for probabilities of another rank.

    >>> helper = tf.contrib.seq2seq.ScheduledOutputTrainingHelper(
    ...     tf.zeros([2, 5, 4]), [5, 2], sampling_probability=tf.constant(0.1), auxiliary_inputs=tf.ones([2, 5, 3]))
    >>> finished, inputs = helper.initialize()
    >>> inputs.shape.as_list()
    [2, 7]
    """

    def __init__(self, inputs: Any, sequence_length: Any, sampling_probability: Any, time_major: bool = False,
                 seed: int | None = None, next_inputs_fn: Callable[[Any], Any] | None = None,
                 auxiliary_inputs: Any = None, name: str | None = None) -> None:
        with name_scope(name, "ScheduledOutputTrainingHelper", [inputs, auxiliary_inputs, sampling_probability]):
            self._probability, self._seed = _probability(sampling_probability), seed
            self._next_inputs_fn, self._more = next_inputs_fn, None
            if auxiliary_inputs is not None:
                more = nest.map_structure(convert_to_tensor, auxiliary_inputs)
                inputs = nest.map_structure(lambda x, y: concat([convert_to_tensor(x), y], -1), inputs, more)
                self._more = nest.map_structure(
                    lambda x: _unstacked(x if time_major else transpose_batch_time(x)), more)
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return int32 [batch]: 1 where outputs are to be fed."""
        with name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return cast(_chosen(self._probability, self.batch_size, self._seed), dtypes.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any = None,
                    name: str | None = None) -> Next:
        """Return (finished, targets or outputs, the state)."""
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, inputs, state = super().next_inputs(time, outputs, state, sample_ids)
            fed = outputs if self._next_inputs_fn is None else self._next_inputs_fn(outputs)
            if self._more is not None:
                place = where(reduce_all(finished), zeros_like(time), time + 1)
                fed = nest.map_structure(lambda x, array: concat([x, array.read(place)], -1), fed, self._more)
            sampled = cast(sample_ids, dtypes.bool)
            return finished, nest.map_structure(lambda own, given: where(sampled, own, given), fed, inputs), state


def _probability(given: Any) -> Any:
    made = convert_to_tensor(given, name="sampling_probability")
    if made.shape.ndims not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {made.shape}")
    return made


def _chosen(probability: Any, batch_size: Any, seed: int | None) -> Any:
    """Return bool [batch], True with the probability."""
    return random_uniform([batch_size], seed=seed, dtype=probability.dtype) < probability


describe(globals(), RECURRENT)
