"""Passes ask fields of the records of ops, never their names: comparisons with names of ops, found in the source.

`NAMED` lists those that remain, with the reason; one that goes leaves the list.
"""
from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tfnb.opdef import registry

PACKAGE = Path(__file__).parents[2] / "tfnb"
NAMES = registry.names()

_FORMAT = "nodes of a GraphDef, which may be of ops that tfnb does not have"
_DRAWN = "what is drawn may be TensorFlow's own graph, or a GraphDef: names are all it has"
_TAUGHT = "a lesson is about what a user wrote, which its op names: softmax twice, a cut gradient"
_FAMILY = "a family reads a node of its neighbour's, or names itself in a message"
NAMED = {
    "runtime/remote/containers.py": _FORMAT,
    "graph/graph_util.py": _FORMAT, "graph/formats/nodes.py": _FORMAT, "tools/inspect.py": _FORMAT,
    "train/device_setter.py": "a public list of names, which users extend",
    "data/cardinality.py": "numbers of elements of a pipeline, by its ops: the only place that asks for them",
    "autodiff/custom_gradient.py": "gradient_override_map takes names",
    "notebook/graph/layers.py": _DRAWN, "notebook/graph/model.py": _DRAWN, "notebook/graph/purposes.py": _DRAWN,
    "notebook/graph/tree.py": _DRAWN, "notebook/graph/measures.py": _DRAWN,
    "notebook/lessons/failures.py": _TAUGHT, "notebook/lessons/graphs.py": _TAUGHT,
    "notebook/lessons/programs.py": _TAUGHT,
    "graph/parts/python_names.py": "the node that reads a variable has no name in the program: graph/ knows no kinds",
    "ops/control/inspection.py": _FORMAT, "notebook/magics/complete.py": "the tags are those of one op",
    "notebook/state/queue_view.py": "the name of the kind of queue is shown without its version",
    "ops/data_flow/queue_ops.py": "a queue that ops of two versions share is of one kind, which messages name",
    "ops/nn/cross_entropy.py": _FAMILY, "ops/state/slice_assign.py": _FAMILY, "image/files.py": _FAMILY,
    "compile/sized.py": "arithmetic of symbolic sizes, a function of Python for each op that shapes are computed by",
    "ops/nn/blocks.py": "messages name the input that pads or crops",
}
TESTS = {"startswith", "endswith", "removesuffix", "removeprefix"}


def asked(text: str) -> list[tuple[int, str]]:
    """(line, names) of comparisons with names of ops, sets, tuples and keys of them, and tests of parts of a name."""
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            above, words = parents[node], node.value.split()
            asks = isinstance(above, (ast.Compare, ast.Set, ast.MatchValue)) \
                or isinstance(above, ast.Dict) and node in above.keys \
                or isinstance(above, (ast.Tuple, ast.List)) and _asks(above, parents) \
                or isinstance(above, ast.Attribute) and above.attr == "split"
            if asks and words and NAMES.issuperset(words):
                found.append((node.lineno, node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TESTS \
                and ast.unparse(node.func.value).endswith(("op.type", "spec.name")):
            found.append((node.lineno, ast.unparse(node)))
    return sorted(found)


def _asks(listed: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Return whether a tuple or list is compared with, made a set, or a constant of the module but __all__."""
    above = parents[listed]
    return isinstance(above, ast.Compare) or isinstance(above, ast.Assign) and isinstance(parents[above], ast.Module) \
        and ast.unparse(above.targets[0]) != "__all__" \
        or isinstance(above, ast.Call) and ast.unparse(above.func) in ("frozenset", "set")


def sources() -> dict[str, str]:
    """Path below the package -> text; the index of ops and the language of kernels (names of AST nodes) left out."""
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    return {name: path.read_text(encoding="utf-8") for name, path in files.items()
            if not name.startswith(("opdef/index", "kernels/functions/", "proto/"))
            and not (name.count("/") < 2 and name.endswith("__init__.py"))}


def test_passes_do_not_ask_for_names_of_ops():
    found = {name: asked(text) for name, text in sources().items()}
    left = {name: lines for name, lines in found.items() if lines}
    assert {name: lines for name, lines in left.items() if name not in NAMED} == {}
    assert set(NAMED) <= set(left), "these ask no more"


@pytest.mark.parametrize("text", [
    'if op.type == "Pack": pass', 'x = op.type in ("Cast", "Identity")', 'x = op.type in {"Add"}', 'F = {"Shape": f}',
    'F = frozenset(["Save", "SaveV2"])', 'F = frozenset("Save SaveV2".split())', 'x = op.type.endswith("Summary")',
    'match op.type:\n  case "Add": pass', 'SAVERS = ("Save", "Restore")', 'x = ctx.op.spec.name.startswith("Gather")'])
def test_planted_questions_are_found(text):
    assert asked(text)


@pytest.mark.parametrize("text", [
    'x = raw.Pack(y)', 'op = graph.create_op("Pack", [])', 'x = dtype.name in ("int32", "int64")', 'name = "Const"',
    'F = {f: "Shape"}', 'x = isinstance(op.spec, kinds.Const)'])
def test_what_asks_for_no_name_passes(text):
    assert not asked(text)
