"""Steps of regularized optimizers, and sparse steps of all optimizers on some rows of a variable.

Sparse steps get the gradient of the rows that `indices` picks; the others stay as they are. The formulas are those
that TensorFlow documents for its training ops.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfnb.core.shape import Static, merge
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import scatter, update
from tfnb.ops.state.assign import (
    ApplyAdadelta,
    ApplyAdagrad,
    ApplyAdagradV2,
    ApplyCenteredRMSProp,
    ApplyMomentum,
    ApplyRMSProp,
    computes_type,
    merged_shape,
)

if TYPE_CHECKING:
    sqrt: Any                       # primitives (kernels/scalar/primitives.py)
    sign: Any
    maximum: Any
    minimum: Any
    where: Any
    cast: Any

_DENSE: dict[str, Any] = {"T": "numbertype", "use_locking": "bool = false"}
_SPARSE: dict[str, Any] = {"T": "numbertype", "Tindices": "indextype", "use_locking": "bool = false"}


# All of a variable

@update("var: Ref(T), alpha: T, l1: T, l2: T, delta: T -> out: Ref(T)", shape=merged_shape("var", "delta"),
        validate=computes_type, **_DENSE)
def ApplyProximalGradientDescent(var: Any, alpha: Any, l1: Any, l2: Any, delta: Any) -> Any:
    """Apply a proximal gradient step: var -= alpha * delta, then shrink by `alpha * l1` and `1 + alpha * l2`."""
    ahead = var - delta * alpha
    return sign(ahead) * maximum(abs(ahead) - alpha * l1, 0) / (1 + l2 * alpha)


@update("var: Ref(T), accum: Ref(T), lr: T, l1: T, l2: T, grad: T -> out: Ref(T)",
        shape=merged_shape("var", "accum", "grad"),
        validate=computes_type, **_DENSE)
def ApplyProximalAdagrad(var: Any, accum: Any, lr: Any, l1: Any, l2: Any, grad: Any) -> Any:
    """As ApplyProximalGradientDescent, with the rate `lr / sqrt(accum)`, after accum += grad * grad."""
    total = accum + grad * grad
    rate = lr / sqrt(total)
    ahead = var - grad * rate
    return sign(ahead) * maximum(abs(ahead) - rate * l1, 0) / (1 + l2 * rate), total


@update("var: Ref(T), gradient_accumulator: Ref(T), gradient_squared_accumulator: Ref(T), grad: T, lr: T, l1: T, "
        "l2: T, global_step: int64 -> out: Ref(T)", **_DENSE,
        shape=merged_shape("var", "gradient_accumulator", "gradient_squared_accumulator", "grad"),
        validate=computes_type)
def ApplyAdagradDA(var: Any, gradient_accumulator: Any, gradient_squared_accumulator: Any, grad: Any, lr: Any, l1: Any,
                   l2: Any, global_step: Any) -> Any:
    """Apply Adagrad with dual averaging (Duchi et al., 2011): the variable follows from the sums of all gradients."""
    step = cast(global_step)
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + grad * grad
    rest = where(l1 > 0, sign(total) * maximum(abs(total) - l1 * step, 0), total)
    return -lr * rest / (l2 * step * lr + sqrt(squares)), total, squares


@update("var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, lr: T, l1: T, l2: T, lr_power: T -> out: Ref(T)",
        shape=merged_shape("var", "accum", "linear", "grad"),
        validate=computes_type, **_DENSE, multiply_linear_by_lr="bool = false")
def ApplyFtrl(var: Any, accum: Any, linear: Any, grad: Any, lr: Any, l1: Any, l2: Any, lr_power: Any, *,
              multiply_linear_by_lr: bool) -> Any:
    """Apply FTRL-Proximal (McMahan et al., 2013): the variable follows from `linear`, 0 where that is within l1."""
    total = accum + grad * grad
    root = where(lr_power == -0.5, sqrt(total), total ** -lr_power)
    grown = root - where(lr_power == -0.5, sqrt(accum), accum ** -lr_power)
    scale = where(multiply_linear_by_lr, lr, 1.0)
    over = where(multiply_linear_by_lr, 1.0, lr)
    line = linear + grad * scale - grown / over * var
    within = maximum(minimum(line, l1 * scale), -l1 * scale)
    return (within - line) / (root / over + 2 * l2 * scale), total, line


@update("var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T "
        "-> out: Ref(T)", shape=merged_shape("var", "accum", "linear", "grad"),
        validate=computes_type, **_DENSE,
        multiply_linear_by_lr="bool = false")
def ApplyFtrlV2(var: Any, accum: Any, linear: Any, grad: Any, lr: Any, l1: Any, l2: Any, l2_shrinkage: Any,
                lr_power: Any, *, multiply_linear_by_lr: bool) -> Any:
    """As ApplyFtrl, with `2 * l2_shrinkage * var` added to the gradient, but not to its square."""
    total = accum + grad * grad
    root = where(lr_power == -0.5, sqrt(total), total ** -lr_power)
    grown = root - where(lr_power == -0.5, sqrt(accum), accum ** -lr_power)
    scale = where(multiply_linear_by_lr, lr, 1.0)
    over = where(multiply_linear_by_lr, 1.0, lr)
    line = linear + (grad + 2 * l2_shrinkage * var) * scale - grown / over * var
    within = maximum(minimum(line, l1 * scale), -l1 * scale)
    return (within - line) / (root / over + 2 * l2 * scale), total, line


# Some rows of a variable

def rows_shape(ctx: Any) -> list[Static]:
    """Infer the shapes: all Ref inputs have one, the gradient a row of it for each index; other inputs are scalars."""
    variable: Static = None
    for i, arg in enumerate(ctx.op.spec.inputs):
        if arg.is_ref:
            variable = merge(variable, ctx.shape(i))
        elif arg.name not in ("grad", "indices"):
            merge(ctx.shape(i), ())
    names = [arg.name for arg in ctx.op.spec.inputs]
    indices = merge(ctx.shape(names.index("indices")), (None,))
    assert indices is not None
    if variable is not None:
        if not variable:
            raise ValueError("Shape must be at least rank 1 but is rank 0")
        merge(ctx.shape(names.index("grad")), indices + variable[1:])
    return [variable]


def _sparse(dense: Constructor, text: str, **attrs: Any) -> Callable[[Callable[..., Any]], Constructor]:
    """Return the step `dense` on the rows that the input `indices` picks."""
    return scatter(text, shape=rows_shape, validate=computes_type, rows=("grad",), of=dense, **_SPARSE, **attrs)


@_sparse(ApplyMomentum, "var: Ref(T), accum: Ref(T), lr: T, grad: T, indices: Tindices, momentum: T -> out: Ref(T)",
         use_nesterov="bool = false")
def SparseApplyMomentum() -> None:
    """Apply ApplyMomentum to the rows at `indices`."""


@_sparse(ApplyAdagrad,
         "var: Ref(T), accum: Ref(T), lr: T, grad: T, indices: Tindices -> out: Ref(T)", update_slots="bool = true")
def SparseApplyAdagrad() -> None:
    """Apply ApplyAdagrad to the rows at `indices`."""


@_sparse(ApplyAdagradV2, "var: Ref(T), accum: Ref(T), lr: T, epsilon: T, grad: T, indices: Tindices -> out: Ref(T)",
         update_slots="bool = true")
def SparseApplyAdagradV2() -> None:
    """Apply ApplyAdagradV2 to the rows at `indices`."""


@_sparse(ApplyAdadelta,
         "var: Ref(T), accum: Ref(T), accum_update: Ref(T), lr: T, rho: T, epsilon: T, grad: T, indices: Tindices "
         "-> out: Ref(T)")
def SparseApplyAdadelta() -> None:
    """Apply ApplyAdadelta to the rows at `indices`."""


@_sparse(ApplyRMSProp,
         "var: Ref(T), ms: Ref(T), mom: Ref(T), lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices "
         "-> out: Ref(T)")
def SparseApplyRMSProp() -> None:
    """Apply ApplyRMSProp to the rows at `indices`."""


@_sparse(ApplyCenteredRMSProp,
         "var: Ref(T), mg: Ref(T), ms: Ref(T), mom: Ref(T), lr: T, rho: T, momentum: T, epsilon: T, grad: T, "
         "indices: Tindices -> out: Ref(T)")
def SparseApplyCenteredRMSProp() -> None:
    """Apply ApplyCenteredRMSProp to the rows at `indices`."""


@_sparse(ApplyProximalGradientDescent, "var: Ref(T), alpha: T, l1: T, l2: T, grad: T, indices: Tindices -> out: Ref(T)")
def SparseApplyProximalGradientDescent() -> None:
    """Apply ApplyProximalGradientDescent to the rows at `indices`."""


@_sparse(ApplyProximalAdagrad,
         "var: Ref(T), accum: Ref(T), lr: T, l1: T, l2: T, grad: T, indices: Tindices -> out: Ref(T)")
def SparseApplyProximalAdagrad() -> None:
    """Apply ApplyProximalAdagrad to the rows at `indices`."""


@_sparse(ApplyAdagradDA, "var: Ref(T), gradient_accumulator: Ref(T), gradient_squared_accumulator: Ref(T), grad: T, "
         "indices: Tindices, lr: T, l1: T, l2: T, global_step: int64 -> out: Ref(T)")
def SparseApplyAdagradDA() -> None:
    """Apply ApplyAdagradDA to the rows at `indices`."""


@_sparse(ApplyFtrl,
         "var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, indices: Tindices, lr: T, l1: T, l2: T, lr_power: T "
         "-> out: Ref(T)", multiply_linear_by_lr="bool = false")
def SparseApplyFtrl() -> None:
    """Apply ApplyFtrl to the rows at `indices`."""


@_sparse(ApplyFtrlV2, "var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, indices: Tindices, lr: T, l1: T, l2: T, "
         "l2_shrinkage: T, lr_power: T -> out: Ref(T)", multiply_linear_by_lr="bool = false")
def SparseApplyFtrlV2() -> None:
    """Apply ApplyFtrlV2 to the rows at `indices`."""
