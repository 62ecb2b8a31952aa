"""Base class of heads: from logits to predictions, loss, metrics, train op and exports of a model."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tfnb.core import dtypes
from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.outputs import ExportOutput
from tfnb.estimator.spec import EstimatorSpec, ModeKeys
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_collection, name_scope
from tfnb.losses.losses import Reduction, compute_weighted_loss
from tfnb.metrics.base import mean
from tfnb.ops.array.create import ones_like
from tfnb.ops.array.reshape import expand_dims, reshape
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.group import group
from tfnb.ops.io.summary import scalar as scalar_summary
from tfnb.ops.math.arithmetic import add_n
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.ops.sparse.conversion import sparse_tensor_to_dense
from tfnb.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT
from tfnb.train.global_step import get_global_step

_REDUCTIONS = {"sum": Reduction.SUM, "sum_over_batch_size": Reduction.SUM_OVER_BATCH_SIZE}     # of TensorFlow 2


class LossSpec(NamedTuple):
    """Loss of a head: the reduced one, those of the examples, their weights, and the labels as the head uses them."""

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


class Head:
    """Base class of heads, the last part of a model: subclasses say what the logits mean.

    logits_dimension: how many logits an example has. weight_column, loss_reduction, loss_fn, name: as of their
    constructors. Raises ValueError for an unknown reduction.

    >>> isinstance(tf.estimator.RegressionHead(), tf.estimator.Head)
    True
    """

    def __init__(self, logits_dimension: int, weight_column: Any = None,
                 loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE, loss_fn: Callable[..., Any] | None = None,
                 name: str | None = None) -> None:
        reduction = _REDUCTIONS.get(loss_reduction, loss_reduction)
        if reduction not in Reduction.all() or reduction == Reduction.NONE:
            raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
        self._dimension, self._weight_column, self._name = logits_dimension, weight_column, name
        self._reduction, self._loss_fn = reduction, loss_fn

    @property
    def name(self) -> str | None:
        """Name, which goes behind those of metrics and summaries."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """Size of the last axis of the logits."""
        return self._dimension

    # ---- what a subclass defines ------------------------------------------------------------------------------------

    def predictions(self, logits: Any) -> dict[str, Any]:
        """Return the predictions by name."""
        raise NotImplementedError(f"{type(self).__name__}.predictions")

    def _labels(self, labels: Any, logits: Any) -> Any:
        """Return the labels as `_losses` takes them, [batch_size, ...]."""
        raise NotImplementedError(f"{type(self).__name__}._labels")

    def _losses(self, labels: Any, logits: Any) -> Any:
        """Return the losses of the examples, [batch_size, 1]."""
        raise NotImplementedError(f"{type(self).__name__}._losses")

    def _metrics(self, predictions: Mapping[str, Any], loss: LossSpec) -> dict[str, Any]:
        """Return metrics by name, beside the average loss."""
        raise NotImplementedError(f"{type(self).__name__}._metrics")

    def _outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        """Return the outputs of an export; the first one is the default."""
        raise NotImplementedError(f"{type(self).__name__}._outputs")

    # ---- what all have ----------------------------------------------------------------------------------------------

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """Return the loss of logits and labels. Raises ValueError for labels of another shape or none."""
        logits = self._checked(logits)
        labels = self._labels(labels, logits)
        losses = self._losses(labels, logits) if self._loss_fn is None else _called(
            self._loss_fn, labels=labels, logits=logits, features=features, mode=mode, loss_reduction=self._reduction)
        weights = self._weights(features)
        loss = compute_weighted_loss(losses, weights, reduction=self._reduction)
        return LossSpec(loss, losses, weights, labels)

    def create_estimator_spec(self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None,
                              train_op_fn: Callable[[Any], Any] | None = None,
                              regularization_losses: Sequence[Any] | None = None) -> EstimatorSpec:
        """Return the EstimatorSpec of a model with these logits.

        optimizer: minimizes the loss; or train_op_fn(loss): returns the train op; exactly one of them is needed to
        train, or ValueError. regularization_losses: added to the loss.
        """
        with name_scope(self._name, "head"):
            with name_scope(None, "predictions", (logits,)):
                predictions = self.predictions(self._checked(logits))
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=self._exports(predictions))
            spec = self.create_loss(features, mode, logits, labels)
            penalty = add_n(list(regularization_losses)) if regularization_losses else None
            loss = spec.training_loss if penalty is None else spec.training_loss + penalty
            if mode == ModeKeys.EVAL:
                metrics = self._named_metrics(predictions, spec, penalty)
                return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
            train_op = trained(loss, optimizer, train_op_fn)
            average = spec.training_loss / reduce_sum(spec.weights * ones_like(spec.unreduced_loss)) \
                if self._reduction == Reduction.SUM else None
        with name_scope(""):
            for key, value in (("loss", loss), ("average_loss", average), ("regularization_loss", penalty)):
                if value is not None:
                    scalar_summary(self._key(key), value)
        return EstimatorSpec(mode, predictions, loss, train_op)

    def labels_and_weights(self, features: Any, labels: Any, logits: Any) -> tuple[Any, Any]:
        """Return the weights of the examples and the labels as the head uses them, vectors (or 1.0 for weights)."""
        weights = self._weights(features)
        return (weights if isinstance(weights, float) else reshape(weights, [-1])), \
            reshape(self._labels(labels, self._checked(logits)), [-1])

    def _key(self, name: str) -> str:
        return f"{name}/{self._name}" if self._name else name

    def _named_metrics(self, predictions: Mapping[str, Any], spec: LossSpec, penalty: Any) -> dict[str, Any]:
        with name_scope(None, "metrics", (spec.training_loss,)):
            made = {"average_loss": mean(spec.unreduced_loss, spec.weights, name="average_loss"),
                    **self._metrics(predictions, spec)}
            if penalty is not None:
                made["regularization_loss"] = mean(penalty, name="regularization_loss")
            return {self._key(name): value for name, value in made.items()}

    def _exports(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        made = self._outputs(predictions)
        outputs = {DEFAULT: next(iter(made.values())), **made}
        if self._name:
            outputs = {key if key == DEFAULT else f"{self._name}/{key}": value for key, value in outputs.items()}
            outputs[self._name] = outputs[DEFAULT]
        return outputs

    def _checked(self, logits: Any) -> Any:
        """Return float logits [batch_size, logits_dimension]. Raises ValueError for another last axis."""
        logits = cast(logits, dtypes.float32)
        if logits.shape.ndims is not None and (logits.shape.ndims < 2
                                               or logits.shape[-1].value not in (None, self._dimension)):
            raise ValueError(f"logits shape must be [batch_size, ..., logits_dimension={self._dimension}], got "
                             f"{logits.shape}")
        return logits

    def _weights(self, features: Any) -> Any:
        """Return the weights of the examples, [batch_size, 1], or 1.0."""
        column = self._weight_column
        if column is None:
            return 1.0
        key = column if isinstance(column, str) else column.key
        if not isinstance(features, Mapping) or key not in features:
            raise ValueError(f"weight_column {key!r} is not in features {list(features)}")
        weights = features[key]
        if getattr(column, "normalizer_fn", None) is not None:
            weights = column.normalizer_fn(weights)
        if not (weights.dtype.is_floating or weights.dtype.is_integer):
            raise ValueError(f"Weight column should be castable to float. Given dtype: {weights.dtype}")
        weights = cast(weights, dtypes.float32, name="weights")
        return expand_dims(weights, 1) if weights.shape.ndims == 1 else weights


def _called(fn: Callable[..., Any], **given: Any) -> Any:
    """Call a loss_fn with those arguments that it takes."""
    taken = inspect.signature(fn).parameters
    return fn(**{name: value for name, value in given.items() if name in taken})


def trained(loss: Any, optimizer: Any, train_op_fn: Callable[[Any], Any] | None) -> Any:
    """Return an op that trains a step, and runs the update ops of the graph."""
    if (optimizer is None) == (train_op_fn is None):
        raise ValueError("exactly one of train_op_fn and optimizer must be given, got "
                         + ("none" if optimizer is None else "both"))
    made = optimizer.minimize(loss, global_step=get_global_step()) if train_op_fn is None else train_op_fn(loss)
    updates = get_collection(GraphKeys.UPDATE_OPS)
    return group(made, *updates) if updates else made


def dense_labels(labels: Any, logits: Any, size: int) -> Any:
    """Return labels of the logits' rank, the last axis of `size`. Raises ValueError for others, and for None."""
    if labels is None:
        raise ValueError("You must provide a labels Tensor. Given: None. Check that input_fn returns labels, a tensor "
                         f"of shape [batch_size, {size}].")
    if isinstance(labels, Mapping):
        raise ValueError(f"labels must be one tensor for this head, got a dict of {sorted(labels)}")
    labels = sparse_tensor_to_dense(labels) if isinstance(labels, SparseTensor) else convert_to_tensor(labels)
    wanted = logits.shape.ndims
    if wanted is not None and labels.shape.ndims == wanted - 1:
        labels = expand_dims(labels, -1)
    if labels.shape.ndims is not None and (wanted not in (None, labels.shape.ndims)
                                           or labels.shape[-1].value not in (None, size)):
        raise ValueError(f"Mismatched label shape. Expected labels dimension={size}.  Received {labels.shape}: a class "
                         "is a number, not one-hot; n_classes or label_dimension say how many there are")
    return labels


describe(globals(), ESTIMATORS)
