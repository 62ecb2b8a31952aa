"""Calls that TensorFlow refuses when they run: the same class of error here, in the first run and in compiled ones."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests import differential
from tfnb.ops.declaration.raw import raw

# name -> (op, inputs that are fed, attrs)
IMAGE, FILTER = "np.ones((1, 4, 5, 2))", "np.ones((3, 3, 2, 3))"
BOXES = "np.array([[0, 0, 1, 1], [.1, .1, .9, .9]])"
STRIDES = {"strides": [1, 1, 1, 1], "padding": "SAME"}
POOL = {"ksize": [1, 2, 2, 1], **STRIDES}
CALLS = {
    "a filter without height": ("Conv2D", {"input": IMAGE, "filter": "np.ones((0, 3, 2, 3))"}, STRIDES),
    "a filter without width": ("Conv2D", {"input": IMAGE, "filter": "np.ones((3, 0, 2, 3))"}, STRIDES),
    "strides over images": ("Conv2D", {"input": IMAGE, "filter": FILTER}, {**STRIDES, "strides": [2, 1, 1, 1]}),
    "dilations of channels": ("Conv2D", {"input": IMAGE, "filter": FILTER}, {**STRIDES, "dilations": [1, 1, 1, 2]}),
    "depthwise strides over images": ("DepthwiseConv2dNative", {"input": IMAGE, "filter": FILTER},
                                      {**STRIDES, "strides": [2, 1, 1, 1]}),
    "negative input sizes": ("Conv2DBackpropInput", {"input_sizes": "np.int32([1, 4, 5, -1])", "filter": FILTER,
                                                     "out_backprop": "np.ones((1, 4, 5, 3))"}, STRIDES),
    "a matrix of input sizes": ("Conv2DBackpropInput", {"input_sizes": "np.int32([[1, 4, 5, 2]])", "filter": FILTER,
                                                        "out_backprop": "np.ones((1, 4, 5, 3))"}, STRIDES),
    "negative filter sizes": ("Conv2DBackpropFilter", {"input": IMAGE, "filter_sizes": "np.int32([3, 3, 2, -1])",
                                                       "out_backprop": "np.ones((1, 4, 5, 3))"}, STRIDES),
    "a pool over images": ("MaxPool", {"input": IMAGE}, {**POOL, "ksize": [2, 1, 1, 1]}),
    "a pool over channels first": ("AvgPool", {"value": IMAGE}, {**POOL, "ksize": [1, 1, 1, 2]}),
    "the gradient of a pool over images": (
        "MaxPoolGrad", {"orig_input": IMAGE, "orig_output": IMAGE, "grad": IMAGE}, {**POOL, "ksize": [2, 1, 1, 1]}),
    "grads of another pool": ("MaxPoolGrad", {"orig_input": IMAGE, "orig_output": IMAGE,
                                              "grad": "np.ones((1, 4, 6, 2))"}, POOL),
    "a matrix of sizes": ("AvgPoolGrad", {"orig_input_shape": "np.int32([[1, 4, 5, 2]])", "grad": IMAGE}, POOL),
    "negative sizes": ("AvgPoolGrad", {"orig_input_shape": "np.int32([1, 4, 5, -1])", "grad": IMAGE}, POOL),
    "a negative radius": ("LRN", {"input": IMAGE}, {"depth_radius": -1}),
    "a radius beyond numbers": ("LRN", {"input": IMAGE}, {"depth_radius": 2**31 - 1}),
    "no size": ("ResizeBilinear", {"images": IMAGE, "size": "np.int32([0, 3])"}, {}),
    "a matrix as size": ("ResizeArea", {"images": IMAGE, "size": "np.int32([[3, 3]])"}, {}),
    "no channels": ("ResizeBicubic", {"images": "np.ones((1, 4, 5, 0))", "size": "np.int32([3, 3])"}, {}),
    "grads without rows": ("ResizeBicubicGrad", {"grads": "np.ones((1, 0, 3, 2))", "original_image": IMAGE}, {}),
    "a crop of no size": ("CropAndResize", {"image": IMAGE, "boxes": BOXES, "box_ind": "np.int32([0, 0])",
                                            "crop_size": "np.int32([0, 2])"}, {}),
    "a crop of no image": ("CropAndResize", {"image": IMAGE, "boxes": BOXES, "box_ind": "np.int32([0, 1])",
                                             "crop_size": "np.int32([3, 2])"}, {}),
    "images of more channels than grads": (
        "CropAndResizeGradImage", {"grads": "np.ones((2, 3, 2, 2))", "boxes": BOXES, "box_ind": "np.int32([0, 0])",
                                   "image_size": "np.int32([1, 4, 5, 1000])"}, {"T": "float32"}),
    "fewer boxes than grads": (
        "CropAndResizeGradImage", {"grads": "np.ones((2, 3, 2, 2))", "boxes": BOXES + "[:1]",
                                   "box_ind": "np.int32([0])", "image_size": "np.int32([1, 4, 5, 2])"},
        {"T": "float32"}),
    "grads of no image": (
        "CropAndResizeGradImage", {"grads": "np.ones((2, 3, 2, 2))", "boxes": BOXES, "box_ind": "np.int32([0, 9])",
                                   "image_size": "np.int32([1, 4, 5, 2])"}, {"T": "float32"}),
    "boxes' grads of other channels": (
        "CropAndResizeGradBoxes", {"grads": "np.ones((2, 3, 2, 3))", "image": IMAGE, "boxes": BOXES,
                                   "box_ind": "np.int32([0, 0])"}, {}),
}


def snippet(name: str) -> str:
    """Three runs of a call, and one of another op in the same session."""
    op, inputs, attrs = CALLS[name]
    lines = [f"{key} = tf.placeholder(tf.int32 if np.issubdtype(np.asarray({value}).dtype, np.signedinteger) else "
             "tf.float32)" for key, value in inputs.items()]
    given = ", ".join(f"{key}={key}" for key in inputs)
    more = ", ".join(f"{key}={value!r}" for key, value in attrs.items())
    feeds = ", ".join(f"{key}: {value}" for key, value in inputs.items())
    return "\n".join([*lines, f"y = tf.raw_ops.{op}({given}, {more})", f"feeds = {{{feeds}}}",
                      "runs = [outcome(lambda: sess.run(y, feeds)) for _ in range(3)]",
                      "[*runs, outcome(lambda: sess.run(tf.constant(1)))]"])


@pytest.mark.parametrize("name", CALLS)
def test_each_run_refuses_and_the_session_goes_on(name):
    first, second, third, last = (v for _, v in [("", run) for run in differential.here([snippet(name)])[0][1]])
    assert first == second == third and str(first).startswith("raises ") and "array" not in str(last)
    assert not str(last).startswith("raises")


def test_with_the_class_of_tensorflow(oracle):
    assert differential.differences(oracle, {name: snippet(name) for name in CALLS}) == {}


def test_tensors_of_one_type_attr_have_one_dtype():
    """An attr with a default took the dtype of the last input: kernels read the others as that."""
    x, y = tf.placeholder(tf.float64, [1, 4, 5, 2]), tf.placeholder(tf.float32, [1, 4, 5, 2])
    for given in ((x, y, y), (y, y, x), (y, x, y)):
        with pytest.raises(TypeError, match="does not match type"):
            raw.MaxPoolGrad(*given, ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], padding="SAME")


@pytest.mark.parametrize("op", ["MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D"])
def test_a_pool_larger_than_its_image(op):
    """Taps that meet padding only are left out: it took 20 s, or 96 GiB."""
    rank = 5 if op.endswith("3D") else 4
    image = np.random.default_rng(1).uniform(size=(1, *[3] * (rank - 2), 2)).astype(np.float32)
    x = tf.placeholder(tf.float32, image.shape)
    y, same = (getattr(raw, op)(x, ksize=[1, *[n] * (rank - 2), 1], strides=[1] * rank, padding="SAME")
               for n in (2**31 - 1, 101))
    back = tf.gradients(y, x)[0], tf.gradients(same, x)[0]
    with tf.Session() as sess:
        for _ in range(2):
            made, expected, grad, expected_grad = sess.run([y, same, *back], {x: image})
            np.testing.assert_allclose(made, expected, rtol=1e-6)
            np.testing.assert_allclose(grad, expected_grad, rtol=1e-6)


def test_a_crop_of_an_image_of_more_pixels_than_float32_counts():
    """The place of the last pixel, as float32, is one beyond it."""
    x = tf.placeholder(tf.uint8, [1, 1, None, 1])
    y = tf.image.crop_and_resize(x, [[0., 0., 1., 1.]], [0], [1, 2])
    image = np.zeros((1, 1, 2**24 + 4, 1), np.uint8)
    image[0, 0, -1, 0] = 7
    with tf.Session() as sess:
        assert [sess.run(y, {x: image}).ravel().tolist() for _ in range(2)] == [[0.0, 7.0]] * 2
