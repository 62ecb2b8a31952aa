"""A long chain folded into columns, read like the columns of a page: from the top down, then on at the next one's top.

The drawing is cut where few edges cross and no box is. An edge that crosses a cut goes on from the foot of one column
to the head of the next.
"""
from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from tfnb.notebook.drawing.geometry import Box, Geometry, Point, Route

TALL = 700.0            # a drawing that is higher is folded, ...
COLUMN = 560.0          # ... into columns of about this height, ...
BETWEEN = 56.0          # columns
RIM = 24.0              # over and under a column, where edges turn
APART = 8.0             # edges from a column to the next, where they go up between them
BEND = 12.0             # of their corners
CLEAR = 10.0            # of an edge's label, from the end of the frames in its column
LEAST_GAP = 8.0         # between boxes, to cut there
MOST_CUT = 3            # edges that cross a cut
Curve = tuple[Point, Point, Point, Point]
Part = tuple[int, Curve]
Edge = tuple[str, str]


def wrap(geometry: Geometry, groups: Collection[str] = (), wide: float = 1000.0,
         known: Mapping[str, int] = MappingProxyType({})) -> Geometry:
    """Return the geometry in columns, or as it is where that would not be easier to read. Data flows down in it.

    groups: keys of the boxes that are frames around others: each column has a piece of those. wide: all columns are not
    wider together. known: the columns of boxes in a drawing before this one, which they keep if that can be.
    """
    boxes = {key: box for key, box in geometry.boxes.items() if key not in groups}
    if known:
        tries: Iterable[list[float]] = [_known_cuts(geometry, boxes, known)]
    else:
        tries = _tries(geometry, boxes) if geometry.height > TALL else ()
    for cuts in filter(None, tries):
        folded = _fold(geometry, groups, cuts)
        if known or folded.width <= wide:
            folded.columns = {key: _column(box.y, cuts) for key, box in geometry.boxes.items()}
            return folded
    geometry.columns = dict.fromkeys(geometry.boxes, 0)
    return geometry


def _known_cuts(geometry: Geometry, boxes: Mapping[str, Box], known: Mapping[str, int]) -> list[float]:
    """Heights at which to cut so that boxes stay in their columns; none where there are no such ones."""
    found, crossing, frames = [], _crossings(geometry), _frames(geometry, boxes)
    for i in range(max(known.values())):
        above = max((box.y + box.h / 2 for key, box in boxes.items() if known.get(key, i + 1) <= i), default=0.0)
        below = min((box.y - box.h / 2 for key, box in boxes.items() if known.get(key, 0) > i), default=0.0)
        y = _between_frames(frames, above, below)
        across = any(box.y - box.h / 2 < y < box.y + box.h / 2 for box in boxes.values())
        if across or below - above < LEAST_GAP or crossing(y) > MOST_CUT:
            return []
        found.append(y)
    return found


def _frames(geometry: Geometry, nodes: Mapping[str, Box]) -> list[tuple[float, float]]:
    """Top and bottom of each frame."""
    return [(box.y - box.h / 2, box.y + box.h / 2) for key, box in geometry.boxes.items() if key not in nodes]


def _between_frames(frames: Sequence[tuple[float, float]], above: float, below: float) -> float:
    """A height in a gap between nodes where frames that begin or end in it are left whole."""
    low = max([above, *(end for _, end in frames if above < end < below)])
    high = min([below, *(begin for begin, _ in frames if above < begin < below)])
    return (low + high) / 2 if low < high else (above + below) / 2


def _fold(geometry: Geometry, groups: Collection[str], cuts: list[float]) -> Geometry:
    tops = [0.0, *cuts]
    heights = [bottom - top for top, bottom in zip(tops, [*cuts, geometry.height], strict=True)]
    spans = [_span(geometry, top, top + height) for top, height in zip(tops, heights, strict=True)]
    lefts, left = [], 0.0
    for low, high in spans:
        lefts.append(left - low)
        left += high - low + BETWEEN
    folded = Geometry(left - BETWEEN, max(heights) + 2 * RIM)
    shifts = [(x, RIM - top) for x, top in zip(lefts, tops, strict=True)]

    turns = [x + high + BETWEEN / 2 for x, (_, high) in zip(lefts, spans, strict=True)]
    for key, box in geometry.boxes.items():
        first, *rest = _pieces(box, cuts, shifts) if key in groups else [box.moved(*shifts[_column(box.y, cuts)])]
        folded.boxes[key] = first
        if rest:
            folded.pieces[key] = tuple(rest)
    parts = {key: _parts(route, cuts) for key, route in geometry.routes.items()}
    lanes = _lanes(parts, len(cuts))
    folded.routes = {key: _folded(route, parts[key], cuts, shifts, [(x, *places.get(key, (0, 1))) for x, places in
                                                                    zip(turns, lanes, strict=False)])
                     for key, route in geometry.routes.items()}
    return folded


def _column(y: float, cuts: Sequence[float]) -> int:
    return sum(y > cut for cut in cuts)


def _pieces(frame: Box, cuts: Sequence[float], shifts: Sequence[Point]) -> list[Box]:
    """The part of a frame in each column that it reaches."""
    top, bottom = frame.y - frame.h / 2, frame.y + frame.h / 2
    ends = [top, *(cut for cut in cuts if top < cut < bottom), bottom]
    return [Box(frame.x, (a + b) / 2, frame.w, b - a).moved(*shifts[_column((a + b) / 2, cuts)])
            for a, b in zip(ends, ends[1:], strict=False)]


def _tries(geometry: Geometry, nodes: Mapping[str, Box]) -> Iterator[list[float]]:
    """The cuts into as many columns as the height asks for, then into fewer."""
    crossing = _crossings(geometry)
    free = {y: crossing(y) for y in _gaps(geometry, nodes)}
    free = {y: count for y, count in free.items() if count <= MOST_CUT}
    for columns in range(math.ceil(geometry.height / COLUMN), 1, -1):
        yield _cuts(geometry.height, columns, free)


def _gaps(geometry: Geometry, nodes: Mapping[str, Box]) -> list[float]:
    """Heights between nodes, from the top down."""
    found, end, frames = [], 0.0, _frames(geometry, nodes)
    for top, bottom in sorted((box.y - box.h / 2, box.y + box.h / 2) for box in nodes.values()):
        if top - end > LEAST_GAP:
            found.append(_between_frames(frames, end, top))
        end = max(end, bottom)
    return [y for y in found if y > 0]


def _cuts(height: float, columns: int, free: Mapping[float, int]) -> list[float]:
    """Heights at which to cut, near those that make equal columns; none where there is no such place.

    free: the heights where a cut can be, and how many edges cross each.
    """
    found: list[float] = []
    for i in range(1, columns):
        aim = height * i / columns
        near = [y for y in free if abs(y - aim) < COLUMN / 3 and (not found or y > found[-1])]
        if not near:
            return []
        found.append(min(near, key=lambda y: (free[y], abs(y - aim))))
    return found


def _crossings(geometry: Geometry) -> Callable[[float], int]:
    """Return a function that counts the edges that cross a height; more than MOST_CUT where one goes upwards there.

    The points of all edges are read once: those past 150 ranks have 34,000, and hundreds of heights are asked for.
    """
    heights = [[y for _, y in route.points] for route in geometry.routes.values()]
    starts, ends = sorted(ys[0] for ys in heights), sorted(ys[-1] for ys in heights)
    rises = [(low, high) for ys in heights for high, low in pairwise(ys) if low < high]
    lows, highs = sorted(low for low, _ in rises), sorted(high for _, high in rises)

    def crossing(y: float) -> int:
        if bisect_left(lows, y) > bisect_left(highs, y):
            return MOST_CUT + 1
        return bisect_left(starts, y) - bisect_left(ends, y)

    return crossing


def _span(geometry: Geometry, top: float, bottom: float) -> tuple[float, float]:
    """The left and right rim of what stands between two heights."""
    xs = [x for box in geometry.boxes.values() if box.y - box.h / 2 < bottom and box.y + box.h / 2 > top
          for x in (box.x - box.w / 2, box.x + box.w / 2)]
    xs += [x for route in geometry.routes.values() for x, y in route.points if top <= y <= bottom]
    xs += [x for route in geometry.routes.values() if route.label and top <= route.label[1] <= bottom
           for x in (route.label[0] - 24, route.label[0] + 24)]
    return min(xs), max(xs)


def _parts(route: Route, cuts: Sequence[float]) -> list[Part]:
    """The pieces of a route, each with its column."""
    curves: list[Curve] = [(route.points[i], route.points[i + 1], route.points[i + 2], route.points[i + 3])
                           for i in range(0, len(route.points) - 3, 3)]
    pieces: list[Part] = []
    for curve in curves:
        for cut in cuts:
            if curve[0][1] < cut < curve[3][1]:
                first, curve = _split(curve, cut)
                pieces.append((_column((first[0][1] + first[3][1]) / 2, cuts), first))
        pieces.append((_column((curve[0][1] + curve[3][1]) / 2, cuts), curve))
    return pieces


def _lanes(parts: Mapping[Edge, Sequence[Part]], cuts: int) -> list[dict[Edge, tuple[int, int]]]:
    """For each cut: the edges that cross it, each with its number from right to left, and their count."""
    feet: list[list[tuple[float, Edge]]] = [[] for _ in range(cuts)]
    for key, pieces in parts.items():
        for (column, curve), (after, _) in pairwise(pieces):
            if column != after:
                feet[column].append((-curve[3][0], key))
    return [{key: (i, len(found)) for i, (_, key) in enumerate(sorted(found))} for found in feet]


def _folded(route: Route, pieces: Sequence[Part], cuts: Sequence[float], shifts: Sequence[Point],
            turns: Sequence[tuple[float, int, int]]) -> Route:
    """A route in its columns, its pieces joined from foot to head along the gaps at `turns` (see `_turn`)."""
    points: list[Point] = []
    before = pieces[0][0]
    for at, curve in pieces:
        dx, dy = shifts[at]
        a, b, c, d = ((x + dx, y + dy) for x, y in curve)
        if at != before:
            points += _turn(points[-1], a, *turns[before])
        points += [b, c, d] if points else [a, b, c, d]
        before = at
    label = route.label
    if label is not None:
        near = next((cut for cut in cuts if abs(cut - label[1]) < CLEAR), None)
        label = label if near is None else (label[0], near - CLEAR)
        dx, dy = shifts[_column(label[1], cuts)]
        label = label[0] + dx, label[1] + dy
    return Route(tuple(points), label)


def _turn(foot: Point, head: Point, gap: float, lane: int, count: int) -> list[Point]:
    """From the foot of a column, up the gap beside it and down to the head of the next, with round corners.

    lane: of `count` edges side by side, of which the first is the one furthest to the right: it turns before the others
    under its column, and over the others above the next.
    """
    gap += (lane - (count - 1) / 2) * min(APART, (BETWEEN - APART) / count)
    low, high = foot[1] + RIM * (lane + 1) / (count + 1), head[1] - RIM * (count - lane) / (count + 1)
    corners = [(foot[0], low), (gap, low), (gap, high), (head[0], high)]
    points, before = list[Point](), foot
    for corner, after in zip(corners, [*corners[1:], head], strict=True):
        start, stop = _towards(corner, before), _towards(corner, after)
        points += [start, start, start, corner, corner, stop]       # a straight line, then the bend
        before = stop
    return [*points, head, head, head]


def _towards(corner: Point, other: Point) -> Point:
    """The point where the bend at a corner begins, on the way to another point."""
    length = math.hypot(other[0] - corner[0], other[1] - corner[1])
    share = min(BEND, length / 2) / length if length else 0.0
    return corner[0] + (other[0] - corner[0]) * share, corner[1] + (other[1] - corner[1]) * share


def _split(curve: Curve, y: float) -> tuple[Curve, Curve]:
    """Cut a Bezier curve where it crosses a height."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if parts_at(curve, middle)[0][-1][1] < y else (low, middle)
    return parts_at(curve, (low + high) / 2)


def parts_at(curve: Curve, t: float) -> tuple[Curve, Curve]:
    """De Casteljau's construction: the two parts of a curve at the parameter t."""
    def mix(p: Point, q: Point) -> Point:
        return p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t

    a, b, c, d = curve
    ab, bc, cd = mix(a, b), mix(b, c), mix(c, d)
    abc, bcd = mix(ab, bc), mix(bc, cd)
    middle = mix(abc, bcd)
    return (a, ab, abc, middle), (middle, bcd, cd, d)
