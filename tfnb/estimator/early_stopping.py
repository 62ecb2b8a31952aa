"""Early stopping of estimators: `tf.estimator.experimental.stop_if_no_decrease_hook` and its like.

Evaluations write their metrics to event files; a hook of the training reads these files from time to time.
"""
from __future__ import annotations

import logging
import operator
import os
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.results import recorded
from tfnb.graph.parts.keys import GraphKeys
from tfnb.ops.state.assign import assign
from tfnb.train.global_step import required_global_step
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tfnb.train.sessions.stop_hooks import StopAtStepHook
from tfnb.train.sessions.timers import SecondOrStepTimer
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.scope import get_variable, variable_scope
from tfnb.variables.store import AUTO_REUSE

_log = logging.getLogger("tensorflow")


class _StopOnPredicateHook(SessionRunHook):
    """Hook that asks a function at some steps whether to stop."""

    def __init__(self, should_stop_fn: Callable[[], bool], timer: SecondOrStepTimer) -> None:
        self._should_stop, self._timer = should_stop_fn, timer

    def begin(self) -> None:
        """Make the variable that the other workers look at: checkpoints have it."""
        self._step = required_global_step("make_early_stopping_hook")
        self._stop_op = assign(_signal(), True)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the global step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Ask the function, if it is time to."""
        step = int(run_values.results)
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop():
            _log.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop_op)
            run_context.request_stop()


class _StopOnSignalHook(SessionRunHook):
    """Hook of a worker that stops when the chief has."""

    def begin(self) -> None:
        """Find the variable that the chief sets."""
        self._signal = _signal()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the variable."""
        return SessionRunArgs(self._signal)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Request a stop, if the chief did."""
        if run_values.results:
            run_context.request_stop()


def _signal() -> Any:
    """Return the bool variable by which the chief ends a training."""
    with variable_scope("signal_early_stopping", reuse=AUTO_REUSE):
        return get_variable("STOP", [], dtypes.bool, zeros_initializer(), trainable=False,
                            collections=[GraphKeys.GLOBAL_VARIABLES])


def make_early_stopping_hook(estimator: Any, should_stop_fn: Callable[[], bool], run_every_secs: float | None = 60,
                             run_every_steps: int | None = None) -> SessionRunHook:
    """Return a hook of a training that ends it when `should_stop_fn()` returns True.

    The function is called every `run_every_secs` seconds, or (with run_every_secs=None) every `run_every_steps` steps,
    by the chief of a cluster alone: its other tasks stop with it.
    Raises TypeError for what is no Estimator, ValueError unless exactly one of the two is given.

    >>> def model_fn(features, labels, mode):
    ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    ...     loss = tf.losses.mean_squared_error(labels, w * features["x"])
    ...     optimizer = tf.train.GradientDescentOptimizer(0.1)
    ...     train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    ...     return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    >>> x = np.array([1.0, 2.0], np.float32)
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, num_epochs=None, shuffle=False)
    >>> estimator = tf.estimator.Estimator(model_fn, "model")
    >>> hook = tf.estimator.experimental.make_early_stopping_hook(
    ...     estimator, should_stop_fn=lambda: True, run_every_secs=None, run_every_steps=1)
    >>> estimator.train(input_fn, hooks=[hook], max_steps=100).get_variable_value("global_step")
    1
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if run_every_secs is None and run_every_steps is None:
        raise ValueError("One of `run_every_secs` and `run_every_steps` must be set.")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set: run_every_secs is 60 if it "
                         "is not given, so pass run_every_secs=None with run_every_steps")
    if not estimator.config.is_chief:
        return _StopOnSignalHook()
    return _StopOnPredicateHook(should_stop_fn, SecondOrStepTimer(run_every_secs, run_every_steps))


def read_eval_metrics(eval_dir: Any) -> dict[int, dict[str, float]]:
    """Return the metrics in the event files of a folder: global step -> name -> value, by rising step.

    eval_dir: of an evaluation, such as `estimator.eval_dir()`. A folder without such files gives {}.

    >>> with tf.summary.FileWriter("eval") as writer:
    ...     writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), 10)
    >>> tf.contrib.estimator.read_eval_metrics("eval")
    {10: {'loss': 0.5}}
    """
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for step, values in recorded(os.path.join(os.fsdecode(eval_dir), "*tfevents*")):
        found[step].update(values)
    return dict(sorted(found.items()))


def _metrics(estimator: Any, name: str, eval_dir: Any, min_steps: int) -> list[tuple[int, float]]:
    """Return (step, value) of a metric in all evaluations from `min_steps` on. Raises KeyError for an unknown one."""
    rows = []
    for step, values in read_eval_metrics(eval_dir or estimator.eval_dir()).items():
        if name not in values:
            raise KeyError(f"metric_name must be one of the metrics of the evaluation at step {step}, "
                           f"{sorted(values)}, got {name!r}")
        if step >= min_steps:
            rows.append((step, values[name]))
    return rows


def _threshold_hook(estimator: Any, metric_name: str, threshold: float, eval_dir: Any, min_steps: int,
                    crossed: Callable[[Any, Any], bool], every: tuple[float | None, int | None]) -> SessionRunHook:
    def should_stop() -> bool:
        for step, value in _metrics(estimator, metric_name, eval_dir, min_steps):
            if crossed(value, threshold):
                _log.info("At step %d, metric \"%s\" has value %s, beyond the threshold %s", step, metric_name, value,
                          threshold)
                return True
        return False
    return make_early_stopping_hook(estimator, should_stop, *every)


def _improvement_hook(estimator: Any, metric_name: str, patience: int, eval_dir: Any, min_steps: int,
                      better: Callable[[Any, Any], bool], every: tuple[float | None, int | None]) -> SessionRunHook:
    def should_stop() -> bool:
        best: tuple[int, float] | None = None
        for step, value in _metrics(estimator, metric_name, eval_dir, min_steps):
            if best is None or better(value, best[1]):
                best = step, value
            if step - best[0] >= patience:
                _log.info("No better value of metric \"%s\" than %s of step %d for %d steps", metric_name, best[1],
                          best[0], step - best[0])
                return True
        return False
    return make_early_stopping_hook(estimator, should_stop, *every)


def stop_if_higher_hook(estimator: Any, metric_name: str, threshold: float, eval_dir: Any = None, min_steps: int = 0,
                        run_every_secs: float | None = 60, run_every_steps: int | None = None) -> SessionRunHook:
    """Return a hook of a training that ends it when a metric of an evaluation is above `threshold`.

    >>> estimator = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")], "model")
    >>> hook = tf.estimator.experimental.stop_if_higher_hook(estimator, "accuracy", threshold=0.9)
    >>> isinstance(hook, tf.train.SessionRunHook)
    True
    """
    return _threshold_hook(estimator, metric_name, threshold, eval_dir, min_steps, operator.gt,
                           (run_every_secs, run_every_steps))


def stop_if_lower_hook(estimator: Any, metric_name: str, threshold: float, eval_dir: Any = None, min_steps: int = 0,
                       run_every_secs: float | None = 60, run_every_steps: int | None = None) -> SessionRunHook:
    """Return a hook of a training that ends it when a metric of an evaluation is below `threshold`.

    >>> estimator = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")], "model")
    >>> hook = tf.estimator.experimental.stop_if_lower_hook(estimator, "loss", threshold=0.1)
    >>> isinstance(hook, tf.train.SessionRunHook)
    True
    """
    return _threshold_hook(estimator, metric_name, threshold, eval_dir, min_steps, operator.lt,
                           (run_every_secs, run_every_steps))


def stop_if_no_increase_hook(estimator: Any, metric_name: str, max_steps_without_increase: int, eval_dir: Any = None,
                             min_steps: int = 0, run_every_secs: float | None = 60,
                             run_every_steps: int | None = None) -> SessionRunHook:
    """Return a hook of a training that ends it when a metric's best is `max_steps_without_increase` steps old.

    >>> estimator = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")], "model")
    >>> hook = tf.estimator.experimental.stop_if_no_increase_hook(estimator, "accuracy", 1000)
    >>> isinstance(hook, tf.train.SessionRunHook)
    True
    """
    return _improvement_hook(estimator, metric_name, max_steps_without_increase, eval_dir, min_steps, operator.gt,
                             (run_every_secs, run_every_steps))


def stop_if_no_decrease_hook(estimator: Any, metric_name: str, max_steps_without_decrease: int, eval_dir: Any = None,
                             min_steps: int = 0, run_every_secs: float | None = 60,
                             run_every_steps: int | None = None) -> SessionRunHook:
    """Return a hook of a training that ends it when a metric's lowest is `max_steps_without_decrease` steps old.

    >>> estimator = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")], "model")
    >>> hook = tf.estimator.experimental.stop_if_no_decrease_hook(estimator, "loss", 1000, min_steps=100)
    >>> isinstance(hook, tf.train.SessionRunHook)
    True
    """
    return _improvement_hook(estimator, metric_name, max_steps_without_decrease, eval_dir, min_steps, operator.lt,
                             (run_every_secs, run_every_steps))


def make_stop_at_checkpoint_step_hook(estimator: Any, last_step: int, wait_after_file_check_secs: float = 30
                                      ) -> SessionRunHook:
    """Return a hook of a training that ends it at the global step `last_step`.

    wait_after_file_check_secs: without effect: this process is the one that saves checkpoints.

    >>> estimator = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")], "model")
    >>> hook = tf.estimator.experimental.make_stop_at_checkpoint_step_hook(estimator, last_step=100)
    >>> isinstance(hook, tf.train.StopAtStepHook)
    True
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    return StopAtStepHook(last_step=last_step)


describe(globals(), ESTIMATORS)
