"""What a cell shows of an error: the user's lines, and no frames of tfnb unless they are asked for."""
from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from IPython.core.ultratb import VerboseTB

import tfnb as tf
from tfnb.notebook.debug import tracebacks
from tfnb.notebook.frontend.settings import settings
from tfnb.tools import as_tensorflow

CELL = """
def model(v):
    return tf.matmul(tf.layers.dense(v, 3), tf.ones([5, 2]))

def wrong(v):
    return no_such_name(v)
"""


@pytest.fixture
def shown() -> Iterator[object]:
    """shown(code): the text of the error that `code` raises, under a shell that the extension was loaded in."""
    shell = SimpleNamespace(InteractiveTB=VerboseTB())
    remove = tracebacks.install(shell)

    def run(code: str) -> str:
        scope = {"tf": tf, "contextlib": contextlib}
        exec(compile(CELL, "<cell 1>", "exec"), scope)
        try:
            exec(compile(code, "<cell 2>", "exec"), scope)
        except (Exception, KeyboardInterrupt) as error:
            text: str = "\n".join(shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__))
            return re.sub(r"\x1b\[[\d;]*m", "", text)
        raise AssertionError("nothing was raised")
    yield run
    remove()
    assert "structured_traceback" not in vars(shell.InteractiveTB)


def places(text: str) -> list[str]:
    """The files and cells whose frames are shown, in order."""
    return [line for line in re.findall(r"File ([^\n:,]+)", text) if "test_tracebacks" not in line]


def test_only_the_users_lines_are_shown(shown) -> None:
    text = shown("x = tf.placeholder(tf.float32, [None, 4])\nmodel(x)")
    assert places(text) == ["<cell 2>", "<cell 1>"]
    assert "Dimensions must be equal, but are 3 and 5" in text and re.search(r"\d+ frames of tfnb left out", text)


def test_an_error_that_names_no_tensor_is_told_with_those_of_the_call(shown) -> None:
    text = shown("h = tf.placeholder(tf.float32, [None, 24], 'x')\ny = tf.placeholder(tf.float32, [None, 10], 't')\n"
                 "tf.losses.softmax_cross_entropy(y, logits=h)")
    assert "Shapes (?, 24) and (?, 10) are incompatible" in text
    assert "`h` ('x:0') is float32 [?,24], made at " in text and "`y` ('t:0') is float32 [?,10]" in text
    text = shown("x = tf.placeholder(tf.float32, [None, 4])\nmodel(x)")
    assert text.count("is float32 [?,3]") == 1, "an error that says so is left as it is"


def test_functions_that_tfnb_calls_are_the_users(shown) -> None:
    text = shown("tf.data.Dataset.range(3).map(wrong)")
    assert places(text) == ["<cell 2>", "<cell 1>"] and "NameError" in text and "left out" in text
    assert places(shown("with tf.Graph().as_default(), tf.name_scope('a'):\n    tf.get_variable('v')"))[1:] == []


def test_libraries_that_tfnb_calls_are_not_shown(shown) -> None:
    text = shown("tf.layers.dense(5)")
    assert places(text) == ["<cell 2>"] and "TypeError: dense(): missing a required argument: 'units'" in text
    assert places(shown("tf.data.Dataset.range(3).map(lambda v: __import__('json').loads(v))"))[0] == "<cell 2>"
    assert any("decoder" in place or "json" in place for place in places(shown(
        "tf.data.Dataset.range(3).map(lambda v: __import__('json').loads('{'))"))), "what the user calls is"


def test_an_interrupt_shows_where_the_user_was(shown, monkeypatch) -> None:
    scope: dict = {}
    exec(compile("def slow(*args):\n    raise KeyboardInterrupt", tf.__file__, "exec"), scope)
    monkeypatch.setattr(tf, "no_op", scope["slow"])
    assert places(shown("tf.no_op()")) == ["<cell 2>"]


def test_frames_are_shown_if_asked_for(shown, monkeypatch) -> None:
    monkeypatch.setitem(settings.__dict__, "full_tracebacks", True)
    text = shown("tf.Session().run(tf.Variable(1.))")
    assert any("session.py" in place for place in places(text)) and "left out" not in text


def test_faults_of_ours_are_shown_whole(shown, monkeypatch) -> None:
    code = compile("def fault(*args):\n    raise AttributeError('a fault')", tf.__file__, "exec")
    scope: dict = {}
    exec(code, scope)
    monkeypatch.setattr(tf, "no_op", scope["fault"])
    text = shown("tf.no_op()")
    assert len(places(text)) == 2 and "left out" not in text


def test_errors_of_other_code_stay_as_they_are(shown) -> None:
    text = shown("import json\njson.loads('{')")
    assert any("decoder.py" in place for place in places(text)) and "left out" not in text


def test_an_error_of_tfnb_alone_is_no_cause_to_show(shown) -> None:
    shapes = "labels, logits = (tf.placeholder(tf.float32, [None, 3]) for _ in range(2))\n" \
             "out = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)\n"
    text = shown(shapes + "tf.Session().run(out, {labels: [[1, 0, 0]] * 3, logits: [[1, 0, 0]] * 2})")
    assert places(text) == ["<cell 2>"] and "direct cause" not in text and "(2, 3) and (3, 3)" in text
    text = shown("def half(v):\n    return v / 'a'\ntf.Session().run(tf.py_func(half, [1.0], tf.float32))")
    assert places(text) == ["<cell 2>", "<cell 2>"] and "direct cause" in text, "of a cause the user's lines are shown"
    text = shown("try:\n    int('x')\nexcept ValueError as error:\n    raise KeyError(1) from error")
    assert "direct cause" in text, "causes of other code are shown"


def test_a_name_that_tfnb_does_not_have_is_told_with_the_nearest(shown) -> None:
    text = shown("tf.nn.sofmax([1.])")
    assert places(text) == ["<cell 2>"] and "Did you mean 'softmax'?" in text
    assert "Did you mean 'LSTMCell'?" in shown("tf.nn.rnn_cell.LSTMCel(3)")
    assert "Did you mean 'run'?" in shown("tf.Session().rnu(1)")
    assert "Did you mean 'from_tensor_slices'?" in shown("tf.data.Dataset.from_tensors_slice([1])")
    assert "Did you mean" not in shown("tf.kernel_s"), "nothing near, and 'kernels' is no public name"
    assert "Did you mean" not in shown("import json\njson.lods('{}')"), "not tfnb's"


def test_modules_that_there_are_not_and_files_of_the_user(shown, tmp_path, monkeypatch) -> None:
    scope: dict = {}
    exec(compile("def find(*args):\n    raise ModuleNotFoundError('none', name='keras')\n"
                 "def look_up():\n    raise AttributeError('none', name='keras', obj=contextlib)\nimport contextlib",
                 as_tensorflow.__file__, "exec"), scope)
    monkeypatch.setattr(tf, "no_op", scope["find"])
    assert places(shown("tf.no_op()")) == ["<cell 2>"]
    monkeypatch.setattr(tf, "no_op", scope["look_up"])
    assert places(shown("tf.no_op()")) == ["<cell 2>"]
    text = shown(f"tf.train.import_meta_graph({str(tmp_path / 'none')!r})")
    assert places(text)[0] == "<cell 2>" and "meta_graph.py" not in text
