"""SavedModels: written here and loaded in TensorFlow, and the reverse; what is in them; errors."""
from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import tfnb as tf
from tfnb.tools.inspect import inspect

# Builds, trains a step, and saves a model with an asset, an init op and two meta graphs to `folder`.
SAVE = """
x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.get_variable("w", initializer=[[1.0], [2.0]])
v = tf.Variable(tf.zeros([3]), name="v", trainable=False)
y = tf.matmul(x, w, name="y")
counter = tf.Variable(0, name="counter", collections=[tf.GraphKeys.LOCAL_VARIABLES])
words = tf.constant(vocabulary, name="words")
tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, words)
text = tf.Variable("", name="text", collections=[tf.GraphKeys.LOCAL_VARIABLES])
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(y, name="train")
model = tf.saved_model
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    sess.run(train, {x: [[1.0, 2.0]]})
    builder = model.builder.SavedModelBuilder(folder)
    signature = model.signature_def_utils.predict_signature_def({"x": x}, {"y": y})
    key = model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    builder.add_meta_graph_and_variables(
        sess, [model.tag_constants.SERVING], {key: signature},
        main_op=tf.group(tf.assign(counter, 7), tf.assign(text, tf.read_file(words)), name="main"),
        assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS), clear_devices=True)
    builder.add_meta_graph([model.tag_constants.TRAINING, "more"])
    path = builder.save()
    result = (path, sess.run(y, {x: [[1.0, 1.0]]}))
"""
LOAD = """
with tf.Session() as sess:
    found = tf.saved_model.loader.load(sess, ["serve"], folder)
    signature = found.signature_def["serving_default"]
    feed = {signature.inputs["x"].name: [[1.0, 1.0]]}
    result = [sess.run(signature.outputs["y"].name, feed), sess.run("counter:0"), sess.run("text:0"),
              signature.method_name]
    sess.run("train", {"x:0": [[1.0, 2.0]]})
    result += [sess.run("w:0"), sess.run("w/Momentum:0"), len(tf.get_collection("saved_model_assets"))]
"""


def run(code, **scope):
    tf.reset_default_graph()
    scope = {"tf": tf, "np": np, **scope}
    exec(code, scope)
    return scope["result"]


@pytest.fixture
def places(tmp_path):
    vocabulary = tmp_path / "vocabulary.txt"
    vocabulary.write_text("one\ntwo\n")
    return {"folder": str(tmp_path / "model"), "vocabulary": str(vocabulary)}


def check(result, places):
    os.remove(places["vocabulary"]) if os.path.exists(places["vocabulary"]) else None      # the model has its own
    found = run(LOAD, **places) if callable(result) else result
    np.testing.assert_allclose(found[0], [[2.7]], rtol=1e-6)
    assert found[1] == 7 and found[2] == b"one\ntwo\n" and found[3] == "tensorflow/serving/predict" and found[6] == 1
    np.testing.assert_allclose(found[4], [[0.71], [1.42]], rtol=1e-5)
    np.testing.assert_allclose(found[5], [[1.9], [3.8]], rtol=1e-6)


def test_a_model_goes_round_here(places):
    path, value = run(SAVE, **places)
    np.testing.assert_allclose(value, [[2.7]], rtol=1e-6)
    assert path == os.fsencode(os.path.join(places["folder"], "saved_model.pb"))
    assert sorted(os.listdir(places["folder"])) == ["assets", "saved_model.pb", "variables"]
    check(run, places)


def test_tensorflow_loads_our_model(places, oracle):
    run(SAVE, **places)
    check(oracle(LOAD, **places), places)


def test_we_load_tensorflows_model(places, oracle):
    oracle(SAVE, **places)
    check(run, places)


def test_the_models_of_both_hold_the_same(places, oracle, tmp_path):
    run(SAVE, **places)
    ours = inspect(places["folder"])
    oracle(SAVE, **{**places, "folder": str(tmp_path / "other")})
    theirs = inspect(str(tmp_path / "other"))
    for found in (ours, theirs):
        for meta in found["meta graphs"]:
            meta.update({"written by": "", "producer": 0, "ops": dict(sorted(meta["ops"].items()))})
    for mine, other in zip(ours["meta graphs"], theirs["meta graphs"], strict=True):
        assert mine == other
    data = [(Path(folder) / "variables" / "variables.data-00000-of-00001").read_bytes()
            for folder in (places["folder"], tmp_path / "other")]
    assert data[0] == data[1]


def test_a_scope_for_all_of_it(places):
    run(SAVE, **places)
    tf.reset_default_graph()
    with tf.Session() as sess:
        tf.saved_model.load(sess, {"serve"}, places["folder"], import_scope="inside")
        assert sess.run("inside/counter:0") == 7 and sess.run("inside/text:0") == b"one\ntwo\n"
        np.testing.assert_allclose(sess.run("inside/w:0"), [[0.9], [1.8]], rtol=1e-6)


def test_simple_save_and_a_text_file(tmp_path):
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.identity(x * tf.Variable(3.0), name="y")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, str(tmp_path / "simple"), {"x": x}, {"y": y})
        builder = tf.saved_model.Builder(str(tmp_path / "text"))
        builder.add_meta_graph_and_variables(sess, ["serve"])
        assert builder.save(as_text=True).endswith(b".pbtxt")
    for name in ("simple", "text"):
        assert tf.saved_model.contains_saved_model(str(tmp_path / name))
        tf.reset_default_graph()
        with tf.Session() as sess:
            tf.saved_model.loader.load(sess, [tf.saved_model.tag_constants.SERVING], str(tmp_path / name))
            assert sess.run("y:0", {"x:0": [1.0, 2.0]}).tolist() == [3.0, 6.0]


def test_signatures():
    utils, names = tf.saved_model.signature_def_utils, tf.saved_model.signature_constants
    examples = tf.placeholder(tf.string, [None], name="examples")
    scores, classes = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.string, [None, 2])
    regression = utils.regression_signature_def(examples, scores)
    both = utils.classification_signature_def(examples, classes, scores)
    assert utils.is_valid_signature(regression) and utils.is_valid_signature(both)
    assert both.method_name == names.CLASSIFY_METHOD_NAME and set(both.outputs) == {"classes", "scores"}
    assert not utils.is_valid_signature(utils.build_signature_def({}, {}, names.PREDICT_METHOD_NAME))
    for wrong in (lambda: utils.regression_signature_def(scores, scores),
                  lambda: utils.classification_signature_def(examples, scores, None),
                  lambda: utils.classification_signature_def(examples, None, None),
                  lambda: utils.predict_signature_def({}, {"y": scores})):
        with pytest.raises(ValueError):
            wrong()
    sparse = tf.sparse_placeholder(tf.int64, [3, 4])
    info = tf.saved_model.utils.build_tensor_info(sparse)
    assert tf.saved_model.utils.get_tensor_from_tensor_info(info).indices is sparse.indices
    info = tf.saved_model.build_tensor_info(scores)
    assert tf.saved_model.get_tensor_from_tensor_info(info) is scores


def test_errors(places, tmp_path):
    run(SAVE, **places)
    load = tf.saved_model.loader.load
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        tf.saved_model.Builder(places["folder"])
    with tf.Session(graph=tf.Graph()) as sess:
        with pytest.raises(RuntimeError, match=r"associated with tags 'train' could not be found.*'serve'"):
            load(sess, ["train"], places["folder"])
        with pytest.raises(OSError, match="SavedModel file does not exist"):
            load(sess, ["serve"], str(tmp_path / "absent"))
        with open(os.path.join(places["folder"], "saved_model.pb"), "wb") as file:
            file.write(b"\xff" * 40)
        with pytest.raises(OSError, match="Cannot parse file"):
            load(sess, ["serve"], places["folder"])
    builder = tf.saved_model.Builder(str(tmp_path / "new"))
    with pytest.raises(AssertionError, match="invoke `add_meta_graph_and_variables"):
        builder.add_meta_graph(["a"])
    with tf.Session(graph=tf.Graph()) as sess:
        v = tf.Variable(1.0)
        empty = tf.saved_model.build_signature_def({"x": tf.saved_model.build_tensor_info(v)})
        empty.inputs["x"].ClearField("name")
        with pytest.raises(AssertionError, match="Invalid `tensor_info`"):
            builder.add_meta_graph_and_variables(sess, ["a"], {"q": empty})
        with pytest.raises(tf.errors.FailedPreconditionError):
            builder.add_meta_graph_and_variables(sess, ["a"])
        sess.run(v.initializer)
        with pytest.raises(ValueError, match="must be a constant string"):
            builder.add_meta_graph_and_variables(sess, ["a"], assets_collection=[tf.placeholder(tf.string)])
        builder.add_meta_graph_and_variables(sess, ["a"])
        with pytest.raises(AssertionError, match="has already been saved"):
            builder.add_meta_graph_and_variables(sess, ["b"])


def test_an_asset_can_not_leave_the_model(places, tmp_path):
    run(SAVE, **places)
    path = os.path.join(places["folder"], "saved_model.pb")
    with open(path, "rb") as file:
        data = file.read()
    assert data.count(b"\x12\x0evocabulary.txt") == 2
    with open(path, "wb") as file:
        file.write(data.replace(b"\x12\x0evocabulary.txt", b"\x12\x0e../../../a.txt"))
    (tmp_path / "a.txt").write_text("outside")
    tf.reset_default_graph()
    with tf.Session() as sess, pytest.raises(tf.errors.NotFoundError, match=r"model.assets.a\.txt"):
        tf.saved_model.loader.load(sess, ["serve"], places["folder"])
