"""The drawing of a traced run: a lane of kernels, one of host calls, the memory in use, and where the time goes.

Bars that are too narrow to be seen are added up: a column of a few pixels is as high as the share of its time that they
take, in their colours.
"""
from __future__ import annotations

from collections.abc import Sequence

from tfnb.core.text import counted
from tfnb.notebook.debug.timeline_bars import COLUMN, KERNELS, Bar, Column, Share, levels, main_group, shares
from tfnb.notebook.drawing.geometry import shorten, text_width
from tfnb.notebook.drawing.palette import FONT, INKS, SERIES, theme_css
from tfnb.notebook.drawing.svg import element, number, path, text
from tfnb.notebook.graph.paint import amount_text
from tfnb.notebook.plots.chart_svg import nice_ticks, tick_label

WIDTH, LEFT, RIGHT, TOP, LANE, GAP, ROW = 860.0, 84.0, 14.0, 34.0, 34.0, 8.0, 20.0
LISTED = 8              # groups that are named below
DARK = frozenset((1, 2, 4, 7))          # places of colours on which white letters have too little contrast
DARK_INK = "#10161c"
CSS = ("svg.tfnb-time .b{fill:var(--tf-bg);stroke:var(--tf-frame)}svg.tfnb-time .t{fill:var(--tf-muted)}"
       "svg.tfnb-time .h{fill:var(--tf-ink)}svg.tfnb-time .l{fill:var(--tf-bg)}svg.tfnb-time .g{stroke:var(--tf-grid)}"
       "svg.tfnb-time .m{fill:var(--tf-line);stroke:var(--tf-line)}")


def timeline_svg(bars: list[Bar], by: str = KERNELS) -> str:
    """The drawing as canonical SVG. by: what the list is of; of "kernel" colours are kinds of kernels."""
    end = run_end(bars)
    groups = shares(bars, by)
    colors = colors_of(bars, groups, by)
    memory = TOP + 2 * (LANE + GAP)
    peak = max((bar.record.live for bar in bars), default=0)
    low = memory + LANE if peak else memory - GAP
    scale = (WIDTH - LEFT - RIGHT) / end
    alone, columns = levels(bars, colors, scale)
    rows = [_row(share, end, low + 62 + ROW * i) for i, share in enumerate(groups[:LISTED])]
    height = low + 54 + ROW * len(rows) + 10
    parts = [element("rect", class_="b", fill=INKS["bg"][0], height=height - 1, rx=6, stroke=INKS["frame"][0],
                     width=WIDTH - 1, x=0.5, y=0.5), _text(12, 22, summary(bars, end), 13, "h", "600")]
    parts += _ticks(end, scale, low)
    for lane, name in enumerate(("kernels", "host calls")):
        parts.append(_text(12, TOP + lane * (LANE + GAP) + LANE / 2 + 4, name, 11, "t"))
    parts += _memory(bars, peak, scale, memory) if peak else []
    parts += [_column(kernel, place, column, bars, scale) for (kernel, place), column in columns.items()]
    parts += [_bar(bars[i], colors[i], scale) for i in alone]
    parts += [_text(12, low + 36, _note(len(bars), sum(len(column.bars) for column in columns.values()),
                                         len(groups), by), 11, "t")]
    parts += [part for row in rows for part in row]
    used = sorted({*colors, *(share.color for share in groups[:LISTED])})
    css = CSS + "".join(f"svg.tfnb-time .f{i}{{fill:var(--tf-s{i})}}" for i in used)
    return element("svg", element("style", theme_css("svg.tfnb-time", css) + css), *parts,
                   aria_label=f"Timeline: {summary(bars, end)}",
                   class_="tfnb-time", font_family=FONT, height=height, role="img", width=WIDTH,
                   viewBox=f"0 0 {WIDTH:g} {height:g}", xmlns="http://www.w3.org/2000/svg")


def run_end(bars: Sequence[Bar]) -> float:
    """The seconds from the first bar's start to the last one's end."""
    return max((bar.start + bar.seconds for bar in bars), default=1e-6)


def colors_of(bars: Sequence[Bar], groups: Sequence[Share], by: str) -> list[int]:
    """The place of each bar's colour: that of its kind, or of the group that most of its ops are of."""
    places = {share.name: share.color for share in groups}
    return [bar.color if by == KERNELS else places[main_group(bar, by)] for bar in bars]


def time_unit(end: float) -> tuple[str, float]:
    """The name and the seconds of the unit of the axis of a run. end: its seconds."""
    return ("s", 1.0) if end >= 2 else ("ms", 1e-3) if end >= 2e-3 else ("µs", 1e-6)


def _note(bars: int, narrow: int, groups: int, by: str) -> str:
    added = f"{narrow:,} of {bars:,} bars are too narrow: a column's height is the share of its time that they take" \
        if narrow else ""
    listed = f"the longest {LISTED} of {groups:,} {by}s" if groups > LISTED else ""
    return " · ".join(part for part in (added, listed) if part)


def _ticks(end: float, scale: float, low: float) -> list[str]:
    unit, size = time_unit(end)
    parts, ticks = [], nice_ticks(0, end / size, 9)
    for tick in ticks:
        x = LEFT + tick * size * scale
        parts.append(element("path", class_="g", d=path([(x, TOP), (x, low)]), stroke=INKS["grid"][0]))
        label = tick_label(tick, ticks[1] - ticks[0] if len(ticks) > 1 else 1.0)
        parts.append(_text(x, low + 15, f"{label} {unit}" if tick == ticks[-1] else label, 11, "t", anchor="middle"))
    return parts


def _memory(bars: list[Bar], peak: int, scale: float, top: float) -> list[str]:
    """The bytes of buffers and outputs in use, as steps, the most of each pixel. Host calls tell of none: the curve
    goes on over them."""
    at = top + LANE
    most: dict[int, int] = {}
    for bar in bars:
        if bar.record.kernel:
            for x in range(int(bar.start * scale), int((bar.start + bar.seconds) * scale) + 1):
                most[x] = max(most.get(x, 0), bar.record.live)
    line, level = [], -1
    for x in sorted(most):
        if most[x] != level:
            line += [f"{number(LEFT + x)} {number(at - (LANE - 2) * max(0, level) / peak)}"] if level >= 0 else []
            level = most[x]
            line.append(f"{number(LEFT + x)} {number(at - (LANE - 2) * level / peak)}")
    last = number(LEFT + max(most) + 1)
    line.append(f"{last} {number(at - (LANE - 2) * level / peak)}")
    drawn = f"M{number(LEFT + min(most))} {number(at)}L{'L'.join(line)}L{last} {number(at)}Z"
    words = f"{amount_text('memory', peak)} of buffers and outputs at most"
    return [element("path", element("title", text(words)), class_="m", d=drawn, fill=INKS["line"][0],
                    fill_opacity="0.35", stroke=INKS["line"][0]),
            _text(12, top + LANE / 2 - 1, "memory", 11, "t"),
            _text(12, top + LANE / 2 + 13, f"to {amount_text('memory', peak)}", 11, "t")]


def summary(bars: Sequence[Bar], end: float) -> str:
    """One line on the whole run."""
    kernels = [bar for bar in bars if bar.record.kernel]
    calls = [bar for bar in bars if not bar.record.kernel]
    between = end - sum(bar.seconds for bar in bars)
    parts = [f"{amount_text('time', end)} traced"]
    for some, word in ((kernels, "kernel"), (calls, "host call")):
        if some:
            taken = amount_text("time", sum(bar.seconds for bar in some))
            parts.append(f"{counted(len(some), word)} {taken}")
    return " · ".join([*parts, f"between them {amount_text('time', max(0.0, between))}"])


def lane_top(kernel: bool) -> float:
    """The upper edge of a lane."""
    return TOP + (0 if kernel else LANE + GAP)


def _bar(bar: Bar, color: int, scale: float) -> str:
    x, width, y = LEFT + bar.start * scale, bar.seconds * scale, lane_top(bar.record.kernel)
    said = element("title", text("\n".join([*bar.words(), f"{amount_text('time', bar.seconds)} as it ran"])))
    box = element("rect", said, class_=f"f{color}", data_bars="1", fill=SERIES[color][0], height=LANE,
                  role="img", rx=1.5, width=width, x=x, y=y)
    if text_width(bar.types, 11) + 10 > width:
        return box
    dark = color in DARK
    return box + element("text", text(bar.types), class_=None if dark else "l", font_size=11,
                         fill=DARK_INK if dark else INKS["bg"][0], pointer_events="none", x=x + 4, y=y + LANE / 2 + 4)


def _column(kernel: bool, place: int, column: Column, bars: Sequence[Bar], scale: float) -> str:
    """Bars that are added up: the share of the column's time that each colour takes, one upon the other."""
    types = dict.fromkeys(kind for i in column.bars[:4] for kind in [bars[i].types])
    more = " ..." if len(column.bars) > 4 else ""
    said = element("title", text(f"{len(column.bars)} bars, {amount_text('time', sum(column.seconds.values()))}: "
                                 f"{', '.join(types)}{more}"))
    drawn, y = [said], lane_top(kernel) + LANE
    for color, seconds in sorted(column.seconds.items()):
        high = max(1.0, min(1.0, seconds * scale / COLUMN) * LANE)
        y -= high
        drawn.append(element("rect", class_=f"f{color}", fill=SERIES[color][0], height=high, width=COLUMN,
                             x=LEFT + place * COLUMN, y=max(y, lane_top(kernel))))
    return element("g", *drawn, data_bars=len(column.bars))


def _row(share: Share, end: float, y: float) -> list[str]:
    """A line of the list: the time of a group, its share, and where the longest of its bars was made."""
    longest, color = share.longest, share.color
    calls = counted(share.bars, "bar")
    words = [(30.0, amount_text("time", share.seconds)), (92.0, f"{share.seconds / end:.0%}"),
             (130, shorten(share.name, 46)), (440, f"{calls}, up to {amount_text('time', longest.seconds)}"),
             (606, shorten(longest.record.ops[-1].made_at.partition(": `")[0], 40))]
    swatch = element("rect", class_=f"f{color}", fill=SERIES[color][0], height=9, rx=1.5, width=9, x=14, y=y - 8)
    return [swatch, *(_text(x, y, said, 11, "h" if x > 100 else "t") for x, said in words)]


def _text(x: float, y: float, words: str, size: float, class_: str, weight: str | None = None,
          anchor: str | None = None) -> str:
    ink = INKS["ink" if class_ == "h" else "muted"][0]
    return element("text", text(words), class_=class_, fill=ink, font_size=size, font_weight=weight, text_anchor=anchor,
                   x=x, y=y)
