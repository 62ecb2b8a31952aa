"""Decoupled weight decay: weights shrink beside the step of an optimizer (Loshchilov and Hutter, 2017)."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies
from tfnb.ops.array.gather import gather
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import no_op
from tfnb.ops.math.casting import cast
from tfnb.ops.state.scatter import scatter_sub
from tfnb.train.optimizers.adam import AdamOptimizer
from tfnb.train.optimizers.momentum import MomentumOptimizer
from tfnb.train.optimizers.optimizer import Optimizer, flat_variables
from tfnb.variables.resource_variable import ResourceVariable
from tfnb.variables.variable import Variable


class DecoupledWeightDecayExtension:
    """Base class, before an optimizer's, of optimizers with decoupled weight decay.

    var -= weight_decay * var comes before each step, of the rows that a sparse gradient has. weight_decay: a number, a
    scalar tensor, or a function that returns one. `minimize` and `apply_gradients` take decay_var_list, the variables
    that decay (by default all).

    >>> class Decaying(tf.contrib.opt.DecoupledWeightDecayExtension, tf.train.GradientDescentOptimizer):
    ...     pass
    >>> v = tf.Variable(1.0)
    >>> step = Decaying(0.5, learning_rate=0.1).minimize(v)
    >>> sess.run(v.initializer)
    >>> sess.run(step)
    >>> sess.run(v)
    0.4
    """

    _decay_var_list: list[Any] | None = None

    def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
        """Set the weight decay; other arguments are those of the optimizer."""
        self._weight_decay = weight_decay
        super().__init__(*args, **kwargs)

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None,
                 gate_gradients: int = Optimizer.GATE_OP, aggregation_method: int | None = None,
                 colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: Any = None,
                 decay_var_list: Any = None) -> Operation:
        """Return an op that takes one step, as that of the optimizer. decay_var_list: the variables that decay."""
        with self._decaying(decay_var_list):
            done: Operation = super().minimize(  # type: ignore[misc]
                loss, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
                aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name, grad_loss=grad_loss)
        return done

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None,
                        decay_var_list: Any = None) -> Operation:
        """Apply gradients, as tf.train.Optimizer.apply_gradients. decay_var_list: the variables that decay."""
        with self._decaying(decay_var_list):
            done: Operation = super().apply_gradients(  # type: ignore[misc]
                grads_and_vars, global_step=global_step, name=name)
        return done

    @contextmanager
    def _decaying(self, variables: Any) -> Iterator[None]:
        """Let these variables decay; None changes nothing, since `minimize` calls `apply_gradients`."""
        before = self._decay_var_list
        self._decay_var_list = before if variables is None else flat_variables(variables) or None
        try:
            yield
        finally:
            self._decay_var_list = before

    def _prepare(self) -> None:
        decay = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        self._weight_decay_tensor = convert_to_tensor(decay, name="weight_decay")
        super()._prepare()                                                              # type: ignore[misc]

    def _decay(self, var: Variable, indices: Tensor | None = None) -> Any:
        """Return the op that decays a variable, or its rows at `indices`."""
        if self._decay_var_list is not None and not any(each is var for each in self._decay_var_list):
            return no_op()
        share, locking = cast(self._weight_decay_tensor, var.dtype.base_dtype), getattr(self, "_use_locking", False)
        if indices is None:
            return var.assign_sub(share * var.value(), use_locking=locking)
        return scatter_sub(var, indices, share * gather(var, indices), use_locking=locking)

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        with control_dependencies([self._decay(var)]):
            return super()._apply_dense(grad, var)                                      # type: ignore[misc]

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        with control_dependencies([self._decay(var, grad.indices)]):
            return super()._apply_sparse(grad, var)                                     # type: ignore[misc]

    def _resource_apply_dense(self, grad: Tensor, handle: ResourceVariable) -> Any:
        with control_dependencies([self._decay(handle)]):
            return super()._resource_apply_dense(grad, handle)                          # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Tensor, handle: ResourceVariable, indices: Tensor) -> Any:
        with control_dependencies([self._decay(handle, indices)]):
            return super()._resource_apply_sparse(grad, handle, indices)                # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> type[Any]:
    """Return a subclass of an optimizer that has decoupled weight decay; its first argument is weight_decay.

    >>> decaying = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    >>> v = tf.Variable(1.0)
    >>> step = decaying(weight_decay=0.5, learning_rate=0.1).minimize(v)
    >>> sess.run(v.initializer)
    >>> sess.run(step)
    >>> sess.run(v)
    0.4
    """
    return type("OptimizerWithDecoupledWeightDecay", (DecoupledWeightDecayExtension, base_optimizer), {
        "__doc__": f"{base_optimizer.__name__} with decoupled weight decay."})


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """tf.train.MomentumOptimizer with decoupled weight decay: SGDW. See DecoupledWeightDecayExtension.

    >>> v = tf.Variable(1.0)
    >>> step = tf.contrib.opt.MomentumWOptimizer(weight_decay=0.5, learning_rate=0.1, momentum=0.9).minimize(v)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.4
    """

    def __init__(self, weight_decay: Any, learning_rate: Any, momentum: Any, use_locking: bool = False,
                 name: str = "MomentumW", use_nesterov: bool = False) -> None:
        super().__init__(weight_decay, learning_rate, momentum, use_locking, name, use_nesterov)


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """tf.train.AdamOptimizer with decoupled weight decay: AdamW. See DecoupledWeightDecayExtension.

    >>> v = tf.Variable(1.0)
    >>> step = tf.contrib.opt.AdamWOptimizer(weight_decay=0.5, learning_rate=0.1).minimize(v)
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run(v)
    0.4
    """

    def __init__(self, weight_decay: Any, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
                 epsilon: Any = 1e-8, use_locking: bool = False, name: str = "AdamW") -> None:
        super().__init__(weight_decay, learning_rate, beta1, beta2, epsilon, use_locking, name)


describe(globals(), OPTIMIZERS)
