"""Sessions against real TensorFlow: every snippet gives the same values, or an error of the same class."""
from __future__ import annotations

import pytest

from tests.differential import here, there
from tests.runtime.control_snippets import SNIPPETS as CONTROL
from tests.runtime.session_snippets import SNIPPETS as RUNS
from tfnb.core.options import options

SNIPPETS = RUNS + CONTROL
MODES = ["never", "second", "always"]


@pytest.fixture(scope="module")
def theirs(oracle):
    return dict(zip(SNIPPETS, there(oracle, SNIPPETS), strict=True))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("snippet", SNIPPETS, ids=[s.split("\n")[-1][:60] for s in SNIPPETS])
def test_as_tensorflow(snippet, mode, theirs, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    assert repr(here([snippet])[0]) == repr(theirs[snippet])


def test_a_difference_is_found(oracle):
    here_only = ["tf.constant(1.0) * (2.0 if 'tfnb' in tf.__name__ else 3.0)\n---\nsess.run('mul:0')"]
    assert here(here_only) != there(oracle, here_only)
