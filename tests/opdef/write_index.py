"""Write what follows from declarations: `python tests/opdef/write_index.py`.

`tfnb/opdef/index.txt`: the module that declares each op and each exported name. `builtins` of `tfnb/ops/.ruff.toml`:
the primitives. With `--show` print them only. A program of its own: the modules of ops must not have been imported
before.
"""
from __future__ import annotations

import importlib
import pkgutil
import sys
import textwrap
from collections import defaultdict
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).resolve().parents[2] / "tfnb"
PLACE, LINTER = PACKAGE / "opdef" / "index.txt", PACKAGE / "ops" / ".ruff.toml"
ROOMS = ("ops", "control_flow", "linalg", "variables", "image", "ragged", "train.optimizers")
HEAD = "# Modules that declare ops and export names; written by `python tests/opdef/write_index.py`.\n"
LINTER_HEAD = '''# Scalar definitions are written in primitives; written by `python tests/opdef/write_index.py`.
extend = "../../pyproject.toml"
builtins = [
'''


def families() -> list[str]:
    """Return the modules of the rooms that declare ops."""
    found = []
    for room in ROOMS:
        folder = PACKAGE.joinpath(*room.split("."))
        found += [module.name for module in pkgutil.walk_packages([str(folder)], f"tfnb.{room}.")]
    return found


def declared() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return module in `tfnb` -> names of the ops that its import declares, and -> the names that it exports."""
    bare = ModuleType("tfnb")                      # its __init__ would import many of them, in an order of its own
    bare.__path__ = [str(PACKAGE)]
    sys.modules["tfnb"] = bare
    registry = importlib.import_module("tfnb.opdef.registry")
    found: dict[str, list[str]] = defaultdict(list)
    add_op = registry.add

    def add(spec):
        """Note the module whose body runs: decorators in functions that it calls belong to it."""
        frame = sys._getframe(1)
        while frame.f_code.co_name != "<module>":
            frame = frame.f_back
        found[frame.f_globals["__name__"].removeprefix("tfnb.")].append(spec.name)
        add_op(spec)

    registry.add = add
    for module in families():
        importlib.import_module(module)
    home = {op: module for module, ops in found.items() for op in ops}
    exported: dict[str, list[str]] = defaultdict(list)
    for name, fn in importlib.import_module("tfnb.ops.declaration.public").NAMES.items():
        exported[home[fn.spec.name] if hasattr(fn, "spec") else fn.__module__.removeprefix("tfnb.")].append(name)
    return found, exported


def rows(found: dict[str, list[str]]) -> str:
    """The rows of a table (core/tables.py) from modules to names."""
    return "".join(f"{module}: {' '.join(sorted(names))}\n" for module, names in sorted(found.items()))


def texts() -> dict[Path, str]:
    """The files that are written, and their texts."""
    found, exported = declared()
    builtins = sorted(importlib.import_module("tfnb.kernels.scalar.primitives").BUILTINS)
    lines = textwrap.wrap(", ".join(f'"{name}"' for name in builtins), 107)
    linter = LINTER_HEAD + "".join(f"    {line}\n" for line in lines[:-1]) + f"    {lines[-1]},\n]\n"
    return {PLACE: f"{HEAD}\n[DECLARED]\n{rows(found)}\n[EXPORTED]\n{rows(exported)}", LINTER: linter}


if __name__ == "__main__":
    for place, text in texts().items():
        if "--show" in sys.argv:
            print(text, end="")
        else:
            place.write_text(text, encoding="utf-8", newline="\n")
