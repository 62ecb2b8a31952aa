"""Programs of courses with tf.keras, seeded and small: each trains to a sane score and restores."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

K, L = tf.keras.backend, tf.keras.layers


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    K.clear_session()
    tf.set_random_seed(1)
    np.random.seed(1)
    yield
    K.clear_session()


def test_convolutions_with_callbacks():
    """Bars in noisy images: across or down."""
    pytest.importorskip("h5py")
    labels = np.random.randint(0, 2, 160)
    images = 0.3 * np.random.randn(160, 8, 8, 1)
    for image, label in zip(images, labels, strict=True):
        place = np.random.randint(0, 8)
        image[(place, slice(None)) if label else (slice(None), place)] += 1.5
    model = tf.keras.Sequential([
        L.Conv2D(8, 3, padding="same", activation="relu", input_shape=(8, 8, 1)), L.BatchNormalization(),
        L.MaxPooling2D(), L.Conv2D(8, 3, activation="relu"), L.Flatten(), L.Dropout(0.2),
        L.Dense(2, activation="softmax")])
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    callbacks = [tf.keras.callbacks.ModelCheckpoint("best.h5", save_best_only=True),
                 tf.keras.callbacks.EarlyStopping(patience=12, restore_best_weights=True),
                 tf.keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=6)]
    history = model.fit(images, np.eye(2)[labels], epochs=40, batch_size=16, verbose=0, validation_split=0.25,
                        callbacks=callbacks)
    best = tf.keras.models.load_model("best.h5")
    score = model.evaluate(images[120:], np.eye(2)[labels[120:]], verbose=0)
    assert score[1] > 0.8 and min(history.history["val_loss"]) < 0.5
    if len(history.epoch) < 40:
        np.testing.assert_allclose(best.predict(images), model.predict(images), rtol=1e-4, atol=1e-6)


def test_prices_by_pictures_and_numbers():
    """Two inputs, two outputs."""
    pictures, numbers = np.random.rand(200, 4, 4, 1), np.random.randn(200, 3)
    price = pictures.mean(axis=(1, 2, 3)) * 4 + numbers @ [1.0, -1.0, 0.5]
    is_dear = (price > np.median(price)).astype(float)
    first, second = tf.keras.Input((4, 4, 1), name="picture"), tf.keras.Input((3,), name="numbers")
    seen = L.Dense(4, activation="relu")(L.Flatten()(first))
    joined = L.Dense(16, activation="relu")(L.concatenate([seen, second]))
    model = tf.keras.Model([first, second], [L.Dense(1, name="price")(joined),
                                             L.Dense(1, activation="sigmoid", name="dear")(joined)])
    model.compile(tf.keras.optimizers.Adam(0.01), {"price": "mse", "dear": "binary_crossentropy"},
                  metrics={"dear": "accuracy"}, loss_weights={"dear": 0.5})
    model.fit({"picture": pictures, "numbers": numbers}, {"price": price, "dear": is_dear}, epochs=30, verbose=0)
    scores = dict(zip(model.metrics_names, model.evaluate([pictures, numbers], [price, is_dear], verbose=0),
                      strict=True))
    assert scores["price_loss"] < 0.3 and scores["dear_acc"] > 0.85


def test_sentiment_by_a_recurrent_net():
    """Synthetic reviews: a word of praise or blame among neutral ones, padded with zeros."""
    words = np.random.randint(3, 20, (200, 8))
    labels = np.random.randint(0, 2, 200)
    words[np.arange(200), np.random.randint(0, 5, 200)] = 1 + labels
    words[:, 6:] = 0
    model = tf.keras.Sequential([L.Embedding(20, 8, mask_zero=True), L.LSTM(8), L.Dense(1, activation="sigmoid")])
    model.compile(tf.keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(words, labels, epochs=12, batch_size=25, verbose=0, validation_split=0.2)
    assert history.history["val_acc"][-1] > 0.85
    model.save_weights("sentiment")
    before = model.predict(words)
    model.set_weights([np.zeros(w.shape) for w in model.get_weights()])
    model.load_weights(tf.train.latest_checkpoint("."))
    np.testing.assert_allclose(model.predict(words), before, rtol=1e-5, atol=1e-6)
