"""Losses of sequences of classes: `tf.contrib.seq2seq.sequence_loss`, and those of `tf.contrib.legacy_seq2seq`."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import LOSSES, describe
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape, shape
from tfnb.ops.declaration.public import named
from tfnb.ops.math.arithmetic import add_n
from tfnb.ops.math.casting import cast
from tfnb.ops.math.division import div_no_nan
from tfnb.ops.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from tfnb.ops.reductions.reduce import count_nonzero, reduce_sum

_TINY = 1e-12                                      # official: keeps a sum of weights of 0 from dividing by it
# Called by the names `labels` and `logits` since 1.1; (labels, logits) in 1.0; (logits, labels) in 0.x.
Loss = Callable[..., Any]
_LABELS = frozenset(["labels", "label", "targets", "target"])


def _losses(softmax_loss_function: Loss | None, labels: Any, logits: Any) -> Any:
    if softmax_loss_function is None:
        return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    names = _parameters(softmax_loss_function)
    if names is None or {"labels", "logits"} <= set(names):
        return softmax_loss_function(labels=labels, logits=logits)
    late = any(name in _LABELS for name in names[1:2]) or any("logit" in name or "input" in name for name in names[:1])
    return softmax_loss_function(logits, labels) if late else softmax_loss_function(labels, logits)


def _parameters(function: Loss) -> list[str] | None:
    """The names of what a function takes by position; None if it takes any name, or nobody knows."""
    try:
        found = signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(one.kind is one.VAR_KEYWORD for one in found):
        return None
    return [one.name for one in found]


def sequence_loss(logits: Any, targets: Any, weights: Any, average_across_timesteps: bool = True,
                  average_across_batch: bool = True, sum_over_timesteps: Any = False, sum_over_batch: Any = False,
                  softmax_loss_function: Loss | None = None, name: str | None = None) -> Tensor:
    """The weighted cross entropy of sequences.

    logits: float (batch, steps, classes); targets: integers (batch, steps); weights: float (batch, steps), 0 for what
    is only padding. The result is a scalar; without the mean over the steps (batch) it has that axis. A sum in place
    of a mean (sum_over_timesteps, sum_over_batch) is divided by the number of weights that aren't 0. Raises ValueError
    for tensors of other ranks, and for a sum and a mean over one axis.

    >>> logits = tf.zeros([1, 3, 4])
    >>> weights = tf.constant([[1.0, 1.0, 0.0]])
    >>> sess.run(tf.contrib.seq2seq.sequence_loss(logits, tf.constant([[0, 1, 2]]), weights))
    1.3863
    """
    for what, tensor, rank in (("Logits", logits, 3), ("Targets", targets, 2), ("Weights", weights, 2)):
        if tensor.shape.ndims not in (None, rank):
            raise ValueError(f"{what} must be a {rank}-dimensional tensor, but has shape {tensor.shape}")
    if callable(sum_over_timesteps):                        # by position, as before 1.13
        sum_over_timesteps, softmax_loss_function = False, sum_over_timesteps
    for what, mean, total in (("timesteps", average_across_timesteps, sum_over_timesteps),
                              ("batch", average_across_batch, sum_over_batch)):
        if mean and total:
            raise ValueError(f"average_across_{what} and sum_over_{what} cannot be set to True at same time.")
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = shape(logits)[2]
        flat = _losses(softmax_loss_function, reshape(targets, [-1]), reshape(logits, concat([[-1], [classes]], 0)))
        losses = flat * reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return reduce_sum(losses) / (reduce_sum(weights) + _TINY)
        losses = reshape(losses, shape(logits)[:2])
        losses.set_shape(targets.shape)
        axes = [axis for axis, mean in ((1, average_across_timesteps), (0, average_across_batch)) if mean]
        for axis in axes:
            losses = reduce_sum(losses, [axis]) / (reduce_sum(weights, [axis]) + _TINY)
        axes = [] if axes else [axis for axis, total in ((1, sum_over_timesteps), (0, sum_over_batch)) if total]
        if axes:
            losses = div_no_nan(reduce_sum(losses, axes), cast(count_nonzero(weights, axes), losses.dtype))
        result: Tensor = losses
        return result


def sequence_loss_by_example(logits: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any],
                             average_across_timesteps: bool = True, softmax_loss_function: Loss | None = None,
                             name: str | None = None) -> Tensor:
    """The weighted cross entropy of each example of a batch of sequences, given as lists of one tensor for each step.

    logits: float (batch, classes); targets: integers (batch,); weights: float (batch,). Raises ValueError for lists of
    different lengths.

    >>> logits, targets, weights = [tf.zeros([2, 4])] * 3, [tf.constant([0, 1])] * 3, [tf.ones([2])] * 3
    >>> sess.run(tf.contrib.legacy_seq2seq.sequence_loss_by_example(logits, targets, weights))
    array([1.3863, 1.3863], dtype=float32)
    """
    if not len(logits) == len(targets) == len(weights):
        raise ValueError("Lengths of logits, weights, and targets must be the same "
                         f"{len(logits)}, {len(weights)}, {len(targets)}.")
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        if softmax_loss_function is None:
            targets = [reshape(target, [-1]) for target in targets]
        losses = [_losses(softmax_loss_function, target, step) * weight
                  for step, target, weight in zip(logits, targets, weights, strict=True)]
        total: Tensor = add_n(losses)
        return total / (add_n(list(weights)) + _TINY) if average_across_timesteps else total


@named("sequence_loss")
def sequence_loss_of_lists(logits: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any],
                           average_across_timesteps: bool = True, average_across_batch: bool = True,
                           softmax_loss_function: Loss | None = None, name: str | None = None) -> Tensor:
    """The sum of `sequence_loss_by_example` over the batch, by default its mean: a scalar.

    >>> logits, targets, weights = [tf.zeros([2, 4])] * 3, [tf.constant([0, 1])] * 3, [tf.ones([2])] * 3
    >>> sess.run(tf.contrib.legacy_seq2seq.sequence_loss(logits, targets, weights))
    1.3863
    """
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost: Tensor = reduce_sum(sequence_loss_by_example(logits, targets, weights, average_across_timesteps,
                                                           softmax_loss_function))
        return cost / cast(shape(targets[0], out_type=dtypes.int32)[0], cost.dtype) if average_across_batch else cost


describe(globals(), LOSSES)
