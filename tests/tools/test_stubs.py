"""Editors know the public names: pyright and jedi on the stubs, beside the sources that they point to."""
from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tfnb as tf
from tfnb.tools import stubs

jedi = pytest.importorskip("jedi")
PACKAGE = Path(tf.__file__).parent
PROGRAMS = sorted(Path(__file__).parent.glob("typical_*.py"))
WRONG = """
import tfnb as tf
tf.trainn.AdamOptimizer(0.1)
tf.matmull([[1.0]], [[1.0]])
tf.train.AdamOptimizer(learnin_rate=0.1)
tf.nn.relu()
tf.constant(1.0).evaluate()
from tfnb.python.ops import math_opps
from tfnb.python.framework import dtypes
dtypes.float33
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with the package, its stubs and two programs."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(PACKAGE, root / "tfnb", ignore=shutil.ignore_patterns("__pycache__", "static", "__init__.pyi"))
    stubs.main(str(root / "tfnb"))
    for program in PROGRAMS:
        shutil.copy(program, root)
    (root / "wrong.py").write_text(WRONG)
    return root


LOADED = """
import sys
before = {*sys.modules}
from tfnb.tools import stubs
stubs.public_modules()
print(*{name.split(".")[0] for name, module in sys.modules.items()
        if name not in before and "site-packages" in (getattr(module, "__file__", "") or "")})
"""


def test_the_build_installs_what_stubs_are_made_from():
    """Stubs are made in an environment of the build's own, without the other dependencies."""
    hook = (PACKAGE / "proto" / "build_hook.py").read_text()
    given, = re.findall(r"^FOR_STUBS = (.*)$", hook, re.MULTILINE)
    modules = {"protobuf": "google", "google-crc32c": "google_crc32c", "absl-py": "absl", "ml-dtypes": "ml_dtypes"}
    done = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True)
    assert {*done.stdout.split()} == {modules.get(name, name) for name in ast.literal_eval(given)}


@pytest.mark.slow
def test_pyright_knows_all_names_and_reports_others(project):
    pytest.importorskip("basedpyright")
    settings = {"typeCheckingMode": "standard", "include": ["typical_*.py", "wrong.py"], "reportMissingImports": True,
                "reportMissingModuleSource": False}    # tfnb.python.* is made when it is imported: a stub is all
    (project / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run([sys.executable, "-m", "basedpyright", "-p", str(project), "--outputjson", "--pythonpath",
                           sys.executable], capture_output=True, text=True, check=False, timeout=300)
    found = [(Path(fault["file"]).name, fault["range"]["start"]["line"], fault["message"].splitlines()[0])
             for fault in json.loads(done.stdout)["generalDiagnostics"]]
    assert len(PROGRAMS) == 3 and [fault for fault in found if fault[0] != "wrong.py"] == []
    assert [(line, message) for _, line, message in sorted(found)] == [
        (2, '"trainn" is not a known attribute of module "tfnb"'),
        (3, '"matmull" is not a known attribute of module "tfnb"'),
        (4, 'No parameter named "learnin_rate"'),
        (5, 'Argument missing for parameter "features"'),
        (6, 'Cannot access attribute "evaluate" for class "Tensor"'),
        (7, '"math_opps" is unknown import symbol'),
        (9, '"float33" is not a known attribute of module "tfnb.dtypes"')]


@pytest.mark.parametrize("typed, offered", [
    ("tf.train.Ada", ["AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer"]),
    ("tf.layers.den", ["dense", "Dense"]), ("tf.nn.rnn_cell.Basic", ["BasicLSTMCell", "BasicRNNCell"]),
    ("tf.nn.rnn_cell.", ["GRUCell", "LSTMCell", "LSTMStateTuple", "MultiRNNCell"]), ("tf.nn.softp", ["softplus"]),
    ("from tfnb.python.ops import math_o", ["math_ops"])])
def test_jedi_completes(project, typed, offered):
    script = jedi.Script(f"import tfnb as tf\n{typed}", path=project / "new.py", project=jedi.Project(project))
    names = [completion.name for completion in script.complete()]
    assert [name for name in names if name in offered] == offered
    others = 4 if not typed.endswith(".") else 20  # modules of that name beside the public ones
    assert len([name for name in names if not name.startswith("_")]) <= len(offered) + others


def test_jedi_shows_arguments(project):
    def call(text):
        script = jedi.Script(f"import tfnb as tf\n{text}", path=project / "new.py", project=jedi.Project(project))
        signature, = script.get_signatures()
        return [parameter.name for parameter in signature.params], signature.docstring()
    assert call("tf.exp(")[0] == ["x", "name"]
    assert call("tf.nn.rnn_cell.BasicLSTMCell(")[0][:3] == ["num_units", "forget_bias", "state_is_tuple"]
    assert call("tf.layers.dense(")[0][:3] == ["inputs", "units", "activation"]
    assert call("tf.reduce_sum(")[0][:3] == ["input_tensor", "axis", "keepdims"]
    assert call("tf.contrib.layers.linear(")[0][:2] == ["inputs", "num_outputs"]
    assert call("tf.math.erfinv(")[0] == ["x", "name"]
    assert "exponential" in call("tf.exp(")[1] or "power" in call("tf.exp(")[1]
    assert call("tf.train.AdamOptimizer(")[0][:4] == ["learning_rate", "beta1", "beta2", "epsilon"]


def test_every_public_name_is_in_its_stub(project):
    """What can be taken at run time stands in the stub, but for names that no identifier can be."""
    for name in stubs.public_modules():
        module = sys.modules[name]
        place = project.joinpath(*name.split("."))
        text = (place / "__init__.pyi" if place.is_dir() else place.with_suffix(".pyi")).read_text()
        assert set(stubs.public_names(module)) <= declared(ast.parse(text)), name


def test_no_name_in_a_stub_hides_another(project):
    """raw_ops has an op called Any, which is no type of an argument."""
    for name in stubs.public_modules():
        text = stubs.stub(sys.modules[name])
        found = {(alias.asname or alias.name, node.module) for node in ast.parse(text).body
                 if isinstance(node, ast.ImportFrom) for alias in node.names}
        found |= {(node.name, name) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
        assert len({each for each, _ in found}) == len(found), name


def declared(tree):
    """The names that a stub declares at its top level."""
    names = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    names |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    names |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    return names | {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets}


@pytest.mark.parametrize("op, made", [("Exp", "Tensor"), ("NoOp", "Operation"), ("Unique", "_Any"), ("TopKV2", "_Any"),
                                      ("Split", "_Any"), ("Any", "Tensor")])
def test_stubs_declare_the_type_of_outputs(op, made):
    """One output is a Tensor, none an Operation; several, and a list of them, are sequences of other types."""
    tree = ast.parse(stubs.stub(tf.raw_ops))
    found = {node.name: node.returns.id for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert found.get(op) == made
