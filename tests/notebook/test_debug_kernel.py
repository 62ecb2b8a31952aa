"""%nan, %graph --values and %fetch --watch in a real kernel."""
import pytest

pytestmark = pytest.mark.slow

MODEL = """x = tf.placeholder(tf.float32, [2], name='x')
root = tf.sqrt(x, name='root')
loss = tf.reduce_sum(root, name='loss')
sess = tf.Session()"""


def test_nan_names_the_cell_and_the_line(page):
    page.run(MODEL, "B")
    shown = page.run("%nan loss --feed {x: [1.0, -4.0]}", "C")
    assert "'root' (Sqrt), made at cell [" in shown and "line 2: `root = tf.sqrt" in shown
    assert "path    root -> loss" in shown
    assert "text/html" in page.outputs["C"][0]["data"]
    assert "finite" in page.run("v = %nan loss --feed {x: [1.0, -4.0]} --ignore ^ro\nprint(v)", "C")
    assert "over 1" in page.run("%nan loss --feed {x: [1.0, 4.0]} --abs-max 1.5", "C")
    assert page.run("%nan loss --fed {x: [1.0, 4.0]}", "C").endswith("did you mean --feed?")
    assert "no regular expression" in page.run("%nan loss --feed {x: [1.0, 4.0]} --ignore (", "C")
    assert "did you mean 'loss'" in page.run("%nan los", "C")


def test_the_check_is_switched_on_by_config(page):
    page.run(MODEL, "B")
    page.run("%config Tfnb.nan_check = True", "C")
    try:
        assert "InvalidArgumentError: NaN comes from 'root'" in page.run("sess.run(loss, {x: [1.0, -4.0]})", "D")
        page.run("%config Tfnb.nan_ignore = 'root'", "C")
        assert "nan" in page.run("print(sess.run(loss, {x: [1.0, -4.0]}))", "D")
    finally:
        page.run("%config Tfnb.nan_check = False\n%config Tfnb.nan_ignore = ''", "C")


def test_values_are_drawn_on_edges(page):
    page.run(MODEL, "B")
    page.run("%graph loss --values --feed {x: [1.0, -4.0]}", "C")
    assert "50% bad" in page.outputs["C"][0]["data"]["image/svg+xml"]
    shown = page.run("v = %fetch loss --feed {x: [1.0, 4.0]} --watch ^root\nprint(v)", "C")
    assert "loss  float32 3." in shown and shown.endswith("3.0") and "root" in shown
    assert "no regular expression" in page.run("%fetch loss --watch [", "C")


def test_a_run_is_stepped_through(page):
    page.run(MODEL, "B")
    shown = page.run("s = %step loss --feed {x: [1.0, 4.0]} --break loss\ns", "C")
    assert "next is loss, 2 of 2, made at cell [" in shown and "root:0" in shown
    assert page.run("print(s.set('root', [5.0, 5.0]).step().stepper.result)", "D").startswith("[array(10.")
    assert "no regular expression" in page.run("%step loss --feed {x: [1.0, 4.0]} --break (", "C")


def test_a_run_is_fetched_with_its_trace_and_looked_into_for_many_steps(page):
    page.run("import numpy as np\ns = tf.InteractiveSession()\nw = tf.Variable(1.0, name='w')\n"
             "step = tf.assign_add(w, 1.0 + 0.0 * tf.log(3.5 - w, name='log'), name='step')\n"
             "s.run(w.initializer)", "A")
    assert "Log" in page.run("v = %fetch step --trace", "B") and page.run("print(v, s.run(w))", "C") == "2.0 2.0"
    assert "in run 3" in page.run("%nan step --fix-step 50", "D") and page.run("print(s.run(w))", "C") == "2.0"
    page.run("s.close(); del s, w, step, v", "C")
