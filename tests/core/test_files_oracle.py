"""Files against real TensorFlow: gfile, records, readers, savers, meta graphs and event files, errors included."""
from __future__ import annotations

import gc
import os
import warnings

import pytest

from tests.core.file_snippets import HELPERS, SNIPPETS
from tests.differential import here, there


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One path for both sides: it stands in values."""
    return str(tmp_path_factory.mktemp("files"))


def programs(folder: str) -> list[str]:
    """The snippets, each in a folder of its own that is empty when it begins."""
    return [f"{HELPERS}\nshutil.rmtree({folder!r} + '/{i}', ignore_errors=True); os.makedirs({folder!r} + '/{i}')\n"
            f"os.chdir({folder!r} + '/{i}')\n{snippet}" for i, snippet in enumerate(SNIPPETS)]


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left_open():
    """Files that snippets do not close are dropped with this module."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.fixture(scope="module")
def theirs(oracle, folder):
    before = oracle("import os; result = os.getcwd()")
    found = there(oracle, programs(folder))
    oracle(f"import os; os.chdir({before!r})")
    return found


@pytest.mark.parametrize("number", range(len(SNIPPETS)), ids=[s.split("\n")[-1][:60] for s in SNIPPETS])
def test_as_tensorflow(number, theirs, folder, monkeypatch):
    monkeypatch.chdir(os.getcwd())                 # back there afterwards
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")            # of writers that are closed, which both give
        assert repr(here([programs(folder)[number]])[0]) == repr(theirs[number])
        gc.collect(1)                              # of what snippets leave open, here, and not in another test
