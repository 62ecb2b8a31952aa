"""Sessions of a MasterService: the graph there is kept like the one here, and runs are sent to it."""
from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from secrets import randbits
from typing import Any, Protocol

import numpy as np

from tfnb.compile.planning.plan import Plan
from tfnb.core import taps
from tfnb.core.errors import AbortedError, InvalidArgumentError, OpError, UnavailableError
from tfnb.core.lazy import lazy_module
from tfnb.graph.formats.export import graph_def, strip_defaults, versions
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Tensor
from tfnb.runtime.remote.containers import put_into
from tfnb.runtime.remote.master import Master, made_error
from tfnb.runtime.remote.split import Split, fed_as, stand_in, stays
from tfnb.runtime.remote.wire import callable_request, step_request, value_of
from tfnb.runtime.state.trace import Trace

_pb = lazy_module("tfnb.proto.master_pb2")
_config = lazy_module("tfnb.proto.config_pb2")
_graph = lazy_module("tfnb.proto.graph_pb2")

SEEN = 2                # runs of a signature until the server gets it as a callable
GRACE = 1.0             # seconds that a server may take to report a deadline itself


class Here(Protocol):
    """The part of a run that stays in this process."""

    split: Split

    def run(self, feeds: Mapping[Tensor, np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the values of the fetches here, and of the tensors that the server takes."""


class RemoteSession:
    """A session of the master at an address: made with the first run, extended where the graph grows.

    Where nodes that were sent are replaced or gone, the session there is made anew with the whole graph: the protocol
    can only add. Variables live in the containers of the servers, so that they stay. container: of what names none.
    """

    def __init__(self, address: str, graph: Graph, config: Any, container: str = "") -> None:
        self.master = Master(address)
        self.graph = graph
        self.generation = 0                         # of the session there
        self.renews = True                          # whether a session that is lost is made anew by the next run
        self._config, self._container = config, container
        self._handle: str | None = None
        self._version = 0
        self._sent: dict[str, bytes] = {}
        self._seen = (-1, -1)                       # version and mutations of the graph that was sent
        self._lock = threading.Lock()

    def executor(self, plan: Plan, here: Here | None = None) -> RemoteExecutor:
        """Return what runs a plan there. here: what runs a part of it in this process."""
        return RemoteExecutor(self, plan, here)

    def prepared(self) -> str:
        """Return the handle of the session there, whose graph is the graph here from now on."""
        if self._handle is not None and self._seen == (self.graph.version, self.graph.mutations):
            return self._handle
        with self._lock:
            if self.generation and self._handle is None and not self.renews:
                raise AbortedError(None, None, f"the session at grpc://{self.master.address} was lost with its server")
            seen, made = (self.graph.version, self.graph.mutations), self._graph_def()
            nodes = {node.name: node.SerializeToString(deterministic=True) for node in made.node}
            if self._handle is not None and any(nodes.get(name) != node for name, node in self._sent.items()):
                self._end()
            if self._handle is None:
                self._create(made)
            else:
                self._extend(made, [node for node in made.node if node.name not in self._sent])
            self._sent, self._seen = nodes, seen
            assert self._handle is not None
            return self._handle

    def _graph_def(self) -> Any:
        """Return the graph as servers get it: with placeholders for what ops give that stay here."""
        ops = self.graph.get_operations()
        here = {op.name for op in ops if stays(op)}
        sent = [op for op in ops if op.name not in here]
        made = strip_defaults(graph_def(sent))
        if self._container:
            put_into(self._container, made)
        if not here:
            return made
        tensors = dict.fromkeys(t for op in sent for t in op.inputs if t.op.name in here)
        names = {(t.op.name, t.value_index): stand_in(t) for t in tensors}
        for node in made.node:
            node.input[:] = [names.get(_split_name(name), name) for name in node.input if name.lstrip("^") not in here
                             or not name.startswith("^")]
        for tensor in tensors:
            node = made.node.add(name=stand_in(tensor), op="Placeholder")
            node.attr["dtype"].type = tensor.dtype.base_dtype.as_datatype_enum
        return made

    def _create(self, whole: Any) -> None:
        request = _pb.CreateSessionRequest(graph_def=whole)
        if self._config is not None:
            request.config.MergeFromString(self._config.SerializeToString())
        made = self.master.call_waiting("CreateSession", request, self._limit())
        self._handle, self._version = made.session_handle, made.graph_version
        self.generation += 1

    def _extend(self, whole: Any, nodes: Collection[Any]) -> None:
        if nodes:
            added = _graph.GraphDef(versions=versions(), library=whole.library)
            added.node.extend(nodes)
            request = _pb.ExtendSessionRequest(session_handle=self._handle, graph_def=added,
                                               current_graph_version=self._version)
            self._version = self.master.call("ExtendSession", request, self._limit()).new_graph_version

    def _limit(self) -> float | None:
        """Return the seconds that the session's config allows an operation."""
        milliseconds = 0 if self._config is None else self._config.operation_timeout_in_ms
        return milliseconds / 1000 + GRACE if milliseconds > 0 else None

    def forget(self) -> None:
        """End the session there: it is lost, or one of its servers is. Unless `renews`, AbortedError from now on."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        handle, self._handle, self._sent, self._seen = self._handle, None, {}, (-1, -1)
        if handle is not None:
            try:
                self.master.call("CloseSession", _pb.CloseSessionRequest(session_handle=handle), GRACE)
            except OpError:                         # it is gone already
                pass

    def close(self) -> None:
        """Close the session there, and the connection. Variables stay where they are."""
        with self._lock:
            self._end()
        self.master.close()

    def devices(self) -> list[Any]:
        """Return the devices of the cluster, DeviceAttributes protos."""
        request = _pb.ListDevicesRequest(session_handle=self._handle or "")
        found = self.master.call_waiting("ListDevices", request, self._limit())
        return [*found.local_device, *found.remote_device]


def reset(address: str, containers: Sequence[str], config: Any) -> None:
    """Drop the resources in `containers` (all, if there are none given) of the servers behind a master."""
    master = Master(address)
    try:
        filters = () if config is None else config.device_filters
        master.call("Reset", _pb.ResetRequest(container=containers, device_filters=filters))
    finally:
        master.close()


def stay_lost(session: Any) -> None:
    """Let a session whose server was lost raise AbortedError from now on, where the next run would renew it.

    For sessions with threads: a thread that ends after the loss would close the queues of the restarted server.
    """
    remote = getattr(session, "_remote", None)
    if remote is not None:
        remote.renews = False


class RemoteExecutor:
    """Runs of one signature on a server; after a few without options, as a callable made there.

    here: runs what stays in this process (see split.py), given the feeds by tensor; it returns its fetches, and what
    the server takes.
    """

    def __init__(self, session: RemoteSession, plan: Plan, here: Here | None = None) -> None:
        self.plan = plan
        self._session, self._here = session, here
        apart = here.split if here is not None else Split((), (), ())
        named = [(fed_as(t), t.dtype.base_dtype) for t in plan.feeds]
        self._places = [i for i, (name, _) in enumerate(named) if name is not None]
        self._feeds = [(name, dtype) for name, dtype in named if name is not None]
        self._feeds += [(f"{stand_in(t)}:0", t.dtype.base_dtype) for t in apart.crossing]
        self._fetches = [t.name for t in plan.fetches if t not in apart.fetches]
        self._targets = [op.name for op in plan.targets if op not in apart.targets]
        self._runs = 0
        self._callable: tuple[int, int] | None = None       # (generation of the session, handle)

    def run(self, feeds: Sequence[np.ndarray], trace: Trace | None = None) -> list[np.ndarray]:
        """Return the values of the fetches. feeds: arrays of the right dtypes, in the plan's order."""
        self._runs += 1
        run = self._step_values if self._runs <= SEEN else self._call_values
        return self._around(feeds, run)

    def _around(self, feeds: Sequence[np.ndarray],
                run: Callable[[list[np.ndarray]], list[np.ndarray]]) -> list[np.ndarray]:
        """Run what stays here, and then the rest there."""
        values = self._joined(feeds, run)
        if taps.on_remote_run is not None:
            taps.on_remote_run(self, values)
        return values

    @property
    def address(self) -> str:
        """The address of the server, "host:port"."""
        return self._session.master.address

    def _joined(self, feeds: Sequence[np.ndarray],
                run: Callable[[list[np.ndarray]], list[np.ndarray]]) -> list[np.ndarray]:
        sent = [feeds[i] for i in self._places]
        if self._here is None:
            return run(sent)
        mine, crossing = self._here.run(dict(zip(self.plan.feeds, feeds, strict=True)))
        theirs = iter(run([*sent, *crossing]) if self._fetches or self._targets else ())
        kept = iter(mine)
        apart = set(self._here.split.fetches)
        return [next(kept if t in apart else theirs) for t in self.plan.fetches]

    def _step_values(self, feeds: Sequence[np.ndarray]) -> list[np.ndarray]:
        return self._values(self._step(dict(zip(self._feeds, feeds, strict=True)), self._fetches, self._targets),
                            self._fetches)

    def _call_values(self, feeds: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Run as a callable of the server."""
        handle = self._session.prepared()
        try:
            if self._callable is None or self._callable[0] != self._session.generation:
                self._callable = self._session.generation, self._make_callable(handle)
            head = _pb.RunCallableRequest(session_handle=handle, handle=self._callable[1], request_id=_fresh())
            request = callable_request(head.SerializeToString(),
                                       [(d, a) for (_, d), a in zip(self._feeds, feeds, strict=True)])
            response = self._session.master.call("RunCallable", request)
        except OpError as error:
            raise self._told(error) from None
        return [value_of(tensor) for tensor in response.fetch]

    def _make_callable(self, handle: str) -> int:
        options = _config.CallableOptions(feed=[name for name, _ in self._feeds], fetch=self._fetches,
                                          target=self._targets)
        request = _pb.MakeCallableRequest(session_handle=handle, options=options, request_id=_fresh())
        return int(self._session.master.call("MakeCallable", request).handle)

    def run_with(self, feeds: Sequence[np.ndarray], options: Any, metadata: Any,
                 milliseconds: int) -> list[np.ndarray]:
        """Run with RunOptions (or None), and fill in a RunMetadata (or None). milliseconds: 0 for no limit."""
        def run(sent: list[np.ndarray]) -> list[np.ndarray]:
            given = dict(zip(self._feeds, sent, strict=True))
            response = self._step(given, self._fetches, self._targets, options, milliseconds)
            if metadata is not None:
                metadata.CopyFrom(response.metadata)
            return self._values(response, self._fetches)
        return self._around(feeds, run)

    def _step(self, given: Mapping[Any, np.ndarray], fetches: Sequence[str], targets: Sequence[str],
              options: Any = None, milliseconds: int = 0, partial: str = "") -> Any:
        head = _pb.RunStepRequest(session_handle=self._session.prepared(), fetch=fetches, target=targets,
                                  partial_run_handle=partial, store_errors_in_response_body=True, request_id=_fresh())
        if options is not None:
            head.options.MergeFromString(options.SerializeToString())
        if milliseconds:
            head.options.timeout_in_ms = milliseconds
        request = step_request(head.SerializeToString(), [(name, d, a) for (name, d), a in given.items()])
        limit = milliseconds / 1000 + GRACE if milliseconds else None
        try:
            response = self._session.master.call("RunStep", request, limit)
            if response.status_code:
                raise made_error(response.status_code, response.status_error_message, self._session.graph)
        except OpError as error:
            raise self._told(error) from None
        return response

    def _told(self, error: OpError) -> OpError:
        """Return an error with the op that its message names; a session that it ended is forgotten."""
        if isinstance(error, (AbortedError, UnavailableError)):
            self._session.forget()
        return made_error(error.error_code, error.message, self._session.graph)

    def _values(self, response: Any, fetches: Sequence[str]) -> list[np.ndarray]:
        made = {item.name: item.tensor for item in response.tensor}
        return [value_of(made[name]) for name in fetches]

    def begin_partial(self, fetches: Sequence[Tensor]) -> RemotePartialRun:
        """Begin a run in steps."""
        request = _pb.PartialRunSetupRequest(
            session_handle=self._session.prepared(), feed=[name for name, _ in self._feeds],
            fetch=[t.name for t in fetches], target=self._targets, request_id=_fresh())
        handle = self._session.master.call("PartialRunSetup", request).partial_run_handle
        return RemotePartialRun(self, handle, fetches)

    def step(self, handle: str, fetches: Sequence[Tensor], feeds: Mapping[Tensor, np.ndarray]) -> list[np.ndarray]:
        """Run a step of a run in steps."""
        names = [t.name for t in fetches]
        given = {(t.name, t.dtype.base_dtype): array for t, array in feeds.items()}
        return self._values(self._step(given, names, [], partial=handle), names)


class RemotePartialRun:
    """The run behind a handle of `partial_run_setup`: see runners/partial.py."""

    def __init__(self, executor: RemoteExecutor, handle: str, fetches: Sequence[Tensor]) -> None:
        self._executor, self._handle = executor, handle
        self._fetches, self._feeds = set(fetches), set(executor.plan.feeds)

    @property
    def done(self) -> bool:
        """Whether all has been fetched and fed."""
        return not self._fetches and not self._feeds

    def step(self, fetches: Sequence[Tensor], feeds: Mapping[Tensor, np.ndarray]) -> list[np.ndarray]:
        """Add `feeds`, and return `fetches`. Raises what the server answers."""
        strange = [t.name for t in (*fetches, *feeds) if t not in self._fetches and t not in self._feeds]
        if strange:
            raise InvalidArgumentError(None, None, f"not prepared by partial_run_setup, or done: {', '.join(strange)}")
        values = self._executor.step(self._handle, fetches, feeds)
        self._fetches.difference_update(fetches)
        self._feeds.difference_update(feeds)
        return values


def _split_name(name: str) -> tuple[str, int]:
    """Return the op and the index of an input of a node."""
    op, _, index = name.partition(":")
    return op, int(index or 0)


def _fresh() -> int:
    """Return a random id: servers drop requests whose id they have seen."""
    return randbits(62)
