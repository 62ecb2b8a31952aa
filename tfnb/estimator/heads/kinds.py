"""Heads of classifications and regressions: `tf.estimator.BinaryClassHead`, `tf.contrib.estimator.multi_class_head`."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfnb.control_flow.assertions import assert_less, assert_non_negative
from tfnb.core import dtypes
from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.heads.base import Head, LossSpec, dense_labels
from tfnb.estimator.outputs import ClassificationOutput, ExportOutput, PredictOutput, RegressionOutput
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.lookup.vocabulary import index_table_from_tensor, index_to_string_table_from_tensor
from tfnb.losses.losses import Reduction
from tfnb.metrics.base import mean
from tfnb.metrics.metrics import accuracy, precision, recall
from tfnb.metrics.thresholds import auc, precision_at_thresholds, recall_at_thresholds
from tfnb.ops.array.create import range_, zeros_like
from tfnb.ops.array.gather import one_hot
from tfnb.ops.array.joining import concat, tile
from tfnb.ops.array.reshape import expand_dims, identity, shape, squeeze
from tfnb.ops.control.source import constant
from tfnb.ops.math.arithmetic import maximum, squared_difference
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import greater
from tfnb.ops.math.functions import exp, sigmoid
from tfnb.ops.nn.cross_entropy import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    softmax,
    sparse_softmax_cross_entropy_with_logits,
)
from tfnb.ops.reductions.reduce import argmax, reduce_max, reduce_mean
from tfnb.ops.sparse.conversion import sparse_tensor_to_dense
from tfnb.ops.strings.numbers import as_string

_MEAN = Reduction.SUM_OVER_BATCH_SIZE


class _ClassHead(Head):
    """Head of one class out of several."""

    def __init__(self, n_classes: int, logits_dimension: int, weight_column: Any, label_vocabulary: Any,
                 loss_reduction: str, loss_fn: Callable[..., Any] | None, name: str | None) -> None:
        super().__init__(logits_dimension, weight_column, loss_reduction, loss_fn, name)
        if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
            raise ValueError(f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}")
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise ValueError(f"label_vocabulary must have a name for each of {n_classes} classes, got "
                             f"{len(label_vocabulary)}")
        self._n_classes = n_classes
        self._vocabulary = None if label_vocabulary is None else tuple(label_vocabulary)

    def _labels(self, labels: Any, logits: Any) -> Any:
        labels = dense_labels(labels, logits, 1)
        if self._vocabulary is None:
            if not (labels.dtype.is_integer or labels.dtype.is_floating and self._n_classes == 2):
                raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
            ids = labels
        else:
            if labels.dtype.base_dtype != dtypes.string:
                raise ValueError(f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}")
            ids = index_table_from_tensor(self._vocabulary, name="class_id_lookup").lookup(labels)
        with name_scope(None, "assert_range", (ids,)), control_dependencies([
                assert_less(ids, constant(self._n_classes, dtype=ids.dtype.base_dtype),
                            message="Labels must be <= n_classes - 1"),
                assert_non_negative(ids, message="Labels must be >= 0")]):
            return identity(ids)

    def _classes(self, logits: Any, scores: Any) -> dict[str, Any]:
        """Return the predictions of classes: that of the highest score, and all of them, by number and name."""
        ids = expand_dims(argmax(scores, -1, name="class_ids"), -1)
        names = as_string(ids, name="str_classes") if self._vocabulary is None else \
            index_to_string_table_from_tensor(self._vocabulary, name="class_string_lookup").lookup(ids)
        size: Any = shape(logits)
        every = range_(self._n_classes)
        return {"class_ids": ids, "classes": names,
                "all_class_ids": tile(expand_dims(every, 0), [size[0], 1]),
                "all_classes": tile(expand_dims(self._names(), 0), [size[0], 1])}

    def _names(self) -> Any:
        return constant([str(i) for i in range(self._n_classes)] if self._vocabulary is None else self._vocabulary)

    def _classification(self, predictions: Mapping[str, Any]) -> ClassificationOutput:
        size: Any = shape(predictions["probabilities"])
        return ClassificationOutput(predictions["probabilities"], tile(expand_dims(self._names(), 0), [size[0], 1]))


class MultiClassHead(_ClassHead):
    """Head of one of `n_classes` classes, 3 or more: logits [batch_size, n_classes], softmax cross entropy.

    Labels are integers [batch_size, 1] or [batch_size], or strings of label_vocabulary. Raises ValueError for fewer
    classes.

    >>> head = tf.estimator.MultiClassHead(n_classes=3)
    >>> loss = head.create_loss({}, "eval", logits=tf.zeros([2, 3]), labels=tf.constant([0, 2])).training_loss
    >>> sess.run(loss)
    1.0986
    """

    def __init__(self, n_classes: int, weight_column: Any = None, label_vocabulary: Any = None,
                 loss_reduction: str = _MEAN, loss_fn: Callable[..., Any] | None = None,
                 name: str | None = None) -> None:
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"n_classes must be > 2 for multi-class classification. Given: {n_classes}")
        super().__init__(n_classes, n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)

    def predictions(self, logits: Any) -> dict[str, Any]:
        """Return logits, probabilities, class_ids, classes, all_class_ids and all_classes."""
        return {"logits": logits, "probabilities": softmax(logits, name="probabilities"),
                **self._classes(logits, logits)}

    def _losses(self, labels: Any, logits: Any) -> Any:
        losses = sparse_softmax_cross_entropy_with_logits(labels=squeeze(labels, [-1]), logits=logits)
        return expand_dims(losses, -1)

    def _metrics(self, predictions: Mapping[str, Any], loss: LossSpec) -> dict[str, Any]:
        return {"accuracy": accuracy(loss.processed_labels, predictions["class_ids"], loss.weights, name="accuracy")}

    def _outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        return {"classification": self._classification(predictions), "predict": PredictOutput(predictions)}


class BinaryClassHead(_ClassHead):
    """Head of one of two classes: logits [batch_size, 1], sigmoid cross entropy.

    Labels are 0 or 1 (or of label_vocabulary), [batch_size, 1] or [batch_size]. thresholds: probabilities at which
    accuracy, precision and recall are metrics, too. Raises ValueError for those outside of (0, 1).

    >>> head = tf.estimator.BinaryClassHead()
    >>> loss = head.create_loss({}, "eval", logits=tf.zeros([2, 1]), labels=tf.constant([0, 1])).training_loss
    >>> sess.run(loss)
    0.6931
    """

    def __init__(self, weight_column: Any = None, thresholds: Sequence[float] | None = None,
                 label_vocabulary: Any = None, loss_reduction: str = _MEAN,
                 loss_fn: Callable[..., Any] | None = None, name: str | None = None) -> None:
        super().__init__(2, 1, weight_column, label_vocabulary, loss_reduction, loss_fn, name)
        self._thresholds = tuple(thresholds or ())
        for threshold in self._thresholds:
            if not 0.0 < threshold < 1.0:
                raise ValueError(f"thresholds not in (0, 1): {self._thresholds}.")

    def predictions(self, logits: Any) -> dict[str, Any]:
        """Return logits, logistic, probabilities, class_ids, classes, all_class_ids and all_classes."""
        logistic = sigmoid(logits, name="logistic")
        both = concat([zeros_like(logits), logits], -1, name="two_class_logits")
        return {"logits": logits, "logistic": logistic, "probabilities": softmax(both, name="probabilities"),
                **self._classes(logits, both)}

    def _losses(self, labels: Any, logits: Any) -> Any:
        return sigmoid_cross_entropy_with_logits(labels=cast(labels, dtypes.float32), logits=logits)

    def _metrics(self, predictions: Mapping[str, Any], loss: LossSpec) -> dict[str, Any]:
        labels, weights = cast(loss.processed_labels, dtypes.float32), loss.weights
        logistic, ids = predictions["logistic"], predictions["class_ids"]
        label_mean = mean(labels, weights, name="label/mean")
        made = {"accuracy": accuracy(labels, ids, weights, name="accuracy"),
                "precision": precision(labels, ids, weights, name="precision"),
                "recall": recall(labels, ids, weights, name="recall"),
                "prediction/mean": mean(logistic, weights, name="prediction/mean"),
                "label/mean": label_mean,
                "accuracy_baseline": tuple(maximum(each, 1 - each) for each in label_mean),
                "auc": auc(labels, logistic, weights, name="auc"),
                "auc_precision_recall": auc(labels, logistic, weights, curve="PR", name="auc_precision_recall")}
        for threshold in self._thresholds:
            made.update(_at_threshold(threshold, labels, logistic, weights))
        return made

    def _outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        return {"classification": self._classification(predictions),
                "regression": RegressionOutput(predictions["logistic"]), "predict": PredictOutput(predictions)}


def _at_threshold(threshold: float, labels: Any, scores: Any, weights: Any) -> dict[str, Any]:
    """Return accuracy, precision and recall where scores above a threshold are positive."""
    chosen = cast(greater(scores, threshold), labels.dtype)
    key = f"positive_threshold_{threshold:g}"
    made = {f"accuracy/{key}": accuracy(labels, chosen, weights, name=f"accuracy/{key}")}
    for what, metric in (("precision", precision_at_thresholds), ("recall", recall_at_thresholds)):
        value, update = metric(labels, scores, [threshold], weights, name=f"{what}/{key}")
        made[f"{what}/{key}"] = squeeze(value), squeeze(update)
    return made


class RegressionHead(Head):
    """Head of `label_dimension` numbers: logits [batch_size, label_dimension], squared error.

    inverse_link_fn: function from logits to predictions; None: they are the same.

    >>> head = tf.estimator.RegressionHead()
    >>> loss = head.create_loss({}, "eval", logits=tf.constant([[1.0], [2.0]]), labels=tf.constant([1.0, 4.0]))
    >>> sess.run(loss.training_loss)
    2.0
    """

    def __init__(self, label_dimension: int = 1, weight_column: Any = None, loss_reduction: str = _MEAN,
                 loss_fn: Callable[..., Any] | None = None, inverse_link_fn: Callable[[Any], Any] | None = None,
                 name: str | None = None) -> None:
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}: must be at least 1")
        super().__init__(label_dimension, weight_column, loss_reduction, loss_fn, name)
        self._inverse_link = inverse_link_fn

    def predictions(self, logits: Any) -> dict[str, Any]:
        """Return predictions, and logits where an inverse_link_fn makes others of them."""
        if self._inverse_link is None:
            return {"predictions": logits}
        return {"predictions": self._inverse_link(logits), "logits": logits}

    def _labels(self, labels: Any, logits: Any) -> Any:
        return cast(dense_labels(labels, logits, self._dimension), dtypes.float32)

    def _losses(self, labels: Any, logits: Any) -> Any:
        return squared_difference(labels, logits)

    def _metrics(self, predictions: Mapping[str, Any], loss: LossSpec) -> dict[str, Any]:
        return {"prediction/mean": mean(predictions["predictions"], loss.weights, name="prediction/mean"),
                "label/mean": mean(loss.processed_labels, loss.weights, name="label/mean")}

    def _outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        return {"regression": RegressionOutput(predictions["predictions"]), "predict": PredictOutput(predictions)}


class PoissonRegressionHead(RegressionHead):
    """Head of counts: the prediction is exp(logits), the loss that of Poisson's distribution.

    compute_full_loss: with Stirling's approximation of log(labels!).

    >>> head = tf.estimator.PoissonRegressionHead()
    >>> sess.run(head.predictions(tf.zeros([1, 1]))["predictions"])
    array([[1.]], dtype=float32)
    """

    def __init__(self, label_dimension: int = 1, weight_column: Any = None, loss_reduction: str = _MEAN,
                 compute_full_loss: bool = True, name: str | None = None) -> None:
        def loss(labels: Any, logits: Any) -> Any:
            return log_poisson_loss(labels, logits, compute_full_loss)
        super().__init__(label_dimension, weight_column, loss_reduction, loss, exp, name)


class LogisticRegressionHead(RegressionHead):
    """Head of probabilities as labels: the prediction is sigmoid(logits), the loss sigmoid cross entropy.

    >>> head = tf.estimator.LogisticRegressionHead()
    >>> sess.run(head.predictions(tf.zeros([1, 1]))["predictions"])
    array([[0.5]], dtype=float32)
    """

    def __init__(self, weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None) -> None:
        def loss(labels: Any, logits: Any) -> Any:
            return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        super().__init__(1, weight_column, loss_reduction, loss, sigmoid, name)


class MultiLabelHead(BinaryClassHead):
    """Head of any number of `n_classes` classes: logits [batch_size, n_classes], sigmoid cross entropy of each.

    Labels are 0 or 1 for each class, [batch_size, n_classes], or a SparseTensor of integers (strings of
    label_vocabulary), the classes of each example. thresholds: as of BinaryClassHead. classes_for_class_based_metrics:
    must be None. Raises ValueError for fewer than 2 classes.

    >>> head = tf.estimator.MultiLabelHead(n_classes=2)
    >>> loss = head.create_loss({}, "eval", logits=tf.zeros([1, 2]), labels=tf.constant([[1, 1]])).training_loss
    >>> sess.run(loss)
    0.6931
    """

    def __init__(self, n_classes: int, weight_column: Any = None, thresholds: Sequence[float] | None = None,
                 label_vocabulary: Any = None, loss_reduction: str = _MEAN,
                 loss_fn: Callable[..., Any] | None = None, classes_for_class_based_metrics: Any = None,
                 name: str | None = None) -> None:
        if n_classes is None or n_classes < 2:
            raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
        if classes_for_class_based_metrics is not None:
            raise ValueError("classes_for_class_based_metrics must be None: add such metrics by "
                             f"tf.contrib.estimator.add_metrics, got {classes_for_class_based_metrics}")
        BinaryClassHead.__init__(self, weight_column, thresholds, None, loss_reduction, loss_fn, name)
        _ClassHead.__init__(self, n_classes, n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)

    def predictions(self, logits: Any) -> dict[str, Any]:
        """Return logits and probabilities."""
        return {"logits": logits, "probabilities": sigmoid(logits, name="probabilities")}

    def _labels(self, labels: Any, logits: Any) -> Any:
        if not hasattr(labels, "dense_shape"):
            return dense_labels(labels, logits, self._dimension)
        ids = labels.values if self._vocabulary is None else index_table_from_tensor(
            self._vocabulary, name="class_id_lookup").lookup(labels.values)
        places = type(labels)(labels.indices, cast(ids, dtypes.int64), labels.dense_shape)
        return reduce_max(one_hot(sparse_tensor_to_dense(places, -1), self._dimension, dtype=dtypes.int32), 1)

    def _losses(self, labels: Any, logits: Any) -> Any:
        losses = sigmoid_cross_entropy_with_logits(labels=cast(labels, dtypes.float32), logits=logits)
        return reduce_mean(losses, -1, keepdims=True)

    def _metrics(self, predictions: Mapping[str, Any], loss: LossSpec) -> dict[str, Any]:
        labels, scores = cast(loss.processed_labels, dtypes.float32), predictions["probabilities"]
        weights = loss.weights
        made = {"auc": auc(labels, scores, weights, name="auc"),
                "auc_precision_recall": auc(labels, scores, weights, curve="PR", name="auc_precision_recall")}
        for threshold in self._thresholds:
            made.update(_at_threshold(threshold, labels, scores, weights))
        return made

    def _outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        return {"classification": self._classification(predictions), "predict": PredictOutput(predictions)}


describe(globals(), ESTIMATORS)
