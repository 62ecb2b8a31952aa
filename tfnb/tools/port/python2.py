"""Programs of Python 2: the lines that tell it, and a tree that computes in Python 3 what they computed there."""
from __future__ import annotations

import ast
import copy
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from difflib import SequenceMatcher
from functools import cache
from math import isfinite
from numbers import Integral
from typing import Any

from tfnb.core.dimension import Dimension
from tfnb.core.lazy import lazy_module

_refactor = lazy_module("fissix.refactor")
_NAMES = frozenset("xrange raw_input unicode unichr long basestring execfile reduce reload cmp file".split())
_METHODS = frozenset("iteritems itervalues iterkeys has_key".split())
_MODULES = frozenset("cPickle cStringIO StringIO urllib2 urlparse Queue ConfigParser Tkinter HTMLParser httplib "
                     "commands".split())
_PRINT = re.compile(r"""^\s*print(\s*>>|\s+["'\[%\w-]|\s*$)""", re.MULTILINE)
_SYNTAX = re.compile(r"""^\s*except\s[^:\n]+,\s*\w+\s*:|^\s*exec\s+["'\w]
    |^\s*raise\s+\w[\w.]*\s*,|<>|`\w+`|\b\d+[lL]\b|\bur["']|^\s*def\s+\w+\(.*\(\w+\s*,""", re.MULTILINE | re.VERBOSE)
# Fixers that only change the style, that would turn a script's imports of its neighbours into those of a package
# ("import"), or that wrap what is a program's own ("buffer", "intern", "sorted").
_LEFT_OUT = frozenset("asserts buffer idioms import intern set_literal sorted ws_comma".split())
_FOR_BOTH = frozenset(("six", "future", "past", "builtins"))       # packages by which a program runs on Python 2 and 3
DIVIDE, DIVIDE_IN_PLACE = "__tfnb_divide__", "__tfnb_divide_in_place__"        # which no class renames


def marks(text: str) -> list[tuple[int, str]]:
    """Return (line, what) of what tells Python 2; of none the text is Python 3, or no Python at all.

    >>> marks("print 'old'\\n")
    [(1, "print 'old'")]
    >>> marks("print('new')\\n")
    []
    """
    lines = text.split("\n")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        line = min(error.lineno or 1, len(lines))
        return [(line, lines[line - 1].strip())] if _is_python2(text) else []
    if any(_guards(node) or _is_python3(node) for node in ast.walk(tree)):
        return []                                  # written for both, or for Python 3 alone
    bound = _bound(tree)
    tried = {id(below) for node in ast.walk(tree) if isinstance(node, ast.Try) for below in ast.walk(node)}
    told = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr) and _tells(node, bound)
            and not (isinstance(node, ast.Import | ast.ImportFrom) and id(node) in tried)]
    return [(line, lines[line - 1].strip()) for line in sorted(set(told))]


def _is_python2(text: str) -> bool:
    """Return whether a text that Python 3 can't parse is Python 2, and not a broken program of Python 3."""
    return bool(_PRINT.search(text) or _SYNTAX.search(text) or "\t" in text)


def _guards(node: ast.AST) -> bool:
    """Return whether a program asks by itself which Python it runs on, or imports what makes both alike."""
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in _FOR_BOTH for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0] in _FOR_BOTH
    return isinstance(node, ast.Attribute) and node.attr in ("version_info", "PY2", "PY3", "python_version")


def _is_python3(node: ast.AST) -> bool:
    """Return whether a node is syntax that no Python 2 has."""
    if isinstance(node, ast.JoinedStr | ast.AnnAssign | ast.Nonlocal | ast.YieldFrom | ast.AsyncFunctionDef
                  | ast.MatMult):
        return True
    if isinstance(node, ast.FunctionDef):
        return node.returns is not None or bool(node.args.kwonlyargs)
    return isinstance(node, ast.arg) and node.annotation is not None


def _bound(tree: ast.AST) -> set[str]:
    """Return the names that the program binds anywhere, which are its own."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((a.asname or a.name).split(".")[0] for a in node.names)
    return names


def _tells(node: ast.AST, bound: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _NAMES and node.id not in bound
    if _is_print(node):
        return True
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and not node.keywords
    if isinstance(node, ast.Import):
        return any(a.name in _MODULES for a in node.names)
    return isinstance(node, ast.ImportFrom) and node.module in _MODULES and not node.level


def _is_print(node: ast.AST) -> bool:
    """Return whether a node is `print`, or `print >>file, text`, which Python 3 parses too."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.RShift) and isinstance(node.left, ast.Name) and node.left.id == "print"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Name) and node.value.id == "print"


@cache
def _tool(print_function: bool) -> Any:
    try:
        fixers = _refactor.get_fixers_from_package("fissix.fixes")
    except ImportError:
        raise ImportError("programs of Python 2 are translated by fissix: pip install 'tfnb[python2]'",
                          name="fissix") from None
    chosen = [f for f in fixers if f.rpartition(".fix_")[2] not in _LEFT_OUT]
    return _refactor.RefactoringTool(chosen, {"print_function": print_function})


def translate(text: str, name: str) -> str:
    """Return the program in Python 3's syntax and names, line by line. Raises SyntaxError if it is no Python 2.

    `print(a, b)` prints two values, and no tuple, in programs that have no statement `print`.
    """
    try:
        return str(_tool(not _has_print_statement(text)).refactor_string(_indented(text) + "\n", name))
    except ImportError:
        raise
    except Exception as error:                     # fissix's parser has errors of its own, and asserts
        raise SyntaxError(f"this is neither Python 3 nor Python 2: {error}", (name, 1, 1, "")) from error


def _indented(text: str) -> str:
    """Return the text with spaces for the tabs that lines begin with, eight columns each, as Python 2 took them."""
    return re.sub(r"^[ \t]+", lambda found: found[0].expandtabs(8), text, flags=re.MULTILINE)


def _has_print_statement(text: str) -> bool:
    try:
        return any(_is_print(node) for node in ast.walk(ast.parse(text)))
    except SyntaxError:
        return _PRINT.search(text) is not None


def parse(text: str, name: str) -> ast.Module:
    """Return the tree of a program of Python 2, which computes as Python 2 did.

    `/` of two integers (or arrays, or tensors) is an integer, unless the program imports `division`; pickles are read
    as Python 2's. Raises SyntaxError if it is no Python 2, ImportError without fissix.

    >>> exec(compile(parse("half = 7 / 2", "old.py"), "old.py", "exec"), found := helpers())
    >>> found["half"]
    3
    """
    translated = translate(text, name)
    tree = ast.parse(translated, name)
    _restore_lines(tree, text.split("\n"), translated.split("\n"))
    return semantics(text).visit(tree)             # type: ignore[no-any-return]


def _restore_lines(tree: ast.Module, old: list[str], new: list[str]) -> None:
    """Give nodes the lines of the program where the translation has inserted some, imports of what moved."""
    if len(new) == len(old) + 1:                   # `translate` adds an empty one
        return
    lines: list[int] = []
    for _, i, end, j, until in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        lines += [min(i + k, max(i, end - 1)) + 1 for k in range(until - j)]
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr | ast.arg | ast.keyword | ast.alias | ast.excepthandler):
            node.lineno, node.end_lineno = lines[node.lineno - 1], lines[(node.end_lineno or node.lineno) - 1]


def semantics(text: str) -> ast.NodeTransformer:
    """Return what makes the translated trees of a program, or of its cells, compute as Python 2 did."""
    true_division = re.search(r"^\s*from\s+__future__\s+import\s.*\bdivision\b", text, re.MULTILINE) is not None
    return _Semantics(not true_division)


def helpers() -> dict[str, Any]:
    """Return the names that a tree of `parse` needs among its globals."""
    return {DIVIDE: divide, DIVIDE_IN_PLACE: divide_in_place, "file": open, "cmp": compare, "round": rounded}


class _Semantics(ast.NodeTransformer):
    """Replaces what Python 3 would compute otherwise."""

    def __init__(self, whole: bool) -> None:
        self._whole = whole
        self._unpickle = {"pickle.load", "pickle.loads"}            # the names that the program has for them

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """The tree, with a line for all that is new in it."""
        self.generic_visit(node)
        return ast.fix_missing_locations(node)

    def visit_Import(self, node: ast.Import) -> ast.AST:
        """`import pickle as p`."""
        for alias in node.names:
            if alias.name == "pickle" and alias.asname:
                self._unpickle |= {f"{alias.asname}.load", f"{alias.asname}.loads"}
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """`from pickle import load`."""
        if node.module == "pickle":
            self._unpickle |= {alias.asname or alias.name for alias in node.names if alias.name in ("load", "loads")}
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`a / b`."""
        self.generic_visit(node)
        if not (self._whole and isinstance(node.op, ast.Div)):
            return node
        return ast.copy_location(_call(DIVIDE, node.left, node.right), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`a /= b`."""
        self.generic_visit(node)
        if not (self._whole and isinstance(node.op, ast.Div)):
            return node
        read = copy.deepcopy(node.target)
        read.ctx = ast.Load()
        return ast.copy_location(ast.Assign([node.target], _call(DIVIDE_IN_PLACE, read, node.value)), node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """`sys.setdefaultencoding(...)`, which Python 3 does not have or need."""
        self.generic_visit(node)
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "sys.setdefaultencoding":
            return ast.copy_location(ast.Pass(), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`pickle.load(file)` of files that Python 2 wrote: strings of bytes, arrays among them."""
        self.generic_visit(node)
        if ast.unparse(node.func) in self._unpickle and len(node.args) == 1 and not node.keywords:
            node.keywords.append(ast.keyword("encoding", ast.Constant("latin-1")))
        return node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _whole(value: Any) -> bool:
    if isinstance(value, Integral | Dimension):
        return True
    dtype = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", None)            # an array's
    return kind in ("i", "u") if kind else bool(getattr(dtype, "is_integer", False))


def divide(a: Any, b: Any) -> Any:
    """Return `a / b` as Python 2 did: rounded down if both are integers, or arrays or tensors of them.

    Classes of the program say what it is by `__div__` and `__rdiv__`.
    """
    if _whole(a) and _whole(b):
        return a // b
    found = _said(a, "__div__", b)
    found = _said(b, "__rdiv__", a) if found is NotImplemented else found
    return a / b if found is NotImplemented else found


def _said(value: Any, method: str, other: Any) -> Any:
    """Return what a method of the value's class returns, NotImplemented if it has none."""
    return getattr(value, method)(other) if hasattr(type(value), method) else NotImplemented


def compare(a: Any, b: Any) -> int:
    """Return -1, 0 or 1, as Python 2's `cmp`."""
    return int(a > b) - int(a < b)


def rounded(number: Any, ndigits: int = 0) -> float:
    """Return a float, as Python 2's `round`: a half goes away from zero."""
    value = float(number)
    if not isfinite(value):
        return value
    return float(Decimal(value).quantize(Decimal(1).scaleb(-ndigits), ROUND_HALF_UP, Context(prec=800)))


def divide_in_place(a: Any, b: Any) -> Any:
    """Return what `a` is after `a /= b` in Python 2."""
    found = _said(a, "__idiv__", b)
    if found is not NotImplemented:
        return found
    if _whole(a) and _whole(b):
        a //= b
    elif hasattr(type(a), "__div__") or hasattr(type(b), "__rdiv__"):
        a = divide(a, b)
    else:
        a /= b
    return a
