"""The Python names that are written on nodes: of an op what its outputs are bound to, of a box what leaves it."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from tfnb.notebook.graph.auxiliary import ASIDE_ROLES, CLOSED_ROLES
from tfnb.notebook.graph.read import OpInfo, op_of
from tfnb.notebook.graph.tree import VARIABLE_TYPES, Node

MOST = 2                # names on a node


def names_on(visible: Iterable[Node], infos: Iterable[OpInfo], names: Mapping[str, Sequence[str]],
             seen_at: Mapping[str, str]) -> dict[str, str]:
    """Return key -> Python names, for the visible nodes that make what is bound.

    A box has the names of what the model outside reads of it, or of what nothing reads; its own label is not repeated.
    names: op -> its Python names; seen_at: op -> key of the visible node that it is in.
    """
    nodes = {node.key: node for node in visible}
    inside: dict[str, list[str]] = defaultdict(list)
    for info in infos if names else ():
        if info.name in names and seen_at.get(info.name) in nodes:
            inside[seen_at[info.name]].append(info.name)
    readers = _readers({op for key, ops in inside.items() if nodes[key].children for op in ops}, infos)
    found = {}
    for key, ops in inside.items():
        node = nodes[key]
        if node.form in ("scope", "series"):
            ops = _results(node, ops, readers, seen_at, nodes)
            said = [names[op][0] for op in ops]
        else:
            said = [name for op in ops if node.info is not None and op == node.info.name for name in names[op][:MOST]]
        label = node.label.strip("()").rpartition("/")[2]
        said = [name for name in said if name != label]
        if said:
            found[key] = ", ".join(said[:MOST]) + ", …" * (len(said) > MOST)
    return found


def _readers(ops: set[str], infos: Iterable[OpInfo]) -> dict[str, list[str]]:
    """Op -> those that take its values, for some ops."""
    found: dict[str, list[str]] = defaultdict(list)
    for info in infos if ops else ():
        for source in map(op_of, info.inputs):
            if source in ops:
                found[source].append(info.name)
    return found


def _results(box: Node, ops: Sequence[str], readers: Mapping[str, Sequence[str]], seen_at: Mapping[str, str],
             nodes: Mapping[str, Node]) -> list[str]:
    """Return those of the ops in a box that the model outside reads; if there is none, those that a summary or a saver
    reads, or nothing."""
    kinds = {info.name: info.type for info in box.ops()}
    made = [op for op in ops if kinds[op] not in VARIABLE_TYPES]

    outside = {op: {seen_at[reader] for reader in readers.get(op, ())} - {box.key} for op in made}

    def read_by_others(op: str, roles: frozenset[str]) -> bool:
        return any(key not in nodes or nodes[key].role not in roles for key in outside[op])

    model = [op for op in made if read_by_others(op, ASIDE_ROLES)]
    return model or [op for op in made if read_by_others(op, CLOSED_ROLES) or not readers.get(op)]
