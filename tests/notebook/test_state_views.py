"""%vars and %slots behind the magics: what is found, drawn, and left as it was."""
import json

import numpy as np
import pytest

import tfnb as tf
from tfnb.notebook import slots, variables
from tfnb.notebook.state.variable_table import variables_of
from tfnb.ops.declaration.raw import raw
from tfnb.ops.state.resource_variables import AssignVariableOp, VarHandleOp

FEED = {"x:0": [[1.0, 2.0, 3.0]]}


@pytest.fixture
def model():
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="w")
    table = tf.Variable(np.ones((5, 2), np.float32), name="table")
    tf.reduce_sum(tf.square(tf.matmul(x, w)) + tf.gather(table, [1, 1]), name="loss")
    with tf.Session() as session:
        yield session
    tf.reset_default_graph()


def train(session, optimizer):
    step = tf.train.get_or_create_global_step()
    op = optimizer.minimize(tf.get_default_graph().get_tensor_by_name("loss:0"), global_step=step)
    session.run(tf.global_variables_initializer())
    return op


def row(view, name):
    titles = [column.title for column in view.tables[0].columns]
    return dict(zip(titles, dict(view.tables[0].rows)[name], strict=True))


def test_slots_are_found_by_what_updates_them_or_by_their_names(model):
    train(model, tf.train.AdamOptimizer())
    found = {v.op.name: v for v in variables_of(tf.get_default_graph())}
    assert list(found) == ["w", "table", "global_step", "beta1_power", "beta2_power"]
    assert {role: op.name for role, op in found["w"].slots.items()} == {"m": "w/Adam", "v": "w/Adam_1"}
    assert {role: op.name for role, op in found["table"].slots.items()} == {"m": "table/Adam", "v": "table/Adam_1"}
    assert found["w"].trainable and not found["global_step"].trainable


@pytest.mark.parametrize("optimizer, roles", [
    (tf.train.MomentumOptimizer(0.1, 0.9), ["accum"]),
    (tf.train.RMSPropOptimizer(0.1, centered=True), ["mg", "mom", "ms"]),
    (tf.train.FtrlOptimizer(0.1), ["accum", "linear"]), (tf.train.GradientDescentOptimizer(0.1), [])])
def test_every_optimizer_tells_the_roles_of_its_slots(model, optimizer, roles):
    train(model, optimizer)
    found = {v.op.name: sorted(v.slots) for v in variables_of(tf.get_default_graph())}
    assert found["w"] == roles and found["table"] == roles


def test_the_table_follows_the_training(model):
    op = train(model, tf.train.AdamOptimizer(0.1))
    view = variables()
    assert row(view, "w")["init"].text == "✓" and row(view, "w")["update"].text == "" and "global step 0" in repr(view)
    before = model.run("w:0")
    for _ in range(5):
        model.run(op, FEED)
    view.refresh()
    after = model.run("w:0")
    expected = np.linalg.norm(after - before) / np.linalg.norm(before) / 5
    assert row(view, "w")["update"].value == pytest.approx(expected)
    assert row(view, "w")["norm"].spark == pytest.approx([np.linalg.norm(before), np.linalg.norm(after)])
    assert row(view, "w")["m"].value == pytest.approx(np.linalg.norm(model.run("w/Adam:0")), rel=1e-5)
    assert row(view, "w")["cell"].text.startswith("test_state_views.py:")
    assert "▁█" in repr(view) and "5 variables, 16 trainable numbers" in repr(view)
    view.pick("variables", "w")
    model.run(op, FEED)
    view.refresh()
    assert np.array_equal(view.panels[0][1].values, model.run("w:0")), "the heat maps follow, too"
    assert [name for name, _ in view.panels] == ["value", "m", "v"] and view.tables[0].picked == "w"


def test_updates_of_what_was_zero_are_finite_and_an_empty_column_says_when_it_fills(model):
    bias = tf.Variable([0.0, 0.0], name="bias")
    model.run(tf.global_variables_initializer())
    view = variables("bias|w", sort="update", descending=True)
    assert "train, this fills by itself" in repr(view)
    model.run(tf.assign(bias, [3.0, 4.0]))
    view.refresh()
    assert row(view, "bias")["update"].text == "1" and "inf" not in repr(view).replace("NaN, inf", "")
    assert "fills by itself" not in repr(view)


def test_the_table_hears_that_its_session_was_closed(model):
    model.run(tf.global_variables_initializer())
    view = variables("w")
    before = row(view, "w")["norm"].text
    model.close()
    view.tick(1e9)
    assert "its session was closed" in view.note and row(view, "w")["norm"].text == before
    assert "no session is open" in repr(variables("w"))


def test_without_values_the_table_says_what_it_knows(model):
    view = variables()
    assert row(view, "w")["init"].text == "–" and row(view, "w")["shape"].text == "3×2"
    view.hear({"type": "pick", "table": "variables", "row": "w"})
    assert "w has no value: run its initializer" in view.note
    with tf.Graph().as_default():
        assert "0 variables" in repr(variables())


def test_what_is_not_finite_is_marked(model):
    train(model, tf.train.GradientDescentOptimizer(0.1))
    model.run(tf.assign(tf.global_variables()[0], [[np.nan, 2.0], [np.inf, 4.0], [5.0, 6.0]]))
    view = variables("^w$")
    found = row(view, "w")
    assert found["NaN, inf"].bad and found["NaN, inf"].text == "33.3%" and found["max"].value == 6.0
    view.pick("variables", "w")
    json.dumps(view.tables[0].as_json(), allow_nan=False)


def test_rows_are_chosen_by_optimizer_and_slots_and_the_first_one_drawn(model):
    adam = tf.train.AdamOptimizer()
    train(model, adam)
    other = tf.train.MomentumOptimizer(0.1, 0.9, name="Second")
    other.minimize(tf.get_default_graph().get_tensor_by_name("loss:0"),
                   var_list=[v for v in tf.trainable_variables() if v.op.name == "w"])
    names = [name for name, _ in variables(optimizer="Adam").tables[0].rows]
    assert names == ["w", "table"] == [name for name, _ in variables(optimizer=adam).tables[0].rows]
    assert [name for name, _ in variables(optimizer="Second").tables[0].rows] == ["w"]
    model.run(tf.global_variables_initializer())
    view = variables(slotted=True, sort="size", descending=True).heat()
    assert [name for name, _ in view.tables[0].sorted_rows()] == ["table", "w"]
    assert view.tables[0].picked == "table" and [name for name, _ in view.panels] == ["value", "m", "v"]
    with pytest.raises(ValueError, match="no optimizer called 'Secnd' .*; did you mean 'Second'"):
        variables(optimizer="Secnd")


def test_wrong_words_name_the_nearest_one(model):
    train(model, tf.train.AdamOptimizer())
    with pytest.raises(ValueError, match="no variable matches 'tabel'; did you mean 'table'"):
        variables("tabel")
    with pytest.raises(ValueError, match="is no regular expression"):
        variables("(")
    with pytest.raises(ValueError, match="no column 'updates'; did you mean 'update'"):
        variables(sort="updates")
    with pytest.raises(ValueError, match="no variable is called 'tabel'; did you mean 'table'"):
        slots("tabel")
    with pytest.raises(ValueError, match="reduced by 'max' or 'mean', not 'min'"):
        slots("w", how="min")


def test_gradients_are_shown_and_the_graph_is_left_as_it_was(model):
    op = train(model, tf.train.AdamOptimizer())
    graph = tf.get_default_graph()
    before = [each.name for each in graph.get_operations()]
    by_loss, by_optimizer = slots("w", loss="loss", feed=FEED), slots("w", feed=FEED)
    expected = model.run(tf.gradients(graph.get_tensor_by_name("loss:0"), tf.global_variables()[0]), FEED)[0]
    assert np.allclose(by_loss.values["gradient"], expected) and np.allclose(by_optimizer.values["gradient"], expected)
    assert [name for name, _ in by_loss.panels] == ["value", "gradient", "m", "v"]
    assert [each.name for each in graph.get_operations()][:len(before)] == before
    assert slots("w/Adam").title == "w", "a slot stands for its variable"
    model.run(op, FEED)


def test_rows_of_sparse_gradients_are_added_up(model):
    train(model, tf.train.GradientDescentOptimizer(0.1))
    found = slots("table", loss="loss", feed=FEED).values["gradient"]
    assert found.tolist() == [[0, 0], [2, 2], [0, 0], [0, 0], [0, 0]]
    with pytest.raises(ValueError, match="does not depend on global_step"):
        slots("global_step", loss="loss", feed=FEED)


def test_a_click_looks_closer_and_back(model):
    large = tf.Variable(np.arange(200 * 300, dtype=np.float32).reshape(200, 300), name="large")
    model.run(large.initializer)
    view = slots(large)
    assert view.window is None and view.panels[0][1].block == (3, 4)
    view.hear({"type": "zoom", "panel": 0, "row": 30, "column": 40})
    assert view.window is not None and view.panels[0][1].block == (1, 1)
    assert view.widget_state()["heat"]["zoomed"]
    assert view.buttons == []
    view.hear({"type": "whole"})
    assert view.window is None and view.panels[0][1].values[0, 0] == 603
    view.hear({"type": "act", "act": "how"})
    assert view.panels[0][1].values[0, 0] == 301.5 and view.buttons == [("how", "Show extremes")]


def test_what_could_not_be_shown_is_told_until_something_else_is(model):
    model.run(tf.global_variables_initializer())
    tf.Variable(0.0, name="late")
    view = variables()
    before = view.note
    view.hear({"type": "pick", "table": "variables", "row": "late"})
    assert "late has no value" in view.note
    view.hear({"type": "pick", "table": "variables", "row": "w"})
    assert view.panels and view.note == before


def test_variables_behind_handles_are_seen(model):
    v, m = (VarHandleOp(dtype=tf.float32, shape=[2], shared_name=name, name=name) for name in ("v", "v/Momentum"))
    model.run([AssignVariableOp(handle, tf.constant([3.0, 4.0])) for handle in (v, m)])
    raw.ResourceApplyMomentum(v, m, 0.1, tf.constant([1.0, 1.0]), 0.9)
    assert row(variables(), "v")["accum"].text == "5" and slots("v").values["value"].tolist() == [3, 4]


def test_a_view_on_display_looks_at_large_variables_quickly_until_they_rest(model, monkeypatch):
    monkeypatch.setattr("tfnb.notebook.state.state_views.QUICK", 4)
    train(model, tf.train.GradientDescentOptimizer(0.1))
    view = variables("^(w|global_step)$")
    told = []
    monkeypatch.setattr(view, "tell", lambda: told.append({name: row(view, name)["max"].text for name in ("w",)}))
    view.tick(1.0)
    assert told == []
    model.run(tf.assign(tf.global_variables()[0], np.full((3, 2), 9.0)))
    view.tick(1.5)
    assert told == [], "not yet a second later"
    view.tick(2.0)
    assert told == [{"w": "6"}] and row(view, "w")["norm"].value == pytest.approx(9 * 6 ** 0.5)
    view.tick(3.0)
    view.tick(4.0)
    assert told == [{"w": "6"}, {"w": "9"}]


def test_saved_forms_have_svg_or_html(model):
    train(model, tf.train.AdamOptimizer())
    assert set(slots("w")._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}
    assert set(variables()._repr_mimebundle_()) == {"text/plain", "text/html"}
