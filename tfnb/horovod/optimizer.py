"""Optimizers that average gradients over all ranks, and variables that start alike in all of them."""
from __future__ import annotations

from typing import Any

from tfnb.core.errors import UnimplementedError
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import get_default_graph, name_scope
from tfnb.horovod.collectives import Average, Compression, allreduce, broadcast, chosen
from tfnb.horovod.world import world
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import group
from tfnb.ops.state.assign import assign
from tfnb.train.optimizers.optimizer import Optimizer
from tfnb.train.optimizers.wrapper import OptimizerWrapper
from tfnb.train.sessions.hook import SessionRunHook
from tfnb.variables.helpers import global_variables


class _DistributedOptimizer(OptimizerWrapper):
    """An optimizer whose gradients are those of all ranks. reduce: keyword arguments of `allreduce`."""

    def __init__(self, optimizer: Optimizer, name: str | None, use_locking: bool, sparse_as_dense: bool,
                 reduce: dict[str, Any]) -> None:
        super().__init__(optimizer, use_locking, name or f"Distributed{type(optimizer).__name__}")
        self._sparse_as_dense, self._reduce = sparse_as_dense, reduce

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Compute the gradients as the optimizer inside does, and reduce them over all ranks."""
        pairs = self._opt.compute_gradients(*args, **kwargs)
        reduced = reduced_gradients([grad for grad, _ in pairs], self._name, self._sparse_as_dense, self._reduce)
        return [(grad, v) for grad, (_, v) in zip(reduced, pairs, strict=True)]

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Operation:
        """Apply gradients as the optimizer inside does."""
        return self._opt.apply_gradients(*args, **kwargs)


def reduced_gradients(grads: list[Any], name: str, sparse_as_dense: bool, reduce: dict[str, Any]) -> list[Any]:
    """Return the gradients, reduced over all ranks under a scope of the optimizer's name; as they are for one rank."""
    if world().size == 1 and "prescale_factor" not in reduce:
        return grads
    with name_scope(f"{name}_Allreduce"):
        return [_reduced(grad, sparse_as_dense, reduce) for grad in grads]


def _reduced(grad: Any, sparse_as_dense: bool, reduce: dict[str, Any]) -> Any:
    if grad is None:
        return None
    return allreduce(convert_to_tensor(grad) if sparse_as_dense and isinstance(grad, IndexedSlices) else grad, **reduce)


def arguments(device_dense: str, device_sparse: str, compression: Any, op: Any, gradient_predivide_factor: float,
              backward_passes_per_step: int) -> dict[str, Any]:
    """Return the arguments of `allreduce` that those of DistributedOptimizer mean. Raises as that says."""
    if backward_passes_per_step != 1:
        raise UnimplementedError(None, None, "backward_passes_per_step must be 1 here, got "
                                 f"{backward_passes_per_step}: add up gradients in variables of your own, or take "
                                 "larger batches")
    kind = chosen(None, op)
    found = {"device_dense": device_dense, "device_sparse": device_sparse, "compression": compression, "op": kind}
    if gradient_predivide_factor != 1.0:
        if kind != Average:
            raise ValueError("gradient_predivide_factor not supported with op != Average")
        found.update(prescale_factor=1.0 / gradient_predivide_factor, postscale_factor=gradient_predivide_factor)
    return found


def DistributedOptimizer(optimizer: Any, name: str | None = None, use_locking: bool = False,       # noqa: N802
                         device_dense: str = "", device_sparse: str = "", compression: Any = Compression.none,
                         sparse_as_dense: bool = False, backward_passes_per_step: int = 1, op: Any = Average,
                         gradient_predivide_factor: float = 1.0, average_aggregated_gradients: bool = False) -> Any:
    """Return an optimizer that averages the gradients of all ranks before it applies them.

    With the average, N ranks with batches of B train as one process with batches of N * B whose loss is a mean, with
    the same learning rate. optimizer: of `tf.train`. name: "Distributed" and the name of its class by default.
    use_locking, average_aggregated_gradients: have no effect. device_dense, device_sparse: where the averages are.
    compression: `hvd.Compression.fp16` sends float16. sparse_as_dense: make dense gradients of IndexedSlices, which are
    gathered otherwise. backward_passes_per_step: 1. op: `hvd.Sum` for the sum. gradient_predivide_factor: divides
    before the sum, and less behind it. Raises UnimplementedError for other backward_passes_per_step and hvd.Adasum,
    ValueError for what is no optimizer and for a gradient_predivide_factor with another op.

    >>> hvd.init()
    >>> v = tf.Variable(1.0)
    >>> optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1 * hvd.size()))
    >>> step = optimizer.minimize(v ** 2)
    >>> sess.run(v.initializer)
    >>> sess.run(step)
    >>> sess.run(v)
    0.8
    """
    if not isinstance(optimizer, Optimizer):
        raise ValueError("Provided optimizer doesn't inherit from either legacy TensorFlow or Keras optimizer: "
                         f"expected one of tf.train, got {type(optimizer).__name__}")
    found = arguments(device_dense, device_sparse, compression, op, gradient_predivide_factor, backward_passes_per_step)
    return _DistributedOptimizer(optimizer, name, use_locking, sparse_as_dense, found)


def broadcast_variables(variables: Any, root_rank: int) -> Operation:
    """Return the operation that gives variables the values that they have in rank `root_rank`.

    variables: an iterable of them, initialized in all ranks. Raises ValueError for a rank that is not there.

    >>> hvd.init()
    >>> v = tf.Variable([1.0, 2.0])
    >>> sess.run(v.initializer)
    >>> sess.run(hvd.broadcast_variables([v], root_rank=0))
    """
    return group(*[assign(v, broadcast(v, root_rank)) for v in variables])


def broadcast_global_variables(root_rank: int) -> Operation:
    """Return the operation that gives all global variables the values that they have in rank `root_rank`.

    Variables that are made later are not among them: call it behind the optimizer's `minimize`. Raises ValueError for a
    rank that is not there.

    >>> hvd.init()
    >>> v = tf.Variable([1.0, 2.0])
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(hvd.broadcast_global_variables(0))
    """
    return broadcast_variables(global_variables(), root_rank)


class BroadcastGlobalVariablesHook(SessionRunHook):
    """Hook that gives all global variables the values of rank `root_rank` when a session begins.

    So all ranks start alike: from the root's initial values, or from the checkpoint that it restored.
    device: where the values are sent from. Give `checkpoint_dir` (or `model_dir`) to the root alone.

    >>> hvd.init()
    >>> v = tf.Variable(1.0)
    >>> with tf.train.MonitoredTrainingSession(hooks=[hvd.BroadcastGlobalVariablesHook(0)]) as session:
    ...     session.run(v)
    1.0
    """

    def __init__(self, root_rank: int, device: str = "") -> None:
        super().__init__()
        self.root_rank, self.device = root_rank, device
        self.bcast_op: Operation | None = None
        self._graph: Graph | None = None

    def begin(self) -> None:
        """Add the broadcast to the graph."""
        if self._graph is not get_default_graph():
            self._graph = get_default_graph()
            with self._graph.device(self.device or None):
                self.bcast_op = broadcast_global_variables(self.root_rank)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Broadcast the values."""
        session.run(self.bcast_op)
