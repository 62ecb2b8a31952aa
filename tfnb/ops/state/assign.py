"""Reference variables and their updates: assignments, and the steps of the optimizers.

The definition of an update gives the new values of its Ref inputs, in order; scalars (a learning rate) broadcast. The
formulas are those that TensorFlow documents for its training ops.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import errors
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.parts.references import ref_variable
from tfnb.opdef import kinds
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host, structural, update

if TYPE_CHECKING:
    sqrt: Any                       # words of scalar definitions (kernels/scalar/definition.py)
    where: Any

_LOCK = "bool = false"


def _declared(ctx: Any) -> list[Static]:
    return [ctx.attrs["shape"]]


@structural("-> ref: Ref(dtype)", kinds.Variable, shape=_declared, stateful=True, shape_="shape", dtype="type",
            container="string = ''", shared_name="string = ''")
def VariableV2() -> None:
    """Create a variable, which keeps its value between runs. It has none until something is assigned to it."""


@structural("-> ref: Ref(dtype)", kinds.Variable, shape=_declared, stateful=True, shape_="shape", dtype="type",
            container="string = ''", shared_name="string = ''")
def Variable() -> None:
    """As VariableV2: its name in graphs of TensorFlow 0.x."""


def _assigned(ctx: Any) -> list[Static]:
    if not ctx.attrs["validate_shape"]:
        return [ctx.shape(1)]
    return [merge(ctx.shape(0), ctx.shape(1))]


def merged_shape(*names: str) -> Any:
    """A shape function: the shape that the inputs called `names` have in common; all other inputs are scalars."""
    def shape(ctx: Any) -> list[Static]:
        """Return the common shape. Raises ValueError where the inputs don't fit."""
        common: Static = None
        for i, arg in enumerate(ctx.op.spec.inputs):
            if arg.name in names:
                common = merge(common, ctx.shape(i))
            else:
                merge(ctx.shape(i), ())
        return [common]
    return shape


def computes_type(ctx: Any) -> None:
    """Raise ValueError for integers, which the steps of optimizers are not defined for, as in TensorFlow."""
    dtype = ctx.attrs["T"]
    if not (dtype.is_floating or dtype.is_complex):
        raise ValueError(f"No OpKernel was registered to support Op {ctx.op.type!r} with T={dtype.name}: expected a "
                         "floating-point or complex dtype")


@update("ref: Ref(T), value: T -> output_ref: Ref(T)", shape=_assigned, role="initializer", T="type",
        validate_shape="bool = true", use_locking="bool = true")
def Assign(ref: Any, value: Any) -> Any:
    """Assign `value` to a variable. With validate_shape=False its shape may change."""
    return value


@update("ref: Ref(T), value: T -> output_ref: Ref(T)", role="", shape=shapes.same_inputs, T="numbertype",
        use_locking=_LOCK)
def AssignAdd(ref: Any, value: Any) -> Any:
    """Add `value` to a variable."""
    return ref + value


@update("ref: Ref(T), value: T -> output_ref: Ref(T)", role="", shape=shapes.same_inputs, T="numbertype",
        use_locking=_LOCK)
def AssignSub(ref: Any, value: Any) -> Any:
    """Subtract `value` from a variable."""
    return ref - value


@host("ref: Ref(dtype) -> is_initialized: bool", shape=shapes.scalar, uninitialized=True, dtype="type")
def IsVariableInitialized(ref: Any, *, ctx: Any) -> Any:
    """Return whether the variable has a value."""
    return np.bool_(ctx.store.array(ref_variable(ctx.op.inputs[0])) is not None)


@host("ref: Ref(T) -> output: T", shape=shapes.like_first, writes=True, limit="int", T="{int32, int64}")
def CountUpTo(ref: Any, *, limit: int, ctx: Any) -> Any:
    """Add one to a scalar variable and return its value before that. OutOfRangeError once it is `limit`."""
    if ref >= limit:
        raise errors.OutOfRangeError(None, ctx.op, f"Reached limit of {limit} in CountUpTo {ctx.op.name!r}")
    before = ref.copy()
    ctx.store.assign(ref_variable(ctx.op.inputs[0]), before + before.dtype.type(1))
    return before


@update("var: Ref(T), alpha: T, delta: T -> out: Ref(T)", shape=merged_shape("var", "delta"),
        validate=computes_type, T="numbertype",
        use_locking=_LOCK)
def ApplyGradientDescent(var: Any, alpha: Any, delta: Any) -> Any:
    """Apply a gradient descent step: var -= alpha * delta."""
    return var - alpha * delta


@update("var: Ref(T), accum: Ref(T), lr: T, grad: T, momentum: T -> out: Ref(T)",
        shape=merged_shape("var", "accum", "grad"),
        validate=computes_type, T="numbertype", use_locking=_LOCK, use_nesterov="bool = false")
def ApplyMomentum(var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool) -> Any:
    """Apply momentum: accum = accum * momentum + grad; var -= lr * accum (Nesterov: lr * (grad + momentum * accum))."""
    speed = accum * momentum + grad
    step = where(use_nesterov, grad * lr + speed * momentum * lr, speed * lr)
    return var - step, speed


@update("var: Ref(T), m: Ref(T), v: Ref(T), beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, "
        "grad: T -> out: Ref(T)", shape=merged_shape("var", "m", "v", "grad"),
        validate=computes_type, T="numbertype", use_locking=_LOCK,
        use_nesterov="bool = false")
def ApplyAdam(var: Any, m: Any, v: Any, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any,
              epsilon: Any, grad: Any, *, use_nesterov: bool) -> Any:
    """Apply a step of Adam (Kingma and Ba, 2014), in the form of the end of section 2 of the paper.

    lr_t = lr * sqrt(1 - beta2_power) / (1 - beta1_power); m and v move towards grad and its square by 1 - beta1 and
    1 - beta2; var -= lr_t * m / (sqrt(v) + epsilon).
    """
    alpha = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
    mean = m + (grad - m) * (1 - beta1)
    square = v + (grad * grad - v) * (1 - beta2)
    ahead = where(use_nesterov, mean * beta1 + (1 - beta1) * grad, mean)
    return var - ahead * alpha / (sqrt(square) + epsilon), mean, square


@update("var: Ref(T), accum: Ref(T), lr: T, grad: T -> out: Ref(T)", shape=merged_shape("var", "accum", "grad"),
        validate=computes_type,
        T="numbertype", use_locking=_LOCK, update_slots="bool = true")
def ApplyAdagrad(var: Any, accum: Any, lr: Any, grad: Any, *, update_slots: bool) -> Any:
    """Apply a step of Adagrad: accum += grad * grad; var -= lr * grad / sqrt(accum)."""
    total = where(update_slots, accum + grad * grad, accum)
    return var - grad * lr / sqrt(total), total


@update("var: Ref(T), accum: Ref(T), lr: T, epsilon: T, grad: T -> out: Ref(T)",
        shape=merged_shape("var", "accum", "grad"),
        validate=computes_type, T="numbertype", use_locking=_LOCK, update_slots="bool = true")
def ApplyAdagradV2(var: Any, accum: Any, lr: Any, epsilon: Any, grad: Any, *, update_slots: bool) -> Any:
    """Apply a step of Adagrad: accum += grad * grad; var -= lr * grad / (sqrt(accum) + epsilon)."""
    total = where(update_slots, accum + grad * grad, accum)
    return var - grad * lr / (sqrt(total) + epsilon), total


@update("var: Ref(T), accum: Ref(T), accum_update: Ref(T), lr: T, rho: T, epsilon: T, grad: T -> out: Ref(T)",
        shape=merged_shape("var", "accum", "accum_update", "grad"),
        validate=computes_type, T="numbertype", use_locking=_LOCK)
def ApplyAdadelta(var: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, epsilon: Any, grad: Any) -> Any:
    """Apply a step of Adadelta (Zeiler, 2012): steps have the size of recent steps over that of recent gradients."""
    square = accum * rho + grad * grad * (1 - rho)
    step = sqrt(accum_update + epsilon) / sqrt(square + epsilon) * grad
    return var - step * lr, square, accum_update * rho + step * step * (1 - rho)


@update("var: Ref(T), ms: Ref(T), mom: Ref(T), lr: T, rho: T, momentum: T, epsilon: T, grad: T -> out: Ref(T)",
        shape=merged_shape("var", "ms", "mom", "grad"),
        validate=computes_type, T="numbertype", use_locking=_LOCK)
def ApplyRMSProp(var: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any, grad: Any) -> Any:
    """ms moves towards grad * grad by 1 - rho; mom = mom * momentum + lr * grad / sqrt(ms + epsilon); var -= mom."""
    square = ms + (grad * grad - ms) * (1 - rho)
    step = mom * momentum + grad * lr / sqrt(square + epsilon)
    return var - step, square, step


@update("var: Ref(T), mg: Ref(T), ms: Ref(T), mom: Ref(T), lr: T, rho: T, momentum: T, epsilon: T, grad: T "
        "-> out: Ref(T)", shape=merged_shape("var", "mg", "ms", "mom", "grad"),
        validate=computes_type, T="numbertype", use_locking=_LOCK)
def ApplyCenteredRMSProp(var: Any, mg: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any,
                         grad: Any) -> Any:
    """Apply RMSProp with the estimated deviation: mg is a moving mean of grad, the variance ms - mg * mg."""
    mean = mg + (grad - mg) * (1 - rho)
    square = ms + (grad * grad - ms) * (1 - rho)
    step = mom * momentum + grad * lr / sqrt(square - mean * mean + epsilon)
    return var - step, mean, square, step


for _op in (VariableV2, Variable):
    _op.no_gradient("it has no inputs")
IsVariableInitialized.no_gradient("its result is a truth value")
CountUpTo.no_gradient("it counts")


# What users call. A variable behind a handle (variables/resource_variable.py) has ops of its own, in its methods.

def assign(ref: Any, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None,
           name: str | None = None) -> Tensor:
    """Assign `value` to the variable `ref`; the result is the variable after that, as a reference.

    ref: a variable, or a slice of one, `v[1:]`: then that is set. With validate_shape=False the value may have another
    shape than the variable. Raises TypeError if `ref` is not a variable or a reference, ValueError for a value of
    another shape.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> sess.run(tf.assign(v, 5.0))
    5.0
    """
    if hasattr(ref, "handle") or isinstance(ref, Tensor) and not ref.dtype._is_ref_dtype and hasattr(ref, "assign"):
        return ref.assign(value, name=name)              # of a slice of a variable too
    result: Tensor = Assign(ref, value, validate_shape=validate_shape, use_locking=use_locking, name=name)
    return result


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """Add `value` to the variable `ref`; the result is the variable after that. Raises as `assign`.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> sess.run(tf.assign_add(v, 5.0))
    6.0
    """
    if hasattr(ref, "handle"):
        return ref.assign_add(value, name=name)
    result: Tensor = AssignAdd(ref, value, use_locking=use_locking, name=name)
    return result


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """Subtract `value` from the variable `ref`; the result is the variable after that. Raises as `assign`.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v.initializer)
    >>> sess.run(tf.assign_sub(v, 5.0))
    -4.0
    """
    if hasattr(ref, "handle"):
        return ref.assign_sub(value, name=name)
    result: Tensor = AssignSub(ref, value, use_locking=use_locking, name=name)
    return result


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """Add one to the scalar variable `ref` and return its value before that.

    Once the variable is `limit`, running the result raises OutOfRangeError. ref: int32 or int64.

    >>> v = tf.Variable(0)
    >>> sess.run(v.initializer)
    >>> count = tf.count_up_to(v, 2)
    >>> sess.run(count), sess.run(count)
    (0, 1)
    >>> sess.run(count)
    Traceback (most recent call last):
        ...
    OutOfRangeError: Reached limit of 2 in CountUpTo 'CountUpTo'
    """
    if hasattr(ref, "handle"):
        return ref.count_up_to(limit)
    result: Tensor = CountUpTo(ref, limit=limit, name=name)
    return result


def is_variable_initialized(variable: Any, name: str | None = None) -> Tensor:
    """Return a bool scalar: whether `variable` has a value. Raises TypeError if it is not a variable or a reference.

    >>> v = tf.Variable(1.0)
    >>> before = sess.run(tf.is_variable_initialized(v))
    >>> sess.run(v.initializer)
    >>> before, sess.run(tf.is_variable_initialized(v))
    (False, True)
    """
    if hasattr(variable, "handle"):
        return variable.is_initialized(name)
    result: Tensor = IsVariableInitialized(variable, name=name)
    return result
