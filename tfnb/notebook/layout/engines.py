"""Layout of a scene: each panel by an engine, a long main one in columns, then the panels side by side.

Engines: "dot" (Graphviz on PATH), "pygraphviz" (the wheel, in this process) and "builtin" (our own, always there);
"auto" takes the first that works.
"""
from __future__ import annotations

import shutil
from importlib.util import find_spec

from tfnb.notebook.drawing.geometry import Box, Geometry, Sheet, node_size
from tfnb.notebook.drawing.scene import Scene
from tfnb.notebook.layout.dot import RANKDIR, LayoutFailed, by_process, by_pygraphviz
from tfnb.notebook.layout.layered import layered
from tfnb.notebook.layout.wrapping import wrap

ENGINES = {"dot": by_process, "pygraphviz": by_pygraphviz, "builtin": layered}
MARGIN = 16.0
SHELF_GAP = 44.0            # between the main drawing and what is set aside
SHELF_LEAST = 320.0         # a column of set-aside panels is at least this high before the next one starts
PANEL_GAP = 18.0
SHELF_HEAD = 26.0


def available_engines() -> tuple[str, ...]:
    """The engines that can be tried here, in the order of "auto"."""
    found = ["dot"] if shutil.which("dot") else []
    return (*found, *(["pygraphviz"] if find_spec("pygraphviz") else []), "builtin")


def lay_out(scene: Scene, engine: str = "auto", direction: str = "down") -> Geometry:
    """The geometry of a scene. `direction` is where data flows: "down", "up" or "right".

    Raises ValueError for an unknown engine or direction, LayoutFailed if a named engine does not work here.
    """
    if direction not in RANKDIR:
        raise ValueError(f"direction is one of {', '.join(RANKDIR)}; got {direction!r}")
    if engine != "auto" and engine not in ENGINES:
        raise ValueError(f"engine is auto or one of {', '.join(ENGINES)}; got {engine!r}")
    sheets = panel_sheets(scene, direction)
    whole = Geometry(0.0, 0.0)
    if "" in sheets:
        sheet = sheets.pop("")
        main = _engine(sheet, engine)
        main = wrap(main, {group.key for group in sheet.groups}) if direction == "down" else main
        whole.place(main, MARGIN, MARGIN)
    numbered = sorted(sheets.values(), key=lambda sheet: not sheet.nodes[0].number)
    _shelve(whole, [_engine(sheet, engine) for sheet in numbered])
    whole.width, whole.height = whole.width + MARGIN, whole.height + MARGIN
    return whole


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
    for name in available_engines():
        try:
            return ENGINES[name](sheet)
        except LayoutFailed:
            continue
    return layered(sheet)


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
