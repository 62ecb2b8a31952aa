"""tfnb as a MasterService: graphs of tfnb's and TensorFlow's clients, run by the server of this process."""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from secrets import token_hex
from typing import Any

import numpy as np

from tfnb.core.errors import AbortedError, InvalidArgumentError, OpError
from tfnb.core.lazy import lazy_module
from tfnb.graph.formats.protos import make_tensor_proto
from tfnb.graph.graph import Graph
from tfnb.graph.importing import import_graph_def
from tfnb.graph.parts.operation import Tensor
from tfnb.resources.queues import Cancellation, cancelled_by
from tfnb.runtime.remote.master import OPTIONS, SERVICE, grpc_or_error
from tfnb.runtime.remote.wire import value_of
from tfnb.runtime.session import Session

_pb = lazy_module("tfnb.proto.master_pb2")
_config = lazy_module("tfnb.proto.config_pb2")
_device_attributes = lazy_module("tfnb.proto.device_attributes_pb2")

THREADS = 64            # requests at the same time; each dequeue that waits is one


def serve(target: str, address: str) -> tuple[Any, int]:
    """Serve sessions of a target of this process at an address, "host:port"; return the gRPC server and its port.

    Raises OSError if nothing can listen there.
    """
    grpc = grpc_or_error()
    made = grpc.server(ThreadPoolExecutor(THREADS, thread_name_prefix="tfnb-serve"),
                       options=(*OPTIONS, ("grpc.so_reuseport", 0)))         # one server at a port
    made.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
        SERVICE.strip("/"), Service(target).handlers(grpc)),))
    try:
        port = made.add_insecure_port(address)
    except RuntimeError as error:
        raise OSError(f"nothing can listen at {address}: {error}") from None
    made.start()
    return made, port


class Served:
    """A session of a client: its graph, which grows, and what was prepared over it."""

    def __init__(self, target: str, graph_def: Any, config: Any) -> None:
        self.graph = Graph()
        self.session = Session(target, self.graph, config)
        self.version = 0
        self.callables: dict[int, tuple[Callable[..., Any], list[Tensor]]] = {}
        self._lock = threading.Lock()
        self.extend(graph_def)

    def extend(self, graph_def: Any) -> None:
        """Add nodes; their inputs may be nodes that are there."""
        with self._lock:
            if graph_def.node:
                with self.graph.as_default():
                    import_graph_def(graph_def, input_map=self._earlier(graph_def), name="")
            self.version += 1

    def _earlier(self, graph_def: Any) -> dict[str, Any]:
        """Return the nodes that are there already among the inputs of new ones, as an input_map."""
        new = {node.name for node in graph_def.node}
        found: dict[str, Any] = {}
        for name in {name for node in graph_def.node for name in node.input}:
            bare = name.lstrip("^").partition(":")[0]
            if bare not in new:
                found[name] = (self.graph.get_operation_by_name(bare) if name.startswith("^")
                               else self.tensor(name))
        return found

    def tensor(self, name: str) -> Tensor:
        """Return the tensor of a name, "x" for "x:0". Raises NotFoundError's kin as KeyError."""
        return self.graph.get_tensor_by_name(name if ":" in name else f"{name}:0")

    def run(self, fetch: Sequence[str], target: Sequence[str], feeds: dict[Tensor, np.ndarray], options: Any = None,
            metadata: Any = None) -> list[Any]:
        """Run, and return the values of `fetch` as TensorProtos."""
        tensors = [self.tensor(name) for name in fetch]
        ops = [self.graph.get_operation_by_name(name) for name in target]
        values = self.session.run([tensors, ops], feeds or None, options, metadata)[0]
        return [_proto(value, t) for value, t in zip(values, tensors, strict=True)]

    def step(self, handle: str, fetch: Sequence[str], feeds: dict[Tensor, np.ndarray]) -> list[Any]:
        """Run a step of a partial run."""
        tensors = [self.tensor(name) for name in fetch]
        values = self.session.partial_run(handle, tensors, feeds)
        return [_proto(value, t) for value, t in zip(values, tensors, strict=True)]


class Service:
    """The methods of MasterService; each takes its request and returns its response."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._sessions: dict[str, Served] = {}

    def handlers(self, grpc: Any) -> dict[str, Any]:
        """Return gRPC's handlers of the methods by name."""
        return {name: grpc.unary_unary_rpc_method_handler(
            self._guarded(getattr(self, _method(name)), grpc), getattr(_pb, f"{name}Request").FromString,
            getattr(_pb, f"{name}Response").SerializeToString) for name in METHODS}

    def _guarded(self, method: Callable[[Any], Any], grpc: Any) -> Callable[[Any, Any], Any]:
        """Return a method whose errors become statuses of gRPC."""
        codes = {code.value[0]: code for code in grpc.StatusCode}

        def call(request: Any, context: Any) -> Any:
            ended = Cancellation(reason="its client went away, or its deadline passed")
            try:
                if not context.add_callback(ended.set):         # it has ended already
                    ended.set()
                with cancelled_by(ended):
                    return method(request)
            except Exception as error:
                code, message = _status(error)
                context.abort(codes[code], message)
        return call

    def _session(self, request: Any) -> Served:
        found = self._sessions.get(request.session_handle)
        if found is None:
            raise AbortedError(None, None, f"Session {request.session_handle} is not found. Possibly, this master has "
                               "restarted.")
        return found

    def create_session(self, request: Any) -> Any:
        """Make a session with a graph."""
        made = Served(self._target, request.graph_def, _own(_config.ConfigProto, request.config))
        handle = token_hex(8)
        self._sessions[handle] = made
        return _pb.CreateSessionResponse(session_handle=handle, graph_version=made.version)

    def extend_session(self, request: Any) -> Any:
        """Add nodes to a session's graph."""
        found = self._session(request)
        if request.current_graph_version != found.version:
            raise AbortedError(None, None, f"the graph has version {found.version}, not "
                                           f"{request.current_graph_version}")
        found.extend(request.graph_def)
        return _pb.ExtendSessionResponse(new_graph_version=found.version)

    def run_step(self, request: Any) -> Any:
        """Run once, or a step of a partial run."""
        response = _pb.RunStepResponse()
        try:
            found = self._session(request)
            feeds = {found.tensor(item.name): value_of(item.tensor) for item in request.feed}
            if request.partial_run_handle:
                made = found.step(request.partial_run_handle, request.fetch, feeds)
            else:
                options = request.options if request.HasField("options") else None
                metadata = response.metadata if options is not None else None
                made = found.run(request.fetch, request.target, feeds, options, metadata)
            for name, tensor in zip(request.fetch, made, strict=True):
                response.tensor.add(name=name, tensor=tensor)
        except Exception as error:
            if not request.store_errors_in_response_body:
                raise
            code, message = _status(error)
            return _pb.RunStepResponse(status_code=code, status_error_message=message)
        return response

    def partial_run_setup(self, request: Any) -> Any:
        """Prepare a partial run."""
        found = self._session(request)
        wanted: list[Any] = [found.tensor(name) for name in request.fetch]
        wanted += [found.graph.get_operation_by_name(name) for name in request.target]
        handle = found.session.partial_run_setup(wanted, [found.tensor(name) for name in request.feed])
        return _pb.PartialRunSetupResponse(partial_run_handle=handle)

    def make_callable(self, request: Any) -> Any:
        """Prepare a signature."""
        found, options = self._session(request), request.options
        feeds = [found.tensor(name) for name in options.feed]
        fetches = [found.tensor(name) for name in options.fetch]
        targets = [found.graph.get_operation_by_name(name) for name in options.target]

        def run(values: Sequence[np.ndarray]) -> list[Any]:
            made = found.session.run([fetches, targets], dict(zip(feeds, values, strict=True)) or None)[0]
            return [_proto(value, t) for value, t in zip(made, fetches, strict=True)]
        handle = len(found.callables) + 1
        found.callables[handle] = run, feeds
        return _pb.MakeCallableResponse(handle=handle)

    def run_callable(self, request: Any) -> Any:
        """Run a prepared signature."""
        run, feeds = self._session(request).callables.get(request.handle, (None, []))
        if run is None or len(feeds) != len(request.feed):
            raise InvalidArgumentError(None, None, f"no callable {request.handle} with {len(request.feed)} feeds")
        return _pb.RunCallableResponse(fetch=run([value_of(tensor) for tensor in request.feed]))

    def release_callable(self, request: Any) -> Any:
        """Forget a prepared signature."""
        self._session(request).callables.pop(request.handle, None)
        return _pb.ReleaseCallableResponse()

    def close_session(self, request: Any) -> Any:
        """Close a session; variables stay."""
        self._session(request).session.close()
        del self._sessions[request.session_handle]
        return _pb.CloseSessionResponse()

    def list_devices(self, request: Any) -> Any:
        """List the devices of this process."""
        with Session(self._target, Graph()) as session:
            found = [_device_attributes.DeviceAttributes(
                name=d.name, device_type=d.device_type, memory_limit=d.memory_limit_bytes, incarnation=d.incarnation,
                physical_device_desc=d.description) for d in session.list_devices()]
        return _pb.ListDevicesResponse(local_device=found)

    def reset(self, request: Any) -> Any:
        """Drop the variables of containers, or all; sessions end."""
        Session.reset(self._target, list(request.container))
        return _pb.ResetResponse()


METHODS = ("CreateSession", "ExtendSession", "RunStep", "PartialRunSetup", "MakeCallable", "RunCallable",
           "ReleaseCallable", "CloseSession", "ListDevices", "Reset")


def _method(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _proto(value: Any, tensor: Tensor) -> Any:
    return make_tensor_proto(np.asarray(value), tensor.dtype.base_dtype)


def _own(kind: Any, message: Any) -> Any:
    made = kind()
    made.MergeFromString(message.SerializeToString())
    return made


def _status(error: Exception) -> tuple[int, str]:
    """Return the status code and text of an error; the node it is of is named as TensorFlow's servers do."""
    if isinstance(error, OpError):
        node = f"\n\t [[{{{{node {error.op.name}}}}}]]" if error.op is not None else ""
        return error.error_code, error.message + node
    known = isinstance(error, (ValueError, TypeError, KeyError))
    return (InvalidArgumentError(None, None, "").error_code if known else 2), f"{type(error).__name__}: {error}"
