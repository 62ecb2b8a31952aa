"""The magics that look at state: %vars and %slots. Needs IPython."""
# mypy: disable-error-code="no-untyped-call,untyped-decorator"
from __future__ import annotations

from typing import Any

from IPython.core.magic import line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfnb.notebook.fetch import NoSessionError
from tfnb.notebook.magic_words import LineMagics, parse, unquote, usage_errors, words
from tfnb.notebook.state_views import HOW, SlotsView, VariablesView, slots, variables
from tfnb.runtime.session import BaseSession


@magics_class
class StateMagics(LineMagics):
    """%vars and %slots."""

    @line_magic("vars")
    @magic_arguments("vars")
    @argument("pattern", nargs="?", help="a regular expression that is looked for in the names; none for all")
    @argument("--sort", nargs="+", metavar="COLUMN", help="the title of the column to sort by: norm, update, shape...")
    @argument("--up", action="store_true", help="sort from least to greatest")
    @argument("--blocks", default="max", choices=HOW, help="what a cell of a large matrix shows of its elements")
    @argument("--session", metavar="NAME", help="the variable with the session; by default the only open one")
    def vars(self, line: str) -> VariablesView:
        """Show the variables: where they were made, what is in them, how they move. A click draws a heat map.

        `%vars`, `%vars weights --sort update`
        """
        args = parse(self.vars, line)
        with usage_errors(ValueError, NoSessionError):
            return variables(unquote(args.pattern) if args.pattern else None, session=self._session(args.session),
                             sort=words(args.sort) if args.sort else None, descending=not args.up, how=args.blocks)

    @no_var_expand      # IPython would take the braces of a feed for its own
    @line_magic("slots")
    @magic_arguments("slots")
    @argument("variable", help="a variable, or its name in the graph")
    @argument("--loss", metavar="TENSOR", help="show the gradient of this; by default the one that the optimizer takes")
    @argument("--feed", nargs="+", metavar="DICT", help="what to feed for the gradient: {x: batch, y: labels}")
    @argument("--blocks", default="max", choices=HOW, help="what a cell of a large matrix shows of its elements")
    @argument("--session", metavar="NAME", help="the variable with the session; by default the only open one")
    def slots(self, line: str) -> SlotsView:
        """Draw a variable, its gradient and the slots of its optimizer side by side; the pointer links the cells.

        `%slots layer1/weights --feed {x: batch, y: labels}`, `%slots w --loss loss --feed feeds`
        """
        args = parse(self.slots, line)
        feed = self._eval(" ".join(args.feed)) if args.feed else None
        loss = self._fetchable(args.loss) if args.loss else None
        with usage_errors(ValueError, NoSessionError, KeyError):
            return slots(self._variable(args.variable), loss=loss, feed=feed, session=self._session(args.session),
                         how=args.blocks)

    def _session(self, name: str | None) -> BaseSession | None:
        return self._value(name, BaseSession, "session") if name else None

    def _variable(self, word: str) -> Any:
        """A Python variable that holds one of the graph, else the name of one."""
        value = self.ip.user_ns.get(unquote(word))
        return value if hasattr(value, "initializer") else unquote(word)
