"""AttributeErrors of public modules: the nearest name, or the reason why there is no such name."""
from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import ModuleType

# The house's own folders, which TensorFlow has under other names or not at all.
INTERNAL = frozenset(f"tfnb.{name}" for name in (
    "core resources proto opdef graph kernels ops control_flow variables autodiff compile runtime debug rnn seq2seq "
    "slim tools notebook").split())

@cache
def _reasons() -> dict[str, str]:
    """Return path -> reason, as absent.txt has them."""
    found: dict[str, str] = {}
    reason = room = ""
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            reason, room = line[1:-1], ""
        elif line and not line.startswith("#"):
            inner, parted, names = line.rpartition(":")
            if not line.startswith(" "):
                room = f"{inner}." if parted else ""
            found.update((f"{room}{name}", reason) for name in names.split())
    return found


def refusal(path: str) -> str:
    """Return the reason why the public name `path` ("contrib.tpu.RunConfig") is not there, or ""."""
    reasons = _reasons()
    while path:
        if path in reasons:
            return reasons[path]
        for begins, reason in reasons.items():
            if begins.endswith("*") and path.startswith(begins[:-1]):
                return reason
        path = path.rpartition(".")[0]
    return ""


def absent(module: str, name: str, shown: str = "") -> AttributeError:
    """Return the error for a name that a module does not have, with the reason or the nearest name.

    shown: the name of the module in the message. The error has no `obj`, else Python adds a guess of its own.
    """
    text = f"module {shown or module!r} has no attribute {name!r}"
    reason = refusal(f"{module}.{name}".removeprefix("tfnb").lstrip("."))
    if reason:
        return AttributeError(f"{text}: {reason}", name=name)
    there = sys.modules.get(module)
    near = [] if there is None or name.startswith("_") else get_close_matches(name, _public(there), 1, 0.65)
    return AttributeError(text + (f". Did you mean {near[0]!r}?" if near else ""), name=name)


def _public(module: ModuleType) -> list[str]:
    has = vars(module)
    return [name for name in dir(module) if not name.startswith("_")
            and getattr(has.get(name), "__name__", "") not in INTERNAL]


def without(module: str) -> Callable[[str], object]:
    """Return a `__getattr__` that raises `absent`."""
    def find(name: str) -> object:
        raise absent(module, name)
    return find


def explain(module: str) -> None:
    """Let a public module, imported by now, tell of names that it does not have.

    Type checkers don't see it: they go on to find wrong names themselves.
    """
    vars(sys.modules[module]).setdefault("__getattr__", without(module))
