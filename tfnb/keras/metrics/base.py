"""Metrics of Keras that add up over many batches: variables, an op that updates them, and a result."""
from __future__ import annotations

import types
from typing import Any

import numpy as np

from tfnb.core.arguments import KERAS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import get_default_graph
from tfnb.keras.backend import ops
from tfnb.keras.backend.values import batch_set_value
from tfnb.keras.engine.layer import Layer
from tfnb.keras.losses.classes import fitted_weights, squeezed
from tfnb.losses.weights import broadcast_weights
from tfnb.opdef import kinds


class Metric(Layer):
    """Base of metrics: subclasses make variables by `add_weight`, and define `update_state` and `result`.

    update_state(...) adds a batch; result() is the value so far, a tensor; reset_states() begins anew. Calling the
    metric is the result after an update.

    >>> class Largest(tf.keras.metrics.Metric):
    ...     def __init__(self):
    ...         super().__init__(name="largest")
    ...         self.most = self.add_weight("most", initializer="zeros")
    ...     def update_state(self, values, sample_weight=None):
    ...         return self.most.assign(tf.maximum(self.most, tf.reduce_max(values)))
    ...     def result(self):
    ...         return tf.identity(self.most)
    >>> metric = Largest()
    >>> value = metric(tf.constant([1.0, 3.0]))
    >>> tf.keras.backend.get_session().run(value)
    3.0
    """

    stateful = True

    def __init__(self, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name=name, dtype=dtype or "float32", **kwargs)
        self.built = True

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        inner, result = made.update_state, made.result

        def update_state(self: Any, *values: Any, **named: Any) -> Any:
            """Add a batch: returns the op."""
            graph = get_default_graph()
            before = len(graph.get_operations())
            op = inner(*values, **named)
            if op is None:                              # a method that returns nothing: all that it assigned
                new = graph.get_operations()[before:]
                op = ops.group(*(each for each in new if isinstance(each.spec, kinds.Update)))
            self.add_update(op)
            return op

        def kept_result(self: Any, *values: Any) -> Any:
            """Return the value so far."""
            value = convert_to_tensor(result(*values))
            vars(value)["_metric_obj"] = self           # the engine finds the metric of a tensor
            return value
        object.__setattr__(made, "update_state", types.MethodType(update_state, made))
        object.__setattr__(made, "result", types.MethodType(kept_result, made))
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch; returns the value after it."""
        update = self.update_state(*args, **kwargs)
        with ops.control_dependencies([update]):
            value = ops.identity(self.result())
        value._metric_obj = self
        return value

    def add_weight(self, name: str | None = None, shape: Any = (), aggregation: Any = None,       # type: ignore[override]
                   synchronization: Any = None, initializer: Any = None, dtype: Any = None) -> Any:
        """Make a variable of the metric.

        shape: of known sizes. initializer: a name or a function of (shape, dtype). aggregation, synchronization:
        accepted: there is one replica.
        """
        return super().add_weight(name, shape, dtype or self.dtype, initializer or "zeros", trainable=False,
                                  collections=[])

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch: returns the op."""
        raise NotImplementedError(f"{type(self).__name__} must define update_state")

    def result(self) -> Any:
        """Return the value so far."""
        raise NotImplementedError(f"{type(self).__name__} must define result")

    def reset_states(self) -> None:
        """Set all variables to 0."""
        batch_set_value([(each, np.zeros(each.shape.as_list())) for each in self.variables])

    def get_config(self) -> dict[str, Any]:
        """Return name and dtype."""
        return {"name": self.name, "dtype": self.dtype}


def weighted(values: Any, sample_weight: Any) -> tuple[Any, Any]:
    """Return values times weights, and the weights in the shape of the values; of lower rank, means are taken first."""
    weights = fitted_weights(ops.cast(sample_weight, values.dtype.base_dtype), values)
    rank = weights.shape.ndims
    if rank is not None and values.shape.ndims is not None and 0 < rank < values.shape.ndims:
        values = ops.reduce_mean(values, axis=list(range(rank, values.shape.ndims)))
    weights = broadcast_weights(weights, values)
    return values * weights, weights


class Reduce(Metric):
    """A sum or mean of values over all batches. reduction: "sum", "sum_over_batch_size" or "weighted_mean"."""

    def __init__(self, reduction: str, name: str | None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.reduction = reduction
        self.total = self.add_weight("total", initializer="zeros")
        if reduction != "sum":
            self.count = self.add_weight("count", initializer="zeros")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """Add values, times weights."""
        values, weights = ops.cast(values, self.dtype), None
        if sample_weight is not None:
            values, weights = weighted(values, sample_weight)
        update = ops.assign_add(self.total, ops.reduce_sum(values))
        if self.reduction == "sum":
            return update
        size = ops.cast(ops.size(values), self.dtype)
        number = size if weights is None or self.reduction == "sum_over_batch_size" else ops.reduce_sum(weights)
        with ops.control_dependencies([update]):
            return ops.assign_add(self.count, number)

    def result(self) -> Any:
        """Return the sum, or the mean, 0 before the first value."""
        return ops.identity(self.total) if self.reduction == "sum" else ops.div_no_nan(self.total, self.count)


class Sum(Reduce):
    """The sum of values, times weights.

    >>> metric = tf.keras.metrics.Sum()
    >>> value = metric(tf.constant([1.0, 3.0]))
    >>> tf.keras.backend.get_session().run(value)
    4.0
    """

    def __init__(self, name: str | None = "sum", dtype: Any = None) -> None:
        super().__init__("sum", name, dtype)


class Mean(Reduce):
    """The mean of values, weighted.

    >>> metric = tf.keras.metrics.Mean()
    >>> value = metric(tf.constant([1.0, 3.0]))
    >>> tf.keras.backend.get_session().run(value)
    2.0
    """

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__("weighted_mean", name, dtype)


class MeanMetricWrapper(Mean):
    """The mean of a function of (y_true, y_pred) and further arguments."""

    def __init__(self, fn: Any, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name, dtype)
        self._fn, self._fn_kwargs = fn, kwargs

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:     # type: ignore[override]
        """Add a batch."""
        y_true, y_pred = squeezed(y_true, ops.cast(y_pred, self.dtype))
        return super().update_state(self._fn(y_true, y_pred, **self._fn_kwargs), sample_weight)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {**super().get_config(), **self._fn_kwargs}


describe(globals(), KERAS)
