"""Bessel functions, incomplete gamma and beta functions, integrals: against TensorFlow, SciPy and mpmath."""
from __future__ import annotations

import ctypes

import mpmath
import numpy as np
import pytest
from scipy import special

import tfnb as tf
from tests.differential import differences
from tests.modes import compiling
from tfnb.kernels.arrays.gamma import derivative
from tfnb.kernels.llvm import special_functions
from tfnb.ops.declaration.raw import raw

BESSEL = [f"bessel_{name}" for name in ("i0", "i1", "j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1")]
OTHERS = ["dawsn", "expint", "fresnel_cos", "fresnel_sin", "spence"]
SETUP = """
xs = np.array([-np.inf, -3, -1e-3, 0, 1e-3, 0.5, 1, 2, 7.5, 20, np.nan])
"""
ONE = """
x = tf.placeholder(tf.float64, [None])
y = tf.math.special.{name}(x)
sess.run([y, tf.gradients(y, x)[0]], {{x: xs}})
"""
TWO = """
a, x = tf.placeholder(tf.float64, [None, 1]), tf.placeholder(tf.float64, [None])
y = {call}
sess.run([y, *tf.gradients(y, [a, x])], {{a: [[0.01], [0.5], [2.0], [40.0]], x: [1e-4, 0.3, 1.5, 30.0, 80.0]}})
"""
SNIPPETS = {
    **{name: ONE.format(name=name) for name in BESSEL + OTHERS if name != "bessel_i1"},
    "bessel_i1": "sess.run(tf.math.bessel_i1(tf.constant(xs)))",            # its gradient fails there
    "igamma": TWO.format(call="tf.igamma(a, x)"), "igammac": TWO.format(call="tf.igammac(a, x)"),
    "sample": TWO.replace("*tf.gradients(y, [a, x])", "a").format(
        call="tf.raw_ops.RandomGammaGrad(alpha=a, sample=x)"),
    "poles": """
    a, x = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None])
    fed = {a: [[-1.0], [0.0], [2.0]], x: [-1.0, 0.0, 0.5, np.inf, np.nan]}
    sess.run([tf.igamma(a, x), tf.igammac(a, x), tf.betainc(a, 2.0, x), tf.raw_ops.IgammaGradA(a=a, x=x)], fed)""",
    "betainc": """
    a, b, x = (tf.placeholder(tf.float64, [None]) for _ in range(3))
    y = tf.betainc(a, b, x)
    fed = {a: [0.1, 2.0, 30.0, 0.5], b: [0.3, 1.0, 40.0, 0.5], x: [0.2, 0.5, 0.4, 0.999]}
    sess.run([y, tf.gradients(y, [x])[0]], fed)""",
    "half": "[sess.run(f(tf.constant([0.5, 2.0], tf.half))) for f in (tf.math.special.bessel_j1, "
            "tf.math.bessel_i0)]",
    "nextafter": """
    x = tf.placeholder(tf.float32, [None])
    y = tf.math.nextafter(x, [0.0, 2.0, np.inf, -1.0, 1.0])
    sess.run([y, tf.gradients(y, x)[0]], {x: [0.0, 1.0, 3e38, 1.0, np.nan]})""",
    "types": "outcome(lambda: tf.math.special.spence([1, 2]))",
}


def test_like_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, 2e-10, modes=("never", "always"))


@pytest.mark.parametrize("name", [*BESSEL, "dawsn", "spence"])
def test_compiled_is_interpreted(name):
    x = tf.placeholder(tf.float32, [None])
    y = getattr(tf.math.special, name)(x)
    values = np.linspace(0.01, 30, 400, dtype=np.float32)
    results = []
    for mode in ("never", "always"):
        with compiling(mode), tf.Session() as sess:
            results.append(sess.run(y, {x: values}))
    np.testing.assert_array_max_ulp(*results, 1)           # SciPy's, rounded; polynomials within 0.6 ulp


ROUTINES = {
    "igamma": (tf.igamma, special.gammainc), "igammac": (tf.igammac, special.gammaincc),
    "betainc": (tf.betainc, special.betainc), "zeta": (tf.zeta, special.zeta),
    "polygamma": (tf.polygamma, lambda n, x: special.polygamma(n.astype(int), x)),
}


@pytest.mark.parametrize("name", ROUTINES)
@pytest.mark.parametrize(("type", "error"), [("float32", 1e-7), ("float64", 1e-11)])
def test_routines_are_exact_for_all_sizes_of_arguments(name, type, error):
    rng = np.random.default_rng(3)
    a, b = (np.exp(rng.uniform(-5, 8, 3000)).astype(type) for _ in range(2))
    x = (a * np.exp(rng.uniform(-2, 2, 3000))).astype(type)
    args = {"zeta": (1 + a / 50, b), "polygamma": (rng.integers(0, 9, 3000).astype(type), b),
            "betainc": (a, b, rng.uniform(0, 1, 3000).astype(type))}.get(name, (a, x))
    ours, exact = ROUTINES[name]
    feeds = [tf.placeholder(type, [None]) for _ in args]
    with compiling("always"), tf.Session() as sess:
        found = sess.run(ours(*feeds), dict(zip(feeds, args, strict=True)))
    wanted = exact(*(each.astype(float) for each in args))
    usual = (np.abs(wanted) > np.finfo(type).tiny) & (np.abs(wanted) < np.finfo(type).max)
    np.testing.assert_allclose(found[usual], wanted[usual], rtol=error if name != "betainc" else 2e-7)
    assert usual.mean() > 0.5


def test_addresses_are_those_of_scipy():
    arguments = {1: (0.7,), 2: (0.7, 0.4), 3: (0.7, 0.4, 0.2)}
    for row in special_functions.SYMBOLS.values():
        address = special_functions._address(row.scipy, row.arity)
        function = ctypes.CFUNCTYPE(*[ctypes.c_double] * (row.arity + 1))(address)
        given = arguments[row.arity]
        assert function(*given) == getattr(special, row.scipy)(*given), row.scipy
    with pytest.raises(ImportError, match="expected a function j0 of 2 doubles"):
        special_functions._address("j0", 2)


@pytest.mark.parametrize(("a", "x"), [(0.01, 1e-8), (0.5, 3.0), (300.0, 300.0), (300.0, 340.0), (5000.0, 5010.0)])
def test_derivative_of_the_incomplete_gamma_function(a, x):
    with mpmath.workdps(30):
        wanted = float(mpmath.diff(lambda p: mpmath.gammainc(p, 0, x, regularized=True), a))
    assert derivative(np.array([a]), np.array([x]), of_sample=False)[0] == pytest.approx(wanted, rel=1e-10)
    with compiling("always"), tf.Session() as sess:
        fed = tf.placeholder(tf.float64, [None, 1])
        compiled = sess.run(raw.IgammaGradA(fed, np.array([x, x])), {fed: [[a], [a], [a]]})
    assert compiled == pytest.approx(np.full((3, 2), wanted), rel=1e-10)
