"""Stochastic dual coordinate ascent: its steps as TensorFlow's, models at the optimum, estimators that it trains."""
from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import tfnb as tf
from tfnb.kernels.library.rows import dual_ascent

LOSSES = dual_ascent.LOSSES
ORACLE = """
with tf.Session() as sess:
    result = [sess.run(tf.nest.flatten(tf.raw_ops.SdcaOptimizerV2(loss_type=loss, **call))) for loss, call in calls]
"""
DATA = np.random.default_rng(0)
X = DATA.normal(size=(40, 3)).astype(np.float32)
Y = (X @ [1, -2, 0.5] + 0.3 * DATA.normal(size=40) > 0).astype(np.float32)


def call(n=1, dense=(), weights=(), labels=None, state=None, l1=0.0, l2=1.0, partitions=1, rows=(), features=(),
         values=(), known=(), sparse=(), example_weights=None, adaptive=False):
    """The arguments of SdcaOptimizerV2."""
    return {"sparse_example_indices": [np.array(a, np.int64) for a in rows],
            "sparse_feature_indices": [np.array(a, np.int64) for a in features],
            "sparse_feature_values": [np.array(a, np.float32) for a in values],
            "dense_features": [np.array(a, np.float32) for a in dense],
            "example_weights": np.ones(n, np.float32) if example_weights is None else np.float32(example_weights),
            "example_labels": np.ones(n, np.float32) if labels is None else np.float32(labels),
            "sparse_indices": [np.array(a, np.int64) for a in known],
            "sparse_weights": [np.array(a, np.float32) for a in sparse],
            "dense_weights": [np.array(a, np.float32) for a in weights],
            "example_state_data": np.zeros((n, 4), np.float32) if state is None else np.float32(state),
            "l1": l1, "l2": l2, "num_loss_partitions": partitions, "num_inner_iterations": 1, "adaptive": adaptive}


def step(loss, **given):
    return tf.raw_ops.SdcaOptimizerV2(loss_type=loss, **call(**given))


def results(session, loss, call):
    return session.run(tf.nest.flatten(tf.raw_ops.SdcaOptimizerV2(loss_type=loss, **call)))


def one_example(loss, scale):
    """A step for one example: it has no order to be drawn."""
    label = float(DATA.integers(0, 2))
    dual = 0.0 if loss == "poisson_loss" else (2 * label - 1) * DATA.random()
    return call(dense=[scale * DATA.normal(size=(1, 4))], weights=[0.1 * DATA.normal(size=(4, 1))], labels=[label],
                state=[[dual, 0, 0, 0]], l1=0.1, l2=0.8, partitions=3, example_weights=[1.7])


def test_steps_are_those_of_tensorflow(oracle):
    calls = [(loss, one_example(loss, scale)) for loss in LOSSES for scale in (0.01, 1, 10)]
    apart = {"rows": [[0, 1, 1]], "features": [[7, 2, 5]], "values": [[1, 2, 3]], "known": [[2, 5, 7]],
             "sparse": [[0.1, 0.2, 0.3]]}
    calls += [(loss, call(n=2, labels=[0, 1], l1=0.05, **apart)) for loss in LOSSES]
    wanted = oracle(ORACLE, calls=calls)
    with tf.Session() as session:
        for (loss, given), expected in zip(calls, wanted, strict=True):
            for ours, theirs in zip(results(session, loss, given), expected, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=3e-5, atol=2e-7, err_msg=loss)


def test_values_in_any_order():
    with tf.Session() as session:
        state, moved = results(session, "squared_loss", call(
            n=3, rows=[[2, 0]], features=[[1, 0]], known=[[0, 1]], sparse=[[[0], [0]]]))
    assert state[:, 0].tolist() == [0.5, 1.0, 0.5]
    assert moved.tolist() == [[0.5], [0.5]]


def test_a_pass_takes_each_example_once_in_some_order_as_tensorflow(oracle):
    given = call(n=3, dense=[X[:3]], weights=[[0.1, 0.2, -0.3]], labels=[0.4, -1, 2], l1=0.1)
    orders = [list(order) for order in permutations(range(3))]
    wanted = []
    for order in orders:                           # one example after another, each by an op of its own
        state, w, moved = np.zeros((3, 4), np.float32), np.float32([0.1, 0.2, -0.3]), np.zeros(3, np.float32)
        with tf.Session() as session:
            for i in order:
                alone = call(dense=[X[i:i + 1]], weights=[w + moved], labels=given["example_labels"][i:i + 1], l1=0.1)
                state[i], change = (a[0] if a.ndim == 2 else a for a in results(session, "squared_loss", alone))
                moved += change
        wanted.append(np.concatenate([state[:, 0], moved]))
    with tf.Session() as session:
        ours = results(session, "squared_loss", given)
    theirs = oracle(ORACLE, calls=[("squared_loss", given)])[0]
    for state, moved in (ours, theirs):
        found = np.concatenate([state[:, 0], moved])
        assert min(np.abs(found - each).max() for each in wanted) < 1e-6


def test_kernel_as_plain_python():
    given = one_example("logistic_loss", 1.0)
    with tf.Session() as session:
        state, moved = results(session, "logistic_loss", given)
    again, delta = given["example_state_data"].copy(), np.zeros(4, np.float32)
    w = given["dense_weights"][0].ravel()
    threshold = np.float32(0.1) / np.float32(0.8)
    shrunk = np.sign(w) * np.maximum(np.abs(w) - threshold, 0)
    dual_ascent.ascend.python(
        1, np.zeros(1, np.int64), again.ravel(), 2 * given["example_labels"] - 1, given["example_weights"],
        given["dense_features"][0].ravel(), np.zeros(2, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32), w,
        shrunk, delta, np.float32([threshold, 1 / 0.8, 3]), 4, LOSSES.index("logistic_loss"))
    np.testing.assert_allclose(again, state, rtol=1e-5)
    np.testing.assert_allclose(delta, moved.ravel(), rtol=1e-5)


@pytest.mark.parametrize(("given", "message"), [
    ({"dense": [[[1.0]]], "weights": [[0.0]], "labels": [0.5]}, "labels must be 0 or 1, got 0.5"),
    ({"dense": [[[1.0]]], "weights": [[0.0, 0.0]]}, "a matrix of 1 examples and a column for each of 2 weights"),
    ({"dense": [[[1.0]]], "weights": [[0.0]], "state": np.zeros((1, 3))}, r"must have the shape \[1, 4\]"),
    ({"dense": [[[1.0]]], "weights": [[0.0]], "labels": [1.0, 1.0]}, "example_labels must be as many"),
    ({"rows": [[0]], "features": [[3]], "known": [[1, 2]], "sparse": [[0, 0]]}, "not in its sparse_indices"),
    ({"rows": [[0]], "features": [[3]], "known": [[0, 1]], "sparse": [[0, 0]]}, "outside of its 2 sparse_indices"),
    ({"rows": [[0]], "features": [[3]], "known": [[3, 3]], "sparse": [[0, 0]]}, "must differ"),
    ({"rows": [[0, 0]], "features": [[1, 1]], "known": [[0, 1]], "sparse": [[0, 0]]}, "a sparse feature twice"),
    ({"rows": [[0, 0]], "features": [[1]], "known": [[0, 1]], "sparse": [[0, 0]]}, "expected as many of each"),
    ({"rows": [[1]], "features": [[1]], "known": [[0, 1]], "sparse": [[0, 0]]}, "must be from 0 to 0"),
    ({"rows": [[0]], "features": [[1]], "known": [[0, 1]], "sparse": [[0]]}, "1 sparse_weights; expected as many"),
])
def test_what_it_does_not_take(given, message):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(step("hinge_loss", **given))


def test_adaptive_sampling_leaves_examples_at_their_optimum_alone():
    state = np.float32([[1, 7, 8, 9], [0, 7, 8, 9]])
    made = step("squared_loss", n=2, dense=[[[0.0, 0.0], [0.0, 1.0]]], weights=[[0.0, 0.0]], labels=[1, 1],
                state=state, adaptive=True)
    with tf.Session() as session:
        found = session.run(made.out_example_state_data)
    assert found[0].tolist() == state[0].tolist()
    assert found[1, 0] == 0.5


def test_shrinking():
    first, second = tf.Variable([[1.0, -0.2, 0.05, -3.0]]), tf.Variable([0.3])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.train.sdca_shrink_l1([first, second], l1=0.1, l2=0.5))
        np.testing.assert_allclose(session.run(first), [[0.8, 0, 0, -2.8]], rtol=1e-6)
        np.testing.assert_allclose(session.run(second), [0.1], rtol=1e-6)


def test_fingerprints(oracle):
    texts = [bytes(np.random.RandomState(n).randint(0, 256, n, dtype=np.uint8)) for n in (*range(0, 70, 3), 127, 128,
                                                                                          129, 200, 256, 300, 1000)]
    with tf.Session() as session:
        ours = session.run(tf.train.sdca_fprint(texts))
    theirs = oracle("with tf.Session() as sess: result = sess.run(tf.raw_ops.SdcaFprint(input=texts))", texts=texts)
    assert ours.tolist() == theirs.tolist()


def model_of(loss, labels=Y, l1=0.0, **options):
    """An SdcaModel of X, once as dense features and its first column again as a sparse one, and its variables."""
    n = len(X)
    sparse = tf.contrib.linear_optimizer.SparseFeatureColumn(range(n), [4] * n, X[:, 0])
    examples = {"example_ids": [f"e{i}" for i in range(n)], "example_labels": labels,
                "example_weights": np.ones(n, np.float32), "dense_features": [X], "sparse_features": [sparse]}
    variables = {"dense_features_weights": [tf.Variable(tf.zeros([3]))],
                 "sparse_features_weights": [tf.Variable(tf.zeros([6]))]}
    model = tf.contrib.linear_optimizer.SdcaModel(examples, variables, {
        "loss_type": loss, "symmetric_l1_regularization": l1, "symmetric_l2_regularization": 1.0, **options})
    return model, examples, variables


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("adaptive", [False, True])
def test_a_model_reaches_the_optimum(loss, adaptive):
    model, examples, variables = model_of(loss, l1=0.5, adaptive=adaptive)
    train_op = model.update_weights(model.minimize(tf.train.get_or_create_global_step()))
    gap, objective = model.approximate_duality_gap(), model.regularized_loss(examples)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(60):
            session.run(train_op)
        assert adaptive or abs(session.run(gap)) < 2e-3         # states of examples that are not drawn are old ones
        best = session.run(objective)
        assert session.run(tf.train.get_global_step()) == 60
        for variable in (*variables["dense_features_weights"], *variables["sparse_features_weights"]):
            before = session.run(variable)
            for change in (0.05, -0.05):
                session.run(variable.assign(before + change * (before != 0)))
                assert session.run(objective) >= best - 1e-4
            session.run(variable.assign(before))


def test_ridge_regression_by_its_normal_equations():
    labels = (X @ [1, -2, 0.5]).astype(np.float32)
    model, _, variables = model_of("squared_loss", labels)
    train_op = model.update_weights(model.minimize())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(40):
            session.run(train_op)
        dense = session.run(variables["dense_features_weights"][0])
        sparse = session.run(variables["sparse_features_weights"][0])
    whole = np.concatenate([X, X[:, :1]], 1)
    wanted = np.linalg.solve(whole.T @ whole + np.eye(4), whole.T @ labels)
    np.testing.assert_allclose([*dense, sparse[4]], wanted, rtol=1e-3)
    assert not sparse[[0, 1, 2, 3, 5]].any()


def test_predictions_by_loss():
    for loss, wanted in (("logistic_loss", 0.5), ("poisson_loss", 1.0), ("hinge_loss", 0.0), ("squared_loss", 0.0)):
        model, examples, _ = model_of(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert set(session.run(model.predictions(examples)).tolist()) == {wanted}


@pytest.mark.parametrize(("options", "message"), [
    ({"loss_type": "absolute"}, "Unsupported loss_type"), ({"symmetric_l1_regularization": -1.0}, "non-negative"),
    ({"symmetric_l2_regularization": None}, "missing: symmetric_l2_regularization")])
def test_options_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        model_of(**{"loss": "squared_loss", **options} if "loss_type" not in options else {"loss": "absolute"})


def features_and_labels():
    colors = np.array(["red", "blue"])[(X[:, 1] > 0).astype(int)]
    return {"x": X[:, :1], "color": colors, "id": np.array([f"e{i}" for i in range(len(X))]),
            "weight": np.ones(len(X), np.float32)}, Y.astype(np.int64)


def test_a_linear_classifier_of_dense_and_sparse_columns(tmp_path):
    features, labels = features_and_labels()
    column, bucket = tf.feature_column.numeric_column("x"), tf.feature_column.bucketized_column
    columns = [column, tf.feature_column.categorical_column_with_hash_bucket("color", 10), bucket(column, [0.0])]
    model = tf.estimator.LinearClassifier(
        columns, str(tmp_path), weight_column="weight", optimizer=tf.estimator.experimental.LinearSDCA(
            "id", symmetric_l1_regularization=0.1, symmetric_l2_regularization=2.0))
    input_fn = tf.estimator.inputs.numpy_input_fn(features, labels, batch_size=len(X), num_epochs=None, shuffle=False)
    model.train(input_fn, steps=10)
    model.train(input_fn, steps=10)                # the state of the examples comes from the checkpoint
    assert model.evaluate(input_fn, steps=1)["accuracy"] > 0.85
    assert model.get_variable_value("global_step") == 20


def test_a_linear_regressor_of_tf_estimator(tmp_path):
    features, _ = features_and_labels()
    model = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], str(tmp_path),
                                         optimizer=tf.estimator.experimental.LinearSDCA("id"))
    input_fn = tf.estimator.inputs.numpy_input_fn(features, 3 * X[:, 0] + 1, batch_size=len(X), num_epochs=None,
                                                  shuffle=False)
    model.train(input_fn, steps=20)
    whole = np.stack([X[:, 0], np.ones(len(X))], 1)
    wanted = np.linalg.solve(whole.T @ whole + np.eye(2), whole.T @ (3 * X[:, 0] + 1))
    np.testing.assert_allclose([model.get_variable_value("linear/linear_model/x/weights").item(),
                                model.get_variable_value("linear/linear_model/bias_weights").item()], wanted, rtol=1e-3)


def test_linear_models_of_contrib_learn(tmp_path):
    features, labels = features_and_labels()
    del features["weight"]
    columns = [tf.contrib.layers.real_valued_column("x"),
               tf.contrib.layers.sparse_column_with_hash_bucket("color", 10)]
    sdca = tf.contrib.linear_optimizer.SDCAOptimizer(example_id_column="id", symmetric_l2_regularization=1.0)
    model = tf.contrib.learn.LinearClassifier(columns, str(tmp_path), optimizer=sdca)
    model.fit(features, labels, steps=20, batch_size=len(X))
    assert model.evaluate(features, labels, steps=1, batch_size=len(X))["accuracy"] > 0.7


def test_a_function_makes_the_optimizer_once_and_for_training_alone(tmp_path):
    features, labels = features_and_labels()
    made = []
    model = tf.contrib.learn.LinearRegressor([tf.contrib.layers.real_valued_column("x")], str(tmp_path),
                                             optimizer=lambda: made.append(1) or tf.train.FtrlOptimizer(0.1))
    model.fit(features, labels.astype("f"), steps=1, batch_size=len(X))
    list(model.predict(features))
    assert made == [1]


def test_columns_and_heads_that_are_refused(tmp_path):
    features, labels = features_and_labels()
    sdca = tf.estimator.experimental.LinearSDCA("id")
    color = tf.feature_column.categorical_column_with_hash_bucket("color", 10)
    input_fn = tf.estimator.inputs.numpy_input_fn(features, labels, num_epochs=1, shuffle=False)
    for columns, classes, message in (([color], 3, "classifiers of 2 classes"),
                                      ([tf.feature_column.embedding_column(color, 2)], 2, "not the variables of")):
        model = tf.estimator.LinearClassifier(columns, str(tmp_path / str(classes)), n_classes=classes, optimizer=sdca)
        with pytest.raises(ValueError, match=message):
            model.train(input_fn, steps=1)
    with pytest.raises(ValueError, match="sparse_combiner must be 'sum'"):
        tf.estimator.LinearClassifier([color], optimizer=sdca, sparse_combiner="mean")
