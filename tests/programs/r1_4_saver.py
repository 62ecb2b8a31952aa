# A model saved, and used again by the names in its meta graph; a frozen graph; part of it into another model.
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import graph_util
from tensorflow.python.platform import gfile
from tensorflow.python.tools.inspect_checkpoint import print_tensors_in_checkpoint_file

model_dir = os.path.join(sys.argv[1], "model")
if not tf.gfile.Exists(model_dir):
    tf.gfile.MakeDirs(model_dir)
rng = np.random.RandomState(0)
xs = rng.rand(100, 3).astype(np.float32)
ys = xs.dot([[1.0], [-2.0], [3.0]]) + 0.5

with tf.Graph().as_default():
    tf.set_random_seed(2)
    x = tf.placeholder(tf.float32, shape=[None, 3], name="x")
    y = tf.placeholder(tf.float32, shape=[None, 1], name="y")
    prediction = tf.identity(tf.layers.dense(x, 1, name="dense"), name="prediction")
    loss = tf.losses.mean_squared_error(y, prediction)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, name="train_op")
    ema = tf.train.ExponentialMovingAverage(decay=0.9)
    with tf.control_dependencies([train_op]):
        train = ema.apply(tf.trainable_variables())
    saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(1, 301):
            sess.run(train, feed_dict={x: xs, y: ys})
            if i % 100 == 0:
                saver.save(sess, os.path.join(model_dir, "model"), global_step=i)
        frozen = graph_util.convert_variables_to_constants(sess, sess.graph.as_graph_def(), ["prediction"])
        with gfile.FastGFile(os.path.join(model_dir, "frozen.pb"), "wb") as f:
            f.write(frozen.SerializeToString())

checkpoint = tf.train.get_checkpoint_state(model_dir)
assert len(checkpoint.all_model_checkpoint_paths) == 2
print_tensors_in_checkpoint_file(checkpoint.model_checkpoint_path, tensor_name="dense/bias", all_tensors=False)
errors = []
with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
    saver = tf.train.import_meta_graph(checkpoint.model_checkpoint_path + ".meta", clear_devices=True)
    saver.restore(sess, tf.train.latest_checkpoint(model_dir))
    x, prediction = graph.get_tensor_by_name("x:0"), graph.get_tensor_by_name("prediction:0")
    errors.append(np.abs(sess.run(prediction, {x: xs}) - ys).max())
    sess.run(graph.get_operation_by_name("train_op"), {x: xs, "y:0": ys})
with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
    graph_def = tf.GraphDef()
    with open(os.path.join(model_dir, "frozen.pb"), "rb") as f:
        graph_def.ParseFromString(f.read())
    (prediction,) = tf.import_graph_def(graph_def, return_elements=["prediction:0"], name="frozen")
    errors.append(np.abs(sess.run(prediction, {"frozen/x:0": xs}) - ys).max())
with tf.Graph().as_default(), tf.Session() as sess:
    kernel = tf.get_variable("other/kernel", [3, 1])
    bias = tf.get_variable("bias", [1])
    averaged = tf.train.Saver({"dense/kernel/ExponentialMovingAverage": kernel, "dense/bias": bias})
    averaged.restore(sess, checkpoint.model_checkpoint_path)
    errors.append(np.abs(xs.dot(kernel.eval()) + bias.eval() - ys).max())
print("score", max(errors))
