"""Arguments of magics: parse a line, find what its names are in the notebook. Needs IPython.

Errors in the use of a magic are UsageError itself, which IPython shows without a traceback; subclasses are not.
"""
from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import CodeType, MappingProxyType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics
from IPython.core.magic_arguments import argument
from IPython.utils.process import arg_split  # type: ignore[attr-defined]  # public, but re-exported by the way

from tfnb.core.errors import OpError
from tfnb.core.source import PACKAGE
from tfnb.core.text import did_you_mean, names_of
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.fetch import NoSessionError, find_session, graph_of, resolve
from tfnb.notebook.ownership.hooks import Hooks
from tfnb.runtime.session import BaseSession

# The file of what stands in a magic's line: of our own, so that the place of an op made there is that line of the cell
LINE = f"{PACKAGE}the line of a magic"
# What magics that run something are given
WHAT = argument("what", nargs="+", help="expressions, without blanks or in brackets, or names of ops and tensors")
FEED = argument("--feed", nargs="+", metavar="DICT", help="what to feed: {x: batch}, or a variable with such a dict")
SESSION = argument("--session", metavar="NAME", help="the variable with the session; by default the only open one")


class LineMagics(Magics):
    """Magics whose lines name ops, expressions, feeds and sessions; the base of all classes of magics here."""

    def __init__(self, ip: Any, hooks: Hooks) -> None:
        super().__init__(ip)
        self.ip, self.hooks = ip, hooks
        for kind, table in self.magics.items():             # --help is understood by all
            for name, method in table.items():
                table[name] = _helped(method, ("%" if kind == "line" else "%%") + name)

    def _eval(self, code: str) -> Any:
        try:
            return eval(compile(code, LINE, "eval"), self.ip.user_global_ns, self.ip.user_ns)
        except SyntaxError as error:
            raise UsageError(f"{code!r} is no expression: {error.msg}") from None
        except NameError as error:
            raise UsageError(f"{error}{did_you_mean(str(error.name), self.ip.user_ns)}") from None

    def _value(self, name: str, kind: type | tuple[type, ...], what: str) -> Any:
        value = self._eval(name)
        if not isinstance(value, kind):
            raise UsageError(f"{name} is no {what} but {type(value).__name__}")
        return value

    def _fetchable(self, word: str) -> Any:
        """Return what a word represents: the op of that name if it is no Python name, the value of the expression.
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

    def _targets(self, words: list[str]) -> Any:
        """Return what to draw: None for the whole graph, what one word represents, or a list for several.

        Of several, a Python name is the tensor that it is bound to, also where a scope has that name.
        """
        if len(words) < 2:
            return self._target(words[0]) if words else None
        named = [self.ip.user_ns.get(word) for word in words]
        found = [value if fetchable(value) else self._target(word) for word, value in zip(words, named, strict=True)]
        return [item for each in found for item in (each if isinstance(each, (list, tuple)) else [each])]

    def _target(self, word: str) -> Any:
        """Return what to draw: a scope, what a Python name means, an op, or the value of the expression.

        `tf.summary.scalar("loss", loss)` makes an op of that name, which is not what `loss` means.
        """
        name, there = unquote(word), op_names()
        scope = name.rstrip("/") + "/"
        if any(op.startswith(scope) for op in there):
            return name
        if name in there and not (name.isidentifier() and fetchable(self.ip.user_ns.get(name))):
            return name
        try:
            value = self._eval(word)
        except UsageError:
            meant = did_you_mean(name, [key for key, value in self.ip.user_ns.items() if fetchable(value)])
            if meant and not did_you_mean(name, there):
                raise UsageError(f"the graph has no op or scope {name!r}{meant}") from None
            return name                                     # graph_view tells the nearest one
        return value if fetchable(value) or hasattr(value, "get_operations") or hasattr(value, "graph") else name

    def _run_arguments(self, args: Any) -> tuple[list[Any], dict[Any, Any] | None, BaseSession]:
        """Return what to run, what to feed and in which session, from `what`, `--feed` and `--session`."""
        session = self._value(args.session, BaseSession, "session") if args.session else None
        feed = self._eval(" ".join(args.feed)) if args.feed else None
        if feed is not None and not isinstance(feed, dict):
            raise UsageError(f"--feed takes a dict from tensors to values, not {type(feed).__name__}")
        wanted = [self._fetchable(word) for word in args.what]
        try:
            return wanted, feed, session or find_session(graph_of(wanted))
        except NoSessionError as error:
            raise UsageError(str(error)) from None


def _helped(magic: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A magic that tells of its options where --help stands in its line."""
    @functools.wraps(magic)
    def told(line: str, *cell: str) -> Any:
        __tracebackhide__ = True
        if {"--help", "-h"} & set(line.split()):
            print(help_of(shell.current(), name, options=True))
            return None
        return magic(line, *cell)
    return told


def help_of(ip: Any, name: str, options: bool = False) -> str:
    """The docstring of a magic ("%graph", "%%train"), with its options where those are asked for."""
    magic = ip.find_magic(name.lstrip("%"), "cell" if name.startswith("%%") else "line")
    parser = getattr(magic, "parser", None)
    doc = magic.__doc__ or ""               # of those with a parser IPython has written it anew
    if options or parser is None:
        return inspect.cleandoc(doc.removeprefix("::\n\n").replace(name[1:], name, name.startswith("%%")))
    return inspect.cleandoc(parser.description or "")


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


def parse(magic: Callable[..., Any], line: str) -> Any:
    """The arguments of a magic. Raises UsageError, with the nearest option for one that is unknown."""
    try:
        return magic.parser.parse_args(_split(line))        # type: ignore[attr-defined]
    except ValueError as error:                              # a quotation mark without its other one
        raise UsageError(f"{error} in {line!r}") from None
    except UsageError as error:
        if str(error).endswith("required: what"):
            raise UsageError("name what to run, as in `loss --feed {x: batch}`; --help tells of options") from None
        hint = _nearest(str(error), magic.parser._option_string_actions)       # type: ignore[attr-defined]
        raise UsageError(f"{error}{hint}") from None


def _nearest(problem: str, known: Mapping[str, Any]) -> str:
    """The option, or the word for one, that was meant where argparse does not know it."""
    choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", problem)
    if choice is not None:
        return did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2]), show=str)
    unknown = [word for word in problem.split() if word.startswith("--")]
    return did_you_mean(unknown[0], known, show=str) if unknown and unknown[0].rstrip(":") not in known else ""


def _split(line: str) -> list[str]:
    """The words of a line; those of a feed are one: its negative numbers are no options. So are those in brackets."""
    found: list[str] = []
    feeding = False
    for word in arg_split(line):
        if word.startswith("--"):
            feeding = False
        within = len(found) == 1 and _opens(found[0]) > 0 and not word.startswith("--")
        if within or feeding and found[-1] != "--feed":
            found[-1] += " " + word
        else:
            found.append(word)
        feeding = feeding or word == "--feed"
    return found


def _opens(word: str) -> int:
    """Count the brackets that a word opens and does not close."""
    return sum((char in "([{") - (char in ")]}") for char in word)


class usage_errors(AbstractContextManager[None]):
    """A context that turns the given errors into UsageError, with a text before their own if there is one."""

    def __init__(self, *kinds: type[Exception], before: str = "") -> None:
        self.kinds, self.before = kinds, before

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, self.kinds):
            said = error.message if isinstance(error, OpError) else \
                str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
            raise UsageError(f"{self.before}, and {said}" if self.before else said) from None


@contextmanager
def without_traces(reason: str) -> Iterator[None]:
    """Take the ops that are made inside out of the default graph again; reason: why they may not be used then."""
    graph = get_default_graph()
    before, version = graph.snapshot(), graph.version
    try:
        yield
    finally:
        if graph.version == version:
            graph.forget(before)
        else:
            graph.rollback(before, reason)


def unquote(word: str) -> str:
    """A word of a magic's line without the quotation marks around it, which IPython leaves there."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def words(parts: Any) -> str:
    """Words of a line as one text."""
    return unquote(" ".join(parts))


@dataclass(frozen=True)
class Body:
    """The compiled body of a cell magic: statements, then the expression that it ends with, if it does.

    names: that its statements assign outside of functions, in order. reads: the names that it takes from the notebook.
    """

    filename: str
    code: CodeType
    last: CodeType | None
    names: tuple[str, ...]
    reads: frozenset[str] = frozenset()

    def run(self, namespace: dict[str, Any]) -> Any:
        """Run it, and return the value of the last expression."""
        __tracebackhide__ = True
        exec(self.code, namespace)
        return eval(self.last, namespace) if self.last is not None else None


def compile_body(ip: Any, body: str, private: Mapping[str, str] = MappingProxyType({})) -> Body:
    """Compile the body of a cell magic. Line numbers are those of the whole cell, whose first line is the magic.

    private: name in the body -> the name in the notebook that it is for, unless the body assigns it.
    """
    code = ip.transform_cell(body)
    name = ip.compile.cache("\n" + code, shell.cell_number(), raw_code=body)
    tree = ip.transform_ast(ast.increment_lineno(ip.compile.ast_parse(code, filename=name), 1))
    names = tuple(dict.fromkeys(_assigned(tree)))
    reads, stored = names_of(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in private and node.id not in stored:
            node.id = private[node.id]
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = ip.compile(ast.Expression(last.value), name, "eval") if last is not None else None
    return Body(name, ip.compile(tree, name, "exec"), value, names, frozenset(reads))


def _assigned(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp,
                                   ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            yield from _assigned(node)


def run_body(ip: Any, body: str) -> Any:
    """Run the body of a cell magic in the notebook's namespace and return the value of its last expression."""
    __tracebackhide__ = True
    return compile_body(ip, body).run(ip.user_ns)
