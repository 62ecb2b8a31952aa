"""%tfnb: the start page, help on each magic, and what the program `tfnb` does. Needs IPython."""
from __future__ import annotations

import shlex
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, no_var_expand

from tfnb.core.errors import OpError
from tfnb.core.text import did_you_mean
from tfnb.notebook.magics.arguments import LineMagics, help_of, usage_errors
from tfnb.notebook.ownership.start_page import StartPage
from tfnb.tools.as_tensorflow import install_as_tensorflow
from tfnb.tools.convert import convert
from tfnb.tools.diff import diff
from tfnb.tools.inspect import Found, inspect
from tfnb.tools.port.report import Verdicts
from tfnb.tools.report import diff_report, report

_USAGE = "%tfnb | help NAME | tensorflow | inspect FILE | diff A B | convert SOURCE TARGET | port [--run] PATH..."
# The magics as the start page shows them: title -> names.
GROUPS = {"Build and look": ("%graph", "%%graph", "%why", "%op", "%collections"),
          "Run and train": ("%fetch", "%%train", "%runs", "%live", "%queues"),
          "Look into variables and files": ("%show", "%vars", "%slots", "%ckpt", "%tfnb"),
          "Find faults and time": ("%nan", "%step", "%profile"),
          "Cells that must run again": ("%stale",),
          "More than one machine": ("%cluster",)}


class Report(dict[str, Any]):
    """Contents found in files: a dict, shown as text."""

    def __init__(self, found: Found, text: str) -> None:
        super().__init__(found)
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self._text)


@magics_class
class FileMagics(LineMagics):
    """%tfnb."""

    @no_var_expand
    @line_magic
    def tfnb(self, line: str) -> Any:
        """Show what there is and how this notebook stands; let `import tensorflow` find tfnb; look into files.

        `%tfnb`, `%tfnb help graph`, `%tfnb tensorflow`, `%tfnb inspect model.ckpt-100`,
        `%tfnb diff model.ckpt-100 model.ckpt-200`, `%tfnb convert model.ckpt-100 weights.npz`,
        `%tfnb port old_programs --run`
        """
        with usage_errors(ValueError):
            command, *rest = shlex.split(line) or [""]
        if not command:
            return StartPage([(title, [(name, self._sentence(name)) for name in names])
                              for title, names in GROUPS.items()])
        if command == "help":
            for name in rest or [""]:
                print(self._help(name))
            return None
        wanted = {"tensorflow": 0, "inspect": 1, "diff": 2, "convert": 2, "port": len(rest)}.get(command)
        if wanted is None or len(rest) != wanted or rest in ([], ["--run"]) and command == "port":
            raise UsageError(_USAGE)
        with usage_errors(OpError, ImportError):
            if command == "tensorflow":
                return install_as_tensorflow()
            if command == "inspect":
                found = inspect(*rest)
                return Report(found, report(found))
            if command == "port":
                return Verdicts([path for path in rest if path != "--run"], "--run" in rest)
            if command == "diff":
                found = diff(*rest)
                return Report(found, diff_report(found))
            convert(rest[0], rest[1])
        return None

    def _sentence(self, name: str) -> str:
        """The first sentence of a magic's docstring."""
        doc = " ".join((help_of(self.shell, name) or "").split("\n\n")[0].split())
        return doc.partition(". ")[0].partition("; ")[0].rstrip(".")

    def _help(self, name: str) -> str:
        names = [each for names in GROUPS.values() for each in names]
        meant = name if name.startswith("%") else next((each for each in names if each.lstrip("%") == name), name)
        if meant not in names:
            raise UsageError(f"there is no magic {name!r}{did_you_mean(name, [each.lstrip('%') for each in names])}; "
                             f"there are {' '.join(names)}")
        both = [each for each in ("%" + meant.lstrip("%"), "%%" + meant.lstrip("%")) if each in names]
        return "\n\n".join(f"{each}\n\n{help_of(self.shell, each, options=True)}" for each in both)
