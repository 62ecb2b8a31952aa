"""Estimators of models of Keras: `tf.keras.estimator.model_to_estimator`."""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from tfnb.core import nest
from tfnb.estimator.estimator import Estimator
from tfnb.estimator.run_config import RunConfig
from tfnb.estimator.spec import EstimatorSpec, ModeKeys
from tfnb.estimator.warm_start import WarmStartSettings
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import add_to_collection
from tfnb.keras.backend.phase import set_learning_phase
from tfnb.keras.optimizers.wrapped import TFOptimizer
from tfnb.keras.saving.models import clone_model, load_model
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.runtime.session import Session
from tfnb.train.global_step import get_global_step


def model_to_estimator(keras_model: Any = None, keras_model_path: Any = None, custom_objects: Any = None,
                       model_dir: Any = None, config: RunConfig | None = None,
                       checkpoint_format: str = "saver") -> Estimator:
    """Return an Estimator that trains, evaluates and exports a compiled model of Keras from the weights that it has.

    keras_model: the model, or keras_model_path: of its file. custom_objects: dict of name to class or function, for the
    file. model_dir, config: as of tf.estimator.Estimator. checkpoint_format: "saver". Features are a dict by the names
    of the model's inputs, or tensors in their order; labels likewise by outputs. Raises ValueError for both or no
    model, one that is not compiled, a subclass with its own `call`, and another format.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,), name="line")])
    >>> model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    >>> estimator = tf.keras.estimator.model_to_estimator(model, model_dir="line")
    >>> x = np.array([[1.0], [2.0]], np.float32)
    >>> feed = tf.estimator.inputs.numpy_input_fn({"line_input": x}, 3 * x, num_epochs=None, shuffle=False)
    >>> float(estimator.train(feed, steps=100).get_variable_value("line/kernel")[0, 0].round())
    3.0
    """
    if (keras_model is None) == (keras_model_path is None):
        raise ValueError("expected either keras_model or keras_model_path, got "
                         f"{'both' if keras_model is not None else 'neither'}")
    if checkpoint_format != "saver":
        raise ValueError(f"expected checkpoint_format 'saver': names of variables are the keys, got "
                         f"{checkpoint_format!r}")
    model = load_model(keras_model_path, custom_objects) if keras_model is None else keras_model
    if not model._is_graph_network:
        raise ValueError("model_to_estimator: expected a Sequential or functional model, got a subclass with its own "
                         "`call`, which can't be copied into the Estimator's graphs")
    if model._compile_arguments is None:
        raise ValueError("The given keras model has not been compiled yet. Please compile the model with "
                         "`model.compile()` before calling `model_to_estimator()`.")
    made = Estimator(_model_fn(model), model_dir, config)
    made._warm_start = _first_checkpoint(model, os.path.join(made.model_dir, "keras", "keras_model.ckpt"))
    return made


def _first_checkpoint(model: Any, path: str) -> WarmStartSettings:
    """Write the weights that a model has, by their names in the Estimator's graphs. Returns where training begins."""
    values = model.get_weights()
    with Graph().as_default():
        set_learning_phase(0)
        names = [variable.op.name for variable in clone_model(model).weights]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with Graph().as_default(), Session() as session:
        session.run(raw.SaveV2(path, names, [""] * len(names), values))
    return WarmStartSettings(path, [f"^{re.escape(name)}$" for name in names])


def _model_fn(model: Any) -> Callable[..., EstimatorSpec]:
    optimizer = model.optimizer
    is_wrapped = isinstance(optimizer, TFOptimizer)
    settings = None if is_wrapped else optimizer.get_config()

    def compiled(features: Any, labels: Any) -> Any:
        copy = clone_model(model, _ordered(features, model.input_names, model.inputs, "features"))
        if labels is None:
            return copy
        made = TFOptimizer(optimizer.optimizer) if is_wrapped else type(optimizer).from_config(settings)
        made._iterations = get_global_step()
        given = {**model._compile_arguments}
        for kind in ("metrics", "weighted_metrics"):
            given[kind] = nest.map_structure(_anew, given[kind])
        given["target_tensors"] = _ordered(labels, model.output_names, None, "labels")
        copy.compile(made, **given)
        return copy

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        set_learning_phase(int(mode == ModeKeys.TRAIN))
        copy = compiled(features, None if mode == ModeKeys.PREDICT else labels)
        predictions = dict(zip(model.output_names, copy.outputs, strict=True))
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions)
        ready = copy._ready()
        ops = ready.ops("train" if mode == ModeKeys.TRAIN else "test")
        if mode == ModeKeys.TRAIN:
            return EstimatorSpec(mode, predictions, ops[0], ops[-1])
        for metric in ready.metrics:
            for variable in metric.variables:
                add_to_collection(GraphKeys.LOCAL_VARIABLES, variable)
                add_to_collection(GraphKeys.METRIC_VARIABLES, variable)
        return EstimatorSpec(mode, predictions, ops[0], eval_metric_ops={
            metric.name: (metric.result(), update) for metric, update in zip(ready.metrics, ops[1:-1], strict=True)})
    return model_fn


def _anew(metric: Any) -> Any:
    """Return a metric without variables yet, where a program gave an object."""
    return type(metric).from_config(metric.get_config()) if hasattr(metric, "update_state") else metric


def _ordered(given: Any, names: list[str], inputs: Any, what: str) -> list[Any]:
    """Return tensors in the order of names, in the dtypes of `inputs`. Raises ValueError for other names or counts."""
    if isinstance(given, Mapping):
        if not set(names) <= set(given):
            raise ValueError(f"{what}: expected the names of the model, {names}, got {sorted(given)}")
        found = [given[name] for name in names]
    else:
        found = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(found) != len(names):
        raise ValueError(f"{what}: expected {len(names)} tensors, {names}, got {len(found)}")
    found = [each if isinstance(each, SparseTensor) else convert_to_tensor(each) for each in found]
    return found if inputs is None else [cast(each, like.dtype) for each, like in zip(found, inputs, strict=True)]
