"""Elementwise ops against formulas of their own, over dtypes, shapes and special values; interpreted and compiled."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import tfnb as tf
from tests.domains import points
from tests.every_op import OPS
from tfnb.core.options import options
from tfnb.kernels.scalar.primitives import PRIMITIVES
from tfnb.opdef import kinds
from tfnb.ops.declaration.construct import official
from tfnb.ops.declaration.raw import raw


def divided(x, y):
    return np.trunc(x / y) if x.dtype.kind == "f" else np.array(
        [int(a / b) for a, b in zip(np.broadcast_to(x, np.broadcast(x, y).shape).flat,
                                    np.broadcast_to(y, np.broadcast(x, y).shape).flat, strict=True)],
        x.dtype).reshape(np.broadcast(x, y).shape)


def quotient(x, y):
    return x / y if x.dtype.kind in "fc" else divided(x, y)


def floored(x, y):
    return np.floor(x / y) if x.dtype.kind == "f" else x // y


def no_nan(fn):
    return lambda x, y: np.where(y == 0, 0, fn(x, np.where(y == 0, 1, y)))


def softplus(x):
    return np.where(x > 30, x, np.log1p(np.exp(np.minimum(x, 30))))


def unless_zero(dy, x):
    return np.where(dy == 0, 0, x)


SELU = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
ALPHA = float(np.float32(0.2))                           # an attr is a float32
FORMULAS = {
    "Abs": np.abs, "Acos": np.arccos, "Acosh": np.arccosh, "Add": np.add, "AddV2": np.add,
    "ApproximateEqual": lambda x, y: np.abs(x - y) < 1e-5,
    "Asin": np.arcsin, "Asinh": np.arcsinh, "Atan": np.arctan, "Atan2": np.arctan2, "Atanh": np.arctanh,
    "BiasAddV1": np.add, "BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor,
    "Invert": np.invert, "Ceil": np.ceil, "Cos": np.cos, "Cosh": np.cosh,
    "ClipByValue": lambda t, low, high: np.minimum(np.maximum(t, low), high),
    "Digamma": special.digamma, "Div": quotient, "DivNoNan": no_nan(np.divide),
    "Elu": lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x),
    "EluGrad": lambda g, y: np.where(y < 0, g * (y + 1), g),
    "Equal": np.equal, "Erf": special.erf, "Erfc": special.erfc, "Exp": np.exp, "Expm1": np.expm1,
    "Floor": np.floor, "FloorDiv": floored, "FloorMod": lambda x, y: x - y * np.floor(x / y),
    "Greater": np.greater, "GreaterEqual": np.greater_equal, "Inv": lambda x: quotient(np.ones_like(x), x),
    "InvGrad": lambda y, dy: unless_zero(dy, -dy * np.conj(y) ** 2),
    "IsFinite": np.isfinite, "IsInf": np.isinf, "IsNan": np.isnan,
    "LeakyRelu": lambda x: np.where(x > 0, x, ALPHA * x),
    "LeakyReluGrad": lambda g, x: np.where(x > 0, g, ALPHA * g),
    "Less": np.less, "LessEqual": np.less_equal, "Lgamma": special.gammaln, "Log": np.log, "Log1p": np.log1p,
    "LogicalAnd": np.logical_and, "LogicalNot": np.logical_not, "LogicalOr": np.logical_or,
    "Maximum": np.maximum, "Minimum": np.minimum, "Mod": np.fmod, "Mul": np.multiply,
    "MulNoNan": lambda x, y: np.where(y == 0, 0, x * y), "Neg": np.negative, "NotEqual": np.not_equal,
    "Pow": np.power, "RealDiv": quotient, "Reciprocal": lambda x: quotient(np.ones_like(x), x),
    "ReciprocalGrad": lambda y, dy: unless_zero(dy, -dy * np.conj(y) ** 2), "Relu": lambda x: np.maximum(x, 0),
    "Relu6": lambda x: np.clip(x, 0, 6), "Relu6Grad": lambda g, x: np.where((x > 0) & (x < 6), g, 0),
    "ReluGrad": lambda g, x: np.where(x > 0, g, 0), "Rint": np.rint, "Round": np.rint,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "RsqrtGrad": lambda y, dy: unless_zero(dy, -0.5 * dy * np.conj(y) ** 3),
    "SelectV2": np.where, "Select": np.where,
    "Selu": lambda x: SELU[0] * np.where(x < 0, SELU[1] * np.expm1(np.minimum(x, 0)), x),
    "SeluGrad": lambda g, y: np.where(y < 0, g * (y + SELU[0] * SELU[1]), g * SELU[0]),
    "Sigmoid": lambda x: special.expit(x) if x.dtype.kind == "f" else 1 / (1 + np.exp(-x)),
    "SigmoidGrad": lambda y, dy: dy * y * (1 - y), "Sign": np.sign, "Sin": np.sin,
    "Sinh": np.sinh, "Softplus": softplus, "SoftplusGrad": lambda g, x: g * special.expit(x),
    "Softsign": lambda x: x / (1 + np.abs(x)), "SoftsignGrad": lambda g, x: g / (1 + np.abs(x)) ** 2,
    "Sqrt": np.sqrt,
    "SqrtGrad": lambda y, dy: unless_zero(dy, dy / (2 * np.conj(y))), "Square": np.square,
    "SquaredDifference": lambda x, y: (x - y) * np.conj(x - y), "Sub": np.subtract, "Tan": np.tan, "Tanh": np.tanh,
    "TanhGrad": lambda y, dy: dy * (1 - y ** 2), "TruncateDiv": divided, "TruncateMod": np.fmod,
    "Xdivy": lambda x, y: np.where(x == 0, 0, x / y), "Xlogy": special.xlogy, "Xlog1py": special.xlog1py,
}
# Ops with formulas elsewhere: they are more than a formula of broadcast inputs.
ELSEWHERE = {"AddN", "AccumulateNV2", "OnesLike", "ZerosLike", "BiasAdd", "Cast", "ComplexAbs", "Conj", "Imag", "Real",
             "Angle", "NextAfter"}
SLOW = pytest.mark.slow
SPECIAL = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf, "0": 0.0, "-0": -0.0}
# where NumPy's or SciPy's own special cases are not the op's: infinite and NaN samples are left out
FINITE_ONLY = {"Digamma", "FloorDiv", "FloorMod", "Lgamma", "Mod", "TruncateDiv", "TruncateMod", "Xdivy", "Xlogy",
               "Xlog1py"}
NOT_COMPLEX = {"DivNoNan", "FloorDiv", "MulNoNan", "Round", "Sign", "TruncateDiv", "Xdivy", "Xlogy", "Xlog1py"}
SHAPES = {1: [[()], [(0,)], [(3, 67)]], 2: [[(), ()], [(3, 1), (1, 5)], [(2, 3, 4), (3, 1)], [(0, 3), (3,)]],
          3: [[(2, 3), (2, 3), (2, 3)]]}
COMPILED_SHAPES = {1: [[(3, 67)]], 2: [[(3, 1), (1, 5)]], 3: [[(2, 3), (2, 3), (2, 3)]]}      # a kernel takes 1 s
TOLERANCE = {"float32": 4e-6, "float64": 1e-11, "float16": 4e-3, "complex64": 1e-5, "complex128": 1e-11}


def allowed(name, dtype):
    spec = OPS[name]
    attrs = {attr.name: attr for attr in spec.attrs}
    return "T" not in attrs or not attrs["T"].allowed or dtype in [official(t).name for t in attrs["T"].allowed]


def sample(name, dtype, shape, random):
    """Numbers within the domain of an op; for floats everywhere defined with NaN, infinities and zeros among them."""
    domain, kind = OPS[name].domain, np.dtype(dtype).kind
    if kind == "b":
        return random.random(shape) < 0.5
    if kind in "iu":
        low = 1 if domain in ("positive", "nonzero") or kind == "u" else -6
        values = random.integers(low, 7, shape).astype(dtype)
        return np.where(values == 0, 3, values).astype(dtype) if domain == "nonzero" else values.astype(dtype)
    u, sign = random.uniform(0.1, 0.9, shape), random.choice([-1.0, 1.0], shape)
    values = points(domain, u, sign)
    if kind == "c":
        return (values + 1j * random.uniform(0.1, 0.9, shape)).astype(dtype)
    if not domain and values.size > 20 and name not in FINITE_ONLY:
        values.reshape(-1)[:5] = list(SPECIAL.values())
    return values.astype(dtype)


def inputs_of(name):
    return OPS[name].inputs


def formula(name):
    """Return the formula of an op: of the table, or SciPy's or NumPy's for the one primitive in its body; or None.

    The primitive's expansion, which kernels have in its place, is compared with it.
    """
    spec = OPS[name]
    if name in FORMULAS or name in ELSEWHERE or not isinstance(spec, kinds.Elementwise):
        return FORMULAS.get(name)
    used = spec.body.fn.__code__.co_names
    return PRIMITIVES[used[0]].numpy if len(used) == 1 else None


def elementwise_ops(dtype):
    return [name for name in sorted(OPS) if formula(name) is not None and allowed(name, dtype)
            and not (np.dtype(dtype).kind == "c" and name in NOT_COMPLEX)
            and not (np.dtype(dtype).kind in "iu" and name == "ApproximateEqual")]      # nor has TensorFlow


def typed(name, arg, dtype, shape, random):
    return sample(name, "bool" if arg.type == "bool" else dtype, shape, random)


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", pytest.param("int64", marks=SLOW),
                                   pytest.param("uint8", marks=SLOW), "complex64"])
def test_formulas(dtype, mode, monkeypatch):
    if mode == "always" and dtype in ("float16", "complex64"):
        pytest.skip("never compiled")
    monkeypatch.setattr(options, "compile", mode)
    random = np.random.default_rng(3)
    feeds, wanted = {}, {}
    for name in elementwise_ops(dtype):
        args = inputs_of(name)
        for shapes in (SHAPES if mode == "never" else COMPILED_SHAPES)[len(args)]:
            if name in ("Select", "BiasAddV1") and len({*shapes}) > 1:
                continue
            arrays = [typed(name, arg, dtype, shape, random) for arg, shape in zip(args, shapes, strict=True)]
            xs = [tf.placeholder(a.dtype, a.shape) for a in arrays]
            feeds.update(zip(xs, arrays, strict=True))
            wide = [a.astype(np.float64 if a.dtype.kind == "f" else a.dtype) for a in arrays]
            with np.errstate(all="ignore"):
                wanted[getattr(raw, name)(*xs)] = name, arrays, formula(name)(*wide)
    with tf.Session() as sess:
        results = sess.run(list(wanted), feeds)
    faults = []
    for y, (tensor, (name, arrays, expected)) in zip(results, wanted.items(), strict=True):
        with np.errstate(all="ignore"):
            expected = np.asarray(expected).astype(tensor.dtype.as_numpy_dtype)
        tolerance = TOLERANCE.get(y.dtype.name, 0)
        if y.dtype != expected.dtype or y.shape != expected.shape or tensor.shape.as_list() != list(y.shape) or \
                not np.allclose(y, expected, rtol=tolerance, atol=tolerance, equal_nan=True):
            faults.append((name, [a.tolist() for a in arrays], np.asarray(y).tolist(), expected.tolist()))
    assert not faults, "\n".join(str(fault)[:1500] for fault in faults)


def test_every_elementwise_op_has_a_formula():
    ops = {name for name, spec in OPS.items() if isinstance(spec, kinds.Elementwise)}
    assert set(FORMULAS) | ELSEWHERE <= ops
    assert {name for name in ops - ELSEWHERE if formula(name) is None} == set()


@pytest.mark.parametrize("mode", ["never", "always"])
def test_ops_that_align_or_list_their_inputs(mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    random = np.random.default_rng(0)
    x, b = random.normal(size=(2, 3, 3, 3)).astype(np.float32), np.arange(3, dtype=np.float32)
    square, flags = x[0, 0], np.array([True, False, True])
    fed = {tf.placeholder(a.dtype, shape): a for a, shape in (
        (x, [None, 3, 3, 3]), (b, [3]), (square, [None, None]), (flags, [None]))}
    px, pb, ps, pf = fed
    cases = {
        raw.BiasAdd(px, pb): x + b,
        raw.BiasAdd(px, pb, data_format="NCHW"): x + b[:, None, None],
        raw.BiasAddGrad(px): x.sum((0, 1, 2)),
        raw.BiasAddGrad(px, data_format="NCHW"): x.sum((0, 2, 3)),
        raw.Select(pf, ps, -ps): np.where(flags[:, None], square, -square),
        raw.Select(True, ps, -ps): square,
        raw.AccumulateNV2([px, 2 * px], shape=[None, 3, 3, 3]): 3 * x,
        raw.AddN([px, px, 2 * px]): 4 * x, raw.AddN([pb]): b,
        raw.L2Loss(px): np.sum(x.astype(np.float64) ** 2) / 2,
    }
    with tf.Session() as sess:
        for y, expected in zip(sess.run(list(cases), fed), cases.values(), strict=True):
            np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


CASTS = [np.array(values, dtype) for dtype, values in (
    ("float32", [-1.7, 0.0, 2.9, 100.0]), ("float64", [1e10, -3.99, 0.5]), ("int32", [-1, 0, 300]),
    ("int64", [2**40, -5]), ("bool", [True, False]), ("uint8", [0, 255]), ("complex64", [1.5 + 2j, 0]))]


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("source", CASTS, ids=lambda a: a.dtype.name)
def test_casts(source, mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    x = tf.placeholder(source.dtype, source.shape)
    targets = ["float32", "float64", "bool", "complex64"]
    targets += [t for t in ("int32", "int64", "uint8", "int8") if fits(source, t)]
    with tf.Session() as sess:
        for target, y in zip(targets, sess.run([raw.Cast(x, DstT=t) for t in targets], {x: source}), strict=True):
            real = source.real if source.dtype.kind == "c" and target not in ("bool", "complex64") else source
            np.testing.assert_array_equal(y, real.astype(target), err_msg=target)
            assert y.dtype == target


def fits(array, target):
    info = np.iinfo(target)
    return bool((np.real(array) >= info.min).all() and (np.real(array) <= info.max).all())


def test_strings_compare_and_join():
    x, y = tf.constant(["a", "b"]), tf.constant(["a", "c"])
    with tf.Session() as sess:
        equal, differ, joined = sess.run([tf.equal(x, y), tf.not_equal(x, "b"), x + y])
    assert equal.tolist() == [True, False] and differ.tolist() == [True, False]
    assert joined.tolist() == [b"aa", b"bc"]


def test_complex_parts():
    z = np.array([3 + 4j, -1j], np.complex64)
    x = tf.placeholder(tf.complex64, [2])
    with tf.Session() as sess:
        parts = sess.run([tf.real(x), tf.imag(x), tf.conj(x), tf.abs(x), tf.complex(tf.real(x), tf.imag(x))], {x: z})
    for y, expected in zip(parts, (z.real, z.imag, z.conj(), np.abs(z), z), strict=True):
        np.testing.assert_array_equal(y, expected)
        assert y.dtype == expected.dtype
