"""Estimators of `tf.contrib.learn`: `fit`, `evaluate` and `predict` with arrays or input functions."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator import estimator as core
from tfnb.estimator import run_config
from tfnb.estimator.learn.arrays import input_fn_of
from tfnb.estimator.spec import EstimatorSpec
from tfnb.graph.convert import convert_to_tensor
from tfnb.metrics.base import mean


class ModeKeys:
    """Modes in which a model_fn of tf.contrib.learn is called: TRAIN, EVAL and INFER.

    >>> tf.contrib.learn.ModeKeys.TRAIN, tf.contrib.learn.ModeKeys.EVAL, tf.contrib.learn.ModeKeys.INFER
    ('train', 'eval', 'infer')
    """

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


class ModelFnOps(NamedTuple):
    """Ops of a model, which a model_fn of tf.contrib.learn may return.

    mode: a ModeKeys. predictions, loss, train_op, eval_metric_ops: as of tf.estimator.EstimatorSpec. The rest, too:
    output_alternatives is not used; training_chief_hooks, training_hooks: SessionRunHooks; scaffold: a
    tf.train.Scaffold.

    >>> tf.contrib.learn.ModelFnOps("infer", predictions=tf.constant([1.0])).mode
    'infer'
    """

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Any = None
    output_alternatives: Any = None
    training_chief_hooks: Any = None
    training_hooks: Any = None
    scaffold: Any = None


class MetricSpec:
    """Metric of an evaluation: a function, and the parts of predictions, labels and features that it takes.

    metric_fn: takes predictions, labels and weights (by these names, or the first two by order), and returns a pair
    (value, update op). prediction_key, label_key: where these are dicts; weight_key: a feature.

    >>> spec = tf.contrib.learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, prediction_key="classes")
    >>> spec.prediction_key
    'classes'
    """

    def __init__(self, metric_fn: Callable[..., Any], prediction_key: Any = None, label_key: Any = None,
                 weight_key: Any = None) -> None:
        self.metric_fn, self.prediction_key = metric_fn, prediction_key
        self.label_key, self.weight_key = label_key, weight_key

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """Return the metric. Raises ValueError for a key that is missing or not needed."""
        given = {"predictions": _part(predictions, self.prediction_key, "prediction_key"),
                 "labels": _part(labels, self.label_key, "label_key")}
        if self.weight_key is not None:
            given["weights"] = inputs[self.weight_key]
        names = inspect.signature(self.metric_fn).parameters
        if {"predictions", "labels"} <= set(names):
            return self.metric_fn(**given)
        weights = {"weights": given["weights"]} if "weights" in given else {}
        return self.metric_fn(given["predictions"], given["labels"], **weights)


def _part(values: Any, key: Any, what: str) -> Any:
    if not isinstance(values, Mapping):
        return values
    if key is None and len(values) == 1:
        return next(iter(values.values()))
    if key not in values:
        raise ValueError(f"{what} must be one of {sorted(map(str, values))}, got {key!r}")
    return values[key]


class RunConfig(run_config.RunConfig):
    """Configuration of the runs of an estimator of tf.contrib.learn.

    tf_random_seed, save_summary_steps, save_checkpoints_secs (600), save_checkpoints_steps, keep_checkpoint_max,
    keep_checkpoint_every_n_hours, log_step_count_steps, protocol, session_config: as of tf.estimator.RunConfig. master,
    evaluation_master: must be empty, or ValueError. num_cores, log_device_placement, gpu_memory_fraction: accepted,
    without effect.

    >>> tf.contrib.learn.RunConfig(save_checkpoints_secs=1).save_checkpoints_secs
    1
    """

    def __init__(self, master: Any = None, num_cores: int = 0, log_device_placement: bool = False,
                 gpu_memory_fraction: float = 1, tf_random_seed: int | None = None, save_summary_steps: int = 100,
                 save_checkpoints_secs: Any = run_config.USE_DEFAULT, save_checkpoints_steps: Any = None,
                 keep_checkpoint_max: int = 5, keep_checkpoint_every_n_hours: float = 10000,
                 log_step_count_steps: int = 100, protocol: str | None = None, evaluation_master: str = "",
                 model_dir: Any = None, session_config: Any = None) -> None:
        if master or evaluation_master:
            raise ValueError(f"master must be empty: estimators run in this process, got {master or evaluation_master}")
        secs = save_checkpoints_secs
        if secs is run_config.USE_DEFAULT and save_checkpoints_steps is not None:
            secs = None
        super().__init__(model_dir, tf_random_seed, save_summary_steps,
                         run_config.USE_DEFAULT if save_checkpoints_steps is None else save_checkpoints_steps, secs,
                         session_config, keep_checkpoint_max, keep_checkpoint_every_n_hours, log_step_count_steps)


class Estimator:
    """Model that is trained by `fit`, from arrays or an input_fn.

    model_fn(features, labels, mode, params, config): returns ModelFnOps, a tf.estimator.EstimatorSpec or a tuple
    (predictions, loss, train_op); it may leave out mode, params and config. params: passed to it.
    feature_engineering_fn(features, labels): changes both before. Raises ValueError as tf.estimator.Estimator.

    >>> def model_fn(features, labels, mode):
    ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    ...     predictions = w * features
    ...     loss = tf.losses.mean_squared_error(labels, predictions) if labels is not None else None
    ...     train_op = None if loss is None else tf.contrib.layers.optimize_loss(
    ...         loss, tf.train.get_global_step(), learning_rate=0.1, optimizer="SGD")
    ...     return predictions, loss, train_op
    >>> estimator = tf.contrib.learn.Estimator(model_fn, model_dir="model")
    >>> x = np.array([1.0, 2.0], np.float32)
    >>> estimator = estimator.fit(x, 3 * x, steps=50)
    >>> list(estimator.predict(x))
    [3.0, 6.0]
    """

    def __init__(self, model_fn: Callable[..., Any], model_dir: Any = None, config: Any = None, params: Any = None,
                 feature_engineering_fn: Callable[..., Any] | None = None) -> None:
        self._model_fn, self._engineer = model_fn, feature_engineering_fn
        self._metrics: Mapping[Any, Any] | None = None
        self._inner = core.Estimator(self._spec, model_dir, config, params)

    @property
    def model_dir(self) -> str:
        """Folder of checkpoints and event files."""
        return self._inner.model_dir

    @property
    def config(self) -> Any:
        """RunConfig of its sessions."""
        return self._inner.config

    @property
    def params(self) -> Any:
        """Parameters that model_fn gets."""
        return self._inner.params

    def _spec(self, features: Any, labels: Any, mode: str, params: Any, config: Any) -> EstimatorSpec:
        if self._engineer is not None:
            features, labels = self._engineer(features, labels)
        taken = inspect.signature(self._model_fn).parameters
        given = {"mode": mode, "params": params, "config": config, "model_dir": self._inner.model_dir}
        made = self._model_fn(features, labels, **{name: value for name, value in given.items() if name in taken})
        if isinstance(made, EstimatorSpec):
            more = _metric_ops(self._metrics, features, labels, made.predictions) if mode == ModeKeys.EVAL else {}
            return made._replace(eval_metric_ops={**made.eval_metric_ops, **more})
        ops = made if isinstance(made, ModelFnOps) else ModelFnOps(mode, *made)
        loss = ops.loss if mode != ModeKeys.INFER else None
        metrics = dict(ops.eval_metric_ops or {}) if mode == ModeKeys.EVAL else None
        if metrics is not None:
            metrics.update(_metric_ops(self._metrics, features, labels, ops.predictions))
        return EstimatorSpec(mode, ops.predictions, loss, ops.train_op if mode == ModeKeys.TRAIN else None, metrics,
                             training_hooks=ops.training_hooks, scaffold=ops.scaffold)

    def fit(self, x: Any = None, y: Any = None, input_fn: Callable[..., Any] | None = None, steps: int | None = None,
            batch_size: int | None = None, monitors: Sequence[Any] | None = None, max_steps: int | None = None) -> Self:
        """Train on arrays, rows drawn at random, or on an input_fn, and return itself.

        steps, max_steps: as of tf.estimator.Estimator.train; one is needed with arrays, or ValueError. batch_size: by
        default all rows. monitors: SessionRunHooks, such as tf.contrib.learn.monitors.ValidationMonitor.
        """
        if input_fn is None and steps is None and max_steps is None:
            raise ValueError("steps or max_steps must be given where arrays are: they are gone through without end")
        chosen = input_fn_of(x, y, input_fn, batch_size, None, shuffle=True)
        hooks = list(monitors or ())
        for hook in hooks:
            if hasattr(hook, "set_estimator"):
                hook.set_estimator(self)
        self._inner.train(chosen, hooks=hooks, steps=steps, max_steps=max_steps)
        return self

    partial_fit = fit

    def evaluate(self, x: Any = None, y: Any = None, input_fn: Callable[..., Any] | None = None, feed_fn: Any = None,
                 batch_size: int | None = None, steps: int | None = None, metrics: Mapping[Any, Any] | None = None,
                 name: str | None = None, checkpoint_path: Any = None, hooks: Any = None,
                 log_progress: bool = True) -> dict[str, Any]:
        """Return metrics of the newest checkpoint: of the model, of `metrics`, "loss" and "global_step".

        metrics: a dict of names to MetricSpecs or functions (predictions, labels). feed_fn: must be None.
        """
        if feed_fn is not None:
            raise ValueError(f"feed_fn must be None: give arrays or an input_fn, got {feed_fn!r}")
        self._metrics = metrics
        try:
            chosen = input_fn_of(x, y, input_fn, batch_size, 1)
            found = self._inner.evaluate(chosen, steps, hooks, checkpoint_path, name)
        finally:
            self._metrics = None
        return found

    def predict(self, x: Any = None, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None,
                outputs: Any = None, as_iterable: bool = True, iterate_batches: bool = False) -> Any:
        """Return an iterator of the predictions for each example; an array or a dict of arrays unless as_iterable.

        outputs: names of those wanted. iterate_batches: batches in place of examples.
        """
        found = self._inner.predict(input_fn_of(x, None, input_fn, batch_size, 1), outputs,
                                    yield_single_examples=not iterate_batches)
        return found if as_iterable else gathered(found)

    def get_variable_value(self, name: str) -> Any:
        """Return the value of a variable in the newest checkpoint."""
        return self._inner.get_variable_value(name)

    def get_variable_names(self) -> list[str]:
        """Return the names of the variables in the newest checkpoint."""
        return self._inner.get_variable_names()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of the constructor by name, as scikit-learn asks for them."""
        return {"model_dir": self.model_dir, "params": self.params}

    def export_savedmodel(self, export_dir_base: Any, serving_input_fn: Callable[[], Any], **options: Any) -> bytes:
        """Write a SavedModel, as tf.estimator.Estimator.export_savedmodel."""
        return self._inner.export_savedmodel(export_dir_base, serving_input_fn, **options)


def _metric_ops(metrics: Mapping[Any, Any] | None, features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
    made = {}
    for key, metric in (metrics or {}).items():
        name, part = key if isinstance(key, tuple) else (key, None)
        spec = metric if isinstance(metric, MetricSpec) else MetricSpec(metric, prediction_key=part)
        value = spec.create_metric_ops(features, labels, predictions)
        made[name] = value if isinstance(value, tuple) else mean(convert_to_tensor(value))
    return made


def gathered(found: Iterator[Any]) -> Any:
    """Return predictions of examples as one array, or a dict of arrays."""
    rows = list(found)
    if rows and isinstance(rows[0], Mapping):
        return {key: np.stack([row[key] for row in rows]) for key in rows[0]}
    return np.array(rows)


class SKCompat:
    """Estimator with the methods of scikit-learn: `fit`, `score` and `predict` of arrays.

    estimator: one of tf.contrib.learn.

    >>> x, y = np.array([[-1.0], [2.0]]), np.array([0, 1])
    >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
    >>> model = tf.contrib.learn.SKCompat(tf.contrib.learn.LinearClassifier(columns, model_dir="model"))
    >>> model.fit(x, y, steps=20).score(x, y)["accuracy"]
    1.0
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(self, x: Any, y: Any, batch_size: int = 128, steps: int | None = None, max_steps: int | None = None,
            monitors: Sequence[Any] | None = None) -> Self:
        """Train, and return itself."""
        self._estimator.fit(x, y, steps=steps, batch_size=batch_size, monitors=monitors, max_steps=max_steps)
        return self

    def score(self, x: Any, y: Any, batch_size: int = 128, steps: int | None = None,
              metrics: Mapping[Any, Any] | None = None, name: str | None = None) -> dict[str, Any]:
        """Return the metrics of an evaluation."""
        found: dict[str, Any] = self._estimator.evaluate(x, y, batch_size=batch_size, steps=steps, metrics=metrics,
                                                         name=name)
        return found

    def predict(self, x: Any, batch_size: int = 128, outputs: Any = None) -> Any:
        """Return the predictions: an array, or a dict of arrays."""
        return gathered(Estimator.predict(self._estimator, x, batch_size=batch_size, outputs=outputs))


describe(globals(), ESTIMATORS)
