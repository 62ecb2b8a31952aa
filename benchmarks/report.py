"""Results as Markdown tables and as a figure, and where they go in a document."""
from __future__ import annotations

import os
import platform
import re
import statistics
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.models import MODELS
from benchmarks.programs import PROGRAMS
from benchmarks.worker import SYSTEMS

PEERS = [system for system in SYSTEMS if system != "tfnb"]
TITLES = {"mlp_batch": "MLP 64-32-10 and Adam, rows in a batch", "chain": "Dependent scalar ops, how many"}
COLOURS = {"tfnb": "#d62728", "tensorflow": "#ff7f0e", "torch": "#9467bd", "torch.compile": "#8c564b",
           "jax": "#1f77b4"}


def machine() -> str:
    """The processor, as it names itself, and how many CPUs there are for us."""
    from benchmarks.worker import cpus
    name = ""
    try:
        if platform.system() == "Linux":
            text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
            name = next(iter(re.findall(r"model name\s*:\s*(.+)", text)), "")
        elif platform.system() == "Darwin":
            name = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True,
                                  check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        name = ""
    return f"{name or platform.processor() or platform.machine()} ({platform.machine()}, {cpus()} CPUs)"


def load() -> str:
    """How many processes want a CPU besides us, where the operating system tells."""
    return f", load of {os.getloadavg()[0]:.0f}" if hasattr(os, "getloadavg") else ""


def title(name: str) -> str:
    """What a program is."""
    return ((PROGRAMS | MODELS)[name].__doc__ or name).rstrip(".")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _us(times: Sequence[float] | None) -> str:
    return "-" if times is None else f"{times[0] * 1e6:,.1f} ({times[1] * 1e6:,.1f})"


def _ratio(value: float) -> str:
    """Below 1 we lose: by how much must be seen."""
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def speed_table(results: dict[str, Any]) -> str:
    """A program a row: microseconds, ratios to TensorFlow and to the fastest of the others."""
    rows = []
    for name in PROGRAMS:
        found = results.get("speed", {}).get(name)
        if found is None:
            continue
        times = found["times"]
        best = {system: times[system][0] for system in PEERS if system in times}
        fastest = min(best, key=lambda system: best[system])
        ours = times["tfnb"][0]
        rows.append([title(name), *(_us(times.get(system)) for system in SYSTEMS), _ratio(best["tensorflow"] / ours),
                     f"{_ratio(best[fastest] / ours)} ({SYSTEMS[fastest]})", f"{found['error']:.0e}"])
    return table(["program", *SYSTEMS.values(), "TensorFlow / tfnb", "best other / tfnb", "largest difference"], rows)


def memory_table(results: dict[str, Any]) -> str:
    """A program a row: the peak of the resident memory in MB."""
    rows = []
    for name in PROGRAMS:
        peak = results.get("speed", {}).get(name, {}).get("peak", {})
        if any(peak.values()):
            rows.append([title(name), *(f"{peak[s] / 1e6:,.0f}" if peak.get(s) else "-" for s in SYSTEMS)])
    return table(["program", *SYSTEMS.values()], rows)


def models_table(results: dict[str, Any]) -> str:
    """A model a row: milliseconds, ratios, seconds to the third step, peak memory in MB; a last row of medians."""
    systems, rows, ratios = ("tfnb", "tensorflow", "torch"), [], []
    for name in MODELS:
        found = results.get("models", {}).get(name)
        if found is None:
            continue
        best = {system: times[0] for system, times in found["times"].items()}
        ratios.append({system: best[system] / best["tfnb"] for system in systems if system in best})
        rows.append([(MODELS[name].__doc__ or name).rstrip("."),
                     *(f"{best[s] * 1e3:,.2f}" if s in best else "-" for s in systems), *_ratios(ratios[-1]),
                     " / ".join(f"{found['first'][s]:.1f}" for s in systems if s in found["first"]),
                     " / ".join(f"{found['peak'][s] / 1e6:,.0f}" for s in systems if found["peak"].get(s)),
                     f"{found['error']:.0e}"])
    if ratios:
        medians = {s: statistics.median(row[s] for row in ratios if s in row) for s in systems
                   if any(s in row for row in ratios)}
        rows.append(["median of the ratios", "", "", "", *_ratios(medians), "", "", ""])
    return table(["model", *(f"{SYSTEMS[s]}, ms" for s in systems), "TensorFlow / tfnb", "PyTorch / tfnb",
                  "s to the third step", "peak, MB", "largest difference"], rows)


def _ratios(row: dict[str, float]) -> list[str]:
    return [_ratio(row[system]) if system in row else "-" for system in ("tensorflow", "torch")]


def start_table(results: dict[str, Any]) -> str:
    """A system a row, with an empty and with a filled cache."""
    rows = [[SYSTEMS[system], label, *(f"{seconds:.2f}" for seconds in found[label])]
            for system, found in results.get("start", {}).items() for label in ("cold", "warm")]
    return table(["system", "cache", "imported, s", "first training step, s", "second, s", "whole process, s"], rows)


def first_runs_table(results: dict[str, Any]) -> str:
    """A program and a cache a row: seconds (processor seconds) of a fresh process to the second step and the 20th."""
    systems = [system for system in ("tfnb", "tensorflow", "torch")
               if any(system in found for found in results.get("first", {}).values())]
    rows = [[title(name), label,
             *(f"{seconds[i]:.2f} ({processor[i]:.2f})" for i in range(2) for seconds, processor in
               (found[system][label] for system in systems))]
            for name, found in results.get("first", {}).items() for label in ("cold", "warm")]
    return table(["program", "cache", *(f"{SYSTEMS[system]}, {what}" for what in ("second step, s", "20 steps, s")
                                        for system in systems)], rows)


def curves_table(results: dict[str, Any]) -> str:
    """A size a row."""
    rows = []
    for name, sizes in results.get("curves", {}).items():
        for size, times in sorted(sizes.items(), key=lambda item: int(item[0])):
            rows.append([TITLES[name], f"{int(size):,}", *(_us(times.get(system)) for system in SYSTEMS)])
    return table(["program", "size", *SYSTEMS.values()], rows)


def threads_table(results: dict[str, Any]) -> str:
    """A program a row: microseconds on one CPU and on all, and how much faster that is."""
    rows, counts = [], ["1", "1"]
    for name, found in results.get("threads", {}).items():
        counts = sorted(found, key=int)
        one, all_ = found[counts[0]], found[counts[-1]]
        rows.append([title(name), *(f"{one[s][0] * 1e6:,.0f} / {all_[s][0] * 1e6:,.0f} = {one[s][0] / all_[s][0]:.2f}"
                                    if s in one and s in all_ else "-" for s in SYSTEMS)])
    return table([f"program, on {counts[0]} / {counts[-1]} CPUs", *SYSTEMS.values()], rows)


def about(results: dict[str, Any]) -> str:
    """When, where, and of what."""
    found = results.get("about", {})
    versions = ", ".join(f"{SYSTEMS[s]} {v}" for s, v in found.get("versions", {}).items() if s != "torch.compile")
    return (f"{found.get('date')}, {found.get('machine')}, Python {found.get('python')}, {versions}. "
            f"Best (median) of {found.get('rounds')} rounds in turns.")


def notebook_table(results: dict[str, Any]) -> str:
    """What each help of the notebook costs."""
    found, rows = results.get("notebook", {}), []
    for what, group in (("Live plots", "live"), ("Check for NaN", "nan")):
        rows += [[f"{what}: {name}", f"a step of {times['plain'] * 1e6:,.1f} us", f"{times['more'] * 1e6:.2f} us",
                  f"{times['more'] / times['plain']:.1%}"] for name, times in found.get(group, {}).items()]
    for name, times in found.get("cells", {}).items():
        rows += [[f"{what}: {name}", f"{times['plain'] * 1e3:.0f} ms in plain Python",
                  f"{(times[label] - times['plain']) * 1e3:.1f} ms", f"{times[label] / times['plain'] - 1:.1%}"]
                 for what, label in (("Ops in a cell", "first"), ("Ops that replace those of the run before", "again"))]
    rows += [[f"{what}: {name}", "-", f"{times[label] * 1e3:.0f} ms", "-"]
             for name, times in found.get("drawings", {}).items()
             for what, label in (("Opening %graph", "open"), ("Opening a scope of it", "expand"))]
    rows += [[name, "-", f"{seconds * 1e3:.0f} ms", "-"] for name, seconds in found.get("imports", {}).items()]
    return f"{found.get('when', '')}\n\n" + table(["what", "beside", "costs", "share"], rows)


# Region -> the results that it is made of, and how; what was not measured stays as it is.
REGIONS = {"about": ("speed", about), "speed": ("speed", speed_table), "models": ("models", models_table),
           "memory": ("speed", memory_table),
           "start": ("start", start_table), "first": ("first", first_runs_table),
           "curves": ("curves", curves_table), "threads": ("threads", threads_table),
           "notebook": ("notebook", notebook_table)}


def write(document: Path, results: dict[str, Any]) -> None:
    """Put the tables between their marks (`<!-- begin NAME -->`, `<!-- end NAME -->`); the rest stays as it is.

    Raises SystemExit if the document lacks marks.
    """
    text = document.read_text(encoding="utf-8")
    for name, (part, make) in REGIONS.items():
        mark = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        if not mark.search(text):
            raise SystemExit(f"{document} has no place for {name}: <!-- begin {name} --> ... <!-- end {name} -->")
        if not results.get(part):
            continue
        made = make(results)
        text = mark.sub(lambda found, made=made: f"{found[1]}{made}\n{found[2]}", text)  # type: ignore[misc]
    document.write_text(text, encoding="utf-8", newline="\n")


def draw(results: dict[str, Any], path: Path) -> None:
    """The curves as a figure (PNG)."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    curves = results.get("curves", {})
    figure, axes = pyplot.subplots(1, len(curves), figsize=(4.4 * len(curves), 3.2), squeeze=False)
    for axis, (name, sizes) in zip(axes[0], curves.items(), strict=True):
        for system, label in SYSTEMS.items():
            points = sorted((int(size), times[system][0] * 1e6) for size, times in sizes.items() if system in times)
            if points:
                axis.loglog(*zip(*points, strict=True), marker="o", markersize=3, label=label, color=COLOURS[system])
        axis.set_xlabel(TITLES[name])
        axis.set_ylabel("microseconds a step")
        axis.grid(True, alpha=0.3)
    axes[0][0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    pyplot.close(figure)
