"""Histograms over time and pictures as canonical SVG, in the dress of the live board: for saved notebooks."""
from __future__ import annotations

from base64 import b64encode

from tfnb.notebook.drawing.geometry import shorten
from tfnb.notebook.drawing.palette import FONT, INKS, SERIES, theme_css
from tfnb.notebook.drawing.svg import element, path, text
from tfnb.notebook.plots.chart_svg import nice_ticks, tick_label
from tfnb.notebook.plots.media import Picture, Ridge

LEFT, RIGHT, TOP, BOTTOM = 40.0, 52.0, 34.0, 30.0
EDGE = 14.0             # left of a picture
PEAK = 60.0             # pixels of the highest bin
ROWS = 16               # that a saved notebook shows
CSS = ("svg.tfnb-rich .b{fill:var(--tf-bg);stroke:var(--tf-frame)}svg.tfnb-rich .t{fill:var(--tf-muted)}"
       "svg.tfnb-rich .h{fill:var(--tf-ink)}svg.tfnb-rich .l{stroke:var(--tf-line)}svg.tfnb-rich .r{fill:var(--tf-bg)}")


def ridge_svg(name: str, ridge: Ridge, color: int, width: float, height: float) -> str:
    """A row for each step, the newest in front: with a scale of counts for that one, and of steps at the right."""
    ink, last = color % len(SERIES), len(ridge.steps) - 1
    back = TOP + PEAK if last else height - BOTTOM
    front, began, ended = height - BOTTOM, ridge.steps[0], ridge.steps[-1]

    def base(step: float) -> float:
        return front if ended <= began else back + (front - back) * (step - began) / (ended - began)
    bases = [base(step) for step in ridge.steps]
    scale = (width - LEFT - RIGHT) / (ridge.high - ridge.low)
    bins = ridge.table.shape[1]
    parts = []
    for row, floor in enumerate(bases):
        tops = [(LEFT + (i + 0.5) / bins * (width - LEFT - RIGHT), floor - PEAK * float(value))
                for i, value in enumerate(ridge.table[row])]
        parts.append(element("path", class_=f"r s{ink}", d=path([(LEFT, floor), *tops, (width - RIGHT, floor)]),
                             fill=INKS["bg"][0], fill_opacity="0.85", stroke=SERIES[ink][0], stroke_linejoin="round",
                             stroke_opacity=f"{0.35 + 0.65 * row / max(1, last):.2f}", stroke_width=1.3))
    marked = step_ticks(began, ended)
    apart = marked[1] - marked[0] if len(marked) > 1 else 1.0
    parts += [_label(width - RIGHT + 6, base(step) + 3, tick_label(step, apart), "start") for step in marked]
    scale_line = [(LEFT - 3, front - PEAK), (LEFT - 6, front - PEAK), (LEFT - 6, front), (LEFT - 3, front)]
    parts.append(element("path", class_="l", d=path(scale_line), fill="none", stroke=INKS["line"][0]))
    parts += [_label(LEFT - 9, front - PEAK + 3, tick_label(ridge.top, ridge.top), "end"),
              _label(LEFT - 9, front + 3, "0", "end")]
    ticks = nice_ticks(ridge.low, ridge.high, 5)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    parts += [_label(LEFT + (tick - ridge.low) * scale, height - 12, tick_label(tick, step), "middle")
              for tick in ticks]
    css = CSS + f"svg.tfnb-rich .s{ink}{{stroke:var(--tf-s{ink})}}"
    said = (f"{name}: histograms of {last + 1} steps up to {ridge.steps[-1]:g}, "
            f"values {ridge.low:.3g} to {ridge.high:.3g}")
    return _panel(name, said, css, parts, width, height)


def step_ticks(low: float, high: float) -> list[float]:
    """Round steps within [low, high], or its one step."""
    return nice_ticks(low, high, 4) if high > low else [low]


def picture_svg(name: str, step: float, picture: Picture, width: float, height: float) -> str:
    """The newest picture, as large as it fits."""
    scale = min((width - 2 * EDGE) / picture.width, (height - TOP - BOTTOM) / picture.height)
    image = element("image", height=picture.height * scale, width=picture.width * scale, x=EDGE, y=TOP,
                    style="image-rendering: pixelated",
                    href=f"data:image/png;base64,{b64encode(picture.data).decode()}")
    said = f"{name}: picture of {picture.width} x {picture.height} at step {step:g}"
    return _panel(name, said, CSS, [image, _label(EDGE, height - 12, f"step {step:g}", "start")], width, height)


def _panel(name: str, said: str, css: str, parts: list[str], width: float, height: float) -> str:
    frame = element("rect", class_="b", fill=INKS["bg"][0], height=height - 1, rx=6, stroke=INKS["frame"][0],
                    width=width - 1, x=0.5, y=0.5)
    title = element("text", text(shorten(name, max(8, int(width / 9)))), class_="h", fill=INKS["ink"][0], font_size=13,
                    font_weight="600", x=12, y=22)
    return element("svg", element("style", theme_css("svg.tfnb-rich", css) + css), frame, title, *parts,
                   aria_label=said, class_="tfnb-rich", font_family=FONT, height=height, role="img",
                   viewBox=f"0 0 {width:g} {height:g}", width=width, xmlns="http://www.w3.org/2000/svg")


def _label(x: float, y: float, label: str, anchor: str) -> str:
    return element("text", text(label), class_="t", fill=INKS["muted"][0], font_size=10, text_anchor=anchor, x=x, y=y)
