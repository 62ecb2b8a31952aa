"""Sessions: a graph, a store, and the plans of what was run so far."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from tfnb.compile.plan import Plan
from tfnb.compile.structure import build
from tfnb.core import taps
from tfnb.core.errors import NotFoundError
from tfnb.core.stale import check_fresh
from tfnb.graph.context import default_sessions
from tfnb.graph.graph import Graph
from tfnb.graph.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.runtime.executor import Executor
from tfnb.runtime.fetch import Build, Feed, feed_tensor, flat_feeds, read_fetches
from tfnb.runtime.store import Store

CALLS_KEPT = 512         # run signatures remembered a session


class _Call:
    """A signature of `run`, ready to go: how to read the feeds, the plan's executor, how to build the answer."""

    __slots__ = ("mutations", "feeds", "executor", "build", "single", "summaries")

    def __init__(self, mutations: int, feeds: Sequence[Feed], executor: Executor, build: Build, single: bool) -> None:
        self.mutations = mutations
        self.feeds = tuple(feed.array for feed in feeds)
        self.executor = executor
        self.build = build
        self.single = single
        self.summaries = tuple(i for i, t in enumerate(executor.plan.fetches) if t.op.type.endswith("Summary"))


class BaseSession:
    """Runs ops and evaluates tensors of one graph; keeps the values of its variables.

    target: "" (this process); others raise NotFoundError when the session is made. graph: by default the default
    graph. config: a ConfigProto, or None.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {graph!r}")
        if config is not None and not hasattr(config, "allow_soft_placement"):
            raise TypeError(f"config must be a tf.ConfigProto, but got {config!r}")
        if target not in ("", "local"):
            raise NotFoundError(None, None, f"tfnb runs in this process only: the target must be '', but is {target!r}")
        self._graph = graph if graph is not None else get_default_graph()
        self._config = config
        self._target = target
        self._store = Store()
        self._executors: dict[tuple[Any, ...], tuple[int, Executor]] = {}
        self._calls: dict[Any, _Call] = {}
        self._closed = False
        self._patience = 0 if config is None else int(config.operation_timeout_in_ms)

    @property
    def graph(self) -> Graph:
        """The graph that was launched in this session."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a GraphDef proto."""
        return self._graph.as_graph_def()

    @property
    def sess_str(self) -> str:
        """The target the session was made with."""
        return self._target

    def close(self) -> None:
        """Give the session's variables and programs back. A closed session raises RuntimeError when run."""
        self._closed = True
        self._calls.clear()
        self._executors.clear()
        self._store.close()

    def as_default(self) -> AbstractContextManager[Any]:
        """A context in which this session is the default one (it is not closed at the end)."""
        return default_sessions.get_controller(self)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run what `fetches` needs once, and return the values of `fetches` in the same structure.

        fetches: a Tensor, Operation, Variable or name, or lists, tuples, namedtuples and dicts of these; operations
        give None. feed_dict: tensor -> value (number, list, array) to take in place of what the tensor's op would
        make. The arrays returned belong to the caller.

        Raises RuntimeError if the session is closed; TypeError or ValueError for what can't be fetched or fed; an
        error of tf.errors from the op that fails, which leaves session and graph usable.
        """
        try:
            kind = type(fetches)
            key = (kind, *fetches) if kind is list or kind is tuple else fetches
            if feed_dict:
                key = (dict, key, *feed_dict)
            call = self._calls.get(key)
        except TypeError:                          # not hashable: a dict, or lists in a list
            key = call = None
        if call is None or call.mutations != self._graph.mutations:
            if isinstance(feed_dict, Mapping) and (flat := flat_feeds(feed_dict)) is not feed_dict:
                return self.run(fetches, flat)
            call = self._prepare(fetches, feed_dict, key)
        if feed_dict:
            arrays = [read(value) for read, value in zip(call.feeds, feed_dict.values(), strict=True)]
        else:
            arrays = []
        if options is None and not self._patience:
            values = call.executor.run(arrays)
        else:
            values = self._run_for(call, arrays, getattr(options, "timeout_in_ms", 0) or self._patience)
        if call.summaries and taps.on_summary is not None:
            self._tell(call, values)
        if call.single:
            value = values[0]
            return value if value.ndim else value[()]
        return call.build([v if v.ndim else v[()] for v in values])

    def _run_for(self, call: _Call, arrays: Sequence[np.ndarray], milliseconds: int) -> Sequence[np.ndarray]:
        """Run with a limit to the time that ops may wait (0: none). Raises DeadlineExceededError past it."""
        self._store.limit(milliseconds / 1000 if milliseconds else None)
        try:
            return call.executor.run(arrays)
        finally:
            self._store.limit(None)

    def _tell(self, call: _Call, values: Sequence[Any]) -> None:
        listener = taps.on_summary
        for i in call.summaries:
            if listener is not None and values[i].ndim == 0:
                listener(values[i][()], None, "")

    def _prepare(self, fetches: Any, feed_dict: Any, key: Any) -> _Call:
        """Read the structures, and find or make the plan."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if feed_dict is not None and not hasattr(feed_dict, "values"):
            raise TypeError(f"feed_dict must be a dictionary, but is {feed_dict!r}")
        if not self._graph.version:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        read = read_fetches(fetches, self._graph)
        feeds = [feed_tensor(k, self._graph) for k in feed_dict or ()]
        if len(set(feeds)) != len(feeds):
            raise ValueError("feed_dict names a tensor twice: " + ", ".join(sorted(t.name for t in feeds)))
        mutations = self._graph.mutations
        executor = self._executor(read.tensors, read.targets, tuple(feeds), mutations)
        call = _Call(mutations, [Feed.of(t) for t in feeds], executor, read.build, read.single)
        if key is not None and not _has_tuples(fetches):
            if len(self._calls) >= CALLS_KEPT:
                self._calls.clear()
            self._calls[key] = call
        return call

    def _executor(self, tensors: tuple[Tensor, ...], targets: tuple[Operation, ...], feeds: tuple[Tensor, ...],
                  mutations: int) -> Executor:
        key = (tensors, targets, feeds)
        found = self._executors.get(key)
        if found is None or found[0] != mutations:
            for op in (*(t.op for t in tensors), *targets):     # what is asked for has the best reason to tell
                check_fresh(op)
            plan = build(tensors, targets, feeds)
            for op in plan.ops:
                check_fresh(op)
            found = self._executors[key] = (mutations, Executor(plan, self._store))
        return found[1]

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None,
                      accept_options: bool = False) -> Callable[..., Any]:
        """A function that runs `fetches`, with the values of the tensors in `feed_list` as its arguments."""
        keys = list(feed_list or ())
        read_fetches(fetches, self._graph)

        def run(*values: Any, **options: Any) -> Any:
            if len(values) != len(keys):
                raise TypeError(f"this callable takes {len(keys)} feed values, but got {len(values)}")
            return self.run(fetches, dict(zip(keys, values, strict=True)) or None, **options)
        return run

    def plan(self, fetches: Any, feed_dict: Any = ()) -> Plan:
        """The plan that `run` would use (for looking at; see compile/printed.py)."""
        read = read_fetches(fetches, self._graph)
        return build(read.tensors, read.targets, [feed_tensor(k, self._graph) for k in feed_dict])


def _has_tuples(fetches: Any) -> bool:
    """Is there a namedtuple, or may there be one inside? Equal ones may be of different classes: no keys of a dict."""
    return hasattr(fetches, "_fields") or (isinstance(fetches, (list, tuple))
                                           and any(isinstance(f, tuple) for f in fetches))



class Session(BaseSession):
    """A session that a `with` statement makes the default one, and closes: `with tf.Session() as sess: ...`"""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._contexts: list[AbstractContextManager[Any]] = []

    def __enter__(self) -> Session:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        contexts = [self._graph.as_default(), self.as_default()]
        for context in contexts:
            context.__enter__()
        self._contexts += contexts
        return self

    def __exit__(self, *error: Any) -> None:
        for _ in range(2):
            self._contexts.pop().__exit__(*error)
        self.close()


class InteractiveSession(BaseSession):
    """A session that makes itself the default one until it is closed, for use in a shell or a notebook."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._given = graph is not None
        self._default = self.as_default()
        default_sessions.enforce_nesting = False
        self._default.__enter__()
        self._default_graph = self._graph.as_default() if self._given else None
        if self._default_graph is not None:
            self._default_graph.__enter__()

    def close(self) -> None:
        """As Session.close, and it is no longer the default session."""
        if self._closed:
            return
        super().close()
        if self._default_graph is not None:
            self._default_graph.__exit__(None, None, None)
        self._default.__exit__(None, None, None)
