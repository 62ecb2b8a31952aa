"""Curves as a small SVG and as text: what a live plot leaves in a saved notebook, and what a terminal shows.

Canonical: rounded numbers, no ids, no dates, so that equal data give equal text. Tags are untrusted and escaped.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np

from tfnb.notebook.series import smooth

# Okabe and Ito's colours, told apart with any kind of colour vision; black and yellow left out
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
WIDTH, HEIGHT = 340, 210                        # of one panel
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 30, 26       # margins inside a panel
SPARKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Curve:
    """A tag, its (step, value) points of shape (n, 2) and the place of its colour in COLORS."""

    tag: str
    points: np.ndarray
    color: int = 0


def svg(curves: Sequence[Curve], *, title: str = "", smoothing: float = 0.0) -> str:
    """One panel for each curve, two side by side. The thin line is the data, the thick one their running mean."""
    columns = 2 if len(curves) > 1 else 1
    top = 24 if title else 0
    height = top + HEIGHT * max(1, -(-len(curves) // columns))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * columns} {height}" '
             f'width="{WIDTH * columns}" height="{height}" role="img" aria-label="{_attr(summary(curves, title))}" '
             'font-family="system-ui, sans-serif" font-size="11" fill="#333">',
             '<rect width="100%" height="100%" fill="#fff"/>']
    if title:
        parts.append(f'<text x="10" y="18" font-size="13" font-weight="600">{escape(title)}</text>')
    for place, curve in enumerate(curves):
        x, y = place % columns * WIDTH, top + place // columns * HEIGHT
        parts.append(f'<g transform="translate({x} {y})">{_panel(curve, smoothing)}</g>')
    if not curves:
        parts.append(f'<text x="10" y="{top + 20}">no values yet</text>')
    return "\n".join([*parts, "</svg>\n"])


def _panel(curve: Curve, smoothing: float) -> str:
    color = COLORS[curve.color % len(COLORS)]
    head = f'<text x="{LEFT}" y="18" font-weight="600" fill="{color}">{escape(_short(curve.tag))}</text>'
    good = curve.points[np.isfinite(curve.points).all(axis=1)]
    if not len(good):
        return head + f'<text x="{LEFT}" y="60">no finite values</text>'
    low, high = good.min(axis=0).tolist(), good.max(axis=0).tolist()
    x_axis, y_axis = Axis.around(low[0], high[0], LEFT, WIDTH - RIGHT), \
        Axis.around(low[1], high[1], HEIGHT - BOTTOM, TOP)
    head += (f'<text x="{WIDTH - RIGHT}" y="18" text-anchor="end">{number(float(good[-1, 1]))}'
             f' at step {number(float(good[-1, 0]))}</text>')
    lines = _line(curve.points, x_axis, y_axis, color, 1 if not smoothing else 0.35)
    if smoothing:
        means = np.stack([curve.points[:, 0], smooth(curve.points[:, 1], smoothing)], axis=1)
        lines += _line(means, x_axis, y_axis, color, 1)
    return head + _grid(x_axis, y_axis) + lines


def _grid(x_axis: Axis, y_axis: Axis) -> str:
    parts = []
    for tick in y_axis.ticks:
        y = y_axis.place(tick)
        parts.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>'
                     f'<text x="{LEFT - 5}" y="{_round(y + 4)}" text-anchor="end">{number(tick)}</text>')
    for tick in x_axis.ticks:
        parts.append(f'<text x="{x_axis.place(tick)}" y="{HEIGHT - 9}" text-anchor="middle">{number(tick)}</text>')
    return "".join(parts)


def _line(points: np.ndarray, x_axis: Axis, y_axis: Axis, color: str, opacity: float) -> str:
    """A path that is broken where a value is not finite; a point alone becomes a dot."""
    words, pen, alone = [], "M", True
    for x, y in points.tolist():
        if not (math.isfinite(x) and math.isfinite(y)):
            pen = "M"
            continue
        words.append(f"{pen}{x_axis.place(x)} {y_axis.place(y)}")
        alone, pen = pen == "M", "L"
    end = "h0.1" if words and alone else ""
    return (f'<path d="{"".join(words)}{end}" fill="none" stroke="{color}" stroke-width="1.6" '
            f'stroke-opacity="{opacity}" stroke-linejoin="round" stroke-linecap="round"/>')


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear scale from values to pixels, with its ticks."""

    low: float
    high: float
    begin: float
    end: float
    ticks: tuple[float, ...]

    @staticmethod
    def around(low: float, high: float, begin: float, end: float) -> Axis:
        """An axis that shows low to high, with about four ticks at round numbers."""
        if high - low <= 1e-12 * max(abs(low), abs(high), 1e-30):
            pad = abs(low) * 0.1 or 1.0
            low, high = low - pad, high + pad
        rough = (high - low) / 4
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough * 0.99)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return Axis(low, high, begin, end, tuple(k * step for k in range(first, last + 1)))

    def place(self, value: float) -> float:
        return _round(self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin))


def text(curves: Sequence[Curve], title: str = "") -> str:
    """A line for each curve: its tag, the last value, the range and a sparkline."""
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
    means = [float(part.mean()) for part in np.array_split(values, min(width, len(values)))]
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


def _attr(words: str) -> str:
    return escape(words, {'"': "&quot;"})


def _round(value: float) -> float:
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded
