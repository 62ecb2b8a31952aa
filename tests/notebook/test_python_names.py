"""The names that a notebook gives to tensors, as drawings and errors say them."""
from collections import namedtuple
from types import SimpleNamespace

import pytest

import tfnb as tf
from tfnb.notebook.frontend.python_names import name_of, python_names


class Model:
    __module__ = "__main__"


@pytest.fixture
def names():
    x = tf.placeholder(tf.float32, [None, 4], name="in")
    low, high = tf.split(x, 2, axis=1, name="halves")
    model = Model()
    model.logits = tf.layers.dense(low, 3, name="head")
    model._hidden = x
    w = {"h1": tf.Variable(tf.zeros([4]), name="h1_weights"), (1, 2): x}
    pair = namedtuple("Pair", "first second")(low + 1., high)
    other = tf.Graph()
    with other.as_default():
        elsewhere = tf.constant(1.)
    yield {"x": x, "same": x, "_private": x, "low": low, "high": high, "model": model, "w": w, "pair": pair,
           "elsewhere": elsewhere, "Model": Model, "text": "in", "foreign": SimpleNamespace(x=x), "rows": [x] * 1000}
    tf.reset_default_graph()


def test_names_of_variables_entries_and_attributes(names):
    found = python_names(tf.get_default_graph(), names)
    assert found == {"in": ["x", "same"], "halves": ["low"], "halves:1": ["high", "pair.second"],
                     "head/BiasAdd": ["model.logits"], "h1_weights": ["w['h1']"], "add": ["pair.first"]}


def test_name_of_one_tensor(names):
    assert name_of(names["high"], names) == "high"
    assert name_of(names["model"].logits.op, names) == "model.logits"
    assert name_of(names["elsewhere"], names) == "elsewhere"
    assert name_of(tf.constant(0.), names) == ""


def test_outside_of_ipython_nothing_has_a_name(names):
    assert python_names(tf.get_default_graph()) == {}
