"""Errors, options, lazy modules, and places in the user's code."""
from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tfnb.core import errors, source
from tfnb.core.lazy import lazy_module
from tfnb.core.options import Options, _quota
from tfnb.core.text import did_you_mean


def test_codes_and_classes() -> None:
    assert sorted(errors.CODES.values()) == list(range(1, 17))
    for cls, code in errors.CODES.items():
        error = cls(None, None, "what went wrong")        # type: ignore[call-arg, arg-type]
        assert error.error_code == code and error.message == str(error) == "what went wrong"
        assert errors.exception_type_from_error_code(code) is cls and errors.error_code_from_exception_type(cls) == code
    assert errors.OpError(None, None, "m", 7).error_code == 7
    copy = pickle.loads(pickle.dumps(errors.OutOfRangeError(None, None, "end")))
    assert isinstance(copy, errors.OutOfRangeError) and copy.message == "end"


def test_options_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFNB_CACHE_DIR", "/somewhere")
    monkeypatch.setenv("TFNB_THREADS", "3")
    monkeypatch.setenv("TFNB_COMPILE", "never")
    made = Options()
    assert (str(made.cache_dir), made.threads, made.compile) == ("/somewhere", 3, "never")
    monkeypatch.setenv("TFNB_COMPILE", "sometimes")
    with pytest.raises(ValueError, match="TFNB_COMPILE.*sometimes"):
        Options()
    monkeypatch.setenv("TFNB_COMPILE", "")
    monkeypatch.setenv("TFNB_THREADS", "none")
    with pytest.raises(ValueError, match="TFNB_THREADS"):
        Options()


def test_what_runs_graphs_is_imported_when_it_is_used() -> None:
    code = """if True:
        import sys, tfnb
        later = ("tfnb.runtime", "tfnb.compile", "tfnb.train", "tfnb.kernels.llvm.jit", "tfnb.kernels.cpu.conv",
                 "tfnb.ops.nn.conv", "tfnb.linalg", "google.protobuf", "numba", "llvmlite", "scipy")
        print([name for name in sys.modules if name.startswith(later)])
        from tfnb import *
        print(Session is tfnb.Session, train.Saver is tfnb.train.Saver, GraphDef is tfnb.GraphDef)
    """
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout == "[]\nTrue True True\n"


def test_lazy_module() -> None:
    sys.modules.pop("wave", None)
    wave = lazy_module("wave")
    assert "wave" not in sys.modules
    assert wave.Wave_read and "wave" in sys.modules
    absent = lazy_module("no_such_module_at_all")
    with pytest.raises(ImportError):
        _ = absent.thing


def test_user_frames_name_this_line() -> None:
    frames = source.user_frames()
    assert frames[0][0].co_name == "test_user_frames_name_this_line" and len(frames) <= 12
    assert source.describe(frames) == (
        f"test_small.py:{frames[0][1]} in test_user_frames_name_this_line: `frames = source.user_frames()`")
    assert source.describe(()) == "an unknown place"
    assert source.traceback_of(frames)[-1][2] == "test_user_frames_name_this_line"


def test_a_cell_is_named_by_its_label() -> None:
    scope: dict[str, object] = {"source": source}
    source.set_cell_label(lambda name: "cell [3]" if name == "<cell>" else None)
    try:
        exec(compile("def f():\n    return source.user_frames()\nframes = f()", "<cell>", "exec"), scope)
        assert source.describe(scope["frames"]) == "cell [3], line 2, called at cell [3], line 3"   # type: ignore[arg-type]
        exec(compile("frames = [source.user_frames() for _ in [0]][0]", "<cell>", "exec"), scope)
        assert source.describe(scope["frames"]) == "cell [3], line 1"   # type: ignore[arg-type]
    finally:
        source.set_cell_label(None)


@pytest.mark.parametrize("files, want", [
    ({"cpu.max": "150000 100000\n"}, 2), ({"cpu.max": "max 100000\n"}, None), ({}, None), ({"cpu.max": "?"}, None),
    ({"cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
    ({"cpu.max": "0 100000\n"}, None),
    ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None)])
def test_cpu_quota_of_a_container(files: dict[str, str], want: int | None, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert _quota(tmp_path) == want


def test_the_nearest_word_is_told() -> None:
    assert did_you_mean("los", ["loss", "train"]) == "; did you mean 'loss'?"
    assert did_you_mean("los", {"loss": 1}, show=str) == "; did you mean loss?"
    assert did_you_mean("trainable", ["variables", "trainable_variables"]) == "; did you mean 'trainable_variables'?"
    assert did_you_mean("h", ["loss", "layer1/h"]) == "; did you mean 'layer1/h'?"
    assert did_you_mean("x", ["loss"]) == "" and did_you_mean("loxyz", ["loss"], 0.4) == "; did you mean 'loss'?"
