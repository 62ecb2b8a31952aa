"""Table of the layers of a model: `model.summary()`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def summary(model: Any, line_length: int | None, positions: Any, show: Callable[[str], Any]) -> None:
    """Show the lines of the table: layers, output shapes, numbers of weights, and for a graph what is connected."""
    is_line = _is_line(model)
    width = line_length or (65 if is_line else 98)
    parts = positions or ([0.45, 0.85, 1.0] if is_line else [0.33, 0.55, 0.67, 1.0])
    ends = [int(width * part) for part in parts] if parts[-1] <= 1 else list(parts)
    heads = ["Layer (type)", "Output Shape", "Param #", *([] if is_line else ["Connected to"])]
    show(f'Model: "{model.name}"')
    show("_" * width)
    show(_row(heads, ends))
    show("=" * width)
    for number, layer in enumerate(model.layers):
        for fields in _rows(model, layer, is_line):
            show(_row(fields, ends))
        show(("=" if number == len(model.layers) - 1 else "_") * width)
    trained, other = _elements(model.trainable_weights), _elements(model.non_trainable_weights)
    show(f"Total params: {trained + other:,}")
    show(f"Trainable params: {trained:,}")
    show(f"Non-trainable params: {other:,}")
    show("_" * width)


def _is_line(model: Any) -> bool:
    """Return whether each layer has one input, the layer before."""
    if not model._is_graph_network:
        return True
    depths = list(model._depth.values())
    return len(set(depths)) == len(depths) and all(
        len(list(node.parents())) < 2 for node in model._nodes)


def _row(fields: list[str], ends: list[int]) -> str:
    line = ""
    for number, (field, end) in enumerate(zip(fields, ends, strict=True)):
        line = (line + (" " if number else "") + field)[:end].ljust(end)
    return line


def _rows(model: Any, layer: Any, is_line: bool) -> list[list[str]]:
    try:
        shape = str(layer.output_shape)
    except (AttributeError, RuntimeError):
        shape = "multiple"
    count = f"{layer.count_params()}" if layer.built else "0 (unused)"
    rows = [[f"{layer.name} ({type(layer).__name__})", shape, count]]
    if is_line:
        return rows
    places = [f"{found.layer.name}[{found.node_index}][{found.tensor_index}]"
              for node in layer._inbound_nodes if node in model._depth for _, found in node.parents()]
    return [[*rows[0], places[0] if places else ""], *([["", "", "", place] for place in places[1:]])]


def _elements(weights: list[Any]) -> int:
    return sum(int(np.prod(weight.shape.as_list())) for weight in weights)
