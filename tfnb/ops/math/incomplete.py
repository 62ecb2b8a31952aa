"""Regularized incomplete gamma and beta functions, with their derivatives."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.arrays.gamma import derivative
from tfnb.kernels.library.random import gamma
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import elementwise, kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import REAL
from tfnb.ops.math.broadcast import unbroadcast
from tfnb.ops.math.functions import Exp, Log, Log1p
from tfnb.ops.math.special import Lgamma

_WIDE = "{float, double}"


@public("igamma", "math.igamma")
@elementwise("a: T, x: T -> z: T", T=REAL, domain="positive")
def Igamma(a, x):
    """Compute the regularized lower incomplete gamma function P(a, x), element-wise: of Gamma(a, 1) the CDF at x.

    NaN for a <= 0 or x < 0.

    >>> sess.run(tf.igamma(2.0, [0.0, 1.0, 10.0]))
    array([0.    , 0.2642, 0.9995], dtype=float32)
    """
    return igamma(a, x)


@public("igammac", "math.igammac")
@elementwise("a: T, x: T -> z: T", T=REAL, domain="positive")
def Igammac(a, x):
    """Compute the regularized upper incomplete gamma function Q(a, x) = 1 - P(a, x), element-wise.

    >>> sess.run(tf.igammac(2.0, [0.0, 1.0, 10.0]))
    array([1.0000e+00, 7.3576e-01, 4.9940e-04], dtype=float32)
    """
    return igammac(a, x)


def _slope(ctx: Any, a: np.ndarray, x: np.ndarray) -> np.ndarray:
    return derivative(a, x, False)


def _slope_of_sample(ctx: Any, alpha: np.ndarray, sample: np.ndarray) -> np.ndarray:
    return derivative(alpha, sample, True)


@kernel("a: T, x: T -> z: T", shape=shapes.broadcast_inputs, numpy=_slope, launch=gamma.igamma_grad_a, T=_WIDE)
def IgammaGradA() -> None:
    """Compute the derivative of Igamma with respect to its parameter `a`, element-wise."""


@kernel("alpha: T, sample: T -> output: T", shape=shapes.broadcast_inputs, numpy=_slope_of_sample,
        launch=gamma.random_gamma_grad, T=_WIDE)
def RandomGammaGrad() -> None:
    """Compute the derivative of a sample of Gamma(`alpha`, 1) with respect to `alpha`, by implicit reparameterization:
    minus the derivative of the CDF with respect to `alpha`, over the density (Figurnov et al., 2018)."""


def _density(a: Tensor, x: Tensor) -> Tensor:
    found: Tensor = Exp(-x + (a - 1) * Log(x) - Lgamma(a))
    return found


@Igamma.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    a, x = op.inputs
    return unbroadcast(op, IgammaGradA(a, x) * dz, _density(a, x) * dz)


@Igammac.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    a, x = op.inputs
    return unbroadcast(op, -IgammaGradA(a, x) * dz, -_density(a, x) * dz)


for _op in (IgammaGradA, RandomGammaGrad):
    _op.no_gradient("TensorFlow defines no second derivative with respect to the parameter")


@public("betainc", "math.betainc")
@elementwise("a: T, b: T, x: T -> z: T", T=_WIDE, domain="probability")
def Betainc(a, b, x):
    """Compute the regularized incomplete beta function, element-wise: of Beta(a, b) the CDF at x.

    NaN for x outside of [0, 1], a <= 0 or b <= 0. It has a gradient with respect to `x` alone, as in TensorFlow.

    >>> sess.run(tf.betainc(2.0, 2.0, [0.0, 0.25, 1.0]))
    array([0.    , 0.1562, 1.    ], dtype=float32)
    """
    return betainc(a, b, x)


@Betainc.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    a, b, x = op.inputs
    log_beta = Lgamma(a) + Lgamma(b) - Lgamma(a + b)
    slope = Exp((b - 1) * Log1p(-x) + (a - 1) * Log(x) - log_beta)
    return [None, None, raw.Reshape(slope * dz, raw.Shape(x))]
