"""Texts, sequences, images and arrays beside Keras 3 of real TensorFlow, and by their definitions."""
from __future__ import annotations

import os

import numpy as np
import pytest

import tfnb as tf

SEQUENCES = [[1, 2, 3], [], [4], [5, 6, 7, 8]]
PADDED = [{}, {"maxlen": 2}, {"maxlen": 5, "padding": "post"}, {"maxlen": 2, "truncating": "post", "value": -1},
          {"dtype": "float32", "value": 0.5}]
CLASSES = [([0, 2, 1], {}), ([[1], [3]], {"num_classes": 5}), ([[0, 1], [1, 0]], {})]


def test_arrays_are_those_of_keras(oracle):
    theirs = oracle("""
import keras
from tensorflow.python.eager import context
with context.eager_mode():
    result = [keras.utils.pad_sequences(sequences, **given) for given in padded]
    result += [np.array(keras.utils.to_categorical(y, **given)) for y, given in classes]
    result.append(np.array(keras.utils.normalize(np.array([[3.0, 4.0], [0.0, 0.0]]), axis=1)))
""", sequences=SEQUENCES, padded=PADDED, classes=CLASSES)
    ours = [tf.keras.preprocessing.sequence.pad_sequences(SEQUENCES, **given) for given in PADDED]
    ours += [tf.keras.utils.to_categorical(y, **given) for y, given in CLASSES]
    ours.append(tf.keras.utils.normalize(np.array([[3.0, 4.0], [0.0, 0.0]]), axis=1))
    for found, wanted in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        assert found.shape == wanted.shape


def test_words_that_count():
    tokenizer = tf.keras.preprocessing.text.Tokenizer(num_words=4, oov_token="<other>")
    texts = ["The cat sat on the mat.", "The dog sat."]
    tokenizer.fit_on_texts(texts)
    assert tokenizer.word_index["the"] == 2 and tokenizer.word_index["sat"] == 3
    assert tokenizer.texts_to_sequences(["the bird sat"]) == [[2, 1, 3]]
    assert tokenizer.sequences_to_texts([[2, 1, 3]]) == ["the <other> sat"]
    counts = tokenizer.texts_to_matrix(texts, "count")
    assert counts.shape == (2, 4) and counts[0].tolist() == [0, 3, 2, 1]
    assert tokenizer.texts_to_matrix(texts, "freq")[0].tolist() == [0, 3 / 6, 2 / 6, 1 / 6]
    weights = tokenizer.texts_to_matrix(texts, "tfidf")
    assert weights[0, 2] == pytest.approx((1 + np.log(2)) * np.log(1 + 2 / 3))
    again = tf.keras.preprocessing.text.tokenizer_from_json(tokenizer.to_json())
    assert again.texts_to_sequences(texts) == tokenizer.texts_to_sequences(texts)
    with pytest.raises(ValueError, match="binary, count, freq or tfidf"):
        tokenizer.texts_to_matrix(texts, "bits")


def test_pairs_of_words_near_each_other():
    pairs, labels = tf.keras.preprocessing.sequence.skipgrams([1, 2, 3, 0], 5, window_size=1, seed=1)
    true = {tuple(pair) for pair, label in zip(pairs, labels, strict=True) if label}
    assert true == {(1, 2), (2, 1), (2, 3), (3, 2)} and labels.count(0) == 4


def test_windows_of_a_series():
    x = np.arange(20).reshape(10, 2)
    batches = tf.keras.preprocessing.sequence.TimeseriesGenerator(x, x[:, 0], 4, sampling_rate=2, stride=2,
                                                                  batch_size=2, reverse=True)
    assert len(batches) == 2 and batches[0][0][:, :, 0].tolist() == [[4, 0], [8, 4]]
    assert [batch[1].tolist() for batch in batches] == [[8, 12], [16]]
    with pytest.raises(ValueError, match="no part of the sequence"):
        tf.keras.preprocessing.sequence.TimeseriesGenerator(x, x, 10)


def test_random_transforms_of_images():
    image = tf.keras.preprocessing.image
    x = np.random.default_rng(0).uniform(0, 255, (6, 8, 8, 3)).astype("float32")
    generator = image.ImageDataGenerator(rotation_range=20, width_shift_range=0.2, height_shift_range=[1, 2],
                                         shear_range=5, zoom_range=0.1, channel_shift_range=10.0,
                                         horizontal_flip=True, vertical_flip=True, brightness_range=(0.5, 1.5))
    first, again = (next(generator.flow(x, np.arange(6), batch_size=4, seed=3)) for _ in range(2))
    assert first[0].shape == (4, 8, 8, 3) and (first[0] == again[0]).all() and (first[1] == again[1]).all()
    turned = image.apply_affine_transform(x[0], theta=90)
    np.testing.assert_allclose(turned, np.rot90(x[0], -1), atol=1e-2)
    flipped = generator.apply_transform(x[0], {"flip_horizontal": True})
    assert (flipped == x[0][:, ::-1]).all()


def test_normalization_by_the_data():
    x = np.random.default_rng(0).normal(3, 2, (50, 4, 4, 1)).astype("float32")
    generator = tf.keras.preprocessing.image.ImageDataGenerator(featurewise_center=True,
                                                                featurewise_std_normalization=True)
    with pytest.raises(ValueError, match="fit"):
        generator.standardize(x[0])
    generator.fit(x)
    batch = next(generator.flow(x, batch_size=50))
    assert abs(batch.mean()) < 1e-3 and abs(batch.std() - 1) < 1e-3
    whitening = tf.keras.preprocessing.image.ImageDataGenerator(zca_whitening=True)
    whitening.fit(x)
    flat = next(whitening.flow(x, batch_size=50, shuffle=False)).reshape(50, -1)
    np.testing.assert_allclose(flat.T @ flat / 50, np.eye(16), atol=0.01)


def test_images_of_folders(tmp_path):
    image = tf.keras.preprocessing.image
    for name, value in (("cat", 0), ("dog", 200)):
        (tmp_path / name).mkdir()
        for i in range(3):
            image.save_img(tmp_path / name / f"{i}.png", np.full((5, 6, 3), value), scale=False)
    generator = image.ImageDataGenerator(rescale=1 / 255, validation_split=0.34)
    batches = generator.flow_from_directory(str(tmp_path), (4, 4), batch_size=4, class_mode="binary", subset="training")
    assert batches.n == 4 and batches.class_indices == {"cat": 0, "dog": 1}
    x, y = next(batches)
    assert x.shape == (4, 4, 4, 3) and (np.round(x[:, 0, 0, 0], 2) == np.round(y * 200 / 255, 2)).all()
    held = generator.flow_from_directory(str(tmp_path), (4, 4), subset="validation", class_mode="categorical")
    assert next(held)[1].tolist() in ([[1, 0], [0, 1]], [[0, 1], [1, 0]])


def test_files_are_found_or_the_error_says_where_to_put_them(tmp_path):
    get = tf.keras.utils.get_file
    (tmp_path / "here.txt").write_text("abc")
    origin = (tmp_path / "here.txt").as_uri()
    path = get("a.txt", origin, cache_dir=str(tmp_path), md5_hash="900150983cd24fb0d6963f7d28e17f72")
    assert open_text(path) == "abc" and get("a.txt", "http://nowhere.invalid/x", cache_dir=str(tmp_path)) == path
    with pytest.raises(OSError, match=r"(?s)nowhere.invalid/b.txt.*put it there"):
        get("b.txt", "http://nowhere.invalid/b.txt", cache_dir=str(tmp_path))
    with pytest.raises(ValueError, match="expected the md5 digest 0000"):
        get("c.txt", origin, cache_dir=str(tmp_path), md5_hash="0000")
    assert not os.path.exists(tmp_path / "datasets" / "b.txt.part")


def open_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_an_error_of_a_worker_reaches_the_reader():
    class Broken(tf.keras.utils.Sequence):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            raise KeyError("row")
    enqueuer = tf.keras.utils.OrderedEnqueuer(Broken())
    enqueuer.start()
    with pytest.raises(KeyError, match="row"):
        next(enqueuer.get())
    enqueuer.stop()


def test_models_as_graphs_of_their_layers(tmp_path):
    k = tf.keras
    with tf.Graph().as_default():
        a, b = k.Input([2], name="a"), k.Input([2], name="b")
        y = k.layers.add([k.layers.Dense(3, name="dense")(a), k.layers.TimeDistributed(k.layers.Dense(3))(
            k.layers.RepeatVector(1)(b))], name="sum")
        assert {x.name for x in k.utils.get_source_inputs(y)} == {a.name, b.name}
        k.utils.plot_model(k.Model([a, b], y), str(tmp_path / "m.dot"), show_shapes=True)
    text = (tmp_path / "m.dot").read_text()
    assert text.count("->") == 5 and "TimeDistributed(Dense)" in text and "(None, 3)" in text
