"""Bessel functions and integrals of float32 in kernels: SciPy's of float64, rounded, and TensorFlow's at the edges.

J and Y of large arguments, Dawson's integral and the exponential integral of float64: mpmath's.
"""
from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import special

import tfnb as tf
from tests import modes

HERE = tf.math.special
FUNCTIONS = {**{f"{kind}{order}": getattr(HERE, f"bessel_{kind}{order}") for kind in "ijky" for order in (0, 1)},
             "k0e": HERE.bessel_k0e, "k1e": HERE.bessel_k1e, "dawsn": HERE.dawsn, "expi": HERE.expint}
BELOW_ZERO = {"k": np.inf, "y": -np.inf, "e": np.nan}       # by the first letter
ROOTS = 2.0**-10                                            # beside roots of J and Y, last places of this number
LIMITS = [0.0, 2.0, 4.0, 6.0, 8.0, 24.0, 88.0, np.inf, np.nan, 1e-45, 3e38]


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_a_last_place_of_all_arguments(name):
    random = np.random.default_rng(8)
    edges = np.nextafter(np.float32(LIMITS), np.float32([[-1], [np.inf]])).ravel()
    x = np.concatenate([random.uniform(0, 30, 4000), 10.0 ** random.uniform(-38, 13, 4000), edges[np.isfinite(edges)],
                        LIMITS]).astype("f4")
    x = np.concatenate([x, -x])
    fed = tf.placeholder(tf.float32, [None])
    compiled = modes.run(FUNCTIONS[name](fed), {fed: x})
    plain = modes.run(FUNCTIONS[name](fed), {fed: x}, "never")
    with np.errstate(all="ignore"):
        exact = getattr(special, name)(x.astype("f8"))
        if name[0] in "jy":                                 # SciPy before 1.18 loses the phase there
            large = (np.abs(x) > 1e8) & (np.abs(x) < 1e14)
            bessel = {"j": mpmath.besselj, "y": mpmath.bessely}[name[0]]
            sign = np.sign(x[large]) ** int(name[1])
            exact[large] = sign * [float(bessel(int(name[1]), abs(mpmath.mpf(float(v))))) for v in x[large]]
        exact = np.where(x < 0, BELOW_ZERO.get(name[0], exact), exact)
        rounded = exact.astype("f4")
        for found in (compiled, plain):
            np.testing.assert_array_equal(np.isnan(found), np.isnan(rounded))
            np.testing.assert_array_equal(np.isinf(found), np.isinf(rounded))
        there = np.isfinite(rounded) & (np.abs(x) < 1e14)
        least = ROOTS if name[0] in "jy" else 0.0
        place = np.spacing(np.maximum(np.abs(rounded), np.float32(least)))[there].astype("f8")
        assert (np.abs(compiled[there].astype("f8") - exact[there]) / place).max() < 0.6


def _dawson(x):
    return mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x)


@pytest.mark.parametrize(("function", "exact", "limits"), [
    (HERE.dawsn, _dawson, [0.0, 4.0, 30.0]),
    (HERE.expint, mpmath.ei, [0.0, 0.3725074107813666, 6.0, 14.0, 40.0, 716.0])])
def test_float64_within_four_last_places(function, exact, limits):
    random = np.random.default_rng(8)
    near = np.multiply.outer(limits, 1 + random.choice([-1, 1], 20) * 10.0 ** random.uniform(-16, -1, 20)).ravel()
    x = np.concatenate([random.uniform(0, limits[-1], 100), 10.0 ** random.uniform(-300, 0, 30), near[near > 0]])
    x = np.minimum(x, 716.3)
    fed = tf.placeholder(tf.float64, [None])
    found = modes.run(function(fed), {fed: np.concatenate([x, [np.nan, np.inf]])})
    assert np.isnan(found[-2]) and found[-1] == (0 if function is HERE.dawsn else np.inf)
    with mpmath.workprec(150):
        wanted = [exact(mpmath.mpf(float(value))) for value in x]
        errors = [float(abs(mpmath.mpf(float(a)) - b) / float(np.spacing(abs(float(b)))))
                  for a, b in zip(found, wanted, strict=False)]
    assert max(errors) < 4
