"""Local response normalization, compiled beside interpreted: radii below and above those written out, powers."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests import modes


@pytest.mark.parametrize("radius, beta, channels", [(0, 0.5, 3), (2, 0.75, 5), (5, 1.0, 16), (9, 0.75, 40),
                                                    (30, 0.3, 7)])
def test_normalization_and_its_gradient(radius, beta, channels):
    random = np.random.default_rng(radius)
    x, dy = (random.normal(size=(2, 3, 4, channels)).astype(np.float32) for _ in range(2))
    fed = tf.placeholder(tf.float32, x.shape)
    y = tf.nn.lrn(fed, radius, bias=1.5, alpha=0.3, beta=beta)
    wanted = [y, tf.gradients(y, fed, tf.constant(dy))[0]]
    for compiled, plain in zip(modes.run(wanted, {fed: x}), modes.run(wanted, {fed: x}, "never"), strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=3e-6, atol=1e-6)
