"""%runs: the trainings that are kept on disk. Needs IPython."""
from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfnb.core.text import counted
from tfnb.notebook.magics.arguments import LineMagics, parse, unquote, usage_errors, words
from tfnb.notebook.plots.style import AXES
from tfnb.notebook.run_store.run_folder import empty_deleted
from tfnb.notebook.run_store.runs_view import RunsView, runs

# command -> how many names it takes at least and at most
_COMMANDS = {"compare": (0, 1000), "rename": (2, 2), "delete": (1, 1000), "undo": (0, 0), "empty": (0, 0)}


@magics_class
class RunMagics(LineMagics):
    """%runs."""

    @no_var_expand
    @line_magic("runs")
    @magic_arguments("runs")
    @argument("what", nargs="*", help="words to filter by: regular expressions, or conditions as loss<0.1; compare "
                                      "[NAME...]; rename OLD NEW; delete NAME...; undo; empty")
    @argument("--sort", nargs="+", metavar="COLUMN", help="the title of the column to sort by: steps, loss...")
    @argument("--down", action="store_true", help="sort from greatest to least")
    @argument("--x", choices=AXES, default=AXES[0], help="what the curves that are compared run along")
    @argument("--folder", metavar="FOLDER", help="where the runs are; by default %%config Tfnb.runs_folder")
    def runs(self, line: str) -> RunsView:
        """Show the trainings that are kept on disk: sort, filter, draw some over one another, rename, delete.

        `%runs`, `%runs lenet loss<0.1 --sort loss`, `%runs compare slow fast`, `%runs rename "run 7" slow`,
        `%runs delete slow`, and `%runs undo` takes it back; `%runs empty` removes what was deleted for good.
        """
        args = parse(self.runs, line)
        names = [unquote(word) for word in args.what]
        folder, sort = unquote(args.folder) if args.folder else None, words(args.sort) if args.sort else ""
        command = names.pop(0) if names and names[0] in _COMMANDS else ""
        with usage_errors(ValueError, KeyError, OSError):
            view = runs("" if command else " ".join(names), folder, sort=sort, descending=args.down, x=args.x)
            if command:
                self._do(view, command, names)
        return view

    @staticmethod
    def _do(view: RunsView, command: str, names: list[str]) -> Any:
        least, most = _COMMANDS[command]
        if not least <= len(names) <= most:
            raise UsageError(f"%runs {command} takes {least if least == most else f'at least {least}'} "
                             f"name{'s' * (least != 1)}, not {len(names)}")
        if command == "compare":
            view.compare(*names)
        elif command == "rename":
            view.rename(*names)
        elif command == "delete":
            for name in names:
                view.delete(name)
            print(f"deleted {', '.join(names)}; %runs undo takes back the last one")
        elif command == "undo":
            name = view.undo()
            print(f"{name} is back" if name else "nothing is there to take back")
        else:
            print(f"removed {counted(empty_deleted(view.folder), 'run')} for good")
