"""Variables behind handles in each situation: as real TensorFlow, interpreted and compiled."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.runtime.handle_snippets import BEGIN, PROGRAMS
from tfnb.core.options import options


@pytest.fixture(scope="module")
def theirs(oracle):
    code = "import numpy as np\nfound = {}\nfor name, code in programs.items():\n    scope = {'tf': tf, 'np': np}\n" \
           "    exec(begin + code, scope)\n    found[name] = scope['result']\nresult = found"
    return oracle(code, begin=BEGIN, programs=PROGRAMS)


def here(code):
    scope = {"tf": tf, "np": np}
    exec(BEGIN + code, scope)
    return scope["result"]


def assert_same(got, want, place):
    if isinstance(want, (list, tuple)):
        assert len(got) == len(want), place
        for i, (a, b) in enumerate(zip(got, want, strict=True)):
            assert_same(a, b, f"{place}[{i}]")
    elif isinstance(want, str) or isinstance(got, str) or want is None:
        assert got == want, place
    else:
        np.testing.assert_array_equal(got, want, place)


@pytest.mark.parametrize("mode", ["never", "second", "always"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_tensorflow(name, mode, theirs, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    assert_same(here(PROGRAMS[name]), theirs[name], name)
