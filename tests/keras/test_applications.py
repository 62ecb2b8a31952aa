"""Architectures with as many parameters and layers as Keras has; data sets from local files; scikit-learn."""
from __future__ import annotations

import os

import numpy as np
import pytest

import tfnb as tf
from tfnb.keras.applications.nets.nasnet import _reduction

# name -> (parameters, layers) of tf_keras 2.21, weights=None; MobileNets have their padding as a layer, as in 1.15
COUNTS = {
    "VGG16": (138357544, 23), "VGG19": (143667240, 26), "ResNet50": (25636712, 177), "ResNet101": (44707176, 347),
    "ResNet152": (60419944, 517), "ResNet50V2": (25613800, 192), "ResNet101V2": (44675560, 379),
    "ResNet152V2": (60380648, 566), "MobileNet": (4253864, 93), "MobileNetV2": (3538984, 157),
    "DenseNet121": (8062504, 429), "DenseNet169": (14307880, 597), "DenseNet201": (20242984, 709),
    "Xception": (22910480, 134), "InceptionV3": (23851784, 313), "InceptionResNetV2": (55873736, 782),
    "NASNetMobile": (5326716, 771), "NASNetLarge": (88949818, 1041),
}
QUICK = ("VGG16", "ResNet50", "ResNet50V2", "MobileNet", "MobileNetV2", "Xception")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(COUNTS) if os.environ.get("TFNB_STRESS") else QUICK)
def test_parameters_and_layers(name):
    with tf.Graph().as_default():
        model = getattr(tf.keras.applications, name)(weights=None)
        assert (model.count_params(), len(model.layers)) == COUNTS[name]
        assert model.output_shape == (None, 1000)


def test_names_of_the_parts_of_nasnet():
    """Of a net of small cells, whose names are those of tf_keras 2.21."""
    with tf.Graph().as_default():
        x = tf.keras.Input((8, 8, 4))
        first, before = _reduction(x, None, 4, "stem_1")
        second, _ = _reduction(first, before, 8, "stem_2")
        model = tf.keras.Model(x, second)
        names = {v.op.name for v in model.weights}
    assert {"reduction_A_block_stem_1/reduction_conv_1_stem_1/kernel",
            "reduction_A_block_stem_2/adjust_block/adjust_reduction_block_stem_2/adjust_conv_2_stem_2/kernel",
            "reduction_A_block_stem_2/block_5/separable_conv_block_reduction_left4_stem_2/"
            "separable_conv_2_bn_reduction_left4_stem_2/moving_mean"} <= names
    assert second.shape.as_list() == [None, 2, 2, 32]


def test_images_go_through_and_weights_come_back(tmp_path):
    x = np.random.default_rng(0).normal(size=(2, 32, 32, 3)).astype("float32")
    with tf.Graph().as_default(), tf.Session():
        build = tf.keras.applications.MobileNet
        model = build((32, 32, 3), alpha=0.25, weights=None, classes=3)
        found = model.predict(x)
        np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)
        model.save_weights(str(tmp_path / "w.h5"))
        again = build((32, 32, 3), alpha=0.25, weights=str(tmp_path / "w.h5"), classes=3)
        np.testing.assert_allclose(again.predict(x), found, rtol=1e-5, atol=1e-6)


def test_weights_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.setattr("tfnb.keras.applications.nets.parts.ORIGIN", "http://nowhere.invalid/")
    with tf.Graph().as_default():
        with pytest.raises(OSError, match=r"(?s)mobilenet_2_5_128_tf.h5 is not at .*put it there"):
            tf.keras.applications.MobileNet((128, 128, 3), alpha=0.25)
        with pytest.raises(ValueError, match="`classes` should be 1000, got 10"):
            tf.keras.applications.VGG16(classes=10)
        with pytest.raises(ValueError, match="at least 32x32"):
            tf.keras.applications.VGG16(False, None, input_shape=(16, 16, 3))


def test_channels_as_the_models_take_them():
    x = np.random.default_rng(0).uniform(0, 255, (1, 2, 2, 3))
    applications = tf.keras.applications
    np.testing.assert_allclose(applications.vgg16.preprocess_input(x), x[..., ::-1] - [103.939, 116.779, 123.68],
                               rtol=1e-5)
    np.testing.assert_allclose(applications.densenet.preprocess_input(x),
                               (x / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225], rtol=1e-4, atol=1e-5)
    utils = applications.imagenet_utils
    np.testing.assert_allclose(utils.preprocess_input(x, mode="torch"), applications.densenet.preprocess_input(x))
    np.testing.assert_allclose(utils.preprocess_input(x), applications.vgg16.preprocess_input(x))
    with pytest.raises(ValueError, match="mode caffe, tf or torch"):
        utils.preprocess_input(x, mode="pytorch")
    np.testing.assert_allclose(applications.vgg16.preprocess_input(x.transpose(0, 3, 1, 2), "channels_first"),
                               applications.vgg16.preprocess_input(x).transpose(0, 3, 1, 2))


def test_reviews_are_cut_and_marked(tmp_path):
    x = np.empty(3, object)
    x[:] = [[5, 9], [1, 2, 40, 3, 3, 3], [7]]
    path = str(tmp_path / "imdb.npz")
    np.savez(path, x_train=x, y_train=[1, 0, 1], x_test=x, y_test=[1, 0, 1])
    (rows, labels), (test, _) = tf.keras.datasets.imdb.load_data(path, num_words=12, maxlen=5)
    assert sorted(rows) == [[1, 8, 2], [1, 10]] and labels.tolist() == [1, 1] and len(test) == 2
    (rows, _), _ = tf.keras.datasets.imdb.load_data(path, start_char=None, oov_char=None, index_from=0, skip_top=3)
    assert sorted(rows) == [[5, 9], [7], [40, 3, 3, 3]]


def test_a_data_set_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.setattr("tfnb.keras.datasets.archives.ORIGIN", "http://nowhere.invalid/")
    with pytest.raises(OSError, match=r"(?s)mnist.npz is not at .*nowhere.invalid/mnist.npz.*put it there"):
        tf.keras.datasets.mnist.load_data()


def test_a_classifier_of_scikit_learn():
    def build(units=4):
        model = tf.keras.Sequential([tf.keras.layers.Dense(units, activation="relu", input_dim=2),
                                     tf.keras.layers.Dense(3, activation="softmax")])
        model.compile(tf.keras.optimizers.Adam(0.05), "categorical_crossentropy", metrics=["accuracy"])
        return model
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 120)
    x = random.normal(size=(120, 2)) * 0.2 + np.array([[0, 1], [1, 0], [-1, -1]])[y]
    with tf.Graph().as_default(), tf.Session():
        tf.set_random_seed(1)
        make = tf.keras.wrappers.scikit_learn.KerasClassifier
        classifier = make(build, units=16, epochs=15, verbose=0)
        names = np.array(["a", "b", "c"])[y]
        classifier.fit(x, names)
        assert classifier.score(x, names, verbose=0) > 0.9 and set(classifier.predict(x)) == {"a", "b", "c"}
        assert classifier.get_params()["units"] == 16
        with pytest.raises(ValueError, match="depth is not a legal parameter"):
            make(build, depth=3)
