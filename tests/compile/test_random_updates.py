"""Random programs that write to variables give the same interpreted and compiled."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.compile.random_updates import Program, run
from tfnb.core.options import options


@pytest.mark.parametrize("seed", range(24))
def test_compiled_as_interpreted(seed, monkeypatch):
    results = []
    for mode in ("never", "second", "always"):
        monkeypatch.setattr(options, "compile", mode)
        tf.reset_default_graph()
        results.append(run(Program(seed)))
    for other in results[1:]:
        for want, got in zip(results[0], other, strict=True):
            for a, b in zip(want, got, strict=True):
                assert (a is None) == (b is None)
                if a is not None:
                    np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-6)
