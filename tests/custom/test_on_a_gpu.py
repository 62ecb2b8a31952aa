"""User-defined ops on a simulated GPU, beside the CPU."""
# ruff: noqa: F821
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

pytestmark = [pytest.mark.cudasim, pytest.mark.usefixtures("simulated")]


def on_both(build, *arrays):
    """The values of what `build` makes of the arrays, on the GPU and on the CPU."""
    found = []
    for device in ("/gpu:0", "/cpu:0"):
        with tf.Graph().as_default(), tf.device(device):
            fed = [tf.placeholder(a.dtype, a.shape) for a in arrays]
            made = build(*fed)
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(2):
                    values = sess.run(made, dict(zip(fed, arrays, strict=True)))
                found.append(values)
    return found


def test_elementwise_and_its_gradient():
    @tf.custom.elementwise
    def softcap(x, *, cap=2.0):
        return cap * tf.tanh(x / cap)

    def build(x):
        y = softcap(x)
        return [y, tf.gradients(y, x)[0]]
    gpu, cpu = on_both(build, np.linspace(-5, 5, 11, dtype="f"))
    np.testing.assert_allclose(gpu, cpu, rtol=1e-5)


def test_item_kernel():
    @tf.custom.kernel("image: T -> blurred: T")
    def blur(image, blurred, i, j):
        total = image[i, j] - image[i, j]
        for a in range(-1, 2):
            for b in range(-1, 2):
                total += image[i + a, j + b]
        blurred[i, j] = total / 9
    image = np.random.default_rng(0).random((6, 5)).astype("f")
    gpu, cpu = on_both(blur, image)
    np.testing.assert_allclose(gpu, cpu, rtol=1e-5)
    np.testing.assert_allclose(gpu[2, 2], image[1:4, 1:4].mean(), rtol=1e-5)


def test_optimizer():
    @tf.custom.optimizer
    def signum(var, grad, momentum, *, learning_rate=0.25):
        momentum = 0.9 * momentum + 0.1 * grad
        return var - learning_rate * sign(momentum), momentum

    def build(x):
        v = tf.Variable([1.0, -1.0])
        with tf.control_dependencies([signum().minimize(tf.reduce_sum(v * v * x))]):
            return v + 0
    gpu, cpu = on_both(build, np.ones(2, "f"))
    np.testing.assert_allclose(gpu, cpu)
    assert gpu.tolist() == [0.5, -0.5]
