"""The message TrackableObjectGraph of checkpoints (tensorflow/core/protobuf/trackable_object_graph.proto)."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tfnb.core.errors import DataLossError
from tfnb.proto.varints import read_varint, varint

ENTRY = "_CHECKPOINTABLE_OBJECT_GRAPH"             # official: the name of the checkpoint's entry


@dataclass
class Node:
    """An object. children: node numbers by local names; values: (attribute, name of the variable, key of the entry);
    slots: (number of the variable, name of the slot, number of the slot)."""

    children: dict[str, int] = field(default_factory=dict)
    values: list[tuple[str, str, str]] = field(default_factory=list)
    slots: list[tuple[int, str, int]] = field(default_factory=list)


def encode(nodes: list[Node]) -> bytes:
    """Return the message of objects; the first is the root."""
    return b"".join(_field(1, _encoded(node)) for node in nodes)


def _encoded(node: Node) -> bytes:
    parts = [_field(1, _number(1, child) + _field(2, name.encode())) for name, child in node.children.items()]
    parts += [_field(2, b"".join(_field(i, text.encode()) for i, text in enumerate(value, 1))) for value in node.values]
    parts += [_field(3, _number(1, variable) + _field(2, name.encode()) + _number(3, slot))
              for variable, name, slot in node.slots]
    return b"".join(parts)


def decode(data: bytes) -> list[Node]:
    """Return the objects of a message. Raises DataLossError for damaged ones."""
    try:
        nodes = [_decoded(part) for number, part in _fields(data) if number == 1]
        numbers = {n for node in nodes for n in node.children.values()} | {
            n for node in nodes for variable, _, slot in node.slots for n in (variable, slot)}
        if numbers and max(numbers) >= len(nodes):
            raise ValueError(f"object {max(numbers)} of {len(nodes)}")
    except (ValueError, IndexError, AttributeError, TypeError) as error:
        raise DataLossError(None, None, f"the checkpoint's object graph ({ENTRY}) is damaged: {error}") from error
    return nodes


def _decoded(data: bytes) -> Node:
    node = Node()
    for number, part in _fields(data):
        if number > 3:                             # a registered saver, and whether there are values
            continue
        found = dict(_fields(part))
        if number == 1:
            node.children[found.get(2, b"").decode()] = found.get(1, 0)
        elif number == 2:
            node.values.append((found.get(1, b"").decode(), found.get(2, b"").decode(), found.get(3, b"").decode()))
        else:
            node.slots.append((found.get(1, 0), found.get(2, b"").decode(), found.get(3, 0)))
    return node


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if tag & 7 == 2:
            if at + value > len(data):
                raise ValueError("it ends within a field")
            yield tag >> 3, data[at:at + value]
            at += value
        elif tag & 7 == 0:
            yield tag >> 3, value
        else:
            raise ValueError(f"unknown type of field {tag & 7}")


def _field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)
