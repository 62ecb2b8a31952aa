# Records into a dataset, a trained model into a SavedModel and out of it.
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.saved_model import signature_constants, tag_constants

rng = np.random.RandomState(0)
path = os.path.join(sys.argv[1], "train.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for _ in range(128):
        point = rng.uniform(-1, 1, 2)
        writer.write(tf.train.Example(features=tf.train.Features(feature={
            "point": tf.train.Feature(float_list=tf.train.FloatList(value=point)),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(point.prod() > 0)])),
        })).SerializeToString())


def parse(record):
    parsed = tf.io.parse_single_example(record, {"point": tf.io.FixedLenFeature([2], tf.float32),
                                                 "label": tf.io.FixedLenFeature([], tf.int64)})
    return parsed["point"], parsed["label"]


export_dir = os.path.join(sys.argv[1], "export")
with tf.Graph().as_default():
    tf.compat.v1.set_random_seed(3)
    dataset = tf.data.TFRecordDataset([path]).map(parse).shuffle(128).repeat().batch(32)
    point, label = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    points = tf.compat.v1.placeholder_with_default(point, [None, 2], name="points")
    hidden = tf.compat.v1.layers.dense(points, 16, activation="tanh")
    logits = tf.compat.v1.layers.dense(hidden, 2)
    classes = tf.argmax(logits, axis=-1)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(label, logits)
    train_op = tf.compat.v1.train.AdamOptimizer(0.05).minimize(loss)
    with tf.compat.v1.Session() as sess:
        sess.run(tf.compat.v1.global_variables_initializer())
        for _ in range(150):
            sess.run(train_op)
        tf.compat.v1.saved_model.simple_save(sess, export_dir, inputs={"points": points}, outputs={"classes": classes})

with tf.Graph().as_default() as graph, tf.compat.v1.Session() as sess:
    meta = tf.compat.v1.saved_model.loader.load(sess, [tag_constants.SERVING], export_dir)
    signature = meta.signature_def[signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
    inside = graph.get_tensor_by_name(signature.inputs["points"].name)
    out = graph.get_tensor_by_name(signature.outputs["classes"].name)
    xs = rng.uniform(-1, 1, (300, 2))
    print("score", np.mean(sess.run(out, {inside: xs}) == (xs.prod(1) > 0)))
