"""The files of MNIST, batches, and the network of the tutorial."""
from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

import tfnb as tf
from tests.graph_rows import rows_here, rows_there

input_data, mnist = tf.examples.tutorials.mnist.input_data, tf.examples.tutorials.mnist.mnist


def write(path, magic, array, cut=0):
    data = struct.pack(f">{array.ndim + 1}I", magic, *array.shape) + array.tobytes()
    path.write_bytes(gzip.compress(data[:len(data) - cut]))


@pytest.fixture
def files(tmp_path):
    """The four files, with 20 and 5 small images: (directory, their contents)."""
    generator = np.random.default_rng(0)
    arrays = [generator.integers(0, 256, (20, 2, 3), np.uint8), generator.integers(0, 10, 20, np.uint8),
              generator.integers(0, 256, (5, 2, 3), np.uint8), generator.integers(0, 10, 5, np.uint8)]
    for name, array in zip(input_data.FILES, arrays, strict=True):
        write(tmp_path / name, 2051 if array.ndim == 3 else 2049, array)
    return tmp_path, arrays


def test_the_sets_are_what_the_files_hold(files, capsys):
    directory, (images, labels, test_images, test_labels) = files
    sets = input_data.read_data_sets(str(directory), validation_size=4, dtype=tf.uint8, reshape=False)
    assert capsys.readouterr().out.count("Extracting") == 4
    assert sets.train.images.shape == (16, 2, 3, 1) and sets.train.num_examples == 16
    assert (sets.validation.images[..., 0] == images[:4]).all() and (sets.test.labels == test_labels).all()
    hot = input_data.read_data_sets(str(directory), one_hot=True, validation_size=4)
    assert hot.train.images.dtype == np.float32 and hot.train.images.shape == (16, 6)
    assert (hot.train.images == np.multiply(images[4:].reshape(16, 6).astype(np.float32), 1 / 255)).all()
    assert hot.test.labels.shape == (5, 10) and (hot.test.labels.argmax(1) == test_labels).all()
    assert hot.validation.labels.dtype == np.float64 and (labels[:4] == hot.validation.labels.argmax(1)).all()


def test_batches_are_shuffled_by_numpys_generator(files):
    sets = input_data.read_data_sets(str(files[0]), validation_size=0, seed=7)
    images, labels = sets.train.images, sets.train.labels
    np.random.seed(7)
    first, second = np.arange(20), np.arange(20)
    np.random.shuffle(first)
    np.random.shuffle(second)
    order = np.concatenate([first, first[second]])
    np.random.seed(7)                           # where read_data_sets left the generator
    for begin in (0, 8, 16, 24, 32):
        x, y = sets.train.next_batch(8)
        assert (x == images[order[begin:begin + 8]]).all() and (y == labels[order[begin:begin + 8]]).all()
        assert sets.train.epochs_completed == (begin + 8 > 20)


def test_batches_in_order(files):
    train = input_data.read_data_sets(str(files[0]), validation_size=0).train
    images = train.images
    x = [train.next_batch(15, shuffle=False)[0] for _ in range(2)]
    assert (np.concatenate(x) == np.concatenate([images, images[:10]])).all() and train.epochs_completed == 1


def test_seeds_repeat(files):
    def drawn():
        return input_data.read_data_sets(str(files[0]), validation_size=0, seed=3).train.next_batch(20)[1].tolist()
    assert drawn() == drawn()
    tf.set_random_seed(5)
    assert input_data.read_data_sets(str(files[0]), validation_size=0).train.next_batch(20)[1].shape == (20,)


def test_fake_data():
    sets = input_data.read_data_sets("", fake_data=True, one_hot=True)
    images, labels = sets.train.next_batch(3, fake_data=True)
    assert images == [[1] * 784] * 3 and labels == [[1] + [0] * 9] * 3 and sets.test.num_examples == 10000


def test_absent_files_are_downloaded(files, tmp_path, capsys):
    target = tmp_path / "new"
    sets = input_data.read_data_sets(str(target), validation_size=0, source_url=files[0].as_uri() + "/")
    assert sets.train.num_examples == 20 and sorted(p.name for p in target.iterdir()) == sorted(input_data.FILES)
    assert "Successfully downloaded" in capsys.readouterr().out


def test_without_a_network_the_error_says_what_to_do(tmp_path):
    with pytest.raises(ConnectionError, match="put the four files of MNIST there: train-images-idx3"):
        input_data.read_data_sets(str(tmp_path / "data"), source_url=(tmp_path / "none").as_uri() + "/")
    assert list((tmp_path / "data").iterdir()) == []


def test_damaged_files_are_told(files):
    directory, arrays = files
    path = directory / input_data.FILES[0]
    write(path, 2049, arrays[0])
    with pytest.raises(ValueError, match="Invalid magic number 2049 in MNIST image file"):
        input_data.read_data_sets(str(directory))
    write(path, 2051, arrays[0], cut=3)
    with pytest.raises(ValueError, match="117 bytes of data where its header says"):
        input_data.read_data_sets(str(directory))
    for content in (b"", path.read_bytes()[:40], b"<html>"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="no whole gzip file|Invalid magic"):
            input_data.read_data_sets(str(directory))


def test_arguments_are_checked(files):
    with pytest.raises(ValueError, match="between 0 and 20"):
        input_data.read_data_sets(str(files[0]), validation_size=21)
    with pytest.raises(TypeError, match="uint8 or float32"):
        input_data.read_data_sets(str(files[0]), validation_size=0, dtype=tf.int32)


def test_the_tutorials_network_learns():
    generator = np.random.default_rng(0)
    x, y = generator.random((64, 784), np.float32), generator.integers(0, 10, 64).astype(np.int32)
    tf.set_random_seed(1)
    images, labels = tf.placeholder(tf.float32, [64, mnist.IMAGE_PIXELS]), tf.placeholder(tf.int32, [64])
    logits = mnist.inference(images, 32, 16)
    loss = mnist.loss(logits, labels)
    step, right = mnist.training(loss, 0.1), mnist.evaluation(logits, labels)
    names = [v.op.name for v in tf.trainable_variables()]
    assert names == [f"{s}/{n}" for s in ("hidden1", "hidden2", "softmax_linear") for n in ("weights", "biases")]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(loss, {images: x, labels: y})
        for _ in range(30):
            sess.run(step, {images: x, labels: y})
        after, count = sess.run([loss, right], {images: x, labels: y})
    assert after < before and 0 <= count <= 64


PROGRAM = """
images, labels = tf.placeholder(tf.float32, [4, 784]), tf.placeholder(tf.int32, [4])
"""
OURS = PROGRAM + "logits = mnist.inference(images, 8, 6)\nmnist.loss(logits, labels)\n"
# The same network, written out.
THEIRS = PROGRAM + """
h, n = images, 784
for scope, units in (("hidden1", 8), ("hidden2", 6), ("softmax_linear", 10)):
    with tf.name_scope(scope):
        w = tf.Variable(tf.truncated_normal([n, units], stddev=1.0 / n ** .5), name="weights")
        b = tf.Variable(tf.zeros([units]), name="biases")
        h, n = tf.matmul(h, w) + b, units
        if units < 10:
            h = tf.nn.relu(h)
tf.losses.sparse_softmax_cross_entropy(labels=tf.to_int64(labels), logits=h)
"""


def test_the_tutorials_graph_is_tensorflows(oracle):
    assert rows_here("mnist = tf.examples.tutorials.mnist.mnist\n" + OURS, tf) == rows_there(THEIRS, oracle)
