"""Failed calls: the function as one box, its arguments with Python names and shapes, what does not fit marked."""
from __future__ import annotations

import functools
import linecache
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import tfnb as tf
from tfnb.notebook.debug.failed_call import failed_call
from tfnb.notebook.debug.failed_cell import partial_graph

SETTING = """
x = tf.placeholder(tf.float32, [None, 3], name="in")
y = tf.placeholder(tf.float32, [None, 4], name="labels")
w = tf.Variable(tf.zeros([5, 4]), name="weights")
h = tf.layers.dense(x, 24, name="hidden")
parts = {"a": x, "b/c": [y, h]}
table = np.zeros([7, 2], np.float32)

class Model:
    def __init__(self):
        self.logits = h
model = Model()

def traced(fn):
    @functools.wraps(fn)
    def inner(*args):
        return fn(*args)
    return inner

@traced
def head(value):
    return tf.matmul(value, w)
"""


def failure(code):
    """The call that failed in a piece of code, and its drawing."""
    scope = {"tf": tf, "np": np, "functools": functools}
    for name, text in (("<setting>", SETTING), ("<piece>", code)):
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    with tf.Graph().as_default():
        exec(compile(SETTING, "<setting>", "exec"), scope)
        with pytest.raises((ValueError, TypeError)) as caught:
            exec(compile(code, "<piece>", "exec"), scope)
        call = failed_call(caught.value)
        return call, partial_graph(call, None) if call is not None else None


@pytest.mark.parametrize("code, function, arguments", [
    ("tf.losses.softmax_cross_entropy(y, h)", "tf.losses.softmax_cross_entropy()",
     "onehot_labels=y[?×4]✗ logits=h[?×24]✗"),
    ("z = tf.nn.softmax_cross_entropy_with_logits(\n    labels=y,\n    logits=model.logits)",
     "tf.nn.softmax_cross_entropy_with_logits()", "labels=y[?×4]✗ logits=model.logits[?×24]✗"),
    ("tf.matmul(x, w, name='p')", "tf.matmul()", "a=x[?×3]✗ b=w[5×4]✗ name='p'"),
    ("z = x @ w", "x @ w", "=x[?×3]✗ =w[5×4]✗"),
    ("z = x / y", "x / y", "=x[?×3]✗ =y[?×4]✗"),
    ("x < y", "x < y", "=x[?×3]✗ =y[?×4]✗"),
    ("x[:, 1, 2]", "x[:, 1, 2]", "=x[?×3]✗ =(:, 1, 2)"),
    ("w.assign(x)", "w.assign()", "=w[5×4]✗ value=x[?×3]✗"),
    ("tf.layers.conv2d(x, 3, 5)", "tf.layers.conv2d()", "inputs=x[?×3]✗ filters=3 kernel_size=5"),
    ("tf.concat([x, parts['b/c'][0]], 0)", "tf.concat()", "values[0]=x[?×3]✗ values[1]=y[?×4]✗ axis=0"),
    ("both = [x, y]\ntf.add_n(both)", "tf.add_n()", "inputs[0]=both[0][?×3]✗ inputs[1]=both[1][?×4]✗"),
    ("tf.nn.bias_add(x, table)", "tf.nn.bias_add()", "value=x[?×3]✗ bias=table[7×2]"),
    ("tf.where(x, y, h)", "tf.where()", "condition=x[?×3]✗ x=y[?×4] y=h[?×24]"),
    ("tf.norm(x, ord='none')", "tf.norm()", "tensor=x[?×3] ord='none'✗"),
    ("tf.matmul(h + 1, -w)", "tf.matmul()", "a=[?×24]✗ b=[5×4]✗"),
    ("head(x)", "tf.matmul()", "a=value[?×3]✗ b=w[5×4]✗"),
    ("tf.map_fn(lambda row: tf.matmul(row, w), x)", "tf.matmul()", "a=row[3]✗ b=w[5×4]✗"),
    ("tf.matmul(*[x, tf.ones([5, 2])])", "tf.matmul()", "a=x[?×3]✗ b=[5×2]✗"),
])
def test_the_call_is_told_as_it_was_written(code, function, arguments):
    call, view = failure(code)
    said = [f"{a.parameter}={a.text}{f'[{a.shape}]' * bool(a.shape)}{'✗' * (not a.fits)}" for a in call.arguments]
    assert (call.function, " ".join(said)) == (function, arguments)
    made = [info for info in view.model.infos if info.failed]
    assert len(made) == 1 and view.svg().count('class="n f-op r-failed"') == 1
    assert not {info.name for info in view.model.infos} & {"Rank", "Slice"}, "nothing that the function made inside"


def test_lines_say_parameters_and_nodes_python_names():
    _, view = failure("tf.losses.softmax_cross_entropy(y, h)")
    drawn = ElementTree.fromstring(view.svg())
    texts = {e.text: e.get("class") for e in drawn.iter() if e.tag.endswith("}text")}
    assert texts["onehot_labels ?×4 ✗"] == texts["logits ?×24 ✗"] == "lab bad"
    assert texts["h"] == texts["y"] == "py" and texts["softmax_cross_entropy()"] == "ttl"
    assert "h = hidden/BiasAdd" in view.to_text() and "of onehot_labels ?×4 ✗, logits ?×24 ✗" in view.to_text()


def test_without_the_source_the_functions_own_values_count():
    with tf.Graph().as_default():
        scope = {"tf": tf, "x": tf.zeros([2, 3]), "y": tf.zeros([2, 4])}
        with pytest.raises(ValueError) as caught:
            exec(compile("tf.matmul(x, y)", "<nowhere>", "exec"), scope)
        call = failed_call(caught.value)
    assert call.function == "matmul()" and [a.parameter for a in call.arguments] == ["a", "b"]


@pytest.mark.parametrize("code", ["tf.Session().run(3)", "tf.norm([1.0], ord='none')", "int('x')",
                                  "tf.Session().run(x, {x: [[1.0]]})", "raise ValueError(x)", "if x > 1: pass",
                                  "np.mean(list(x))"])
def test_what_is_no_call_with_tensors_is_not_drawn(code):
    assert failure(code)[0] is None


def test_hostile_arguments_are_text():
    call, view = failure("tf.norm(x, ord='<script>alert(1)</script>')")
    assert "&lt;script&gt;" in view.svg() and "<script" not in view.svg() and not call.arguments[1].fits
