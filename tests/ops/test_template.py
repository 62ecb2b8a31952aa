"""make_template: variables made once and shared, names of scopes, and what it refuses."""
from __future__ import annotations

import pytest

import tfnb as tf
from tests.differential import here, there
from tests.graph_rows import rows_here, rows_there

BEGIN = """
def scaled(x, name):
    return x * tf.get_variable(name, shape=[], initializer=tf.constant_initializer(1))
"""
GRAPHS = [BEGIN + f"""
m = tf.make_template("m", scaled, create_scope_now_={now}, name="y")
a, b = m(tf.constant(1.)), m(tf.constant(2.))
other = tf.make_template("m", scaled, create_scope_now_={now}, name="y")
c, d = other(3.), other(4.)
with tf.variable_scope("scope") as vs:
    t = tf.make_template("t", scaled, create_scope_now_={now}, name="y")
    t(1.), t(2.)
with tf.variable_scope(vs, reuse=True):
    t = tf.make_template("t", scaled, create_scope_now_={now}, name="y")
    t(1.), t(2.)
def outer(x):
    inner = tf.make_template("inner", scaled, name="k")
    return inner(x) + inner(x)
o = tf.make_template("outer", outer, create_scope_now_={now})
o(1.), o(2.)
u = tf.make_template("n", scaled, unique_name_="u", create_scope_now_={now}, name="y")
u(1.), u(1.)
""" for now in (False, True)]

SNIPPETS = [BEGIN + text for text in (
    """
m = tf.make_template("m", scaled, name="y")
before = [m.name, m.variable_scope, m.variable_scope_name, m.variables, m.trainable_variables, m.local_variables]
m(1.)
names = lambda variables: [v.name for v in variables]
before + [m.variable_scope.name, m.variable_scope_name, names(m.variables), names(m.trainable_variables),
          names(m.global_variables), names(m.local_variables), names(m.non_trainable_variables), names(m.weights)]
""", """
m = tf.make_template("m", scaled, name="y")
results = [m(2.), m(3.)]
v = m.trainable_variables[0]
more = v.assign(5.)
---
[sess.run(results), sess.run(more), sess.run(results)]
""", """
m = tf.make_template("m", lambda: tf.Variable(1.)); m(); m()
""", """
m = tf.make_template("m", lambda: tf.Variable(1., trainable=False)); m(); m().name
""", """
m = tf.make_template("m", lambda i: tf.get_variable("v%d" % i, [])); m(0); m(1)
""", """
tf.make_template(None, scaled)
""", """
u = tf.make_template("m", scaled, unique_name_="u", name="y"); u(1.)
u = tf.make_template("m", scaled, unique_name_="u", name="y"); u(1.)
""", """
seen = []
def through(getter, name, *args, **kwargs):
    seen.append(name)
    return getter(name, *args, **kwargs)
m = tf.make_template("m", scaled, custom_getter_=through, name="y"); m(1.); m(1.)
seen
""", """
m = tf.make_template("m", scaled, name="y")
m(1., name="z")
m.variables[0].name
""")]


def test_graphs_are_tensorflows(oracle):
    for program in GRAPHS:
        tf.reset_default_graph()
        assert rows_here(program, tf) == rows_there(program, oracle)


def test_as_tensorflow(oracle):
    for snippet, ours, theirs in zip(SNIPPETS, here(SNIPPETS), there(oracle, SNIPPETS), strict=True):
        assert ours == theirs, snippet


def test_errors_tell_where_the_template_was_defined():
    bad = tf.make_template("bad", lambda: tf.Variable(1.0))
    bad()
    with pytest.raises(ValueError, match=r"Trainable variable created[\s\S]*perhaps you used tf.Variable[\s\S]*"
                                         r"'bad', originally defined at: test_template.py:\d+"):
        bad()
