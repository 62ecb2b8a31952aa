"""`tf.keras.constraints`."""
# ruff: noqa: F401
from tfnb.core.absent import explain as _explain
from tfnb.keras.functions.constraints import (
    Constraint,
    MaxNorm,
    MinMaxNorm,
    NonNeg,
    RadialConstraint,
    UnitNorm,
    deserialize,
    get,
    max_norm,
    min_max_norm,
    non_neg,
    radial_constraint,
    serialize,
    unit_norm,
)

_explain(__name__)
