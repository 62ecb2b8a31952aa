"""Emitted and hand-written kernels on the simulator."""
from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation import run_simulated


@pytest.mark.cudasim
@pytest.mark.slow
def test_emitted_kernels_on_the_simulator():
    """All of simulated.py passes."""
    run_simulated(Path(__file__).with_name("simulated.py"))
