"""A drawing as DOT text with names and labels: plain for other programs, or in the style of our own drawings.

Styled text has the colours, shapes, frames and tooltips of the drawing (in light) and can be restyled: each node has
its own attributes, the defaults of the page, of text and of edges stand at the top.
"""
from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.notebook.drawing.geometry import Sheet, letters, node_size, shorten
from tfnb.notebook.drawing.palette import INKS, ROLES, blend
from tfnb.notebook.drawing.scene import Scene, SceneEdge, SceneNode
from tfnb.notebook.drawing.svg import text
from tfnb.notebook.graph.svg import line_width, painted, tip_of
from tfnb.notebook.layout.dot import RANKDIR, nest
from tfnb.notebook.layout.engines import panel_sheets

package = lazy_module("graphviz")

DOWNLOAD = "https://graphviz.org/download"      # of `dot`
FONTS = "Helvetica,Arial,sans-serif"
BESIDE = "cluster beside the model"     # no scope has a space in its name
PALE = 0.25             # of the colours of what is not on a trace
SHAPES = {"scope": "box", "series": "box", "variable": "cylinder", "rest": "plaintext"}      # by form; else an ellipse
WORDS = ("style", "shape", "rankdir")       # attributes that are a word of Graphviz's
Attributes = dict[str, Any]


class Markup(str):
    """A label in Graphviz's own markup."""


def plain_dot(sheet: Sheet) -> str:
    """A sheet as DOT text that any program reads: keys, labels and shapes."""
    def node_line(node: SceneNode) -> str:
        label = "\n".join(filter(None, (node.label, node.sub, node.bound)))
        return _statement(_quoted(node.key), {"label": label, "shape": SHAPES.get(node.form, "ellipse")})

    def edge_line(edge: SceneEdge) -> str:
        return _arrow(edge, {"style": "dashed"} if edge.control else {"label": edge.label} if edge.label else {})

    lines = nest(sheet, node_line, lambda group, inner: _cluster(group.key, {"label": group.label}, inner))
    return "\n".join(["digraph tfnb {", f"  rankdir={RANKDIR[sheet.direction]};", *lines,
                      *map(edge_line, sheet.edges), "}", ""])


def source(scene: Scene, direction: str, title: str = "") -> Any:
    """A scene as a `graphviz.Source`, in the style of our drawings. Raises ImportError where there is no `graphviz`."""
    try:
        return _shown_class(package.Source)(styled_dot(scene, direction, title))
    except ImportError as problem:
        raise ImportError("expected the Python package graphviz, which is not installed: %pip install graphviz (and, "
                          f"to render, the program `dot`: {DOWNLOAD})") from problem


@functools.cache
def _shown_class(base: Any) -> Any:
    """graphviz.Source, but shown as a line of text, not as an error, where the program that draws it is missing."""
    class Source(base):     # type: ignore[misc]
        def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> Any:
            try:
                return super()._repr_mimebundle_(*args, **kwargs)
            except package.ExecutableNotFound:
                return {"text/plain": f"graphviz.Source of {len(self.source.splitlines())} lines of DOT, in .source; "
                                      f"to draw it, the program `dot` must be on PATH: {DOWNLOAD}"}
    Source.__module__ = "graphviz"
    return Source


def styled_dot(scene: Scene, direction: str, title: str = "") -> str:
    """A scene as DOT text in the style of our drawings, what is set aside in a frame of its own."""
    ink, muted = INKS["ink"][0], INKS["muted"][0]
    head = {"graph": {"rankdir": RANKDIR[direction], "bgcolor": "white", "fontname": FONTS, "fontsize": 12,
                      "nodesep": 0.3, "ranksep": 0.35, "tooltip": title or f"graph of {scene.ops} ops"},
            "node": {"fontname": FONTS, "fontsize": 12, "fontcolor": ink, "margin": "0.16,0.06", "height": 0.35},
            "edge": {"fontname": FONTS, "fontsize": 10, "fontcolor": muted, "color": INKS["line"][0],
                     "arrowsize": 0.6}}
    if scene.legend:
        head["graph"] |= {"label": _legend(scene), "labelloc": "b"}
    panels = panel_sheets(scene, direction)
    lines = [line for panel, sheet in panels.items() if not panel for line in _nested(sheet)]
    beside = [sheet for panel, sheet in panels.items() if panel]
    inner = [line for sheet in beside for line in _nested(sheet)]
    under = [f"  {_quoted(a.nodes[0].key)} -> {_quoted(b.nodes[0].key)} [style=invis];"
             for a, b in zip(beside, beside[1:], strict=False)]
    frame = {"label": Markup("<I>beside the model</I>"), "color": INKS["frame"][0], "style": "dashed,rounded",
             "fontcolor": muted, "labelloc": "t"}
    lines += _cluster(BESIDE.removeprefix("cluster "), frame, inner + under) if inner else []
    edges = [_arrow(edge, _edge_style(edge)) for edge in scene.edges]
    loops = [_quoted(node.key) for node in scene.nodes if node.loop and node.form == "scope"]
    return "\n".join(["digraph tfnb {", *(_statement(kind, attributes) for kind, attributes in head.items()),
                      *lines, *edges, *(f"  {key} -> {key};" for key in loops), "}", ""])


def _nested(sheet: Sheet) -> list[str]:
    return nest(sheet, lambda node: _statement(_quoted(node.key), _node_style(node)),
                lambda group, inner: _cluster(group.key, _group_style(group), inner))


def _node_style(node: SceneNode) -> Attributes:
    colours = {"fill": ROLES[node.role][0].fill, "stroke": ROLES[node.role][0].stroke} | painted(node.paint)
    fill = blend(str(colours["fill"]), float(str(colours.get("fill_opacity", 1))))
    fade = PALE if node.off else 1.0
    style = ["filled", *["rounded"] * (node.form in ("scope", "series", "rest", "op") and node.role != "input"),
             *["dashed"] * ("stroke_dasharray" in colours or node.form == "rest")]
    found: Attributes = {"label": _lines(node), "shape": SHAPES.get(node.form, "ellipse"), "style": ",".join(style),
                         "fillcolor": blend(fill, fade), "color": blend(str(colours["stroke"]), fade),
                         "fontcolor": blend(INKS["ink"][0], fade), "tooltip": tip_of(node)}
    if node.form == "op" and node.role == "const":
        said = " = ".join(filter(None, (node.bound, node.sub or node.label)))
        return found | {"shape": "circle", "label": "", "width": 0.16, "fixedsize": "true", "xlabel": shorten(said),
                        "style": "filled", "fontsize": 10}
    if node.form == "op" and node.role == "input":          # Graphviz would make room for a text of any slant
        wide, tall = node_size(node)
        found |= {"shape": "parallelogram", "width": round(wide / 72 + 0.2, 2), "height": round(tall / 72, 2),
                  "fixedsize": "true"}
    elif node.form == "op" and node.role == "failed" or node.form == "rest":
        found["shape"] = "box"
    elif node.form == "op" and node.role != "variable":
        found["margin"] = "0.03,0.02"
    return found | ({"peripheries": 2} if node.form == "series" else {})


def _lines(node: SceneNode) -> Markup:
    """The label: the name, bold for what opens, under it what it is and its Python name."""
    most = letters(node)
    name = _text(shorten(node.label, most))
    lines = [f"<B>{name}</B>" if node.form != "op" else name]
    if node.sub:
        lines.append(f'<FONT POINT-SIZE="10" COLOR="{INKS["muted"][0]}">{_text(shorten(node.sub, most))}</FONT>')
    if node.bound:
        lines.append(f'<FONT FACE="Courier,monospace" POINT-SIZE="10" COLOR="{INKS["py"][0]}">'
                     f"{_text(shorten(node.bound, most))}</FONT>")
    return Markup("<BR/>".join(lines))


def _text(said: str) -> str:
    """Text of a label in markup, where Graphviz would take \\N for a node's name."""
    return text(said).replace("\\", "\\\\")


def _group_style(group: SceneNode) -> Attributes:
    tone = ROLES[group.role][0]
    return {"label": Markup(f"<B>{_text(shorten(group.label))}</B>"), "labeljust": "l", "labelloc": "t",
            "style": "filled,rounded", "fillcolor": blend(tone.fill, 0.38), "color": tone.stroke,
            "tooltip": tip_of(group)}


def _edge_style(edge: SceneEdge) -> Attributes:
    fade = PALE if edge.off else 1.0
    tone = INKS["bad" if edge.bad else "line"][0]
    found: Attributes = {"penwidth": round(line_width(edge), 2), "tooltip": edge.tip}
    found |= {"color": blend(tone, fade)} if edge.bad or edge.off else {}
    found |= {"fontcolor": blend(tone, fade)} if edge.bad else {}
    found |= {"label": f" {edge.label} "} if edge.label and not edge.off else {}
    return found | ({"style": "dashed"} if edge.control else {})


def _legend(scene: Scene) -> Markup:
    cells = []
    for paint, word in scene.legend:
        tones = painted(paint)
        fill = blend(str(tones.get("fill", "#ffffff")), float(str(tones.get("fill_opacity", 1))))
        cells.append(f'<TD BGCOLOR="{fill}" BORDER="1" COLOR="{tones.get("stroke", INKS["line"][0])}" WIDTH="16"></TD>'
                     f"<TD>{_text(word)}   </TD>")
    return Markup(f'<TABLE BORDER="0" CELLSPACING="4"><TR>{"".join(cells)}</TR></TABLE>')


def _cluster(key: str, attributes: Mapping[str, Any], inner: list[str]) -> list[str]:
    said = "".join(f" {name}={_value(name, value)};" for name, value in attributes.items())
    return [f"  subgraph {_quoted('cluster_' + key)} {{{said}", *inner, "  }"]


def _arrow(edge: SceneEdge, attributes: Attributes) -> str:
    return _statement(f"{_quoted(edge.source)} -> {_quoted(edge.target)}", attributes)


def _statement(name: str, attributes: Mapping[str, Any]) -> str:
    said = ", ".join(f"{key}={_value(key, value)}" for key, value in attributes.items())
    return f"  {name} [{said}];" if said else f"  {name};"


def _value(name: str, value: Any) -> str:
    if isinstance(value, Markup):
        return f"<{value}>"
    return str(value) if not isinstance(value, str) or name in WORDS and value.isalpha() else _quoted(value)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
