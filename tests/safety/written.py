"""Calls of the ops that no other test has samples of: (inputs, attrs). Python numbers are float32 or int32."""
from __future__ import annotations

import io
import zlib
from typing import Any

import numpy as np

from tfnb.core.dtypes import as_dtype
from tfnb.graph.formats.protos import make_tensor_proto

_random = np.random.default_rng(7)


def _f(*shape: int) -> np.ndarray:
    return _random.uniform(0.1, 0.9, shape).astype(np.float32)


def _text(*items: bytes) -> np.ndarray:
    made = np.empty(len(items), object)
    made[:] = items
    return made


def _word(item: bytes) -> np.ndarray:
    return _text(item).reshape(())


_IMAGE, _POOLED = _f(1, 4, 5, 2), _f(1, 2, 3, 2)
_VOLUME = _f(1, 3, 4, 4, 2)
_BOXES = np.array([[0, 0, 1, 1], [0.1, 0.1, 0.9, 0.8]], np.float32)
_POOL: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": b"SAME"}
_MORPHOLOGY: dict[str, Any] = {"strides": [1] * 4, "rates": [1] * 4, "padding": b"SAME"}
_POOL3: dict[str, Any] = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": b"SAME"}
_LONG = np.int64
_WINDOW = [1, 2, 2, 1]
_SEQUENCES = [np.array([0, 2, 4], _LONG), np.array([0, 1, 3, 5], _LONG)]
_PROJECTION = np.array([[1, 0.2, -0.5, 0.1, 0.9, 0.7, 0.01, 0.02]], np.float32)
_SPARSE = [np.array([[0, 1], [2, 0]], _LONG), _f(2), np.array([3, 2], _LONG)]         # of shape [3, 2]

_CROSSED = [[np.array([[0, 0], [1, 0], [1, 1]], _LONG)], [_text(b"a", b"b", b"c")], [np.array([2, 2], _LONG)],
            [np.array([[5], [6]], _LONG)]]
_SETS = [_SPARSE[0], np.array([3, 4], np.int32), _SPARSE[2]]
_UNORDERED = np.array([[3, 1, 3], [2, 5, 2]], np.int32)


def _pool(x: np.ndarray, axes: int) -> np.ndarray:
    """Maxima of windows of 2, SAME."""
    for axis in range(1, axes + 1):
        pad = [(0, x.shape[a] % 2 if a == axis else 0) for a in range(x.ndim)]
        x = np.pad(x, pad, constant_values=-9)
        x = np.maximum.reduceat(x, range(0, x.shape[axis], 2), axis)
    return x


def _png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    header = (2).to_bytes(4, "big") + (2).to_bytes(4, "big") + bytes([8, 0, 0, 0, 0])
    pixels = zlib.compress(b"\0\1\2\0\3\4")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def _encoded(kind: str) -> bytes:
    from PIL import Image
    made = io.BytesIO()
    Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3)).save(made, kind)
    return made.getvalue()


def _q(*shape: int, kind: str = "quint8") -> np.ndarray:
    """Quantized elements."""
    dtype = as_dtype(kind).as_numpy_dtype
    return (np.arange(np.prod(shape, dtype=int)) * 7 % 120).astype(dtype[0]).view(dtype).reshape(shape)


_SCORES = np.array([0.9, 0.5], np.float32)
_LOW, _HIGH = np.float32(-1), np.float32(2)
_RANGE, _RANGES = [_LOW, _HIGH], [_LOW, _HIGH, np.float32(-0.5), np.float32(3)]
_SIZES = {"seed": 1, "seed2": 2}
_SAMPLER = {"num_true": 1, "num_sampled": 3, "unique": True, "range_max": 20, "seed": 1, "seed2": 1}
_LSTM = [_f(2, 3), _f(2, 4), _f(2, 4), _f(7, 16), _f(4), _f(4), _f(4), _f(16)]
_GRU = [_f(2, 3), _f(2, 4), _f(7, 8), _f(7, 4), _f(8), _f(4)]

WRITTEN: dict[str, list[tuple[list[Any], dict[str, Any]]]] = {
    "RefIdentity": [([_f(2)], {})], "ToBool": [([_f(2)], {}), ([_word(b"a")], {})],
    "AccumulateNV2": [([[_f(2, 3), _f(2, 3)]], {"shape": [2, 3]})], "Empty": [([[2, 3]], {"dtype": "float32"})],
    "ScatterNdNonAliasingAdd": [([_f(4, 2), [[1], [0]], _f(2, 2)], {})],
    "SparseSegmentMeanGrad": [([_f(2, 3), [0, 2, 2], [0, 0, 1], 4], {})],
    "StringNGrams": [([_text(b"a", b"b", b"c"), np.array([0, 1, 3], _LONG)],
                      {"separator": b" ", "ngram_widths": [1, 2], "left_pad": b"", "right_pad": b"", "pad_width": 0,
                       "preserve_short_sequences": False})],
    "UnicodeDecode": [([_text(b"ab", b"\xff")], {"input_encoding": b"UTF-8"})],
    "UnicodeDecodeWithOffsets": [([_text(b"ab", b"\xc3\xa9")], {"input_encoding": b"UTF-8"})],
    "UnicodeEncode": [([np.array([97, 233], np.int32), np.array([0, 1, 2], _LONG)],
                       {"output_encoding": b"UTF-8"})],
    "NthElement": [([_f(3, 4), 1], {}), ([_f(3, 4), 1], {"reverse": True})],
    "PopulationCount": [([[3, 5]], {})], "DeepCopy": [([_f(2)], {})], "Snapshot": [([_f(2)], {})],
    **{f"Inplace{kind}": [([_f(3, 2), [0, 2], _f(2, 2)], {})] for kind in ("Add", "Sub", "Update")},
    "ParallelConcat": [([[_f(1, 2), _f(1, 2)]], {"shape": [2, 2]})],
    "DataFormatDimMap": [([[0, 3]], {})],
    "DataFormatVecPermute": [([[1, 2, 3, 4]], {}), ([[1, 2]], {})],
    "Einsum": [([[_f(2, 3), _f(3, 2)]], {"equation": b"ij,jk->ik"})],
    **{f"Dilation2D{kind}": [([_IMAGE, _f(2, 2, 2), *more], _MORPHOLOGY)] for kind, more in (
        ("", []), ("BackpropInput", [_IMAGE]), ("BackpropFilter", [_IMAGE]))},
    "DecodePaddedRaw": [([_text(b"abcdef", b"xy"), 4], {"out_type": "int16"})],
    "DeserializeSparse": [([_text(*[array.SerializeToString() for array in map(make_tensor_proto, _SPARSE)])],
                           {"dtype": "float32"})],
    "SparseCrossV2": [([*_CROSSED, _word(b"-")], {})],
    "SparseCrossHashed": [([*_CROSSED, _LONG(10), False, np.array([1, 2], _LONG)], {}),
                          ([*_CROSSED, _LONG(0), True, np.array([1, 2], _LONG)], {})],
    "BroadcastGradientArgs": [([[2, 3], [3]], {})], "BroadcastArgs": [([[2, 3], [3]], {})],
    "Shape": [([_f(2, 3)], {})], "ShapeN": [([[_f(2, 3), _f(4)]], {})], "Size": [([_f(2, 3)], {})],
    "Rank": [([_f(2, 3)], {})], "InvertPermutation": [([[2, 0, 1]], {})],
    "Roll": [([_f(3, 4), [1, 2], [0, 1]], {}), ([_f(3, 4, 2), 1, 1], {})],
    "ConcatOffset": [([1, [np.array([2, 3], np.int32), np.array([2, 4], np.int32)]], {})],
    **{name: [([_f(3, 1), _f(2)], {})] for name in ("IgammaGradA", "RandomGammaGrad")},
    **{name: [([_f(3, 2)], {})] for name in ("FresnelSin", "FresnelCos")},
    **{name: [([np.array([[3]], _LONG)], {**_SAMPLER, "range_max": 5})]
       for name in ("LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler")},
    "SobolSample": [([2, 3, 1], {})],
    "StatelessRandomBinomial": [([[2, 2], [1, 2], [9.0, 90.0], [0.3, 0.6]], {})],
    "FixedUnigramCandidateSampler": [([np.array([[3]], _LONG)], {**_SAMPLER, "range_max": 5, "unigrams": [1.0] * 5})],
    "AllCandidateSampler": [([np.array([[3]], _LONG)], {**{
        key: value for key, value in _SAMPLER.items() if key != "range_max"}})],
    "RandomGamma": [([[2, 3], _f(4)], _SIZES)],
    **{name: [([[2, 3], _f(4)], _SIZES)] for name in ("RandomPoisson", "RandomPoissonV2")},
    **{name: [([[2, 3], [1, 2]], {})] for name in (
        "StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal",
        "StatelessRandomUniformFullInt")},
    "StatelessRandomUniformInt": [([[2, 3], [1, 2], 0, 5], {})],
    "StatelessMultinomial": [([_f(2, 3), 4, [1, 2]], {})],
    "StatelessRandomGammaV2": [([[2, 3], [1, 2], _f(3)], {})],
    "StatelessRandomPoisson": [([[2, 3], [1, 2], _f(3)], {"dtype": "float32"})],
    "Where": [([np.array([[True, False], [True, True]])], {})],
    "Unique": [([[3, 1, 3, 2]], {})], "ListDiff": [([[3, 1, 3, 2], [1, 5]], {})],
    "LinSpace": [([0.0, 1.0, 5], {})], "Range": [([0, 10, 3], {}), ([0.0, 1.0, 0.25], {})],
    "SparseToDense": [([[[0, 1], [1, 0]], [2, 3], [1.0, 2.0], 0.5], {})],
    "EditDistance": [([np.array([[0, 0], [0, 1]], _LONG), [1, 2], np.array([1, 2], _LONG),
                       np.array([[0, 0]], _LONG), [1], np.array([1, 1], _LONG)], {})],
    "DecodeRaw": [([_text(b"\1\0\2\0", b"\3\0\4\0")], {"out_type": "int16"})],
    "StringToNumber": [([_text(b"1.5", b"-2")], {"out_type": "float32"})],
    "AsString": [([[1.5, -2.0]], {})], "StringSplit": [([_text(b"a b", b"c"), _word(b" ")], {})],
    "DecodeBase64": [([_text(b"YQ", b"YWJj")], {})], "EncodeBase64": [([_text(b"a", b"abc")], {})],
    "DecodeCSV": [([_text(b"1,a", b"2,b"), [np.array([1], np.int32), _text(b"x")]], {})],
    "MergeSummary": [([[_word(b"\n\3\n\1a"), _word(b"\n\3\n\1b")]], {})],
    "TensorSummaryV2": [([_word(b"a"), _f(2, 3), _word(b"")], {})],
    "StridedSliceAssign": [([_f(3, 4), [0, 1], [2, 4], [1, 2], _f(2, 2)], {})],
    "StringJoin": [([[_text(b"a", b"b"), _word(b"c")]], {})],
    "StaticRegexFullMatch": [([_text(b"ab", b"c")], {"pattern": b"a.*"})],
    "Substr": [([_text(b"hello", b"world"), 1, 3], {}),
               ([_text(b"hello", b"world"), np.array(1, _LONG), np.array(3, _LONG)], {})],
    "ScalarSummary": [([_text(b"a", b"b"), [1.0, 2.0]], {})], "HistogramSummary": [([_word(b"a"), [1.0, 2.0]], {})],
    "ImageSummary": [([_word(b"a"), _f(1, 2, 2, 3)], {})],
    "AudioSummaryV2": [([_word(b"a"), _f(1, 8, 1), np.float32(8000).reshape(())], {})],
    "AudioSummary": [([_word(b"a"), _f(1, 8, 1)], {"sample_rate": 8000.0})],
    "TensorScatterMax": [([_f(4, 2), [[1], [0]], _f(2, 2)], {})],
    "TensorScatterMin": [([_f(4, 2), [[1], [0]], _f(2, 2)], {})],
    "RandomUniform": [([[2, 3]], {"dtype": "float32", **_SIZES})],
    "RandomStandardNormal": [([[2, 3]], {"dtype": "float32", **_SIZES})],
    "TruncatedNormal": [([[2, 3]], {"dtype": "float32", **_SIZES})],
    "RandomUniformInt": [([[2, 3], 0, 10], _SIZES)], "RandomShuffle": [([_f(5, 2)], _SIZES)],
    "Multinomial": [([_f(2, 4), 3], _SIZES)],
    **{name: [([_IMAGE, [3, 7]], {}), ([_IMAGE, [3, 7]], {"align_corners": True})]
       for name in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea")},
    **{name: [([_f(1, 3, 7, 2), _IMAGE], {})] for name in ("ResizeBilinearGrad", "ResizeBicubicGrad")},
    "ResizeNearestNeighborGrad": [([_f(1, 3, 7, 2), [4, 5]], {})],
    "CropAndResize": [([_IMAGE, _BOXES, [0, 0], [3, 2]], {}),
                      ([_IMAGE, _BOXES, [0, 0], [3, 2]], {"method": b"nearest"})],
    "CropAndResizeGradImage": [([_f(2, 3, 2, 2), _BOXES, [0, 0], [1, 4, 5, 2]], {"T": "float32"})],
    "CropAndResizeGradBoxes": [([_f(2, 3, 2, 2), _IMAGE, _BOXES, [0, 0]], {})],
    "NonMaxSuppression": [([_BOXES, _SCORES, 2], {})], "NonMaxSuppressionV2": [([_BOXES, _SCORES, 2, 0.5], {})],
    "NonMaxSuppressionV3": [([_BOXES, _SCORES, 2, 0.5, 0.1], {})],
    "NonMaxSuppressionV4": [([_BOXES, _SCORES, 2, 0.5, 0.1], {})],
    "NonMaxSuppressionV5": [([_BOXES, _SCORES, 2, 0.5, 0.1, 0.0], {})],
    "NonMaxSuppressionWithOverlaps": [([np.array([[1, 0.3], [0.3, 1]], np.float32), _SCORES, 2, 0.5, 0.1], {})],
    "SampleDistortedBoundingBox": [([[8, 8, 3], np.array([[[0, 0, 1, 1]]], np.float32)], _SIZES)],
    "SampleDistortedBoundingBoxV2": [([[8, 8, 3], np.array([[[0, 0, 1, 1]]], np.float32), 0.1], _SIZES)],
    "DrawBoundingBoxes": [([_f(1, 4, 5, 3), _BOXES[None]], {})],
    "DrawBoundingBoxesV2": [([_f(1, 4, 5, 3), _BOXES[None], np.array([[1, 0, 0]], np.float32)], {})],
    **{name: [([_IMAGE, [2, 2], np.array([[0.1, 0.2]], np.float32)], {})]
       for name in ("ExtractGlimpse", "ExtractGlimpseV2")},
    "ImageProjectiveTransformV2": [([_IMAGE, _PROJECTION, [3, 3]], {"interpolation": b"BILINEAR"}),
                                   ([_IMAGE, _PROJECTION, [3, 3]], {"interpolation": b"NEAREST"})],
    "ScaleAndTranslate": [([_IMAGE, [3, 3], _f(2), _f(2)], {})],
    "ScaleAndTranslateGrad": [([_f(1, 3, 3, 2), _IMAGE, _f(2), _f(2)], {})],
    "CombinedNonMaxSuppression": [([_BOXES[None, :, None], _f(1, 2, 3), 2, 4, 0.5, 0.1], {})],
    "RGBToHSV": [([_f(2, 2, 3)], {})], "HSVToRGB": [([_f(2, 2, 3)], {})],
    "AdjustHue": [([_f(2, 2, 3), 0.2], {})], "AdjustSaturation": [([_f(2, 2, 3), 0.5], {})],
    "AdjustContrastv2": [([_f(2, 2, 3), 0.5], {})],
    "DecodeJpeg": [([_word(_encoded("JPEG"))], {})], "DecodePng": [([_word(_png())], {})],
    "DecodeAndCropJpeg": [([_word(_encoded("JPEG")), [1, 1, 2, 2]], {})],
    "DecodeGif": [([_word(_encoded("GIF"))], {})], "DecodeBmp": [([_word(_encoded("BMP"))], {})],
    "DecodeImage": [([_word(_png())], {})], "ExtractJpegShape": [([_word(_encoded("JPEG"))], {})],
    "EncodeJpeg": [([np.zeros((2, 2, 3), np.uint8)], {})],
    "EncodeJpegVariableQuality": [([np.zeros((2, 2, 3), np.uint8), 90], {})],
    "EncodePng": [([np.zeros((2, 2, 3), np.uint8)], {})],
    "MaxPool": [([_IMAGE], _POOL), ([_f(1, 2, 4, 5)], {
        "ksize": [1, 1, 2, 2], "strides": [1, 1, 1, 2], "padding": b"VALID", "data_format": b"NCHW"})],
    "AvgPool": [([_IMAGE], _POOL)], "MaxPoolGrad": [([_IMAGE, _pool(_IMAGE, 2), _POOLED], _POOL)],
    "AvgPoolGrad": [([[1, 4, 5, 2], _POOLED], _POOL)],
    "MaxPoolGradGrad": [([_IMAGE, _pool(_IMAGE, 2), _IMAGE], _POOL)],
    "MaxPoolWithArgmax": [([_IMAGE], _POOL)],
    "MaxPoolGradWithArgmax": [([_IMAGE, _POOLED, np.arange(12, dtype=np.int64).reshape(1, 2, 3, 2)], _POOL)],
    "MaxPoolGradGradWithArgmax": [([_IMAGE, _IMAGE, np.arange(12, dtype=np.int64).reshape(1, 2, 3, 2)], _POOL)],
    "MaxPoolV2": [([_IMAGE, _WINDOW, _WINDOW], {"padding": b"SAME"})],
    "MaxPoolGradV2": [([_IMAGE, _pool(_IMAGE, 2), _POOLED, _WINDOW, _WINDOW], {"padding": b"SAME"})],
    "MaxPoolGradGradV2": [([_IMAGE, _pool(_IMAGE, 2), _IMAGE, _WINDOW, _WINDOW], {"padding": b"SAME"})],
    **{f"Fractional{kind}Pool": [([_IMAGE], {"pooling_ratio": [1.0, 1.5, 1.5, 1.0], "deterministic": True, "seed": 3})]
       for kind in ("Max", "Avg")},
    "FractionalMaxPoolGrad": [([_IMAGE, _f(1, 2, 3, 2), _f(1, 2, 3, 2), *_SEQUENCES], {})],
    "FractionalAvgPoolGrad": [([np.array([1, 4, 5, 2], _LONG), _f(1, 2, 3, 2), *_SEQUENCES], {})],
    "Reverse": [([_f(2, 3), np.array([True, False])], {})],
    "LRN": [([_IMAGE], {})], "LRNGrad": [([_IMAGE, _IMAGE, _IMAGE], {})],
    "MaxPool3D": [([_VOLUME], _POOL3)], "AvgPool3D": [([_VOLUME], _POOL3)],
    "MaxPool3DGrad": [([_VOLUME, _pool(_VOLUME, 3), _f(1, 2, 2, 2, 2)], _POOL3)],
    "AvgPool3DGrad": [([[1, 3, 4, 4, 2], _f(1, 2, 2, 2, 2)], _POOL3)],
    "MaxPool3DGradGrad": [([_VOLUME, _pool(_VOLUME, 3), _VOLUME], _POOL3)],
    "Conv2D": [([_IMAGE, _f(3, 3, 2, 3)], {"strides": [1, 1, 1, 1], "padding": b"SAME"}),
               ([_IMAGE, _f(2, 2, 2, 3)], {"strides": [1, 2, 1, 1], "padding": b"EXPLICIT",
                                           "explicit_paddings": [0, 0, 1, 0, 2, 1, 0, 0]}),
               ([_IMAGE, _f(2, 2, 2, 3)], {"strides": [1, 1, 1, 1], "padding": b"VALID", "dilations": [1, 2, 2, 1]})],
    "DepthwiseConv2dNative": [([_IMAGE, _f(3, 3, 2, 2)], {"strides": [1, 1, 1, 1], "padding": b"SAME"})],
    "TridiagonalSolve": [([_f(3, 4), _f(4, 2)], {})], "BandedTriangularSolve": [([_f(2, 4), _f(4, 2)], {})],
    "TridiagonalMatMul": [([_f(1, 4), _f(1, 4), _f(1, 4), _f(4, 2)], {})],
    "MatrixExponential": [([_f(3, 3)], {})],
    "SelfAdjointEig": [([np.array([[2, 1], [1, 3]], np.float32)], {})],
    "CholeskyGrad": [([np.array([[1, 0], [2, 3]], np.float32), _f(2, 2)], {})],
    "CTCLossV2": [([_f(4, 2, 3), np.array([[0, 0], [1, 0], [1, 1]], _LONG), np.array([1, 2, 1], np.int32),
                    np.array([4, 4], np.int32)], {})],
    "MatrixLogarithm": [([np.eye(3, dtype=np.complex64)], {})],
    "MatrixSolveLs": [([_f(4, 3), _f(4, 2), np.array(0.1)], {})],
    "InTopK": [([_f(2, 4), [1, 3]], {"k": 2})], "InTopKV2": [([_f(2, 4), [1, 3], 2], {})],
    **{f"FusedBatchNorm{v}": [([_IMAGE, _f(2), _f(2), np.zeros(0, np.float32), np.zeros(0, np.float32)], {}),
                              ([_IMAGE, _f(2), _f(2), _f(2), _f(2)], {"is_training": False})]
       for v in ("", "V2", "V3")},
    "FusedBatchNormGrad": [([_IMAGE, _IMAGE, _f(2), _f(2), _f(2)], {})],
    "FusedBatchNormGradV3": [([_IMAGE, _IMAGE, _f(2), _f(2), _f(2), _f(2)], {})],
    "LogUniformCandidateSampler": [([np.array([[1], [2]], _LONG)], _SAMPLER)],
    "UniformCandidateSampler": [([np.array([[1], [2]], _LONG)], _SAMPLER)],
    "SparseTensorDenseAdd": [([*_SPARSE, _f(3, 2)], {})], "SparseTensorDenseMatMul": [([*_SPARSE, _f(2, 4)], {})],
    **{name: [([_UNORDERED, np.array([1], _LONG)], {})] for name in ("UniqueV2", "UniqueWithCountsV2")},
    "RegexReplace": [([_text(b"ab", b"c"), _word(b"a(.)"), _word(b"x\\1")], {})],
    "RegexFullMatch": [([_text(b"ab", b"c"), _word(b"a.*")], {})],
    "SparseAddGrad": [([_f(2), np.array([[0, 1]], _LONG), np.array([[0, 1], [2, 0]], _LONG), _SPARSE[0]], {})],
    "SparseSliceGrad": [([_f(1), _SPARSE[0], np.array([1, 0], _LONG), np.array([[1, 0]], _LONG)], {})],
    "SparseFillEmptyRowsGrad": [([np.array([0, 2], _LONG), _f(3)], {})],
    "DenseToSparseSetOperation": [([np.array([[1, 2], [3, 4], [5, 5]], np.int32), *_SETS],
                                   {"set_operation": operation}) for operation in (b"a-b", b"union")],
    "SparseToSparseSetOperation": [([*_SETS, *_SETS], {"set_operation": b"intersection"})],
    "StringSplitV2": [([_text(b"a b", b"c"), _word(b" ")], {}),
                      ([_text(b"a<>b", b"c"), _word(b"<>")], {"maxsplit": 1})],
    "NonDeterministicInts": [([[2, 3]], {})],
    "QuantizeAndDequantizeV2": [([_f(3, 4), *_RANGE], {"range_given": True}), ([_f(3, 4), *_RANGE], {})],
    "QuantizeAndDequantizeV3": [([_f(3, 4), *_RANGE, 8], {}),
                                ([_f(3, 2), _f(2) - 1, _f(2) + 1, 8], {"axis": 1})],
    **{f"Quantized{name}": [([_q(2, 3), _q(*shape), *_RANGES], {})]
       for name, shape in (("Add", (3,)), ("Mul", (2, 3)), ("MatMul", (3, 4)))},
    "QuantizedBiasAdd": [([_q(2, 3), _q(3), *_RANGES], {"out_type": "qint32"})],
    **{name: [([_q(2, 3), *_RANGE], {}), ([_q(2, 3, kind="qint32"), *_RANGE], {"out_type": "qint32"})]
       for name in ("QuantizedRelu", "QuantizedRelu6")},
    "QuantizedReshape": [([_q(2, 3), [3, 2], *_RANGE], {})],
    "QuantizeDownAndShrinkRange": [([_q(2, 3, kind="qint32"), *_RANGE], {"out_type": "quint8"})],
    "Requantize": [([_q(2, 3, kind="qint32"), *_RANGE, *_RANGE], {"out_type": "quint8"})],
    "RequantizationRange": [([_q(2, 3, kind="qint32"), *_RANGE], {})],
    "RequantizationRangePerChannel": [([_q(2, 3, kind="qint32"), _f(3) - 1, _f(3) + 1], {"clip_value_max": 6.0})],
    "ComputeAccidentalHits": [([np.array([[1], [2]], _LONG), np.array([2, 5], _LONG)], {"num_true": 1})],
    "NearestNeighbors": [([_f(5, 3), _f(4, 3), _LONG(2)], {})],
    "KMC2ChainInitialization": [([_f(5), _LONG(2)], {})],
    "KmeansPlusPlusInitialization": [([_f(5, 3), _LONG(2), _LONG(1), _LONG(-1)], {})],
    "LSTMBlockCell": [(_LSTM, {"use_peephole": True}), (_LSTM, {"cell_clip": 0.2})],
    "LSTMBlockCellGrad": [([*_LSTM, *[_f(2, 4) for _ in range(8)]], {"use_peephole": peephole})
                          for peephole in (False, True)],
    "GRUBlockCell": [(_GRU, {})], "GRUBlockCellGrad": [([*_GRU, *[_f(2, 4) for _ in range(4)]], {})],
    "ParameterizedTruncatedNormal": [([[2, 3], _f(2), _f(2), -_f(2), _f(2)], _SIZES)],
    "StatelessParameterizedTruncatedNormal": [([[2, 3], [1, 2], _f(3), _f(), -_f(3), _f()], {})],
    **{name: [([_LONG(2), _f(3, 2, 3), *_LSTM[1:]], {})] for name in ("BlockLSTM", "BlockLSTMV2")},
    **{name: [([_LONG(2), _f(3, 2, 3), *_LSTM[1:], *[_f(3, 2, 4) for _ in range(9)]], {"use_peephole": True})]
       for name in ("BlockLSTMGrad", "BlockLSTMGradV2")},
}
