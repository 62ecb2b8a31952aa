"""Losses, weighted and reduced to a number, which join the collection LOSSES: `tf.losses`.

All take weights: a scalar, or one for each loss (axes of size 1 are broadcast). Labels and predictions must have the
same shape; ValueError is raised where they don't, or where one is None.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import LOSSES, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import add_to_collection, control_dependencies, get_collection, name_scope
from tfnb.losses.weights import assert_broadcastable, broadcast_weights, remove_squeezable_dimensions, squeeze_weights
from tfnb.ops.array.create import ones_like, range_, zeros_like
from tfnb.ops.array.reshape import rank, shape, size, stop_gradient
from tfnb.ops.control.source import constant
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.math.arithmetic import abs, add, add_n, maximum, minimum, multiply, square, squared_difference, subtract
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import equal, where
from tfnb.ops.math.division import div_no_nan
from tfnb.ops.math.functions import log
from tfnb.ops.nn import cross_entropy
from tfnb.ops.nn.activations import relu
from tfnb.ops.reductions.reduce import reduce_sum


class Reduction:
    """Reductions of weighted losses: the argument `reduction`.

    >>> losses = tf.constant([1.0, 2.0, 3.0])
    >>> sess.run(tf.losses.compute_weighted_loss(losses, reduction=tf.losses.Reduction.SUM))
    6.0
    """

    NONE = "none"                                   # not at all
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"                # by the number of losses
    MEAN = "weighted_mean"                          # by the sum of the weights
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"          # by the number of weights that are not 0
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All values."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
                cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises ValueError for what is no reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Key should be one of {cls.all()}.")


BY_WEIGHTS = Reduction.SUM_BY_NONZERO_WEIGHTS


def _num_elements(losses: Tensor) -> Any:
    with name_scope(None, "num_elements", [losses]) as scope:
        return cast(size(losses, name=scope), losses.dtype)


def _num_present(losses: Tensor, weights: Any, per_batch: bool = False) -> Any:
    """Count the losses whose weight is not 0; per_batch: in each example."""
    if isinstance(weights, float) and weights != 0.0:
        return _num_elements(losses)
    with name_scope(None, "num_present", (losses, weights)) as scope:
        weights = cast(weights, dtypes.float32)
        present = broadcast_weights(where(equal(weights, 0.0), zeros_like(weights), ones_like(weights)), losses)
        if per_batch:
            return reduce_sum(present, axis=range_(1, rank(present)), keepdims=True, name=scope)
        return reduce_sum(present, name=scope)


def _safe_mean(losses: Any, count: Any) -> Any:
    return div_no_nan(reduce_sum(losses), count, name="value")


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None,
                          loss_collection: Any = GraphKeys.LOSSES, reduction: str = BY_WEIGHTS) -> Tensor:
    """The losses times their weights, reduced, and added to `loss_collection` (None: to none).

    >>> losses = tf.constant([1.0, 2.0, 3.0])
    >>> sess.run(tf.losses.compute_weighted_loss(losses, weights=[1.0, 1.0, 0.0]))
    1.5
    """
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", (losses, weights)), \
            control_dependencies((assert_broadcastable(weights, losses),)):
        losses = convert_to_tensor(losses)
        dtype = losses.dtype
        losses, weights = cast(losses, dtypes.float32), cast(weights, dtypes.float32)
        loss: Any = multiply(losses, weights)
        if reduction != Reduction.NONE:
            loss = reduce_sum(loss)
        if reduction == Reduction.MEAN:
            loss = _safe_mean(loss, reduce_sum(ones_like(losses) * weights))
        elif reduction == BY_WEIGHTS:
            loss = _safe_mean(loss, _num_present(losses, weights))
        elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
            loss = _safe_mean(loss, _num_elements(losses))
        made: Tensor = cast(loss, dtype)
        add_loss(made, loss_collection)
        return made


def _given(**values: Any) -> None:
    for name, value in values.items():
        if value is None:
            raise ValueError(f"Argument `{name}` must not be None.")


def _floats(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """(labels, predictions) as float32, of compatible shapes."""
    predictions, labels = cast(predictions, dtypes.float32), cast(labels, dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def absolute_difference(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                        loss_collection: Any = GraphKeys.LOSSES, reduction: str = BY_WEIGHTS) -> Tensor:
    """|predictions - labels|.

    >>> sess.run(tf.losses.absolute_difference(labels=[1.0, 2.0], predictions=[1.0, 4.0]))
    1.0
    """
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference", (predictions, labels, weights)) as scope:
        labels, predictions = _floats(labels, predictions)
        losses = abs(subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def cosine_distance(labels: Any, predictions: Any, axis: int | None = None, weights: Any = 1.0,
                    scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES, reduction: str = BY_WEIGHTS,
                    dim: int | None = None) -> Tensor:
    """1 - the inner product along `axis` (formerly `dim`), of vectors that should have length 1 already.

    >>> sess.run(tf.losses.cosine_distance([[1.0, 0.0]], [[0.6, 0.8]], axis=1))
    0.4
    """
    axis = renamed("axis", axis, "dim", dim)
    _given(axis=axis, labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _floats(labels, predictions)
        losses = 1 - reduce_sum(multiply(predictions, labels), axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
               loss_collection: Any = GraphKeys.LOSSES, reduction: str = BY_WEIGHTS) -> Tensor:
    """max(0, 1 - y * logits), where y is -1 for the label 0 and 1 for the label 1.

    >>> sess.run(tf.losses.hinge_loss(labels=[1.0, 0.0], logits=[0.5, 0.5]))
    1.0
    """
    _given(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", (logits, labels, weights)) as scope:
        labels, logits = _floats(labels, logits)
        ones = ones_like(labels)
        labels = subtract(2 * labels, ones)
        losses = relu(subtract(ones, multiply(labels, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(labels: Any, predictions: Any, weights: Any = 1.0, delta: float = 1.0, scope: str | None = None,
               loss_collection: Any = GraphKeys.LOSSES, reduction: str = BY_WEIGHTS) -> Tensor:
    """Half the square of the error up to `delta`, linear beyond (Huber, 1964).

    >>> sess.run(tf.losses.huber_loss(labels=[1.0, 2.0], predictions=[1.0, 4.0]))
    0.75
    """
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _floats(labels, predictions)
        size_of_error = abs(subtract(predictions, labels))
        quadratic = minimum(size_of_error, delta)
        linear = subtract(size_of_error, quadratic)
        half = convert_to_tensor(0.5, dtype=quadratic.dtype)
        losses = add(multiply(half, multiply(quadratic, quadratic)), multiply(delta, linear))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(labels: Any, predictions: Any, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None,
             loss_collection: Any = GraphKeys.LOSSES, reduction: str = BY_WEIGHTS) -> Tensor:
    """-labels * log(predictions) - (1 - labels) * log(1 - predictions), with `epsilon` added in the logarithms.

    >>> sess.run(tf.losses.log_loss(labels=[1.0, 0.0], predictions=[0.9, 0.2]))
    0.1643
    """
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _floats(labels, predictions)
        positive: Any = -multiply(labels, log(predictions + epsilon))
        losses = positive - multiply(1 - labels, log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                                loss_collection: Any = GraphKeys.LOSSES) -> Tensor:
    """The mean square, over all pairs of numbers of an example, of what their differences differ by.

    >>> sess.run(tf.losses.mean_pairwise_squared_error([[1.0, 2.0, 3.0]], [[1.0, 2.0, 5.0]]))
    2.6667
    """
    return pairwise(labels, predictions, weights, scope, loss_collection, others=lambda n: n - 1)


def pairwise(labels: Any, predictions: Any, weights: Any, scope: str | None, loss_collection: Any,
             others: Callable[[Any], Any]) -> Tensor:
    """The loss over pairs of the n elements of each example, which are `others(n)` for each of them."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)) as scope:
        weights, labels = cast(weights, dtypes.float32), cast(labels, dtypes.float32)
        with control_dependencies((assert_broadcastable(weights, labels),)):
            predictions = cast(predictions, dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            differences = subtract(predictions, labels)
            axes = range_(1, rank(differences))
            squares = reduce_sum(square(differences), axis=axes, keepdims=True)
            count = _num_present(differences, weights, per_batch=True)
            apart = 2.0 * div_no_nan(squares, maximum(others(count), 0), name="value")
            total = reduce_sum(differences, axis=axes, keepdims=True)
            together = 2.0 * div_no_nan(square(total), maximum(multiply(count, others(count)), 0), name="value")
            loss = reduce_sum(multiply(apart - together, weights))
            made = where(reduce_sum(count) > 0, loss, zeros_like(loss), name="value")
            add_loss(made, loss_collection)
            return made


def mean_squared_error(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                       loss_collection: Any = GraphKeys.LOSSES, reduction: str = BY_WEIGHTS) -> Tensor:
    """(predictions - labels) ** 2, weighted and reduced: by default the mean, a float32 scalar.

    labels, predictions: of one shape (else ValueError). weights, reduction: see `compute_weighted_loss`. The loss goes
    to `loss_collection`.

    >>> sess.run(tf.losses.mean_squared_error(labels=[1.0, 2.0], predictions=[1.0, 4.0]))
    2.0
    """
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", (predictions, labels, weights)) as scope:
        labels, predictions = _floats(labels, predictions)
        losses = squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sigmoid_cross_entropy(multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES,
                          reduction: str = BY_WEIGHTS) -> Tensor:
    """`tf.nn.sigmoid_cross_entropy_with_logits`; label_smoothing: how far labels are moved towards 1/2.

    >>> sess.run(tf.losses.sigmoid_cross_entropy([[1.0], [0.0]], logits=[[2.0], [2.0]]))
    1.1269
    """
    _given(multi_class_labels=multi_class_labels, logits=logits)
    with name_scope(scope, "sigmoid_cross_entropy_loss", (logits, multi_class_labels, weights)) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = cross_entropy.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES,
                          reduction: str = BY_WEIGHTS) -> Tensor:
    """`tf.nn.softmax_cross_entropy_with_logits_v2`, with no gradient for the labels.

    label_smoothing: how far labels are moved towards 1 / the number of classes.

    >>> sess.run(tf.losses.softmax_cross_entropy(onehot_labels=[[0.0, 1.0]], logits=[[0.0, 2.0]]))
    0.1269
    """
    _given(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss", (logits, onehot_labels, weights)) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            sizes: Any = shape(labels)
            classes = cast(sizes[-1], logits.dtype)
            kept = 1.0 - label_smoothing
            spread = label_smoothing / classes
            labels = labels * kept + spread
        labels = stop_gradient(labels, name="labels_stop_gradient")
        losses = cross_entropy.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
                                 loss_collection: Any = GraphKeys.LOSSES, reduction: str = BY_WEIGHTS) -> Tensor:
    """`tf.nn.sparse_softmax_cross_entropy_with_logits`: labels are numbers of classes.

    >>> sess.run(tf.losses.sparse_softmax_cross_entropy(labels=[1, 0], logits=[[0.0, 2.0], [0.0, 2.0]]))
    1.1269
    """
    _given(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)) as scope:
        labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        if weights is not None:
            weights = squeeze_weights(weights, labels)
        losses = cross_entropy.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def add_loss(loss: Any, loss_collection: Any = GraphKeys.LOSSES) -> None:
    """Add a loss to a collection (None: to none).

    >>> tf.losses.add_loss(tf.constant(2.0))
    >>> sess.run(tf.losses.get_losses())
    [2.0]
    """
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES) -> list[Any]:
    """The losses of a collection, those whose names match `scope`.

    >>> loss = tf.losses.mean_squared_error([1.0, 2.0], [1.0, 4.0])
    >>> tf.losses.get_losses() == [loss]
    True
    """
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """Return the losses that regularizers made.

    >>> w = tf.get_variable("w", initializer=[3.0, 4.0], regularizer=tf.contrib.layers.l2_regularizer(0.1))
    >>> sess.run(w.initializer)
    >>> sess.run(tf.losses.get_regularization_losses())
    [1.25]
    """
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of what regularizers made; 0 if there is nothing.

    >>> w = tf.get_variable("w", initializer=[3.0, 4.0], regularizer=tf.contrib.layers.l2_regularizer(0.1))
    >>> sess.run(w.initializer)
    >>> sess.run(tf.losses.get_regularization_loss())
    1.25
    """
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss",
                   scope: str | None = None) -> Tensor:
    """The sum of the losses, and of what regularizers made. Raises ValueError if there are none.

    >>> loss = tf.losses.mean_squared_error([1.0, 2.0], [1.0, 4.0])
    >>> other = tf.losses.absolute_difference([1.0, 2.0], [1.0, 4.0])
    >>> sess.run(tf.losses.get_total_loss())
    3.0
    """
    losses = get_losses(scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope)
    return add_n(losses, name=name)


describe(globals(), LOSSES)
