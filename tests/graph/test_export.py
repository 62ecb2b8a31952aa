"""Graphs to GraphDefs and back."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tfnb.core import dtypes
from tfnb.core.errors import NotFoundError
from tfnb.graph.formats.protos import attr_value, make_ndarray, make_tensor_proto, native_attr
from tfnb.graph.graph import Graph
from tfnb.graph.importing import import_graph_def
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.array.reshape import Identity
from tfnb.ops.control.group import no_op
from tfnb.ops.control.source import constant, placeholder
from tfnb.ops.math.arithmetic import Add, Mul
from tfnb.ops.state.assign import Assign, VariableV2
from tfnb.proto.attr_value_pb2 import AttrValue
from tfnb.proto.graph_pb2 import GraphDef
from tfnb.proto.tensor_pb2 import TensorProto


def program(g: Graph) -> None:
    """A bit of everything that a GraphDef holds."""
    x = placeholder("float32", [None, 2], name="x")
    with g.name_scope("layer"), g.device("/job:w/gpu:1"):
        w = VariableV2(shape=[2], dtype="float32", container="c", name="w")
        with g.control_dependencies([Assign(w, [1.0, 2.0])]):
            y = Mul(x, w)
    with g.colocate_with(w):
        Identity(y, name="y")
    constant(["a", "bc"], name="strings")
    constant(np.arange(6).reshape(2, 3), name="table")
    no_op("end")


@pytest.fixture
def g() -> Any:
    graph = Graph()
    with graph.as_default():
        program(graph)
        yield graph


def test_nodes(g: Graph) -> None:
    nodes = {node.name: node for node in g.as_graph_def().node}
    assert list(nodes) == [op.name for op in g.get_operations()]
    mul, identity, w = nodes["layer/Mul"], nodes["y"], nodes["layer/w"]
    assert list(mul.input) == ["x", "layer/w", "^layer/Assign"] and mul.device == "/job:w/device:GPU:1"
    assert list(identity.attr["_class"].list.s) == [b"loc:@layer/w"]
    assert (w.attr["dtype"].type, w.attr["container"].s, w.attr["shared_name"].s) == (1, b"c", b"")
    assert [d.size for d in nodes["x"].attr["shape"].shape.dim] == [-1, 2]
    assert list(nodes["strings"].attr["value"].tensor.string_val) == [b"a", b"bc"]
    assert nodes["layer/Assign"].attr["use_locking"].WhichOneof("value") == "b"


def test_versions_and_shapes(g: Graph) -> None:
    version = g.version
    no_op("later")
    assert [n.name for n in g.as_graph_def(from_version=version).node] == ["later"]
    made = g.as_graph_def(add_shapes=True)
    shapes = {n.name: n.attr["_output_shapes"].list.shape for n in made.node}
    assert [[d.size for d in s.dim] for s in shapes["y"]] == [[-1, 2]] and len(shapes["end"]) == 0
    assert made.versions == g.graph_def_versions and made.versions.producer == 134


def test_a_graph_without_functions_has_no_library(g: Graph) -> None:
    assert not g.as_graph_def().HasField("library")


def test_a_round_trip_changes_nothing(g: Graph) -> None:
    made = g.as_graph_def()
    other = Graph()
    with other.as_default():
        assert import_graph_def(GraphDef.FromString(made.SerializeToString()), name="") is None
    assert other.as_graph_def() == made
    assert [t.static for op in other.get_operations() for t in op.outputs] == [
        t.static for op in g.get_operations() for t in op.outputs]


def test_import_under_a_scope(g: Graph) -> None:
    made = g.as_graph_def()
    with Graph().as_default() as other:
        y, end = import_graph_def(made, return_elements=["y:0", "end"])      # type: ignore[misc]
        assert (y.op.name, end.name) == ("import/y", "import/end")
        assert y.op.colocation_groups() == [b"loc:@import/layer/w"]
        assert y.op.inputs[0].op.control_inputs[0].name == "import/layer/Assign"
        (again,) = import_graph_def(made, return_elements=["y"])             # type: ignore[misc]
        assert again.name == "import_1/y"
        import_graph_def(made, name="")
        import_graph_def(made, name="")
        assert other.get_operation_by_name("y_1").inputs[0].name == "layer_1/Mul:0" or \
            other.get_operation_by_name("y_1").inputs[0].name == "layer/Mul_1:0"


def test_input_map(g: Graph) -> None:
    made = g.as_graph_def()
    with Graph().as_default():
        mine = constant([[5.0, 6.0]], name="mine")
        (y,) = import_graph_def(made, {"x": mine}, ["layer/Mul:0"])          # type: ignore[misc]
        assert isinstance(y, Tensor) and y.op.inputs[0] is mine and y.static == (1, 2)
        with pytest.raises(ValueError, match="not found in graph_def: .'absent:0'"):
            import_graph_def(made, {"absent": mine})
        with pytest.raises(ValueError, match="float32|Input"):
            import_graph_def(made, {"x": constant(1)})


def test_nodes_come_in_any_order(g: Graph) -> None:
    made = g.as_graph_def()
    shuffled = GraphDef(versions=made.versions)
    shuffled.node.extend(reversed(made.node))
    with Graph().as_default() as other:
        import_graph_def(shuffled, name="")
        assert {n.name: n for n in other.as_graph_def().node} == {n.name: n for n in made.node}


def broken(change: Any) -> GraphDef:
    graph = Graph()
    with graph.as_default():
        Identity(constant(1.0, name="a"), name="b")
    made: GraphDef = graph.as_graph_def()
    change(made)
    return made


@pytest.mark.parametrize("change, error, message", [
    (lambda d: d.node[1].input.__setitem__(0, "absent"), ValueError, "'b' takes an input from 'absent'"),
    (lambda d: d.node[1].input.__setitem__(0, "a:3"), ValueError, "'a' has 1 output"),
    (lambda d: d.node[1].input.__setitem__(0, "b"), ValueError, "cycle"),
    (lambda d: d.node[1].input.append("a"), ValueError, "takes 1 input"),
    (lambda d: d.node[1].input.pop(), ValueError, "got only 0"),
    (lambda d: d.node[1].attr["T"].CopyFrom(AttrValue(type=3)), ValueError, "attr 'T'"),
    (lambda d: d.node[0].attr.pop("dtype"), ValueError, "missing its attr 'dtype'"),
    (lambda d: setattr(d.node[1], "op", "Identiti"), NotFoundError, "Did you mean 'Identity'"),
    (lambda d: d.node.append(d.node[0]), ValueError, "same name")])
def test_broken_graphs(change: Any, error: type[Exception], message: str) -> None:
    with Graph().as_default(), pytest.raises(error, match=message):
        import_graph_def(broken(change))


def test_wrong_arguments(g: Graph) -> None:
    with pytest.raises(TypeError, match="must be a GraphDef"):
        import_graph_def(b"")
    with pytest.raises(TypeError, match="list of strings"):
        import_graph_def(g.as_graph_def(), return_elements=[3])     # type: ignore[list-item]
    for absent in ("absent", "y:1", "y:x"):
        with pytest.raises(ValueError, match="return_elements"):
            import_graph_def(g.as_graph_def(), return_elements=[absent])


NUMERIC = [d for d in dtypes.ALL if d.name not in ("string", "resource", "variant") and not d.is_quantized]


@pytest.mark.parametrize("dtype", NUMERIC, ids=lambda d: d.name)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_tensor_protos(dtype: dtypes.DType, data: Any) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    raw = data.draw(hnp.arrays(np.float64, shape, elements=st.floats(0, 100)))
    array = raw.astype(dtype.np_dtype)
    back = make_ndarray(make_tensor_proto(array))
    assert back.dtype == array.dtype and back.shape == array.shape and back.tobytes() == array.tobytes()


def test_tensor_protos_of_other_kinds() -> None:
    strings = np.array([[b"a", b""], [b"\xff", b"bc"]], object)
    assert make_ndarray(make_tensor_proto(strings)).tolist() == strings.tolist()
    quantized = np.array([(1,), (200,)], dtypes.quint8.np_dtype)
    assert make_ndarray(make_tensor_proto(quantized)).tolist() == quantized.tolist()
    proto = make_tensor_proto(np.float32(7))
    proto.tensor_shape.dim.add().size = 3
    assert make_ndarray(proto).tolist() == [7, 7, 7]
    proto.float_val.extend([1, 2, 3])
    with pytest.raises(ValueError, match="has 4 elements"):
        make_ndarray(proto)
    proto.tensor_shape.unknown_rank = True
    with pytest.raises(ValueError, match="fully known shape"):
        make_ndarray(proto)


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d.name not in ("resource", "variant")],
                         ids=lambda d: d.name)
def test_a_tensor_proto_without_values_is_of_zeros(dtype: dtypes.DType) -> None:
    proto = TensorProto(dtype=dtype.as_datatype_enum)
    for size in (2, 3):
        proto.tensor_shape.dim.add().size = size
    found = make_ndarray(proto)
    assert found.shape == (2, 3) and found.dtype == dtype.np_dtype
    assert all(not value or value == (0,) for value in found.ravel().tolist())


@pytest.mark.parametrize("value, kind", [
    (True, "bool"), (3, "int"), (0.5, "float"), (b"x", "string"), (dtypes.int8, "type"), ((2, None), "shape"),
    (None, "shape"), ([1, 2], "list(int)"), ([dtypes.int8], "list(type)"), ([(1,), None], "list(shape)"),
    ([b"a"], "list(string)"), ([True, False], "list(bool)"), ([0.5], "list(float)"), ([], "list(int)")])
def test_attrs_both_ways(value: Any, kind: str) -> None:
    back = native_attr(attr_value(value, kind))
    assert back == value and type(back) is type(value)
    assert native_attr(attr_value(value)) == value


def test_an_empty_attr_value_is_an_error() -> None:
    with pytest.raises(ValueError, match="must hold a value"):
        native_attr(AttrValue())


def test_consumers_of_an_import(g: Graph) -> None:
    assert [op.type for op in g.get_tensor_by_name("layer/w:0").consumers()] == ["Assign", "Mul"]
    Add(g.get_tensor_by_name("y:0"), 1.0)
