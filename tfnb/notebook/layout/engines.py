"""Layout of a scene: each panel by an engine, a long main one in columns, then the panels side by side.

Engines: "dot" (Graphviz on PATH), "pygraphviz" (the wheel, in this process) and "builtin" (our own, always there);
"auto" takes the first that works, and "builtin" for a long chain that an input of its own feeds at each step.
"""
from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from itertools import combinations
from typing import TypeVar

from tfnb.notebook.drawing.geometry import Box, Geometry, Sheet, node_size
from tfnb.notebook.drawing.scene import Scene, SceneNode
from tfnb.notebook.layout.dot import RANKDIR, LayoutFailed, by_process, by_pygraphviz
from tfnb.notebook.layout.layered import layered
from tfnb.notebook.layout.level import forward, ranks
from tfnb.notebook.layout.wrapping import wrap

ENGINES = {"dot": by_process, "pygraphviz": by_pygraphviz, "builtin": layered}
MARGIN = 16.0
SHELF_GAP = 44.0            # between the main drawing and what is set aside
SHELF_LEAST = 320.0         # a column of set-aside panels is at least this high before the next one starts
PANEL_GAP = 18.0
SHELF_HEAD = 26.0
ROOM = 840.0                # pixels that a drawing may be wide: about what a notebook of 1,280 shows
LOWER = 0.75                # a drawing of so much of the height is worth a shelf below it
MOST_PASSED = 2_000         # ranks that edges pass: Graphviz takes 0.9 s for 2,500, over a minute for 6,600
MOST_COMPARED = 60          # boxes, of which each two are compared
T = TypeVar("T")


def available_engines() -> tuple[str, ...]:
    """The engines that can be tried here, in the order of "auto"."""
    found = ["dot"] if shutil.which("dot") else []
    return (*found, *(["pygraphviz"] if find_spec("pygraphviz") else []), "builtin")


def lay_out(scene: Scene, engine: str = "auto", direction: str = "down", room: float = ROOM,
            before: Geometry | None = None) -> Geometry:
    """The geometry of a scene. `direction` is where data flows: "down", "up" or "right".

    room: how wide it may be, if that can be: chains are folded into as many columns as fit, what is set aside stands
    beside the main drawing or below it. before: the geometry of another scene of the same graph; what is in both stays
    in its column, on its side.
    Raises ValueError for an unknown engine or direction, LayoutFailed if a named engine does not work here.
    """
    if direction not in RANKDIR:
        raise ValueError(f"direction is one of {', '.join(RANKDIR)}; got {direction!r}")
    if engine != "auto" and engine not in ENGINES:
        raise ValueError(f"engine is auto or one of {', '.join(ENGINES)}; got {engine!r}")
    sheets = panel_sheets(scene, direction)
    whole = Geometry(0.0, 0.0)
    numbered = sorted((sheet for panel, sheet in sheets.items() if panel), key=lambda sheet: not sheet.nodes[0].number)
    panels = [_engine(sheet, engine) for sheet in numbered]
    shelf = max((panel.width for panel in panels), default=-SHELF_GAP) + SHELF_GAP
    right = True
    if "" in sheets:
        main, right = _main(sheets[""], engine, room - 2 * MARGIN, shelf, before)
        whole.place(main, MARGIN, MARGIN)
    if right:
        _shelve(whole, panels)
    else:
        _shelve_below(whole, panels, room)
    whole.width, whole.height = whole.width + MARGIN, whole.height + MARGIN
    return whole


def _main(sheet: Sheet, engine: str, room: float, shelf: float, before: Geometry | None) -> tuple[Geometry, bool]:
    """The main drawing, and whether what is set aside stands to its right: not where it would be too wide, or much
    higher for lack of a column."""
    found = _engine(_in_order(sheet, before), engine)
    groups = {group.key for group in sheet.groups}
    down = sheet.direction == "down"
    if before is not None:
        found = found.mirrored() if _turned_round(found, before) else found
        known = _known_columns(sheet, before)
        return wrap(found, groups, room, known) if down else found, before.shelf is None or before.shelf[1] < 2 * MARGIN
    if not down:
        return found, found.width + shelf <= room
    beside, over = wrap(found, groups, room - shelf), wrap(found, groups, room)
    lower = over.height < LOWER * beside.height
    return (over, False) if lower or beside.width + shelf > room else (beside, True)


def _place_before(key: str, parents: dict[str, str], before: Mapping[str, T]) -> T | None:
    """Return what was known of a node, or of the innermost group around it, before."""
    while key not in before and key in parents:
        key = parents[key]
    return before.get(key)


def _parents(sheet: Sheet) -> dict[str, str]:
    return {item.key: item.parent for item in (*sheet.groups, *sheet.nodes)}


def _in_order(sheet: Sheet, before: Geometry | None) -> Sheet:
    """The sheet with its nodes from left to right as they were: engines begin with that order."""
    if before is None:
        return sheet
    parents = _parents(sheet)

    def place(node: SceneNode) -> float:
        box = _place_before(node.key, parents, before.boxes)
        return box.x if box is not None else 0.0

    return replace(sheet, nodes=tuple(sorted(sheet.nodes, key=place)))


def _known_columns(sheet: Sheet, before: Geometry) -> dict[str, int]:
    parents = _parents(sheet)
    found = {node.key: _place_before(node.key, parents, before.columns) for node in sheet.nodes}
    return {key: column for key, column in found.items() if column is not None}


def _turned_round(now: Geometry, before: Geometry) -> bool:
    """Whether more pairs of boxes have exchanged left and right than have not."""
    both = [key for key in now.boxes if key in before.boxes and before.columns.get(key, 0) == 0][:MOST_COMPARED]
    signs = [(now.boxes[a].x - now.boxes[b].x) * (before.boxes[a].x - before.boxes[b].x)
             for a, b in combinations(both, 2)]
    return sum(sign < 0 for sign in signs) > sum(sign > 0 for sign in signs)


def panel_sheets(scene: Scene, direction: str = "down") -> dict[str, Sheet]:
    """One sheet a panel, the main one ("") first."""
    home = {node.key: node.panel for node in scene.nodes}
    order = sorted(dict.fromkeys(home.values()), key=bool)
    return {panel: Sheet(tuple(n for n in scene.nodes if n.panel == panel),
                         tuple(g for g in scene.groups if g.panel == panel),
                         tuple(e for e in scene.edges if home[e.source] == panel), direction) for panel in order}


def _engine(sheet: Sheet, engine: str) -> Geometry:
    if len(sheet.nodes) == 1 and not sheet.groups:
        w, h = node_size(sheet.nodes[0])
        return Geometry(w, h, {sheet.nodes[0].key: Box(w / 2, h / 2, w, h)})
    if engine != "auto":
        return ENGINES[engine](sheet)
    for name in available_engines() if _passed(sheet) <= MOST_PASSED else ():
        try:
            return ENGINES[name](sheet)
        except LayoutFailed:
            continue
    return layered(sheet)


def _passed(sheet: Sheet) -> int:
    """The count of ranks that edges pass on their way."""
    keys = [node.key for node in sheet.nodes]
    pairs = forward(keys, [(edge.source, edge.target) for edge in sheet.edges])
    rank = ranks(keys, pairs)
    return sum(rank[target] - rank[source] - 1 for source, target in pairs)


def _shelve_below(whole: Geometry, panels: list[Geometry], room: float) -> None:
    """Put the set-aside panels in rows under the main drawing, open ones last."""
    if not panels:
        return
    left, top, tallest = MARGIN, whole.height + SHELF_GAP + SHELF_HEAD / 2, 0.0
    whole.shelf = MARGIN, whole.height + SHELF_GAP / 2
    for geometry in sorted(panels, key=lambda panel: len(panel.boxes) > 1):
        if left > MARGIN and left + geometry.width > room - MARGIN:
            left, top, tallest = MARGIN, top + tallest + PANEL_GAP, 0.0
        whole.place(geometry, left, top)
        left, tallest = left + geometry.width + PANEL_GAP, max(tallest, geometry.height)


def _shelve(whole: Geometry, panels: list[Geometry]) -> None:
    """Put the set-aside panels in columns to the right of the main drawing, open ones last."""
    if not panels:
        return
    bottom = max(whole.height, SHELF_LEAST)
    left, top, widest = whole.width + SHELF_GAP if whole.width else MARGIN, MARGIN + SHELF_HEAD, 0.0
    whole.shelf = left, MARGIN
    for geometry in sorted(panels, key=lambda panel: len(panel.boxes) > 1):
        if top > MARGIN + SHELF_HEAD and top + geometry.height > bottom:
            left, top, widest = left + widest + PANEL_GAP, MARGIN + SHELF_HEAD, 0.0
        whole.place(geometry, left, top)
        top, widest = top + geometry.height + PANEL_GAP, max(widest, geometry.width)
