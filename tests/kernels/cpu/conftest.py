"""The fixtures `run` and `plain`: the launches of a hand-written kernel, played as a program would, or in Python."""
from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

from tfnb.kernels.functions.kernel import KernelFunction
from tfnb.kernels.functions.played import played
from tfnb.kernels.launch import Address, Call, Launch, Meta


@pytest.fixture
def run() -> Any:
    """run(lower, inputs, outputs, attrs=None, state=None, known=()) -> output arrays: see play."""
    return play


def play(lower: Any, inputs: Any, outputs: Any, *args: Any, **named: Any) -> list[np.ndarray]:
    """The outputs [(shape, type), ...], which start as garbage, filled by `played`."""
    arrays = [_garbage(shape, type_) for shape, type_ in outputs]
    played(lower, [np.array(a) for a in inputs], arrays, *args, **named)
    return arrays


@pytest.fixture
def plain() -> Any:
    """plain(lower, inputs, outputs, attrs=None, known=(), device="cpu") -> output arrays: see play_plain."""
    return play_plain


def play_plain(lower: Any, inputs: Any, outputs: Any, attrs: Any = None, known: Any = (),
               device: Any = "cpu") -> list[np.ndarray]:
    """The outputs of `lower(call)`, by the plain Python form of the kernel functions that it launches on a device."""
    arrays = {"input": [np.array(a, order="C") for a in inputs],
              "output": [_garbage(shape, type_) for shape, type_ in outputs]}
    call = Call(tuple(Meta(a.dtype.name, a.shape, a if i in known else None) for i, a in enumerate(arrays["input"])),
                tuple(Meta(type_, tuple(shape)) for shape, type_ in outputs), attrs or {}, device=device)
    recorded: list[Any] = []

    def record(self: KernelFunction, call: Call, items: int, *args: Any, cost: int = 1, grain: int | None = None,
               label: str = "", **named: Any) -> Launch:
        recorded.append((self, items, args, named))
        return Launch(str(len(recorded) - 1), (), items)
    with mock.patch.object(KernelFunction, "launch", record):
        launches = lower(call)
    arrays["scratch"] = [np.full(size, 0xAB, np.uint8) for size in call.scratch_sizes]

    def value(arg: Any) -> Any:
        if not isinstance(arg, Address):
            return arg
        flat = arrays[arg.kind][arg.index].reshape(-1).view(np.uint8)[arg.offset_bytes:]
        return (flat if arg.nbytes is None else flat[:arg.nbytes]).view(call.type_of(arg))
    for launch in launches:
        function, items, args, named = recorded[int(launch.source)]          # a text is that of no kernel function
        function.python(items, *map(value, args), **{name: value(arg) for name, arg in named.items()})
    return arrays["output"]


def _garbage(shape: Any, type_: str) -> np.ndarray:
    """NaN for floats, -1 or the largest for integers."""
    array = np.empty(shape, type_)
    array.reshape(-1).view(np.uint8).fill(0xFF)
    return array
