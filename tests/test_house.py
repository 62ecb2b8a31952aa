"""The rules of the house (docs/architecture.md), each shown to find a planted fault."""
from __future__ import annotations

import ast
import functools
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Processing order: a folder imports only those before it. The public names, `tfnb/*.py` and other folders, come last.
ORDER = ["core", "resources", "proto", "opdef", "graph", "kernels", "ops", "control_flow", "linalg", "variables",
         "ragged", "image", "autodiff", "graph_editor", "compile", "runtime", "cluster", "debug", "summary", "train",
         "data", "layers", "losses", "metrics", "slim", "rnn", "seq2seq", "distributions", "lookup", "saved_model",
         "feature_column", "keras", "estimator", "horovod", "custom", "examples", "tools", "testing", "notebook"]
TOP_LEVEL = {"pyproject.toml", "tfnb", "extension", "notebooks", "tests", "binder", "docs", "benchmarks", "README.md",
             "CONTRIBUTING.md", "Makefile", "LICENSE", "CHANGELOG.md", "CITATION.cff"}
# The order of sub-rooms, where a room has some; ".": the modules of its own folder, which come last if it is not named.
ROOMS = {
    "core": [".", "files", "program"],
    "graph": ["formats", "parts", "."],
    "kernels": ["scalar", ".", "llvm", "arrays", "cuda", "functions", "library", "cpu"],
    "kernels/cpu": ["matmul", "fused", "conv", "."],
    "ops": ["declaration", "composite", "math", "array", "control", "reductions", "random", "nn", "quantized", "signal",
            "state", "strings", "data_flow", "sparse", "io", "data", "."],
    "linalg": [".", "operators"],
    "compile": ["planning", ".", "programs"],
    "runtime": ["state", "runners", "remote", "."],
    "tools": [".", "port"],
    "train": [".", "checkpoints", "input", "sessions", "optimizers"],
    "train/optimizers": [".", "contrib"],
    "layers": [".", "contrib"],
    "slim": [".", "nets"],
    "distributions": [".", "bijectors", "contrib"],
    "estimator": [".", "heads", "models", "learn", "tpu"],
    "keras": ["backend", "utils", "functions", "engine", "losses", "metrics", "layers", "optimizers", "callbacks",
              "saving", "training", "preprocessing", "datasets", "applications",
              "wrappers", "."],
    "notebook": ["frontend", "drawing", "plots", "layout", "graph", "cells", "state", "run_store", "debug", "lessons",
                 "show", "ownership", "magics", "."],
}
ROOM_FILES = 20
# The loader that `%load_ext tfnb` calls must not import IPython with the package: it alone imports late.
HIDDEN_BY_CONTRACT = {("tfnb/__init__.py", "tfnb.notebook")}
FILE_LINES, FAMILY_LINES, FUNCTION_LINES = 400, 600, 80
FAMILIES = r"tfnb/(ops|ops/\w+|control_flow|linalg|variables|image)/\w+\.py"
MACHINE_PATH = re.compile(r"(?<![\w.}$])/(?:work|farm|root|home|Users)/\w")


def tracked() -> list[str]:
    """The files that git knows or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


@functools.cache
def sources() -> dict[str, str]:
    """Path -> text of every Python file of the package."""
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in tracked()
            if name.startswith("tfnb/") and name.endswith(".py")}


def rank(path: str) -> int:
    parts = Path(path).parts
    return ORDER.index(parts[1]) if len(parts) > 2 and parts[1] in ORDER else len(ORDER)


@dataclass(frozen=True)
class Import:
    """An import statement; hidden: in a function; typing: for annotations alone."""

    line: int
    module: str | None              # None: `import a, b`
    level: int
    names: tuple[str, ...]
    hidden: bool
    typing: bool

    @property
    def ours(self) -> list[str]:
        """The modules of ours that it names; a relative one begins with a dot."""
        if self.module is None and not self.level:
            return [name for name in self.names if name.split(".")[0] == "tfnb"]
        if not self.level and (self.module or "").split(".")[0] != "tfnb":
            return []
        if self.module == "tfnb":
            return [f"tfnb.{name}" for name in self.names]
        return ["." * self.level + (self.module or "")]


@dataclass
class Facts:
    """What a module consists of, from one walk over its statements (all files: 5 s; eight walks took 37)."""

    imports: list[Import] = field(default_factory=list)
    functions: list[tuple[int, str, int]] = field(default_factory=list)     # line, name, lines without examples
    docstrings: list[tuple[int, str]] = field(default_factory=list)
    public: list[tuple[int, str, bool]] = field(default_factory=list)       # line, name, whether it has a docstring

    def visit(self, body: list[ast.stmt], hidden: bool = False, typing: bool = False) -> None:
        """Enter statements and those inside of them."""
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                module, level = (node.module, node.level) if isinstance(node, ast.ImportFrom) else (None, 0)
                names = tuple(alias.name for alias in node.names)
                self.imports.append(Import(node.lineno, module, level, names, hidden, typing))
                continue
            function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                doc = ast.get_docstring(node) or ""
                if doc:
                    self.docstrings.append((node.body[0].lineno, doc))
                if function:
                    lines = (node.end_lineno or node.lineno) - node.lineno + 1 - example_lines(doc)
                    self.functions.append((node.lineno, node.name, lines))
            checking = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for part in ("body", "orelse", "finalbody", "handlers", "cases"):
                self.visit(getattr(node, part, ()), hidden or function, typing or checking)


@functools.cache
def facts(text: str) -> Facts:
    """Return what the source of a module consists of."""
    tree, found = ast.parse(text), Facts()
    doc = ast.get_docstring(tree)
    if doc:
        found.docstrings.append((tree.body[0].lineno, doc))
    found.visit(tree.body)
    found.public = [(node.lineno, node.name, bool(ast.get_docstring(node))) for node in public(tree.body)]
    return found


def import_faults(path: str, text: str) -> list[str]:
    """Imports of later folders, relative ones, and those hidden in functions."""
    faults = []
    for statement in facts(text).imports:
        for name in () if statement.typing else statement.ours:
            folder = name.split(".")[1] if name.count(".") else ""
            place = f"{path}:{statement.line}"
            if name.startswith("."):
                faults.append(f"{place}: relative import")
            elif statement.hidden:
                if not any(path == where and name.startswith(what) for where, what in HIDDEN_BY_CONTRACT):
                    faults.append(f"{place}: import of {name} hidden in a function")
            elif (ORDER.index(folder) if folder in ORDER else len(ORDER)) > rank(path):
                faults.append(f"{place}: {name} comes later")
    return faults


def sub_rooms(module: str) -> dict[str, int]:
    """Room with sub-rooms -> place in its order of a dotted module, for each room that the module is in."""
    parts = module.split(".")[1:]
    found = {}
    for room, order in ROOMS.items():
        depth = room.count("/") + 1
        if "/".join(parts[:depth]) == room and len(parts) > depth:
            here = parts[depth] if parts[depth] in order else "."
            found[room] = order.index(here) if here in order else len(order)
    return found


def room_faults(path: str, text: str) -> list[str]:
    """Imports of later sub-rooms of the same room; the names that the room itself gives to users come last."""
    own = sub_rooms(path.removesuffix(".py").replace("/", "."))
    if not own or path.endswith("/__init__.py"):
        return []
    return [f"{path}:{statement.line}: {name} is in a later room" for statement in facts(text).imports
            if not statement.typing for name in statement.ours
            for room, place in sub_rooms(name).items() if place > own.get(room, place)]


def crowded(names: list[str]) -> dict[str, int]:
    """Folder -> how many Python files it has, where that is more than a room should have."""
    folders = Counter(str(Path(name).parent) for name in names if name.endswith(".py") and "_pb2" not in name)
    return {folder: count for folder, count in folders.items() if count > ROOM_FILES}


def test_sub_rooms_come_in_order():
    assert [fault for path, text in sources().items() for fault in room_faults(path, text)] == []


def test_planted_imports_of_later_sub_rooms_are_found():
    text = "from tfnb.notebook.state.tables import Table\n"
    assert room_faults("tfnb/notebook/plots/x.py", text) and not room_faults("tfnb/notebook/magics/x.py", text)
    assert room_faults("tfnb/notebook/plots/x.py", "import tfnb.notebook.loader") \
        and not room_faults("tfnb/notebook/x.py", text)


def test_rooms_are_no_larger_than_a_newcomer_can_take_in():
    found = crowded(list(sources()))
    assert found.keys() <= {"tfnb", "tfnb/contrib"}, found              # whose files are public names
    assert crowded([f"tfnb/x/a{i}.py" for i in range(21)]) == {"tfnb/x": 21}


def all_imports(path: str, text: str, modules: set[str]) -> set[str]:
    """The modules of ours that one names in any import: hidden ones, and those for annotations alone, too."""
    own, found = path.removesuffix(".py").removesuffix("/__init__").replace("/", "."), set()
    for statement in facts(text).imports:
        if statement.module is None:
            found |= {*statement.names}
        else:
            names = {f"{statement.module}.{name}" for name in statement.names}
            found |= names & modules or {statement.module}
    return (found & modules) - {own}


def cycles(texts: dict[str, str]) -> list[set[str]]:
    """The largest sets of modules that all import one another, by whatever way."""
    names = {path: path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in texts}
    edges = {names[path]: all_imports(path, text, {*names.values()}) for path, text in texts.items()}
    reached = {name: _reached(name, edges) for name in edges}
    found = {frozenset(other for other in reached[name] if name in reached[other]) for name in edges}
    return [set(group) for group in found if group]


def _reached(name: str, edges: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [*edges[name]]
    while waiting:
        new = waiting.pop()
        if new not in seen:
            seen.add(new)
            waiting += edges[new]
    return seen


def test_no_cycle_of_imports_for_annotations_too():
    assert [sorted(group) for group in cycles(sources())] == []


def test_planted_cycles_are_found():
    texts = {"tfnb/core/a.py": "if TYPE_CHECKING:\n    from tfnb.core.b import B",
             "tfnb/core/b.py": "import tfnb.core.c", "tfnb/core/c.py": "def f():\n    from tfnb.core import a",
             "tfnb/core/d.py": "from tfnb.core.a import A"}
    assert cycles(texts) == [{"tfnb.core.a", "tfnb.core.b", "tfnb.core.c"}]
    assert cycles({**texts, "tfnb/core/c.py": ""}) == []


def size_faults(path: str, text: str) -> list[str]:
    """Files and functions that are too long."""
    limit = FAMILY_LINES if re.fullmatch(FAMILIES, path) else FILE_LINES
    lines = text.count("\n") - example_lines(text)
    faults = [f"{path}: {lines} lines"] if lines > limit else []
    faults += [f"{path}:{line}: {name} has {lines} lines" for line, name, lines in facts(text).functions
               if lines > FUNCTION_LINES]
    return faults


def example_lines(text: str) -> int:
    """Count the lines of examples in docstrings (tests/test_examples.py) with the empty line before each."""
    return sum(block.count("\n") for block in re.findall(r"^\n? *>>> .*\n(?: *[^ \n\"].*\n)*", text, re.MULTILINE))


def docstring_faults(path: str, text: str) -> list[str]:
    """Public functions and classes without a docstring; definitions of ops, which tests/opdef looks at, left out."""
    return [f"{path}:{line}: {name} has no docstring" for line, name, told in facts(text).public if not told]


def public(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from (inner for inner in public(node.body) if not isinstance(inner, ast.ClassDef))


def test_folders_import_only_those_before_them():
    faults = [fault for path, text in sources().items() for fault in import_faults(path, text)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("path, text, fault", [
    ("tfnb/core/a.py", "from tfnb.graph import graph", "tfnb.graph comes later"),
    ("tfnb/core/a.py", "import tfnb.graph.graph", "tfnb.graph.graph comes later"),
    ("tfnb/graph/a.py", "from tfnb import ops", "tfnb.ops comes later"),
    ("tfnb/graph/a.py", "from tfnb import nn", "tfnb.nn comes later"),
    ("tfnb/graph/a.py", "import tfnb", "tfnb comes later"),
    ("tfnb/graph/a.py", "from .graph import Graph", "relative import"),
    ("tfnb/runtime/a.py", "def f():\n    from tfnb.core import errors", "import of tfnb.core hidden"),
    ("tfnb/runtime/a.py", "class A:\n  def f(self):\n    if 1:\n      import tfnb.core", "import of tfnb.core hidden"),
])
def test_planted_imports_are_found(path, text, fault):
    assert [found for found in import_faults(path, text) if fault in found]


@pytest.mark.parametrize("path, text", [
    ("tfnb/graph/a.py", "from tfnb.core.dtypes import DType\nfrom tfnb.graph.graph import Graph\nimport numpy"),
    ("tfnb/graph/a.py", "if TYPE_CHECKING:\n    from tfnb.ops import math"),
    ("tfnb/nn.py", "from tfnb.ops.math.arithmetic import tanh"),
])
def test_allowed_imports_pass(path, text):
    assert import_faults(path, text) == []


def test_files_and_functions_are_short():
    faults = [fault for path, text in sources().items() for fault in size_faults(path, text)]
    assert not faults, "\n".join(faults)


def test_planted_lengths_are_found():
    assert size_faults("tfnb/graph/a.py", "\n" * 401) and not size_faults("tfnb/graph/a.py", "\n" * 400)
    assert size_faults("tfnb/ops/a.py", "\n" * 601) and not size_faults("tfnb/ops/a.py", "\n" * 600)
    assert size_faults("tfnb/ops/a.py", "def f():\n" + "    x = 1\n" * 80)
    assert not size_faults("tfnb/ops/a.py", "def f():\n" + "    x = 1\n" * 79)
    example = '"""Add.\n\n>>> 1 + 1\n2\n>>> 1 + 2\n3\n"""\n'
    assert example_lines(example) == 5 and not size_faults("tfnb/a.py", example + "\n" * 398)
    assert size_faults("tfnb/a.py", example + "\n" * 399)


def test_public_functions_say_what_they_do():
    texts = {path: text for path, text in sources().items() if not path.startswith("tfnb/ops/")}
    faults = [fault for path, text in texts.items() for fault in docstring_faults(path, text)]
    total = sum(len(facts(text).public) for text in texts.values())
    assert len(faults) <= total // 20, f"{len(faults)} of {total}:\n" + "\n".join(faults)


def test_planted_missing_docstrings_are_found():
    assert len(docstring_faults("tfnb/a.py", "def f(): pass\nclass A:\n  def g(self): pass\n  def _h(self): pass")) == 3
    assert not docstring_faults("tfnb/a.py", "def _f(): pass\ndef g():\n  '''It is.'''")


def machine_path_faults(name: str, text: str) -> list[str]:
    return [f"{name}: {found[0]}" for found in MACHINE_PATH.finditer(text)]


def test_no_paths_of_one_machine():
    faults = []
    for name in tracked():
        data = (ROOT / name).read_bytes()
        if b"\0" not in data and not name.endswith("package-lock.json"):
            faults += machine_path_faults(name, data.decode("utf-8", "replace"))
    assert not faults, "\n".join(faults)


def test_planted_machine_paths_are_found():
    assert machine_path_faults("a", "open('/wo" + "rk/x')") and machine_path_faults("a", "cd /ho" + "me/me/x")
    assert not machine_path_faults("a", "./tmp/x and $X/home/y")


def top_level_faults(names: list[str]) -> set[str]:
    tops = {name.split("/")[0] for name in names}
    return {name for name in tops if name not in TOP_LEVEL and not name.startswith(".")}


def test_top_level():
    assert not top_level_faults(tracked())


def test_planted_top_level_entries_are_found():
    assert top_level_faults(["setup.py", "scripts/x.sh", "tfnb/core/a.py", ".ci/run"]) == {"setup.py", "scripts"}


def generated_faults(names: list[str]) -> list[str]:
    return [name for name in names if name.endswith(("_pb2.py", "_pb2.pyi")) or "/static/" in name]


def test_nothing_generated_is_in_git():
    assert not generated_faults(tracked())
    assert generated_faults(["tfnb/proto/a_pb2.py", "tfnb/notebook/static/index.js"])


# What reads a function as a scalar definition: declarations of ops, parts of a reduction (`Mean.finish`), compositions.
DEFINITIONS = {"elementwise", "reduction", "rowwise", "update", "scatter", "prepare", "finish", "read"}


def untyped_faults(name: str, text: str) -> list[str]:
    """Functions without types that are no scalar definitions: mypy lets them pass in ops/ (see pyproject.toml)."""
    faults = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parts = node.args
            given = [*parts.posonlyargs, *parts.args, *parts.kwonlyargs, *filter(None, (parts.vararg, parts.kwarg))]
            bare = [arg for arg in given if arg.annotation is None and arg.arg not in ("self", "cls")]
            calls = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
            readers = {ast.unparse(call).rpartition(".")[2] for call in calls}
            if (bare or node.returns is None) and not readers & DEFINITIONS:
                faults.append(f"{name}:{node.lineno}: {node.name}")
    return faults


def test_functions_without_types_are_scalar_definitions():
    faults = [fault for path, text in sources().items() if path.startswith("tfnb/ops/")
              for fault in untyped_faults(path, text)]
    assert not faults, "\n".join(faults)


def test_planted_functions_without_types_are_found():
    assert not untyped_faults("a", "@elementwise('x: T -> y: T')\ndef A(x): return x\n@A.finish\ndef _(x, n): return x")
    assert untyped_faults("a", "def f(x) -> int: return x") == ["a:1: f"]
    assert len(untyped_faults("a", "@host('x: T')\ndef A(x, *, y): return x\ndef g(): pass\ndef h(x: int): pass")) == 3


def test_mypy_checks_the_whole_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    assert settings["packages"] == ["tfnb"] and settings["strict"] and not settings.get("disable_error_code")
    assert not [more for more in settings["overrides"] if more.get("ignore_errors") or more.get("follow_imports")]


NARROW = re.compile(r"\bnp\.(bincount|repeat|take|put|choose)\(|(?<!indexing)\.reduceat\(")      # take intp alone


def narrow_faults(path: str, text: str) -> list[str]:
    """Calls that refuse int64 where NumPy's index type has 32 bits."""
    return [f"{path}:{n}: {line.strip()}" for n, line in enumerate(text.splitlines(), 1) if NARROW.search(line)]


def test_indices_of_32_bits_take_int64():
    own = {path: text for path, text in sources().items() if path.startswith("tfnb/")}
    del own["tfnb/core/indexing.py"]
    assert not [fault for path, text in own.items() for fault in narrow_faults(path, text)]


def test_planted_calls_that_refuse_int64_are_found():
    calls = "np.take(x, i)\nnp.add.reduceat(x, i)\nindexing.take(x, i)\nnp.take_along_axis(x, i)"
    assert len(narrow_faults("a", calls)) == 2
