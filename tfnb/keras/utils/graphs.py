"""Graphs of layers: what inputs tensors depend on, and pictures of models."""
from __future__ import annotations

import os
from typing import Any

from tfnb.core import nest
from tfnb.core.lazy import lazy_module

graphviz = lazy_module("graphviz")          # an extra


def get_source_inputs(tensor: Any, layer: Any = None, node_index: Any = None) -> list[Any]:
    """Return the tensors of Input that a tensor of Keras depends on.

    layer, node_index: accepted: the tensor says them.

    >>> x = tf.keras.Input([2])
    >>> y = tf.keras.layers.Dense(3)(x)
    >>> tf.keras.utils.get_source_inputs(y)[0] is x
    True
    """
    found: dict[int, Any] = {}
    waiting: list[Any] = [tensor]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        history = getattr(each, "_keras_history", None)
        node = None if history is None else history[0].inbound_nodes[history[1]]
        before = [] if node is None else [one for one in nest.flatten(node.input_tensors) if one is not each]
        if not before:
            found[id(each)] = each
        waiting += before
    return list(found.values())


def _label(layer: Any, show_shapes: bool, show_layer_names: bool) -> str:
    wrapped = getattr(layer, "layer", None)
    kind = type(layer).__name__ if wrapped is None else f"{type(layer).__name__}({type(wrapped).__name__})"
    text = f"{layer.name}: {kind}" if show_layer_names else kind
    if not show_shapes:
        return text
    return f"{text}|{{input:|output:}}|{{{{{layer.input_shape}}}|{{{layer.output_shape}}}}}"


def model_to_dot(model: Any, show_shapes: bool = False, show_layer_names: bool = True, rankdir: str = "TB") -> str:
    """Return a model as a graph in Graphviz' language: a node for each layer.

    model: the model. show_shapes: whether the shapes of inputs and outputs are there. show_layer_names: whether the
    names are. rankdir: "TB" from top to bottom, "LR" from left to right.
    """
    lines = ["digraph model {", f"  rankdir={rankdir};", "  node [shape=record];"]
    known = {id(layer) for layer in model.layers}
    for layer in model.layers:
        text = _label(layer, show_shapes, show_layer_names).replace('"', '\\"')
        lines.append(f'  "{id(layer)}" [label="{text}"];')
        for node in layer.inbound_nodes:
            for tensor in nest.flatten(node.input_tensors):
                history = getattr(tensor, "_keras_history", None)
                if history is not None and history[0] is not layer and id(history[0]) in known:
                    lines.append(f'  "{id(history[0])}" -> "{id(layer)}";')
    return "\n".join([*dict.fromkeys(lines), "}"])


def plot_model(model: Any, to_file: str = "model.png", show_shapes: bool = False, show_layer_names: bool = True,
               rankdir: str = "TB") -> None:
    """Write a picture of a model's layers, or with a name that ends in ".dot" its text in Graphviz' language.

    model: the model. to_file: the file. show_shapes: whether the shapes of inputs and outputs are there.
    show_layer_names: whether the names are. rankdir: "TB" from top to bottom, "LR" from left to right. Raises
    ImportError without the package graphviz (`pip install 'tfnb[graphviz]'`), unless the text is asked for.

    >>> import os, tempfile
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_dim=3)])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.dot")
    >>> tf.keras.utils.plot_model(model, path, show_shapes=True)
    >>> os.path.exists(path)
    True
    """
    text = model_to_dot(model, show_shapes, show_layer_names, rankdir)
    stem, suffix = os.path.splitext(to_file)
    if suffix == ".dot":
        with open(to_file, "w", encoding="utf-8") as file:
            file.write(text)
        return
    graphviz.Source(text).render(stem, format=suffix.lstrip(".") or "png", cleanup=True)


def multi_gpu_model(model: Any, gpus: Any, cpu_merge: bool = True, cpu_relocation: bool = False) -> Any:
    """Raise ValueError: tfnb computes on one device.

    model, gpus, cpu_merge, cpu_relocation: as in TensorFlow.

    >>> tf.keras.utils.multi_gpu_model(None, 2)
    ValueError: multi_gpu_model: expected one device, got gpus=2: use the model itself
    """
    raise ValueError(f"multi_gpu_model: expected one device, got gpus={gpus!r}: use the model itself")


