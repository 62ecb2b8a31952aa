"""The magics that look at state: %vars, %slots and %ckpt. Needs IPython."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfnb.core.errors import OpError
from tfnb.core.text import did_you_mean
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.frontend.fetch import NoSessionError, find_session
from tfnb.notebook.magics.arguments import SESSION, LineMagics, parse, unquote, usage_errors, words
from tfnb.notebook.state.checkpoint_views import (
    checkpoint,
    checkpoint_diff,
    checkpoints,
    restore_checkpoint,
    save_checkpoint,
)
from tfnb.notebook.state.initialize import initialize
from tfnb.notebook.state.state_views import HOW, SlotsView, VariablesView, slots, variables
from tfnb.notebook.state.variable_table import global_step_in
from tfnb.runtime.session import BaseSession

# command of %ckpt -> how many paths it takes at least and at most
_CKPT = {"list": (0, 1), "show": (1, 1), "diff": (1, 2), "save": (1, 1), "restore": (1, 1)}


def _renamed(pairs: Iterable[str]) -> dict[str, str]:
    """NEW -> OLD of pairs "OLD=NEW"."""
    renamed = {}
    for pair in pairs:
        old, sign, new = pair.partition("=")
        if not (old and sign and new):
            raise UsageError(f"--map takes OLD=NEW, a name in the checkpoint and what it is called now, not {pair!r}")
        renamed[new] = old
    return renamed


@magics_class
class StateMagics(LineMagics):
    """%vars, %slots and %ckpt."""

    @line_magic("vars")
    @magic_arguments("vars")
    @argument("pattern", nargs="?", help="a regular expression that is looked for in the names; none for all")
    @argument("--sort", nargs="+", metavar="COLUMN", help="the title of the column to sort by: norm, update, size...")
    @argument("--optimizer", metavar="NAME", help="only what this one updates: an optimizer or its name")
    @argument("--heat", action="store_true", help="draw the heat maps of the first row")
    @argument("--up", action="store_true", help="sort from least to greatest")
    @argument("--blocks", default="max", choices=HOW, help="what a cell of a large matrix shows of its elements")
    @argument("--init", action="store_true", help="first run the initializers of those that have no value")
    @SESSION
    def vars(self, line: str) -> VariablesView:
        """Show the variables: where they were made, what is in them, how they move. A click draws a heat map.

        `%vars`, `%vars weights --sort update --heat`. `%vars --init` gives variables that a cell has made anew their
        first values, and leaves the others as they are.
        """
        args = parse(self.vars, line)
        with usage_errors(ValueError, NoSessionError):
            if args.init:
                print(f"initialized: {', '.join(initialize(self._session(args.session))) or 'all have values'}")
            view = variables(unquote(args.pattern) if args.pattern else None, **self._table_options(args))
            return view.heat() if args.heat else view

    def _table_options(self, args: Any) -> dict[str, Any]:
        name = unquote(args.optimizer) if args.optimizer else None
        held = self.ip.user_ns.get(name)
        return {"session": self._session(args.session), "sort": words(args.sort) if args.sort else None,
                "descending": not args.up, "how": args.blocks,
                "optimizer": held if hasattr(held, "get_name") else name}

    @no_var_expand      # IPython would take the braces of a feed for its own
    @line_magic("slots")
    @magic_arguments("slots")
    @argument("variable", nargs="?", help="a variable, or its name in the graph; by default a table of all with slots")
    @argument("--sort", nargs="+", metavar="COLUMN", help="of the table: the title of the column to sort by")
    @argument("--up", action="store_true", help="of the table: sort from least to greatest")
    @argument("--optimizer", metavar="NAME", help="of the table: only what this one updates")
    @argument("--loss", metavar="TENSOR", help="show the gradient of this; by default the one that the optimizer takes")
    @argument("--feed", nargs="+", metavar="DICT", help="what to feed for the gradient: {x: batch, y: labels}")
    @argument("--blocks", default="max", choices=HOW, help="what a cell of a large matrix shows of its elements")
    @SESSION
    def slots(self, line: str) -> SlotsView | VariablesView:
        """Draw a variable, its gradient and the slots of its optimizer side by side; the pointer links the cells.

        `%slots`, `%slots layer1/weights --feed {x: batch, y: labels}`, `%slots w --loss loss --feed feeds`
        """
        args = parse(self.slots, line)
        if args.variable is None:
            if args.loss or args.feed:
                raise UsageError("say of which variable to show the gradient: %slots w --feed {x: batch}")
            with usage_errors(ValueError, NoSessionError):
                return variables(slotted=True, **self._table_options(args)).heat()
        feed = self._eval(" ".join(args.feed)) if args.feed else None
        loss = self._fetchable(args.loss) if args.loss else None
        with usage_errors(ValueError, NoSessionError, KeyError):
            return slots(self._variable(args.variable), loss=loss, feed=feed, session=self._session(args.session),
                         how=args.blocks)

    @line_magic("ckpt")
    @magic_arguments("ckpt")
    @argument("what", nargs="*", help="a directory (or nothing) to list; show PATH; diff A [B], where no B is the "
                                      "session; save PATH; restore PATH")
    @argument("--dry-run", action="store_true", help="restore: change nothing, tell what would happen and why")
    @argument("--partial", action="store_true", help="restore: what fits, although some variables are not restored")
    @argument("--map", nargs="+", default=(), metavar="OLD=NEW", help="restore, diff: OLD in the checkpoint (A) is "
                                                                     "NEW in the session (or B); old/=new/ for scopes")
    @argument("--scope", default="", help="show, diff, restore: only below this scope, as the session (or B) calls it")
    @argument("--step", type=int, help="save: the step that the name ends with; by default the global step")
    @SESSION
    def ckpt(self, line: str) -> Any:
        """List the checkpoints of a directory, look into one, compare two, save, restore.

        `%ckpt logs`, `%ckpt diff logs/model-1 logs/model-2`, `%ckpt restore logs/model-2 --dry-run`
        """
        args = parse(self.ckpt, line)
        command, *rest = [unquote(word) for word in args.what] or ["list"]
        if command not in _CKPT or os.path.isdir(command) and not rest:
            if len(args.what) > 1:
                raise UsageError(f"%ckpt has no command {command!r}"
                                 + (did_you_mean(command, _CKPT, show=str) or f"; there are {', '.join(_CKPT)}"))
            command, rest = "list", [command]
        least, most = _CKPT[command]
        if not least <= len(rest) <= most:
            raise UsageError(f"%ckpt {command} takes {least if least == most else f'{least} or {most}'} "
                             f"path{'s' * (most > 1)}, not {len(rest)}")
        session = self._session(args.session)
        with usage_errors(ValueError, OpError):
            return self._ckpt(command, rest, session, args)

    def _ckpt(self, command: str, paths: list[str], session: BaseSession | None, args: Any) -> Any:
        scope, renamed = unquote(args.scope), _renamed(unquote(pair) for pair in args.map)
        if command == "list":
            return checkpoints(*(paths or ["."]), session=session)
        if command == "show":
            return checkpoint(*paths, session=session, scope=scope)
        if command == "diff":
            return checkpoint_diff(*paths, session=session, renamed=renamed, scope=scope)
        if command == "restore":
            return restore_checkpoint(*paths, session=session, dry_run=args.dry_run, partial=args.partial,
                                      renamed=renamed, scope=scope)
        running = session or find_session(get_default_graph())
        step = global_step_in(running) if args.step is None else args.step
        saved = save_checkpoint(*paths, session=running, step=step)
        print(f"saved {saved}")
        return None

    def _session(self, name: str | None) -> BaseSession | None:
        return self._value(name, BaseSession, "session") if name else None

    def _variable(self, word: str) -> Any:
        """A Python variable that holds one of the graph, else the name of one."""
        value = self.ip.user_ns.get(unquote(word))
        return value if hasattr(value, "initializer") else unquote(word)
