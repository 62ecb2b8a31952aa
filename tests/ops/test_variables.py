"""Class Variable and the helper functions: nodes, collections, values, errors."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core import dtypes, errors
from tfnb.graph.stack import control_dependencies, get_default_graph, name_scope
from tfnb.ops.control.source import constant, placeholder
from tfnb.ops.state import assign as state
from tfnb.runtime.session import Session
from tfnb.variables.helpers import (
    all_variables,
    assert_variables_initialized,
    global_variables,
    global_variables_initializer,
    initialize_all_variables,
    initialize_local_variables,
    initialize_variables,
    local_variables,
    report_uninitialized_variables,
    trainable_variables,
    variables_initializer,
)
from tfnb.variables.variable import Variable


def nodes():
    return [(op.name, op.type, [t.name for t in op.inputs]) for op in get_default_graph().get_operations()]


def test_a_variable_has_four_nodes():
    v = Variable([1.0, 2.0], name="w")
    assert nodes() == [("w/initial_value", "Const", []), ("w", "VariableV2", []),
                       ("w/Assign", "Assign", ["w:0", "w/initial_value:0"]), ("w/read", "Identity", ["w:0"])]
    assert v.op.attrs == {"shape": (2,), "dtype": dtypes.float32, "container": b"", "shared_name": b""}
    assert v.initializer.attrs["validate_shape"] is True and v.initializer.attrs["use_locking"] is True
    for name in ("w/Assign", "w/read"):
        assert get_default_graph().get_operation_by_name(name).attrs["_class"] == [b"loc:@w"]
    assert repr(v) == "<tf.Variable 'w:0' shape=(2,) dtype=float32_ref>"


def test_what_it_is():
    v = Variable([1.0, 2.0], name="w")
    assert (v.name, v.dtype, v.shape.as_list(), v.device) == ("w:0", dtypes.as_dtype("float32_ref"), [2], "")
    assert v.graph is get_default_graph() and v.initial_value.name == "w/initial_value:0"
    assert v.value().name == "w/read:0" and v.ref().name == "w:0" and v.read_value().name == "read:0"
    assert v.trainable and v.constraint is None


def test_names_are_made_unique_and_scoped():
    with name_scope("a"):
        assert Variable(1.0).name == "a/Variable:0"
        assert Variable(1.0).name == "a/Variable_1:0"
    x = constant(1.0, name="x")
    v = Variable(x, name="v")
    assert v.initial_value is x


def test_a_function_as_initial_value_stands_beside_the_variable():
    v = Variable(lambda: [3.0, 4.0], name="v", dtype="float64")
    assert v.initial_value.name == "v/Initializer/initial_value:0" and v.dtype.base_dtype == dtypes.float64
    assert {op.attrs["_class"][0] for op in get_default_graph().get_operations()} == {b"loc:@v"}


def test_initialisation_waits_for_nothing():
    with control_dependencies([constant(1.0)]):
        v = Variable(2.0)
    assert v.initializer.control_inputs == [] and v.op.control_inputs == []


def test_collections():
    v = Variable(1.0)
    w = Variable(1.0, trainable=False)
    u = Variable(1.0, collections=["mine", "local_variables"])
    assert global_variables() == all_variables() == [v, w]
    assert trainable_variables() == [v, u]
    assert local_variables() == [u] == get_default_graph().get_collection("mine")
    assert global_variables(scope="Variable_1") == [w]


@pytest.mark.parametrize("arguments, error", [
    ({}, ValueError), ({"initial_value": None}, ValueError),
    ({"initial_value": 1.0, "collections": "mine"}, ValueError),
    ({"initial_value": 1.0, "constraint": 3}, ValueError),
    ({"initial_value": 1.0, "variable_def": object()}, ValueError),
    ({"variable_def": object()}, TypeError),
])
def test_constructor_errors(arguments, error):
    with pytest.raises(error):
        Variable(**arguments)
    assert global_variables() == []


def test_the_initial_value_needs_a_shape():
    x = placeholder("float32", name="x")
    with pytest.raises(ValueError, match="shape"):
        Variable(x)
    v = Variable(x, validate_shape=False)
    assert v.shape.ndims is None
    v.set_shape([2])
    assert v.shape.as_list() == v.value().shape.as_list() == [2]


def test_operators_work_on_the_value():
    v = Variable([1.0, 2.0], name="v")
    assert (v + 1.0).op.inputs[0] is v.value()
    results = [v + 1, 1 + v, v - 1, 1 - v, v * v, v / 2, 2 / v, v // 2, v % 2, v ** 2, 2 ** v, -v, abs(v), v[0], v < 1,
               v >= 1]
    with Session() as sess:
        sess.run(v.initializer)
        got = sess.run(results)
    x = np.array([1, 2], np.float32)
    want = [x + 1, 1 + x, x - 1, 1 - x, x * x, x / 2, 2 / x, x // 2, x % 2, x ** 2, 2 ** x, -x, abs(x), x[0], x < 1,
            x >= 1]
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w)
    with pytest.raises(TypeError):
        iter(v)


def test_assignments():
    v = Variable([1.0, 2.0], name="v")
    assert v.assign([1, 2]).dtype == dtypes.as_dtype("float32_ref")
    assert v.assign([1.0, 2.0], read_value=False).type == "Assign"
    with Session() as sess:
        sess.run(v.initializer)
        assert sess.run(v.assign([5.0, 6.0])).tolist() == [5, 6]
        assert sess.run(v.assign_add([1.0, 1.0])).tolist() == [6, 7]
        assert sess.run(v.assign_sub([2.0, 2.0])).tolist() == [4, 5]
        assert sess.run(state.assign(v, [0.0, 0.5])).tolist() == [0, 0.5]
        v.load([7.0, 8.0])
        assert v.eval().tolist() == [7, 8]
        assert v.eval(session=sess).tolist() == [7, 8]


def test_assigning_another_shape():
    v = Variable([1.0, 2.0], name="v")
    with pytest.raises(ValueError, match="Assign"):
        v.assign([1.0, 2.0, 3.0])
    free = Variable(constant([1.0, 2.0]), validate_shape=False)
    longer = state.assign(free, [1.0, 2.0, 3.0], validate_shape=False)
    with Session() as sess:
        sess.run(free.initializer)
        assert sess.run(longer).tolist() == [1, 2, 3] == sess.run(free).tolist()


def test_only_variables_can_be_assigned_to():
    with pytest.raises(TypeError, match="mutable"):
        state.assign(constant(1.0), 2.0)
    with pytest.raises(TypeError):
        state.assign(Variable(1.0), "a")


def test_count_up_to():
    v = Variable(0, name="v")
    step = v.count_up_to(2)
    with Session() as sess:
        sess.run(v.initializer)
        assert [sess.run(step), sess.run(step)] == [0, 1]
        with pytest.raises(errors.OutOfRangeError, match="2"):
            sess.run(step)
        assert sess.run(v) == 2
    with pytest.raises(TypeError):
        Variable(1.0).count_up_to(2)


def test_initialized_value_orders_initializers():
    v = Variable([1.0, 2.0])
    w = Variable(v.initialized_value() * 2.0)
    with Session() as sess:
        sess.run(global_variables_initializer())
        assert sess.run(w).tolist() == [2, 4]


def test_an_initial_value_from_a_loop_is_left_as_it_is():
    """As in TensorFlow, ops of a loop are not copied: the initializer waits for nothing."""
    v = Variable(2.0, name="v")
    total = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * v), [0, 1.0])[1] * 1.0
    before = len(nodes())
    w = Variable(total, name="w")
    assert [node[1] for node in nodes()[before:]] == ["VariableV2", "Assign", "Identity"]
    assert w.initializer.inputs[1] is total
    with Session() as sess:
        with pytest.raises(errors.FailedPreconditionError, match="uninitialized value v"):
            sess.run(w.initializer)
        for initializer in (v.initializer, w.initializer):
            sess.run(initializer)
        assert sess.run(w) == 8


def test_uninitialised():
    v, w = Variable([1.0, 2.0], name="v"), Variable(1.0, name="w")
    flags = [state.is_variable_initialized(x) for x in (v, w)]
    missing, check = report_uninitialized_variables(), assert_variables_initialized()
    nothing = report_uninitialized_variables([])
    with Session() as sess:
        assert sess.run(missing).tolist() == [b"v", b"w"] and sess.run(nothing).shape == (0,)
        with pytest.raises(errors.FailedPreconditionError, match="uninitialized value v"):
            sess.run(v)
        with pytest.raises(errors.FailedPreconditionError):
            sess.run(check)
        sess.run(w.initializer)
        assert sess.run(flags) == [False, True] and sess.run(missing).tolist() == [b"v"]
        sess.run(variables_initializer([v]))
        sess.run(check)
        assert sess.run(missing).tolist() == []


def test_initializers_of_both_eras():
    v, w = Variable(1.0, name="v"), Variable(1.0, collections=["local_variables"], name="w")
    for make in (global_variables_initializer, initialize_all_variables, lambda: initialize_variables([v])):
        assert make().control_inputs == [v.initializer]
    assert initialize_local_variables().control_inputs == [w.initializer]
    assert variables_initializer([]).name == "init_4" and assert_variables_initialized([]) is None


def test_protocol_buffer():
    with name_scope("a"):
        v = Variable(1.0, name="v", trainable=False)
    proto = v.to_proto()
    assert (proto.variable_name, proto.initializer_name, proto.snapshot_name, proto.initial_value_name,
            proto.trainable) == ("a/v:0", "a/v/Assign", "a/v/read:0", "a/v/initial_value:0", False)
    assert v.to_proto(export_scope="a").variable_name == "v:0" and v.to_proto(export_scope="b") is None
    again = Variable.from_proto(v.to_proto(export_scope="a"), import_scope="a")
    assert (again.ref(), again.initializer, again.value()) == (v.ref(), v.initializer, v.value())
    assert again.initial_value is v.initial_value and not again.trainable
    assert global_variables() == [v]


def test_rows_and_slices_of_a_variable():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(3):
            assert sess.run(v.sparse_read([1, 0])).tolist() == [[3.0, 4.0], [1.0, 2.0]]
            assert sess.run(v.gather_nd([[1, 0], [0, 1]], name="some")).tolist() == [3.0, 2.0]
    assert tf.get_default_graph().get_operation_by_name("some")
