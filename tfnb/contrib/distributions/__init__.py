"""Probability distributions: `tf.contrib.distributions`, those of `tf.distributions` among them."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.distributions.bijectors.scalar import softplus_inverse
from tfnb.distributions.continuous import Laplace, Normal, StudentT, Uniform
from tfnb.distributions.contrib.combined import Independent, Mixture, MixtureSameFamily, TransformedDistribution
from tfnb.distributions.contrib.discrete import Binomial, Geometric, NegativeBinomial, Poisson
from tfnb.distributions.contrib.scalars import (
    Cauchy,
    Chi2,
    Deterministic,
    Gumbel,
    HalfNormal,
    InverseGamma,
    Logistic,
    NormalWithSoftplusScale,
)
from tfnb.distributions.contrib.vectors import (
    ExpRelaxedOneHotCategorical,
    MultivariateNormalDiag,
    MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance,
    MultivariateNormalTriL,
    OneHotCategorical,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from tfnb.distributions.counts import Dirichlet, DirichletMultinomial, Multinomial
from tfnb.distributions.discrete import Bernoulli, Categorical
from tfnb.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    ReparameterizationType,
)
from tfnb.distributions.kullback_leibler import RegisterKL, kl_divergence
from tfnb.distributions.positive import Beta, Exponential, Gamma

bijectors = _lazy_module("tfnb.contrib.distributions.bijectors")

_explain(__name__)
