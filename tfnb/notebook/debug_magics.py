"""The magics that look into runs: %nan. Needs IPython."""
# mypy: disable-error-code="no-untyped-call,untyped-decorator"
from __future__ import annotations

from IPython.core.magic import line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfnb.notebook.magic_words import LineMagics, parse, unquote, usage_errors
from tfnb.notebook.nan_view import NanView, nan


@magics_class
class DebugMagics(LineMagics):
    """%nan."""

    @no_var_expand      # IPython would take the braces of a feed for its own
    @line_magic("nan")
    @magic_arguments("nan")
    @argument("what", nargs="+", help="expressions without blanks, or names of ops and tensors")
    @argument("--feed", nargs="+", metavar="DICT", help="what to feed: {x: batch}, or a variable with such a dict")
    @argument("--ignore", nargs="+", default=(), metavar="REGEX", help="ops and variables whose values may be bad")
    @argument("--abs-max", type=float, metavar="X", help="larger magnitudes are bad, too")
    @argument("--session", metavar="NAME", help="the variable with the session; by default the only open one")
    def nan(self, line: str) -> NanView:
        """Run op by op on a copy of all values, and name the first op that makes NaN or inf of finite inputs.

        `%nan loss --feed {x: batch, y: labels}`, `%nan train_step --feed feeds --ignore ^mask --abs-max 1e6`
        """
        args = parse(self.nan, line)
        wanted, feed, session = self._run_arguments(args)
        with usage_errors(ValueError, KeyError):
            return nan(*wanted, feed=feed, session=session, ignore=[*map(unquote, args.ignore)], abs_max=args.abs_max)
