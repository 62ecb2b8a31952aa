"""get_variable and its scopes: names, sharing, defaults, errors."""
from __future__ import annotations

import pytest

import tfnb as tf
from tfnb.core import dtypes
from tfnb.graph.graph import Graph
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.ops.array.create import ones
from tfnb.ops.control.source import constant
from tfnb.variables.initializers import constant_initializer, zeros_initializer
from tfnb.variables.scope import (
    get_local_variable,
    get_variable,
    get_variable_scope,
    no_regularizer,
    variable_op_scope,
    variable_scope,
)
from tfnb.variables.store import AUTO_REUSE
from tfnb.variables.variable import Variable

ZERO = zeros_initializer()


def make(name="v", shape=(2,), **options):
    return get_variable(name, shape, initializer=ZERO, **options)


def test_names_come_from_variable_scopes_alone():
    with name_scope("ops"):
        assert make("a").name == "a:0"
        with variable_scope("foo"):
            with variable_scope("bar") as scope:
                assert make("b").op.name == "foo/bar/b"
                assert (scope.name, scope.original_name_scope) == ("foo/bar", "ops/foo/bar/")
                assert constant(1.0).name == "ops/foo/bar/Const:0"
                assert Variable(1.0).name == "ops/foo/bar/Variable:0"


def test_default_initializers():
    for dtype in ("int32", "bool", "string"):
        assert get_variable(dtype, [2], dtype).initial_value.op.type == "Const"
    v = get_variable("f", [5, 3])
    assert v.initial_value.name == "f/Initializer/random_uniform:0" and v.dtype.base_dtype == dtypes.float32
    limit = get_default_graph().get_tensor_by_name("f/Initializer/random_uniform/max:0").op.attrs["value"]
    assert limit == pytest.approx((6 / 8) ** 0.5)


def test_initializers_of_all_kinds():
    value = constant([1.0, 2.0])
    assert get_variable("a", initializer=value).initial_value is value
    assert get_variable("b", initializer=[1, 2]).dtype.base_dtype == dtypes.int32
    assert get_variable("c", [2], initializer=zeros_initializer).initial_value.name == "c/Initializer/zeros:0"
    assert get_variable("d", [2], initializer=lambda shape: ones(shape)).shape.as_list() == [2]
    assert get_variable("e", [2], initializer=lambda shape, dtype=None, partition_info=None: ones(shape, dtype))
    assert get_variable("f", initializer=lambda: ones([3])).shape.as_list() == [3]


@pytest.mark.parametrize("arguments, match", [
    ({"name": "v"}, "must be fully defined"),
    ({"name": "v", "shape": [None]}, "must be fully defined"),
    ({"name": "v", "shape": [2], "initializer": [1.0, 2.0]}, "do not specify shape"),
    ({"name": "v", "dtype": "int32", "initializer": 1.5}, "don't match"),
])
def test_errors_of_new_variables(arguments, match):
    with pytest.raises(ValueError, match=match):
        get_variable(**arguments)


def test_no_sharing_by_accident():
    with variable_scope("foo"):
        make()
        with pytest.raises(ValueError, match=r"foo/v already exists.*(?s:.*)test_variable_scope.py"):
            make()
    with pytest.raises(ValueError, match="foo/w does not exist"), variable_scope("foo", reuse=True):
        make("w")
    with variable_scope("foo", reuse=False):
        make("w")


def test_sharing():
    with variable_scope("foo") as foo:
        v = make()
        foo.reuse_variables()
        assert make() is v
    with variable_scope("foo", reuse=True), variable_scope("bar", reuse=None) as bar:
        assert bar.reuse is True
    with variable_scope(foo):
        assert make() is v, "the scope was left reusing"
    with variable_scope("foo", reuse=AUTO_REUSE):
        assert make() is v
        w = make("w")
        assert make("w") is w
    with variable_scope("foo", reuse=True):
        assert get_variable("v") is v
        with pytest.raises(ValueError, match=r"specified shape \(3,\)"):
            make(shape=[3])
        with pytest.raises(ValueError, match="specified dtype int32"):
            get_variable("v", [2], "int32")


def test_entering_a_scope_again():
    with variable_scope("foo", initializer=constant_initializer(3.0)) as foo:
        pass
    with name_scope("x"), variable_scope(foo) as again:
        assert (again.name, again.original_name_scope) == ("foo", "foo/")
        assert constant(1.0).name == "x/foo/Const:0"
        assert get_variable("v", [2]).initial_value.op.attrs["value"].tolist() == [3, 3]
    with variable_scope(foo, auxiliary_name_scope=False):
        assert constant(1.0).name == "Const:0"


def test_default_names_are_made_unique():
    def layer():
        with variable_scope(None, "dense"):
            return make().op.name
    with variable_scope("model"):
        assert [layer(), layer()] == ["model/dense/v", "model/dense_1/v"]
    with variable_scope("model", reuse=True):
        assert [layer(), layer()] == ["model/dense/v", "model/dense_1/v"]
    assert [layer(), layer()] == ["dense/v", "dense_1/v"]


def test_scope_defaults():
    with variable_scope("s", initializer=constant_initializer(2.0), dtype="float64", caching_device="/cpu:0",
                        regularizer=lambda v: v.value()) as scope:
        v = get_variable("v", [2])
        assert v.dtype.base_dtype == dtypes.float64 and v.value().device == "/device:CPU:0"
        get_variable("w", [2], regularizer=no_regularizer)
        scope.set_regularizer(None)
        scope.set_dtype("float32")
        assert get_variable("u", [2]).dtype.base_dtype == dtypes.float32
        assert scope.global_variables() == get_default_graph().get_collection("variables")
    assert get_default_graph().get_collection("regularization_losses") == [v.value()]


def test_regularizers_stand_in_a_scope_of_their_own():
    make("v", regularizer=lambda v: ones([], name="loss"))
    assert [t.name for t in get_default_graph().get_collection("regularization_losses")] == ["v/Regularizer/loss:0"]


def test_custom_getters_nest():
    seen = []

    def getter(tag):
        def get(true_getter, name, *args, **kwargs):
            seen.append((tag, name))
            return true_getter(name, *args, **kwargs)
        return get

    with variable_scope("a", custom_getter=getter("outer")), variable_scope("b", custom_getter=getter("inner")):
        v = make()
    assert seen == [("inner", "a/b/v"), ("outer", "a/b/v")] and v.op.name == "a/b/v"


@pytest.mark.parametrize("arguments, error", [
    ({"name_or_scope": None}, TypeError), ({"name_or_scope": 3}, TypeError),
    ({"name_or_scope": None, "default_name": 3}, TypeError), ({"name_or_scope": "a", "reuse": 3}, ValueError),
])
def test_scope_errors(arguments, error):
    with pytest.raises(error):
        variable_scope(**arguments)


def test_a_default_name_can_not_be_shared():
    with pytest.raises(ValueError, match="name_or_scope"):
        variable_scope(None, "a", reuse=True)


def test_the_scope_is_left_after_an_error():
    with pytest.raises(RuntimeError), variable_scope("a"):
        raise RuntimeError
    assert get_variable_scope().name == "" and get_default_graph().get_name_scope() == ""


def test_each_graph_has_its_own_scopes_and_variables():
    other = Graph()
    with variable_scope("a"):
        make()
        with other.as_default():
            assert get_variable_scope().name == ""
            with variable_scope("a"):
                assert make().graph is other


def test_variable_op_scope_has_the_old_order():
    x = constant(1.0)
    with variable_op_scope([x], None, "op") as scope:
        assert scope.name == "op" and make().op.name == "op/v"


def test_local_variables():
    v = get_local_variable("v", [2], initializer=ZERO)
    assert get_default_graph().get_collection("local_variables") == [v]
    assert get_default_graph().get_collection("variables") == [] and not v.trainable


def test_what_a_cell_made_is_made_again_with_the_same_names():
    def cell():
        with variable_scope(None, "dense"):
            return make()

    graph = get_default_graph()
    graph.owner = "first"
    cell()
    graph.owner = "second"
    old = cell()
    record = graph.detach(graph.ops_of("second"), owners=["second"])
    new = cell()
    assert new is not old and new.op.name == old.op.name == "dense_1/v"
    assert old.op in record.ops


def test_a_scope_left_too_early_stays_open():
    outer, inner = tf.variable_scope("outer"), tf.variable_scope("inner")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="reverse order"):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert tf.get_variable_scope().name == "outer"
    outer.__exit__(None, None, None)
    assert tf.get_variable_scope().name == ""
