"""Mutation points of a module: each place of a function where a small fault can be planted, and the text with it."""
from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd}
SMALL = 100                                             # constants up to here are changed by one
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Text of types, names and messages, not of what is computed. Places in f-strings are known from Python 3.12 on only.
SKIPPED = (ast.JoinedStr, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """One planted fault. `key` names it by function and change, so that it outlives edits elsewhere in the file."""

    path: str
    function: str
    line: int                                           # of the file
    offset: int                                         # from the function's first line
    kind: str
    before: str
    after: str
    occurrence: int                                     # among equal changes of the function, from 1
    place: tuple[int, int]                              # in the bytes of the module
    new: str                                            # what stands there then

    @property
    def key(self) -> str:
        again = f" #{self.occurrence}" if self.occurrence > 1 else ""
        return f"{self.path} {self.function}: {self.before} -> {self.after}{again}"

    def planted(self, text: str) -> str:
        """Return the module's text with the fault."""
        data, (begin, end) = text.encode(), self.place
        return (data[:begin] + self.new.encode() + data[end:]).decode()

    def rank(self, seed: int) -> str:
        """Return a pseudo-random text to sort by: the order of the others doesn't change when one is added."""
        return hashlib.sha256(f"{seed} {self.key}".encode()).hexdigest()


def mutants(path: str, text: str) -> list[Mutant]:
    """Return every mutant of a module, in the order of its text."""
    counted: dict[tuple[str, str, str], int] = {}
    found = []
    starts, places = _line_starts(text), functions_of_lines(text)
    for function, parent, node, kind, other in _points(ast.parse(text)):
        before, after = _named(parent, node, other)
        counted[function, before, after] = occurrence = counted.get((function, before, after), 0) + 1
        begin = starts[node.lineno - 1] + node.col_offset
        assert node.end_lineno is not None and node.end_col_offset is not None
        end = starts[node.end_lineno - 1] + node.end_col_offset
        new = ast.unparse(other) if isinstance(other, ast.stmt) else f"({ast.unparse(other)})"
        offset = places.get(node.lineno, ("", 0))[1]
        found.append(Mutant(path, function, node.lineno, offset, kind, before, after, occurrence, (begin, end), new))
    return found


def functions_of_lines(text: str) -> dict[int, tuple[str, int]]:
    """Map each line inside a function to (qualified name of the innermost one, offset from its first line)."""
    places: dict[int, tuple[str, int]] = {}

    def enter(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = prefix
            if isinstance(child, (*FUNCTIONS, ast.ClassDef)):
                name = f"{prefix}.{child.name}" if prefix else child.name
            if isinstance(child, FUNCTIONS):
                for line in range(child.lineno, (child.end_lineno or child.lineno) + 1):
                    places[line] = name, line - child.lineno
            enter(child, name)

    enter(ast.parse(text), "")
    return places


def _points(tree: ast.Module) -> Iterator[tuple[str, ast.AST, ast.expr | ast.stmt, str, ast.expr | ast.stmt]]:
    """Yield (function, parent, node, kind of change, changed node) of all points."""
    def enter(node: ast.AST, parent: ast.AST, function: str, inside: bool) -> Iterator[
            tuple[str, ast.AST, ast.expr | ast.stmt, str, ast.expr | ast.stmt]]:
        if isinstance(node, SKIPPED) or isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
            for sizes in ast.walk(node):
                sizes.unknown_size = True               # type: ignore[attr-defined]  # NumPy takes -2 as -1 there
        for default in [*node.defaults, *node.kw_defaults] if isinstance(node, ast.arguments) else ():
            for part in ast.walk(default) if default is not None else ():
                part.of_default = True                  # type: ignore[attr-defined]
        if inside and isinstance(node, (ast.expr, ast.stmt)):
            for kind, other in _changes(node, parent):
                yield function, parent, node, kind, other
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            function = f"{function}.{node.name}" if function else node.name
            inside = isinstance(node, FUNCTIONS)
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "bases", "keywords") and not isinstance(
                    node, ast.Call):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from enter(child, node, function, inside)

    return enter(tree, tree, "", False)


def _changes(node: ast.expr | ast.stmt, parent: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    if isinstance(node, ast.Compare):
        for index, op in enumerate(node.ops):
            yield "comparison", _with(node, ops=[*node.ops[:index], COMPARISONS[type(op)](), *node.ops[index + 1:]])
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not _is_text(node.left, node.right):
        yield "operator", _with(node, op=OPERATORS[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield "operator", _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield ("condition" if isinstance(node.op, ast.Not) else "operator"), node.operand
    elif isinstance(node, ast.Constant) and not (isinstance(parent, ast.keyword) and parent.arg == "strict"):
        kind = "default" if hasattr(node, "of_default") else "constant"
        yield from ((kind, ast.Constant(value)) for value in _other_constants(node.value)
                    if not (value == 2 and isinstance(parent, ast.UnaryOp) and hasattr(parent, "unknown_size")))
    elif isinstance(node, ast.Return) and node.value is not None and not _is_nothing(node.value):
        yield "return", ast.Return(ast.Constant(None))
    if _is_condition(node, parent):
        assert isinstance(node, ast.expr)
        yield "condition", ast.UnaryOp(ast.Not(), node)


def _is_condition(node: ast.AST, parent: ast.AST) -> bool:
    """Return whether this is a test to negate: comparisons and `not` have changes of their own that do the same."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return False
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and not isinstance(
            node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return False
    return (isinstance(parent, (ast.If, ast.IfExp, ast.While)) and node is parent.test
            or isinstance(parent, ast.comprehension) and node in parent.ifs)


def _other_constants(value: object) -> list[bool | int | float]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int) and abs(value) <= SMALL:
        return [value + 1, value - 1] if value > 0 else [value + 1]
    return [value + 1] if isinstance(value, float) and abs(value) <= SMALL else []


def _is_text(*nodes: ast.expr) -> bool:
    return any(isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), (str, bytes))
               for node in nodes)


def _is_nothing(node: ast.expr) -> bool:
    """Return whether dropping this value changes little: who asks for False takes None as well."""
    return isinstance(node, ast.Constant) and (node.value is None or node.value is False)


def _with(node: ast.expr, **fields: object) -> ast.expr:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _named(parent: ast.AST, node: ast.expr | ast.stmt, other: ast.expr | ast.stmt) -> tuple[str, str]:
    """Return the change in words: with its surroundings, where the node alone says little."""
    if isinstance(parent, ast.arguments):
        name = _argument(parent, node)
        return f"{name}={_one_line(node)}", f"{name}={_one_line(other)}"
    if isinstance(parent, (ast.expr, ast.keyword, ast.Return, ast.Assign, ast.AugAssign)):
        return _one_line(parent), _one_line(_swapped(parent, node, other))
    return _one_line(node), _one_line(other)


def _argument(arguments: ast.arguments, default: ast.AST) -> str:
    """Return the name of the argument that has this default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults), strict=False),
             *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return next(argument.arg for argument, found in pairs if found is default)


def _swapped(parent: ast.AST, node: ast.AST, other: ast.AST) -> ast.AST:
    changed = copy.copy(parent)
    for field, value in ast.iter_fields(parent):
        if value is node:
            setattr(changed, field, other)
        elif isinstance(value, list) and any(item is node for item in value):
            setattr(changed, field, [other if item is node else item for item in value])
    return changed


def _one_line(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _line_starts(text: str) -> list[int]:
    """Return the byte offset of each line."""
    starts = [0]
    for line in text.encode().split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts
