"""Every symbol of the five reference documents exists here and takes the documented arguments.

`docs/reference_status.md` is the table that says so; TFNB_WRITE_DOCS=1 in the environment of this test writes it.
tests/data/reference_symbols.tsv holds the names, with their arguments or values and the documents they are from.
"""
from __future__ import annotations

import ast
import inspect
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tfnb

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference_status.md"
DOCUMENTS = {"graph_keys": "GraphKeys (r1.14)", "graph_r2.0": "Graph (r2.0)", "graph_r2.4": "Graph (r2.4)",
             "variables": "Variables (0.x)", "training": "Training (0.x)"}
INTRODUCTION = """# The reference documents, symbol by symbol

Written by `tests/test_reference_status.py`, which looks each symbol up in the package and binds the documented
arguments to it. "By name": release 1.15 has other arguments in between, so those that are optional must be given by
name. What the symbols do is tested in `tests/graph/`, `tests/ops/`, `tests/train/` and `tests/summary/`.
"""


class Symbol(NamedTuple):
    """name: "tf.Graph.device"; documented: "(x, y=None)", a value, or nothing."""

    name: str
    documented: str
    documents: tuple[str, ...]

    @property
    def is_function(self) -> bool:
        return self.documented.startswith("(")


def symbols() -> list[Symbol]:
    lines = (ROOT / "tests" / "data" / "reference_symbols.tsv").read_text().splitlines()[1:]
    return [Symbol(name, documented, tuple(documents.split())) for name, documented, documents
            in (line.split("\t") for line in lines)]


def found(name: str) -> Any:
    """What the package has under a dotted name. Raises AttributeError."""
    value: Any = tfnb
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def parameters(documented: str) -> list[tuple[str, bool]]:
    """(name, has it a default?) of each documented argument; without those in stars."""
    arguments = ast.parse(f"def f{documented}: pass").body[0].args
    names = [argument.arg for argument in arguments.args]
    first_default = len(names) - len(arguments.defaults)
    return [(name, i >= first_default) for i, name in enumerate(names)]


def stands_at(function: Any, index: int, name: str) -> bool:
    """Can the argument `name` be given as number `index`, without its name?"""
    ours = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    if any(p.kind is p.VAR_POSITIONAL for p in ours):
        return True
    return len(ours) > index and ours[index].name == name and ours[index].kind is not ours[index].KEYWORD_ONLY


def bound(symbol: Symbol) -> str:
    """How the documented arguments can be given: "done", or what is in the way."""
    function = found(symbol.name)
    names = parameters(symbol.documented)
    if inspect.isclass(function) and names and names[0][0] == "shape":
        function = function.__call__        # TensorFlow 0.x had a function of a shape where there is an initializer now
    takes_self = inspect.isfunction(function) and list(inspect.signature(function).parameters)[:1] == ["self"]
    needed = ([None] if takes_self else []) + [None for name, optional in names if not optional]
    try:
        inspect.signature(function).bind(*needed, **{name: None for name, optional in names if optional})
    except TypeError as error:
        return f"does not take the documented arguments: {error}"
    fits = all(stands_at(function, i, name) for i, (name, optional) in enumerate(names) if optional)
    return "done" if fits else "done (by name)"


def state(symbol: Symbol) -> str:
    """What the table says of a symbol; it begins with "done" if all is well."""
    try:
        value = found(symbol.name)
    except AttributeError:
        return "missing"
    if symbol.is_function:
        return bound(symbol)
    if symbol.documented and value != ast.literal_eval(symbol.documented):
        return f"is {value!r}"
    return "done"


def page() -> str:
    parts = [INTRODUCTION]
    for key, title in DOCUMENTS.items():
        rows = [s for s in symbols() if key in s.documents]
        if key == "graph_r2.4" and all("graph_r2.0" in s.documents for s in rows):
            parts.append(f"## {title}\n\nThe same {len(rows)} symbols as in r2.0.\n")
            continue
        lines = [f"| `{s.name}{s.documented if s.is_function else ''}`"
                 f"{f' = `{s.documented}`' if s.documented and not s.is_function else ''} | {state(s)} |" for s in rows]
        parts.append("\n".join([f"## {title}\n", "| Symbol | State |", "|---|---|", *lines, ""]))
    return "\n".join(parts)


@pytest.mark.parametrize("symbol", symbols(), ids=lambda s: f"{s.name}-{s.documents[0]}")
def test_symbol(symbol):
    assert state(symbol).startswith("done")


def test_page():
    if os.environ.get("TFNB_WRITE_DOCS"):
        PAGE.write_text(page(), encoding="utf-8", newline="\n")
    assert PAGE.read_text(encoding="utf-8") == page(), "TFNB_WRITE_DOCS=1 pytest tests/test_reference_status.py"


def test_what_is_wrong_is_seen():
    assert state(Symbol("tf.no_such_thing", "", ())) == "missing"
    assert state(Symbol("tf.GraphKeys.LOSSES", "'loss'", ())) == "is 'losses'"
    assert state(Symbol("tf.clip_by_norm", "(t, clip_norm, name=None)", ())) == "done (by name)"
    assert "unexpected keyword" in state(Symbol("tf.clip_by_norm", "(t, clip_norm, other=None)", ()))
    assert "missing a required" in state(Symbol("tf.clip_by_norm", "(t)", ()))
