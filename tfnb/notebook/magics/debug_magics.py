"""The magics that look into runs and values: %nan, %step and %show. Needs IPython."""
from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfnb.notebook.debug.nan_view import NanView, nan
from tfnb.notebook.debug.step_view import StepView, step
from tfnb.notebook.magics.arguments import (
    FEED,
    SESSION,
    WHAT,
    LineMagics,
    parse,
    unquote,
    usage_errors,
    without_traces,
)
from tfnb.notebook.show.shown import ArrayView, Page, show


@magics_class
class DebugMagics(LineMagics):
    """%nan, %step and %show."""

    @no_var_expand      # IPython would take the braces of a feed for its own
    @line_magic("nan")
    @magic_arguments("nan")
    @WHAT
    @FEED
    @argument("--ignore", nargs="+", default=(), metavar="REGEX", help="ops and variables whose values may be bad")
    @argument("--abs-max", type=float, metavar="X", help="larger magnitudes are bad, too")
    @argument("--fix-step", type=int, default=0, metavar="K", help="run up to K times, and look into the first bad run")
    @SESSION
    def nan(self, line: str) -> NanView:
        """Run op by op on a copy of all values, and name the first op that makes NaN or inf of finite inputs.

        `%nan loss --feed {x: batch, y: labels}`, `%nan train_step --feed feeds --ignore ^mask --abs-max 1e6`,
        `%nan train_step --feed feeds --fix-step 500`
        """
        args = parse(self.nan, line)
        with usage_errors(ValueError, KeyError), without_traces("it was made to look for NaN"):
            wanted, feed, session = self._run_arguments(args)
            return nan(*wanted, feed=feed, session=session, ignore=[*map(unquote, args.ignore)], abs_max=args.abs_max,
                       steps=args.fix_step)

    @no_var_expand
    @line_magic("show")     # type: ignore[arg-type]
    def show(self, line: str) -> Page | ArrayView:
        """Show a value so that it folds: arrays as heat maps with figures, dicts and lists of them as a tree.

        `%show sess`, `%show sess.run([h, loss], feed)`, `%show {x: batch}`: a variable with the values that sessions
        hold, a session with its variables, a feed with the tensors that it is for.
        """
        if not line.strip():
            raise UsageError("name what to show, as in %show sess")
        return show(self._eval(line.strip()), line.strip())

    @no_var_expand
    @line_magic("step")
    @magic_arguments("step")
    @WHAT
    @FEED
    @argument("--break", nargs="+", default=(), dest="breaks", metavar="REGEX", help="ops to stop before")
    @argument("--when", nargs="+", default=(), metavar="CONDITION", help="values to stop behind: has_nan, x.max()>9")
    @argument("--show", nargs="+", default=(), metavar="TENSOR", help="tensors or slices to watch: h[0:10,:]")
    @argument("--until", default="", metavar="REGEX", help="the op to begin before")
    @argument("--back", action="store_true", help="begin at the end, and go back from there")
    @SESSION
    def step(self, line: str) -> StepView:
        """Go through a run op by op, on a copy of all values: step, back, go on to a breakpoint, change values.

        `s = %step loss --feed {x: batch} --break MatMul`, then `s.step()`, `s.back()`, `s.set("h", 0 * s.value("h"))`
        `%step loss --feed feed --when has_inf_or_nan "abs(x).max() > 100" --show "h[0:10, :]"`
        """
        args = parse(self.step, line)
        wanted, feed, session = self._run_arguments(args)
        with usage_errors(ValueError, KeyError):
            return step(*wanted, feed=feed, session=session, breaks=[*map(unquote, args.breaks)],
                        until=unquote(args.until), back=args.back, when=[*map(unquote, args.when)],
                        show=[*map(unquote, args.show)]).show()
