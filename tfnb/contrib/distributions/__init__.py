"""Probability distributions: `tf.contrib.distributions`, those of `tf.distributions` among them."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module as _lazy_module
from tfnb.distributions.bijectors.scalar import softplus_inverse
from tfnb.distributions.continuous import Laplace, Normal, StudentT, Uniform
from tfnb.distributions.contrib.affine import (
    MultivariateNormalDiag,
    MultivariateNormalDiagPlusLowRank,
    MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance,
    MultivariateNormalLinearOperator,
    MultivariateNormalTriL,
    VectorExponentialDiag,
    VectorLaplaceDiag,
)
from tfnb.distributions.contrib.any_sign import (
    BetaWithSoftplusConcentration,
    Chi2WithAbsDf,
    ExponentialWithSoftplusRate,
    GammaWithSoftplusConcentrationRate,
    InverseGammaWithSoftplusConcentrationRate,
    LaplaceWithSoftplusScale,
    NormalWithSoftplusScale,
    StudentTWithAbsDfSoftplusScale,
)
from tfnb.distributions.contrib.combined import Independent, Mixture, MixtureSameFamily, TransformedDistribution
from tfnb.distributions.contrib.conditional import ConditionalDistribution, ConditionalTransformedDistribution
from tfnb.distributions.contrib.constants import Deterministic, VectorDeterministic
from tfnb.distributions.contrib.discrete import Binomial, Geometric, NegativeBinomial, Poisson
from tfnb.distributions.contrib.one_hot import (
    ExpRelaxedOneHotCategorical,
    OneHotCategorical,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from tfnb.distributions.contrib.quadrature import (
    PoissonLogNormalQuadratureCompound,
    VectorDiffeomixture,
    quadrature_scheme_lognormal_gauss_hermite,
    quadrature_scheme_lognormal_quantiles,
    quadrature_scheme_softmaxnormal_gauss_hermite,
    quadrature_scheme_softmaxnormal_quantiles,
)
from tfnb.distributions.contrib.scalars import (
    Cauchy,
    Chi2,
    Gumbel,
    HalfNormal,
    InverseGamma,
    Logistic,
)
from tfnb.distributions.contrib.skewed import Kumaraswamy, SinhArcsinh, VectorSinhArcsinhDiag
from tfnb.distributions.contrib.statistics import (
    SeedStream,
    assign_log_moving_mean_exp,
    assign_moving_mean_variance,
    auto_correlation,
    moving_mean_variance,
    normal_conjugates_known_scale_posterior,
    normal_conjugates_known_scale_predictive,
    percentile,
    reduce_weighted_logsumexp,
)
from tfnb.distributions.contrib.wishart import WishartCholesky, WishartFull
from tfnb.distributions.contrib.wrappers import Autoregressive, BatchReshape, QuantizedDistribution
from tfnb.distributions.counts import Dirichlet, DirichletMultinomial, Multinomial
from tfnb.distributions.discrete import Bernoulli, Categorical
from tfnb.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    ReparameterizationType,
)
from tfnb.distributions.kullback_leibler import RegisterKL, kl_divergence
from tfnb.distributions.matrices import fill_triangular, fill_triangular_inverse, matrix_diag_transform, tridiag
from tfnb.distributions.positive import Beta, Exponential, Gamma

bijectors = _lazy_module("tfnb.contrib.distributions.bijectors")

_explain(__name__)
