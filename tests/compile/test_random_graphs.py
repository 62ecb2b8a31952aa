"""What the compiler makes of a graph equals what the interpreter computes."""
from __future__ import annotations

import numpy as np
import pytest

from tests.compile.random_graphs import random_graph
from tfnb.core.options import options
from tfnb.runtime.session import Session

SHAPES = ((3, 4), (5,), (2, 3, 4), (1, 6), (6, 1), (0, 3), (2, 1, 3, 2), ())


@pytest.mark.parametrize("seed", range(24))
def test_compiled_equals_interpreted(seed, monkeypatch):
    shape = SHAPES[seed % len(SHAPES)]
    if shape == ():
        shape = (1,)
    x, fetches, value = random_graph(seed, shape)
    monkeypatch.setattr(options, "compile", "never")
    with np.errstate(all="ignore"):
        want = Session().run(fetches, {x: value})
    monkeypatch.setattr(options, "compile", "always")
    got = Session().run(fetches, {x: value})
    for tensor, a, b in zip(fetches, want, got, strict=True):
        assert b.shape == a.shape and b.dtype == a.dtype, tensor
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-5, err_msg=f"{tensor.name} of seed {seed}")
