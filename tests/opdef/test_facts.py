"""Facts that ops state for passes and views, instead of passes comparing their names."""
from __future__ import annotations

import re

import pytest

import tfnb as tf
from tfnb.graph.parts.references import is_identity, ref_variable, refers
from tfnb.notebook.cells.effects import derived
from tfnb.opdef import kinds, registry

ROLES = {
    "optimizer": r"(Resource)?(Sparse)?Apply[A-Z]|(Resource)?Scatter(Nd)?(Update|Add|Sub|Mul|Div|Min|Max)$",
    "initializer": r"Assign$", "summary": r"(Scalar|Histogram|Image|Audio|Tensor)Summary(V2)?$",
    "merged summary": "MergeSummary$",
    "queue": r"\w+Queue(V2)?$",
    "saver": r"(Save|Restore)(V2|Slices?)?$|MergeV2Checkpoints$"}


@pytest.mark.parametrize("role", ROLES)
def test_roles(role):
    ops = [registry.find(name) for name in sorted(registry.names())]
    assert [op.name for op in ops if op.role == role] == [op.name for op in ops if re.match(ROLES[role], op.name)] != []


def test_a_pure_scatter_is_no_update_of_a_variable():
    w = tf.Variable([1.0, 2.0])
    update = tf.scatter_add(w, [0], [1.0])
    assert derived(update.op) and not derived(tf.scatter_nd([[0]], [1.0], [2]).op) and not derived(w.initializer)
    assert refers(update) and ref_variable(update) is w.op and not refers(w.read_value())


def test_identities():
    x = tf.placeholder(tf.float32, [2])
    assert [is_identity(t.op) for t in (tf.identity(x), tf.stop_gradient(x), tf.reshape(x, [2]), tf.exp(x))] == \
        [True, True, False, False]


def test_branches_of_an_identity_of_a_predicate_are_branches_of_the_predicate():
    """The merge below has a value in every run, which only holds if both Switches have one outcome."""
    p, x = tf.placeholder(tf.bool, []), tf.constant(3.0)
    off, _ = tf.raw_ops.Switch(data=x, pred=tf.identity(p))
    _, on = tf.raw_ops.Switch(data=-x, pred=tf.raw_ops.PreventGradient(input=p))
    y = tf.raw_ops.Merge(inputs=[off, on])[0]
    with tf.Session() as sess:
        assert [sess.run(y, {p: value}) for value in (False, True, False, True)] == [3.0, -3.0, 3.0, -3.0]


def test_control_triggers_are_controls():
    assert isinstance(tf.raw_ops.ControlTrigger().spec, kinds.Control)


def test_hints_stand_with_the_ops():
    assert registry.find("Log").nan_hint.startswith("the logarithm of 0 is -inf") and not registry.find("Neg").nan_hint
