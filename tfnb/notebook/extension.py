"""`%load_ext tfnb`. Needs IPython."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.kernels.llvm import jit
from tfnb.notebook.debug import tracebacks
from tfnb.notebook.frontend.compiling import CompileLine
from tfnb.notebook.magics import complete, config
from tfnb.notebook.magics.arguments import LineMagics
from tfnb.notebook.magics.cell_magics import CellMagics
from tfnb.notebook.magics.cluster_magics import ClusterMagics
from tfnb.notebook.magics.debug_magics import DebugMagics
from tfnb.notebook.magics.file_magics import FileMagics
from tfnb.notebook.magics.graph_magics import GraphMagics
from tfnb.notebook.magics.run_magics import RunMagics
from tfnb.notebook.magics.state_magics import StateMagics
from tfnb.notebook.magics.train_magics import TrainMagics
from tfnb.notebook.ownership.hooks import Hooks
from tfnb.notebook.ownership.run_button import RunButton
from tfnb.notebook.show import shown

# All classes of magics.
MAGICS: tuple[type[LineMagics], ...] = (
    GraphMagics,
    CellMagics,
    StateMagics,
    FileMagics,
    TrainMagics,
    RunMagics,
    ClusterMagics,
    DebugMagics,
)

# id of the shell -> the shell, its hooks, its completions, its settings, what stops the rest
_loaded: dict[int, tuple[Any, Hooks, Any, Any, tuple[Callable[[], None], ...]]] = {}
_left: dict[int, Hooks] = {}            # id of the shell -> its hooks while unloaded: %reload_ext begins with them


def load_ipython_extension(ip: Any) -> None:
    """Let cells own their ops, and register the magics. A second call changes nothing."""
    if id(ip) in _loaded:
        return
    left = _left.pop(id(ip), None)
    hooks = left if left is not None and left.ip is ip else Hooks(ip)
    hooks.button = RunButton(hooks)
    magics = [family(ip, hooks) for family in MAGICS]
    ip.register_magics(*magics)
    completer = getattr(ip, "Completer", None)
    matcher = complete.matcher(lambda magic: _options(magics, magic), completer)
    if completer is not None:
        completer.custom_matchers.append(matcher)
    traits = config.install(ip)
    hooks.register()
    if left is None:
        print("tfnb: %tfnb shows what there is, and how this notebook stands")
    _loaded[id(ip)] = ip, hooks, matcher, traits, (
        jit.on_compile(CompileLine()), tracebacks.install(ip), shown.install(ip))


def unload_ipython_extension(ip: Any) -> None:
    """Stop owning: ops that are made from now on add up, as in plain Python. The magics stay.

    If it is loaded again, cells own what they made before (but for one that made ops before it unloaded this itself).
    """
    found = _loaded.pop(id(ip), None)
    if found is not None:
        if found[1].cells.untouched():
            _left[id(ip)] = found[1]
        found[1].unregister()
        config.remove(ip, found[3])
        for stop in found[4]:
            stop()
        completer = getattr(ip, "Completer", None)
        if completer is not None and found[2] in completer.custom_matchers:
            completer.custom_matchers.remove(found[2])


def _options(magics: Sequence[LineMagics], name: str) -> dict[str, list[str]]:
    """The options of a magic of ours ("%graph", "%%graph"), each with the words that it takes; of others none."""
    kind = "cell" if name.startswith("%%") else "line"
    magic = next((table[kind][name.lstrip("%")] for table in (family.magics for family in magics)
                  if name.lstrip("%") in table[kind]), None)
    if magic is None:
        return {}
    taken = magic.parser._option_string_actions if hasattr(magic, "parser") else {}
    return {"--help": [], **{option: list(map(str, taken[option].choices or ())) for option in sorted(taken)}}
