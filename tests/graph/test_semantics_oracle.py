"""Protos, scopes, sessions, queues and slots against real TensorFlow: the same values, or errors of the same class."""
from __future__ import annotations

import pytest

from tests.differential import here, there
from tests.graph.semantic_snippets import HELPERS, SNIPPETS

PROGRAMS = [f"{HELPERS}\n{snippet}" for snippet in SNIPPETS]


@pytest.fixture(scope="module")
def theirs(oracle):
    return there(oracle, PROGRAMS)


@pytest.mark.parametrize("number", range(len(SNIPPETS)), ids=[s.split("\n")[-1][:60] for s in SNIPPETS])
def test_as_tensorflow(number, theirs):
    assert repr(here([PROGRAMS[number]])[0]) == repr(theirs[number])
