"""Control dependencies, devices, colocation, containers, gradient overrides, and threads."""
from __future__ import annotations

import threading
from typing import Any

import pytest

from tfnb.core.device import DeviceSpec
from tfnb.graph import stack
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation
from tfnb.ops.array.reshape import Identity
from tfnb.ops.control.group import no_op
from tfnb.ops.control.source import constant
from tfnb.ops.state.assign import VariableV2


def names(ops: Any) -> list[str]:
    return [op.name for op in ops]


@pytest.fixture
def g() -> Any:
    graph = Graph()
    with graph.as_default():
        yield graph


def test_control_inputs_are_pruned_where_data_waits_already(g: Graph) -> None:
    c, b, a = no_op("c"), no_op("b"), constant(1.0, name="a")
    with g.control_dependencies([c, b, a, c]):
        d, e = no_op("d"), Identity(a, name="e")
        f = Identity(e, name="f")
        assert names(d.control_inputs) == ["c", "b", "a"]
        assert names(e.op.control_inputs) == ["c", "b"] and f.op.control_inputs == []
        with g.control_dependencies([b]):
            assert names(no_op("h").control_inputs) == ["c", "b", "a"]
            assert Identity(e, name="i").op.control_inputs == []
            with g.control_dependencies(None):
                assert no_op("j").control_inputs == []
                with g.control_dependencies([d]):
                    assert names(no_op("k").control_inputs) == ["d"]
    assert no_op().control_inputs == []
    assert names(c._control_outputs) == ["d", "e", "h"]


def test_what_control_dependencies_take(g: Graph) -> None:
    a = constant(1.0, name="a")
    v = VariableV2(shape=[], dtype="float32", name="v")

    class Variable:
        op = v.op

        def _as_graph_element(self) -> Any:
            return v

    with stack.control_dependencies(["a", "a:0", Variable()]):
        assert names(no_op().control_inputs) == ["a", "v"]
    for bad in (5, [5], a, [lambda: 1]):
        with pytest.raises(TypeError):
            g.control_dependencies(bad)     # type: ignore[arg-type]
    with pytest.raises(KeyError):
        g.control_dependencies(["absent"])


@pytest.mark.parametrize("name, full", [
    ("/cpu:0", "/device:CPU:0"), ("/gpu:1", "/device:GPU:1"), ("cpu:0", "/device:CPU:0"), ("/job:w", "/job:w"),
    ("/job:w/task:1/cpu:0", "/job:w/task:1/device:CPU:0"), ("/CPU:*", "/device:CPU:*"), ("", ""), (None, ""),
    ("/GPU", "/device:GPU:*"), ("/device:XLA_CPU:0", "/device:XLA_CPU:0"),
    (DeviceSpec(job="q", device_type="GPU", device_index=2), "/job:q/device:GPU:2")])
def test_device_names(g: Graph, name: Any, full: str) -> None:
    with stack.device(name):
        assert no_op().device == full


@pytest.mark.parametrize("name", ["abc", "/job", "/task:x", "/device:GPU:x", "/cpu:0:0"])
def test_bad_device_names(g: Graph, name: str) -> None:
    with pytest.raises(ValueError):
        g.device(name)


def test_devices_merge_from_the_inside(g: Graph) -> None:
    seen = []

    def on_cpu(op: Operation) -> str:
        seen.append((op.type, op.device))
        return "/cpu:0"

    with g.device("/job:w/task:1"):
        with g.device("/gpu:0"):
            assert no_op().device == "/job:w/task:1/device:GPU:0"
            with g.device("/job:v"):
                assert no_op().device == "/job:v/task:1/device:GPU:0"
            with g.device(None):
                assert no_op().device == ""
            with g.device(on_cpu):
                assert no_op().device == "/job:w/task:1/device:CPU:0"
        with g.device(lambda op: "/job:fn/cpu:3"), g.device("/gpu:2"):
            assert no_op().device == "/job:fn/task:1/device:CPU:3"
    assert seen == [("NoOp", "")]


def test_device_scopes_must_nest(g: Graph) -> None:
    outer, inner = g.device("/cpu:0"), g.device("/gpu:0")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="device"):
        outer.__exit__(None, None, None)


def test_colocation(g: Graph) -> None:
    a = constant(1.0, name="a")
    with g.device("/cpu:0"):
        va = constant(1.0, name="va")
    with g.device("/gpu:0"):
        with g.colocate_with(va):
            z = no_op("z")
            assert (z.device, z.get_attr("_class")) == ("/device:CPU:0", [b"loc:@va"])
        with g.colocate_with(a):
            assert no_op().device == ""
            with g.colocate_with(va):
                both = no_op()
                assert (both.device, both.colocation_groups()) == ("/device:CPU:0", [b"loc:@a", b"loc:@va"])
            with g.colocate_with(va, ignore_existing=True):
                assert no_op().colocation_groups() == [b"loc:@va"]
            with g.colocate_with(None, ignore_existing=True):
                assert no_op("alone").colocation_groups() == [b"loc:@alone"]
            with g.device("/cpu:1"):
                assert no_op().device == "/device:CPU:1"
        assert no_op().device == "/device:GPU:0"
    with g.colocate_with(both):
        assert no_op().colocation_groups() == [b"loc:@a", b"loc:@va"]
    with pytest.raises(ValueError, match="ignore_existing"):
        g.colocate_with(None).__enter__()


def test_container_is_for_stateful_ops(g: Graph) -> None:
    with stack.container("exp"):
        v = VariableV2(shape=[], dtype="float32")
        with g.container(""):
            w = VariableV2(shape=[], dtype="float32")
        own = VariableV2(shape=[], dtype="float32", container="own")
    assert [t.op.get_attr("container") for t in (v, w, own)] == [b"exp", b"", b"own"]


def test_gradient_override_map(g: Graph) -> None:
    a = constant(1.0)
    with g.gradient_override_map({"Identity": "Foo"}):
        with g.gradient_override_map({"NoOp": "Bar"}):
            assert Identity(a).op.get_attr("_gradient_op_type") == b"Foo"
            assert no_op().get_attr("_gradient_op_type") == b"Bar"
        assert "_gradient_op_type" not in no_op().attrs
    assert "_gradient_op_type" not in Identity(a).op.attrs
    for bad in ([], {1: "a"}, {"a": 1}):
        with pytest.raises(TypeError, match="op_type_map"):
            g.gradient_override_map(bad)        # type: ignore[arg-type]


def in_thread(fn: Any) -> Any:
    result: list[Any] = []
    thread = threading.Thread(target=lambda: result.append(fn()))
    thread.start()
    thread.join()
    return result[0]


def test_each_thread_has_its_own_default_graph_and_name_scope(g: Graph) -> None:
    assert stack.get_default_graph() is g and in_thread(stack.get_default_graph) is not g
    with g.name_scope("a"):
        assert in_thread(g.get_name_scope) == ""


def test_device_stacks_are_shared_until_made_thread_local(g: Graph) -> None:
    def device() -> str:
        with g.as_default():
            return no_op().device

    with g.device("/gpu:0"):
        assert in_thread(device) == "/device:GPU:0"
        g.switch_to_thread_local()
        with g.device("/cpu:0"):
            assert in_thread(device) == "/device:GPU:0" and device() == "/device:CPU:0"


def test_default_graphs_must_nest() -> None:
    with Graph().as_default() as graph:
        assert stack.get_default_graph() is graph
        with pytest.raises(AssertionError, match="nested graphs"):
            stack.reset_default_graph()
    before = stack.get_default_graph()
    stack.reset_default_graph()
    assert stack.get_default_graph() is not before
    outer, inner = Graph().as_default(), Graph().as_default()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(AssertionError, match="Nesting violated"):
        outer.__exit__(None, None, None)
    stack.default_graphs.reset()
