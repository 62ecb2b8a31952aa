"""Auxiliary nodes: busy ones, extracted so that the rest of the drawing can be read.

A loop, a scope with variables and the largest scope are what the drawing is about: they stay.
A busy node (the gradients, an optimizer, a step counter read by everything) would drag lines across the whole drawing.
It is drawn in a column of its own with a number, and where an edge to it was, the other end carries that number. The
thresholds are those of TensorBoard's graph where it has them.
"""
from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tfnb.notebook.drawing.scene import SceneEdge, SceneNode

CLOSED_ROLES = frozenset({"gradient", "optimizer", "save"})     # opened only when asked for by name
ASIDE_ROLES = CLOSED_ROLES | {"control", "summary"}
ASIDE_NODES = 7         # nodes of these roles are set aside in drawings of this many nodes, ...
ASIDE_DEGREE = 3        # ... if they touch this many others (2 do for what only orders others)
BUSY_NODES = 15         # any node may be set aside from this many nodes on, ...
BUSY_DEGREE = 5         # ... if it takes from or feeds this many others, and touches more than is usual here
FEW_GONE = 5            # an open group that more nodes than this would leave, and most of them, is set aside whole
BUSY_CONTROL = 4        # a node with more control edges than this is always set aside

Links = dict[str, set[str]]


def extract_auxiliary(nodes: Sequence[SceneNode], groups: Sequence[SceneNode], edges: Sequence[SceneEdge],
              wish: Mapping[str, bool]) -> tuple[list[SceneNode], list[SceneNode]]:
    """Give each node and open group its panel, number and references. `wish` (by key) overrules the thresholds.

    An open group of a busy role is a panel with all that stands in it, and so is one that most nodes would leave.
    """
    emptied: set[str] = set()
    while True:
        placed, around = _place(nodes, groups, edges, wish, emptied)
        left = _left(placed, around)
        if not left:
            return placed, around
        emptied |= left


def _left(nodes: Iterable[SceneNode], groups: Sequence[SceneNode]) -> set[str]:
    """Keys of the outermost groups of the main drawing that no node is in any more, or few of many."""
    parents = {group.key: group.parent for group in groups}
    stay, gone = Counter[str](), Counter[str]()
    for node in nodes:
        key = node.parent
        while key in parents:
            stay[key] += not node.panel
            gone[key] += node.panel == node.key
            key = parents[key]
    left = {group.key for group in groups if not group.panel
            and (not stay[group.key] or gone[group.key] > max(FEW_GONE, stay[group.key]))}
    return {key for key in left if not left.intersection(_around(key, parents))}


def _around(key: str, parents: Mapping[str, str]) -> Iterable[str]:
    while key in parents:
        key = parents[key]
        yield key


def _place(nodes: Sequence[SceneNode], groups: Sequence[SceneNode], edges: Sequence[SceneEdge],
           wish: Mapping[str, bool], emptied: set[str]) -> tuple[list[SceneNode], list[SceneNode]]:
    around = _panel_groups(groups, wish, emptied)
    panel = {node.key: around.get(node.parent, "") for node in nodes}
    unit = {node.key: panel[node.key] or node.key for node in nodes}
    chosen, busy = _choose([node for node in nodes if not panel[node.key]], _between(edges, unit), wish,
                           set(panel.values()) - {""})
    order = dict.fromkeys(unit.values())
    numbers = {key: i for i, key in enumerate((key for key in order if key in busy), 1)}
    panel.update((key, key) for key in chosen if panel.get(key) == "")      # not out of another panel
    reads, feeds = _references(edges, panel, numbers)
    placed = [replace(node, panel=panel[node.key], label=_far_label(node, panel[node.key]),
                      number=numbers.get(node.key, 0), refs_in=tuple(sorted(reads[node.key])),
                      refs_out=tuple(sorted(feeds[node.key])))
              for node in nodes]
    return placed, [replace(group, panel=around.get(group.key, ""), number=numbers.get(group.key, 0))
                    for group in groups]


def _far_label(node: SceneNode, panel: str) -> str:
    """A node that is taken out of its scope carries the scope in its label."""
    return "/".join(node.name.split("/")[-2:]) if panel == node.key and node.parent else node.label


def _panel_groups(groups: Iterable[SceneNode], wish: Mapping[str, bool], emptied: set[str]) -> dict[str, str]:
    """Key of an open group -> key of the outermost open group around it that is a panel."""
    found: dict[str, str] = {}
    for group in groups:                                    # outermost first
        if group.parent in found:
            found[group.key] = found[group.parent]
        elif group.key in emptied or wish.get(group.key, group.role in CLOSED_ROLES):
            found[group.key] = group.key
    return found


def _between(edges: Iterable[SceneEdge], unit: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    return [(unit[e.source], unit[e.target], e.control) for e in edges if unit[e.source] != unit[e.target]]


def _choose(nodes: Sequence[SceneNode], edges: Sequence[tuple[str, str, bool]], wish: Mapping[str, bool],
            panels: set[str]) -> tuple[set[str], set[str]]:
    """Keys of the nodes to set aside, and of the busy ones among them (with the panels), which get a number."""
    asked = panels | {key for key, value in wish.items() if value}
    by_role = asked | {node.key for node in _by_role(nodes, edges) if wish.get(node.key, True)}
    busy = by_role | {node.key for node in _by_degree(nodes, edges, by_role) if wish.get(node.key, True)}
    linked = {key for s, t, _ in edges if s not in busy and t not in busy for key in (s, t)}
    alone = {node.key for node in nodes if node.key not in linked and wish.get(node.key, True)
             and (busy or node.role == "control")}
    return (busy | alone if linked else busy), busy


def _by_role(nodes: Sequence[SceneNode], edges: Sequence[tuple[str, str, bool]]) -> list[SceneNode]:
    """Gradients, optimizers and the like that touch several nodes, and what only orders many nodes."""
    data, control = _neighbours(edges, False), _neighbours(edges, True)

    def is_busy(node: SceneNode) -> bool:
        touched = len(data[node.key] | control[node.key])
        enough = 2 if node.role == "control" else ASIDE_DEGREE
        by_role = node.role in ASIDE_ROLES and len(nodes) >= ASIDE_NODES and touched >= enough
        return by_role or (node.role == "control" and len(control[node.key]) > BUSY_CONTROL)

    return [node for node in nodes if is_busy(node)]


def _by_degree(nodes: Sequence[SceneNode], edges: Sequence[tuple[str, str, bool]], gone: set[str]) -> list[SceneNode]:
    """Nodes with unusually many neighbours among those that are not `gone`."""
    left = [edge for edge in edges if edge[0] not in gone and edge[1] not in gone]
    data, control = _neighbours(left, False), _neighbours(left, True)
    feeds, reads = (Counter(edge[end] for edge in {(s, t) for s, t, is_control in left if not is_control})
                    for end in (0, 1))
    stay = [node for node in nodes if node.key not in gone]
    usual = _usual_degree([len(data[node.key]) for node in stay])
    largest = max((node for node in stay if node.form == "scope"), key=lambda node: node.count, default=None)

    def is_busy(key: str) -> bool:
        return max(feeds[key], reads[key]) >= BUSY_DEGREE and len(data[key]) >= usual

    return [node for node in stay if node is not largest and not (node.loop or node.weights)
            and (len(stay) >= BUSY_NODES and is_busy(node.key) or len(control[node.key]) > BUSY_CONTROL)]


def _neighbours(edges: Iterable[tuple[str, str, bool]], control: bool) -> Links:
    found: Links = defaultdict(set)
    for source, target, is_control in edges:
        if is_control == control:
            found[source].add(target)
            found[target].add(source)
    return found


def _usual_degree(degrees: list[int]) -> float:
    """The upper fence of a box plot: what lies above is an outlier."""
    if not degrees:
        return 0.0
    low, high = np.percentile(degrees, [25, 75])
    return float(high + 1.5 * (high - low))


def _references(edges: Iterable[SceneEdge], panel: Mapping[str, str],
                numbers: Mapping[str, int]) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """For each node, the numbers of the panels it reads from and of those it feeds."""
    reads: dict[str, set[int]] = defaultdict(set)
    feeds: dict[str, set[int]] = defaultdict(set)
    for edge in edges:
        here, there = panel[edge.source], panel[edge.target]
        if here == there:
            continue
        if there in numbers or (not there and here != edge.source):
            feeds[edge.source].add(numbers.get(there, 0))
        if here in numbers or (not here and there != edge.target):
            reads[edge.target].add(numbers.get(here, 0))
    return reads, feeds
