"""Wrong and odd variants of a valid call: shapes, ranks, dtypes, values and attrs, one change each."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.safety.records import Record, explicit
from tfnb.opdef import registry

_LONG = 17                        # more than the lanes of a vector, and no multiple of them
_HUGE = 70_000                    # a length that no row of ours has, and small enough to be there
_NUMBERS = {
    "i": [0, -1, 1, 2, -2, 7, 2**31 - 1, -2**31, 2**62, -2**63, 2**63 - 1],
    "u": [0, 1, 255, 2**64 - 1],
    "f": [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e30, 3e9, 1e-40],
    "b": [False, True], "c": [np.nan, 0j], "O": [b"", b"\xff\0x", b"-" * 300],
}
_TYPES = (("float32", "float64"), ("float64", "float32"), ("float32", "float16"), ("float32", "uint8"),
          ("float32", "int32"), ("int32", "int64"), ("int64", "int32"))
_INTS = [0, -1, 2, 5, 20_000, 2**31 - 1, -2**31, 2**62]
_FLOATS = [0.0, -1.0, 1e30, float("nan"), float("inf")]


def mutations(record: Record) -> list[Record]:
    """Every single change of a call."""
    with np.errstate(all="ignore"):
        return [*of_sizes(record), *_of_shapes(record), *_of_values(record), *_of_dtypes(record), *_of_attrs(record)]


def of_sizes(record: Record) -> Iterator[Record]:
    """Calls that are often valid too: the same axis of all inputs of a rank, or all axes of a length, made 1 or long.

    Kernels have ways of their own for an axis of one element; an image of one column with many channels needs two.
    """
    ranks = sorted({array.ndim for array in record.arrays} - {0})
    places = {f"axis {axis} of rank {rank}": [(rank, axis)] for rank in ranks for axis in range(rank)}
    places |= {f"axis {axis} of rank {rank} and the last": [(rank, axis), (rank, rank - 1)]
               for rank in ranks for axis in range(rank - 1)}
    for what, axes in places.items():
        for sizes in ((1, _LONG), (_LONG, 1))[:len(axes)] if len(axes) == 2 else ((1,), (_LONG,)):
            yield _resized(record, what, [[(k, n) for (rank, k), n in zip(axes, sizes, strict=True) if a.ndim == rank]
                                          for a in record.arrays], sizes)
    for length in sorted({n for array in record.arrays for n in array.shape} - {0, 1}):
        for n in (1, _LONG):
            yield _resized(record, f"axes of {length}", [[(k, n) for k, old in enumerate(a.shape) if old == length]
                                                         for a in record.arrays], (n,))


def _resized(record: Record, what: str, changes: list[list[tuple[int, int]]], sizes: tuple[int, ...]) -> Record:
    """The call with axes cut or repeated. changes: (axis, size) of each array."""
    made = []
    for array, resized in zip(record.arrays, changes, strict=True):
        for axis, n in resized:
            if array.shape[axis]:
                array = np.take(array, np.arange(n) % array.shape[axis], axis)
        made.append(array)
    return record.changed(f"{what} of size {' and '.join(map(str, sizes))}", arrays=tuple(made))


def _of_shapes(record: Record) -> Iterator[Record]:
    for i, array in enumerate(record.arrays):
        for shape in _shapes(array.shape, array.dtype.kind != "O"):
            yield record.with_array(i, np.resize(array, shape).astype(array.dtype) if array.size else
                                    np.ones(shape, array.dtype) if array.dtype.kind != "O" else _strings(shape),
                                    f"of shape {shape}")


def _strings(shape: tuple[int, ...]) -> np.ndarray:
    made = np.empty(shape, object)
    made.reshape(-1)[:] = b"a"
    return made


def _shapes(shape: tuple[int, ...], long: bool) -> list[tuple[int, ...]]:
    """Other shapes: scalar, vectors, a rank more and less, each axis empty, shorter, longer; very long if `long`."""
    found = [(), (0,), (1,), (2,), (1, *shape), (*shape, 1), (2, *shape), shape[1:], shape[:-1], (0, *shape), (1,) * 6,
             (2, 0, 3)]
    for axis, n in enumerate(shape):
        for other in {0, n - 1, n + 1, 1}:
            found.append((*shape[:axis], other, *shape[axis + 1:]))
    if shape and long:
        found.append((*shape[:-1], _HUGE) if np.prod(shape[:-1], dtype=int) * _HUGE < 10**6 else (_HUGE,))
    return [s for s in dict.fromkeys(found) if s != shape and all(n >= 0 for n in s)]


def _of_values(record: Record) -> Iterator[Record]:
    for i, array in enumerate(record.arrays):
        if not array.size:
            continue
        last, everywhere, element = array.dtype.kind != "O", array.size > 1, _element(array)
        for value in _NUMBERS[element.kind]:
            if element.kind in "iu" and not np.iinfo(element).min <= value <= np.iinfo(element).max:
                continue
            changed = array.copy()
            changed.reshape(-1)[-1 if last else 0] = value
            yield record.with_array(i, changed, f"with {value} at its end")
            if everywhere:
                yield record.with_array(i, np.full_like(array, value), f"all {value}")


def _element(array: np.ndarray) -> np.dtype:
    """Return the dtype of the numbers in an array: quantized elements are records of one integer."""
    return np.dtype(array.dtype[0] if array.dtype.names else array.dtype)


def _of_dtypes(record: Record) -> Iterator[Record]:
    for i, array in enumerate(record.arrays):
        for other in {"f": ("float64", "int32"), "i": ("int64", "int32", "uint8", "float32"), "b": ("int32",),
                      "u": ("int32", "float32"), "V": (_element(array).name,)}.get(array.dtype.kind, ()):
            if array.dtype.name != other:
                yield record.with_array(i, array.astype(other), f"as {other}")
    kinds = {a.dtype for a in record.arrays}
    for old, new in _TYPES:
        if np.dtype(old) in kinds:
            yield record.changed(f"all {old} as {new}", arrays=tuple(
                a.astype(new) if a.dtype == old else a for a in record.arrays))


def _of_attrs(record: Record) -> Iterator[Record]:
    spec = registry.find(record.op)
    for name in explicit(record.op):
        attr, given = spec.attr(name), record.attrs.get(name)
        for value in _attr_values(attr, given):
            if value != given:
                yield record.changed(f"{name}={value!r}", attrs={**record.attrs, name: value})


def _attr_values(attr: Any, given: Any) -> list[Any]:
    if attr.type == "int":
        return _INTS if not attr.name.startswith("seed") else [0]
    if attr.type == "bool":
        return [not given]
    if attr.type == "float":
        return _FLOATS
    if attr.type == "string":
        return [*(word.encode() for word in attr.allowed), b"bogus", b""]
    if attr.type == "list(int)":
        given = list(given or [])
        changed = [[*given[:i], n, *given[i + 1:]] for i in range(len(given)) for n in (0, -1, 2, 20_000, 2**31)]
        return [[], [1], given[:-1], [*given, 1], [0] * len(given), [2] * len(given), [-1] * len(given), *changed]
    if attr.type == "type":
        return ["int32", "float64", "int64", "string", *(kind for kind in ("quint8", "qint32") if kind in attr.allowed)]
    if attr.type == "shape":
        return [None, [], [0], [-1], [2, 3], [None, 7]]
    return []
