"""A graph and a checkpoint into one GraphDef of constants."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.tools.freeze_graph import freeze_graph

X = np.array([[1.0, 2.0], [3.0, 4.0]], "f")


@pytest.fixture
def saved(tmp_path):
    """The paths of text and binary graph, checkpoint and SavedModel, and the output for X."""
    with tf.Graph().as_default(), tf.Session() as sess, tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.identity(tf.layers.dense(x, 3, name="dense"), name="y")
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
        tf.train.write_graph(sess.graph, str(tmp_path), "graph.pbtxt")
        tf.train.write_graph(sess.graph, str(tmp_path), "graph.pb", as_text=False)
        tf.saved_model.simple_save(sess, str(tmp_path / "export"), {"x": x}, {"y": y})
        return tmp_path, path, sess.run(y, {x: X})


@pytest.mark.parametrize("source", ["text", "binary", "meta", "saved_model"])
def test_freezing(saved, source):
    folder, checkpoint, wanted = saved
    options = {"text": {}, "binary": {}, "meta": {"input_meta_graph": checkpoint + ".meta"},
               "saved_model": {"input_saved_model_dir": str(folder / "export")}}[source]
    graph = str(folder / ("graph.pbtxt" if source == "text" else "graph.pb")) if not options else ""
    frozen = freeze_graph(graph, "", source != "text", checkpoint, "y", "save/restore_all", "save/Const:0",
                          str(folder / "frozen.pb"), True, "", **options)
    assert not {node.op for node in frozen.node} & {"VariableV2", "Assign"}
    assert all(not node.device for node in frozen.node)
    definition = tf.GraphDef.FromString((folder / "frozen.pb").read_bytes())
    with tf.Graph().as_default(), tf.Session() as sess:
        (y,) = tf.import_graph_def(definition, return_elements=["y:0"], name="")
        np.testing.assert_allclose(sess.run(y, {"x:0": X}), wanted, 1e-6)


def test_resource_variables(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("w", initializer=[1.0, 2.0])
        sess.run(tf.global_variables_initializer())
        checkpoint = tf.train.Saver().save(sess, str(tmp_path / "model"))
    with tf.Graph().as_default() as graph:
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="w", name="handle")
        tf.identity(tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32), name="y")
        tf.train.write_graph(graph, str(tmp_path), "graph.pbtxt")
    frozen = freeze_graph(str(tmp_path / "graph.pbtxt"), "", False, checkpoint, "y", None, None, "", False, "")
    assert "VarHandleOp" not in {node.op for node in frozen.node}
    with tf.Graph().as_default(), tf.Session() as sess:
        (y,) = tf.import_graph_def(frozen, return_elements=["y:0"], name="")
        assert sess.run(y).tolist() == [1, 2]


def test_what_is_missing_is_said(saved):
    folder, checkpoint, _ = saved
    graph = str(folder / "graph.pb")
    with pytest.raises(ValueError, match="expected names of output nodes"):
        freeze_graph(graph, "", True, checkpoint, "", "", "", "", True, "")
    with pytest.raises(tf.errors.NotFoundError, match="Input graph file '.*absent' does not exist"):
        freeze_graph(str(folder / "absent"), "", True, checkpoint, "y", "", "", "", True, "")
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("other", [1])
        sess.run(tf.global_variables_initializer())
        other = tf.train.Saver().save(sess, str(folder / "other"))
    with pytest.raises(tf.errors.NotFoundError, match="Key dense/kernel not found in checkpoint"):
        freeze_graph(graph, "", True, other, "y", "", "", "", True, "")
