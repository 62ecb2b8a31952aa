"""Settings of tfnb: one object, initialized from environment variables."""
from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

COMPILE = ("second", "always", "never")
# Python in a browser (Pyodide): LLVM can't make code for it, and it has one thread.
IN_BROWSER = sys.platform in ("emscripten", "wasi")


@dataclass(slots=True)
class Options:
    """User settings, from environment variables or set on `options` itself.

    cache_dir: where compiled kernels are kept (TFNB_CACHE_DIR; by default `tfnb` under XDG_CACHE_HOME or ~/.cache).
    threads: how many threads a large kernel is split over (TFNB_THREADS; by default the CPUs this process may use up).
    compile: "second": a plan is compiled at its second run, "always": at its first, "never": it is always
        interpreted (TFNB_COMPILE). Without llvmlite it is "never", and nothing else can be set.
    background: whether threads may be started: to write events, to prefetch, to train beside a notebook, for queue
        runners (TFNB_BACKGROUND=0: no). Without, what has another way takes it, and the others say why they can't.
    nan_check: runs that make NaN or inf raise InvalidArgumentError with the op it comes from (TFNB_NAN_CHECK=1).
    nan_ignore: a regular expression: names of ops and variables exempt from nan_check; "": none (TFNB_NAN_IGNORE).
    """

    cache_dir: Path = field(default_factory=lambda: _cache_dir())
    threads: int = field(default_factory=lambda: _threads())
    compile: str = field(default_factory=lambda: _compile())
    background: bool = field(default_factory=lambda: not IN_BROWSER and os.environ.get("TFNB_BACKGROUND") != "0")
    nan_check: bool = field(default_factory=lambda: os.environ.get("TFNB_NAN_CHECK", "") not in ("", "0"))
    nan_ignore: str = field(default_factory=lambda: os.environ.get("TFNB_NAN_IGNORE", ""))

    def __setattr__(self, name: str, value: object) -> None:
        if name == "compile":
            _check_compile(value, "options.compile")
        object.__setattr__(self, name, value)


@cache
def has_compiler() -> bool:
    """Return whether kernels can be compiled: whether llvmlite is installed, which has no build for browsers."""
    return importlib.util.find_spec("llvmlite") is not None


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
    chosen = os.environ.get("TFNB_COMPILE") or ("second" if has_compiler() else "never")
    _check_compile(chosen, "TFNB_COMPILE")
    return chosen


def _check_compile(chosen: object, where: str) -> None:
    if chosen not in COMPILE:
        raise ValueError(f"{where}: expected one of {', '.join(COMPILE)}, got {chosen!r}")
    if chosen != "never" and not has_compiler():
        raise ValueError(f"{where}: expected 'never', got {chosen!r}: llvmlite, the compiler, is not installed")


options = Options()
