"""The layout of our own, for where there is no Graphviz: layers, medians, and groups laid out from the inside.

Deterministic: the same sheet gives the same geometry on every machine. Ranks by longest path, order by median sweeps
that keep the fewest crossings, x by least squares under the order (pooling of adjacent violators).
"""
from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tfnb.notebook.drawing.geometry import Box, Geometry, Point, Route, Sheet, label_size, node_size, text_width
from tfnb.notebook.layout.wrapping import parts_at

GAP_X = 26.0
GAP_Y = 46.0
PAD = 14.0
HEAD = 24.0             # room for a group's name
SWEEPS = 8
ALONG = (0.3, 0.7, 0.2, 0.8)            # of an edge, where its label may go instead of its middle
BAND = 20.0             # more than a label is high

Pair = tuple[str, str]


def layered(sheet: Sheet) -> Geometry:
    """Lay out a sheet (see the module)."""
    flip = sheet.direction == "right"
    sizes = {node.key: node_size(node)[::-1] if flip else node_size(node) for node in sheet.nodes}
    keys = {group.key for group in sheet.groups}
    home = {item.key: item.parent if item.parent in keys else "" for item in (*sheet.nodes, *sheet.groups)}
    pairs = _lift([*((edge.source, edge.target) for edge in sheet.edges), *sheet.rows()], home)
    flats: dict[str, _Flat] = {}
    gap = GAP_Y + max((label_size(edge)[1] for edge in sheet.edges if edge.pill is not None), default=0.0)
    for key in [*[group.key for group in reversed(sheet.groups)], ""]:
        members = [item.key for item in (*sheet.nodes, *sheet.groups) if home[item.key] == key]
        flat = _Flat(members, sizes, pairs[key], gap)
        flats[key] = flat
        least = text_width(key.rstrip("/").rpartition("/")[2], 12) + 60
        sizes[key] = max(flat.width + 2 * PAD, least), flat.height + HEAD + PAD
    geometry = Geometry(flats[""].width, flats[""].height)
    _place(flats, "", 0.0, 0.0, sizes, geometry.boxes)
    for edge in sheet.edges:
        geometry.routes[edge.source, edge.target] = _route((edge.source, edge.target), flats, home, geometry.boxes)
    made = _turned(geometry, sheet.direction)
    _part_labels(sheet, made)
    return made


def _part_labels(sheet: Sheet, geometry: Geometry) -> None:
    """Move labels along their edges where they would lie on one another, as those of edges that meet at a node."""
    taken: dict[int, list[Box]] = defaultdict(list)         # by height
    for edge in sheet.edges:
        route = geometry.routes[edge.source, edge.target]
        w, h = label_size(edge)
        if route.label is None or not w or edge.pill is not None:
            continue
        first = (len(route.points) - 1) // 3 // 2 * 3
        a, b, c, d = route.points[first:first + 4]
        tries = [Box(*point, w, h - 2) for point in (route.label, *(parts_at((a, b, c, d), t)[0][-1] for t in ALONG))]
        box = next((each for each in tries if not any(
            abs(each.x - other.x) < (each.w + other.w) / 2 and abs(each.y - other.y) < (each.h + other.h) / 2
            for band in range(-1, 2) for other in taken[int(each.y // BAND) + band])), tries[0])
        taken[int(box.y // BAND)].append(box)
        geometry.routes[edge.source, edge.target] = route._replace(label=(box.x, box.y))


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


def _lift(pairs: Iterable[Pair], home: Mapping[str, str]) -> dict[str, list[Pair]]:
    lifted: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        ends = _ends(pair, home)
        if ends[0] != ends[1] and ends not in lifted[home[ends[0]]]:
            lifted[home[ends[0]]].append(ends)
    return lifted


def _place(flats: Mapping[str, _Flat], key: str, dx: float, dy: float, sizes: Mapping[str, tuple[float, float]],
           boxes: dict[str, Box]) -> None:
    """Turn positions relative to a group into absolute ones, from the outside."""
    flat = flats[key]
    flat.origin = dx, dy
    for member in flat.members:
        x, y = flat.at[member]
        w, h = sizes[member]
        boxes[member] = Box(x + dx, y + dy, w, h)
        if member in flats:
            inner = flats[member]
            _place(flats, member, x + dx - inner.width / 2, y + dy - h / 2 + HEAD, sizes, boxes)


def _route(pair: Pair, flats: Mapping[str, _Flat], home: Mapping[str, str], boxes: Mapping[str, Box]) -> Route:
    """From the lower rim of the source through the bends of the common group to the upper rim of the target."""
    ends = _ends(pair, home)
    flat = flats[home[ends[0]]]
    bends = [(x + flat.origin[0], y + flat.origin[1]) for x, y in flat.bends.get(ends, ())]
    a, b = boxes[pair[0]], boxes[pair[1]]
    turn = 1 if a.y <= b.y else -1
    start, stop = (a.x, a.y + turn * a.h / 2), (b.x, b.y - turn * b.h / 2)
    through = [start, *bends, stop]
    points: list[Point] = [start]
    for (x0, y0), (x1, y1) in zip(through, through[1:], strict=False):
        middle = (y0 + y1) / 2
        points += [(x0, middle), (x1, middle), (x1, y1)]
    k = (len(through) - 1) // 2
    (x0, y0), (x1, y1) = through[k], through[k + 1]
    return Route(tuple(points), ((x0 + x1) / 2, (y0 + y1) / 2))


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


@dataclass
class _Flat:
    """One level: members in layers, with no groups inside. `at` are centres, `bends` the corners of long edges."""

    members: list[str]
    sizes: Mapping[str, tuple[float, float]]
    pairs: Sequence[Pair]
    gap: float = GAP_Y
    at: dict[str, Point] = field(default_factory=dict)
    bends: dict[Pair, list[Point]] = field(default_factory=dict)
    width: float = 0.0
    height: float = 0.0
    origin: Point = (0.0, 0.0)

    def __post_init__(self) -> None:
        rank = ranks(self.members, forward(self.members, self.pairs))
        chains = self._chains(rank)
        steps = [step for chain in chains.values() for step in zip(chain, chain[1:], strict=False)]
        layers = _order(_layers(rank, chains), steps)
        self._coordinates(layers, chains)

    def _chains(self, rank: dict[str, int]) -> dict[Pair, list[str]]:
        """Each edge as a chain of neighbours in rank; what is put between is named by rank and edge."""
        chains: dict[Pair, list[str]] = {}
        for i, (s, t) in enumerate(self.pairs):
            low, high = sorted((rank[s], rank[t]))
            between = [f"\0{i} {r}" for r in range(low + 1, high)]
            rank.update(zip(between, range(low + 1, high), strict=True))
            chains[s, t] = [s, *between, t] if rank[s] <= rank[t] else [s, *between[::-1], t]
        return chains

    def _coordinates(self, layers: list[list[str]], chains: Mapping[Pair, list[str]]) -> None:
        near: dict[str, list[str]] = defaultdict(list)
        for chain in chains.values():
            for a, b in zip(chain, chain[1:], strict=False):
                near[a].append(b)
                near[b].append(a)
        wide = {key: self.sizes[key][0] if key in self.sizes else 8.0 for layer in layers for key in layer}
        x = _spread(layers, near, wide)
        y = 0.0
        for layer in layers:
            tall = max(self.sizes[key][1] if key in self.sizes else 0.0 for key in layer)
            for key in layer:
                self.at[key] = x[key], y + tall / 2
            y += tall + self.gap
        self.height = max(y - self.gap, 0.0)
        self.width = max((x[key] + wide[key] / 2 for key in x), default=0.0)
        self.bends = {pair: [self.at[key] for key in chain[1:-1]] for pair, chain in chains.items()}


def forward(members: Sequence[str], pairs: Sequence[Pair]) -> list[Pair]:
    """The edges with those that close a cycle (the back edge of a loop) turned around."""
    out: dict[str, list[str]] = defaultdict(list)
    for s, t in pairs:
        out[s].append(t)
    state: dict[str, int] = {}
    back: set[Pair] = set()
    for root in members:
        stack = [(root, iter(out[root]))] if root not in state else []
        state.setdefault(root, 1)
        while stack:
            node, rest = stack[-1]
            nxt = next(rest, None)
            if nxt is None:
                state[node] = 2
                stack.pop()
            elif nxt not in state:
                state[nxt] = 1
                stack.append((nxt, iter(out[nxt])))
            elif state[nxt] == 1:
                back.add((node, nxt))
    return [(t, s) if (s, t) in back else (s, t) for s, t in pairs]


def ranks(members: Sequence[str], pairs: Sequence[Pair]) -> dict[str, int]:
    """Longest path from the sources; then sources move down next to what they feed."""
    out: dict[str, list[str]] = defaultdict(list)
    waiting = dict.fromkeys(members, 0)
    for s, t in pairs:
        out[s].append(t)
        waiting[t] += 1
    rank = dict.fromkeys(members, 0)
    sources = ready = [key for key in members if not waiting[key]]
    while ready:
        later = []
        for s in ready:
            for t in out[s]:
                rank[t] = max(rank[t], rank[s] + 1)
                waiting[t] -= 1
                if not waiting[t]:
                    later.append(t)
        ready = later
    for s in sources:
        if out[s]:
            rank[s] = min(rank[t] for t in out[s]) - 1
    return rank


def _layers(rank: Mapping[str, int], chains: Mapping[Pair, list[str]]) -> list[list[str]]:
    """Members by rank; the first order follows the edges, so that what belongs together starts together."""
    near: dict[str, list[str]] = defaultdict(list)
    for chain in chains.values():
        for a, b in zip(chain, chain[1:], strict=False):
            near[a].append(b)
            near[b].append(a)
    layers: dict[int, list[str]] = defaultdict(list)
    seen: set[str] = set()
    for root in rank:
        stack = [root]
        while stack:
            key = stack.pop()
            if key not in seen:
                seen.add(key)
                layers[rank[key]].append(key)
                stack += reversed(near[key])
    return [layers[r] for r in sorted(layers)]


def _order(layers: list[list[str]], steps: Sequence[Pair]) -> list[list[str]]:
    """Median sweeps down and up; the order with the fewest crossings wins."""
    near: dict[str, list[str]] = defaultdict(list)
    for a, b in steps:
        near[a].append(b)
        near[b].append(a)
    best, fewest = layers, crossings(layers, near)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        layers = _sweep(layers, near, down=sweep % 2 == 0)
        count = crossings(layers, near)
        if count < fewest:
            best, fewest = layers, count
    return best


def _sweep(layers: list[list[str]], near: Mapping[str, list[str]], down: bool) -> list[list[str]]:
    found = [list(layer) for layer in layers]
    steps = range(1, len(found)) if down else range(len(found) - 2, -1, -1)
    for i in steps:
        fixed = {key: k for k, key in enumerate(found[i - 1 if down else i + 1])}

        def middle(item: tuple[int, str], fixed: Mapping[str, int] = fixed) -> float:
            """The median place of a node's neighbours; its own where it has none."""
            at = sorted(fixed[n] for n in near[item[1]] if n in fixed)
            return (at[len(at) // 2] + at[(len(at) - 1) // 2]) / 2 if at else float(item[0])

        found[i] = [key for _, key in sorted(enumerate(found[i]), key=middle)]
    return found


def crossings(layers: Sequence[Sequence[str]], near: Mapping[str, list[str]]) -> int:
    """Count the crossings of edges between neighbouring layers."""
    total = 0
    for upper, lower in zip(layers, layers[1:], strict=False):
        at = {key: k for k, key in enumerate(lower)}
        seen: list[int] = []
        for key in upper:
            ends = sorted(at[n] for n in near[key] if n in at)
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _spread(layers: list[list[str]], near: Mapping[str, list[str]], wide: Mapping[str, float]) -> dict[str, float]:
    """x of every member: near its neighbours, in order, never overlapping. The left rim is at 0."""
    x: dict[str, float] = {}
    for layer in layers:
        right = 0.0
        for key in layer:
            x[key] = right + wide[key] / 2
            right += wide[key] + GAP_X
    for sweep in range(10):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            aims = [_middle([x[n] for n in near[key]], x[key]) for key in layer]
            weights = [4.0 if key.startswith("\0") else 1.0 for key in layer]
            x.update(zip(layer, _separate(aims, weights, [wide[key] for key in layer]), strict=True))
    left = min((x[key] - wide[key] / 2 for key in x), default=0.0)
    return {key: value - left for key, value in x.items()}


def _middle(at: Sequence[float], default: float) -> float:
    return sum(at) / len(at) if at else default


def _separate(aims: Sequence[float], weights: Sequence[float], wide: Sequence[float]) -> list[float]:
    """Positions nearest to the aims (least squares) that keep the order and GAP_X between neighbours."""
    offsets = [0.0]
    for a, b in zip(wide, wide[1:], strict=False):
        offsets.append(offsets[-1] + (a + b) / 2 + GAP_X)
    blocks: list[list[float]] = []              # [mean, weight, how many]
    for aim, weight, offset in zip(aims, weights, offsets, strict=True):
        blocks.append([aim - offset, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, heavy, many = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + mean * heavy) / (last[1] + heavy)
            last[1] += heavy
            last[2] += many
    flat = [block[0] for block in blocks for _ in range(int(block[2]))]
    return [start + offset for start, offset in zip(flat, offsets, strict=True)]
