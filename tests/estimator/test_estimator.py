"""tf.estimator.Estimator: a course's program from end to end, the files it writes, hooks, and what it refuses."""
from __future__ import annotations

import os

import numpy as np
import pytest

import tfnb as tf
from tfnb.estimator import early_stopping

RANDOM = np.random.RandomState(7)
X = RANDOM.rand(96, 3).astype(np.float32)
Y = (X.sum(1) > 1.5).astype(np.int64)
estimators = tf.estimator


def model_fn(features, labels, mode, params):
    """Classify by one hidden layer."""
    hidden = tf.layers.dense(features["x"], params["units"], tf.nn.relu, name="hidden")
    logits = tf.layers.dense(hidden, 2, name="logits")
    predictions = {"class": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits, name="softmax")}
    if mode == estimators.ModeKeys.PREDICT:
        return estimators.EstimatorSpec(mode, predictions, export_outputs={
            "probabilities": estimators.export.PredictOutput(predictions["probabilities"])})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    metrics = {"accuracy": tf.metrics.accuracy(labels, predictions["class"])}
    optimizer = tf.train.AdamOptimizer(0.05)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return estimators.EstimatorSpec(mode, predictions, loss, train_op, metrics)


def batches(num_epochs=None, shuffle=True):
    return estimators.inputs.numpy_input_fn({"x": X}, Y, batch_size=32, num_epochs=num_epochs, shuffle=shuffle)


def made(folder, **options):
    config = estimators.RunConfig(tf_random_seed=3, save_checkpoints_steps=40, save_summary_steps=20, **options)
    return estimators.Estimator(model_fn, str(folder), config, params={"units": 8})


def tags(folder):
    """Return the tags of summaries by step."""
    found = {}
    for path in tf.gfile.Glob(os.path.join(folder, "events*")):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                found.setdefault(event.step, []).append(value.tag)
    return found


def test_training_evaluation_and_export_whose_files_tensorflow_reads(tmp_path, oracle):
    estimator = made(tmp_path)
    receiver_fn = estimators.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 3])})
    results, exported = estimators.train_and_evaluate(
        estimator, estimators.TrainSpec(batches(), max_steps=80),
        estimators.EvalSpec(batches(1, False), steps=None, throttle_secs=0, exporters=[
            estimators.LatestExporter("latest", receiver_fn, exports_to_keep=1),
            estimators.FinalExporter("final", receiver_fn), estimators.BestExporter("best", receiver_fn)]))
    assert results["accuracy"] > 0.7 and results["global_step"] == 80 and set(results) == {
        "accuracy", "loss", "global_step"}
    assert len(exported) == 3 and len(os.listdir(tmp_path / "export" / "latest")) == 1
    assert {"checkpoint", "graph.pbtxt", "eval", "model.ckpt-0.index", "model.ckpt-40.data-00000-of-00001",
            "model.ckpt-80.meta"} <= set(os.listdir(tmp_path))
    assert tags(tmp_path)[21] == ["loss"] and tags(tmp_path / "eval") == {
        step: ["accuracy", "loss", "checkpoint_path"] for step in (40, 80)}
    ours = list(estimator.predict(batches(1, False), predict_keys=["probabilities"]))
    assert len(ours) == 96 and list(ours[0]) == ["probabilities"]
    kernel, asked = oracle("""
with tf.Session(graph=tf.Graph()) as sess:
    meta = tf.saved_model.load(sess, ["serve"], folder)
    signature = meta.signature_def["serving_default"]
    probabilities = sess.run(signature.outputs["output"].name, {signature.inputs["x"].name: x})
result = tf.train.load_variable(checkpoints, "hidden/kernel"), probabilities
""", folder=os.fsdecode(exported[0]), checkpoints=str(tmp_path), x=X)
    np.testing.assert_array_equal(kernel, estimator.get_variable_value("hidden/kernel"))
    np.testing.assert_allclose(asked, [each["probabilities"] for each in ours], rtol=1e-5)
    assert "logits/bias/Adam_1" in estimator.get_variable_names()


class Seen(estimators.SessionRunHook, estimators.CheckpointSaverListener):
    """Hook and listener that keeps what it is called with."""

    def __init__(self):
        self.steps, self.saved = 0, []

    def begin(self):
        self.graph = tf.get_default_graph()

    def after_run(self, context, values):
        self.steps += 1

    def after_save(self, session, step):
        self.saved.append(step)

    def end(self, session, step=None):
        pass


def test_training_goes_on_from_a_checkpoint_with_hooks_and_listeners(tmp_path):
    estimator, hook, listener = made(tmp_path), Seen(), Seen()
    estimator.train(batches(), hooks=[hook], steps=5, saving_listeners=[listener])
    assert (hook.steps, listener.saved) == (5, [0, 5])
    again = made(tmp_path).train(batches(1), hooks=[hook])         # 3 batches to the end of the data
    assert hook.steps == 8 and again.get_variable_value("global_step") == 8
    assert again.train(batches(), hooks=[hook], max_steps=8) is again and hook.steps == 8
    first = again.evaluate(batches(1, False), name="first", checkpoint_path=str(tmp_path / "model.ckpt-5"))
    assert first["global_step"] == 5 and os.path.isdir(tmp_path / "eval_first")
    whole = next(again.predict(batches(1, False), yield_single_examples=False))
    assert whole["class"].shape == (32,)
    assert again.params == {"units": 8} and again.model_dir == str(tmp_path)


def test_data_of_each_kind_and_functions_with_fewer_arguments(tmp_path):
    seen = []

    def plain(features, labels):
        spec = model_fn({"x": features}, labels, estimators.ModeKeys.EVAL, {"units": 2})
        with tf.control_dependencies([spec.loss]):
            return spec._replace(train_op=tf.assign_add(tf.train.get_global_step(), 1))

    def input_fn(mode, config):
        seen.append((mode, config.model_dir))
        return tf.data.Dataset.from_tensor_slices((X, Y)).batch(48)
    estimator = estimators.Estimator(plain, str(tmp_path))
    assert estimator.evaluate(input_fn)["global_step"] == 0            # initialized: nothing is trained
    estimator.train(input_fn)
    assert estimator.get_variable_value("global_step") == 2
    assert seen == [("eval", str(tmp_path)), ("train", str(tmp_path))]


def test_variables_begin_where_another_model_ended(tmp_path):
    first = made(tmp_path / "a").train(batches(), steps=3)
    for start in (str(tmp_path / "a"), estimators.WarmStartSettings(str(tmp_path / "a"), "hidden"),
                  estimators.WarmStartSettings(first.latest_checkpoint(), ["hidden/.*"])):
        second = estimators.Estimator(model_fn, str(tmp_path / "b"), params={"units": 8}, warm_start_from=start)
        second.train(batches(), hooks=[tf.train.StopAtStepHook(num_steps=1)])
        value = tf.train.load_variable(str(tmp_path / "b" / "model.ckpt-0"), "hidden/kernel")
        np.testing.assert_array_equal(value, first.get_variable_value("hidden/kernel"))
        tf.gfile.DeleteRecursively(str(tmp_path / "b"))


def test_a_changed_vocabulary_keeps_the_rows_of_words_that_stay(tmp_path):
    (tmp_path / "old.txt").write_text("a\nb\nc\n")
    (tmp_path / "new.txt").write_text("c\nd\na\n")
    with tf.Session() as sess:
        tf.get_variable("words", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
        tf.get_variable("classes", initializer=np.arange(6, dtype=np.float32).reshape(2, 3))
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as sess:
        words, classes = tf.get_variable("emb", [4, 2]), tf.get_variable("classes", [2, 3])
        files = str(tmp_path / "new.txt"), 3, 1, str(tmp_path / "old.txt")
        tf.train.warm_start(path, var_name_to_prev_var_name={"emb": "words"}, var_name_to_vocab_info={
            "emb": tf.train.VocabInfo(*files, backup_initializer=tf.constant_initializer(9.0)),
            "classes": tf.train.VocabInfo(*files[:2], 0, files[3], axis=1)})
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(words), [[4, 5], [9, 9], [0, 1], [9, 9]])
        np.testing.assert_array_equal(sess.run(classes), [[2, 0, 0], [5, 0, 3]])
    with pytest.raises(ValueError, match="not used"):
        tf.train.warm_start(path, None, {"missing": tf.train.VocabInfo(*files)})


@pytest.mark.parametrize("error, match, call", [
    (ValueError, "must include features", lambda d: estimators.Estimator(lambda labels: None, d)),
    (ValueError, "params", lambda d: estimators.Estimator(lambda features: None, d, params={"a": 1})),
    (ValueError, "not expected args", lambda d: estimators.Estimator(lambda features, x: None, d)),
    (ValueError, "RunConfig", lambda d: made(d, model_dir=os.path.join(d, "other"))),
    (ValueError, "cannot be both", lambda d: estimators.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1)),
    (ValueError, "strategies", lambda d: estimators.RunConfig(train_distribute=object())),
    (ValueError, "steps > 0", lambda d: made(d).train(batches(), steps=0)),
    (ValueError, "both steps and max_steps", lambda d: made(d).train(batches(), steps=1, max_steps=1)),
    (TypeError, "SessionRunHook", lambda d: made(d).train(batches(), hooks=[1], steps=1)),
    (ValueError, "Could not find trained model", lambda d: made(d).get_variable_names()),
    (ValueError, "Couldn't find trained model", lambda d: made(d).export_saved_model(d, lambda: None)),
    (ValueError, "shuffle must be provided", lambda d: estimators.inputs.numpy_input_fn(X)),
    (ValueError, "mismatched", lambda d: estimators.inputs.numpy_input_fn(X, Y[1:], shuffle=False)()),
    (ValueError, "len 2 tuple", lambda d: made(d).train(lambda: (1, 2, 3), steps=1)),
    (ValueError, "EstimatorSpec", lambda d: estimators.Estimator(lambda features: 3, d).train(lambda: 1, steps=1)),
    (ValueError, "does not take labels", lambda d: estimators.Estimator(lambda features: 3, d).train(batches())),
    (ValueError, "Missing loss", lambda d: estimators.EstimatorSpec("eval")),
    (ValueError, "Missing train_op", lambda d: estimators.EstimatorSpec("train", loss=tf.constant(1.0))),
    (ValueError, "Missing predictions", lambda d: estimators.EstimatorSpec("infer")),
    (ValueError, "must be scalar", lambda d: estimators.EstimatorSpec("eval", loss=tf.constant([1.0, 2.0]))),
    (TypeError, "update_op", lambda d: estimators.EstimatorSpec("eval", loss=tf.constant(1.0),
                                                               eval_metric_ops={"a": tf.constant(1.0)})),
    (ValueError, "none of them is specified as the default", lambda d: estimators.EstimatorSpec(
        "infer", tf.constant([1.0]), export_outputs={
            name: estimators.export.PredictOutput(tf.constant([1.0])) for name in "ab"})),
    (ValueError, "steps > 0", lambda d: estimators.EvalSpec(batches(), steps=0)),
    (TypeError, "callable", lambda d: estimators.TrainSpec(3)),
    (TypeError, "TrainSpec", lambda d: estimators.train_and_evaluate(made(d), None, None)),
])
def test_what_is_refused(error, match, call, tmp_path):
    with pytest.raises(error, match=match):
        call(str(tmp_path))


def test_predictions_leave_the_default_graph_alone_while_they_are_taken(tmp_path):
    estimator = made(tmp_path).train(batches(), steps=1)
    before = tf.get_default_graph()
    taken = estimator.predict(batches(1, False))
    assert 0 <= next(taken)["class"] <= 1 and tf.get_default_graph() is before
    taken.close()


def test_batches_go_on_into_the_next_epoch_and_frames_have_columns():
    class Column:
        def __init__(self, values):
            self.values = values

    class Frame(dict):
        columns, index = ["a", "b"], [0, 1, 2]
    frame = Frame(a=Column(np.array([1, 2, 3])), b=Column(["x", "y", "z"]))
    labels = Column(np.array([0.5, 1.5, 2.5]))
    labels.index = frame.index
    features, target = estimators.inputs.pandas_input_fn(frame, labels, batch_size=2, num_epochs=2, shuffle=False)()
    with tf.train.MonitoredSession() as sess:
        found = [sess.run([features["a"], features["b"], target]) for _ in range(3)]
        assert [list(each[0]) for each in found] == [[1, 2], [3, 1], [2, 3]]
        assert list(found[1][1]) == [b"z", b"x"] and list(found[1][2]) == [2.5, 0.5]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(target)


def test_training_ends_when_an_evaluation_is_no_better(tmp_path):
    estimator = made(tmp_path)
    hooks = estimators.experimental
    evaluation = hooks.InMemoryEvaluatorHook(estimator, batches(1, False), name="memory", every_n_iter=10)
    folder = estimator.eval_dir("memory")
    stop = hooks.stop_if_higher_hook(estimator, "global_step/none", 0, folder, run_every_secs=None, run_every_steps=5)
    with pytest.raises(KeyError, match=r"metric_name must be one of .*'accuracy', 'loss'.*got 'global_step/none'"):
        estimator.train(batches(), [evaluation, stop], max_steps=20)
    estimator = made(tmp_path / "again")
    evaluation = hooks.InMemoryEvaluatorHook(estimator, batches(1, False), name="memory", every_n_iter=10)
    stop = hooks.stop_if_no_increase_hook(estimator, "loss", 40, estimator.eval_dir("memory"), min_steps=10,
                                          run_every_secs=None, run_every_steps=1)
    estimator.train(batches(), [evaluation, stop], max_steps=200)
    assert estimator.get_variable_value("global_step") == 50      # the highest is that of step 10
    found = tf.contrib.estimator.read_eval_metrics(estimator.eval_dir("memory"))
    assert list(found) == [0, 10, 20, 30, 40, 50] and found[0]["loss"] > found[50]["loss"]
    assert "signal_early_stopping/STOP" in estimator.get_variable_names()
    again = estimator.evaluate(batches(1, False))
    assert {"loss": again["loss"], "accuracy": again["accuracy"]} == pytest.approx(found[50])


@pytest.mark.parametrize(("hook", "limit", "stops"), [
    ("stop_if_lower_hook", 0.45, True), ("stop_if_lower_hook", 0.35, False), ("stop_if_higher_hook", 0.55, True),
    ("stop_if_higher_hook", 0.65, False), ("stop_if_no_decrease_hook", 10, True),
    ("stop_if_no_decrease_hook", 11, False), ("stop_if_no_increase_hook", 20, True),
    ("stop_if_no_increase_hook", 21, False)])
def test_early_stopping_reads_event_files(hook, limit, stops, tmp_path):
    with tf.summary.FileWriter(str(tmp_path / "eval")) as writer:
        for step, value in ((10, 0.3), (20, 0.5), (30, 0.6), (40, 0.4), (50, 0.4)):
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="auc", simple_value=value)]), step)
    assert getattr(estimators.experimental, hook)(made(tmp_path), "auc", limit, min_steps=20)._should_stop() == stops


def test_workers_stop_with_the_chief():
    with tf.Graph().as_default():
        count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        stop = tf.assign(early_stopping._signal(), True)
        with tf.train.MonitoredTrainingSession(hooks=[early_stopping._StopOnSignalHook()]) as sess:
            assert sess.run(count) == 1 and not sess.should_stop()
            sess.run([stop, count])
            if not sess.should_stop():             # that run may have read the variable before it was set
                sess.run(count)
            assert sess.should_stop()
