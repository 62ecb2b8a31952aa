"""Programs with control flow: values and nodes as in real TensorFlow, interpreted and compiled."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.runtime.flow_programs import CASES, PROGRAMS, RUN, START, WITHOUT_NODES


@pytest.fixture
def fresh():
    tf.reset_default_graph()


@pytest.mark.oracle
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, oracle, fresh):
    code = START + PROGRAMS[name] + RUN
    scope = {"tf": tf, "np": np, "cases": CASES}
    exec(compile(code, f"<{name}>", "exec"), scope)
    nodes, values = scope["result"]
    want_nodes, want = oracle(code, cases=CASES)
    for got_run, want_run in zip(values, want, strict=True):
        for got, wanted in zip(got_run, want_run, strict=True):
            assert got.dtype == wanted.dtype and got.shape == wanted.shape
            if got.dtype.kind == "f":
                np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-6)
            else:
                np.testing.assert_array_equal(got, wanted)
    if name not in WITHOUT_NODES:
        assert nodes == want_nodes
