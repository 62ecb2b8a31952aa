"""Training of models: losses, metrics, weights, names, streams, errors. Numbers by closed formulas."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

K, L = tf.keras.backend, tf.keras.layers
X = np.random.RandomState(0).randn(24, 3).astype(np.float32)
Y = (X @ [[1.0], [-2.0], [0.5]] + 1).astype(np.float32)


@pytest.fixture(autouse=True)
def fresh():
    K.clear_session()
    yield
    K.clear_session()


def linear(optimizer="sgd", loss="mse", **options):
    model = tf.keras.Sequential([L.Dense(1, kernel_initializer="ones", input_shape=(3,))])
    model.compile(optimizer, loss, **options)
    return model


def gradients(w, b, x, y, weights=None):
    """Gradients of the mean of weights * (x w + b - y)^2."""
    error = (x @ w + b - y) * (1 if weights is None else weights[:, None])
    return 2 * x.T @ error / len(x), 2 * error.mean(axis=0)


def sgd(w, g, s, t):
    return w - 0.1 * g


def momentum(w, g, s, t):
    s["v"] = 0.9 * s.get("v", 0) - 0.1 * g
    return w + s["v"]


def rmsprop(w, g, s, t):
    s["r"] = 0.9 * s.get("r", 0) + 0.1 * g * g
    return w - 0.1 * g / (np.sqrt(s["r"]) + 1e-7)


def adagrad(w, g, s, t):
    s["a"] = s.get("a", 0.1) + g * g
    return w - 0.1 * g / (np.sqrt(s["a"]) + 1e-7)


def adadelta(w, g, s, t):
    s["a"] = 0.95 * s.get("a", 0) + 0.05 * g * g
    change = np.sqrt(s.get("d", 0) + 1e-7) / np.sqrt(s["a"] + 1e-7) * g
    s["d"] = 0.95 * s.get("d", 0) + 0.05 * change ** 2
    return w - change


def adam(w, g, s, t, is_max=False):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
    s["h"] = np.maximum(s.get("h", 0), s["v"])
    return w - 0.1 * np.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t) * s["m"] / (
        np.sqrt(s["h"] if is_max else s["v"]) + 1e-7)


def amsgrad(w, g, s, t):
    return adam(w, g, s, t, is_max=True)


def adamax(w, g, s, t):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = np.maximum(0.999 * s.get("v", 0), np.abs(g))
    return w - 0.1 / (1 - 0.9 ** t) * s["m"] / (s["v"] + 1e-7)


def nadam(w, g, s, t):
    now, then = (0.9 * (1 - 0.5 * 0.96 ** (0.004 * each)) for each in (t, t + 1))
    s["p"] = s.get("p", 1) * now
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
    ahead = (1 - now) * g / (1 - s["p"]) + then * s["m"] / (1 - s["p"] * then)
    return w - 0.1 * ahead / (np.sqrt(s["v"] / (1 - 0.999 ** t)) + 1e-7)


RULES = [("SGD", {}, sgd), ("SGD", {"momentum": 0.9}, momentum), ("RMSprop", {}, rmsprop), ("Adagrad", {}, adagrad),
         ("Adadelta", {"learning_rate": 1.0}, adadelta), ("Adam", {}, adam), ("Adam", {"amsgrad": True}, amsgrad),
         ("Adamax", {}, adamax), ("Nadam", {}, nadam)]


@pytest.mark.parametrize("name, options, rule", RULES)
def test_optimizers_follow_their_formulas(name, options, rule):
    model = linear(getattr(tf.keras.optimizers, name)(**{"learning_rate": 0.1, **options}))
    w, b = np.ones([3, 1]), np.zeros([1])
    states = {}, {}
    for step in range(1, 5):                                # the first runs are interpreted, the last compiled
        grad_w, grad_b = gradients(w, b, X, Y)
        loss = np.mean((X @ w + b - Y) ** 2)
        w, b = rule(w, grad_w, states[0], step), rule(b, grad_b, states[1], step)
        assert model.train_on_batch(X, Y) == pytest.approx(loss, rel=1e-4)
    np.testing.assert_allclose(model.get_weights()[0], w, rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(model.get_weights()[1], b, rtol=2e-4, atol=1e-5)
    assert K.get_value(model.optimizer.iterations) == 4


def test_rows_of_an_embedding_are_trained_by_each_optimizer():
    ids = np.array([[0, 2], [2, 2]])
    for name, options, _ in RULES:
        model = tf.keras.Sequential([L.Embedding(4, 2, input_length=2), L.Flatten(), L.Dense(1)])
        model.compile(getattr(tf.keras.optimizers, name)(**options), "mse")
        before = model.get_weights()[0]
        model.fit(ids, np.ones(2), epochs=2, verbose=0)
        moved = np.abs(model.get_weights()[0] - before).sum(axis=1) > 0
        assert moved[[0, 2]].all() and not moved[[1, 3]].any(), name


def test_weights_of_examples_and_classes():
    weights = np.linspace(0, 2, len(X)).astype(np.float32)
    model = linear(tf.keras.optimizers.SGD(0.1), weighted_metrics=["mse"])
    loss, metric = model.train_on_batch(X, Y, sample_weight=weights)
    error = (X.sum(axis=1, keepdims=True) - Y)[:, 0] ** 2
    assert loss == pytest.approx((weights * error).mean(), rel=1e-4)
    assert metric == pytest.approx((weights * error).sum() / weights.sum(), rel=1e-4)
    grad_w, grad_b = gradients(np.ones([3, 1]), 0, X, Y, weights)
    np.testing.assert_allclose(model.get_weights()[0], 1 - 0.1 * grad_w, rtol=1e-4)
    labels = (np.arange(len(X)) % 3).astype(np.float32)
    by_class = linear()
    given = by_class.train_on_batch(X, labels, class_weight={0: 1.0, 1: 0.0, 2: 3.0})
    error = (X.sum(axis=1) - labels) ** 2
    assert given == pytest.approx((np.array([1, 0, 3])[labels.astype(int)] * error).mean(), rel=1e-4)
    with pytest.raises(ValueError, match=r"classes \[2\]"):
        by_class.fit(X, labels, class_weight={0: 1.0, 1: 1.0}, verbose=0)


def test_names_are_those_of_keras():
    model = tf.keras.Sequential([L.Dense(4, activation="relu", input_shape=(3,)), L.Dense(2, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy", "mae"])
    history = model.fit(X, np.arange(24) % 2, verbose=0, validation_split=0.25)
    assert list(history.history) == ["loss", "acc", "mean_absolute_error", "val_loss", "val_acc",
                                     "val_mean_absolute_error"]
    assert [v.name for v in tf.global_variables()] == [
        "dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0", "training/Adam/iter:0",
        "training/Adam/beta_1:0", "training/Adam/beta_2:0", "training/Adam/decay:0", "training/Adam/learning_rate:0",
        *(f"training/Adam/{v}/{slot}:0" for slot in "mv" for v in (
            "dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"))]
    names = {op.name for op in tf.get_default_graph().get_operations()}
    assert {"dense_input", "dense_1_target", "dense/MatMul", "loss/mul",
            "training/Adam/Adam/update_dense/kernel/ResourceApplyAdam"} <= names
    assert [w.op.type for w in model.weights] == ["VarHandleOp"] * 4
    assert model.metrics_names == ["loss", "acc", "mean_absolute_error"]


def test_history_of_known_numbers():
    model = linear(tf.keras.optimizers.SGD(0.0), metrics=["mae"])
    history = model.fit(X, Y, batch_size=7, epochs=2, verbose=0, validation_data=(X[:5], Y[:5])).history
    error = X.sum(axis=1, keepdims=True) - Y
    assert history["loss"] == pytest.approx([np.mean(error ** 2)] * 2, rel=1e-5)
    assert history["mean_absolute_error"] == pytest.approx([np.abs(error).mean()] * 2, rel=1e-5)
    assert history["val_loss"] == pytest.approx([np.mean(error[:5] ** 2)] * 2, rel=1e-5)
    assert model.evaluate(X, Y, verbose=0) == pytest.approx([np.mean(error ** 2), np.abs(error).mean()], rel=1e-5)


def test_two_inputs_and_two_outputs():
    first, second = tf.keras.Input((3,), name="first"), tf.keras.Input((2,), name="second")
    shared = L.Dense(4, activation="tanh", name="shared")
    joined = L.concatenate([shared(first), shared(L.Dense(3)(second))])
    value, kind = L.Dense(1, name="value")(joined), L.Dense(3, activation="softmax", name="kind")(joined)
    model = tf.keras.Model([first, second], [value, kind])
    model.compile("adam", {"value": "mse", "kind": "sparse_categorical_crossentropy"}, metrics={"kind": ["acc"]},
                  loss_weights={"value": 1.0, "kind": 0.5})
    inputs = {"second": X[:, :2], "first": X}
    history = model.fit(inputs, {"value": Y, "kind": np.arange(24) % 3}, epochs=2, verbose=0).history
    assert list(history) == ["loss", "value_loss", "kind_loss", "kind_acc"]
    assert history["loss"][0] == pytest.approx(history["value_loss"][0] + 0.5 * history["kind_loss"][0], rel=1e-5)
    both = model.predict([X, X[:, :2]])
    assert [each.shape for each in both] == [(24, 1), (24, 3)]
    assert len(model.weights) == 8 and model.get_layer("shared").get_output_at(1).shape.as_list() == [None, 4]
    np.testing.assert_allclose(both[0], model.predict_on_batch(inputs)[0], rtol=1e-5, atol=1e-6)
    rebuilt = tf.keras.Model.from_config(model.get_config())
    rebuilt.set_weights(model.get_weights())
    np.testing.assert_allclose(rebuilt.predict(inputs)[1], both[1], rtol=1e-5, atol=1e-6)


def test_ops_between_layers_are_layers_of_the_model():
    inputs = tf.keras.Input((3,))
    scaled = tf.reduce_sum(L.Dense(2, kernel_initializer="ones")(inputs) * 2.0, axis=1, keepdims=True)
    model = tf.keras.Model(inputs, scaled + 1.0)
    np.testing.assert_allclose(model.predict(X), 4 * X.sum(axis=1, keepdims=True) + 1, rtol=1e-4, atol=1e-5)
    copied = tf.keras.Model.from_config(model.get_config())
    copied.set_weights(model.get_weights())
    np.testing.assert_allclose(copied.predict(X), model.predict(X), rtol=1e-5, atol=1e-6)


def test_nested_models_share_weights_and_freeze():
    inner = tf.keras.Sequential([L.Dense(4, input_shape=(3,)), L.BatchNormalization()], name="inner")
    inputs = tf.keras.Input((3,))
    model = tf.keras.Model(inputs, L.Dense(1)(inner(inputs)))
    assert [layer.name for layer in model.layers] == ["input_1", "inner", "dense_1"] and len(model.weights) == 8
    inner.trainable = False
    assert len(model.trainable_weights) == 2 and model.updates == []
    model.compile("sgd", "mse")
    before = inner.get_weights()
    model.fit(X, Y, verbose=0)
    for old, new in zip(before, inner.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_changed_trainable_is_warned_of(capsys):
    model = linear()
    model.layers[0].trainable = False
    model.train_on_batch(X, Y)
    assert "did you set `model.trainable` without calling `model.compile`" in capsys.readouterr().err


def test_batch_normalization_and_dropout_know_the_phase():
    model = tf.keras.Sequential([L.BatchNormalization(momentum=0.5, input_shape=(3,)), L.Dropout(0.5), L.Dense(1)])
    model.compile("sgd", "mse")
    assert len(model.updates) == 2
    model.train_on_batch(X, Y)
    _, _, mean, _ = model.layers[0].get_weights()
    np.testing.assert_allclose(mean, 0.5 * X.mean(axis=0), rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), model.predict(X))
    session = K.get_session()
    runs = [session.run(model.output, {model.input: X, K.learning_phase(): True}) for _ in range(2)]
    assert np.abs(runs[0] - runs[1]).max() > 0


def test_regularizers_join_the_loss():
    layer = L.Dense(1, kernel_initializer="ones", kernel_regularizer=tf.keras.regularizers.l2(0.5), input_shape=(3,))
    model = tf.keras.Sequential([layer])
    model.add_loss(lambda: 2.0 * tf.reduce_sum(layer.bias + 1.0))
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    loss = model.train_on_batch(X, Y)
    assert loss == pytest.approx(np.mean((X.sum(axis=1, keepdims=True) - Y) ** 2) + 0.5 * 3 + 2, rel=1e-4)
    grad_w, grad_b = gradients(np.ones([3, 1]), 0, X, Y)
    np.testing.assert_allclose(model.get_weights()[0], 1 - 0.1 * (grad_w + 1), rtol=1e-4)
    np.testing.assert_allclose(model.get_weights()[1], -0.1 * (grad_b + 2), rtol=1e-4)


class Pairs:
    """A Sequence of batches."""

    def __init__(self):
        self.ended = 0

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return X[8 * index:8 * index + 8], Y[8 * index:8 * index + 8]

    def on_epoch_end(self):
        self.ended += 1


def forever():
    while True:
        for index in range(3):
            yield X[8 * index:8 * index + 8], Y[8 * index:8 * index + 8]


def test_streams_train_as_arrays_do():
    def trained(fit):
        model = linear(tf.keras.optimizers.SGD(0.1))
        fit(model)
        return model.get_weights()[0]
    wanted = trained(lambda model: model.fit(X, Y, batch_size=8, shuffle=False, epochs=2, verbose=0))
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)
    sequence = Pairs()
    for fit in (lambda model: model.fit(dataset, epochs=2, verbose=0),
                lambda model: model.fit(dataset.repeat(), steps_per_epoch=3, epochs=2, verbose=0),
                lambda model: model.fit(dataset.repeat().make_one_shot_iterator(), steps_per_epoch=6, verbose=0),
                lambda model: model.fit_generator(forever(), steps_per_epoch=3, epochs=2, verbose=0),
                lambda model: model.fit(sequence, shuffle=False, epochs=2, verbose=0)):
        np.testing.assert_allclose(trained(fit), wanted, rtol=1e-5, atol=1e-6)
    model = linear()
    assert sequence.ended == 2 and model.predict(dataset).shape == (24, 1)
    assert model.evaluate(dataset, verbose=0) == pytest.approx(model.evaluate(X, Y, verbose=0), rel=1e-5)
    assert model.predict_generator(forever(), steps=2).shape == (16, 1)


class Twice(tf.keras.Model):
    """A subclass with its own `call`."""

    def __init__(self):
        super().__init__()
        self.hidden, self.rest = L.Dense(4, activation="tanh"), [L.Dropout(0.5), L.Dense(1)]

    def call(self, inputs, training=None):
        made = self.hidden(inputs)
        for layer in self.rest:
            made = layer(made)
        return made


def test_subclasses_learn_their_inputs_from_data():
    tf.set_random_seed(1)
    model = Twice()
    model.compile(tf.keras.optimizers.Adam(0.1), "mse")
    losses = model.fit(X, Y, epochs=30, verbose=0).history["loss"]
    assert losses[-1] < 0.6 * losses[0] and len(model.weights) == 4
    assert [v.name for v in model.weights][0] == "twice/dense/kernel:0"
    with pytest.raises(NotImplementedError, match="save_weights"):
        model.save("model.h5")


def test_sequential_without_input_shape_is_built_by_data():
    model = tf.keras.Sequential([L.Dense(2), L.Dense(1)])
    assert model.weights == [] and not model.built
    with pytest.raises(ValueError, match="not yet been built"):
        model.summary()
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)
    assert [v.shape.as_list() for v in model.weights] == [[3, 2], [2], [2, 1], [1]]
    other = tf.keras.Sequential([L.Dense(2)])
    other.build((None, 3))
    assert other.output_shape == (None, 2)


def test_optimizers_of_tf_train_and_rates_that_change():
    model = linear(tf.train.GradientDescentOptimizer(0.1))
    model.train_on_batch(X, Y)
    np.testing.assert_allclose(model.get_weights()[0], 1 - 0.1 * gradients(np.ones([3, 1]), 0, X, Y)[0], rtol=1e-4)
    other = linear(tf.keras.optimizers.SGD(lr=0.1, decay=1.0))
    K.set_value(other.optimizer.lr, 0.2)
    w, b = np.ones([3, 1]), np.zeros(1)
    for step in range(2):
        grad_w, grad_b = gradients(w, b, X, Y)
        w, b = w - 0.2 / (1 + step) * grad_w, b - 0.2 / (1 + step) * grad_b
        other.train_on_batch(X, Y)
    np.testing.assert_allclose(other.get_weights()[0], w, rtol=1e-4)


@pytest.mark.parametrize("call, error, words", [
    (lambda m: m.fit(X[:, :2], Y), ValueError, r"checking input: expected dense_input to have shape \(3,\).*\(2,\)"),
    (lambda m: m.fit(X[:, None], Y), ValueError, "expected dense_input to have 2 dimensions"),
    (lambda m: m.fit(X, np.ones([24, 2])), ValueError, r"checking target: expected dense to have shape \(1,\)"),
    (lambda m: m.fit(X, Y[:20]), ValueError, "24 input samples, 20 target samples"),
    (lambda m: m.fit({"x": X}, Y), ValueError, "No data provided for input 'dense_input'"),
    (lambda m: m.fit([X, X], Y), ValueError, "expected 1 arrays .dense_input., got a list of 2"),
    (lambda m: m.fit(forever()), ValueError, "steps_per_epoch"),
    (lambda m: m.fit(X, Y, sample_weight=np.ones([24, 2])), ValueError, "sample_weight array with shape"),
    (lambda m: m.fit(X, Y, validation_data=(X,)), ValueError, "Expected validation_data"),
    (lambda m: m.compile("sgd", "mae_"), ValueError, "Unknown loss function: mae_"),
    (lambda m: m.compile("agd", "mse"), ValueError, "Unknown optimizer: agd"),
    (lambda m: m.compile("sgd", {"dens": "mse"}), ValueError, "Unknown entries in loss dictionary"),
    (lambda m: m.compile("sgd", "mse", metrics="acc"), TypeError, "metrics"),
    (lambda m: m.set_weights([np.ones([3, 1])]), ValueError, "expected 2 arrays"),
    (lambda m: m.set_weights([np.ones([1, 3]), np.ones(1)]), ValueError, r"expected shape \(3, 1\) for dense/kernel"),
    (lambda m: m.add("dense"), TypeError, "must be an instance of class Layer"),
    (lambda m: m.get_layer("dens"), ValueError, "No such layer: dens"),
    (lambda m: tf.keras.Model(m.input, tf.zeros([1])), ValueError, "must be the output of a Layer"),
    (lambda m: tf.keras.Model(tf.keras.Input((3,)), m.output), ValueError, "Graph disconnected"),
    (lambda m: tf.keras.Sequential([L.Dense(1)]).fit(X, Y), RuntimeError, "compile your model"),
])
def test_errors_name_what_is_wrong_and_leave_the_model_usable(call, error, words):
    model = linear()
    with pytest.raises(error, match=words):
        call(model)
    assert model.predict(X).shape == (24, 1)


def test_summary(capsys):
    model = tf.keras.Sequential([L.Dense(4, input_shape=(3,)), L.BatchNormalization()])
    model.summary()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == 'Model: "sequential"' and "dense (Dense)" in lines[4] and "(None, 4)" in lines[4]
    assert lines[-4:-1] == ["Total params: 32", "Trainable params: 24", "Non-trainable params: 8"]


def test_a_compiled_model_inside_of_another_as_in_gans():
    judge = tf.keras.Sequential([L.Dense(4, activation="relu", input_shape=(3,)), L.Dense(1, activation="sigmoid")])
    judge.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    maker = tf.keras.Sequential([L.Dense(3, input_shape=(2,))])
    judge.trainable = False
    noise = tf.keras.Input((2,))
    both = tf.keras.Model(noise, judge(maker(noise)))
    both.compile("adam", "binary_crossentropy")
    for _ in range(3):
        before = judge.get_weights()[0]
        judge.train_on_batch(X, np.ones(24))
        trained, made = judge.get_weights()[0], maker.get_weights()[0]
        assert np.abs(trained - before).max() > 0
        both.train_on_batch(X[:, :2], np.ones(24))
        np.testing.assert_array_equal(judge.get_weights()[0], trained)
        assert np.abs(maker.get_weights()[0] - made).max() > 0
    assert both.metrics_names == ["loss"] and judge.metrics_names == ["loss", "acc"]


def test_metrics_of_tensors():
    model = linear(tf.keras.optimizers.SGD(0.0))
    model.add_metric(tf.reduce_sum(model.output), aggregation="mean", name="total")
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    history = model.fit(X, Y, batch_size=12, verbose=0).history
    assert history["total"][0] == pytest.approx(X.sum() / 2, rel=1e-4)
    with pytest.raises(ValueError, match="aggregation='mean'"):
        model.add_metric(model.output)
