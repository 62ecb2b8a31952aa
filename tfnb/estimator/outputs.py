"""Outputs of exported models, the signatures of a SavedModel: `tf.estimator.export.PredictOutput` and its like."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfnb.core import dtypes
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.source import constant
from tfnb.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT
from tfnb.saved_model.signature_def_utils import (
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)
from tfnb.variables.variable import Variable

_STRINGS = ("{} signatures take one input, a vector of strings (serialized tf.train.Example messages), got {}: return "
            "such a placeholder from serving_input_receiver_fn and parse it with tf.parse_example")


def _tensor(value: Any, name: str) -> Any:
    if not isinstance(value, (Tensor, SparseTensor, Variable)):
        raise ValueError(f"{name} must be a Tensor; got {value}")
    return value


def _only_string(receiver_tensors: Mapping[str, Any], kind: str) -> Any:
    """Return the one string tensor that a classification or regression is fed with."""
    if len(receiver_tensors) != 1 or next(iter(receiver_tensors.values())).dtype.base_dtype != dtypes.string:
        raise ValueError(_STRINGS.format(kind, dict(receiver_tensors)))
    return next(iter(receiver_tensors.values()))


EVAL_METHOD_NAME = "tensorflow/supervised/eval"


class ExportOutput:
    """Base class of the outputs of an exported model; subclasses define `as_signature_def`.

    >>> output = tf.estimator.export.PredictOutput(tf.constant([1.0]))
    >>> isinstance(output, tf.estimator.export.ExportOutput)
    True
    """

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """Return the SignatureDef for inputs by name. Raises ValueError for inputs that it can't have."""
        raise NotImplementedError(f"{type(self).__name__}.as_signature_def")


class ClassificationOutput(ExportOutput):
    """Output of a classifier: scores (float tensor), classes (string tensor), or both.

    Raises ValueError for other dtypes, or if both are None.

    >>> output = tf.estimator.export.ClassificationOutput(scores=tf.constant([[0.1, 0.9]]))
    >>> signature = output.as_signature_def({"examples": tf.placeholder(tf.string, [None])})
    >>> signature.method_name, list(signature.outputs)
    ('tensorflow/serving/classify', ['scores'])
    """

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        if scores is not None and not _tensor(scores, "Classification scores").dtype.is_floating:
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and _tensor(classes, "Classification classes").dtype.base_dtype != dtypes.string:
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        self._scores, self._classes = scores, classes

    @property
    def scores(self) -> Any:
        """Scores of the classes, or None."""
        return self._scores

    @property
    def classes(self) -> Any:
        """Names of the classes, or None."""
        return self._classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """Return the SignatureDef. Raises ValueError unless there is one input, of strings."""
        return classification_signature_def(_only_string(receiver_tensors, "Classification"), self._classes,
                                            self._scores)


class RegressionOutput(ExportOutput):
    """Output of a regression: `value`, a float tensor. Raises ValueError for others.

    >>> output = tf.estimator.export.RegressionOutput(tf.constant([1.5]))
    >>> output.as_signature_def({"examples": tf.placeholder(tf.string, [None])}).method_name
    'tensorflow/serving/regress'
    """

    def __init__(self, value: Any) -> None:
        if not _tensor(value, "Regression output value").dtype.is_floating:
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    @property
    def value(self) -> Any:
        """Predicted values."""
        return self._value

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """Return the SignatureDef. Raises ValueError unless there is one input, of strings."""
        return regression_signature_def(_only_string(receiver_tensors, "Regression"), self._value)


class PredictOutput(ExportOutput):
    """Output of any model: `outputs`, a tensor (called "output") or a dict of names to tensors.

    Raises ValueError for what is no tensor.

    >>> tf.estimator.export.PredictOutput(tf.constant([1.0])).outputs.keys()
    dict_keys(['output'])
    """

    def __init__(self, outputs: Any) -> None:
        named = outputs if isinstance(outputs, Mapping) else {"output": outputs}
        for key in named:
            if not isinstance(key, str):
                raise ValueError(f"Prediction output key must be a string; got {key!r}")
        self._outputs = {key: _tensor(value, "Prediction output value") for key, value in named.items()}

    @property
    def outputs(self) -> dict[str, Any]:
        """Tensors by name."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """Return the SignatureDef."""
        return predict_signature_def(receiver_tensors, self._outputs)


class EvalOutput(ExportOutput):
    """Output of a model that is exported for evaluation: loss, predictions and metrics.

    loss: a tensor or a dict of them (called "loss"); predictions: a tensor (called "predictions") or a dict; metrics:
    a dict of names to pairs (value, update op), as of tf.metrics. Raises ValueError for what are no tensors.

    >>> output = tf.estimator.export.EvalOutput(
    ...     loss=tf.constant(0.5), predictions=tf.constant([1.0]), metrics={"mean": tf.metrics.mean([1.0, 2.0])})
    >>> signature = output.as_signature_def({"x": tf.placeholder(tf.float32, [None])})
    >>> signature.method_name, sorted(signature.outputs)
    ('tensorflow/supervised/eval', ['loss', 'metrics/mean/update_op', 'metrics/mean/value', 'predictions'])
    """

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None) -> None:
        self._loss, self._predictions = _prefixed("loss", loss), _prefixed("predictions", predictions)
        self._metrics = {}
        for name, pair in (metrics or {}).items():
            value, update = pair
            update = update.outputs[0] if isinstance(update, Operation) and update.outputs else update
            if isinstance(update, Operation):       # one without a value: signatures have tensors only
                with control_dependencies([update]):
                    update = constant([], name="metric_op_wrapper")
            self._metrics[f"metrics/{name}/value"] = _tensor(value, "Eval metric value")
            self._metrics[f"metrics/{name}/update_op"] = _tensor(update, "Eval metric update op")

    @property
    def loss(self) -> dict[str, Any]:
        """Losses by name."""
        return self._loss

    @property
    def predictions(self) -> dict[str, Any]:
        """Predictions by name."""
        return self._predictions

    @property
    def metrics(self) -> dict[str, Any]:
        """Values and updates of the metrics by name."""
        return self._metrics

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """Return the SignatureDef."""
        made = predict_signature_def(receiver_tensors, {**self._loss, **self._predictions, **self._metrics})
        made.method_name = EVAL_METHOD_NAME
        return made


def _prefixed(prefix: str, values: Any) -> dict[str, Any]:
    """Return tensors by name: a single one is called as the prefix, those of a dict begin so unless they do."""
    if values is None:
        return {}
    named = values if isinstance(values, Mapping) else {prefix: values}
    return {key if key.startswith(prefix) else f"{prefix}/{key}": _tensor(value, f"Eval {prefix}")
            for key, value in named.items()}


def export_outputs_for(outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """Return the outputs of an export, one of them the default: of `predictions` if none are given.

    Raises TypeError for others than dicts of ExportOutput, ValueError for several of which none is the default.
    """
    if outputs is None:
        return {DEFAULT: PredictOutput(predictions)}
    if not isinstance(outputs, Mapping):
        raise TypeError(f"export_outputs must be dict, given: {outputs}")
    for value in outputs.values():
        if not isinstance(value, ExportOutput):
            raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {outputs}")
    if len(outputs) == 1 and DEFAULT not in outputs:
        return {**outputs, DEFAULT: next(iter(outputs.values()))}
    if outputs and DEFAULT not in outputs:
        raise ValueError("Multiple export_outputs were provided, but none of them is specified as the default: name "
                         f"one of {sorted(outputs)} {DEFAULT!r}")
    return dict(outputs)
