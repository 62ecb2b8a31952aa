"""What the documents on tf.Graph (r2.0 and r2.4) state, section by section."""
from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tfnb as tf
from tfnb.graph.formats import export


@pytest.fixture
def g() -> Any:
    graph = tf.Graph()
    with graph.as_default():
        yield graph


def in_thread(action: Any) -> Any:
    """What `action()` gives in another thread."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(action()))
    thread.start()
    thread.join()
    return found[0]


# Class Graph

def test_a_graph_contains_operations_and_tensors_between_them(g):
    c = tf.square(tf.constant(4.0))
    assert isinstance(c, tf.Tensor) and isinstance(c.op, tf.Operation)
    source = c.op.inputs[0]
    assert g.get_operations() == [source.op, c.op] and c.op.outputs == [c] and source.consumers() == [c.op]


def test_a_default_graph_is_always_registered_and_ops_are_added_to_it():
    assert isinstance(tf.get_default_graph(), tf.Graph)
    c = tf.constant(4.0)
    assert c.graph is tf.get_default_graph()


def test_as_default_overrides_it_for_the_lifetime_of_the_context():
    outer = tf.get_default_graph()
    with tf.Graph().as_default() as graph:
        assert tf.constant(30.0).graph is graph is not outer
    assert tf.get_default_graph() is outer


def test_variables_go_to_the_collection_of_global_variables(g):
    v = tf.Variable(1.0)
    assert g.get_collection(tf.GraphKeys.GLOBAL_VARIABLES) == [v]
    g.add_to_collection("of my own", v)
    assert g.get_collection("of my own") == [v]


def test_a_new_graph_is_empty():
    graph = tf.Graph()
    assert graph.get_operations() == [] and graph.collections == [] and graph.version == 0 and graph.seed is None
    assert not graph.finalized and not graph.building_function


# Properties

def test_collections_are_the_names_known_to_the_graph(g):
    g.add_to_collection("a", 1)
    g.get_collection("b")
    g.get_collection_ref("c")
    assert sorted(g.collections) == ["a", "c"]


def test_finalized_is_true_after_finalize(g):
    g.finalize()
    assert g.finalized is True


def test_graph_def_versions_is_a_version_def(g):
    versions = g.graph_def_versions
    assert type(versions).__name__ == "VersionDef" and versions.producer > 0
    assert g.as_graph_def().versions == versions


def test_seed_is_the_graph_level_seed(g):
    tf.set_random_seed(7)
    assert g.seed == 7


def test_version_increases_as_ops_are_added_and_is_not_that_of_graph_defs(g):
    seen = [g.version]
    for _ in range(3):
        tf.constant(1.0)
        seen.append(g.version)
    assert seen == sorted(set(seen)) and g.graph_def_versions.producer != g.version


# add_to_collection, add_to_collections

def test_values_can_be_added_several_times_since_collections_are_no_sets(g):
    g.add_to_collection("a", 1)
    g.add_to_collection("a", 1)
    assert g.get_collection("a") == [1, 1]


@pytest.mark.parametrize("names", [["a", "b", "a"], ("a", "b"), {"a", "b"}, iter(["a", "b", "b"]), {"a": 1, "b": 2}])
def test_names_are_any_iterable_and_duplicates_in_it_are_ignored(g, names):
    g.add_to_collection("a", 0)
    g.add_to_collections(names, 0)              # a value that is there already is added again
    assert g.get_collection("a") == [0, 0] and g.get_collection("b") == [0]


def test_a_string_is_one_name(g):
    g.add_to_collections("abc", 1)
    assert g.collections == ["abc"]


# as_default

def test_levels_of_as_default_may_be_nested():
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        with second.as_default(), first.as_default():
            assert tf.get_default_graph() is first
        assert tf.get_default_graph() is first
        with second.as_default():
            assert tf.get_default_graph() is second


def test_the_default_graph_is_a_property_of_the_thread(g):
    assert in_thread(tf.get_default_graph) is not g

    def made() -> Any:
        with g.as_default():
            return tf.constant(1.0).graph
    assert in_thread(made) is g


# as_graph_def

def test_the_graph_def_can_be_imported_into_another_graph(g):
    tf.square(tf.constant(3.0, name="c"), name="s")
    proto = g.as_graph_def()
    with tf.Graph().as_default() as other, tf.Session() as sess:
        tf.import_graph_def(tf.GraphDef.FromString(proto.SerializeToString()), name="")
        assert sess.run("s:0") == 9.0 and other.as_graph_def().node == proto.node


def test_from_version_leaves_out_what_was_there_before(g):
    tf.constant(1.0, name="old")
    version = g.version
    assert not g.as_graph_def(from_version=version).node
    tf.constant(1.0, name="new")
    assert [n.name for n in g.as_graph_def(from_version=version).node] == ["new"]


def test_add_shapes_tells_the_shapes_of_all_outputs(g):
    tf.split(tf.placeholder(tf.float32, [None, 4]), 2, 1, name="parts")
    node = g.as_graph_def(add_shapes=True).node[-1]
    shapes = [[d.size for d in shape.dim] for shape in node.attr["_output_shapes"].list.shape]
    assert shapes == [[-1, 2], [-1, 2]] and not any("_output_shapes" in n.attr for n in g.as_graph_def().node)


def test_a_graph_def_that_would_be_too_large_is_a_value_error(g, monkeypatch):
    tf.constant([1.0] * 100)
    monkeypatch.setattr(export, "MOST_BYTES", 300)
    with pytest.raises(ValueError, match="larger than 2GB"):
        g.as_graph_def()


def test_as_graph_def_and_look_ups_work_while_another_thread_adds_ops(g):
    done, errors = threading.Event(), []

    def look() -> None:
        try:
            while not done.is_set():
                for node in g.as_graph_def().node:
                    assert g.get_operation_by_name(node.name) in g.get_operations()
                    assert g.get_tensor_by_name(f"{node.name}:0") is g.as_graph_element(f"{node.name}:0")
        except Exception as error:
            errors.append(error)
    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        tf.constant(1.0)
    done.set()
    for thread in threads:
        thread.join()
    assert not errors


# as_graph_element

def test_an_element_is_found_by_itself_by_name_and_by_what_stands_for_it(g):
    c = tf.constant(1.0, name="c")
    v = tf.Variable(1.0, name="v")

    class Stand:
        def _as_graph_element(self) -> Any:
            return c
    assert [g.as_graph_element(x) for x in (c, c.op, "c", "c:0", Stand(), v)] == [
        c, c.op, c.op, c, c, g.get_tensor_by_name("v:0")]


@pytest.mark.parametrize("make, options, error", [
    (lambda c: 3, {}, TypeError),
    (lambda c: c, {"allow_tensor": False}, TypeError),
    (lambda c: c.op, {"allow_operation": False}, TypeError),
    (lambda c: "c:x", {}, ValueError),
    (lambda c: "c:0", {"allow_tensor": False}, ValueError),
    (lambda c: "c", {"allow_operation": False}, ValueError),
    (lambda c: "nope", {}, KeyError),
    (lambda c: "c:1", {}, KeyError),
])
def test_what_is_no_element_says_why(g, make, options, error):
    with pytest.raises(error):
        g.as_graph_element(make(tf.constant(1.0, name="c")), **options)


# clear_collection, get_all_collection_keys, get_collection, get_collection_ref

def test_clear_collection_removes_all_values(g):
    g.add_to_collection("a", 1)
    g.clear_collection("a")
    assert g.get_collection("a") == []


def test_all_keys_that_are_used(g):
    g.add_to_collections(["a", "b"], 1)
    assert sorted(g.get_all_collection_keys()) == ["a", "b"]


def test_get_collection_is_a_new_list_each_time_in_the_order_of_adding(g):
    for i in (3, 1, 2):
        g.add_to_collection("a", i)
    first = g.get_collection("a")
    first.append(4)
    assert g.get_collection("a") == [3, 1, 2] and g.get_collection("b") == [] and "b" not in g.collections


def test_the_scope_is_matched_from_the_start_against_names(g):
    with tf.name_scope("layer"):
        inner = tf.constant(1.0, name="x")
    outer = tf.constant(1.0, name="x/layer")
    for value in (inner, outer, 5, "layer/text"):       # neither of the last two has a name
        g.add_to_collection("a", value)
    assert g.get_collection("a", "layer") == [inner] and g.get_collection("a", "x") == [outer]
    assert g.get_collection("a", r".*layer") == [inner, outer] and g.get_collection("a", "ayer") == []


def test_get_collection_ref_is_the_list_itself_and_makes_it(g):
    ref = g.get_collection_ref("a")
    assert ref == [] and g.collections == ["a"]
    ref.append(1)
    assert g.get_collection("a") == [1] and g.get_collection_ref("a") is ref


# colocate_with

def test_colocated_ops_share_the_group_and_device_of_the_op(g):
    with tf.device("/cpu:1"):
        a = tf.Variable([1.0], name="a")
    with g.colocate_with(a):
        b = tf.constant(1.0)
        c = tf.add(a, b)
    assert b.op.colocation_groups() == c.op.colocation_groups() == [b"loc:@a"]
    assert b.device == c.device == a.device == "/device:CPU:1"


def test_colocation_resets_device_constraints(g):
    a = tf.constant(1.0, name="a")
    with tf.device("/gpu:0"):
        with g.colocate_with(a):
            assert tf.constant(1.0).device == ""
        with g.colocate_with(None, ignore_existing=True):
            assert tf.constant(1.0).device == ""
        assert tf.constant(1.0).device == "/device:GPU:0"


def test_colocations_add_up_unless_existing_ones_are_ignored(g):
    a, b = tf.constant(1.0, name="a"), tf.constant(1.0, name="b")
    with g.colocate_with(a):
        with g.colocate_with(b):
            assert tf.no_op().colocation_groups() == [b"loc:@a", b"loc:@b"]
        with g.colocate_with(b, ignore_existing=True):
            assert tf.no_op().colocation_groups() == [b"loc:@b"]
        with g.colocate_with(None, ignore_existing=True):
            assert tf.no_op(name="free").colocation_groups() == [b"loc:@free"]


def test_colocating_with_nothing_needs_ignore_existing(g):
    with pytest.raises(ValueError, match="ignore_existing"), g.colocate_with(None):
        pass


# container

def test_stateful_ops_are_tracked_in_the_innermost_container(g):
    with g.container("experiment0") as name:
        assert name == "experiment0"
        v1, plain = tf.Variable([1.0]), tf.constant(1.0)
        with g.container("experiment1"):
            v3, q1 = tf.Variable([3.0]), tf.FIFOQueue(10, tf.float32)
        v4 = tf.Variable([4.0])
        with g.container(""):
            v5 = tf.Variable([5.0])
    held = [op.get_attr("container") for op in (v1.op, v3.op, q1.queue_ref.op, v4.op, v5.op)]
    assert held == [b"experiment0", b"experiment1", b"experiment1", b"experiment0", b""]
    assert "container" not in plain.op.node_def.attr


def test_after_a_reset_the_state_is_undefined(g):
    with g.container("experiment0"):
        v = tf.Variable([1.0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        tf.Session.reset("", ["experiment0"])
        with pytest.raises(tf.errors.CancelledError):
            sess.run(v)
    with tf.Session() as sess, pytest.raises(tf.errors.FailedPreconditionError):
        sess.run(v)


# control_dependencies

def controls(op: Any) -> list[str]:
    return sorted(c.name for c in op.control_inputs)


def test_ops_of_nested_contexts_wait_for_the_union(g):
    a, b, c, d = (tf.no_op(n) for n in "abcd")
    with g.control_dependencies([a, b]):
        assert controls(tf.no_op()) == ["a", "b"]
        with g.control_dependencies([c, d]):
            assert controls(tf.no_op()) == ["a", "b", "c", "d"]
        assert controls(tf.no_op()) == ["a", "b"]


def test_none_clears_and_what_is_inside_counts_from_there(g):
    a, b, c, d = (tf.no_op(n) for n in "abcd")
    with g.control_dependencies([a, b]), g.control_dependencies(None):
        assert controls(tf.no_op()) == []
        with g.control_dependencies([c, d]):
            assert controls(tf.no_op()) == ["c", "d"]


def test_ops_run_after_what_they_depend_on(g):
    v = tf.Variable(1.0)
    with g.control_dependencies([v.assign(5.0)]):
        late = v.read_value()
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(late) == 5.0


def test_merely_using_a_tensor_in_the_context_adds_nothing(g):
    v = tf.Variable(1.0)
    add = v.assign_add(1.0)

    def wrong() -> Any:
        t = tf.square(3.0)
        with tf.control_dependencies([add]):
            return t

    def right() -> Any:
        with tf.control_dependencies([add]):
            return tf.square(3.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(wrong())
        assert sess.run(v) == 1.0
        sess.run(right())
        assert sess.run(v) == 2.0


def test_dependencies_of_the_forward_pass_are_ignored_in_the_backward_pass(g):
    v, count = tf.Variable(3.0), tf.Variable(0)
    loss = v * v
    with tf.control_dependencies([count.assign_add(1)]):
        loss = loss + tf.constant(1.0)
    grads = tf.gradients(loss, [v])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(grads) == [6.0] and sess.run(count) == 0
        sess.run(loss)
        assert sess.run(count) == 1


@pytest.mark.parametrize("bad", [5, [5], [lambda: 1], [None]])
def test_control_inputs_are_operations_or_tensors(g, bad):
    with pytest.raises(TypeError):
        g.control_dependencies(bad)


# create_op

def test_create_op_makes_an_operation_of_a_type(g):
    a = tf.constant([1.0, 2.0])
    op = g.create_op("Sum", [a, tf.constant(0)], [tf.float32], attrs={"keep_dims": tf.AttrValue(b=True)})
    assert isinstance(op, tf.Operation) and op.name == "Sum" and op.get_attr("keep_dims") is True
    named = g.create_op("Square", [a], [tf.float32], input_types=[tf.float32], name="sq", compute_shapes=False)
    assert named.name == "sq" and named.outputs[0].shape.as_list() == [2]


def test_inputs_of_create_op_are_tensors(g):
    with pytest.raises(TypeError, match="not a tensor"):
        g.create_op("Identity", [1.0], [tf.float32])


# device

def test_a_device_name_holds_unless_an_inner_one_overrides_it(g):
    with g.device("/device:GPU:0"):
        assert tf.constant(1.0).device == "/device:GPU:0"
        with g.device(None):
            assert tf.constant(1.0).device == ""
        with g.device("/job:a"), g.device("/cpu:1"):
            assert tf.constant(1.0).device == "/job:a/device:CPU:1"


def test_a_device_function_is_asked_for_each_op(g):
    def matmul_on_gpu(n: Any) -> str:
        return "/device:GPU:0" if n.type == "MatMul" else "/cpu:0"
    with g.device(matmul_on_gpu):
        a = tf.constant([[1.0]])
        assert (a.device, tf.matmul(a, a).device) == ("/cpu:0", "/device:GPU:0")


def test_an_assignment_is_colocated_and_ignores_incompatible_scopes(g):
    with g.device("/cpu:0"):
        v = tf.Variable(1.0, name="v")
    with g.device("/gpu:0"):
        assign = v.assign(2.0)
    assert assign.op.device == "/device:CPU:0" and assign.op.colocation_groups() == [b"loc:@v"]


def test_device_scopes_must_be_nested(g):
    first, second = g.device("/cpu:0"), g.device("/cpu:1")
    first.__enter__()
    second.__enter__()
    with pytest.raises(RuntimeError, match="reverse order"):
        first.__exit__(None, None, None)


# finalize

def test_no_operations_can_be_added_after_finalize(g):
    c = tf.constant(1.0)
    g.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.constant(2.0)
    with pytest.raises(RuntimeError, match="finalized"):
        g.add_to_collection("a", 1)
    assert g.get_operations() == [c.op] and tf.Session(graph=g).run(c) == 1.0


# get_name_scope, name_scope

def test_get_name_scope_is_the_current_one(g):
    assert g.get_name_scope() == ""
    with tf.name_scope("scope1"), tf.name_scope("scope2"):
        assert g.get_name_scope() == "scope1/scope2"


def test_the_example_of_nested_scopes(g):
    assert [tf.constant(5.0, name="c").op.name, tf.constant(6.0, name="c").op.name] == ["c", "c_1"]
    with g.name_scope("nested") as scope:
        assert tf.constant(10.0, name="c").op.name == "nested/c"
        with g.name_scope("inner"):
            assert tf.constant(20.0, name="c").op.name == "nested/inner/c"
        with g.name_scope("inner"):
            assert tf.constant(30.0, name="c").op.name == "nested/inner_1/c"
            with g.name_scope(scope):
                assert tf.constant(40.0, name="d").op.name == "nested/d"
                with g.name_scope(""):
                    assert tf.constant(50.0, name="e").op.name == "e"
                with g.name_scope(None):
                    assert tf.constant(50.0, name="f").op.name == "f"


def test_the_name_of_a_scope_may_name_the_op_of_its_result(g):
    with g.name_scope("my_layer") as scope:
        output = tf.nn.relu([1.0], name=scope)
    assert scope == "my_layer/" and output.op.name == "my_layer"


@pytest.mark.parametrize("name, root, inner", [
    ("a", True, True), (".a", True, True), ("1a-b.c_d/e", True, True), ("_a", False, True), ("-a", False, True),
    ("/a", False, True), ("a b", False, False), ("a:0", False, False), ("ä", False, False), ("a\n", False, False)])
def test_valid_scope_names(g, name, root, inner):
    def enter() -> bool:
        try:
            with g.name_scope(name):
                return True
        except ValueError:
            return False
    assert enter() is root
    with g.name_scope("outer"):
        assert enter() is inner


# get_operation_by_name, get_operations, get_tensor_by_name

def test_changes_to_the_list_of_operations_have_no_effect(g):
    c = tf.constant(1.0)
    g.get_operations().clear()
    assert g.get_operations() == [c.op]


def test_look_ups_by_name(g):
    c = tf.constant(1.0, name="c")
    assert g.get_operation_by_name("c") is c.op and g.get_tensor_by_name("c:0") is c
    for look, missing in ((g.get_operation_by_name, "d"), (g.get_tensor_by_name, "d:0")):
        with pytest.raises(KeyError, match="d"):
            look(missing)
        with pytest.raises(TypeError, match="strings"):
            look(3)


# gradient_override_map

def test_the_override_holds_for_ops_made_in_the_context(g):
    name = "ReferenceCustomSquare"
    tf.RegisterGradient(name)(lambda op, grad: grad * 100.0)
    c = tf.constant(5.0)
    s_1 = tf.square(c)
    with g.gradient_override_map({"Square": name}):
        s_2 = tf.square(c)
        other = tf.exp(c * 0.0)
    with tf.Session() as sess:
        assert sess.run(tf.gradients([s_1], c) + tf.gradients([s_2], c)) == [10.0, 100.0]
        assert sess.run(tf.gradients(other, c)) == [0.0]


@pytest.mark.parametrize("bad", [[], {1: "a"}, {"a": 1}, None])
def test_the_map_maps_strings_to_strings(g, bad):
    with pytest.raises(TypeError), g.gradient_override_map(bad):
        pass


# is_feedable, is_fetchable, prevent_feeding, prevent_fetching

def test_feeding_and_fetching_can_be_prevented(g):
    c = tf.constant(1.0)
    d = c + 1.0
    assert g.is_feedable(c) and g.is_fetchable(c) and g.is_fetchable(c.op)
    g.prevent_feeding(c)
    g.prevent_fetching(c.op)
    assert not g.is_feedable(c) and not g.is_fetchable(c) and not g.is_fetchable(c.op) and g.is_feedable(d)
    with tf.Session() as sess:
        assert sess.run(d) == 2.0
        with pytest.raises(ValueError, match="may not be fed"):
            sess.run(d, {c: 3.0})
        with pytest.raises(ValueError, match="not fetchable"):
            sess.run(c)


# switch_to_thread_local

def test_stacks_are_shared_by_threads_until_they_are_switched(g):
    def made() -> Any:
        with g.as_default():
            op = tf.no_op()
        return op.device, controls(op)
    a = tf.no_op("a")
    with g.device("/cpu:1"), g.control_dependencies([a]):
        assert in_thread(made) == ("/device:CPU:1", ["a"])
        g.switch_to_thread_local()
        with g.device("/cpu:2"):
            assert in_thread(made) == ("/device:CPU:1", ["a"])      # as it was when it was switched
            assert tf.no_op().device == "/device:CPU:2"


# unique_name

def test_unique_names_are_structured_and_marked_as_used(g):
    assert [g.unique_name("a") for _ in range(3)] == ["a", "a_1", "a_2"]
    with g.name_scope("s"):
        assert g.unique_name("a") == "s/a"
    assert tf.no_op("a").name == "a_3"


def test_a_unique_name_may_be_only_asked_for(g):
    assert [g.unique_name("a", mark_as_used=False) for _ in range(2)] == ["a", "a"]
    assert tf.no_op("a").name == "a" and g.unique_name("a", mark_as_used=False) == "a_1"


def test_a_unique_name_can_be_given_to_create_op(g):
    tf.no_op("a")
    assert g.create_op("NoOp", [], [], name=g.unique_name("a") + "/").name == "a_1"


# The functions of the module do the same for the default graph

def test_the_module_level_functions(g):
    a = tf.no_op("a")
    with tf.control_dependencies([a]), tf.device("/cpu:1"), tf.container("c"):
        v = tf.Variable(1.0)
    assert v.device == "/device:CPU:1" and v.op.get_attr("container") == b"c"
    with tf.colocate_with(v):
        assert tf.no_op().colocation_groups() == [b"loc:@Variable"]
    tf.add_to_collection("x", 1)
    tf.add_to_collections(["x", "y"], 2)
    assert tf.get_collection("x") == [1, 2] and tf.get_collection_ref("y") == [2]
    with tf.name_scope("n", values=[v]) as scope:
        assert scope == "n/"
    with tf.op_scope([v], None, "default") as scope:
        assert scope == "default/"
    with tf.op_scope([v], "given", "default") as scope:
        assert scope == "given/"


# Operation and Tensor, as in r1.15

def test_what_an_operation_tells(g):
    a = tf.constant([1.0, 2.0], name="a")
    with tf.control_dependencies([a]), tf.device("/cpu:0"):
        b = tf.reduce_sum(tf.square([2.0]), name="b")
    op = b.op
    assert (op.name, op.type, op.device, op.graph) == ("b", "Sum", "/device:CPU:0", g)
    assert list(op.inputs)[1].op.name == "Const" and op.outputs == [b] and op.values() == (b,)
    assert op.node_def.op == "Sum" and op.op_def.name == "Sum" and op.get_attr("keep_dims") is False
    assert controls(op.inputs[0].op.inputs[0].op) == ["a"] and op.colocation_groups() == [b"loc:@b"]
    assert op.traceback[-1][2] == "test_what_an_operation_tells"
    with pytest.raises(ValueError, match="no attr"):
        op.get_attr("nope")
    with tf.Session():
        assert op.run() is None


def test_what_a_tensor_tells(g):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.square(x)
    assert (x.name, x.dtype, x.value_index, x.op.name, x.device, x.ndim) == ("x:0", tf.float32, 0, "x", "", 2)
    assert x.consumers() == [y.op] and x.shape.as_list() == x.get_shape().as_list() == [None, 3]
    y.set_shape([2, None])
    assert y.shape.as_list() == [2, 3]
    with pytest.raises(ValueError, match="Dimension 1"):
        y.set_shape([2, 4])
    with tf.Session():
        assert y.eval({x: [[1, 2, 3], [0, 0, 0]]}).tolist() == [[1, 4, 9], [0, 0, 0]]


def test_tensors_are_no_numbers_and_no_lists(g):
    x = tf.placeholder(tf.float32, [2])
    for misuse in (bool, list, len, float):
        with pytest.raises(TypeError):
            misuse(x)
    with pytest.raises(TypeError):
        x in [x + 1.0] and None if x else None


def test_tensors_are_keys_by_identity(g):
    x, y = tf.constant(1.0), tf.constant(1.0)
    assert len({x, y, x}) == 2 and {x.experimental_ref(), x.ref()} == {x.ref()} and x.ref().deref() is x
    assert x.ref() != y.ref() and "__add__" in tf.Tensor.OVERLOADABLE_OPERATORS


def test_slices_and_arrays_on_the_left(g):
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    with tf.Session() as sess:
        found = sess.run([x[0], x[..., -1], x[:, tf.newaxis, ::2], x[tf.constant(1), 1:]])
        assert [f.tolist() for f in found] == [[1, 2, 3], [3, 6], [[[1, 3]], [[4, 6]]], [5, 6]]
    assert isinstance(np.ones([2, 3], np.int32) + x, tf.Tensor)


def test_device_specs_are_merged():
    first, second = tf.DeviceSpec(job="a", device_type="CPU"), tf.DeviceSpec(device_type="GPU", device_index=1)
    assert first.make_merged_spec(second).to_string() == "/job:a/device:GPU:1" and first.device_type == "CPU"
    assert first.replace(task=2).to_string() == "/job:a/task:2/device:CPU:*"
