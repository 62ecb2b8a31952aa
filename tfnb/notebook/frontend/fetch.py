"""Running something and looking at it: values with one line on each."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfnb.core.describe import one_line
from tfnb.core.text import did_you_mean
from tfnb.debug.tap import Tap, run_tapped
from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph, get_default_session
from tfnb.notebook.frontend import shell
from tfnb.runtime.session import BaseSession


class NoSessionError(ValueError):
    """There is no session to run in, or there are several."""


def fetch(*fetches: Any, feed: Mapping[Any, Any] | None = None, session: BaseSession | None = None,
          labels: Iterable[str] = (), tap: Tap | None = None) -> Any:
    """Run `fetches`, print one line on each value, and return the value (of one fetch) or the list of them.

    fetches: tensors, operations, variables, structures of them, or names in the graph: "loss" is the first output of
    the op "loss". feed: tensor or name -> value. session: by default the default session, else the one open session
    on the graph among the notebook's variables. labels: what to call the fetches, by default their names.
    tap: what looks at each op; the run is interpreted then.

    Raises NoSessionError (a ValueError) if it is not clear which session; KeyError for a name that is not there, with
    the nearest one; else what `Session.run` raises.
    """
    found, wanted, feeds = in_session(fetches, feed, session)
    values = found.run(wanted, feeds or None) if tap is None else run_tapped(found, wanted, feeds, tap)
    names = [*labels] or [_name(each) for each in wanted]
    width = max(map(len, names), default=0)
    for name, value in zip(names, values, strict=True):
        print(f"{name:{width}}  {one_line(value)}")
    return values[0] if len(values) == 1 else values


def in_session(fetches: Sequence[Any], feed: Mapping[Any, Any] | None = None,
               session: BaseSession | None = None) -> tuple[BaseSession, list[Any], dict[Any, Any]]:
    """The session to run `fetches` in, what to fetch and what to feed there, with names resolved.

    Raises NoSessionError if it is not clear which session, KeyError for a name that is not there.
    """
    found = session if session is not None else find_session(graph_of(fetches))
    return (found, [resolve(found.graph, each) for each in fetches],
            {resolve(found.graph, key): value for key, value in (feed or {}).items()})


def resolve(graph: Graph, wanted: Any) -> Any:
    """Return what a name in `graph` represents: a tensor ("a:0"), the first output of an op, or an op without outputs.

    What is no string stays as it is. Raises KeyError for a name that is not there, with the nearest one.
    """
    if not isinstance(wanted, str):
        return wanted
    if ":" in wanted:
        return graph.get_tensor_by_name(wanted)
    op = next((op for op in graph.get_operations() if op.name == wanted), None)
    if op is None:
        names = [op.name for op in graph.get_operations()]
        raise KeyError(f"no op is called {wanted!r}{did_you_mean(wanted, names)}")
    return op.outputs[0] if op.outputs else op


def find_session(graph: Graph) -> BaseSession:
    """The session to run ops of `graph` in: the default one, else the only open one among the notebook's variables.

    Raises NoSessionError if there is none, or several.
    """
    default = get_default_session()
    if default is not None and default.graph is graph and not default._closed:
        return default      # type: ignore[no-any-return]
    found = open_sessions(graph)
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        raise NoSessionError(f"several sessions are open on this graph: choose {' or '.join(found)}")
    raise NoSessionError("no session is open on this graph: make one with tf.InteractiveSession() or tf.Session()")


def open_sessions(graph: Graph) -> dict[str, BaseSession]:
    """The open sessions on `graph` among the notebook's variables, each by the first of its names."""
    found: dict[int, tuple[str, BaseSession]] = {}
    for name, value in _variables().items():
        if isinstance(value, BaseSession) and value.graph is graph and not value._closed:
            found.setdefault(id(value), (name, value))
    return dict(found.values())


def _variables() -> dict[str, Any]:
    running = shell.current()
    names = getattr(running, "user_ns", {})
    return {name: value for name, value in names.items() if not name.startswith("_")}


def graph_of(fetches: Iterable[Any]) -> Graph:
    """The graph that fetches are of: that of the first one that has one, of the default session, or the default one."""
    found = _first_graph(fetches)
    if found is not None:
        return found
    default = get_default_session()
    return default.graph if default is not None else get_default_graph()


def _first_graph(fetches: Iterable[Any]) -> Graph | None:
    for each in fetches:
        if isinstance(each, (list, tuple, dict)):
            found = _first_graph(each.values() if isinstance(each, dict) else each)
        else:
            found = getattr(each, "graph", None)
        if isinstance(found, Graph):
            return found
    return None


def _name(wanted: Any) -> str:
    if isinstance(wanted, Tensor):
        return wanted.name.removesuffix(":0")
    if isinstance(wanted, Operation):
        return wanted.name
    return str(getattr(wanted, "name", type(wanted).__name__)).removesuffix(":0")
