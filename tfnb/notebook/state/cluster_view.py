"""`%cluster`: a cluster of this notebook, started here or found elsewhere, and the state of its tasks."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tfnb.cluster.local import start_local, stop
from tfnb.cluster.server import Server
from tfnb.cluster.spec import ClusterSpec
from tfnb.core.errors import OpError
from tfnb.core.lazy import lazy_module
from tfnb.core.text import counted
from tfnb.graph.graph import Graph
from tfnb.notebook.state.tables import Cell, Column, Table
from tfnb.runtime.session import Session
from tfnb.runtime.targets import set_default_target

_config_pb2 = lazy_module("tfnb.proto.config_pb2")
PATIENCE = 2000         # milliseconds to wait for an answer about devices


@dataclass
class ClusterView:
    """The tasks of a cluster. target: that of sessions which name none; note: a sentence above the table."""

    target: str
    spec: ClusterSpec = field(default_factory=lambda: ClusterSpec({}))
    servers: dict[str, list[Server]] = field(default_factory=dict)
    note: str = ""

    def table(self) -> Table:
        """The tasks, each with its state and devices, as they are now."""
        devices = self._devices()
        tasks: dict[str, tuple[str, Server | None]] = {
            f"/job:{job}/task:{i}": (self.spec.task_address(job, i), server)
            for job, alike in self.servers.items() for i, server in enumerate(alike)}
        for device in devices:
            tasks.setdefault(_task(device), ("", None))
        rows = []
        for name, (address, server) in tasks.items():
            mine = [device.rpartition("/device:")[2] for device in devices if _task(device) == name]
            state = "answers" if mine else "running" if server is None or server.running else "ended"
            rows.append((name, [Cell(name), Cell(address), Cell(state, bad=state == "ended"), Cell(", ".join(mine)),
                                Cell(str(server.pid) if server is not None else "")]))
        columns = [Column("task"), Column("address"), Column("state"), Column("devices"), Column("process")]
        return Table("cluster", columns, rows, "Cluster", self.note, pickable=False)

    def _devices(self) -> list[str]:
        config = _config_pb2.ConfigProto(operation_timeout_in_ms=PATIENCE)
        try:
            with Session(self.target, Graph(), config) as session:
                return [device.name for device in session.list_devices()]
        except OpError:
            return []

    def __repr__(self) -> str:
        return f"{self.note}\n{self.table().as_text()}" if self.note else self.table().as_text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        table = self.table()
        text = f"{self.note}\n{table.as_text()}" if self.note else table.as_text()
        return {"text/plain": text, "text/html": table.as_html()}


_current: ClusterView | None = None


def cluster_local(workers: int, servers: int = 1) -> ClusterView:
    """Start a cluster on this machine, and let sessions without a target use its first worker.

    workers, servers: how many tasks of the jobs "worker" and "ps", each a process of TensorFlow (some 300 MB). One that
    was started before ends. Raises UnimplementedError where there is no TensorFlow, ValueError for no worker.
    """
    if workers < 1 or servers < 0:
        raise ValueError(f"a cluster has at least one worker, not {workers}, and no negative number of servers")
    cluster_stop()
    spec, started = start_local({"ps": servers, "worker": workers})
    note = (f"{counted(servers, 'parameter server')} and {counted(workers, 'worker')}, which end with this kernel. "
            "Sessions without a target run on worker 0.")
    return _use(ClusterView(started["worker"][0].target, spec, started, note))


def cluster_connect(target: str) -> ClusterView:
    """Let sessions without a target use a server, "grpc://host:port". Raises NotFoundError for no such text."""
    cluster_stop()
    return _use(ClusterView(target, note=f"Sessions without a target run on {target}."))


def cluster_stop() -> None:
    """End the cluster that was started here; sessions without a target run in this process again."""
    global _current
    if _current is not None:
        stop(_current.servers)
    _current = None
    set_default_target("")


def cluster() -> ClusterView | None:
    """Return the cluster that sessions without a target use; None if they run in this process."""
    return _current


def _use(view: ClusterView) -> ClusterView:
    global _current
    set_default_target(view.target)
    _current = view
    return view


def _task(device: str) -> str:
    """Return "/job:a/task:0" of a device's full name."""
    job, _, rest = device.partition("/replica:0")
    return job + rest.partition("/device:")[0]
