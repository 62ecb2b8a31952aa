"""Client of TensorFlow's MasterService: its methods over gRPC, with TensorFlow's errors."""
from __future__ import annotations

import os
import re
import time
from typing import Any

from tfnb.core.errors import UNAVAILABLE, OpError, error_of
from tfnb.core.lazy import lazy_module
from tfnb.core.program.log import warning
from tfnb.graph.graph import Graph

grpc = lazy_module("grpc")
_pb = lazy_module("tfnb.proto.master_pb2")

SERVICE = "/tensorflow.MasterService/"
# Messages have no limit (gRPC's is 4 MB), nor have the texts of errors, which come as metadata (8 kB).
OPTIONS = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1),
           ("grpc.max_metadata_size", 1 << 20), ("grpc.absolute_max_metadata_size", 1 << 20))
NOTICE = 10.0           # seconds of waiting for a server until a line says so
# How TensorFlow names the node that failed: "{{node x}}" or "[[node x (defined at ...)]]", "[[{{node x}}]]".
_NODE = re.compile(r"\{\{node ([^{}]+)\}\}|\[\[(?:node )?([\w.][\w./\-]*)")


def grpc_or_error() -> Any:
    """Return the module grpc. Raises ImportError that tells how to install it."""
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")        # it logs each connection that ends; it reads this once
    try:
        grpc.insecure_channel       # noqa: B018  imports it
    except ImportError:
        raise ImportError("sessions and servers of several processes need the package grpcio: "
                          "pip install 'tfnb[cluster]'") from None
    return grpc
# Nodes that servers add, which pass a tensor to another task: "x_S3", "x/_5"; and what they say of the transport.
_PASSING = re.compile(r"(_S\d+|/_\d+)$")
_TRANSPORT = re.compile(r"\n?(Additional GRPC error information|Recent warning and error logs:).*", re.DOTALL)


class Master:
    """The MasterService at an address, "host:port". A connection is made when it is first called.

    Calls raise the class of tf.errors that the service answers with, UnavailableError if nothing answers.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._channel = grpc_or_error().insecure_channel(address, options=OPTIONS)
        self._stubs: dict[str, Any] = {}

    def call(self, method: str, request: Any, timeout: float | None = None) -> Any:
        """Call a method with its request (a message, or one serialized). timeout: seconds."""
        try:
            return self._stub(method)(request, timeout=timeout)
        except grpc.RpcError as error:
            raise self._error(error) from None

    def call_waiting(self, method: str, request: Any, timeout: float | None = None) -> Any:
        """Call a method as soon as the server is there, and say what is waited for."""
        began = time.monotonic()
        future = self._stub(method).future(request, timeout=timeout, wait_for_ready=True)
        try:
            while True:
                try:
                    return future.result(timeout=NOTICE)
                except grpc.FutureTimeoutError:
                    warning("%s: no answer from grpc://%s for %d seconds: this server, or another one of its cluster, "
                            "has not started", method, self.address, time.monotonic() - began)
        except grpc.RpcError as error:
            raise self._error(error) from None
        except BaseException:               # Ctrl-C
            future.cancel()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def _stub(self, method: str) -> Any:
        stub = self._stubs.get(method)
        if stub is None:
            response = getattr(_pb, f"{method}Response")
            stub = self._stubs[method] = self._channel.unary_unary(
                SERVICE + method, request_serializer=_serialized, response_deserializer=response.FromString)
        return stub

    def _error(self, error: Any) -> OpError:
        """Return the error of tf.errors for one of gRPC."""
        code, details = error.code().value[0], error.details() or "no message"
        if code == UNAVAILABLE:
            details = f"{details} (the server at grpc://{self.address} has ended, or none listens there)"
        return made_error(code, details)


def made_error(code: int, message: str, graph: Graph | None = None) -> OpError:
    """Return the error of a status code; with a graph, of the op whose node the message names."""
    op = None
    found = _NODE.search(message) if graph is not None else None
    if found is not None and graph is not None:
        name = found[1] or found[2]
        op = graph._by_name.get(name) or graph._by_name.get(_PASSING.sub("", name))
    return error_of(code, op, _TRANSPORT.sub("", message))


def _serialized(request: Any) -> bytes:
    return request if isinstance(request, bytes) else request.SerializeToString()

