"""Programs run as they are: Python 3 or 2, scripts or notebooks, with `import tensorflow` that finds tfnb."""
from __future__ import annotations

import ast
import importlib.util
import os
import re
import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from tfnb.core.lazy import lazy_module
from tfnb.tools.as_tensorflow import install_as_tensorflow
from tfnb.tools.port import python2
from tfnb.tools.port.legacy import put_back
from tfnb.tools.port.sources import cells, decoded, is_own, read

_shell = lazy_module("IPython.terminal.interactiveshell")
_INSTALLS = re.compile(r"\b(pip3?|conda|mamba|apt(-get)?)\b.*\binstall\b")


class _Loader(SourceFileLoader):
    """A module of the program that is of Python 2."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the module's code, from the source each time: no bytecode of a translation is left beside it."""
        tree = python2.parse(decoded(self.get_data(self.path)), self.path)
        return compile(tree, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module with the names that translated code needs."""
        vars(module).update(python2.helpers())
        super().exec_module(module)


class _Finder(MetaPathFinder):
    """Finds the modules of Python 2 in a program's own folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
                  ) -> ModuleSpec | None:
        """The spec of a module of the folder that is of Python 2, else None."""
        spec = PathFinder.find_spec(fullname, path if path is not None else [str(self._folder)])
        if spec is None or type(spec.loader) is not SourceFileLoader or not spec.origin:
            return None
        origin = Path(spec.origin).resolve()
        if self._folder not in origin.parents or not is_own(origin, self._folder) \
                or not python2.marks(decoded(origin.read_bytes())):
            return None
        spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def run_file(path: str, arguments: Sequence[str] = (), failed: Callable[[int, BaseException], None] | None = None
             ) -> int:
    """Run a script or a notebook as the main program, with tfnb as its tensorflow; return the exit code.

    Modules beside it are found, and translated where they are of Python 2. A script's own exit goes through, and so do
    its errors; IPython shows those of a cell. failed: called with the number of a cell that failed and its error.
    """
    _prepare(Path(path).resolve().parent, [path, *arguments])
    if path.endswith(".ipynb"):
        return _run_notebook(Path(path).resolve(), failed)
    text = decoded(Path(path).read_bytes())
    if python2.marks(text):
        _run_tree(python2.parse(text, path), path)
    else:
        runpy.run_path(path, run_name="__main__")
    return 0


def run_module(name: str, arguments: Sequence[str] = ()) -> None:
    """Run a module of the current folder, or one that is installed, as `python -m` does; else as `run_file`."""
    _prepare(Path.cwd(), [name, *arguments])
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    given = python2.helpers() if spec is not None and isinstance(spec.loader, _Loader) else {}
    runpy.run_module(name, given, run_name="__main__", alter_sys=True)


def _prepare(folder: Path, arguments: list[str]) -> None:
    """Let this process run the programs of a folder. arguments: its sys.argv."""
    install_as_tensorflow()
    put_back()
    sys.argv = arguments
    sys.path.insert(0, str(folder))
    sys.meta_path.insert(0, _Finder(folder))


def _run_tree(tree: ast.Module, path: str) -> None:
    main = ModuleType("__main__")
    main.__file__ = path
    vars(main).update(python2.helpers())
    sys.modules["__main__"] = main
    exec(compile(tree, path, "exec", dont_inherit=True), vars(main))


def _run_notebook(path: Path, failed: Callable[[int, BaseException], None] | None) -> int:
    """Run the code cells in the notebook's folder, up to one that fails: without windows, and without installing."""
    os.environ.setdefault("MPLBACKEND", "agg")
    try:
        shell = _shell.TerminalInteractiveShell.instance()
    except ImportError:
        raise ImportError("notebooks are run by IPython: pip install 'tfnb[notebooks]'", name="IPython") from None
    source = read(path)
    os.chdir(path.parent)
    run_command = shell.system
    shell.system = lambda command: print(f"left out: {command}") if _INSTALLS.search(command) else run_command(command)
    if source.marks:
        shell.user_ns.update(python2.helpers())
        shell.input_transformers_post.append(lambda lines: _translated(lines, str(path)))
        shell.ast_transformers.append(python2.semantics(source.text))
    for number, code in enumerate(cells(path), 1):
        done = shell.run_cell(code)
        if not done.success:
            if failed is not None:
                failed(number, done.error_in_exec or done.error_before_exec)
            print(f"tfnb run: cell {number} of {path} failed", file=sys.stderr)
            return 1
    return 0


def _translated(lines: list[str], name: str) -> list[str]:
    return python2.translate("".join(lines), name).splitlines(keepends=True)
