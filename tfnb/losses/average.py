"""Losses of a step averaged over its whole batch: `tf.nn.compute_average_loss`."""
from __future__ import annotations

from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.losses.weights import broadcast_weights, squeeze_weights
from tfnb.ops.array.reshape import shape
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.reduce import reduce_sum


def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Any:
    """Return the sum of losses, weighted, divided by the size of the batch.

    per_example_loss: the losses, their first axis that of the batch. sample_weight: their weights. global_batch_size:
    what is divided by, by default the number of losses along the first axis: there is one replica.

    >>> sess.run(tf.nn.compute_average_loss([1.0, 2.0, 3.0], sample_weight=[1.0, 0.0, 1.0]))
    1.3333
    """
    losses = convert_to_tensor(per_example_loss)
    if sample_weight is not None:
        weights = squeeze_weights(cast(sample_weight, losses.dtype), losses)
        losses *= broadcast_weights(weights, losses)
    count: Any = shape(losses)[0] if global_batch_size is None else global_batch_size
    return reduce_sum(losses) / cast(count, losses.dtype)


def scale_regularization_loss(regularization_loss: Any) -> Any:
    """Return the sum of losses of weights, for a sum with other losses; there is one replica.

    regularization_loss: the losses.

    >>> sess.run(tf.nn.scale_regularization_loss([0.5, 0.25]))
    0.75
    """
    return reduce_sum(regularization_loss)
