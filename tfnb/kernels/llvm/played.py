"""Launches of hand-written CPU kernels, run at once over arrays: without a plan, a program or a session."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfnb.kernels.launch import Address, Call, Code, Launch, Meta, failure_text
from tfnb.kernels.llvm import jit, tape


def played(lower: Callable[[Call], list[Launch]], inputs: Sequence[np.ndarray],
           outputs: Sequence[tuple[Sequence[int], str]], attrs: Mapping[str, Any]) -> tuple[np.ndarray, ...]:
    """Return the outputs of the launches that `lower` makes for these inputs. outputs: shape and dtype of each.

    Raises ValueError with the message of a kernel that fails.
    """
    arrays = {"input": [np.ascontiguousarray(a) for a in inputs], "output": [np.empty(*each) for each in outputs],
              "status": [np.zeros(8, np.int64)]}
    call = Call(tuple(Meta(a.dtype.name, a.shape) for a in arrays["input"]),
                tuple(Meta(type, tuple(shape)) for shape, type in outputs), attrs)
    launches = lower(call)
    arrays["scratch"] = [np.empty(max(1, size), np.uint8) for size in call.scratch_sizes]
    status = arrays["status"][0]
    for launch in launches:
        block = np.array([*(_word(arrays, word) for word in launch.args), 0], np.int64)
        tape.Tape([(jit.address(launch.text), block.ctypes.data, launch.items, launch.grain)], keep=block).play()
        if status[0]:
            raise ValueError(failure_text(status.tolist()))
    return tuple(arrays["output"])


def _word(arrays: Mapping[str, list[np.ndarray]], word: int | Address | Code) -> int:
    if isinstance(word, int):
        return word
    if isinstance(word, Code):
        return jit.address(word.text)
    return int(arrays[word.kind][word.index].ctypes.data) + word.offset_bytes
