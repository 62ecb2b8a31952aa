"""The fixture `run`: the launches of a hand-written kernel, played as a program would."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfnb.kernels.functions.played import played


@pytest.fixture
def run() -> Any:
    """run(lower, inputs, outputs, attrs=None, state=None, known=()) -> output arrays: see play."""
    return play


def play(lower: Any, inputs: Any, outputs: Any, *args: Any, **named: Any) -> list[np.ndarray]:
    """The outputs [(shape, type), ...], which start as garbage, filled by `played`."""
    arrays = [_garbage(shape, type_) for shape, type_ in outputs]
    played(lower, [np.array(a) for a in inputs], arrays, *args, **named)
    return arrays


def _garbage(shape: Any, type_: str) -> np.ndarray:
    """NaN for floats, -1 or the largest for integers."""
    array = np.empty(shape, type_)
    array.reshape(-1).view(np.uint8).fill(0xFF)
    return array
