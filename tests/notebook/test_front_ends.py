"""Kernels under front ends that can't run here: what VS Code and Colab send, and Colab's own old IPython.

What they send was read in their sources: microsoft/vscode-jupyter (cellExecution.ts), googlecolab/colabtools
(_history.py, output/_widgets.py).
"""
import os
import re

import pytest

from tests.notebook.kernel import Page, by_colab, by_vscode

pytestmark = pytest.mark.slow

SETUP = "import tfnb as tf, numpy as np\n%load_ext tfnb"
MODEL = """x = tf.placeholder(tf.float32, [None, 8], name="x")
w = tf.Variable(tf.zeros([8, 1]), name="w")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1), name="loss")"""
OPTIMIZER = "opt = tf.train.GradientDescentOptimizer(0.01)\ntrain = opt.minimize(loss)"
SESSION = """sess = tf.Session()
sess.run(tf.global_variables_initializer())
feed = {x: np.ones((4, 8), "f")}"""
STEP = "ignored, loss_now = sess.run([train, loss], feed)"
SCRIPT = "application/javascript"
NAMED = re.compile(r'data-tfnb="\w{16}"|, "\w{16}"\);$')       # of a picture or table; of a script
WIDGET = "application/vnd.jupyter.widget-view+json"
# as google.colab.output does, which colab's kernels have imported
COLAB = """import sys, types, IPython
def add_address(message):
    if "application/vnd.jupyter.widget-view+json" in message["content"].get("data", {}):
        message["content"]["metadata"]["application/vnd.jupyter.widget-view+json"] = address
    return message
def enable_custom_widget_manager():
    if colab._widgets._installed_url is None:
        colab._widgets._installed_url = "https://manager"
        IPython.get_ipython().display_pub.register_hook(add_address)
colab = sys.modules["google.colab.output"] = types.ModuleType("google.colab.output")
colab._widgets = types.SimpleNamespace(_installed_url=None)
colab.enable_custom_widget_manager = enable_custom_widget_manager
address = {"colab": {"custom_widget_manager": {"url": "https://manager"}}}"""


def begun(page):
    for cell, code in (("setup", SETUP), ("model", MODEL), ("opt", OPTIMIZER), ("sess", SESSION)):
        assert "Error" not in page.run(code, cell)
    return page


def the_cells_own_their_ops(page):
    assert "1 variable kept · as before" in page.run(MODEL, "model")
    page.run(MODEL.replace("square", "abs"), "model")
    assert "run again" in page.text("opt")
    assert "no cell is stale" in page.run("%stale run", "other")
    assert "run again" not in page.text("opt")
    for cell, code in (("model", MODEL), ("opt", OPTIMIZER), ("sess", SESSION)):
        page.run(code, cell)


def the_training_leaves_the_notebook_free(page):
    page.run(f"%%train --as r --no-live\n{STEP}", "train")
    assert page.run("print(r.status)", "other") == "running"
    page.run("r.stop()", "other")


def test_only_jupyterlab_gets_views_without_a_widget_in_the_output(page, vscode):
    page.run(SETUP, "B")
    page.run(MODEL, "C")
    for magic in ("%graph", "%vars", "%live"):
        page.run(magic, "D")
        vscode.run(magic, "D")
        here, there = [list(each.outputs["D"][0]["data"]) for each in (page, vscode)]
        assert WIDGET not in here and WIDGET in there
        named = [kind for kind, form in page.outputs["D"][0]["data"].items() if NAMED.search(form)]
        assert named == [kind for kind in here if kind != "text/plain"] and SCRIPT not in there


@pytest.fixture
def vscode():
    page = begun(Page(by_vscode))
    yield page
    page.close()


def test_vscode(vscode):
    the_cells_own_their_ops(vscode)
    the_training_leaves_the_notebook_free(vscode)
    # it tells of no deleted cell, and sends no empty one: a comment, run, takes the ops away
    assert "0 ops · 37 removed" in vscode.run("# later", "opt")
    assert vscode.run("print([op.name for op in tf.get_default_graph().get_operations() if 'grad' in op.name])",
                      "other") == "[]"


MAGICS = ("%graph", "%vars", "%fetch loss --feed feed", "%slots w --loss loss --feed feed", "%nan loss --feed feed",
          "%step loss --feed feed", "%profile train --feed feed", "%collections", "%why train", "%queues", "%stale",
          "%live", "%graph loss --values --feed feed")


@pytest.fixture(params=["this", "colab"])
def colab(request):
    """Colab's messages for this IPython, and for the one of $TFNB_COLAB_PYTHON.

    To make one: python3.12 -m venv colab; colab/bin/pip install ipython==7.34.0 ipykernel==6.17.1 ipywidgets==7.7.1
    anywidget, and what pyproject.toml lists as dependencies.
    """
    python = os.environ.get("TFNB_COLAB_PYTHON")
    if request.param == "colab" and not python:
        pytest.skip("TFNB_COLAB_PYTHON names no Python with Colab's versions of IPython and ipykernel")
    page = Page(by_colab, python) if request.param == "colab" else Page(by_colab)
    page.run(COLAB, "colab")
    yield begun(page)
    page.close()


def test_colab(colab):
    the_cells_own_their_ops(colab)
    the_training_leaves_the_notebook_free(colab)
    for magic in MAGICS:
        shown = colab.run(magic, "magic")
        assert shown and "Error" not in shown, magic
        for output in colab.outputs["magic"]:
            if WIDGET in output.get("data", {}):
                assert output["metadata"] == {WIDGET: {"colab": {"custom_widget_manager": {"url": "https://manager"}}}}
    assert re.search(r"made +cell \[9\], line 3: `loss", colab.run("%why loss", "magic"))
    assert "loss" in colab.client.complete("%graph los", 10, reply=True, timeout=20)["content"]["matches"]
