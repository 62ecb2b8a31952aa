"""Outputs of a compiled model: the target, loss and metrics of each."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfnb.graph.stack import name_scope
from tfnb.keras.losses import classes as losses
from tfnb.keras.losses import functions as loss_functions
from tfnb.keras.metrics import lookup as metrics
from tfnb.keras.metrics.base import Mean, MeanMetricWrapper, Metric
from tfnb.ops.array.reshape import expand_dims
from tfnb.ops.control.source import placeholder
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.reduce import reduce_mean

_ACCURACY, _ENTROPY = ("accuracy", "acc"), ("crossentropy", "ce")


class Endpoint:
    """An output of a model: `output`, its `name`, the `loss` (an object, or None), `loss_weight`, `metrics`."""

    def __init__(self, name: str, output: Any, loss: Any, loss_weight: float, mode: Any) -> None:
        self.name, self.output, self.loss_weight, self.mode = name, output, loss_weight, mode
        self.loss = loss_object(loss)
        self.metrics: list[tuple[Any, bool]] = []               # (metric, whether it is weighted)
        self.target: Any = None
        self._weights: Any = None
        self.loss_metric: Any = None                            # the mean of the loss, if there are several outputs

    def make_target(self, given: Any = None) -> None:
        """Make the placeholder for the target, or take the given tensor."""
        rank = self.output.shape.ndims
        self.target = given if given is not None else placeholder(
            self.output.dtype.base_dtype, None if rank is None else [None] * rank, name=f"{self.name}_target")

    def weights(self) -> Any:
        """Return the placeholder for weights of examples."""
        if self._weights is None:
            shape = [None, None] if self.mode == "temporal" else [None]
            with name_scope(None):
                self._weights = placeholder("float32", shape, name=f"{self.name}_sample_weights")
        return self._weights

    @property
    def target_shape(self) -> Any:
        """The shape of a target, the batch included; None where the loss takes any."""
        shape = self.output.shape
        function = getattr(self.loss, "fn", None)
        if shape.ndims is None or getattr(function, "__module__", "") != loss_functions.__name__:
            return None
        sizes = tuple(shape.as_list())
        return (*sizes[:-1], 1) if function is loss_functions.sparse_categorical_crossentropy else sizes

    def add_metrics(self, given: Sequence[Any], prefix: str, is_weighted: bool, taken: list[str]) -> None:
        """Make the metrics that a program names, or take those that it gives. taken: names of metrics so far."""
        for each in given:
            title = metric_name(each, is_weighted)
            made = each if isinstance(each, Metric) else self._metric(each, prefix + title)
            name = unique(prefix + title, taken)
            made._name = name
            taken.append(name)
            self.metrics.append((made, is_weighted))

    def _metric(self, given: Any, name: str) -> Any:
        found = self._function(given)
        if isinstance(found, Metric):
            return found
        return MeanMetricWrapper(found, name=name)

    def _function(self, given: Any) -> Any:
        """Return the metric; for "accuracy" and "crossentropy" that which fits the shape of the output and the loss."""
        if given not in _ACCURACY + _ENTROPY:
            return metrics.get(given)
        function = getattr(self.loss, "fn", None)
        last = self.output.shape.as_list()[-1] if self.output.shape.ndims else None
        if last == 1 or function is loss_functions.binary_crossentropy:
            kind = "binary"
        else:
            is_sparse = function is loss_functions.sparse_categorical_crossentropy
            kind = "sparse_categorical" if is_sparse else "categorical"
        return metrics.get(f"{kind}_{'accuracy' if given in _ACCURACY else 'crossentropy'}")

    def make_loss_metric(self) -> None:
        """Make the mean of the loss over batches."""
        self.loss_metric = Mean(name=f"{self.name}_loss")

    def loss_value(self, sample_weight: Any) -> Any:
        """Return the loss of a batch, a scalar. sample_weight: of the examples, or None."""
        mask = getattr(self.output, "_keras_mask", None)
        if mask is not None:
            weight = cast(mask, self.output.dtype.base_dtype)
            while sample_weight is not None and sample_weight.shape.ndims < weight.shape.ndims:
                sample_weight = expand_dims(sample_weight, -1)
            sample_weight = weight if sample_weight is None else weight * sample_weight
        self.weight_with_mask = sample_weight
        values = self.loss.call(self.target, self.output)
        reduction = self.loss.reduction
        made = losses.compute_weighted_loss(values, sample_weight, reduction)
        return reduce_mean(made) if reduction == losses.Reduction.NONE else made

    def metric_value(self, metric: Any, is_weighted: bool) -> Any:
        """Return the value of a metric after the batch is added."""
        mask = getattr(self.output, "_keras_mask", None)
        weights = self.weight_with_mask if is_weighted else mask
        with name_scope(metric.name):
            if weights is None:
                return metric(self.target, self.output)
            return metric(self.target, self.output, sample_weight=weights)


def loss_object(given: Any) -> Any:
    """Return the loss object of a name, a function, an object or None."""
    if given is None:
        return None
    found = losses.get(given)
    if isinstance(found, losses.Loss):
        return found
    if not callable(found):
        raise ValueError(f"Could not interpret loss: expected a name, function or Loss, got {given!r}")
    known = getattr(found, "__name__", type(found).__name__)
    return losses.LossFunctionWrapper(found, name=known)


def metric_name(given: Any, is_weighted: bool) -> str:
    """Return the name of a metric as TensorFlow 1.15 shows it: "acc" for "accuracy"."""
    if isinstance(given, Metric):
        return str(given.name)
    if given in _ACCURACY:
        name = "acc"
    elif given in _ENTROPY:
        name = "ce"
    else:
        found = metrics.get(given)
        name = str(getattr(found, "name", None) or getattr(found, "__name__", type(found).__name__))
    return f"weighted_{name}" if is_weighted else name


def unique(name: str, taken: Sequence[str]) -> str:
    """Number a name that is taken."""
    number, found = 1, name
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found


def by_output(given: Any, names: Sequence[str], what: str, default: Any = None) -> list[Any]:
    """Return one entry for each output from a list, a dict by name, or what all share.

    Raises ValueError for another number of entries and for unknown names.
    """
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"Unknown entries in {what} dictionary: {unknown}. Only expected following keys: "
                             f"{list(names)}")
        return [given.get(name, default) for name in names]
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(f"When passing a list as {what}, it should have one entry per model output. The model has "
                             f"{len(names)} outputs, but you passed {what}={given}")
        return list(given)
    return [default if given is None else given] * len(names)


def metrics_by_output(given: Any, names: Sequence[str]) -> list[list[Any]]:
    """Return the list of metrics of each output: a flat list holds for all, a list of lists or a dict for each."""
    if not given:
        return [[] for _ in names]
    if isinstance(given, Mapping):
        found = by_output(given, names, "metrics", [])
    elif any(isinstance(each, (list, tuple)) for each in given):
        found = by_output(list(given), names, "metrics")
    else:
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"Type of `metrics` argument not understood. Expected a list or dictionary, found: {given}")
        return [list(given) for _ in names]
    return [list(each) if isinstance(each, (list, tuple)) else [each] for each in found]
