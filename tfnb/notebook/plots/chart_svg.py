"""A line chart as canonical SVG, in the dress of the live board: what a saved notebook shows of a training run."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.notebook.drawing.geometry import shorten, text_width
from tfnb.notebook.drawing.palette import FONT, INKS, SERIES, theme_css
from tfnb.notebook.drawing.svg import element, path, text
from tfnb.notebook.plots.marks import SIGNS
from tfnb.notebook.plots.series import smooth

Series = tuple[str, Sequence[float], Sequence[float]]
Floats = np.ndarray[Any, np.dtype[np.float64]]

TOP, RIGHT, BOTTOM = 38.0, 16.0, 44.0
NEAR_ZERO = 0.02            # of the axis to the right: what begins before this begins at 0
MOST = 1e100                # what is larger counts as infinite: no range of a chart overflows
CSS = ("svg.tfnb-chart .m{stroke:var(--tf-muted)}"
       "svg.tfnb-chart .g{stroke:var(--tf-grid)}svg.tfnb-chart .x{stroke:var(--tf-line)}"
       "svg.tfnb-chart .t{fill:var(--tf-muted)}svg.tfnb-chart .h{fill:var(--tf-ink)}"
       "svg.tfnb-chart .b{fill:var(--tf-bg);stroke:var(--tf-frame)}")


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers within [low, high], about `most` of them; the ends themselves where that is not possible."""
    span = high - low
    if not math.isfinite(span) or span <= 1e-12 * max(abs(low), abs(high)) or span < 1e-300:
        return [low, high] if high > low else [low]
    rough = span / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.75)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * i for i in range(first, last + 1)]


def tick_label(value: float, step: float) -> str:
    """A tick in few letters: "0.05", "1200", "20k", "3e-7"."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 10_000 and step >= 100:
        for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
            if size >= unit:
                return f"{value / unit:.4g}{name}"
    if size < 1e-3:
        return f"{value:.2g}".replace("e-0", "e-")
    return f"{value:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}" if size < 1e9 else f"{value:.3g}"


def line_chart_svg(series: Sequence[Series], title: str = "", width: float = 480, height: float = 280,
                   smoothing: float = 0.0, colors: Sequence[int] | None = None, like: Sequence[Series] = (),
                   unit: str = "", marks: Sequence[ChartMark] = (), faint: Sequence[Series] = ()) -> str:
    """SVG of the series (name, xs, ys); NaN and infinities are gaps. Ends with each series' last value in the legend.

    xs and ys are numbers of equal length (ValueError if not); more points than pixels are reduced to each pixel's
    least and greatest, so that no peak is lost. smoothing: weight of the running means, drawn over the pale values;
    0 for none. colors: the place of each series' colour in SERIES, by default its own place. like: series whose ranges
    count as well; unit: follows the last number below the axis; marks: lines across; faint: series in grey behind.
    """
    inks = list(colors) if colors is not None else list(range(len(series)))
    data = [_clean(*one) for one in series]
    behind = [_clean(*one) for one in faint]
    ranged = [*data, *behind, *(_clean(*one) for one in like)]
    y_low, y_high = _padded(*_range([ys for _, _, ys in ranged]))
    y_ticks = nice_ticks(y_low, y_high, most=max(3, int(height / 44)))
    x_low, x_high = _range([xs for _, xs, _ in ranged])
    if 0 < x_low < x_high * NEAR_ZERO:      # the first point may have been thinned out
        x_low = 0.0
    labels = [tick_label(t, y_ticks[1] - y_ticks[0] if len(y_ticks) > 1 else 1.0) for t in y_ticks]
    left = max(text_width(label, 10) for label in labels) + 20
    rows = _legend_rows(data, width - 24)
    low_edge = height - BOTTOM - 16 * (len(rows) - 1)
    frame = _Frame(left, width - RIGHT, TOP if title else 14.0, low_edge, x_low, x_high, y_low, y_high)
    parts = [element("rect", class_="b", fill=INKS["bg"][0], height=height - 1, rx=6, stroke=INKS["frame"][0],
                     width=width - 1, x=0.5, y=0.5),
             *_axes(frame, y_ticks, labels, title, width, unit),
             *(_curve(frame, None, xs, ys, "0.4") for _, xs, ys in behind),
             *_marked(frame, marks),
             *(_curves(frame, ink, one, smoothing) for ink, one in zip(inks, data, strict=True)),
             *_legend(rows, height, inks)]
    body = "".join(parts)
    used = sorted({i % len(SERIES) for i in (*inks, *(mark.color for mark in marks if mark.color >= 0))})
    css = CSS + "".join(f"svg.tfnb-chart .s{i}{{stroke:var(--tf-s{i})}}svg.tfnb-chart .f{i}{{fill:var(--tf-s{i})}}"
                        for i in used)
    label = f"{title or 'line chart'}: {', '.join(name for name, _, _ in data) or 'no data yet'}"
    return element("svg", element("style", theme_css("svg.tfnb-chart", css) + css), body, aria_label=label,
                   class_="tfnb-chart", data_plot=frame.ranges(), font_family=FONT, height=height, role="img",
                   viewBox=f"0 0 {width:g} {height:g}", width=width, xmlns="http://www.w3.org/2000/svg")


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A line across a chart at a place of the x axis, with a sign on top. color: as for series, below 0 for none."""

    x: float
    kind: str
    text: str
    color: int = -1


class _Frame:
    """The plot's rectangle in pixels and the ranges that it shows."""

    def __init__(self, left: float, right: float, top: float, low: float, x0: float, x1: float, y0: float,
                 y1: float) -> None:
        self.left, self.right, self.top, self.low = left, right, top, low
        self.x0, self.x1, self.y0, self.y1 = x0, x1 if x1 > x0 else x0 + max(1.0, abs(x0) * 1e-9), y0, y1

    def ranges(self) -> str:
        """Its sides and what they stand for: pixels become numbers again by it (extension/page/chart.ts)."""
        sides = (self.left, self.right, self.top, self.low, self.x0, self.x1, self.y0, self.y1)
        return " ".join(f"{side:.6g}" for side in sides)

    def x(self, value: Any) -> Any:
        """Pixel column of a value (or of an array of them)."""
        return self.left + (value - self.x0) / (self.x1 - self.x0) * (self.right - self.left)

    def y(self, value: Any) -> Any:
        """Pixel row of a value (or of an array of them)."""
        return self.low - (value - self.y0) / (self.y1 - self.y0) * (self.low - self.top)


def _clean(name: str, xs: Sequence[float], ys: Sequence[float]) -> tuple[str, Floats, Floats]:
    x, y = np.asarray(xs, np.float64).ravel(), np.asarray(ys, np.float64).ravel()
    if x.shape != y.shape:
        raise ValueError(f"series {name!r} has {x.size} x values and {y.size} y values")
    with np.errstate(invalid="ignore"):
        return str(name), x, np.where(np.abs(y) < MOST, y, np.nan)


def _range(arrays: Sequence[Floats]) -> tuple[float, float]:
    found = [a[np.isfinite(a)] for a in arrays]
    found = [a for a in found if a.size]
    return (float(min(a.min() for a in found)), float(max(a.max() for a in found))) if found else (0.0, 1.0)


def _padded(low: float, high: float) -> tuple[float, float]:
    """A little more than the range, but not below 0 where no value is; never of length 0."""
    even = high - low <= abs(low) * 1e-9    # the mean of equal values differs from them in the last digit
    pad = (abs(low) * 0.1 if even else (high - low) * 0.05) or 1.0
    return (0.0 if low >= 0 > low - pad else low - pad), high + pad


def _axes(frame: _Frame, y_ticks: list[float], labels: list[str], title: str, width: float,
          unit: str) -> list[str]:
    parts = []
    for tick, label in zip(y_ticks, labels, strict=True):
        y = round(frame.y(tick)) + 0.5
        parts.append(element("path", class_="g", d=path([(frame.left, y), (frame.right, y)]), stroke=INKS["grid"][0]))
        parts.append(_label(frame.left - 6, y + 3.5, label, "end"))
    x_ticks = nice_ticks(frame.x0, frame.x1, max(4, int((frame.right - frame.left) / 80)))
    for tick in x_ticks:
        step = x_ticks[1] - x_ticks[0] if len(x_ticks) > 1 else 1.0
        word = f" {unit}" if unit and tick == x_ticks[-1] else ""
        parts.append(_label(frame.x(tick), frame.low + 14, tick_label(tick, step) + word, "middle"))
    y = round(frame.low) + 0.5
    parts.append(element("path", class_="x", d=path([(frame.left, y), (frame.right, y)]), stroke=INKS["line"][0]))
    if title:
        parts.append(element("text", text(shorten(title, max(8, int(width / 9)))), class_="h", fill=INKS["ink"][0],
                             font_size=13, font_weight="600", x=12, y=22))
    return parts


def _label(x: float, y: float, label: str, anchor: str) -> str:
    return element("text", text(label), class_="t", fill=INKS["muted"][0], font_size=10, text_anchor=anchor, x=x, y=y)


def _curves(frame: _Frame, index: int, series: tuple[str, Floats, Floats], smoothing: float) -> str:
    name, xs, ys = series
    if not smoothing:
        return _curve(frame, index, xs, ys, name=name)
    return _curve(frame, index, xs, ys, "0.35", name) + _curve(frame, index, xs, smooth(ys, smoothing))


def _marked(frame: _Frame, marks: Sequence[ChartMark]) -> list[str]:
    """A line for each mark, with a tooltip; of signs that would cover one another the first is drawn."""
    parts, free = [], -math.inf
    for mark in sorted(marks, key=lambda mark: mark.x):
        x = round(frame.x(min(max(mark.x, frame.x0), frame.x1))) + 0.5
        ink = mark.color % len(SERIES)
        colour, name = (SERIES[ink][0], f"s{ink}") if mark.color >= 0 else (INKS["muted"][0], "m")
        line = element("path", class_=name, d=path([(x, frame.top), (x, frame.low)]), stroke=colour,
                       stroke_dasharray="3 3", stroke_width=1)
        sign = element("text", text(SIGNS.get(mark.kind, "·")), class_="t" if name == "m" else name.replace("s", "f"),
                       fill=colour, font_size=10, text_anchor="middle", x=x, y=frame.top - 2) if x > free else ""
        free = x + 9 if sign else free
        parts.append(element("g", element("title", text(mark.text)), line, sign))
    return parts


def _curve(frame: _Frame, index: int | None, xs: Floats, ys: Floats, opacity: str | None = None,
           name: str | None = None) -> str:
    """One series as a path; a new part starts after each gap. index: of its colour, None for grey."""
    colour, ink = (SERIES[index % len(SERIES)][0], f"s{index % len(SERIES)}") if index is not None else \
        (INKS["muted"][0], "m")
    parts = []
    for run_x, run_y in _runs(xs, ys):
        px, py = _reduce(frame.x(run_x), frame.y(run_y))
        parts.append(path(zip(px.tolist(), py.tolist(), strict=True)) if px.size > 1
                     else path([(px[0] - 1, py[0]), (px[0] + 1, py[0])]))
    if not parts:
        return ""
    return element("path", class_=ink, d="".join(parts), data_name=name, fill="none", stroke=colour,
                   stroke_linejoin="round", stroke_opacity=opacity, stroke_width=1.6 if index is not None else 1)


def _runs(xs: Floats, ys: Floats) -> list[tuple[Floats, Floats]]:
    good = np.flatnonzero(np.isfinite(xs) & np.isfinite(ys))
    return [(xs[run], ys[run]) for run in np.split(good, np.flatnonzero(np.diff(good) > 1) + 1) if run.size]


def _reduce(px: Floats, py: Floats) -> tuple[Floats, Floats]:
    """At most two points a pixel column: the least and the greatest, in their order."""
    columns = np.floor(px)
    starts = np.flatnonzero(np.r_[True, np.diff(columns) != 0])
    if px.size <= 2 * starts.size:
        return px, py
    keep = set()
    for begin, end in zip(starts, [*starts[1:], px.size], strict=True):
        keep |= {begin + int(np.argmin(py[begin:end])), begin + int(np.argmax(py[begin:end]))}
    index = np.array(sorted(keep | {0, px.size - 1}))
    return px[index], py[index]


def _legend_rows(data: Sequence[tuple[str, Floats, Floats]], width: float) -> list[list[tuple[int, str, float]]]:
    """Legend entries (index, text, width) in as many rows as they need."""
    rows: list[list[tuple[int, str, float]]] = [[]]
    for i, (name, _, ys) in enumerate(data):
        entry = f"{shorten(name, 32)}{_ends(ys)}"
        wide = text_width(entry, 11) + 30
        if rows[-1] and sum(w for _, _, w in rows[-1]) + wide > width:
            rows.append([])
        rows[-1].append((i, entry, wide))
    return rows


def _ends(values: Floats) -> str:
    """The last, the least and the greatest value, as a legend says them."""
    good = values[np.isfinite(values)]
    ends = f" · min {good.min():.3g} · max {good.max():.3g}" if good.size > 1 else ""
    return f"  {values[-1]:.4g}{ends}" if values.size else ""


def _legend(rows: list[list[tuple[int, str, float]]], height: float, inks: Sequence[int]) -> list[str]:
    parts = []
    for r, row in enumerate(rows):
        x, y = 14.0, height - 12 - 16 * (len(rows) - 1 - r)
        for i, entry, wide in row:
            ink = inks[i] % len(SERIES)
            colour = SERIES[ink][0]
            parts.append(element("rect", class_=f"f{ink}", fill=colour, height=3, rx=1.5, width=14, x=x,
                                 y=y - 5))
            parts.append(element("text", text(entry), class_="h", fill=INKS["ink"][0], font_size=11, x=x + 19, y=y))
            x += wide
    return parts
