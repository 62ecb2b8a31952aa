"""Temporary variables: variables that live from the op that makes them to the one that ends them, within a run."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.graph.parts.references import ref_variable
from tfnb.opdef import kinds
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host, structural


@structural("-> ref: Ref(dtype)", kinds.Variable, shape=lambda ctx: [ctx.attrs["shape"]], stateful=True,
            shape_="shape", dtype="type", var_name="string = ''")
def TemporaryVariable() -> None:
    """Create a variable for the ops of one run; DestroyTemporaryVariable of the same name ends it.

    It has no value until something is assigned to it, where TensorFlow's begins with arbitrary memory.
    """


@host("ref: Ref(T) -> value: T", shape=shapes.like_first, writes=True, T="type", var_name="string")
def DestroyTemporaryVariable(ref: np.ndarray, *, ctx: Any) -> np.ndarray:
    """Return the last value of a temporary variable, and make it uninitialized again."""
    value = np.array(ref)
    ctx.store.forget(ref_variable(ctx.op.inputs[0]))
    return value


TemporaryVariable.no_gradient("it has no inputs")
DestroyTemporaryVariable.no_gradient("it ends a variable")
