"""Servers (`tf.train.Server`): one of this process for a cluster of one task, else TensorFlow's, as a child of it."""
from __future__ import annotations

import os
import threading
from itertools import count
from typing import Any

from tfnb.cluster.children import Child
from tfnb.cluster.service import serve as serve_sessions
from tfnb.cluster.spec import ClusterSpec
from tfnb.core.lazy import lazy_module
from tfnb.runtime.state.store import Store
from tfnb.runtime.targets import Target, register

_server_pb2 = lazy_module("tfnb.proto.tensorflow_server_pb2")
_numbers = count(1)


class Server:
    """A server of a task of a cluster. Its `target` is for sessions, which share their variables.

    The server of a cluster of one task is this process. For each task of a larger cluster TensorFlow's own server is
    started as a child of the process that makes it, by this Python if it has TensorFlow, else by the one that
    $TFNB_TF_PYTHON names; sessions on its target need grpcio (`pip install 'tfnb[cluster]'`). TensorFlow's servers know
    neither users nor encryption, and listen on all interfaces: see docs/cluster.md.

    server_or_cluster_def: a ServerDef, ClusterDef, ClusterSpec or dict. job_name, task_index: which task it is; they
    may be left out where there is one only. protocol, config: kept in `server_def`; of config, sessions in this process
    take operation_timeout_in_ms. start: without it, call `start`. serve: of a cluster of one task, answer sessions of
    other processes too, tfnb's and TensorFlow's, at the task's address: whoever can connect there can run graphs, which
    read and write files as this process can. Raises UnimplementedError for several tasks where
    there is no TensorFlow, the server's error if it can't start, ValueError or TypeError for arguments that don't fit
    together.

    >>> server = tf.train.Server.create_local_server()
    >>> with tf.Session(server.target) as session:
    ...     session.run(tf.constant(2) + 3)
    5
    """

    def __init__(self, server_or_cluster_def: Any, job_name: str | None = None, task_index: int | None = None,
                 protocol: str | None = None, config: Any = None, start: bool = True, serve: bool = False) -> None:
        self._server_def = _server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        spec = ClusterSpec(self._server_def.cluster)
        self._alone = sum(spec.num_tasks(job) for job in spec.jobs) == 1
        self._serves, self._service = serve, None
        self._child: Child | None = None
        address = spec.task_address(self._server_def.job_name, self._server_def.task_index)
        host, _, port = address.rpartition(":")
        # Port 0 asks for any that is free; of a server in this process it is a name only.
        self._target = f"{self._server_def.protocol}://{host}:{next(_numbers) if port == '0' else port}"
        if start:
            self.start()

    def start(self) -> None:
        """Accept sessions from now on; does nothing if the server runs already."""
        made = self._server_def
        if not self._alone:
            if self._child is None:
                self._child = Child(made)
                self._target = self._child.target
            return
        task = f"/job:{made.job_name}/replica:0/task:{made.task_index}"
        timeout = made.default_session_config.operation_timeout_in_ms
        here = Target(Store(), task, timeout)
        register(self._target, here)
        if self._serves and self._service is None:
            address = ClusterSpec(made.cluster).task_address(made.job_name, made.task_index)
            self._service, port = serve_sessions(self._target, address)
            self._target = f"grpc://{address.rpartition(':')[0]}:{port}"
            register(self._target, here)

    def join(self) -> None:
        """Block for ever: a server ends with its process. Raises UnavailableError if a TensorFlow server ends."""
        if self._child is not None:
            self._child.join()
        if self._service is not None:
            self._service.wait_for_termination()
        threading.Event().wait()

    def stop(self) -> None:
        """End TensorFlow's server, or the service for other processes, for good."""
        if self._child is not None:
            self._child.stop()
        if self._service is not None:
            self._service.stop(None).wait()

    @property
    def running(self) -> bool:
        """Whether it answers: a TensorFlow server may have ended."""
        return self._child.running() if self._child is not None else self._alone

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._child.pid if self._child is not None else os.getpid()

    @property
    def server_def(self) -> Any:
        """The server's definition, a ServerDef."""
        return self._server_def

    @property
    def target(self) -> str:
        """The target for `tf.Session(target)`, in other processes too if the server serves them."""
        return self._target

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """Build a server alone in its cluster: the job "localhost"."""
        return Server({"localhost": ["localhost:0"]}, protocol="grpc", config=config, start=start)


def _server_def(given: Any, job_name: str | None, task_index: int | None, protocol: str | None, config: Any) -> Any:
    """Build the ServerDef of a Server's arguments."""
    made = _server_pb2.ServerDef()
    if type(given).__name__ == "ServerDef":
        made.MergeFromString(given.SerializeToString())
    else:
        spec = ClusterSpec(given)
        if job_name is None:
            if len(spec.jobs) != 1:
                raise ValueError("Must specify an explicit `job_name`.")
            job_name = spec.jobs[0]
        if task_index is None:
            if spec.num_tasks(job_name) != 1:
                raise ValueError("Must specify an explicit `task_index`.")
            task_index = spec.task_indices(job_name)[0]
        made.cluster.MergeFromString(spec.as_cluster_def().SerializeToString())
    if job_name is not None:
        made.job_name = job_name
    if task_index is not None:
        made.task_index = task_index
    made.protocol = protocol or made.protocol or "grpc"
    if config is not None:
        made.default_session_config.MergeFromString(config.SerializeToString())
    ClusterSpec(made.cluster).task_address(made.job_name, made.task_index)
    return made
