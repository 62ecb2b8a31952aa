"""%tfnb, --help, misspelt magics and completion, in a real kernel."""
from __future__ import annotations

import pytest

from tests.notebook.kernel import Page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page():
    page = Page()
    assert "%tfnb shows what there is" in page.run("import tfnb as tf\n%load_ext tfnb", "setup")
    page.run("x = tf.placeholder(tf.float32, [2], name='input_of_x')\nw = tf.Variable([1.0, 2.0], name='w')", "model")
    page.run("loss = tf.reduce_sum(w * x, name='total')", "loss")
    yield page
    page.close()


def press(page, name):
    """Press a button of the page that the notebook calls `start`."""
    page.run(f"start.hear({{'type': 'do', 'name': {name!r}}}); print(start.note)", "press")
    return page.text("press")


def test_it_tells_how_the_notebook_stands_and_what_there_is(page):
    shown = page.run("%tfnb", "t")
    assert "ops and 1 variable." in shown and ("No session is open" in shown or "1 session open: sess" in shown)
    for name, what in (("%graph", "Draw the graph, or a part of it"), ("%%train", "Repeat the cell beside"),
                       ("%step", "Go through a run op by op"), ("%ckpt", ""), ("%stale", "")):
        assert any(line.split()[:1] == [name] and what in line for line in shown.splitlines()), name
    found = page.run("ip = get_ipython(); print(*('%' * (1 + (kind == 'cell')) + name for kind, magics in "
                     "ip.magics_manager.magics.items() for name, magic in magics.items() "
                     "if 'tfnb' in getattr(magic, '__module__', '')))", "names").split()
    assert len(found) > 15 and {name for name in found if f"\n  {name} " not in shown} == set()


def test_its_buttons_initialize_run_stale_cells_and_stop_trainings(page):
    page.run("sess = tf.Session()", "sess")
    page.run("start = %tfnb", "t")
    assert "1 variable without a value in sess: w" in page.run("start", "t")
    assert press(page, "init") == "initialized: w"
    page.run("w = tf.Variable([1.0, 2.0, 3.0], name='w')\nx = tf.placeholder(tf.float32, [3])", "model")
    assert "1 cell must run again" in page.run("start", "t")
    page.run("sess.run(w.initializer)", "u")
    page.run("import threading; start.note = ''", "u")
    assert "again; no cell is stale" in press(page, "stale")
    page.run("%%train --as r --no-live\nvalue = sess.run(loss, {x: [1, 2, 3]})", "train")
    assert "is running at step" in page.run("start", "t")
    assert "ended at step" in press(page, "stop")
    assert press(page, "nothing of that name") == page.text("press")


def test_what_fails_is_told_on_the_page(page):
    page.run("sess, other = tf.Session(), tf.Session()", "sess")
    page.run("start = %tfnb", "t")
    assert "NoSessionError: several sessions are open" in press(page, "init")
    page.run("other.close(); del other", "other")


def test_help_of_each_magic(page):
    assert "Draw the graph, or a part of it" in page.run("%tfnb help graph", "t")
    assert "%%graph" in page.run("%tfnb help graph", "t"), "both magics of that name"
    assert page.run("%%train --help\n1", "t").startswith("%%train [--steps N]")
    for line in ("%graph --help", "v = %fetch --help", "%%train --help\n1", "%nan -h", "%stale --help", "%ckpt --help"):
        shown = page.run(line, "t")
        assert "UsageError" not in shown and len(shown) > 60, line
    assert "did you mean 'graph'" in page.run("%tfnb help graf", "t")
    assert "help NAME" in page.run("%tfnb nonsense", "t")


def test_the_nearest_magic_is_told(page):
    assert "Did you mean %graph?" in page.run("%graf loss", "t")
    assert "Did you mean %%train?" in page.run("%%trian\n1", "t")
    assert "Did you mean" not in page.run("%xyzzy", "t")
    assert "name what to run" in page.run("%fetch", "t") and "name what to run" in page.run("%profile", "t")


def test_the_users_names_are_completed(page):
    def complete(code):
        reply = page.client.complete(code, len(code), reply=True, timeout=30)["content"]
        return reply["matches"]
    assert "loss" in complete("%graph lo") and "loss" in complete("%fetch los") and "loss" in complete("%why l")
    assert complete("%graph tot") == ["total"], "the names of ops, too"
    options = complete("%graph --")
    assert "--level" in options and "--help" in options and "--reset" not in options
    assert "--reset" in complete("%%graph --")
    assert complete("%tfnb he") == ["help"]


def test_nan_leaves_no_traces_and_a_stepper_that_is_assigned_is_shown(page):
    page.run("sess = tf.Session()", "sess")
    page.run("a = tf.constant([1.0, 2.0])\nmade = tf.reduce_sum(2.0 * a, name='made')", "made")
    count = "print(len(tf.get_default_graph().get_operations()))"
    before = page.run(count, "u")
    found = page.run("1\nr = %nan tf.log(a - 1.0) --session sess\nprint(r.report)", "t")
    assert "comes from" in found and ", line 2: `r = " in found, "made in the line of the magic"
    assert page.run(count, "u") == before
    shown = page.run("s = %step made --session sess", "t")
    assert "Step" in shown and "Queue of ops" in shown
    assert page.run("%step made --session sess", "t").count("Queue of ops") == 1
    assert "Queue of ops" in page.run("s", "t")
