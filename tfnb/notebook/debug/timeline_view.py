"""`%profile`: the kernels and the host calls of a run over time, each beside what the machine can do."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tfnb.core.text import did_you_mean
from tfnb.debug.profile import Profile, profile, trace_run
from tfnb.debug.timeline import Timeline
from tfnb.graph.parts.context import session_for
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.debug.timeline_bars import GROUPS, bars_of, micros, shares
from tfnb.notebook.debug.timeline_svg import MOST, timeline_svg
from tfnb.notebook.frontend.widget import View
from tfnb.notebook.plots.svg_figure import DRAWN, save_drawing
from tfnb.runtime.state.trace import Record

KERNELS = "kernel"      # stands for no groups


class TimelineView(View):
    """A profiled run: printed a table, drawn a timeline. profile: the times of its launches; bars: what ran when.

    by: "kernel", "op", "scope" or "cell": what colours and the list below are of. stats: gives the StepStats of the
    run, for `save`.
    """

    kind = "timeline"

    def __init__(self, times: Profile, records: Iterable[Record], by: str = KERNELS,
                 stats: Callable[[], Any] | None = None) -> None:
        super().__init__()
        self.profile, self._by, self._stats = times, _known(by), stats
        self.bars = bars_of(list(records), times)

    @property
    def state(self) -> dict[str, str]:
        """The grouping of the time; may be assigned."""
        return {"by": self._by}

    @state.setter
    def state(self, state: Mapping[str, str]) -> None:
        """Tell time by something else. Raises ValueError for what is unknown."""
        if set(state) != {"by"}:
            raise ValueError(f"the state of a timeline is {{'by': ...}}, not {dict(state)}")
        with self._lock:
            self._by = _known(state["by"])
            self.tell()

    def shares(self, by: str = "") -> dict[str, float]:
        """Op type, scope or cell -> its share of the traced time, the largest first."""
        how = _known(by or self._by)
        end = max((bar.start + bar.seconds for bar in self.bars), default=1e-6)
        return {share.name: share.seconds / end for share in shares(self.bars, how)} if how != KERNELS else {}

    def forms(self) -> dict[str, str]:
        """The table, and the drawing."""
        lines = [f"{share:5.0%}  {name}" for name, share in self.shares().items()]
        table = repr(self.profile) if self.profile.launches else ""
        if not table:
            lines += [f"{micros(bar.seconds):>10}  {bar.types}  {bar.record.ops[-1].name}" for bar in self.bars]
        return {"text/plain": "\n".join([*lines, table]).rstrip(), "image/svg+xml": self.svg()}

    def svg(self) -> str:
        """The timeline: a lane of kernels, one of host calls, the memory, and the longest bars or groups by name."""
        return timeline_svg(self.bars, "" if self._by == KERNELS else self._by)

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
        """svg, with a `data-bar` on each bar, the lines of its tooltip, and the groupings."""
        return {"svg": self.svg(), "bars": [bar.words() for bar in self.bars[:MOST]], "by": self._by,
                "ways": [KERNELS, *GROUPS]}

    def hear(self, message: Mapping[str, Any]) -> None:
        """{type: "by", name}: how to group the time."""
        if message.get("type") == "by" and message.get("name") in (KERNELS, *GROUPS):
            self.state = {"by": str(message["name"])}


def traced(fetches: Any, feed_dict: Any = None, session: Any = None) -> TimelineView:
    """Return the schedule of a run, and no more: as `timeline`, without timing each kernel by itself."""
    trace = trace_run(fetches, feed_dict, session)
    chosen = session_for(session, get_default_graph(), "trace a run")
    return TimelineView(Profile(()), trace.records, stats=lambda: trace.step_stats(chosen._placer.ran_on))


def _known(by: str) -> str:
    if by not in (KERNELS, *GROUPS):
        raise ValueError(f"`by` must be one of {KERNELS}, {', '.join(GROUPS)}, got {by!r}" + did_you_mean(by, GROUPS))
    return by


def timeline(fetches: Any, feed_dict: Any = None, session: Any = None, runs: int = 20,
             by: str = KERNELS) -> TimelineView:
    """Profile a run: time each kernel by itself, best of `runs`, and trace one run as it goes.

    by: what colours and the list are of: "kernel", "op" (its type), "scope" or "cell". Variables and generators keep
    their values; host calls (queues, summaries) run some times. Raises as `session.run`, and ValueError if the run has
    no kernels, or for another word.
    """
    _known(by)
    times = profile(fetches, feed_dict, session, runs)
    trace = trace_run(fetches, feed_dict, session)
    chosen = session_for(session, get_default_graph(), "profile a run")
    return TimelineView(times, trace.records, by, lambda: trace.step_stats(chosen._placer.ran_on))
