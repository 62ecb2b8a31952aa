"""Verdicts on programs as text for a terminal, as JSON, and as a page for a class."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.core.text import counted
from tfnb.tools.port.judge import STOPS, Finding, Verdict, judge
from tfnb.tools.port.sources import programs
from tfnb.tools.port.trial import SECONDS, attempt

_tqdm = lazy_module("tqdm")
_STYLE = """body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}
body{color:#1b1f24;background:#fff}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.45em .7em;border-bottom:1px solid #d8dee4;
vertical-align:top}th{font-weight:600}code{font:13px ui-monospace,monospace}td.ready{color:#1a7f37}td.not{color:#b35900}
summary{cursor:pointer}details li{margin:.25em 0}small{color:#57606a}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}td.ready{color:#3fb950}
td.not{color:#d29922}small{color:#8b949e}}"""


class Verdicts(list[Verdict]):
    """Verdicts on the programs at or below some paths. run: try those that are ready, for `seconds` each.

    Raises NotFoundError for a path of nothing.
    """

    def __init__(self, paths: Iterable[str | Path], run: bool = False, seconds: float = SECONDS) -> None:
        super().__init__()
        for path in _tqdm.tqdm(programs(paths), unit="program", delay=2, disable=None):
            verdict = judge(path)
            if run and verdict.ready and verdict.names:
                verdict.trial = attempt(path, seconds=seconds)
            self.append(verdict)

    @property
    def good(self) -> bool:
        """Whether all are ready, and those that were tried ran."""
        return all(v.ready and (v.trial is None or v.trial.good) for v in self)

    def __repr__(self) -> str:
        return text(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(text(self))

    def _repr_html_(self) -> str:
        return f"<p>{escape(summary(self))}.</p>{table(self)}"


def verdict_text(verdict: Verdict) -> str:
    """Return in a few words whether a program is ready to run."""
    stops = [finding for finding in verdict.findings if finding.kind in STOPS]
    if verdict.ready:
        return f"ready ({counted(verdict.names, 'name')} of TensorFlow)" if verdict.names else "no TensorFlow in it"
    counts = {kind: len({f.what for f in stops if f.kind == kind}) for kind in STOPS}
    told = {"unreadable": "can't be read", "missing": f"{counted(counts['missing'], 'name')} missing",
            "arguments": f"{counted(counts['arguments'], 'call')} with other arguments"}
    return ", ".join(text for kind, text in told.items() if counts[kind])


def grouped(findings: Sequence[Finding]) -> Iterator[tuple[str, Finding]]:
    """Yield (places, finding): once for what is found at several places."""
    places: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        places.setdefault((finding.kind, finding.what, finding.text), []).append(finding)
    for same in places.values():
        listed = [str(finding.place) for finding in same]
        if len(same) > 1 and not same[0].place.cell:
            listed = ["lines " + ", ".join(str(finding.place.line) for finding in same[:6])]
        more = len(same) - 6 if len(same) > 6 else 0
        yield "; ".join(listed[:6]) + (f", and {more} more" if more else ""), same[0]


def text(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts for a terminal, the last line a summary."""
    width = max((len(str(verdict.path)) for verdict in verdicts), default=0)
    lines = []
    for verdict in verdicts:
        old = ", Python 2" if verdict.python2 else ""
        lines.append(f"{str(verdict.path):{width}}  {verdict_text(verdict)}{old}")
        if verdict.trial is not None:
            lines.append(f"    tried: {verdict.trial}")
        lines += [f"    {where}: {finding.what}: {finding.text}" for where, finding in grouped(verdict.findings)]
    return "\n".join([*lines, summary(verdicts)])


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return the counts in a sentence."""
    ready = sum(verdict.ready for verdict in verdicts)
    said = f"{counted(len(verdicts), 'program')}: {ready} ready" + (f", {len(verdicts) - ready} not" if
                                                                  ready < len(verdicts) else "")
    tried = [verdict.trial for verdict in verdicts if verdict.trial is not None]
    if tried:
        said += f"; of {len(tried)} tried {sum(trial.good for trial in tried)} run"
    return said


def as_json(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Return the verdicts as JSON holds them."""
    return [{"path": str(v.path), "ready": v.ready, "names": v.names, "python2": v.python2,
             "findings": [{"kind": f.kind, "cell": f.place.cell, "line": f.place.line, "what": f.what, "text": f.text}
                          for f in v.findings],
             **({"trial": vars(v.trial)} if v.trial is not None else {})} for v in verdicts]


def table(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as an HTML table."""
    tried = any(verdict.trial is not None for verdict in verdicts)
    names = ("Program", "Python", "Verdict", *(["Tried"] if tried else []), "Why")
    head = "".join(f"<th>{name}</th>" for name in names)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(_row(v, tried) for v in verdicts)}</tbody></table>"


def _row(verdict: Verdict, tried: bool) -> str:
    found = [f"<li><small>{escape(where)}</small> <code>{escape(finding.what)}</code>: {escape(finding.text)}</li>"
             for where, finding in grouped(verdict.findings)]
    why = f"<details{'' if verdict.ready else ' open'}><summary>{counted(len(found), 'note')}</summary><ul>" \
          f"{''.join(found)}</ul></details>" if found else ""
    trial = ""
    if tried:
        good = verdict.trial is not None and verdict.trial.good
        trial = f"<td class={'ready' if good else 'not'}>{escape(str(verdict.trial or ''))}</td>"
    said = f"<td class={'ready' if verdict.ready else 'not'}>{escape(verdict_text(verdict))}</td>"
    return (f"<tr><td><code>{escape(str(verdict.path))}</code></td><td>{2 if verdict.python2 else 3}</td>{said}{trial}"
            f"<td>{why}</td></tr>")


def page(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as a page of HTML that needs no other file."""
    return (f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
            f"<title>TF1 programs on tfnb</title><style>{_STYLE}</style><h1>TF1 programs on tfnb</h1>"
            f"<p>{escape(summary(verdicts))}.</p>{table(verdicts)}</html>\n")
