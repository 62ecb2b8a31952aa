"""Unique names and name scopes."""
from __future__ import annotations

import pytest

from tfnb.graph.graph import Graph
from tfnb.graph.stack import get_default_graph, name_scope, op_scope
from tfnb.ops.control.group import no_op
from tfnb.ops.control.source import constant


def test_unique_names_ignore_case_and_skip_what_is_taken() -> None:
    g = Graph()
    asked = ["p/q/r", "p", "p/q", "p_1", "p", "P", "P_1", "p", "x_1", "x", "x"]
    assert [g.unique_name(n) for n in asked] == [
        "p/q/r", "p", "p/q", "p_1", "p_2", "P_3", "P_1_1", "p_4", "x_1", "x", "x_2"]
    assert g.unique_name("y", mark_as_used=False) == g.unique_name("y", mark_as_used=False) == "y"


def test_scopes_as_documented() -> None:
    g = Graph()
    with g.as_default():
        assert constant(5.0, name="c").op.name == "c"
        assert constant(6.0, name="c").op.name == "c_1"
        with g.name_scope("nested") as scope:
            assert scope == "nested/" and g.get_name_scope() == "nested"
            assert constant(10.0, name="c").op.name == "nested/c"
            with g.name_scope("inner"):
                assert constant(20.0, name="c").op.name == "nested/inner/c"
            with g.name_scope("inner") as again:
                assert again == "nested/inner_1/"
                with g.name_scope(scope):
                    assert constant(40.0, name="d").op.name == "nested/d"
                    with g.name_scope(""):
                        assert constant(50.0, name="e").op.name == "e"
                    with g.name_scope(None) as top:
                        assert top == ""
        assert g.get_name_scope() == ""


def test_an_op_may_have_the_name_of_its_scope() -> None:
    g = Graph()
    with g.as_default(), g.name_scope("S") as scope:
        assert constant(1.0, name=scope).op.name == "S"
        with pytest.raises(ValueError, match="Duplicate node name in graph: 'S'"):
            constant(1.0, name=scope)
    with g.as_default(), g.name_scope("s") as scope:
        assert scope == "s_1/"
    with g.as_default(), g.name_scope("S/"):
        assert no_op().name == "S/NoOp"


@pytest.mark.parametrize("name", ["_x", "a b", "a:0", "-a", "é"])
def test_invalid_names(name: str) -> None:
    g = Graph()
    with pytest.raises(ValueError, match="not a valid scope name"):
        g.name_scope(name).__enter__()
    with g.as_default(), pytest.raises(ValueError, match="not a valid node name"):
        no_op(name)
    assert g.get_operations() == []


def test_inside_a_scope_a_name_may_begin_with_an_underscore() -> None:
    g = Graph()
    with g.as_default(), g.name_scope("q"):
        assert no_op("_n").name == "q/_n"
        with g.name_scope("_w") as scope:
            assert scope == "q/_w/"
        with pytest.raises(ValueError, match="'a b'"):
            no_op("a b")
        with pytest.raises(TypeError, match="3"):
            g.name_scope(3).__enter__()     # type: ignore[arg-type]


def test_a_scope_is_left_on_an_exception() -> None:
    g = Graph()
    with pytest.raises(KeyError), g.name_scope("a"):
        raise KeyError
    assert g.get_name_scope() == ""


def test_name_scope_class() -> None:
    g = Graph()
    with g.as_default():
        a = constant(1.0)
    other = get_default_graph()
    with name_scope(None, "dflt", [a]) as scope:
        assert scope == "dflt/" and get_default_graph() is g
    assert get_default_graph() is other
    with g.as_default():
        with name_scope("n", "dflt", values=[[a]]) as scope:
            assert scope == "n/"
        with op_scope([a], None, "dflt") as scope:
            assert scope == "dflt_1/"
        with name_scope("", "dflt", [a]) as scope:
            assert scope == ""
        with name_scope(None) as scope:
            assert scope == ""
        assert name_scope("x").name == "x" and name_scope(None, "y").name == "y"
        with pytest.raises(ValueError, match="At least one of name"):
            name_scope(None, None, [a]).__enter__()
        with pytest.raises(TypeError, match="default_name"):
            name_scope("x", [a])            # type: ignore[arg-type]


def test_values_of_two_graphs() -> None:
    made = []
    for _ in range(2):
        with Graph().as_default():
            made.append(constant(1.0))
    with pytest.raises(ValueError, match="must be from the same graph"):
        name_scope(None, "x", made).__enter__()
    assert get_default_graph() is not made[0].graph
