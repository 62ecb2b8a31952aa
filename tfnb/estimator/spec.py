"""Model of an Estimator in one mode: the ops that a model_fn returns (`tf.estimator.EstimatorSpec`)."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from tfnb.estimator.outputs import ExportOutput, export_outputs_for
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.ops.array.reshape import reshape
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.train.sessions.hook import SessionRunHook
from tfnb.train.sessions.scaffold import Scaffold
from tfnb.variables.variable import Variable


class ModeKeys:
    """Modes in which a model_fn is called: TRAIN, EVAL and PREDICT.

    >>> tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL, tf.estimator.ModeKeys.PREDICT
    ('train', 'eval', 'infer')
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


_MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)


class _Spec(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict[str, Any]
    export_outputs: Any
    training_chief_hooks: tuple[SessionRunHook, ...]
    training_hooks: tuple[SessionRunHook, ...]
    scaffold: Any
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


class EstimatorSpec(_Spec):
    """Ops of a model in one mode, which a model_fn returns.

    mode: a tf.estimator.ModeKeys. predictions: a tensor or a dict of tensors (needed for PREDICT). loss: a scalar
    (TRAIN, EVAL). train_op: an op that trains a step (TRAIN). eval_metric_ops: a dict of names to pairs (value, update
    op), as of tf.metrics, or metric objects. export_outputs: a dict of names to tf.estimator.export.PredictOutput,
    ClassificationOutput or RegressionOutput, the signatures of an export; by default one of `predictions`.
    training_hooks, evaluation_hooks, prediction_hooks: SessionRunHooks; training_chief_hooks: of the chief alone.
    scaffold: a tf.train.Scaffold, with what initializes the session. Raises ValueError for a mode without its ops, a
    loss that is no scalar and tensors of another graph, TypeError for members of other types.

    >>> def model_fn(features, labels, mode):
    ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    ...     predictions = w * features["x"]
    ...     if mode == tf.estimator.ModeKeys.PREDICT:
    ...         return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    ...     loss = tf.losses.mean_squared_error(labels, predictions)
    ...     optimizer = tf.train.GradientDescentOptimizer(0.1)
    ...     train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    ...     return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op)
    >>> spec = model_fn({"x": tf.constant([1.0])}, None, tf.estimator.ModeKeys.PREDICT)
    >>> spec.mode, spec.loss is None
    ('infer', True)
    """

    __slots__ = ()

    def __new__(cls, mode: str, predictions: Any = None, loss: Any = None, train_op: Any = None,
                eval_metric_ops: Any = None, export_outputs: Any = None, training_chief_hooks: Any = None,
                training_hooks: Any = None, scaffold: Any = None, evaluation_hooks: Any = None,
                prediction_hooks: Any = None) -> Self:
        """Check the members. Raises ValueError and TypeError."""
        if mode not in _MODES:
            raise ValueError(f"mode must be one of tf.estimator.ModeKeys {_MODES}, got {mode!r}")
        if mode == ModeKeys.TRAIN:
            _required(train_op, "train_op")
        loss = _loss(loss, mode)
        predictions = _predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = export_outputs_for(export_outputs, predictions)
        elif export_outputs is not None:
            _check_outputs(export_outputs)
        hooks = [_hooks(each) for each in (training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks)]
        scaffold = Scaffold() if scaffold is None else scaffold
        if not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        if train_op is not None:
            _of_graph(train_op, "train_op", (Tensor, Operation, Variable))
        return super().__new__(cls, mode, predictions, loss, train_op, _metrics(eval_metric_ops), export_outputs,
                               hooks[0], hooks[1], scaffold, hooks[2], hooks[3])


def _required(value: Any, name: str) -> None:
    if value is None:
        raise ValueError(f"Missing {name}.")


def _of_graph(value: Any, name: str, types: tuple[Any, ...]) -> None:
    if not isinstance(value, types):
        raise TypeError(f"{name} must be Operation or Tensor, given: {value}")
    if value.graph is not get_default_graph():
        raise ValueError(f"{name} must be from the default graph. Possible causes of this error include: \n\n1) {name} "
                         "was created outside the context of the default graph.\n\n2) The object passed through to "
                         f"EstimatorSpec was not created in the most recent call to \"model_fn\". Got {value}")


def _loss(loss: Any, mode: str) -> Any:
    if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
        _required(loss, "loss")
    if loss is None:
        return None
    if not isinstance(loss, Tensor):
        loss = convert_to_tensor(loss)
    _of_graph(loss, "loss", (Tensor,))
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    return loss if loss.shape.ndims == 0 else reshape(loss, [])


def _predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    named = predictions if isinstance(predictions, Mapping) else {"": predictions}
    for key, value in named.items():
        _of_graph(value, f"predictions[{key!r}]" if key else "predictions", (Tensor, SparseTensor, Variable))
    return predictions


def _metrics(ops: Any) -> dict[str, Any]:
    if ops is None:
        return {}
    if not isinstance(ops, Mapping):
        raise TypeError(f"eval_metric_ops must be a dict, given: {ops}")
    for key, pair in ops.items():
        if not is_metric(pair) and (not isinstance(pair, tuple) or len(pair) != 2):
            raise TypeError(f"Values of eval_metric_ops must be (metric_value, update_op) tuples, given: {pair} for "
                            f"key: {key}")
    return dict(ops)


def is_metric(value: Any) -> bool:
    """Return whether a value is a metric object as of tf.keras: its updates are kept in `updates`."""
    return callable(getattr(value, "result", None)) and hasattr(value, "updates")


def _check_outputs(outputs: Any) -> None:
    if not isinstance(outputs, Mapping):
        raise TypeError(f"export_outputs must be dict, given: {outputs}")
    for value in outputs.values():
        if not isinstance(value, ExportOutput):
            raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {outputs}")


def _hooks(hooks: Any) -> tuple[SessionRunHook, ...]:
    made = tuple(hooks or ())
    for hook in made:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return made
