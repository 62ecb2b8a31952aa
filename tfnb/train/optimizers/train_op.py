"""Train ops that return the loss: `tf.contrib.training.create_train_op`, and the loop that runs them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.stack import control_dependencies, get_collection, get_collection_ref, name_scope
from tfnb.ops.array.reshape import identity
from tfnb.ops.control.checks import check_numerics as _checked
from tfnb.ops.control.group import group
from tfnb.ops.io.summary import histogram, scalar
from tfnb.ops.reductions.clip import clip_by_norm, global_norm
from tfnb.train.global_step import get_or_create_global_step
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.train.sessions.monitored_session import MonitoredTrainingSession

USE_GLOBAL_STEP = 0


def create_train_op(total_loss: Any, optimizer: Any, global_step: Any = USE_GLOBAL_STEP, update_ops: Any = None,
                    variables_to_train: Sequence[Any] | None = None,
                    transform_grads_fn: Callable[[Any], Any] | None = None, summarize_gradients: bool = False,
                    gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
                    colocate_gradients_with_ops: bool = False, check_numerics: bool = True) -> Any:
    """Return a tensor that trains a step when it is run, and is the loss.

    total_loss: a scalar; optimizer: an Optimizer. global_step: by default that of the graph; None: none is counted.
    update_ops: run before; by default GraphKeys.UPDATE_OPS. variables_to_train: by default all trainable ones.
    transform_grads_fn: changes the list of pairs (gradient, variable). summarize_gradients: add histograms of them.
    gate_gradients, aggregation_method, colocate_gradients_with_ops: as of Optimizer.compute_gradients. check_numerics:
    whether a loss that is NaN or infinite raises InvalidArgumentError. The tensor joins GraphKeys.TRAIN_OP.

    >>> v = tf.Variable(3.0)
    >>> train = tf.contrib.training.create_train_op(v * v, tf.train.GradientDescentOptimizer(0.25))
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(train), sess.run([v, tf.train.get_global_step()])
    (9.0, [1.5, 1])
    """
    step = get_or_create_global_step() if global_step is USE_GLOBAL_STEP else global_step
    updates = list(get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops)
    if updates:
        with control_dependencies([group(*updates)]):
            total_loss = identity(total_loss)
    pairs = optimizer.compute_gradients(total_loss, variables_to_train, gate_gradients, aggregation_method,
                                        colocate_gradients_with_ops)
    if transform_grads_fn is not None:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    applied = optimizer.apply_gradients(pairs, global_step=step)
    loss = _checked(total_loss, "LossTensor is inf or nan") if check_numerics else total_loss
    with name_scope("train_op"), control_dependencies([applied]):
        made = identity(loss, name="control_dependency")
    found = get_collection_ref(GraphKeys.TRAIN_OP)
    if made not in found:
        found.append(made)
    return made


def add_gradients_summaries(grads_and_vars: Any) -> list[Any]:
    """Add histograms of gradients and scalars of their norms. grads_and_vars: a list of pairs (gradient, variable).

    >>> v = tf.Variable(3.0, name="v")
    >>> summaries = tf.contrib.training.add_gradients_summaries([(tf.constant(1.0), v)])
    >>> [summary.op.name for summary in summaries]
    ['v_gradient', 'v_gradient_norm']
    """
    made = []
    for gradient, variable in grads_and_vars:
        if gradient is not None:
            values = getattr(gradient, "values", gradient)
            made.append(histogram(f"{variable.op.name}_gradient", values))
            made.append(scalar(f"{variable.op.name}_gradient_norm", global_norm([values])))
    return made


def clip_gradient_norms(gradients_to_variables: Any, max_norm: float) -> list[Any]:
    """Return pairs (gradient, variable) whose gradients are clipped, each to the norm `max_norm`.

    gradients_to_variables: the pairs.

    >>> v = tf.Variable(3.0)
    >>> (clipped, _), = tf.contrib.training.clip_gradient_norms([(tf.constant(5.0), v)], max_norm=1.0)
    >>> sess.run(clipped)
    1.0
    """
    return [(None if gradient is None else clip_by_norm(gradient, max_norm), variable)
            for gradient, variable in gradients_to_variables]


def train(train_op: Any, logdir: Any, master: str = "", is_chief: bool = True, scaffold: Any = None,
          hooks: Any = None, chief_only_hooks: Any = None, save_checkpoint_secs: Any = 600,
          save_summaries_steps: Any = 100, config: Any = None, max_wait_secs: float = 7200) -> Any:
    """Run `train_op` in a tf.train.MonitoredTrainingSession until a hook stops it, and return its last value.

    logdir: the folder of checkpoints and event files; None: none. master, is_chief, scaffold, hooks,
    chief_only_hooks, save_checkpoint_secs, save_summaries_steps, config, max_wait_secs: as there.

    >>> v = tf.Variable(3.0)
    >>> step = tf.contrib.training.create_train_op(v * v, tf.train.GradientDescentOptimizer(0.25))
    >>> tf.contrib.training.train(step, None, hooks=[tf.train.StopAtStepHook(num_steps=2)])
    2.25
    """
    if logdir is None and is_chief and (save_summaries_steps or save_checkpoint_secs):
        save_summaries_steps = save_checkpoint_secs = None
    loss = None
    with MonitoredTrainingSession(master, is_chief, logdir, scaffold, hooks, chief_only_hooks, save_checkpoint_secs,
                                  save_summaries_steps, config=config, max_wait_secs=max_wait_secs) as session:
        while not session.should_stop():
            loss = session.run(train_op)
    return loss
