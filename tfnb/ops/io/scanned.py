"""Features of Examples as arrays, by machine code over their bytes: a fiftieth of the time of the protobuf library.

The same arrays come out as of `Parsed` (parsed.py). What is wrong, or unusual, is left to that, which has the errors.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tfnb.core.dtypes import DType
from tfnb.core.options import has_compiler
from tfnb.core.shape import Static
from tfnb.kernels.functions.kernel import address
from tfnb.kernels.library.text.examples import BYTES, FIELDS, FLOATS, INTEGERS, copy_feature, scan_example
from tfnb.kernels.library.text.spans import cut, joined, row_indices
from tfnb.ops.strings.decoding import strings

_KINDS = {"float32": FLOATS, "int64": INTEGERS, "string": BYTES}
AFTER = 64                  # Examples that the process parses before machine code is made for it
_read = [0]                 # Examples so far

Dense = tuple[Sequence[bytes], Sequence[DType], Sequence[Static], Sequence[np.ndarray]]


class Layout(NamedTuple):
    """Wanted keys as one buffer, and columns of what is known of each: kind, elements of a row, whether these vary."""

    keys: np.ndarray
    begins: np.ndarray
    kinds: np.ndarray
    sizes: np.ndarray
    varies: np.ndarray
    types: tuple[np.dtype, ...]


@lru_cache(256)
def _layout(keys: tuple[bytes, ...], types: tuple[str, ...], shapes: tuple[Static, ...]) -> Layout:
    """Return the layout of keys, whose rows have these shapes; None and (None, ...) for rows that vary."""
    varies = [shape is None or bool(shape) and shape[0] is None for shape in shapes]
    sizes = [prod(shape[1:] if v else shape) if shape is not None else 1  # type: ignore[arg-type]
             for shape, v in zip(shapes, varies, strict=True)]
    text, begins = joined([*keys, b"\0"])
    return Layout(text, begins, np.array([_KINDS[t] for t in types])[:, None], np.array(sizes)[:, None],
                  np.array(varies)[:, None], tuple([np.dtype("int64" if t == "string" else t) for t in types]))


def features(serialized: np.ndarray, sparse: tuple[Sequence[bytes], Sequence[DType]], dense: Dense,
             ragged: tuple[Sequence[bytes], Sequence[DType], Sequence[DType]] = ((), (), ())) -> list[Any] | None:
    """Return the outputs of ParseExampleV2; None where `Parsed` is to make them, or to say what is wrong.

    Each of the three: keys, dtypes and what else there is of each key.
    """
    _read[0] += serialized.size
    keys = (*sparse[0], *dense[0], *ragged[0])
    if _read[0] < AFTER or not has_compiler() or not serialized.size or not keys or len(set(keys)) < len(keys):
        return None
    first, last, single = len(sparse[0]), len(sparse[0]) + len(dense[0]), not serialized.ndim
    types = [t.name for t in (*sparse[1], *dense[1], *ragged[1])]
    shapes = (*[None] * first, *map(_hashable, dense[2]), *[None] * len(ragged[0]))
    layout = _layout(keys, tuple(types), shapes)
    text, found, fits = _scanned(serialized, layout)
    counts, absent, size = found[:, :, 3], found[:, :, 0] == 0, serialized.size
    lacks = absent.any(1).tolist()
    if not fits or any(lacks[first + i] and not default.size and prod(shapes[first + i] or ()) for i, default in
                       enumerate(dense[3])):
        return None
    ends = counts.cumsum(1)
    totals, places = ends[:, -1].tolist(), np.where(layout.varies, ends - counts, layout.sizes * np.arange(size))
    rows = layout.sizes[:, 0].tolist()
    for k in range(first, last):
        if layout.varies[k, 0]:
            rows[k] = int(counts[k].max())                      # padded to the longest
            places[k] = np.arange(size) * rows[k]
        totals[k] = size * rows[k]
    values = _copied(text, found, places, totals, layout)
    lead = () if single else (size,)
    wide = []
    for k, shape, default in zip(range(first, last), dense[2], dense[3], strict=True):
        vary = shapes[k][:1] == (None,)                                                          # type: ignore[index]
        if vary:
            _pad(values[k], counts[k], rows[k], default)
            shape = (rows[k] // max(1, prod(shape[1:])), *shape[1:])                 # type: ignore[index,arg-type]
        elif lacks[k]:
            values[k].reshape(size, -1)[absent[k]] = default.ravel()
        wide.append(values[k].reshape((*lead, *shape)))                                          # type: ignore[misc]
    indices = [np.arange(totals[k])[:, None] if single else row_indices(counts[k]) for k in range(first)]
    sizes = [np.array([*lead, counts[k].max()], np.int64) for k in range(first)]
    splits = [np.cumsum([0, *counts[last + i]])[:0 if single else None].astype(kind.np_dtype)
              for i, kind in enumerate(ragged[2])]
    return [*indices, *values[:first], *sizes, *wide, *values[last:], *splits]


def _hashable(shape: Static) -> Static:
    return None if shape is None else tuple(shape)


def _scanned(texts: np.ndarray, layout: Layout) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the bytes of Examples, what is found in them [keys, examples, FIELDS], and whether it is as wanted."""
    text, begins = joined(texts)
    count, size = len(layout.types), texts.size
    found, status = np.zeros((count, size, FIELDS), np.int64), np.empty(size, np.uint8)
    scan_example.run(size, text, begins, layout.keys, layout.begins, count, found, status, size)
    kinds, counts = found[:, :, 0], found[:, :, 3]
    many = np.where(layout.varies, counts % np.maximum(layout.sizes, 1) == 0, counts == layout.sizes)
    return text, found, not status.any() and bool(((kinds == 0) | (kinds == layout.kinds) & many).all())


def _copied(text: np.ndarray, found: np.ndarray, places: np.ndarray, totals: list[int],
            layout: Layout) -> list[np.ndarray]:
    """Return the values of all keys, an array for each; spaces between rows hold nothing (b"" of strings)."""
    spans = (layout.kinds[:, 0] == BYTES).tolist()
    targets = [np.zeros(2 * total, type) if span else np.empty(total, type)
               for total, type, span in zip(totals, layout.types, spans, strict=True)]
    addresses = np.array([*map(address, targets)], np.int64)
    copy_feature.run(found.shape[0] * found.shape[1], text, found, addresses, places, found.shape[1])
    whole = text.tobytes() if any(spans) else b""
    return [strings(cut(whole, target[::2], target[1::2])) if span else target
            for target, span in zip(targets, spans, strict=True)]


def _pad(values: np.ndarray, counts: np.ndarray, longest: int, default: np.ndarray) -> None:
    """Fill rows up to the longest."""
    if values.size:
        after = np.arange(longest) >= counts[:, None]
        values.reshape(len(counts), longest)[after] = default.ravel()[0]
