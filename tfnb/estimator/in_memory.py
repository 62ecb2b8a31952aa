"""Evaluation within a training, without checkpoints: `tf.estimator.experimental.InMemoryEvaluatorHook`."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core.arguments import ESTIMATORS, describe
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.results import metric_ops, write_results
from tfnb.estimator.spec import ModeKeys
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import get_collection
from tfnb.ops.random.random_ops import set_random_seed
from tfnb.train.global_step import create_global_step, required_global_step
from tfnb.train.sessions.creator import ChiefSessionCreator
from tfnb.train.sessions.evaluation import StopAfterNEvalsHook, counted_ops, evaluate_by
from tfnb.train.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tfnb.train.sessions.scaffold import Scaffold
from tfnb.train.sessions.timers import SecondOrStepTimer
from tfnb.variables.variable import Variable


def _variables() -> dict[str, Variable]:
    """Return the variables of a model by name."""
    return {v.op.name: v for v in get_collection(GraphKeys.GLOBAL_VARIABLES)}


class InMemoryEvaluatorHook(SessionRunHook):
    """Hook of a training that evaluates the model with its present variables: at the start, every `every_n_iter`
    steps and at the end.

    The evaluation has a graph and sessions of its own, which get the values of the training's variables. Results go
    to event files in `estimator.eval_dir(name)`. input_fn: of the data. steps: how many batches; None: all. hooks:
    SessionRunHooks of the evaluation. Raises ValueError for every_n_iter that is not positive, TypeError for what is
    no Estimator.

    >>> x, y = np.array([[-1.0], [2.0]], np.float32), np.array([0, 1])
    >>> train = tf.estimator.inputs.numpy_input_fn({"x": x}, y, num_epochs=None, shuffle=False)
    >>> test = tf.estimator.inputs.numpy_input_fn({"x": x}, y, shuffle=False)
    >>> model = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")], model_dir="model")
    >>> hook = tf.estimator.experimental.InMemoryEvaluatorHook(model, test, every_n_iter=10)
    >>> model = model.train(train, hooks=[hook], steps=20)
    >>> list(tf.contrib.estimator.read_eval_metrics(model.eval_dir()))
    [0, 10, 20]
    """

    def __init__(self, estimator: Any, input_fn: Callable[..., Any], steps: int | None = None,
                 hooks: Sequence[SessionRunHook] | None = None, name: str | None = None,
                 every_n_iter: int = 100) -> None:
        if not isinstance(estimator, Estimator):
            raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"every_n_iter must be positive, got {every_n_iter}")
        self._estimator, self._input_fn, self._name = estimator, input_fn, name
        self._hooks = [*(hooks or ()), *([] if steps is None else [StopAfterNEvalsHook(steps)])]
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Build the graph of the evaluation."""
        self._step, self._trained = required_global_step("InMemoryEvaluatorHook"), _variables()
        self._timer.reset()
        estimator, self._graph = self._estimator, Graph()
        with self._graph.as_default():
            set_random_seed(estimator.config.tf_random_seed)
            step = create_global_step()
            features, labels, input_hooks = estimator._inputs(self._input_fn, ModeKeys.EVAL)
            spec = estimator._spec(features, labels, ModeKeys.EVAL)
            update, self._final = metric_ops(spec, step)
            self._all_hooks = [*self._hooks, *input_hooks, *spec.evaluation_hooks]
            self._update = counted_ops(update, self._all_hooks)
            self._evaluated = _variables()
            self._scaffold = Scaffold(init_fn=self._load, copy_from_scaffold=spec.scaffold)
            self._user_init_fn = spec.scaffold.init_fn
        if missing := sorted(self._evaluated.keys() - self._trained.keys()):
            raise ValueError(f"model_fn makes variables for evaluation that it doesn't make for training: {missing}")

    def _load(self, scaffold: Scaffold, session: Any) -> None:
        if self._user_init_fn is not None:
            self._user_init_fn(session)
        for name, variable in self._evaluated.items():
            variable.load(self._values[name], session)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Evaluate the initial values, unless the last evaluation had them."""
        self._evaluate(session, int(session.run(self._step)))

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Request the global step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Evaluate, if it is time to."""
        step = int(run_context.session.run(self._step))
        if self._timer.should_trigger_for_step(step):
            self._evaluate(run_context.session, step)

    def end(self, session: Any) -> None:
        """Evaluate the last values."""
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._evaluate(session, step)

    def _evaluate(self, session: Any, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        self._values = session.run({name: self._trained[name] for name in self._evaluated})
        config = self._estimator.config.session_config
        with self._graph.as_default():
            results = evaluate_by(ChiefSessionCreator(self._scaffold, config=config), self._update, self._all_hooks,
                                  final_ops=self._final)
        write_results(self._estimator.eval_dir(self._name), results, None)


describe(globals(), ESTIMATORS)
