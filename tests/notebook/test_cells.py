"""Cells own their ops: no IPython here, `begin`, `commit`, `rollback` and `delete` are driven directly."""
import pytest

from tfnb.core.dtypes import float32
from tfnb.core.stale import StaleTensorError, check_fresh, why_stale
from tfnb.graph.graph import Graph
from tfnb.graph.parts import ownership
from tfnb.graph.stack import get_default_graph, reset_default_graph, set_global_graph
from tfnb.notebook.cells.cells import Cells
from tfnb.notebook.cells.effects import Orphan
from tfnb.notebook.frontend.settings import settings
from tfnb.ops.array import joining
from tfnb.ops.array import reshape as array  # noqa: F401  (they declare the ops)
from tfnb.ops.control import source
from tfnb.ops.declaration.raw import raw


class Notebook:
    """Runs cells (functions over a namespace) as the hooks would."""

    def __init__(self):
        self.cells, self.count, self.ns = Cells(), 0, {}

    def run(self, key, code, fails=False):
        self.count += 1
        self.cells.begin(key, f"[{self.count}]")
        try:
            exec(code, {"raw": raw, "f32": "float32", "variable": variable, "placeholder": source.placeholder,
                        "gradient": gradient, "g": get_default_graph(), "const": source.constant}, self.ns)
        except Exception as error:
            changed = self.cells.rollback()
            if not fails:
                raise
            self.error = error
            return changed
        assert not fails
        return self.cells.commit()

    def text(self, key):
        return self.cells.badges[key].text()

    def __getattr__(self, name):
        return self.ns[name]


def variable(name, shape):
    graph = get_default_graph()
    ref = graph.create_op("VariableV2", [], name=name, attrs={"shape": shape, "dtype": float32}).outputs[0]
    graph.add_to_collection("variables", ref)
    initial = source.constant(0.0, shape=shape, name=f"{name}/initial_value")
    return ref, graph.create_op("Assign", [ref, initial], name=f"{name}/Assign")


def gradient(forward, *inputs, name):
    """Stands for an op that tf.gradients makes."""
    op = get_default_graph().create_op("Mul", list(inputs), name=name)
    op._original_op = forward.op
    return op.outputs[0]


@pytest.fixture
def nb(monkeypatch):
    monkeypatch.setattr(ownership, "_graphs", type(ownership._graphs)())      # not those of other tests
    reset_default_graph()
    return Notebook()


def names():
    return [op.name for op in get_default_graph().get_operations()]


MODEL = """
x = placeholder(f32, (None, 3), name="x")
W, W_init = variable("W", (3,))
h = raw.Mul(x, W, name="h")
a = raw.Sigmoid(h, name="a")
"""
WIDER = MODEL.replace("3)", "5)").replace("(3,", "(5,")
LOSS = 'loss = raw.Neg(a, name="loss")'
TRAIN = """
grad = gradient(a, loss, a, name="grad")
down = gradient(h, grad, h, name="down")
"""


def test_a_cell_run_again_gives_the_same_names_in_the_same_places(nb):
    nb.run("B", MODEL)
    nb.run("C", LOSS)
    before, old = names(), nb.a
    nb.run("B", MODEL)
    assert names() == before
    assert nb.a is not old and nb.loss.op.inputs[0] is nb.a
    assert get_default_graph().get_collection("variables") == [nb.W]
    assert len(get_default_graph().get_operations()) == len(before)


def test_an_identical_run_leaves_nothing_stale_and_moves_gradients_over(nb):
    nb.run("B", MODEL)
    nb.run("C", LOSS)
    nb.run("D", TRAIN)
    changed = nb.run("B", MODEL)
    assert changed == ["B"] and not get_default_graph().stale
    assert nb.text("B") == "up to date · 6 ops · 1 variable · as before · 3 inputs of later cells moved over"
    assert nb.grad.op.inputs[1] is nb.a and nb.grad.op._original_op is nb.a.op
    assert nb.a.consumers() == [nb.loss.op, nb.grad.op]
    assert why_stale(nb.down.op) is None


def test_a_changed_run_moves_forward_consumers_and_marks_gradients(nb):
    nb.run("B", MODEL)
    nb.run("C", LOSS)
    nb.run("D", TRAIN)
    nb.run("E", 'group = raw.NoOp(name="group"); g.get_operation_by_name("group")._add_control_input(down.op)')
    changed = nb.run("B", MODEL.replace("Sigmoid", "Tanh"))
    assert nb.loss.op.inputs[0] is nb.a, "the loss takes the new tensor"
    assert why_stale(nb.loss.op) is None
    assert set(changed) == {"B", "D", "E"}
    assert nb.text("D") == "run again: 'a' changed in [5]"
    assert nb.text("E") == "run again: 'down' of [3] is stale - run [3] [4]"
    with pytest.raises(StaleTensorError, match=r"'grad' \(Mul\): its cell \[3\] is stale, because 'a' changed in "
                                               r"\[5\]: run \[3\] again"):
        check_fresh(nb.grad.op)
    assert set(nb.run("D", TRAIN)) == {"D", "E"}, "the stale cell is fresh again, and so is what only used it"
    assert not get_default_graph().stale
    assert nb.text("D").startswith("up to date") and nb.text("E").startswith("up to date")


def test_a_gradient_is_stale_even_if_it_takes_nothing_of_what_changed(nb):
    nb.run("B", 'x = placeholder(f32, (2,), name="x"); y = raw.Neg(x, name="y")')
    nb.run("C", 'loss = raw.Square(y, name="loss")')
    nb.run("D", 'one = const([1.0, 1.0], name="one"); grad = gradient(loss, one, one, name="grad")')
    nb.run("B", 'x = placeholder(f32, (2,), name="x"); y = raw.Abs(x, name="y")')
    assert nb.text("D").startswith("run again: 'y' changed in [4]")
    assert nb.text("C").startswith("up to date")


def test_what_did_not_change_in_a_changed_cell_stays_usable(nb):
    nb.run("B", MODEL)
    nb.run("D", 'grad = gradient(h, h, h, name="grad")')
    nb.run("B", MODEL + 'extra = raw.Neg(x, name="extra")')
    assert why_stale(nb.grad.op) is None and nb.grad.op.inputs[0] is nb.h
    assert nb.text("B") == "up to date · 7 ops · 1 variable · 2 inputs of later cells moved over"


def test_a_change_of_shape_or_dtype_makes_consumers_stale(nb):
    nb.run("B", MODEL)
    nb.run("C", LOSS)
    nb.run("B", WIDER)
    assert nb.text("C") == "run again: 'a' changed in [3] from float32[?, 3] to float32[?, 5]"
    assert nb.text("B") == "up to date · 6 ops · 1 variable"
    with pytest.raises(StaleTensorError, match=r"run \[2\] again"):
        raw.Neg(nb.loss)


def test_old_tensors_say_which_runs_made_and_replaced_them(nb):
    nb.run("B", MODEL)
    old = nb.a
    nb.run("B", MODEL)
    with pytest.raises(StaleTensorError, match=r"'a' \(Sigmoid\): it was made when its cell ran as \[1\]; the cell ran "
                                               r"again as \[2\] and made a new one"):
        raw.Neg(old)
    nb.run("B", "x = placeholder(f32, (None, 3), name='x')")
    with pytest.raises(StaleTensorError, match="no longer makes it"):
        raw.Neg(nb.a)


def test_a_cell_that_uses_its_own_old_tensor_is_told_so_and_rolled_back(nb):
    nb.run("A", 'x = const(1.0, name="x")')
    nb.run("B", 'x = raw.Neg(x, name="y")')
    nb.run("B", 'x = raw.Neg(x, name="y")', fails=True)
    assert isinstance(nb.error, StaleTensorError) and "running again as [3]" in str(nb.error)
    assert names() == ["x", "y"] and why_stale(nb.x.op) is None


def test_a_failing_cell_leaves_the_graph_as_it_was(nb):
    nb.run("B", MODEL)
    nb.run("C", LOSS)
    before, consumers, old = names(), nb.a.consumers(), nb.a
    nb.run("B", MODEL.replace("Sigmoid", "Tanh") + "1 / 0", fails=True)
    assert names() == before and why_stale(old.op) is None and old.consumers() == consumers
    assert get_default_graph().get_collection("variables") == [old.op.inputs[0].op.inputs[1]]
    assert get_default_graph().owner is None and get_default_graph().cursor is None
    with pytest.raises(StaleTensorError, match=r"made by the run \[3\] of its cell, which failed"):
        raw.Neg(nb.a)
    nb.run("F", "y = const(1.0, name='y'); 1 / 0", fails=True)
    assert names() == before and "F" not in nb.cells.badges
    nb.run("F", "y = const(1.0, name='y')")
    assert nb.y.op.name == "y"


def test_a_failing_run_of_a_stale_cell_leaves_it_stale(nb):
    nb.run("B", MODEL)
    nb.run("D", 'grad = gradient(a, a, a, name="grad")')
    nb.run("B", MODEL.replace("Sigmoid", "Tanh"))
    stale = dict(get_default_graph().stale)
    assert list(stale) == ["D"]
    nb.run("D", 'grad = gradient(a, a, a, name="grad"); 1 / 0', fails=True)
    assert get_default_graph().stale == stale
    assert nb.text("D").startswith("run again: 'a' changed in [3]")
    nb.run("D", 'grad = gradient(a, a, a, name="grad")')
    assert not get_default_graph().stale


def test_a_stale_cell_may_not_be_built_upon(nb):
    nb.run("B", MODEL)
    nb.run("D", 'grad = gradient(a, a, a, name="grad")')
    nb.run("B", MODEL.replace("Sigmoid", "Tanh"))
    nb.run("E", 'y = raw.Neg(grad, name="y")', fails=True)
    assert "run [2] again" in str(nb.error)


def test_a_cell_that_stops_making_ops_has_them_removed(nb):
    nb.run("B", MODEL)
    nb.run("C", LOSS)
    assert set(nb.run("B", "")) == {"B", "C"}
    assert names() == ["loss"] and not get_default_graph().get_collection("variables")
    assert nb.text("B") == "up to date · 0 ops · 6 removed"
    assert nb.text("C") == "run again: 'a' is no longer made in [3]"
    assert nb.run("B", "") == [] and "B" not in nb.cells.badges


def test_deleting_a_cell_removes_its_ops(nb):
    nb.run("B", MODEL)
    nb.run("C", LOSS)
    nb.run("D", "y = const(1.0, name='y')")
    assert nb.cells.delete("B") == ["C"]
    assert names() == ["loss", "y"]
    assert nb.text("C") == "run again: 'a' is no longer made in [1], which was deleted"
    with pytest.raises(StaleTensorError, match=r"its cell \[1\] was deleted"):
        raw.Neg(nb.x)
    assert nb.cells.delete("B") == [] and nb.cells.delete("never seen") == []
    assert nb.cells.delete("C") == [] and not get_default_graph().stale


def test_names_that_a_fresh_run_would_not_give_are_noted(nb):
    nb.run("B", "a = const(1.0)")
    nb.run("C", "b = const(2.0)")
    nb.run("B", "a = const(1.0); c = const(3.0)")
    assert names() == ["Const", "Const_2", "Const_1"]
    assert "'Const_2' would be 'Const_1' in a fresh run" in nb.text("B")
    nb.run("D", "variable('dense/w', [1])")
    nb.run("E", "variable('dense_1/w', [1])")
    nb.run("D", "variable('dense/w', [1]); variable('dense_2/w', [1])")
    assert "'dense_2/w' would be 'dense_1/w' in a fresh run" in nb.text("D"), "layers are numbered by their scopes"
    nb.run("E", "variable('dense_1/w', [1])")
    assert nb.text("E").startswith("up to date") and "would be" not in nb.text("E")
    nb.run("C", "b = const(2.0); c = const(3.0)")
    assert "would be" not in nb.text("C")
    nb.run("F", "variable('v', [1])")
    nb.run("G", "variable('v_1', [1]); variable('v_2', [1])")
    nb.run("F", "variable('v', [1]); variable('v_3', [1])")
    assert "'v_3' would be 'v_1' in a fresh run" in nb.text("F")


def test_collecting_ops_of_other_cells_are_stale_when_there_is_more_to_collect(nb):
    nb.run("B", MODEL)
    nb.run("C", 'init = raw.NoOp(name="init"); g.get_operation_by_name("init")._add_control_input(W_init)')
    nb.run("B", MODEL)
    init = get_default_graph().get_operation_by_name("init")
    assert nb.text("C").startswith("up to date") and init.control_inputs == [nb.W_init]
    nb.run("B", MODEL + 'b, b_init = variable("b", (3,))')
    assert nb.text("C") == "run again: variable 'b' of [4] is new and not among those it initializes"
    assert nb.text("B").startswith("up to date · 9 ops · 2 variables · 1 input")


def test_changed_starting_values_do_not_disturb_an_initializer(nb):
    nb.run("B", 'W, W_init = variable("W", (2,))')
    nb.run("C", 'init = raw.NoOp(name="init"); g.get_operation_by_name("init")._add_control_input(W_init)')
    nb.run("B", 'W, W_init = variable("W", (2,)); other = const(5.0)')
    assert nb.text("C").startswith("up to date")


def test_merged_summaries_of_a_changed_cell_are_stale(nb):
    one = 'x = const(1.0, name="x"); s = raw.ScalarSummary("x", x, name="s")'
    nb.run("B", one)
    nb.run("C", 'merged = raw.MergeSummary([s], name="merged")')
    nb.run("B", one)
    assert nb.text("C").startswith("up to date") and nb.merged.op.inputs[0] is nb.s
    nb.run("B", one + '; t = raw.ScalarSummary("t", x, name="t")')
    assert nb.text("C") == "run again: summary 't' of [4] is new and not among those it merges"
    nb.run("C", 'merged = raw.MergeSummary([s, t], name="merged")')
    nb.run("B", one.replace("1.0", "2.0") + '; t = raw.ScalarSummary("t", x, name="t")')
    assert nb.text("C") == "run again: 's' changed in [6]"


def test_ops_that_no_cell_made_are_marked_one_by_one(nb):
    nb.run("B", MODEL)
    free = raw.Neg(nb.a, name="free")
    other = raw.Neg(nb.x, name="other")
    nb.run("B", MODEL.replace("raw.Sigmoid", "raw.Shape"))
    assert why_stale(other.op) is None and other.op.inputs[0] is nb.x
    with pytest.raises(StaleTensorError, match=r"'free' \(Neg\): 'a' changed in \[2\] .* no cell of the notebook made"):
        check_fresh(free.op)
    assert isinstance(free.op.owner, Orphan) and other.op.owner is None
    nb.run("C", "y = const(1.0)")
    assert why_stale(free.op), "it stays so"


def test_collection_entries_of_a_cell_without_ops_leave_too(nb):
    nb.run("B", MODEL)
    graph = get_default_graph()
    for _ in range(2):
        nb.run("C", 'g.add_to_collection("losses", a); g.add_to_collection("notes", "text")')
        assert graph.get_collection("losses") == [nb.a] and graph.get_collection("notes") == ["text"]
    nb.run("D", "pass")
    nb.cells.undo()
    nb.cells.undo()
    assert graph.get_collection("losses") == [] == graph.get_collection("notes") and len(names()) == 6
    nb.run("C", 'g.add_to_collection("notes", "text")')
    nb.cells.delete("C")
    assert graph.get_collection("notes") == [] and "C" not in nb.cells.badges


def test_several_graphs_are_kept_apart(nb):
    other = Graph()
    nb.ns["other"] = other
    nb.run("B", "with other.as_default():\n    y = const(1.0, name='y')\nx = const(1.0, name='x')")
    nb.run("C", "with other.as_default():\n    z = raw.Neg(y, name='z')")
    nb.run("B", "with other.as_default():\n    y = const([1.0], name='y')\nx = const(1.0, name='x')")
    assert names() == ["x"] and [op.name for op in other.get_operations()] == ["y", "z"]
    assert list(other.stale) == ["C"] and not get_default_graph().stale
    assert nb.text("B") == "up to date · 2 ops"


def test_a_graph_made_in_a_cell_belongs_to_it_from_the_start(nb):
    nb.ns["Graph"] = Graph
    code = "graph = Graph()\nwith graph.as_default():\n    y = const(1.0, name='y')\n"
    nb.run("B", code)
    first = nb.graph
    assert nb.y.op.owner == "B"
    nb.run("B", code)
    assert nb.graph is not first and first.get_operations() == [] and nb.y.op.name == "y"
    nb.run("B", code + "1 / 0", fails=True)
    assert [op.name for op in first.get_operations()] == [] and nb.graph.get_operations() == []


def test_a_cell_that_resets_the_default_graph(nb):
    nb.ns["reset"] = reset_default_graph
    code = "reset()\n" + MODEL
    nb.run("B", code)
    nb.run("C", LOSS)
    first = get_default_graph()
    nb.run("B", code)
    assert get_default_graph() is not first and names()[0] == "x" and "loss" not in names()
    assert nb.text("B") == "up to date · 6 ops · 1 variable"
    assert nb.text("C") == "run again: 'a' is no longer made in [3]"


def test_inner_cells_roll_back_alone(nb):
    cells = nb.cells
    cells.begin("A", "[1]")
    outer = source.constant(1.0, name="outer")
    saved = cells.save()
    source.constant(1.0, name="inner")
    cells.restore(saved, failed=True)
    assert names() == ["outer"]
    saved = cells.save()
    good = source.constant(1.0, name="good")
    cells.restore(saved, failed=False)
    cells.commit()
    assert names() == ["outer", "good"] and outer.op.owner == good.op.owner == "A"


def test_a_named_cell_takes_over_what_it_made_under_another_key(nb):
    nb.run("first", MODEL)
    nb.run("C", LOSS)
    for key in ("second", "third"):
        nb.cells.begin(key, f"[{key}]")
        nb.cells.take_over("first" if key == "second" else "second")
        exec(MODEL, {"raw": raw, "f32": "float32", "variable": variable, "placeholder": source.placeholder}, nb.ns)
        assert nb.cells.commit() == [key]
        assert list(nb.cells.badges) == ["C", key] and "as before" in nb.text(key)
    assert len(names()) == 7 and nb.loss.op.inputs[0] is nb.a
    nb.cells.begin("fourth", "[4]")
    nb.cells.take_over("third")
    assert names() == ["loss"]
    nb.cells.rollback()
    assert len(names()) == 7 and why_stale(nb.a.op) is None
    nb.cells.begin("fifth", "[5]")
    nb.cells.take_over("third")
    nb.cells.commit()
    assert names() == ["loss"]


def test_disowned_ops_add_up(nb):
    for _ in range(2):
        nb.cells.begin("A", "[1]")
        nb.cells.disown()
        source.constant(1.0, name="x")
        assert nb.cells.commit() == []
    assert names() == ["x", "x_1"]


def test_sessions_are_told_to_look_again(nb):
    nb.run("B", MODEL)
    nb.run("D", 'grad = gradient(a, a, a, name="grad")')
    graph = get_default_graph()
    before = graph.mutations
    nb.run("E", "y = const(1.0)")
    assert graph.mutations == before, "adding ops leaves plans valid"
    nb.run("B", MODEL.replace("Sigmoid", "Tanh"))
    assert graph.mutations > before


def test_a_shape_that_came_from_a_changed_value_makes_what_has_it_stale(nb):
    nb.run("B", 'x = const([1.0] * 6, name="x"); size = const([2, 3], name="size")')
    nb.run("C", 'y = raw.Reshape(x, size, name="y")')
    nb.run("D", 'z = raw.Neg(y, name="z")')
    nb.run("B", 'x = const([2.0] * 6, name="x"); size = const([2, 3], name="size")')
    assert not get_default_graph().stale, "another value of the same shape: nothing downstream is of another shape"
    nb.run("B", 'x = const([2.0] * 6, name="x"); size = const([3, 2], name="size")')
    assert nb.text("C") == "run again: 'size' changed in [5], and with it the shape of 'y'"
    assert nb.text("D") == "run again: 'y' of [2] is stale - run [2] [3]"
    nb.run("C", 'y = raw.Reshape(x, size, name="y")')
    assert nb.text("D").startswith("run again: 'y' changed in [6] from float32[2, 3] to float32[3, 2]")


def test_a_cell_before_the_one_that_finalized_the_graph_may_run_again(nb):
    nb.run("B", 'x = const(1.0, name="x")')
    nb.run("C", "g.finalize()")
    nb.run("B", 'x = const(2.0, name="x")')
    assert get_default_graph().finalized and names() == ["x"]
    nb.run("B", 'x = const(2.0, name="x"); 1 / 0', fails=True)
    assert get_default_graph().finalized
    nb.run("D", 'y = const(2.0, name="y")', fails=True)
    assert "finalized" in str(nb.error)


def test_undo_goes_back_run_by_run(nb):
    nb.run("B", MODEL)
    nb.run("C", LOSS)
    nb.run("D", TRAIN)
    graph, before, old, texts = get_default_graph(), names(), nb.a, dict(nb.cells.badges)
    nb.run("B", MODEL)
    nb.run("F", "pass")
    nb.run("B", MODEL.replace("Sigmoid", "Tanh"))
    assert list(graph.stale) == ["D"]
    past, _, changed = nb.cells.undo()
    assert past.what == "run [6]" and {"B", "D"} <= set(changed) and not graph.stale and nb.a.op._dead
    nb.cells.undo()
    assert names() == before and why_stale(old.op) is None and nb.grad.op.inputs[1] is old
    assert nb.grad.op._original_op is old.op and old.consumers() == [nb.loss.op, nb.grad.op]
    assert nb.cells.badges["D"] == texts["D"] and "run [4] was undone" in nb.text("B")
    nb.run("B", MODEL)
    assert nb.text("B") == "up to date · 6 ops · 1 variable · as before · 3 inputs of later cells moved over"
    assert names() == before


def test_undo_of_a_deletion_and_of_orphans(nb):
    nb.run("B", MODEL)
    free = raw.Neg(nb.a, name="free")
    nb.cells.delete("B")
    assert isinstance(free.op.owner, Orphan) and why_stale(free.op)
    past, _, _ = nb.cells.undo()
    assert past.what == "the deletion of [1]" and free.op.owner is None and why_stale(free.op) is None
    nb.cells.undo()
    assert names() == [], "what was made since leaves too"
    with pytest.raises(IndexError):
        nb.cells.undo()


def test_the_journal_is_no_longer_than_the_setting_says(nb, monkeypatch):
    monkeypatch.setitem(settings.__dict__, "undo_depth", 2)
    for i in range(5):
        nb.run("B", f'x = const({i}.0, name="x"); x.op._set_attr("_mark", {i})')
    graph = get_default_graph()
    assert len(graph.past) == 2 == len(nb.cells.journal.entries) and len(graph._alive) == 2
    nb.cells.undo()
    nb.cells.undo()
    assert get_default_graph().get_operation_by_name("x").attrs["_mark"] == 2
    assert graph._journal == [] and graph._alive == []


def test_large_constants_are_not_kept_for_long(nb, monkeypatch):
    monkeypatch.setattr("tfnb.notebook.cells.journal.MOST_BYTES", 1000)
    for i in range(6):
        nb.run("B", f'x = const({i}.0, shape=[100], name="x")')
    assert [past.size for past in nb.cells.journal.entries] == [400, 400]
    nb.run("B", 'x = const(0.0, shape=[1000], name="x")')
    nb.run("B", 'x = const(1.0, name="x")')
    assert [past.size for past in nb.cells.journal.entries] == [4000], "one run can always be undone"
    nb.cells.undo()
    assert nb.cells.journal.entries == [] and nb.x.op._dead


def test_the_default_graph_comes_back(nb):
    nb.ns["reset"] = reset_default_graph
    nb.run("B", MODEL)
    first = get_default_graph()
    nb.run("C", "reset(); 1 / 0", fails=True)
    assert get_default_graph() is first
    nb.run("C", "reset(); x = const(1.0)")
    nb.cells.undo()
    assert get_default_graph() is first and len(names()) == 6


def test_begin_and_commit_come_in_pairs(nb):
    with pytest.raises(RuntimeError, match="no cell is running"):
        nb.cells.commit()
    nb.cells.begin("A", "[1]")
    with pytest.raises(RuntimeError, match=r"cell \[1\] is running"):
        nb.cells.begin("B", "[2]")


def test_a_cell_that_makes_graphs_again_leaves_others_outdated(nb):
    nb.ns["reset"] = reset_default_graph
    nb.run("R", "reset()")
    nb.run("A", "a = const(1.0, name='a')")
    nb.run("S", "reset()")                                  # a second part of the notebook
    nb.run("B", "b = const(1.0, name='b')")
    assert nb.text("A") == "up to date · 1 op" and nb.text("B") == "up to date · 1 op"
    assert nb.run("R", "reset()") == ["A"]
    assert nb.text("A") == "run again: its graph was replaced by a new one in [5]"
    assert why_stale(nb.a.op) is None and nb.text("B") == "up to date · 1 op", "what it made may still be run"
    nb.cells.undo()
    assert nb.text("A") == "up to date · 1 op" and get_default_graph() is nb.b.graph
    nb.run("R", "reset()")
    nb.run("A", "a = const(1.0, name='a')")
    assert nb.text("A").startswith("up to date") and nb.a.graph is get_default_graph()


def test_a_cell_that_made_the_default_graph_by_using_it_does_not_replace_it(nb):
    nb.ns["Graph"] = Graph
    nb.run("A", "a = const(1.0, name='a')")
    nb.run("B", "b = const(1.0, name='b')")
    nb.run("A", "a = const(1.0, name='a'); other = Graph()")
    assert nb.text("B") == "up to date · 1 op"


def test_a_tensor_of_a_failed_first_cell_is_stale_beside_others(nb):
    nb.ns.update(kept=[], stack=joining.stack)
    set_global_graph(None)
    nb.run("A", "kept.append(const(1.0)); 1 / 0", fails=True)       # and with it leaves the graph that it was in
    nb.run("B", "b = const(2.0); stack([b, kept[0]])", fails=True)
    assert isinstance(nb.error, StaleTensorError) and "made by the run [1]" in str(nb.error)
