# tf.layers with batch normalization, tf.data, a monitored session with hooks.
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(0)
kinds = rng.rand(3, 8, 8, 1)
numbers = rng.randint(0, 3, 240)
pictures = (kinds[numbers] + 0.2 * rng.randn(240, 8, 8, 1)).astype(np.float32)


def cnn(features, training):
    net = tf.layers.conv2d(features, filters=8, kernel_size=3, padding="same", use_bias=False,
                           kernel_regularizer=tf.contrib.layers.l2_regularizer(1e-4))
    net = tf.nn.relu(tf.layers.batch_normalization(net, training=training, momentum=0.9))
    net = tf.layers.max_pooling2d(net, pool_size=[2, 2], strides=2)
    net = tf.layers.flatten(net)
    net = tf.layers.dropout(tf.layers.dense(net, 16, activation=tf.nn.relu), rate=0.2, training=training)
    return tf.layers.dense(net, 3, name="logits")


with tf.Graph().as_default():
    tf.set_random_seed(1)
    dataset = tf.data.Dataset.from_tensor_slices((pictures, numbers))
    dataset = dataset.map(lambda image, label: (image - 0.5, label), num_parallel_calls=2)
    dataset = dataset.shuffle(buffer_size=240).repeat(10).batch(40).prefetch(1)
    images, labels = dataset.make_one_shot_iterator().get_next()
    training = tf.placeholder_with_default(True, [], name="training")
    logits = cnn(images, training)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits) + tf.losses.get_regularization_loss()
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.piecewise_constant(tf.to_int32(global_step), [20, 40], [0.02, 0.01, 0.005])
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.AdamOptimizer(rate).minimize(loss, global_step=global_step)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, axis=1, output_type=tf.int32),
                                               tf.cast(labels, tf.int32)), tf.float32))
    tf.summary.scalar("accuracy", accuracy)
    hooks = [tf.train.StopAtStepHook(last_step=50), tf.train.NanTensorHook(loss),
             tf.train.LoggingTensorHook({"loss": loss, "step": global_step}, every_n_iter=25)]
    found = []
    with tf.train.MonitoredTrainingSession(checkpoint_dir=sys.argv[1], hooks=hooks, save_summaries_steps=20,
                                           config=tf.ConfigProto(intra_op_parallelism_threads=1)) as sess:
        while not sess.should_stop():
            found.append(sess.run([train_op, accuracy])[1])
    assert len(found) == 50 and tf.train.latest_checkpoint(sys.argv[1]).endswith("model.ckpt-50")
    print("score", np.mean(found[-10:]))
