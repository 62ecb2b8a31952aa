"""In-process servers (`tf.train.Server`): sessions of one target share variables, queues and readers."""
from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import count
from typing import Any

from tfnb.core.errors import NotFoundError, UnimplementedError
from tfnb.core.lazy import lazy_module
from tfnb.runtime.cluster import ClusterSpec
from tfnb.runtime.state.store import Store

_server_pb2 = lazy_module("tfnb.proto.tensorflow_server_pb2")
_numbers = count(1)
LOCAL = ("", "local")


@dataclass(frozen=True)
class Target:
    """A session target: the store that its sessions share, and the name of its task, "/job:a/replica:0/task:0".

    timeout: milliseconds after which a blocked run fails; 0: never.
    """

    store: Store
    task: str
    timeout: int = 0


_targets: dict[str, Target] = {}                   # they live as long as the process, as TensorFlow's do


def find_target(given: str | bytes | None) -> Target | None:
    """Return the server with this target (a string, bytes, or None for ""); None for a session on its own.

    Raises NotFoundError for a target that is neither this process nor a Server in it, TypeError for no string.
    """
    if not isinstance(given, (str, bytes, type(None))):
        raise TypeError(f"`target` must be a string, got {given!r} of type {type(given).__name__}")
    target = given.decode() if isinstance(given, bytes) else given or ""
    if target in LOCAL:
        return None
    if target not in _targets:
        raise NotFoundError(None, None, "tfnb runs in this process only: the target must be '' or that of a "
                            f"tf.train.Server in this process, but is {target!r}")
    return _targets[target]


class Server:
    """A server of a cluster of one task, in this process. Its `target` is for sessions, which share their variables.

    server_or_cluster_def: a ServerDef, ClusterDef, ClusterSpec or dict. job_name, task_index: which task it is; they
    may be left out where there is one only. protocol, config: kept in `server_def`; of config, sessions take
    operation_timeout_in_ms.
    start: without it, call `start`. Raises UnimplementedError for a cluster of several tasks, ValueError or TypeError
    for arguments that don't fit together.

    >>> server = tf.train.Server.create_local_server()
    >>> with tf.Session(server.target) as session:
    ...     session.run(tf.constant(2) + 3)
    5
    """

    def __init__(self, server_or_cluster_def: Any, job_name: str | None = None, task_index: int | None = None,
                 protocol: str | None = None, config: Any = None, start: bool = True) -> None:
        self._server_def = _server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        spec = ClusterSpec(self._server_def.cluster)
        tasks = [f"/job:{job}/task:{i}" for job in spec.jobs for i in spec.task_indices(job)]
        here = f"/job:{self._server_def.job_name}/task:{self._server_def.task_index}"
        if tasks != [here]:
            raise UnimplementedError(None, None, f"tfnb runs in this process only: a cluster has one task, the server "
                                     f"itself ({here}), but this one has {len(tasks)}: {', '.join(tasks)}")
        address = spec.task_address(self._server_def.job_name, self._server_def.task_index)
        host, _, port = address.rpartition(":")
        # Port 0 asks for any that is free; nothing listens there, it is a name only.
        self._target = f"{self._server_def.protocol}://{host}:{next(_numbers) if port == '0' else port}"
        if start:
            self.start()

    def start(self) -> None:
        """Accept sessions from now on; does nothing if the server runs already."""
        made = self._server_def
        task = f"/job:{made.job_name}/replica:0/task:{made.task_index}"
        timeout = made.default_session_config.operation_timeout_in_ms
        _targets.setdefault(self._target, Target(Store(), task, timeout))

    def join(self) -> None:
        """Block for ever: a server ends with its process."""
        threading.Event().wait()

    @property
    def server_def(self) -> Any:
        """The server's definition, a ServerDef."""
        return self._server_def

    @property
    def target(self) -> str:
        """The target for `tf.Session(target)`."""
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
