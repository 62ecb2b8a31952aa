"""Losses over distances of embeddings: `tf.contrib.losses.metric_learning`."""
from __future__ import annotations

from typing import Any

from tfnb.core.absent import explain as _explain
from tfnb.graph.convert import convert_to_tensor as _convert_to_tensor
from tfnb.graph.stack import name_scope as _name_scope
from tfnb.ops.array.create import zeros_like as _zeros_like
from tfnb.ops.array.diagonals import matrix_set_diag as _matrix_set_diag
from tfnb.ops.array.reshape import expand_dims as _expand_dims
from tfnb.ops.array.reshape import reshape as _reshape
from tfnb.ops.array.reshape import transpose as _transpose
from tfnb.ops.math.arithmetic import maximum as _maximum
from tfnb.ops.math.arithmetic import square as _square
from tfnb.ops.math.casting import cast as _cast
from tfnb.ops.math.compare import equal as _equal
from tfnb.ops.math.compare import greater as _greater
from tfnb.ops.math.compare import logical_and as _logical_and
from tfnb.ops.math.compare import logical_not as _logical_not
from tfnb.ops.math.compare import where as _where
from tfnb.ops.math.functions import sqrt as _sqrt
from tfnb.ops.nn.cross_entropy import softmax_cross_entropy_with_logits_v2 as _cross_entropy
from tfnb.ops.reductions.matmul import matmul as _matmul
from tfnb.ops.reductions.reduce import reduce_any as _reduce_any
from tfnb.ops.reductions.reduce import reduce_max as _reduce_max
from tfnb.ops.reductions.reduce import reduce_mean as _reduce_mean
from tfnb.ops.reductions.reduce import reduce_min as _reduce_min
from tfnb.ops.reductions.reduce import reduce_sum as _reduce_sum


def contrastive_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0) -> Any:
    """Return the mean of d ** 2 for pairs of one kind, of max(margin - d, 0) ** 2 for others (Hadsell et al., 2006).

    labels: [batch], 1 for pairs of one kind, else 0; embeddings_anchor, embeddings_positive: float32 [batch, size], at
    distances d; margin: the distance from which on pairs of two kinds cost nothing. Returns a scalar.

    >>> losses = tf.contrib.losses.metric_learning
    >>> sess.run(losses.contrastive_loss([1, 0], [[0.0, 0.0], [0.0, 0.0]], [[3.0, 4.0], [0.0, 0.5]]))
    12.625
    """
    with _name_scope("contrastive_loss"):
        d = _sqrt(_reduce_sum(_square(_convert_to_tensor(embeddings_anchor) - embeddings_positive), 1))
        same = _cast(labels, d.dtype)
        return _reduce_mean(same * _square(d) + (1.0 - same) * _square(_maximum(margin - d, 0.0)),
                            name="contrastive_loss")


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Return the mean over pairs of one label of max(margin + d ** 2 - n ** 2, 0) (Schroff et al., 2015).

    n is the smallest distance from the first of the pair to an example of another label that is larger than the
    distance d of the pair, else the largest such distance. labels: integers [batch]; embeddings: floats [batch, size],
    of length 1; margin: how much closer the pair should be. Returns a scalar.

    >>> losses = tf.contrib.losses.metric_learning
    >>> sess.run(losses.triplet_semihard_loss([0, 0, 1], [[0.0, 1.0], [0.0, 2.0], [2.0, 1.0]]))
    0.0
    """
    with _name_scope("triplet_semihard_loss"):
        x = _convert_to_tensor(embeddings)
        d = _squared_distances(x)
        same = _same(labels)
        other = _logical_not(same)
        # Axes: anchor, positive, negative.
        farther = _logical_and(_expand_dims(other, 1), _greater(_expand_dims(d, 1), _expand_dims(d, 2)))
        high = _reduce_max(d) + 1.0
        shaped = _expand_dims(d, 1) + _zeros_like(_expand_dims(d, 2))
        nearest = _reduce_min(_where(farther, shaped, _zeros_like(shaped) + high), 2)
        lowest = _reduce_min(d, 1, keepdims=True)
        farthest = _reduce_max((d - lowest) * _cast(other, d.dtype), 1, keepdims=True) + lowest
        negative = _where(_reduce_any(farther, 2), nearest, farthest + _zeros_like(d))
        pairs = _cast(same, d.dtype)
        pairs = _matrix_set_diag(pairs, _zeros_like(pairs[0]))
        return _reduce_sum(_maximum((margin + d - negative) * pairs, 0.0)) / _reduce_sum(pairs)


def npairs_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, reg_lambda: float = 0.002,
                print_losses: bool = False) -> Any:
    """Return the cross entropy of the similarities of anchors and positives with their equal labels (Sohn, 2016).

    labels: integers [batch]; embeddings_anchor, embeddings_positive: floats [batch, size]; reg_lambda: weight of the
    mean of their squared lengths, times 1 / 4; print_losses: only False is taken: print the result by tf.Print. Returns
    a scalar. Raises ValueError for print_losses.

    >>> losses = tf.contrib.losses.metric_learning
    >>> sess.run(losses.npairs_loss([0, 1], [[9.0, 0.0], [0.0, 9.0]], [[9.0, 0.0], [0.0, 9.0]], reg_lambda=0.0))
    0.0
    """
    if print_losses:
        raise ValueError("npairs_loss prints no losses here: wrap the result in tf.Print")
    anchor, positive = _convert_to_tensor(embeddings_anchor), _convert_to_tensor(embeddings_positive)
    lengths = _reduce_mean(_reduce_sum(_square(anchor), 1)) + _reduce_mean(_reduce_sum(_square(positive), 1))
    same = _cast(_same(labels), anchor.dtype)
    wanted = same / _reduce_sum(same, 1, keepdims=True)
    loss = _cross_entropy(labels=wanted, logits=_matmul(anchor, positive, transpose_b=True))
    return _reduce_mean(loss) + 0.25 * reg_lambda * lengths


def _same(labels: Any) -> Any:
    column = _reshape(labels, [-1, 1])
    return _equal(column, _transpose(column))


def _squared_distances(x: Any) -> Any:
    """Return [batch, batch] squared distances of embeddings, 0 on the diagonal and nowhere below."""
    lengths = _reduce_sum(_square(x), 1, keepdims=True)
    d = _maximum(lengths + _transpose(lengths) - 2.0 * _matmul(x, x, transpose_b=True), 0.0)
    return _matrix_set_diag(d, _zeros_like(d[0]))


_explain(__name__)
