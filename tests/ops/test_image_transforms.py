"""Fractional pools, pools of sizes that are inputs, projective transforms, detections: as TensorFlow, in all runs."""
import numpy as np

import tfnb as tf
from tests.differential import differences

SETUP = '''
raw = tf.raw_ops
def grid(*shape, seed=0):
    return np.random.default_rng(seed).normal(0, 3, shape).astype(np.float32)
def run(fetch, feed=None):
    found = tf.Session().run(fetch, feed)
    return [list(v) if isinstance(v, tuple) else v for v in found] if isinstance(found, (list, tuple)) else found
def fed(fn, *arrays, slopes=1, known=False):
    """Results of `fn` of fed arrays, and the gradients of the first result for the first `slopes` of them."""
    given = [tf.placeholder(a.dtype, a.shape if known else [None] * a.ndim) for a in map(np.asarray, arrays)]
    y = fn(*given)
    ys = list(y) if isinstance(y, (tuple, list)) else [y]
    loss = tf.reduce_sum(ys[0] * tf.reshape(tf.range(1.0, tf.cast(tf.size(ys[0]), tf.float32) + 1), tf.shape(ys[0])))
    return run(ys + (tf.gradients(loss, given[:slopes]) if slopes else []), dict(zip(given, arrays)))
T = np.float32([[1, .2, -.5, .1, .9, .7, .01, .02], [.8, .2, 1.5, .1, 1.3, .7, -.01, .02]])
boxes = np.float32([[0, 0, 1, 1], [0, 0, 1, .9], [0, 0, .4, .4], [.5, .5, 1.2, 1], [-.1, .5, .3, 1]])
boxes = np.stack([boxes, boxes * np.float32(.5)], 1)
boxes = np.stack([boxes, boxes[:, ::-1]])
scores = np.float32([[.9, .1], [.8, .7], [.7, .6], [.95, .2], [.3, .65]])
scores = np.stack([scores, scores * np.float32(.9)])
def found(boxes=boxes, scores=scores, each=3, most=4, overlap=.5, least=.25, **attrs):
    return run(list(tf.image.combined_non_max_suppression(boxes, scores, each, most, overlap, least, **attrs)))
'''
FRACTIONAL = "fed(lambda x: tf.nn.fractional_{}_pool(x, [1, 1.5, 1.7, 1], {}, {}, True, {}, {}), " \
             "grid(2, 12, 15, 3), known=True)"
SNIPPETS = {
    **{f"{kind} {pseudo} {overlapping} {seeds}": FRACTIONAL.format(kind, pseudo, overlapping, *seeds)
       for kind in ("max", "avg") for pseudo in (True, False) for overlapping in (True, False)
       for seeds in ((3, 5), (7, 0))},
    **{f"integers {overlapping}": "run(list(tf.nn.fractional_avg_pool(np.arange(-35, 35).reshape(1, 10, 7, 1), "
                                  f"[1, 1.4, 2.6, 1], overlapping={overlapping}, deterministic=True, seed=1)))"
       for overlapping in (True, False)},
    "fractional fetched twice": "y = tf.nn.fractional_max_pool(grid(1, 9, 9, 1), [1, 1.3, 1.3, 1], "
                                "deterministic=True)\ns = tf.Session()\nnp.array_equal(s.run(y)[1], s.run(y)[1])",
    **{f"fractional {text}": f"run(tf.nn.fractional_max_pool(grid(2, 5, 7, 2), {text})[0])" for text in (
        "[2, 1.5, 1.5, 1]", "[1, .5, 1.5, 1]", "[1, 9, 1.5, 1]", "[1, 1.5, 1.5]", "[1, 1.5, 1.5, 1, 1]",
        "[1, 1.5, 1.5, 1], seed=1")},
    **{f"sequence {rows}": "run(raw.FractionalAvgPoolGrad(orig_input_tensor_shape=np.int64([1, 5, 7, 1]), "
                           f"out_backprop=np.ones((1, 2, 2, 1)), row_pooling_sequence=np.int64({rows}), "
                           "col_pooling_sequence=np.int64([0, 2, 7])))"
       for rows in ("[0, 2, 9]", "[0, -2, 5]", "[0, 2]", "[0, 2, 4]")},
    **{f"pool of sizes {padding}":
       f"fed(lambda x, k, s: raw.MaxPoolV2(input=x, ksize=k, strides=s, padding='{padding}'), grid(2, 6, 5, 3), "
       "np.int32([1, 2, 3, 1]), np.int32([1, 2, 1, 1]))" for padding in ("SAME", "VALID")},
    "second gradient": "x = tf.constant(grid(1, 4, 4, 2))\ny = raw.MaxPoolV2(input=x, ksize=[1, 2, 2, 1], "
                       "strides=[1, 2, 2, 1], padding='SAME')\ng = tf.gradients(y * y, x)[0]\n"
                       "run([g, tf.gradients(g * g, x)[0]])",
    **{f"sizes {k}": "run(raw.MaxPoolV2(input=grid(1, 4, 4, 1), ksize=tf.placeholder_with_default(np.int32("
                     f"{k}), [None]), strides=[1, 2, 2, 1], padding='VALID'))"
       for k in ([1, 2, 2], [2, 2, 2, 1], [1, 0, 2, 1], [1, 9, 2, 1], [1, 3, 2, 1])},
    "reverse": "fed(lambda x, d: raw.Reverse(tensor=x, dims=d), grid(2, 3, 4), np.array([True, False, True]))",
    "reverse flags": "raw.Reverse(tensor=grid(2, 3), dims=[True])",
    "diagonals": "fed(lambda x, p: [raw.MatrixDiagV2(diagonal=x, k=[-1, 1], num_rows=3, num_cols=-1, padding_value=p), "
                 "raw.MatrixDiagPartV2(input=x, k=[-2, 1], padding_value=p), raw.MatrixSetDiagV2(input=x, diagonal="
                 "x[:, :2], k=[0, 1])], grid(2, 3, 3), np.float32(5), slopes=0, known=True)",
    **{f"glimpse {normalized} {centered}":
       "run([raw.ExtractGlimpseV2(input=grid(1, 6, 5, 2), size=[2, 3], offsets=[o], uniform_noise=False, noise='zero', "
       f"normalized={normalized}, centered={centered}) for o in ((0., 0.), (.5, .25), (1., -1.), (2., 3.))])"
       for normalized in (True, False) for centered in (True, False)},
    **{f"projection {how} {fill}":
       f"fed(lambda x, t: raw.ImageProjectiveTransformV2(images=x, transforms=t, output_shape=[7, 5], "
       f"interpolation='{how}', fill_mode='{fill}'), grid(2, 4, 6, 3), T)"
       for how in ("NEAREST", "BILINEAR") for fill in ("CONSTANT", "REFLECT", "WRAP", "NEAREST")},
    **{f"projection of {kind}": "fed(lambda x: raw.ImageProjectiveTransformV2(images=x, transforms=T[:1], "
                                f"output_shape=[5, 5], interpolation='BILINEAR'), np.arange(24).reshape(1, 4, 6, 1)."
                                f"astype('{kind}'), slopes=0)" for kind in ("uint8", "int32", "int64", "float64")},
    "projection from infinity": "fed(lambda x: raw.ImageProjectiveTransformV2(images=x, transforms=np.float32([[1, "
                                "0, 0, 0, 1, 0, -1, 0]]), output_shape=[3, 3], interpolation='NEAREST'), "
                                "grid(1, 4, 6, 1))",
    **{f"no projection {i}": f"run(raw.ImageProjectiveTransformV2(images=grid(1, 4, 6, 1), {text}, "
                             "interpolation='NEAREST'))" for i, text in enumerate((
                                 "transforms=T, output_shape=[5, 5]", "transforms=T[:1, :7], output_shape=[5, 5]",
                                 "transforms=T[:1], output_shape=[0, 5]", "transforms=T[:1], output_shape=[5]",
                                 "transforms=T[0], output_shape=[5, 5]"))},
    **{f"scaled by {kind} {antialias}":
       f"fed(lambda x: raw.ScaleAndTranslate(images=x, size=[3, 7], scale=[.6, 1.5], translation=[.3, -.4], "
       f"kernel_type='{kind}', antialias={antialias}), grid(1, 4, 5, 2))"
       for kind in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")
       for antialias in (True, False)},
    "scaled away": "fed(lambda x: raw.ScaleAndTranslate(images=x, size=[2, 3], scale=[1, 1], translation=[30, -.4]), "
                   "grid(1, 4, 5, 2))",
    **{f"scaled {text}": f"run(raw.ScaleAndTranslate(images=grid(1, 4, 5, 1), {text}))" for text in (
        "size=[3, 7], scale=[1, 1], translation=[0, 0], kernel_type='x'",
        "size=[3, 7], scale=[0, 1], translation=[0, 0]", "size=[0, 7], scale=[1, 1], translation=[0, 0]")},
    **{f"detections {args}": f"found({args})" for args in (
        "", "clip_boxes=False", "pad_per_class=True, most=9", "pad_per_class=True, most=3", "most=9", "boxes[:, :, :1]",
        "least=-np.inf", "overlap=1.5", "each=0", "most=0", "each=-1", "boxes[0]", "scores=scores[0]",
        "np.repeat(boxes, 2, 2)", "boxes[:, :4]")},
    "detections shapes": "[t.shape.as_list() for t in tf.image.combined_non_max_suppression(tf.placeholder(tf.float32, "
                         "[2, 5, 1, 4]), scores, 3, 9, pad_per_class=True)]",
}


def test_snippets(oracle):
    assert differences(oracle, SNIPPETS, SETUP, 2e-5, modes=("never", "always")) == {}


def test_gradient_of_the_gradient_at_given_places():
    """TensorFlow has it on GPUs only: each element comes from where `argmax` points to."""
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 4, 4, 3)).astype(np.float32))
    _, argmax = tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    with tf.Session() as sess:
        values, places, found = sess.run([x, argmax, tf.raw_ops.MaxPoolGradGradWithArgmax(
            input=x, grad=x, argmax=argmax, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")])
    expected = [image.reshape(-1)[at] for image, at in zip(values, places, strict=True)]
    np.testing.assert_array_equal(found, expected)


def test_turned_and_moved_images():
    """Quarter turns are NumPy's, moves are slices."""
    image = np.arange(24.0, dtype=np.float32).reshape(4, 6)
    square = image[:, :4]
    with tf.Session() as sess:
        turned, moved, both = sess.run([
            tf.contrib.image.rotate(square, np.pi / 2), tf.contrib.image.translate(image[None, ..., None], [[2, 1]]),
            tf.contrib.image.transform(square, tf.contrib.image.compose_transforms(
                tf.contrib.image.angles_to_projective_transforms(np.pi / 2, 4, 4),
                tf.contrib.image.angles_to_projective_transforms(-np.pi / 2, 4, 4)), "BILINEAR")])
    np.testing.assert_array_equal(turned, np.rot90(square))
    np.testing.assert_array_equal(moved[0, 1:, 2:, 0], image[:-1, :-2])
    assert not moved[0, 0].any() and not moved[0, :, :2].any()
    np.testing.assert_allclose(both, square, atol=1e-4)
