"""Distributions whose parameters may have any sign: softplus makes them positive."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.continuous import Laplace, Normal, StudentT
from tfnb.distributions.contrib.scalars import Chi2, InverseGamma
from tfnb.distributions.families import keep_parameters
from tfnb.distributions.positive import Beta, Exponential, Gamma
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.raw import raw


class BetaWithSoftplusConcentration(Beta):
    """Beta distribution of parameters softplus(`concentration1`) and softplus(`concentration0`).

    concentration1, concentration0: of any sign.

    >>> sess.run(tf.contrib.distributions.BetaWithSoftplusConcentration(0.0, 0.0).mean())
    0.5
    """

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "BetaWithSoftplusConcentration") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as scope:
            super().__init__(raw.Softplus(convert_to_tensor(concentration1)),
                             raw.Softplus(convert_to_tensor(concentration0)), validate_args, allow_nan_stats, scope)
        keep_parameters(self, parameters)


class Chi2WithAbsDf(Chi2):
    """Chi-squared distribution of floor(abs(`df`)) degrees of freedom.

    df: of any sign.

    >>> sess.run(tf.contrib.distributions.Chi2WithAbsDf(-3.5).mean())
    3.0
    """

    def __init__(self, df: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Chi2WithAbsDf") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as scope:
            super().__init__(raw.Floor(raw.Abs(convert_to_tensor(df, name="df"))), validate_args,
                             allow_nan_stats, scope)
        keep_parameters(self, parameters)


class ExponentialWithSoftplusRate(Exponential):
    """Exponential distribution of rate softplus(`rate`).

    rate: of any sign.

    >>> sess.run(tf.contrib.distributions.ExponentialWithSoftplusRate(0.0).mean())
    1.4427
    """

    def __init__(self, rate: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "ExponentialWithSoftplusRate") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as scope:
            super().__init__(raw.Softplus(convert_to_tensor(rate)), validate_args, allow_nan_stats, scope)
        keep_parameters(self, parameters)


class GammaWithSoftplusConcentrationRate(Gamma):
    """Gamma distribution of parameters softplus(`concentration`) and softplus(`rate`).

    concentration, rate: of any sign.

    >>> sess.run(tf.contrib.distributions.GammaWithSoftplusConcentrationRate(0.0, 0.0).mean())
    1.0
    """

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "GammaWithSoftplusConcentrationRate") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as scope:
            super().__init__(raw.Softplus(convert_to_tensor(concentration)),
                             raw.Softplus(convert_to_tensor(rate)), validate_args, allow_nan_stats, scope)
        keep_parameters(self, parameters)


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """Inverse gamma distribution of parameters softplus(`concentration`) and softplus(`rate`).

    concentration, rate: of any sign.

    >>> sess.run(tf.contrib.distributions.InverseGammaWithSoftplusConcentrationRate(0.0, 0.0).mode())
    0.4094
    """

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "InverseGammaWithSoftplusConcentrationRate") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as scope:
            super().__init__(raw.Softplus(convert_to_tensor(concentration)),
                             raw.Softplus(convert_to_tensor(rate)), validate_args, allow_nan_stats, scope)
        keep_parameters(self, parameters)


class LaplaceWithSoftplusScale(Laplace):
    """Laplace distribution of scale softplus(`scale`).

    loc: the mean; scale: of any sign.

    >>> sess.run(tf.contrib.distributions.LaplaceWithSoftplusScale(0.0, 0.0).stddev())
    0.9803
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "LaplaceWithSoftplusScale") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as scope:
            super().__init__(loc, raw.Softplus(convert_to_tensor(scale)), validate_args, allow_nan_stats, scope)
        keep_parameters(self, parameters)


class NormalWithSoftplusScale(Normal):
    """Normal distribution of standard deviation softplus(`scale`).

    loc: the mean; scale: of any sign.

    >>> sess.run(tf.contrib.distributions.NormalWithSoftplusScale(0.0, 0.0).stddev())
    0.6931
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "NormalWithSoftplusScale") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as scope:
            super().__init__(loc, raw.Softplus(convert_to_tensor(scale)), validate_args, allow_nan_stats, scope)
        keep_parameters(self, parameters)


class StudentTWithAbsDfSoftplusScale(StudentT):
    """Student's t distribution of floor(abs(`df`)) degrees of freedom and scale softplus(`scale`).

    df, scale: of any sign; loc: the location.

    >>> sess.run(tf.contrib.distributions.StudentTWithAbsDfSoftplusScale(-5.5, 0.0, 0.0).variance())
    0.8008
    """

    def __init__(self, df: Any, loc: Any, scale: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "StudentTWithAbsDfSoftplusScale") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as scope:
            super().__init__(raw.Floor(raw.Abs(convert_to_tensor(df, name="df"))), loc,
                             raw.Softplus(convert_to_tensor(scale)), validate_args, allow_nan_stats, scope)
        keep_parameters(self, parameters)


describe(globals(), DISTRIBUTIONS)
