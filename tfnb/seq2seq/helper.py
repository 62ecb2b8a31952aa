"""Helpers of decoders: where each step's input comes from, the targets, the decoder's own samples, or both."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import RECURRENT, describe
from tfnb.core.dtypes import DType
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import fill
from tfnb.ops.array.reshape import reshape, shape
from tfnb.ops.math.compare import equal
from tfnb.ops.random.random_ops import multinomial
from tfnb.ops.reductions.reduce import argmax
from tfnb.variables.embedding import embedding_lookup

Next = tuple[Any, Any, Any]                        # finished, next inputs, next state


class Helper:
    """Chooses the inputs of BasicDecoder's steps: an interface to subclass.

    `initialize()` -> (finished, first inputs); `sample(time, outputs, state)` -> sample ids; `next_inputs(time,
    outputs, state, sample_ids)` -> (finished, next inputs, next state).

    >>> class Constant(tf.contrib.seq2seq.Helper):
    ...     batch_size, sample_ids_shape, sample_ids_dtype = 1, tf.TensorShape([]), tf.int32
    ...     def initialize(self, name=None):
    ...         return tf.constant([False]), tf.ones([1, 3])
    ...     def sample(self, time, outputs, state, name=None):
    ...         return tf.fill([1], time)
    ...     def next_inputs(self, time, outputs, state, sample_ids, name=None):
    ...         return sample_ids >= 3, tf.ones([1, 3]), state
    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, Constant(), cell.zero_state(1, tf.float32))
    >>> outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(outputs.sample_id)
    array([[0, 1, 2, 3]], dtype=int32)
    """

    @property
    def batch_size(self) -> Any:
        """The number of examples, an int or an int32 scalar."""
        raise NotImplementedError("batch_size has not been implemented")

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of the sample of one example."""
        raise NotImplementedError("sample_ids_shape has not been implemented")

    @property
    def sample_ids_dtype(self) -> DType:
        """The dtype of samples."""
        raise NotImplementedError("sample_ids_dtype has not been implemented")

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return (finished, first inputs)."""
        raise NotImplementedError("initialize has not been implemented")

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return the samples of a step, [batch, ...]."""
        raise NotImplementedError("sample has not been implemented")

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Next:
        """Return (finished, next inputs, next state)."""
        raise NotImplementedError("next_inputs has not been implemented")


class CustomHelper(Helper):
    """A helper of three functions.

    initialize_fn() -> (finished, first inputs); sample_fn(time=, outputs=, state=) -> sample ids; next_inputs_fn(time=,
    outputs=, state=, sample_ids=) -> (finished, next inputs, next state). sample_ids_shape, sample_ids_dtype: of the
    sample of one example, by default int32 scalars.

    >>> helper = tf.contrib.seq2seq.CustomHelper(
    ...     initialize_fn=lambda: (tf.constant([False, False]), tf.zeros([2, 4])),
    ...     sample_fn=lambda time, outputs, state: tf.argmax(outputs, -1, output_type=tf.int32),
    ...     next_inputs_fn=lambda time, outputs, state, sample_ids: (tf.fill([2], time >= 6), outputs, state))
    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    >>> _, _, lengths = tf.contrib.seq2seq.dynamic_decode(decoder)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(lengths)
    array([7, 7], dtype=int32)
    """

    def __init__(self, initialize_fn: Callable[..., Any], sample_fn: Callable[..., Any],
                 next_inputs_fn: Callable[..., Any], sample_ids_shape: Any = None,
                 sample_ids_dtype: Any = None) -> None:
        self._initialize_fn, self._sample_fn, self._next_inputs_fn = initialize_fn, sample_fn, next_inputs_fn
        self._batch_size: Any = None
        self._shape = TensorShape([]) if sample_ids_shape is None else TensorShape(sample_ids_shape)
        self._dtype = dtypes.int32 if sample_ids_dtype is None else dtypes.as_dtype(sample_ids_dtype)

    @property
    def batch_size(self) -> Any:
        """The size of `finished`. Raises ValueError before `initialize`."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of the sample of one example."""
        return self._shape

    @property
    def sample_ids_dtype(self) -> DType:
        """The dtype of samples."""
        return self._dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return (finished, first inputs)."""
        with name_scope(name, f"{type(self).__name__}Initialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = rows(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return the samples of a step."""
        with name_scope(name, f"{type(self).__name__}Sample", [time, outputs, state]):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Next:
        """Return (finished, next inputs, next state)."""
        with name_scope(name, f"{type(self).__name__}NextInputs", [time, outputs, state]):
            found: Next = self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)
            return found


def rows(x: Any) -> Any:
    """Return the size of the first axis, an int where it is known."""
    x = convert_to_tensor(x)
    known = x.shape.as_list()[0] if x.shape.ndims else None
    dynamic: Any = shape(x) if known is None else None
    return dynamic[0] if known is None else known


class IntegerHelper(Helper):
    """Samples that are integers: int32 scalars."""

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of a scalar."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> DType:
        """Return int32."""
        return dtypes.int32


def class_sample(logits: Any, seed: int | None) -> Any:
    """Return a sample of the classes for each row of the last axis, int32."""
    classes: Any = shape(logits)
    drawn = multinomial(reshape(logits, [-1, classes[-1]]), 1, seed=seed, output_dtype=dtypes.int32)
    made = reshape(drawn, classes[:-1])
    made.set_shape(logits.shape[:-1])
    return made


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """Return a function of ids, for params of embedding_lookup too."""
    return embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)


class GreedyEmbeddingHelper(IntegerHelper):
    """Feeds the embedding of the likeliest class, the argmax of the outputs, until it is `end_token`.

    embedding: a function of ids, or the params of embedding_lookup; start_tokens: int32 [batch]; end_token: an int32
    scalar. Raises ValueError for tokens of other ranks.

    >>> embedding = tf.eye(3)
    >>> helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(embedding, start_tokens=[0, 1], end_token=2)
    >>> finished, inputs = helper.initialize()
    >>> sess.run([finished, inputs])
    [array([False, False]), array([[1., 0., 0.],
           [0., 1., 0.]], dtype=float32)]
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embed = embedding_function(embedding)
        self._start_tokens, self._end_token = checked_tokens(start_tokens, end_token)
        self._batch_size = rows(self._start_tokens)
        self._start_inputs = self._embed(self._start_tokens)

    @property
    def batch_size(self) -> Any:
        """The number of examples."""
        return self._batch_size

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return (False for each example, the embeddings of the start tokens)."""
        return fill([self._batch_size], False), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return the argmax of the outputs, int32 [batch]. Raises TypeError for outputs that are no tensor."""
        return argmax(_single(outputs), axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Next:
        """Return (which samples are the end token, the embeddings of the samples, the state)."""
        return equal(sample_ids, self._end_token), self._embed(sample_ids), state


def _single(outputs: Any) -> Tensor:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
    return outputs


def checked_tokens(start_tokens: Any, end_token: Any) -> tuple[Any, Any]:
    """Return both as int32 tensors. Raises ValueError unless they are a vector and a scalar."""
    start = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
    end = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
    if start.shape.ndims != 1:
        raise ValueError(f"start_tokens must be a vector, got shape {start.shape}")
    if end.shape.ndims != 0:
        raise ValueError(f"end_token must be a scalar, got shape {end.shape}")
    return start, end


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Feeds the embedding of a random sample of the classes; otherwise as GreedyEmbeddingHelper.

    embedding, start_tokens, end_token: as there; softmax_temperature: logits are divided by it first, so that above 1
    samples differ more; seed: of the samples.

    >>> helper = tf.contrib.seq2seq.SampleEmbeddingHelper(tf.eye(3), [0, 1], 2, softmax_temperature=0.5, seed=1)
    >>> sample = helper.sample(time=0, outputs=tf.constant([[50.0, 0.0, 0.0], [0.0, 0.0, 50.0]]), state=())
    >>> sess.run(sample)
    array([0, 2], dtype=int32)
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any, softmax_temperature: Any = None,
                 seed: int | None = None) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._temperature, self._seed = softmax_temperature, seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return samples, int32 [batch]. Raises TypeError for outputs that are no tensor."""
        logits = _single(outputs)
        return class_sample(logits if self._temperature is None else logits / self._temperature, self._seed)


class InferenceHelper(Helper):
    """Feeds samples of any kind, as functions say.

    sample_fn(outputs) -> samples; sample_shape, sample_dtype: those of one example; start_inputs: [batch, ...], the
    first inputs; end_fn(sample_ids) -> bool [batch], which are the last; next_inputs_fn(sample_ids) -> inputs, by
    default the samples themselves.

    >>> helper = tf.contrib.seq2seq.InferenceHelper(
    ...     sample_fn=lambda outputs: outputs, sample_shape=[4], sample_dtype=tf.float32, start_inputs=tf.zeros([2, 4]),
    ...     end_fn=lambda samples: tf.reduce_sum(samples, 1) > 10.0)
    >>> cell = tf.nn.rnn_cell.GRUCell(4)
    >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    >>> outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=6)
    >>> outputs.sample_id.shape.as_list()
    [2, None, 4]
    """

    def __init__(self, sample_fn: Callable[[Any], Any], sample_shape: Any, sample_dtype: Any, start_inputs: Any,
                 end_fn: Callable[[Any], Any], next_inputs_fn: Callable[[Any], Any] | None = None) -> None:
        self._sample_fn, self._end_fn, self._next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self._shape, self._dtype = TensorShape(sample_shape), dtypes.as_dtype(sample_dtype)
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = rows(self._start_inputs)

    @property
    def batch_size(self) -> Any:
        """The number of examples."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of the sample of one example."""
        return self._shape

    @property
    def sample_ids_dtype(self) -> DType:
        """The dtype of samples."""
        return self._dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return (False for each example, the first inputs)."""
        return fill([self._batch_size], False), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return sample_fn(outputs)."""
        return self._sample_fn(outputs)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None) -> Next:
        """Return (finished, next inputs, the state)."""
        inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state


describe(globals(), RECURRENT)
