"""Invertible transforms of random variables: `tf.contrib.distributions.bijectors`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.distributions.bijectors.bijector import Bijector, ConditionalBijector
from tfnb.distributions.bijectors.flows import (
    BatchNormalization,
    MaskedAutoregressiveFlow,
    RealNVP,
    masked_autoregressive_default_template,
    masked_dense,
    real_nvp_default_template,
)
from tfnb.distributions.bijectors.intervals import AbsoluteValue, Gumbel, Kumaraswamy, Softsign, Weibull
from tfnb.distributions.bijectors.matrices import (
    CholeskyOuterProduct,
    FillTriangular,
    MatrixInverseTriL,
    Ordered,
    ScaleTriL,
    SoftmaxCentered,
    TransformDiagonal,
)
from tfnb.distributions.bijectors.scalar import (
    AffineScalar,
    Exp,
    Identity,
    PowerTransform,
    Sigmoid,
    SinhArcsinh,
    Softplus,
    Square,
)
from tfnb.distributions.bijectors.vectors import (
    Affine,
    AffineLinearOperator,
    Chain,
    Inline,
    Invert,
    Permute,
    Reshape,
)

_explain(__name__)
