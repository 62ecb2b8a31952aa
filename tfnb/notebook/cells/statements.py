"""Data flow between cells by Python names: which names the text of a cell sets and takes, and by which statements."""
from __future__ import annotations

import ast
import dis
import symtable
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

LOADS = frozenset({"LOAD_NAME", "LOAD_GLOBAL"})


MAGICS = {"%%train", "%%graph", "%%time", "%%capture", "%%prun"}        # whose bodies set names of the notebook
INLINE = frozenset({"lambda", "genexpr", "listcomp", "setcomp", "dictcomp"})


class Text:
    """The text of a cell, in plain Python. sets: names that it binds; reads: names that it takes from outside; uses:
    all names that it takes, for the functions among them.

    A name that the cell binds anywhere is none that it reads. What its functions read counts where they are called.
    Raises SyntaxError.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        top = symtable.symtable(source, "cell", "exec")
        symbols = [symbol for table in _tables(top) for symbol in table.get_symbols()
                   if table is top or symbol.is_global()]
        self.sets = frozenset(s.get_name() for s in symbols if s.is_assigned() or s.is_imported())
        self.uses = frozenset(s.get_name() for s in symbols if s.is_referenced())
        self.reads = self.uses - self.sets
        self._parts: list[tuple[set[str], set[str], str]] | None = None

    def recipe(self, name: str) -> tuple[str, frozenset[str]]:
        """Return the statements that make a name of the cell, without comments, and the outside names they take."""
        if self._parts is None:
            self._parts = [_names(statement) for statement in ast.parse(self._source).body]
        wanted, taken = {name}, set[int]()
        while new := [i for i, (stores, _, _) in enumerate(self._parts) if i not in taken and stores & wanted]:
            taken.update(new)
            for i in new:
                wanted |= self._parts[i][1]
        return "\n".join(self._parts[i][2] for i in sorted(taken)), frozenset(wanted) & self.reads


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """A scope, and those in it that run with it: of classes, comprehensions and lambdas."""
    yield table
    for child in table.get_children():
        if child.get_type() == "class" or child.get_name() in INLINE:
            yield from _tables(child)


def _names(statement: ast.stmt) -> tuple[set[str], set[str], str]:
    """The names that a statement stores and loads, and what it does, written out."""
    stores, loads = set[str](), set[str]()
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                loads.add(name)
            case ast.Name(id=name):
                stores.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                stores.add(name)
            case ast.alias(name=name, asname=other):
                stores.add(other or name.partition(".")[0])
    return stores, loads, ast.dump(statement)


def global_reads(names: Iterable[str], namespace: Mapping[str, Any]) -> set[str]:
    """Return these names, and those that the notebook's functions among them take from outside."""
    found, todo = set[str](), list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            value = namespace.get(name)
            value = getattr(value, "__wrapped__", value)
            if isinstance(value, FunctionType) and value.__module__ == "__main__":
                todo += taken(value.__code__)
    return found


@lru_cache(1024)
def taken(code: CodeType) -> frozenset[str]:
    """Return the global names that code, with its comprehensions and lambdas, reads. It takes 2 us an instruction."""
    inner = [taken(part) for part in code.co_consts if isinstance(part, CodeType) and part.co_name.startswith("<")]
    return frozenset(step.argval for step in dis.get_instructions(code) if step.opname in LOADS).union(*inner)


def python_of(cell: str, plain: Callable[[str], str]) -> str:
    """Return a cell in plain Python: of one with a magic that runs it in the notebook its body, of others nothing."""
    if not cell.lstrip().startswith("%%"):
        return str(plain(cell))
    magic, _, body = cell.lstrip().partition("\n")
    return str(plain(body)) if magic.split()[0] in MAGICS else ""


def text_of(cell: str, plain: Callable[[str], str]) -> Text | None:
    """The data flow of a cell, or of the body of a magic that runs it in the notebook; None for what is no Python.

    plain: makes Python of IPython's syntax.
    """
    try:
        return Text(python_of(cell, plain))
    except (SyntaxError, ValueError):
        return None
