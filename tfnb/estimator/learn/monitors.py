"""Monitors of `tf.contrib.learn`: hooks that evaluate while a model is trained."""
from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from tfnb.train.global_step import required_global_step
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_log = logging.getLogger("tensorflow")


class ValidationMonitor(SessionRunHook):
    """Hook that evaluates the newest checkpoint, if there is a new one, every `every_n_steps` steps.

    x, y, input_fn, batch_size, metrics, name: as of tf.contrib.learn.Estimator.evaluate; eval_steps: its steps.
    early_stopping_rounds: stop the training when `early_stopping_metric` has not become better for as many steps:
    smaller, or larger unless early_stopping_metric_minimize. Its best value and step are in `best_value` and
    `best_step`. check_interval_secs, hooks: accepted, without effect. Raises ValueError without data.

    >>> x, y = np.array([[-1.0], [2.0]]), np.array([0, 1])
    >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input(x)
    >>> config = tf.contrib.learn.RunConfig(save_checkpoints_steps=10)
    >>> model = tf.contrib.learn.LinearClassifier(columns, model_dir="model", config=config)
    >>> monitor = tf.contrib.learn.monitors.ValidationMonitor(x, y, every_n_steps=10)
    >>> model = model.fit(x, y, steps=31, monitors=[monitor])
    >>> monitor.best_step, monitor.early_stopped
    (30, False)
    """

    def __init__(self, x: Any = None, y: Any = None, input_fn: Callable[..., Any] | None = None,
                 batch_size: int | None = None, eval_steps: int | None = None, every_n_steps: int = 100,
                 metrics: Mapping[Any, Any] | None = None, hooks: Any = None, early_stopping_rounds: int | None = None,
                 early_stopping_metric: str = "loss", early_stopping_metric_minimize: bool = True,
                 name: str | None = None, check_interval_secs: float = 5) -> None:
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._data: dict[str, Any] = {"x": x, "y": y, "input_fn": input_fn, "batch_size": batch_size,
                                      "steps": eval_steps, "metrics": metrics, "name": name}
        self._every, self._rounds = every_n_steps, early_stopping_rounds
        self._metric, self._minimize = early_stopping_metric, early_stopping_metric_minimize
        self._estimator: Any = None
        self._evaluated: str | None = None
        self.best_value: Any = None
        self.best_step: int | None = None
        self.best_metrics: dict[str, Any] | None = None
        self.early_stopped = False

    def set_estimator(self, estimator: Any) -> None:
        """Take the estimator that is trained."""
        self._estimator = estimator

    def begin(self) -> None:
        """Find the global step."""
        self._step = required_global_step("ValidationMonitor")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the global step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Evaluate, if it is due, and request a stop if the metric has stopped getting better."""
        step = int(run_values.results) + 1
        if step % self._every:
            return
        newest = self._estimator._inner.latest_checkpoint()
        if newest is None or newest == self._evaluated:
            return
        self._evaluated = newest
        found = self._estimator.evaluate(**self._data)
        _log.info("Validation (step %d): %s", step, ", ".join(f"{k} = {v}" for k, v in sorted(found.items())))
        self._judge(found, int(found["global_step"]))
        if self._rounds is not None and self.best_step is not None and step - self.best_step >= self._rounds:
            _log.info("Stopping. Best step: %d with %s = %s.", self.best_step, self._metric, self.best_value)
            self.early_stopped = True
            run_context.request_stop()

    def _judge(self, found: dict[str, Any], step: int) -> None:
        if self._metric not in found:
            raise ValueError(f"Metric {self._metric} missing from outputs {sorted(found)}.")
        value = found[self._metric]
        better = self.best_value is None or (value < self.best_value if self._minimize else value > self.best_value)
        if better:
            self.best_value, self.best_step, self.best_metrics = value, step, found
