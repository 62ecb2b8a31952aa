"""Optimizers around others: moving averages of the variables, and variables of limited norm."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import colocate_with, control_dependencies, name_scope
from tfnb.ops.array.gather import gather
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group
from tfnb.ops.reductions.clip import clip_by_norm
from tfnb.train.checkpoints.saver import Saver
from tfnb.train.checkpoints.saver_builder import op_list_to_dict
from tfnb.train.optimizers.moving_averages import ExponentialMovingAverage
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.train.optimizers.wrapper import OptimizerWrapper
from tfnb.variables.helpers import global_variables
from tfnb.variables.variable import Variable


class MovingAverageOptimizer(OptimizerWrapper):
    """Optimizer `opt`, after whose steps the moving averages of the trained variables move.

    average_decay, num_updates: see tf.train.ExponentialMovingAverage. sequential_update: whether the averages wait for
    the step. `swapping_saver` saves the averages under the names of the variables.

    >>> v = tf.Variable(10.0, name="v")
    >>> optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), average_decay=0.5)
    >>> step = optimizer.minimize(v)
    >>> saver = optimizer.swapping_saver()
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(step)
    >>> sess.run([v, optimizer.averages().average(v)])
    [9.0, 9.5]
    """

    def __init__(self, opt: Optimizer, average_decay: Any = 0.9999, num_updates: Any = None,
                 sequential_update: bool = True) -> None:
        super().__init__(opt, False, "MovingAverageOptimizer")
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._sequential_update = sequential_update
        self._swapped: dict[str, Variable] | None = None

    def averages(self) -> ExponentialMovingAverage:
        """Return the moving averages."""
        return self._ema

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Operation:
        """Return an op that applies the gradients by `opt` and moves the averages. Arguments as of Optimizer."""
        pairs = list(grads_and_vars)
        step = self._opt.apply_gradients(pairs, global_step=global_step, name=name)
        trained = [v for grad, v in pairs if grad is not None]
        with control_dependencies([step] if self._sequential_update else []):
            moved = self._ema.apply(trained)
        self._swapped = {}
        for v in trained:
            average = self._ema.average(v)
            assert average is not None
            self._swapped |= {v.op.name: average, average.op.name: v}
        return group(step, moved, name="train_with_avg")

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Saver:
        """Return a Saver that saves averages under the names of their variables, and the variables under the averages'.

        var_list: as of Saver, by default all variables. Raises RuntimeError before apply_gradients or minimize.
        """
        if self._swapped is None:
            raise RuntimeError("expected apply_gradients or minimize to be called before swapping_saver")
        given = global_variables() if var_list is None else var_list
        named = given if isinstance(given, Mapping) else op_list_to_dict(given)
        return Saver({key: self._swapped.get(v.op.name, v) for key, v in named.items()}, name=name, **kwargs)


class VariableClippingOptimizer(OptimizerWrapper):
    """Optimizer `opt`, after whose steps variables are scaled to an L2 norm of at most max_norm.

    vars_to_clip_dims: {variable: the axes along which its norms are taken}. Of a sparse gradient the rows that it has
    are scaled, unless axis 0 is among the axes. colocate_clip_ops_with_vars: place the ops beside their variable.

    >>> v = tf.Variable([3.0, 4.0])
    >>> optimizer = tf.contrib.opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(1.0), {v: [0]}, 1.0)
    >>> step = optimizer.minimize(-v)
    >>> sess.run(v.initializer)
    >>> sess.run(step)
    >>> sess.run(v)
    array([0.62469506, 0.7808688 ], dtype=float32)
    """

    def __init__(self, opt: Optimizer, vars_to_clip_dims: Mapping[Any, Sequence[int]], max_norm: Any,
                 use_locking: bool = False, colocate_clip_ops_with_vars: bool = False,
                 name: str = "VariableClipping") -> None:
        super().__init__(opt, use_locking, name)
        self._vars_to_clip_dims = {v: list(axes) for v, axes in vars_to_clip_dims.items()}
        self._max_norm, self._beside = max_norm, colocate_clip_ops_with_vars

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Operation:
        """Return an op that applies the gradients by `opt` and then clips the variables. Arguments as of Optimizer."""
        pairs = list(grads_and_vars)
        with name_scope(name, self._name) as scope:
            done: list[Any] = [self._opt.apply_gradients(pairs, global_step=global_step)]
            with control_dependencies(done):
                for grad, v in pairs:
                    if grad is not None and v in self._vars_to_clip_dims:
                        with name_scope(f"clip_{v.op.name}"):
                            done.append(self._clipped(grad, v, self._vars_to_clip_dims[v]))
            return group(*done, name=scope)

    def _clipped(self, grad: Any, var: Variable, axes: list[int]) -> Any:
        """Return the op that clips a variable, or the rows of it that a sparse gradient has."""
        some = isinstance(grad, IndexedSlices) and 0 not in axes
        with colocate_with(var.op):
            value = gather(var, grad.indices) if some else var.read_value()
        with colocate_with(var.op) if self._beside else nullcontext():
            over = value - clip_by_norm(value, self._max_norm, axes)
        with colocate_with(var.op):
            if some:
                return var.scatter_sub(IndexedSlices(over, grad.indices, grad.dense_shape),
                                       use_locking=self._use_locking)
            return var.assign_sub(over, use_locking=self._use_locking)


describe(globals(), OPTIMIZERS)
