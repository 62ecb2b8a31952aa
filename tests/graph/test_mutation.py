"""Taking ops out of a graph, putting them back, rolling back: what a notebook does when cells run again."""
from __future__ import annotations

import random
from typing import Any

import pytest

from tfnb.core.stale import StaleTensorError
from tfnb.graph.graph import Graph
from tfnb.ops.array.reshape import Identity
from tfnb.ops.control.group import no_op
from tfnb.ops.control.source import constant, placeholder
from tfnb.ops.math.arithmetic import Add, Mul


def state(g: Graph) -> Any:
    """All that a graph is, in plain values, with the identity of its ops."""
    return (
        [(id(op), op.name, op.owner, op.device, [t.name for t in op.inputs], [c.name for c in op.control_inputs],
          [(t.static, sorted(c.name for c in t.consumers())) for t in op.outputs],
          op.attrs.get("_class"), op._dead) for op in g.get_operations()],
        {key: [id(v) for v in g.get_collection(key)] for key in g.collections},
        set(g._names.used), g.cursor, g.seed, dict(g.stale))


def text(g: Graph) -> list[str]:
    """The structure alone: two graphs made by the same program have the same."""
    return [f"{op.name} = {op.type}({[t.name for t in op.inputs]}, after {[c.name for c in op.control_inputs]})"
            for op in g.get_operations()]


def cell_1(g: Graph) -> None:
    with g.name_scope("in"):
        g.add_to_collection("inputs", placeholder("float32", [None, 2], name="x"))
    g.add_to_collection("notes", "first")


def cell_2(g: Graph, extra: bool = False) -> None:
    x = g.get_tensor_by_name("in/x:0")
    with g.name_scope("layer"):
        h = Mul(x, 2.0)
        if extra:
            h = Mul(h, 3.0)
        with g.control_dependencies([h]):
            g.add_to_collection("layers", Add(h, 1.0, name="h"))
    g.add_to_collection("notes", "second")


def cell_3(g: Graph) -> None:
    h = g.get_tensor_by_name("layer/h:0")
    with g.name_scope("layer"):
        y = Mul(h, h)
    with g.colocate_with(h), g.control_dependencies([h, g.get_tensor_by_name("in/x:0")]):
        g.add_to_collection("layers", Identity(y, name="loss"))
        no_op()


def run(g: Graph, owner: str, fn: Any, *args: Any) -> None:
    g.owner = owner
    try:
        with g.as_default():
            fn(g, *args)
    finally:
        g.owner = None


@pytest.fixture
def g() -> Graph:
    graph = Graph()
    for owner, fn in (("1", cell_1), ("2", cell_2), ("3", cell_3)):
        run(graph, owner, fn)
    return graph


def rerun(g: Graph, owner: str, fn: Any, *args: Any) -> Any:
    """What the notebook layer does, in short: take the old ops out, run the cell where they stood, rewire."""
    record = g.detach(g.ops_of(owner), f"cell {owner} was run again", owners=[owner])
    g.cursor = record.position
    run(g, owner, fn, *args)
    g.cursor = None
    for edge in record.dangling:
        if edge.tensor.name in {t.name for op in g.get_operations() for t in op.outputs}:
            g.rewire(edge.tensor, g.get_tensor_by_name(edge.tensor.name), [edge.consumer])
    for op, waited in record.control:
        g.rewire_control(waited, g.get_operation_by_name(waited.name), [op])
    return record


@pytest.mark.parametrize("owner, fn", [("1", cell_1), ("2", cell_2), ("3", cell_3)])
def test_an_identical_rerun_gives_the_same_graph(g: Graph, owner: str, fn: Any) -> None:
    before, collections = text(g), {k: [getattr(v, "name", v) for v in g.get_collection(k)] for k in g.collections}
    used = set(g._names.used)
    old = g.ops_of(owner)
    for _ in range(3):
        rerun(g, owner, fn)
    assert text(g) == before and set(g._names.used) == used
    assert {k: [getattr(v, "name", v) for v in g.get_collection(k)] for k in g.collections} == {
        **collections, "notes": collections["notes"] if owner != "1" else ["second", "first"]}
    assert all(op._dead is not None for op in old) and not set(old) & set(g.get_operations())
    assert all(t.op._dead is None for op in g.get_operations() for t in op.inputs)
    assert all(c._dead is None for op in g.get_operations() for c in op.control_inputs)


def test_a_changed_rerun_is_that_of_running_all_again(g: Graph) -> None:
    rerun(g, "2", cell_2, True)
    fresh = Graph()
    for owner, fn, args in (("1", cell_1, ()), ("2", cell_2, (True,)), ("3", cell_3, ())):
        run(fresh, owner, fn, *args)
    assert text(g) == text(fresh)


def test_detaching_frees_names_and_leaves_the_rest(g: Graph) -> None:
    before = state(g)
    mutations = g.mutations
    record = g.detach(g.ops_of("2"), "gone")
    assert [op.name for op in record.ops] == ["layer/Mul/y", "layer/Mul", "layer/h/y", "layer/h"]
    assert (record.position, record.places) == (1, (1, 2, 3, 4)) and g.mutations == mutations + 1
    assert [e.consumer.name for e in record.dangling] == ["layer_1/Mul", "layer_1/Mul"]
    assert {(op.name, c.name) for op, c in record.control} == {("loss", "layer/h"), ("NoOp", "layer/h")}
    assert g.get_tensor_by_name("in/x:0").consumers() == []
    assert [v.name for v in g.get_collection("layers")] == ["loss:0"] and g.get_collection("notes") == ["first"]
    assert g.unique_name("layer", mark_as_used=False) == "layer"
    with pytest.raises(KeyError):
        g.get_operation_by_name("layer/h")
    with pytest.raises(ValueError, match="not in this graph"):
        g.detach(record.ops)
    g.reattach(record)
    assert state(g) == before


def test_using_what_left_raises(g: Graph) -> None:
    h = g.get_tensor_by_name("layer/h:0")
    g.detach(g.ops_of("2"), "cell [2] was run again")
    with g.as_default():
        for use in (lambda: Identity(h), lambda: g.as_graph_element(h), lambda: g.as_graph_element(h.op)):
            with pytest.raises(StaleTensorError, match=r"layer/h.*cell \[2\] was run again"):
                use()
    g.stale["3"] = "'h' changed"
    with g.as_default(), pytest.raises(StaleTensorError, match="'h' changed"):
        Identity(g.get_tensor_by_name("loss:0"))


def test_names_that_are_taken_by_now_prevent_reattaching(g: Graph) -> None:
    record = g.detach(g.ops_of("3"))
    with g.as_default():
        no_op()
    before = state(g)
    with pytest.raises(ValueError, match="'NoOp' can't come back"):
        g.reattach(record)
    assert state(g) == before


def test_scopes_without_ops_are_freed_for_their_owner() -> None:
    g = Graph()
    g.owner = "a"
    with g.name_scope("empty"):
        pass
    g.owner = None
    record = g.detach([], owners=["a"])
    assert g.unique_name("empty", mark_as_used=False) == "empty"
    g.reattach(record)
    assert g.unique_name("empty", mark_as_used=False) == "empty_1"


def test_the_cursor_puts_ops_and_entries_in_their_place(g: Graph) -> None:
    g.cursor = 1
    assert g.next_seed_index() == 1
    with g.as_default():
        g.add_to_collection("layers", constant(1.0, name="early"))
    assert g.cursor == 2 and g.get_operations()[1].name == "early"
    assert [t.name for t in g.get_collection("layers")] == ["early:0", "layer/h:0", "loss:0"]
    g.cursor = None
    assert g.next_seed_index() == len(g.get_operations())
    with pytest.raises(ValueError, match="cursor"):
        g.cursor = 100


def test_the_cursor_follows_what_leaves_before_it(g: Graph) -> None:
    g.cursor = 5
    record = g.detach(g.ops_of("2"))
    assert g.cursor == 1
    g.reattach(record)
    assert g.cursor == 1


def fail_after(g: Graph, act: Any) -> None:
    snapshot = g.snapshot()
    before = state(g)
    act()
    assert state(g) != before
    g.rollback(snapshot, "its cell failed")
    assert state(g) == before and g._journal == [] and g._alive == []


def test_rollback_of_new_ops(g: Graph) -> None:
    def act() -> None:
        run(g, "4", lambda g: (Identity(g.get_tensor_by_name("loss:0")), g.add_to_collection("new", 1),
                               g.add_to_collection("layers", no_op())))
        g.seed = 3

    fail_after(g, act)
    assert "new" not in g.collections


def test_rollback_of_a_rerun(g: Graph) -> None:
    h, loss = g.get_tensor_by_name("layer/h:0"), g.get_operation_by_name("loss")
    fail_after(g, lambda: rerun(g, "2", cell_2))
    fail_after(g, lambda: rerun(g, "2", cell_2, True))
    assert h.op._dead is None and h.op in loss.control_inputs and g.get_tensor_by_name("layer/h:0") is h


def test_rollback_of_every_other_change(g: Graph) -> None:
    x, loss = g.get_tensor_by_name("in/x:0"), g.get_operation_by_name("loss")
    for act in (lambda: x.set_shape([3, 2]), lambda: loss._set_device("/cpu:0"),
                lambda: loss._set_attr("_class", [b"loc:@loss"]), lambda: g.stale.update({"3": "changed"}),
                lambda: loss._add_control_input(g.get_operation_by_name("layer/Mul")),
                lambda: loss._update_input(0, x), lambda: g.get_collection_ref("layers").clear(),
                lambda: g.clear_collection("layers"), lambda: g.unique_name("in")):
        fail_after(g, act)


def test_ops_of_a_rolled_back_cell_are_dead(g: Graph) -> None:
    snapshot = g.snapshot()
    with g.as_default():
        made = constant(1.0)
    g.rollback(snapshot, "cell [4] failed")
    with g.as_default(), pytest.raises(StaleTensorError, match=r"cell \[4\] failed"):
        Identity(made)
    with g.as_default():
        assert constant(1.0).name == made.name


def test_nested_snapshots(g: Graph) -> None:
    outer, first = g.snapshot(), state(g)
    rerun(g, "2", cell_2, True)
    inner, second = g.snapshot(), state(g)
    rerun(g, "1", cell_1)
    rerun(g, "3", cell_3)
    g.rollback(inner)
    assert state(g) == second
    g.rollback(outer)
    assert state(g) == first
    g.forget(g.snapshot())
    assert state(g) == first and not g._alive


@pytest.mark.parametrize("seed", range(20))
def test_rollback_after_random_changes(g: Graph, seed: int) -> None:
    choose = random.Random(seed)
    cells = {"1": (cell_1,), "2": (cell_2, choose.random() < 0.5), "3": (cell_3,)}

    def act() -> None:
        records = []
        for _ in range(choose.randrange(1, 6)):
            owner = choose.choice("123")
            what = choose.randrange(3)
            if what == 0 and g.ops_of(owner):
                records.append(g.detach(g.ops_of(owner)))
            elif what == 1 and records:
                g.reattach(records.pop())
            elif {"in/x", "layer/h"} <= set(g._by_name):
                rerun(g, owner, *cells[owner])
                records.clear()
        g.seed = 5

    fail_after(g, act)


def test_adding_is_no_mutation_and_versions_only_grow(g: Graph) -> None:
    mutations, version = g.mutations, g.version
    with g.as_default():
        no_op()
    assert (g.mutations, g.version) == (mutations, version + 1)
    snapshot = g.snapshot()
    with g.as_default():
        op = no_op()
    g.rollback(snapshot)
    assert g.version == version + 2 == op._id and g.mutations == mutations + 1


def test_entries_stand_where_their_ops_do_also_with_many_behind(g: Graph) -> None:
    with g.as_default():
        ops = [constant(1.0, name=f"c{i}").op for i in range(6)]
        for op in ops:
            g.add_to_collection("all", op)
        record = g.detach(ops[2:4])
        g.cursor = record.position
        made = [constant(1.0, name=f"n{i}").op for i in range(3)]
        for op in made:
            g.add_to_collection("all", op)
        assert g.get_collection("all") == [*ops[:2], *made, *ops[4:]]
        g.add_to_collection("all", "note")
        g.add_to_collection("all", made[0])
        assert g.get_collection("all")[-4:] == ["note", made[0], *ops[4:]]
