"""Sparse updates run in one stage, whatever the number of different rows; what others see has the right size."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options

IDS = [[3, 3, 1, 0], [2, 2, 2, 2], [0, 1, 2, 3], [4, 3, 4, 3]]


def table():
    return tf.Variable(np.arange(10, dtype=np.float32).reshape(5, 2), name="w")


def stages(fetches, feed, sess):
    return [line for line in tf.explain(fetches, feed, sess).splitlines() if line.startswith("  stage")]


@pytest.mark.parametrize("make", [lambda: tf.train.AdagradOptimizer(0.1), lambda: tf.train.AdamOptimizer(0.1),
                                  lambda: tf.train.FtrlOptimizer(0.1)])
def test_one_program_for_any_number_of_rows(make, monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    w, ids = table(), tf.placeholder(tf.int32, [None])
    train = make().minimize(tf.reduce_sum(tf.square(tf.gather(w, ids))))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert len(stages(train, {ids: IDS[0]}, sess)) == 1
        for picks in IDS:
            before = sess.run(w)
            sess.run(train, {ids: picks})
            if "Adam" not in train.name:
                changed = (sess.run(w) != before).any(1)
                assert changed.tolist() == [i in picks and before[i].any() for i in range(5)]


def parts(w, ids):
    rows, places = tf.unique(ids)
    count = tf.shape(rows)[0]
    sums = tf.unsorted_segment_sum(tf.ones([4, 2]), places, count)
    return rows, places, count, sums


SEEN = {
    "the rows are fetched": lambda w, rows, places, count, sums: [tf.scatter_add(w, rows, sums), rows],
    "the sums are fetched": lambda w, rows, places, count, sums: [tf.scatter_add(w, rows, sums), sums],
    "the number is fetched": lambda w, rows, places, count, sums: [tf.scatter_add(w, rows, sums), count],
    "the places are fetched": lambda w, rows, places, count, sums: [tf.scatter_add(w, rows, sums), places],
    "a mean of the sums": lambda w, rows, places, count, sums: [tf.scatter_add(w, rows, sums), tf.reduce_mean(sums)],
    "the number scales": lambda w, rows, places, count, sums: [
        tf.scatter_add(w, rows, sums * tf.cast(count, tf.float32))],
    "the number is added": lambda w, rows, places, count, sums: [tf.scatter_add(w, rows, tf.cast(count, tf.float32))],
    "sums at other rows": lambda w, rows, places, count, sums: [tf.scatter_add(w, tf.range(count), sums)],
    "sorted": lambda w, rows, places, count, sums: [tf.scatter_add(w, rows, tf.cumsum(sums, reverse=True))],
    "elementwise between": lambda w, rows, places, count, sums: [tf.scatter_sub(w, rows, sums * sums * 0.5 + 1.0)],
    "a host call between": lambda w, rows, places, count, sums: [
        tf.scatter_sub(w, rows, sums * tf.Print(sums[0, 0] * 0.0 + 2.0, [], first_n=0))],
    "a host call before": lambda w, rows, places, count, sums: [
        tf.scatter_sub(w, rows, sums * tf.Print(2.0, [], first_n=0))],
}


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize("mode", ["never", "always", "second"])
def test_whoever_looks_sees_as_many_rows_as_there_are(name, mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    w, ids = table(), tf.placeholder(tf.int32, [4])
    fetches = SEEN[name](w, *parts(w, ids))
    wanted = [np.unique(picks, return_counts=True) for picks in IDS]
    with tf.Session() as sess:
        sess.run(w.initializer)
        for picks, (rows, counts) in zip(IDS, wanted, strict=True):
            before = sess.run(w)
            got = sess.run(fetches, {ids: picks})
            order = list(dict.fromkeys(picks))
            by_row = dict(zip(rows.tolist(), counts.tolist(), strict=True))
            sums = np.array([by_row[row] for row in order], np.float32)
            n = len(order)
            added = {"the number scales": sums * n, "the number is added": np.full(n, n), "elementwise between":
                     -(sums * sums * 0.5 + 1), "a host call between": -2 * sums,
                     "a host call before": -2 * sums, "sorted": np.cumsum(sums[::-1])[::-1]}.get(name, sums)
            expected = before.copy()
            expected[range(n) if name == "sums at other rows" else order] += added[:, None]
            np.testing.assert_allclose(got[0], expected)
            extra = {"the rows are fetched": order, "the sums are fetched": np.stack([sums, sums], 1),
                     "the number is fetched": n, "the places are fetched": [order.index(p) for p in picks],
                     "a mean of the sums": sums.mean()}
            if name in extra:
                np.testing.assert_allclose(got[1], extra[name])


def test_fed_places_are_taken_as_they_are(monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    w, ids = table(), tf.placeholder(tf.int32, [4])
    rows, places, _, sums = parts(w, ids)
    add = tf.scatter_add(w, rows, sums)
    with tf.Session() as sess:
        sess.run(w.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(add, {ids: [1, 1, 1, 1], places: [0, 0, 1, 0]})
        assert sess.run(add, {ids: [1, 1, 4, 1], places: [0, 1, 1, 1]})[:, 0].tolist() == [0, 3, 4, 6, 11]


@pytest.mark.parametrize("type_", ["int32", "int64", "uint8", "int16"])
def test_many_ids(type_, monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    random = np.random.default_rng(1)
    w, ids = tf.Variable(np.zeros((200, 3), "f")), tf.placeholder(type_, [None])
    rows, places = tf.unique(ids)
    sums = tf.unsorted_segment_sum(tf.ones([tf.shape(ids)[0], 3]), places, tf.shape(rows)[0])
    rows = rows if type_ in ("int32", "int64") else tf.cast(rows, tf.int32)
    add = tf.scatter_add(w, rows, sums)
    total = np.zeros(200)
    with tf.Session() as sess:
        sess.run(w.initializer)
        for count in (0, 1, 1000, 2000, 1000):
            picks = random.integers(0, 200, count).astype(type_)
            total += np.bincount(picks, minlength=200)
            np.testing.assert_array_equal(sess.run(add, {ids: picks})[:, 1], total)
