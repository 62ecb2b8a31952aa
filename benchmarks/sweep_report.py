"""The page of the sweep: counts, medians by family, and each row under 1x by its cause; written between marks."""
from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.sweep_causes import CAUSES, cause
from tfnb.opdef.index import MODULE_OF

Rows = dict[str, dict[str, Any]]


def _module(name: str) -> str:
    return MODULE_OF.get(name.split()[0], "tfnb.custom")


_FAMILIES = ["family", "rows", "under 1x", "under 0.5x", "median"]
_ROW = re.compile(r"^\| (\w+ \w+ \w+ \w+(?: \[.*\])?) \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \| (.*) \|$", re.MULTILINE)
_FAILED = re.compile(r"^\* (\w+ \w+ \w+ \w+(?: \[.*\])?): (.*)$", re.MULTILINE)
_AGAIN = re.compile(r" Rows measured again[^.]*\.")


def _line(label: str, ratios: list[float]) -> list[str]:
    return [label, str(len(ratios)), str(sum(r < 1 for r in ratios)), str(sum(r < 0.5 for r in ratios)),
            f"{statistics.median(ratios):.1f}"]


def _labels(name: str, stages: str) -> tuple[str, ...]:
    """Return the lines of the table of families that count a row."""
    dtype, size, form = name.split()[1:4]
    return (".".join(_module(name).split(".")[1:3]), f"all {dtype}", f"all {size}", f"all: {form}",
            "all with host calls" if "host" in stages else "all kernels", "all rows")


def _ordered(labels: Iterable[str]) -> list[str]:
    return sorted(labels, key=lambda label: (label == "all rows", label.startswith("all"), label))


def families(rows: Rows) -> str:
    """Return a table: a family of ops a row, the folder that declares them; then forms, dtypes and sizes; then all."""
    groups: dict[str, list[float]] = defaultdict(list)
    for name, found in rows.items():
        if "ratio" in found:
            for label in _labels(name, found["stages"]):
                groups[label].append(found["ratio"])
    return report.table(_FAMILIES, [_line(label, groups[label]) for label in _ordered(groups)])


def _row(name: str, found: dict[str, Any]) -> list[str]:
    ours, theirs = (f"{found['times'][system] * 1e6:,.0f}" for system in ("tfnb", "tensorflow"))
    return [name, ours, theirs, f"{found['ratio']:.2f}", found["stages"]]


def under(rows: Rows) -> str:
    """Return the rows under 1x, a section for each cause with its limit and what was tried."""
    groups: dict[str, list[list[str]]] = defaultdict(list)
    for name, found in sorted(rows.items(), key=lambda item: item[1].get("ratio", 1)):
        if found.get("ratio", 1) < 1:
            groups[cause(_module(name), name, found["stages"]).title].append(_row(name, found))
    parts = [f"### {c.title}: {len(groups[c.title])} rows\n\nLimit: {c.limit}. Tried: {c.tried}.\n\n"
             + report.table(["row", "tfnb, us", "TensorFlow, us", "TensorFlow / tfnb", "stages"], groups[c.title])
             for c in CAUSES if groups[c.title]]
    failed = [f"* {name}: {' '.join(found['error'].split())[:160]}" for name, found in rows.items() if "error" in found]
    return "\n\n".join([*parts, *(["### No time\n\n" + "\n".join(failed)] if failed else [])])


def about(results: dict[str, Any]) -> str:
    """Return when and where the rows were measured, of what, and how many have no time."""
    found, rows = results["about"], results["rows"]
    versions = ", ".join(f"{system} {version}" for system, version in found.get("versions", {}).items())
    lacking, failed = (sum(kind in row for row in rows.values()) for kind in ("lacks", "error"))
    where = f"{found['date']}, {found['machine']}{found.get('load', '')}, Python {found['python']}, {versions}"
    return (f"{where}. One CPU, best of turns. {len(rows)} rows: {lacking} are no program of TensorFlow's, {failed} "
            "failed or took longer than the limit.")


def write(document: Path, results: dict[str, Any]) -> None:
    """Put the parts between their marks (`<!-- begin sweep-about -->`, ...). Raises SystemExit if marks are missing."""
    _put(document, about(results), families(results["rows"]), under(results["rows"]))


def amend(document: Path, results: dict[str, Any], names: Collection[str]) -> None:
    """Merge the rows of a part of the sweep into the page of the whole one. names: those of all rows that there are.

    Rows under 1x and those without a time are replaced, and the counts of the families follow; medians are of all rows,
    which the page does not have, and stay those of the whole sweep.
    """
    text = document.read_text(encoding="utf-8")
    rows = shown(text)
    counts = {cells[0]: [*map(int, cells[1:4]), cells[4]] for cells in (
        line.strip("| ").split(" | ") for line in _part(text, "families").splitlines()[2:])}
    for name in [name for name in rows if name not in names]:           # another has its place
        del rows[name]
    for name, found in results["rows"].items():
        if "lacks" in found or name not in names:
            continue
        before = rows.pop(name, {"ratio": 1.0, "stages": found.get("stages", "")})
        for row, sign in ((before, -1), (found, 1)):
            for label in _labels(name, row["stages"]) if "ratio" in row else ():
                line = counts.setdefault(label, [0, 0, 0, f"{row['ratio']:.1f}"])
                line[0] += sign
        if found.get("ratio", 0) < 1:
            rows[name] = found
    for label, line in counts.items():                                  # the page has all rows under 1x
        own = [round(row["ratio"], 2) for name, row in rows.items()
               if "ratio" in row and label in _labels(name, row["stages"])]
        line[1:3] = len(own), sum(ratio < 0.5 for ratio in own)
    again = (f" Rows measured again until {results['about']['date']} have their new times here; medians are those of "
             "the whole sweep.")
    failed = sum("error" in row for row in rows.values())
    told = re.sub(r", \d+ failed or", f", {failed} failed or", _AGAIN.sub("", _part(text, "about"))) + again
    lines = [[label, *map(str, counts[label])] for label in _ordered(counts) if counts[label][0]]
    table = report.table(_FAMILIES, lines)
    _put(document, told, table, under(rows))


def shown(text: str) -> Rows:
    """Return the rows that a page shows: those under 1x, and those without a time."""
    part = _part(text, "under")
    rows: Rows = {name: {"error": error} for name, error in _FAILED.findall(part)}
    for name, ours, theirs, ratio, stages in _ROW.findall(part):
        times = {system: float(us.replace(",", "")) / 1e6 for system, us in (("tfnb", ours), ("tensorflow", theirs))}
        rows[name] = {"times": times, "ratio": float(ratio), "stages": stages}
    return rows


def _part(text: str, name: str) -> str:
    found = re.search(rf"<!-- begin sweep-{name} -->\n(.*?)\n<!-- end sweep-{name} -->", text, re.DOTALL)
    return found[1] if found else ""


def _put(document: Path, *parts: str) -> None:
    text = document.read_text(encoding="utf-8")
    for name, made in zip(("about", "families", "under"), parts, strict=True):
        mark = re.compile(rf"(<!-- begin sweep-{name} -->\n).*?(<!-- end sweep-{name} -->)", re.DOTALL)
        if not mark.search(text):
            raise SystemExit(f"{document} has no place for the sweep: <!-- begin sweep-{name} --> ... <!-- end ... -->")
        text = mark.sub(lambda found, made=made: f"{found[1]}{made}\n{found[2]}", text)  # type: ignore[misc]
    document.write_text(text, encoding="utf-8", newline="\n")
