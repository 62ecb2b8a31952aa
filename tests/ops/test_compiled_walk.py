"""Every op that is compiled: what a program gives is what the interpreter gives, over dtypes and shapes.

Samples are made by kind and signature. All ops of a kind and dtype run at once, so that they share kernels. Floats may
differ by the rounding of functions, integers not at all; NaN and infinities stand at the same places.
"""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.autodiff.test_finite_differences import SAMPLES
from tests.domains import points
from tests.every_op import OPS
from tests.samples import functions
from tfnb.compile.planning.placement import COMPILED
from tfnb.core.options import options
from tfnb.kernels.scalar.number_types import HALVES
from tfnb.opdef import kinds
from tfnb.ops.declaration.construct import official
from tfnb.ops.declaration.raw import raw

TOLERANCE = {"float32": 4e-6, "float64": 1e-12, "float16": 2**-10, "bfloat16": 2**-7}     # 16 bits: a last place
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1.0, 1.0]
N = 23
# name -> shapes of the inputs, by their number
SHAPES = {
    "vector": {1: [(N,)], 2: [(N,), (N,)], 3: [(N,)] * 3},
    "scalar": {1: [()], 2: [(), ()], 3: [()] * 3},
    "size 1": {1: [(1, 1)], 2: [(1, 1), (1,)], 3: [(1,)] * 3},
    "empty": {1: [(0, 3)], 2: [(0, 3), (3,)], 3: [(0, 3)] * 3},
    "broadcast": {1: [(2, 3)], 2: [(3, 1), (2, 1, 4)], 3: [(2, 3)] * 3},
    "strided": {1: [(4, 3)], 2: [(4, 3), (4, 3)], 3: [(4, 3)] * 3},
}
ALIKE = {"Select", "ApproximateEqual"}                       # no broadcasting
DTYPES = sorted({*COMPILED, *HALVES})
SLOW_DTYPES = {"int8", "int16", "uint8", "uint16", "uint32", "uint64"}


def dtype_params(names=DTYPES):
    return [pytest.param(n, marks=pytest.mark.slow) if n in SLOW_DTYPES else n for n in names]


def allows(name, dtype, attr="T"):
    allowed = next((a.allowed for a in OPS[name].attrs if a.name == attr), ())
    return not allowed or dtype in [official(t).name for t in allowed]


def takes(name, dtype):
    """Can the op have this dtype: by the attr of its first input's type, or by that type itself?"""
    first = OPS[name].inputs[0].type
    own = any(attr.name == first for attr in OPS[name].attrs)
    return allows(name, dtype, first) if own else official(first).name == dtype


def values(name, dtype, shape, random):
    """Numbers of the dtype, in the op's domain; special ones first where it is everywhere."""
    domain, kind, size = getattr(OPS.get(name), "domain", ""), np.dtype(dtype).kind, int(np.prod(shape))
    if kind == "b":
        return (random.random(shape) < 0.5).astype(dtype)
    if kind in "iu":
        info = np.iinfo(dtype)
        made = random.integers(info.min if kind == "i" else 0, min(info.max, 2**62), size).astype(dtype)
        made[:6] = np.array([info.min, info.max, 0, 1, 2, 3], dtype)[:size]
        if domain in ("nonzero", "positive"):
            made = made % np.array(5, dtype) + np.array(1, dtype)
        return made.reshape(shape)
    u, sign = random.uniform(0.1, 0.9, size), random.choice([-1.0, 1.0], size)
    made = points(domain, u, sign)
    if not domain and size >= N:
        made[:len(SPECIAL)] = random.permutation(SPECIAL)
    return made.astype(dtype).reshape(shape)


def strided(x):
    """The same tensor, but no longer row-major in memory (interpreted and compiled alike)."""
    rank = len(x.shape)
    return x if rank < 2 else raw.Transpose(x, list(range(rank))[::-1])


def both_ways(build, monkeypatch):
    """{label: (interpreted, compiled)} of the fetches that `build()` returns with its feeds."""
    results = []
    for mode in ("never", "always"):
        monkeypatch.setattr(options, "compile", mode)
        tf.reset_default_graph()
        fetches, feeds = build()
        with tf.Session() as sess, np.errstate(all="ignore"):
            sess.run(tf.global_variables_initializer())
            results.append(sess.run(fetches, feeds))
    return {label: (results[0][label], results[1][label]) for label in results[0]}


def differences(results):
    """The labels whose two values differ, with both."""
    found = []
    for label, (want, got) in results.items():
        for a, b in zip(want, got, strict=True) if isinstance(want, list) else [(want, got)]:
            a, b = np.asarray(a), np.asarray(b)
            tolerance = TOLERANCE.get(a.dtype.name, 0)
            same = np.allclose(a.astype("f8"), b.astype("f8"), tolerance, tolerance / 4, equal_nan=True) if tolerance \
                else np.array_equal(a, b)
            if a.dtype != b.dtype or a.shape != b.shape or not same:
                found.append(f"{label}: interpreted {a.tolist()}, compiled {b.tolist()}"[:900])
    return found


def elementwise_names(dtype):
    return [name for name, spec in sorted(OPS.items())
            if isinstance(spec, kinds.Elementwise) and takes(name, dtype)
            and name not in SAMPLES and (name != "ApproximateEqual" or dtype.startswith("float"))]


def input_shapes(name, layout):
    """The shapes of an elementwise op's inputs; None where it has none of this layout."""
    count = len(OPS[name].inputs)
    shapes = SHAPES[layout][count]
    if name.startswith("BiasAdd"):
        return [shapes[0], shapes[0][-1:]] if len(shapes[0]) > 1 else None
    return [shapes[0]] * count if name in ALIKE else shapes


def elementwise(dtype, layout):
    """A function that builds every elementwise op of a dtype; ops of one domain share their placeholders."""
    def build():
        random = np.random.default_rng(1)
        fetches, feeds, made = {}, {}, {}

        def fed(name, kind, shape, i):
            turned = layout == "strided" and i == 0
            key = kind, shape, getattr(OPS.get(name), "domain", ""), i
            if key not in made:
                x = tf.placeholder(kind, shape[::-1] if turned else shape)
                feeds[x] = values(name, kind, x.shape.as_list(), random)
                made[key] = strided(x) if turned else x
            return made[key]

        for name in elementwise_names(dtype):
            shapes = input_shapes(name, layout)
            if shapes is not None:
                kinds = [dtype if arg.type in ("T", "SrcT") else official(arg.type).name
                         for arg in OPS[name].inputs]
                fetches[name] = getattr(raw, name)(*[fed(name, k, s, i) for i, (k, s) in
                                                     enumerate(zip(kinds, shapes, strict=True))])
        return fetches, feeds
    return build


@pytest.mark.parametrize("dtype", dtype_params())
def test_elementwise(dtype, monkeypatch):
    assert not differences(both_ways(elementwise(dtype, "vector"), monkeypatch))


@pytest.mark.parametrize("layout", [name for name in SHAPES if name != "vector"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_elementwise_over_shapes(dtype, layout, monkeypatch):
    assert not differences(both_ways(elementwise(dtype, layout), monkeypatch))


REDUCED = {"rows": ((5, 7), [1]), "columns": ((5, 7), [0]), "whole": ((5, 7), [0, 1]), "middle": ((2, 3, 4), [1]),
           "outer": ((2, 3, 4), [-1, 0]), "nothing": ((5, 7), []), "scalar": ((), []), "size 1": ((1, 1), [0]),
           "no rows": ((0, 3), [0]), "no columns": ((3, 0), [1]), "empty result": ((0, 3), [1])}
LARGE = {"chunks": ((20_011,), [0]), "many columns": ((1_031, 7), [0]), "many rows": ((3, 9_001), [1])}


def reductions(dtype, cases):
    def build():
        random = np.random.default_rng(2)
        fetches, feeds = {}, {}
        for label, (shape, axes) in cases.items():
            x = tf.placeholder(dtype, shape)
            feeds[x] = values("", dtype, shape, random)
            if label in LARGE and dtype.startswith("f"):         # products of many stay finite
                feeds[x] = random.uniform(0.999, 1.001, shape).astype(dtype)
            turned = strided(tf.identity(x)) if len(shape) == 2 and shape[0] < 100 else None
            for name, spec in OPS.items():
                if not isinstance(spec, kinds.Reduction) or not takes(name, dtype):
                    continue
                if name == "EuclideanNorm" and dtype in ("uint32", "uint64"):       # what fits in no such integer
                    continue
                if spec.axes is not None:
                    if len(shape) > 1 or name == "L2Loss":
                        fetches[name, label] = getattr(raw, name)(x)
                    continue
                op = getattr(raw, name)
                fetches[name, label] = op(x, np.array(axes, np.int32))
                fetches[name, label, "kept"] = op(x, np.array(axes, np.int64), keep_dims=True)
                if turned is not None:
                    fetches[name, label, "turned"] = op(turned, np.array(axes, np.int32))
        return fetches, feeds
    return build


@pytest.mark.parametrize("dtype", dtype_params())
def test_reductions(dtype, monkeypatch):
    monkeypatch.setitem(TOLERANCE, "float32", 2e-5)
    names = {"float32": list(REDUCED), "int32": ["rows", "columns", "whole", "empty result"],
             "bool": ["columns", "whole"]}.get(dtype, ["rows", "empty result"])
    assert not differences(both_ways(reductions(dtype, {name: REDUCED[name] for name in names}), monkeypatch))


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_large_reductions(dtype, monkeypatch):
    monkeypatch.setitem(TOLERANCE, "float32", 1e-3)
    assert not differences(both_ways(reductions(dtype, LARGE), monkeypatch))


ROWS = [(3, 7), (0, 4), (1, 1), (5,), (2, 3, 4)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rowwise(dtype, monkeypatch):
    def build():
        random = np.random.default_rng(3)
        fetches, feeds = {}, {}
        for shape in ROWS:
            x, y = tf.placeholder(dtype, shape), tf.placeholder(dtype, shape)
            feeds[x], feeds[y] = random.standard_normal(shape), random.random(shape)
            if shape == (3, 7):
                feeds[x][0, :3], feeds[x][1, :] = [np.inf, 1.0, -1e4], -np.inf
            labels = tf.placeholder("int32", shape[:-1])
            feeds[labels] = random.integers(0, shape[-1], shape[:-1])
            made = {"Softmax": raw.Softmax(x), "LogSoftmax": raw.LogSoftmax(x)}
            if len(shape) == 2:
                made["SoftmaxCrossEntropyWithLogits"] = raw.SoftmaxCrossEntropyWithLogits(x, y)
                made["SparseSoftmaxCrossEntropyWithLogits"] = raw.SparseSoftmaxCrossEntropyWithLogits(x, labels)
                made["strided Softmax"] = raw.Softmax(strided(x))
            fetches.update({(name, shape): t if isinstance(t, tf.Tensor) else list(t) for name, t in made.items()})
        return fetches, feeds
    assert {name for name, spec in OPS.items() if isinstance(spec, kinds.Rowwise)} == {
        "Softmax", "LogSoftmax", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"}
    assert not differences(both_ways(build, monkeypatch))


# Movement and hand-written kernels: the samples of the gradient tests, and those of ops without gradients.
VECTOR, MATRIX, CUBE = (5,), (4, 3), (2, 3, 4)
MORE = {
    "GatherTree": [(lambda x: raw.GatherTree(raw.Cast(x, DstT="int32"), np.zeros((2, 3, 4), np.int32), [2] * 3, 5),
                    [CUBE])],
    "CTCLossV2": [(lambda x: raw.CTCLossV2(raw.Reshape(x, [2, 2, -1]), np.array([[0, 0], [1, 0]], np.int64), np.array(
        [1, 2], np.int32), np.array([2, 2], np.int32))[0], [CUBE])],
    "TopK": [(lambda x, k=k: raw.TopK(x, k=k), [MATRIX]) for k in (1, 3)],
    "TopKV2": [(lambda x, k=k: raw.TopKV2(x, k), [shape]) for shape, k in ((CUBE, 1), (CUBE, 4), ((40,), 3))],
    "InTopK": [(lambda x: raw.InTopK(raw.Cast(x, DstT="float32"), [0, 2, -1, 3], k=2), [MATRIX])],
    "InTopKV2": [(lambda x: raw.InTopKV2(raw.Cast(x, DstT="float32"), [0, 2, -1, 3], 2), [MATRIX])],
    "NearestNeighbors": [(lambda x, y: raw.NearestNeighbors(*[raw.Cast(a, DstT="float32") for a in (x, y)], k=2),
                          [MATRIX, (5, 3)])],
    "ScaleAndTranslateGrad": [(lambda dy, x: raw.ScaleAndTranslateGrad(dy, x, [0.6, 1.5], [0.3, -0.4]),
                               [(1, 3, 3, 2), (1, 4, 5, 2)])],
    "Roll": [(lambda x: raw.Roll(x, [1, -2], [0, 1]), [MATRIX]), (lambda x: raw.Roll(x, 1, -1), [MATRIX])],
    "ArgMax": [(lambda x, a=a: raw.ArgMax(x, a), [CUBE]) for a in (0, 1, -1)],
    "ArgMin": [(lambda x, a=a: raw.ArgMin(x, a, output_type="int32"), [CUBE]) for a in (0, -1)],
    "OneHot": [(lambda x, a=a: raw.OneHot(np.array([0, 2, -1, 1]), 3, x, x + x, axis=a), [()]) for a in (0, -1)],
    "StopGradient": [(lambda x: raw.StopGradient(x), [MATRIX])],
    "PreventGradient": [(lambda x: raw.PreventGradient(x), [MATRIX])],
    **{name: [(lambda x, y, name=name: getattr(raw, name)(x + x, y), [MATRIX, (3,)])]
       for name in ("IgammaGradA", "RandomGammaGrad")},
    **{name: [(lambda x, name=name: getattr(raw, name)([2, 3], [1, 2]) + x, [()])] for name in (
        "StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal")},
    "StatelessRandomUniformInt": [(lambda x: raw.StatelessRandomUniformInt([2, 3], [1, 2], x, x + 5), [()])],
    "StatelessMultinomial": [(lambda x: raw.StatelessMultinomial(x, 4, [1, 2]), [MATRIX])],
    "StatelessRandomGammaV2": [(lambda x: raw.StatelessRandomGammaV2([2, 4, 3], [1, 2], x + 1), [MATRIX])],
    "StatelessRandomPoisson": [(lambda x: raw.StatelessRandomPoisson([2, 4, 3], [1, 2], x + 1, dtype="float32"),
                                [MATRIX])],
    "Unique": [], "ListDiff": [], "Where": [],
}
EMPTY = {
    "ConcatV2": [(lambda x, y: raw.ConcatV2([x, y], 0), [(0, 3), (2, 3)])],
    "Transpose": [(lambda x: raw.Transpose(x, [1, 0]), [(0, 3)])],
    "MatMul": [(lambda x, y: raw.MatMul(x, y), [(2, 0), (0, 3)]), (lambda x, y: raw.MatMul(x, y), [(0, 2), (2, 3)])],
    "GatherV2": [(lambda x: raw.GatherV2(x, np.zeros([0], np.int32), 0), [MATRIX])],
    "Tile": [(lambda x: raw.Tile(x, [0, 2]), [MATRIX])],
    "Pad": [(lambda x: raw.Pad(x, [[1, 0], [0, 0]]), [(0, 3)])],
    "Roll": [(lambda x: raw.Roll(x, [1, 2], [0, 1]), [(0, 3)])],
    "Cumsum": [(lambda x: raw.Cumsum(x, 0), [(0, 3)]), (lambda x: raw.Cumsum(x, 0), [(1,)])],
    "Reshape": [(lambda x: raw.Reshape(x, [-1, 5, 0]), [(0, 3)])],
    "Slice": [(lambda x: raw.Slice(x, [1, 0], [0, -1]), [MATRIX])],
    "Pack": [(lambda x: raw.Pack([x, x]), [()])],
    "UnsortedSegmentSum": [(lambda x: raw.UnsortedSegmentSum(x, np.zeros([0], np.int32), 2), [(0, 3)])],
}
# what has compiled kernels and is compared in a test file of its family
FAMILIES = ("Dilation", "FakeQuant", "Conv2D", "Conv3D", "Depthwise", "MaxPool", "AvgPool", "LRN", "Resize", "Adjust",
            "RGBToHSV", "HSVToRGB", "CropAndResize", "FusedBatchNorm", "LSTMBlockCell", "GRUBlockCell",
            "BlockLSTM")


def walked():
    """Names of the movement ops and of the kernels that are compiled."""
    return [name for name, spec in sorted(OPS.items()) if not name.startswith(FAMILIES) and not spec.handles
            and not any(arg.is_ref for arg in spec.inputs)
            and (isinstance(spec, kinds.Movement) or (isinstance(spec, kinds.Kernel) and spec.cpu is not None))]


def samples(name):
    """Return (function, shapes) of an op: of the tables, or of the examples in docstrings."""
    found = [*MORE.get(name, []), *SAMPLES.get(name, []), *EMPTY.get(name, [])]
    return found if name in MORE or name in SAMPLES else functions(name)


SORTED = ("LowerBound", "UpperBound")          # which search their first input


def kernels(dtype):
    def build():
        random = np.random.default_rng(4)
        fetches, feeds, placeholders = {}, {}, {}
        for name in walked():
            attrs = {attr.name: attr for attr in OPS[name].attrs}
            if (name, dtype) == ("TensorScatterSub", "bool"):          # allowed, but there is no difference of bools
                continue
            kind = attrs.get("T") or attrs.get("Tparams")
            if kind is not None and kind.allowed and dtype not in [official(t).name for t in kind.allowed]:
                continue
            for i, (fn, shapes) in enumerate(samples(name)):
                wanted = [(shape, j, name in SORTED and not j) for j, shape in enumerate(shapes)]
                for shape, j, in_order in wanted:
                    if (shape, j, in_order) not in placeholders:
                        placeholders[shape, j, in_order] = x = tf.placeholder(dtype, shape)
                        values = random.integers(0, 2 if dtype == "bool" else 5, shape).astype(dtype)
                        feeds[x] = np.sort(values, -1) if in_order else values
                try:
                    made = fn(*[placeholders[key] for key in wanted])
                except TypeError:                  # the sample does more than the op, and not with this dtype
                    continue
                fetches[name, i] = list(made) if isinstance(made, (list, tuple)) else made
        return fetches, feeds
    return build


def test_every_compiled_kernel_has_a_sample():
    assert [name for name in walked() if name not in MORE and not samples(name)] == []


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool", "uint8"])
def test_kernels_and_movement(dtype, monkeypatch):
    results = both_ways(kernels(dtype), monkeypatch)
    assert len({name for name, *_ in results}) >= (20 if dtype == "float32" else 8)
    assert not differences(results)


WHOLE = {"Assign", "AssignAdd", "AssignSub"}        # the steps of optimizers are not for integers
NUMBERS = ("alpha lr rho momentum epsilon beta beta1 beta2 beta1_power beta2_power l1 l2 lr_power l2_shrinkage "
           "logbase sign_decay global_step").split()


def updates(dtype, shape):
    def build():
        random = np.random.default_rng(5)
        fetches, feeds = {}, {}
        for name, spec in sorted(OPS.items()):
            if not isinstance(spec, kinds.Update) or spec.handles or not takes(name, dtype) \
                    or (dtype == "int32" and name not in WHOLE):
                continue
            args, variables = [], []
            for arg in spec.inputs:
                value = random.uniform(0.1, 0.9, () if arg.name in NUMBERS else shape)
                value = (value * 5 + 1 if dtype[0] in "iu" else value).astype("int64" if arg.type == "int64" else dtype)
                if arg.name == "lr_power":
                    value = np.asarray(-value)
                if arg.is_ref:
                    variables.append(tf.Variable(value))
                    args.append(variables[-1])
                else:
                    args.append(tf.placeholder(value.dtype, value.shape))
                    feeds[args[-1]] = value
            made = getattr(raw, name)(*args)
            fetches[name] = [made, *variables]
        return fetches, feeds
    return build


@pytest.mark.parametrize("shape", [(7,), (0, 2)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_updates(dtype, shape, monkeypatch):
    assert not differences(both_ways(updates(dtype, shape), monkeypatch))


def test_a_difference_is_found(monkeypatch):
    results = both_ways(reductions("int32", {"rows": REDUCED["rows"]}), monkeypatch)
    key = next(iter(results))
    results[key] = results[key][0], results[key][1] + np.int32(1)
    assert len(differences(results)) == 1 and str(key) in differences(results)[0]
