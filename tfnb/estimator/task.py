"""The place of an Estimator's process in the cluster that TF_CONFIG describes."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfnb.cluster.spec import ClusterSpec
from tfnb.train.device_setter import replica_device_setter

EVALUATOR = "evaluator"
CHIEFS = ("chief", "master")
TYPES = (*CHIEFS, "worker", "ps", EVALUATOR)


@dataclass(frozen=True)
class Task:
    """cluster: of no tasks where this process trains alone, or evaluates."""

    cluster: ClusterSpec
    type: str
    index: int

    @property
    def distributed(self) -> bool:
        """Whether there are several tasks."""
        return bool(self.cluster)

    @property
    def target(self) -> str:
        """The target of sessions."""
        if not self.distributed:
            return ""
        return f"grpc://{self.cluster.task_address(self.type, self.index)}"

    @property
    def number(self) -> int | None:
        """The number of this task among those that train."""
        if not self.distributed:
            return None if self.type == EVALUATOR else 0
        jobs = [job for job in (*CHIEFS, "worker", "ps") if job in self.cluster.jobs]
        return sum(self.count(job) for job in jobs[:jobs.index(self.type)]) + self.index

    @property
    def devices(self) -> Any:
        """A device function that places variables on parameter servers and the rest here; None without servers."""
        if not self.count("ps"):
            return None
        return replica_device_setter(self.count("ps"), worker_device=f"/job:{self.type}/task:{self.index}",
                                     cluster=self.cluster)

    @property
    def device_filters(self) -> list[str]:
        """The tasks that a session of this one talks to: parameter servers, and itself; workers may come and go."""
        if self.type == "ps":
            return ["/job:ps", "/job:worker", "/job:chief", "/job:master"]
        return ["/job:ps", f"/job:worker/task:{self.index}" if self.type == "worker" else f"/job:{self.type}"]

    def count(self, job: str) -> int:
        """Return the number of tasks of a job."""
        return self.cluster.num_tasks(job) if job in self.cluster.jobs else 0


def task_of(said: Mapping[str, Any]) -> Task:
    """Return the task that TF_CONFIG describes. Raises ValueError for one that does not fit its cluster."""
    cluster, task = ClusterSpec(said.get("cluster") or {}), said.get("task") or {}
    kind, index = task.get("type"), int(task.get("index") or 0)
    if not cluster:
        if kind not in (None, *TYPES):
            raise ValueError(f"TF_CONFIG's task type must be one of {', '.join(TYPES)}, got {kind!r}")
        return Task(cluster, kind or "worker", index)
    if not any(job in cluster.jobs for job in CHIEFS):
        raise ValueError('If "cluster" is set in TF_CONFIG, it must have one "chief" node.')
    if any(cluster.num_tasks(job) > 1 for job in CHIEFS if job in cluster.jobs):
        raise ValueError('The "cluster" in TF_CONFIG must have only one "chief" node.')
    if kind is None or "index" not in task:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type and index must be set.')
    if kind == EVALUATOR:
        return Task(ClusterSpec({}), kind, index)
    if kind not in cluster.jobs or index not in cluster.task_indices(kind):
        raise ValueError(f"task {kind!r} {index} of TF_CONFIG is not in its cluster: {cluster.as_dict()}")
    if sum(cluster.num_tasks(job) for job in cluster.jobs) == 1:
        return Task(ClusterSpec({}), "worker", 0)            # alone: it trains in this process
    return Task(cluster, kind, index)
