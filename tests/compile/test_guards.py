"""Conditions of ops: what stands behind Switches, until Merges bring the branches together."""
from __future__ import annotations

import pytest

import tfnb as tf
from tfnb.compile.planning.guards import ALWAYS, Guards


def guards(*tensors, feeds=()):
    """The conditions of all ops of the default graph, as a function of a tensor."""
    return Guards(tf.get_default_graph().get_operations(), frozenset(feeds), {}).of


def test_a_cond_is_over_at_its_merge():
    p, x = tf.placeholder(tf.bool, [], "p"), tf.placeholder(tf.float32, [], "x")
    inside = []
    y = tf.cond(p, lambda: inside.append(x * 2.0) or inside[0], lambda: inside.append(x * 3.0) or inside[1])
    of = guards()
    assert of(inside[0]) == {(p, True)} and of(inside[1]) == {(p, False)}
    assert of(y) == of(y + 1.0) == of(x) == ALWAYS


def test_conditions_of_conds_in_conds():
    p, q = (tf.placeholder(tf.bool, [], name) for name in "pq")
    x = tf.placeholder(tf.float32, [], "x")
    found = {}

    def inner():
        found["before"] = x * 2.0
        found["y"] = tf.cond(q, lambda: found.setdefault("yes", x * 3.0), lambda: found.setdefault("no", x * 4.0))
        return found["y"] + found["before"]
    z = tf.cond(p, inner, lambda: x)
    of = guards()
    assert of(found["before"]) == of(found["y"]) == {(p, True)} and of(z) == ALWAYS
    assert of(found["yes"]) == {(p, True), (q, True)} and of(found["no"]) == {(p, True), (q, False)}


def switched(p, x, name):
    from_false, from_true = tf.get_default_graph().create_op("Switch", [x, p], name=name).outputs
    return from_false, from_true


def merged(*inputs):
    return tf.get_default_graph().create_op("Merge", list(inputs)).outputs


def test_a_merge_of_other_branches_has_a_condition_of_its_own():
    p, q = (tf.placeholder(tf.bool, [], name) for name in "pq")
    x = tf.constant(1.0)
    (p_no, p_yes), (q_no, q_yes) = switched(p, x, "on_p"), switched(q, x, "on_q")
    same, which = merged(p_yes, p_yes)
    other, of_other = merged(p_yes, q_no)
    three, of_three = merged(p_yes, p_no, q_no)
    both, _ = merged(p_no, p_yes)
    with_always, _ = merged(x, p_yes)
    nested_no, _ = switched(p, q_yes, "again")
    part, of_part = merged(nested_no, q_yes)
    of = guards()
    assert of(both) == of(with_always) == ALWAYS
    assert of(same) == {(p, True)}
    assert of(other) == {(of_other, None)} and of(three) == {(of_three, None)}
    assert of(nested_no) == {(p, False), (q, True)} and of(part) == {(q, True)}


def test_other_names_of_a_truth_value_are_that_value():
    p, x = tf.placeholder(tf.bool, [], "p"), tf.constant(1.0)
    again = tf.identity(tf.identity(p))
    _, passed_on = switched(p, p, "passed_on")
    negated = tf.logical_not(p)
    values = {name: switched(t, x, name)[1] for name, t in (("a", again), ("b", passed_on), ("c", negated))}
    of = guards()
    assert of(values["a"]) == {(p, True)} == of(values["b"]) and of(values["c"]) == {(negated, True)}
    of = guards(feeds=[again])
    assert of(values["a"]) == {(again, True)}


def test_control_inputs_count_and_feeds_do_not():
    p, x = tf.placeholder(tf.bool, [], "p"), tf.constant(1.0)
    _, yes = switched(p, x, "on_p")
    behind = yes * 2.0
    with tf.control_dependencies([behind]):
        waits = tf.identity(x)
    of = guards()
    assert of(waits) == of(behind) == {(p, True)}
    of = guards(feeds=[yes])
    assert of(behind) == of(waits) == of(yes) == ALWAYS


PREDICATES = {
    "constant": (lambda flag: tf.constant(True), "++++"),
    "variable": (lambda flag: flag, "++++"),
    "read": (lambda flag: flag.read_value(), "++++"),
    "assigned": (lambda flag: tf.assign(flag, tf.logical_not(flag)), "-+-+"),
    "default": (lambda flag: tf.placeholder_with_default(False, []), "----"),
}


@pytest.mark.parametrize("name", PREDICATES)
def test_predicates_that_no_stage_computes(name):
    """Constants and variables have no slot while a plan runs; branches that call Python need their values."""
    predicate, want = PREDICATES[name]
    flag, x = tf.Variable(True), tf.placeholder(tf.float32, [])

    def call(given):
        return tf.reshape(tf.py_func(lambda a: a, [given], tf.float32), [])
    y = tf.cond(predicate(flag), lambda: call(x * 2.0), lambda: call(x * 3.0)) + 1.0
    with tf.Session() as session:
        session.run(flag.initializer)
        assert "".join({3.0: "+", 4.0: "-"}[session.run(y, {x: 1.0})] for _ in range(4)) == want
