"""Files of models: HDF5 in Keras' layout, checkpoints, configs, and callbacks that write files."""
from __future__ import annotations

import json
import os

import numpy as np
import pytest

import tfnb as tf
from tests.conftest import Oracle

pytest.importorskip("h5py")
K, L = tf.keras.backend, tf.keras.layers
RANDOM = np.random.RandomState(0)
IMAGES, WORDS = RANDOM.randn(12, 6, 6, 2).astype(np.float32), RANDOM.randint(0, 9, (12, 4)).astype(np.int32)
KINDS = np.arange(12) % 3


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    K.clear_session()
    yield
    K.clear_session()


def two_inputs():
    images, words = tf.keras.Input((6, 6, 2), name="images"), tf.keras.Input((4,), dtype="int32", name="words")
    seen = L.Conv2D(3, 3, padding="same", activation="relu")(images)
    seen = L.GlobalAveragePooling2D()(L.BatchNormalization()(seen))
    read = L.LSTM(5, recurrent_activation="sigmoid")(L.Embedding(9, 4)(words))
    kinds = L.Dense(3, activation="softmax", kernel_regularizer=tf.keras.regularizers.l2(0.01))(
        L.Dropout(0.2)(L.concatenate([seen, read])))
    model = tf.keras.Model([images, words], kinds)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def nested():
    inner = tf.keras.Sequential([L.Dense(4, activation="tanh", input_shape=(3,))], name="inner")
    inputs = tf.keras.Input((3,))
    return tf.keras.Model(inputs, L.Dense(1)(inner(inner(inputs)[:, :3])))


def test_a_model_goes_on_training_from_its_file():
    model = two_inputs()
    model.fit([IMAGES, WORDS], KINDS, epochs=2, verbose=0)
    model.save("model.h5")
    copy = tf.keras.models.load_model("model.h5")
    assert copy.to_json() == model.to_json() and copy.metrics_names == model.metrics_names
    np.testing.assert_allclose(copy.predict([IMAGES, WORDS]), model.predict([IMAGES, WORDS]), rtol=1e-5, atol=1e-6)
    for mine, theirs in zip(model.optimizer.get_weights(), copy.optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    K.set_value(copy.optimizer.lr, K.get_value(model.optimizer.lr))
    wanted = model.evaluate([IMAGES, WORDS], KINDS, verbose=0)
    assert copy.evaluate([IMAGES, WORDS], KINDS, verbose=0) == pytest.approx(wanted, rel=1e-5)


def test_weights_by_order_name_and_object():
    model, other = nested(), nested()
    x = RANDOM.randn(5, 3).astype(np.float32)
    for path in ("weights.h5", "weights"):
        model.save_weights(path)
        other.load_weights(path)
        np.testing.assert_array_equal(other.predict(x), model.predict(x))
        other.set_weights([np.zeros(w.shape) for w in other.get_weights()])
    assert "layer_with_weights-0/layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE" in dict(
        tf.train.list_variables("weights"))
    single = tf.keras.Sequential([L.Dense(4, input_shape=(3,), name="a"), L.Dense(2, name="b")])
    single.save_weights("single.h5")
    partly = tf.keras.Sequential([L.Dense(4, input_shape=(3,), name="a"), L.Dense(5, name="c")])
    partly.load_weights("single.h5", by_name=True)
    np.testing.assert_array_equal(partly.get_weights()[0], single.get_weights()[0])
    with pytest.raises(ValueError, match=r"expected shape \(4, 5\), but the file has \(4, 2\)"):
        partly.load_weights("single.h5")
    with pytest.raises(ValueError, match="1 layers into a model with 2"):
        short = tf.keras.Sequential([L.Dense(4, input_shape=(3,))])
        short.save_weights("short.h5")
        partly.load_weights("short.h5")
    with pytest.raises(OSError, match="absent.h5"):
        partly.load_weights("absent.h5")
    with pytest.raises(tf.errors.NotFoundError):
        partly.load_weights("absent")


THEIRS = '''
import keras, numpy as np, os
model = keras.models.load_model(f"{folder}/ours.h5", compile=False)
ours = model.predict([images, words], verbose=0)
values = [np.asarray(each) for each in tf.train.load_checkpoint(f"{folder}/ours").get_variable_to_shape_map()]
theirs = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dropout(0.5),
                           keras.layers.BatchNormalization(), keras.layers.Dense(2, activation="softmax")])
theirs.save(f"{folder}/theirs.h5")
result = ours, theirs.predict(x, verbose=0), sorted(map(str, values))
'''


@pytest.fixture
def keras_oracle(oracle):
    """A TensorFlow of its own: Keras 3 needs the behavior of TensorFlow 2, which nothing takes back."""
    made = Oracle(os.environ["TFNB_ORACLE_PYTHON"])
    yield made
    made.close()


def test_keras_reads_our_files_and_we_read_theirs(keras_oracle, tmp_path):
    model = two_inputs()
    model.save("ours.h5")
    model.save_weights("ours")
    wanted = model.predict([IMAGES, WORDS])
    x = RANDOM.randn(5, 3).astype(np.float32)
    script = "import tensorflow.compat.v2 as v2\nv2.compat.v1.enable_v2_behavior()\n" + THEIRS
    ours, theirs, names = keras_oracle(script, folder=str(tmp_path), images=IMAGES, words=WORDS, x=x)
    np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(tf.keras.models.load_model("theirs.h5").predict(x), theirs, rtol=1e-4, atol=1e-5)
    assert names == sorted(name for name, _ in tf.train.list_variables("ours"))


def normalized():
    model = tf.keras.Sequential([L.Dense(4, activation="relu", input_shape=(3,)), L.BatchNormalization(),
                                 L.Dropout(0.5), L.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    return model


def test_saved_models_serve_in_tensorflow_and_go_on_training(oracle, tmp_path):
    x = RANDOM.randn(20, 3).astype(np.float32)
    model = normalized()
    model.fit(x, x.sum(1), epochs=2, verbose=0)
    for _ in range(2):                                           # the second takes the place of the first
        model.save("saved", save_format="tf")
    wanted = model.predict(x)
    found = oracle("""
with tf.Session(graph=tf.Graph()) as sess:
    signature = tf.saved_model.load(sess, ["serve"], folder).signature_def["serving_default"]
    result = sess.run(signature.outputs["dense_1"].name, {signature.inputs["dense_input"].name: x})
""", folder=str(tmp_path / "saved"), x=x)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    copy = tf.keras.models.load_model("saved")
    np.testing.assert_allclose(copy.predict(x), wanted, rtol=1e-5, atol=1e-6)
    for mine, theirs in zip(model.optimizer.get_weights(), copy.optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    with pytest.raises(OSError, match="overwrite=False"):
        model.save("saved", overwrite=False, save_format="tf")
    with pytest.raises(ValueError, match="a name that does not end in .h5"):
        model.save("saved.h5", save_format="tf")
    with pytest.raises(ValueError, match="no architecture of Keras"):
        tf.gfile.Remove("saved/assets/saved_model.json")
        tf.keras.models.load_model("saved")


def test_checkpoints_have_the_optimizer():
    """Keys as those of tf_keras 2.21, which reads these files, and whose files were read here."""
    x = RANDOM.randn(20, 3).astype(np.float32)
    model, other = normalized(), normalized()
    model.fit(x, x.sum(1), epochs=2, verbose=0)
    model.save_weights("trained")
    names = [name.replace("/.ATTRIBUTES/VARIABLE_VALUE", "") for name, _ in tf.train.list_variables("trained")]
    assert names == sorted([
        "_CHECKPOINTABLE_OBJECT_GRAPH", *(f"optimizer/{name}" for name in (
            "beta_1", "beta_2", "decay", "iter", "learning_rate")),
        "layer_with_weights-1/moving_mean", "layer_with_weights-1/moving_variance",
        *(f"layer_with_weights-{i}/{name}{slot}" for i, both in enumerate((
            ("kernel", "bias"), ("gamma", "beta"), ("kernel", "bias"))) for name in both for slot in (
                "", "/.OPTIMIZER_SLOT/optimizer/m", "/.OPTIMIZER_SLOT/optimizer/v"))])
    other.load_weights("trained")
    for mine, theirs in zip(model.optimizer.get_weights(), other.optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert other.test_on_batch(x, x.sum(1)) == pytest.approx(model.test_on_batch(x, x.sum(1)), rel=1e-4)
    assert np.isfinite(other.train_on_batch(x, x.sum(1))).all()            # half of the units are dropped by chance
    tf.train.Saver(model.weights).save(K.get_session(), "by_name")
    model.set_weights([np.zeros(w.shape) for w in model.get_weights()])
    model.load_weights("by_name")                               # a checkpoint of names
    np.testing.assert_array_equal(model.get_weights()[0], tf.train.load_variable("by_name", "dense/kernel"))


def test_configs():
    model = nested()
    config = json.loads(model.to_json())
    assert config["class_name"] == "Model" and config["backend"] == "tensorflow"
    calls = [each["inbound_nodes"] for each in config["config"]["layers"] if each["name"] in ("inner", "dense_1")]
    assert calls[0][0] == [["input_1", 0, 0, {}]] and calls[1] == [[["inner", 2, 0, {}]]]
    for copy in (tf.keras.models.model_from_json(model.to_json()), tf.keras.models.clone_model(model)):
        copy.set_weights(model.get_weights())
        x = RANDOM.randn(5, 3).astype(np.float32)
        np.testing.assert_allclose(copy.predict(x), model.predict(x), rtol=1e-5, atol=1e-6)
    with pytest.raises(NotImplementedError, match="to_json"):
        model.to_yaml()
    with pytest.raises(ValueError, match="Unknown layer: Dens. Did you mean 'Dense'"):
        L.deserialize({"class_name": "Dens", "config": {}})


def test_callbacks_of_files():
    x = RANDOM.randn(40, 3).astype(np.float32)
    y = x.sum(axis=1)
    model = tf.keras.Sequential([L.Dense(1, input_shape=(3,))])
    model.compile(tf.keras.optimizers.SGD(0.3), "mse")
    calls = tf.keras.callbacks
    history = model.fit(x, y, epochs=4, verbose=0, validation_split=0.25, callbacks=[
        calls.ModelCheckpoint("best.h5", save_best_only=True), calls.CSVLogger("log.csv"),
        calls.ModelCheckpoint("at.{epoch:02d}", save_weights_only=True), calls.TensorBoard("logs", histogram_freq=1)])
    best = tf.keras.models.load_model("best.h5")
    assert best.evaluate(x[30:], y[30:], verbose=0) == pytest.approx(min(history.history["val_loss"]), rel=1e-4)
    with tf.gfile.GFile("log.csv") as file:
        assert file.read().splitlines()[0] == "epoch,loss,val_loss"
    assert tf.train.latest_checkpoint(".").endswith("at.04")
    path, = tf.gfile.ListDirectory("logs")
    tags = {value.tag for event in tf.train.summary_iterator(f"logs/{path}") for value in event.summary.value}
    assert {"epoch_loss", "epoch_val_loss", "dense/kernel_0", "dense/bias_0"} <= tags
