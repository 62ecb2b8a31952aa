"""Settings of tfnb: one object, initialized from environment variables."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

COMPILE = ("second", "always", "never")


@dataclass(slots=True)
class Options:
    """User settings, from environment variables or set on `options` itself.

    cache_dir: where compiled kernels are kept (TFNB_CACHE_DIR; by default `tfnb` under XDG_CACHE_HOME or ~/.cache).
    threads: how many threads a large kernel is split over (TFNB_THREADS; by default the CPUs this process may use up).
    compile: "second": a plan is compiled at its second run, "always": at its first, "never": it is always
        interpreted (TFNB_COMPILE).
    nan_check: runs that make NaN or inf raise InvalidArgumentError with the op it comes from (TFNB_NAN_CHECK=1).
    nan_ignore: a regular expression: names of ops and variables exempt from nan_check; "": none (TFNB_NAN_IGNORE).
    """

    cache_dir: Path = field(default_factory=lambda: _cache_dir())
    threads: int = field(default_factory=lambda: _threads())
    compile: str = field(default_factory=lambda: _compile())
    nan_check: bool = field(default_factory=lambda: os.environ.get("TFNB_NAN_CHECK", "") not in ("", "0"))
    nan_ignore: str = field(default_factory=lambda: os.environ.get("TFNB_NAN_IGNORE", ""))


def _cache_dir() -> Path:
    chosen = os.environ.get("TFNB_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "tfnb"


def _threads() -> int:
    chosen = os.environ.get("TFNB_THREADS", "")
    if not chosen:
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, min(cpus, _quota() or cpus))
    if not chosen.isdecimal() or int(chosen) < 1:
        raise ValueError(f"TFNB_THREADS: expected a positive integer, got {chosen!r}")
    return int(chosen)


def _quota(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    """The CPUs that a container may use up, rounded up (Binder: 1 of 60); None where nothing is set.

    Threads beyond it would only make the kernel suspend all of them.
    """
    try:
        if (folder / "cpu.max").exists():
            limit, period = (folder / "cpu.max").read_text().split()
        else:
            limit, period = ((folder / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return -(-int(limit) // int(period)) if int(limit) > 0 else None
    except (OSError, ValueError):
        return None


def _compile() -> str:
    chosen = os.environ.get("TFNB_COMPILE") or "second"
    if chosen not in COMPILE:
        raise ValueError(f"TFNB_COMPILE: expected one of {', '.join(COMPILE)}, got {chosen!r}")
    return chosen


options = Options()
