"""`%profile`: the kernels and the host calls of a run over time, each beside what the machine can do."""
from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tfnb.core.options import options
from tfnb.notebook.chart_svg import nice_ticks, tick_label
from tfnb.notebook.geometry import shorten, text_width
from tfnb.notebook.palette import FONT, INKS, SERIES, theme_css
from tfnb.notebook.svg import element, path, text
from tfnb.notebook.widget import View
from tfnb.runtime.profile import Profile, profile, trace_run
from tfnb.runtime.timing import SHORT, LaunchTime, memory_rate, product_rate
from tfnb.runtime.trace import Record

WIDTH, LEFT, RIGHT, TOP, LANE, GAP, ROW = 860.0, 84.0, 14.0, 34.0, 34.0, 8.0, 20.0
LISTED = 6              # longest bars that are named below
MOST = 600              # bars that are drawn
PRODUCT, OTHER, HOST = 0, 2, 1          # places of colours
CSS = ("svg.tfnb-time .b{fill:var(--tf-bg);stroke:var(--tf-frame)}svg.tfnb-time .t{fill:var(--tf-muted)}"
       "svg.tfnb-time .h{fill:var(--tf-ink)}svg.tfnb-time .l{fill:var(--tf-bg)}svg.tfnb-time .g{stroke:var(--tf-grid)}"
       + "".join(f"svg.tfnb-time .f{i}{{fill:var(--tf-s{i})}}" for i in (PRODUCT, OTHER, HOST)))


@dataclass(frozen=True, slots=True)
class Bar:
    """A kernel launch or host call. start, seconds: in the traced run; alone: the same launch by itself, if timed."""

    record: Record
    start: float
    seconds: float
    alone: LaunchTime | None

    @property
    def color(self) -> int:
        """The place of its colour."""
        if not self.record.kernel:
            return HOST
        return PRODUCT if self.alone is not None and self.alone.operations else OTHER

    @property
    def types(self) -> str:
        """The types of its ops."""
        return "+".join(dict.fromkeys(op.type for op in self.record.ops))

    def limits(self) -> str:
        """How near it comes to the machine's rates, or ""."""
        if self.alone is None or self.alone.seconds <= SHORT:
            return ""
        parts = [f"{self.alone.bytes_per_second / memory_rate(options.threads):.0%} of memory's rate"]
        if self.alone.operations:
            share = self.alone.operations_per_second / product_rate(options.threads)
            parts.insert(0, f"{share:.0%} of a product's rate")
        return ", ".join(parts)

    def words(self) -> list[str]:
        """What the pointer tells."""
        ops = self.record.ops
        more = f" and {len(ops) - 1} more" if len(ops) > 1 else ""
        lines = [f"{self.types}", f"{ops[-1].name}{more}", ops[-1].made_at]
        lines.append(f"{micros(self.seconds)} as it ran, {'a kernel' if self.record.kernel else 'a call from Python'}")
        if self.alone is not None:
            lines.append(f"{micros(self.alone.seconds)} by itself, {self.alone.nbytes / 1e3:,.1f} kB of buffers")
        return [*lines, self.limits()] if self.limits() else lines


class TimelineView(View):
    """A profiled run: printed a table, drawn a timeline. profile: the times of its launches; bars: what ran when."""

    kind = "timeline"

    def __init__(self, times: Profile, records: Iterable[Record]) -> None:
        super().__init__()
        self.profile = times
        self.bars = bars_of(list(records), times)

    def forms(self) -> dict[str, str]:
        """The table, and the drawing."""
        return {"text/plain": repr(self.profile), "image/svg+xml": self.svg()}

    def svg(self) -> str:
        """The timeline: a lane of kernels, one of host calls, and the longest bars by name."""
        return timeline_svg(self.bars)

    def widget_state(self) -> dict[str, Any]:
        """svg, with a `data-bar` on each bar, and the lines to tell of each."""
        return {"svg": self.svg(), "bars": [bar.words() for bar in self.bars[:MOST]]}


def timeline(fetches: Any, feed_dict: Any = None, session: Any = None, runs: int = 20) -> TimelineView:
    """Profile a run: time each kernel by itself, best of `runs`, and trace one run as it goes.

    Variables and generators keep their values; host calls (queues, summaries) run some times. Raises as `session.run`,
    and ValueError if the run has no kernels.
    """
    times = profile(fetches, feed_dict, session, runs)
    return TimelineView(times, trace_run(fetches, feed_dict, session).records)


def bars_of(records: list[Record], times: Profile) -> list[Bar]:
    """The records by time from the first one on, each kernel with its time by itself."""
    alone: dict[tuple[str, ...], deque[LaunchTime]] = defaultdict(deque)
    for launch in times.launches:
        alone[launch.ops].append(launch)
    records = sorted(records, key=lambda record: record.start)
    begin = records[0].start if records else 0
    found = []
    for record in records:
        waiting = alone[tuple(op.name for op in record.ops)] if record.kernel else None
        found.append(Bar(record, (record.start - begin) * 1e-9, (record.end - record.start) * 1e-9,
                         waiting.popleft() if waiting else None))
    return found


def timeline_svg(bars: list[Bar]) -> str:
    """The drawing as canonical SVG."""
    end = max((bar.start + bar.seconds for bar in bars), default=1e-6)
    listed = sorted(bars, key=lambda bar: -bar.seconds)[:LISTED]
    low = TOP + 2 * LANE + GAP
    height = low + 34 + ROW * len(listed) + 10
    scale = (WIDTH - LEFT - RIGHT) / end
    parts = [element("rect", class_="b", fill=INKS["bg"][0], height=height - 1, rx=6, stroke=INKS["frame"][0],
                     width=WIDTH - 1, x=0.5, y=0.5), _text(12, 22, summary(bars, end), 13, "h", "600")]
    ticks = nice_ticks(0, end * 1e6, 9)
    for tick in ticks:
        x = LEFT + tick * 1e-6 * scale
        parts.append(element("path", class_="g", d=path([(x, TOP), (x, low)]), stroke=INKS["grid"][0]))
        label = tick_label(tick, ticks[1] - ticks[0] if len(ticks) > 1 else 1.0)
        parts.append(_text(x, low + 15, f"{label} µs" if tick == ticks[-1] else label, 10, "t", anchor="middle"))
    for lane, name in enumerate(("kernels", "host calls")):
        parts.append(_text(12, TOP + lane * (LANE + GAP) + LANE / 2 + 4, name, 11, "t"))
    parts += [_bar(i, bar, scale) for i, bar in enumerate(bars[:MOST])]
    for row, bar in enumerate(listed):
        parts += _listed(bar, end, low + 42 + ROW * row)
    css = theme_css("svg.tfnb-time", CSS) + CSS
    return element("svg", element("style", css), *parts, aria_label=f"Timeline: {summary(bars, end)}",
                   class_="tfnb-time", font_family=FONT, height=height, role="img", width=WIDTH,
                   viewBox=f"0 0 {WIDTH:g} {height:g}", xmlns="http://www.w3.org/2000/svg")


def summary(bars: list[Bar], end: float) -> str:
    """One line on the whole run."""
    kernels = [bar for bar in bars if bar.record.kernel]
    calls = [bar for bar in bars if not bar.record.kernel]
    between = end - sum(bar.seconds for bar in bars)
    parts = [f"{micros(end)} traced"]
    for some, word in ((kernels, "kernel"), (calls, "host call")):
        if some:
            parts.append(f"{len(some)} {word}{'s' * (len(some) > 1)} {micros(sum(bar.seconds for bar in some))}")
    return " · ".join([*parts, f"between them {micros(max(0.0, between))}"])


def _bar(place: int, bar: Bar, scale: float) -> str:
    x, width = LEFT + bar.start * scale, max(bar.seconds * scale, 0.6)
    y = TOP + (0 if bar.record.kernel else LANE + GAP)
    said = element("title", text("\n".join(bar.words())))
    box = element("rect", said, class_=f"f{bar.color}", data_bar=str(place), fill=SERIES[bar.color][0], height=LANE,
                  role="img", rx=1.5, width=width, x=x, y=y)
    if text_width(bar.types, 10) + 8 > width:
        return box
    return box + element("text", text(bar.types), class_="l", fill=INKS["bg"][0], font_size=10,
                         pointer_events="none", x=x + 4, y=y + LANE / 2 + 4)


def _listed(bar: Bar, end: float, y: float) -> list[str]:
    swatch = element("rect", class_=f"f{bar.color}", fill=SERIES[bar.color][0], height=9, rx=1.5, width=9, x=14,
                     y=y - 8)
    last = bar.record.ops[-1]
    columns = [(30, f"{micros(bar.seconds)}"), (92, f"{bar.seconds / end:.0%}"), (130, shorten(bar.types, 34)),
               (352, shorten(last.name, 28)), (548, shorten(last.made_at.partition(": `")[0], 24)),
               (700, shorten(bar.limits().partition(",")[0], 26))]
    return [swatch, *(_text(x, y, words, 11, "h" if x > 100 else "t") for x, words in columns)]


def _text(x: float, y: float, words: str, size: float, class_: str, weight: str | None = None,
          anchor: str | None = None) -> str:
    ink = INKS["ink" if class_ == "h" else "muted"][0]
    return element("text", text(words), class_=class_, fill=ink, font_size=size, font_weight=weight, text_anchor=anchor,
                   x=x, y=y)


def micros(seconds: float) -> str:
    """As "0.8 µs", "34 µs", "1,234 µs"."""
    value = seconds * 1e6
    return f"{value:.1f} µs" if value < 10 else f"{value:,.0f} µs"
