"""Difference between two checkpoints, or between two graphs."""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError, OpError
from tfnb.core.indexing import bin_counts
from tfnb.graph.formats.protos import make_ndarray
from tfnb.proto.mapped import map_of, release
from tfnb.saved_model.loader import model_file
from tfnb.tools.inspect import GRAPHS, Found, read_graph
from tfnb.tools.tensors import TensorFile, open_tensors

STRETCH = 1 << 20                                  # elements compared at once


def diff(a: Any, b: Any) -> Found:
    """Compare the files `a` and `b`: both checkpoints (see `open_tensors`), or both graphs or meta graphs.

    A dict: "kind"; "only a", "only b": names; "changed": for each name what changed; "equal": how many don't differ.
    Raises NotFoundError, DataLossError for files that are not there or damaged, InvalidArgumentError if one is a
    checkpoint and the other a graph.
    """
    first, second = _opened(a), _opened(b)
    if isinstance(first, TensorFile) and isinstance(second, TensorFile):
        return diff_tensors(first, second)
    if isinstance(first, TensorFile) or isinstance(second, TensorFile):
        raise InvalidArgumentError(None, None, f"one of {a} and {b} is a graph, the other is none")
    return diff_graphs(first, second)


def _opened(path: Any) -> Any:
    """A TensorFile, or the GraphDef of a file that holds one.

    Where the name does not tell, tensors are tried first: that reads no whole files, which may be large.
    """
    name = os.fsdecode(path)
    graph = read_graph(name) if name.endswith(GRAPHS) or model_file(name) is not None else None
    if graph is not None:
        return graph
    try:
        return open_tensors(name)
    except OpError:
        graph = read_graph(name)
        if graph is None:
            raise
        return graph


def diff_tensors(a: TensorFile, b: TensorFile) -> Found:
    """Compare the tensors of two files; for numbers give the largest change and the relative one in the L2 norm."""
    changed = {name: change for name, change in _changes(a, b) if change}
    common = a.tensors.keys() & b.tensors.keys()
    return {"kind": "checkpoint", "a": a.path, "b": b.path, "only a": sorted(a.tensors.keys() - b.tensors.keys()),
            "only b": sorted(b.tensors.keys() - a.tensors.keys()), "changed": changed,
            "equal": len(common) - len(changed)}


def _changes(a: TensorFile, b: TensorFile) -> Iterator[tuple[str, Found]]:
    for name in sorted(a.tensors.keys() & b.tensors.keys()):
        first, second = a.tensors[name], b.tensors[name]
        if first != second:
            yield name, {"dtype": [first.dtype.name, second.dtype.name], "shape": [list(first.shape),
                                                                                 list(second.shape)]}
        else:
            yield name, value_change(np.asarray(a.read(name)), np.asarray(b.read(name)))


@np.errstate(over="ignore", invalid="ignore")
def value_change(a: np.ndarray, b: np.ndarray) -> Found:
    """Compare two arrays of one shape: how many elements differ, and for numbers by how much; {} if none.

    "relative L2" is |b - a| / |a|, over the elements that are finite in both; NaN equals NaN. Of arrays that lie in
    files a stretch at a time is in memory.
    """
    if a.dtype == object:
        differ = int(np.count_nonzero(np.asarray(a != b)))
        return {"elements": differ, "of": int(a.size)} if differ else {}
    differ, largest, moved, norm, odd = 0, 0.0, 0.0, 0.0, [0, 0]
    for first, second in _stretches(a, b):
        differ += int(np.count_nonzero((first != second) & ~((first != first) & (second != second))))
        good, fine = np.isfinite(first), np.isfinite(second)
        odd = [odd[0] + int(np.count_nonzero(~good)), odd[1] + int(np.count_nonzero(~fine))]
        both = good & fine
        step, start = np.abs(second[both] - first[both]), np.abs(first[both])
        largest = max(largest, float(step.max(initial=0.0)))
        moved, norm = moved + float(np.sum(step * step)), norm + float(np.sum(start * start))
    if not differ:
        return {}
    return {"elements": differ, "of": int(a.size), "max change": largest,
            "relative L2": float(np.sqrt(moved / norm)) if norm else float("inf"), "not finite": odd}


def _stretches(*arrays: np.ndarray) -> Iterator[list[np.ndarray]]:
    """Arrays of one size as wide numbers, a stretch at a time; of those in files the rest may leave memory."""
    flat = [array.reshape(-1) for array in arrays]
    maps = [map_of(array) for array in flat]
    for begin in range(0, flat[0].size, STRETCH):
        parts = [each[begin:begin + STRETCH] for each in flat]
        yield [part.astype(np.complex128 if part.dtype.kind == "c" else np.float64) for part in parts]
        for mapped, part in zip(maps, parts, strict=True):
            if mapped is not None:
                release(mapped, part)


def histograms(a: np.ndarray, b: np.ndarray, bins: int = 24) -> tuple[float, float, tuple[int, ...], tuple[int, ...]]:
    """Least and greatest finite value of both arrays, and how many elements of each lie in equal parts of that range.

    Of complex numbers the absolute values count. The shapes may differ. Raises TypeError for strings.
    """
    if object in (a.dtype, b.dtype):
        raise TypeError("strings have no histogram")
    low, high = float("inf"), float("-inf")
    for array in (a, b):
        for part in _finite(array):
            low, high = min(low, float(part.min())), max(high, float(part.max()))
    if low > high:
        return 0.0, 0.0, (0,) * bins, (0,) * bins
    counts = [sum((bin_counts(part, low, high, bins) for part in _finite(array)), np.zeros(bins, np.int64))
              for array in (a, b)]
    return low, high, tuple(counts[0].tolist()), tuple(counts[1].tolist())


def _finite(array: np.ndarray) -> Iterator[np.ndarray]:
    for part, in _stretches(array):
        found = np.abs(part) if part.dtype.kind == "c" else part
        good = found[np.isfinite(found)]
        if good.size:
            yield good


def diff_graphs(a: Any, b: Any) -> Found:
    """Compare two GraphDefs: nodes of one only, and for each other node its type, inputs, device and attrs."""
    first, second = ({node.name: node for node in graph.node} for graph in (a, b))
    changed = {name: change for name in sorted(first.keys() & second.keys())
               if (change := _node_change(first[name], second[name]))}
    common = first.keys() & second.keys()
    return {"kind": "graph", "only a": sorted(first.keys() - second.keys()),
            "only b": sorted(second.keys() - first.keys()), "changed": changed, "equal": len(common) - len(changed)}


def _node_change(a: Any, b: Any) -> Found:
    change: Found = {key: [getattr(a, key), getattr(b, key)] for key in ("op", "device")
                     if getattr(a, key) != getattr(b, key)}
    if list(a.input) != list(b.input):
        change["input"] = [list(a.input), list(b.input)]
    for key in sorted({*a.attr, *b.attr}):
        if a.attr.get(key) != b.attr.get(key) and not key.startswith("_output_shapes"):
            change[key] = [_attr(proto.attr[key]) if key in proto.attr else None for proto in (a, b)]
    return change


def _attr(value: Any) -> Any:
    """An attr in a form that a person reads and JSON holds."""
    if value.WhichOneof("value") == "tensor":
        array = make_ndarray(value.tensor)
        return f"{array.dtype}{list(array.shape)} {np.array2string(array, threshold=6, edgeitems=2)}".replace("\n", "")
    return " ".join(str(value).split())
