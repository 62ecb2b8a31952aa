"""Tensors, operations, and how a graph finds them by name."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfnb.core import dtypes
from tfnb.graph.graph import Graph
from tfnb.graph.operation import Tensor
from tfnb.ops.array import Identity
from tfnb.ops.control import no_op
from tfnb.ops.math import Add
from tfnb.ops.source import constant, placeholder
from tfnb.ops.state import VariableV2


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
