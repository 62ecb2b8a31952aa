"""Every differentiable op that is declared: its derivatives, first and second, against finite differences."""
from __future__ import annotations

import zlib

import numpy as np
import pytest

import tfnb as tf
from tests.autodiff.lists import LISTS
from tests.domains import points
from tests.every_op import OPS
from tests.samples import functions
from tfnb.autodiff.gradients import is_trainable
from tfnb.core.options import options
from tfnb.opdef import kinds
from tfnb.ops.declaration.raw import raw

STEP = 1e-5
NO_SECOND = {
    **dict.fromkeys(("Enter", "Exit", "NextIteration"), "as in TensorFlow, loops have one order only"),
    **dict.fromkeys((f"TensorArray{name}V3" for name in ("Read", "Write", "Gather", "Scatter", "Split", "Concat")),
                    "as in TensorFlow, gradients of a TensorArray have none"),
    "CTCLoss": "as in TensorFlow, its gradient is fused and has none",
    **dict.fromkeys(("Igamma", "Igammac"), "as in TensorFlow, IgammaGradA has no gradient"),
    **dict.fromkeys(("Batch", "Unbatch"), "as in TensorFlow, UnbatchGrad has no gradient"),
    "Zeta": "its derivative is defined by TensorFlow for one order only",
}
NOT_CHECKED = {
    **dict.fromkeys(("RefSwitch", "RefMerge", "RefEnter", "RefExit", "RefNextIteration", "RefIdentity"),
                    "they are those of Switch, Merge, Enter, Exit, NextIteration and Identity, for references"),

    **dict.fromkeys(("RandomGamma", "StatelessRandomGammaV2"),
                    "it keeps the CDF of a sample, not what it was drawn by: see tests/ops/test_random_samples.py"),
    **dict.fromkeys((f"FakeQuantWithMinMax{kind}" for kind in ("Args", "Vars", "VarsPerChannel")),
                    "a straight-through estimator: see tests/ops/test_morphology.py"),
    **dict.fromkeys(("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3"),
                    "a straight-through estimator: see tests/ops/test_quantized.py"),
    "SparseMatMul": "it has no double precision: see tests/ops/test_morphology.py",
    "LRN": "it has no double precision: see tests/ops/test_conv.py",
    "CTCLossV2": "it has no double precision: see tests/ops/test_ctc.py",
    **dict.fromkeys(("LSTMBlockCell", "GRUBlockCell", "BlockLSTM", "BlockLSTMV2"),
                    "they have no double precision: see tests/ops/test_block_cells.py"),
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
                    "they have no double precision: see tests/layers/test_batch_norm.py"),
    **dict.fromkeys(("MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad"),
                    "they have no double precision: see tests/ops/test_conv3d.py"),
    "ScaleAndTranslate": "it has no double precision: see tests/ops/test_image_transforms.py",
    **dict.fromkeys(("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"),
                    "they have no double precision: see tests/ops/test_image_resize.py"),
    "CropAndResize": "it has no double precision: see tests/ops/test_image_boxes.py",
    "RGBToHSV": "its kinks are between all colors: see tests/ops/test_image_color.py",
    **dict.fromkeys(("ReadVariableOp", "ResourceGather"),
                    "they read a variable, not what is fed: see tests/ops/test_resource_variables.py"),
    "PreventGradient": "its gradient is an error: see test_gradients.py",
    **dict.fromkeys((f"{kind}FFT{axes}" for kind in ("", "I", "R", "IR") for axes in ("", "2D", "3D")),
                    "their spectra are complex: see tests/ops/test_fourier.py"),
}


def sampled(domain, shape, random):
    """Points well inside of where an op may be sampled, away from where steps meet kinks."""
    u = random.uniform(0.1, 0.9, shape)
    sign = random.choice([-1.0, 1.0], shape)
    return points(domain, u, sign, inside=True)


def both(x, y):
    z = tf.complex(x, y)
    return tf.real(z * z) + tf.imag(z) * 3.0


IMAGE, FILTER, GRADIENT = (2, 4, 5, 3), (3, 2, 3, 4), (2, 2, 5, 4)
CONV = {"strides": [1, 2, 1, 1], "padding": "SAME"}
POOL = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "padding": "SAME"}
SIZES, SAME, ARGMAX = ([1, 3, 2, 1], [1, 2, 1, 1]), {"padding": "SAME"}, np.arange(60).reshape(2, 2, 5, 3) % 30
VOLUME, FILTER3, GRADIENT3 = (1, 3, 4, 2, 3), (2, 3, 2, 3, 4), (1, 3, 2, 2, 4)
CONV3 = {"strides": [1, 1, 2, 1, 1], "padding": "SAME"}
POOL3 = {"ksize": [1, 2, 3, 2, 1], "strides": [1, 1, 2, 1, 1], "padding": "SAME"}


def branch(x):
    return tf.cond(tf.reduce_sum(x) < 1e9, lambda: x * x, lambda: x)


def loop(x):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1]


def arrays(x):
    array = tf.TensorArray(tf.float64, 2, clear_after_read=False).unstack(x * x)
    written = tf.TensorArray(tf.float64, 2).write(0, array.read(1)).write(1, array.read(0) * array.read(1))
    return written.stack()


def pieces(x):
    return tf.TensorArray(tf.float64, 2, infer_shape=False).split(x * x, [1, 2]).concat()


# op name -> [(function of tensors, shapes of its inputs)]
IMAGES = {
    "Conv2D": [(lambda x, f: raw.Conv2D(x, f, **CONV), [IMAGE, FILTER])],
    "Conv2DBackpropInput": [(lambda f, dy: raw.Conv2DBackpropInput(IMAGE, f, dy, **CONV), [FILTER, GRADIENT])],
    "Conv2DBackpropFilter": [(lambda x, dy: raw.Conv2DBackpropFilter(x, FILTER, dy, **CONV), [IMAGE, GRADIENT])],
    "DepthwiseConv2dNative": [(lambda x, f: raw.DepthwiseConv2dNative(x, f, strides=[1, 2, 2, 1], padding="SAME"),
                               [IMAGE, FILTER])],
    "DepthwiseConv2dNativeBackpropInput": [
        (lambda f, dy: raw.DepthwiseConv2dNativeBackpropInput(IMAGE, f, dy, strides=[1, 2, 2, 1], padding="SAME"),
         [FILTER, (2, 2, 3, 12)])],
    "DepthwiseConv2dNativeBackpropFilter": [
        (lambda x, dy: raw.DepthwiseConv2dNativeBackpropFilter(x, FILTER, dy, strides=[1, 2, 2, 1], padding="SAME"),
         [IMAGE, (2, 2, 3, 12)])],
    "MaxPool": [(lambda x: raw.MaxPool(x, **POOL), [IMAGE])],
    "MaxPoolGrad": [(lambda x, dy: raw.MaxPoolGrad(x, raw.MaxPool(x, **POOL), dy, **POOL), [IMAGE, (2, 2, 5, 3)])],
    "MaxPoolGradV2": [(lambda x, dy: raw.MaxPoolGradV2(x, raw.MaxPoolV2(x, *SIZES, **SAME), dy, *SIZES, **SAME),
                       [IMAGE, (2, 2, 5, 3)])],
    "MaxPoolGradGradV2": [(lambda x, dz: raw.MaxPoolGradGradV2(x, raw.MaxPoolV2(x, *SIZES, **SAME), dz, *SIZES, **SAME),
                           [IMAGE, IMAGE])],
    "MaxPoolGradWithArgmax": [(lambda dy: raw.MaxPoolGradWithArgmax(np.zeros(IMAGE), dy, ARGMAX, **POOL),
                               [(2, 2, 5, 3)])],
    "MaxPoolGradGradWithArgmax": [(lambda dz: raw.MaxPoolGradGradWithArgmax(np.zeros(IMAGE), dz, ARGMAX, **POOL),
                                   [IMAGE])],
    "MaxPoolGradGrad": [(lambda x, dz: raw.MaxPoolGradGrad(x, raw.MaxPool(x, **POOL), dz, **POOL), [IMAGE, IMAGE])],
    "ExtractImagePatches": [(lambda x: raw.ExtractImagePatches(x, ksizes=[1, 2, 3, 1], strides=[1, 2, 1, 1],
                                                               rates=[1, 1, 2, 1], padding="SAME"), [IMAGE])],
    "MaxPoolWithArgmax": [(lambda x: raw.MaxPoolWithArgmax(x, **POOL)[0], [IMAGE])],
    "AvgPool": [(lambda x: raw.AvgPool(x, **POOL), [IMAGE])],
    "AvgPoolGrad": [(lambda dy: raw.AvgPoolGrad(IMAGE, dy, **POOL), [(2, 2, 5, 3)])],
    "Conv3D": [(lambda x, f: raw.Conv3D(x, f, **CONV3), [VOLUME, FILTER3])],
    "Conv3DBackpropInputV2": [
        (lambda f, dy: raw.Conv3DBackpropInputV2(VOLUME, f, dy, **CONV3), [FILTER3, GRADIENT3])],
    "Conv3DBackpropFilterV2": [
        (lambda x, dy: raw.Conv3DBackpropFilterV2(x, FILTER3, dy, **CONV3), [VOLUME, GRADIENT3])],
    "AvgPool3D": [(lambda x: raw.AvgPool3D(x, **POOL3), [VOLUME])],
    "AvgPool3DGrad": [(lambda dy: raw.AvgPool3DGrad(VOLUME, dy, **POOL3), [(1, 3, 2, 2, 3)])],
}
SQUARES, FOUR, WEIGHTS = (2, 3, 3), 4 * np.eye(3), np.array([1.0, -2.0, 3.0])


def spectrum(x):
    """What does not depend on the signs of the vectors."""
    e, v = raw.SelfAdjointEigV2(x + tf.matrix_transpose(x) + np.diag([1.0, 5.0, 9.0]))
    return tf.matmul(v * (e[..., None, :] * WEIGHTS), v, adjoint_b=True)


def singular(x):
    s, u, v = raw.Svd(x)
    return tf.matmul(u * (s[..., None, :] * WEIGHTS[:2]), v, adjoint_b=True)


def triangles(x):
    q, r = raw.Qr(x)
    return tf.concat([tf.transpose(q), 2.0 * r], -1)


MATRICES = {
    "MatrixInverse": [(lambda x, a=a: raw.MatrixInverse(x + FOUR, adjoint=a), [SQUARES]) for a in (False, True)],
    "MatrixDeterminant": [(lambda x: raw.MatrixDeterminant(x + FOUR), [SQUARES])],
    "LogMatrixDeterminant": [(lambda x: raw.LogMatrixDeterminant(x + FOUR)[1], [SQUARES])],
    "Cholesky": [(lambda x: raw.Cholesky(tf.matmul(x, x, adjoint_b=True) + FOUR), [SQUARES])],
    "MatrixSolve": [(lambda x, y, a=a: raw.MatrixSolve(x + FOUR, y, adjoint=a), [SQUARES, (2, 3, 2)])
                    for a in (False, True)],
    "MatrixTriangularSolve": [(lambda x, y, a=a, lower=lower: raw.MatrixTriangularSolve(x + FOUR, y, lower=lower,
                                                                                       adjoint=a), [SQUARES, (3, 2)])
                              for a in (False, True) for lower in (False, True)],
    "BandedTriangularSolve": [(lambda x, y, a=a, lower=lower: raw.BandedTriangularSolve(x + 3.0, y, lower=lower,
                                                                                       adjoint=a), [(2, 3), (3, 2)])
                              for a in (False, True) for lower in (False, True)],
    "TridiagonalSolve": [(lambda x, y: raw.TridiagonalSolve(x + [[0.0], [5.0], [0.0]], y), [(2, 3, 4), (2, 4, 2)])],
    "TridiagonalMatMul": [(lambda a, b, c, x: raw.TridiagonalMatMul(a, b, c, x), [(1, 4)] * 3 + [(4, 2)])],
    "MatrixSquareRoot": [(lambda x: raw.MatrixSquareRoot(tf.matmul(x, x, adjoint_b=True) + FOUR), [SQUARES])],
    "MatrixBandPart": [(lambda x: raw.MatrixBandPart(x, 1, 0), [SQUARES])],
    "Cross": [(lambda x, y: raw.Cross(x, y), [(2, 3), (2, 3)])],
    "SelfAdjointEigV2": [(spectrum, [SQUARES]), (lambda x: raw.SelfAdjointEigV2(
        x + tf.matrix_transpose(x) + FOUR, compute_v=False)[0], [(3, 3)])],
    "Svd": [(singular, [(2, 3)]), (singular, [(3, 2)]), (lambda x: raw.Svd(x, compute_uv=False)[0], [(2, 3)])],
    "Qr": [(triangles, [(3, 3)]), (triangles, [(4, 2)]), (lambda x: raw.Qr(x)[1], [(2, 4)])],
}
A, B, ROW, COLUMN, ONE, CUBE = (2, 3), (2, 3), (3,), (2, 1), (), (2, 3, 4)
# op name -> [(function of tensors, shapes of its inputs)]; ops of the regular kinds need none
SAMPLES = {
    **IMAGES, **LISTS, **MATRICES,
    "Cast": [(lambda x: raw.Cast(x, DstT="float64"), [A])], "Snapshot": [(raw.Snapshot, [A])],
    "NthElement": [(lambda x, r=r: raw.NthElement(x, 1, reverse=r), [CUBE]) for r in (False, True)],
    "Einsum": [(lambda x, y, e=e: raw.Einsum([x, y], equation=e), [(2, 3), (3, 4)]) for e in ("ij,jk->ki", "ij,jk->i")],
    "SelectV2": [(lambda x, y: raw.SelectV2([[True, False, True]], x, y), [A, ROW])],
    "ClipByValue": [(lambda x, lo, hi: raw.ClipByValue(x, lo - 1.2, hi + 1.2), [A, ONE, ONE])],
    "Conj": [(lambda x: tf.real(raw.Conj(tf.complex(x, x * 2.0)) * tf.complex(x, x)), [A])],
    "Real": [(both, [A, B])], "Imag": [(both, [A, B])], "Complex": [(both, [A, B])],
    "ComplexAbs": [(lambda x, y: tf.abs(tf.complex(x, y)), [A, B])],
    "Angle": [(lambda x, y: tf.angle(tf.complex(x, y)), [A, B])],
    "ConjugateTranspose": [(lambda x: tf.imag(raw.ConjugateTranspose(tf.complex(x, x * x), [1, 0])), [A])],
    "AccumulateNV2": [(lambda x, y: raw.AccumulateNV2([x, y], shape=[None, 3]), [A, A])],
    "IdentityN": [(lambda x, y: raw.IdentityN([x, y]), [A, ROW])],
    "EnsureShape": [(lambda x: raw.EnsureShape(x, shape=[2, 3]), [A])],
    "CheckNumerics": [(lambda x: raw.CheckNumerics(x, message="m"), [A])],
    "Print": [(lambda x: raw.Print(x, [], message="", first_n=0), [A])],
    "StridedSliceGrad": [(lambda dy: raw.StridedSliceGrad([5, 3], [1, 0], [3, 3], [1, 1], dy), [A])],
    "Split": [(lambda x: raw.Split(1, x, num_split=3), [A])],
    "SplitV": [(lambda x: raw.SplitV(x, [1, 2], 1, num_split=2), [A])],
    "ConcatV2": [(lambda x, y: raw.ConcatV2([x, y], -1), [A, COLUMN])],
    "Concat": [(lambda x, y: raw.Concat(1, [x, y]), [A, COLUMN])],
    "Pack": [(lambda x, y: raw.Pack([x, y], axis=1), [A, B])],
    "Unpack": [(lambda x: raw.Unpack(x, num=3, axis=1), [A])],
    "Tile": [(lambda x: raw.Tile(x, [2, 3]), [A])],
    "Pad": [(lambda x: raw.Pad(x, [[1, 2], [0, 1]]), [A])],
    "PadV2": [(lambda x, y: raw.PadV2(x, [[1, 2], [0, 1]], y), [A, ONE])],
    "MirrorPad": [(lambda x, m=m: raw.MirrorPad(x, [[1, 1], [2, 1]], mode=m), [A]) for m in ("REFLECT", "SYMMETRIC")],
    "MirrorPadGrad": [(lambda x: raw.MirrorPadGrad(x, [[0, 1], [1, 1]], mode="SYMMETRIC"), [(3, 5)])],
    **{name: [(lambda x, y, name=name: getattr(raw, name)(x, [[1], [0]], y), [CUBE, CUBE])]
       for name in ("TensorScatterAdd", "TensorScatterSub", "TensorScatterUpdate")},
    "ReverseSequence": [(lambda x: raw.ReverseSequence(x, [3, 1], seq_dim=1), [CUBE])],
    "AddN": [(lambda x, y: raw.AddN([x, y, x]), [A, B])],
    "Fill": [(lambda x: raw.Fill([2, 3], x), [ONE])],
    "ZerosLike": [(lambda x: raw.ZerosLike(x) + x, [A])], "OnesLike": [(lambda x: raw.OnesLike(x) + x, [A])],
    "Diag": [(raw.Diag, [ROW])] if "Diag" in OPS else [],
    "DiagPart": [(lambda x: raw.DiagPart(x), [(3, 3)])],
    "MatrixDiag": [(lambda x: raw.MatrixDiag(x), [A])],
    "MatrixDiagPart": [(lambda x: raw.MatrixDiagPart(x), [(2, 3, 3)])],
    "Select": [(lambda x, y: raw.Select([[True, False, True], [False, False, True]], x, y), [A, B])],
    "Polygamma": [(lambda x: raw.Polygamma(1.0 + 0.0 * x, raw.Abs(x) + 1.0), [A])],
    "Betainc": [(lambda x: raw.Betainc(0.0 * x + 2.0, 0.0 * x + 1.5, raw.Sigmoid(x)), [A])],
    "NextAfter": [(lambda x: raw.NextAfter(x, raw.ZerosLike(x)) * x, [A])],
    "Zeta": [(lambda q: raw.Zeta(raw.ZerosLike(q) + 2.5, raw.Abs(q) + 1.0), [A])],
    "GatherV2": [(lambda x, a=a: raw.GatherV2(x, [[0, 1, 1]], a), [A]) for a in (0, 1)],
    "Gather": [(lambda x: raw.Gather(x, [0, 1, 1]), [A])],
    "UnsortedSegmentSum": [(lambda x: raw.UnsortedSegmentSum(x, [2, 0], 3), [A])],
    "SegmentSum": [(lambda x: raw.SegmentSum(x, np.array([0, 0, 2], np.int32)), [(3, 2)])],
    **{name: [(lambda x, op=name: getattr(raw, op)(x, np.array([0, 0, 2], np.int32)), [(3, 2)])]
       for name in ("SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax")},
    **{name: [(lambda x, op=name: getattr(raw, op)(x, [1, -1, 1, 0], 2), [(4, 2)])]
       for name in ("UnsortedSegmentProd", "UnsortedSegmentMin", "UnsortedSegmentMax")},
    **{name: [(lambda x, op=name: getattr(raw, op)(x, [2, 0, 2], np.array([0, 0, 2], np.int32)), [(3, 2)])]
       for name in ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN")},
    **{name: [(lambda x, op=name: getattr(raw, op)(x, [2, 0, 2], np.array([0, 0, 2], np.int32), 4), [(3, 2)])]
       for name in ("SparseSegmentSumWithNumSegments", "SparseSegmentMeanWithNumSegments",
                    "SparseSegmentSqrtNWithNumSegments")},
    "DynamicPartition": [(lambda x: raw.DynamicPartition(x, [1, 0, 1], num_partitions=2), [(3, 2)])],
    "DynamicStitch": [(lambda x, y: raw.DynamicStitch([[0, 3], [1, 4]], [x, y]), [A, B])],
    "ParallelDynamicStitch": [(lambda x, y: raw.ParallelDynamicStitch([[0, 3], [1, 2]], [x, y]), [A, B])],
    "GatherNd": [(lambda x: raw.GatherNd(x, [[0, 1], [1, 2], [0, 1]]), [A])],
    "SparseToDense": [(lambda x, y: raw.SparseToDense([[0], [2]], [4], x[0, :2], y), [A, ONE])],
    **{name: [(lambda x, y, name=name: getattr(raw, name)([[0, 1], [1, 0]], x[0, :2], [2, 3], y[:1] + 2), [A, A])]
       for name in ("SparseDenseCwiseMul", "SparseDenseCwiseDiv")},
    "MatrixSetDiag": [(lambda x, y: raw.MatrixSetDiag(x, y[:, :3]), [CUBE, A])],
    "MatrixSetDiagV3": [(lambda x, y: raw.MatrixSetDiagV3(x, y[:, :2, :3], [0, 1]), [CUBE, CUBE])],
    "MatrixDiagV2": [(lambda x: raw.MatrixDiagV2(x, [-1, 0], 3, 4, 0.0), [A])],
    "MatrixDiagPartV2": [(lambda x: raw.MatrixDiagPartV2(x, [-1, 1], 0.0), [CUBE])],
    "MatrixDiagV3": [(lambda x: raw.MatrixDiagV3(x, [-1, 0], 3, 4, 0.0), [A])],
    "MatrixDiagPartV3": [(lambda x: raw.MatrixDiagPartV3(x, [-1, 1], 0.0), [CUBE])],
    "ScatterNdNonAliasingAdd": [(lambda x, y: raw.ScatterNdNonAliasingAdd(x, [[1], [1]], y), [A, A])],
    "ScatterNd": [(lambda x: raw.ScatterNd([[1], [0]], x, [4, 3]), [A])],
    "Cumsum": [(lambda x, e=e, r=r: raw.Cumsum(x, 1, exclusive=e, reverse=r), [A])
               for e in (False, True) for r in (False, True)],
    "Cumprod": [(lambda x, e=e: raw.Cumprod(x, 1, exclusive=e), [A]) for e in (False, True)],
    "MatMul": [(lambda x, y, a=a, b=b: raw.MatMul(x, y, transpose_a=a, transpose_b=b),
                [(4, 2) if a else (2, 4), (3, 4) if b else (4, 3)]) for a in (False, True) for b in (False, True)],
    "BatchMatMul": [(lambda x, y, a=a, b=b: raw.BatchMatMul(x, y, adj_x=a, adj_y=b),
                     [(2, 4, 2) if a else (2, 2, 4), (2, 3, 4) if b else (2, 4, 3)])
                    for a in (False, True) for b in (False, True)],
    "BatchMatMulV2": [(lambda x, y: raw.BatchMatMulV2(x, y), [(2, 1, 2, 4), (3, 4, 3)])],
    "Reshape": [(lambda x: raw.Reshape(x, [3, 2]), [A])],
    "ExpandDims": [(lambda x: raw.ExpandDims(x, 1), [A])],
    "Squeeze": [(lambda x: raw.Squeeze(x), [(1, 2, 1)])],
    "Transpose": [(lambda x: raw.Transpose(x, [2, 0, 1]), [CUBE])],
    "Roll": [(lambda x: raw.Roll(x, [1, -2], [0, 1]), [A])],
    "ReverseV2": [(lambda x: raw.ReverseV2(x, [1]), [A])],
    "Identity": [(lambda x: raw.Identity(x), [A])],
    "PlaceholderWithDefault": [(lambda x: raw.PlaceholderWithDefault(x, shape=[None, 3]), [A])],
    "Slice": [(lambda x: raw.Slice(x, [0, 1], [2, 1]), [A])],
    "StridedSlice": [(lambda x: x[:, ::-2], [A]), (lambda x: x[1, tf.newaxis, ..., 0], [CUBE])],
    "BiasAdd": [(lambda x, b: raw.BiasAdd(x, b), [A, ROW]),
                (lambda x, b: raw.BiasAdd(x, b, data_format="NCHW"), [(2, 3, 2, 2), ROW])],
    "BiasAddGrad": [(lambda x: raw.BiasAddGrad(x), [A])], "BiasAddV1": [(lambda x, b: raw.BiasAddV1(x, b), [A, ROW])],
    "L2Loss": [(lambda x: raw.L2Loss(x), [A])],
    **{name: [(branch, [A])] for name in ("Switch", "Merge")},
    **{name: [(loop, [A])] for name in ("Enter", "Exit", "NextIteration")},
    **{f"TensorArray{name}V3": [(arrays, [A])] for name in ("Read", "Write", "Gather", "Scatter")},
    **{f"TensorArray{name}V3": [(pieces, [(3, 2)])] for name in ("Split", "Concat")},
    "TopKV2": [(lambda x: raw.TopKV2(x, 2)[0], [A])], "TopK": [(lambda x: raw.TopK(x, k=2)[0], [A])],
    "BroadcastTo": [(lambda x: raw.BroadcastTo(x, [4, 2, 3]), [COLUMN])],
    "CTCLoss": [(lambda x: raw.CTCLoss(x, [[0, 0], [0, 1]], [0, 1], [4])[0], [(4, 1, 3)])],
    "SparseSoftmaxCrossEntropyWithLogits": [
        (lambda x: raw.SparseSoftmaxCrossEntropyWithLogits(x, np.array([2, 0]))[0], [A])],
    "SoftmaxCrossEntropyWithLogits": [
        (lambda x: raw.SoftmaxCrossEntropyWithLogits(x, np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]))[0], [A])],
}


def samples(name):
    """[(function of tensors, shapes, domain)] for an op: its own, or those of its kind."""
    spec = OPS[name]
    domain = getattr(spec, "domain", "")
    if name in SAMPLES:
        return [(fn, shapes, domain) for fn, shapes in SAMPLES[name]]
    op = getattr(raw, name)
    if isinstance(spec, kinds.Reduction):
        return [(lambda x, a=a, k=k: op(x, a, keep_dims=k), [CUBE], domain)
                for a, k in (([1], False), ([-1, 0], True), ([0, 1, 2], False))]
    if isinstance(spec, kinds.Rowwise):
        return [(op, [A] * len(spec.inputs), domain)]
    if isinstance(spec, kinds.Elementwise):
        alike = [(op, [A] * len(spec.inputs), domain)]
        mixed = [(op, [ROW, *[COLUMN] * (len(spec.inputs) - 1)], domain)]
        return alike if len(spec.inputs) == 1 or name.endswith("Grad") else alike + mixed
    found = [(fn, shapes, domain) for fn, shapes in functions(name)]
    assert found, f"op {name} has a gradient, but neither a regular kind nor an example in its docstring nor a sample"
    return found


def differentiable():
    return sorted(name for name, op in OPS.items() if op.gradient is not None and name not in NOT_CHECKED)


def total(outputs, random):
    """A weighted sum of everything that can be differentiated."""
    outputs = [t for t in tf.nest.flatten(outputs) if is_trainable(t)]
    sizes = [t.shape.as_list() if t.shape.is_fully_defined() else [] for t in outputs]
    return tf.add_n([tf.reduce_sum(t * random.uniform(0.5, 1.5, size)) for t, size in zip(outputs, sizes, strict=True)])


def along(gradients, xs, direction):
    """The derivative in a direction, as a tensor."""
    pairs = [(g, d) for g, d in zip(gradients, direction, strict=True) if g is not None]
    return tf.add_n([tf.reduce_sum(d * tf.convert_to_tensor(g)) for g, d in pairs] or [tf.constant(0.0, tf.float64)])


@pytest.mark.parametrize("name", differentiable())
def test_derivatives(name, monkeypatch):
    monkeypatch.setattr(options, "compile", "never")
    for fn, shapes, domain in samples(name):
        tf.reset_default_graph()
        random = np.random.default_rng(zlib.crc32(name.encode()))
        at = [sampled(domain, shape, random) for shape in shapes]
        direction = [random.uniform(0.5, 1.5, shape) for shape in shapes]
        xs = [tf.placeholder(tf.float64, shape) for shape in shapes]
        y = total(fn(*xs), random)
        first = tf.gradients(y, xs)
        slope = along(first, xs, direction)
        for g, x in zip(first, xs, strict=True):
            g = g if g is None else tf.convert_to_tensor(g)
            assert g is None or (g.dtype == x.dtype and g.shape.as_list() == x.shape.as_list())
        fetches = [y, slope]
        if name not in NO_SECOND:
            fetches.append(along(tf.gradients(slope, xs), xs, direction))
        with tf.Session() as sess:
            def run(step, sess=sess, fetches=fetches, at=at, direction=direction, xs=xs):
                return sess.run(fetches, {x: a + step * d for x, a, d in zip(xs, at, direction, strict=True)})
            here, before, after = run(0.0), run(-STEP), run(STEP)
        for order, (lower, upper) in enumerate(zip(before[:-1], after[:-1], strict=True), 1):
            estimate = (upper - lower) / (2 * STEP)
            assert here[order] == pytest.approx(estimate, rel=1e-5, abs=1e-6), f"{name}: derivative {order}"


def test_the_walk_finds_a_wrong_gradient(monkeypatch):
    monkeypatch.setitem(vars(OPS["Tanh"]), "gradient", lambda op, dy: dy * op.outputs[0])
    with pytest.raises(AssertionError, match="Tanh"):
        test_derivatives("Tanh", monkeypatch)


def test_every_op_states_its_gradient_or_its_absence():
    assert [name for name, op in OPS.items() if op.gradient is None and not op.no_gradient] == []
