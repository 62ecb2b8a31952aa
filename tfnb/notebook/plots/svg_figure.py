"""Our own SVG drawings as figures of matplotlib: PNG and PDF where no browser is at hand.

It knows what our drawings are made of (rectangles, ellipses, circles, paths, text, groups that are moved or pale), in
the light colours that each element carries.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from tfnb.core.lazy import lazy_module
from tfnb.notebook.plots.figure import figure_class

_patches = lazy_module("matplotlib.patches")
_paths = lazy_module("matplotlib.path")
_effects = lazy_module("matplotlib.patheffects")

DRAWN = (".svg", ".png", ".pdf")        # endings of files that `save_drawing` writes
POINTS = 72 / 96            # of a pixel
_tokens = re.compile(r"[MLCZhvq]|-?[\d.]+").findall
ANCHORS = {"middle": "center", "end": "right"}


def svg_figure(svg: str) -> Any:
    """The drawing as a matplotlib figure of its size, 96 pixels an inch."""
    root = fromstring(svg)
    width, height = (float(root.get(side, "1")) for side in ("width", "height"))
    figure = figure_class()(figsize=(width / 96, height / 96))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    for place, (element, (dx, dy), opacity) in enumerate(_leaves(root, (0.0, 0.0), 1.0)):
        if element.tag == "text":
            _text(axes, element, dx, dy, opacity, place)
        else:
            axes.add_patch(_patch(element, dx, dy, opacity, place))
    return figure


def save_drawing(svg: str, path: Path) -> None:
    """Write a drawing as .svg text, or through matplotlib as a .png (twice as fine as on the screen) or .pdf."""
    if path.suffix == ".svg":
        path.write_text(svg, encoding="utf-8")
    else:
        svg_figure(svg).savefig(path, dpi=192)


def _leaves(element: Element, at: tuple[float, float], opacity: float) -> Iterator[tuple[Element, Any, float]]:
    """The painted elements, in order: (element, where its group is, how opaque)."""
    for child in element:
        child.tag = child.tag.rpartition("}")[2]
        if child.tag == "g":
            moved = [float(n) for n in re.findall(r"-?[\d.]+", child.get("transform", "")) or (0, 0)]
            yield from _leaves(child, (at[0] + moved[0], at[1] + moved[1]), opacity * float(child.get("opacity", "1")))
        elif child.tag in ("rect", "ellipse", "circle", "path", "text"):
            yield child, at, opacity


def _text(axes: Any, element: Element, dx: float, dy: float, opacity: float, place: int) -> None:
    size = float(element.get("font-size", "12")) * POINTS
    made = axes.text(_number(element, "x") + dx, _number(element, "y") + dy, (element.text or "").replace("$", r"\$"),
                     fontsize=size, color=element.get("fill", "#000000"), alpha=opacity, zorder=place,
                     ha=ANCHORS.get(element.get("text-anchor", ""), "left"), va="baseline",
                     weight="bold" if element.get("font-weight") else "normal",
                     style=element.get("font-style", "normal"))
    if element.get("paint-order"):
        rim = _effects.withStroke(linewidth=_number(element, "stroke-width", 1) * POINTS,
                                  foreground=element.get("stroke"))
        made.set_path_effects([rim])


def _patch(element: Element, dx: float, dy: float, opacity: float, place: int) -> Any:
    stroke = element.get("stroke", "none")
    filled = element.get("fill", "#000000")
    style: dict[str, Any] = {"facecolor": filled, "edgecolor": stroke, "zorder": place,
             "linewidth": _number(element, "stroke-width", 1) * POINTS if stroke != "none" else 0}
    if element.get("stroke-dasharray"):
        on, off = map(float, element.get("stroke-dasharray", "").split()[:2])
        style["linestyle"] = (0, (on, off))
    shape = _path(element, dx, dy) if element.tag == "path" else _box(element, dx, dy)
    made = _patches.PathPatch(shape, **style)
    made.set_alpha(None if opacity == 1 else opacity)
    if element.get("fill-opacity") and filled != "none":
        made.set_facecolor((*_rgb(filled), float(element.get("fill-opacity", "1")) * opacity))
    return made


def _box(element: Element, dx: float, dy: float) -> Any:
    """The outline of a rectangle, an ellipse or a circle."""
    if element.tag == "rect":
        x, y, w, h = (_number(element, name) for name in ("x", "y", "width", "height"))
        r = min(_number(element, "rx"), w / 2, h / 2)
        style = f"round,pad=0,rounding_size={r}" if r else "square,pad=0"
        box = _patches.FancyBboxPatch((x + dx, y + dy), w, h, boxstyle=style)
        return box.get_path()
    rx = _number(element, "r") or _number(element, "rx")
    ry = _number(element, "r") or _number(element, "ry")
    ellipse = _patches.Ellipse((_number(element, "cx") + dx, _number(element, "cy") + dy), 2 * rx, 2 * ry)
    return ellipse.get_path().transformed(ellipse.get_patch_transform())


def _path(element: Element, dx: float, dy: float) -> Any:
    """Path data as our drawings have them: M, L and C with absolute places, h, v and q with relative ones, Z."""
    kinds = _paths.Path
    codes: list[int] = []
    points: list[tuple[float, float]] = []
    words, command = iter(_tokens(element.get("d", ""))), "M"
    for word in words:
        if word == "Z":
            codes, points = [*codes, kinds.CLOSEPOLY], [*points, points[0]]
            continue
        if word.isalpha():
            command, word = word, next(words)
        first, (x, y) = float(word), points[-1] if points else (0.0, 0.0)
        if command in "hv":
            codes.append(kinds.LINETO)
            points.append((x + first, y) if command == "h" else (x, y + first))
            continue
        rest = [float(next(words)) for _ in range({"C": 5, "q": 3}.get(command, 1))]
        pairs = [first, *rest]
        base = (x, y) if command == "q" else (dx, dy)
        points += [(a + base[0], b + base[1]) for a, b in zip(pairs[::2], pairs[1::2], strict=True)]
        code = {"C": kinds.CURVE4, "q": kinds.CURVE3, "M": kinds.MOVETO}.get(command, kinds.LINETO)
        codes += [code] * (len(pairs) // 2)
        command = "L" if command == "M" else command
    return kinds(points, codes)


def _number(element: Element, name: str, default: float = 0.0) -> float:
    return float(element.get(name, default))


def _rgb(color: str) -> tuple[float, ...]:
    return tuple(int(color[i:i + 2], 16) / 255 for i in (1, 3, 5))
