"""The simulator must be chosen before numba.cuda is first imported: its tests run in a process of their own."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.cudasim
@pytest.mark.slow
def test_emitted_kernels_on_the_simulator():
    """All of simulated.py passes."""
    file = Path(__file__).with_name("simulated.py")
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
