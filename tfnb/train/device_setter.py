"""Device placement by op type (`tf.train.replica_device_setter`): variables on "ps" tasks, the rest on workers."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.cluster.spec import ClusterSpec
from tfnb.core.device import DeviceSpec
from tfnb.core.program.log import warning

# The ops that hold state which several workers share.
STANDARD_PS_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
                   "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
                   "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp",
                   "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
                   "DecisionTreeResource")


def _round_robin(tasks: int) -> Callable[[Any], int]:
    turn = [-1]

    def next_task(op: Any) -> int:
        turn[0] = (turn[0] + 1) % tasks
        return turn[0]
    return next_task


def replica_device_setter(ps_tasks: int = 0, ps_device: str = "/job:ps", worker_device: str = "/job:worker",
                          merge_devices: bool = True, cluster: Any = None, ps_ops: Sequence[str] | None = None,
                          ps_strategy: Callable[[Any], int] | None = None) -> Callable[[Any], str] | None:
    """Return a device function for `tf.device` that places variables on parameter servers and other ops on workers.

    ps_tasks: the count of servers, or cluster: a ClusterSpec, dict or ClusterDef that has it. ps_device,
    worker_device: of which job they are. merge_devices: take what an op's device leaves open, else only ops without a
    device. ps_ops: the types of ops that go to servers; ps_strategy: fn(op) -> the number of the server, by default
    one after another. None if there are no servers. Devices are names here: all ops run in this process. Raises
    TypeError for a cluster or strategy of the wrong kind.

    >>> with tf.device(tf.train.replica_device_setter(ps_tasks=1)):
    ...     v = tf.Variable(1.0)
    >>> v.device
    '/job:ps/task:0'
    """
    if cluster is not None:
        spec = cluster if isinstance(cluster, ClusterSpec) else ClusterSpec(cluster)
        job = DeviceSpec.from_string(ps_device).job
        if job is None or job not in spec.jobs or not spec.num_tasks(job):
            return None
        ps_tasks = spec.num_tasks(job)
    if ps_tasks == 0:
        return None
    if not merge_devices:
        warning("DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter")
    if ps_strategy is not None and not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    kinds = frozenset(STANDARD_PS_OPS if ps_ops is None else ps_ops)
    strategy = ps_strategy or _round_robin(ps_tasks)

    def choose(op: Any) -> str:
        """Return the device of an op."""
        if not merge_devices and op.device:
            return str(op.device)
        current = DeviceSpec.from_string(op.device or "")
        if ps_device and getattr(op, "type", None) in kinds:
            server = DeviceSpec.from_string(ps_device)
            if server.job and current.job in (None, server.job):
                server.task = strategy(op)
            server.merge_from(current)
            return server.to_string()
        worker = DeviceSpec.from_string(worker_device or "")
        worker.merge_from(current)
        return worker.to_string()
    return choose
