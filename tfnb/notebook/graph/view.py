"""The drawing of a graph in a notebook: scopes open and close; where nothing runs, it is an SVG and a text.

Protocol with the front end (`extension/`), widget kind "graph": the trait `state` holds what is shown,
    {title, svg, expanded, selected, aside, color, trace, series, level, colors, details, hits, note, room}
and the front end asks by custom messages, each answered by a new `state`:
    {type: "expand" | "collapse" | "select", name: key}   {type: "aside", name: key, value}
    {type: "level", name: "layers" | "ops"}   {type: "color", name: one of `colors`}
    {type: "trace", name: key, value: "inputs" | "outputs"}; name "": none
    {type: "room", width}: of the place of the drawing, in pixels
    {type: "dot"}: answered by a message {type: "dot", text}
    {type: "lines"}: answered by {type: "lines", cells, nodes}, see notebook/graph/code_lines.py
    {type: "reveal", name}: select the op of that name, opening what is around it        {type: "search", text}
    {type: "error", message}: something failed in the browser; kept in `errors` and logged.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tfnb.graph.parts.operation import Operation
from tfnb.notebook.drawing.geometry import Geometry, Sheet
from tfnb.notebook.drawing.scene import Scene
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.page import page_script, without_signs
from tfnb.notebook.frontend.widget import View
from tfnb.notebook.graph.code_lines import code_lines
from tfnb.notebook.graph.costs import Cost
from tfnb.notebook.graph.details import details, outline, search
from tfnb.notebook.graph.dot_text import plain_dot, source
from tfnb.notebook.graph.insides import Insides
from tfnb.notebook.graph.model import LIMIT, Model
from tfnb.notebook.graph.paint import options_of, paint, traced
from tfnb.notebook.graph.read import UnknownTarget, elements, op_of
from tfnb.notebook.graph.svg import graph_svg
from tfnb.notebook.graph.tree import Node
from tfnb.notebook.graph.view_options import FORMS, as_list, check_options, known_color, known_level, matching
from tfnb.notebook.layout.engines import ROOM, lay_out
from tfnb.notebook.plots.svg_figure import DRAWN, save_drawing

NARROWEST, WIDEST = 300.0, 2400.0       # rooms that a browser may ask for
FEW = 5                 # names in a note


class GraphView(View):
    """A drawing of a graph; made by `graph_view`. Displayed in a notebook it is interactive.

    It shows the graph as it was when the view was made.
    """

    kind = "graph"

    def __init__(self, target: Any = None, depth: int = 1, expand: Iterable[str] = (), aside: Iterable[str] = (),
                 keep: Iterable[str] = (), engine: str = "auto", direction: str = "down", limit: int = LIMIT,
                 title: str = "", values: Mapping[str, Any] | None = None,
                 color: str = "structure", costs: Mapping[str, Cost] | None = None,
                 trace: tuple[str, str] | None = None, detach: Iterable[str] = (), series: bool = True,
                 up: int | None = None, down: int | None = None, form: str = "auto",
                 level: str = "layers") -> None:
        super().__init__()
        if form not in FORMS:
            raise ValueError(f"a graph is shown as {', '.join(FORMS)}, not {form!r}")
        self.model, self.form = Model(target, values, series, up, down, known_level(level)), form
        self.engine, self.direction, self.limit, self.title = engine, direction, limit, title
        self._around = self._start(target, up is not None or down is not None)
        self._expanded = self.model.at_first(depth) | self._around
        self._aside = dict.fromkeys(matching(self.model.root, as_list(detach)), True)
        self._aside |= {self.model.node(name).key: True for name in as_list(aside)}
        self._aside |= {self.model.node(name).key: False for name in as_list(keep)}
        self._selected, self._note, self._svg = "", "", ""
        self._hits: list[dict[str, Any]] = []
        self._room = ROOM
        self._forget_places()
        self._costs = dict(costs or {})
        self._color, self._trace = known_color(color, self._costs), self._traced(trace)
        for name in as_list(expand):
            self._open(self.model.node(name))
        shell.note_seen(info.origin for info in self.model.infos if isinstance(info.origin, Operation))
        self._draw()

    def _start(self, target: Any, near: bool) -> set[str]:
        """A view of one scope opens it; one of what is near some ops opens what is around them."""
        key = target.rstrip("/") + "/" if isinstance(target, str) else ""
        if key and key in self.model.nodes:
            return self.model.path(self.model.nodes[key]) | {key}
        items = [*target] if isinstance(target, (list, tuple)) else [target]
        ops = [name for item in items for name in ([op_of(item)] if isinstance(item, str) else elements(item))] \
            if near else []
        return set().union(*(self.model.path(self.model.nodes[name]) for name in ops if name in self.model.nodes))

    # what is shown

    @property
    def values(self) -> dict[str, Any]:
        """Tensor name -> what was seen of it, for views that `watch` makes."""
        return self.model.values

    @property
    def state(self) -> dict[str, Any]:
        """The nodes that are open, selected, set aside; may be assigned, in part too, to get the same drawing again."""
        return {"expanded": sorted(key.rstrip("/") for key in self._expanded), "selected": self._selected,
                "aside": dict(sorted(self._aside.items())), "color": self._color,
                "trace": list(self._trace) if self._trace else None, "series": self.model.series,
                "level": self.model.level}

    @state.setter
    def state(self, state: Mapping[str, Any]) -> None:
        """Raises ValueError for unknown keys, UnknownTarget for what is not drawn."""
        unknown = sorted(set(state) - set(self.state))
        if unknown:
            raise ValueError(f"a graph view's state has {', '.join(self.state)}, not {', '.join(unknown)}")
        with self._lock:
            series, level = state.get("series", self.model.series), known_level(state.get("level", self.model.level))
            if (series, level) != (self.model.series, self.model.level):
                self.model.fold(bool(series), level)
                self._keep_known()
                self._forget_places()
            if "color" in state:
                self._color = known_color(state["color"], self._costs)
            if "trace" in state:
                self._trace = self._traced(state["trace"])
            if "expanded" in state:
                self._expanded = {self.model.node(name).key for name in state["expanded"]}
            if "aside" in state:
                self._aside = {self.model.node(name).key: bool(value) for name, value in state["aside"].items()}
            if "selected" in state:
                self._selected = self._key(state["selected"])
            self._draw()

    def _forget_places(self) -> None:
        self._first: Geometry | None = None         # all drawings keep places as they are there,
        self._panels: dict[str, bool] = {}          # and what is set aside

    def _take_places(self) -> None:
        """Lay out the view as it opens: what state it is in, alone, decides on the drawing of that state."""
        scene = self.model.scene(self.model.at_first(1) | self._around, self.model.beside, self.limit)
        self._first = lay_out(scene, self.engine, self.direction, self._room)
        self._panels = {node.key: bool(node.panel) for node in scene.nodes}

    def _keep_known(self) -> None:
        """Forget of the state what is no node of the hierarchy any more."""
        nodes = self.model.nodes
        self._expanded &= nodes.keys()
        self._aside = {key: value for key, value in self._aside.items() if key in nodes}
        self._selected = self._selected if self._selected in nodes else ""
        self._trace = self._trace if self._trace and self._trace[0] in nodes else None

    def expand(self, name: str) -> GraphView:
        """Open the scope or variable called `name`, with what is around it. Returns the view."""
        return self._do("expand", self._key(name))

    def collapse(self, name: str) -> GraphView:
        """Close the scope called `name`, and all that is open in it. Returns the view."""
        return self._do("collapse", self._key(name))

    def select(self, name: str) -> GraphView:
        """Show the details of the node called `name` ("": of none), opening what is around it. Returns the view."""
        return self._do("select", self._key(name))

    def set_aside(self, name: str, value: bool = True) -> GraphView:
        """Take a node out of the main drawing, or (value=False) keep it there. Returns the view."""
        return self._do("aside", self._key(name), value)

    def color_by(self, how: str) -> GraphView:
        """Colour nodes by "structure", "cell", "device", "gradient", "stale", "change", and, where costs were
        measured, "time" or "memory". Returns the view. Raises ValueError for another word."""
        with self._lock:
            self._color = known_color(how, self._costs)
            self._draw()
        return self

    def show_level(self, level: str) -> GraphView:
        """Show "layers" (a layer's ops and variables in one box) or "ops" (every scope as it was named). Returns the
        view. Raises ValueError for another word."""
        with self._lock:
            if known_level(level) != self.model.level:
                self.model.fold(self.model.series, level)
                self._keep_known()
                self._expanded |= self.model.at_first(1)
                self._forget_places()
            self._draw()
        return self

    def fit_to(self, room: float) -> GraphView:
        """Draw for a place of that many pixels: fold chains into as many columns as fit, put what is set aside below
        the model where there is no room beside it. Returns the view."""
        with self._lock:
            if room != self._room:
                self._room = room
                self._forget_places()
                self._draw()
        return self

    def trace(self, name: str, direction: str = "inputs") -> GraphView:
        """Leave strong only what the node called `name` gets values from ("inputs") or gives values to ("outputs");
        "" traces nothing. Returns the view."""
        with self._lock:
            self._trace = self._traced((name, direction) if name else None)
            self._draw()
        return self

    def _traced(self, trace: Any) -> tuple[str, str] | None:
        if not trace:
            return None
        name, direction = trace
        if direction not in ("inputs", "outputs"):
            raise ValueError(f"traces go to inputs or outputs, not {direction!r}")
        return self._key(name), direction

    def details(self, name: str) -> dict[str, Any]:
        """Return the text of the panel for a node: type, shapes, attrs, inputs and outputs, the line that made it."""
        return details(self.model, self.model.node(name))

    def _key(self, name: str) -> str:
        """The key of what is called `name`: exactly, or as `Model.node` finds it."""
        return name if not name or name.endswith("/") and name in self.model.nodes else self.model.node(name).key

    def _do(self, what: str, key: str, value: bool = True) -> GraphView:
        """Change what is shown; all ways lead here."""
        with self._lock:
            if what == "expand":
                self._open(self.model.by_key(key))
            elif what == "collapse":
                inside = {k for k in self._expanded if key in self.model.path(self.model.nodes[k])}
                self._expanded -= {key} | inside
            elif what == "select":
                self._expanded |= self.model.path(self.model.by_key(key)) if key else set()
                self._selected = key
            else:
                self._aside[self.model.by_key(key).key] = value
            self._draw()
        return self

    def _open(self, node: Node) -> None:
        self._expanded |= self.model.path(node) | ({node.key} if node.expandable else set())
        if self.model.level == "layers" and node.loop:          # the box of a recurrent layer opens to its body
            loops = [child.key for child in node.children.values() if child.loop]
            self._expanded |= set(loops) if len(loops) == 1 else set()

    def _draw(self) -> None:
        self.model.look_up_names()
        if self._first is None:
            self._take_places()
        scene = self._shown()
        self._note = f"{scene.hidden} ops do not fit: close a scope, or search" if scene.hidden else self._gone()
        self._drawn = scene, lay_out(scene, self.engine, self.direction, self._room, self._first)
        self._svg = graph_svg(*self._drawn, self.title)
        self.tell()

    def _shown(self) -> Scene:
        scene = self._painted(self._scene())
        return traced(scene, self.model.nodes, self.model.by_name, *self._trace) if self._trace else scene

    def _scene(self) -> Scene:
        aside = self.model.beside | self._panels | self._aside
        return self.model.scene(self._expanded, aside, self.limit, self._selected)

    def _gone(self) -> str:
        """Return, where colours show the last run of cells, the ops that it made no longer."""
        graph = getattr(self.model.infos[0].origin, "graph", None) if self.model.infos else None
        found = shell.removed(graph) if self._color == "change" else []
        return f"made no longer: {', '.join(found[:FEW])}{' ...' * (len(found) > FEW)}" if found else ""

    def _painted(self, scene: Scene) -> Scene:
        return paint(scene, self.model.nodes, self._color, self._costs)

    def widget_state(self) -> dict[str, Any]:
        """The state that the browser shows."""
        shown = details(self.model, self.model.nodes[self._selected]) if self._selected else None
        return {**self.state, "title": self.title, "svg": self._svg, "details": shown, "hits": self._hits,
                "note": self._note, "colors": options_of(self._costs), "room": self._room}

    # forms

    def svg(self) -> str:
        """The drawing as canonical SVG text."""
        return self._svg

    def to_text(self) -> str:
        """The drawing as an indented outline."""
        return outline(self.model, self._expanded, self.limit)

    def to_dot(self) -> str:
        """The drawing as Graphviz DOT text, with what is set aside in its place."""
        scene = self.model.scene(self._expanded, None, self.limit, self._selected)
        return plain_dot(Sheet(scene.nodes, scene.groups, scene.edges, self.direction))

    def graphviz(self) -> Any:
        """The drawing as a `graphviz.Source` in its style, to restyle, or to render as PDF for a paper.

        What is set aside is in a frame beside the model. Raises ImportError where there is no package `graphviz`.
        """
        self.model.look_up_names()
        return source(self._shown(), self.direction, self.title)

    def save(self, path: str | Path) -> Path:
        """Write the drawing to a .svg, .png, .pdf, .dot or .txt file and return its path.

        .png and .pdf need matplotlib. Raises ValueError for other endings.
        """
        path = Path(path)
        forms = {".dot": self.to_dot, ".txt": self.to_text}
        if path.suffix in DRAWN:
            save_drawing(self._svg, path)
        elif path.suffix in forms:
            path.write_text(forms[path.suffix](), encoding="utf-8")
        else:
            raise ValueError(f"a graph is saved as {', '.join((*DRAWN, *forms))}; got {path.name!r}")
        return path

    def forms(self) -> dict[str, str]:
        """The outline and the drawing, or what `form` says."""
        if self.form == "dot":
            return {"text/plain": self.to_dot()}
        picture = {"image/svg+xml": without_signs(self._svg)} if self.form != "text" else {}
        return {"text/plain": self.to_text()} | picture

    def script(self, forms: Mapping[str, str]) -> str:
        """The script of the drawing on a page without a kernel: its scopes open and close."""
        insides = Insides(self.model, self._drawn[0], self._painted, self.direction)
        return page_script(graph_svg(*self._drawn, self.title, insides.nodes()), insides=insides.svgs())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> shell.Bundle:
        return super()._repr_mimebundle_() if self.form == "auto" else dict(self.forms())

    def hear(self, message: Mapping[str, Any]) -> None:
        """Answer a request of the front end. One for an unknown node is answered in the note, never raised."""
        kind, name = message.get("type"), str(message.get("name", ""))
        try:
            if kind in ("expand", "collapse", "select", "aside"):
                self._do(kind, name, bool(message.get("value")))
            elif kind == "color":
                self.color_by(name)
            elif kind == "level":
                self.show_level(name)
            elif kind == "trace":
                self.trace(name and self.model.by_key(name).key, str(message.get("value", "inputs")))
            elif kind == "dot" and self.widget is not None:
                self.widget.send({"type": "dot", "text": self.to_dot()})
            elif kind == "lines" and self.widget is not None:
                self.widget.send({"type": "lines", **code_lines(self.model, self._scene())})
            elif kind == "room":
                self.fit_to(min(WIDEST, max(NARROWEST, float(message["width"]))))
            elif kind == "reveal":
                self.select(name)
            elif kind == "search":
                self._hits = search(self.model, str(message.get("text", "")))
                self.tell()
        except (UnknownTarget, ValueError, KeyError, TypeError) as problem:
            self._note = str(problem)
            self.tell()
        if self.widget is not None:
            self.widget.send({"type": "heard"})         # a state that is what it was is not sent again


def graph_view(target: Any = None, depth: int = 1, expand: Iterable[str] | str = (), **options: Any) -> GraphView:
    """Draw a graph: the default one, or `target` (see below). In a notebook the result is interactive.

    target: a Graph, a Session, tensors or operations (they and what they depend on), the name of an op or of a scope,
        a list of such names, tensors and operations (all that leads to one of them), a GraphDef, or a list of (name,
        type, inputs, control inputs, attrs, shapes).
    depth: how many levels of scopes show; gradients, optimizers and savers stay closed unless in `expand`.
    expand: names of scopes and variables to open.
    aside, keep: names of nodes to set aside, or to keep in the main drawing, whatever the thresholds say.
    detach: regular expressions: nodes whose names they are found in are set aside.
    series: fold numbered blocks of a crowded scope into one node.
    level: "layers" (a layer with its variables is one box; gradients, optimizer and savers stand beside the model) or
        "ops" (every scope as it was named).
    up, down: only that many steps of what the target takes, and of what takes it.
    form: "auto" (interactive where that works), "svg", "dot" or "text".
    engine: "auto", "dot", "pygraphviz" or "builtin".   direction: "down", "up" or "right".
    limit: most visible nodes.   title: the accessible name of the drawing.
    values: what to show on edges, by the names of tensors: what `watch` has seen of them.
    color: "structure", "cell", "device", "gradient", "stale", "change" (by the last run of its cell); with `costs`,
        which `measure` gives, "time" and "memory".
    trace: (name, "inputs" or "outputs"): what is not on the way is pale.

    Raises TypeError for an unknown option, with the nearest name; ValueError for an unknown target or name.
    """
    check_options(options)
    return GraphView(target, depth, expand, **options)


def graphviz(target: Any = None, depth: int = 1, expand: Iterable[str] | str = (), **options: Any) -> Any:
    """Return a drawing as a `graphviz.Source`: its style, its colours, what `graph_view` would show.

    The arguments are those of `graph_view`. The result is shown by notebooks, `.render("net", format="pdf")` writes it,
    `.source` is the DOT text. Needs the Python package `graphviz` (raises ImportError), and to render the program
    `dot`.
    """
    return graph_view(target, depth, expand, **options).graphviz()
