"""Several heads of one model, and heads by function: `tf.contrib.estimator`."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.heads import kinds
from tfnb.estimator.heads.base import Head, LossSpec, trained
from tfnb.estimator.outputs import ExportOutput, PredictOutput
from tfnb.estimator.spec import EstimatorSpec, ModeKeys
from tfnb.graph.stack import name_scope
from tfnb.losses.losses import Reduction
from tfnb.ops.array.slicing import split
from tfnb.ops.io.summary import scalar as scalar_summary
from tfnb.ops.math.arithmetic import add_n
from tfnb.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT

_MEAN = Reduction.SUM_OVER_BATCH_SIZE


class MultiHead(Head):
    """Head of several objectives: each head has a part of the logits, its own labels and metrics.

    heads: a list of heads with different names. head_weights: factors of their losses; None: 1. Labels are a dict of
    the heads' names; logits are such a dict, too, or one tensor that has those of all heads side by side. Raises
    ValueError for heads without names or other counts of weights.

    >>> head = tf.estimator.MultiHead([tf.estimator.BinaryClassHead(name="a"), tf.estimator.RegressionHead(name="b")])
    >>> head.name, head.logits_dimension
    ('a_b', 2)
    """

    def __init__(self, heads: Sequence[Head], head_weights: Sequence[float] | None = None) -> None:
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        names = [head.name for head in heads]
        if None in names or len(set(names)) != len(names):
            raise ValueError(f"All given heads must have different names specified. Given: {names}")
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given "
                             f"len(head_weights): {len(head_weights)}.")
        super().__init__(sum(head.logits_dimension for head in heads), name="_".join(map(str, names)))
        self._heads, self._head_weights = tuple(heads), tuple(head_weights or [1.0] * len(heads))

    def _parts(self, logits: Any) -> dict[str, Any]:
        """Return the logits of each head by name. Raises ValueError for a head that has none."""
        names = [str(head.name) for head in self._heads]
        if isinstance(logits, Mapping):
            if missing := set(names) - set(logits):
                raise ValueError(f"logits has no values for the heads {sorted(missing)}, got {sorted(logits)}")
            return {name: logits[name] for name in names}
        return dict(zip(names, split(logits, [head.logits_dimension for head in self._heads], -1), strict=True))

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """Return the weighted sum of the heads' losses; the rest by name."""
        if not isinstance(labels, Mapping):
            raise ValueError(f"labels must be a dict of the heads' names {[h.name for h in self._heads]}, got {labels}")
        parts = self._parts(logits)
        made = {head.name: head.create_loss(features, mode, parts[str(head.name)], labels[str(head.name)])
                for head in self._heads}
        loss = add_n([each.training_loss * weight for each, weight in zip(made.values(), self._head_weights,
                                                                         strict=True)])
        return LossSpec(loss, *({name: each[i] for name, each in made.items()} for i in (1, 2, 3)))

    def create_estimator_spec(self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None,
                              train_op_fn: Callable[[Any], Any] | None = None,
                              regularization_losses: Sequence[Any] | None = None) -> EstimatorSpec:
        """Return the EstimatorSpec of all heads: predictions and metrics by (head name, name) and name/head."""
        parts = self._parts(logits)
        loss_of: dict[str, Any] = {}

        def keep(loss: Any) -> Any:
            return loss.op                         # each head makes a spec, the train op is of the sum
        specs = {}
        for head in self._heads:
            name = str(head.name)
            given = None if labels is None else labels[name]
            specs[name] = head.create_estimator_spec(features, mode, parts[name], given, train_op_fn=keep)
            loss_of[name] = specs[name].loss
        predictions = {(name, key): value for name, spec in specs.items() for key, value in spec.predictions.items()}
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions, export_outputs=self._all_exports(specs, predictions))
        loss = add_n([value * weight for value, weight in zip(loss_of.values(), self._head_weights, strict=True)])
        if regularization_losses:
            loss = loss + add_n(list(regularization_losses))
        if mode == ModeKeys.EVAL:
            metrics = {key: value for spec in specs.values() for key, value in spec.eval_metric_ops.items()}
            return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
        train_op = trained(loss, optimizer, train_op_fn)
        with name_scope(""):
            scalar_summary("loss", loss)
        return EstimatorSpec(mode, predictions, loss, train_op)

    def _all_exports(self, specs: Mapping[str, EstimatorSpec], predictions: Mapping[Any, Any]
                     ) -> dict[str, ExportOutput]:
        made = {key: value for spec in specs.values() for key, value in spec.export_outputs.items() if key != DEFAULT}
        first = specs[str(self._heads[0].name)].export_outputs[DEFAULT]
        every = PredictOutput({f"{name}/{key}": value for (name, key), value in predictions.items()})
        return {**made, DEFAULT: first, "predict": every}


def multi_class_head(n_classes: int, weight_column: Any = None, label_vocabulary: Any = None,
                     loss_reduction: str = _MEAN, loss_fn: Callable[..., Any] | None = None,
                     name: str | None = None) -> Head:
    """Return a tf.estimator.MultiClassHead.

    >>> tf.contrib.estimator.multi_class_head(n_classes=3).logits_dimension
    3
    """
    return kinds.MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def binary_classification_head(weight_column: Any = None, thresholds: Sequence[float] | None = None,
                               label_vocabulary: Any = None, loss_reduction: str = _MEAN,
                               loss_fn: Callable[..., Any] | None = None, name: str | None = None) -> Head:
    """Return a tf.estimator.BinaryClassHead.

    >>> tf.contrib.estimator.binary_classification_head().logits_dimension
    1
    """
    return kinds.BinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def regression_head(weight_column: Any = None, label_dimension: int = 1, loss_reduction: str = _MEAN,
                    loss_fn: Callable[..., Any] | None = None, inverse_link_fn: Callable[[Any], Any] | None = None,
                    name: str | None = None) -> Head:
    """Return a tf.estimator.RegressionHead. inverse_link_fn: function from logits to predictions.

    >>> tf.contrib.estimator.regression_head(label_dimension=2).logits_dimension
    2
    """
    return kinds.RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)


def poisson_regression_head(weight_column: Any = None, label_dimension: int = 1, loss_reduction: str = _MEAN,
                            compute_full_loss: bool = True, name: str | None = None) -> Head:
    """Return a tf.estimator.PoissonRegressionHead. compute_full_loss: as of that.

    >>> tf.contrib.estimator.poisson_regression_head().logits_dimension
    1
    """
    return kinds.PoissonRegressionHead(label_dimension, weight_column, loss_reduction, compute_full_loss, name)


def logistic_regression_head(weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None) -> Head:
    """Return a tf.estimator.LogisticRegressionHead.

    >>> tf.contrib.estimator.logistic_regression_head().logits_dimension
    1
    """
    return kinds.LogisticRegressionHead(weight_column, loss_reduction, name)


def multi_label_head(n_classes: int, weight_column: Any = None, thresholds: Sequence[float] | None = None,
                     label_vocabulary: Any = None, loss_reduction: str = _MEAN,
                     loss_fn: Callable[..., Any] | None = None, classes_for_class_based_metrics: Any = None,
                     name: str | None = None) -> Head:
    """Return a tf.estimator.MultiLabelHead. classes_for_class_based_metrics: must be None.

    >>> tf.contrib.estimator.multi_label_head(n_classes=2).logits_dimension
    2
    """
    return kinds.MultiLabelHead(n_classes, weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn,
                                classes_for_class_based_metrics, name)


def multi_head(heads: Sequence[Head], head_weights: Sequence[float] | None = None) -> Head:
    """Return a tf.estimator.MultiHead. heads: a list of heads with names; head_weights: factors of their losses.

    >>> head = tf.contrib.estimator.regression_head(name="price")
    >>> tf.contrib.estimator.multi_head([head]).name
    'price'
    """
    return MultiHead(heads, head_weights)


describe(globals(), ESTIMATORS)
