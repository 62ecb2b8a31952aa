"""Mistakes are recognised and explained, each in a real kernel; correct programs of the same kind alarm nobody."""
from __future__ import annotations

import re

import pytest

from tests.notebook.kernel import Page, by_jupyterlab
from tfnb.notebook.lessons.lesson import Lesson
from tfnb.notebook.lessons.table import LESSONS

pytestmark = pytest.mark.slow
SETUP = """import os, random, time
x = tf.placeholder(tf.float32, [None, 4], name="x")
y = tf.placeholder(tf.int64, [None], name="y")
w = tf.Variable(tf.ones([4, 3]), name="w")
logits = tf.matmul(x, w, name="logits")
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name="loss")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
init = tf.global_variables_initializer()
saver = tf.train.Saver()
sess = tf.Session()
sess.run(init)
rows = np.ones([5, 4], np.float32)
feed = {x: rows, y: np.zeros(5, int)}
"""
# lesson -> (code with the mistake, words of the explanation, the fix); "" where there is none
WRONG = {
    "value-in-place-of-tensor": [
        ("loss = sess.run(loss, feed)\nsess.run(loss, feed)", "`loss` is no tensor any more but a value (float32)",
         "loss = sess.graph.get_tensor_by_name('loss:0')"),
        ("for _ in range(2):\n    _, loss = sess.run([train, loss], feed)", "`loss` is no tensor any more",
         "and in the cell: _, loss_value = sess.run([train, loss], feed)"),
        ("with sess.as_default():\n    loss = loss.eval(feed)\n    loss.eval(feed)",
         "`loss` is no tensor any more", "")],
    "overwritten-placeholder": [("x = rows\nsess.run(logits, {x: x})", "in `{x: x}` the key must be the tensor",
                                 "x = sess.graph.get_tensor_by_name('x:0')")],
    "missing-feed": [
        ("sess.run(logits)", "`x` is a placeholder", "sess.run(logits, feed_dict={x: rows})"),
        ("sess.run(loss, {x: rows})", "`y` is a placeholder", "np.zeros([32], np.int64)"),
        ("few = {x: rows}\nsess.run(loss, feed_dict=few)", "int64 of shape [?]",
         "{**few, y: np.zeros([32], np.int64)}")],
    "uninitialized": [
        ("v = tf.Variable(1.0, name='v')\nsess.run(v)",
         "`v` has no value in this session yet: `init` was made before",
         "tf.notebook.initialize(sess)"),
        ("v = tf.Variable(1.0)\nlate = tf.global_variables_initializer()\nsess.run(v * 2)",
         "`late` is made, but did not",
         "tf.notebook.initialize(sess)")],
    "closed-session": [("with tf.Session() as other:\n    pass\nother.run(init)", "`other` is closed",
                        "other = tf.InteractiveSession()")],
    "no-session": [("w.initializer.run()", "there is no default one", "sess = tf.InteractiveSession()")],
    "tensor-as-bool": [
        ("if loss > 1:\n    pass", "Python decides `if` now", "`tf.cond`"),
        ("while loss > 1:\n    pass", "Python decides `while`", "`tf.while_loop`"),
        ("assert loss > 1", "Python decides `assert`", "`tf.Assert`"),
        ("both = loss > 1 and loss < 2", "Python decides `and`", "`tf.logical_and`"),
        ("small = 0 < loss < 1", "a chain of comparisons", "`tf.logical_and`"),
        ("s = not loss > 1", "Python decides `not`", "`tf.logical_not`"),
        ("s = 1 if loss > 1 else 2", "Python decides `if`", "`tf.where`")],
    "tensor-as-list": [("for row in x:\n    pass", "Python can't loop over a tensor", ""),
                       ("a, b = logits", "or unpack it", "")],
    "numpy-of-tensor": [("np.mean(x)", "`np.mean` computes now", "tf.reduce_mean(x)")],
    "fed-tensor": [("ones = tf.ones([2, 4])\nsess.run(logits, {x: ones})", "`ones` is a tensor",
                    "sess.run(logits, {x: sess.run(ones)})")],
    "fed-shape": [
        ("cols = rows.T\nsess.run(logits, {x: cols})", "`cols` is transposed", "{x: cols.T}"),
        ("sess.run(logits, {x: rows[0]})", "lacks the axis of the batch", "{x: rows[0][None]}"),
        ("given = {x: rows.reshape([5, 2, 2])}\nsess.run(logits, given)", "in another shape", ".reshape([-1, 4])"),
        ("column = np.zeros([5, 1], int)\nsess.run(y, {y: column})", "an axis of size 1 too many",
         "{y: column[..., 0]}")],
    "ragged-feed": [("sess.run(logits, {x: [[1, 2, 3, 4], [1]]})", "not of one length", "")],
    "feeds-not-a-dict": [("sess.run(train, loss)", "put it into a list", "sess.run([train, loss])")],
    "feed-by-string": [("sess.run(logits, {'x': rows})", "the key is the Python variable", "{x: ...}")],
    "fetch-of-none": [("def model():\n    tf.identity(loss)\nout = model()\nsess.run(out)", "`out` is None", "")],
    "other-graph": [("with tf.Graph().as_default():\n    one = tf.constant(1.)\nsess.run(one)", "of another one",
        "")],
    "variable-twice": [("tf.get_variable('q', [2])\ntf.get_variable('q', [2])", "called twice for 'q'",
        "AUTO_REUSE")],
    "no-gradients": [("right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))\n"
                      "tf.train.AdamOptimizer().minimize(-right)", "no gradient passes 'Equal' (Equal), made at",
                          "")],
    "label-form": [
        ("hot = tf.one_hot(y, 3)\nl = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=hot, logits=logits)",
         "and these are one-hot", "l = tf.nn.softmax_cross_entropy_with_logits_v2(labels=hot, logits=logits)"),
        ("five = tf.zeros([5])\nl = tf.nn.softmax_cross_entropy_with_logits_v2(labels=five, logits=logits)",
         "these are numbers of classes", "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=five, logits=logits)")],
    "maximize": [("tf.train.AdamOptimizer().maximize(loss)", "go downhill only",
        "tf.train.AdamOptimizer().minimize(-loss)")],
    "dtypes-differ": [("count = tf.size(x)\ntotal = loss * count", "`count` holds integers",
        "tf.cast(count, tf.float32)")],
    "shadowing": [
        ("loss = sess.run(loss, feed)", "Line 1 gave the name `loss` to a value",
         "loss_value = sess.run(loss, feed)"),
        ("_, loss = sess.run([train, loss], feed)", "`loss`", "_, loss_value = sess.run([train, loss], feed)"),
        ("with sess.as_default():\n    loss = loss.eval(feed)", "Line 2", "loss_value = loss.eval(feed)")],
    "growing-graph": [
        ("for i in range(12):\n    sess.run(w.assign(w * 0.5))",
         "line 2 added 36 ops (Mul, Assign) in 12 iterations", ""),
        ("def double(v):\n    return v * 2\nfor i in range(10):\n    twice = double(w)\n    sess.run(twice)",
         "line 4", "")],
    "uncounted-steps": [("step = tf.train.get_or_create_global_step()\nsess.run(step.initializer)\n"
                         "for i in range(3):\n    sess.run([loss, train], feed)", "`step` stays 0",
                         "global_step=step")],
    "starting-in-loop": [("for i in range(3):\n    sess.run(init)\n    sess.run(train, feed)",
        "Line 2 runs the init", "")],
    "starting-after-restore": [("path = saver.save(sess, './m')\nsaver.restore(sess, path)\nsess.run(init)",
                                "Line 3 runs the initializer after line 2", "")],
    "made-not-run": [
        ("tf.global_variables_initializer()", "makes an op", "sess.run(tf.global_variables_initializer())"),
        ("w.assign(w * 2)\nprint('done')", "`w.assign`", "sess.run(w.assign(w * 2))"),
        ("tf.train.AdamOptimizer(0.1).minimize(loss)", "Line 1",
         "train = tf.train.AdamOptimizer(0.1).minimize(loss)"),
        ("tf.Print(loss, [loss])\nprint('done')", "`tf.Print`", "x = tf.Print(x, [x])")],
    "equal-tensors": [
        ("right = tf.cast(y == 1, tf.float32)", "`y == 1` asks Python", "tf.equal(y, 1)"),
        ("guess = tf.argmax(logits, 1)\nright = guess != y\nshare = tf.reduce_mean(tf.cast(right, tf.float32))",
         "Line 2: `guess != y`", "tf.not_equal(guess, y)"),
        ("if loss == 0:\n    pass", "`loss == 0`", "tf.equal(loss, 0)")],
    "once-for-all": [
        ("noisy = tf.map_fn(lambda row: row + np.random.rand(), x)", "so `np.random.rand()` happens once", ""),
        ("def body(i):\n    print('step', i)\n    return i + 1\n"
         "last = tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])", "so `print('step', i)` happens once", ""),
        ("data = tf.data.Dataset.range(3)\nmore = data.map(lambda v: v + int(time.time()))", "`time.time()`", "")],
    "printed-tensor": [("for i in range(2):\n    sess.run(train, feed)\n    print(f'loss {loss}')",
        "prints the tensor", "")],
    "cut-feed": [("marks = np.array([0.5, 2.0])\nsess.run(y, {y: marks})", "`marks` holds float64 with fractions",
        "")],
    "softmax-twice": [
        ("p = tf.nn.softmax(logits)\n"
         "l = tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(y, 3), logits=p)",
         "`p` has been through softmax already", "logits=logits"),
        ("l = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=tf.sigmoid(x))", "through sigmoid",
         "logits=x")],
    "log-of-softmax": [("far = tf.matmul(x, w * [[1., 2e3, 3e4]])\nl = tf.log(tf.nn.softmax(far))\n"
                        "last = sess.run(l, feed)", "`last` is not finite", "tf.nn.log_softmax(far)")],
    "negative-rate": [("t = tf.train.GradientDescentOptimizer(-0.1).minimize(loss)", "The learning rate is -0.1",
        "")],
    "argmax-over-batch": [("hit = tf.equal(tf.argmax(logits), tf.argmax(logits, 0))", "the batch",
        "tf.argmax(logits, 1)")],
}
RIGHT = [
    "loss_value = sess.run(loss, feed)\nprint(loss_value)",
    "_, now = sess.run([train, loss], feed)",
    "def step(loss):\n    loss = sess.run(loss, feed)\n    return loss\nstep(loss)",
    "for i in range(20):\n    sess.run(train, feed)\n    print(i, sess.run(loss, feed))",
    "for i in range(3):\n    with tf.Graph().as_default(), tf.Session() as own:\n"
    "        print(own.run(tf.constant(i)))",
    "for i in range(3):\n    print(sess.run(tf.constant(i)))",
    "h = x\nfor i in range(12):\n    h = tf.nn.relu(h)",
    "adam = tf.train.AdamOptimizer().minimize(loss)\nfor name, op in {'a': adam, 'b': train}.items():\n"
    "    sess.run(tf.global_variables_initializer())\n    for i in range(3):\n        sess.run(op, feed)",
    "for i in range(3):\n    sess.run(train, feed)\nsess.run(init)",
    "step = tf.train.get_or_create_global_step()\nt = tf.train.AdamOptimizer().minimize(loss, global_step=step)\n"
    "sess.run(tf.global_variables_initializer())\nfor i in range(3):\n    sess.run(t, feed)",
    "step = tf.train.get_or_create_global_step()\nup = tf.assign(step, step + 1)\nsess.run(step.initializer)\n"
    "for i in range(3):\n    sess.run([train, up], feed)",
    "sess.run(init)\nsaver.restore(sess, saver.save(sess, './m'))\nprint(sess.run(loss, feed))",
    "path = saver.save(sess, './m')\nif os.path.exists('none'):\n    saver.restore(sess, path)\nelse:\n"
    "    sess.run(init)",
    "tf.summary.scalar('loss', loss)\ntf.add_to_collection('losses', loss)\nprint(x)",
    "assert x is not None and x != None\nsame = logits == logits\nseen = {loss: 1}\nassert loss == loss",
    "right = tf.equal(tf.argmax(logits, 1), y)\nshare = tf.reduce_mean(tf.cast(right, tf.float32))",
    "noisy = tf.map_fn(lambda row: row + tf.random_normal([4]), x)\n"
    "called = tf.map_fn(lambda row: tf.py_func(lambda v: v + np.float32(np.random.rand()), [row], tf.float32), x)",
    "def initial(shape):\n    return np.random.rand(*shape)\nv = tf.Variable(initial([2]), name='v')",
    "p = tf.nn.softmax(logits)\nguess = tf.argmax(p, 1)\nprint(sess.run(p, {x: rows}).sum())",
    "best = tf.argmax(logits, 0)\nsess.run(y, {y: np.array([1., 2.])})",
    "x = rows\nprint(x.sum())",
    "l = tf.log(tf.nn.softmax(logits))\nvalue = sess.run(l, {x: rows})\nnan = float('nan')",
    "try:\n    sess.run(logits)\nexcept tf.errors.InvalidArgumentError:\n    pass",
    "%%time\nvalue = sess.run(loss, feed)",
    "v = tf.Variable(1.0, name='v')\nv.assign(2.0)",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    page = Page(lambda cell, deleted: by_jupyterlab(cell, deleted))
    page.run(f"import os; os.chdir({str(tmp_path_factory.mktemp('here'))!r})\nimport numpy as np, tfnb as tf\n"
             "%load_ext tfnb", "load")
    yield page
    page.close()


@pytest.fixture
def begun(page):
    """The page with the model, and nothing else."""
    page.run("tf.reset_default_graph()", "reset", deleted=["mistake", "next", "begin"])
    shown = page.run(SETUP, "begin")
    assert "Error" not in shown and "Lesson" not in shown
    return page


def test_each_lesson_has_an_example_and_a_section_that_exists():
    assert [lesson.name for lesson in LESSONS] == list(WRONG)
    for lesson in LESSONS:
        assert isinstance(lesson, Lesson) and lesson.sentence.endswith((".", "}.")) and "#" in lesson.section


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_explained(begun, name):
    for code, words, fix in WRONG[name]:
        shown = begun.run(code, "mistake")
        assert "Lesson: " in shown, f"nothing was said of:\n{code}\n{shown}"
        error, _, told = shown.partition("Lesson: ")
        assert words in told and fix in told, told
        lesson = next(each for each in LESSONS if each.name == name)
        assert lesson.failed == bool(re.search(r"^\w+(Error|Exception): ", error, re.MULTILINE)), shown
        begun.run(SETUP, "begin", deleted=["mistake"])


def test_correct_programs_alarm_nobody(begun):
    alarms = {}
    for code in RIGHT:
        shown = begun.run(code, "mistake")
        assert "Error" not in shown, f"{code}\n{shown}"
        if "Lesson" in shown:
            alarms[code] = shown
        begun.run(SETUP, "begin", deleted=["mistake"])
    assert not alarms


def test_a_step_of_a_training_that_fails_is_explained(begun):
    shown = begun.run("%%train --steps 5 --foreground\nloss = sess.run(loss, feed)", "mistake")
    assert "Lesson: `loss` is no tensor any more" in shown


def test_lessons_are_switched_off(begun):
    begun.run("%config Tfnb.lessons = False", "off")
    shown = begun.run("loss = sess.run(loss, feed)\nsess.run(loss)", "mistake")
    begun.run("%config Tfnb.lessons = True", "off")
    assert "TypeError" in shown and "Lesson" not in shown
