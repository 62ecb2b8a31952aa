"""%tfnb: what the program `tfnb` does, in the notebook. Needs IPython."""
from __future__ import annotations

import shlex
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, no_var_expand

from tfnb.core.errors import OpError
from tfnb.notebook.magics.arguments import LineMagics, usage_errors
from tfnb.tools.as_tensorflow import install_as_tensorflow
from tfnb.tools.convert import convert
from tfnb.tools.diff import diff
from tfnb.tools.inspect import Found, inspect
from tfnb.tools.report import diff_report, report

_USAGE = "%tfnb tensorflow | inspect FILE | diff A B | convert SOURCE TARGET"


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
        """Let `import tensorflow` find tfnb; or tell what is in files, compare or convert them.

        `%tfnb tensorflow`, `%tfnb inspect model.ckpt-100`, `%tfnb diff model.ckpt-100 model.ckpt-200`,
        `%tfnb convert model.ckpt-100 weights.npz`
        """
        with usage_errors(ValueError):
            command, *rest = shlex.split(line) or [""]
        wanted = {"tensorflow": 0, "inspect": 1, "diff": 2, "convert": 2}.get(command)
        if wanted is None or len(rest) != wanted:
            raise UsageError(_USAGE)
        with usage_errors(OpError, ImportError):
            if command == "tensorflow":
                return install_as_tensorflow()
            if command == "inspect":
                found = inspect(*rest)
                return Report(found, report(found))
            if command == "diff":
                found = diff(*rest)
                return Report(found, diff_report(found))
            convert(rest[0], rest[1])
        return None
