"""User-defined ops on a GPU that is simulated."""
from pathlib import Path

import pytest

from tests.simulation import run_simulated


@pytest.mark.cudasim
def test_on_the_simulator():
    run_simulated(Path(__file__).with_name("simulated_gpu.py"))
