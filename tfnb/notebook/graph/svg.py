"""The drawing of a laid-out scene as canonical SVG; the browser shows the same text and moves it.

Conventions, after TensorBoard's: scopes are rounded boxes, ops ellipses, constants small circles, variables boxes with
a thick left rim, inputs boxes with a slanted rim; data flows along solid lines, pure order along dashed ones.
"""
from __future__ import annotations

import math
from collections.abc import Iterable

from tfnb.notebook.drawing.geometry import (
    BOXES,
    MOST_LABEL,
    Box,
    Geometry,
    Point,
    Route,
    letters,
    lines,
    shorten,
    text_width,
)
from tfnb.notebook.drawing.palette import FONT, INKS, MONO, ROLES, SERIES, theme_css
from tfnb.notebook.drawing.scene import Scene, SceneEdge, SceneNode
from tfnb.notebook.drawing.svg import element, identifier, number, path, text
from tfnb.notebook.drawing.value_label import HEIGHT as PILL_HEIGHT
from tfnb.notebook.drawing.value_label import WIDTH as PILL_WIDTH
from tfnb.notebook.drawing.value_label import pill_marks

ROOT = "svg.tfnb-graph"
TOP = 32.0              # a shelf that begins above stands to the right
MOST_BADGES = 4
GOES_ON = 9, 13         # where the name of a frame stands in its next column, from the corner
FULL = 0.5              # opacity of the strongest paint: its text has a contrast of 4.5 and more in both themes
MIXED, STRONG = "m", "s"        # end the paint of nodes whose ops say several things (the first counts), of loud ones
STEPS = 6               # of a scale from pale to strong: h0 to h5
LEGEND = (("input", "input"), ("variable", "variable"), ("const", "constant"), ("op", "op"), ("scope", "scope"),
          ("gradient", "gradients"), ("optimizer", "optimizer"), ("summary", "summary, measure"), ("save", "saver"),
          ("failed", "could not be made"))
WORDS = {"input": "input", "variable": "variable", "const": "constant", "scope": "scope", "gradient": "gradients",
         "optimizer": "optimizer", "summary": "summary", "save": "saver", "control": "no-op", "rest": "more ops",
         "failed": "could not be made"}


def graph_svg(scene: Scene, geometry: Geometry, title: str = "", styled: Iterable[SceneNode] = ()) -> str:
    """The SVG text. `title` is the accessible name; ids are made from op names. styled: nodes that may come later."""
    known = (*scene.nodes, *scene.groups, *styled)
    paints = {paint for paint in (*(node.paint for node in known), *dict(scene.legend)) if paint}
    style = stylesheet({node.role for node in known} | {"op"}, paints, any(node.lit for node in scene.nodes))
    parts = world(scene, geometry)
    width, height = max(geometry.width, 180.0), geometry.height
    if geometry.shelf:
        parts.insert(0, _shelf(geometry))
    legend, height = _legend(scene, width, height)
    back = element("rect", class_="bg", fill=INKS["bg"][0], height=height, rx=6, width=width)
    name = title or f"graph of {scene.ops} ops"
    width, height = round(width), round(height)
    return element("svg", element("title", text(name)), element("style", style), back,
                   element("g", *parts, class_="world"), legend, aria_label=name, class_="tfnb-graph", font_family=FONT,
                   height=height, role="img", style="max-width:100%;height:auto", viewBox=f"0 0 {width} {height}",
                   width=width, xmlns="http://www.w3.org/2000/svg")


def world(scene: Scene, geometry: Geometry) -> list[str]:
    """The layers of a drawing: frames, edges with their labels, heads of frames, nodes."""
    tips = {node.key: tip_of(node) for node in scene.nodes}
    numbers = {n.number: n for n in (*scene.groups, *scene.nodes) if n.number}
    frames = [_group(group, geometry.boxes[group.key], geometry.pieces.get(group.key, ())) for group in scene.groups]
    return [element("g", *frames, class_="groups"),
            _edges(scene.edges, geometry),
            element("g", *(_head(group, geometry.boxes[group.key]) for group in scene.groups), class_="heads"),
            element("g", *(_node(node, geometry.boxes[node.key], tips[node.key], numbers) for node in scene.nodes),
                    class_="nodes")]


def stylesheet(roles: set[str], paints: Iterable[str] = (), lit: bool = False) -> str:
    """CSS for both themes and the roles and paints that occur. lit: so do nodes that run next.

    Every element also carries the light colours as attributes, for readers without CSS.
    """
    rules = [".bg{fill:var(--tf-bg)}", "text{fill:var(--tf-ink)}", ".sub{fill:var(--tf-muted)}",
             ".py{fill:var(--tf-py)}",
             ".lab{fill:var(--tf-muted);stroke:var(--tf-bg)}", ".halo{stroke:var(--tf-bg)}",
             ".e{stroke:var(--tf-line)}", ".pill{fill:var(--tf-bg);stroke:var(--tf-frame)}",
             ".bad{fill:var(--tf-bad)}", ".a{fill:var(--tf-line)}",
             ".is-bad .a{fill:var(--tf-bad)}", ".is-bad .e{stroke:var(--tf-bad)}",
             ".sep{stroke:var(--tf-frame)}", ".ref circle{fill:var(--tf-bg)}",
             ".ref{opacity:0}", ":hover .n[data-aside] .ref{opacity:1}",
             ":is(.n:hover,.n:focus,.n.is-picked) .ref{opacity:1}"]
    rules += [f".r-{role} .s{{fill:var(--tf-{role}-fill);stroke:var(--tf-{role}-stroke)}}" for role in sorted(roles)]
    rules += [f".d-{role}{{fill:var(--tf-{role}-stroke)}}" for role in sorted(roles & {"variable"})]
    rules += [f".o-{role}{{stroke:var(--tf-{role}-stroke)}}" for role in sorted(roles)]
    rules += [".n .on{fill:var(--tf-ink)}"] if paints else []       # other drawings of the page have rules, too
    for paint in sorted(paints):
        place = paint[1:].rstrip(MIXED + STRONG)
        ink = f"var(--tf-s{place})" if paint[0] == "c" and place.isdigit() else "var(--tf-line)"
        fill = "var(--tf-s1)" if paint[0] == "h" else ink if place.isdigit() else "var(--tf-bg)"
        rules.append(f".p-{paint}>.s{{fill:{fill};stroke:{ink}}}")
    rules += [".n.is-next>.s{stroke:var(--tf-pick)}"] if lit else []
    css = "".join(f"{ROOT} {rule}" for rule in rules)
    return theme_css(ROOT, css) + css


def tip_of(node: SceneNode) -> str:
    """The tooltip of a node."""
    what = WORDS.get(node.role, "op") if node.form != "op" or node.role != "op" else "op"
    more = f", {node.count} ops" if node.count > 1 or node.expandable else ""
    bound = f"{node.bound} = " if node.bound else ""
    return f"{bound}{node.name} ({what}{more})" + (f"  {node.sub}" if node.sub and node.form != "scope" else "")


def _group(group: SceneNode, box: Box, more: tuple[Box, ...]) -> str:
    """The frame of an open scope, with its pieces in other columns; it lies under the edges."""
    tone = ROLES[group.role][0]
    frames = []
    for piece in (box, *more):
        left, top = piece.x - box.x - piece.w / 2, piece.y - box.y - piece.h / 2
        frames.append(element("rect", class_="s", fill=tone.fill, fill_opacity="0.38", height=piece.h, rx=9,
                              stroke=tone.stroke, stroke_width=1.2, width=piece.w, x=left, y=top))
        if piece is not box:
            words = text(f"{shorten(group.label)} …")
            frames.append(element("text", words, class_="sub", fill=INKS["muted"][0], font_size=11, x=left + GOES_ON[0],
                                  y=top + GOES_ON[1]))
    return element("g", element("title", text(tip_of(group))), *frames, aria_label=f"open {tip_of(group)}",
                   class_=f"n f-{group.form} r-{group.role} is-open", data_name=group.key,
                   id=identifier("g-", group.name), transform=f"translate({number(box.x)} {number(box.y)})")


def _head(group: SceneNode, box: Box) -> str:
    """The name of an open scope and the sign that closes it, over the edges, in the frame's upper left corner."""
    left, top = -box.w / 2, -box.h / 2
    name = element("text", text(shorten(group.label)), class_="ttl halo", fill=INKS["ink"][0], font_size=12,
                   font_weight="600", paint_order="stroke", stroke=INKS["bg"][0], stroke_linejoin="round",
                   stroke_width=3, x=left + 25, y=top + 17)
    mark = [_number_mark(group.number, group, -left - 12, top + 12)] if group.number else []
    return element("g", _fold_sign(left + 13, top + 13, "minus", ROLES[group.role][0].stroke), name, *mark,
                   class_=f"head r-{group.role} is-open", data_name=group.key,
                   transform=f"translate({number(box.x)} {number(box.y)})")


def _fold_sign(x: float, y: float, kind: str, colour: str) -> str:
    bar = f"M{number(x - 3.5)} {number(y)}h7" + (f"M{number(x)} {number(y - 3.5)}v7" if kind == "plus" else "")
    area = element("rect", fill_opacity="0", height=24, width=24, x=x - 12, y=y - 12)     # easy to hit
    return element("g", area, element("rect", class_="s", fill="none", height=11, rx=3, stroke=colour, width=11,
                                      x=x - 5.5, y=y - 5.5),
                   element("path", class_="s", d=bar, fill="none", stroke=colour, stroke_width=1.4), class_="fold")


def _edges(edges: Iterable[SceneEdge], geometry: Geometry) -> str:
    drawn = [(edge, geometry.routes[edge.source, edge.target]) for edge in edges
             if (edge.source, edge.target) in geometry.routes]
    lines = [_edge(edge, route) for edge, route in drawn]
    labels = [_edge_label(edge, route) for edge, route in drawn if edge.label and route.label and not edge.off]
    return element("g", *lines, class_="edges") + element("g", *labels, class_="labels")


def line_width(edge: SceneEdge) -> float:
    """More tensors, a thicker line."""
    return min(1.2 + 0.5 * math.log2(edge.tensors), 3.2) if not edge.control else 1.1


def _edge(edge: SceneEdge, route: Route) -> str:
    """A line and its arrow."""
    wide = line_width(edge)
    head, shaft = _arrow(route.points, 5.5 + wide)
    line = element("path", class_="e", d=path(shaft, curve=True), fill="none", stroke=INKS["line"][0],
                   stroke_dasharray="4 3" if edge.control else None, stroke_width=wide)
    arrow = element("path", class_="a", d=path(head) + "Z", fill=INKS["line"][0])
    kind = "edge control" if edge.control else "edge is-bad" if edge.bad else "edge"
    return element("g", element("title", text(edge.tip)), line, arrow, class_=kind, data_from=edge.source,
                   data_to=edge.target, opacity="0.2" if edge.off else None)


def _arrow(points: tuple[Point, ...], size: float) -> tuple[list[Point], list[Point]]:
    """The head as a triangle with its tip at the end, and the points of the shaft, which ends at the head's base."""
    (bx, by), (tx, ty) = points[-2], points[-1]
    length = math.hypot(tx - bx, ty - by)
    if length < 1e-6 and len(points) > 2:
        bx, by = points[-3]
        length = math.hypot(tx - bx, ty - by)
    ux, uy = ((tx - bx) / length, (ty - by) / length) if length > 1e-6 else (0.0, 1.0)
    ax, ay = tx - ux * size, ty - uy * size
    half = size * 0.42
    return ([(tx, ty), (ax - uy * half, ay + ux * half), (ax + uy * half, ay - ux * half)],
            [*points[:-1], (ax + ux, ay + uy)])


def _edge_label(edge: SceneEdge, route: Route) -> str:
    x, y = route.label or (0.0, 0.0)
    if edge.pill is not None:
        marks = pill_marks(edge.pill, x - PILL_WIDTH / 2, y - PILL_HEIGHT / 2 - 6)
        tone = "bad" if edge.pill.bad else "muted"
        words = element("text", text(shorten(edge.label, 22)), class_=f"lab {tone}", fill=INKS[tone][0], font_size=11,
                        paint_order="stroke", stroke=INKS["bg"][0], stroke_linejoin="round", stroke_width=3,
                        text_anchor="middle", x=x, y=y + PILL_HEIGHT / 2 + 6)
        return element("g", element("title", text(edge.tip)), marks, words, aria_label=edge.tip,
                       class_="value is-bad" if edge.pill.bad else "value", data_from=edge.source, data_to=edge.target,
                       data_tensor=edge.tensor or None)
    tone = "bad" if edge.bad else "muted"
    return element("text", text(shorten(edge.label, MOST_LABEL)), class_="lab bad" if edge.bad else "lab",
                   data_from=edge.source, data_to=edge.target, fill=INKS[tone][0], font_size=11,
                   font_weight="600" if edge.bad else None, paint_order="stroke", stroke=INKS["bg"][0],
                   stroke_linejoin="round", stroke_width=3, text_anchor="middle", x=x, y=y + 3.5)


def _node(node: SceneNode, box: Box, tip: str, numbers: dict[int, SceneNode]) -> str:
    marks = [*_badges(node, node.refs_in, -1, box, numbers), *_badges(node, node.refs_out, 1, box, numbers)]
    if node.number:
        marks.append(_number_mark(node.number, node, -box.w / 2, -box.h / 2 + 2))
    turn = [_loop_sign(box)] if node.loop and node.role == "scope" and node.form == "scope" else []
    return element("g", element("title", text(tip)), *turn, *_shape(node, box.w, box.h), *_words(node, box), *marks,
                   aria_label=tip, class_=f"n f-{node.form} {_colour_class(node)}{' is-next' * node.lit}",
                   data_name=node.key, opacity="0.25" if node.off else None,
                   data_aside="1" if node.panel == node.key else None,
                   data_open="1" if node.expandable else None, id=identifier("n-", node.key),
                   transform=f"translate({number(box.x)} {number(box.y)})")


def _loop_sign(box: Box) -> str:
    """An arrow from the right side of a box back into it: what is in it runs many times."""
    x, y = box.w / 2, box.h * 0.22
    bow = [(x, y), (x + 24, y + 10), (x + 24, -y - 10), (x + 6, -y)]
    head = [(x, -y), (x + 8, -y - 4.5), (x + 7, -y + 4)]
    return element("g", element("path", class_="e", d=path(bow, curve=True), fill="none", stroke=INKS["line"][0],
                                stroke_width=1.6),
                   element("path", class_="a", d=path(head) + "Z", fill=INKS["line"][0]), class_="turn")


def _colour_class(node: SceneNode) -> str:
    return f"p-{node.paint}" if node.paint else f"r-{node.role}"


def _shape(node: SceneNode, w: float, h: float) -> list[str]:
    """The outline by form and role."""
    tone = ROLES[node.role][0]
    paint: dict[str, object] = {"class_": "s", "fill": tone.fill, "stroke": tone.stroke, "stroke_width": 1.2,
                                **painted(node.paint)}
    paint |= {"stroke": INKS["pick"][0], "stroke_width": 3} if node.lit else {}
    if node.form == "op" and node.role == "const":
        return [element("circle", r=6, **paint)]
    if node.role == "variable" and node.form in ("op", "variable"):
        curve = f"M{number(-w / 2)} {number(-h / 2 + 5)}q0 -5 5 -5v{number(h)}q-5 0 -5 -5Z"
        rim = element("path", class_="d-variable", d=curve, fill=tone.stroke)
        return [element("rect", height=h, rx=5, width=w, x=-w / 2, y=-h / 2, **paint), rim]
    if node.role == "input" and node.form == "op":
        s = 7
        corners = [(-w / 2 + s, -h / 2), (w / 2, -h / 2), (w / 2 - s, h / 2), (-w / 2, h / 2)]
        return [element("path", d=path(corners) + "Z", stroke_linejoin="round", **paint)]
    if node.form == "op" and node.role not in BOXES:
        dashed = {"stroke_dasharray": "3 2"} if node.role == "control" else {}
        return [element("ellipse", rx=w / 2, ry=h / 2, **{**paint, **dashed})]
    if node.form == "rest":
        paint |= {"stroke_dasharray": "3 3"}
        return [element("rect", height=h, rx=h / 2, width=w, x=-w / 2, y=-h / 2, **paint)]
    under = [element("rect", height=h, rx=8, width=w, x=-w / 2 + 4, y=-h / 2 - 4, **paint)] * (node.form == "series")
    return [*under, element("rect", height=h, rx=8, width=w, x=-w / 2, y=-h / 2, **paint)]


def painted(paint: str) -> dict[str, object]:
    """The attributes of a paint: c0, c1... a colour of its own, dashed with an m behind, loud with an s, cx others, c-
    none; h0 to h5 from pale to strong."""
    if paint.endswith(MIXED):
        return {**painted(paint.removesuffix(MIXED)), "stroke_dasharray": "4 2"}
    if paint.endswith(STRONG):
        return {**painted(paint.removesuffix(STRONG)), "fill_opacity": f"{FULL:g}", "stroke_width": 2.4}
    if paint[:1] == "h":
        strength = int(paint[1:]) / (STEPS - 1)
        return {"fill": SERIES[1][0], "fill_opacity": f"{FULL * strength:.2f}", "stroke": INKS["line"][0]}
    if paint[1:].isdigit():
        return {"fill": SERIES[int(paint[1:])][0], "fill_opacity": "0.25", "stroke": SERIES[int(paint[1:])][0]}
    tone = ROLES["rest" if paint == "c-" else "op"][0]
    return {"fill": tone.fill, "stroke": tone.stroke} if paint else {}


def _words(node: SceneNode, box: Box) -> list[str]:
    """One or two lines inside the shape (above it, for a constant's circle), and the sign of what opens."""
    w = box.w
    if node.role == "const" and node.form == "op":
        said = shorten(node.sub or node.label, 14)
        return [element("text", text(f"{node.bound} = {said}" if node.bound else said), class_="sub",
                        fill=INKS["muted"][0], font_size=11, text_anchor="middle", y=-10)]
    signed = node.expandable and node.form != "variable"
    x = 8.0 if signed else 0.0
    sign = [_fold_sign(-w / 2 + 14, 0, "plus", ROLES[node.role][0].stroke)] if signed else []
    most = letters(node)
    first = element("text", text(shorten(node.label, most)), class_="ttl", fill=INKS["ink"][0], font_size=12,
                    font_weight="600" if node.form != "op" else None, text_anchor="middle", x=x,
                    y=4 - 6.5 * len(lines(node)))
    looks = {"sub": (node.sub, "muted", None), "py": (node.bound, "py", MONO)}
    more = [element("text", text(shorten(looks[line][0], most)), class_=f"{line} on" if node.paint else line,
                    fill=INKS["ink" if node.paint else looks[line][1]][0],
                    font_family=looks[line][2], font_size=11, text_anchor="middle", x=x,
                    y=18 - 6.5 * len(lines(node)) + 13 * i) for i, line in enumerate(lines(node))]
    return [*sign, first, *more]


def _badges(node: SceneNode, refs: tuple[int, ...], side: int, box: Box, numbers: dict[int, SceneNode]) -> list[str]:
    """Small numbered discs: what is set aside and read (side -1: on the upper rim) or fed (1: on the lower rim)."""
    marks = []
    shown = refs[:MOST_BADGES]
    for i, ref in enumerate(shown if side < 0 else shown[::-1]):
        role = numbers[ref].role if ref in numbers else "op"
        what = numbers[ref].name if ref in numbers else "the main drawing"
        tip = f"{'also feeds' if side > 0 else 'also reads'} {what}"
        x = side * (box.w / 2 - 10 - i * 12 - (14 if side < 0 and node.number else 0))
        y = side * (box.h / 2 + 2)
        if _is_ellipse(node):
            y *= max(0.0, 1 - (2 * x / box.w) ** 2) ** 0.5
        if node.role == "const" and node.form == "op":
            x, y = side * (9 + i * 12), side * 5
        marks.append(_disc(ref, role, x, y, tip))
    return marks


def _is_ellipse(node: SceneNode) -> bool:
    return node.form == "op" and node.role not in BOXES | {"const"}


def _disc(ref: int, role: str, x: float, y: float, tip: str, size: float = 6.5) -> str:
    label = str(ref) if ref else "•"
    return element("g", element("title", text(tip)),
                   element("circle", class_=f"o-{role}", cx=x, cy=y, fill=INKS["bg"][0], r=size,
                           stroke=ROLES[role][0].stroke, stroke_width=1.4),
                   element("text", text(label), class_="num", fill=INKS["ink"][0], font_size=size + 2.5,
                           font_weight="700", text_anchor="middle", x=x, y=y + size / 2),
                   class_="ref", data_ref=ref)


def _number_mark(value: int, node: SceneNode, x: float, y: float) -> str:
    return _disc(value, node.role, x, y, f"{node.name}: where a node carries this number, it is connected to it", 9)


def _shelf(geometry: Geometry) -> str:
    """The line between the main drawing and what is set aside, to its right or below it, with a word on that."""
    x, y = geometry.shelf or (0.0, 0.0)
    right = y < TOP
    ends = [(x - 22, 14), (x - 22, geometry.height - 14)] if right else [(14, y - 14), (geometry.width - 14, y - 14)]
    line = element("path", class_="sep", d=path(ends), fill="none", stroke=INKS["frame"][0], stroke_dasharray="2 4")
    return element("g", line, element("text", text("beside the model"), class_="sub", fill=INKS["muted"][0],
                                      font_size=11, font_style="italic", x=x, y=y + 6), class_="shelf")


def _swatch(role: str, x: float, y: float) -> str:
    """The sample in the legend: 14 pixels wide from x, centred on y."""
    if role == "control edge":
        return element("path", class_="e", d=path([(x, y), (x + 14, y)]), stroke=INKS["line"][0],
                       stroke_dasharray="4 3")
    if role not in ROLES:
        return element("rect", class_="s", height=10, rx=3, width=14, x=x, y=y - 5, **painted(role))
    tone = ROLES[role][0]
    paint = {"class_": "s", "fill": tone.fill, "stroke": tone.stroke}
    if role in ("op", "const"):
        return element("ellipse", cx=x + 7, cy=y, rx=7 if role == "op" else 5, ry=5, **paint)
    return element("rect", height=10, rx=3, width=14, x=x, y=y - 5, **paint)


def _legend(scene: Scene, width: float, height: float) -> tuple[str, float]:
    """One line of the roles in the drawing; returns it and the new height."""
    present = {n.role for n in (*scene.nodes, *scene.groups)}
    entries = [(role, word) for role, word in scene.legend or LEGEND if role in present or scene.legend]
    entries += [("control edge", "order only")] if any(edge.control for edge in scene.edges) else []
    parts, x, y = [], 16.0, height + 4
    for role, word in entries:
        wide = 32 + text_width(word, 11)
        if x + wide > width and x > 16:
            x, y = 16.0, y + 18
        swatch = _swatch(role, x, y)
        word = shorten(word, 40)
        parts.append(element("g", swatch, element("text", text(word), class_="sub", fill=INKS["muted"][0], font_size=11,
                                                  x=x + 19, y=y + 3.5),
                             class_=f"p-{role}" if (role, word) in scene.legend else f"r-{role}"))
        x += wide
    return element("g", *parts, class_="legend"), y + 14
