"""%nan: where NaN comes from, as a page of HTML: the op, its line, what it got, and the way to what was fetched."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfnb.debug.nan import NanReport, Seen, find_nan
from tfnb.graph.parts.operation import Operation
from tfnb.notebook.drawing.svg import text as escaped
from tfnb.notebook.drawing.value_label import pill_of, pill_svg
from tfnb.notebook.frontend.badge import BAD_COLOR, FRESH_COLOR
from tfnb.notebook.frontend.fetch import in_session
from tfnb.notebook.frontend.locations import linked
from tfnb.notebook.frontend.shell import Bundle
from tfnb.notebook.frontend.widget import with_widget
from tfnb.runtime.session import BaseSession

MOST_STEPS = 14         # of the way that are shown
CODE = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12px;white-space:pre-wrap;background:none"
CELL = "text-align:left;padding:2px 12px 2px 0;vertical-align:middle;border:0"


class NanView:
    """A NanReport as it is displayed; `report` has the op, the places, the path."""

    def __init__(self, report: NanReport) -> None:
        self.report = report

    @property
    def found(self) -> bool:
        """Whether there is a bad value."""
        return self.report.found

    def __repr__(self) -> str:
        return repr(self.report)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        return with_widget({"text/plain": repr(self.report), "text/html": report_html(self.report)}, None)


def nan(*fetches: Any, feed: Mapping[Any, Any] | None = None, session: BaseSession | None = None,
        ignore: str | Iterable[str] = (), abs_max: float | None = None, steps: int = 0) -> NanView:
    """As `tf.find_nan`, for names as well, in the session of the notebook.

    fetches: tensors, operations, structures of them, or names in the graph. feed: tensor or name -> value.

    Raises NoSessionError if it is not clear which session, KeyError for a name that is not there, ValueError for a
    wrong expression, and what `Session.run` raises.
    """
    chosen, wanted, fed = in_session(fetches, feed, session)
    return NanView(find_nan(wanted, fed, chosen, ignore, abs_max, steps))


def report_html(report: NanReport) -> str:
    """The report as HTML in which nothing runs or loads."""
    op = report.op
    if op is None or report.output is None:
        return _box("status", FRESH_COLOR, f"<b>All values are finite.</b> {report.ops} ops were looked at.")
    said = {"op": f"comes from <b>{escaped(op.name)}</b> ({escaped(op.type)})",
            "feed": f"is in what was fed for <b>{escaped(op.name)}</b>",
            "variable": f"was in the variable <b>{escaped(op.name)}</b> before this run"}[report.kind]
    said += f" in run {report.step} with these feeds" if report.step else ""
    of = op._original_op
    problem = f'<b style="color:{BAD_COLOR}">{escaped(report.problem)}</b>'
    parts = [f'<p style="font-size:15px;margin:0 0 4px">{problem} {said}</p>', _line("made at", op)]
    parts += [_line(f"in the gradient of {of.name} ({of.type}), made at", of)] if of is not None else []
    parts += [f'<p style="margin:6px 0">Likely: {escaped(report.hint)}.</p>'] if report.hint else []
    parts += [_tensors(report, report.output), _way(report)]
    if report.others:
        parts.append(f'<p style="margin:6px 0">Other ops that made bad values of good ones: '
                     f'<span style="{CODE}">{escaped(", ".join(report.others))}</span></p>')
    return _box("alert", BAD_COLOR, "".join(parts))


def _box(role: str, tone: str, content: str) -> str:
    return f'<div role="{role}" style="border-left:4px solid {tone};padding:6px 12px">{content}</div>'


def _line(words: str, op: Operation) -> str:
    return f'<p style="margin:2px 0">{escaped(words)} {linked(op.made_at)}</p>'


def _tensors(report: NanReport, output: Seen) -> str:
    """A row for each input and for the output."""
    places = ", ".join("[" + ", ".join(map(str, index)) + "]" for index in report.indices if index)
    more = " ..." if report.bad > len(report.indices) else ""
    where = f"{report.bad:,} of {report.size:,} bad" + (f": at {places}{more}" if places else "")
    rows = [_row("takes", seen, escaped(f"{seen.at} at {_place(report)}") if seen.at else "") for seen in report.inputs]
    words = f'<b style="color:{BAD_COLOR}">{escaped(where)}</b>'
    rows.append(_row("makes" if report.kind == "op" else "has", output, words))
    return f'<table style="border-collapse:collapse;margin:6px 0">{"".join(rows)}</table>'


def _place(report: NanReport) -> str:
    return "[" + ", ".join(map(str, report.indices[0])) + "]"


def _row(word: str, seen: Seen, where: str) -> str:
    """where: HTML."""
    pill = pill_of(seen.array)
    cells = (word, f'<span style="{CODE}">{escaped(seen.name)}</span>', pill_svg(pill) if pill is not None else "",
             escaped(seen.text), where)
    return "<tr style='background:none'>" + "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells) + "</tr>"


def _way(report: NanReport) -> str:
    """The way from the op to what was fetched, a line an op."""
    steps = [f'<b>{escaped(op.name)}</b> <span style="opacity:.7">{escaped(op.type)}, {linked(_short(op))}</span>'
             for op in report.path]
    if len(steps) < 2:
        return ""
    if len(steps) > MOST_STEPS:
        half = MOST_STEPS // 2
        steps[half:-half] = [f"... {len(steps) - 2 * half} more ..."]
    items = "".join(f'<li style="margin:0">{step}</li>' for step in steps)
    return f'<details open><summary>Way to what was fetched, {len(report.path)} ops</summary><ol>{items}</ol></details>'


def _short(op: Operation) -> str:
    """Return where an op was made, without the text of the line."""
    return op.made_at.partition(": `")[0]
