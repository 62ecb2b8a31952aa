"""%ckpt behind the magic: lists, differences, plans."""
import json

import numpy as np
import pytest

import tfnb as tf
from tfnb import notebook


@pytest.fixture
def trained(tmp_path):
    with tf.Graph().as_default():
        w = tf.Variable(np.ones((4, 3), np.float32), name="w")
        step = tf.train.get_or_create_global_step()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                notebook.save_checkpoint(tmp_path / "model", session=session, step=int(session.run(step)))
                session.run([step.assign_add(1), w.assign(w * 1.5)])
            yield tmp_path


def test_a_click_compares_with_the_one_before_and_with_the_session(trained):
    view = notebook.checkpoints(trained)
    newest = str(trained / "model-2")
    assert [row for row, _ in view.tables[0].rows][0] == newest and "3 checkpoints" in repr(view)
    view.hear({"type": "act", "act": "before", "row": newest})
    assert view.difference["w"]["relative L2"] == pytest.approx(0.5) and "1 → 2" in repr(view)
    view.hear({"type": "pick", "table": "both", "row": "w"})
    assert [name for name, _ in view.panels][2] == "change" and view.panels[2][1].limit == 0.75
    assert view.panels[0][1].limit == view.panels[1][1].limit == 2.25, "the same colour is the same value"
    view.hear({"type": "act", "act": "session", "row": newest})
    assert view.panels == [] and view.difference["w"]["max change"] == pytest.approx(1.125)
    tf.global_variables()[0].load(np.full((4, 3), 5.0), tf.get_default_session())
    view.hear({"type": "pick", "table": "both", "row": "w"})
    assert view.difference["w"]["max change"] == pytest.approx(2.75) == view.panels[2][1].limit
    assert "2.75" in repr(view)
    view.hear({"type": "pick", "table": "checkpoints", "row": newest})
    view.hear({"type": "pick", "table": "tensors", "row": "w"})
    assert [name for name, _ in view.panels] == [view.panels[0][0]] and view.note == ""
    json.dumps(view.widget_state(), allow_nan=False)
    notebook.save_checkpoint(trained / "later")
    view.hear({"type": "act", "act": "refresh"})
    assert [row for row, _ in view.tables[0].rows][0] == str(trained / "later") and view.tables[1].name == "tensors"
    view.hear({"type": "pick", "table": "checkpoints", "row": str(trained / "gone")})
    assert "gone" in view.note


@pytest.mark.parametrize("late", [{"type": "whole"}, {"type": "zoom", "panel": 0}, {"type": "act", "act": "how"}])
def test_what_is_asked_of_heat_maps_that_are_gone_changes_nothing(trained, late):
    for view in (notebook.checkpoints(trained), notebook.variables()):
        before = view.widget_state()
        view.hear(late)
        name = view.tables[0].rows[-1][0]
        view.hear({"type": "pick", "table": view.tables[0].name, "row": name})
        view.hear({"type": "pick", "table": view.tables[0].name, "row": ""})
        view.hear(late)
        assert view.widget_state() == before


def test_three_ways(trained, tmp_path):
    tf.Variable(1.0, name="late").initializer.run()
    view = notebook.checkpoint_diff(trained / "model-0")
    assert [table.title.split(":")[0].rpartition("/")[2] for table in view.tables] == \
        ["model-0", "In both", "Only in session"]
    assert [row for row, _ in view.tables[2].rows] == ["late"]
    with pytest.raises(tf.errors.NotFoundError):
        notebook.checkpoint_diff(trained / "model-0", trained / "model-7")
    np.savez(tmp_path / "other.npz", w=np.ones((2, 3), np.float32))
    assert "float32 4×3 → float32 2×3" in repr(notebook.checkpoint_diff(trained / "model-0", tmp_path / "other.npz"))


def test_a_dry_run_changes_nothing(trained):
    session = tf.get_default_session()
    tf.Variable(1.0, name="late")
    before = session.run("w:0")
    dry = notebook.restore_checkpoint(trained / "model-0", dry_run=True)
    assert "2 variables would be restored, 1 not, 0 tensors without a variable" in repr(dry)
    assert "not in the checkpoint" in dry.forms()["text/html"] and np.array_equal(session.run("w:0"), before)
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not restore late"):
        notebook.restore_checkpoint(trained / "model-0")
    done = notebook.restore_checkpoint(trained / "model-0", partial=True)
    assert "2 variables restored" in repr(done) and session.run("w:0").max() == 1.0


def test_scopes_are_renamed_and_chosen(trained):
    session = tf.get_default_session()
    with tf.variable_scope("net"):
        tf.get_variable("w", [4, 3], initializer=tf.zeros_initializer()).initializer.run()
        tf.get_variable("b", [3], initializer=tf.ones_initializer()).initializer.run()
    np.savez(trained / "old.npz", **{"old/w": np.ones((4, 3), np.float32), "old/b": np.ones(3, np.float32),
                                     "other/w": np.zeros(2, np.float32)})
    diff = notebook.checkpoint_diff(trained / "old.npz", renamed={"net/": "old/"}, scope="net")
    assert set(diff.difference) == {"old/w", "old/b"} and diff.difference["old/b"] == {}
    assert [len(table.rows) for table in diff.tables] == [0, 2, 0]
    diff.hear({"type": "pick", "table": "both", "row": "old/w"})
    assert diff.panels[2][1].limit == 1.0
    shown = notebook.checkpoint(trained / "old.npz", scope="old").tables[0].rows
    assert [row for row, _ in shown] == ["old/b", "old/w"]
    with pytest.raises(ValueError, match="nothing below 'odl'; did you mean 'old'"):
        notebook.checkpoint(trained / "old.npz", scope="odl")
    one = notebook.checkpoint_diff(trained / "old.npz", renamed={"net/w": "old/w"}, scope="net/w").draw("old/w")
    assert set(one.difference) == {"old/w"} and len(one.panels) == 3
    with pytest.raises(ValueError, match="old.npz has no tensor 'old/x'; did you mean 'old/w'"):
        one.draw("old/x")
    view = notebook.restore_checkpoint(trained / "old.npz", renamed={"net/": "old/"}, scope="net/")
    assert "2 variables restored, 0 not, 0 tensors" in repr(view) and session.run("net/w:0").min() == 1.0
    with pytest.raises(ValueError, match="no variables below 'nte'; did you mean 'net'"):
        notebook.restore_checkpoint(trained / "old.npz", scope="nte")


def test_a_path_that_is_not_there_is_answered_with_the_nearest(trained):
    with pytest.raises(tf.errors.NotFoundError, match="did you mean 'model-2'"):
        notebook.checkpoint(trained / "modl-2")


def test_names_in_files_are_text(trained):
    evil = "<img src=x onerror=alert(1)>"
    np.savez(trained / "evil.npz", **{evil: np.ones(2)})
    assert "<img" not in notebook.checkpoint(trained / "evil.npz").forms()["text/html"]
    assert "<img" not in notebook.restore_checkpoint(trained / "evil.npz", dry_run=True).forms()["text/html"]


def test_without_a_session_there_is_nothing_to_compare_with(tmp_path):
    with tf.Graph().as_default(), pytest.raises(ValueError, match="no session is open"):
        notebook.checkpoint_diff("session", "session")
