"""The steps of optimizers that regularise, and the steps of all optimizers on some rows of a variable.

Sparse steps get the gradient of the rows that `indices` picks; the others stay as they are. The formulas are those
that TensorFlow documents for its training ops.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfnb.core.shape import Static, merge
from tfnb.ops.construct import Constructor
from tfnb.ops.declare import scatter, update
from tfnb.ops.state import merged_shape

if TYPE_CHECKING:
    sqrt: Any                       # words of scalar definitions (kernels/words.py)
    sign: Any
    maximum: Any
    minimum: Any
    where: Any
    cast: Any

_DENSE: dict[str, Any] = {"T": "numbertype", "use_locking": "bool = false"}
_SPARSE: dict[str, Any] = {"T": "numbertype", "Tindices": "indextype", "use_locking": "bool = false"}


# All of a variable

@update("var: Ref(T), alpha: T, l1: T, l2: T, delta: T -> out: Ref(T)", shape=merged_shape("var", "delta"), **_DENSE)
def ApplyProximalGradientDescent(var: Any, alpha: Any, l1: Any, l2: Any, delta: Any) -> Any:
    """A step against the gradient, then towards zero by `alpha * l1`, then smaller by `1 + alpha * l2`."""
    ahead = var - delta * alpha
    return sign(ahead) * maximum(abs(ahead) - alpha * l1, 0) / (1 + l2 * alpha)


@update("var: Ref(T), accum: Ref(T), lr: T, l1: T, l2: T, grad: T -> out: Ref(T)",
        shape=merged_shape("var", "accum", "grad"), **_DENSE)
def ApplyProximalAdagrad(var: Any, accum: Any, lr: Any, l1: Any, l2: Any, grad: Any) -> Any:
    """As ApplyProximalGradientDescent, with the rate `lr / sqrt(accum)`, after accum += grad * grad."""
    total = accum + grad * grad
    rate = lr / sqrt(total)
    ahead = var - grad * rate
    return sign(ahead) * maximum(abs(ahead) - rate * l1, 0) / (1 + l2 * rate), total


@update("var: Ref(T), gradient_accumulator: Ref(T), gradient_squared_accumulator: Ref(T), grad: T, lr: T, l1: T, "
        "l2: T, global_step: int64 -> out: Ref(T)", **_DENSE,
        shape=merged_shape("var", "gradient_accumulator", "gradient_squared_accumulator", "grad"))
def ApplyAdagradDA(var: Any, gradient_accumulator: Any, gradient_squared_accumulator: Any, grad: Any, lr: Any, l1: Any,
                   l2: Any, global_step: Any) -> Any:
    """Adagrad with dual averaging (Duchi et al., 2011): the variable follows from the sums of all gradients."""
    step = cast(global_step)
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + grad * grad
    rest = where(l1 > 0, sign(total) * maximum(abs(total) - l1 * step, 0), total)
    return -lr * rest / (l2 * step * lr + sqrt(squares)), total, squares


@update("var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, lr: T, l1: T, l2: T, lr_power: T -> out: Ref(T)",
        shape=merged_shape("var", "accum", "linear", "grad"), **_DENSE, multiply_linear_by_lr="bool = false")
def ApplyFtrl(var: Any, accum: Any, linear: Any, grad: Any, lr: Any, l1: Any, l2: Any, lr_power: Any, *,
              multiply_linear_by_lr: bool) -> Any:
    """FTRL-Proximal (McMahan et al., 2013): the variable follows from `linear`, 0 where that is within l1."""
    total = accum + grad * grad
    root = where(lr_power == -0.5, sqrt(total), total ** -lr_power)
    grown = root - where(lr_power == -0.5, sqrt(accum), accum ** -lr_power)
    scale = where(multiply_linear_by_lr, lr, 1.0)
    over = where(multiply_linear_by_lr, 1.0, lr)
    line = linear + grad * scale - grown / over * var
    within = maximum(minimum(line, l1 * scale), -l1 * scale)
    return (within - line) / (root / over + 2 * l2 * scale), total, line


@update("var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T "
        "-> out: Ref(T)", shape=merged_shape("var", "accum", "linear", "grad"), **_DENSE,
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

def _rows_shape(ctx: Any) -> list[Static]:
    """All Ref inputs have one shape, the gradient a row of it for each index; other inputs are scalars."""
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


def _sparse(text: str, **attrs: Any) -> Callable[[Callable[..., Any]], Constructor]:
    return scatter(text, shape=_rows_shape, rows=("grad",), **_SPARSE, **attrs)


@_sparse("var: Ref(T), accum: Ref(T), lr: T, grad: T, indices: Tindices, momentum: T -> out: Ref(T)",
         use_nesterov="bool = false")
def SparseApplyMomentum(var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool) -> Any:
    """ApplyMomentum on the rows that `indices` picks."""
    speed = accum * momentum + grad
    return var - where(use_nesterov, grad * lr + speed * momentum * lr, speed * lr), speed


@_sparse("var: Ref(T), accum: Ref(T), lr: T, grad: T, indices: Tindices -> out: Ref(T)", update_slots="bool = true")
def SparseApplyAdagrad(var: Any, accum: Any, lr: Any, grad: Any, *, update_slots: bool) -> Any:
    """ApplyAdagrad on the rows that `indices` picks."""
    total = where(update_slots, accum + grad * grad, accum)
    return var - grad * lr / sqrt(total), total


@_sparse("var: Ref(T), accum: Ref(T), lr: T, epsilon: T, grad: T, indices: Tindices -> out: Ref(T)",
         update_slots="bool = true")
def SparseApplyAdagradV2(var: Any, accum: Any, lr: Any, epsilon: Any, grad: Any, *, update_slots: bool) -> Any:
    """ApplyAdagradV2 on the rows that `indices` picks."""
    total = where(update_slots, accum + grad * grad, accum)
    return var - grad * lr / (sqrt(total) + epsilon), total


@_sparse("var: Ref(T), accum: Ref(T), accum_update: Ref(T), lr: T, rho: T, epsilon: T, grad: T, indices: Tindices "
         "-> out: Ref(T)")
def SparseApplyAdadelta(var: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, epsilon: Any, grad: Any) -> Any:
    """ApplyAdadelta on the rows that `indices` picks."""
    square = accum * rho + grad * grad * (1 - rho)
    step = sqrt(accum_update + epsilon) / sqrt(square + epsilon) * grad
    return var - step * lr, square, accum_update * rho + step * step * (1 - rho)


@_sparse("var: Ref(T), ms: Ref(T), mom: Ref(T), lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices "
         "-> out: Ref(T)")
def SparseApplyRMSProp(var: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any, grad: Any) -> Any:
    """ApplyRMSProp on the rows that `indices` picks."""
    square = ms * rho + grad * grad * (1 - rho)
    step = mom * momentum + lr * grad / sqrt(square + epsilon)
    return var - step, square, step


@_sparse("var: Ref(T), mg: Ref(T), ms: Ref(T), mom: Ref(T), lr: T, rho: T, momentum: T, epsilon: T, grad: T, "
         "indices: Tindices -> out: Ref(T)")
def SparseApplyCenteredRMSProp(var: Any, mg: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any,
                               grad: Any) -> Any:
    """ApplyCenteredRMSProp on the rows that `indices` picks."""
    square = ms * rho + grad * grad * (1 - rho)
    mean = mg * rho + grad * (1 - rho)
    step = mom * momentum + lr * grad / sqrt(square + epsilon - mean * mean)
    return var - step, mean, square, step


@_sparse("var: Ref(T), alpha: T, l1: T, l2: T, grad: T, indices: Tindices -> out: Ref(T)")
def SparseApplyProximalGradientDescent(var: Any, alpha: Any, l1: Any, l2: Any, grad: Any) -> Any:
    """ApplyProximalGradientDescent on the rows that `indices` picks."""
    ahead = var - grad * alpha
    return sign(ahead) * maximum(abs(ahead) - alpha * l1, 0) / (1 + l2 * alpha)


@_sparse("var: Ref(T), accum: Ref(T), lr: T, l1: T, l2: T, grad: T, indices: Tindices -> out: Ref(T)")
def SparseApplyProximalAdagrad(var: Any, accum: Any, lr: Any, l1: Any, l2: Any, grad: Any) -> Any:
    """ApplyProximalAdagrad on the rows that `indices` picks."""
    total = accum + grad * grad
    rate = lr / sqrt(total)
    ahead = var - grad * rate
    return sign(ahead) * maximum(abs(ahead) - rate * l1, 0) / (1 + l2 * rate), total


@_sparse("var: Ref(T), gradient_accumulator: Ref(T), gradient_squared_accumulator: Ref(T), grad: T, "
         "indices: Tindices, lr: T, l1: T, l2: T, global_step: int64 -> out: Ref(T)")
def SparseApplyAdagradDA(var: Any, gradient_accumulator: Any, gradient_squared_accumulator: Any, grad: Any, lr: Any,
                         l1: Any, l2: Any, global_step: Any) -> Any:
    """ApplyAdagradDA on the rows that `indices` picks."""
    step = cast(global_step)
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + grad * grad
    rest = where(l1 > 0, sign(total) * maximum(abs(total) - l1 * step, 0), total)
    return -lr * rest / (l2 * step * lr + sqrt(squares)), total, squares


@_sparse("var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, indices: Tindices, lr: T, l1: T, l2: T, lr_power: T "
         "-> out: Ref(T)", multiply_linear_by_lr="bool = false")
def SparseApplyFtrl(var: Any, accum: Any, linear: Any, grad: Any, lr: Any, l1: Any, l2: Any, lr_power: Any, *,
                    multiply_linear_by_lr: bool) -> Any:
    """ApplyFtrl on the rows that `indices` picks."""
    total = accum + grad * grad
    root = where(lr_power == -0.5, sqrt(total), total ** -lr_power)
    grown = root - where(lr_power == -0.5, sqrt(accum), accum ** -lr_power)
    scale = where(multiply_linear_by_lr, lr, 1.0)
    over = where(multiply_linear_by_lr, 1.0, lr)
    line = linear + grad * scale - grown / over * var
    within = maximum(minimum(line, l1 * scale), -l1 * scale)
    return (within - line) / (root / over + 2 * l2 * scale), total, line


@_sparse("var: Ref(T), accum: Ref(T), linear: Ref(T), grad: T, indices: Tindices, lr: T, l1: T, l2: T, "
         "l2_shrinkage: T, lr_power: T -> out: Ref(T)", multiply_linear_by_lr="bool = false")
def SparseApplyFtrlV2(var: Any, accum: Any, linear: Any, grad: Any, lr: Any, l1: Any, l2: Any, l2_shrinkage: Any,
                      lr_power: Any, *, multiply_linear_by_lr: bool) -> Any:
    """ApplyFtrlV2 on the rows that `indices` picks."""
    total = accum + grad * grad
    root = where(lr_power == -0.5, sqrt(total), total ** -lr_power)
    grown = root - where(lr_power == -0.5, sqrt(accum), accum ** -lr_power)
    scale = where(multiply_linear_by_lr, lr, 1.0)
    over = where(multiply_linear_by_lr, 1.0, lr)
    line = linear + (grad + 2 * l2_shrinkage * var) * scale - grown / over * var
    within = maximum(minimum(line, l1 * scale), -l1 * scale)
    return (within - line) / (root / over + 2 * l2 * scale), total, line
