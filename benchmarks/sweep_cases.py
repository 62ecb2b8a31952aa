"""Typical arguments of the ops whose shapes belong together: products, windows, gathers, segments, spaces, draws.

`CASES[op]` lists (label, fn(make) -> (inputs, attrs)). `make` has the number of elements that the largest input
should have, and the dtype. Inputs that are Python values become constants, arrays become variables (scalars only if
`Varying`).
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Call = tuple[list[Any], dict[str, Any]]
Case = tuple[str, Callable[["Make"], Call]]


class Varying:
    """A scalar that is a variable of the row's program, not a constant as other scalars."""

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value)


class Make:
    """Seeded arrays of a row: about `n` elements, of the NumPy dtype `dtype` ("bfloat16" is made as float32)."""

    def __init__(self, n: int, dtype: str) -> None:
        self.n, self.dtype = n, "float32" if dtype == "bfloat16" else dtype
        self.random = np.random.RandomState(11)

    @property
    def side(self) -> int:
        """The side of a square of `n` elements."""
        return max(2, math.isqrt(self.n))

    def rows(self, columns: int) -> int:
        """Return how many rows of `columns` elements there are in `n`."""
        return max(2, self.n // columns)

    def x(self, *shape: int) -> np.ndarray:
        """Return floats in (0.1, 0.9), integers from 1 to 9, or bools."""
        if self.dtype == "bool":
            return self.random.rand(*shape, 1)[..., 0] < 0.5
        if np.dtype(self.dtype).kind in "iu":
            return np.asarray(self.random.randint(1, 10, shape), self.dtype)
        return np.asarray(self.random.uniform(0.1, 0.9, shape), self.dtype)

    def scores(self, classes: int) -> tuple[np.ndarray, np.ndarray]:
        """Return float32 scores of classes in rows, and a class for each row."""
        rows = self.rows(classes)
        return self.random.standard_normal((rows, classes)).astype("f"), self.i(classes, rows)

    def normal(self, *shape: int) -> np.ndarray:
        """Return standard normal floats (other dtypes: as `x`)."""
        if np.dtype(self.dtype).kind != "f":
            return self.x(*shape)
        return self.random.standard_normal(shape).astype(self.dtype)

    def i(self, high: int, *shape: int, dtype: str = "int32") -> np.ndarray:
        """Return integers in [0, high)."""
        return self.random.randint(0, high, shape).astype(dtype)

    def sorted(self, high: int, size: int, dtype: str = "int32") -> np.ndarray:
        """Return sorted integers from 0 to high - 1, each at least once where size allows."""
        made = np.sort(self.random.randint(0, high, size))
        made[0], made[-1] = 0, high - 1
        return made.astype(dtype)

    def images(self, channels: int = 32) -> np.ndarray:
        """Return a batch of images: 32x32 (8x8 where there is little)."""
        side = 32 if self.n >= 32 * 32 * channels else 8 if self.n >= 64 * channels else 4
        return self.normal(max(1, self.n // (side * side * channels)), side, side, channels)

    def spans(self, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a sparse tensor of 1 % of (rows, columns), in order: indices, values, shape (int64)."""
        rows = self.rows(columns)
        flat = np.unique(self.random.randint(0, rows * columns, max(2, rows * columns // 100)))
        return np.stack([flat // columns, flat % columns], 1), self.x(len(flat)), np.array([rows, columns])


def _window(kernel: int, stride: int = 1, padding: bytes = b"SAME", **more: Any) -> dict[str, Any]:
    return {"ksize": [1, kernel, kernel, 1], "strides": [1, stride, stride, 1], "padding": padding, **more}


def _conv(kernel: int, channels: int, filters: int, stride: int = 1, **more: Any) -> Callable[[Make], Call]:
    attrs = {"strides": [1, stride, stride, 1], "padding": b"SAME", **more}
    return lambda m: ([small(m).images(channels), small(m).normal(kernel, kernel, channels, filters)], attrs)


def small(m: Make, n: int = 2**18) -> Make:
    """Return the same with at most `n` elements: for ops that compute much for each."""
    made = Make(min(m.n, n), m.dtype)
    return made


def _depthwise(kernel: int, channels: int) -> Callable[[Make], Call]:
    return lambda m: ([small(m, 2**20).images(channels), m.normal(kernel, kernel, channels, 1)],
                      {"strides": [1, 1, 1, 1], "padding": b"SAME"})


def _matrices(m: Make, k: int, shift: float = 0.0) -> np.ndarray:
    """Matrices of side k; shift: of the diagonal."""
    return (m.normal(max(1, m.n // (k * k)), k, k) + shift * np.eye(k)).astype(m.dtype)


def _spd(m: Make, k: int) -> np.ndarray:
    a = _matrices(m, k)
    return (a @ a.swapaxes(-1, -2) + k * np.eye(k)).astype(m.dtype)


def _norm(channels: int, training: bool) -> Callable[[Make], Call]:
    def made(m: Make) -> Call:
        size = [channels] if not training else [0]
        return [m.images(channels), m.x(channels), m.x(channels), m.x(*size), m.x(*size)], {"is_training": training}
    return made


def _pad(mode: dict[str, Any], *value: Any) -> list[Case]:
    return [("matrix", lambda m: ([m.x(m.side, m.side), [[1, 1], [2, 2]], *value], mode)),
            ("images", lambda m: ([m.images(16), [[0, 0], [1, 1], [1, 1], [0, 0]], *value], mode))]


def _segments(ids: Callable[[Make, int], list[Any]]) -> list[Case]:
    return [(f"{columns} columns", lambda m, columns=columns: ([m.x(m.rows(columns), columns), *ids(  # type: ignore[misc]
        m, m.rows(columns))], {})) for columns in (1, 64)]


def _unsorted(m: Make, rows: int) -> list[Any]:
    return [m.i(max(2, rows // 8), rows), max(2, rows // 8)]


def _sparse_segments(more: bool) -> list[Case]:
    def made(m: Make) -> Call:
        rows = m.rows(64)
        return [m.x(rows, 64), m.i(rows, rows), m.sorted(max(2, rows // 8), rows), *[max(2, rows // 8)] * more], {}
    return [("64 columns", made)]


def _scattered(m: Make) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = m.rows(64)
    count = max(2, rows // 4)
    return m.x(rows, 64), m.i(rows, count, 1), m.x(count, 64)


def _stitched(m: Make) -> Call:
    rows, order = m.rows(64), m.random.permutation(m.rows(64)).astype("int32")
    return [[order[:rows // 2], order[rows // 2:]], [m.x(rows // 2, 64), m.x(rows - rows // 2, 64)]], {}


def _volumes(m: Make) -> np.ndarray:
    n = min(m.n, 2**18)
    return m.normal(max(1, n // 4096), 8, 8, 8, 8) if n >= 4096 else m.normal(1, 2, 2, 2, 8)


def _boxes(m: Make) -> tuple[np.ndarray, np.ndarray]:
    count = max(4, min(m.n // 4, 1000))
    corner = m.random.rand(count, 2).astype("f")
    return np.concatenate([corner, corner + 0.2], 1), m.random.rand(count).astype("f")


def _sizes(image: np.ndarray, factor: float) -> list[int]:
    return [max(1, int(s * factor)) for s in image.shape[1:3]]


def _resize(factor: float) -> Callable[[Make], Call]:
    def made(m: Make) -> Call:
        image = small(m, 2**20).images(3)
        return [image, _sizes(image, factor)], {}
    return made


def _pool_gradient(kernel: int, stride: int) -> Callable[[Make], Call]:
    def made(m: Make) -> Call:
        image = m.images()
        out = -(-image.shape[1] // stride)
        y = np.full((len(image), out, out, 32), 3.0, m.dtype)
        return [image, y, m.x(*y.shape)], _window(kernel, stride)
    return made


def _select(m: Make) -> Call:
    return [m.random.rand(m.side, m.side) < 0.5, m.x(m.side, m.side), m.x(m.side, m.side)], {}


def _labels(m: Make) -> Call:
    return [m.normal(m.rows(100), 100), m.i(100, m.rows(100))], {}


def _drawn(*inputs: Any) -> list[Case]:
    return [("", lambda m: ([[m.rows(8), 8], np.array([1, 2]), *inputs], {}))]


def _sampler(**more: Any) -> list[Case]:
    return [("64 of 50000", lambda m: ([m.i(50_000, 128, 1, dtype="int64")], {
        "num_true": 1, "num_sampled": 64, "unique": True, "range_max": 50_000, **more}))]


def _words(m: Make) -> np.ndarray:
    return np.array([b"%d.25" % i for i in range(max(4, min(m.n // 4, 20_000)))], object)


def few(m: Make) -> int:
    """Return how many strings, or rows of 10 elements, a batch of a pipeline has: 32 to 1,000."""
    return max(32, min(m.n // 100, 1000))


def _lines(m: Make, mark: bytes) -> np.ndarray:
    """Return strings of 10 numbers with marks between."""
    made = np.empty(few(m), object)
    made[:] = [mark.join(b"%.4f" % x for x in row) for row in m.random.standard_normal((len(made), 10))]
    return made


def _lookup(ops: Sequence[str], *cases: Case) -> dict[str, list[Case]]:
    return {op: list(cases) for op in ops}


_GATHERS: list[Case] = [
    ("rows of 64", lambda m: ([m.x(m.rows(64), 64), m.i(m.rows(64), m.rows(64)), 0], {})),
    ("columns", lambda m: ([m.x(m.rows(64), 64), m.i(64, 64), 1], {})),
    ("elements", lambda m: ([m.x(m.n), m.i(m.n, m.n), 0], {}))]
_STRIDED: dict[str, Any] = {"begin_mask": 0, "end_mask": 0}

CASES: dict[str, list[Case]] = {
    "MatMul": [("square", lambda m: ([small(m).normal(small(m).side, small(m).side)] * 2, {})),
               ("batch x 64", lambda m: ([m.normal(m.rows(64), 64), m.normal(64, 64)], {})),
               ("vector", lambda m: ([m.normal(m.side, m.side), m.normal(m.side, 1)], {})),
               ("transposed", lambda m: ([m.normal(64, m.rows(64)), m.normal(64, 32)], {"transpose_a": True}))],
    **_lookup(["BatchMatMul", "BatchMatMulV2"],
              ("16x16", lambda m: ([_matrices(small(m), 16), _matrices(small(m), 16)], {}))),
    "Einsum": [("bij,bjk->bik", lambda m: ([[_matrices(small(m), 16)] * 2], {"equation": b"bij,bjk->bik"}))],
    "Conv2D": [("3x3 32-32", _conv(3, 32, 32)), ("5x5 32-32", _conv(5, 32, 32)), ("1x1 64-64", _conv(1, 64, 64)),
               ("3x3 stride 2 16-32", _conv(3, 16, 32, 2)), ("7x7 3-32", _conv(7, 3, 32))],
    "Conv3D": [("3x3x3 8-8", lambda m: ([_volumes(m), m.normal(3, 3, 3, 8, 8)],
                                        {"strides": [1] * 5, "padding": b"SAME"}))],
    "DepthwiseConv2dNative": [("3x3", _depthwise(3, 32)), ("5x5", _depthwise(5, 32))],
    "MaxPool": [(f"{k}x{k} stride {s}", lambda m, k=k, s=s: ([m.images()], _window(k, s)))  # type: ignore[misc]
                for k, s in ((2, 2), (3, 2), (3, 1))],
    "AvgPool": [(f"{k}x{k} stride {s}", lambda m, k=k, s=s: ([m.images()], _window(k, s)))  # type: ignore[misc]
                for k, s in ((2, 2), (3, 2), (3, 1))],
    "MaxPoolGrad": [("2x2", _pool_gradient(2, 2)), ("3x3 stride 1", _pool_gradient(3, 1))],
    "MaxPoolWithArgmax": [("2x2", lambda m: ([m.images()], _window(2, 2)))],
    "LRN": [("", lambda m: ([m.images()], {}))],
    **{f"FusedBatchNorm{v}": [("training", _norm(32, True)), ("inference", _norm(32, False)),
                              ("training, 3 channels", _norm(3, True))] for v in ("", "V3")},
    **_lookup(["SoftmaxCrossEntropyWithLogits"],
              ("100 classes", lambda m: ([m.normal(m.rows(100), 100), m.x(m.rows(100), 100)], {}))),
    "SparseSoftmaxCrossEntropyWithLogits": [("100 classes", _labels)],
    "InTopK": [("5 of 100", lambda m: (list(m.scores(100)), {"k": 5}))],
    "InTopKV2": [("5 of 100", lambda m: ([*m.scores(100), 5], {}))],
    "TopKV2": [("5 of 100", lambda m: ([m.normal(m.rows(100), 100), 5], {})),
               ("1 of 1000", lambda m: ([m.normal(m.rows(1000), 1000), 1], {})),
               ("10 of all", lambda m: ([m.normal(m.n), 10], {})),
               ("sort 1000", lambda m: ([m.normal(m.rows(1000), 1000), 1000], {}))],
    "NthElement": [("10 of 1000", lambda m: ([m.normal(m.rows(1000), 1000), 10], {}))],
    **{f"Segment{kind}": _segments(lambda m, rows: [m.sorted(max(2, rows // 8), rows)])
       for kind in ("Sum", "Mean", "Max", "Min", "Prod")},
    **{f"UnsortedSegment{kind}": _segments(_unsorted) for kind in ("Sum", "Max", "Min", "Prod")},
    **{f"SparseSegment{kind}": _sparse_segments(False) for kind in ("Sum", "Mean", "SqrtN")},
    **{f"SparseSegment{kind}WithNumSegments": _sparse_segments(True) for kind in ("Sum", "Mean", "SqrtN")},
    "GatherV2": _GATHERS, "Gather": [(label, lambda m, fn=fn: (fn(m)[0][:2], {})) for label, fn in (  # type: ignore[misc]
        _GATHERS[0], _GATHERS[2])],
    "GatherNd": [("rows of 64", lambda m: ([m.x(m.rows(64), 64), m.i(m.rows(64), m.rows(64), 1)], {})),
                 ("elements", lambda m: ([m.x(m.side, m.side), m.i(m.side, m.n, 2)], {}))],
    "ScatterNd": [("rows of 64", lambda m: ([*_scattered(m)[1:], [m.rows(64), 64]], {}))],
    **_lookup(["TensorScatterAdd", "TensorScatterUpdate", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin"],
              ("rows of 64", lambda m: (list(_scattered(m)), {}))),
    "DynamicPartition": [("64 columns", lambda m: ([m.x(m.rows(64), 64), m.i(4, m.rows(64))], {"num_partitions": 4}))],
    **_lookup(["DynamicStitch", "ParallelDynamicStitch"], ("64 columns", _stitched)),
    "OneHot": [("depth 100", lambda m: ([m.i(100, m.rows(100)), 100, m.x(), m.x()], {}))],
    "Where": [("half", lambda m: ([m.random.rand(m.side, m.side) < 0.5], {}))],
    "Unique": [("100 values", lambda m: ([m.i(100, m.n)], {})), ("all different", lambda m: ([m.i(2**30, m.n)], {}))],
    "UniqueWithCounts": [("100 values", lambda m: ([m.i(100, m.n)], {}))],
    "ListDiff": [("", lambda m: ([m.i(1000, m.n), m.i(1000, 100)], {}))],
    "Range": [("", lambda m: ([0, Varying(np.int32(m.n)), 1], {}))],
    "Fill": [("", lambda m: ([np.array([m.rows(8), 8], np.int32), Varying(m.x())], {}))],
    "LinSpace": [("", lambda m: ([Varying(np.float32(0)), 1.0, m.n], {}))],
    **_lookup(["InvertPermutation"], ("", lambda m: ([m.random.permutation(m.n).astype("int32")], {}))),
    **_lookup(["LowerBound", "UpperBound"], ("", lambda m: (
        [np.sort(m.x(1, 1000)), m.x(1, m.n)], {}))),
    "Bincount": [("100 bins", lambda m: ([m.i(100, m.n), 100, m.x(0)], {}))],
    "HistogramFixedWidth": [("100 bins", lambda m: ([m.x(m.n), np.array([0, 1], m.dtype), 100], {}))],
    "Bucketize": [("", lambda m: ([m.x(m.n)], {"boundaries": [0.1, 0.3, 0.5, 0.7]}))],
    **_lookup(["MatrixBandPart"], ("triangle", lambda m: ([m.x(m.side, m.side), -1, 0], {})),
              ("batch", lambda m: ([_matrices(m, 8), 1, 1], {}))),
    **_lookup(["MatrixDiag"], ("", lambda m: ([m.x(max(1, m.n // 256), 16)], {}))),
    **_lookup(["MatrixDiagPart"], ("", lambda m: ([_matrices(m, 16)], {}))),
    "MatrixSetDiag": [("", lambda m: ([_matrices(m, 16), m.x(max(1, m.n // 256), 16)], {}))],
    "Diag": [("", lambda m: ([m.x(m.side)], {}))], "DiagPart": [("", lambda m: ([m.x(m.side, m.side)], {}))],
    **_lookup(["Select", "SelectV2"], ("", _select)),
    "Transpose": [("matrix", lambda m: ([m.x(m.side, m.side), [1, 0]], {})),
                  ("NHWC to NCHW", lambda m: ([m.images(), [0, 3, 1, 2]], {})),
                  ("heads", lambda m: ([m.x(max(1, m.n // 1024), 16, 4, 16), [0, 2, 1, 3]], {}))],
    "ReverseV2": [("first", lambda m: ([m.x(m.side, m.side), [0]], {})), ("last", lambda m: (
        [m.x(m.side, m.side), [1]], {}))],
    "ReverseSequence": [("", lambda m: ([m.x(max(1, m.n // 1024), 16, 64), m.i(16, max(1, m.n // 1024))],
                                        {"seq_dim": 1}))],
    "Roll": [("first", lambda m: ([m.x(m.side, m.side), 3, 0], {})), ("last", lambda m: (
        [m.x(m.side, m.side), 3, 1], {}))],
    "Tile": [("rows", lambda m: ([m.x(1, m.rows(8)), [8, 1]], {})), ("columns", lambda m: (
        [m.x(m.rows(8), 1), [1, 8]], {}))],
    "Pad": _pad({}), "PadV2": _pad({}, 0.5), "MirrorPad": _pad({"mode": b"REFLECT"}),
    **_lookup(["ConcatV2"], ("rows", lambda m: ([[m.x(m.rows(128), 64)] * 2, 0], {})),
              ("columns", lambda m: ([[m.x(m.rows(128), 64)] * 2, 1], {}))),
    "Pack": [("first", lambda m: ([[m.x(m.rows(4))] * 4], {"axis": 0})), ("last", lambda m: (
        [[m.x(m.rows(4))] * 4], {"axis": 1}))],
    "Unpack": [("first", lambda m: ([m.x(4, m.rows(4))], {"num": 4})), ("last", lambda m: (
        [m.x(m.rows(4), 4)], {"num": 4, "axis": 1}))],
    "Split": [("columns", lambda m: ([1, m.x(m.rows(64), 64)], {"num_split": 4}))],
    "SplitV": [("columns", lambda m: ([m.x(m.rows(64), 64), [16, 48], 1], {"num_split": 2}))],
    "Slice": [("rows", lambda m: ([m.x(m.rows(64), 64), [1, 0], [m.rows(64) // 2, 64]], {})),
              ("columns", lambda m: ([m.x(m.rows(64), 64), [0, 8], [m.rows(64), 32]], {}))],
    "StridedSlice": [("every other row", lambda m: ([m.x(m.rows(64), 64), [0, 0], [m.rows(64), 64], [2, 1]], _STRIDED)),
                     ("every other column", lambda m: ([m.x(m.rows(64), 64), [0, 0], [m.rows(64), 64], [1, 2]],
                                                       _STRIDED))],
    "Reshape": [("", lambda m: ([m.x(m.rows(64), 64), [-1]], {}))],
    "ExpandDims": [("", lambda m: ([m.x(m.n), 0], {}))], "Squeeze": [("", lambda m: ([m.x(1, m.n)], {}))],
    "BroadcastTo": [("rows", lambda m: ([m.x(64), [m.rows(64), 64]], {}))],
    **_lookup(["Cumsum", "Cumprod", "CumulativeLogsumexp"], *[
        (label, lambda m, axis=axis: ([m.x(m.side, m.side), axis], {})) for label, axis in (  # type: ignore[misc]
            ("first", 0), ("last", 1))]),
    **_lookup(["ArgMax", "ArgMin"], *[
        (label, lambda m, axis=axis: ([m.normal(m.rows(100), 100), axis], {})) for label, axis in (  # type: ignore[misc]
            ("first", 0), ("last", 1))]),
    **_lookup(["SpaceToDepth", "DepthToSpace"], ("", lambda m: ([m.images()], {"block_size": 2}))),
    "SpaceToBatchND": [("", lambda m: ([m.images(), [2, 2], [[0, 0], [0, 0]]], {}))],
    "ExtractImagePatches": [("3x3", lambda m: ([small(m).images(3)], {
        "ksizes": [1, 3, 3, 1], "strides": [1] * 4, "rates": [1] * 4, "padding": b"SAME"}))],
    "Dilation2D": [("3x3", lambda m: ([small(m).images(8), m.x(3, 3, 8)], {
        "strides": [1] * 4, "rates": [1] * 4, "padding": b"SAME"}))],
    "Cross": [("", lambda m: ([m.x(m.n // 3, 3), m.x(m.n // 3, 3)], {}))],
    "AddN": [("3", lambda m: ([[m.x(m.n // 2)] * 3], {}))],
    "AccumulateNV2": [("3", lambda m: ([[m.x(m.n // 2)] * 3], {"shape": [m.n // 2]}))],
    **_lookup(["BiasAdd", "BiasAddV1"], ("64 columns", lambda m: ([m.x(m.rows(64), 64), m.x(64)], {}))),
    "ClipByValue": [("", lambda m: ([m.x(m.n), m.x(), m.x() + m.x()], {}))],
    **_lookup(["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"],
              ("up", _resize(2)), ("down", _resize(0.5))),
    "CropAndResize": [("16x16", lambda m: ([small(m).images(3), _boxes(small(m, 128))[0], m.i(1, len(
        _boxes(small(m, 128))[0])), [16, 16]], {}))],
    "NonMaxSuppressionV3": [("", lambda m: ([*_boxes(m), 20, 0.5, 0.1], {}))],
    **_lookup(["RGBToHSV", "HSVToRGB"], ("", lambda m: ([m.images(3)], {}))),
    **_lookup(["AdjustHue", "AdjustSaturation", "AdjustContrastv2"], ("", lambda m: ([m.images(3), 0.3], {}))),
    **_lookup(["Cholesky"], ("8x8", lambda m: ([_spd(small(m, 2**16), 8)], {})),
              ("128x128", lambda m: ([_spd(small(m, 2**14), 128)], {}))),
    **_lookup(["MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "Qr", "Svd", "Lu"],
              ("8x8", lambda m: ([_matrices(small(m, 2**16), 8, 4)], {}))),
    "SelfAdjointEigV2": [("8x8", lambda m: ([_spd(small(m, 2**16), 8)], {}))],
    "MatrixSolve": [("8x8", lambda m: ([_matrices(small(m, 2**16), 8, 4), _matrices(small(m, 2**16), 8)], {}))],
    "MatrixTriangularSolve": [("8x8", lambda m: ([_spd(small(m, 2**16), 8), _matrices(small(m, 2**16), 8)], {})),
                              ("128x128", lambda m: ([_spd(small(m, 2**14), 128), m.normal(1, 128, 128)], {}))],
    **_lookup(["FFT", "IFFT"], ("1024", lambda m: ([m.normal(max(1, m.n // 1024), 1024).astype("complex64")], {}))),
    "RFFT": [("1024", lambda m: ([m.normal(max(1, m.n // 1024), 1024), [1024]], {}))],
    **_lookup(["RandomUniform", "RandomStandardNormal", "TruncatedNormal"],
              ("", lambda m: ([[m.rows(8), 8]], {"dtype": m.dtype}))),
    "RandomUniformInt": [("", lambda m: ([[m.n], 0, 100], {}))],
    "RandomGamma": [("", lambda m: ([[small(m).rows(64)], small(m).x(64)], {}))],
    "RandomPoissonV2": [("", lambda m: ([[small(m).rows(64)], small(m).x(64)], {}))],
    "RandomShuffle": [("64 columns", lambda m: ([m.x(m.rows(64), 64)], {}))],
    "Multinomial": [("of 100", lambda m: ([m.normal(small(m).rows(100), 100), 10], {}))],
    **{name: _drawn() for name in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal")},
    "StatelessRandomUniformInt": _drawn(0, 100),
    # Learned counts: examples of few classes, repeated, make a distribution of which 64 different ones take minutes
    **{f"{name}CandidateSampler": _sampler() for name in (
        "Uniform", "LogUniform", "LearnedUnigram", "ThreadUnsafeUnigram")},
    "FixedUnigramCandidateSampler": _sampler(unigrams=[1.0] * 50_000),
    "ComputeAccidentalHits": [("", lambda m: ([m.i(50_000, 128, 1, dtype="int64"), m.i(50_000, 64, dtype="int64")],
                                              {"num_true": 1}))],
    "StringToNumber": [("", lambda m: ([_words(m)], {"out_type": "float32"}))],
    "AsString": [("", lambda m: ([small(m, 20_000).x(small(m, 20_000).n)], {}))],
    "StringJoin": [("", lambda m: ([[_words(m), _words(m)]], {}))],
    "StringToHashBucketFast": [("", lambda m: ([_words(m)], {"num_buckets": 1000}))],
    "StringLength": [("", lambda m: ([_words(m)], {}))], "StringUpper": [("", lambda m: ([_words(m)], {}))],
    "Substr": [("", lambda m: ([_words(m), 0, 2], {}))],
    "DecodeCSV": [("10 columns", lambda m: ([_lines(m, b","), [np.float32([0])] * 10], {}))],
    "StringSplit": [("10 words", lambda m: ([_lines(m, b" "), np.array(b" ", object)], {}))],
    "StaticRegexReplace": [("class", lambda m: ([_lines(m, b" ")], {"pattern": "[.,]", "rewrite": "_"}))],
    "DecodeRaw": [("", lambda m: ([np.array(m.x(m.n).tobytes(), object)], {"out_type": m.dtype}))],
    "CTCLoss": [("", lambda m: ([m.normal(20, 4, 12), np.array([[b, t] for b in range(4) for t in range(3)]),
                                 m.i(10, 12), np.full(4, 20, np.int32)], {}))],
}
