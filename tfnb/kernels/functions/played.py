"""Launches of hand-written CPU kernels, run at once over arrays: without a plan, a program or a session."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tfnb.kernels.functions.language import KernelFailure
from tfnb.kernels.launch import Address, Call, Code, Launch, Meta
from tfnb.kernels.llvm import jit, tape

UNSET = 0xAB                                            # the bytes of scratch memory, which no kernel may count on


def played(lower: Callable[[Call], list[Launch]], inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray],
           attrs: Mapping[str, Any] | None = None, state: np.ndarray | None = None,
           known: Collection[int] = ()) -> None:
    """Fill the outputs by the launches that `lower` makes for these inputs.

    state: of a generator; known: indices of inputs whose value the call may look at. Raises KernelFailure.
    """
    given = [np.asarray(a, order="C") for a in inputs]
    call = Call(tuple(Meta(a.dtype.name, a.shape, a if i in known else None) for i, a in enumerate(given)),
                tuple(Meta(a.dtype.name, a.shape) for a in outputs), attrs or {})
    launches, status = lower(call), np.zeros(8, np.int64)
    arrays = {"input": given, "output": outputs, "state": [state], "status": [status],
              "scratch": [np.full(size, UNSET, np.uint8) for size in call.scratch_sizes]}
    for launch in launches:
        block = np.array([*(_word(arrays, word) for word in launch.args), 0], np.int64)
        tape.Tape([(jit.address(launch.source), block.ctypes.data, launch.items, launch.grain)], keep=block).play()
        if status[0]:
            code, *words = status.tolist()
            raise KernelFailure(code, words)


def _word(arrays: Mapping[str, Sequence[Any]], word: int | Address | Code) -> int:
    if isinstance(word, int):
        return word
    if isinstance(word, Code):
        return jit.address(word.source)
    return int(arrays[word.kind][word.index].ctypes.data) + word.offset_bytes
