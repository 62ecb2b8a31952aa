"""group, tuple, with_dependencies: the nodes they make."""
from __future__ import annotations

import pytest

from tfnb.graph.stack import device, get_default_graph
from tfnb.ops.control.group import group, no_op, tuple_, with_dependencies
from tfnb.ops.control.source import constant
from tfnb.variables.variable import Variable


def names(ops):
    return [op.name for op in ops]


def test_group_waits_for_all():
    a, b = constant(1.0, name="a"), constant(2.0, name="b")
    v = Variable(3.0, name="v")
    op = group(a, [b, (v, v.initializer)], name="all")
    assert (op.name, op.type, op.outputs) == ("all", "NoOp", [])
    assert names(op.control_inputs) == ["a", "b", "v", "v/Assign"]


def test_group_of_nothing_and_default_names():
    assert names([group(), group(), no_op(), no_op("x")]) == ["group_deps", "group_deps_1", "NoOp", "x"]
    assert group().control_inputs == []


def test_group_gathers_on_each_device_first():
    a = constant(1.0, name="a")
    with device("/cpu:0"):
        b = constant(2.0, name="b")
    op = group(b, a, name="g")
    assert names(op.control_inputs) == ["g/NoOp", "g/NoOp_1"]
    assert [names(c.control_inputs) for c in op.control_inputs] == [["a"], ["b"]]
    assert [c.device for c in op.control_inputs] == ["", "/device:CPU:0"]


@pytest.mark.parametrize("inputs", [(3,), (None,), ("a",)])
def test_group_refuses_other_things(inputs):
    with pytest.raises(TypeError, match="tf.group"):
        group(*inputs)


def test_group_refuses_keywords():
    with pytest.raises(ValueError, match="foo"):
        group(constant(1.0), foo=3)


def test_tuple_gates_each_by_all():
    a, b = constant(1.0, name="a"), constant(2.0, name="b")
    first, nothing, second = tuple_([a, None, b])
    assert nothing is None
    assert (first.name, second.name) == ("tuple/control_dependency:0", "tuple/control_dependency_1:0")
    gate = get_default_graph().get_operation_by_name("tuple/group_deps")
    assert names(gate.control_inputs) == ["a", "b"]
    for made, source in ((first, a), (second, b)):
        assert made.op.type == "Identity" and made.op.inputs == (source,)
        assert made.op.control_inputs == [gate]
        assert made.op.colocation_groups() == [f"loc:@{source.op.name}".encode()]


def test_tuple_takes_operations_and_control_inputs():
    a, b, c = (constant(1.0, name=n) for n in "abc")
    made = tuple_([a.op, b], control_inputs=[c])
    assert made[0].type == "NoOp" and names(made[0].control_inputs) == ["tuple/group_deps", "a"]
    assert names(made[1].op.control_inputs[0].control_inputs) == ["a", "b", "c"]


def test_tuple_errors():
    with pytest.raises(ValueError, match="at least one"):
        tuple_([None])
    with pytest.raises(TypeError, match="control_inputs"):
        tuple_([constant(1.0)], control_inputs=[3])


def test_with_dependencies():
    a, b = constant(1.0, name="a"), constant(2.0, name="b")
    made = with_dependencies([a], b)
    assert made.name == "control_dependency:0" and names(made.op.control_inputs) == ["a"]
