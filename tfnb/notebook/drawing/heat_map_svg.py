"""Heat maps as SVG, for saved notebooks: each picture a small PNG, blue below zero, white at zero, orange above.

Values on one side of zero only have a scale of their own, from white at zero to the darkest."""
from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np

from tfnb.kernels.arrays.png import encode_png
from tfnb.notebook.drawing.geometry import shorten, text_width
from tfnb.notebook.drawing.heat_map import GAP, LARGEST, Picture
from tfnb.notebook.drawing.palette import FONT, INKS, theme_css
from tfnb.notebook.drawing.svg import element, short, text

# The colours from -limit over 0 to limit; `extension/src/heat.ts` has the same ones, and those of the dark theme.
STOPS = ((8, 74, 120), (79, 160, 212), (247, 247, 247), (240, 149, 90), (156, 58, 0))
ONE_SIDED = {1: ((247, 247, 247), (253, 217, 181), (240, 149, 90), (194, 87, 26), (107, 38, 0)),
             -1: ((247, 247, 247), (191, 223, 242), (79, 160, 212), (31, 106, 165), (6, 55, 90))}
NOT_FINITE = (200, 0, 200)
WIDTH, ROOM, HEAD, FOOT, PAD = 900, 200, 40, 30, 16
LEAST = 180             # pixels from one panel to the next: its scale has room
MOST_CELL = 22          # pixels of a cell
SLIM = 90               # a narrower matrix gets wider cells
CSS = ("svg.tfnb-heat .b{fill:var(--tf-bg)}svg.tfnb-heat .h{fill:var(--tf-ink)}svg.tfnb-heat .t{fill:var(--tf-muted)}"
       "svg.tfnb-heat .f{stroke:var(--tf-frame)}svg.tfnb-heat image{image-rendering:pixelated}")


def colours(values: np.ndarray, limit: float, side: int = 0) -> np.ndarray:
    """RGBA of values, uint8: diverging around zero (side 0), or from zero to one side; magenta for NaN and infinities,
    transparent for gaps."""
    gap = values == GAP
    finite = np.isfinite(values) & ~gap
    share = np.clip(np.where(finite, values, 0.0).astype(np.float64) / min(limit or 1.0, LARGEST), -1, 1)
    at = np.maximum(share * side, 0) * 4 if side else share * 2 + 2
    table = np.array(ONE_SIDED.get(side, STOPS), np.float64)
    channels = [np.interp(at, np.arange(5), table[:, c]) for c in range(3)]
    made = np.stack([*channels, np.full(values.shape, 255.0)], axis=-1).round().astype(np.uint8)
    made[~finite & ~gap, :3] = NOT_FINITE
    made[gap, 3] = 0
    return made


def size_of(drawn: Picture) -> tuple[float, float]:
    """Width and height in pixels of a picture: cells are square, those of a slim matrix wider."""
    rows, columns = drawn.values.shape
    cell = min(MOST_CELL, ROOM / max(rows, columns, 1))
    cell = float(int(cell)) if cell >= 2 else cell
    wide = max(cell, min(MOST_CELL, SLIM / max(columns, 1))) if drawn.form == "matrix" else cell
    high = max(cell, min(MOST_CELL, SLIM / max(rows, 1))) if drawn.form == "matrix" else cell
    return max(columns * wide, 1.0), max(rows * high, 1.0)


def heat_svg(panels: Sequence[tuple[str, Picture]], title: str = "") -> str:
    """The pictures side by side, each under its title and over its scale."""
    parts, top = [], 34.0 if title else 8.0
    row: list[tuple[str, Picture, float]] = []
    x, tallest, width = float(PAD), 0.0, 0.0
    for name, drawn in panels:
        wide, high = size_of(drawn)
        room = max(wide, float(LEAST))
        if row and x + room + PAD > WIDTH:
            parts += [_panel(*one, top) for one in row]
            top, x, tallest, row = top + tallest + HEAD + FOOT, float(PAD), 0.0, []
        row.append((name, drawn, x))
        x, tallest = x + room + PAD, max(tallest, high)
        width = max(width, x)
    parts += [_panel(*one, top) for one in row]
    height, width = top + tallest + HEAD + FOOT, max(width, 200.0)
    heading = [element("text", text(shorten(title, 90)), class_="h", fill=INKS["ink"][0], font_size=14,
                       font_weight="600", x=PAD, y=22)] if title else []
    back = element("rect", class_="b f", fill=INKS["bg"][0], height=height - 1, rx=6, stroke=INKS["frame"][0],
                   width=width - 1, x=0.5, y=0.5)
    label = f"{title or 'heat maps'}: {', '.join(name for name, _ in panels)}"
    return element("svg", element("style", theme_css("svg.tfnb-heat", CSS) + CSS), back, *heading, *parts,
                   aria_label=label, class_="tfnb-heat", font_family=FONT, height=height, role="img",
                   viewBox=f"0 0 {width:g} {height:g}", width=width, xmlns="http://www.w3.org/2000/svg")


def _panel(name: str, drawn: Picture, x: float, top: float) -> str:
    wide, high = size_of(drawn)
    y, room = top + HEAD, max(wide, float(LEAST))
    cells = colours(drawn.values, drawn.limit, drawn.side)
    image = base64.b64encode(encode_png(cells)).decode() if drawn.values.size else ""
    return "".join([
        element("text", text(shorten(name, int(room / 7))), class_="h", fill=INKS["ink"][0], font_size=12,
                font_weight="600", x=x, y=top + 14),
        element("text", text(shorten(" × ".join(map(str, drawn.shape)) or "one number", int(room / 6))), class_="t",
                fill=INKS["muted"][0], font_size=11, x=x, y=top + 29),
        element("image", element("title", text(drawn.note or name)), height=high, href=f"data:image/png;base64,{image}",
                preserveAspectRatio="none", width=wide, x=x, y=y),
        element("rect", class_="f", fill="none", height=high, stroke=INKS["frame"][0], width=wide, x=x, y=y),
        _scale(drawn.limit, drawn.side, x, y + high + 8)])


def _scale(limit: float, side: int, x: float, y: float) -> str:
    """The colours from -limit, or 0, to limit, or 0, with both numbers."""
    ends = (0.0 if side > 0 else -1.0, 0.0 if side < 0 else 1.0)
    ramp = base64.b64encode(encode_png(colours(np.linspace(*ends, 65)[None], 1.0, side))).decode()
    low, high = (short(limit * end, 3) if end else "0" for end in ends)
    begin = x + text_width(low, 11) + 5
    return "".join([
        element("text", text(low), class_="t", fill=INKS["muted"][0], font_size=11, x=x, y=y + 8),
        element("image", height=8, href=f"data:image/png;base64,{ramp}", preserveAspectRatio="none", width=64, x=begin,
                y=y),
        element("text", text(high), class_="t", fill=INKS["muted"][0], font_size=11, x=begin + 69, y=y + 8)])
