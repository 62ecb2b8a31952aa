# Examples into a file of records and back, through a queue of shuffled batches.
import os
import sys

import numpy as np
import tensorflow as tf


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def _bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


images = np.random.RandomState(0).randint(0, 256, (30, 4, 4, 1)).astype(np.uint8)
filename = os.path.join(sys.argv[1], 'train.tfrecords')
writer = tf.python_io.TFRecordWriter(filename)
for index in range(30):
    example = tf.train.Example(features=tf.train.Features(feature={
        'height': _int64_feature(4), 'label': _int64_feature(index),
        'image_raw': _bytes_feature(images[index].tobytes())}))
    writer.write(example.SerializeToString())
writer.close()


def read_and_decode(filename_queue):
    reader = tf.TFRecordReader()
    _, serialized_example = reader.read(filename_queue)
    features = tf.parse_single_example(serialized_example, features={
        'image_raw': tf.FixedLenFeature([], tf.string), 'label': tf.FixedLenFeature([], tf.int64)})
    image = tf.decode_raw(features['image_raw'], tf.uint8)
    image.set_shape([16])
    return tf.cast(image, tf.float32) * (1. / 255) - 0.5, tf.cast(features['label'], tf.int32)


with tf.Graph().as_default():
    filename_queue = tf.train.string_input_producer([filename], num_epochs=2)
    image, label = read_and_decode(filename_queue)
    batch_images, labels = tf.train.shuffle_batch([image, label], batch_size=10, num_threads=2, capacity=40,
                                                  min_after_dequeue=15)
    init_op = tf.group(tf.initialize_all_variables(), tf.initialize_local_variables())
    sess = tf.Session()
    sess.run(init_op)
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    seen, worst = [], 0.0
    try:
        while not coord.should_stop():
            got, numbers = sess.run([batch_images, labels])
            seen += numbers.tolist()
            worst = max(worst, np.abs((got + 0.5) * 255 - images[numbers].reshape(-1, 16)).max())
    except tf.errors.OutOfRangeError:
        print('Done training')
    finally:
        coord.request_stop()
    coord.join(threads)
    sess.close()
    assert sorted(seen) == sorted(list(range(30)) * 2)
    print("score", worst)
