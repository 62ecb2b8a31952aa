"""Order of the layers of a functional model, from its inputs and outputs."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfnb.core import nest
from tfnb.keras.engine.node import Node, history


@dataclass
class Topology:
    """nodes: the calls of layers, in an order in which they can be made. layers: those furthest from the outputs first.

    depth: of each node, the number of calls on the longest way to an output.
    """

    nodes: list[Node]
    layers: list[Any]
    depth: dict[Node, int]


def topology(inputs: Any, outputs: Any) -> Topology:
    """Return the nodes and layers between inputs and outputs.

    Raises ValueError for a tensor that depends on other inputs, for a cycle, and for layers of one name.
    """
    order, numbers = _walked(inputs, outputs)
    depth, deepest = _depths(order)
    for tensor in nest.flatten(inputs):                     # an input that no output needs
        layer = tensor._keras_history.layer
        if layer not in deepest:
            deepest[layer], numbers[layer] = 0, -1
            depth[layer._inbound_nodes[0]] = 0
            order.append(layer._inbound_nodes[0])
    layers = sorted(deepest, key=lambda layer: (-deepest[layer], numbers[layer]))
    nodes = sorted(order, key=lambda node: -depth[node])
    _check_names(layers)
    _check_connected(inputs, nodes)
    return Topology(nodes, layers, depth)


def _walked(inputs: Any, outputs: Any) -> tuple[list[Node], dict[Any, int]]:
    """(nodes, each after those that it needs; layers by their number when they are first met)."""
    given = {id(tensor) for tensor in nest.flatten(inputs)}
    order: dict[Node, None] = {}
    numbers: dict[Any, int] = {}
    open_nodes: set[Node] = set()

    def walk(tensor: Any) -> None:
        waiting: list[tuple[Node, bool]] = [(_node_of(tensor), False)]
        while waiting:
            node, is_done = waiting.pop()
            if is_done:
                open_nodes.discard(node)
                order.setdefault(node)
            elif node not in order:
                if node in open_nodes:
                    raise ValueError(f"The layers form a cycle through layer {node.layer.name!r}.")
                numbers.setdefault(node.layer, len(numbers))
                open_nodes.add(node)
                waiting.append((node, True))
                parents = [] if all(id(each) in given for each in nest.flatten(node.output_tensors)) and \
                    not nest.flatten(node.input_tensors) else [found for _, found in node.parents()]
                waiting += [(found.layer._inbound_nodes[found.node_index], False) for found in reversed(parents)
                            if found.layer._inbound_nodes[found.node_index] not in order]
    for output in nest.flatten(outputs):
        walk(output)
    return list(order), numbers


def _node_of(tensor: Any) -> Node:
    found = history(tensor)
    assert found is not None
    node: Node = found.layer._inbound_nodes[found.node_index]
    return node


def _depths(order: list[Node]) -> tuple[dict[Node, int], dict[Any, int]]:
    """Depth of nodes and of layers, whose nodes all get the largest."""
    depth: dict[Node, int] = {}
    deepest: dict[Any, int] = {}
    for node in reversed(order):
        depth[node] = deepest[node.layer] = max(depth.setdefault(node, 0), deepest.get(node.layer, 0))
        for _, found in node.parents():
            before = found.layer._inbound_nodes[found.node_index]
            depth[before] = max(depth[node] + 1, depth.get(before, 0))
    return depth, deepest


def _check_names(layers: list[Any]) -> None:
    names = [layer.name for layer in layers]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"The name {name!r} is used {names.count(name)} times in the model. All layer names "
                             "should be unique.")


def _check_connected(inputs: Any, nodes: list[Node]) -> None:
    known = {id(tensor) for tensor in nest.flatten(inputs)}
    done: list[str] = []
    for node in nodes:
        parents = [tensor for tensor, _ in node.parents()]
        for tensor in [*parents, *([] if parents else nest.flatten(node.output_tensors))]:
            if id(tensor) not in known:
                raise ValueError(f"Graph disconnected: cannot obtain value for tensor {tensor} at layer "
                                 f"{node.layer.name!r}: it does not depend on the inputs of the model. These layers "
                                 f"were accessed before: {done}")
        known |= {id(tensor) for tensor in nest.flatten(node.output_tensors)}
        done.append(node.layer.name)
