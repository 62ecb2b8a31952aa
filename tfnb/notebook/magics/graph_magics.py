"""The magics: each a thin wrapper of a public function of `tfnb.notebook`, with the same name. Needs IPython."""
from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from tfnb.debug.explain import explain
from tfnb.notebook.debug.edge_values import Recorder, opened
from tfnb.notebook.debug.timeline_view import timeline, traced
from tfnb.notebook.debug.watch_view import WatchView, elements_of, step_label, watch
from tfnb.notebook.frontend.fetch import NoSessionError, fetch, resolve
from tfnb.notebook.graph.costs import measure
from tfnb.notebook.graph.paint import COSTS, WORDS
from tfnb.notebook.graph.view import graph_view
from tfnb.notebook.layout.dot import LayoutFailed
from tfnb.notebook.magics.arguments import (
    FEED,
    SESSION,
    WHAT,
    LineMagics,
    op_names,
    parse,
    unquote,
    usage_errors,
    words,
)
from tfnb.notebook.ownership.rerun import undo
from tfnb.notebook.plots import board
from tfnb.notebook.plots.style import AXES
from tfnb.notebook.state.queue_view import queues
from tfnb.runtime.session import BaseSession


@magics_class
class GraphMagics(LineMagics):
    """%graph, %fetch, %profile and %live."""

    @no_var_expand      # IPython would take the braces of a feed for its own
    @line_magic("fetch")
    @magic_arguments("fetch")
    @WHAT
    @FEED
    @argument("--watch", metavar="REGEX", help="draw the graph, too, with the values of these ops on its edges")
    @argument("--keep", type=int, default=1, metavar="N", help="with --watch: the last N values of each, as loops make")
    @argument("--trace", action="store_true", help="show when each op and kernel runs, in a second run like this one")
    @SESSION
    def fetch(self, line: str) -> Any:
        """Run tensors and ops, show a line on each value, and return the values.

        `%fetch loss accuracy --feed {x: batch, y: labels}`, `v = %fetch layer1/weights`
        """
        args = parse(self.fetch, line)
        wanted, feed, session = self._run_arguments(args)
        with usage_errors(ValueError):
            recorder = Recorder(unquote(args.watch), args.keep) if args.watch else None
        values = fetch(*wanted, feed=feed, session=session, labels=args.what, tap=recorder)
        if recorder is not None:
            display(WatchView(elements_of(session, wanted), recorder.values, label=step_label(session), level="ops",
                              **opened(recorder.values)))
        if args.trace:
            display(traced(wanted, {resolve(session.graph, k): v for k, v in (feed or {}).items()}, session))
        return values

    @no_var_expand
    @line_magic("profile")
    @magic_arguments("profile")
    @WHAT
    @FEED
    @SESSION
    @argument("--runs", type=int, default=20, help="how often each kernel is timed; the best counts")
    @argument("--by", default="kernel", choices=["kernel", "op", "scope", "cell"], help="how to group the time")
    @argument("--chrome", metavar="FILE", help="write a trace for chrome://tracing and Perfetto, as .json")
    @argument("--plan", action="store_true", help="print the plan first: stages, fused ops, buffers (tf.explain)")
    @argument("--sources", action="store_true", help="the same with the text of each kernel")
    def profile(self, line: str) -> Any:
        """Time each kernel of a run, by itself. Variables keep their values.

        `%profile train_step --feed {x: batch, y: labels}`, `%profile train_step --feed feeds --by cell`
        """
        args = parse(self.profile, line)
        wanted, feed, session = self._run_arguments(args)
        fed = {resolve(session.graph, k): v for k, v in (feed or {}).items()}
        with usage_errors(ValueError):
            if args.plan or args.sources:
                print(explain(wanted, fed, session, args.sources))
            view = timeline(wanted, fed, session, args.runs, args.by)
            if args.chrome:
                view.save(unquote(args.chrome))
            return view

    @line_magic("queues")
    @magic_arguments("queues")
    @argument("pattern", nargs="?", help="a regular expression that is looked for in the names; none for all")
    @SESSION
    def queues(self, line: str) -> Any:
        """Show how full the queues of the graph are, with the threads that fill them and what those raised.

        `%queues`, `%queues input`
        """
        args = parse(self.queues, line)
        session = self._value(args.session, BaseSession, "session") if args.session else None
        with usage_errors(NoSessionError, ValueError):
            return queues(session, unquote(args.pattern) if args.pattern else "")

    @line_magic("live")
    @magic_arguments("live")
    @argument("tags", nargs="*", help="tags to plot, or patterns (train/*); none for all")
    @argument("--hz", type=float, help="frames a second, at most 10; by default what %%config Tfnb.live_hz says")
    @argument("--smooth", type=float, default=0.6, help="weight of the running mean, 0 for none")
    @argument("--runs", nargs="+", default=(), metavar="RUN", help="runs to compare, or patterns; by default all")
    @argument("--x", default="step", choices=AXES, help="along steps, or along the seconds since a run began")
    @argument("--hist", action="store_true", help="only histograms over time")
    @argument("--apart", action="store_true", help="a panel for each run, side by side, instead of one for each tag")
    @argument("--grid", type=int, default=0, metavar="N", help="panels side by side; by default as many as fit")
    @argument("--title", nargs="+", default=(), help="a title over the plots")
    def live(self, line: str) -> Any:
        """Plot here while the kernel works: what summaries hold, and what tf.notebook.record reports.

        `%live loss accuracy --hz 10`, `%live loss --runs slow fast --x time`
        """
        args = parse(self.live, line)
        with usage_errors(ValueError):
            runs = [*map(unquote, args.runs)]
            return board.live(*map(unquote, args.tags), runs=runs, hz=args.hz, smooth=args.smooth,
                              title=words(args.title), x=args.x, grid=args.grid, hist=args.hist, apart=args.apart)

    @line_magic("graph")
    @magic_arguments("graph")
    @argument("target", nargs="*", help="what to draw: scopes, ops, or expressions; by default the whole graph")
    @argument("--depth", type=int, default=1, help="how many levels of scopes are open")
    @argument("--expand", nargs="+", default=(), metavar="NAME", help="scopes to open")
    @argument("--up", type=int, metavar="N", help="only the target and N steps of what it takes")
    @argument("--down", type=int, metavar="N", help="only the target and N steps of what takes it")
    @argument("--aside", nargs="+", default=(), metavar="NAME", help="nodes to draw beside the graph")
    @argument("--detach", nargs="+", default=(), metavar="REGEX", help="the same, for nodes whose names it is found in")
    @argument("--pin", "--keep", nargs="+", default=(), metavar="NAME", help="nodes to keep in the graph")
    @argument("--series", choices=["on", "off"], default="on", help="fold repeated blocks into one node")
    @argument("--level", choices=["layers", "ops"], default="layers", help="a layer as one box, or each scope")
    @argument("--engine", default="auto", choices=["auto", "dot", "pygraphviz", "builtin"], help="what lays it out")
    @argument("--direction", default="down", choices=["down", "up", "right"], help="where data flows to")
    @argument("--title", nargs="+", default=(), help="what to call the drawing")
    @argument("--save", metavar="FILE", help="write it to a .svg, .png, .pdf, .dot or .txt file as well")
    @argument("--format", "--as", default="widget", choices=["widget", "svg", "dot", "text", "graphviz"],
              help="what is shown here; graphviz: a graphviz.Source, to restyle or to render as PDF")
    @argument("--diff", action="store_true", help="colour by what the last run of each cell made anew or changed")
    @argument("--color", default="structure", choices=[*WORDS], help="what colours say; time and memory run the target")
    @argument("--trace", metavar="NAME", help="leave strong only what this node gets values from")
    @argument("--outputs", action="store_true", help="with --trace: what it gives values to")
    @argument("--values", action="store_true", help="run the target, and show the values of this run on the edges")
    @argument("--feed", nargs="+", metavar="DICT", help="what to feed that run: {x: batch}, or a variable with a dict")
    @argument("--session", metavar="NAME", help="the session of that run; by default the only open one")
    def graph(self, line: str) -> Any:
        """Draw the graph, or a part of it. Scopes open and close by a click.

        `%graph`, `%graph layer1 --depth 2`, `%graph loss accuracy`, `%graph loss --values --feed {x: batch}`.
        `%graph undo` takes back the last run of a cell that made or removed ops, or the last deletion of one.
        Returns the view; with `--as graphviz` a graphviz.Source.
        """
        args = parse(self.graph, line)
        if args.target == ["undo"] and "undo" not in op_names():
            with usage_errors(LookupError, RuntimeError):
                return undo()
        options = {"depth": args.depth, "expand": [*map(unquote, args.expand)], "engine": args.engine,
                   "aside": [*map(unquote, args.aside)], "keep": [*map(unquote, args.pin)], "up": args.up,
                   "detach": [*map(unquote, args.detach)], "series": args.series == "on", "down": args.down,
                   "level": args.level,
                   "form": "auto" if args.format in ("widget", "graphviz") else args.format,
                   "direction": args.direction, "title": words(args.title),
                   "color": "change" if args.diff else args.color,
                   "trace": (unquote(args.trace), "outputs" if args.outputs else "inputs") if args.trace else None}
        if args.values or args.color in COSTS:
            if not args.target:
                how = "--values" if args.values else f"--color {args.color}"
                raise UsageError(f"say which fetch to run: %graph loss {how} --feed {{x: batch}}")
            args.what = args.target
            wanted, feed, session = self._run_arguments(args)
        with usage_errors(ValueError, TypeError, LayoutFailed, ImportError):
            if args.color in COSTS:
                options["costs"] = measure(wanted, feed, session)
            view = watch(*wanted, feed=feed, session=session, **options) if args.values else \
                graph_view(self._targets(args.target), **options)
            if args.save:
                view.save(unquote(args.save))
            return view.graphviz() if args.format == "graphviz" else view
