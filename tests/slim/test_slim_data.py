"""tf.contrib.slim's datasets: files of Examples with pictures, decoded by items, in batches, before a model."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

slim = tf.contrib.slim
decoders = slim.tfexample_decoder


def feature(values):
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def example(**features):
    return tf.train.Example(features=tf.train.Features(feature={
        key.replace("__", "/"): feature(values) for key, values in features.items()})).SerializeToString()


def written(folder, count=40):
    """Pictures of a bright left or right half, in two files, as PNGs and as raw numbers."""
    random = np.random.RandomState(0)
    labels = random.randint(0, 2, count)
    pictures = random.randint(0, 100, (count, 6, 6, 1))
    for picture, label in zip(pictures, labels, strict=True):
        picture[:, :3] += 100 * (label == 0)
        picture[:, 3:] += 100 * (label == 1)
    with tf.Graph().as_default(), tf.Session() as sess:
        fed = tf.placeholder(tf.uint8, [6, 6, 1])
        png = tf.image.encode_png(fed)
        for part in range(2):
            with tf.python_io.TFRecordWriter(f"{folder}/train_{part}.tfrecord") as writer:
                for picture, label in zip(pictures[part::2], labels[part::2], strict=True):
                    content = sess.run(png, {fed: picture}) if part else picture.astype(np.uint8).tobytes()
                    writer.write(example(image__encoded=[content], image__format=[b"png" if part else b"raw"],
                                         image__class=[int(label)], box__y=[0.1, 0.2][:1 + label]))
    return pictures, labels


def dataset(folder):
    keys = {"image/encoded": tf.FixedLenFeature((), tf.string, ""), "image/class": tf.FixedLenFeature([1], tf.int64),
            "image/format": tf.FixedLenFeature((), tf.string, "png"), "box/y": tf.VarLenFeature(tf.float32)}
    items = {"image": decoders.Image(shape=[6, 6, 1], channels=1), "label": decoders.Tensor("image/class", shape=[]),
             "boxes": decoders.BoundingBox(["y"] * 4, "box/")}
    return slim.dataset.Dataset(f"{folder}/train_*", tf.TFRecordReader, decoders.TFExampleDecoder(keys, items), 40,
                                {"image": "a picture", "label": "which half is bright"}, num_classes=2)


def test_every_example_comes_once_an_epoch(tmp_path):
    pictures, labels = written(tmp_path)
    data = dataset(tmp_path)
    provider = slim.dataset_data_provider.DatasetDataProvider(data, num_readers=1, shuffle=False, num_epochs=1)
    assert provider.list_items() == ["image", "label", "boxes", "record_key"] and provider.num_samples() == 40
    image, label, boxes, key = provider.get(["image", "label", "boxes", "record_key"])
    assert image.shape.as_list() == [6, 6, 1] and data.num_classes == 2
    with tf.train.MonitoredSession() as sess:
        found = [sess.run([image, label, boxes, key]) for _ in range(40)]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(label)
    order = [*range(0, 40, 2), *range(1, 40, 2)]
    assert [int(each[1]) for each in found] == labels[order].tolist()
    np.testing.assert_array_equal([each[0] for each in found], pictures[order])
    assert all(each[2].shape == (1 + each[1], 4) for each in found) and b"train_1" in found[-1][3]
    with pytest.raises(ValueError, match="expected items of image, label, boxes, record_key, got x"):
        provider.get(["x"])
    with pytest.raises(ValueError, match="No data files found"):
        slim.parallel_reader.get_data_files(f"{tmp_path}/nothing*")


def test_a_model_learns_from_a_dataset(tmp_path):
    written(tmp_path)
    tf.set_random_seed(1)
    provider = slim.dataset_data_provider.DatasetDataProvider(
        dataset(tmp_path), num_readers=2, common_queue_capacity=40, common_queue_min=10, seed=1)
    image, label = provider.get(["image", "label"])
    images, labels = tf.train.batch([tf.to_float(image) / 255.0, label], batch_size=16)
    batches = slim.prefetch_queue.prefetch_queue({"images": images, "labels": labels}, capacity=2)
    batch = batches.dequeue()
    with slim.arg_scope(slim.nets.lenet.lenet_arg_scope()):
        net = slim.conv2d(batch["images"], 4, [3, 3], scope="conv")
        logits = slim.fully_connected(slim.flatten(net), 2, activation_fn=None)
    tf.losses.sparse_softmax_cross_entropy(batch["labels"], logits)
    train_op = slim.learning.create_train_op(tf.losses.get_total_loss(), tf.train.AdamOptimizer(0.02))
    assert slim.learning.train(train_op, None, number_of_steps=40) < 0.35


def test_sparse_features():
    keys = {"i": tf.VarLenFeature(tf.int64), "v": tf.VarLenFeature(tf.float32), "shape": tf.VarLenFeature(tf.int64)}
    decoder = decoders.TFExampleDecoder(keys, {
        "sparse": decoders.SparseTensor("i", "v", shape=[5]), "dense": decoders.SparseTensor(
            "i", "v", shape=[5], densify=True), "shaped": decoders.Tensor("v", shape_keys="shape"),
        "sum": decoders.ItemHandlerCallback("v", lambda found: tf.sparse_reduce_sum(found["v"]))})
    found = decoder.decode(example(i=[0, 3], v=[1.0, 2.0], shape=[2, 1]))
    with tf.Session() as sess:
        sparse, dense, shaped, total = sess.run(found)
    assert sparse.indices.tolist() == [[0], [3]] and dense.tolist() == [1, 0, 0, 2, 0]
    assert shaped.tolist() == [[1], [2]] and total == 3
