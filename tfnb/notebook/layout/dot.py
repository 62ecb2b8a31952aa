"""Layout by Graphviz: geometry only, text is never measured by it, so that fonts do not matter."""
from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.notebook.drawing.geometry import BOXES, Box, Geometry, Point, Route, Sheet, label_size, node_size, text_width
from tfnb.notebook.drawing.scene import SceneEdge, SceneNode

pygraphviz = lazy_module("pygraphviz")

RANKDIR = {"down": "TB", "up": "BT", "right": "LR"}
SECONDS = 20.0              # longest that a `dot` process may take
BESIDE = 8.0                # more than a label is wide: Graphviz puts its left end on the line, and fonts differ


class LayoutFailed(RuntimeError):
    """The engine is not there, or it gave no geometry."""


def by_process(sheet: Sheet) -> Geometry:
    """Lay out with the `dot` program on PATH. Raises LayoutFailed."""
    program = shutil.which("dot")
    if program is None:
        raise LayoutFailed("there is no `dot` program on PATH")
    try:
        done = subprocess.run([program, "-Tjson"], input=sized_dot(sheet).encode(), capture_output=True,
                              timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as problem:
        raise LayoutFailed(f"dot failed: {problem}") from problem
    return _read(sheet, done.stdout)


def by_pygraphviz(sheet: Sheet) -> Geometry:
    """Lay out inside this process with the pygraphviz wheel (2.0 or later). Raises LayoutFailed."""
    try:
        drawn = pygraphviz.AGraph(string=sized_dot(sheet)).draw(format="json", prog="dot")
    except Exception as problem:      # a missing system library shows as OSError, ImportError or RuntimeError
        raise LayoutFailed(f"pygraphviz failed: {problem}") from problem
    return _read(sheet, drawn)


def sized_dot(sheet: Sheet) -> str:
    """The DOT text for the engine: boxes of fixed size, no text."""
    number = {node.key: i for i, node in enumerate(sheet.nodes)}
    cluster = {group.key: i for i, group in enumerate(sheet.groups)}

    def node_line(node: SceneNode) -> str:
        w, h = node_size(node)
        shape = "ellipse" if node.form == "op" and node.role not in BOXES else "box"
        return f'n{number[node.key]} [width={w / 72:.3f}, height={h / 72:.3f}, shape={shape}];'

    def group_lines(group: SceneNode, inner: list[str]) -> list[str]:
        blank = _blank(text_width(group.label, 12) + 40, 18)
        return [f"subgraph cluster_{cluster[group.key]} {{ label={blank}; labeljust=l; margin=12;", *inner, "}"]

    def edge_line(edge: SceneEdge) -> str:
        label = f"label={_blank(label_size(edge)[0] + BESIDE, label_size(edge)[1])}" if edge.label else ""
        return f"n{number[edge.source]} -> n{number[edge.target]} [{label} weight={0 if edge.control else 2}];"

    head = [f"digraph {{ rankdir={RANKDIR[sheet.direction]}; nodesep=0.36; ranksep=0.32; splines=true; pad=0;",
            'node [fixedsize=true, label=""]; edge [arrowsize=0.6];']
    return "\n".join([*head, *nest(sheet, node_line, group_lines), *map(edge_line, sheet.edges),
                      *(f"n{number[a]} -> n{number[b]} [style=invis];" for a, b in sheet.rows()), "}"])


def nest(sheet: Sheet, node_line: Callable[[SceneNode], str],
         group_lines: Callable[[SceneNode, list[str]], list[str]]) -> list[str]:
    """DOT lines of nodes within their groups."""
    keys = {group.key for group in sheet.groups}

    def inside(key: str) -> list[str]:
        here = [line for group in sheet.groups if group.parent == key for line in group_lines(group, inside(group.key))]
        return here + [node_line(node) for node in sheet.nodes if node.parent == key]

    outer = {item.parent for item in (*sheet.nodes, *sheet.groups)} - keys
    return [line for key in sorted(outer) for line in inside(key)]


def _blank(width: float, height: float) -> str:
    """A label of a given size with nothing in it: Graphviz keeps the place free and asks no font."""
    return (f'<<TABLE FIXEDSIZE="TRUE" WIDTH="{width:.0f}" HEIGHT="{height:.0f}" BORDER="0" CELLPADDING="0" '
            f'CELLSPACING="0"><TR><TD></TD></TR></TABLE>>')


def _read(sheet: Sheet, text: bytes) -> Geometry:
    """Geometry from Graphviz's JSON, y turned downwards."""
    try:
        return _geometry(sheet, json.loads(text))
    except (ValueError, KeyError, IndexError) as problem:
        raise LayoutFailed(f"Graphviz gave no geometry: {problem!r}") from problem


def _geometry(sheet: Sheet, found: dict[str, Any]) -> Geometry:
    left, low, right, high = map(float, found["bb"].split(","))

    def point(x: str, y: str) -> Point:
        return float(x) - left, high - float(y)

    geometry = Geometry(right - left, high - low)
    for item in found.get("objects", ()):
        name = item["name"]
        if name.startswith("cluster_"):
            x0, y0, x1, y1 = map(float, item["bb"].split(","))
            geometry.boxes[sheet.groups[int(name[8:])].key] = Box((x0 + x1) / 2 - left, high - (y0 + y1) / 2,
                                                                  x1 - x0, y1 - y0)
        else:
            node = sheet.nodes[int(name[1:])]
            geometry.boxes[node.key] = Box(*point(*item["pos"].split(",")), *node_size(node))
    names = {item["_gvid"]: item["name"] for item in found.get("objects", ())}
    for item in found.get("edges", ()):
        if item.get("style") == "invis":
            continue
        source, target = (sheet.nodes[int(names[item[end]][1:])].key for end in ("tail", "head"))
        label = point(*item["lp"].split(",")) if "lp" in item else None
        geometry.routes[source, target] = Route(_spline(item["pos"], point), label)
    return geometry


def _spline(text: str, point: Callable[[str, str], Point]) -> tuple[Point, ...]:
    """Graphviz's "e,x,y x,y x,y ...": control points, and the arrow's tip, which becomes the end of the last curve."""
    points: list[Point] = []
    tip: Point | None = None
    for word in text.split(";")[0].split():
        parts = word.split(",")
        if parts[0] == "e":
            tip = point(parts[1], parts[2])
        elif parts[0] != "s":
            points.append(point(parts[0], parts[1]))
    if tip is not None:
        points[-1] = tip
    return tuple(points)
