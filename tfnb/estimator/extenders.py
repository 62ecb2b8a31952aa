"""Functions that extend an Estimator: more metrics, predictions that carry features, clipped gradients."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.outputs import PredictOutput
from tfnb.estimator.spec import EstimatorSpec, ModeKeys
from tfnb.ops.reductions.clip import clip_by_global_norm
from tfnb.train.optimizers.optimizer import Optimizer

_TAKEN = ("features", "labels", "predictions", "config")


def _extended(estimator: Estimator, change: Callable[..., EstimatorSpec]) -> Estimator:
    """Return an Estimator of the same folder whose specs `change(spec, features, labels, config)` makes of its own."""
    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        return change(estimator.model_fn(features, labels, mode, config), features, labels, config)
    made = Estimator(model_fn, estimator.model_dir, estimator.config)
    made._warm_start = estimator._warm_start
    return made


def add_metrics(estimator: Estimator, metric_fn: Callable[..., Mapping[str, Any]]) -> Estimator:
    """Return an Estimator with more metrics, which replace those of the same name.

    metric_fn: takes some of features, labels, predictions and config, and returns a dict of names to pairs (value,
    update op). Raises ValueError for other arguments of it.

    >>> def model_fn(features, mode):
    ...     return tf.estimator.EstimatorSpec(mode, predictions=features, loss=tf.constant(0.5))
    >>> def largest(predictions):
    ...     return {"mean": tf.metrics.mean(predictions)}
    >>> estimator = tf.contrib.estimator.add_metrics(tf.estimator.Estimator(model_fn, "model"), largest)
    >>> estimator.evaluate(lambda: tf.data.Dataset.from_tensors([1.0, 2.0]))["mean"]
    1.5
    """
    taken = inspect.signature(metric_fn).parameters
    if unknown := [name for name in taken if name not in _TAKEN]:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {unknown}")

    def change(spec: EstimatorSpec, features: Any, labels: Any, config: Any) -> EstimatorSpec:
        if spec.mode != ModeKeys.EVAL:
            return spec
        given = {"features": features, "labels": labels, "predictions": spec.predictions, "config": config}
        more = metric_fn(**{name: value for name, value in given.items() if name in taken})
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **more})
    return _extended(estimator, change)


def forward_features(estimator: Estimator, keys: Any = None, sparse_default_values: Mapping[str, Any] | None = None
                     ) -> Estimator:
    """Return an Estimator whose predictions hold features, too, so that they can be told apart.

    keys: a name or a list of names of features; None: all. sparse_default_values: must be None (features that are
    SparseTensors raise ValueError). Raises ValueError for names that predictions have, or features have not.

    >>> def model_fn(features, mode):
    ...     return tf.estimator.EstimatorSpec(mode, predictions={"y": 2 * features["x"]})
    >>> estimator = tf.contrib.estimator.forward_features(tf.estimator.Estimator(model_fn, "model"), "x")
    >>> next(estimator.predict(lambda: tf.data.Dataset.from_tensors({"x": [1.0]})))
    {'y': 2.0, 'x': 1.0}
    """
    if sparse_default_values is not None:
        raise ValueError(f"sparse_default_values must be None, got {sparse_default_values}")
    names = [keys] if isinstance(keys, str) else keys

    def change(spec: EstimatorSpec, features: Any, labels: Any, config: Any) -> EstimatorSpec:
        if spec.mode == ModeKeys.TRAIN or not isinstance(spec.predictions, Mapping):
            return spec
        wanted = {name: features[name] for name in (names if names is not None else features) if name in features}
        if names is not None and (missing := set(names) - set(wanted)):
            raise ValueError(f"keys should exist in features: {sorted(missing)} are not in {sorted(features)}")
        if both := set(wanted) & set(spec.predictions):
            raise ValueError(f"Cannot forward feature keys {sorted(both)}, since they exist in predictions.")
        if sparse := [name for name, value in wanted.items() if hasattr(value, "dense_shape")]:
            raise ValueError(f"Feature(s) {sparse} should be Tensors to be forwarded, got SparseTensors")
        outputs = {name: PredictOutput({**output.outputs, **wanted}) if isinstance(output, PredictOutput) else output
                   for name, output in (spec.export_outputs or {}).items()} or None
        return spec._replace(predictions={**spec.predictions, **wanted}, export_outputs=outputs)
    return _extended(estimator, change)


class _Clipped(Optimizer):
    """Optimizer that clips the gradients of another one."""

    def __init__(self, optimizer: Any, clip_norm: float) -> None:
        super().__init__(False, f"Clip{optimizer.get_name()}")
        self._optimizer, self._clip_norm = optimizer, clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Compute gradients as the other optimizer, whose global norm is at most clip_norm."""
        pairs = self._optimizer.compute_gradients(*args, **kwargs)
        clipped, _ = clip_by_global_norm([gradient for gradient, _ in pairs], self._clip_norm)
        return [(gradient, variable) for gradient, (_, variable) in zip(clipped, pairs, strict=True)]

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Apply gradients as the other optimizer."""
        return self._optimizer.apply_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Return a slot of the other optimizer."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self) -> Any:
        """Return the names of the other optimizer's slots."""
        return self._optimizer.get_slot_names()

    def variables(self) -> Any:
        """Return the variables of the other optimizer."""
        return self._optimizer.variables()


def clip_gradients_by_norm(optimizer: Any, clip_norm: float) -> Any:
    """Return an optimizer that trains as `optimizer` with gradients whose global norm is clipped to `clip_norm`.

    >>> v = tf.Variable(0.0)
    >>> optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(1.0), 0.5)
    >>> step = optimizer.minimize(-10 * v)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.5
    """
    return _Clipped(optimizer, clip_norm)


describe(globals(), ESTIMATORS)
