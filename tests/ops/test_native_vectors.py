"""Host calls by machine code beside their NumPy forms, which run where there is no compiler: the same results."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.image import boxes, detections
from tfnb.kernels.arrays import philox
from tfnb.kernels.library.image import suppression, windows
from tfnb.kernels.library.random import draws
from tfnb.kernels.library.rows import sparse, vectors
from tfnb.kernels.library.text import hashes
from tfnb.ops.sparse import algebra
from tfnb.ops.strings import hashing

random = np.random.RandomState(5)


def rows(count, *sizes):
    """Sorted indices without repetitions in a tensor of these sizes."""
    places = np.sort(random.choice(int(np.prod(sizes)), count, replace=False))
    return np.stack(np.unravel_index(places, sizes), 1).astype(np.int64)


def numbers(count):
    return random.randint(-9, 9, count).astype("f")


SIZES = np.array([7, 5, 3], np.int64)
A, B = rows(30, *SIZES), rows(40, *SIZES)
TWICE = np.concatenate([A, A[::2]])
MATRIX = rows(9, 8, 6)
A_VALUES, B_VALUES, TWICE_VALUES, FEW = numbers(30), numbers(40), numbers(45), numbers(5)
ORDER = random.permutation(90).astype(np.int32)
CASES = {
    "sum": lambda: tf.raw_ops.SparseAdd(a_indices=A, a_values=A_VALUES, a_shape=SIZES, b_indices=B, b_values=B_VALUES,
                                        b_shape=SIZES, thresh=1.0),
    "sum of unordered": lambda: tf.raw_ops.SparseAdd(
        a_indices=A[::-1].copy(), a_values=A_VALUES, a_shape=SIZES, b_indices=TWICE, b_values=TWICE_VALUES,
        b_shape=SIZES, thresh=0.0),
    "its gradient": lambda: tf.raw_ops.SparseAddGrad(backprop_val_grad=B_VALUES, a_indices=A, b_indices=B,
                                                     sum_indices=B),
    "largest of two": lambda: tf.raw_ops.SparseSparseMaximum(
        a_indices=A, a_values=A_VALUES, a_shape=SIZES, b_indices=B, b_values=B_VALUES, b_shape=SIZES),
    **{f"{op} {axes} {keep} {dtype}": lambda op=op, axes=axes, keep=keep, dtype=dtype: getattr(tf.raw_ops, op)(
        input_indices=TWICE, input_values=TWICE_VALUES.astype(dtype), input_shape=SIZES, reduction_axes=axes,
        keep_dims=keep) for op in ("SparseReduceSum", "SparseReduceMax") for axes in ([0, 2], [-2])
       for keep in (False, True) for dtype in ("float32", "int32", "float16")},
    "order": lambda: tf.raw_ops.SparseReorder(input_indices=TWICE, input_values=TWICE_VALUES, input_shape=SIZES),
    "order of ordered": lambda: tf.raw_ops.SparseReorder(input_indices=A, input_values=A_VALUES, input_shape=SIZES),
    "shape": lambda: tf.raw_ops.SparseReshape(input_indices=TWICE, input_shape=SIZES, new_shape=np.int64([-1, 15])),
    "dense": lambda: tf.raw_ops.SparseToDense(sparse_indices=A, output_shape=SIZES, sparse_values=A_VALUES,
                                              default_value=-1.0),
    "dense sum": lambda: tf.raw_ops.SparseTensorDenseAdd(a_indices=TWICE, a_values=TWICE_VALUES, a_shape=SIZES,
                                                         b=np.ones(SIZES, "f")),
    "filled": lambda: tf.raw_ops.SparseFillEmptyRows(indices=MATRIX[::-1].copy(), values=np.arange(9, dtype=np.int32),
                                                     dense_shape=np.int64([8, 6]), default_value=-1),
    **{f"product {a} {b} {dtype}": lambda a=a, b=b, n=n, dtype=dtype: tf.raw_ops.SparseTensorDenseMatMul(
        a_indices=MATRIX, a_values=np.arange(9, dtype=dtype), a_shape=np.int64([8, 6]), adjoint_a=a, adjoint_b=b,
        b=np.arange(3 * n).reshape((3, n) if b else (n, 3)).astype(dtype))
       for a, b, n in ((False, False, 6), (True, True, 8), (False, True, 6)) for dtype in ("float32", "complex64")},
    **{f"bins {weights.dtype} {weights.size}": lambda weights=weights: tf.raw_ops.Bincount(
        arr=np.arange(40, dtype=np.int32) % 7, size=5, weights=weights)
       for weights in (np.float32([]), np.int64([]), np.float64(B_VALUES))},
    "histogram": lambda: tf.raw_ops.HistogramFixedWidth(values=B_VALUES, value_range=[-5.0, 5.0], nbins=4),
    **{f"difference {dtype}": lambda dtype=dtype: tf.raw_ops.ListDiff(x=B_VALUES.astype(dtype), y=FEW.astype(dtype))
       for dtype in ("float32", "float16", "int64", "uint8")},
    "difference of zeros and NaN": lambda: tf.raw_ops.ListDiff(x=[0.0, -0.0, np.nan, 1.0], y=[-0.0, np.nan]),
    "inverse": lambda: tf.raw_ops.InvertPermutation(x=ORDER),
    **{f"range {dtype}": lambda dtype=dtype, step=step: tf.raw_ops.Range(
        **{k: tf.constant(x, dtype) for k, x in (("start", 3), ("limit", 7000 * step), ("delta", step))})
       for dtype, step in (("float32", 0.7), ("float64", 0.7), ("int32", 2))},
    "evenly spaced": lambda: tf.raw_ops.LinSpace(start=-1.0, stop=2.5, num=6001),
    **{f"ragged range {dtype}": lambda dtype=dtype: tf.raw_ops.RaggedRange(
        starts=np.array([3, 9, 2], dtype), limits=np.array([7, 1, 2], dtype), deltas=np.array([1, -3, 1], dtype))
       for dtype in ("float32", "int32")},
}
BOXES = random.uniform(0, 1.2, (3, 20, 3, 4)).astype("f")
SCORES = random.uniform(0, 1, (3, 20, 3)).astype("f").round(1)
IMAGES, OFFSETS = random.uniform(0, 1, (2, 9, 11, 3)).astype("f"), random.uniform(-2, 2, (2, 2)).astype("f")
DRAWN = random.uniform(-0.3, 1.3, (2, 30, 4)).astype("f")
INSIDE = np.sort(random.uniform(0, 1, (1, 30, 2, 2)), 2).astype("f").reshape(1, 30, 4)
CASES |= {
    **{f"suppression {most} {least}": lambda most=most, least=least: tf.raw_ops.NonMaxSuppressionV3(
        boxes=BOXES[0, :, 0], scores=SCORES[0, :, 0], max_output_size=most, iou_threshold=0.2, score_threshold=least)
       for most, least in ((0, -1.0), (3, -1.0), (50, 0.5))},
    "suppression by overlaps": lambda: tf.raw_ops.NonMaxSuppressionWithOverlaps(
        overlaps=BOXES[0, :, 0] @ BOXES[0, :, 0].T, scores=SCORES[0, :, 0], max_output_size=5, overlap_threshold=1.3,
        score_threshold=0.1),
    **{f"detections {sets} {each} {pad}": lambda sets=sets, each=each, pad=pad:
       tf.raw_ops.CombinedNonMaxSuppression(
           boxes=BOXES[:, :, :sets], scores=SCORES, max_output_size_per_class=each, max_total_size=8,
           iou_threshold=0.3, score_threshold=0.2, pad_per_class=pad, clip_boxes=not pad)
       for sets, each, pad in ((1, 5, False), (3, 2, True), (3, 100, False))},
    "drawing": lambda: tf.raw_ops.DrawBoundingBoxes(images=IMAGES, boxes=DRAWN),
    "drawing in colors": lambda: tf.raw_ops.DrawBoundingBoxesV2(images=IMAGES, boxes=DRAWN,
                                                                colors=np.float32([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])),
    **{f"{op} {way} {scale}": lambda op=op, way=way, scale=scale: getattr(tf.raw_ops, op)(
        input=IMAGES, size=[5, 6], offsets=OFFSETS * scale, centered=way, normalized=way, uniform_noise=False,
        noise="zero") for op in ("ExtractGlimpse", "ExtractGlimpseV2") for way in (True, False) for scale in (0.1, 3)},
    "edges of boxes without numbers": lambda: tf.image.draw_bounding_boxes(IMAGES, np.full([2, 2, 4], np.nan, "f")),
    "glimpses without numbers": lambda: tf.image.extract_glimpse(IMAGES, [2, 2], np.full([2, 2], np.inf, "f"),
                                                                 uniform_noise=False),
    "sum beyond the largest": lambda: tf.raw_ops.SparseReduceSum(
        input_indices=A[:2], input_values=np.float32([3e38, 3e38]), input_shape=SIZES, reduction_axes=[0, 1, 2]),
    "product with a transposed matrix": lambda: tf.raw_ops.SparseTensorDenseMatMul(
        a_indices=MATRIX, a_values=np.arange(9, dtype="f"), a_shape=np.int64([8, 6]),
        b=tf.transpose(tf.placeholder_with_default(np.arange(12, dtype="f").reshape(2, 6), [2, 6]))),
    "a box that covers": lambda: tf.raw_ops.SampleDistortedBoundingBox(
        image_size=[40, 50, 3], bounding_boxes=INSIDE, seed=3, seed2=4, min_object_covered=0.9),
}
WRONG = {
    "reduced": lambda: tf.raw_ops.SparseReduceSum(input_indices=A + 3, input_values=A_VALUES, input_shape=SIZES,
                                                  reduction_axes=[0]),
    "dense": lambda: tf.raw_ops.SparseToDense(sparse_indices=A[::-1].copy(), output_shape=SIZES,
                                              sparse_values=A_VALUES, default_value=0.0),
    "beyond": lambda: tf.raw_ops.SparseToDense(sparse_indices=A, output_shape=SIZES - 1, sparse_values=A_VALUES,
                                               default_value=0.0),
    "filled": lambda: tf.raw_ops.SparseFillEmptyRows(indices=MATRIX, values=A_VALUES[:9], dense_shape=np.int64([3, 6]),
                                                     default_value=0.0),
    "boxes of fewer images": lambda: tf.raw_ops.DrawBoundingBoxes(images=IMAGES, boxes=DRAWN[:1]),
    "another rank": lambda: tf.raw_ops.SparseReshape(input_indices=tf.placeholder_with_default(A[:, :2], None),
                                                     input_shape=SIZES, new_shape=np.int64([-1])),
    "bins": lambda: tf.raw_ops.Bincount(arr=[1, -1], size=5, weights=np.float32([])),
    "inverse": lambda: tf.raw_ops.InvertPermutation(x=[1, 1]),
    "beyond of inverse": lambda: tf.raw_ops.InvertPermutation(x=[0, 2]),
}


def results(build):
    tf.reset_default_graph()
    with tf.Session() as sess:
        found = build()
        return sess.run(list(found) if isinstance(found, tuple) else [found])


@pytest.fixture
def forms(monkeypatch):
    """Runs something by machine code, and then without."""
    def run(call):
        made = call()
        for module in (sparse, vectors, algebra, windows, suppression, detections, boxes):
            monkeypatch.setattr(module, "has_compiler", lambda: False)
        return made, call()
    return run


@pytest.mark.parametrize("name", CASES)
def test_machine_code_and_numpy_agree(name, forms):
    for one, other in zip(*forms(lambda: results(CASES[name])), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("name", WRONG)
def test_errors_agree(name, forms):
    def message():
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            results(WRONG[name])
        return str(caught.value).partition("(op")[0]
    one, other = forms(message)
    assert one == other


def test_hashes_of_many_strings():
    texts = [bytes(random.randint(0, 256, n).tolist()) for n in [*range(67), 127, 128, 129, 200]]
    key = 5, (1 << 64) - 9
    assert hashes.fingerprints(texts).tolist() == list(map(hashing.fingerprint, texts))
    assert hashes.murmurs(texts, hashing.SEED).tolist() == list(map(hashing.murmur, texts))
    assert hashes.siphashes(texts, key).tolist() == [hashing.siphash(key, text) for text in texts]


def test_words_of_a_generator():
    state = np.array([123456789123, 0, 2**64 - 3, 7], np.uint64)
    assert draws.next_words(state, 16) == philox.blocks(state, np.arange(16, dtype=np.uint64)).reshape(-1).tolist()
