"""The curves of a live board where no browser draws them: panels of SVG for a saved notebook, lines of text."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfnb.notebook.chart_svg import line_chart_svg
from tfnb.notebook.svg import element
from tfnb.notebook.svg import text as escaped

WIDTH, HEIGHT, HEAD = 360, 220, 26      # of one panel; of the title over them
SPARKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Curve:
    """A tag, its (step, value) points of shape (n, 2), and the place of its colour."""

    tag: str
    points: np.ndarray
    color: int = 0


def group_of(tag: str) -> str:
    """The panel that a tag is drawn in, as in the browser: that of its scope, or its own."""
    scope, slash, _ = tag.rpartition("/")
    return scope if slash and scope else tag


def svg(curves: Sequence[Curve], *, title: str = "", smoothing: float = 0.0) -> str:
    """A panel for each group of curves, two side by side. Equal data give equal text.

    smoothing: weight of the running mean that is drawn over the pale data; 0 for none.
    """
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(group_of(curve.tag), []).append(curve)
    columns = 2 if len(groups) > 1 else 1
    top = HEAD if title else 0
    width, height = WIDTH * columns, top + HEIGHT * max(1, -(-len(groups) // columns))
    parts = [element("rect", fill="#ffffff", height=height, width=width)] if title else []
    if title:
        parts.append(element("text", escaped(title), fill="#1c2733", font_size=14, font_weight="600", x=12, y=18))
    for place, (group, members) in enumerate((groups or {"no values yet": []}).items()):
        parts.append(_panel(group, members, smoothing, place % columns * WIDTH, top + place // columns * HEIGHT))
    return element("svg", *parts, aria_label=summary(curves, title), font_family="system-ui, sans-serif",
                   height=height, role="img", viewBox=f"0 0 {width} {height}", width=width,
                   xmlns="http://www.w3.org/2000/svg")


def _panel(group: str, members: Sequence[Curve], smoothing: float, x: int, y: int) -> str:
    prefix = f"{group}/"
    series = [(curve.tag.removeprefix(prefix), curve.points[:, 0].tolist(), curve.points[:, 1].tolist())
              for curve in members]
    chart = line_chart_svg(series, group, WIDTH, HEIGHT, smoothing, [curve.color for curve in members])
    return chart.replace("<svg ", f'<svg x="{x}" y="{y}" ', 1)


def text(curves: Sequence[Curve], title: str = "") -> str:
    """A line for each curve: its tag, the last value, a sparkline, the range and the step."""
    if not curves:
        return f"{title or 'live'}: no values yet"
    width = max(len(_short(curve.tag)) for curve in curves)
    lines = [title] if title else []
    for curve in curves:
        good = curve.points[np.isfinite(curve.points).all(axis=1)]
        if not len(good):
            lines.append(f"{_short(curve.tag):{width}}  no finite values")
            continue
        low, high = float(good[:, 1].min()), float(good[:, 1].max())
        lines.append(f"{_short(curve.tag):{width}}  {number(float(good[-1, 1])):>8}  {sparkline(good[:, 1])}  "
                     f"{number(low)} to {number(high)}, step {number(float(good[-1, 0]))}")
    return "\n".join(lines)


def sparkline(values: np.ndarray, width: int = 32) -> str:
    """The means of `width` stretches of the values as bars of eight heights. Finite values only."""
    means = [float(part.mean()) for part in np.array_split(values.astype(np.float64), min(width, len(values)))]
    low, high = min(means), max(means)
    scale = 7 / (high - low) if high > low else 0.0
    return "".join(SPARKS[round((mean - low) * scale)] for mean in means)


def summary(curves: Sequence[Curve], title: str = "") -> str:
    """One sentence for screen readers."""
    said = []
    for curve in curves:
        last = curve.points[-1].tolist() if len(curve.points) else None
        said.append(f"{_short(curve.tag)} {number(last[1])} at step {number(last[0])}" if last else _short(curve.tag))
    return f"{title or 'Live plot'}: {'; '.join(said) or 'no values yet'}"


def number(value: float) -> str:
    """At most four significant digits, whole numbers in full up to a million: "0.01234", "1200", "3.2e-07"."""
    if abs(value) < 1e6 and value == round(value):
        return str(int(value))
    return f"{value:.4g}"


def _short(tag: str) -> str:
    return tag if len(tag) <= 36 else "…" + tag[-35:]
