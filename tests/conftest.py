"""What every test may use: a fresh default graph, a kernel cache outside of HOME, and real TensorFlow as an oracle."""
from __future__ import annotations

import gc
import importlib
import os
import pickle
import random
import signal
import struct
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
# Before tfnb is imported: compiled kernels are kept between runs of the tests, and HOME stays untouched.
os.environ.setdefault("TFNB_CACHE_DIR", str(ROOT / ".cache" / "tfnb"))

from tfnb.graph.stack import reset_default_graph  # noqa: E402
from tfnb.kernels.arrays import philox  # noqa: E402


def pytest_configure() -> None:
    """What is started in the background by a shell ignores SIGINT, and so would tests of interrupts: for ever."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever uses the fixture `oracle` is marked so."""
    for item in items:
        if "oracle" in getattr(item, "fixturenames", ()):
            item.add_marker("oracle")


def pytest_collection_finish() -> None:
    """Leave modules and 15,000 tests out of the collections of garbage to come, which looked through them all."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def fresh_graph() -> None:
    """Each test starts with an empty default graph."""
    reset_default_graph()


@pytest.fixture(autouse=True)
def fixed_entropy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test draws the same numbers in every run, also without a seed: no training fails once in a hundred."""
    start = crc32(request.node.nodeid.encode())
    np.random.seed(start)
    monkeypatch.setattr(philox, "entropy", partial(random.Random(start).getrandbits, 64))


@pytest.fixture
def simulated() -> Iterator[None]:
    """The test has a simulated GPU."""
    with importlib.import_module("tests.simulation").simulation():
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give all tests in browsers to one process, which has one server of Jupyter, and the others one by one.

    By path: the groups of `--dist loadgroup` need a private field of items that pytest 9.2 has no more.
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneBrowser(LoadScopeScheduling):
        """Work units are tests, but for those of tests/browser/, which are one."""

        def _split_scope(self, nodeid: str) -> str:
            return "browser" if nodeid.startswith("tests/browser/") else nodeid

    return OneBrowser(config, log) if config.getoption("dist") == "load" else None


class Oracle:
    """Real TensorFlow in a process of its own, which imports it once."""

    def __init__(self, python: str) -> None:
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
        environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [python, str(Path(__file__).with_name("oracle_worker.py"))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
        )

    def __call__(self, code: str, **inputs: Any) -> Any:
        """Run `code` and return what it assigned to `result`.

        `tf` (TensorFlow's v1 API with ref variables), `np` and the inputs are there as variables; the default graph is
        a fresh one. Inputs and result must be picklable without TensorFlow (arrays, bytes, numbers, lists, dicts).
        Raises AssertionError with the traceback of the worker where the code fails.
        """
        assert self.process.stdin and self.process.stdout
        request = pickle.dumps((code, inputs))
        self.process.stdin.write(struct.pack("<Q", len(request)) + request)
        self.process.stdin.flush()
        header = self.process.stdout.read(8)
        assert len(header) == 8, "the TensorFlow process has died"
        failed, answer = pickle.loads(self.process.stdout.read(struct.unpack("<Q", header)[0]))
        assert not failed, f"in TensorFlow:\n{answer}"
        return answer

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """`oracle("result = ...", x=array)`: see Oracle.__call__. Skips where $TFNB_ORACLE_PYTHON is not set."""
    python = os.environ.get("TFNB_ORACLE_PYTHON")
    if not python:
        pytest.skip("TFNB_ORACLE_PYTHON names no Python with TensorFlow")
    worker = Oracle(python)
    yield worker
    worker.close()
