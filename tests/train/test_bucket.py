"""Batches of examples that fell into one bucket."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

training = tf.contrib.training


def batches(fetches):
    """All that a pipeline gives until its input ends, with no thread left behind."""
    found = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            while True:
                found.append(sess.run(fetches))
        except tf.errors.OutOfRangeError:
            coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
    return found


def numbers(count):
    return tf.train.limit_epochs(tf.train.range_input_producer(count, num_epochs=1, shuffle=False).dequeue())


def test_examples_of_one_bucket_come_together():
    number = numbers(24)
    which, batch = training.bucket([number, number * 10], number % 3, [2, 4, 4], 3, num_threads=2)
    assert which.shape.as_list() == [] and batch[0].shape.as_list() == [None]
    found = batches([which, batch])
    assert len(found) == 4 + 2 + 2
    for bucket, (values, tens) in found:
        assert len(values) == [2, 4, 4][bucket] and (values % 3 == bucket).all() and (tens == values * 10).all()
    assert sorted(v for _, (values, _) in found for v in values) == list(range(24))


def test_what_is_left_comes_where_smaller_batches_are_allowed():
    number = numbers(10)
    found = batches(training.bucket({"n": number}, number % 2, 3, 2, allow_smaller_final_batch=True))
    assert sorted(len(batch["n"]) for _, batch in found) == [2, 2, 3, 3]
    number = numbers(10)
    found = batches(training.bucket([number], number % 2, 3, 2, keep_input=number > 3, allow_smaller_final_batch=True))
    assert sorted(v for _, (values,) in found for v in values) == [4, 5, 6, 7, 8, 9]


def test_sequences_of_like_lengths_are_padded_together():
    length = numbers(20) + 1
    sequence = tf.fill([length], length)
    lengths, batch = training.bucket_by_sequence_length(length, [sequence], 5, [6, 11, 16], dynamic_pad=True)
    assert lengths.shape.as_list() == [5] and batch[0].shape.as_list() == [5, None]
    found = batches([lengths, batch])
    assert sorted(tuple(sorted(a)) for a, _ in found) == [tuple(range(i, i + 5)) for i in (1, 6, 11, 16)]
    for long, (values,) in found:
        assert values.shape == (5, max(long))
        np.testing.assert_array_equal(values, [[n] * n + [0] * (max(long) - n) for n in long])


def test_errors():
    number = numbers(4)
    for wrong in (lambda: training.bucket([number], 0, [1, 2], 3), lambda: training.bucket([number], 0, 0, 2),
                  lambda: training.bucket([number], 0, 1, 2, bucket_capacities=[3]),
                  lambda: training.bucket_by_sequence_length(number, [number], 1, []),
                  lambda: training.bucket_by_sequence_length(number, [number], 1, [3, 3])):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError, match="must be integers"):
        training.bucket_by_sequence_length(number, [number], 1, [1.5])
