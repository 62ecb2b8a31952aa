"""Metrics of Keras that count true and false positives and negatives at thresholds, or pairs of classes."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_greater_equal, assert_less_equal
from tfnb.core.arguments import KERAS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import ops
from tfnb.keras.backend.config import epsilon
from tfnb.keras.losses.classes import fitted_weights, squeezed
from tfnb.keras.metrics.base import Metric
from tfnb.losses.weights import broadcast_weights
from tfnb.ops.array.diagonals import matrix_diag_part

_OUTCOMES = {"true_positives": (True, True), "false_positives": (False, True), "true_negatives": (False, False),
             "false_negatives": (True, False)}


def _thresholds(given: Any, default: float = 0.5) -> list[float]:
    found = [float(each) for each in (given if isinstance(given, (list, tuple, np.ndarray)) else
                                      [default if given is None else given])]
    wrong = [each for each in found if not 0 <= each <= 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")
    return found


def _spread(count: int) -> list[float]:
    """Return thresholds at equal distances in (0, 1)."""
    return [(i + 1) / (count - 1) for i in range(count - 2)]


def _selected(y_true: Any, y_pred: Any, top_k: int | None, class_id: int | None) -> tuple[Any, Any]:
    if top_k is not None:                       # predictions that are not among the largest are below all thresholds
        _, places = ops.top_k(y_pred, top_k, sorted=False)
        kept = ops.reduce_sum(ops.one_hot(places, y_pred.shape.as_list()[-1]), axis=-2)
        y_pred = y_pred * kept - 1e10 * (1.0 - kept)
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
    return y_true, y_pred


def count_outcomes(variables: dict[str, Any], y_true: Any, y_pred: Any, thresholds: list[float],
                   top_k: int | None = None, class_id: int | None = None, sample_weight: Any = None) -> Any:
    """Return the op that adds outcomes to variables, vectors with an element for each threshold, by their names.

    Raises InvalidArgumentError when it runs for predictions outside of [0, 1].
    """
    y_true, y_pred = squeezed(ops.cast(y_true, "float32"), ops.cast(y_pred, "float32"))
    with ops.control_dependencies([assert_greater_equal(y_pred, 0.0, message="predictions must be >= 0"),
                                   assert_less_equal(y_pred, 1.0, message="predictions must be <= 1")]):
        y_pred = ops.identity(y_pred)
    y_true.shape.assert_is_compatible_with(y_pred.shape)
    y_true, y_pred = _selected(y_true, y_pred, top_k, class_id)
    weights = None
    if sample_weight is not None:
        weights = broadcast_weights(fitted_weights(ops.cast(sample_weight, "float32"), y_pred), y_pred)
        weights = ops.reshape(weights, [1, -1])
    positive = ops.cast(ops.reshape(y_true, [1, -1]), "bool")
    predicted = ops.reshape(y_pred, [1, -1]) > ops.constant(thresholds, "float32", [len(thresholds), 1])
    updates = []
    for name, variable in variables.items():
        label, prediction = _OUTCOMES[name]
        both = ops.logical_and(positive if label else ops.logical_not(positive),
                               predicted if prediction else ops.logical_not(predicted))
        found = ops.cast(both, "float32")
        updates.append(ops.assign_add(variable, ops.reduce_sum(found if weights is None else found * weights, 1)))
    return ops.group(*updates)


class _Outcomes(Metric):
    """Counts of outcomes at thresholds."""

    _counted: tuple[str, ...]

    def _count(self, number: int) -> None:
        for name in self._counted:
            setattr(self, name, self.add_weight(name, shape=(number,), initializer="zeros"))

    def _update(self, y_true: Any, y_pred: Any, thresholds: list[float], sample_weight: Any, **chosen: Any) -> Any:
        return count_outcomes({name: getattr(self, name) for name in self._counted}, y_true, y_pred, thresholds,
                              sample_weight=sample_weight, **chosen)


class _Counts(_Outcomes):
    """One count."""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds, self.thresholds = thresholds, _thresholds(thresholds)
        self.accumulator = self.add_weight("accumulator", shape=(len(self.thresholds),), initializer="zeros")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Add a batch."""
        return count_outcomes({self._counted[0]: self.accumulator}, y_true, y_pred, self.thresholds,
                              sample_weight=sample_weight)

    def result(self) -> Any:
        """Return the count: a scalar for one threshold, else a vector."""
        return ops.convert_to_tensor(self.accumulator)[0] if len(self.thresholds) == 1 else \
            ops.identity(self.accumulator)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_Counts):
    """The count of true labels predicted true, or the sum of their weights.

    >>> metric = tf.keras.metrics.TruePositives()
    >>> value = metric([0, 1, 1, 1], [1, 0, 1, 1])
    >>> tf.keras.backend.get_session().run(value)
    2.0
    """

    _counted = ("true_positives",)


class FalsePositives(_Counts):
    """The count of false labels predicted true, or the sum of their weights.

    >>> metric = tf.keras.metrics.FalsePositives()
    >>> value = metric([0, 1, 0, 0], [0, 0, 1, 1])
    >>> tf.keras.backend.get_session().run(value)
    2.0
    """

    _counted = ("false_positives",)


class TrueNegatives(_Counts):
    """The count of false labels predicted false, or the sum of their weights.

    >>> metric = tf.keras.metrics.TrueNegatives()
    >>> value = metric([0, 1, 0, 0], [1, 1, 0, 0])
    >>> tf.keras.backend.get_session().run(value)
    2.0
    """

    _counted = ("true_negatives",)


class FalseNegatives(_Counts):
    """The count of true labels predicted false, or the sum of their weights.

    >>> metric = tf.keras.metrics.FalseNegatives()
    >>> value = metric([0, 1, 1, 1], [0, 1, 0, 0])
    >>> tf.keras.backend.get_session().run(value)
    2.0
    """

    _counted = ("false_negatives",)


class _Share(_Outcomes):
    """True positives as a share of them and of what `_counted` has second."""

    def __init__(self, thresholds: Any = None, top_k: int | None = None, class_id: int | None = None,
                 name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds, self.top_k, self.class_id = thresholds, top_k, class_id
        # of the largest predictions all count
        self.thresholds = [-1e10] if top_k is not None and thresholds is None else _thresholds(thresholds)
        self._count(len(self.thresholds))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Add a batch."""
        return self._update(y_true, y_pred, self.thresholds, sample_weight, top_k=self.top_k, class_id=self.class_id)

    def result(self) -> Any:
        """Return the share, 0 where there is nothing: a scalar for one threshold, else a vector."""
        right, other = (getattr(self, name) for name in self._counted)
        found = ops.div_no_nan(ops.convert_to_tensor(right), right + other)
        return found[0] if len(self.thresholds) == 1 else found

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {**super().get_config(), "thresholds": self.init_thresholds, "top_k": self.top_k,
                "class_id": self.class_id}


class Precision(_Share):
    """Precision, TP / (TP + FP), at thresholds. top_k: count only among the largest predictions of each row.

    >>> metric = tf.keras.metrics.Precision()
    >>> value = metric([0, 1, 1, 1], [1, 0, 1, 1])
    >>> tf.keras.backend.get_session().run(value)
    0.6667
    """

    _counted = ("true_positives", "false_positives")


class Recall(_Share):
    """Recall, TP / (TP + FN), at thresholds. top_k: count only among the largest predictions of each row.

    >>> metric = tf.keras.metrics.Recall()
    >>> value = metric([0, 1, 1, 1], [1, 0, 1, 1])
    >>> tf.keras.backend.get_session().run(value)
    0.6667
    """

    _counted = ("true_positives", "false_negatives")


class _At(_Outcomes):
    """One rate at the threshold where another one is nearest to a value."""

    _counted = ("true_positives", "true_negatives", "false_positives", "false_negatives")

    def __init__(self, value: float, num_thresholds: int, name: str | None, dtype: Any) -> None:
        super().__init__(name=name, dtype=dtype)
        if not 0 <= value <= 1:
            raise ValueError(f"Expected a value in the range [0, 1], got {value}")
        if num_thresholds <= 0:
            raise ValueError(f"`num_thresholds` must be > 0, got {num_thresholds}")
        self.value, self.num_thresholds = value, num_thresholds
        self.thresholds = [0.5] if num_thresholds == 1 else [0.0, *_spread(num_thresholds), 1.0]
        self._count(len(self.thresholds))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Add a batch."""
        return self._update(y_true, y_pred, self.thresholds, sample_weight)

    def _rates(self) -> tuple[Any, Any]:
        tp, tn, fp, fn = (ops.convert_to_tensor(getattr(self, name)) for name in self._counted)
        return ops.div_no_nan(tp, tp + fn), ops.div_no_nan(tn, tn + fp)

    def _nearest(self, known: Any, wanted: Any) -> Any:
        return wanted[ops.argmin(ops.abs(known - self.value), axis=0)]


class SensitivityAtSpecificity(_At):
    """Sensitivity, TP / (TP + FN), where specificity, TN / (TN + FP), is nearest to a value.

    specificity: that value. num_thresholds: number of thresholds.

    >>> metric = tf.keras.metrics.SensitivityAtSpecificity(0.4, num_thresholds=1)
    >>> value = metric([0, 0, 1, 1], [0, 0.5, 0.3, 0.9])
    >>> tf.keras.backend.get_session().run(value)
    0.5
    """

    def __init__(self, specificity: float, num_thresholds: int = 200, name: str | None = None,
                 dtype: Any = None) -> None:
        super().__init__(specificity, num_thresholds, name, dtype)
        self.specificity = specificity

    def result(self) -> Any:
        """Return the sensitivity."""
        sensitivities, specificities = self._rates()
        return self._nearest(specificities, sensitivities)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {**super().get_config(), "num_thresholds": self.num_thresholds, "specificity": self.specificity}


class SpecificityAtSensitivity(_At):
    """Specificity, TN / (TN + FP), where sensitivity, TP / (TP + FN), is nearest to a value.

    sensitivity: that value. num_thresholds: number of thresholds.

    >>> metric = tf.keras.metrics.SpecificityAtSensitivity(0.8, num_thresholds=1)
    >>> value = metric([0, 0, 1, 1], [0, 0.5, 0.3, 0.9])
    >>> tf.keras.backend.get_session().run(value)
    1.0
    """

    def __init__(self, sensitivity: float, num_thresholds: int = 200, name: str | None = None,
                 dtype: Any = None) -> None:
        super().__init__(sensitivity, num_thresholds, name, dtype)
        self.sensitivity = sensitivity

    def result(self) -> Any:
        """Return the specificity."""
        sensitivities, specificities = self._rates()
        return self._nearest(sensitivities, specificities)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {**super().get_config(), "num_thresholds": self.num_thresholds, "sensitivity": self.sensitivity}


class AUC(_Outcomes):
    """Area under the ROC or precision-recall curve, by a Riemann sum over thresholds.

    num_thresholds: number of thresholds, in place of which `thresholds` lists those between 0 and 1. curve: "ROC" or
    "PR". summation_method: "interpolation" (the trapezoidal rule; for PR Davis and Goadrich, 2006), "minoring" or
    "majoring". Raises ValueError for another curve or method.

    >>> metric = tf.keras.metrics.AUC(num_thresholds=3)
    >>> value = metric([0, 0, 1, 1], [0, 0.5, 0.3, 0.9])
    >>> tf.keras.backend.get_session().run(value)
    0.75
    """

    _counted = ("true_positives", "true_negatives", "false_positives", "false_negatives")

    def __init__(self, num_thresholds: int = 200, curve: str = "ROC", summation_method: str = "interpolation",
                 name: str | None = None, dtype: Any = None, thresholds: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        if curve.upper() not in ("ROC", "PR"):
            raise ValueError(f"Invalid AUC curve value {curve!r}: expected 'ROC' or 'PR'")
        if summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(f"Invalid AUC summation method {summation_method!r}: expected 'interpolation', "
                             "'minoring' or 'majoring'")
        if thresholds is None and num_thresholds <= 1:
            raise ValueError(f"`num_thresholds` must be > 1, got {num_thresholds}")
        self.init_thresholds = None if thresholds is None else sorted(_thresholds(thresholds))
        inner = _spread(num_thresholds) if self.init_thresholds is None else self.init_thresholds
        self.num_thresholds, self.curve, self.summation_method = len(inner) + 2, curve.upper(), summation_method
        self.thresholds = [-epsilon(), *inner, 1.0 + epsilon()]
        self._count(len(self.thresholds))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Add a batch."""
        return self._update(y_true, y_pred, self.thresholds, sample_weight)

    def result(self) -> Any:
        """Return the area."""
        tp, tn, fp, fn = (convert_to_tensor(getattr(self, name)) for name in self._counted)
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._interpolated(tp, fp, fn)
        recall = ops.div_no_nan(tp, tp + fn)
        x, y = (ops.div_no_nan(fp, fp + tn), recall) if self.curve == "ROC" else (recall, ops.div_no_nan(tp, tp + fp))
        left, right = y[:self.num_thresholds - 1], y[1:]
        if self.summation_method == "interpolation":
            heights = (left + right) / 2.0
        else:
            heights = (ops.minimum if self.summation_method == "minoring" else ops.maximum)(left, right)
        return ops.reduce_sum((x[:self.num_thresholds - 1] - x[1:]) * heights)

    def _interpolated(self, tp: Any, fp: Any, fn: Any) -> Any:
        """Integrate precision between thresholds, where TP and FP change linearly with each other."""
        last = self.num_thresholds - 1
        change = tp[:last] - tp[1:]
        positives = tp + fp
        slope = ops.div_no_nan(change, ops.maximum(positives[:last] - positives[1:], 0.0))
        intercept = tp[1:] - slope * positives[1:]
        both = ops.logical_and(positives[:last] > 0, positives[1:] > 0)
        ratio = ops.where(both, ops.div_no_nan(positives[:last], ops.maximum(positives[1:], 0.0)),
                          ops.ones_like(positives[1:]))
        return ops.reduce_sum(ops.div_no_nan(slope * (change + intercept * ops.log(ratio)),
                                             ops.maximum(tp[1:] + fn[1:], 0.0)))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        config = {**super().get_config(), "num_thresholds": self.num_thresholds, "curve": self.curve,
                  "summation_method": self.summation_method}
        return config if self.init_thresholds is None else {**config, "thresholds": self.init_thresholds}


class MeanIoU(Metric):
    """Mean over classes of intersection over union, TP / (TP + FP + FN). num_classes: number of classes.

    >>> metric = tf.keras.metrics.MeanIoU(num_classes=2)
    >>> value = metric([0, 0, 1, 1], [0, 1, 0, 1])
    >>> tf.keras.backend.get_session().run(value)
    0.3333
    """

    def __init__(self, num_classes: int, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight("total_confusion_matrix", shape=(num_classes, num_classes),
                                        initializer="zeros")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Add a batch."""
        truth, guess = (ops.reshape(ops.cast(each, "int64"), [-1]) for each in (y_true, y_pred))
        weights = None if sample_weight is None else ops.reshape(ops.cast(sample_weight, self.dtype), [-1])
        found = ops.confusion_matrix(truth, guess, self.num_classes, weights=weights, dtype=self.dtype)
        return ops.assign_add(self.total_cm, found)

    def result(self) -> Any:
        """Return the mean over the classes that occur."""
        matrix = convert_to_tensor(self.total_cm)
        right = matrix_diag_part(matrix)
        union = ops.reduce_sum(matrix, 0) + ops.reduce_sum(matrix, 1) - right
        count = ops.reduce_sum(ops.cast(ops.not_equal(union, 0), self.dtype))
        return ops.div_no_nan(ops.reduce_sum(ops.div_no_nan(right, union)), count)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {**super().get_config(), "num_classes": self.num_classes}


describe(globals(), KERAS)
