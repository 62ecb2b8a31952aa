"""Losses of the weights themselves: `tf.contrib.layers.l2_regularizer` and its relatives."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

from tfnb.core.arguments import LOSSES, describe
from tfnb.core.program import log
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import add_to_collection, get_collection, name_scope
from tfnb.ops.control.source import constant
from tfnb.ops.math.arithmetic import abs, add_n, multiply
from tfnb.ops.nn.activations import l2_loss
from tfnb.ops.reductions.reduce import reduce_sum

Regularizer = Callable[[Any], Any]


def _scaled(scale: Any, scope: str | None, name: str, size: Callable[[Any], Any]) -> Regularizer:
    """A regularizer scale * size(weights). Raises ValueError for a scale that is an integer or negative."""
    if isinstance(scale, Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, Real):
        if scale < 0.0:
            raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}.")
        if scale == 0.0:
            log.info("Scale of 0 disables regularizer.")
            return lambda _: None

    def regularizer(weights: Any) -> Any:
        with name_scope(scope, name, [weights]) as inner:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return multiply(factor, size(weights), name=inner)
    return regularizer


def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """scale * the sum of |w|. Raises ValueError for a scale that is an integer or negative; 0.0 gives no loss.

    >>> sess.run(tf.contrib.layers.l1_regularizer(0.1)(tf.constant([3.0, -4.0])))
    0.7
    """
    return _scaled(scale, scope, "l1_regularizer", lambda weights: reduce_sum(abs(weights)))


def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """scale * half the sum of w ** 2. Raises ValueError for a scale that is an integer or negative; 0.0: no loss.

    >>> sess.run(tf.contrib.layers.l2_regularizer(0.1)(tf.constant([3.0, 4.0])))
    1.25
    """
    return _scaled(scale, scope, "l2_regularizer", l2_loss)


def l1_l2_regularizer(scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None) -> Regularizer:
    """The sum of both.

    >>> sess.run(tf.contrib.layers.l1_l2_regularizer(0.1, 0.1)(tf.constant([3.0, -4.0])))
    1.95
    """
    for scale in (scale_l1, scale_l2):
        if isinstance(scale, Integral):
            raise ValueError(f"scale cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)     # type: ignore


def sum_regularizer(regularizer_list: Sequence[Regularizer | None], scope: str | None = None) -> Regularizer | None:
    """The sum of what several give; None if there are none.

    >>> both = tf.contrib.layers.sum_regularizer([tf.contrib.layers.l1_regularizer(0.1),
    ...                                           tf.contrib.layers.l2_regularizer(0.1)])
    >>> sess.run(both(tf.constant([3.0, -4.0])))
    1.95
    """
    given = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not given:
        return None

    def regularizer(weights: Any) -> Any:
        with name_scope(scope, "sum_regularizer", [weights]) as inner:
            losses = [loss for loss in (each(weights) for each in given) if loss is not None]
            return add_n(losses, name=inner) if len(losses) > 1 else losses[0] if losses else None
    return regularizer


def apply_regularization(regularizer: Regularizer, weights_list: Sequence[Any] | None = None) -> Tensor:
    """The sum of the losses of `weights_list` (default: the collection WEIGHTS), also in REGULARIZATION_LOSSES.

    Raises ValueError for no weights, and for a regularizer that gives no scalar.

    >>> w = tf.Variable([3.0, 4.0])
    >>> sess.run(w.initializer)
    >>> sess.run(tf.contrib.layers.apply_regularization(tf.contrib.layers.l2_regularizer(0.1), [w]))
    1.25
    """
    weights = list(weights_list or get_collection(GraphKeys.WEIGHTS))
    if not weights:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=weights) as inner:
        losses = [regularizer(each) for each in weights]
        losses = [constant(0.0) if loss is None else loss for loss in losses]
        for loss in losses:
            if loss.shape.ndims != 0:
                raise ValueError(f"regularizer must return a scalar Tensor instead of a Tensor with rank "
                                 f"{loss.shape.ndims}.")
        total: Tensor = add_n(losses, name=inner)
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total


describe(globals(), LOSSES)
