"""One-line summaries of arrays: dtype, shape, range, mean, standard deviation, and counts of NaN and infinity."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfnb.core.text import cut

FEW = 6                 # arrays of at most this size show their elements
ROOM = 60               # characters of a repr


def one_line(value: Any) -> str:
    """Summarize a fetched value in one line: "float32[32, 10] n=320 in [-2.1, 2.6] mean 0.013 sd 1.02"."""
    if value is None:
        return "done"
    if isinstance(value, (bytes, str)):
        return f"{len(value)} {'bytes' if isinstance(value, bytes) else 'letters'} {cut(repr(value), ROOM)}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {one_line(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(one_line(part) for part in value) + "]"
    if isinstance(value, (np.ndarray, np.generic)):
        return _array(np.asarray(value))
    return f"{type(value).__name__} {cut(repr(value), ROOM)}"


def _array(array: np.ndarray) -> str:
    kind = f"{array.dtype.name}[{', '.join(map(str, array.shape))}]" if array.shape else array.dtype.name
    if array.size <= FEW:
        shown = np.array2string(array, precision=4, separator=", ", threshold=FEW).replace("\n", "")
        return f"{kind} {cut(' '.join(shown.split()), ROOM)}" if array.size else f"{kind} empty"
    return f"{kind} n={array.size} {_numbers(array)}".rstrip()


def _numbers(array: np.ndarray) -> str:
    if array.dtype.kind == "b":
        return f"{int(array.sum())} true"
    if array.dtype.kind in "iu":
        return f"in [{array.min()}, {array.max()}] mean {array.mean():.4g}"
    if array.dtype.kind == "c":
        return f"|x| up to {np.abs(array).max():.4g}"
    if array.dtype.kind in "fV":                # V: bfloat16 and other extension types
        return _floats(array.astype(np.float64).ravel())
    return cut(repr(array.ravel()[0]), ROOM) + ", …"


@np.errstate(over="ignore", invalid="ignore")
def _floats(numbers: np.ndarray) -> str:
    good = numbers[np.isfinite(numbers)]
    words = [f"in [{good.min():.4g}, {good.max():.4g}] mean {good.mean():.4g} sd {good.std():.4g}"] if good.size else []
    nan, inf = int(np.isnan(numbers).sum()), int(np.isinf(numbers).sum())
    words += [f"{nan} NaN!"] if nan else []
    words += [f"{inf} inf!"] if inf else []
    return " ".join(words)
