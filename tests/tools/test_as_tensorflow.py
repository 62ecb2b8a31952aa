"""`import tensorflow` that finds tfnb: each case in a process of its own, since it changes what can be imported."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def python(code, path="", *command):
    """What a program prints; its errors go to the same place."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [path, str(ROOT)]))}
    return subprocess.run([sys.executable, *(command or ("-c", code))], env=environment, text=True, check=False,
                          capture_output=True, timeout=120)


INSTALL = "import tfnb; tfnb.install_as_tensorflow(); tfnb.install_as_tensorflow()\n"


def prints(code, path=""):
    done = python(INSTALL + code, path)
    assert not done.returncode, done.stderr
    return done.stdout.split()


def test_programs_find_tfnb():
    assert prints("""
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from tensorflow import placeholder
from tensorflow.train import AdamOptimizer
from tensorflow.python.framework import ops, dtypes
from tensorflow.python.ops import math_ops, variable_scope as vs
from tensorflow.python.platform import gfile
from tensorflow.python.client import timeline
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf.config_pb2 import ConfigProto
import tensorflow.python.training.saver as saver
assert tf.compat.v1.placeholder is placeholder and tf.VERSION == tf.__version__ and tfnb.compat.v1 is tfnb
print(tf.__version__, tf1.__version__, tf1.nn.relu is tfnb.nn.relu, placeholder is tfnb.placeholder)
print(AdamOptimizer is tfnb.train.AdamOptimizer, ops.Graph is tfnb.Graph, dtypes.float32 is tfnb.float32)
print(math_ops.reduce_sum is tfnb.reduce_sum, vs.get_variable is tfnb.get_variable, gfile.GFile is tfnb.gfile.GFile)
print(graph_pb2.GraphDef is tfnb.GraphDef, ConfigProto is tfnb.ConfigProto, saver.Saver is tfnb.train.Saver)
print(timeline.Timeline.__name__)
with tf.Session() as sess:
    print(sess.run(tf.constant(2.0) * 3.0))
""") == ["1.15.0", "1.15.0", *["True"] * 11, "Timeline", "6.0"]


def test_a_star_import_brings_the_public_names_only():
    assert prints("from tensorflow import *\nprint(Session.__name__, 'ops' in dir(), 'nn' in dir(), '_of' in dir())"
                  ) == ["Session", "False", "True", "False"]


@pytest.mark.parametrize("statement, error", [
    ("import tensorflow.contrib.nothing_of_the_kind", "ModuleNotFoundError: No module named 'tensorflow.contrib"),
    ("import tensorflow.graph", "ModuleNotFoundError: No module named 'tensorflow.graph'"),
    ("import tensorflow; tensorflow.nothing", "AttributeError: module 'tensorflow' has no attribute 'nothing'"),
    ("from tensorflow import nothing", "ImportError: cannot import name 'nothing' from 'tensorflow'"),
])
def test_what_is_not_there_is_said_so(tmp_path, statement, error):
    (tmp_path / "tensorflow").mkdir()                                  # an installed one is not reached
    (tmp_path / "tensorflow" / "__init__.py").write_text("nothing = 1")
    (tmp_path / "tensorflow" / "graph.py").write_text("")
    done = python(INSTALL + statement, str(tmp_path))
    assert done.returncode == 1 and error in done.stderr


def test_tensorflow_itself_must_not_be_there_already(tmp_path):
    (tmp_path / "tensorflow.py").write_text("")
    done = python(f"import tensorflow\n{INSTALL}", str(tmp_path))
    assert "ImportError: TensorFlow itself is imported already, from" in done.stderr
    assert str(tmp_path / "tensorflow.py") in done.stderr and "restart" in done.stderr


def test_run_gives_a_script_its_arguments_its_folder_and_its_exit_code(tmp_path):
    (tmp_path / "helper.py").write_text("import tensorflow as tf\nvalue = tf.constant(7)\n")
    (tmp_path / "script.py").write_text("""
import sys
import tensorflow as tf
from helper import value
tf.flags.DEFINE_integer("steps", 1, "how many")
def main(argv):
    print(tf.flags.FLAGS.steps, tf.Session().run(value), __name__)
    sys.exit(5)
tf.app.run(main)
""")
    done = python("", "", "-m", "tfnb", "run", str(tmp_path / "script.py"), "--steps", "3")
    assert (done.returncode, done.stdout.split()) == (5, ["3", "7", "__main__"]), done.stderr
    done = python("", str(tmp_path), "-m", "tfnb", "run", "-m", "helper")
    assert done.returncode == 0, done.stderr
    done = python("", "", "-m", "tfnb", "run", str(tmp_path / "absent.py"))
    assert done.returncode == 2 and "there is no file" in done.stderr


def test_names_that_a_test_has_replaced_come_back():
    program = ("import tfnb; tfnb.install_as_tensorflow()\n"
               "from unittest import mock\nimport tensorflow as tf\nbefore = tfnb.image.rot90\n"
               "with mock.patch.object(tf.image, 'rot90', return_value=3):\n"
               "    assert tf.image.rot90(1) == tfnb.image.rot90(1) == 3\n"
               "assert tf.image.rot90 is tfnb.image.rot90 is before and '_replaced' not in dir(tf.image)\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
