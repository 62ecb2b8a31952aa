"""Ops that users declare in cells: owned by the cell, outdated where they are used, with errors that show the line."""
import pytest

pytestmark = pytest.mark.slow

DECLARE = "@tf.custom.elementwise\ndef swish(x):\n    return x * tf.sigmoid(x)"
KNOWN = "from tfnb.opdef import registry\nprint(sorted(registry.CUSTOM))"


def test_a_cell_owns_the_ops_it_declares(page):
    page.run(DECLARE, "A")
    page.run("y = swish(tf.constant([0.0, 2.0]))\nz = y * 2", "B")
    assert "Swish" in page.run("print(y.op.type)", "look") and "['Swish']" in page.run(KNOWN, "known")
    page.run(DECLARE.replace("x * tf.sigmoid(x)", "-x"), "A")
    assert "run again" in page.text("B") and "swish() changed" in page.text("B")
    assert "1.76" in page.run("print(tf.Session().run(y))", "look")
    page.run("y = swish(tf.constant([0.0, 2.0]))\nz = y * 2", "B")
    assert "run again" not in page.text("B") and "-2." in page.run("print(tf.Session().run(y))", "look")
    page.run("1 / 0\n" + DECLARE, "A")
    assert "['Swish']" in page.run(KNOWN, "known")
    page.run(DECLARE.replace("def swish", "def silu"), "A")
    assert "['Silu']" in page.run(KNOWN, "known")
    page.run("pass", "G", deleted=["A"])
    assert "[]" in page.run(KNOWN, "known")


def test_a_body_that_cannot_be_compiled_shows_its_line(page):
    page.run("@tf.custom.kernel('x: T -> y: T')\ndef odd(x, y, i):\n    y[i] = x[i]\n    y[i] = open('f')", "A")
    assert "'odd', line 4: expected a number, got 'f'; numba: Untyped global name 'open'" in page.text("A")
    assert "y[i] = open('f')" in page.traceback("A")


def test_an_optimizer_of_a_cell(page):
    declare = "@tf.custom.optimizer\ndef plain(var, grad, *, rate=0.5):\n    return var - rate * grad"
    page.run(declare, "A")
    page.run("v = tf.Variable(1.0)\nstep = plain().minimize(v * v)", "B")
    page.run("sess = tf.Session(); sess.run(tf.global_variables_initializer()); sess.run(step)", "C")
    assert "0.0" in page.run("print(sess.run(v))", "look")
    page.run(declare.replace("var - rate", "var + rate"), "A")
    assert "run again" in page.text("B")
