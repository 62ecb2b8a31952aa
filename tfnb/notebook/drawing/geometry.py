"""Geometry of drawings: boxes and curves in pixels, y downwards. Layout engines return it and the SVG reads it."""
from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from tfnb.notebook.drawing.scene import SceneEdge, SceneNode
from tfnb.notebook.drawing.value_label import HEIGHT as PILL_HEIGHT
from tfnb.notebook.drawing.value_label import WIDTH as PILL_WIDTH

Point = tuple[float, float]


class Box(NamedTuple):
    """A rectangle by its centre."""

    x: float
    y: float
    w: float
    h: float

    def moved(self, dx: float, dy: float) -> Box:
        """The same box elsewhere."""
        return Box(self.x + dx, self.y + dy, self.w, self.h)


class Route(NamedTuple):
    """An edge as a chain of cubic Bezier curves (1 + 3n points, the last at the arrow's tip); its label's place."""

    points: tuple[Point, ...]
    label: Point | None = None

    def moved(self, dx: float, dy: float) -> Route:
        """The same route elsewhere."""
        label = (self.label[0] + dx, self.label[1] + dy) if self.label else None
        return Route(tuple((x + dx, y + dy) for x, y in self.points), label)


@dataclass(slots=True)
class Geometry:
    """Boxes by key and routes by (source, target)."""

    width: float
    height: float
    boxes: dict[str, Box] = field(default_factory=dict)
    routes: dict[tuple[str, str], Route] = field(default_factory=dict)
    shelf: Point | None = None      # upper left corner of what is set aside
    pieces: dict[str, tuple[Box, ...]] = field(default_factory=dict)    # of a frame that goes on in other columns
    columns: dict[str, int] = field(default_factory=dict)       # of each node, where a chain is folded

    def place(self, other: Geometry, dx: float, dy: float) -> None:
        """Take over everything of `other`, moved."""
        self.boxes.update((key, box.moved(dx, dy)) for key, box in other.boxes.items())
        self.pieces.update((key, tuple(box.moved(dx, dy) for box in boxes)) for key, boxes in other.pieces.items())
        self.routes.update((key, route.moved(dx, dy)) for key, route in other.routes.items())
        self.columns.update(other.columns)
        self.width, self.height = max(self.width, dx + other.width), max(self.height, dy + other.height)

    def mirrored(self) -> Geometry:
        """The same with left and right exchanged."""
        def turn(point: Point) -> Point:
            return self.width - point[0], point[1]

        boxes = {key: Box(*turn((box.x, box.y)), box.w, box.h) for key, box in self.boxes.items()}
        routes = {key: Route(tuple(map(turn, route.points)), turn(route.label) if route.label else None)
                  for key, route in self.routes.items()}
        return Geometry(self.width, self.height, boxes, routes)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Input of one call of a layout engine: a panel's nodes, its open groups (outermost first) and its edges."""

    nodes: tuple[SceneNode, ...]
    groups: tuple[SceneNode, ...]
    edges: tuple[SceneEdge, ...]
    direction: str = "down"

    def rows(self) -> list[tuple[str, str]]:
        """Pairs of nodes that go one behind the other, though no edge joins them: a group's nodes without edges are
        drawn as a block of about equal sides, where layers alone would put them all in one line."""
        joined = {end for edge in self.edges for end in (edge.source, edge.target)}
        alone: dict[str, list[SceneNode]] = defaultdict(list)
        for node in self.nodes:
            if node.key not in joined:
                alone[node.parent].append(node)
        found: list[tuple[str, str]] = []
        for nodes in alone.values():
            wide, tall = (max(sizes) + GAP for sizes in zip(*map(node_size, nodes), strict=True))
            along, across = (wide, tall) if self.direction == "right" else (tall, wide)
            columns = max(1, round(math.sqrt(len(nodes) * along / across)))
            if len(nodes) > MOST_IN_LINE:
                found += [(a.key, b.key) for a, b in zip(nodes, nodes[columns:], strict=False)]
        return found


GAP = 32.0              # about what engines leave between nodes
MOST_IN_LINE = 5        # at most this number of nodes without edges stand in one line
NARROW, WIDE = frozenset("iljtfrI.:,;'|!()[]/ "), frozenset("mwMW@%")
BOLD = 1.14             # how much wider bold letters are
MOST_LETTERS = 36
MOST_OF_FAILED = 44
BOXES = frozenset({"input", "variable", "failed"})      # roles of ops that are no ellipses
MOST_LABEL = 40         # letters at a line
MONOSPACED = 6.7        # pixels of a letter of Python's names


def text_width(text: str, size: float) -> float:
    """About how wide `text` is in a sans-serif of `size` pixels; no font is asked, so it is the same everywhere."""
    ems = sum(0.34 if c in NARROW else 0.9 if c in WIDE else 0.68 if c.isupper() else 0.57 for c in text)
    return ems * size


def shorten(text: str, most: int = MOST_LETTERS) -> str:
    """`text` with its middle left out where it is longer than `most` letters."""
    if len(text) <= most:
        return text
    head = (most - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (most - 1 - head):]}"


def label_size(edge: SceneEdge) -> tuple[float, float]:
    """Width and height of what stands at an edge: its text, and a pill over it where there is one."""
    if edge.pill is not None:
        return max(PILL_WIDTH, text_width(edge.label, 11)) + 8, PILL_HEIGHT + 18
    wide = text_width(shorten(edge.label, MOST_LABEL), 11) * (BOLD if edge.bad else 1.0)
    return (wide + (16 if edge.bad else 6), 13) if edge.label else (0.0, 0.0)


def lines(node: SceneNode) -> list[str]:
    """The classes of the lines under a node's label: "sub" and "py", its Python name."""
    return ["sub"] * bool(node.sub) + ["py"] * bool(node.bound)


def letters(node: SceneNode) -> int:
    """The most letters in a line of a node."""
    return MOST_OF_FAILED if node.role == "failed" else MOST_LETTERS


def node_size(node: SceneNode) -> tuple[float, float]:
    """Width and height of a closed node, by its form and its two lines of text."""
    bold = 1.0 if node.form == "op" else BOLD
    most = letters(node)
    wide = max(text_width(shorten(node.label, most), 12) * bold, text_width(shorten(node.sub, most), 11),
               len(shorten(node.bound)) * MONOSPACED)
    tall = 28.0 + 13.0 * len(lines(node)) - (len(lines(node)) > 0)
    if node.role == "const" and node.form == "op":
        return 16.0, 16.0
    if node.form == "op" and node.role not in BOXES:
        return max(54.0, round(wide * 1.18 + 22)), tall + 2
    return max(60.0, round(wide + 28 + (16 if node.expandable and node.form != "variable" else 0))), tall
