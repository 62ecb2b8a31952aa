"""tf.contrib.learn in programs of its time: irises, estimators with arrays, monitors, functions (X, y)."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

learn = tf.contrib.learn
IRIS = learn.datasets.load_dataset("iris")
ORDER = np.random.RandomState(1).permutation(150)
TRAIN, TEST = ORDER[:120], ORDER[120:]
X, Y, X_TEST, Y_TEST = IRIS.data[TRAIN], IRIS.target[TRAIN], IRIS.data[TEST], IRIS.target[TEST]
CONFIG = learn.RunConfig(tf_random_seed=1, save_checkpoints_steps=50)


def test_irises_are_fishers():
    assert IRIS.data.shape == (150, 4) and np.bincount(IRIS.target).tolist() == [50, 50, 50]
    np.testing.assert_allclose(IRIS.data.mean(0), [5.8433, 3.0573, 3.758, 1.1993], atol=1e-4)


def test_a_deep_classifier_of_irises_in_the_manner_of_scikit_learn(tmp_path):
    columns = learn.infer_real_valued_columns_from_input(X)
    model = learn.DNNClassifier([10, 20, 10], columns, str(tmp_path), n_classes=3, config=CONFIG)
    wrapped = learn.SKCompat(model).fit(X, Y, steps=200)
    assert wrapped.score(X_TEST, Y_TEST)["accuracy"] > 0.75
    assert set(wrapped.predict(X_TEST)) == {"classes", "probabilities", "logits"}
    classes = list(model.predict(X_TEST))
    assert np.mean(np.array(classes) == Y_TEST) > 0.75
    np.testing.assert_allclose(model.predict_proba(X_TEST, as_iterable=False).sum(1), np.ones(30), rtol=1e-5)
    assert {f"dnn/{layer}/{part}" for layer in ("hiddenlayer_0", "hiddenlayer_2", "logits")
            for part in ("weights", "biases")} <= set(model.get_variable_names())


def test_a_wide_model_of_columns_and_a_metric_of_ones_own(tmp_path):
    def input_fn():
        return ({"width": tf.constant(X[:, 3:], tf.float32), "kind": tf.SparseTensor(
            [[i, 0] for i in range(120)], ["ab"[min(y, 1)] for y in Y], [120, 1])}, tf.constant((Y > 0).astype(int)))
    width = tf.contrib.layers.real_valued_column("width")
    kind = tf.contrib.layers.sparse_column_with_keys("kind", ["a", "b"])
    model = learn.LinearClassifier([width, kind], str(tmp_path), config=CONFIG)
    model.fit(input_fn=input_fn, steps=30)
    found = model.evaluate(input_fn=input_fn, steps=1, metrics={
        "mine": learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, prediction_key="classes")})
    assert found["accuracy"] == found["mine"] == 1 and "labels/actual_label_mean" in found
    assert {"linear/width/weight", "linear/kind/weights", "linear/bias_weight"} <= set(model.get_variable_names())


def test_a_model_fn_with_parameters_and_a_monitor_that_stops(tmp_path):
    def model_fn(features, labels, mode, params):
        layer = tf.contrib.layers.fully_connected(features, 3, activation_fn=None)
        predictions = {"class": tf.argmax(layer, 1), "prob": tf.nn.softmax(layer)}
        loss = train_op = None
        if mode != learn.ModeKeys.INFER:
            loss = tf.losses.softmax_cross_entropy(tf.one_hot(labels, 3), layer)
        if mode == learn.ModeKeys.TRAIN:
            train_op = tf.contrib.layers.optimize_loss(
                loss, tf.contrib.framework.get_global_step(), params["rate"], "Adam")
        return learn.ModelFnOps(mode, predictions, loss, train_op)
    model = learn.Estimator(model_fn, str(tmp_path), CONFIG, {"rate": 0.0})
    monitor = learn.monitors.ValidationMonitor(X_TEST, Y_TEST, every_n_steps=50, early_stopping_rounds=100)
    model.fit(X, Y, steps=1000, monitors=[monitor])                # with a rate of 0 nothing becomes better
    assert monitor.early_stopped and model.get_variable_value("global_step") < 300
    again = learn.Estimator(model_fn, str(tmp_path / "b"), CONFIG, {"rate": 0.1}).fit(X, Y, batch_size=40, steps=150)
    found = again.evaluate(X_TEST, Y_TEST, metrics={
        ("accuracy", "class"): tf.contrib.metrics.streaming_accuracy})
    assert found["accuracy"] > 0.75 and list(again.predict(X_TEST))[0]["prob"].shape == (3,)


@pytest.mark.parametrize("model", [learn.models.logistic_regression,
                                   learn.models.get_dnn_model([10], learn.models.logistic_regression)])
def test_functions_of_data_and_labels_are_estimators(model):
    classifier = learn.TensorFlowEstimator(model, n_classes=3, steps=200, learning_rate=0.1, optimizer="Adam",
                                           config=CONFIG)
    classifier.fit(X, Y)
    assert np.mean(classifier.predict(X_TEST) == Y_TEST) > 0.7
    assert classifier.predict_proba(X_TEST).shape == (30, 3)
    with pytest.raises(ValueError, match="not fitted"):
        learn.TensorFlowEstimator(model, 3).predict(X)


@pytest.mark.parametrize("match, call", [
    ("steps or max_steps", lambda d: learn.LinearRegressor([tf.contrib.layers.real_valued_column("x")], d).fit(X, Y)),
    ("as many rows", lambda d: learn.LinearRegressor([tf.contrib.layers.real_valued_column("x")], d).fit(
        X, Y[1:], steps=1)),
    ("either arrays|both input_fn", lambda d: learn.LinearRegressor([tf.contrib.layers.real_valued_column("x")], d).fit(
        X, Y, input_fn=lambda: 1, steps=1)),
    ("need numbers", lambda d: learn.infer_real_valued_columns_from_input(np.array([["a"]]))),
    ("greater than 1", lambda d: learn.DNNClassifier([1], [tf.contrib.layers.real_valued_column("x")], d, 1)),
    ("in this process", lambda d: learn.RunConfig(master="grpc://host:1")),
    ("'iris' or 'mnist'", lambda d: learn.datasets.load_dataset("boston"))])
def test_what_is_refused(match, call, tmp_path):
    with pytest.raises(ValueError, match=match):
        call(str(tmp_path))


def test_train_op_that_is_the_loss(tmp_path):
    x = tf.constant([[1.0, 2.0]])
    loss = tf.reduce_sum(tf.square(tf.layers.dense(x, 1, name="out") - 3.0))
    step = tf.contrib.training.create_train_op(
        loss, tf.train.GradientDescentOptimizer(0.05), summarize_gradients=True,
        transform_grads_fn=lambda pairs: tf.contrib.training.clip_gradient_norms(pairs, 4.0))
    last = tf.contrib.training.train(step, str(tmp_path), hooks=[tf.train.StopAtStepHook(num_steps=40)])
    assert last < 0.01 and tf.train.load_variable(str(tmp_path), "global_step") == 40
    bad = tf.contrib.training.create_train_op(loss / 0.0, tf.train.GradientDescentOptimizer(0.1))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="inf or nan"):
            sess.run(bad)


def test_a_saved_estimator_predicts_and_is_not_trained(tmp_path):
    x, y = np.random.RandomState(1).randn(60, 2), None
    y = (x[:, 0] > x[:, 1]).astype(int)
    model = learn.TensorFlowEstimator(learn.models.logistic_regression, n_classes=2, steps=60, learning_rate=0.5)
    with pytest.raises(ValueError, match="not fitted"):
        model.save(str(tmp_path / "early"))
    model.fit(x, y)
    model.save(str(tmp_path / "saved"))
    restored = learn.TensorFlowEstimator.restore(str(tmp_path / "saved"))
    np.testing.assert_allclose(restored.predict_proba(x, batch_size=25), model.predict_proba(x), rtol=1e-5)
    assert "logistic_regression/weights" in restored.get_variable_names()
    np.testing.assert_array_equal(restored.get_variable_value("logistic_regression/bias"),
                                  model.get_variable_value("logistic_regression/bias"))
    with pytest.raises(ValueError, match="can't be trained"):
        restored.fit(x, y)
    with pytest.raises(tf.errors.NotFoundError):
        learn.TensorFlowEstimator.restore(str(tmp_path / "nowhere"))


def test_a_recurrent_net_turns_sequences_around(tmp_path):
    """The example of contrib.learn's first days: one-hot digits, backwards, by rnn_seq2seq and sequence_classifier."""
    digits = np.random.RandomState(0).randint(0, 4, [64, 3])
    rows, targets = np.eye(4, dtype=np.float32)[digits], np.eye(4, dtype=np.float32)[digits[:, ::-1]]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        encoder, decoder, wanted = learn.ops.seq2seq_inputs(rows, targets, 3, 3)
        cell = tf.contrib.rnn.OutputProjectionWrapper(tf.nn.rnn_cell.GRUCell(24), 4)
        decoding, _, sampling, _ = learn.ops.rnn_seq2seq(encoder, decoder, tf.nn.rnn_cell.GRUCell(24), cell)
        predictions, loss = learn.ops.sequence_classifier(decoding, wanted, sampling)
        train = tf.train.AdamOptimizer(0.03).minimize(loss)
        sess.run(tf.global_variables_initializer())
        for _ in range(80):
            sess.run(train)
        found = sess.run(tf.argmax(decoding[:3], 2)).T
    assert (found == digits[:, ::-1]).mean() > 0.9 and predictions.shape.as_list() == [64, 4, 4]


def test_an_experiment_trains_evaluates_and_exports(tmp_path):
    x = np.linspace(-1, 1, 20, dtype=np.float32)[:, None]
    inputs = tf.estimator.inputs.numpy_input_fn({"x": x}, 2 * x[:, 0], num_epochs=None, shuffle=False)
    column = tf.feature_column.numeric_column("x")
    serve = tf.estimator.export.build_parsing_serving_input_receiver_fn({"x": tf.FixedLenFeature([1], tf.float32)})

    def experiment_fn(config, hparams):
        model = tf.estimator.LinearRegressor([column], config=config)
        return learn.Experiment(model, inputs, inputs, train_steps=hparams.steps, eval_steps=1, min_eval_frequency=10,
                                export_strategies=learn.make_export_strategy(serve))
    config = tf.estimator.RunConfig(str(tmp_path / "model"))
    results, exports = learn.learn_runner.run(experiment_fn, run_config=config,
                                              hparams=tf.contrib.training.HParams(steps=25))
    assert results["global_step"] == 25 and len(exports) == 1 and tf.saved_model.loader.maybe_saved_model_directory(
        exports[0].decode())
    assert list(tf.contrib.estimator.read_eval_metrics(str(tmp_path / "model" / "eval"))) == [10, 20, 25]
    with pytest.raises(ValueError, match="non-existent task fly: expected one of train"):
        learn.learn_runner.run(experiment_fn, schedule="fly", run_config=config,
                               hparams=tf.contrib.training.HParams(steps=25))
    with pytest.raises(ValueError, match="exactly one of output_dir and run_config"):
        learn.learn_runner.run(experiment_fn)
