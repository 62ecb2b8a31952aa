"""Warps, splines, areas, matchings and colors of tf.contrib.image: by definition, and by SciPy."""
from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage

import tfnb as tf

image = tf.contrib.image
RNG = np.random.default_rng(3)


@pytest.fixture
def run():
    with tf.Session() as session:
        yield session.run


def warped(picture, flow):
    """By the definition, pixel by pixel, with SciPy's linear interpolation."""
    height, width = picture.shape[1:3]
    rows, columns = np.mgrid[:height, :width]
    return np.stack([np.stack([scipy.ndimage.map_coordinates(
        one[..., c], [rows - move[..., 0], columns - move[..., 1]], order=1, mode="nearest")
        for c in range(one.shape[-1])], -1) for one, move in zip(picture, flow, strict=True)])


def test_dense_warp(run):
    picture = RNG.random((2, 5, 4, 3)).astype(np.float32)
    flow = RNG.normal(0, 3, (2, 5, 4, 2)).astype(np.float32)             # beyond the border too
    given = tf.placeholder(tf.float32, [None, None, None, 3])
    made = image.dense_image_warp(given, flow)
    np.testing.assert_allclose(run(made, {given: picture}), warped(picture, flow), atol=1e-5)


def test_dense_warp_has_gradients(run):
    picture = tf.constant(RNG.random((1, 3, 3, 1)))
    flow = tf.constant(RNG.uniform(0.1, 0.4, (1, 3, 3, 2)))
    made = image.dense_image_warp(picture, flow)
    with tf.Session():
        for x, shape in ((picture, (1, 3, 3, 1)), (flow, (1, 3, 3, 2))):
            assert tf.test.compute_gradient_error(x, shape, made, (1, 3, 3, 1), delta=1e-5) < 1e-7


def spline(points, values, wanted, order, smooth):
    """By the definition."""
    def phi(x, y):
        r = np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1))
        return r ** order * (1 if order % 2 else np.log(np.maximum(r, 1e-300)))
    n, d = points.shape
    plane = np.c_[points, np.ones(n)]
    system = np.block([[phi(points, points) + smooth * np.eye(n), plane], [plane.T, np.zeros((d + 1, d + 1))]])
    solved = np.linalg.solve(system, np.r_[values, np.zeros((d + 1, values.shape[1]))])
    return phi(wanted, points) @ solved[:n] + np.c_[wanted, np.ones(len(wanted))] @ solved[n:]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("smooth", [0.0, 0.1])
def test_splines(run, order, smooth):
    points, values, wanted = RNG.random((2, 7, 2)), RNG.random((2, 7, 3)), RNG.random((2, 5, 2))
    found = run(image.interpolate_spline(points, values, wanted, order, smooth))
    for i in range(2):
        np.testing.assert_allclose(found[i], spline(points[i], values[i], wanted[i], order, smooth), atol=5e-3)
    if not smooth:
        np.testing.assert_allclose(run(image.interpolate_spline(points, values, points, order)), values, atol=2e-4)


def test_spline_gradients(run):
    points, values = tf.constant(RNG.random((1, 5, 2))), tf.constant(RNG.random((1, 5, 1)))
    made = image.interpolate_spline(points, values, RNG.random((1, 3, 2)), 2)
    with tf.Session():
        for x, shape in ((points, (1, 5, 2)), (values, (1, 5, 1))):
            assert tf.test.compute_gradient_error(x, shape, made, (1, 3, 1), delta=1e-5) < 1e-4


def test_sparse_warp_moves_the_points(run):
    picture = RNG.random((1, 6, 7, 2)).astype(np.float32)
    source, target = np.float32([[[1, 2], [4, 4], [2, 5]]]), np.float32([[[2, 2], [3, 4], [2, 4]]])
    made, flow = run(image.sparse_image_warp(picture, source, target, num_boundary_points=2))
    for (y, x), (to_y, to_x) in zip(source[0].astype(int), target[0].astype(int), strict=True):
        np.testing.assert_allclose(made[0, to_y, to_x], picture[0, y, x], atol=1e-4)
    for corner in ((0, 0), (0, 6), (5, 0), (5, 6), (0, 3)):
        np.testing.assert_allclose(flow[0][corner], 0, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.float32])
def test_components(run, dtype):
    pictures = (RNG.random((3, 13, 17)) < 0.6).astype(dtype)
    found, before = run(image.connected_components(pictures)), 0
    assert found.dtype == np.int64
    for picture, numbers in zip(pictures, found, strict=True):
        wanted, count = scipy.ndimage.label(picture)
        assert numbers.tolist() == np.where(wanted > 0, wanted + before, 0).tolist()
        before += count


def test_a_spiral_and_several_values(run):
    spiral = np.zeros((9, 9), np.int32)
    for row in range(0, 9, 2):
        spiral[row] = 5
    spiral[1, 8] = spiral[3, 0] = spiral[5, 8] = spiral[7, 0] = 5
    assert run(image.connected_components(spiral)).tolist() == (spiral // 5).tolist()
    assert run(image.connected_components([[2, 2, 7], [7, 2, 7]])).tolist() == [[1, 1, 2], [3, 1, 2]]
    assert run(image.connected_components(np.zeros((2, 0, 3)))).shape == (2, 0, 3)


def matched(distances, rows, most):
    """By the definition: the nearest free pair, again and again."""
    of_rows, of_columns = np.full(distances.shape[0], -1), np.full(distances.shape[1], -1)
    left = np.where(np.arange(len(distances))[:, None] < rows, distances, np.inf)
    for _ in range(most):
        i, j = np.unravel_index(np.argmin(left), left.shape)
        if left[i, j] == np.inf:
            break
        of_rows[i], of_columns[j] = j, i
        left[i, :] = left[:, j] = np.inf
    return of_rows.tolist(), of_columns.tolist()


@pytest.mark.parametrize(("valid", "top_k"), [(-1, -1), (3, -1), ([2], 0), (6, 2), (0, -1)])
def test_matches(run, valid, top_k):
    distances = RNG.random((6, 4)).astype(np.float32)
    rows, columns = run(image.bipartite_match(distances, valid, top_k))
    wanted = matched(distances, 6 if valid == -1 else np.ravel(valid)[0], top_k if top_k > 0 else 4)
    assert (rows.tolist(), columns.tolist()) == wanted
    assert rows.dtype == columns.dtype == np.int32


def test_colors_in_yiq(run):
    colors = RNG.random((2, 3, 3)).astype(np.float32)
    hue, saturation, value = 0.7, 1.3, 0.9
    u, w = value * saturation * np.cos(hue), value * saturation * np.sin(hue)
    matrix = np.array([                                 # the rotation written out, with its usual three digits
        [.299 * value + .701 * u + .168 * w, .587 * value - .587 * u + .330 * w, .114 * value - .114 * u - .497 * w],
        [.299 * value - .299 * u - .328 * w, .587 * value + .413 * u + .035 * w, .114 * value - .114 * u + .292 * w],
        [.299 * value - .300 * u + 1.25 * w, .587 * value - .588 * u - 1.05 * w, .114 * value + .886 * u - .203 * w]])
    found = run(image.adjust_hsv_in_yiq(colors, hue, saturation, value))
    np.testing.assert_allclose(found, colors @ matrix.T, atol=6e-3)
    assert run(image.adjust_hsv_in_yiq(np.uint8([[[10, 200, 30]]]), scale_value=2)).tolist() == [[[20, 255, 60]]]


def test_random_colors_stay_between_the_bounds(run):
    gray = tf.fill([1, 1, 3], 0.5)
    made = image.random_hsv_in_yiq(gray, 1.0, 0.5, 1.5, 0.4, 1.6, seed=4)
    found = [run(made)[0, 0, 0] for _ in range(20)]
    assert 0.2 <= min(found) < max(found) <= 0.8


@pytest.mark.parametrize(("call", "message"), [
    (lambda: image.dense_image_warp(np.zeros((1, 1, 4, 1)), np.zeros((1, 1, 4, 2))), "at least 2"),
    (lambda: image.dense_image_warp(np.zeros((1, 3, 4, 1)), np.zeros((1, 3, 4, 3))), "flow must have 4 axes"),
    (lambda: image.interpolate_spline(np.zeros((3, 2)), np.zeros((1, 3, 2)), np.zeros((1, 3, 2)), 1), "train_points"),
    (lambda: image.sparse_image_warp(tf.placeholder(tf.float32, [1, None, 3, 1]), np.zeros((1, 1, 2)),
                                     np.zeros((1, 1, 2))), "known sizes"),
    (lambda: image.connected_components([1, 0]), "must have the shape"),
    (lambda: image.bipartite_match([1.0], 1), "must be a matrix"),
    (lambda: image.adjust_hsv_in_yiq([[1.0]]), "3 channels"),
    (lambda: image.random_hsv_in_yiq([[[1.0, 1, 1]]], lower_value=2), "at most upper_value")])
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
