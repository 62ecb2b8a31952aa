"""Colours of a drawing that say something else than what nodes are: who made them, where they run, what they cost."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from tfnb.core.stale import why_stale
from tfnb.graph.closure import closure
from tfnb.notebook.drawing.scene import Scene, SceneNode
from tfnb.notebook.drawing.svg import short
from tfnb.notebook.frontend import shell
from tfnb.notebook.graph.costs import Cost
from tfnb.notebook.graph.read import OpInfo, links
from tfnb.notebook.graph.svg import MIXED, STEPS
from tfnb.notebook.graph.tree import Node, in_gradients

WORDS = {"structure": "what it is", "cell": "cell", "device": "device", "gradient": "gradient", "stale": "stale",
         "change": "last run", "time": "time", "memory": "memory"}
COSTS = ("time", "memory")
MOST = 7                # categories with a colour of their own
LOUD = {"changed": "c1s", "new": "c2s", "as before": "c6", "stale": "c1s", "out of date": "c2s",
        "up to date": "c6"}     # loudest first


def paint(scene: Scene, nodes: Mapping[str, Node], how: str, costs: Mapping[str, Cost]) -> Scene:
    """The scene coloured by `how`, one of WORDS, with a legend. costs: op name -> what it costs."""
    if how == "structure":
        return scene
    if how in COSTS:
        return _scaled(scene, nodes, how, costs)
    kinds = {node.key: _kinds(nodes[node.key], _SAYS[how]) for node in scene.nodes if node.key in nodes}
    told = {kind for found in kinds.values() for kind in found}
    order = [kind for kind in LOUD if kind in told] if how in ("change", "stale") else sorted(told, key=_natural)
    places = {kind: LOUD[kind] if how in ("change", "stale") else f"c{i}" for i, kind in enumerate(order[:MOST])}

    def painted(node: SceneNode) -> SceneNode:
        found = kinds.get(node.key, [])
        found = sorted(found, key=order.index) if how in ("change", "stale") else found
        place = places.get(found[0], "cx") if found else "c-"
        return replace(node, paint=place + MIXED if len(found) > 1 and place != "cx" else place)

    made = tuple(map(painted, scene.nodes))
    used = {node.paint for node in made}
    legend = [(place, kind) for kind, place in places.items()]
    legend += [("cx", "others")] if "cx" in used else []
    legend += [("c-" + MIXED, "more than one")] if any(paint.endswith(MIXED) for paint in used) else []
    legend += [("c-", "not run again" if how == "change" else "none")] if "c-" in used else []
    return replace(scene, nodes=made, legend=tuple(legend))


def _natural(kind: str) -> tuple[int, str]:
    """Cells by their number."""
    digits = "".join(c for c in kind if c.isdigit())
    return int(digits) if digits else 0, kind


def _kinds(node: Node, says: Callable[[OpInfo], str]) -> list[str]:
    """Return what the ops of a node say, in the order in which they were made: what an optimizer adds comes last."""
    return [*dict.fromkeys(filter(None, map(says, node.ops())))]


def _cell(info: OpInfo) -> str:
    return shell.place_of(info.origin)


def _device(info: OpInfo) -> str:
    return str(getattr(info.origin, "device", "") or "")


def _gradient(info: OpInfo) -> str:
    op = info.origin
    if getattr(op, "_original_op", None) is not None or in_gradients(info.name):
        return "computes a gradient"
    tensors = getattr(op, "outputs", ())
    through = any(getattr(c, "_original_op", None) is not None for t in tensors for c in t.consumers())
    return "a gradient reads it" if through else ""


def _stale(info: OpInfo) -> str:
    op = info.origin
    if not hasattr(op, "_dead"):
        return ""
    marked = shell.cells is not None and op.owner in shell.cells.marks
    return "stale" if why_stale(op) else "out of date" if marked else "up to date"


def _change(info: OpInfo) -> str:
    """Return what the last run of its cell did to the node."""
    found = shell.last_run(info.origin) if hasattr(info.origin, "owner") else None
    return found[0] if found is not None else ""


_SAYS: dict[str, Callable[[OpInfo], str]] = {"cell": _cell, "device": _device, "gradient": _gradient, "stale": _stale,
                                           "change": _change}


def _scaled(scene: Scene, nodes: Mapping[str, Node], how: str, costs: Mapping[str, Cost]) -> Scene:
    """Stronger where more of the time or memory goes, which the second line says."""
    def amount(info: OpInfo) -> float:
        cost = costs.get(info.name, Cost())
        return cost.seconds if how == "time" else float(cost.nbytes)

    sums = {node.key: sum(map(amount, nodes[node.key].ops())) for node in scene.nodes if node.key in nodes}
    total, most = sum(sums.values()) or 1.0, max(sums.values(), default=0.0) or 1.0

    def painted(node: SceneNode) -> SceneNode:
        value = sums.get(node.key, 0.0)
        if not value:
            return replace(node, paint="h0")
        step = min(STEPS - 1, 1 + int((value / most) ** 0.5 * (STEPS - 1.001)))
        return replace(node, paint=f"h{step}", sub=f"{amount_text(how, value)} {value / total:.0%}")

    steps = range(1, STEPS)
    legend = (("h0", "0"), *((f"h{i}", f"to {amount_text(how, most * (i / (STEPS - 1)) ** 2)}") for i in steps))
    return replace(scene, nodes=tuple(map(painted, scene.nodes)), legend=legend)


def amount_text(how: str, value: float) -> str:
    """Seconds or bytes in a few letters: "12 µs", "3.1 MB"."""
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if how == "time" else \
        (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))
    unit, size = next(((unit, size) for unit, size in units if value >= 0.9995 * size), units[-1])
    return f"{short(value / size, 3)} {unit}"


def progressed(scene: Scene, nodes: Mapping[str, Node], calls: Iterable[str], ran: Collection[str], at: str) -> Scene:
    """The scene of a run that has stopped. calls: the ops of the run; ran: those that have run; at: the next one."""
    known = set(calls)

    def marked(node: SceneNode) -> SceneNode:
        inside = [info.name for info in nodes[node.key].ops()] if node.key in nodes else []
        mine = [name for name in inside if name in known]
        done = sum(name in ran for name in mine)
        mark = "c-" if not done else "c2" if done == len(mine) else "c2" + MIXED
        return replace(node, paint=mark if mine else "", lit=at in inside)

    words = (("c2", "has run"), ("c2" + MIXED, "in part"), ("c-", "not yet"))
    return replace(scene, nodes=tuple(map(marked, scene.nodes)), legend=words)


def traced(scene: Scene, nodes: Mapping[str, Node], infos: Mapping[str, OpInfo], name: str, direction: str) -> Scene:
    """The scene with all pale that no value of the node `name` (a key) comes from ("inputs") or goes to ("outputs")."""
    lit = reach(infos, {info.name for info in nodes[name].ops()}, direction)
    nodes_lit = {node.key for node in scene.nodes if node.key not in nodes
                 or any(info.name in lit for info in nodes[node.key].ops())}
    return replace(scene, nodes=tuple(replace(n, off=n.key not in nodes_lit) for n in scene.nodes),
                   edges=tuple(replace(e, off=not {e.source, e.target} <= nodes_lit) for e in scene.edges))


def reach(infos: Mapping[str, OpInfo], start: set[str], direction: str) -> set[str]:
    """The ops that `start` depends on ("inputs") or that depend on it ("outputs"), with itself."""
    nexts = links(infos.values(), direction)
    return {*closure(start, lambda name: nexts.get(name, ()))}


def options_of(costs: Mapping[str, Any]) -> list[list[str]]:
    """[value, word] of the ways to colour that make sense here."""
    return [[how, word] for how, word in WORDS.items() if how not in COSTS or costs]
