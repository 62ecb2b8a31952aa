"""What differs between two checkpoints, or between two graphs."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError
from tfnb.graph.export import make_ndarray
from tfnb.tools.inspect import Found, read_graph
from tfnb.tools.tensors import TensorFile, open_tensors


def diff(a: Any, b: Any) -> Found:
    """How the files `a` and `b` differ: both checkpoints (see `open_tensors`), or both graphs or meta graphs.

    A dict: "kind"; "only a", "only b": names; "changed": for each name what changed; "equal": how many don't differ.
    Raises NotFoundError, DataLossError for files that are not there or damaged, InvalidArgumentError if one is a
    checkpoint and the other a graph.
    """
    graphs = [read_graph(path) for path in (a, b)]
    if all(graph is not None for graph in graphs):
        return diff_graphs(*graphs)
    if any(graph is not None for graph in graphs):
        raise InvalidArgumentError(None, None, f"one of {a} and {b} is a graph, the other is none")
    return diff_tensors(open_tensors(a), open_tensors(b))


def diff_tensors(a: TensorFile, b: TensorFile) -> Found:
    """How the tensors of two files differ; of numbers the largest change and the relative one in the L2 norm."""
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


def value_change(a: np.ndarray, b: np.ndarray) -> Found:
    """How two arrays of one shape differ: how many elements, and for numbers by how much; {} if they don't.

    "relative L2" is |b - a| / |a|, over the elements that are finite in both; NaN equals NaN.
    """
    same = a == b
    if a.dtype.kind in "fcV" and a.dtype != object:
        with np.errstate(invalid="ignore"):
            same = same | ((a != a) & (b != b))
    if np.all(same):
        return {}
    change: Found = {"elements": int(np.size(same) - np.count_nonzero(same)), "of": int(np.size(same))}
    if a.dtype != object:
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        first, second = a.astype(wide), b.astype(wide)
        finite = np.isfinite(first) & np.isfinite(second)
        step, start = np.abs(second[finite] - first[finite]), np.abs(first[finite])
        norm = float(np.sqrt(np.sum(start * start)))
        change["max change"] = float(step.max()) if step.size else 0.0
        change["relative L2"] = float(np.sqrt(np.sum(step * step))) / norm if norm else float("inf")
        change["not finite"] = [int(np.count_nonzero(~np.isfinite(v))) for v in (first, second)]
    return change


def diff_graphs(a: Any, b: Any) -> Found:
    """How two GraphDefs differ: nodes of one only, and for each other node its type, inputs, device and attrs."""
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


