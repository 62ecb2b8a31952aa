"""Server processes, by a stand-in for the program that they run: no TensorFlow."""
from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tfnb.cluster import children
from tfnb.core import errors

SERVER = SimpleNamespace(SerializeToString=lambda: b"server")
RUNS = "print('READY grpc://here:1', flush=True)\nsys.stdin.read()"


@pytest.fixture
def task(monkeypatch, tmp_path):
    def write(text):
        file = tmp_path / "task.py"
        file.write_text(f"import sys\n{text}\n")
        monkeypatch.setattr(children, "_TASK", file)
    monkeypatch.setenv(children.PYTHON, sys.executable)
    monkeypatch.setattr(children, "_children", [])
    return write


def pipes(process):
    return [pipe.closed for pipe in (process.stdin, process.stdout, process.stderr)]


def test_a_server_that_is_stopped_leaves_no_pipe(task):
    task(RUNS)
    child = children.Child(SERVER)
    process, = children._children
    assert child.target == "grpc://here:1" and child.running() and pipes(process) == [False] * 3
    for _ in range(2):
        child.stop()
        assert not child.running() and pipes(process) == [True] * 3 and children._children == []


@pytest.mark.parametrize("text, kind, message", [
    ("print('ERROR 3 its port is taken', flush=True)\nsys.stdin.read()", errors.InvalidArgumentError, "its port"),
    ("sys.exit('no library')", errors.UnavailableError, "status 1(.|\\n)*no library")])
def test_a_server_that_does_not_start_leaves_none_either(task, text, kind, message):
    task(text)
    with pytest.raises(kind, match=message):
        children.Child(SERVER)
    assert children._children == []
