"""Cluster specifications (`tf.train.ClusterSpec`): the jobs, tasks and addresses of a cluster."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfnb.core.lazy import lazy_module

_cluster_pb2 = lazy_module("tfnb.proto.cluster_pb2")


class ClusterSpec:
    """The address of each task of each job.

    cluster: a dict of job names to lists of addresses, or to dicts of task numbers to addresses; a ClusterDef; another
    ClusterSpec. Raises TypeError for anything else, ValueError for tasks whose keys are no numbers.

    >>> cluster = tf.train.ClusterSpec({"ps": ["host:2222"], "worker": ["host:2223", "host:2224"]})
    >>> cluster.num_tasks("worker"), cluster.task_address("ps", 0)
    (2, 'host:2222')
    """

    def __init__(self, cluster: Any) -> None:
        if isinstance(cluster, ClusterSpec):
            jobs: Mapping[str, Any] = cluster._jobs
        elif isinstance(cluster, Mapping):
            jobs = cluster
        elif type(cluster).__name__ == "ClusterDef":
            jobs = {job.name: dict(job.tasks) for job in cluster.job}
        else:
            raise TypeError("`cluster` must be a dictionary mapping one or more job names to lists of network "
                            f"addresses, or a `ClusterDef` protocol buffer, but is {cluster!r}")
        self._jobs: dict[str, dict[int, str]] = {
            _text(name): _tasks(_text(name), tasks) for name, tasks in jobs.items()}

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ClusterSpec):
            return self._jobs == other._jobs
        return isinstance(other, Mapping) and self._jobs == ClusterSpec(other)._jobs

    def __hash__(self) -> int:
        return hash(frozenset((name, frozenset(tasks.items())) for name, tasks in self._jobs.items()))

    def __repr__(self) -> str:
        return f"ClusterSpec({self.as_dict()!r})"

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def as_dict(self) -> dict[str, Any]:
        """Return job name -> list of addresses, or dict of task indices to addresses where these have gaps."""
        return {name: list(tasks.values()) if sorted(tasks) == list(range(len(tasks))) else dict(tasks)
                for name, tasks in self._jobs.items()}

    def as_cluster_def(self) -> Any:
        """Return the specification as a ClusterDef."""
        made = _cluster_pb2.ClusterDef()
        for name in sorted(self._jobs):
            job = made.job.add(name=name)
            for index, address in self._jobs[name].items():
                job.tasks[index] = address
        return made

    def num_tasks(self, job_name: str) -> int:
        """Return the number of tasks of a job. Raises ValueError if there is no such job."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Return the indices of the tasks of a job, sorted. Raises ValueError if there is no such job."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Return the address of a task. Raises ValueError if there is no such task."""
        try:
            return self._job(job_name)[task_index]
        except KeyError:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}") from None

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Return the addresses of a job by task index, None in gaps. Raises ValueError if there is no such job."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _job(self, name: str) -> dict[int, str]:
        try:
            return self._jobs[name]
        except KeyError:
            raise ValueError(f"No such job in cluster: {name!r}") from None


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"expected a name or an address as a string, got {value!r}")
    return value


def _tasks(job: str, tasks: Any) -> dict[int, str]:
    """Return the tasks of a job by index, sorted."""
    if isinstance(tasks, (Sequence, set)) and not isinstance(tasks, (str, bytes)):
        return dict(enumerate(map(_text, tasks)))
    if not isinstance(tasks, Mapping):
        raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")
    numbered = {int(index): _text(address) for index, address in tasks.items()}
    return dict(sorted(numbered.items()))
