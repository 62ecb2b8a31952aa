"""Write `tfnb/opdef/index.py`, the module that declares each op: `python tests/opdef/write_index.py`.

With `--show` print it only. A program of its own: the modules of ops must not have been imported before.
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
PLACE = PACKAGE / "opdef" / "index.py"
ROOMS = ("ops", "control_flow", "linalg", "variables", "image", "train.optimizers")
HEAD = '''"""Index from op names to the modules that declare them; written by `python tests/opdef/write_index.py`.

`registry.find` imports a module of it when one of its ops is first asked for.
"""
from __future__ import annotations

_DECLARED = {
'''
TAIL = '''}
MODULE_OF = {op: f"tfnb.{module}" for module, ops in _DECLARED.items() for op in ops.split()}
'''


def families() -> list[str]:
    """Return the modules of the rooms that declare ops."""
    found = []
    for room in ROOMS:
        folder = PACKAGE.joinpath(*room.split("."))
        found += [module.name for module in pkgutil.walk_packages([str(folder)], f"tfnb.{room}.")]
    return found


def declared() -> dict[str, list[str]]:
    """Return module in `tfnb` -> names of the ops that its import declares."""
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
    return {module: sorted(found[module]) for module in sorted(found)}


def text(found: dict[str, list[str]]) -> str:
    """The source of the index."""
    rows = []
    for module, ops in found.items():
        lines = textwrap.wrap(" ".join(ops), 107)
        rows.append(f'    "{module}":\n' + "\n".join(f'        "{line} "' for line in lines) + ",\n")
    return HEAD + "".join(rows) + TAIL


if __name__ == "__main__":
    if "--show" in sys.argv:
        print(text(declared()), end="")
    else:
        PLACE.write_text(text(declared()), encoding="utf-8", newline="\n")
