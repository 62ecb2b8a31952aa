"""Histograms over time and pictures as canonical SVG, in the dress of the live board: for saved notebooks."""
from __future__ import annotations

from base64 import b64encode

from tfnb.notebook.drawing.geometry import shorten
from tfnb.notebook.drawing.palette import FONT, INKS, SERIES, theme_css
from tfnb.notebook.drawing.svg import element, path, text
from tfnb.notebook.plots.chart_svg import nice_ticks, tick_label
from tfnb.notebook.plots.media import Picture, Ridge

LEFT, RIGHT, TOP, BOTTOM = 14.0, 52.0, 34.0, 30.0
PEAK = 60.0             # pixels of the highest bin
ROWS = 16               # that a saved notebook shows
CSS = ("svg.tfnb-rich .b{fill:var(--tf-bg);stroke:var(--tf-frame)}svg.tfnb-rich .t{fill:var(--tf-muted)}"
       "svg.tfnb-rich .h{fill:var(--tf-ink)}svg.tfnb-rich .r{fill:var(--tf-bg)}")


def ridge_svg(name: str, ridge: Ridge, color: int, width: float, height: float) -> str:
    """A row for each step, the newest in front."""
    ink, last = color % len(SERIES), len(ridge.steps) - 1
    back = TOP + PEAK if last else height - BOTTOM
    bases = [back + (height - BOTTOM - back) * row / max(1, last) for row in range(last + 1)]
    scale = (width - LEFT - RIGHT) / (ridge.high - ridge.low)
    bins = ridge.table.shape[1]
    parts = []
    for row, base in enumerate(bases):
        tops = [(LEFT + (i + 0.5) / bins * (width - LEFT - RIGHT), base - PEAK * float(value))
                for i, value in enumerate(ridge.table[row])]
        parts.append(element("path", class_=f"r s{ink}", d=path([(LEFT, base), *tops, (width - RIGHT, base)]),
                             fill=INKS["bg"][0], fill_opacity="0.85", stroke=SERIES[ink][0], stroke_linejoin="round",
                             stroke_opacity=f"{0.35 + 0.65 * row / max(1, last):.2f}", stroke_width=1.3))
    for row in sorted({0, last // 2, last}):
        parts.append(_label(width - RIGHT + 6, bases[row], tick_label(ridge.steps[row], 1.0), "start"))
    ticks = nice_ticks(ridge.low, ridge.high, 5)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    parts += [_label(LEFT + (tick - ridge.low) * scale, height - 12, tick_label(tick, step), "middle")
              for tick in ticks]
    css = CSS + f"svg.tfnb-rich .s{ink}{{stroke:var(--tf-s{ink})}}"
    said = (f"{name}: histograms of {last + 1} steps up to {ridge.steps[-1]:g}, "
            f"values {ridge.low:.3g} to {ridge.high:.3g}")
    return _panel(name, said, css, parts, width, height)


def picture_svg(name: str, step: float, picture: Picture, width: float, height: float) -> str:
    """The newest picture, as large as it fits."""
    scale = min((width - 2 * LEFT) / picture.width, (height - TOP - BOTTOM) / picture.height)
    image = element("image", height=picture.height * scale, width=picture.width * scale, x=LEFT, y=TOP,
                    style="image-rendering: pixelated",
                    href=f"data:image/png;base64,{b64encode(picture.data).decode()}")
    said = f"{name}: picture of {picture.width} x {picture.height} at step {step:g}"
    return _panel(name, said, CSS, [image, _label(LEFT, height - 12, f"step {step:g}", "start")], width, height)


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
