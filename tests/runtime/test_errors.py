"""Errors as issue 2 states them: TensorFlow's class, the op's name, the user's file, line and source text, the shapes
and dtypes; the same class at the first run (interpreted) and at the second (compiled); and then everything works on.

Each case is a snippet that ends in the line that fails; `words` must all stand in the message. Real TensorFlow says
which class the error has.
"""
from __future__ import annotations

import textwrap

import numpy as np
import pytest

import tests.differential as differential
import tfnb as tf
from tfnb.core.options import options
from tfnb.runtime.runners.interpreter import named

# (build, run that fails, words of the message, run that works afterwards)
RUNNING = {
    "feed of a wrong shape": (
        "x = tf.placeholder(tf.float32, [None, 3], name='pixels')\ny = x * 2.0",
        "sess.run(y, {x: np.zeros([2, 4])})",
        ["pixels:0", "(2, 4)", "(?, 3)", "x = tf.placeholder(tf.float32, [None, 3]"],
        "sess.run(y, {x: np.zeros([2, 3])})"),
    "feed of a wrong rank": (
        "x = tf.placeholder(tf.float32, [3], name='pixels')\ny = x * 2.0",
        "sess.run(y, {x: 1.0})", ["pixels:0", "()", "(3,)"], "sess.run(y, {x: [1, 2, 3]})"),
    "feed of a wrong dtype": (
        "x = tf.placeholder(tf.float32, [2], name='pixels')\ny = x * 2.0",
        "sess.run(y, {x: ['a', 'b']})", ["pixels:0", "float32", "'a'", "(2,)"], "sess.run(y, {x: [1, 2]})"),
    "feed of a number too large": (
        "n = tf.placeholder(tf.int32, [], name='count')\ny = n + 1",
        "sess.run(y, {n: 2 ** 40})", ["1099511627776", "int32", "count"], "sess.run(y, {n: 2})"),
    "feed of numbers for strings": (
        "s = tf.placeholder(tf.string, [2], name='words')\ny = tf.identity(s)",
        "sess.run(y, {s: [1, 2]})", ["words:0", "Unsupported object type int"], "sess.run(y, {s: ['a', 'b']})"),
    "feed of a tensor": (
        "x = tf.placeholder(tf.float32, [], name='x')\nc = tf.constant(1.0, name='c')\ny = x * 2.0",
        "sess.run(y, {x: c})", ["cannot be a tf.Tensor object", "'c:0'", "'x:0'"], "sess.run(y, {x: 1.0})"),
    "missing feed": (
        "x = tf.placeholder(tf.float32, [None, 3], name='pixels')\ny = x * 2.0",
        "sess.run(y)", ["You must feed a value for placeholder tensor 'pixels'", "dtype float", "[?,3]"],
        "sess.run(y, {x: np.zeros([2, 3])})"),
    "missing feed of two": (
        "a = tf.placeholder(tf.float32, name='a')\nb = tf.placeholder(tf.int64, [], name='b')\n"
        "y = a * tf.cast(b, tf.float32)",
        "sess.run(y, {a: 1.0})", ["placeholder tensor 'b'", "int64", "[]"], "sess.run(y, {a: 1.0, b: 2})"),
    "uninitialized variable": (
        "v = tf.Variable([1.0, 2.0], name='weights', trainable=False)\ny = tf.square(v, name='squared')",
        "sess.run(y)", ["weights", "uninitialized", "global_variables_initializer"], "sess.run(v.initializer)"),
    "uninitialized variable that is fetched": (
        "v = tf.Variable([1.0, 2.0], name='weights')\ny = v.op", "sess.run(v)", ["weights", "uninitialized"],
        "sess.run(v.initializer)"),
    "update of an uninitialized variable": (
        "v = tf.Variable([1.0, 2.0], name='weights')\ny = v.assign_add([1.0, 1.0], name='more')",
        "sess.run(y)", ["weights", "uninitialized", "more"], "sess.run(v.initializer)"),
    "op of another graph": (
        "y = tf.constant(1.0)\nwith tf.Graph().as_default():\n    other = tf.constant(2.0, name='stranger')",
        "sess.run(other)", ["stranger:0", "not an element of this graph"], "sess.run(y)"),
    "feed of another graph": (
        "y = tf.constant(1.0)\nwith tf.Graph().as_default():\n    other = tf.placeholder(tf.float32, name='stranger')",
        "sess.run(y, {other: 1.0})", ["stranger:0", "not an element of this graph"], "sess.run(y)"),
    "a name that is not there": (
        "y = tf.constant(1.0)", "sess.run('stranger:0')", ["stranger"], "sess.run(y)"),
    "no graph element": ("y = tf.constant(1.0)", "sess.run([y, 5])", ["5", "int"], "sess.run(y)"),
    "bad index": (
        "i = tf.placeholder(tf.int32, [None], name='i')\ny = tf.gather([1.0, 2.0, 3.0], i, name='chosen')",
        "sess.run(y, {i: [0, 7]})", ["chosen", "indices[1] = 7 is not in [0, 3)"], "sess.run(y, {i: [2]})"),
    "bad label": (
        "i = tf.placeholder(tf.int32, [None], name='i')\ny = tf.nn.sparse_softmax_cross_entropy_with_logits("
        "labels=i, logits=tf.zeros([2, 3]), name='loss')",
        "sess.run(y, {i: [0, 3]})", ["loss", "label value of 3", "[0, 3)"], "sess.run(y, {i: [0, 2]})"),
    "labels of another number than logits": (
        "i = tf.placeholder(tf.int32, [None], name='i')\nx = tf.placeholder(tf.float32, [None, 3])\n"
        "y = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x, name='loss')",
        "sess.run(y, {i: [0], x: np.zeros([2, 3])})", ["loss", "1", "2"],
        "sess.run(y, {i: [0, 2], x: np.ones([2, 3])})"),
    "bad reshape": (
        "x = tf.placeholder(tf.float32, [None], name='x')\ny = tf.reshape(x, [2, 3], name='table')",
        "sess.run(y, {x: np.zeros(5)})", ["table", "5", "[2, 3]"], "sess.run(y, {x: np.zeros(6)})"),
    "bad reshape to what is fed": (
        "x = tf.placeholder(tf.float32, [None], name='x')\ns = tf.placeholder(tf.int32, [2])\n"
        "y = tf.reshape(x, s, name='table')",
        "sess.run(y, {x: np.zeros(5), s: [2, -1]})", ["table", "5", "2"], "sess.run(y, {x: np.zeros(5), s: [5, -1]})"),
    "shapes that don't broadcast": (
        "a = tf.placeholder(tf.float32, name='a')\nb = tf.placeholder(tf.float32)\ny = tf.add(a, b, name='c')",
        "sess.run(y, {a: np.zeros([2, 3]), b: np.zeros(2)})", ["'c'", "[2, 3]", "[2]"],
        "sess.run(y, {a: np.zeros([2, 3]), b: np.zeros(3)})"),
    "matrices that don't fit": (
        "a = tf.placeholder(tf.float32, name='a')\ny = tf.matmul(a, tf.ones([3, 2]), name='product')",
        "sess.run(y, {a: np.zeros([2, 4])})", ["'product'", "[2, 4]", "[3, 2]"], "sess.run(y, {a: np.zeros([2, 3])})"),
    "an assigned value of another shape": (
        "v = tf.Variable([1.0, 2.0], name='v')\nx = tf.placeholder(tf.float32)\ny = tf.assign(v, x, name='put')",
        "sess.run(y, {x: [1, 2, 3]})", ["put", "[2]", "[3]"], "sess.run(y, {x: [3, 4]})"),
    "concat of other widths": (
        "a = tf.placeholder(tf.float32, name='a')\ny = tf.concat([a, tf.ones([1, 2])], 0, name='both')",
        "sess.run(y, {a: np.zeros([2, 3])})", ["both", "[2, 3]", "[1, 2]"], "sess.run(y, {a: np.zeros([2, 2])})"),
    "an axis that is not there": (
        "x = tf.placeholder(tf.float32, name='x')\na = tf.placeholder(tf.int32)\ny = tf.reduce_sum(x, a, name='total')",
        "sess.run(y, {x: np.zeros([2, 3]), a: 2})", ["total", "2"], "sess.run(y, {x: np.zeros([2, 3]), a: 1})"),
    "an integer divided by zero": (
        "n = tf.placeholder(tf.int32, [], name='n')\ny = tf.floordiv(7, n, name='share')",
        "sess.run(y, {n: 0})", ["share", "division by zero"], "sess.run(y, {n: 2})"),
    "a number that is none": (
        "x = tf.placeholder(tf.float32, [2])\ny = tf.check_numerics(tf.log(x), 'look at the log', name='checked')",
        "sess.run(y, {x: [1, -1]})", ["checked", "look at the log", "NaN"], "sess.run(y, {x: [1, 2]})"),
    "a negative size": (
        "n = tf.placeholder(tf.int32, [], name='n')\ny = tf.fill([n, 2], 1.0, name='filled')",
        "sess.run(y, {n: -1})", ["filled", "-1"], "sess.run(y, {n: 1})"),
    "a negative size of random numbers": (
        "n = tf.placeholder(tf.int32, [], name='n')\ny = tf.random_uniform([n, 2], name='noise')",
        "sess.run(y, {n: -1})", ["noise"], "sess.run(y, {n: 1})"),
    "a counter at its limit": (
        "v = tf.Variable(0, name='epoch')\nwith tf.control_dependencies([v.initializer]):\n"
        "    zero = tf.identity(v)\ny = v.count_up_to(0)",
        "(sess.run(v.initializer), sess.run(y))", ["0"], "sess.run(zero)"),
}
NOT_AN_OP = {"feed of a tensor", "op of another graph", "feed of another graph", "a name that is not there",
             "no graph element"}


@pytest.fixture(scope="module")
def theirs(oracle):
    snippets = [f"{build}\nsess = tf.Session()\n{fails}" for build, fails, _, _ in RUNNING.values()]
    return dict(zip(RUNNING, differential.there(oracle, snippets), strict=True))


def define(tmp_path, build):
    """Run `build` as a file of its own: its line and text stand in messages."""
    path = tmp_path / "model.py"
    path.write_text(textwrap.dedent(build), encoding="utf-8")
    scope = {"tf": tf, "np": np}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    return scope


def kind_of(error):
    """As differential.outcome writes it."""
    if isinstance(error, tf.errors.OpError):
        return f"raises {type(error).__name__}"
    return "raises " + next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


def failures(scope, run, times=3):
    """The errors of running the same line several times."""
    for _ in range(times):
        with pytest.raises(Exception) as caught:  # noqa: B017, PT011
            eval(run, scope)
        yield caught.value


@pytest.mark.parametrize("case", RUNNING)
@pytest.mark.parametrize("mode", ["never", "second", "always"])
def test_while_running(case, mode, tmp_path, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    build, fails, words, works = RUNNING[case]
    scope = define(tmp_path, build)
    with tf.Session() as scope["sess"]:
        errors = [*failures(scope, fails)]
        assert len({type(e) for e in errors}) == 1, errors
        for error in errors:
            text = str(error)
            missing = [word for word in words if word not in text]
            assert not missing, f"{missing} not in: {text}"
            if case not in NOT_AN_OP:
                lines = [line for line in text.splitlines() if "model.py:" in line]
                assert lines, f"the user's file is not in: {text}"
                line = int(lines[0].split("model.py:")[1].split(":")[0].split()[0])
                assert build.splitlines()[line - 1].strip()[:60] in lines[0], lines[0]
        graph_before = len(tf.get_default_graph().get_operations())
        for _ in range(2):
            eval(works, scope)
        assert len(tf.get_default_graph().get_operations()) == graph_before
        if "uninitialized" not in case:
            assert [type(error) for error in failures(scope, fails, 1)] == [type(errors[0])]


@pytest.mark.parametrize("case", RUNNING)
def test_the_class_is_tensorflows(case, theirs, tmp_path):
    build, fails, _, _ = RUNNING[case]
    scope = define(tmp_path, build)
    with tf.Session() as scope["sess"]:
        (error,) = failures(scope, fails, 1)
    assert kind_of(error) == theirs[case]


# While the graph is built: (line that fails, words of the message)
BUILDING = {
    "matrices that don't fit": ("tf.matmul(a, b, name='product')", ["product", "3", "4", "[2,3]", "[4,5]"]),
    "shapes that don't broadcast": ("tf.add(a, b, name='total')", ["total", "[2,3]", "[4,5]"]),
    "operator": ("a * b", ["mul", "[2,3]", "[4,5]"]),
    "reshape": ("tf.reshape(a, [4, 2], name='table')", ["table", "6", "[4,2]"]),
    "concat": ("tf.concat([a, b], 0, name='both')", ["both", "3", "5"]),
    "axis": ("tf.reduce_sum(a, 2, name='total')", ["total", "2"]),
    "dtypes": ("tf.add(a, i, name='total')", ["float32", "int32", "'y' of 'Add"]),
    "dtype of an operator": ("a + i", ["float32", "int32"]),
    "a type that the op does not take": ("tf.nn.softmax(i, name='chances')", ["int32"]),
    "a value of another type": ("tf.add(i, 1.5, name='total')", ["int32", "'y' of 'Add"]),
    "an op of another graph": ("tf.add(a, other, name='total')", ["stranger", "graph"]),
    "assigned shape": ("tf.assign(v, a, name='put')", ["put", "[2]", "[2,3]"]),
    "no constant": ("tf.constant([[1, 2], [3]], name='table')", []),
    "bias": ("tf.nn.bias_add(a, tf.ones([2]), name='shifted')", ["shifted", "3", "2"]),
    "transpose": ("tf.transpose(a, [0, 1, 2], name='turned')", ["turned", "2", "3"]),
    "slice": ("a[5]", ["5"]),
    "labels": ("tf.nn.softmax_cross_entropy_with_logits(labels=a, logits=b, name='loss')", ["3", "5"]),
    "stack": ("tf.stack([a, b], name='both')", ["both", "[2,3]", "[4,5]"]),
    "variable shape": ("tf.get_variable('w', [3], initializer=tf.ones([2]))", ["do not specify shape"]),
    "existing variable": ("[tf.get_variable('w', [3]) for _ in range(2)]", ["w", "already exists"]),
    "gradient of nothing": ("tf.train.GradientDescentOptimizer(0.1).minimize(a)", ["No variables to optimize"]),
}
SCENE = """
a = tf.placeholder(tf.float32, [2, 3], name='a')
b = tf.placeholder(tf.float32, [4, 5], name='b')
i = tf.placeholder(tf.int32, [2, 3], name='i')
v = {variable}
with tf.Graph().as_default():
    other = tf.constant(2.0, name='stranger')
"""


def scene(case):
    return SCENE.format(variable="None" if case.startswith("gradient") else "tf.Variable([1.0, 2.0], name='v')")


@pytest.mark.parametrize("case", BUILDING)
def test_while_building(case, tmp_path):
    line, words = BUILDING[case]
    scope = define(tmp_path, scene(case))
    path = tmp_path / "line.py"
    path.write_text(f"\n\n{line}\n", encoding="utf-8")
    with pytest.raises((ValueError, TypeError)) as caught:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    text = str(caught.value)
    missing = [word for word in words if word not in text.replace(", ", ",")]
    assert not missing, f"{missing} not in: {text}"
    assert any(entry.path == path and entry.lineno == 2 for entry in caught.traceback)
    y = tf.matmul(scope["a"], tf.ones([3, 1]))
    with tf.Session() as sess:
        assert sess.run(y, {"a:0": np.ones([2, 3])}).tolist() == [[3], [3]]


def test_the_class_is_tensorflows_while_building(oracle, tmp_path):
    snippets = [scene(case) + line for case, (line, _) in BUILDING.items()]
    ours, theirs = differential.here(snippets), differential.there(oracle, snippets)
    assert dict(zip(BUILDING, ours, strict=True)) == dict(zip(BUILDING, theirs, strict=True))
    assert all(str(kind).startswith("raises") for kind in ours)


def test_an_op_made_in_a_function_names_its_innermost_line(tmp_path):
    scope = define(tmp_path, "def layer(x):\n    return tf.reshape(x, [7], name='seven')\n\n"
                             "x = tf.placeholder(tf.float32)\ny = layer(x)\n")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(scope["y"], {scope["x"]: [1.0]})
    assert "model.py:2 in layer: `return tf.reshape(x, [7], name='seven')`" in str(caught.value)
    assert caught.value.op is scope["y"].op and caught.value.error_code == 3
    assert caught.value.node_def.name == "seven"


def test_a_shape_error_while_building_names_the_user_line(tmp_path):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        define(tmp_path, "x = tf.ones([2, 3])\ny = tf.matmul(x, x, name='square')\n")
    assert "model.py:2" in str(caught.value) and "tf.matmul(x, x" in str(caught.value)


def test_only_attributes_of_handles_are_the_users_fault():
    """An op that takes a handle of another kind was misused; any other AttributeError is ours, and stays as it is."""
    op, handle = tf.identity(1.0).op, object()
    held = np.array([handle], object)
    errors = [AttributeError("no pop", name="pop", obj=obj) for obj in (handle, held, op)]
    made = [named(op, error, [held]) for error in errors]
    assert [isinstance(error, tf.errors.InvalidArgumentError) for error in made] == [True, True, False]
    assert made[2] is errors[2] and made[0].__cause__ is errors[0] and made[0].op is op
