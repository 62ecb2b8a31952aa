"""Boxes in images: values, gradients, nodes and errors as in TensorFlow; compiled as interpreted."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.graph_rows import rows_here, rows_there
from tests.modes import run
from tfnb.image.boxes import ExtractGlimpse
from tfnb.kernels.arrays import boxes as arrays
from tfnb.kernels.library.image import suppression

RANDOM = np.random.default_rng(4)
IMAGES = RANDOM.random((2, 6, 7, 3)).astype("f")
BOXES = np.array([[0, 0, 1, 1], [.1, .2, .7, .6], [.8, .9, .1, .2], [-.3, .5, 1.2, .9]], "f")
OWNER = np.array([0, 1, 1, 0], "i")


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
def test_crops_compiled_as_interpreted(method, dtype):
    x, b, o = tf.placeholder(dtype, IMAGES.shape), tf.placeholder("float32", [None, 4]), tf.placeholder("int32", [None])
    feed = {x: (IMAGES * (200 if dtype == "uint8" else 1)).astype(dtype), b: BOXES, o: OWNER}
    fetches = []
    for size in ([6, 7], [1, 1], [3, 12]):
        y = tf.image.crop_and_resize(x, b, o, size, method, 7.)
        fetches += [y, *(g for g in tf.gradients(y * y, [x, b]) if g is not None)]
        assert y.shape.as_list() == [None, *size, 3]
    for one, other in zip(run(fetches, feed), run(fetches, feed, "never"), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-4)


def test_a_crop_of_all_is_the_image():
    whole = tf.image.crop_and_resize(IMAGES, [[0., 0, 1, 1]] * 2, [1, 0], [6, 7])
    np.testing.assert_allclose(run(whole), IMAGES[::-1], atol=1e-6)
    turned = tf.image.crop_and_resize(IMAGES, [[1., 0, 0, 1]], [0], [6, 7])
    np.testing.assert_allclose(run(turned)[0], IMAGES[0, ::-1], atol=1e-6)
    outside = run(tf.image.crop_and_resize(IMAGES, [[0., 0, 2, 1]], [0], [11, 7], extrapolation_value=-1.))[0]
    np.testing.assert_allclose(outside[:6], IMAGES[0], atol=1e-6)
    assert (outside[6:] == -1).all()


def test_gradients_of_crops():
    """For images: the transpose of a linear map. For boxes: finite differences."""
    x, b = tf.placeholder(tf.float32, IMAGES.shape), tf.placeholder(tf.float32, [2, 4])
    boxes, owner = np.array([[.11, .22, .73, .61], [.83, .87, .12, .24]], "f"), OWNER[1:3]     # not on pixels
    y = tf.image.crop_and_resize(x, b, owner, [3, 4])
    way = RANDOM.normal(size=(2, 3, 4, 3)).astype("f")
    into, beside = tf.gradients(y, [x, b], [tf.constant(way)])
    for mode in ("always", "never"):
        made, back, slope = run([y, into, beside], {x: IMAGES, b: boxes}, mode)
        np.testing.assert_allclose((made * way).sum(), (back * IMAGES).sum(), rtol=1e-4)
        for place in np.ndindex(2, 4):
            moved = np.zeros_like(boxes)
            moved[place] = 1e-3
            ends = [(run(y, {x: IMAGES, b: boxes + sign * moved}, mode) * way).sum() for sign in (1, -1)]
            np.testing.assert_allclose(slope[place], (ends[0] - ends[1]) / 2e-3, rtol=.02, atol=.02)


@pytest.mark.parametrize("mode", ["always", "never"])
def test_a_box_of_no_image(mode):
    owner = tf.placeholder(tf.int32, [2])
    y = tf.image.crop_and_resize(IMAGES, BOXES[:2], owner, [2, 2])
    for fetch in (y, tf.gradients(y, y.op.inputs[0])):
        with pytest.raises(tf.errors.OutOfRangeError, match=r"\[0, 2\)"):
            run(fetch, {owner: [0, 2]}, mode)


def test_suppression():
    boxes = [[0, 0, 1, 1], [0, .1, 1, 1.1], [1, .9, 0, -.1], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]]
    scores = [.9, .75, .6, .95, .5, .3]
    assert run(tf.image.non_max_suppression(boxes, scores, 3)).tolist() == [3, 0, 5]
    assert run(tf.image.non_max_suppression(boxes, scores, 2)).tolist() == [3, 0]
    assert run(tf.image.non_max_suppression(boxes, scores, 9, 1.)).tolist() == [3, 0, 1, 2, 4, 5]
    assert run(tf.image.non_max_suppression(boxes, scores, 9, score_threshold=.4)).tolist() == [3, 0]
    padded, valid = tf.image.non_max_suppression_padded(boxes, scores, 5, pad_to_max_output_size=True)
    assert padded.shape == [5] and run([padded, valid])[0].tolist() == [3, 0, 5, 0, 0] and run(valid) == 3
    kept, values = run(tf.image.non_max_suppression_with_scores(boxes, scores, 9, 1., 0., .5))
    assert kept[:2].tolist() == [3, 0] and (np.diff(values) < 0).all() and values[2] < .75


def test_drawing():
    box, color = [[[.25, .2, .75, .6]]], [[1, .5, 0, 1]]
    drawn = run(tf.image.draw_bounding_boxes(np.zeros([1, 5, 6, 3], "f"), box, colors=color))
    edges = np.zeros([5, 6])
    edges[1:4, 1:4] = 1
    edges[2, 2] = 0
    assert np.array_equal(drawn[0], edges[..., None] * [1, .5, 0])


def test_glimpses():
    x = np.arange(25, dtype="f").reshape(1, 5, 5, 1)
    middle = run(tf.image.extract_glimpse(x, [3, 3], [[0., 0.]]))[0, :, :, 0]
    assert np.array_equal(middle, x[0, 1:4, 1:4, 0])
    corner = run(tf.image.extract_glimpse(x, [2, 2], [[5., 5.]], centered=False, normalized=False))[0, :, :, 0]
    assert corner[0, 0] == 24 and ((corner > 0) & (corner < 24)).sum() == 3


def test_what_is_outside_of_glimpses():
    x = np.random.RandomState(1).uniform(2, 3, (1, 4, 4, 2)).astype("f")

    def outside(**attrs):
        made = ExtractGlimpse(x, [4, 400], [[5., 200.]], centered=False, normalized=False, **attrs)
        found = run(made)[0]
        assert np.array_equal(found[0, :4], x[0, 3])
        return found[1:].ravel()
    assert not outside(uniform_noise=False, noise="zero").any()
    uniform, normal = outside(), outside(uniform_noise=False, noise="gaussian")
    assert 2 <= uniform.min() < 2.1 and 2.9 < uniform.max() <= 3
    assert abs(normal.mean()) < 0.15 and abs(normal.std() - 1) < 0.1 and normal.min() < -2


def test_random_boxes_cover_enough():
    boxes = [[[.2, .3, .6, .8], [.1, .1, .15, .2]]]
    begin, size, box = tf.image.sample_distorted_bounding_box([50, 60, 3], boxes, seed=3, min_object_covered=.5,
                                                              aspect_ratio_range=[.9, 1.1], area_range=[.1, .6])
    part = tf.slice(tf.zeros([50, 60, 3]), begin, size)
    assert [t.shape.as_list() for t in (begin, size, box)] == [[3], [3], [1, 1, 4]]
    with tf.Session() as sess:
        for _ in range(20):
            start, extent, found, cut = sess.run([begin, size, box, part])
            assert cut.shape == (*extent[:2], 3) and extent[2] == -1
            np.testing.assert_allclose(found[0, 0], [start[0] / 50, start[1] / 60, (start[0] + extent[0]) / 50,
                                                     (start[1] + extent[1]) / 60], rtol=1e-6)
            assert .09 < extent[0] * extent[1] / 3000 < .61 and .8 < extent[1] / extent[0] < 1.2


VALUES = """
random = np.random.RandomState(0)
images = (random.rand(3, 9, 8, 3) * 250).astype("f")
boxes = random.uniform(-.2, 1.2, (12, 4)).astype("f")
owner = random.randint(0, 3, 12)
feed, ys = {}, []
for dtype in ("float32", "uint8", "float64"):
    t = tf.placeholder(dtype, images.shape)
    feed[t] = images.astype(dtype)
    for method in ("bilinear", "nearest"):
        for size in ([4, 5], [1, 7], [12, 1]):
            y = tf.image.crop_and_resize(t, boxes, owner, size, method, 3.)
            ys.append(y)
            if dtype != "uint8":
                ys += [g for g in tf.gradients(y * y, [t, y.op.inputs[1]])]
many = random.rand(40, 4).astype("f")
scores = (random.randint(0, 30, 40) / 30.).astype("f")
for threshold in (0., .2, .5, .9):
    ys += [tf.image.non_max_suppression(many, scores, 30, threshold, .1)]
    ys += list(tf.image.non_max_suppression_with_scores(many, scores, 30, threshold, .1, .4))
    ys += list(tf.image.non_max_suppression_with_scores(many, scores, 30, threshold))
    ys += [tf.image.non_max_suppression_overlaps(random.rand(40, 40).astype("f"), scores, 20, threshold)]
    ys += [tf.raw_ops.NonMaxSuppression(boxes=many, scores=scores, max_output_size=9, iou_threshold=threshold)
           if hasattr(tf, "raw_ops") else raw.NonMaxSuppression(many, scores, 9, iou_threshold=threshold)]
for depth in (1, 3, 4):
    for colors in (None, random.rand(3, 4).astype("f")):
        ys.append(tf.image.draw_bounding_boxes(random.rand(2, 20, 22, depth).astype("f"),
                                               random.uniform(-.3, 1.3, (2, 13, 4)).astype("f"), colors=colors))
for centered, normalized, low, high in ((True, True, 0, .1), (True, False, 0, 1), (False, True, .4, .6),
                                        (False, False, 3, 5)):
    offsets = random.uniform(low, high, (3, 2)).astype("f")
    ys.append(tf.image.extract_glimpse(images, [3, 5], offsets, centered, normalized))
sampled = []
for i, (height, width) in enumerate([(50, 60), (300, 200), (7, 9), (224, 224)]):
    for dtype in ("int32", "int64"):
        objects = np.sort(random.rand(2, 3, 2, 2), 2).reshape(2, 3, 4)
        sampled += list(tf.image.sample_distorted_bounding_box(
            np.array([height, width, 3], dtype), objects, seed=i + 1, seed2=i, min_object_covered=.1 * i,
            area_range=[.05, 1.] if i else [.2, .5]))
sampled += list(tf.image.sample_distorted_bounding_box([30, 40, 3], np.zeros([1, 0, 4], "f"), seed=5,
                use_image_if_no_bounding_boxes=True, aspect_ratio_range=[.2, 8.], max_attempts=3))
with tf.Session() as sess:
    result = [[sess.run(ys, feed) for _ in range(2)][1], [sess.run(sampled) for _ in range(25)]]
"""


def test_values_are_tensorflows(oracle):
    from tfnb.ops.declaration.raw import raw
    scope = {"tf": tf, "np": np, "raw": raw}
    exec(VALUES, scope)
    (ours, drawn), (theirs, their_drawn) = scope["result"], oracle(VALUES)
    for y, one, other in zip(scope["ys"], ours, theirs, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape, y.name
        most = max(1, np.abs(other).max(initial=0))
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5 * most, err_msg=y.name)
    for step, other in zip(drawn, their_drawn, strict=True):
        for y, a, b in zip(scope["sampled"], step, other, strict=True):
            assert a.dtype == b.dtype and np.array_equal(a, b), y.name


NODES = """
x, b = tf.placeholder(tf.float32, [4, 5, 5, 3]), tf.placeholder(tf.float32, [7, 4])
s, u = tf.placeholder(tf.float32, [7]), tf.placeholder(tf.float32, [None, None, None, 3])
for t in (x, u):
    y = tf.image.crop_and_resize(t, b, [0] * 7, [3, 3]); tf.gradients(y, [t, b])
tf.image.crop_and_resize(x, b, [0] * 7, [3, 3], name="named")
tf.image.non_max_suppression(b, s, 3); tf.image.non_max_suppression(b, s, 3, name="n")
tf.image.non_max_suppression_with_scores(b, s, 3); tf.image.non_max_suppression_overlaps(b[:, :1] * s, s, 3)
tf.image.sample_distorted_bounding_box([5, 5, 3], b[None]); tf.image.draw_bounding_boxes(x, b[None])
tf.image.sample_distorted_bounding_box([5, 5, 3], b[None], seed=3, name="sampled")
tf.image.draw_bounding_boxes(x, b[None], colors=[[1., 1, 1, 1]]); tf.image.extract_glimpse(x, [2, 2], b[:4, :2])
"""


def test_nodes_are_tensorflows(oracle):
    assert rows_here(NODES, tf) == rows_there(NODES, oracle)


SETUP = "x, b, s = np.ones([2, 4, 4, 3], 'f'), np.ones([3, 4], 'f') / 2, np.ones([3], 'f')\n"
ERRORS = {
    "both names": "tf.image.crop_and_resize(x, b, [0] * 3, [2, 2], box_indices=[0] * 3)",
    "rank": "tf.image.crop_and_resize(x[0], b, [0] * 3, [2, 2])",
    "boxes": "tf.image.crop_and_resize(x, b[:, :3], [0] * 3, [2, 2])",
    "owners": "tf.image.crop_and_resize(x, b, [0] * 2, [2, 2])",
    "size": "sess.run(tf.image.crop_and_resize(x, b, [0] * 3, [2, 0]))",
    "sizes": "tf.image.crop_and_resize(x, b, [0] * 3, [2])",
    "method": "tf.image.crop_and_resize(x, b, [0] * 3, [2, 2], 'cubic')",
    "dtype": "tf.image.crop_and_resize(x > 0, b, [0] * 3, [2, 2])",
    "scores": "tf.image.non_max_suppression(b, s[:2], 3)",
    "corners": "tf.image.non_max_suppression(b[:, :3], s, 3)",
    "threshold": "sess.run(tf.image.non_max_suppression(b, s, 3, 1.5))",
    "most": "sess.run(tf.image.non_max_suppression(b, s, [3]))",
    "square": "sess.run(tf.image.non_max_suppression_overlaps(b, s, 3))",
    "drawing": "tf.image.draw_bounding_boxes(x, b)",
    "depth": "sess.run(tf.image.draw_bounding_boxes(x[..., :2], b[None]))",
    "no boxes": "sess.run(tf.image.sample_distorted_bounding_box([4, 4, 3], np.zeros([1, 0, 4], 'f')))",
    "outside": "sess.run(tf.image.sample_distorted_bounding_box([4, 4, 3], b[None] * 3))",
    "image size": "tf.image.sample_distorted_bounding_box([4, 4], b[None])",
    "order": "sess.run(tf.image.sample_distorted_bounding_box([4, 4, 3], b[None], area_range=[.5, .2]))",
    "glimpse": "tf.image.extract_glimpse(x, [2, 2], b[:, :1])",
    "glimpse size": "tf.image.extract_glimpse(x, [2], b[:2, :2])",
}


def test_errors_are_tensorflows(oracle):
    assert differences(oracle, ERRORS, SETUP) == {}


def test_many_boxes_are_suppressed_as_few_are():
    choose = np.random.RandomState(4)
    for trial in range(12):
        boxes = choose.uniform(0, 1, (120, 4)).astype(np.float32).round(trial % 3)
        scores = choose.uniform(0, 1, 120).astype(np.float32).round(1 + trial % 2)
        scores[5] = np.nan
        matrix = trial % 4 == 3
        given = choose.uniform(0, 1, (120, 120)).astype(np.float32).round(1) if matrix else boxes
        same = (lambda i, j, given=given: float(given[i, j])) if matrix else arrays.overlap(boxes)
        for most, threshold, least in ((40, 0.3, 0.2), (200, 0.5, -np.inf), (0, 0.5, 0.1)):
            want = arrays.suppressed(scores, most, threshold, least, same)
            assert suppression.suppressed(given, scores, most, threshold, least, matrix=matrix) == want
