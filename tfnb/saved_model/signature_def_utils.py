"""Signatures of models, inputs and outputs by role: `tf.saved_model.signature_def_utils`."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfnb.core.absent import explain as _explain
from tfnb.core.dtypes import as_dtype
from tfnb.core.lazy import lazy_module
from tfnb.saved_model import signature_constants as names
from tfnb.saved_model.utils import build_tensor_info

_pb = lazy_module("tfnb.proto.meta_graph_pb2")


def build_signature_def(inputs: Mapping[str, Any] | None = None, outputs: Mapping[str, Any] | None = None,
                        method_name: str | None = None) -> Any:
    """A SignatureDef of TensorInfos by role.

    inputs, outputs: {role: TensorInfo}; method_name: of tf.saved_model.signature_constants.

    >>> x = tf.saved_model.build_tensor_info(tf.constant(1.0, name="x"))
    >>> signature = tf.saved_model.build_signature_def({"x": x}, {"y": x}, method_name="tensorflow/serving/predict")
    >>> signature.inputs["x"].name
    'x:0'
    """
    made = _pb.SignatureDef(method_name=method_name or "")
    for target, given in ((made.inputs, inputs), (made.outputs, outputs)):
        for key, info in (given or {}).items():
            target[key].CopyFrom(info)
    return made


def _infos(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {key: build_tensor_info(tensor) for key, tensor in tensors.items()}


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """A signature for predictions, of tensors by role. Raises ValueError if there are no inputs or outputs.

    >>> x = tf.placeholder(tf.float32, name="x")
    >>> signature = tf.saved_model.predict_signature_def(inputs={"x": x}, outputs={"y": 2 * x})
    >>> signature.inputs["x"].name, signature.method_name
    ('x:0', 'tensorflow/serving/predict')
    """
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), names.PREDICT_METHOD_NAME)


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """A signature for regressions: serialized Examples (strings) to float32 values. Raises ValueError for others.

    examples, predictions: tensors.

    >>> examples = tf.placeholder(tf.string, name="examples")
    >>> signature = tf.saved_model.regression_signature_def(examples, tf.constant([0.9]))
    >>> sorted(signature.outputs), signature.method_name
    (['outputs'], 'tensorflow/serving/regress')
    """
    if examples is None or predictions is None:
        raise ValueError(f"Regression {'inputs' if examples is None else 'predictions'} cannot be None.")
    _check(examples, "string", "Regression input tensors must be of type string")
    _check(predictions, "float32", "Regression predictions must be of type float32")
    return build_signature_def(_infos({names.REGRESS_INPUTS: examples}),
                               _infos({names.REGRESS_OUTPUTS: predictions}), names.REGRESS_METHOD_NAME)


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """A signature for classifications: serialized Examples to names (strings) or scores (float32) of classes, or both.

    Raises ValueError for tensors of other dtypes, or if there is neither. examples: a tensor of strings.

    >>> examples = tf.placeholder(tf.string, name="examples")
    >>> signature = tf.saved_model.classification_signature_def(examples, tf.constant(["cat"]), tf.constant([0.9]))
    >>> sorted(signature.outputs), signature.method_name
    (['classes', 'scores'], 'tensorflow/serving/classify')
    """
    if examples is None:
        raise ValueError("Classification inputs cannot be None.")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    _check(examples, "string", "Classification input tensors must be of type string")
    outputs = {}
    if classes is not None:
        _check(classes, "string", "Classification classes must be of type string Tensor")
        outputs[names.CLASSIFY_OUTPUT_CLASSES] = classes
    if scores is not None:
        _check(scores, "float32", "Classification scores must be a float tensor")
        outputs[names.CLASSIFY_OUTPUT_SCORES] = scores
    return build_signature_def(_infos({names.CLASSIFY_INPUTS: examples}), _infos(outputs), names.CLASSIFY_METHOD_NAME)


def _check(tensor: Any, dtype: str, message: str) -> None:
    if tensor.dtype.base_dtype.name != dtype:
        raise ValueError(f"{message}, got {tensor.dtype.base_dtype.name}: {tensor}")


def is_valid_signature(signature_def: Any) -> bool:
    """Return whether TensorFlow Serving can serve it: a method it knows, with its inputs and outputs.

    signature_def: a SignatureDef.

    >>> x = tf.placeholder(tf.float32, name="x")
    >>> tf.saved_model.is_valid_signature(tf.saved_model.predict_signature_def({"x": x}, {"y": 2 * x}))
    True
    """
    method = signature_def.method_name
    inputs, outputs = _dtypes(signature_def.inputs), _dtypes(signature_def.outputs)
    if method == names.PREDICT_METHOD_NAME:
        return bool(inputs and outputs)
    if method == names.REGRESS_METHOD_NAME:
        return inputs == {names.REGRESS_INPUTS: "string"} and outputs == {names.REGRESS_OUTPUTS: "float32"}
    known = {names.CLASSIFY_OUTPUT_CLASSES: "string", names.CLASSIFY_OUTPUT_SCORES: "float32"}
    return method == names.CLASSIFY_METHOD_NAME and inputs == {names.CLASSIFY_INPUTS: "string"} and bool(outputs) \
        and outputs.items() <= known.items()


def _dtypes(infos: Mapping[str, Any]) -> dict[str, str]:
    return {key: as_dtype(info.dtype).name for key, info in infos.items()}

_explain(__name__)
