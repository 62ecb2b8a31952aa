"""The names of TensorFlow that a program uses, by its syntax: through aliases, at which lines, called with what."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# Packages that are TensorFlow to a program, with the path below it that each name stands for.
ROOTS = {"tensorflow": "", "tfnb": "", "tensorflow_core": "", "tensorflow_estimator": "estimator"}


@dataclass(frozen=True)
class Use:
    """A name of TensorFlow in a program. path: "nn.relu"; positional, keywords: of a call, else None and ()."""

    path: str
    line: int
    positional: int | None = None
    keywords: tuple[str, ...] = ()
    imported: bool = False


def uses(tree: ast.Module, roots: Mapping[str, str] = ROOTS) -> list[Use]:
    """Return the uses of the names of some packages, by default TensorFlow's, in the order of the program.

    >>> tree = ast.parse("import tensorflow as tf\\nslim = tf.contrib.slim\\nx = slim.conv2d(y, 3, kernel_size=2)")
    >>> [(use.path, use.line, use.positional, use.keywords) for use in uses(tree)]
    [('contrib.slim', 2, None, ()), ('contrib.slim.conv2d', 3, 2, ('kernel_size',))]
    """
    finder = _Finder(roots)
    finder.visit(tree)
    return sorted(finder.found, key=lambda use: use.line)


def others(tree: ast.Module) -> dict[str, int]:
    """Return the other packages that a program imports at its own level -> the line.

    What is imported within `try` may be absent.
    """
    found: dict[str, int] = {}
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            listed = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            listed = [node.module]
        else:
            continue
        for name in listed:
            if name.split(".")[0] not in ROOTS:
                found.setdefault(name, node.lineno)
    return found


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, ast.Try):
            yield node
            yield from _statements(node)


class _ClassBody(dict[str, str | None]):
    """The names of a class body, which the functions and comprehensions in it don't see."""


class _Finder(ast.NodeVisitor):
    """Follows the names that represent TensorFlow or a part of it; any statement may bind them anew."""

    def __init__(self, roots: Mapping[str, str]) -> None:
        self._roots = roots
        self.found: list[Use] = []
        self._scopes: list[dict[str, str | None]] = [{}]

    def _path(self, node: ast.AST) -> str | None:
        """Return the path of TensorFlow that an expression is, or None: "" is TensorFlow itself."""
        if isinstance(node, ast.Name):
            seen = [scope for scope in self._scopes[:-1] if not isinstance(scope, _ClassBody)]
            return next((scope[node.id] for scope in (self._scopes[-1], *reversed(seen)) if node.id in scope), None)
        if isinstance(node, ast.Attribute):
            below = self._path(node.value)
            return None if below is None else f"{below}.{node.attr}".lstrip(".")
        return None

    def visit_Import(self, node: ast.Import) -> None:
        """`import tensorflow.contrib.slim as slim`."""
        for alias in node.names:
            root, _, rest = alias.name.partition(".")
            start = self._roots.get(root)
            if start is None:
                self._bind(alias.asname or root, None)
                continue
            path = public_path(f"{start}.{rest}")
            if path:
                self.found.append(Use(path, node.lineno, imported=True))
            self._bind(alias.asname or root, path if alias.asname else start)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from tensorflow.contrib import rnn`."""
        root, _, rest = (node.module or "").partition(".")
        start = None if node.level else self._roots.get(root)
        for alias in node.names:
            path = None if start is None else public_path(f"{start}.{rest}.{alias.name}")
            if path is not None and alias.name != "*":
                self.found.append(Use(path, node.lineno, imported=True))
            self._bind(alias.asname or alias.name, path)

    def _bind(self, name: str, path: str | None) -> None:
        self._scopes[-1][name] = path

    def visit_Assign(self, node: ast.Assign) -> None:
        """`slim = tf.contrib.slim`: another name; any other value ends the old one."""
        self.visit(node.value)
        path = self._path(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name) and path is not None:
                self._bind(target.id, path)
            else:
                self.visit(target)

    def _targets_last(self, node: ast.For | ast.AsyncFor | ast.AnnAssign | ast.comprehension) -> None:
        """Visit a statement whose value is computed before it is bound."""
        value = node.value if isinstance(node, ast.AnnAssign) else node.iter
        for below in (value, *(n for n in ast.iter_child_nodes(node) if n is not value)):
            if below is not None:
                self.visit(below)

    visit_For = visit_AsyncFor = visit_AnnAssign = visit_comprehension = _targets_last

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self._scopes.append({})
        for below in (*node.generators, *(n for n in ast.iter_child_nodes(node) if n not in node.generators)):
            self.visit(below)
        self._scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """`except Error as name`."""
        if node.name:
            self._bind(node.name, None)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class, in whose body names are its own."""
        self._bind(node.name, None)
        self._scopes.append(_ClassBody())
        self.generic_visit(node)
        self._scopes.pop()

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        arguments = node.args
        for default in (*arguments.defaults, *(d for d in arguments.kw_defaults if d)):
            self.visit(default)
        for decorator in getattr(node, "decorator_list", ()):
            self.visit(decorator)
        if not isinstance(node, ast.Lambda):
            self._bind(node.name, None)
        listed = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
        self._scopes.append(dict.fromkeys([a.arg for a in listed if a]))
        for statement in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(statement)
        self._scopes.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_Call(self, node: ast.Call) -> None:
        """A call of one of TensorFlow's functions or classes, with what it is given."""
        path = self._path(node.func)
        spread = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
        if path and not spread:
            self.found.append(Use(path, node.func.end_lineno or node.lineno, len(node.args),
                                  tuple(k.arg for k in node.keywords if k.arg)))
        else:
            self.visit(node.func)
        for value in (*node.args, *(k.value for k in node.keywords)):
            self.visit(value)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A name of TensorFlow that is not called here."""
        path = self._path(node)
        if path:
            self.found.append(Use(path, node.end_lineno or node.lineno))
        elif path is None:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """A name that an import gave, by itself; bound anew it is another."""
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id, None)
        elif path := self._path(node):
            self.found.append(Use(path, node.lineno))


def public_path(path: str) -> str:
    """Return the path below `tf` of a module of TensorFlow: "compat.v1.nn" is "nn"."""
    path = ".".join(filter(None, path.split(".")))
    return path.removeprefix("compat.v1").lstrip(".") if f"{path}.".startswith("compat.v1.") else path
