"""The second line of a layer's box, and the scopes of the layer view that are open at first."""
from __future__ import annotations

import math

from tfnb.notebook.graph.layers import ANCHORS
from tfnb.notebook.graph.read import OpInfo
from tfnb.notebook.graph.tree import Node

MOST_OPEN = 24          # nodes of the drawing that one looks at first
MOST_OF_MODEL = 0.8     # of the variables: a scope around as many is opened at first
MOST_WEIGHED = 2000     # variables whose elements are counted


def describe(root: Node) -> None:
    """Say of each group of a settled hierarchy what layer it is, and how many weights it has."""
    for group in root.groups():
        group.loop = group.loop and not group.part
        if group.form == "scope" and not group.part:
            ops = list(group.ops())
            inner = [node for node in group.groups() if node.form == "variable"]
            weights = sum(map(_size, inner)) if len(inner) <= MOST_WEIGHED else 0
            words = [f"{weights:,} weights"] if weights else [f"{group.count} ops"]
            anchors = [info for info in ops if info.type in ANCHORS]
            if len(anchors) == 1 and not group.loop:
                words.insert(0, _layer_words(anchors[0], inner))
            group.note = " · ".join(words)


def _layer_words(anchor: OpInfo, variables: list[Node]) -> str:
    """The kind of a layer, for convolutions with the size of the filter."""
    shapes = [node.info.shapes[0].split("×") for node in variables if node.info is not None and node.info.shapes]
    kernels = [shape for shape in shapes if len(shape) >= 4]
    size = f" {'×'.join(kernels[0][:-2])}" if "conv" in ANCHORS[anchor.type] and kernels else ""
    return ANCHORS[anchor.type] + size


def _size(variable: Node) -> int:
    """The number of elements of a variable; 0 where its shape is not known."""
    label = variable.info.shapes[0] if variable.info is not None and variable.info.shapes else "?"
    sizes = [] if label == "scalar" else label.split("×")
    return math.prod(map(int, sizes)) if all(size.isdigit() for size in sizes) else 0


def to_open(root: Node, most: int = MOST_OPEN) -> set[str]:
    """Keys of the scopes to open at first: those around most of the model, while the drawing stays small."""
    found: set[str] = set()
    shown = [child for child in root.children.values() if not child.part]
    while True:
        held = {node.key: _variables(node) for node in shown}
        scopes = [node for node in shown if node.form == "scope" and not node.loop and _layers_in(node) > 1]
        biggest = max(scopes, key=lambda node: held[node.key], default=None)
        if biggest is None or held[biggest.key] < MOST_OF_MODEL * sum(held.values()) \
                or len(shown) + len(biggest.children) > most:
            return found
        found.add(biggest.key)
        shown = [node for node in shown if node is not biggest] + list(biggest.children.values())


def _variables(node: Node) -> int:
    return sum(inner.form == "variable" for inner in node.groups())


def _layers_in(scope: Node) -> int:
    """Count the groups with variables in a scope."""
    return sum(child.form == "scope" and _variables(child) > 0 for child in scope.children.values())
