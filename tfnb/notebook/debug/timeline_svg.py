"""The drawing of a traced run: a lane of kernels, one of host calls, the memory in use, and where the time goes."""
from __future__ import annotations

from tfnb.core.text import counted
from tfnb.notebook.debug.timeline_bars import Bar, Share, main_group, micros, shares
from tfnb.notebook.drawing.geometry import shorten, text_width
from tfnb.notebook.drawing.palette import FONT, INKS, SERIES, theme_css
from tfnb.notebook.drawing.svg import element, number, path, text
from tfnb.notebook.graph.paint import amount_text
from tfnb.notebook.plots.chart_svg import nice_ticks, tick_label

WIDTH, LEFT, RIGHT, TOP, LANE, GAP, ROW = 860.0, 84.0, 14.0, 34.0, 34.0, 8.0, 20.0
LISTED = 6              # longest bars, or groups, that are named below
MOST = 600              # bars that are drawn
CSS = ("svg.tfnb-time .b{fill:var(--tf-bg);stroke:var(--tf-frame)}svg.tfnb-time .t{fill:var(--tf-muted)}"
       "svg.tfnb-time .h{fill:var(--tf-ink)}svg.tfnb-time .l{fill:var(--tf-bg)}svg.tfnb-time .g{stroke:var(--tf-grid)}"
       "svg.tfnb-time .m{fill:var(--tf-line);stroke:var(--tf-line)}")


def timeline_svg(bars: list[Bar], by: str = "") -> str:
    """The drawing as canonical SVG. by: of GROUPS: what colours and the list are of; "": kinds, and single bars."""
    end = max((bar.start + bar.seconds for bar in bars), default=1e-6)
    groups = shares(bars, by) if by else []
    places = {share.name: share.color for share in groups}
    colors = [places[main_group(bar, by)] if by else bar.color for bar in bars]
    memory = TOP + 2 * (LANE + GAP)
    peak = max((bar.record.live for bar in bars), default=0)
    low = memory + LANE if peak else memory - GAP
    rows = _rows(bars, groups, colors, end, low + 42)
    height = low + 34 + ROW * len(rows) + 10
    scale = (WIDTH - LEFT - RIGHT) / end
    parts = [element("rect", class_="b", fill=INKS["bg"][0], height=height - 1, rx=6, stroke=INKS["frame"][0],
                     width=WIDTH - 1, x=0.5, y=0.5), _text(12, 22, summary(bars, end), 13, "h", "600")]
    parts += _ticks(end, scale, low)
    for lane, name in enumerate(("kernels", "host calls")):
        parts.append(_text(12, TOP + lane * (LANE + GAP) + LANE / 2 + 4, name, 11, "t"))
    parts += _memory(bars, peak, scale, memory) if peak else []
    parts += [_bar(i, bar, color, scale) for i, (bar, color) in enumerate(zip(bars[:MOST], colors, strict=False))]
    parts += [part for row in rows for part in row]
    css = CSS + "".join(f"svg.tfnb-time .f{i}{{fill:var(--tf-s{i})}}" for i in sorted({*colors, *places.values()}))
    return element("svg", element("style", theme_css("svg.tfnb-time", css) + css), *parts,
                   aria_label=f"Timeline: {summary(bars, end)}",
                   class_="tfnb-time", font_family=FONT, height=height, role="img", width=WIDTH,
                   viewBox=f"0 0 {WIDTH:g} {height:g}", xmlns="http://www.w3.org/2000/svg")


def _ticks(end: float, scale: float, low: float) -> list[str]:
    parts, ticks = [], nice_ticks(0, end * 1e6, 9)
    for tick in ticks:
        x = LEFT + tick * 1e-6 * scale
        parts.append(element("path", class_="g", d=path([(x, TOP), (x, low)]), stroke=INKS["grid"][0]))
        label = tick_label(tick, ticks[1] - ticks[0] if len(ticks) > 1 else 1.0)
        parts.append(_text(x, low + 15, f"{label} µs" if tick == ticks[-1] else label, 10, "t", anchor="middle"))
    return parts


def _memory(bars: list[Bar], peak: int, scale: float, top: float) -> list[str]:
    """The bytes of buffers and outputs in use, as steps. Host calls tell of none: the curve goes on over them."""
    at, line = top + LANE, []
    for bar in bars:
        if bar.record.kernel:
            y = number(at - (LANE - 2) * bar.record.live / peak)
            begin, end = LEFT + bar.start * scale, LEFT + (bar.start + bar.seconds) * scale
            line.append(f"{number(begin)} {y}L{number(end)} {y}")
    first, last = line[0].partition(" ")[0], line[-1].rpartition("L")[2].partition(" ")[0]
    drawn = f"M{first} {number(at)}L{'L'.join(line)}L{last} {number(at)}Z"
    words = f"{amount_text('memory', peak)} of buffers and outputs at most"
    return [element("path", element("title", text(words)), class_="m", d=drawn, fill=INKS["line"][0],
                    fill_opacity="0.35", stroke=INKS["line"][0]),
            _text(12, top + LANE / 2 - 1, "memory", 11, "t"),
            _text(12, top + LANE / 2 + 13, f"to {amount_text('memory', peak)}", 10, "t")]


def summary(bars: list[Bar], end: float) -> str:
    """One line on the whole run."""
    kernels = [bar for bar in bars if bar.record.kernel]
    calls = [bar for bar in bars if not bar.record.kernel]
    between = end - sum(bar.seconds for bar in bars)
    parts = [f"{micros(end)} traced"]
    for some, word in ((kernels, "kernel"), (calls, "host call")):
        if some:
            parts.append(f"{counted(len(some), word)} {micros(sum(bar.seconds for bar in some))}")
    return " · ".join([*parts, f"between them {micros(max(0.0, between))}"])


def _bar(place: int, bar: Bar, color: int, scale: float) -> str:
    x, width = LEFT + bar.start * scale, max(bar.seconds * scale, 0.6)
    y = TOP + (0 if bar.record.kernel else LANE + GAP)
    said = element("title", text("\n".join(bar.words())))
    box = element("rect", said, class_=f"f{color}", data_bar=str(place), fill=SERIES[color][0], height=LANE,
                  role="img", rx=1.5, width=width, x=x, y=y)
    if text_width(bar.types, 10) + 8 > width:
        return box
    return box + element("text", text(bar.types), class_="l", fill=INKS["bg"][0], font_size=10,
                         pointer_events="none", x=x + 4, y=y + LANE / 2 + 4)


def _rows(bars: list[Bar], groups: list[Share], colors: list[int], end: float, top: float) -> list[list[str]]:
    """The list below: the groups, or the longest bars."""
    if groups:
        return [_listed(share.color, share.seconds, end, top + ROW * row, _share_words(share))
                for row, share in enumerate(groups[:LISTED])]
    listed = sorted(zip(bars, colors, strict=True), key=lambda pair: -pair[0].seconds)[:LISTED]
    return [_listed(color, bar.seconds, end, top + ROW * row, _bar_words(bar))
            for row, (bar, color) in enumerate(listed)]


def _bar_words(bar: Bar) -> list[tuple[float, str]]:
    last = bar.record.ops[-1]
    return [(130, shorten(bar.types, 34)), (352, shorten(last.name, 28)),
            (548, shorten(last.made_at.partition(": `")[0], 24)), (700, shorten(bar.limits().partition(",")[0], 26))]


def _share_words(share: Share) -> list[tuple[float, str]]:
    longest = share.longest
    return [(130, shorten(share.name, 34)), (352, f"in {counted(share.bars, 'bar')}"),
            (440, f"longest {micros(longest.seconds)}"), (548, shorten(longest.record.ops[-1].name, 48))]


def _listed(color: int, seconds: float, end: float, y: float, words: list[tuple[float, str]]) -> list[str]:
    swatch = element("rect", class_=f"f{color}", fill=SERIES[color][0], height=9, rx=1.5, width=9, x=14, y=y - 8)
    columns = [(30.0, f"{micros(seconds)}"), (92.0, f"{seconds / end:.0%}"), *words]
    return [swatch, *(_text(x, y, said, 11, "h" if x > 100 else "t") for x, said in columns)]


def _text(x: float, y: float, words: str, size: float, class_: str, weight: str | None = None,
          anchor: str | None = None) -> str:
    ink = INKS["ink" if class_ == "h" else "muted"][0]
    return element("text", text(words), class_=class_, fill=ink, font_size=size, font_weight=weight, text_anchor=anchor,
                   x=x, y=y)
