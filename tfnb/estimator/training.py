"""Training with evaluations and exports between: `tf.estimator.train_and_evaluate`."""
from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from tfnb.cluster.server import Server
from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.core.lazy import lazy_module
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.exporters import Exporter
from tfnb.estimator.task import EVALUATOR
from tfnb.graph.parts.keys import GraphKeys
from tfnb.train.checkpoints.reader import load_variable
from tfnb.train.sessions.checkpoint_hook import CheckpointSaverListener
from tfnb.train.sessions.hook import SessionRunHook

_log = logging.getLogger("tensorflow")
_config_pb2 = lazy_module("tfnb.proto.config_pb2")
_DELAY, _LONGEST_DELAY = 5.0, 60.0      # seconds: workers begin one after another, the chief first
_POLL = 1.0                             # seconds from one look for a checkpoint to the next


class _Train(NamedTuple):
    input_fn: Any
    max_steps: int | None
    hooks: tuple[SessionRunHook, ...]


class TrainSpec(_Train):
    """Training of `train_and_evaluate`.

    input_fn: of the training data; max_steps: the global step to end at; None: the end of the input. hooks:
    SessionRunHooks. Raises ValueError for max_steps that is not positive, TypeError for others than hooks.

    >>> tf.estimator.TrainSpec(input_fn=lambda: None, max_steps=1000).max_steps
    1000
    """

    __slots__ = ()

    def __new__(cls, input_fn: Callable[..., Any], max_steps: int | None = None, hooks: Any = None) -> Self:
        """Check the members. Raises ValueError and TypeError."""
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, _all(hooks, SessionRunHook, "hooks"))


class _Eval(NamedTuple):
    input_fn: Any
    steps: int | None
    name: str | None
    hooks: tuple[SessionRunHook, ...]
    exporters: tuple[Exporter, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_Eval):
    """Evaluation of `train_and_evaluate`.

    input_fn: of the data; steps: how many batches; None: all. name: of its folder, "eval_" goes before. hooks:
    SessionRunHooks. exporters: an Exporter or a list of them, of different names. throttle_secs: the least time from
    one evaluation to the next; start_delay_secs: for distributed evaluation, unused. Raises ValueError for numbers that
    are not positive, and TypeError for others than hooks or exporters.

    >>> tf.estimator.EvalSpec(input_fn=lambda: None).steps
    100
    """

    __slots__ = ()

    def __new__(cls, input_fn: Callable[..., Any], steps: int | None = 100, name: str | None = None, hooks: Any = None,
                exporters: Any = None, start_delay_secs: float = 120, throttle_secs: float = 600) -> Self:
        """Check the members. Raises ValueError and TypeError."""
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        for what, value in (("start_delay_secs", start_delay_secs), ("throttle_secs", throttle_secs)):
            if value < 0:
                raise ValueError(f"Must specify {what} >= 0, given: {value}")
        exporters = _all([exporters] if isinstance(exporters, Exporter) else exporters, Exporter, "exporters")
        names = [exporter.name for exporter in exporters]
        if len(set(names)) != len(names):
            raise ValueError(f"`exporters` must have unique names. Such a name cannot be `None`. All exporter names: "
                             f"{names}")
        return super().__new__(cls, input_fn, steps, name, _all(hooks, SessionRunHook, "hooks"), exporters,
                               start_delay_secs, throttle_secs)


def _check_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn!r}")


def _all(values: Any, kind: type, what: str) -> tuple[Any, ...]:
    found = tuple(values or ())
    for value in found:
        if not isinstance(value, kind):
            raise TypeError(f"All {what} must be `{kind.__name__}` instances, given: {value}")
    return found


class _Evaluation(CheckpointSaverListener):
    """Listener that evaluates a checkpoint when it is saved, and exports it."""

    def __init__(self, estimator: Estimator, spec: EvalSpec, max_steps: int | None) -> None:
        self._estimator, self._spec, self._max_steps = estimator, spec, max_steps
        self._last: float | None = None
        self._step: int | None = None
        self.result: Any = None
        self.exports: list[Any] = []

    def begin(self) -> None:
        """Begin the time in which no evaluation is due."""
        self._last = time.monotonic()
        self._first = True

    def after_save(self, session: Any, global_step_value: int) -> None:
        """Evaluate, unless this is the first save of the training or the last evaluation was a short time ago."""
        if self._first:                            # at the start: nothing is trained
            self._first = False
            return
        assert self._last is not None
        if time.monotonic() - self._last < self._spec.throttle_secs:
            return
        self.evaluate(global_step_value)
        self._last = time.monotonic()

    def end(self, session: Any, global_step_value: int) -> None:
        """Evaluate the last checkpoint."""
        if self._step != global_step_value:
            self.evaluate(global_step_value)

    def evaluate(self, step: int) -> None:
        """Evaluate the newest checkpoint, and export it."""
        spec, self._step = self._spec, step
        last = self._max_steps is not None and step >= self._max_steps
        found = self._estimator.evaluate(spec.input_fn, steps=spec.steps, hooks=spec.hooks, name=spec.name)
        self.result, self.exports = found, []
        for exporter in spec.exporters:
            folder = os.path.join(self._estimator.model_dir, "export", exporter.name)
            os.makedirs(folder, exist_ok=True)
            made = exporter.export(estimator=self._estimator, export_path=folder,
                                   checkpoint_path=self._estimator.latest_checkpoint(), eval_result=found,
                                   is_the_final_export=last)
            self.exports.append(made)


def _run_task(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec, config: Any) -> tuple[Any, list[Any]]:
    """Do the work of one task of a cluster."""
    task = config.task
    if task.type == EVALUATOR:
        return _evaluate_until(estimator, eval_spec, train_spec.max_steps)
    settings = _config_pb2.ConfigProto(device_filters=task.device_filters) if config.session_config is None else \
        config.session_config
    server = Server(task.cluster, task.type, task.index, protocol=config.protocol, config=settings)
    if task.type == "ps":
        server.join()
    if task.type == "worker":
        longest = config.experimental_max_worker_delay_secs
        delay = min(_LONGEST_DELAY if longest is None else longest, _DELAY * (task.index + 1))
        _log.info("Waiting %d secs before starting training.", delay)
        time.sleep(delay)
    listeners = [_Evaluation(estimator, eval_spec, train_spec.max_steps)] if task.type == "master" else []
    estimator.train(train_spec.input_fn, hooks=train_spec.hooks, max_steps=train_spec.max_steps,
                    saving_listeners=listeners)
    return None, []


def _evaluate_until(estimator: Estimator, spec: EvalSpec, max_steps: int | None) -> tuple[Any, list[Any]]:
    """Evaluate each checkpoint that another task saves, until the one of the last step."""
    time.sleep(spec.start_delay_secs)
    listener, last = _Evaluation(estimator, spec, max_steps), None
    while True:
        began, found = time.monotonic(), estimator.latest_checkpoint()
        if found and found != last:
            last, step = found, int(load_variable(found, GraphKeys.GLOBAL_STEP))
            listener.evaluate(step)
            if max_steps is not None and step >= max_steps:
                return listener.result, listener.exports
        time.sleep(max(_POLL, spec.throttle_secs - (time.monotonic() - began)))


def train_and_evaluate(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> tuple[Any, list[Any]]:
    """Train an Estimator in this process; evaluate and export checkpoints as they are saved, and the last one.

    Where TF_CONFIG describes a cluster, do what the task of this process is: serve variables for ever ("ps"), train
    ("chief", "worker"), or evaluate and export the chief's checkpoints until the last step ("evaluator"); see
    docs/cluster.md.

    Return (the last results of evaluations, what the exporters returned then); (None, []) if nothing is left to train,
    and for a task that only trains.
    train_spec, eval_spec: a TrainSpec and an EvalSpec. Raises TypeError for others.

    >>> def model_fn(features, labels, mode):
    ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    ...     loss = tf.losses.mean_squared_error(labels, w * features["x"])
    ...     optimizer = tf.train.GradientDescentOptimizer(0.1)
    ...     train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    ...     return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    >>> x = np.array([1.0, 2.0], np.float32)
    >>> input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 3 * x, 2, num_epochs=None, shuffle=False)
    >>> results, exports = tf.estimator.train_and_evaluate(
    ...     tf.estimator.Estimator(model_fn, model_dir="model"), tf.estimator.TrainSpec(input_fn, max_steps=50),
    ...     tf.estimator.EvalSpec(input_fn, steps=1))
    >>> results["global_step"], results["loss"] < 0.01
    (50, True)
    """
    for value, kind in ((estimator, Estimator), (train_spec, TrainSpec), (eval_spec, EvalSpec)):
        if not isinstance(value, kind):
            raise TypeError(f"train_and_evaluate needs an instance of {kind.__name__}, given {type(value).__name__}")
    config = estimator.config
    if config.task.distributed or config.task.type == EVALUATOR:
        return _run_task(estimator, train_spec, eval_spec, config)
    _log.info("Running training and evaluation locally (non-distributed).")
    if eval_spec.throttle_secs == 0 and not (config.save_checkpoints_secs or config.save_checkpoints_steps):
        _log.warning("throttle_secs is 0 and no checkpoints are saved: only the last one is evaluated")
    listener = _Evaluation(estimator, eval_spec, train_spec.max_steps)
    estimator.train(train_spec.input_fn, hooks=train_spec.hooks, max_steps=train_spec.max_steps,
                    saving_listeners=[listener])
    return listener.result, listener.exports


describe(globals(), ESTIMATORS)
