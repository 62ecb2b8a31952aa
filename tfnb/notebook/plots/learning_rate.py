"""The learning rate of a training, wherever it stands: a number, a variable, or a tensor of the graph that is fed."""
from __future__ import annotations

import threading
from collections.abc import MutableMapping
from typing import Any, Protocol

import numpy as np

from tfnb.graph.graph import Graph
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import graph_of
from tfnb.notebook.frontend.fetch import find_session, resolve
from tfnb.runtime.session import BaseSession


class Rate(Protocol):
    """A value that a slider moves. value: the present rate."""

    name: str
    value: float

    def set(self, value: float) -> None:
        """Take `value` from the next step on. Called between two steps."""

    def start(self) -> None:
        """The calling thread is the one that trains."""

    def close(self) -> None:
        """The training has ended."""


class NumberRate:
    """A Python number that the step reads by name and feeds itself."""

    def __init__(self, namespace: MutableMapping[str, Any], name: str, value: float | None = None) -> None:
        self.name, self._namespace = name, namespace
        self.value = float(namespace[name] if value is None else value)
        self.set(self.value)

    def set(self, value: float) -> None:
        """Bind the name to it."""
        self.value = self._namespace[self.name] = value

    def start(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


class VariableRate:
    """A variable of the graph: its value in the session is set."""

    def __init__(self, variable: Any, session: BaseSession, value: float | None = None) -> None:
        self.name, self._variable, self._session = variable.op.name, variable, session
        self.value = float(session.run(variable)) if value is None else value
        if value is not None:
            self.set(value)

    def set(self, value: float) -> None:
        """Load it."""
        self._variable.load(value, self._session)
        self.value = value

    def start(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


class FedRate:
    """A tensor, such as a placeholder or an optimizer's constant: fed in every run of the thread that trains.

    What a step feeds itself for that tensor counts. Other threads' runs are as ever.
    """

    def __init__(self, tensor: Tensor, session: BaseSession, value: float | None = None) -> None:
        known = constant_value(tensor) if value is None else value
        if known is None:
            raise ValueError(f"{tensor.op.name!r} has no value to begin with: say one, as {tensor.op.name}=0.01")
        if tensor.static not in (None, ()):
            raise ValueError(f"a learning rate is one number, but {tensor.name!r} is {tensor}")
        self.name, self.value = tensor.op.name, float(known)
        self._tensor, self._session, self._graph = tensor, session, graph_of(tensor)
        self._thread = 0

    def set(self, value: float) -> None:
        """Feed it from now on."""
        self.value = value

    def start(self) -> None:
        """Feed the runs of this thread."""
        self._thread = threading.get_ident()
        self._session.run = self._run      # type: ignore[method-assign]

    def close(self) -> None:
        """Feed no more."""
        self._session.__dict__.pop("run", None)

    def _run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        if threading.get_ident() == self._thread:
            if self._tensor.op._dead is not None:       # its cell ran again
                self._tensor = resolve(self._graph, self._tensor.name)
            feed_dict = {self._tensor: np.asarray(self.value, self._tensor.dtype.as_numpy_dtype), **(feed_dict or {})}
        return type(self._session).run(self._session, fetches, feed_dict, options, run_metadata)


def rate_of(what: Any, graph: Graph, value: float | None = None, session: BaseSession | None = None) -> Rate:
    """The learning rate that `what` holds: a variable, a tensor, the name of one, or an optimizer.

    An optimizer stands for the number it was made with: the constant `<its name>/learning_rate`. value: what to begin
    with, by default the present value; session: by default the only open one.

    Raises ValueError for what holds no number and for a placeholder without a value, KeyError for an unknown name.
    """
    if hasattr(what, "compute_gradients"):
        name = f"{what.get_name()}/learning_rate"
        if not any(op.name == name for op in graph.get_operations()):
            raise ValueError(f"the optimizer {what.get_name()!r} has no constant learning rate in the graph: it was "
                             "given a tensor, which you can name here, or its minimize() has not run")
        what = name
    if hasattr(what, "load") and hasattr(what, "initializer"):
        return VariableRate(what, session or find_session(what.graph), value)
    found = resolve(graph, what)
    if not isinstance(found, Tensor):
        raise ValueError("a learning rate is a number, a variable, a tensor or an optimizer, not "
                         f"{type(what).__name__}")
    return FedRate(found, session or find_session(graph_of(found)), value)
