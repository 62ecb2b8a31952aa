"""Model of a TPUEstimator in one mode: its ops, with metrics and summaries as functions over tensors."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

from tfnb.core import nest
from tfnb.estimator.calls import arguments
from tfnb.estimator.spec import EstimatorSpec
from tfnb.ops.io.summary_writers import FlushSummaryWriter
from tfnb.train import recording
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook


class _TPUEstimatorSpec(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: tuple[SessionRunHook, ...]
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


class TPUEstimatorSpec(_TPUEstimatorSpec):
    """Ops of a model in one mode, which the model_fn of a TPUEstimator returns.

    mode: a tf.estimator.ModeKeys. predictions, loss, train_op, export_outputs, training_hooks, evaluation_hooks,
    prediction_hooks: as of `tf.estimator.EstimatorSpec`. eval_metrics: a pair (fn, tensors): `fn`, called with the
    tensors of a list or a dict, returns the metrics, as `eval_metric_ops`. host_call: such a pair, whose function
    returns ops that run with each step, mostly of `tf.contrib.summary`. scaffold_fn: returns a tf.train.Scaffold.
    Raises ValueError for pairs that are none, TypeError for a scaffold_fn that is no function.

    >>> def metric_fn(labels, logits):
    ...     return {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
    >>> logits = tf.constant([[0.0, 1.0]])
    >>> spec = tf.contrib.tpu.TPUEstimatorSpec(
    ...     "eval", loss=tf.constant(0.5), eval_metrics=(metric_fn, [tf.constant([1]), logits]))
    >>> sorted(spec.as_estimator_spec().eval_metric_ops)
    ['accuracy']
    """

    __slots__ = ()

    def __new__(cls, mode: str, predictions: Any = None, loss: Any = None, train_op: Any = None,
                eval_metrics: Any = None, export_outputs: Any = None, scaffold_fn: Any = None, host_call: Any = None,
                training_hooks: Any = None, evaluation_hooks: Any = None, prediction_hooks: Any = None) -> Self:
        """Check the members. Raises ValueError and TypeError."""
        for name, pair in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if pair is not None:
                _check_pair(name, pair)
        if scaffold_fn is not None and not callable(scaffold_fn):
            raise TypeError(f"scaffold_fn must be a function that returns a tf.train.Scaffold, got {scaffold_fn!r}")
        return super().__new__(cls, mode, predictions, loss, train_op, eval_metrics, export_outputs, scaffold_fn,
                               host_call, tuple(training_hooks or ()), tuple(evaluation_hooks or ()),
                               tuple(prediction_hooks or ()))

    def as_estimator_spec(self) -> EstimatorSpec:
        """Return the EstimatorSpec of the same ops: the functions are called."""
        hooks = () if self.host_call is None else (_HostCallHook(_called(self.host_call)),)
        return EstimatorSpec(
            self.mode, self.predictions, self.loss, self.train_op,
            None if self.eval_metrics is None else _called(self.eval_metrics), self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None, training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks, prediction_hooks=self.prediction_hooks + hooks)


def _check_pair(name: str, pair: Any) -> None:
    """Raise ValueError for what is no pair of a function and the tensors that it takes."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"{name} must be a pair (function, tensors), got {pair!r}")
    fn, tensors = pair
    if not callable(fn):
        raise TypeError(f"{name}[0] should be callable, got {fn!r}")
    if not isinstance(tensors, (tuple, list, Mapping)):
        raise ValueError(f"{name}[1] must be a list, a tuple or a dict of tensors, got {tensors!r}")
    names = arguments(fn)
    if isinstance(tensors, (tuple, list)) and names and len(tensors) != len(names):
        raise ValueError(f"{name}[0] takes {len(names)} arguments, {', '.join(names)}, but {name}[1] has "
                         f"{len(tensors)} tensors")


def _called(pair: tuple[Callable[..., Any], Any]) -> Any:
    fn, tensors = pair
    return fn(**tensors) if isinstance(tensors, Mapping) else fn(*tensors)


class _HostCallHook(SessionRunHook):
    """Runs the ops of a host_call with each step, and opens and flushes the writers of their summaries."""

    def __init__(self, made: Any) -> None:
        self._made = [op for op in nest.flatten(made) if op is not None]

    def begin(self) -> None:
        """Find the writers' ops."""
        self._opened = recording.summary_writer_initializer_op()
        self._flushed = [FlushSummaryWriter(op.inputs[0]) for op in self._opened]

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Open the event files."""
        session.run(self._opened)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the ops."""
        return SessionRunArgs(self._made)

    def end(self, session: Any) -> None:
        """Wait until all events are in the files."""
        session.run(self._flushed)
