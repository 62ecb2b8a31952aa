"""Selections and views: their order, boundaries and errors."""
from __future__ import annotations

import re

import pytest

import tfnb as tf

ge = tf.contrib.graph_editor


@pytest.fixture
def ops():
    """a -> b -> c -> d, e takes b and c, f waits for c."""
    with tf.Graph().as_default():
        a = tf.constant(1.0, name="s/a")
        b = tf.negative(a, name="s/b")
        c = tf.negative(b, name="s/c")
        d = tf.negative(c, name="d")
        e = tf.add(b, c, name="e")
        with tf.control_dependencies([c]):
            f = tf.constant(2.0, name="f")
        yield {t.op.name[-1]: t.op for t in (a, b, c, d, e, f)}


def names(found):
    return "".join(each.name.partition(":")[0][-1] for each in found)


def test_walks(ops):
    graph = ops["a"].graph
    assert names(ge.get_forward_walk_ops(ops["b"])) == "bced"
    assert names(ge.get_forward_walk_ops(ops["b"], inclusive=False, control_outputs=graph)) == "cedf"
    assert names(ge.get_forward_walk_ops(ops["b"], stop_at_ts=ops["c"].outputs)) == "bce"
    assert names(ge.get_forward_walk_ops(ops["b"], within_ops=[ops["b"], ops["c"]])) == "bc"
    assert names(ge.get_forward_walk_ops(ops["b"], within_ops_fn=lambda op: op.type == "Neg")) == "bcd"
    assert names(ge.get_backward_walk_ops(ops["f"])) == "f"
    assert names(ge.get_backward_walk_ops(ops["f"], control_inputs=True)) == "fcba"
    assert names(ge.get_walks_intersection_ops(ops["b"], ops["d"])) == "bcd"
    assert names(ge.get_walks_intersection_ops([ops["b"]], [ops["d"]], forward_inclusive=False)) == "cd"
    ios = ge.ControlOutputs(graph)
    assert names(ge.get_walks_intersection_ops(ops["b"], ops["f"], control_ios=ios)) == "bcf"
    assert names(ge.get_walks_union_ops(ops["d"], ops["b"])) == "dba"
    with pytest.raises(ValueError, match="control_ios stands for"):
        ge.get_walks_union_ops(ops["d"], ops["b"], control_inputs=True, control_ios=ios)
    with pytest.raises(TypeError, match="Expected a ControlOutputs, got: str"):
        ge.get_forward_walk_ops(ops["b"], control_outputs="graph")


def test_within_a_boundary(ops):
    everything = list(ops.values())
    assert set(names(ge.get_within_boundary_ops(everything, ops["c"], [ops["b"], ops["e"]]))) == set("bcde")
    assert set(names(ge.get_within_boundary_ops(everything, ops["c"], ops["b"], inclusive=False))) == set("cde")
    with pytest.raises(ValueError, match="Boundary is intersecting with the seeds"):
        ge.get_within_boundary_ops(everything, ops["c"], ops["c"])


def test_selections(ops):
    graph = ops["a"].graph
    assert names(ge.select_ops("^s/", re.compile("[de]$"), ops["a"], graph=graph)) == "abcde"
    assert names(ge.select_ops("(?#ops)^s/", "d", graph=graph, restrict_ops_regex=True)) == "abc"
    assert names(ge.select_ops(graph, positive_filter=lambda op: op.type == "Neg")) == "bcd"
    assert names(ge.select_ts("^s/.:0$", "(?#ops)d", graph=graph)) == "abc"
    assert [t.name for t in ge.select_ts(ops["d"].outputs, ops["a"].outputs[0])] == ["d:0", "s/a:0"]
    found = ge.select_ops_and_ts("^d$", "(?#ts)^f", ops["a"].outputs[0], graph=graph)
    assert [names(each) for each in found] == ["d", "fa"]
    assert names(ge.get_name_scope_ops(graph, "s/")) == "abc"
    for wrong, error in ((lambda: ge.select_ops("^s/"), ValueError), (lambda: ge.select_ops(3), TypeError),
                         (lambda: ge.select_ts(None), TypeError),
                         (lambda: ge.make_list_of_op(ops["a"].outputs), TypeError),
                         (lambda: ge.make_list_of_t(graph, allow_graph=False), TypeError),
                         (lambda: ge.make_regex(3), ValueError), (lambda: ge.get_tensors("graph"), TypeError),
                         (lambda: ge.make_list_of_op([ops["a"], tf.Graph().create_op("NoOp", [], [])]), ValueError)):
        with pytest.raises(error):
            wrong()


def test_views(ops):
    view = ge.sgv(ops["b"], ops["c"], ops["f"].outputs[0])
    assert (names(view.inputs), names(view.outputs)) == ("af", "bcf")
    assert names(view.passthroughs) == "f" and names(view.connected_outputs) == "bc"
    assert ge.sgv(view) is view and view.input_index(ops["f"].outputs[0]) == 1
    assert names(view.remap_inputs([1]).inputs) == "f" and names(view.inputs) == "af"
    assert names(view.remap_outputs([1, 0, 1]).outputs) == "cbc"
    assert names(view.remap_outputs([1, 1]).remap_default().outputs) == "bcf"
    assert names(view.remap_outputs_to_consumers().outputs) == "bcc"
    assert names(view.consumers()) == "ed" and view.find_op_by_name("s/b") is ops["b"] and not ge.SubGraphView()
    for wrong in (lambda: view.remap_inputs([0, 0]), lambda: view.remap_outputs([5]), lambda: view.find_op_by_name("d"),
                  lambda: view.output_index(ops["d"].outputs[0])):
        with pytest.raises(ValueError):
            wrong()


def test_errors_of_reroutings_leave_the_graph_as_it_was(ops):
    graph, b = ops["a"].graph, ops["b"]
    integer, vector = tf.constant(1), tf.constant([1.0])
    before = graph.mutations
    foreign = tf.Graph().create_op("Placeholder", [], attrs={"dtype": tf.float32}).outputs[0]
    for t, words in ((integer, "Dtypes"), (vector, "Shapes"), ([vector, vector], "different sizes"),
                     (foreign, "another graph")):
        with pytest.raises(ValueError, match=words):
            ge.reroute_ts(t, ops["a"].outputs[0])
    with pytest.raises(ValueError, match="Targets and replacements are not connected"):
        ge.graph_replace(b.outputs[0], {vector: vector})
    with pytest.raises(ValueError, match="does not belong to the source scope 'other/'"):
        ge.copy(b, dst_scope="copy", src_scope="other")
    assert graph.mutations == before and names(b.inputs) == "a"


def test_detached_parts(ops):
    view, inputs, outputs = ge.detach(ops["c"], control_ios=ge.ControlOutputs(ops["c"].graph))
    assert [t.name for t in (*inputs, *outputs)] == ["s/geph__b_0:0", "s/geph__c_0:0"]
    assert view.inputs == inputs and ops["f"].control_inputs == []
    assert list(ops["d"].inputs) == outputs and list(ops["c"].inputs) == inputs
