"""Random nodes of every op: import and runs give values or TensorFlow's errors, and the process lives."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("mutated_nodes.py")
LONG = os.environ.get("TFNB_STRESS") == "1"


@pytest.mark.parametrize("seed", range(100, 120 if LONG else 101))
def test_no_raw_error_and_no_crash(seed, tmp_path):
    note = tmp_path / "at"
    environment = {**os.environ, "TFNB_FUZZ_AT": str(note), "PYTHONPATH": str(SCRIPT.parents[2])}
    ran = subprocess.run([sys.executable, str(SCRIPT), str(seed), "6" if LONG else "1"], capture_output=True, text=True,
                         cwd=tmp_path, env=environment, errors="replace")
    assert ran.returncode == 0, f"died at {note.read_text()}: {ran.stderr[-2000:]}"
    marks = (": import: ", ": run: ", ": runs differ")
    assert [line for line in ran.stdout.splitlines() if any(mark in line for mark in marks)] == []
    assert "'gave values'" in ran.stdout.splitlines()[-1]
