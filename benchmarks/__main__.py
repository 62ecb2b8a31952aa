"""Run the programs on tfnb and on other systems in turns, check that they agree, and write tables.

Results are kept in a file, so that parts can be measured again: `python -m benchmarks softmax --only speed`.
`python -m benchmarks sweep` measures every op instead: see benchmarks/sweep.py.
"""
from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import measure, report, sweep
from benchmarks.models import MODELS
from benchmarks.programs import PROGRAMS
from benchmarks.systems import ROOT, Pythons
from benchmarks.worker import cpus

PARTS = ("speed", "models", "start", "first", "curves", "threads", "notebook")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"all by default: {', '.join([*PROGRAMS, *MODELS])}")
    parser.add_argument("--oracle", help="a Python that has TensorFlow; not needed for --only notebook")
    parser.add_argument("--torch", help="a Python that has PyTorch")
    parser.add_argument("--jax", help="a Python that has JAX")
    parser.add_argument("--only", nargs="*", default=PARTS, choices=PARTS, help="what to measure")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.4, help="per system and round")
    parser.add_argument("--cpus", type=int, help="how many CPUs programs and models may use (default: all)")
    parser.add_argument("--results", type=Path, default=ROOT / ".cache" / "benchmarks.json", help="where to keep them")
    parser.add_argument("--write", type=Path, help="a document: its tables are replaced, and images/scaling.png")
    options = parser.parse_args()
    if not options.oracle and options.only != ["notebook"]:
        parser.error("--oracle is needed, but for --only notebook")
    return options


def _pythons(options: argparse.Namespace) -> Pythons:
    found = {"tfnb": sys.executable, "tensorflow": options.oracle, "torch": options.torch,
             "torch.compile": options.torch, "jax": options.jax}
    return {system: python for system, python in found.items() if python and Path(python).exists()}


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _measure(results: dict[str, Any], part: str, options: argparse.Namespace, pythons: Pythons) -> None:
    """Measure a part, and put what comes out into `results` as it comes."""
    found = results.setdefault(part, {})
    names, how = options.names or [*PROGRAMS, *MODELS], (pythons, options.rounds, options.seconds)
    if part in ("speed", "models"):
        for name in (name for name in (PROGRAMS if part == "speed" else MODELS) if name in names):
            found[name] = measure.speed(name, *how, options.cpus)
            results["about"]["versions"] |= found[name].pop("versions")
            _keep(options.results, results, name, found[name])
    elif part == "start":
        for system, python in pythons.items():
            found[system] = measure.start_up(python, system)
            _keep(options.results, results, system, found[system])
    elif part == "first":
        for name in (name for name in measure.FIRST_RUNS if name in names):
            found[name] = {system: measure.first_runs(name, python, system) for system, python in pythons.items()
                           if system in ("tfnb", "tensorflow", "torch")}
            _keep(options.results, results, name, found[name])
    elif part == "notebook":
        found["when"] = f"{time.strftime('%Y-%m-%d')}, {report.machine()}{report.load()}."
        found |= measure.notebook(options.seconds)
        _keep(options.results, results, part, found)
    elif part == "curves":
        for name, sizes in measure.CURVES.items():
            for size in sizes:
                found.setdefault(name, {})[str(size)] = measure.curve(name, size, *how)
                _keep(options.results, results, f"{name} {size}", found[name][str(size)])
    else:
        for name in (name for name in measure.THREADED if name in names):
            for count in sorted({1, cpus()}):
                found.setdefault(name, {})[str(count)] = measure.threads(name, count, *how)
                _keep(options.results, results, f"{name} {count} CPUs", found[name][str(count)])


def _keep(path: Path, results: dict[str, Any], name: str, found: Any) -> None:
    print(f"{name}: {json.dumps(found)}", flush=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    if sys.argv[1:2] == ["sweep"]:
        sweep.main(sys.argv[2:])
        return
    options = arguments()
    results = _read(options.results)
    results["about"] = {"versions": {}, **results.get("about", {}), "date": time.strftime("%Y-%m-%d"),
                        "machine": report.machine(), "python": platform.python_version(), "rounds": options.rounds}
    for part in options.only:
        _measure(results, part, options, _pythons(options))
    if options.write:
        report.write(options.write, results)
        if results.get("curves"):
            report.draw(results, options.write.parent / "images" / "scaling.png")
    else:
        print(report.speed_table(results))
        print(report.models_table(results))


if __name__ == "__main__":
    main()
