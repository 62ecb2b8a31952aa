"""`tfnb port` and `tfnb run`: names looked up by syntax, Python 2, notebooks, trials in a copy of the folder."""
from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfnb as tf
from tfnb.tools.port import execute, legacy, python2, report, trial
from tfnb.tools.port.judge import judge
from tfnb.tools.port.names import uses
from tfnb.tools.port.sources import programs

ROOT = Path(__file__).resolve().parents[2]
TRAINING = """
import sys
import cPickle
import tensorflow as tf
import reader
reload(sys)
sys.setdefaultencoding("utf-8")

def main(_):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    step = tf.assign_add(w, 2.)
    with tf.Session() as sess:
        sess.run(tf.initialize_all_variables())
        for part in reader.parts([1, 2, 3, 4, 5], 2):
            print part, sess.run(step),
        print
        half = 7
        half /= 2
        print "whole", 7 / 2, half, 7 / 2., sess.run(tf.constant(7) / tf.constant(2)), map(str, [1])

if __name__ == "__main__":
    tf.app.run()
"""
READER = "def parts(xs, n):\n    for i in xrange(len(xs) / n):\n        yield xs[i * n:(i + 1) * n]\n"


def notebook(path: Path, *code: str) -> Path:
    cells = [{"cell_type": "code", "source": text.splitlines(keepends=True), "metadata": {}, "outputs": [],
              "execution_count": None} for text in code]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 2, "metadata": {}, "cells": cells}))
    return path


def told(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "tfnb", *map(str, arguments)], cwd=folder, text=True, check=False,
                          capture_output=True, timeout=120)


def test_names_are_followed_through_imports_aliases_and_scopes():
    tree = ast.parse("""
import tensorflow.compat.v1 as tf
from tensorflow.contrib import rnn, slim as s
from tensorflow.examples.tutorials.mnist import input_data
import tensorflow.contrib.layers
nn = tf.nn
cell = rnn.LSTMCell(3, state_is_tuple=True)
def f(tf, x=nn.relu(1)):
    return tf.not_ours
tf.placeholder(*arguments)
with s.arg_scope([s.conv2d]):
    pass
nn = 3
nn.nothing
tensorflow.contrib.layers.fully_connected(1, 2)
FLAGS = tf.flags.FLAGS
FLAGS.steps
""")
    found = [(use.path, use.line, use.positional) for use in uses(tree) if not use.imported]
    assert found == [
        ("nn", 6, None), ("contrib.rnn.LSTMCell", 7, 1), ("nn.relu", 8, 1), ("placeholder", 10, None),
        ("contrib.slim.arg_scope", 11, 1), ("contrib.slim.conv2d", 11, None),
        ("contrib.layers.fully_connected", 15, 2), ("flags.FLAGS", 16, None), ("flags.FLAGS.steps", 17, None)]


@pytest.mark.parametrize("text", [
    "def f(*layers):\n  layers.count(1)", "def f(**layers):\n  layers.count(1)", "for layers in x:\n  layers.count(1)",
    "[layers.count(1) for layers in x]", "{1: layers.count(1) for layers in x}", "layers: int = 3\nlayers.count(1)",
    "with open(1) as layers:\n  layers.count(1)", "layers, b = 1, 2\nlayers.count(1)", "(layers := x).count(1)",
    "def layers(): pass\nlayers.count(1)", "class layers: pass\nlayers.count(1)",
    "try: f()\nexcept E as layers: layers.count(1)", "class A:\n  layers = 3\n  layers.count(1)"])
def test_names_that_a_program_binds_anew_are_its_own(text):
    tree = ast.parse(f"from tensorflow.contrib import layers\n{text}\n")
    assert [use.path for use in uses(tree) if not use.imported and use.path != "contrib.layers"] == []


@pytest.mark.parametrize("text", [
    "[y for layers in x]\nlayers.relu(1)", "for layers in layers.relu(1): pass", "layers: int = layers.relu(1)",
    "class A:\n  layers = 3\n  def f(self):\n    layers.relu(1)", "class A:\n  def layers(self): layers.relu(1)",
    "[y for y in layers.relu(1)]"])
def test_names_that_are_bound_elsewhere_remain_tensorflows(text):
    tree = ast.parse(f"from tensorflow.contrib import layers\n{text}\n")
    assert [use.path for use in uses(tree) if not use.imported] == ["contrib.layers.relu"]


def test_what_is_absent_is_told_with_its_reason_and_line(tmp_path):
    program = tmp_path / "old.py"
    program.write_text("""import tensorflow as tf
from tensorflow.contrib import tensorrt
from tensorflow.python.ops import math_ops, nothing_ops
import a_package_that_is_nowhere
try:
    import another_one
except ImportError:
    pass
tf.lite.TFLiteConverter.from_session(None, [], [])
tf.nn.rellu(tf.nn.rellu(x))
tf.nn.conv2d(x, filters=w, strid=1)
math_ops.reduce_sum(x, axis=1)
tf.train.Server(cluster)
tf.GraphKeys.GLOBAL_VARIABLES
tf.GraphKeys.NOTHING
tf.concat(1, [a, b])
""")
    verdict = judge(program)
    found = {(f.kind, f.place.line, f.what): f.text for f in verdict.findings}
    assert set(found) == {
        ("missing", 2, "tf.contrib.tensorrt"), ("missing", 3, "tf.python.ops.nothing_ops"),
        ("missing", 9, "tf.lite.TFLiteConverter.from_session"), ("missing", 10, "tf.nn.rellu"),
        ("arguments", 11, "tf.nn.conv2d"), ("missing", 15, "tf.GraphKeys.NOTHING"),
        ("package", 4, "a_package_that_is_nowhere"), ("differs", 13, "tf.train.Server")}
    assert "TensorFlow's own compiler" in found["missing", 2, "tf.contrib.tensorrt"]
    assert found["missing", 10, "tf.nn.rellu"] == "Did you mean 'relu'?"
    assert "'strid'" in found["arguments", 11, "tf.nn.conv2d"] and "strides" in found["arguments", 11, "tf.nn.conv2d"]
    assert not verdict.ready and report.verdict_text(verdict) == "5 names missing, 1 call with other arguments"
    assert report.summary([verdict]) == "1 program: 0 ready, 1 not"


@pytest.mark.parametrize("text, count", [
    ("print 'x'", 1), ("print('x')", 0), ("for i in xrange(3): pass", 1), ("xrange = range\nxrange(3)", 0),
    ("import six\nd.iteritems()", 0), ("from future.utils import iteritems\nd.iteritems()", 0),
    ("d.iteritems()", 1), ("raise E, 'x'", 1), ("try:\n  f()\nexcept E, e: pass", 1),
    ("x = 10L", 1), ("print >>f, 3", 1), ("def f(:\n  pass", 0), ("print('a'", 0), ("import cPickle", 1),
    ("try:\n  import cPickle as pickle\nexcept ImportError:\n  import pickle", 0),
    ("if sys.version_info[0] < 3:\n  input = raw_input", 0),
    ("for k, v in frame.iteritems():\n  print(f'{k}')", 0), ("def f(x: int): return x.has_key(1)", 0),
    ("def f(x, *, y): return reduce(x, y)", 0)])
def test_python_2_is_known_by_what_only_it_has(text, count):
    assert len(python2.marks(text + "\n")) == count


def test_python_2_divides_and_unpickles_as_it_did(tmp_path):
    fissix = pytest.importorskip("fissix")
    assert fissix
    import numpy as np
    text = ("import pickle\na = 7 / 2, -7 / 2, 7 / 2.0, x / 2, y / 2\nx /= 2\nb = pickle.loads(p)\nd = {}\n"
            "d['k'] = 9\nd['k'] /= 2\nprint >>out, a\n")
    names = {**python2.helpers(), "x": np.array([3, 4]), "y": np.array([3.0]), "p": b"S'\\xe9'\n."}
    with open(tmp_path / "out", "w") as out:
        exec(compile(python2.parse(text, "old.py"), "old.py", "exec"), names | {"out": out}, names)
    assert names["a"][:3] == (3, -4, 3.5) and names["a"][3].tolist() == [1, 2] and names["a"][4].tolist() == [1.5]
    assert names["x"].tolist() == [1, 2] and names["b"] == "\xe9" and names["d"] == {"k": 4}
    assert python2.translate("xrange(2); print('a', 3)", "old.py").strip() == "range(2); print('a', 3)"
    true = python2.parse("from __future__ import division\na = 7 / 2\nprint a\n", "old.py")
    exec(compile(true, "old.py", "exec"), names)
    assert names["a"] == 3.5
    with pytest.raises(SyntaxError, match="neither Python 3 nor Python 2"):
        python2.parse("def f(:\n print 3\n", "old.py")


def test_python_2_keeps_tabs_in_strings_and_reads_pickles_by_any_name():
    pytest.importorskip("fissix")
    text = ("import cPickle as pkl\nfrom cPickle import loads as read\nif 1:\n\tprint 'x'\n"
            "a = 'b\tc'.split('\t')\nd = pkl.loads(p), read(p)\n")
    names = {**python2.helpers(), "p": b"S'\xe9'\n."}
    exec(compile(python2.parse(text, "old.py"), "old.py", "exec"), names)
    assert names["a"] == ["b", "c"] and names["d"] == ("\xe9", "\xe9")


def test_python_2_divides_in_classes_compares_and_rounds_as_it_did():
    pytest.importorskip("fissix")
    text = ("class A:\n  def f(self, d):\n    self.__n = 7 / 2\n    self.__n /= 2\n    return self.__n, d / 2, 7 / d\n"
            "a = A().f(d)\nb = [cmp(1, 2), cmp('b', 'a'), cmp(2, 2)]\n"
            "c = [round(x) for x in (2.5, -0.5, 3)] + [round(1.005, 2), round(1234.5, -2), round(1e300), round(inf)]\n"
            "print type(round(3))\n")
    names = {**python2.helpers(), "d": tf.Dimension(7), "inf": float("inf")}
    exec(compile(python2.parse(text, "old.py"), "old.py", "exec"), names)
    assert names["a"] == (1, 3, 1) and names["b"] == [-1, 1, 0]
    assert names["c"] == [3.0, -1.0, 3.0, 1.0, 1200.0, 1e300, float("inf")] and str(names["c"][0]) == "3.0"


def test_classes_of_python_2_say_how_they_divide():
    pytest.importorskip("fissix")
    text = ("class V:\n  def __div__(self, b): return 'div', b\n  def __rdiv__(self, b): return 'rdiv', b\n"
            "class W(V):\n  def __idiv__(self, b): return 'idiv', b\n"
            "class N(V):\n  def __idiv__(self, b): return NotImplemented\n  __div__ = __idiv__\n"
            "a, b, d, e = V(), W(), N(), 6\na /= 2\nb /= 3\nd /= V()\ne /= V()\n"
            "c = [V() / 4, 5 / V(), a, b, d[0], e, (N() / V())[0]]\nprint c\n")
    names = python2.helpers()
    exec(compile(python2.parse(text, "old.py"), "old.py", "exec"), names)
    assert names["c"] == [("div", 4), ("rdiv", 5), ("div", 2), ("idiv", 3), "rdiv", ("rdiv", 6), "rdiv"]


@pytest.mark.parametrize("text", [
    "\nx = reduce(max, [1])\nmissing\n", "from urllib import urlopen, quote\n\nmissing\n", "\n\nmissing /= 2\n"])
def test_errors_of_python_2_name_the_lines_of_the_program(text):
    pytest.importorskip("fissix")
    with pytest.raises(NameError) as error:
        exec(compile(python2.parse("print 'x'\n" + text, "old.py"), "old.py", "exec"), python2.helpers())
    assert error.traceback[-1].lineno == 3         # from 0


def test_programs_of_python_2_run_with_their_modules(tmp_path):
    pytest.importorskip("fissix")
    (tmp_path / "train.py").write_text(TRAINING)
    (tmp_path / "reader.py").write_text(READER)
    done = told("run", "train.py", folder=tmp_path)
    assert done.stdout == "[1, 2] 2.0 [3, 4] 4.0 \nwhole 3 3 3.5 3 ['1']\n", done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["reader.py", "train.py"]


def test_modules_run_as_files_do(tmp_path):
    pytest.importorskip("fissix")
    package = tmp_path / "package"
    package.mkdir()
    for name, text in {"__init__.py": "", "train.py": "import numpy as np\nprint(np.int(3), __name__)\n",
                       "__main__.py": "import sys\nprint 7 / 2, sys.argv[1:]\n"}.items():
        (package / name).write_text(text)
    assert told("run", "-m", "package.train", folder=tmp_path).stdout == "3 __main__\n"
    assert told("run", "-m", "package", "--steps", "3", folder=tmp_path).stdout == "3 ['--steps', '3']\n"


def test_modules_of_python_3_and_of_environments_are_for_python_to_find(tmp_path):
    installed = tmp_path / ".venv" / "site-packages"
    installed.mkdir(parents=True)
    for folder in (tmp_path, installed):
        (folder / "of_python2.py").write_text("print 'old'\n")
        (folder / "of_python3.py").write_text("print('new')\n")
    finder = execute._Finder(tmp_path)
    assert finder.find_spec("of_python2", None) is not None and finder.find_spec("of_python3", None) is None
    assert finder.find_spec("of_python2", [str(installed)]) is None


def test_notebooks_run_up_to_the_cell_that_fails(tmp_path):
    pytest.importorskip("fissix")
    book = notebook(tmp_path / "old.ipynb", "%matplotlib inline\nimport tensorflow as tf\n!pip install tensorflow==1.4",
                    "x = tf.constant(3)\nprint tf.Session().run(x / 2)", "%%html\n<b>tf.nothing</b>",
                    "tf.nn.foo(x)", "print 'never'")
    (finding, *_), verdict = (found := judge(book)).findings, found
    assert (finding.what, str(finding.place), verdict.python2) == ("tf.nn.foo", "cell 4, line 1", True)
    done = told("run", "old.ipynb", folder=tmp_path)
    assert done.returncode == 1 and "1\n" in done.stdout and "left out: pip install" in done.stdout
    assert "never" not in done.stdout and "cell 4 of" in done.stderr


def test_a_trial_leaves_the_folder_alone_and_stops_after_some_runs(tmp_path):
    endless = "import tensorflow as tf\ns, x = tf.Session(), tf.constant(1)\nwhile s.run(x): open('log', 'a')\n"
    for name, text in {"endless.py": endless, "needs.py": "import tensorflow as tf\ntf.add(1, 2)\nopen('data.csv')\n",
                       "fails.py": "import tensorflow as tf\n\ntf.Session().run(tf.log('x'))\n"}.items():
        (tmp_path / name).write_text(text)
    page = tmp_path / "table.html"
    done = told("port", ".", "--run", "--json", "--html", page, folder=tmp_path)
    found = {item["path"]: item["trial"] for item in json.loads(done.stdout)}
    assert done.returncode == 1
    assert found["endless.py"] == {"outcome": "runs", "runs": trial.RUNS, "where": "", "error": ""}
    assert found["needs.py"]["outcome"] == "needs" and "data.csv" in found["needs.py"]["error"]
    assert (found["fails.py"]["outcome"], found["fails.py"]["where"]) == ("fails", "line 3")
    assert not (tmp_path / "log").exists() and "of 3 tried 1 run" in page.read_text()


def test_a_trial_ends_with_its_program_though_a_process_of_it_goes_on(tmp_path):
    program = tmp_path / "old.py"
    program.write_text("import subprocess, sys\n"
                       "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(20)'])\n")
    assert trial.attempt(program, seconds=15) == trial.Trial("ends")       # not "time": nothing reads its output


def test_names_that_later_releases_took_away_are_put_back(tmp_path):
    program = tmp_path / "old.py"
    program.write_text("""import numpy as np, time, collections, inspect, scipy.misc
from scipy.misc import imread, imresize
from numpy import product
start = time.clock()
image = (np.arange(48).reshape(4, 4, 3) * 5).astype(np.uint8)
scipy.misc.imsave("a.png", image)
assert (imread("a.png") == image).all() and imresize(image, (2, 6)).shape == (2, 6, 3)
assert imresize(image, 50).shape == (2, 2, 3) and imresize(image / 9., 2.0).shape == (8, 8, 3)
print(np.zeros(2, dtype=np.int).dtype, np.float(3), isinstance({}, collections.Mapping), product([2, 3]))
print(inspect.getargspec(lambda a, *b: 0).args, time.clock() >= start)
""")
    verdict = judge(program)
    gone = {f.what for f in verdict.findings if f.kind == "gone"}
    assert verdict.ready and {"numpy.int", "numpy.float", "collections.Mapping", "time.clock", "numpy.product"} <= gone
    done = told("run", "old.py", folder=tmp_path)
    assert done.stdout == "int64 3.0 True 6\n['a'] True\n", done.stderr
    program.write_text("import numpy as np\nnp.nothing_of_the_kind(3)\n")
    assert [(f.kind, f.place.line) for f in judge(program).findings] == [("missing", 2)]


def test_what_is_no_program_is_told(tmp_path):
    (tmp_path / "no.ipynb").write_text("[]")
    (tmp_path / "latin.py").write_bytes(b"# \xe9\nimport tensorflow as tf\ntf.constant(1)\n")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "x.py").write_text("")
    assert [p.name for p in programs([tmp_path])] == ["latin.py", "no.ipynb"]
    assert judge(tmp_path / "latin.py").ready
    done = told("port", ".", folder=tmp_path)           # one of them does not end it
    assert done.returncode == 1 and "latin.py  ready" in done.stdout and "no.ipynb is no notebook" in done.stdout
    assert told("run", "no.ipynb", folder=tmp_path).returncode == 2
    assert told("port", "nowhere", folder=tmp_path).stderr == "tfnb port: there is no file or folder nowhere\n"


def test_numpy_is_asked_in_silence_for_the_names_that_it_has_no_more(monkeypatch):
    monkeypatch.setattr(legacy, "GONE", {"numpy": {"str": str}})
    legacy.put_back()
    assert np.str is str
    delattr(np, "str")
