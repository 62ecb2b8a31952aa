"""`%cluster`: a cluster of this notebook, started here or found elsewhere, and the state of its tasks."""
from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

from tfnb.cluster.local import start_local, stop
from tfnb.cluster.server import Server
from tfnb.cluster.spec import ClusterSpec
from tfnb.core.errors import OpError
from tfnb.core.lazy import lazy_module
from tfnb.core.text import counted
from tfnb.graph.graph import Graph
from tfnb.notebook.drawing.svg import short
from tfnb.notebook.plots.board import RECORDER
from tfnb.notebook.state import cluster_activity
from tfnb.notebook.state.tables import Cell, Column, Table
from tfnb.runtime.session import Session
from tfnb.runtime.targets import GRPC, set_default_target

_config_pb2 = lazy_module("tfnb.proto.config_pb2")
PATIENCE = 2000         # milliseconds to wait for an answer about devices
LOSS = "the last scalar that a training step fetched"
COLUMNS = (Column("task"), Column("address"), Column("state"), Column("devices"), Column("process"),
           Column("steps", "training steps by sessions of this kernel", number=True),
           Column("steps/s", f"over the last {cluster_activity.KEPT} steps", number=True),
           Column("loss", LOSS, number=True))


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
        for i, device in enumerate(devices):        # those of the server that was asked come first
            tasks.setdefault(_task(device), (self.target.removeprefix(GRPC) if not i else "", None))
        rows = []
        for name, (address, server) in tasks.items():
            mine = [device.rpartition("/device:")[2] for device in devices if _task(device) == name]
            state = "answers" if mine else "running" if server is None or server.running else "ended"
            rows.append((name, [Cell(name), Cell(address), Cell(state, bad=state == "ended"), Cell(", ".join(mine)),
                                Cell(str(server.pid) if server is not None else ""), *_training(address)]))
        return Table("cluster", COLUMNS, rows, "Cluster", self.note, pickable=False)

    def _devices(self) -> list[str]:
        config = _config_pb2.ConfigProto(operation_timeout_in_ms=PATIENCE)
        try:
            with Session(self.target, Graph(), config) as session:
                return [device.name for device in session.list_devices()]
        except OpError:
            return []

    def __repr__(self) -> str:
        return self.table().as_text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        table = self.table()
        return {"text/plain": table.as_text(), "text/html": table.as_html()}


_current: ClusterView | None = None


def _training(address: str) -> list[Cell]:
    """Return the cells about the steps that sessions of this kernel ran on a server."""
    found = cluster_activity.activities.get(address)
    if found is None:
        return [Cell()] * 3
    speed, loss = found.speed, "" if found.loss is None else short(found.loss[1])
    return [Cell(f"{found.steps:,}", found.steps), Cell("" if speed is None else short(speed, 3), speed), Cell(loss)]


def cluster_local(workers: int, servers: int = 1, shared: bool = False) -> ClusterView:
    """Start a cluster on this machine, and let sessions without a target use its first worker.

    workers, servers: how many tasks of the jobs "worker" and "ps", each a process of TensorFlow (some 300 MB). One that
    was started before ends. shared: see cluster_connect. Raises UnimplementedError where there is no TensorFlow,
    ValueError for no worker.
    """
    if workers < 1 or servers < 0:
        raise ValueError(f"a cluster has at least one worker, not {workers}, and no negative number of servers")
    cluster_stop()
    spec, started = start_local({"ps": servers, "worker": workers})
    note = (f"{counted(servers, 'parameter server')} and {counted(workers, 'worker')}, which end with this kernel. "
            "Sessions without a target run on worker 0.")
    view = _use(ClusterView(started["worker"][0].target, spec, started, note), shared)
    RECORDER.places.update({f"{GRPC}{spec.task_address(job, i)}": f"{job} {i}" for job in spec.jobs
                            for i in spec.task_indices(job)})
    return view


def cluster_connect(target: str, shared: bool = False) -> ClusterView:
    """Let sessions without a target use a server, "grpc://host:port". Raises NotFoundError for no such text.

    shared: whether variables are in the server's default container, where all its clients find them by their names.
    Else they are in a container of this notebook: one of the same name in another notebook is another variable.
    """
    cluster_stop()
    where = ("in the server's default container, shared with its other clients" if shared else
             f"in the container {container_name()!r}, of this notebook alone (--shared: in the server's default one)")
    return _use(ClusterView(target, note=f"Sessions without a target run on {target}. Variables are {where}."), shared)


_token = token_hex(3)


def container_name() -> str:
    """Return the name of the container of this notebook: the same after a restart, where Jupyter says which it is."""
    path = os.environ.get("JPY_SESSION_NAME", "")
    mark = hashlib.sha256(path.encode()).hexdigest()[:6] if path else _token
    return f"{re.sub('[^A-Za-z0-9]+', '-', Path(path).stem).strip('-') or 'notebook'}-{mark}"


def cluster_stop() -> None:
    """End the cluster that was started here; sessions without a target run in this process again."""
    global _current
    if _current is not None:
        stop(_current.servers)
    _current = None
    cluster_activity.activities.clear()
    RECORDER.places.clear()
    set_default_target("")


def cluster() -> ClusterView | None:
    """Return the cluster that sessions without a target use; None if they run in this process."""
    return _current


def _use(view: ClusterView, shared: bool) -> ClusterView:
    global _current
    set_default_target(view.target, "" if shared else container_name())
    cluster_activity.listen()
    _current = view
    return view


def _task(device: str) -> str:
    """Return "/job:a/task:0" of a device's full name."""
    job, _, rest = device.partition("/replica:0")
    return job + rest.partition("/device:")[0]
