"""The insides of closed scopes, drawn for a page without a kernel: there a scope opens by putting its own drawing in
place of its box (`extension/page`)."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tfnb.notebook.drawing.geometry import Box, Geometry
from tfnb.notebook.drawing.scene import Scene, SceneEdge, SceneNode
from tfnb.notebook.drawing.svg import element
from tfnb.notebook.graph.model import Model, edges_between, rest_node, scene_node
from tfnb.notebook.graph.read import OpInfo, op_of
from tfnb.notebook.graph.svg import world
from tfnb.notebook.graph.tree import Node
from tfnb.notebook.layout.engines import MARGIN, lay_out

MOST_NODES = 240            # in all drawings of a view: 20 ms for 100 of them
MOST_CHILDREN = 24          # in one
MOST_PORTS = 3              # nodes outside that are named above, and below
HEAD = 14.0                 # room for the name of the scope
IN, OUT = "<", ">"          # begin the keys of ports; no key of a node does

Inside = tuple[Scene, Geometry]


class Insides:
    """Drawings of the scopes of a scene, and of those in them, as many as there is room for; outermost first."""

    def __init__(self, model: Model, scene: Scene, painted: Callable[[Scene], Scene], direction: str) -> None:
        self._model, self._direction = model, direction
        self._aside = {node.key for node in scene.nodes if node.panel}
        self._consumers: dict[str, list[OpInfo]] = defaultdict(list)
        for info in model.infos:
            for name in {*map(op_of, info.inputs), *info.control}:
                self._consumers[name].append(info)
        self.drawn: dict[str, Inside] = {}
        room, todo = MOST_NODES, [node.key for node in scene.nodes if node.expandable]
        for key in todo:                                        # it grows while it is read
            made = painted(self._scene(model.nodes[key]))
            room -= len(made.nodes)
            if room < 0:
                break
            self.drawn[key] = made, self._geometry(made)
            todo += [node.key for node in made.nodes if node.expandable]

    def nodes(self) -> Iterator[SceneNode]:
        """All nodes of the drawings: what styles must be there."""
        for scene, _ in self.drawn.values():
            yield from (*scene.nodes, *scene.groups)

    def svgs(self) -> dict[str, str]:
        """Key of a scope -> SVG of its frame and what is in it."""
        return {key: element("svg", *world(scene, geometry), height=geometry.height, width=geometry.width,
                             xmlns="http://www.w3.org/2000/svg") for key, (scene, geometry) in self.drawn.items()}

    def _scene(self, group: Node) -> Scene:
        children, rest = [*group.children.values()][:MOST_CHILDREN], [*group.children.values()][MOST_CHILDREN:]
        inside = {info.name: child.key for child in children for info in child.ops()}
        inside |= {info.name: f"{group.key}..." for child in rest for info in child.ops()}
        ports: dict[str, SceneNode] = {}
        seen = inside | dict(self._ports(group, inside, ports))
        infos = [self._model.by_name[name] for name in seen]
        edges = edges_between(infos, seen, self._model.values, self._model.weights)
        kept = [edge for edge in edges if not (edge.source in ports and edge.target in ports)]
        nodes = [*map(scene_node, children), *([rest_node(f"{group.key}...", rest)] if rest else []), *ports.values()]
        return Scene(tuple(replace(node, parent=group.key) for node in nodes), (scene_node(group),),
                     tuple(_one_way(kept, ports)), len(inside))

    def _ports(self, group: Node, inside: Mapping[str, str], ports: dict[str, SceneNode]) -> Iterator[tuple[str, str]]:
        """(op outside, key of the port that it is seen at); fills `ports`."""
        path = self._model.path(group) | {group.key, ""}
        own = path & self._aside
        for name in inside:
            info = self._model.by_name[name]
            before = (self._model.by_name.get(op_of(one)) for one in (*info.inputs, *info.control))
            for sign, found in ((IN, before), (OUT, self._consumers[name])):
                for other in found:
                    node = None if other is None or other.name in inside else self._sibling(other, path)
                    if other is None or node is None or (not own and self._is_aside(node)):
                        continue
                    key = f"{sign}{group.key}{sign}{node.key}"
                    if key in ports or sum(one[0] == sign for one in ports) < MOST_PORTS:
                        ports.setdefault(key, SceneNode(key, node.name, node.label, "rest", "rest"))
                        yield other.name, key

    def _sibling(self, info: OpInfo, path: set[str]) -> Node | None:
        """The outermost node around an op that is beside a scope, not around it."""
        node = self._model.nodes.get(info.name)
        while node is not None and node.parent is not None and node.parent.key not in path:
            node = node.parent
        return node

    def _is_aside(self, node: Node) -> bool:
        return bool(({node.key} | self._model.path(node)) & self._aside)

    def _geometry(self, scene: Scene) -> Geometry:
        inner = lay_out(replace(scene, groups=()), "builtin", self._direction)
        made = Geometry(0.0, 0.0)
        made.place(inner, 0.0, HEAD)
        made.width, made.height = max(made.width, 2 * MARGIN + 8 * len(scene.groups[0].label)), made.height
        made.boxes[scene.groups[0].key] = Box(made.width / 2, made.height / 2, made.width, made.height)
        return made


def _one_way(edges: list[SceneEdge], ports: Mapping[str, SceneNode]) -> Iterator[SceneEdge]:
    """The edges out of ports that feed the scope, and into those that it feeds: a node may be both."""
    for edge in edges:
        if not (edge.source in ports and edge.source[0] == OUT or edge.target in ports and edge.target[0] == IN):
            yield edge
