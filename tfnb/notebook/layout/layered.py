"""The layout of our own, for where there is no Graphviz: layers, medians, and groups laid out from the inside.

Deterministic: the same sheet gives the same geometry on every machine. A level (`level.py`) is what stands in one
group; an edge between groups has a way of its own through each level that it passes, from rim to rim, so that it
crosses no box but those around its ends.
"""
from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tfnb.notebook.drawing.geometry import Box, Geometry, Point, Route, Sheet, label_size, node_size, text_width
from tfnb.notebook.layout.level import HEAD, PAD, Level, Pair, Port

GAP_Y = 46.0
ALONG = (0.5, 0.24, 0.76)               # of a gap between layers, where a label may stand
MOST_GAPS = 5                           # in which its place is looked for
BAND = 20.0                             # more than a label is high
APART = 20.0                            # from the middle of a box: where edges against the flow end


class _Way(NamedTuple):
    """An edge by its upper and lower end, and the groups around these (innermost first) within the common level."""

    upper: Port
    lower: Port
    over: list[str]
    under: list[str]
    common: Level
    key: object


def layered(sheet: Sheet) -> Geometry:
    """Lay out a sheet (see the module)."""
    flip = sheet.direction == "right"
    keys = {group.key for group in sheet.groups}
    home = {item.key: item.parent if item.parent in keys else "" for item in (*sheet.nodes, *sheet.groups)}
    inside: dict[str, list[str]] = {key: [] for key in ("", *keys)}
    for key, around in home.items():
        inside[around].append(key)
    edges = [(edge.source, edge.target) for edge in sheet.edges]
    pairs = _lift([*edges, *sheet.rows()], home)
    levels = {key: Level(members, list(pairs[key])) for key, members in inside.items()}
    ways = [_way(edge, levels, home) for edge in edges]
    sizes = {node.key: node_size(node)[::-1] if flip else node_size(node) for node in sheet.nodes}
    offsets = {port: _offset(port, sizes) for way in ways for port in (way.upper, way.lower)}
    gap = GAP_Y + max((label_size(edge)[1] for edge in sheet.edges if edge.pill is not None), default=0.0)
    for key in [*[group.key for group in reversed(sheet.groups)], ""]:
        level = levels[key]
        level.lay_out(sizes, offsets, gap)
        offsets.update(level.ports(offsets))
        least = text_width(key.rstrip("/").rpartition("/")[2], 12) + 60
        sizes[key] = max(level.width + 2 * PAD, least), level.height + HEAD + PAD
    geometry = Geometry(levels[""].width, levels[""].height)
    _place(levels, "", 0.0, 0.0, sizes, geometry.boxes)
    for edge, way in zip(edges, ways, strict=True):
        points = _curves(_corners(way, levels, geometry.boxes))
        geometry.routes[edge] = Route(tuple(points if edge[0] == way.upper.node else points[::-1]))
    _put_labels(sheet, ways, geometry)
    return _turned(geometry, sheet.direction)


def _chain(key: str, home: Mapping[str, str]) -> list[str]:
    """`key` and the groups around it, outermost first."""
    chain = [key]
    while home[chain[-1]]:
        chain.append(home[chain[-1]])
    return chain[::-1]


def _ends(pair: Pair, home: Mapping[str, str]) -> Pair:
    """The two members of the innermost common group through which an edge goes."""
    for a, b in zip(_chain(pair[0], home), _chain(pair[1], home), strict=False):
        if a != b:
            return a, b
    return pair


def _lift(pairs: Iterable[Pair], home: Mapping[str, str]) -> dict[str, dict[Pair, None]]:
    """The pairs of members of each group that edges join."""
    lifted: dict[str, dict[Pair, None]] = defaultdict(dict)
    for pair in pairs:
        ends = _ends(pair, home)
        if ends[0] != ends[1]:
            lifted[home[ends[0]]][ends] = None
    return lifted


def _way(edge: Pair, levels: Mapping[str, Level], home: Mapping[str, str]) -> _Way:
    """Give an edge its place in each level that it passes."""
    ends = _ends(edge, home)
    common = levels[home[ends[0]]]
    key, up = common.join(edge, ends)
    (upper, top), (lower, bottom) = zip(edge, ends, strict=True) if not up else zip(edge[::-1], ends[::-1], strict=True)
    ports = Port(upper, True, up), Port(lower, False, up)
    groups = _chain(upper, home)[:-1][::-1], _chain(lower, home)[:-1][::-1]
    over, under = (around[:around.index(end) + 1] if end in around else []
                   for around, end in zip(groups, (top, bottom), strict=True))
    for port, around in zip(ports, (over, under), strict=True):
        for member, group in zip((port.node, *around), around, strict=False):
            levels[group].open(port, member)
    return _Way(*ports, over, under, common, key)


def _offset(port: Port, sizes: Mapping[str, tuple[float, float]]) -> float:
    """Return where an edge ends at a node, from its middle: those against the flow beside the others."""
    return min(APART, sizes[port.node][0] / 4) if port.up else 0.0


def _place(levels: Mapping[str, Level], key: str, dx: float, dy: float, sizes: Mapping[str, tuple[float, float]],
           boxes: dict[str, Box]) -> None:
    """Turn positions relative to a group into absolute ones, from the outside."""
    level = levels[key]
    level.origin = dx, dy
    for member in level.members:
        x, y = level.at[member]
        w, h = sizes[member]
        boxes[member] = Box(x + dx, y + dy, w, h)
        if member in levels:
            _place(levels, member, x + dx - levels[member].width / 2, y + dy - h / 2 + HEAD, sizes, boxes)


def _corners(way: _Way, levels: Mapping[str, Level], boxes: Mapping[str, Box]) -> list[Point]:
    """The corners of an edge from the top down."""
    a, b = boxes[way.upper.node], boxes[way.lower.node]
    shift_a, shift_b = (min(APART, box.w / 4) if way.upper.up else 0.0 for box in (a, b))
    head: list[Point] = [(a.x + shift_a, a.y + a.h / 2)]
    foot: list[Point] = [(b.x + shift_b, b.y - b.h / 2)]
    for group in way.over:
        head += levels[group].way(way.upper, head[-1], None)
    for group in way.under:
        foot = levels[group].way(way.lower, None, foot[0]) + foot
    return head + way.common.way(way.key, head[-1], foot[0]) + foot


def _curves(corners: Sequence[Point]) -> list[Point]:
    """A chain of Bezier curves: straight down between corners of one x, a bend between others."""
    through = [corners[0]]
    for corner in corners[1:]:
        if len(through) > 1 and through[-2][0] == through[-1][0] == corner[0]:
            through[-1] = corner
        elif corner != through[-1]:
            through.append(corner)
    points = [through[0]]
    for (x0, y0), (x1, y1) in zip(through, through[1:], strict=False):
        share = 1 / 3 if x0 == x1 else 1 / 2
        points += [(x0, y0 + (y1 - y0) * share), (x1, y1 - (y1 - y0) * share), (x1, y1)]
    return points


def _put_labels(sheet: Sheet, ways: Sequence[_Way], geometry: Geometry) -> None:
    """Put each label on its edge between two layers: in the middle, or elsewhere if it would lie on another there."""
    taken: dict[int, list[Box]] = defaultdict(list)         # by height
    for edge, way in zip(sheet.edges, ways, strict=True):
        w, h = label_size(edge)[::-1] if sheet.direction == "right" else label_size(edge)
        route = geometry.routes[edge.source, edge.target]
        downwards = route.points if edge.source == way.upper.node else route.points[::-1]
        gaps = way.common.gaps(way.key)[:MOST_GAPS]
        heights = [top + (bottom - top) * share for share in ALONG for top, bottom in gaps]
        if not w or edge.pill is not None:
            heights = heights[:1]
        first = None
        for y in heights:
            box = Box(_at_height(downwards, y), y, w, max(h - 2, 0.0))
            first = first or box
            if not any(abs(box.x - other.x) < (box.w + other.w) / 2 and abs(box.y - other.y) < (box.h + other.h) / 2
                       for band in range(-1, 2) for other in taken[int(box.y // BAND) + band]):
                break
        else:
            box = first or Box(*route.points[0], w, h)
        if w:
            taken[int(box.y // BAND)].append(box)
        geometry.routes[edge.source, edge.target] = route._replace(label=(box.x, box.y))


def _at_height(points: Sequence[Point], y: float) -> float:
    """The x of a route, given from the top down, at a height."""
    last = (len(points) - 1) // 3 * 3 - 3
    first = min(max(bisect_left(points[3::3], y, key=lambda point: point[1]) * 3, 0), last)
    (x0, y0), (x1, y1) = points[first], points[first + 3]
    if x0 == x1:
        return x0
    # The curve's height is y0 + (y1 - y0) (t^3 - 1.5 t^2 + 1.5 t): Cardano's formula in t - 0.5.
    t = 0.5 + math.sinh(math.asinh(4 * ((y - y0) / (y1 - y0) - 0.5)) / 3)
    return x0 + (x1 - x0) * t * t * (3 - 2 * t)


def _turned(geometry: Geometry, direction: str) -> Geometry:
    if direction == "down":
        return geometry

    def turn(point: Point) -> Point:
        return (point[1], point[0]) if direction == "right" else (point[0], geometry.height - point[1])

    flip = direction == "right"
    boxes = {key: Box(*turn((box.x, box.y)), *((box.h, box.w) if flip else (box.w, box.h)))
             for key, box in geometry.boxes.items()}
    routes = {key: Route(tuple(map(turn, r.points)), turn(r.label) if r.label else None)
              for key, r in geometry.routes.items()}
    size = (geometry.height, geometry.width) if flip else (geometry.width, geometry.height)
    return Geometry(*size, boxes, routes)
