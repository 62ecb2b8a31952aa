"""Experiments: an estimator with its data, which schedules train, evaluate and export (`tf.contrib.learn`)."""
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator import estimator as core
from tfnb.estimator.learn.estimator import Estimator
from tfnb.estimator.learn.monitors import ValidationMonitor
from tfnb.train.checkpoints.state import latest_checkpoint

_SCHEDULES = ("train", "evaluate", "test", "train_and_evaluate", "local_run")


class ExportStrategy(NamedTuple):
    """A way to export an estimator. name: of the folder; export_fn(estimator, folder, checkpoint_path, eval_result).

    >>> strategy = tf.contrib.learn.ExportStrategy("best", lambda estimator, folder: folder)
    >>> strategy.export(None, "exports")
    'exports'
    """

    name: str
    export_fn: Callable[..., Any]

    def export(self, estimator: Any, export_path: Any, checkpoint_path: Any = None, eval_result: Any = None) -> Any:
        """Call the function with those of its arguments that it takes, and return its result."""
        code = getattr(self.export_fn, "__code__", None)
        taken = code.co_varnames[:code.co_argcount] if code else ("checkpoint_path",)
        given = {"checkpoint_path": checkpoint_path, "eval_result": eval_result}
        return self.export_fn(estimator, export_path, **{key: value for key, value in given.items() if key in taken})


def make_export_strategy(serving_input_fn: Callable[[], Any], default_output_alternative_key: Any = None,
                         assets_extra: Any = None, as_text: bool = False, exports_to_keep: int | None = 5
                         ) -> ExportStrategy:
    """Return a strategy that writes a SavedModel.

    serving_input_fn: builds what is fed to the model. default_output_alternative_key: accepted, without effect.
    assets_extra, as_text: as of tf.estimator.Estimator.export_savedmodel. exports_to_keep: accepted, without effect.

    >>> make = tf.contrib.learn.python.learn.utils.saved_model_export_utils.make_export_strategy
    >>> make(lambda: None).name
    'Servo'
    """
    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any = None) -> Any:
        return estimator.export_savedmodel(export_dir_base, serving_input_fn, assets_extra=assets_extra,
                                           as_text=as_text, checkpoint_path=checkpoint_path)
    return ExportStrategy("Servo", export_fn)


class Experiment:
    """An estimator and the data to train and evaluate it with, in this process.

    estimator: of tf.contrib.learn or tf.estimator. train_input_fn, eval_input_fn: functions without arguments that
    return (features, labels). eval_metrics: a dict of names to MetricSpecs, of an estimator of tf.contrib.learn.
    train_steps, eval_steps: numbers of steps; None: until the input ends. train_monitors, eval_hooks: SessionRunHooks.
    min_eval_frequency: steps from one evaluation to the next within a training by `train_and_evaluate`; None: one at
    its end. export_strategies: an ExportStrategy or a list of them, which `train_and_evaluate` and `test` use at the
    end. local_eval_frequency, eval_delay_secs, continuous_eval_throttle_secs, delay_workers_by_global_step,
    train_steps_per_iteration: accepted, without effect. Raises ValueError for another estimator.

    >>> x, y = np.array([[-1.0], [2.0]], np.float32), np.array([0, 1])
    >>> train = tf.estimator.inputs.numpy_input_fn({"x": x}, y, num_epochs=None, shuffle=False)
    >>> test = tf.estimator.inputs.numpy_input_fn({"x": x}, y, shuffle=False)
    >>> model = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")], model_dir="model")
    >>> experiment = tf.contrib.learn.Experiment(model, train, test, train_steps=20, eval_steps=None)
    >>> results, exports = experiment.train_and_evaluate()
    >>> results["accuracy"], results["global_step"]
    (1.0, 20)
    """

    def __init__(self, estimator: Any, train_input_fn: Callable[[], Any], eval_input_fn: Callable[[], Any],
                 eval_metrics: Any = None, train_steps: int | None = None, eval_steps: int | None = 100,
                 train_monitors: Sequence[Any] | None = None, eval_hooks: Sequence[Any] | None = None,
                 local_eval_frequency: int | None = None, eval_delay_secs: float = 120,
                 continuous_eval_throttle_secs: float = 60, min_eval_frequency: int | None = None,
                 delay_workers_by_global_step: bool = False, export_strategies: Any = None,
                 train_steps_per_iteration: int | None = None) -> None:
        if not isinstance(estimator, (Estimator, core.Estimator)):
            raise ValueError("`estimator` must implement `tf.contrib.learn.Trainable` or `tf.estimator.Estimator`, "
                             f"got {estimator!r}")
        if isinstance(estimator, core.Estimator) and eval_metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`: use "
                             "tf.contrib.estimator.add_metrics")
        self.estimator, self._train_input_fn, self._eval_input_fn = estimator, train_input_fn, eval_input_fn
        self._eval_metrics, self._eval_hooks = eval_metrics, list(eval_hooks or ())
        self.train_steps, self.eval_steps = train_steps, eval_steps
        self._monitors, self._frequency = list(train_monitors or ()), min_eval_frequency
        given = [export_strategies] if isinstance(export_strategies, ExportStrategy) else export_strategies
        self._strategies = list(given or ())

    def train(self, delay_secs: float | None = None) -> Any:
        """Train up to the global step `train_steps`, and return the estimator. delay_secs: without effect."""
        return self._train(self._monitors, self.train_steps)

    def _train(self, hooks: list[Any], max_steps: int | None) -> Any:
        if isinstance(self.estimator, core.Estimator):
            return self.estimator.train(self._train_input_fn, hooks=hooks, max_steps=max_steps)
        return self.estimator.fit(input_fn=self._train_input_fn, monitors=hooks, max_steps=max_steps)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Return the metrics of the newest checkpoint. delay_secs: without effect."""
        metrics = {} if isinstance(self.estimator, core.Estimator) else {"metrics": self._eval_metrics}
        return self.estimator.evaluate(input_fn=self._eval_input_fn, steps=self.eval_steps, name=name,
                                       hooks=self._eval_hooks, **metrics)

    def train_and_evaluate(self) -> tuple[Any, list[Any]]:
        """Train, evaluate and export; return (the last metrics, what the strategies returned)."""
        frequency, steps = self._frequency, self.train_steps
        if frequency and isinstance(self.estimator, core.Estimator):
            for step in range(frequency, steps or 0, frequency):
                self._train(self._monitors, step)
                self.evaluate()
            self._train(self._monitors, steps)
        else:
            watch = [] if not frequency else [ValidationMonitor(
                input_fn=self._eval_input_fn, eval_steps=self.eval_steps, metrics=self._eval_metrics,
                every_n_steps=frequency)]
            self._train([*self._monitors, *watch], steps)
        results = self.evaluate()
        return results, self._exported(results)

    def test(self) -> tuple[Any, list[Any]]:
        """Train and evaluate for one step, and export: a check of all parts."""
        self._train(self._monitors, 1)
        self.eval_steps = 1
        results = self.evaluate()
        return results, self._exported(results)

    local_run = train_and_evaluate

    def _exported(self, results: Any) -> list[Any]:
        folder = self.estimator.model_dir
        return [strategy.export(self.estimator, os.path.join(folder, "export", strategy.name),
                                latest_checkpoint(folder), results) for strategy in self._strategies]


def run(experiment_fn: Callable[..., Any], output_dir: Any = None, schedule: str | None = None, run_config: Any = None,
        hparams: Any = None) -> Any:
    """Make an experiment and run a schedule of it; return its result.

    experiment_fn: takes output_dir, or (with run_config) run_config and hparams, and returns an Experiment. output_dir:
    the folder of the model. schedule: the name of a method, by default "train_and_evaluate". run_config: a RunConfig
    with a model_dir; hparams: parameters for experiment_fn. Raises ValueError for neither or both of output_dir and
    run_config, or an unknown schedule; TypeError for what is no Experiment.

    >>> def experiment_fn(output_dir):
    ...     x, y = np.array([[-1.0], [2.0]], np.float32), np.array([0, 1])
    ...     inputs = tf.estimator.inputs.numpy_input_fn({"x": x}, y, num_epochs=None, shuffle=False)
    ...     model = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")], model_dir=output_dir)
    ...     return tf.contrib.learn.Experiment(model, inputs, inputs, train_steps=5, eval_steps=1)
    >>> results, exports = tf.contrib.learn.learn_runner.run(experiment_fn, "model")
    >>> results["global_step"]
    5
    """
    if (output_dir is None) == (run_config is None):
        raise ValueError("exactly one of output_dir and run_config must be given, got "
                         f"output_dir={output_dir!r}, run_config={run_config!r}")
    made = experiment_fn(output_dir) if run_config is None else experiment_fn(run_config, hparams)
    if not isinstance(made, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {type(made)} instead.")
    name = schedule or "train_and_evaluate"
    if name not in _SCHEDULES:
        raise ValueError(f"Schedule references non-existent task {name}: expected one of {', '.join(_SCHEDULES)}")
    return getattr(made, name)()


describe(globals(), ESTIMATORS)
