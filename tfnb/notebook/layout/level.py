"""One level of a layered drawing: members in layers, and lanes between them for the edges that pass.

Ranks by longest path, order by median sweeps that keep the fewest crossings, x by least squares under the order
(pooling of adjacent violators). An edge past a layer has a place in it as a box has, so that no box stands in its way.
"""
from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tfnb.notebook.drawing.geometry import Point

GAP_X = 26.0            # between boxes
LANE = 14.0             # width of a lane with the room around it
HEAD = 24.0             # over a level: room for its group's name
PAD = 14.0              # under it and beside it
SWEEPS = 8              # of the order, at most
IN_VAIN = 3             # sweeps that find no better order end it
SPREADS = 10            # sweeps of the places,
ONE_WAY = 6             # the first of them by the layer before alone: those carry a shift through all layers
CLEAR = 6.0             # between a bend and a box that it goes by
LANE_WEIGHT = 0.3       # of its aim, beside that of a box, where neighbours push each other

Pair = tuple[str, str]


class Port(NamedTuple):
    """A place where edges of a node leave a group around it, or enter. low: at its lower rim. up: against the flow."""

    node: str
    low: bool
    up: bool


@dataclass(slots=True)
class Chain:
    """The way of edges through a level. top, bottom: members that it joins, "" where it goes on in the group around.

    upper, lower: the ports of these members that its edges use (one alone if the way begins there). between: the
    lanes, from the top down.
    """

    top: str
    bottom: str
    upper: list[Port]
    lower: list[Port]
    between: list[str] = field(default_factory=list)

    def stops(self) -> list[str]:
        """Everything on the way, from the top down."""
        return [*[self.top] * (self.top != ""), *self.between, *[self.bottom] * (self.bottom != "")]


class _Layer(NamedTuple):
    """Heights of a layer, and its boxes from left to right: rims on each side."""

    top: float
    bottom: float
    left: list[float]
    right: list[float]
    upper: list[float]
    lower: list[float]

    def between(self, low: float, high: float) -> slice:
        """The boxes that are in the way of an edge from x = low to high."""
        return slice(bisect_left(self.right, low - CLEAR), bisect_right(self.left, high + CLEAR))


class Level:
    """A group's members, or the outermost nodes and groups. `at` are centres, once `lay_out` has been called."""

    def __init__(self, members: Sequence[str], pairs: Sequence[Pair]) -> None:
        self.members = members
        self.rank = ranks(members, forward(members, pairs))
        self.ends = min(self.rank.values(), default=0), max(self.rank.values(), default=0)
        self.chains: dict[object, Chain] = {}
        self.at: dict[str, Point] = {}
        self.width = self.height = 0.0
        self.origin: Point = (0.0, 0.0)
        self._layers: list[_Layer] = []
        self._index: dict[str, int] = {}

    def join(self, edge: Pair, ends: Pair) -> tuple[object, bool]:
        """Add an edge between nodes in (or that are) two members. Returns the key of its way, and whether it goes up.

        Edges of one source into the same member share their way.
        """
        source, target = edge
        up = self.rank[ends[0]] > self.rank[ends[1]]
        key = source, ends[1]
        upper, lower = Port(target if up else source, True, up), Port(source if up else target, False, up)
        if key not in self.chains:
            top, bottom = ends[::-1] if up else ends
            self.chains[key] = Chain(top, bottom, [], [])
        chain = self.chains[key]
        for port, ports in ((upper, chain.upper), (lower, chain.lower)):
            if port not in ports:
                ports.append(port)
        return key, up

    def open(self, port: Port, member: str) -> None:
        """Add the way of a port from a member to the group's rim."""
        if port not in self.chains:
            self.chains[port] = Chain(member, "", [port], []) if port.low else Chain("", member, [], [port])

    def lay_out(self, sizes: Mapping[str, tuple[float, float]], offsets: Mapping[Port, float], gap: float) -> None:
        """Place members and lanes. offsets: of ports from the middles of members; `gap` is between layers."""
        if not self.members:
            return
        rank = dict(self.rank)
        for i, chain in enumerate(self.chains.values()):
            low = rank[chain.top] + 1 if chain.top else self.ends[0]
            high = rank[chain.bottom] if chain.bottom else self.ends[1] + 1
            chain.between = [f"\0{i} {r}" for r in range(low, high)]
            rank.update(zip(chain.between, range(low, high), strict=True))
        steps: list[tuple[str, str, float]] = []
        for chain in self.chains.values():
            stops = chain.stops()
            shifts = dict.fromkeys(stops, 0.0)
            if chain.top:
                shifts[chain.top] = _middle([offsets.get(port, 0.0) for port in chain.upper], 0.0)
            if chain.bottom:
                shifts[chain.bottom] = _middle([offsets.get(port, 0.0) for port in chain.lower], 0.0)
            for a, b in zip(stops, stops[1:], strict=False):
                steps.append((a, b, shifts[a] - shifts[b]))
        near: dict[str, list[str]] = defaultdict(list)
        for a, b, _ in steps:
            near[a].append(b)
            near[b].append(a)
        layers = _order(_layers(rank, near), near)
        wide = {key: sizes[key][0] + GAP_X if key in sizes else LANE for layer in layers for key in layer}
        x = _spread(layers, steps, wide)
        self._straighten(layers, x, wide, offsets)
        left = min((x[key] - wide[key] / 2 for key in x), default=0.0) + GAP_X / 2
        self.width = max((x[key] + wide[key] / 2 for key in x), default=0.0) - GAP_X / 2 - left
        y = 0.0
        for i, layer in enumerate(layers):
            tall = max(sizes[key][1] if key in sizes else 0.0 for key in layer)
            for key in layer:
                self.at[key] = x[key] - left, y + tall / 2
                self._index[key] = i
            boxes = [(self.at[key][0], *sizes[key]) for key in layer if key in sizes]
            self._layers.append(_Layer(
                y, y + tall, [x - w / 2 for x, w, _ in boxes], [x + w / 2 for x, w, _ in boxes],
                [y + tall / 2 - h / 2 for _, _, h in boxes], [y + tall / 2 + h / 2 for _, _, h in boxes]))
            y += tall + gap
        self.height = max(y - gap, 0.0)

    def ports(self, offsets: Mapping[Port, float]) -> dict[Port, float]:
        """Return where the ports of the group are at its rims, from its middle."""
        found = {}
        for port, chain in self.chains.items():
            if isinstance(port, Port):
                end = (chain.between[-1] if port.low else chain.between[0]) if chain.between else ""
                x = self.at[end][0] if end else self.at[chain.top or chain.bottom][0] + offsets[port]
                found[port] = x - self.width / 2
        return found

    def _straighten(self, layers: Sequence[Sequence[str]], x: dict[str, float], wide: Mapping[str, float],
                    offsets: Mapping[Port, float]) -> None:
        """Move lanes within the room between their neighbours so that ways have few bends."""
        beside: dict[str, tuple[str, str]] = {}
        for layer in layers:
            beside.update(zip(layer, zip(["", *layer], [*layer[1:], ""], strict=False), strict=False))

        def room(key: str) -> tuple[float, float]:
            before, after = beside[key]
            low = x[before] + (wide[before] + wide[key]) / 2 if before else x[key] - GAP_X
            return low, x[after] - (wide[key] + wide[after]) / 2 if after else x[key] + GAP_X

        for chain in self.chains.values():
            between = chain.between
            head = x[chain.top] + _middle([offsets.get(port, 0.0) for port in chain.upper], 0.0) if chain.top else None
            foot = (x[chain.bottom] + _middle([offsets.get(port, 0.0) for port in chain.lower], 0.0)
                    if chain.bottom else None)
            i = 0
            while i < len(between):
                low, high = room(between[i])
                j = i + 1
                while j < len(between):
                    a, b = room(between[j])
                    if max(a, low) > min(b, high):
                        break
                    low, high, j = max(a, low), min(b, high), j + 1
                aims = [aim for aim, ends in ((head, i == 0), (foot, j == len(between))) if ends and aim is not None]
                inside = [aim for aim in aims if low <= aim <= high]
                aim = inside[0] if inside else _middle([x[key] for key in between[i:j]], low)
                for key in between[i:j]:
                    x[key] = min(max(aim, low), high)
                i = j

    def way(self, key: object, first: Point | None, last: Point | None) -> list[Point]:
        """The corners of a way from the top down, where the level is placed; between those of different x are bends.

        first, last: where it begins and ends, of a way that does so at a member; else it is at the group's rim.
        """
        dx, dy = self.origin
        chain = self.chains[key]
        stops = [(self.at[key][0] + dx, self.at[key][1] + dy) for key in chain.between]
        index = 0
        if first is not None:
            stops.insert(0, first)
            index = self._index[chain.top]
        if last is not None:
            stops.append(last)
        found = [stops[0] if first is not None else (stops[0][0], dy - HEAD)]
        for i, (start, stop) in enumerate(zip(stops, stops[1:], strict=False), index):
            if start[0] != stop[0]:
                found += self._bend(i, start, stop)
        return [*found, stops[-1] if last is not None else (stops[-1][0], dy + self.height + PAD)]

    def _bend(self, index: int, start: Point, stop: Point) -> list[Point]:
        """The ends of a bend from a layer to the next: as long as boxes between them leave room for."""
        dx, dy = self.origin
        over, under = self._layers[index], self._layers[index + 1]
        low, high = min(start[0], stop[0]) - dx, max(start[0], stop[0]) - dx
        y0 = max([start[1] - dy, *over.lower[over.between(low, high)]])
        y1 = min([stop[1] - dy, *under.upper[under.between(low, high)]])
        return [(start[0], y0 + dy), (stop[0], y1 + dy)]

    def gaps(self, key: object) -> list[tuple[float, float]]:
        """Heights without a box that a way crosses, those in its middle first."""
        chain = self.chains[key]
        first = self._index[chain.top] if chain.top else 0
        last = self._index[chain.bottom] if chain.bottom else len(self._layers) - 1
        middle = (first + last - 1) // 2
        dy = self.origin[1]
        return [(self._layers[i].bottom + dy, self._layers[i + 1].top + dy)
                for i in sorted(range(first, last), key=lambda i: (abs(i - middle), i))]


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


def _layers(rank: Mapping[str, int], near: Mapping[str, list[str]]) -> list[list[str]]:
    """Members by rank; the first order follows the edges, so that what belongs together starts together."""
    layers: dict[int, list[str]] = defaultdict(list)
    seen: set[str] = set()
    for root in rank:
        stack = [root]
        while stack:
            key = stack.pop()
            if key not in seen:
                seen.add(key)
                layers[rank[key]].append(key)
                stack += reversed(near.get(key, ()))
    return [layers[r] for r in sorted(layers)]


def _order(layers: list[list[str]], near: Mapping[str, list[str]]) -> list[list[str]]:
    """Median sweeps down and up; the order with the fewest crossings wins."""
    best, fewest, last = layers, crossings(layers, near), -1
    for sweep in range(SWEEPS):
        if not fewest or sweep - last > IN_VAIN:
            break
        layers = _sweep(layers, near, down=sweep % 2 == 0)
        count = crossings(layers, near)
        if count < fewest:
            best, fewest, last = layers, count, sweep
    return best


def _sweep(layers: list[list[str]], near: Mapping[str, list[str]], down: bool) -> list[list[str]]:
    found = [list(layer) for layer in layers]
    steps = range(1, len(found)) if down else range(len(found) - 2, -1, -1)
    for i in steps:
        if len(found[i]) == 1:
            continue
        fixed = {key: k for k, key in enumerate(found[i - 1 if down else i + 1])}

        def middle(item: tuple[int, str], fixed: Mapping[str, int] = fixed) -> float:
            """The median place of a node's neighbours; its own where it has none."""
            at = sorted(fixed[n] for n in near.get(item[1], ()) if n in fixed)
            return (at[len(at) // 2] + at[(len(at) - 1) // 2]) / 2 if at else float(item[0])

        found[i] = [key for _, key in sorted(enumerate(found[i]), key=middle)]
    return found


def crossings(layers: Sequence[Sequence[str]], near: Mapping[str, list[str]]) -> int:
    """Count the crossings of edges between neighbouring layers."""
    total = 0
    for upper, lower in zip(layers, layers[1:], strict=False):
        if len(upper) == 1 or len(lower) == 1:
            continue
        at = {key: k for k, key in enumerate(lower)}
        seen: list[int] = []
        for key in upper:
            ends = sorted(at[n] for n in near.get(key, ()) if n in at)
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _spread(layers: list[list[str]], steps: Sequence[tuple[str, str, float]],
            wide: Mapping[str, float]) -> dict[str, float]:
    """x of every member: near its neighbours, in order, never overlapping."""
    x: dict[str, float] = {}
    for layer in layers:
        right = 0.0
        for key in layer:
            x[key] = right + wide[key] / 2
            right += wide[key]
    weights = {key: LANE_WEIGHT if key[0] == "\0" else 1.0 for key in x}
    above: dict[str, list[tuple[str, float]]] = defaultdict(list)
    below: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for a, b, shift in steps:
        above[b].append((a, shift))
        below[a].append((b, -shift))
    both = {key: above[key] + below[key] for key in x}
    for sweep in range(SPREADS):
        down = sweep % 2 == 0
        pulls = both if sweep >= ONE_WAY else above if down else below
        for layer in layers if down else layers[::-1]:
            aims = [_middle([x[other] + shift for other, shift in pulls[key]], x[key]) for key in layer]
            if len(layer) > 1:
                aims = _separate(aims, [weights[key] for key in layer], [wide[key] for key in layer])
            x.update(zip(layer, aims, strict=True))
    return x


def _middle(at: Sequence[float], default: float) -> float:
    return sum(at) / len(at) if at else default


def _separate(aims: Sequence[float], weights: Sequence[float], wide: Sequence[float]) -> list[float]:
    """Positions nearest to the aims (least squares) that keep the order and do not overlap."""
    means: list[float] = []                     # of blocks of members that touch, and the weight and count of each
    heavy: list[float] = []
    counts: list[int] = []
    offsets: list[float] = []
    offset, before = 0.0, wide[0] if wide else 0.0
    for aim, weight, width in zip(aims, weights, wide, strict=True):
        offset += (before + width) / 2
        before = width
        offsets.append(offset)
        mean, count = aim - offset, 1
        while means and means[-1] > mean:
            other = heavy.pop()
            mean = (means.pop() * other + mean * weight) / (other + weight)
            weight += other
            count += counts.pop()
        means.append(mean)
        heavy.append(weight)
        counts.append(count)
    at = iter(offsets)
    return [mean + next(at) for mean, count in zip(means, counts, strict=True) for _ in range(count)]
