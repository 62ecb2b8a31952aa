"""Definition of a kernel function: its source as an AST, the kinds of its parameters, errors that name a line."""
from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any, Literal

ParameterKind = Literal["array", "int", "float", "ints", "static", "type", "one"]

_KINDS: dict[str, ParameterKind] = {"Array": "array", "int": "int", "float": "float", "Ints": "ints",
                                    "Static": "static", "Type": "type", "MaybeOne": "one"}


class KernelSyntaxError(SyntaxError):
    """A kernel function that uses what is not allowed: names the file (or cell), the line and the function."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter and what it takes: see kernels/functions/language.py."""

    name: str
    kind: ParameterKind


@dataclass
class Definition:
    """A function and its source, which is read when it is first asked for."""

    fn: FunctionType

    @cached_property
    def node(self) -> ast.FunctionDef:
        """The function's AST, its lines numbered as in its file. Raises KernelSyntaxError if there is no source."""
        code = self.fn.__code__
        try:
            lines = inspect.getsource(self.fn)
        except (OSError, TypeError) as error:
            raise KernelSyntaxError(f"{self.name}: expected a function whose source is in a file or a cell, got one of "
                                    f"{code.co_filename!r}, line {code.co_firstlineno}: {error}") from error
        tree = ast.parse(textwrap.dedent(lines)).body[0]
        ast.increment_lineno(tree, code.co_firstlineno - 1)
        if not isinstance(tree, ast.FunctionDef):
            raise self.error(tree, "expected a function made by `def`")
        return tree

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.fn.__name__

    @cached_property
    def doc(self) -> str:
        """The first line of its docstring, or ""."""
        return (inspect.getdoc(self.fn) or "").partition("\n")[0]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters, in order. Raises KernelSyntaxError for other annotations and for defaults."""
        args = self.node.args
        if args.vararg or args.kwarg or args.defaults or args.kw_defaults or args.posonlyargs:
            raise self.error(self.node, "expected plain parameters, got defaults, `*` or `/`")
        return tuple(Parameter(arg.arg, self._kind(arg)) for arg in args.args)

    def _kind(self, arg: ast.arg) -> ParameterKind:
        note = arg.annotation
        if isinstance(note, ast.Constant) and isinstance(note.value, str):
            note = ast.parse(note.value, mode="eval").body
        name = note.attr if isinstance(note, ast.Attribute) else note.id if isinstance(note, ast.Name) else None
        if name not in _KINDS:
            got = "none" if arg.annotation is None else ast.unparse(arg.annotation)
            raise self.error(arg, f"expected an annotation of parameter `{arg.arg}`, one of {', '.join(_KINDS)}; "
                                  f"got {got}")
        return _KINDS[name]

    def error(self, node: ast.AST, what: str) -> KernelSyntaxError:
        """Build the error for a node of this function."""
        file, line = self.fn.__code__.co_filename, getattr(node, "lineno", self.fn.__code__.co_firstlineno)
        text = ast.unparse(node).partition("\n")[0] if isinstance(node, (ast.stmt, ast.expr)) else None
        return KernelSyntaxError(f"kernel function {self.name!r}, line {line}: {what}", (file, line, None, text))

    def lookup(self, name: str) -> Any:
        """Return what a name of the function's module (or of the functions around it) is. Raises KeyError."""
        code = self.fn.__code__
        if name in code.co_freevars:
            assert self.fn.__closure__ is not None
            return self.fn.__closure__[code.co_freevars.index(name)].cell_contents
        return self.fn.__globals__[name]


def definition_of(value: Any) -> Definition | None:
    """Return the definition of a function or of what `kernel_function` made of one; None for anything else."""
    found = getattr(value, "definition", None)
    if isinstance(found, Definition):
        return found
    return Definition(value) if isinstance(value, FunctionType) else None


Function = Callable[..., Any]
