"""The page of the sweep: counts, medians by family, and each row under 1x by its cause; written between marks."""
from __future__ import annotations

import re
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.sweep_causes import CAUSES, cause
from tfnb.opdef.index import MODULE_OF

Rows = dict[str, dict[str, Any]]


def _module(name: str) -> str:
    return MODULE_OF.get(name.split()[0], "tfnb.custom")


def _line(label: str, ratios: list[float]) -> list[str]:
    return [label, str(len(ratios)), str(sum(r < 1 for r in ratios)), str(sum(r < 0.5 for r in ratios)),
            f"{statistics.median(ratios):.1f}"]


def families(rows: Rows) -> str:
    """Return a table: a family of ops a row, the folder that declares them; then forms, dtypes and sizes; then all."""
    groups: dict[str, list[float]] = defaultdict(list)
    for name, found in rows.items():
        if "ratio" in found:
            dtype, size, form = name.split()[1:4]
            for label in (".".join(_module(name).split(".")[1:3]), f"all {dtype}", f"all {size}", f"all: {form}",
                          "all with host calls" if "host" in found["stages"] else "all kernels", "all rows"):
                groups[label].append(found["ratio"])
    order = sorted(groups, key=lambda label: (label == "all rows", label.startswith("all"), label))
    return report.table(["family", "rows", "under 1x", "under 0.5x", "median"],
                        [_line(label, groups[label]) for label in order])


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
    text = document.read_text(encoding="utf-8")
    for name, made in (("about", about(results)), ("families", families(results["rows"])),
                       ("under", under(results["rows"]))):
        mark = re.compile(rf"(<!-- begin sweep-{name} -->\n).*?(<!-- end sweep-{name} -->)", re.DOTALL)
        if not mark.search(text):
            raise SystemExit(f"{document} has no place for the sweep: <!-- begin sweep-{name} --> ... <!-- end ... -->")
        text = mark.sub(lambda found, made=made: f"{found[1]}{made}\n{found[2]}", text)  # type: ignore[misc]
    document.write_text(text, encoding="utf-8", newline="\n")
