"""Typical arguments of ops over sparse tensors, in row-major order as these ops expect them, and over sets."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.sweep_cases import Call, Case, Make, few

WIDTH = 3                                # features of a row that are crossed


def _sparse(columns: int = 100, *more: Any) -> Callable[[Make], Call]:
    return lambda m: ([*m.spans(columns), *more], {})


def _dense_of(m: Make) -> Call:
    indices, values, shape = m.spans(100)
    return [indices, shape, values, m.x()], {}


def _pair(m: Make) -> Call:
    return [*m.spans(100), *m.spans(100)], {}


def _slopes(m: Make) -> Call:
    a, b = m.spans(100)[0], m.spans(100)[0]
    every = np.unique(np.concatenate([a, b]), axis=0)
    return [m.x(len(every)), a, b, every], {}


def _features(m: Make) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a sparse column of WIDTH strings in each row (indices, values, shape), and a dense one of 2 strings."""
    rows = min(m.rows(30), 20_000)
    texts = np.array([b"word %d" % i for i in range(1000)], object)
    indices = np.stack(np.divmod(np.arange(rows * WIDTH), WIDTH), 1)
    return indices, texts[m.i(1000, len(indices))], np.array([rows, WIDTH]), texts[m.i(1000, rows, 2)]


def _cross(*more: Any, **attrs: Any) -> Callable[[Make], Call]:
    def call(m: Make) -> Call:
        indices, values, shape, dense = _features(m)
        return [[indices], [values], [shape], [dense], *more], attrs
    return call


def _key(hashed: bool) -> dict[str, Any]:
    kind = "int64" if hashed else "string"
    return {"hashed_output": hashed, "num_buckets": 1000, "hash_key": 17, "out_type": kind, "internal_type": kind}


def _sets(m: Make) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = few(m)
    return np.stack(np.divmod(np.arange(rows * 10), 10), 1), m.i(30, rows * 10), np.array([rows, 10])


CASES: dict[str, list[Case]] = {
    "SparseTensorDenseMatMul": [("1 %", lambda m: ([*m.spans(100), m.x(100, 32)], {}))],
    "SparseToDense": [("1 %", _dense_of)], "SparseReorder": [("1 %", _sparse())],
    "SparseReshape": [("1 %", lambda m: ([m.spans(100)[0], m.spans(100)[2], np.array([-1, 50])], {}))],
    "SparseFillEmptyRows": [("1 %", lambda m: ([*m.spans(100), m.x()], {}))],
    "SparseSoftmax": [("1 %", _sparse())], "SparseReduceSum": [("1 %", _sparse(100, [1]))],
    "SparseTensorDenseAdd": [("1 %", lambda m: ([*m.spans(100), m.x(m.rows(100), 100)], {}))],
    "SparseDenseCwiseMul": [("1 %", lambda m: ([*m.spans(100), m.x(m.rows(100), 100)], {}))],
    "SparseAdd": [("1 %", lambda m: ([*m.spans(100), *m.spans(100), 0.0], {}))],
    "SparseConcat": [("1 %", lambda m: ([[m.spans(100)[0]] * 2, [m.spans(100)[1]] * 2, [m.spans(100)[2]] * 2],
                                        {"concat_dim": 0}))],
    "DenseToDenseSetOperation": [("rows of 10", lambda m: ([m.i(30, few(m), 10), m.i(30, few(m), 10)],
                                                           {"set_operation": "intersection"}))],
    "DenseToSparseSetOperation": [("rows of 10", lambda m: ([m.i(30, few(m), 10), *_sets(m)],
                                                            {"set_operation": "a-b"}))],
    "SparseToSparseSetOperation": [("rows of 10", lambda m: ([*_sets(m), *_sets(m)], {"set_operation": "union"}))],
    "SparseAddGrad": [("1 %", _slopes)],
    "SparseSparseMaximum": [("1 %", _pair)], "SparseSparseMinimum": [("1 %", _pair)],
    "SparseCross": [("3 x 2 strings", _cross(**_key(False))), ("hashed 3 x 2 strings", _cross(**_key(True)))],
    "SparseCrossV2": [("3 x 2 strings", _cross(np.array(b"-", object)))],
    "SparseCrossHashed": [("3 x 2 strings", _cross(np.array(1000), np.array(False), np.array([1, 2]))),
                          ("strong 3 x 2 strings", _cross(np.array(1000), np.array(True), np.array([1, 2])))],
}
