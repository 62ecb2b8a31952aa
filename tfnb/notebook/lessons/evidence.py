"""Evidence that recognisers judge: the code that ran as a syntax tree, what its names mean, the error if there is one.

Nothing of the user's is called: names, attributes and entries are looked up in namespaces of plain objects only.
"""
from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tfnb.core.source import PACKAGE
from tfnb.graph.parts.collection import op_of
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.python_names import is_ours, user_namespaces
from tfnb.notebook.debug.tracebacks import LIBRARIES, frames_of
from tfnb.notebook.frontend.locations import parsed

UNKNOWN = object()              # what an expression is whose value can't be looked up
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
MODULES = ("tfnb", "tensorflow", "numpy", "random", "time", "datetime")


@dataclass
class Evidence:
    """A cell that has run, or the user's code where it failed.

    tree: the code; names: what its names mean now; made: the ops that it made; shadowed: name -> (the tensor that it
    was, the place that gave it another value); error: None if all went well; line: where in `tree` it failed.
    """

    tree: ast.Module
    names: Mapping[str, Any]
    made: list[Operation] = field(default_factory=list)
    shadowed: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    error: BaseException | None = None
    line: int = 0

    @cached_property
    def said(self) -> str:
        """The text of the error, without what an error of the runtime appends to its message."""
        return str(getattr(self.error, "_message", None) or (self.error.args[0] if self.error and self.error.args
                                                             else ""))

    @cached_property
    def calls(self) -> list[ast.Call]:
        """The calls of the code that ran in the cell itself, not those inside of functions that it defines."""
        return [node for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The nodes of the code, without those inside of functions and classes."""
        return list(walk(self.tree))

    @cached_property
    def statement(self) -> ast.stmt | None:
        """The innermost statement that contains the line of the error."""
        found = None
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt) and node.lineno <= self.line <= (node.end_lineno or 0) and (
                    found is None or node.lineno >= found.lineno):
                found = node
        return found

    @cached_property
    def tf(self) -> str:
        """The name that the program gave to tfnb."""
        return next((name for name, value in self.names.items() if type(value) is ModuleType
                     and value.__name__ in ("tfnb", "tensorflow") and name.isidentifier()), "tf")

    def value(self, node: ast.AST | None) -> Any:
        """Return the value of an expression of names, attributes and entries; UNKNOWN for anything else."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.names.get(node.id, UNKNOWN)
        if isinstance(node, ast.Attribute):
            held = self.value(node.value)
            return held.T if type(held) is np.ndarray and node.attr == "T" else _attribute(held, node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            held = self.value(node.value)
            if type(held) is dict:
                return held.get(node.slice.value, UNKNOWN)
            if type(held) in (list, tuple, np.ndarray) and type(node.slice.value) is int:
                return held[node.slice.value] if node.slice.value < len(held) else UNKNOWN
        return UNKNOWN

    def function(self, call: ast.AST) -> str:
        """Return the name of a function of tfnb, NumPy or Python that is called: "train.Saver", "np.random.rand".

        "" for the user's own.
        """
        parts: list[str] = []
        node = call.func if isinstance(call, ast.Call) else call
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        held = self.names.get(node.id) if isinstance(node, ast.Name) else None
        home = vars(held).get("__name__", "") if held is not None and issubclass(type(held), ModuleType) else ""
        if not parts or home.partition(".")[0] not in MODULES:
            return ""
        start = "" if home in ("tfnb", "tensorflow") or home.startswith("tfnb.compat") else home + "."
        return start + ".".join(reversed(parts))

    def element(self, node: ast.AST | None) -> Tensor | Operation | None:
        """Return the tensor or op that an expression is: of a variable, its op."""
        return element(self.value(node))

    def session(self, call: ast.Call) -> ast.expr | None:
        """Return the expression of the session that a call runs, `sess` of `sess.run(...)`, else None."""
        func = call.func
        return func.value if isinstance(func, ast.Attribute) and func.attr == "run" \
            and is_session(self.value(func.value)) else None

    def fetched(self, call: ast.Call) -> list[ast.expr]:
        """Return what a call runs, expression by expression: of `sess.run([a, b])`, `a.eval()` and `op.run()`."""
        func = call.func
        if self.session(call) is not None:
            first = call.args[0] if call.args else keyword(call, "fetches")
            return list(first.elts) if isinstance(first, (ast.List, ast.Tuple)) else [first] if first else []
        if isinstance(func, ast.Attribute) and func.attr in ("eval", "run") and self.element(func.value) is not None:
            return [func.value]
        return []

    def runs(self) -> list[ast.Call]:
        """Return the calls that run something in a session."""
        return [call for call in self.calls if self.fetched(call)]


def after_cell(tree: ast.Module, names: Mapping[str, Any], **more: Any) -> Evidence:
    """Return the evidence of a cell that ran to its end."""
    return Evidence(tree, names, **more)


def after_error(error: BaseException, **more: Any) -> Evidence | None:
    """Return the evidence of the user's innermost frame that an error passed; None where its code is not known."""
    for part in reversed(list(frames_of(error.__traceback__))):
        frame = part.tb_frame
        tree = tree_of(frame.f_code) if not frame.f_code.co_filename.startswith(LIBRARIES) else None
        if tree is not None:
            return Evidence(tree, user_namespaces([frame])[0], error=error, line=part.tb_lineno, **more)
    return None


def tree_of(code: CodeType) -> ast.Module | None:
    """Return the syntax tree of the user's file or cell that a code object is of; None where there is no source."""
    return None if code.co_filename.startswith(PACKAGE) else parsed(code.co_filename)


def definition(function: Any) -> ast.AST | None:
    """Return the syntax tree of a function of the user's; None for any other."""
    code = function.__code__ if type(function) is FunctionType else None
    tree = tree_of(code) if code is not None else None
    if tree is None or code is None:
        return None
    return next((node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))
                 and node.lineno <= code.co_firstlineno <= (node.end_lineno or 0)
                 and getattr(node, "name", "<lambda>") == code.co_name), None)


def element(value: Any) -> Tensor | Operation | None:
    """Return the tensor or op that a value is: of a variable, its op; None for anything else."""
    return value if type(value) in (Tensor, Operation) else op_of(value) if is_ours(value) else None


def is_session(value: Any) -> bool:
    """Return whether a value runs graphs: a session, or one of those that wrap it."""
    return is_ours(value) and hasattr(type(value), "run") and element(value) is None


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Return the nodes below a node in order of the code, without those inside of functions and classes."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, SCOPES):
            yield child
            yield from walk(child)


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """Return the argument of that name."""
    return next((each.value for each in call.keywords if each.arg == name), None)


def names_below(node: ast.AST) -> list[ast.Name]:
    """Return the names that stand in an expression or statement."""
    return [each for each in ast.walk(node) if isinstance(each, ast.Name)]


def dicts_below(node: ast.AST) -> list[ast.Dict]:
    """Return the dicts that are written in an expression or statement, such as feeds."""
    return [each for each in ast.walk(node) if isinstance(each, ast.Dict)]


def _attribute(held: Any, name: str) -> Any:
    """The attribute of a module of tfnb or NumPy, or of a plain object of the user's."""
    if issubclass(type(held), ModuleType):
        return vars(held).get(name, UNKNOWN)
    try:
        return object.__getattribute__(held, "__dict__").get(name, UNKNOWN)
    except AttributeError:
        return UNKNOWN
