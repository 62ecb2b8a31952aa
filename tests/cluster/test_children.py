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


LOG = """print('READY grpc://here:1', flush=True)
sys.stdin.read()
for line in ("of the start", "E0000 00:00:1.5 7 master.cc:1] peer", "its second line",
             "2026-01-01 00:00:00.1: W tensorflow/core/x.cc:1] old form", "F0000 00:00:1.5 7 x.cc:1] fatal", "and why"):
    print(line, file=sys.stderr)
"""


@pytest.mark.parametrize("level, shown", [
    (None, ["of the start", "F0000 00:00:1.5 7 x.cc:1] fatal", "and why"]),
    ("0", ["of the start", "E0000", "second", "W tensorflow", "F0000", "and why"])])
def test_what_a_server_logs_is_shown_from_its_level_on(task, monkeypatch, capsys, level, shown):
    """In a notebook it would stand below whichever cell runs when a neighbour ends."""
    monkeypatch.delenv(children.LEVEL, raising=False)
    if level is not None:
        monkeypatch.setenv(children.LEVEL, level)
    task(LOG)
    child = children.Child(SERVER)
    child._process.stdin.close()                # by now what it logs is that of a server that is ready
    with pytest.raises(errors.UnavailableError, match="exit status 0(.|\n)*second line(.|\n)*and why"):
        child.join()
    child.stop()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(shown) and all(part in line for part, line in zip(shown, lines, strict=True)), lines
