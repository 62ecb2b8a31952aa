"""Clusters on this machine: TensorFlow's servers as children of this process, at free ports of the loopback address."""
from __future__ import annotations

import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import chain
from types import MappingProxyType
from typing import Any

from tfnb.cluster.server import Server
from tfnb.cluster.spec import ClusterSpec


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback address that nothing listens at, all of them different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def start_local(jobs: Mapping[str, int], configs: Mapping[str, Any] = MappingProxyType({})
                ) -> tuple[ClusterSpec, dict[str, list[Server]]]:
    """Start a cluster; return its specification and the servers by job.

    jobs: the number of tasks of each. configs: ConfigProtos by job. Raises UnimplementedError where there is no
    TensorFlow; servers that were started by then end.
    """
    ports = iter(free_ports(sum(jobs.values())))
    spec = ClusterSpec({job: [f"127.0.0.1:{next(ports)}" for _ in range(count)] for job, count in jobs.items()
                        if count})
    servers = {job: [Server(spec, job, index, config=configs.get(job), start=False) for index in spec.task_indices(job)]
               for job in spec.jobs}
    try:
        with ThreadPoolExecutor(len(spec.jobs) * 8) as threads:        # each imports TensorFlow first: 2 to 3 seconds
            list(threads.map(Server.start, chain(*servers.values())))
    except BaseException:
        stop(servers)
        raise
    return spec, servers


def stop(servers: Mapping[str, list[Server]]) -> None:
    """End the servers of a cluster."""
    for alike in servers.values():
        for server in alike:
            server.stop()


def create_local_cluster(num_workers: int, num_ps: int, protocol: str = "grpc", worker_config: Any = None,
                         ps_config: Any = None) -> tuple[list[Server], list[Server]]:
    """Start a cluster on this machine, and return the servers of its workers and of its parameter servers.

    num_workers, num_ps: the number of tasks of the jobs "worker" and "ps". protocol: "grpc". worker_config, ps_config:
    ConfigProtos of their servers. Servers are TensorFlow's, children of this process (see tf.train.Server); one worker
    alone is this process. Raises UnimplementedError where there is no TensorFlow, ValueError for another protocol.

    >>> workers, ps = tf.test.create_local_cluster(num_workers=1, num_ps=0)
    >>> with tf.Session(workers[0].target) as session:
    ...     session.run(tf.constant(2) + 3)
    5
    """
    if protocol != "grpc":
        raise ValueError(f'expected the protocol "grpc", got {protocol!r}')
    _, servers = start_local({"worker": num_workers, "ps": num_ps}, {"worker": worker_config, "ps": ps_config})
    return servers.get("worker", []), servers.get("ps", [])
