"""Tensors, operations, and how a graph finds them by name."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfnb.core import dtypes
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.array.reshape import Identity
from tfnb.ops.control.group import no_op
from tfnb.ops.control.source import constant, placeholder
from tfnb.ops.math.arithmetic import Add
from tfnb.ops.state.assign import VariableV2


@pytest.fixture
def g() -> Any:
    graph = Graph()
    with graph.as_default():
        placeholder(dtypes.float32, [2, None], name="a")
        yield graph


@pytest.mark.parametrize("name, error, message", [
    ("a", ValueError, "refers to an Operation, not a Tensor"), ("a:1", KeyError, "exists but only has 1 outputs"),
    ("b:0", KeyError, "'b', does not exist in the graph"), ("a:x", ValueError, "is not a valid one"),
    ("zz", ValueError, r"looks like an \(invalid\) Operation name"), ("a:0:0", ValueError, "is not a valid one"),
    (3, TypeError, "Tensor names are strings"), (b"a:0", TypeError, "not bytes")])
def test_no_tensor_of_that_name(g: Graph, name: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        g.get_tensor_by_name(name)


@pytest.mark.parametrize("name, error, message", [
    ("a:0", ValueError, "appears to refer to a Tensor, not a Operation"), ("b", KeyError, "not in the graph"),
    (None, TypeError, "Operation names are strings")])
def test_no_operation_of_that_name(g: Graph, name: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        g.get_operation_by_name(name)


def test_elements(g: Graph) -> None:
    a = g.get_tensor_by_name("a:0")
    assert a.op is g.get_operation_by_name("a") and a.op.outputs == [a] and a.op.values() == (a,)
    for obj in (a, "a:0", b"a:0"):
        assert g.as_graph_element(obj) is a
    assert g.as_graph_element("a") is a.op
    for obj, kwargs in ((a, {"allow_tensor": False}), (a.op, {"allow_operation": False}), (3, {})):
        with pytest.raises(TypeError, match="Can not convert a"):
            g.as_graph_element(obj, **kwargs)
    with pytest.raises(ValueError, match="both be False"):
        g.as_graph_element(a, False, False)
    with pytest.raises(KeyError, match="Did you mean 'a'"):
        g.get_operation_by_name("A")
    with Graph().as_default():
        foreign = constant(1.0)
    with pytest.raises(ValueError, match="not an element of this graph. It is of another one, made at .*test_elements"):
        g.as_graph_element(foreign)
    with pytest.raises(ValueError, match="must be from the same graph"):
        g.create_op("Identity", [foreign])


def test_a_tensor_is_no_python_value(g: Graph) -> None:
    a = g.get_tensor_by_name("a:0")
    for use in (list, bool, len, float):
        with pytest.raises(TypeError):
            use(a)          # type: ignore[operator]
    with pytest.raises(NotImplementedError, match="a:0"):
        np.array(a)
    assert str(a) == 'Tensor("a:0", shape=(2, ?), dtype=float32)'
    assert repr(a) == "<tf.Tensor 'a:0' shape=(2, ?) dtype=float32>"
    assert repr(a.op) == "<tf.Operation 'a' type=Placeholder>" and 'name: "a"' in str(a.op)
    assert a in {a} and a == a and a != g.get_operations()
    with pytest.raises(ValueError, match="no default session"):
        a.eval()
    with pytest.raises(ValueError, match="no default session"):
        a.op.run()


def test_set_shape(g: Graph) -> None:
    a = g.get_tensor_by_name("a:0")
    with pytest.raises(ValueError, match=r"Dimension 0 in both shapes must be equal, but are 2 and 3.*'a:0'"):
        a.set_shape([3, 4])
    with pytest.raises(ValueError, match="equal rank, but are 2 and 1"):
        a.set_shape([2])
    a.set_shape([None, 4])
    assert a.shape == [2, 4] and a.get_shape().as_list() == [2, 4] and a.static == (2, 4)


def test_consumers_count_each_input(g: Graph) -> None:
    a = g.get_tensor_by_name("a:0")
    Add(a, a)
    Add(a, 1.0)
    assert [op.name for op in a.consumers()] == ["Add", "Add", "Add_1"]


def test_create_op(g: Graph) -> None:
    a = g.get_tensor_by_name("a:0")
    made = g.create_op("Identity", [a], [dtypes.float32], name="i")
    assert made.outputs[0].shape == [2, None] and made.get_attr("T") is dtypes.float32 and made._id == g.version == 2
    with pytest.raises(RuntimeError, match="'Fooo'"):
        g.create_op("Fooo", [], [])
    with pytest.raises(TypeError, match="Input #0 is not a tensor: 1.0"):
        g.create_op("Identity", [1.0], [dtypes.float32])        # type: ignore[list-item]
    with pytest.raises(TypeError, match="takes 1"):
        g.create_op("Identity", [a, a])
    with pytest.raises(TypeError, match="float32.*int32"):
        g.create_op("Identity", [a], [dtypes.int32])
    with pytest.raises(ValueError, match="missing its attr 'dtype'"):
        g.create_op("Placeholder", [])
    with pytest.raises(ValueError, match="Inconsistent values for attr 'T'"):
        g.create_op("Identity", [a], attrs={"T": dtypes.int32})
    with pytest.raises(TypeError, match="mutable tensor"):
        g.create_op("Assign", [a, a])
    assert len(g.get_operations()) == 2


def test_a_shape_error_names_all_and_changes_nothing(g: Graph) -> None:
    a, b = g.get_tensor_by_name("a:0"), placeholder(dtypes.float32, [4, 5], name="b")
    a.set_shape([2, 3])
    version = g.version
    with pytest.raises(ValueError) as caught:
        Add(a, b, name="mm")
    message = str(caught.value)
    for part in ("'mm'", "op: 'Add'", "[2,3], [4,5]", "b:0", "test_elements.py", 'Add(a, b, name="mm")'):
        assert part in message
    assert g.version == version and a.consumers() == [] and g.unique_name("mm") == "mm"


def test_attrs_as_tensorflow_gives_them(g: Graph) -> None:
    op = g.get_operation_by_name("a")
    assert op.get_attr("dtype") is dtypes.float32
    assert [d.size for d in op.get_attr("shape").dim] == [2, -1]
    assert constant([1, 2]).op.get_attr("value").dtype == 3
    with pytest.raises(ValueError, match="'a' has no attr named 'zz'"):
        op.get_attr("zz")
    assert op.op_def.name == "Placeholder" and op.node_def.op == "Placeholder"
    assert op.traceback[-1][2] == "g"


def test_finalized(g: Graph) -> None:
    g.finalize()
    assert g.finalized
    for act in (no_op, lambda: g.add_to_collection("x", 1), lambda: g.clear_collection("x")):
        with pytest.raises(RuntimeError, match="finalized"):
            act()
    g._unsafe_unfinalize()
    no_op()


def test_feeding_and_fetching_can_be_prevented(g: Graph) -> None:
    a = g.get_tensor_by_name("a:0")
    assert g.is_feedable(a) and g.is_fetchable(a) and g.is_fetchable(a.op)
    g.prevent_feeding(a)
    g.prevent_fetching(a.op)
    assert not g.is_feedable(a) and not g.is_fetchable(a) and not g.is_fetchable(a.op)


def test_collections(g: Graph) -> None:
    a = g.get_tensor_by_name("a:0")
    b = Identity(a, name="b")
    g.add_to_collection("s", a)
    g.add_to_collection("s", a)
    g.add_to_collections(["s", "t", "s"], b)
    g.add_to_collections("u", 1)
    g.add_to_collection(("private",), 1)
    assert g.get_collection("s") == [a, a, b] and g.get_collection("t") == [b] and g.get_collection("none") == []
    assert g.get_collection("s", "b") == [b] and g.get_collection("u", scope="a") == []
    assert g.get_all_collection_keys() == ["s", "t", "u"] and g.collections == ["s", "t", "u", ("private",)]
    g.get_collection("s").clear()
    g.get_collection_ref("s").append(7)
    assert g.get_collection("s") == [a, a, b, 7] and g.get_collection_ref("new") == []
    g.clear_collection("s")
    assert g.get_collection("s") == []


def test_operators_are_given_once() -> None:
    with pytest.raises(ValueError, match="disallowed"):
        Tensor._override("__len__", lambda self: 0)
    if "__xor__" in vars(Tensor):
        with pytest.raises(ValueError, match="again"):
            Tensor._override("__xor__", lambda self, other: None)


def test_a_reference_has_a_reference_dtype(g: Graph) -> None:
    v = VariableV2(shape=[2], dtype="float32")
    assert v.dtype.name == "float32_ref" and v.shape == [2]


def test_attrs_that_are_not_given_have_their_defaults() -> None:
    with Graph().as_default() as graph:
        x = constant([[1.0, 2.0]], name="x")
        assert graph.create_op("Shape", [x]).outputs[0].dtype is dtypes.int32
        assert graph.create_op("Size", [x], attrs={"out_type": dtypes.int64}).outputs[0].dtype is dtypes.int64
        axis = constant(0)
        assert graph.create_op("ArgMax", [x, axis]).outputs[0].dtype is dtypes.int64
        assert graph.create_op("MatMul", [x, x], attrs={"transpose_b": True}).get_attr("transpose_a") is False
        assert graph.create_op("FIFOQueueV2", [], attrs={"component_types": [dtypes.int8]}).get_attr("shapes") == []


def test_lists_of_inputs_are_counted_where_they_can_be() -> None:
    with Graph().as_default() as graph:
        a, b = constant(1.0, name="a"), constant(2, name="b")
        op = graph.create_op("IdentityN", [a, b])
        assert op.get_attr("T") == [dtypes.float32, dtypes.int32] and [t.dtype for t in op.outputs] == op.get_attr("T")
        assert graph.create_op("IdentityN", [a, b], attrs={"T": [dtypes.float32, dtypes.int32]}).get_attr("T") == [
            dtypes.float32, dtypes.int32]
        with pytest.raises((TypeError, ValueError), match="IdentityN"):
            graph.create_op("IdentityN", [a, b], attrs={"T": [dtypes.float32]})
        assert graph.create_op("AddN", [a, a, a]).get_attr("N") == 3
        with pytest.raises((TypeError, ValueError), match="or not the attrs that say how many there are"):
            graph.create_op("Assert", [constant(True), a])
        checked = graph.create_op("Assert", [constant(True), a, b], attrs={"T": [dtypes.float32, dtypes.int32]})
        assert len(checked.inputs) == 3 and checked.get_attr("summarize") == 3
        v, axis = constant([1.0]), constant(0)
        with pytest.raises((TypeError, ValueError), match="or not the attrs that say how many there are"):
            graph.create_op("ConcatV2", [v, v, axis])
        assert graph.create_op("ConcatV2", [v, v, axis], attrs={"N": 2}).get_attr("Tidx") is dtypes.int32
        for count in (4, -1):
            with pytest.raises((TypeError, ValueError), match="got only 3 input"):
                graph.create_op("ConcatV2", [v, v, axis], attrs={"N": count})
        with pytest.raises((TypeError, ValueError), match="Concat|takes 2 input"):
            graph.create_op("ConcatV2", [v, axis, axis], attrs={"N": 1})
