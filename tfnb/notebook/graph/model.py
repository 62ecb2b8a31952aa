"""Visible part of a graph: the hierarchy cut at the expanded scopes.

`Model` holds the hierarchy of one graph; `Model.scene(expanded, aside)` gives the frozen record of nodes and edges that
is laid out and drawn. At most LIMIT nodes are visible: what does not fit is behind a node that says how many are left.
"""
from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

import numpy as np

from tfnb.graph.graph import Graph
from tfnb.notebook.drawing.scene import Scene, SceneEdge, SceneNode
from tfnb.notebook.frontend.python_names import python_names
from tfnb.notebook.graph.auxiliary import CLOSED_ROLES, extract_auxiliary
from tfnb.notebook.graph.bound_names import names_on
from tfnb.notebook.graph.layer_notes import describe, to_open
from tfnb.notebook.graph.layers import arrange
from tfnb.notebook.graph.read import OpInfo, UnknownTarget, near, op_of, read
from tfnb.notebook.graph.tree import Node, build_tree

LIMIT = 200             # most visible nodes
BESIDE = frozenset({"gradient", "optimizer", "save", "summary", "control"})    # roles beside the layers of a model


class Model:
    """The hierarchy of the ops of `target`; scenes are cut from it.

    level: "layers" rearranges it so that a model is a chain of layers (notebook/graph/layers.py), "ops" does not.
    up, down: only that many steps of what the target takes, and of what takes it. series: repeated blocks are folded.
    """

    def __init__(self, target: Any = None, values: Mapping[str, Any] | None = None, series: bool = True,
                 up: int | None = None, down: int | None = None, level: str = "ops") -> None:
        self.values = dict(values or {})            # tensor name -> what was seen of it (notebook/debug/edge_values.py)
        whole = up is None and down is None
        self.infos: tuple[OpInfo, ...] = read(target) if whole else near(target, up or 0, down or 0)
        self.by_name: dict[str, OpInfo] = {info.name: info for info in self.infos}
        self.nodes: dict[str, Node] = {}
        self.names: dict[str, list[str]] = {}       # op -> the Python names of what it makes
        self.fold(series, level)

    def fold(self, series: bool, level: str) -> None:
        """Build the hierarchy, of layers or ops, with repeated blocks folded or not."""
        self.series, self.level, self.moved = series, level, dict[str, str]()
        self.root = build_tree(self.infos, series, self._arrange if level == "layers" else None)
        if level == "layers":
            describe(self.root)
        self.weights = {info.name for node in self.root.groups() if node.form == "variable" for info in node.ops()}
        self.nodes.clear()
        self._index(self.root)
        parts = (node for node in self.root.children.values() if node.part or node.role in BESIDE)
        self.beside = {node.key: True for node in parts} if level == "layers" else {}

    def _arrange(self, root: Node, infos: tuple[OpInfo, ...], consumers: Mapping[str, set[str]]) -> None:
        self.moved = arrange(root, infos, consumers)

    def _index(self, node: Node) -> None:
        self.nodes[node.key] = node
        for child in node.children.values():
            self._index(child)

    def look_up_names(self, namespace: Mapping[str, Any] | None = None) -> None:
        """Note the Python names that a notebook (or a namespace) binds to tensors and ops now."""
        graph = getattr(self.infos[-1].origin, "graph", None) if self.infos else None
        self.names = defaultdict(list)
        if isinstance(graph, Graph):
            for key, names in python_names(graph, namespace).items():
                self.names[op_of(key)] += names
        for info in self.infos:
            if info.names:
                self.names[info.name] = [*info.names]

    def node(self, name: str) -> Node:
        """The node called `name`: a group before the op of the same name, unless that op alone is meant by its key;
        else the op that a Python variable of that name is bound to.

        Raises UnknownTarget with the nearest names.
        """
        scope = name.rstrip("/") + "/"
        for key in (scope, self.moved.get(scope, ""), name, op_of(name)):
            if key in self.nodes and key:
                return self.nodes[key]
        for op, bound in self.names.items():
            if name in bound and op in self.nodes:
                return self.nodes[op]
        names = [key.rstrip("/") for key in self.nodes]
        close = get_close_matches(name, names, n=3)
        hint = f"; nearest: {', '.join(dict.fromkeys(close))}" if close else ""
        raise UnknownTarget(f"nothing in this drawing is called {name!r}{hint}")

    def by_key(self, key: str) -> Node:
        """The node of exactly this key (what drawings carry as data-name). Raises UnknownTarget."""
        if key not in self.nodes or not key:
            raise UnknownTarget(f"nothing in this drawing has the key {key!r}")
        return self.nodes[key]

    def at_first(self, depth: int) -> set[str]:
        """Keys of the groups that are open at first: `depth` levels, of layers also the scopes around most of them."""
        return self.to_depth(depth) | (to_open(self.root) if depth == 1 and self.level == "layers" else set())

    def to_depth(self, depth: int) -> set[str]:
        """Keys of the groups to open so that `depth` levels show; gradients, optimizers and variables stay closed."""
        found: set[str] = set()
        level = [self.root]
        for _ in range(depth - 1):
            level = [child for node in level for child in node.children.values()
                     if child.form == "scope" and child.role not in CLOSED_ROLES]
            found |= {node.key for node in level}
        return found

    def path(self, node: Node) -> set[str]:
        """Keys of all groups around a node: opening them shows it."""
        found, around = set(), node.parent
        while around is not None and around.key:
            found.add(around.key)
            around = around.parent
        return found

    def scene(self, expanded: Iterable[str] = (), aside: Mapping[str, bool] | None = MappingProxyType({}),
              limit: int = LIMIT, keep: str = "") -> Scene:
        """Cut the hierarchy at the `expanded` groups (keys).

        `aside` overrules what is set aside, by key; None: nothing is, all in one drawing.

        keep: the key of a node that is visible, if all groups around it are open, however many stand before it.
        """
        cut = _Cut(self.root, set(expanded), limit, self.path(self.nodes[keep]) | {keep} if keep else set())
        edges = edges_between(self.infos, cut.seen_at, self.values, self.weights)
        bound = names_on(cut.visible, self.infos, self.names, cut.seen_at)
        nodes = [*(replace(scene_node(node), bound=bound.get(node.key, "")) for node in cut.visible),
                 *(rest_node(key, left) for key, left in cut.rest.items())]
        groups = [scene_node(group) for group in cut.opened]
        if aside is not None:
            nodes, groups = extract_auxiliary(nodes, groups, edges, aside)
        panels = {node.key: node.panel for node in nodes}
        inner = tuple(edge for edge in edges if panels[edge.source] == panels[edge.target])
        hidden = sum(node.count for node in nodes if node.form == "rest")
        return Scene(tuple(nodes), tuple(groups), inner, len(self.infos), hidden)


class _Cut:
    """Choose the visible nodes: groups that do not fit share the room; each shows its first children, and those that
    are open or to be kept."""

    def __init__(self, root: Node, expanded: set[str], limit: int, keep: set[str]) -> None:
        self.opened: list[Node] = []
        self.rest: dict[str, list[Node]] = {}
        self.visible: list[Node] = []
        self.seen_at: dict[str, str] = {}
        groups = [root]
        for group in groups:                                # outermost first; it grows while it is read
            groups += [child for child in group.children.values() if child.key in expanded and child.expandable]
        del groups[max(1, limit // 2):]                     # each shows one child at least, and how many are left
        self.groups = {group.key for group in groups}
        self.musts = {group.key: (self.groups | keep) & group.children.keys() for group in groups}
        self._walk(root, self._share(groups, limit))

    def _share(self, groups: list[Node], limit: int) -> int:
        """Return the least number of children of each group to show, so that no more than `limit` nodes are visible."""
        def total(share: int) -> int:
            shown = (max(min(len(group.children), share), len(self.musts[group.key])) for group in groups)
            return sum(shown) - len(groups) + 1

        return bisect_right(range(1, limit + 1), limit, key=total) or 1

    def _walk(self, group: Node, share: int) -> None:
        musts, rest = self.musts[group.key], list[Node]()
        room = share - len(musts)
        for child in group.children.values():
            if child.key not in musts and room <= 0:
                rest.append(child)
                continue
            room -= child.key not in musts
            if child.key in self.groups:
                self.opened.append(child)
                self._walk(child, share)
            else:
                self.visible.append(child)
                self.seen_at.update((info.name, child.key) for info in child.ops())
        if rest:
            key = f"{group.key}..."
            self.rest[key] = rest
            self.seen_at.update((info.name, key) for node in rest for info in node.ops())


def edges_between(infos: Iterable[OpInfo], seen_at: Mapping[str, str], values: Mapping[str, Any],
           weights: Container[str]) -> list[SceneEdge]:
    """Edges between visible nodes, many tensors in one; a control edge only where no data flows."""
    data: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    control: dict[tuple[str, str], set[str]] = defaultdict(set)
    by_name = {info.name: info for info in infos}
    for info in by_name.values():
        here = seen_at[info.name]
        for i, tensor in enumerate(info.inputs):
            source = by_name.get(op_of(tensor))
            if source is not None and seen_at[source.name] != here:
                label = info.parameters[i] if info.parameters else _output_label(source, tensor)
                told = data[seen_at[source.name], here]
                told[tensor] = f"{told[tensor]}, {label}" if info.parameters and tensor in told else label
        for name in info.control:
            if name in by_name and seen_at[name] != here:
                control[seen_at[name], here].add(name)
    found = [_data_edge(s, t, tensors, values, len(tensors) > 1 and all(op_of(name) in weights for name in tensors))
             for (s, t), tensors in data.items()]
    return found + [SceneEdge(s, t, "", len(names), True, "must run before") for (s, t), names in control.items()
                    if (s, t) not in data]


def _data_edge(source: str, target: str, tensors: Mapping[str, str], values: Mapping[str, Any],
               shared: bool) -> SceneEdge:
    """The edge of some tensors (name -> shape), with the pill of the one that matters most: what is bad, what is large.
    """
    seen = [(name, values[name].pill) for name in tensors if name in values and values[name].pill is not None]
    if not seen:
        label = f"{len(tensors)} weights" if shared else _edge_label(tensors)
        bad = any("✗" in label for label in tensors.values())
        return SceneEdge(source, target, "; ".join(tensors.values()) if bad else label, len(tensors), False,
                         _edge_tip(tensors), bad=bad)
    name, pill = max(seen, key=lambda pair: (pair[1].bad > 0, math.prod(pair[1].shape)))
    told = {name: values[name].pill.tip if name in dict(seen) else label for name, label in tensors.items()}
    many = f" of {len(tensors)}" if len(tensors) > 1 else ""
    return SceneEdge(source, target, pill.words + many, len(tensors), False, _edge_tip(told), pill, tensor=name)


def _output_label(info: OpInfo, tensor: str) -> str:
    index = int(tensor.rpartition(":")[2])
    return info.shapes[index] if index < len(info.shapes) else ""


def _edge_label(tensors: Mapping[str, str]) -> str:
    labels = set(tensors.values())
    only = labels.pop() if len(labels) == 1 else ""
    if len(tensors) == 1:
        return only
    return f"{len(tensors)} tensors"


def _edge_tip(tensors: Mapping[str, str], most: int = 6) -> str:
    lines = [f"{tensor}  {label}".rstrip() for tensor, label in list(tensors.items())[:most]]
    return "\n".join(lines + ([f"and {len(tensors) - most} more"] if len(tensors) > most else []))


def rest_node(key: str, left: list[Node]) -> SceneNode:
    """Stands for the children of a group that do not fit."""
    parent = key.removesuffix("...")
    return SceneNode(key, key, f"… {len(left)} more", "rest", "rest", "", parent, count=sum(n.count for n in left))


def scene_node(node: Node) -> SceneNode:
    parent = node.parent.key if node.parent is not None else ""
    return SceneNode(node.key, node.name, node.label, node.form, node.role, _sub(node), parent, node.expandable,
                     node.count, loop=node.loop, weights=node.weights)


def _sub(node: Node) -> str:
    """The second line of a node's label: what it is, where its name does not tell."""
    info = node.info
    if node.form == "variable" and info is not None:
        return info.shapes[0] if info.shapes else ""
    if node.note:
        return node.note
    if node.form in ("scope", "series") or info is None:
        return f"{node.count} ops"
    if info.type == "Const":
        return _constant(info.attrs.get("value"))
    if node.role == "input":
        return info.shapes[0] if info.shapes else ""
    short = node.label.strip("()").rpartition("/")[2].rstrip("_0123456789")
    return "" if short.lower() == info.type.lower() else info.type


def _constant(value: Any) -> str:
    """A constant in few letters: its numbers where they are few, else nothing."""
    if value is None or hasattr(value, "DESCRIPTOR"):
        return ""
    array = np.asarray(value)
    if array.size > 4 or array.dtype == object and array.ndim:
        return ""
    if array.ndim == 0:
        item = array.item()
        item = item.decode("utf-8", "replace") if isinstance(item, bytes) else item
        return f"{item:.4g}" if isinstance(item, float) else str(item)[:12]
    return np.array2string(array, precision=3, separator=" ", threshold=4).replace("\n", "")[:14]
