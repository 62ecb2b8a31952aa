"""Shapes, movement, joining, indexing, reductions, products, rows: user functions against NumPy.

Each case runs with fully known shapes and with unknown ones, interpreted and compiled; the static shape of the result
must agree with what comes out.
"""
from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import tfnb as tf
from tfnb.core.options import options

R = np.random.default_rng(5)
A = R.normal(size=(4, 5)).astype(np.float32)
B = R.normal(size=(5, 3)).astype(np.float32)
CUBE = R.normal(size=(2, 3, 4)).astype(np.float32)
V = np.array([3, 1, 3, 0, 2], np.int32)
FLAGS = np.array([True, False, True, True])
NAN = np.array([[1, np.nan, 3], [np.nan, 2, 1], [np.inf, 0, -np.inf]], np.float32)
NONE = np.zeros((0, 3), np.float32)
HOT = np.eye(5, dtype=np.float32)[[0, 4, 2, 2]]


def softmax(x, axis=-1):
    return special.softmax(x.astype(np.float64), axis)


def moved(shape, at, x):
    out = np.zeros(shape, x.dtype)
    out[at] = x
    return out


# name -> (function of tensors, input arrays, expected: a value, or a tuple of them)
CASES = {
    "shape": (lambda x: (tf.shape(x), tf.size(x), tf.rank(x), tf.shape(x, out_type=tf.int64)), [CUBE],
              (np.int32([2, 3, 4]), np.int32(24), np.int32(3), np.int64([2, 3, 4]))),
    "shape_n": (lambda x, y: tuple(tf.shape_n([x, y])), [A, A[0]], (np.int32([4, 5]), np.int32([5]))),
    "reshape": (lambda x: (tf.reshape(x, [-1]), tf.reshape(x, [4, -1]), tf.reshape(x, tf.stack([tf.shape(x)[2], 6]))),
                [CUBE], (CUBE.reshape(-1), CUBE.reshape(4, 6), CUBE.reshape(4, 6))),
    "expand and squeeze": (lambda x: (tf.expand_dims(x, -1), tf.squeeze(tf.expand_dims(x, 1)),
                                      tf.squeeze(x[:, :1], [1])), [A], (A[..., None], A, A[:, 0])),
    "transpose": (lambda x: (tf.transpose(x), tf.transpose(x, [1, 2, 0]), tf.matrix_transpose(x)), [CUBE],
                  (CUBE.T, CUBE.transpose(1, 2, 0), CUBE.swapaxes(1, 2))),
    "transpose of a reshape": (lambda x: tf.transpose(tf.reshape(tf.transpose(x), [2, 10])), [A],
                               A.T.reshape(2, 10).T),
    "reverse": (lambda x: (tf.reverse(x, [0]), tf.reverse(x, [-1, 0]), tf.reverse(x, [True, False])), [A],
                (A[::-1], A[::-1, ::-1], A[::-1])),
    "slices": (lambda x: (x[1:, 1:-1], x[::2], x[..., 0], x[:, tf.newaxis, 2], x[-1], x[::-1, ::-2], x[3:1], x[2:9]),
               [A], (A[1:, 1:-1], A[::2], A[..., 0], A[:, None, 2], A[-1], A[::-1, ::-2], A[3:1], A[2:9])),
    "index tensors": (lambda x, i: (x[i[1]], x[i[1]:i[0]], x[0, i[4]]), [A, V], (A[1], A[1:3], A[0, 2])),
    "slice": (lambda x: (tf.slice(x, [1, 0], [2, -1]), tf.slice(x, [0, 5], [4, 0])), [A], (A[1:3], A[:, 5:])),
    "strided_slice": (lambda x: tf.strided_slice(x, [0, 1], [3, 5], [1, 2]), [A], A[:3, 1:5:2]),
    "split": (lambda x: (*tf.split(x, 2), *tf.split(x, [1, 3, 1], axis=1), *tf.split(x, [-1, 2], 1)), [A],
              (A[:2], A[2:], A[:, :1], A[:, 1:4], A[:, 4:], A[:, :3], A[:, 3:])),
    "split in the order of r0.x": (lambda x: tuple(tf.split(0, 2, x)), [A], (A[:2], A[2:])),
    "concat": (lambda x, y: (tf.concat([x, y[:4, :2]], 1), tf.concat(0, [x, x]), tf.concat([x, x[:0]], 0)), [A, B],
               (np.concatenate([A, B[:4, :2]], 1), np.concatenate([A, A]), A)),
    "stack": (lambda x: (tf.stack([x, x]), tf.stack([x, x], -1), tf.pack([x, 2 * x]), tf.stack([x, x], axis=1)), [A],
              (np.stack([A, A]), np.stack([A, A], -1), np.stack([A, 2 * A]), np.stack([A, A], 1))),
    "unstack": (lambda x: (*tf.unstack(x, 4), *tf.unpack(x, 5, axis=1)), [A], (*A, *A.T)),
    "tile": (lambda x: (tf.tile(x, [2, 3]), tf.tile(x, [0, 1])), [A], (np.tile(A, (2, 3)), A[:0])),
    "pad": (lambda x: (tf.pad(x, [[1, 2], [0, 1]]), tf.pad(x, [[0, 0], [2, 0]], constant_values=7),
                       tf.pad(x, [[1, 1], [2, 2]], "reflect"), tf.pad(x, [[1, 1], [2, 2]], "SYMMETRIC")), [A],
            (np.pad(A, [(1, 2), (0, 1)]), np.pad(A, [(0, 0), (2, 0)], constant_values=7),
             np.pad(A, [(1, 1), (2, 2)], "reflect"), np.pad(A, [(1, 1), (2, 2)], "symmetric"))),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [2, 3, 5]), [V], np.broadcast_to(V, (2, 3, 5))),
    "fill and likes": (lambda x: (tf.fill([2, 2], x[0]), tf.zeros_like(x), tf.ones_like(x), tf.ones_like(x, tf.int64)),
                       [V], (np.full((2, 2), 3, np.int32), V * 0, V * 0 + 1, np.ones(5, np.int64))),
    "zeros of NaN": (lambda x: (tf.zeros_like(x), tf.ones_like(x)), [NAN], (np.zeros((3, 3)), np.ones((3, 3)))),
    "zeros of a shape": (lambda x: (tf.zeros(tf.shape(x)), tf.ones(tf.shape(x)[:1], tf.int32)), [A],
                         (np.zeros((4, 5)), np.ones(4, np.int32))),
    "range": (lambda x: (tf.range(x[0]), tf.range(1, 6, x[4]), tf.range(5, 0, -2), tf.range(0.0, 1.0, 0.25)), [V],
              (np.arange(3, dtype=np.int32), np.int32([1, 3, 5]), np.int32([5, 3, 1]), np.arange(0, 1, 0.25))),
    "linspace": (lambda x: (tf.linspace(x[0, 0], 3.0, 7), tf.linspace(1.0, 9.0, 1)), [A],
                 (np.linspace(A[0, 0], 3, 7), np.ones(1))),
    "eye": (lambda x: (tf.eye(3), tf.eye(2, 3), tf.eye(2, batch_shape=[2])), [V],
            (np.eye(3), np.eye(2, 3), np.stack([np.eye(2)] * 2))),
    "diag": (lambda x: (tf.diag(x), tf.diag_part(tf.diag(x)), tf.matrix_diag(x), tf.trace(tf.ones([2, 3, 3]))), [V],
             (np.diag(V), V, np.diag(V), np.full(2, 3.0))),
    "gather": (lambda x, i: (tf.gather(x, i), tf.gather(x, i, axis=1), tf.gather(x, [[0], [3]]), tf.gather(x, 2)),
               [np.concatenate([A, A]), V], (np.concatenate([A, A])[V], np.concatenate([A, A])[:, V],
                                             A[[[0], [3]]], A[2])),
    "gather in batches": (lambda x: tf.gather(x, [[2, 0], [1, 1]], batch_dims=1), [CUBE],
                          np.stack([CUBE[0, [2, 0]], CUBE[1, [1, 1]]])),
    "gather_nd": (lambda x: (tf.gather_nd(x, [[0, 1], [3, 4]]), tf.gather_nd(x, [[[2]]])), [A],
                  (A[[0, 3], [1, 4]], A[2][None, None])),
    "scatter_nd": (lambda x: tf.scatter_nd([[1], [3], [1]], x, [5, 5]), [A[:3]],
                   np.stack([A[0] * 0, A[0] + A[2], A[0] * 0, A[1], A[0] * 0])),
    "segments": (lambda x: (tf.segment_sum(x, [0, 0, 2, 2]), tf.unsorted_segment_sum(x, [2, -1, 0, 2], 4)), [A],
                 (np.stack([A[0] + A[1], A[0] * 0, A[2] + A[3]]), np.stack([A[2], A[0] * 0, A[0] + A[3], A[0] * 0]))),
    "one_hot": (lambda i: (tf.one_hot(i, 4), tf.one_hot(i, 3, axis=0), tf.one_hot(i, 4, 5, -5), tf.one_hot(i[:0], 2)),
                [V], (np.eye(4)[V], np.concatenate([np.eye(3), np.zeros((1, 3))])[V].T,
                      np.where(np.eye(4)[V] > 0, 5, -5).astype(np.int32), np.zeros((0, 2)))),
    "where": (lambda x: (tf.where(x > 0), tf.where(x > 0, x, -x), tf.where_v2(x > 0, x, 0.0)), [A],
              (np.argwhere(A > 0), np.abs(A), np.maximum(A, 0))),
    "boolean_mask": (lambda x, m: (tf.boolean_mask(x, m), x[m], tf.boolean_mask(x, x > 0)), [A, FLAGS],
                     (A[FLAGS], A[FLAGS], A[A > 0])),
    "unique": (lambda i: (*tf.unique(i), *tf.setdiff1d(i, [3, 9])), [V],
               (np.int32([3, 1, 0, 2]), np.int32([0, 1, 0, 2, 3]), np.int32([1, 0, 2]), np.int32([1, 3, 4]))),
    "sequence_mask": (lambda i: (tf.sequence_mask(i, 3), tf.sequence_mask(i)), [V],
                      (np.arange(3) < V[:, None], np.arange(3) < V[:, None])),
    "invert_permutation": (lambda i: tf.invert_permutation(i[1:]), [np.int32([9, 2, 0, 1])], np.int32([1, 2, 0])),
    "reductions": (lambda x: (tf.reduce_sum(x), tf.reduce_mean(x, 0), tf.reduce_prod(x, [1, 2]), tf.reduce_max(x, -1),
                              tf.reduce_min(x, [0, 2], True), tf.reduce_sum(x, []), tf.reduce_mean(x, [0, -1])), [CUBE],
                   (CUBE.sum(), CUBE.mean(0), CUBE.prod((1, 2)), CUBE.max(-1), CUBE.min((0, 2), keepdims=True), CUBE,
                    CUBE.mean((0, 2)))),
    "older names of reductions": (lambda x: (tf.reduce_sum(x, reduction_indices=[1], keep_dims=True),
                                             tf.argmax(x, dimension=1), tf.arg_min(x, 0)), [A],
                                  (A.sum(1, keepdims=True), A.argmax(1), A.argmin(0))),
    "reductions of integers": (lambda i: (tf.reduce_sum(i), tf.reduce_mean(i), tf.reduce_max(i), tf.reduce_min(-i)),
                               [V], (np.int32(9), np.int32(1), np.int32(3), np.int32(-3))),
    "reductions of nothing": (lambda x: (tf.reduce_sum(x, 0), tf.reduce_max(x, 0), tf.reduce_mean(x),
                                         tf.reduce_prod(x)), [NONE], (np.zeros(3), np.full(3, -np.inf), np.nan, 1.0)),
    "truth": (lambda m: (tf.reduce_all(m), tf.reduce_any(m), tf.reduce_all(m[:1]), tf.reduce_any(m[:0])), [FLAGS],
              (False, True, True, False)),
    "extremes of NaN": (lambda x: (tf.reduce_max(x, 1), tf.reduce_min(x, 1), tf.argmax(x, 1), tf.argmin(x, 1)), [NAN],
                        (np.array([np.nan, np.nan, np.inf]), np.array([np.nan, np.nan, -np.inf]), np.array([2, 1, 0]),
                         np.array([0, 2, 2]))),
    "arg": (lambda x: (tf.argmax(x, 1), tf.argmin(x), tf.argmax(x, 1, output_type=tf.int32)), [A],
            (A.argmax(1), A.argmin(0), A.argmax(1).astype(np.int32))),
    "logsumexp": (lambda x: (tf.reduce_logsumexp(x, 1), tf.reduce_logsumexp(100 * x, keepdims=True)), [A],
                  (special.logsumexp(A, 1), special.logsumexp(100.0 * A, keepdims=True))),
    "moments": (lambda x: (*tf.nn.moments(x, [0]), tf.math.reduce_std(x, 1), tf.math.reduce_variance(x)), [A],
                (A.mean(0), A.var(0), A.std(1), A.var())),
    "counts": (lambda x: (tf.count_nonzero(x - x, 0), tf.count_nonzero(x), tf.nn.zero_fraction(tf.nn.relu(x))), [A],
               (np.zeros(5, np.int64), np.int64(20), np.mean(A <= 0))),
    "norms": (lambda x: (tf.norm(x), tf.norm(x, 1, 1), tf.norm(x, np.inf, axis=0), tf.norm(x, 3, 1, keepdims=True),
                         tf.nn.l2_normalize(x, 1), tf.norm(x, 1, [0, 1])), [A],
              (np.linalg.norm(A), np.abs(A).sum(1), np.abs(A).max(0), (np.abs(A) ** 3).sum(1, keepdims=True) ** (1 / 3),
               A / np.linalg.norm(A, axis=1, keepdims=True), np.abs(A).sum(0).max())),
    "cumulative": (lambda x: (tf.cumsum(x, 1), tf.cumsum(x, exclusive=True), tf.cumsum(x, -1, reverse=True),
                              tf.cumprod(x, 1, exclusive=True, reverse=True)), [A],
                   (A.cumsum(1), np.pad(A.cumsum(0)[:-1], [(1, 0), (0, 0)]), A[:, ::-1].cumsum(1)[:, ::-1],
                    np.concatenate([A[:, :0:-1].cumprod(1)[:, ::-1], np.ones((4, 1))], 1))),
    "matmul": (lambda x, y: (tf.matmul(x, y), tf.matmul(y, x, True, True), x @ y, tf.matmul(x[:0], y)), [A, B],
               (A @ B, B.T @ A.T, A @ B, np.zeros((0, 3)))),
    "matmul of stacks": (lambda x, y: (tf.matmul(x, x, transpose_b=True), tf.matmul(x, tf.ones([4, 2])),
                                       tf.tensordot(x, y, [[2], [0]]), tf.tensordot(x, x, 3),
                                       tf.batch_matmul(x, x, True)),
                         [CUBE, A], (CUBE @ CUBE.swapaxes(1, 2), CUBE @ np.ones((4, 2)),
                                     np.tensordot(CUBE, A, [[2], [0]]), np.sum(CUBE.astype(np.float64) ** 2),
                                     CUBE.swapaxes(1, 2) @ CUBE)),
    "matmul of integers": (lambda x: tf.matmul(x, x, transpose_a=True), [A.astype(np.int32)],
                           A.astype(np.int32).T @ A.astype(np.int32)),
    "softmax": (lambda x: (tf.nn.softmax(x), tf.nn.log_softmax(x), tf.nn.softmax(x, 0), tf.nn.softmax(1000 * x)), [A],
                (softmax(A), np.log(softmax(A)), softmax(A, 0), softmax(1000 * A))),
    "cross-entropy": (lambda x, y: (tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x),
                                    tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=1000 * x, name="a"),
                                    tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x)), [A, HOT],
                      (-np.log(softmax(A)[HOT > 0]), special.logsumexp(1000.0 * A, 1) - (1000.0 * A)[HOT > 0],
                       np.logaddexp(0, A) - A * HOT)),
    "sparse cross-entropy": (lambda x, i: (tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x),
                                           tf.nn.sparse_softmax_cross_entropy_with_logits(
                                               labels=[1, 2, 0, 0], logits=x)), [A, V[1:]],
                             (-np.log(softmax(A)[range(4), V[1:]]), -np.log(softmax(A)[range(4), [1, 2, 0, 0]]))),
    "cross-entropy of stacks": (
        lambda x: (tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax(x), logits=x),
                   tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax(x, 1), logits=x, axis=1),
                   tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[0, 1, 2], [3, 0, 1]], logits=x)), [CUBE],
        (-(softmax(CUBE) * np.log(softmax(CUBE))).sum(-1), -(softmax(CUBE, 1) * np.log(softmax(CUBE, 1))).sum(1),
         -np.log(np.take_along_axis(softmax(CUBE), np.array([[0, 1, 2], [3, 0, 1]])[..., None], 2))[..., 0])),
    "batch norm": (lambda x: tf.nn.batch_normalization(x, *tf.nn.moments(x, [0]), 0.5, 2.0, 1e-3), [A],
                   2 * (A - A.mean(0)) / np.sqrt(A.var(0) + 1e-3) + 0.5),
    "layers": (lambda x, w: (tf.nn.xw_plus_b(x, w, [1.0, 2.0, 3.0]), tf.nn.relu_layer(x, w, [0.0, 0.5, 1.0]),
                             tf.nn.crelu(x)), [A, B],
               (A @ B + [1, 2, 3], np.maximum(A @ B + [0, 0.5, 1], 0), np.maximum(np.concatenate([A, -A], 1), 0))),
    "top": (lambda x: (*tf.nn.top_k(x, 2), tf.nn.in_top_k(x, [0, 1, 2, 3], 2)), [A],
            (-np.sort(-A, 1)[:, :2], np.argsort(-A, 1)[:, :2].astype(np.int32),
             np.array([i in np.argsort(-row)[:2] for i, row in enumerate(A)]))),
    "clips": (lambda x: (tf.clip_by_value(x, -0.5, 0.5), tf.clip_by_norm(x, 1.0), tf.clip_by_norm(x, 1.0, 1),
                         tf.clip_by_global_norm([x, 2 * x], 1.0)[0][1], tf.global_norm([x, None])), [A],
              (np.clip(A, -0.5, 0.5), A / np.linalg.norm(A),
               A / np.maximum(1, np.linalg.norm(A, axis=1, keepdims=True)),
               2 * A / np.linalg.norm(A) / np.sqrt(5), np.linalg.norm(A))),
    "strided slice's gradient": (lambda x: (tf.gradients(x[1:, ::-2], x)[0], tf.gradients(x[0], x)[0],
                                            tf.gradients(x[:, tf.newaxis, 1:3], x)[0]), [A],
                                 (moved((4, 5), np.s_[1:, ::2], np.ones((3, 3))), moved((4, 5), 0, np.ones(5)),
                                  moved((4, 5), np.s_[:, 1:3], np.ones((4, 2))))),
}


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("known", [True, False], ids=["static", "unknown"])
@pytest.mark.parametrize("name", CASES)
def test_values(name, known, mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    fn, arrays, expected = CASES[name]
    xs = [tf.placeholder(a.dtype, a.shape if known else [None] * a.ndim) for a in arrays]
    made = fn(*xs)
    if not isinstance(made, tuple):
        made, expected = (made,), (expected,)
    with tf.Session() as sess:
        results = sess.run(made, dict(zip(xs, arrays, strict=True)))
    assert len(results) == len(expected)
    for i, (tensor, y, want) in enumerate(zip(made, results, expected, strict=True)):
        where = f"{name}, result {i}"
        want = np.asarray(want)
        np.testing.assert_allclose(y, want, rtol=2e-5, atol=1e-5, err_msg=where)
        assert np.asarray(y).dtype == tensor.dtype.as_numpy_dtype, where
        assert np.asarray(y).dtype.kind == want.dtype.kind, where
        assert tensor.shape.is_compatible_with(want.shape), f"{where}: {tensor.shape} against {want.shape}"


def test_strings_move():
    x = tf.constant([["a", "b"], ["c", "dd"]])
    with tf.Session() as sess:
        results = sess.run([tf.transpose(x), tf.reshape(x, [4])[1:3], tf.concat([x, x], 1), tf.gather(x, [1]),
                            tf.zeros([2], tf.string), tf.tile(x[0], [2]), tf.stack([x[0], x[1]])])
    assert [y.tolist() for y in results] == [
        [[b"a", b"c"], [b"b", b"dd"]], [b"b", b"c"], [[b"a", b"b"] * 2, [b"c", b"dd"] * 2], [[b"c", b"dd"]],
        [b"", b""], [b"a", b"b"] * 2, [[b"a", b"b"], [b"c", b"dd"]]]


def test_a_fetched_view_is_the_callers():
    x = tf.placeholder(tf.float32, [4, 5])
    fed = A.copy()
    with tf.Session() as sess:
        y = sess.run(tf.transpose(x), {x: fed})
    y[:] = 0
    assert (fed == A).all()


def test_print_and_checks(capsys):
    x = tf.placeholder(tf.float32, [4])
    y = tf.Print(x, [x, tf.shape(x)], "x: ", first_n=1, summarize=2)
    with tf.Session() as sess:
        for _ in range(2):
            assert sess.run(y, {x: [1, 2.5, 3, 4]}).tolist() == [1, 2.5, 3, 4]
        sess.run(tf.Assert(tf.reduce_all(x > 0), [x]), {x: [1] * 4})
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed: .*-1"):
            sess.run(tf.Assert(tf.reduce_all(x > 0), ["x:", x]), {x: [-1] * 4})
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad : Tensor had NaN values"):
            sess.run(tf.check_numerics(x, "bad"), {x: [np.nan] * 4})
    assert capsys.readouterr().err == "x: [1 2.5...][4]\n"
