"""Attention: scores of memory by a query, and the alignments (weights) made of them.

Additive attention, Bahdanau et al., 2015; multiplicative, Luong et al., 2015; monotonic, Raffel et al., 2017.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_positive
from tfnb.control_flow.functional import scan
from tfnb.core import dtypes, nest
from tfnb.core.arguments import RECURRENT, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.layers.base import Layer
from tfnb.layers.core import Dense
from tfnb.ops.array.create import fill, ones, ones_like, zeros
from tfnb.ops.array.gather import one_hot, sequence_mask
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, identity, reshape, shape, squeeze, transpose
from tfnb.ops.math.arithmetic import square
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import where
from tfnb.ops.math.functions import exp, log, rsqrt, sigmoid, tanh
from tfnb.ops.nn.cross_entropy import softmax
from tfnb.ops.random.random_ops import random_normal
from tfnb.ops.reductions.clip import clip_by_value
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import argmax, cumprod, cumsum, reduce_sum
from tfnb.variables.initializers import constant_initializer, ones_initializer, zeros_initializer
from tfnb.variables.scope import get_variable, variable_scope


class AttentionMechanism:
    """The interface of attention: (query, state) -> (alignments, next state).

    >>> issubclass(tf.contrib.seq2seq.LuongAttention, tf.contrib.seq2seq.AttentionMechanism)
    True
    """

    @property
    def alignments_size(self) -> Any:
        """The number of steps of the memory."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the state."""
        raise NotImplementedError


def prepared(memory: Any, lengths: Any, check_inner: bool) -> Any:
    """Return memory with zeros behind the length of each example. Raises ValueError for inner sizes not known."""
    memory = nest.map_structure(lambda m: convert_to_tensor(m, name="memory"), memory)
    for part in nest.flatten(memory):
        if check_inner and not part.shape[2:].is_fully_defined():
            raise ValueError(f"Expected memory {part.name} to have fully defined inner dims, but saw shape: "
                             f"{part.shape}")
    if lengths is None:
        return memory

    def masked(part: Any) -> Any:
        mask = sequence_mask(lengths, maxlen=shape(part)[1], dtype=part.dtype)
        for _ in range(part.shape.ndims - 2):
            mask = expand_dims(mask, -1)
        return part * mask
    return nest.map_structure(masked, memory)


class BaseAttention(AttentionMechanism):
    """Attention over memory [batch, steps, ...], masked by lengths; keys are a layer's function of the values."""

    def __init__(self, query_layer: Any, memory: Any, probability_fn: Callable[[Any, Any], Any],
                 memory_sequence_length: Any = None, memory_layer: Any = None, check_inner_dims_defined: bool = True,
                 score_mask_value: Any = None, custom_key_value_fn: Any = None, name: str | None = None) -> None:
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self._probability, self._name = probability_fn, name
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            lengths = memory_sequence_length
            if lengths is not None:
                lengths = convert_to_tensor(lengths, name="memory_sequence_length")
                with control_dependencies([assert_positive(
                        lengths, message="All values in memory_sequence_length must greater than zero.")]):
                    lengths = identity(lengths)
            self._lengths = lengths
            self._values = prepared(memory, lengths, check_inner_dims_defined)
            self._keys = self._values if memory_layer is None else memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            if score_mask_value is None:
                score_mask_value = dtypes.as_dtype(self._keys.dtype).as_numpy_dtype(float("-inf"))
            self._mask_value = score_mask_value
            sizes: Any = shape(self._keys)
            static = self._keys.shape.as_list()
            self._batch_size = sizes[0] if static[0] is None else static[0]
            self._alignments_size = sizes[1] if static[1] is None else static[1]

    @property
    def memory_layer(self) -> Any:
        """The layer between memory and keys, or None."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer over queries, or None."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory, with zeros behind the lengths."""
        return self._values

    @property
    def keys(self) -> Any:
        """The keys, [batch, steps, size]."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """The number of examples."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """The number of steps of the memory."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """The number of steps: the state is the last alignments."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Return the alignments before the first step: zeros."""
        return zeros([batch_size, self._alignments_size], dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return the state before the first step: the initial alignments."""
        with name_scope(f"{type(self).__name__}InitialState"):
            return self.initial_alignments(batch_size, dtype)

    def _processed(self, query: Any) -> Any:
        return self.query_layer(query) if self.query_layer else query

    def _probability_fn(self, score: Any, state: Any) -> Any:
        """Return alignments of scores, with the steps behind each length masked out."""
        return self._probability(masked_score(score, self._lengths, self._mask_value), state)


def masked_score(score: Any, memory_sequence_length: Any, score_mask_value: Any) -> Any:
    """Return scores [batch, steps] with `score_mask_value` behind each length; the same scores if there are none."""
    if memory_sequence_length is None:
        return score
    return where(sequence_mask(memory_sequence_length, maxlen=shape(score)[1]), score,
                 score_mask_value * ones_like(score))


def additive_score(processed_query: Any, keys: Any, normalize: bool) -> Any:
    """Return sum(v * tanh(keys + query)) over the units, [batch, steps]; `normalize`: weight normalization of v.

    processed_query: [batch, units], behind the query layer; keys: [batch, steps, units].
    """
    query, units = expand_dims(processed_query, 1), keys.shape.as_list()[-1]
    v = get_variable("attention_v", [units], dtype=query.dtype)
    if not normalize:
        return reduce_sum(v * tanh(keys + query), [2])
    g = get_variable("attention_g", [], dtype=query.dtype, initializer=constant_initializer(sqrt(1.0 / units)))
    b = get_variable("attention_b", [units], dtype=query.dtype, initializer=zeros_initializer())
    return reduce_sum(g * v * rsqrt(reduce_sum(square(v))) * tanh(keys + query + b), [2])


def multiplicative_score(query: Any, keys: Any, scale: bool) -> Any:
    """Return keys * query, [batch, steps]; `scale`: times a variable.

    query: [batch, units]; keys: [batch, steps, units]. Raises ValueError for last sizes that differ or are unknown.
    """
    depth, units = query.shape.as_list()[-1], keys.shape.as_list()[-1]
    if depth is None or depth != units:
        raise ValueError(f"Incompatible or unknown inner dimensions between query and keys. Query ({query.name}) has "
                         f"units: {depth}. Keys ({keys.name}) have units: {units}. Perhaps you need to set "
                         f"num_units to the keys' dimension ({units})?")
    score = squeeze(matmul(expand_dims(query, 1), keys, transpose_b=True), [1])
    if not scale:
        return score
    return get_variable("attention_g", [], dtype=query.dtype, initializer=ones_initializer()) * score


def _probabilities(given: Callable[[Any], Any] | None) -> Callable[[Any, Any], Any]:
    function = softmax if given is None else given
    return lambda score, _: function(score)


def _layer(units: int, name: str, dtype: Any) -> Dense:
    return Dense(units, name=name, use_bias=False, dtype=dtypes.float32 if dtype is None else dtype)


class LuongAttention(BaseAttention):
    """Multiplicative attention: the score of a step is the dot product of query and key (Luong et al., 2015).

    num_units: the size of keys, that of the query; memory: [batch, steps, ...], an encoder's outputs;
    memory_sequence_length: number of steps of each example, others get no weight; scale: scores are multiplied by a
    variable attention_g; probability_fn: scores -> alignments, by default softmax; score_mask_value: the score of
    masked steps, by default -infinity; custom_key_value_fn: (keys, values) -> (keys, values). Raises ValueError for a
    query of another size.

    >>> attention = tf.contrib.seq2seq.LuongAttention(4, tf.ones([2, 7, 6]), memory_sequence_length=[7, 2])
    >>> alignments, state = attention(tf.ones([2, 4]), attention.initial_state(2, tf.float32))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(alignments)[1]
    array([0.5, 0.5, 0. , 0. , 0. , 0. , 0. ], dtype=float32)
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, scale: bool = False,
                 probability_fn: Callable[[Any], Any] | None = None, score_mask_value: Any = None, dtype: Any = None,
                 custom_key_value_fn: Any = None, name: str = "LuongAttention") -> None:
        super().__init__(None, memory, _probabilities(probability_fn), memory_sequence_length,
                         _layer(num_units, "memory_layer", dtype), score_mask_value=score_mask_value,
                         custom_key_value_fn=custom_key_value_fn, name=name)
        self._num_units, self._scale = num_units, scale

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Return (alignments, next state), both [batch, steps], for queries [batch, num_units]."""
        with variable_scope(None, "luong_attention", [query]):
            alignments = self._probability_fn(multiplicative_score(query, self.keys, self._scale), state)
        return alignments, alignments


class BahdanauAttention(BaseAttention):
    """Additive attention: the score of a step is v * tanh(query + key), all by layers (Bahdanau et al., 2015).

    num_units: the size of query and keys behind their layers; memory: [batch, steps, ...], an encoder's outputs;
    memory_sequence_length: number of steps of each example, others get no weight; normalize: v has weight
    normalization (Salimans and Kingma, 2016), with variables attention_g and attention_b; probability_fn: scores ->
    alignments, by default softmax; score_mask_value: the score of masked steps, by default -infinity;
    custom_key_value_fn: (keys, values) -> (keys, values).

    >>> attention = tf.contrib.seq2seq.BahdanauAttention(4, tf.ones([2, 7, 6]), memory_sequence_length=[7, 2])
    >>> alignments, state = attention(tf.ones([2, 5]), attention.initial_state(2, tf.float32))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(alignments)[1]
    array([0.5, 0.5, 0. , 0. , 0. , 0. , 0. ], dtype=float32)
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, normalize: bool = False,
                 probability_fn: Callable[[Any], Any] | None = None, score_mask_value: Any = None, dtype: Any = None,
                 custom_key_value_fn: Any = None, name: str = "BahdanauAttention") -> None:
        super().__init__(_layer(num_units, "query_layer", dtype), memory, _probabilities(probability_fn),
                         memory_sequence_length, _layer(num_units, "memory_layer", dtype),
                         score_mask_value=score_mask_value, custom_key_value_fn=custom_key_value_fn, name=name)
        self._num_units, self._normalize = num_units, normalize

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Return (alignments, next state), both [batch, steps], for queries [batch, size]."""
        with variable_scope(None, "bahdanau_attention", [query]):
            alignments = self._probability_fn(additive_score(self._processed(query), self.keys, self._normalize), state)
        return alignments, alignments


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Compute the cumulative product as exp(cumsum(log(x))), for 0 <= x <= 1: it has finite gradients at 0.

    x: a float tensor; args, kwargs: of tf.cumsum.

    >>> sess.run(tf.contrib.seq2seq.safe_cumprod([0.5, 0.5, 1.0], exclusive=True))
    array([1.  , 0.5 , 0.25], dtype=float32)
    """
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = float(np.finfo(x.dtype.as_numpy_dtype).tiny)
        return exp(cumsum(log(clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """Compute monotonic alignments [batch, steps] (Raffel et al., 2017).

    p_choose_i: the probability that attention stops at a step; previous_attention: the last alignments; mode:
    "recursive", step by step, exact; "parallel", by cumulative sums, inexact where probabilities are near 0 or 1;
    "hard", where both are 0 or 1. Raises ValueError for others.

    >>> sess.run(tf.contrib.seq2seq.monotonic_attention([[0.0, 0.5, 1.0]], [[1.0, 0.0, 0.0]], mode="recursive"))
    array([[0. , 0.5, 0.5]], dtype=float32)
    """
    p = convert_to_tensor(p_choose_i, name="p_choose_i")
    before = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        batch: Any = shape(p)
        passed = concat([ones([batch[0], 1], p.dtype), 1 - p[:, :-1]], 1)
        arrived = scan(lambda sofar, at: at[0] * sofar + at[1], [transpose(passed), transpose(before)],
                       zeros([batch[0]], p.dtype))
        attention = p * transpose(arrived)
        attention.set_shape(p.shape)
        return attention
    if mode == "parallel":
        passed = safe_cumprod(1 - p, axis=1, exclusive=True)
        return p * passed * cumsum(before / clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        p = p * cumsum(before, axis=1)
        return p * cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError(f"mode must be 'recursive', 'parallel', or 'hard', got {mode!r}")


def _monotonic_alignments(score: Any, previous: Any, sigmoid_noise: float, mode: str, seed: int | None) -> Any:
    if sigmoid_noise > 0:
        score = score + sigmoid_noise * random_normal(shape(score), dtype=score.dtype, seed=seed)
    p = cast(score > 0, score.dtype) if mode == "hard" else sigmoid(score)
    return monotonic_attention(p, previous, mode)


class _Monotonic(BaseAttention):
    """Attention that moves forward only: before the first step all of it is at the first step of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Return 1 at the first step of the memory, 0 at others."""
        return one_hot(fill([batch_size], 0), self._alignments_size, dtype=dtype)

    def _biased(self, score: Any, start: float) -> Any:
        return score + get_variable("attention_score_bias", [], dtype=score.dtype,
                                    initializer=constant_initializer(start))


class BahdanauMonotonicAttention(_Monotonic):
    """BahdanauAttention that moves forward only (Raffel et al., 2017).

    sigmoid_noise: standard deviation of noise that is added to scores in training, so that probabilities become 0 or 1;
    sigmoid_noise_seed: of it; score_bias_init: the start of the variable attention_score_bias, negative for long
    memory; mode: as of monotonic_attention. num_units, memory, memory_sequence_length, normalize, score_mask_value,
    custom_key_value_fn: as of BahdanauAttention.

    >>> attention = tf.contrib.seq2seq.BahdanauMonotonicAttention(4, tf.ones([2, 7, 6]))
    >>> alignments, state = attention(tf.ones([2, 5]), attention.initial_state(2, tf.float32))
    >>> alignments.shape.as_list()
    [2, 7]
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, normalize: bool = False,
                 score_mask_value: Any = None, sigmoid_noise: float = 0.0, sigmoid_noise_seed: int | None = None,
                 score_bias_init: float = 0.0, mode: str = "parallel", dtype: Any = None,
                 custom_key_value_fn: Any = None, name: str = "BahdanauMonotonicAttention") -> None:
        super().__init__(_layer(num_units, "query_layer", dtype), memory,
                         partial(_monotonic_alignments, sigmoid_noise=sigmoid_noise, mode=mode,
                                 seed=sigmoid_noise_seed),
                         memory_sequence_length, _layer(num_units, "memory_layer", dtype),
                         score_mask_value=score_mask_value, custom_key_value_fn=custom_key_value_fn, name=name)
        self._num_units, self._normalize, self._start = num_units, normalize, score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Return (alignments, next state), both [batch, steps], for queries [batch, size]."""
        with variable_scope(None, "bahdanau_monotonic_attention", [query]):
            score = self._biased(additive_score(self._processed(query), self.keys, self._normalize), self._start)
            alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongMonotonicAttention(_Monotonic):
    """LuongAttention that moves forward only (Raffel et al., 2017).

    sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode: as of BahdanauMonotonicAttention. num_units, memory,
    memory_sequence_length, scale, score_mask_value, custom_key_value_fn: as of LuongAttention.

    >>> attention = tf.contrib.seq2seq.LuongMonotonicAttention(4, tf.ones([2, 7, 6]))
    >>> alignments, state = attention(tf.ones([2, 4]), attention.initial_state(2, tf.float32))
    >>> alignments.shape.as_list()
    [2, 7]
    """

    def __init__(self, num_units: int, memory: Any, memory_sequence_length: Any = None, scale: bool = False,
                 score_mask_value: Any = None, sigmoid_noise: float = 0.0, sigmoid_noise_seed: int | None = None,
                 score_bias_init: float = 0.0, mode: str = "parallel", dtype: Any = None,
                 custom_key_value_fn: Any = None, name: str = "LuongMonotonicAttention") -> None:
        super().__init__(None, memory, partial(_monotonic_alignments, sigmoid_noise=sigmoid_noise, mode=mode,
                                               seed=sigmoid_noise_seed),
                         memory_sequence_length, _layer(num_units, "memory_layer", dtype),
                         score_mask_value=score_mask_value, custom_key_value_fn=custom_key_value_fn, name=name)
        self._num_units, self._scale, self._start = num_units, scale, score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """Return (alignments, next state), both [batch, steps], for queries [batch, num_units]."""
        with variable_scope(None, "luong_monotonic_attention", [query]):
            score = self._biased(multiplicative_score(query, self.keys, self._scale), self._start)
            alignments = self._probability_fn(score, state)
        return alignments, alignments


def hardmax(logits: Any, name: str | None = None) -> Any:
    """Return 1 at the largest element of the last axis and 0 elsewhere, of the shape and dtype of `logits`.

    Use it as the probability_fn of attention to one step alone; it has no gradient.

    >>> sess.run(tf.contrib.seq2seq.hardmax([[0.1, 2.0, 1.0]]))
    array([[0., 1., 0.]], dtype=float32)
    """
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        sizes: Any = shape(logits)
        last = logits.shape.as_list()[-1] if logits.shape.ndims is not None else None
        depth = sizes[-1] if last is None else last
        flat = one_hot(argmax(reshape(logits, [-1, depth]), 1), depth, dtype=logits.dtype)
        made = reshape(flat, sizes)
        made.set_shape(logits.shape)
        return made


describe(globals(), RECURRENT)
