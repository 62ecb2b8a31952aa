"""The curves of a live board where no browser draws them: panels of SVG for a saved notebook, lines of text."""
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfnb.notebook.drawing.svg import element
from tfnb.notebook.drawing.svg import text as escaped
from tfnb.notebook.plots.chart_svg import MOST, ChartMark, line_chart_svg
from tfnb.notebook.plots.marks import SIGNS
from tfnb.notebook.plots.media import Picture, Ridge
from tfnb.notebook.plots.media_svg import picture_svg, ridge_svg

WIDTH, HEIGHT, HEAD = 360, 220, 26      # of one panel; of the title over them
ACROSS = 2              # panels side by side where nobody says how many
FAINT, NO_COLOR = -2, -1      # in place of a colour: of a run that is not the panel's own; of a mark of its only run
_part = re.compile("(?:{0})_(.+)|(.+)_(?:{0})".format("train|val|valid|validation|test|eval")).fullmatch
DIGITS = 8, 5           # of x and y on a page without a kernel
SPARKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Curve:
    """A tag, its (step, value, seconds) points of shape (n, 3), and the place of its colour.

    group: the panel, by default that of the tag; name: what the curve is called there, by default the tag's end;
    share: panels of the same have one scale.
    """

    tag: str
    points: np.ndarray
    color: int = 0
    group: str = ""
    name: str = ""
    share: str = ""

    def along(self, x: str) -> np.ndarray:
        """The values along the x axis: steps, for "time" seconds, for "share" the per cent of the last step."""
        steps = self.points[:, 2 if x == "time" else 0]
        return steps * (100 / max(float(steps[-1]), 1e-9)) if x == "share" and len(steps) else steps


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that happened to a run, as a board shows it. color: of its run, NO_COLOR where there is one run."""

    step: float
    seconds: float
    kind: str
    text: str
    color: int = NO_COLOR

    def along(self, x: str, curves: Sequence[Curve]) -> float | None:
        """Place on the x axis of a panel with these curves; None where its run is not in it."""
        own = [curve for curve in curves if len(curve.points) and
               (curve.color != FAINT if self.color == NO_COLOR else curve.color == self.color)]
        if not own:
            return None
        if x != "share":
            return self.seconds if x == "time" else self.step
        return 100 * self.step / max(1.0, *(float(curve.points[-1, 0]) for curve in own))


def unit(curves: Sequence[Curve], x: str) -> tuple[str, float]:
    """Return the unit of the x axis, and how many steps or seconds that is."""
    last = max((float(curve.along(x)[-1]) for curve in curves if len(curve.points)), default=0.0)
    if x != "time":
        return "%" if x == "share" else "step", 1.0
    return ("h", 3600.0) if last >= 7200 else ("min", 60.0) if last >= 180 else ("s", 1.0)


def by_panel(curves: Sequence[Curve]) -> dict[str, list[Curve]]:
    """The curves of each panel."""
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(curve.group or group_of(curve.tag), []).append(curve)
    return groups


def group_of(tag: str) -> str:
    """The panel that a tag is drawn in, as in the browser: that of its scope, or its own.

    `loss`, `train_loss` and `val_loss` (or `loss_val`) are of one panel.
    """
    scope, slash, _ = tag.rpartition("/")
    part = _part(tag) if not slash else None
    return scope if slash and scope else tag if part is None else part[1] or part[2]


def svg(curves: Sequence[Curve], *, title: str = "", smoothing: float = 0.0,
        ridges: Sequence[tuple[str, Ridge]] = (), pictures: Sequence[tuple[str, float, Picture]] = (),
        x: str = "step", across: int = 0, empty: str = "no values yet", marks: Sequence[Noted] = ()) -> str:
    """A panel for each group of curves, each ridge and each picture. Equal data give equal text.

    smoothing: weight of the running mean that is drawn over the pale data; 0 for none. x: "step", "time" or "share";
    across: panels side by side; empty: what is said where there are none; marks: what happened to the runs.
    """
    panels = [_panel(group, members, smoothing, x, marks, _like(curves, members))
              for group, members in by_panel(curves).items()]
    panels += [ridge_svg(name, ridge, color, WIDTH, HEIGHT) for color, (name, ridge) in enumerate(ridges)]
    panels += [picture_svg(name, step, picture, WIDTH, HEIGHT) for name, step, picture in pictures]
    panels = panels or [_panel(empty, [], smoothing, x, ())]
    columns = min(across or ACROSS, len(panels))
    top = HEAD if title else 0
    width, height = WIDTH * columns, top + HEIGHT * -(-len(panels) // columns)
    parts = [element("rect", fill="#ffffff", height=height, width=width)] if title else []
    if title:
        parts.append(element("text", escaped(title), fill="#1c2733", font_size=14, font_weight="600", x=12, y=18))
    for place, panel in enumerate(panels):
        at = f'x="{place % columns * WIDTH}" y="{top + place // columns * HEIGHT}"'
        parts.append(panel.replace("<svg ", f"<svg {at} ", 1))
    return element("svg", *parts, aria_label=summary(curves, title), font_family="system-ui, sans-serif",
                   height=height, role="img", viewBox=f"0 0 {width} {height}", width=width,
                   xmlns="http://www.w3.org/2000/svg")


def numbers(curves: Sequence[Curve], x: str) -> list[list[list[float]]]:
    """The finite points of the curves as `svg` draws them, in its order: [xs, ys] of each."""
    made = []
    for members in by_panel(curves).values():
        size = unit([*members, *_like(curves, members)], x)[1]
        for curve in members:
            pairs = np.stack([curve.along(x) / size, curve.points[:, 1]], dtype=np.float64)     # MOST is no float32
            good = pairs[:, (np.abs(pairs) < MOST).all(axis=0)]
            if good.size and curve.color != FAINT:
                made.append([[float(f"{value:.{digits}g}") for value in row]
                             for row, digits in zip(good, DIGITS, strict=True)])
    return made


def _like(curves: Sequence[Curve], members: Sequence[Curve]) -> list[Curve]:
    """The curves of panels of the same scale."""
    return [curve for curve in curves if curve.share and curve.share == members[0].share]


def _panel(group: str, members: Sequence[Curve], smoothing: float, x: str, marks: Sequence[Noted],
           like: Sequence[Curve] = ()) -> str:
    word, size = unit([*members, *like], x)

    def series(curves: Sequence[Curve]) -> list[tuple[str, list[float], list[float]]]:
        return [(curve.name or curve.tag.removeprefix(f"{group}/"), (curve.along(x) / size).tolist(),
                 curve.points[:, 1].tolist()) for curve in curves]
    own = [curve for curve in members if curve.color != FAINT]
    noted = [ChartMark(place / size, mark.kind, mark.text, mark.color) for mark in marks
             if (place := mark.along(x, own)) is not None]
    return line_chart_svg(series(own), group, WIDTH, HEIGHT, smoothing, [curve.color for curve in own],
                          like=series(like), unit="" if word == "step" else word, marks=noted,
                          faint=series([curve for curve in members if curve.color == FAINT]))


def text(curves: Sequence[Curve], title: str = "", *, ridges: Sequence[tuple[str, Ridge]] = (),
         pictures: Sequence[tuple[str, float, Picture]] = (), empty: str = "no values yet",
         marks: Sequence[Noted] = ()) -> str:
    """A line for each curve: its tag, the last value, a sparkline, the range and the step; then what else there is."""
    more = [f"{_short(name)}  {sparkline(ridge.table[-1].astype(np.float64))}  histogram, {number(ridge.low)} to "
            f"{number(ridge.high)}, step {number(ridge.steps[-1])}" for name, ridge in ridges]
    more += [f"{_short(name)}  picture of {picture.width} x {picture.height}, step {number(step)}"
             for name, step, picture in pictures]
    if not curves and more:
        return "\n".join([*([title] if title else []), *more])
    if not curves:
        return f"{title or 'live'}: {empty}"
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
    return "\n".join([*lines, *more, *(f"{SIGNS.get(mark.kind, '·')} {mark.text}" for mark in marks)])


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
    """At most four significant digits, integers in full up to a million: "0.01234", "1200", "3.2e-07"."""
    if abs(value) < 1e6 and value == round(value):
        return str(int(value))
    return f"{value:.4g}"


def _short(tag: str) -> str:
    return tag if len(tag) <= 36 else "…" + tag[-35:]
