"""Running a file of tests on numba's simulator, which must be chosen before numba.cuda is first imported."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run_simulated(file: Path) -> None:
    """All tests of a file pass in a process of its own. Raises AssertionError with their output where they don't."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
