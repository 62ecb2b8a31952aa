"""Weighted alternating least squares beside NumPy's normal equations, row by row."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

factorization = tf.contrib.factorization
ROWS, COLS, SIZE, UNOBSERVED, PENALTY = 7, 5, 2, 0.3, 0.05
RANDOM = np.random.RandomState(4)
A = (RANDOM.randn(ROWS, COLS) * (RANDOM.rand(ROWS, COLS) < 0.6)).astype("f")
A[:, 0] = RANDOM.rand(ROWS) + 1                    # no row and no column is empty
U, V = RANDOM.randn(ROWS, SIZE).astype("f"), RANDOM.randn(COLS, SIZE).astype("f")
ROW_WEIGHTS, COL_WEIGHTS = RANDOM.rand(ROWS).astype("f"), RANDOM.rand(COLS).astype("f")


def entries(a, rows=slice(None)):
    """The entries of some rows at their places, the last ones first."""
    kept = np.zeros_like(a)
    kept[rows] = a[rows]
    indices = np.argwhere(kept)[::-1]
    return tf.SparseTensor(indices.astype(np.int64), kept[tuple(indices.T)], a.shape)


def solved(a, w, v):
    return np.stack([np.linalg.solve((v.T * w[i]) @ v + PENALTY * np.eye(SIZE), (v.T * w[i]) @ a[i])
                     for i in range(len(a))])


def model_of(row_weights, col_weights, **options):
    return factorization.WALSModel(ROWS, COLS, SIZE, UNOBSERVED, PENALTY, U, V, row_weights=row_weights,
                                   col_weights=col_weights, **options)


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("shards,weights", [
    (1, ([ROW_WEIGHTS], [COL_WEIGHTS])), (1, (2.0, [COL_WEIGHTS])), (1, (None, None)),
    (3, ([ROW_WEIGHTS[:3], ROW_WEIGHTS[3:5], ROW_WEIGHTS[5:]], 1.0))])
def test_updates_solve_the_normal_equations(shards, weights, is_transposed):
    model = model_of(*weights, num_row_shards=shards, num_col_shards=min(shards, 2))
    batch = [1, 4, 5, 6]
    source = entries(A, batch)
    given = tf.sparse_transpose(source) if is_transposed else source
    row_update = model.update_row_factors(given, is_transposed)
    col_update = model.update_col_factors(given, is_transposed)
    with tf.Session() as sess:
        sess.run(model.initialize_op)
        sess.run([model.worker_init, model.row_update_prep_gramian_op, model.initialize_row_update_op])
        new, _, loss, penalty, total = sess.run(row_update)
        factors = np.concatenate(sess.run(model.row_factors))
        sess.run([model.col_update_prep_gramian_op, model.initialize_col_update_op])
        columns = sess.run(col_update[0])
    r, c = (np.concatenate(x) if isinstance(x, list) else np.full(n, 0 if x is None else x)
            for x, n in zip(weights, (ROWS, COLS), strict=True))
    w = UNOBSERVED + np.outer(r, c) * (A != 0)
    wanted = U.copy()
    wanted[batch] = solved(A[batch], w[batch], V)
    np.testing.assert_allclose(factors, wanted, 1e-3, 1e-4)
    if not is_transposed:                          # in the order in which rows come first: from the last
        np.testing.assert_allclose(new, wanted[batch[::-1]], 1e-3, 1e-4)
    scale = ROWS / len(batch)
    np.testing.assert_allclose(loss, scale * (w * np.square(A - wanted @ V.T))[batch].sum(), 1e-3)
    np.testing.assert_allclose(penalty, PENALTY * (scale * np.square(wanted[batch]).sum() + np.square(V).sum()), 1e-4)
    np.testing.assert_allclose(total, scale * w[batch].sum(), 1e-4)
    kept = np.zeros_like(A)
    kept[batch] = A[batch]
    w = UNOBSERVED + np.outer(r, c) * (kept != 0)
    seen = [j for j in range(COLS) if kept[:, j].any()]
    order = list(dict.fromkeys(np.argwhere(kept)[::-1][:, 1]))
    if not is_transposed:
        np.testing.assert_allclose(columns, solved(kept.T, w.T, wanted)[order], 2e-3, 1e-3)
    assert len(columns) == len(seen)


def test_projections_and_what_is_refused():
    model = model_of([ROW_WEIGHTS], [COL_WEIGHTS])
    new = RANDOM.randn(2, COLS).astype("f")
    rows = tf.SparseTensor(np.argwhere(new).astype(np.int64), new.ravel(), new.shape)
    projected = [model.project_row_factors(rows, projection_weights=[0.5, 2.0]),
                 model.project_row_factors(tf.sparse_transpose(rows), transpose_input=True)]
    with tf.Session() as sess:
        sess.run(model.initialize_op)
        sess.run(model.row_update_prep_gramian_op)
        found = sess.run(projected)
    for rows, own in zip(found, (np.array([0.5, 2.0]), np.ones(2)), strict=True):
        np.testing.assert_allclose(rows, solved(new, UNOBSERVED + np.outer(own, COL_WEIGHTS), V), 1e-3, 1e-4)
    with pytest.raises(ValueError, match="must both be None"):
        model_of(None, 1.0)
    with pytest.raises(ValueError, match=r"row_weights must be None, a number, or a list of \[7\]"):
        model_of([[1.0]], 1.0)
    with pytest.raises(ValueError, match="row_init must be 'random' or the factors, got 'zeros'"):
        factorization.WALSModel(2, 2, 1, row_init="zeros")
    with pytest.raises(TypeError, match="sp_input must be a SparseTensor"):
        model.update_row_factors(A)


def test_sweeps_find_a_matrix_of_low_rank():
    wanted = RANDOM.randn(20, 2) @ RANDOM.randn(2, 9)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        model = factorization.WALSModel(20, 9, 2, unobserved_weight=0.0, regularization=1e-4)
        hidden = wanted * (RANDOM.rand(20, 9) < 0.8)
        given = entries(hidden.astype("f"))
        updates = [model.update_row_factors(given)[1], model.update_col_factors(given)[1]]
        sess.run(model.initialize_op)
        for _ in range(30):
            sess.run(model.row_update_prep_gramian_op)
            sess.run(updates[0])
            sess.run(model.col_update_prep_gramian_op)
            sess.run(updates[1])
        rows, columns = sess.run([model.row_factors[0], model.col_factors[0]])
    np.testing.assert_allclose(rows @ columns.T, wanted, atol=0.05)
