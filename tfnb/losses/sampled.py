"""Losses over some of very many classes: `tf.nn.nce_loss` and `tf.nn.sampled_softmax_loss`."""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from tfnb.core import dtypes
from tfnb.core.arguments import LOSSES, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import ones, ones_like, zeros_like
from tfnb.ops.array.joining import concat, stack
from tfnb.ops.array.reshape import expand_dims, reshape, shape, stop_gradient
from tfnb.ops.array.slicing import slice_
from tfnb.ops.math.arithmetic import multiply
from tfnb.ops.math.casting import cast
from tfnb.ops.math.functions import log
from tfnb.ops.nn.cross_entropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2
from tfnb.ops.random.candidates import compute_accidental_hits, log_uniform_candidate_sampler
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.sparse.conversion import sparse_to_dense
from tfnb.variables.embedding import embedding_lookup
from tfnb.variables.partitioned import PartitionedVariable

Fn = TypeVar("Fn", bound=Callable[..., Any])


def _sum_rows(x: Any) -> Any:
    sizes: Any = shape(x)
    return reshape(matmul(x, ones(stack([sizes[1], 1]), x.dtype)), [-1])


def _sampled_logits(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
                    num_true: int, sampled_values: Any, remove_accidental_hits: bool, partition_strategy: str,
                    name: str | None, seed: int | None) -> tuple[Any, Any]:
    """(logits, labels) of the true classes and of the candidates, (batch, num_true + num_sampled)."""
    tables = list(weights) if isinstance(weights, (list, PartitionedVariable)) else [weights]
    with name_scope(name, "compute_sampled_logits", [*tables, biases, inputs, labels]):
        labels = cast(labels, dtypes.int64)
        flat: Any = reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
        sampled, true_count, sampled_count = (stop_gradient(each) for each in sampled_values)
        sampled = cast(sampled, dtypes.int64)
        ids = concat([flat, sampled], 0)
        rows = cast(embedding_lookup(tables, ids, partition_strategy), inputs.dtype)
        true_w = slice_(rows, [0, 0], stack([_count(flat), -1]))
        sampled_w = slice_(rows, stack([_count(flat), 0]), [-1, -1])
        sampled_logits: Any = matmul(inputs, sampled_w, transpose_b=True)
        shifts = cast(embedding_lookup(biases, ids, partition_strategy), inputs.dtype)
        true_b = slice_(shifts, [0], shape(flat))
        sampled_b = slice_(shifts, shape(flat), [-1])
        true_logits = _true_logits(inputs, true_w, num_true) + reshape(true_b, [-1, num_true])
        sampled_logits = sampled_logits + sampled_b
        if remove_accidental_hits:
            sampled_logits = sampled_logits + _exclusions(labels, sampled, num_true, num_sampled, sampled_logits.dtype)
        true_logits = true_logits - log(true_count)
        sampled_logits = sampled_logits - log(sampled_count)
        logits = concat([true_logits, sampled_logits], 1)
        wanted: Any = ones_like(true_logits)
        return logits, concat([wanted / num_true, zeros_like(sampled_logits)], 1)


def _count(flat: Any) -> Any:
    sizes: Any = shape(flat)
    return sizes[0]


def _true_logits(inputs: Any, true_w: Any, num_true: int) -> Any:
    whole: Any = shape(true_w)
    size = whole[1:2]
    products = multiply(expand_dims(inputs, 1), reshape(true_w, concat([[-1, num_true], size], 0)))
    return reshape(_sum_rows(reshape(products, concat([[-1], size], 0))), [-1, num_true])


def _exclusions(labels: Any, sampled: Any, num_true: int, num_sampled: int, dtype: Any) -> Any:
    """Return a mask that removes the logits of candidates that are true classes."""
    examples, places, weights = compute_accidental_hits(labels, sampled, num_true=num_true)
    pairs = concat([reshape(examples, [-1, 1]), reshape(cast(places, dtypes.int32), [-1, 1])], 1, "sparse_indices")
    whole: Any = shape(labels)
    sizes = concat([whole[:1], expand_dims(num_sampled, 0)], 0)
    return sparse_to_dense(pairs, sizes, cast(weights, dtype), default_value=0.0, validate_indices=False)


def _inputs_first(loss: Fn) -> Fn:
    """Let a loss take (weights, biases, inputs, labels, ...), the order of 0.x, where the dtypes tell that it is one.

    1.x has labels before inputs. Labels are integers in 0.x, and inputs never are.
    """
    @wraps(loss)
    def call(*args: Any, **named: Any) -> Any:
        if len(args) > 3:
            first, second = (convert_to_tensor(value) for value in args[2:4])
            if first.dtype.is_floating and second.dtype.is_integer:
                args = (*args[:2], second, first, *args[4:])
        return loss(*args, **named)
    return call                                    # type: ignore[return-value]


@_inputs_first
def nce_loss(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
             num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = False,
             partition_strategy: str = "mod", name: str | None = "nce_loss") -> Tensor:
    """Noise-contrastive estimation (Gutmann and Hyvarinen, 2010): a loss (batch) by true classes and drawn ones.

    weights: (num_classes, size), or a list of parts; biases: (num_classes). labels: (batch, num_true) true classes.
    inputs: (batch, size); before `labels`, as in 0.x, they are taken too. sampled_values: what a candidate sampler
    gave; by default num_sampled classes of `tf.nn.log_uniform_candidate_sampler`. remove_accidental_hits: leave out
    candidates that are true classes.

    >>> loss = tf.nn.nce_loss(weights=tf.zeros([100, 8]), biases=tf.zeros([100]),
    ...                       labels=tf.constant([[3], [7]]), inputs=tf.ones([2, 8]), num_sampled=5, num_classes=100)
    >>> loss.shape.as_list()
    [2]
    """
    logits, wanted = _sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                                     sampled_values, remove_accidental_hits, partition_strategy, name, None)
    return _sum_rows(sigmoid_cross_entropy_with_logits(labels=wanted, logits=logits,    # type: ignore[no-any-return]
                                                       name="sampled_losses"))


@_inputs_first
def sampled_softmax_loss(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
                         num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = True,
                         partition_strategy: str = "mod", name: str | None = "sampled_softmax_loss",
                         seed: int | None = None) -> Tensor:
    """The cross-entropy (batch) of a softmax over the true classes and num_sampled others (Jean et al., 2014).

    For training only: it is below the full one. Arguments as of `nce_loss`.

    >>> loss = tf.nn.sampled_softmax_loss(weights=tf.zeros([100, 8]), biases=tf.zeros([100]),
    ...                                   labels=tf.constant([[3], [7]]), inputs=tf.ones([2, 8]),
    ...                                   num_sampled=5, num_classes=100)
    >>> loss.shape.as_list()
    [2]
    """
    logits, wanted = _sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                                     sampled_values, remove_accidental_hits, partition_strategy, name, seed)
    wanted = stop_gradient(wanted, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=wanted, logits=logits)


describe(globals(), LOSSES)
