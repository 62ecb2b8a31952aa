"""Synchronous replicated training: the gradients of several workers are averaged before they are applied."""
from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from tfnb.core.arguments import OPTIMIZERS, describe
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, control_dependencies, device, name_scope
from tfnb.ops.array.create import fill
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group, no_op
from tfnb.ops.data_flow.accumulators import (
    ConditionalAccumulator,
    ConditionalAccumulatorBase,
    SparseConditionalAccumulator,
)
from tfnb.ops.data_flow.queues import FIFOQueue
from tfnb.ops.state import assign as state
from tfnb.train.input.queue_runner import QueueRunner
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.train.optimizers.wrapper import OptimizerWrapper
from tfnb.train.sessions.hook import SessionRunHook
from tfnb.train.sessions.manager import missing_values
from tfnb.variables.helpers import global_variables, report_uninitialized_variables
from tfnb.variables.variable import Variable

_log = logging.getLogger("tensorflow")


class SyncReplicasOptimizer(OptimizerWrapper):
    """Optimizer that applies the mean of `replicas_to_aggregate` gradients by `opt`, once they have arrived.

    Each worker adds its gradients to accumulators and waits for a token; the queue runner of the chief takes the mean,
    applies it and hands out a token for each of `total_num_replicas` workers. Gradients of an older step are dropped.
    Workers are tasks of a cluster (docs/cluster.md), or threads with sessions of one tf.train.Server.
    variable_averages: an ExponentialMovingAverage that is moved after each step, over variables_to_average. Make the
    hook of `make_session_run_hook` a hook of the session.

    >>> step = tf.train.get_or_create_global_step()
    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=1)
    >>> train = optimizer.minimize(v ** 2, global_step=step)
    >>> with tf.train.MonitoredTrainingSession(hooks=[optimizer.make_session_run_hook(is_chief=True)]) as session:
    ...     result = session.run(train)
    """

    def __init__(self, opt: Optimizer, replicas_to_aggregate: int, total_num_replicas: int | None = None,
                 variable_averages: Any = None, variables_to_average: Sequence[Any] | None = None,
                 use_locking: bool = False, name: str = "sync_replicas") -> None:
        super().__init__(opt, use_locking, name)
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        self._variable_averages, self._variables_to_average = variable_averages, variables_to_average
        self._tokens_per_step = max(self._total, replicas_to_aggregate)
        self._global_step: Any = None
        self._chief_queue_runner: QueueRunner | None = None
        _log.info("SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s", replicas_to_aggregate, self._total)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Return the op of a worker that adds its gradients and waits for a token. Arguments as of Optimizer.

        Raises ValueError without gradients or without a global step.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        self._make_local_step(global_step)
        with name_scope(None, self._name):
            added: list[Operation] = []
            means, accumulators = [], []
            for grad, v in pairs:
                with device(v.device):
                    mean, accumulator = self._accumulated(grad, v, added)
                means.append(mean)
                if accumulator is not None:
                    accumulators.append((accumulator, v.device))
            with device(global_step.device), name_scope(""):
                update = self._opt.apply_gradients(zip(means, (v for _, v in pairs), strict=True), global_step)
            train_op = self._exchange_tokens(added, update)
            begins: list[Any] = [self.local_step_init_op]
            for accumulator, place in accumulators:
                with device(place):
                    begins.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = group(*begins)
        return train_op

    def _make_local_step(self, global_step: Any) -> None:
        """Make the local variable of this worker's step."""
        with colocate_with(no_op()):
            self._local_step = Variable(0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                                        dtype=global_step.dtype.base_dtype, name="sync_rep_local_step")
        self.local_step_init_op: Tensor = state.assign(self._local_step, global_step)
        self.ready_for_local_init_op: Tensor = report_uninitialized_variables(global_variables())

    def _accumulated(self, grad: Any, v: Variable,
                     added: list[Operation]) -> tuple[Any, ConditionalAccumulatorBase | None]:
        """Return the mean gradient of a variable and its accumulator; append this worker's op to `added`."""
        if grad is None:
            return None, None
        shared, required = f"{v.name}/grad_accum", self._replicas_to_aggregate
        if isinstance(grad, Tensor):
            dense = ConditionalAccumulator(grad.dtype, shape=v.shape, shared_name=shared)
            added.append(dense.apply_grad(grad, local_step=self._local_step))
            return dense.take_grad(required), dense
        if not isinstance(grad, IndexedSlices):
            raise ValueError(f"Unknown grad type: {grad!r}")
        sparse = SparseConditionalAccumulator(grad.dtype, shape=(), shared_name=shared)
        added.append(sparse.apply_indexed_slices_grad(grad, local_step=self._local_step))
        return sparse.take_indexed_slices_grad(required), sparse

    def _exchange_tokens(self, added: Sequence[Operation], update: Operation) -> Any:
        """Add the token exchange: workers wait for a token, the new step; the queue runner enqueues them per update."""
        step = self._global_step
        with device(step.device), name_scope(""):
            queue = self._sync_token_queue = FIFOQueue(-1, step.dtype.base_dtype, shapes=(), name="sync_token_q",
                                                       shared_name="sync_token_q")
        with device(step.device), name_scope(""):
            with control_dependencies(added):
                token = queue.dequeue()
            train_op = state.assign(self._local_step, token)
            with control_dependencies([update]):
                synced = queue.enqueue_many((fill([self._tokens_per_step], step),))
            if self._variable_averages is not None:
                with control_dependencies([synced]), name_scope(""):
                    synced = self._variable_averages.apply(self._variables_to_average)
            self._chief_queue_runner = QueueRunner(queue, [synced])
        return train_op

    def get_chief_queue_runner(self) -> QueueRunner:
        """Return the queue runner that the chief runs to take the steps. Raises ValueError before apply_gradients."""
        if self._chief_queue_runner is None:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation:
        """Return an op that enqueues the first `num_tokens` tokens, by default replicas_to_aggregate.

        Raises ValueError before apply_gradients, and for fewer than the workers miss for a first step.
        """
        if self._chief_queue_runner is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} (needed)")
        if num_tokens <= 0:
            return no_op(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            return self._sync_token_queue.enqueue_many((fill([num_tokens], self._global_step),))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """Return the hook that initializes all this in a monitored session. num_tokens: see get_init_tokens_op."""
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)


class _SyncReplicasOptimizerHook(SessionRunHook):
    """Hook that initializes the worker's step; as chief also the accumulators' steps, and starts the queue runner."""

    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int) -> None:
        self._optimizer, self._is_chief, self._num_tokens = optimizer, is_chief, num_tokens

    def begin(self) -> None:
        """Make the ops. Raises ValueError before apply_gradients."""
        made = self._optimizer
        if made._chief_queue_runner is None:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        self._runner = made.get_chief_queue_runner() if self._is_chief else None
        self._tokens = made.get_init_tokens_op(self._num_tokens) if self._is_chief else None
        self._init = made.chief_init_op if self._is_chief else made.local_step_init_op

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Initialize the steps and tokens. Raises RuntimeError if the global variables are uninitialized."""
        problem = missing_values(self._optimizer.ready_for_local_init_op, session,
                                 "Model is not ready for SyncReplicasOptimizer local init.")
        if problem:
            raise RuntimeError("Init operations did not make model ready for SyncReplicasOptimizer local_init. Init "
                               f"op: {self._init.name}, error: {problem}")
        session.run(self._init)
        if self._tokens is not None:
            session.run(self._tokens)
        if self._runner is not None:
            self._runner.create_threads(session, coord=coord, daemon=True, start=True)


describe(globals(), OPTIMIZERS)
