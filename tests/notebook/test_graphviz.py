"""Drawings as graphviz.Source: what is shown, in the style of our own drawings, and that `dot` understands it."""
import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree

import pytest

import tfnb as tf
from tfnb.notebook.drawing.palette import ROLES
from tfnb.notebook.graph.dot_text import styled_dot
from tfnb.notebook.graph.model import Model
from tfnb.notebook.graph.view import graph_view

graphviz = pytest.importorskip("graphviz", reason="the Python package graphviz is not installed")
RENDERS = pytest.mark.skipif(shutil.which("dot") is None, reason="there is no program `dot` on PATH")


@pytest.fixture(autouse=True)
def network():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        with tf.name_scope("net"):
            h = tf.layers.dense(x, 3, tf.nn.relu, name="first")
            out = tf.layers.dense(h, 2, name="second")
        loss = tf.reduce_mean(tf.square(out), name="loss")
        train = tf.train.AdamOptimizer(0.1).minimize(loss, name="train")
        yield x, out, loss, train


def nodes(source):
    """Key -> attributes of the nodes of a DOT text, as far as a test reads them."""
    return dict(re.findall(r'^  "([^"]+)" \[(.*)\];$', source, re.M))


def test_what_is_shown_is_in_the_source(network):
    view = graph_view(engine="builtin")
    drawn = view.graphviz()
    assert isinstance(drawn, graphviz.Source) and set(nodes(drawn.source)) == {n.key for n in view._scene().nodes}
    assert 'subgraph "cluster_net/"' in drawn.source and 'subgraph "cluster_beside the model"' in drawn.source
    assert '"net/first/" -> "net/second/" [' in drawn.source and "?×3" in drawn.source
    variable = tf.notebook.graphviz(expand=["net/first"], level="layers", engine="builtin").source
    assert ROLES["variable"][0].fill in nodes(variable)["first/kernel/"] and 'cluster_net/first/' in variable
    assert "rankdir=LR" in tf.notebook.graphviz("net", direction="right").source


def test_without_the_program_a_cell_shows_a_line_and_no_error(network, monkeypatch):
    drawn = graph_view(engine="builtin").graphviz()
    monkeypatch.setenv("PATH", "")
    shown = drawn._repr_mimebundle_()
    assert list(shown) == ["text/plain"] and "`dot` must be on PATH" in shown["text/plain"]
    with pytest.raises(graphviz.ExecutableNotFound):
        drawn.pipe(format="svg")


def test_colours_and_traces_are_kept(network):
    by_gradient = graph_view(color="gradient", trace=("net/first", "inputs"), engine="builtin").graphviz().source
    assert "computes a gradient" in by_gradient and "BGCOLOR" in by_gradient, "with a legend"
    plain = nodes(graph_view(engine="builtin").graphviz().source)
    assert nodes(by_gradient)["x"] != plain["x"] and nodes(by_gradient).keys() == plain.keys()


HOSTILE = ['a"]; evil [label=<x>', "<script>alert(1)</script>", "b\\", "node", "x\u2028&amp;", "{a|b}", "\\N\\G"]


def test_names_are_text_whatever_they_are():
    rows = [(name, "Neg", HOSTILE[i - 1:i]) for i, name in enumerate(HOSTILE)]
    made = styled_dot(Model(rows).scene(), "down")
    assert "<script" not in "".join(re.findall("label=<(.*?)>,", made)) and r'"a\"]; evil [label=<x>"' in made
    if shutil.which("dot") is not None:
        drawn = ElementTree.fromstring(graphviz.Source(made).pipe("svg"))
        titles = {e.text for g in drawn.iter() if g.get("class") == "node" for e in g if e.tag.endswith("}title")}
        assert len(titles) == len(HOSTILE) and "evil" not in titles
        assert not [e for e in drawn.iter() if "script" in e.tag]
        words = {e.text for e in drawn.iter() if e.tag.endswith("}text")}
        assert {"<script>alert(1)</script>", "\\N\\G", "b\\", "node", "{a|b}"} <= words


@RENDERS
@pytest.mark.parametrize("options", [{}, {"level": "ops", "depth": 3}, {"expand": ["gradients", "net/first"]},
                                     {"color": "gradient"}, {"trace": ("loss", "inputs")}])
def test_dot_draws_it(options):
    view = graph_view(engine="builtin", **options)
    drawn = ElementTree.fromstring(view.graphviz().pipe("svg", quiet=False))
    titles = [e.text for g in drawn.iter() if g.get("class") == "node" for e in g if e.tag.endswith("}title")]
    assert sorted(titles) == sorted(n.key for n in view._scene().nodes)
    assert view.graphviz().pipe("pdf")[:5] == b"%PDF-"


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    monkeypatch.delitem(vars(sys.modules["tfnb.notebook.graph.dot_text"].package), "Source", raising=False)
    with pytest.raises(ImportError, match=r"%pip install graphviz .*the program `dot`"):
        tf.notebook.graphviz()
