"""Probability distributions: `tf.distributions`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.distributions.continuous import Laplace, Normal, StudentT, Uniform
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

_explain(__name__)
