"""`%profile`: the kernels and the host calls of a run over time, each beside what the machine can do.

Protocol with the front end (`extension/src/timeline.ts`), in the state of a sheet (state/tables.py): `timeline` holds
    {end, unit: [name, seconds], by, ways, lanes, kinds: [lines of a tooltip], groups: how many, lit: group or -1,
     bars: [start, length in nanoseconds, lane, place of its colour, kind, group, bytes in use (-1: unknown)]}
and {type: "act", act: "by WAY"} groups the time otherwise.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tfnb.core.text import did_you_mean
from tfnb.debug.profile import NoKernels, Profile, profile, trace_run
from tfnb.debug.timeline import Timeline
from tfnb.graph.parts.context import session_for
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.debug.timeline_bars import GROUPS, KERNELS, Share, bars_of, main_group, shares
from tfnb.notebook.debug.timeline_svg import colors_of, run_end, summary, time_unit, timeline_svg
from tfnb.notebook.drawing.geometry import shorten
from tfnb.notebook.graph.paint import amount_text
from tfnb.notebook.plots.svg_figure import DRAWN, save_drawing
from tfnb.notebook.state.tables import Cell, Column, Table
from tfnb.notebook.state.tables_view import SheetView
from tfnb.runtime.state.trace import Record

WAYS = (KERNELS, *GROUPS)
COLUMNS = [Column("", "its colour above"), Column("what"), Column("runs", "bars that it has a part in", True),
           Column("time", "a kernel of several ops gives each the same share", True), Column("share", "", True),
           Column("mean", "", True), Column("longest", "", True), Column("made at")]
MOST_ROWS = 300
LETTERS = 40            # of names in the table
LEGEND = "blue: matmuls and convolutions; green: other kernels; orange: calls from Python"


class TimelineView(SheetView):
    """A profiled run: printed a table, drawn a timeline. profile: the times of its launches; bars: what ran when.

    by: "kernel", "op", "scope" or "cell": what the table is of. stats: gives the StepStats of the run, for `save`.
    """

    def __init__(self, times: Profile, records: Iterable[Record], by: str = KERNELS,
                 stats: Callable[[], Any] | None = None) -> None:
        super().__init__("Profile")
        self.profile, self._by, self._stats, self._lit = times, _known(by), stats, ""
        self.bars = bars_of(list(records), times)
        self._words: dict[tuple[str, ...], int] = {}        # lines of a tooltip -> its number
        self._kinds = [self._words.setdefault(tuple(bar.words()), len(self._words)) for bar in self.bars]
        self.note = summary(self.bars, run_end(self.bars))
        self._group()

    def _group(self) -> None:
        """Share the time out."""
        self._shares = shares(self.bars, self._by)
        self._lit = self._lit if self._lit in {share.name for share in self._shares} else ""
        end = run_end(self.bars)
        rows = [(share.name, _row(share, end)) for share in self._shares[:MOST_ROWS]]
        more = len(self._shares) - len(rows)
        notes = [LEGEND * (self._by == KERNELS), f"and {more:,} more" if more else ""]
        self.tables = [Table("time", COLUMNS, rows, sort=(3, True), picked=self._lit,
                             note="; ".join(filter(None, notes)))]

    @property
    def state(self) -> dict[str, Any]:
        """The grouping of the time, how the table is sorted and what is lit; may be assigned, in part too."""
        return {"by": self._by, **super().state}

    @state.setter
    def state(self, state: Mapping[str, Any]) -> None:
        """Group time by something else. Raises ValueError for what is unknown."""
        if unknown := sorted(set(state) - {"by", "sort", "picked"}):
            raise ValueError(f"the state of a timeline has by, sort and picked, not {', '.join(unknown)}")
        with self._lock:
            self._by = _known(state.get("by", self._by))
            self._group()
            SheetView.state.__set__(self, {key: state[key] for key in ("sort", "picked") if key in state})  # type: ignore[attr-defined]

    def pick(self, table: str, row: str) -> None:
        """A row was clicked: light its bars."""
        self._lit = row
        self._group()

    def act(self, act: str, row: str) -> None:
        """A grouping was chosen."""
        if act.removeprefix("by ") in WAYS:
            self.state = {"by": act.removeprefix("by ")}

    def shares(self, by: str = "") -> dict[str, float]:
        """Kernel, op type, scope or cell -> its share of the traced time, the largest first."""
        end = run_end(self.bars)
        return {share.name: share.seconds / end for share in shares(self.bars, _known(by or self._by))}

    def forms(self) -> dict[str, str]:
        """The tables, and the drawing."""
        timed = repr(self.profile) if self.profile.launches else ""
        words = f"{self.note}\n{self.tables[0].as_text()}\n{timed}".rstrip()
        return {"text/plain": words, "image/svg+xml": self.svg()}

    def svg(self) -> str:
        """The timeline: a lane of kernels, one of host calls, the memory, and the longest groups by name."""
        return timeline_svg(self.bars, self._by)

    def save(self, path: str | Path) -> Path:
        """Write the drawing (.svg, .png, .pdf) or a trace for Chrome and Perfetto (.json); returns the path.

        Raises ValueError for other endings.
        """
        path = Path(path)
        if path.suffix in DRAWN:
            save_drawing(self.svg(), path)
        elif path.suffix == ".json" and self._stats is not None:
            trace = Timeline(self._stats()).generate_chrome_trace_format(show_memory=True)
            path.write_text(trace, encoding="utf-8")
        else:
            raise ValueError(f"a timeline is saved as .json, {', '.join(DRAWN)}; got {path.name!r}")
        return path

    def widget_state(self) -> dict[str, Any]:
        """The table, and all bars."""
        numbers = {share.name: i for i, share in enumerate(self._shares)}
        bars = [[round(bar.start * 1e9), round(bar.seconds * 1e9), int(not bar.record.kernel), color, kind,
                 numbers[main_group(bar, self._by)], bar.record.live if bar.record.kernel else -1]
                for bar, color, kind in zip(self.bars, colors_of(self.bars, self._shares, self._by), self._kinds,
                                            strict=True)]
        end = run_end(self.bars)
        shown = {"end": round(end * 1e9), "unit": list(time_unit(end)), "by": self._by, "ways": list(WAYS),
                 "lanes": ["kernels", "host calls"], "kinds": [list(lines) for lines in self._words],
                 "lit": numbers.get(self._lit, -1), "bars": bars}
        return super().widget_state() | {"timeline": shown}


def _row(share: Share, end: float) -> list[Cell]:
    seconds = [Cell(amount_text("time", value), value)
               for value in (share.seconds, share.seconds / share.bars, share.longest.seconds)]
    return [Cell(swatch=share.color), Cell(shorten(share.name, LETTERS)), Cell(f"{share.bars:,}", float(share.bars)),
            seconds[0], Cell(f"{share.seconds / end:.1%}", share.seconds), *seconds[1:],
            Cell(share.longest.record.ops[-1].made_at.partition(": `")[0])]


def traced(fetches: Any, feed_dict: Any = None, session: Any = None) -> TimelineView:
    """Return the schedule of a run, and no more: as `timeline`, without timing each kernel by itself."""
    trace = trace_run(fetches, feed_dict, session)
    chosen = session_for(session, get_default_graph(), "trace a run")
    return TimelineView(Profile(()), trace.records, stats=lambda: trace.step_stats(chosen._placer.ran_on))


def _known(by: str) -> str:
    if by not in WAYS:
        raise ValueError(f"`by` must be one of {', '.join(WAYS)}, got {by!r}" + did_you_mean(by, WAYS))
    return by


def timeline(fetches: Any, feed_dict: Any = None, session: Any = None, runs: int = 20,
             by: str = KERNELS) -> TimelineView:
    """Profile a run: time each kernel by itself, best of `runs`, and trace one run as it goes.

    by: what the table and the colours are of: "kernel", "op" (its type), "scope" or "cell". Variables and generators
    keep their values; host calls (queues, summaries) run some times. Raises as `session.run`, and ValueError for
    another word.
    """
    _known(by)
    try:
        times = profile(fetches, feed_dict, session, runs)
    except NoKernels:                               # the schedule of its loops and calls is to be seen all the same
        times = Profile(())
    trace = trace_run(fetches, feed_dict, session)
    chosen = session_for(session, get_default_graph(), "profile a run")
    return TimelineView(times, trace.records, by, lambda: trace.step_stats(chosen._placer.ran_on))
