"""Invertible transforms of random variables: `tf.contrib.distributions.bijectors`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.distributions.bijectors.bijector import Bijector
from tfnb.distributions.bijectors.flows import (
    MaskedAutoregressiveFlow,
    RealNVP,
    masked_autoregressive_default_template,
    masked_dense,
    real_nvp_default_template,
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
from tfnb.distributions.bijectors.vectors import Affine, Chain, Inline, Invert, Permute, Reshape

_explain(__name__)
