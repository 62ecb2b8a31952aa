"""A whole training step from a loss: `tf.contrib.layers.optimize_loss`."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core import dtypes
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies, get_collection
from tfnb.ops.array.reshape import identity
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group
from tfnb.ops.io import summary
from tfnb.ops.random.random_ops import truncated_normal
from tfnb.ops.reductions.clip import clip_by_global_norm, global_norm
from tfnb.train.global_step import get_global_step
from tfnb.train.optimizers.adagrad import AdagradOptimizer
from tfnb.train.optimizers.adam import AdamOptimizer
from tfnb.train.optimizers.ftrl import FtrlOptimizer
from tfnb.train.optimizers.gradient_descent import GradientDescentOptimizer
from tfnb.train.optimizers.momentum import MomentumOptimizer
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.train.optimizers.rmsprop import RMSPropOptimizer
from tfnb.variables.helpers import trainable_variables
from tfnb.variables.initializers import constant_initializer
from tfnb.variables.scope import get_variable, variable_scope
from tfnb.variables.variable import Variable

OPTIMIZER_CLS_NAMES: dict[str, Callable[[Any], Optimizer]] = {
    "Adagrad": AdagradOptimizer, "Adam": AdamOptimizer, "Ftrl": FtrlOptimizer,
    "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": RMSPropOptimizer, "SGD": GradientDescentOptimizer}
OPTIMIZER_SUMMARIES = ("learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm")


def optimize_loss(loss: Any, global_step: Any, learning_rate: Any, optimizer: Any,
                  gradient_noise_scale: float | None = None, gradient_multipliers: dict[Any, float] | None = None,
                  clip_gradients: Any = None, learning_rate_decay_fn: Callable[..., Any] | None = None,
                  update_ops: Sequence[Any] | None = None, variables: Sequence[Any] | None = None,
                  name: str | None = None, summaries: Sequence[str] | None = None,
                  colocate_gradients_with_ops: bool = False, increment_global_step: bool = True) -> Tensor:
    """The loss, as a tensor whose computing trains one step.

    optimizer: a name ("SGD", "Adam", "Adagrad", "Momentum", "RMSProp", "Ftrl"), a class, an object, or a function of
    the learning rate. clip_gradients: a limit for their global norm, or a function of (gradient, variable) pairs.
    gradient_multipliers: factors by variable or name. gradient_noise_scale: deviation of noise to add, relative to the
    learning rate's. learning_rate_decay_fn(learning_rate, global_step). update_ops: run before; default UPDATE_OPS.
    variables: those that are trained, by default TRAINABLE_VARIABLES. summaries: some of OPTIMIZER_SUMMARIES.
    colocate_gradients_with_ops: as of `tf.gradients`. increment_global_step: whether a step counts.

    Raises ValueError for an unknown optimizer, no gradients, or a learning rate that is no number or scalar.

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.create_global_step()
    >>> train = tf.contrib.layers.optimize_loss(v ** 2, step, learning_rate=0.1, optimizer="SGD")
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(train), sess.run(v), sess.run(step)
    (1.0, 0.8, 1)
    """
    step = get_global_step() if global_step is None else global_step
    with variable_scope(name, "OptimizeLoss", [loss, step]):
        before = list(get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops)
        if before:
            with control_dependencies([group(*before)]):
                loss = identity(loss)
        wanted = OPTIMIZER_SUMMARIES[:2] + OPTIMIZER_SUMMARIES[4:] if summaries is None else summaries
        rate = _rate(learning_rate, learning_rate_decay_fn, step)
        if rate is not None and learning_rate_decay_fn is not None and "learning_rate" in wanted:
            summary.scalar("learning_rate", rate)
        made = _optimizer(optimizer, rate)
        pairs = made.compute_gradients(loss, list(variables) if variables is not None else trainable_variables(),
                                       colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            pairs = [(_noisy(g, gradient_noise_scale), v) for g, v in pairs]
        if gradient_multipliers is not None:
            pairs = [(_multiplied(g, gradient_multipliers.get(v, gradient_multipliers.get(v.op.name))), v)
                     for g, v in pairs]
        if "global_gradient_norm" in wanted:
            summary.scalar("global_norm/gradient_norm", _norm(pairs))
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in wanted:
            summary.scalar("loss", loss)
        _summarize(pairs, wanted)
        if clip_gradients is not None and "global_gradient_norm" in wanted:
            summary.scalar("global_norm/clipped_gradient_norm", _norm(pairs))
        apply = made.apply_gradients(pairs, global_step=step if increment_global_step else None, name="train")
        with control_dependencies([apply]):
            trained: Tensor = identity(loss, name="control_dependency")
            return trained


def _norm(pairs: list[Any]) -> Any:
    return global_norm([gradient for gradient, _ in pairs if gradient is not None])


def _summarize(pairs: list[Any], wanted: Any) -> None:
    """Add a histogram and the norm of each gradient, under the variable's name."""
    for gradient, v in pairs:
        if gradient is not None:
            name = v.name.replace(":", "_")
            if "gradients" in wanted:
                summary.histogram(f"gradients/{name}", _values(gradient))
            if "gradient_norm" in wanted:
                summary.scalar(f"gradient_norm/{name}", global_norm([_values(gradient)]))


def _rate(given: Any, decay: Callable[..., Any] | None, step: Any) -> Any:
    """The learning rate as a tensor or variable."""
    if given is None:
        return None
    if isinstance(given, (Tensor, Variable)):
        if given.shape.ndims not in (0, None):
            raise ValueError(f"Invalid learning_rate: {given}")
        rate: Any = given
    elif isinstance(given, (int, float)) and given >= 0:
        rate = get_variable("learning_rate", [], dtypes.float32, trainable=False,
                            initializer=constant_initializer(given))
    else:
        raise ValueError(f"Invalid learning_rate {given}.")
    if decay is None:
        return rate
    if step is None:
        raise ValueError("global_step is required for learning_rate_decay_fn.")
    return decay(rate, step)


def _optimizer(given: Any, rate: Any) -> Optimizer:
    if isinstance(given, str):
        if given not in OPTIMIZER_CLS_NAMES:
            raise ValueError(f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided "
                             f"{given}.")
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is string ({given}).")
        return OPTIMIZER_CLS_NAMES[given](rate)
    if isinstance(given, Optimizer):
        return given
    made = given(learning_rate=rate) if isinstance(given, type) else given() if rate is None else given(rate)
    if not isinstance(made, Optimizer):
        raise ValueError(f"Unrecognized optimizer: function should return a subclass of Optimizer. Got {made}.")
    return made


def _values(gradient: Any) -> Any:
    return gradient.values if isinstance(gradient, IndexedSlices) else gradient


def _noisy(gradient: Any, scale: float) -> Any:
    if gradient is None:
        return None
    return gradient + truncated_normal(_values(gradient).shape.as_list()) * scale


def _multiplied(gradient: Any, factor: Any) -> Any:
    if factor is None or gradient is None:
        return gradient
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor


def _clipped(pairs: list[Any], limit: Any) -> list[Any]:
    if limit is None:
        return pairs
    if callable(limit):
        return list(limit(pairs))
    gradients, variables = zip(*pairs, strict=True)
    return list(zip(clip_by_global_norm(list(gradients), limit)[0], variables, strict=True))
