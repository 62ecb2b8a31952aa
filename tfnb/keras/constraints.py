"""`tf.keras.constraints`."""
# ruff: noqa: F401
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
