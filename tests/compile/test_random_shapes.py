"""Random graphs of unknown shapes give the same interpreted and compiled, with the shapes that were foreseen."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.compile.random_shapes import Graph
from tfnb.core.options import options


@pytest.mark.parametrize("seed", range(16))
def test_compiled_as_interpreted(seed, monkeypatch):
    graph = Graph(seed)
    shapes = dict(graph.known)
    results = []
    for mode in ("never", "always"):
        monkeypatch.setattr(options, "compile", mode)
        with tf.Session() as sess:
            results.append(sess.run(graph.fetches, graph.feeds))
    for tensor, want, got in zip(graph.fetches, *results, strict=True):
        assert got.shape == want.shape == shapes[tensor], tensor
        assert tensor.shape.is_compatible_with(got.shape), tensor
        np.testing.assert_allclose(got, want, rtol=3e-5, atol=3e-5, err_msg=str(tensor))
