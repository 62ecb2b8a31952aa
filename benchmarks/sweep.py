"""The sweep: every op that does arithmetic, over dtypes, sizes, axes and layouts, beside TensorFlow in turns.

`python -m benchmarks sweep --oracle PYTHON [--only REGEX] [--size tiny,medium,large] [--quick]`: prints a line for each
row as it is measured, then a table of the rows under 1x with the kind of their stages, the median and counts. It may be
done in pieces: rows are merged into the file of results as they are measured, `--resume` leaves out those that it has,
`--under` measures those again that it has under 1x. A row under 1x has AGAIN times as many turns before it counts.
"""
from __future__ import annotations

import argparse
import json
import pickle
import platform
import re
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import report, sweep_report
from benchmarks.sweep_rows import SIZES, Plan, Row, left_out, plans
from benchmarks.systems import ROOT, Worker
from tests.every_op import OPS

Result = dict[str, Any]
TOLERANCE = 1e-3
AGAIN = 3                                  # a row under 1x has so many times the turns before it counts
KEEP = 20                                  # rows between two writes of the results
PATIENCE = 20                              # seconds for a command


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks sweep", description=__doc__)
    parser.add_argument("--oracle", required=True, help="a Python that has TensorFlow")
    parser.add_argument("--only", default="", help="a regular expression that the names of the rows contain")
    parser.add_argument("--size", default=",".join(SIZES), help="sizes, separated by commas")
    parser.add_argument("--quick", action="store_true", help="one dtype and size of each op, forward")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each system in a row")
    parser.add_argument("--seconds", type=float, default=0.02, help="per system and turn")
    parser.add_argument("--resume", action="store_true", help="leave out the rows that the results have")
    parser.add_argument("--under", action="store_true", help="only the rows that the results have under 1x, or failed")
    parser.add_argument("--write", type=Path, help="a document: its tables of the sweep are written anew")
    parser.add_argument("--amend", type=Path, help="the page of a whole sweep: the rows of the results are merged in")
    parser.add_argument("--list", action="store_true", help="print the names of the rows, measure nothing")
    parser.add_argument("--results", type=Path, default=ROOT / ".cache" / "sweep.json", help="where to keep the rows")
    return parser.parse_args(given)


def plain(row: Row) -> dict[str, Any]:
    """The row as plain values, which another Python can read without tfnb."""
    def given(value: Any) -> Any:
        return [given(v) for v in value] if isinstance(value, list) else vars(value)
    names = [arg.name for arg in OPS[row.op].inputs]
    return {"op": row.op, "inputs": [(n, given(v)) for n, v in zip(names, row.inputs, strict=True)],
            "attrs": row.attrs, "form": row.form, "transposed": row.transposed}


class Pair:
    """tfnb and TensorFlow, each in a process, on the same CPU in turns. One that ends early is started again."""

    def __init__(self, oracle: str) -> None:
        self.pythons = {"tfnb": sys.executable, "tensorflow": oracle}
        self.workers: dict[str, Worker] = {}

    def ask(self, system: str, **command: Any) -> Any:
        """Send a command to a system. The answer is a text if the process ended early or had no answer in PATIENCE."""
        if system not in self.workers:
            self.workers[system] = Worker(self.pythons[system], system, 1)
        worker = self.workers[system]
        timer = threading.Timer(PATIENCE, worker.process.kill)
        timer.start()
        try:
            return worker.ask(**command)
        except (SystemExit, BrokenPipeError):
            self.workers.pop(system).close()
            return f"{system} ended early, or took more than {PATIENCE} s"
        finally:
            timer.cancel()

    def version(self, system: str) -> str:
        """Return the version of a system. Raises SystemExit if it does not start."""
        found = self.ask(system, about=True)
        if not isinstance(found, dict):
            raise SystemExit(found)
        return str(found["version"])

    def close(self) -> None:
        """End both."""
        for worker in self.workers.values():
            worker.close()


def measure(plan: Plan, pair: Pair, folder: str, rounds: int, seconds: float) -> Result:
    """Measure a row. "lacks": why there is none (an example that can't be so large, a kernel that TensorFlow has not).

    "error": tfnb fails and TensorFlow does not.
    """
    path = Path(folder) / "row.pickle"
    try:
        path.write_bytes(pickle.dumps(plain(plan.row())))
    except ValueError as error:
        return {"lacks": str(error)}
    reference = pair.ask("tensorflow", row=str(path))
    if reference is not True:
        return {"lacks": str(reference)[:200]}
    built = pair.ask("tfnb", row=str(path))
    if built is not True:
        return {"error": str(built)[:300]}
    values = {system: pair.ask(system, check=2) for system in pair.pythons}
    stages = pair.ask("tfnb", stages=True)
    times: dict[str, float] = {}
    for turn in range(rounds * AGAIN):
        if turn >= rounds and times["tensorflow"] >= times["tfnb"]:
            break
        for system in pair.pythons:
            answer = pair.ask(system, run=seconds)
            if not isinstance(answer, dict):
                return {"error": f"{system}: {answer}"}
            times[system] = min(answer["best"], times.get(system, answer["best"]))
    return {"times": times, "ratio": times["tensorflow"] / times["tfnb"], "stages": stages,
            "same": _agree(values["tfnb"], values["tensorflow"])}


def _agree(a: Any, b: Any) -> bool:
    return isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and all(
        abs(x - y) <= TOLERANCE * (1 + abs(y)) for x, y in zip(a, b, strict=True))


def table(results: dict[str, Result]) -> str:
    """The rows under 1x, slowest first, and what all rows give together."""
    timed = {name: found for name, found in results.items() if "ratio" in found}
    failed = {name: found["error"] for name, found in results.items() if "error" in found}
    ratios = sorted(found["ratio"] for found in timed.values())
    under = sorted((found["ratio"], name) for name, found in timed.items() if found["ratio"] < 1)
    rows = [[name, f"{timed[name]['times']['tfnb'] * 1e6:,.0f}", f"{timed[name]['times']['tensorflow'] * 1e6:,.0f}",
             f"{ratio:.2g}", timed[name]["stages"]] for ratio, name in under]
    parts = [report.table(["row", "tfnb, us", "TensorFlow, us", "TensorFlow / tfnb", "stages"], rows)] if rows else []
    if ratios:
        parts.append(f"{len(ratios)} rows: {len(under)} under 1x, {sum(r < 0.5 for r in ratios)} under 0.5x, "
                     f"median {statistics.median(ratios):.2f}x; {sum('host' in f['stages'] for f in timed.values())} "
                     f"with host calls; {len(failed)} failed.")
    differ = sorted(name for name, found in timed.items() if not found["same"])
    parts += [f"Other values than TensorFlow's (draws differ always): {', '.join(differ)}"] * bool(differ)
    return "\n\n".join([*parts, *[f"{name}: {error}" for name, error in failed.items()]])


def read(path: Path) -> dict[str, Result]:
    """Return the rows of a file of results, none if there is no such file."""
    return dict(_results(path)["rows"])


def _results(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {"about": {}, "rows": {}}


def keep(path: Path, rows: dict[str, Result], versions: dict[str, str]) -> None:
    """Merge rows into a file of results. A row that was there before is replaced."""
    about = {"date": time.strftime("%Y-%m-%d"), "machine": report.machine(), "load": report.load(),
             "python": platform.python_version(), "versions": versions}
    path.parent.mkdir(parents=True, exist_ok=True)
    before = _results(path)
    made = json.dumps({"about": before["about"] | about, "rows": before["rows"] | rows}, indent=1) + "\n"
    fresh = path.with_suffix(".part")
    fresh.write_text(made, encoding="utf-8")
    fresh.replace(path)


def wanted(options: argparse.Namespace, before: dict[str, Result]) -> list[Plan]:
    """Return the rows to measure; before: those of the file of results."""
    found = [plan for plan in plans(tuple(options.size.split(",")), options.quick)
             if re.search(options.only, plan.name)]
    if options.resume:
        found = [plan for plan in found if plan.name not in before]
    if options.under:
        found = [plan for plan in found if plan.name in before and (
            "error" in before[plan.name] or before[plan.name].get("ratio", 1) < 1)]
    return found


def main(given: list[str]) -> None:
    options = arguments(given)
    rows = wanted(options, read(options.results))
    if options.list:
        print("\n".join(plan.name for plan in rows))
        print(f"{len(rows)} rows; left out: {json.dumps(left_out(), indent=1)}")
        return
    if rows:
        sweep(rows, options)
    if options.amend:
        sweep_report.amend(options.amend, _results(options.results), {plan.name for plan in plans()})
    if options.write:
        sweep_report.write(options.write, _results(options.results))


def sweep(rows: Sequence[Plan], options: argparse.Namespace) -> None:
    """Measure rows, print each and a table, and merge them into the file of results as they come."""
    results: dict[str, Result] = {}
    pair, start = Pair(options.oracle), time.perf_counter()
    versions = {system: pair.version(system) for system in pair.pythons}
    try:
        with tempfile.TemporaryDirectory(prefix="tfnb-sweep-") as folder:
            for k, plan in enumerate(rows):
                found = measure(plan, pair, folder, options.rounds, options.seconds)
                results[plan.name] = found
                print(f"{found['ratio']:8.2f}  {plan.name}  ({found['stages']})" if "ratio" in found
                      else f"  {'failed' if 'error' in found else 'no row'}  {plan.name}: {found}", flush=True)
                if k % KEEP == KEEP - 1:
                    keep(options.results, results, versions)
    finally:
        pair.close()
        keep(options.results, results, versions)
    print(f"\n{time.strftime('%Y-%m-%d')}, {report.machine()}{report.load()}, {time.perf_counter() - start:.0f} s.\n")
    print(table(results))
