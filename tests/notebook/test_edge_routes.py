"""Edges of the built-in layout go around boxes: none passes through one that it does not begin, end or lie in."""
from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

import tfnb as tf
from tests.notebook.networks import NETWORKS
from tfnb.notebook.drawing.geometry import Box, Geometry, Point, Route
from tfnb.notebook.drawing.scene import Scene
from tfnb.notebook.graph.model import Model
from tfnb.notebook.layout.engines import lay_out

DEPTHS = 1, 2, 3, 9
INSIDE = 1.5            # pixels that a line may be in a box: half of its width
STEPS = np.linspace(0, 1, 33)[:, None]


@pytest.fixture(scope="module", params=NETWORKS)
def models(request: pytest.FixtureRequest) -> dict[str, Model]:
    with tf.Graph().as_default() as graph:
        NETWORKS[request.param]()
        return {level: Model(graph, level=level) for level in ("layers", "ops")}


def sampled(points: tuple[Point, ...]) -> np.ndarray:
    """Points on a chain of Bezier curves."""
    ends = np.array(points)
    parts = [(1 - STEPS) ** 3 * a + 3 * (1 - STEPS) ** 2 * STEPS * b + 3 * (1 - STEPS) * STEPS ** 2 * c + STEPS ** 3 * d
             for a, b, c, d in (ends[i:i + 4] for i in range(0, len(ends) - 3, 3))]
    return np.concatenate(parts)


def crossed(scene: Scene, geometry: Geometry) -> Iterator[tuple[str, str, str]]:
    """Edges with a box that they pass through: source, target, key of the box."""
    parents = {item.key: item.parent for item in (*scene.nodes, *scene.groups)}
    pieces = [(key, box) for key, first in geometry.boxes.items() for box in (first, *geometry.pieces.get(key, ()))]
    x, y, w, h = np.array([box for _, box in pieces]).T
    for (source, target), route in geometry.routes.items():
        own = {source, target}
        for key in (source, target):
            while parents.get(key):
                key = parents[key]
                own.add(key)
        at = sampled(route.points)
        inside = (abs(at[:, :1] - x) < w / 2 - INSIDE) & (abs(at[:, 1:] - y) < h / 2 - INSIDE)
        yield from ((source, target, pieces[i][0]) for i in np.flatnonzero(inside.any(0)) if pieces[i][0] not in own)


def through_ends(geometry: Geometry) -> Iterator[tuple[str, str]]:
    """Edges that pass through their own source or target on the way."""
    for (source, target), route in geometry.routes.items():
        at = sampled(route.points)
        boxes = geometry.boxes[source], geometry.boxes[target]
        if any(((abs(at - (box.x, box.y)) < (box.w / 2 - INSIDE, box.h / 2 - INSIDE)).all(1)).any() for box in boxes):
            yield source, target


@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize("level", ["layers", "ops"])
def test_no_edge_crosses_a_box_that_is_not_its_own(models: dict[str, Model], level: str, direction: str) -> None:
    model = models[level]
    for depth in DEPTHS:
        scene = model.scene(model.to_depth(depth) if depth > 1 else (), model.beside)
        geometry = lay_out(scene, "builtin", direction)
        assert not [*crossed(scene, geometry)], f"{depth} levels are open"
        assert not [*through_ends(geometry)]


@pytest.mark.parametrize("seed", range(2))
def test_whichever_scopes_are_open_and_however_wide_it_may_be(models: dict[str, Model], seed: int) -> None:
    random = Random(seed)
    model = models["ops"]
    opened = {key for key, node in model.nodes.items() if node.expandable and random.random() < 0.6}
    scene = model.scene(opened, None, random.choice([40, 200]))
    assert not [*crossed(scene, lay_out(scene, "builtin", room=random.choice([400, 840, 2000])))]


def test_crossings_are_seen() -> None:
    scene = Model([("a", "Neg"), ("b", "Neg", ("a",)), ("c", "Neg", ("b",)), ("d", "Add", ("a", "c"))]).scene()
    geometry = lay_out(scene, "builtin")
    (x0, y0), (x1, y1) = geometry.routes["a", "d"].points[0], geometry.routes["a", "d"].points[-1]
    geometry.routes["a", "d"] = Route(((x0, y0), (x0, y0), (x1, y1), (x1, y1)))
    geometry.boxes["b"] = Box((x0 + x1) / 2, (y0 + y1) / 2, 60.0, 30.0)
    assert ("a", "d", "b") in {*crossed(scene, geometry)}


def test_edges_to_and_fro_lie_beside_one_another() -> None:
    rows = [("loop/Merge", "Merge", ("loop/Next",)), ("loop/Next", "NextIteration", ("loop/Merge",))]
    routes = lay_out(Model(rows).scene(["loop/"]), "builtin").routes
    forth, back = (sampled(routes[edge].points)
                   for edge in (("loop/Merge", "loop/Next"), ("loop/Next", "loop/Merge")))
    assert np.abs(forth[:, 0] - back[::-1, 0]).min() > 8
