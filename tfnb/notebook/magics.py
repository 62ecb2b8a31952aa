"""The magics: each a thin wrapper of a public function of `tfnb.notebook`, with the same name. Needs IPython.

Errors in the use of a magic are UsageError itself, which IPython shows without a traceback; subclasses are not.
"""
# mypy: disable-error-code="no-untyped-call,untyped-decorator"
from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from difflib import get_close_matches
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from tfnb.graph.operation import Operation, Tensor
from tfnb.graph.stack import device, get_default_graph, name_scope
from tfnb.notebook import board
from tfnb.notebook.effects import is_variable
from tfnb.notebook.fetch import NoSessionError, fetch, find_session, resolve
from tfnb.notebook.graph_view import GraphView, graph_view
from tfnb.notebook.hooks import Hooks
from tfnb.runtime.explain import explain
from tfnb.runtime.profile import profile
from tfnb.runtime.session import BaseSession


@magics_class
class TfnbMagics(Magics):
    """%graph, %%graph, %fetch, %profile and %live."""

    def __init__(self, ip: Any, hooks: Hooks) -> None:
        super().__init__(ip)
        self.ip, self.hooks = ip, hooks

    @no_var_expand      # IPython would take the braces of a feed for its own
    @line_magic("fetch")
    @magic_arguments("fetch")
    @argument("what", nargs="+", help="expressions without blanks, or names of ops and tensors")
    @argument("--feed", nargs="+", metavar="DICT", help="what to feed: {x: batch}, or a variable with such a dict")
    @argument("--session", metavar="NAME", help="the variable with the session; by default the only open one")
    def fetch(self, line: str) -> Any:
        """Run tensors and ops, show a line on each value, and return the values.

        `%fetch loss accuracy --feed {x: batch, y: labels}`, `v = %fetch layer1/weights`
        """
        args = parse(self.fetch, line)
        wanted, feed, session = self._run_arguments(args)
        return fetch(*wanted, feed=feed, session=session, labels=args.what)

    @no_var_expand
    @line_magic("profile")
    @magic_arguments("profile")
    @argument("what", nargs="+", help="expressions without blanks, or names of ops and tensors")
    @argument("--feed", nargs="+", metavar="DICT", help="what to feed: {x: batch}, or a variable with such a dict")
    @argument("--session", metavar="NAME", help="the variable with the session; by default the only open one")
    @argument("--runs", type=int, default=20, help="how often each kernel is timed; the best counts")
    @argument("--plan", action="store_true", help="print the plan first: stages, fused ops, buffers (tf.explain)")
    @argument("--sources", action="store_true", help="the same with the text of each kernel")
    def profile(self, line: str) -> Any:
        """Time each kernel of a run, by itself. Variables keep their values.

        `%profile train_step --feed {x: batch, y: labels}`
        """
        args = parse(self.profile, line)
        wanted, feed, session = self._run_arguments(args)
        fed = {resolve(session.graph, k): v for k, v in (feed or {}).items()}
        with usage_errors(ValueError):
            if args.plan or args.sources:
                print(explain(wanted, fed, session, args.sources))
            return profile(wanted, fed, session, args.runs)

    def _run_arguments(self, args: Any) -> tuple[list[Any], dict[Any, Any] | None, BaseSession]:
        """What to run, what to feed and in which session, from `what`, `--feed` and `--session`."""
        session = self._value(args.session, BaseSession, "session") if args.session else None
        feed = self._eval(" ".join(args.feed)) if args.feed else None
        if feed is not None and not isinstance(feed, dict):
            raise UsageError(f"--feed takes a dict from tensors to values, not {type(feed).__name__}")
        wanted = [self._fetchable(word) for word in args.what]
        try:
            return wanted, feed, session or find_session(_graph_of(wanted))
        except NoSessionError as error:
            raise UsageError(str(error)) from None

    @line_magic("live")
    @magic_arguments("live")
    @argument("tags", nargs="*", help="tags to plot, or patterns (train/*); none for all")
    @argument("--hz", type=float, default=5.0, help="frames a second, at most 10")
    @argument("--smooth", type=float, default=0.6, help="weight of the running mean, 0 for none")
    @argument("--title", nargs="+", default=(), help="a title over the plots")
    def live(self, line: str) -> Any:
        """Plot scalars here while the kernel works: those of summaries, and those that tf.notebook.record reports.

        `%live loss accuracy --hz 10`
        """
        args = parse(self.live, line)
        with usage_errors(ValueError):
            return board.live(*map(unquote, args.tags), hz=args.hz, smooth=args.smooth, title=words(args.title))

    @line_magic("graph")
    @magic_arguments("graph")
    @argument("target", nargs="?", help="what to draw: a scope, an op, or an expression; by default the whole graph")
    @argument("--depth", type=int, default=1, help="how many levels of scopes are open")
    @argument("--expand", nargs="+", default=(), metavar="NAME", help="scopes to open")
    @argument("--aside", nargs="+", default=(), metavar="NAME", help="nodes to draw beside the graph")
    @argument("--keep", nargs="+", default=(), metavar="NAME", help="nodes to keep in the graph")
    @argument("--engine", default="auto", choices=["auto", "dot", "pygraphviz", "builtin"], help="what lays it out")
    @argument("--direction", default="down", choices=["down", "up", "right"], help="where data flows to")
    @argument("--title", nargs="+", default=(), help="what to call the drawing")
    @argument("--save", metavar="FILE", help="write it to a .svg, .dot or .txt file as well")
    def graph(self, line: str) -> GraphView:
        """Draw the graph, or a part of it. Scopes open and close by a click.

        `%graph`, `%graph layer1 --depth 2`, `%graph loss --direction right`
        """
        args = parse(self.graph, line)
        with usage_errors(ValueError, TypeError):
            view = graph_view(self._target(args.target), args.depth, map(unquote, args.expand), engine=args.engine,
                              aside=[*map(unquote, args.aside)], keep=[*map(unquote, args.keep)],
                              direction=args.direction, title=words(args.title))
            if args.save:
                view.save(unquote(args.save))
        return view

    @cell_magic("graph")
    @magic_arguments("graph")
    @argument("name", nargs="?", help="what to call the cell: one of that name is replaced, also under another id")
    @argument("--scope", metavar="NAME", help="the name scope for the ops of the cell")
    @argument("--device", metavar="NAME", help="the device for the ops of the cell")
    @argument("--reset", action="store_true", help="forget the values of the cell's variables, in all open sessions")
    @argument("--show", action="store_true", help="draw the graph afterwards")
    @argument("--no-own", action="store_true", help="let the ops belong to nobody: a run again adds more")
    def graph_cell(self, line: str, cell: str) -> Any:
        """Run the cell with options for the ops it makes. Cells without this magic own their ops as well."""
        __tracebackhide__ = True
        args = parse(self.graph_cell, line)
        if args.name:
            self.hooks.name_cell(unquote(args.name))
        if args.no_own:
            self.hooks.cells.disown()
        graph = get_default_graph()
        version = graph.version
        with ExitStack() as around:
            if args.scope:
                around.enter_context(name_scope(unquote(args.scope)))
            if args.device:
                around.enter_context(device(unquote(args.device)))
            value = run_body(self.ip, cell)
        if args.reset and graph is get_default_graph():
            self._forget_values([op for op in graph.made_since(version) if is_variable(op)])
        if args.show:
            return graph_view(unquote(args.scope) if args.scope else None)
        return value

    def _forget_values(self, variables: list[Operation]) -> None:
        for session in {id(s): s for s in self.ip.user_ns.values() if isinstance(s, BaseSession)}.values():
            for op in variables:
                session._store.forget(op)

    # words of the user

    def _eval(self, code: str) -> Any:
        try:
            return eval(code, self.ip.user_global_ns, self.ip.user_ns)
        except SyntaxError as error:
            raise UsageError(f"{code!r} is no expression: {error.msg}") from None
        except NameError as error:
            near = get_close_matches(str(error.name), self.ip.user_ns, n=1)
            raise UsageError(f"{error}" + (f"; did you mean {near[0]!r}?" if near else "")) from None

    def _value(self, name: str, kind: type, what: str) -> Any:
        value = self._eval(name)
        if not isinstance(value, kind):
            raise UsageError(f"{name} is no {what} but {type(value).__name__}")
        return value

    def _fetchable(self, word: str) -> Any:
        """What a word stands for: the op of that name if it is no Python name, the value of the expression, or that op.
        """
        name, value, problem = unquote(word), None, ""
        if not name.isidentifier() and name.partition(":")[0] in op_names():
            return resolve(get_default_graph(), name)
        try:
            value = self._eval(word)
        except UsageError as error:
            problem = str(error)
        if value is not None and fetchable(value):
            return value
        with usage_errors(KeyError, ValueError, before=problem or f"{word} is {type(value).__name__}"):
            return resolve(get_default_graph(), name)

    def _target(self, word: str | None) -> Any:
        """What to draw: a name in the graph, else the value of the expression if it can be drawn."""
        if word is None:
            return None
        name = unquote(word)
        scope = name.rstrip("/") + "/"
        if any(op == name or op.startswith(scope) for op in op_names()):
            return name
        try:
            value = self._eval(word)
        except UsageError:
            return name                                     # graph_view tells the nearest one
        return value if fetchable(value) or hasattr(value, "get_operations") or hasattr(value, "graph") else name


def op_names() -> set[str]:
    """The names of all ops of the default graph."""
    return {op.name for op in get_default_graph().get_operations()}


def fetchable(value: Any) -> bool:
    """True for tensors, ops, variables, and lists, tuples and dicts of these."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(fetchable, value))
    if isinstance(value, dict):
        return bool(value) and all(map(fetchable, value.values()))
    return isinstance(value, (Tensor, Operation)) or hasattr(value, "_as_graph_element")


def _graph_of(wanted: list[Any]) -> Any:
    for each in wanted:
        if isinstance(each, (list, tuple, dict)):
            found = _graph_of([*(each.values() if isinstance(each, dict) else each)])
        else:
            found = getattr(each, "graph", None)
        if found is not None:
            return found
    return None


def parse(magic: Callable[..., Any], line: str) -> Any:
    """The arguments of a magic. Raises UsageError, with the nearest option for one that is unknown."""
    try:
        return magic.parser.parse_argstring(line)           # type: ignore[attr-defined]
    except ValueError as error:                              # a quotation mark without its other one
        raise UsageError(f"{error} in {line!r}") from None
    except UsageError as error:
        unknown = [word for word in str(error).split() if word.startswith("--")]
        known = magic.parser._option_string_actions         # type: ignore[attr-defined]
        near = get_close_matches(unknown[0], known, n=1) if unknown and unknown[0] not in known else []
        raise UsageError(f"{error}" + (f"; did you mean {near[0]}?" if near else "")) from None


class usage_errors(AbstractContextManager[None]):
    """A context that turns the given errors into UsageError, with a text before their own if there is one."""

    def __init__(self, *kinds: type[Exception], before: str = "") -> None:
        self.kinds, self.before = kinds, before

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, self.kinds):
            said = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
            raise UsageError(f"{self.before}, and {said}" if self.before else said) from None


def unquote(word: str) -> str:
    """A word of a magic's line without the quotation marks around it, which IPython leaves there."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def words(parts: Any) -> str:
    """Words of a line as one text."""
    return unquote(" ".join(parts))


def run_body(ip: Any, body: str) -> Any:
    """Run the body of a cell magic in the notebook's namespace and return the value of its last expression.

    Line numbers are those of the whole cell, whose first line is the magic.
    """
    __tracebackhide__ = True
    code = ip.transform_cell(body)
    name = ip.compile.cache("\n" + code, ip.execution_count - 1, raw_code=body)
    tree = ip.transform_ast(ast.increment_lineno(ip.compile.ast_parse(code, filename=name), 1))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(ip.compile(tree, name, "exec"), ip.user_ns)
    if last is None:
        return None
    return eval(ip.compile(ast.Expression(last.value), name, "eval"), ip.user_ns)
