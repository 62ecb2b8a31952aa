"""Sessions: a graph, a store of variables and resources, and a cache of plans by run signature."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from threading import Lock
from typing import Any
from weakref import WeakSet

import numpy as np

from tfnb.compile.planning.plan import Plan
from tfnb.compile.planning.structure import build
from tfnb.core import taps
from tfnb.core.arguments import SESSIONS, describe
from tfnb.core.errors import CancelledError, InvalidArgumentError
from tfnb.core.options import options as settings
from tfnb.core.stale import check_fresh
from tfnb.graph.graph import Graph
from tfnb.graph.parts.context import default_sessions
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.resources.queues import Cancellation, cancellable
from tfnb.runtime.call import Call
from tfnb.runtime.devices import HERE, DeviceAttributes, Placer
from tfnb.runtime.executor import Executor, settings_of
from tfnb.runtime.fetch import Feed, feed_tensor, flat_feeds, read_fetches, with_handles
from tfnb.runtime.here import Here
from tfnb.runtime.metadata import fill_in
from tfnb.runtime.process_config import session_config
from tfnb.runtime.remote.session import RemoteExecutor, RemotePartialRun, RemoteSession, reset
from tfnb.runtime.remote.split import split
from tfnb.runtime.runners.partial import PartialRun
from tfnb.runtime.state.store import Store
from tfnb.runtime.state.trace import Trace
from tfnb.runtime.targets import Address, Target, find_target

CALLS_KEPT = 512         # run signatures remembered a session

_live: WeakSet[BaseSession] = WeakSet()     # for Session.reset
_starting = Lock()


class BaseSession:
    """Runs ops and evaluates tensors of one graph; keeps the values of its variables.

    target: "" (this process); that of a tf.train.Server, whose sessions share their variables; or "grpc://host:port",
    a server that runs the graph: TensorFlow's, or tfnb's (needs grpcio: `pip install 'tfnb[cluster]'`); others raise
    NotFoundError when the session is made. graph: by default the default graph. config: a ConfigProto, or None.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {graph!r}")
        if config is not None and not hasattr(config, "allow_soft_placement"):
            raise TypeError(f"config must be a tf.ConfigProto, but got {config!r}")
        config = session_config(config)
        place = find_target(target)
        self._graph = graph if graph is not None else get_default_graph()
        self._config = config
        self._target = target
        here = place if isinstance(place, Target) else None
        self._store, self._owns_store = (here.store, False) if here else (Store(), True)
        self._remote = None if not isinstance(place, Address) else RemoteSession(place.text, self._graph, config,
                                                                                 place.container)
        self._settings = settings_of(config)
        self._placer = Placer(config, here.task if here else HERE)
        self._partial: dict[str, PartialRun | RemotePartialRun] = {}
        self._reset = False
        self._executors: dict[tuple[Any, ...], tuple[int, Executor | RemoteExecutor]] = {}
        self._calls: dict[Any, Call] = {}
        self._closed = False
        self._ended = Cancellation(reason="its session was closed")
        self._guard: Any = None                    # the continuous NaN check, once a run was checked
        limits = (0 if config is None else config.operation_timeout_in_ms, here.timeout if here else 0)
        self._patience = min((int(limit) for limit in limits if limit > 0), default=0)
        _live.add(self)

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
        """Release the session's own variables and its programs. A closed session raises RuntimeError when run."""
        self._closed = True
        self._ended.set()
        for held in (self._partial, self._calls, self._executors):
            held.clear()
        if self._remote is not None:
            self._remote.close()
        if self._owns_store:
            self._store.close()

    def _cancel(self) -> None:
        """Drop all that the session holds; running it raises CancelledError from now on."""
        self._reset = True
        self._calls.clear()
        self._executors.clear()
        if self._owns_store:
            self._store.close()

    def as_default(self) -> AbstractContextManager[Any]:
        """Return a context in which this session is the default one (it is not closed at the end)."""
        return default_sessions.get_controller(self)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Run what `fetches` needs once, and return the values of `fetches` in the same structure.

        fetches: a Tensor, Operation, Variable or name, or lists, tuples, namedtuples and dicts of these; operations
        give None. feed_dict: tensor -> value (number, list, array) to use in place of the tensor's computed value.
        The arrays returned belong to the caller.

        Raises RuntimeError if the session is closed; TypeError or ValueError for what can't be fetched or fed; an
        error of tf.errors from the op that fails, which leaves session and graph usable.
        """
        try:
            kind = type(fetches)
            key = (kind, *fetches) if kind is list or kind is tuple else fetches
            if kind is dict:
                key = (kind, tuple(fetches), *fetches.values())
            if feed_dict:
                key = (dict, key, *feed_dict)
            call = self._calls.get(key)
        except TypeError:                          # not hashable: lists in a list or a dict
            key = call = None
        if call is None or call.mutations != self._graph.mutations:
            if isinstance(feed_dict, Mapping) and (flat := flat_feeds(feed_dict)) is not feed_dict:
                return self.run(fetches, flat)
            call = self._prepare(fetches, feed_dict, key)
        if (cell := taps.cell) is not None and call.cell is not cell and taps.on_run is not None \
                and taps.on_run(self._graph, call.executor.plan):
            call.cell = cell
        if feed_dict:
            arrays = [read(value) for read, value in zip(call.feeds, feed_dict.values(), strict=True)]
        else:
            arrays = []
        try:
            if options is None and run_metadata is None and not self._patience:
                values = call.executor.run(arrays) if not settings.nan_check or self._remote is not None else \
                    (self._guard or self._begin_check()).run(call.executor, arrays)
            else:
                values = self._run_with(call.executor, arrays, options, run_metadata)
        except Exception as error:
            if (self._closed or self._reset) and not isinstance(error, CancelledError):     # its variables went away
                raise CancelledError(None, None, "Session has been closed.") from None
            raise
        if self._closed or self._reset:
            raise CancelledError(None, None, "Session has been closed.")
        if call.summaries and (listener := taps.on_summary) is not None:
            for i in call.summaries:
                listener(values[i].item(), None, self._target if self._remote is not None else "")
        if call.single:
            value = values[0]
            return value if value.ndim else value[()]
        return call.build([v if v.ndim else v[()] for v in values])

    def _begin_check(self) -> Any:
        """Return the continuous NaN check of this session (debug/nan_guard.py), made at its first checked run."""
        made = taps.nan_guard.NanGuard(self._store)
        with _starting:                            # several threads may run the session
            self._guard = self._guard or made
        return self._guard

    def _run_with(self, executor: Executor | RemoteExecutor, arrays: Sequence[np.ndarray], options: Any,
                  run_metadata: Any) -> Sequence[np.ndarray]:
        """Run as a RunOptions proto (or None) says, and fill in a RunMetadata proto (or None)."""
        if options is not None and not hasattr(options, "timeout_in_ms"):
            raise TypeError(f"options must be a tf.RunOptions, but got {options!r}")
        if run_metadata is not None and not hasattr(run_metadata, "step_stats"):
            raise TypeError(f"run_metadata must be a tf.RunMetadata, but got {run_metadata!r}")
        trace = Trace() if run_metadata is not None and options is not None and options.trace_level else None
        milliseconds = (0 if options is None else options.timeout_in_ms) or self._patience
        if isinstance(executor, RemoteExecutor):
            return executor.run_with(arrays, options, run_metadata, milliseconds)
        self._store.limit(milliseconds / 1000 if milliseconds else None)
        try:
            return executor.run(arrays, trace)
        finally:
            self._store.limit(None)
            if run_metadata is not None:
                fill_in(run_metadata, options, trace, executor.plan, self._placer)

    def _prepare(self, fetches: Any, feed_dict: Any, key: Any) -> Call:
        """Flatten the structures, and look up or build the plan."""
        self._check_open()
        if feed_dict is not None and not hasattr(feed_dict, "values"):
            raise TypeError(f"feed_dict must be a dictionary, but is {feed_dict!r}")
        if not self._graph.version:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        read = with_handles(read_fetches(fetches, self._graph), self)
        feeds = [feed_tensor(k, self._graph) for k in feed_dict or ()]
        if len(set(feeds)) != len(feeds):
            raise ValueError("feed_dict names a tensor twice: " + ", ".join(sorted(t.name for t in feeds)))
        mutations = self._graph.mutations
        executor = self._executor(read.tensors, read.targets, tuple(feeds), mutations)
        call = Call(mutations, [Feed(t) for t in feeds], executor, read.build, read.single)
        if key is not None and not _has_tuples(fetches):
            if len(self._calls) >= CALLS_KEPT:
                self._calls.clear()
            self._calls[key] = call
        return call

    def _executor(self, tensors: tuple[Tensor, ...], targets: tuple[Operation, ...], feeds: tuple[Tensor, ...],
                  mutations: int, late: bool = False) -> Executor | RemoteExecutor:
        key = (tensors, targets, feeds, late)
        found = self._executors.get(key)
        if found is None or found[0] != mutations:
            for op in (*(t.op for t in tensors), *targets):     # errors of the requested tensors are the clearest
                check_fresh(op)
            on_gpu = None if self._remote is not None else self._placer.gpu_ops(self._graph)
            plan = build(tensors, targets, feeds, on_gpu, late)
            for op in plan.ops:
                check_fresh(op)
            found = self._executors[key] = (mutations, self._execute(plan))
        return found[1]

    def _execute(self, plan: Plan) -> Executor | RemoteExecutor:
        """Build the executor of a plan. Raises InvalidArgumentError for an op on a device that does not exist."""
        if self._remote is not None:
            apart = split(plan.ops, plan.fetches, plan.targets, plan.feeds)
            return self._remote.executor(plan, None if apart is None else Here(apart, plan.feeds, self._store))
        self._placer.check(plan)
        made = Executor(plan, self._store, settings=self._settings)
        if not self._owns_store:                   # a store of its own ends what waits in it
            made.run = cancellable(made.run, self._ended)       # type: ignore[method-assign]
        return made

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self._reset:
            raise CancelledError(None, None, "Session has been closed.")

    def list_devices(self) -> list[DeviceAttributes]:
        """Return the devices of this session. Raises CancelledError if it is closed."""
        if self._closed:
            raise CancelledError(None, None, "Session has been closed.")
        return list(self._placer.devices) if self._remote is None else [
            DeviceAttributes(d.name, d.device_type, d.memory_limit, d.incarnation, d.physical_device_desc)
            for d in self._remote.devices()]

    def partial_run_setup(self, fetches: Any, feeds: Sequence[Any] | None = None) -> str:
        """Prepare an incremental run, and return its handle for `partial_run`.

        fetches: all that will be fetched, feeds: all tensors that will be fed in the course of it. Raises
        InvalidArgumentError if there is nothing to fetch.
        """
        self._check_open()
        read = read_fetches(fetches, self._graph)
        given = [feed_tensor(key, self._graph) for key in feeds or ()]
        handle = f"{','.join(t.name for t in given)}->{','.join(t.name for t in read.tensors)}//{len(self._partial)}"
        if not read.tensors and not read.targets:
            raise InvalidArgumentError(None, None, "Must specify at least one target to fetch or execute.")
        executor = self._executor(read.tensors, read.targets, tuple(given), self._graph.mutations, late=True)
        self._partial[handle] = executor.begin_partial(read.tensors)
        return handle

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """Run the next step of `handle`: feed more, and fetch what all the feeds so far determine.

        No op runs twice in the course of one run. Raises InvalidArgumentError for a handle that is unknown or
        done (all has been fetched and fed), a fetch or feed that was not prepared or had its turn, or a fetch that
        waits for another feed; RuntimeError for an operation among the fetches.
        """
        self._check_open()
        read = with_handles(read_fetches(fetches, self._graph), self)
        feeds = {feed_tensor(key, self._graph): value for key, value in flat_feeds(feed_dict or {}).items()}
        arrays = {t: Feed(t).array(value) for t, value in feeds.items()}
        if read.targets:
            raise RuntimeError("partial_run() fetches tensors only; these are operations: "
                               + ", ".join(op.name for op in read.targets))
        run = self._partial.get(handle)
        if run is None:
            raise InvalidArgumentError(None, None, "Must run 'setup' before performing partial runs!")
        values = run.step(read.tensors, arrays)
        if run.done:
            del self._partial[handle]
        return read.build([v if v.ndim else v[()] for v in values])

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None,
                      accept_options: bool = False) -> Callable[..., Any]:
        """Return a function that runs `fetches`, with the values of the tensors in `feed_list` as its arguments.

        accept_options: it takes `options` and `run_metadata` too, by keyword.
        """
        keys = list(feed_list or ())
        read_fetches(fetches, self._graph)

        def run(*values: Any, **options: Any) -> Any:
            if self._closed and not keys:          # with feeds TensorFlow's, too, raises what `run` does
                raise CancelledError(None, None, "Session has been closed.")
            if options and not accept_options:
                raise TypeError(f"this callable takes no {' and '.join(options)}: make it with accept_options=True")
            if len(values) != len(keys):
                raise TypeError(f"this callable takes {len(keys)} feed values, but got {len(values)}")
            return self.run(fetches, dict(zip(keys, values, strict=True)) or None, **options)
        return run

    def plan(self, fetches: Any, feed_dict: Any = ()) -> Plan:
        """Return the plan that `run` would use (printable by compile/printed.py)."""
        read = read_fetches(fetches, self._graph)
        feeds = [feed_tensor(k, self._graph) for k in feed_dict]
        return build(read.tensors, read.targets, feeds, self._placer.gpu_ops(self._graph))


def _has_tuples(fetches: Any) -> bool:
    """Return whether there may be a namedtuple inside: equal ones may be of different classes, so they are no keys."""
    parts = fetches.values() if isinstance(fetches, dict) else fetches if isinstance(fetches, (list, tuple)) else ()
    return hasattr(fetches, "_fields") or any(isinstance(f, tuple) for f in parts)


class Session(BaseSession):
    """A session that a `with` statement makes the default one, and closes: `with tf.Session() as sess: ...`

    >>> with tf.Session() as session:
    ...     session.run(tf.constant(2) + 3)
    5
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._contexts: list[AbstractContextManager[Any]] = []

    @staticmethod
    def reset(target: str, containers: Sequence[str] | None = None, config: Any = None) -> None:
        """Drop the resources in `containers` (all, if there are none given) of `target`, and close its sessions.

        With target "" every session keeps its values to itself, so all that live in this process are closed: running
        one raises CancelledError. Those of a tf.train.Server go on, and find nothing in these containers. Raises
        NotFoundError for another target, TypeError for containers that are no strings.
        """
        place = find_target(target)
        for name in containers or ():
            if not isinstance(name, (str, bytes)):
                raise TypeError(f"containers must be names, but one is {name!r}")
        names = [name if isinstance(name, str) else name.decode() for name in containers or ()]
        if isinstance(place, Address):
            reset(place.text, names, config)
            return
        if place is not None:
            place.store.clear(names or None)
            return
        for session in list(_live):
            session._cancel()

    def __enter__(self) -> Session:
        if self._contexts:
            raise RuntimeError("Session context managers are not re-entrant: use `Session.as_default()` to enter a "
                               "session several times.")
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
    """A session that makes itself the default one until it is closed, for use in a shell or a notebook.

    >>> session = tf.InteractiveSession()
    >>> tf.constant(6).eval()
    6
    >>> session.close()
    """

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
        """Close the session, which is no longer the default one; see Session.close."""
        if self._closed:
            return
        super().close()
        if self._default_graph is not None:
            self._default_graph.__exit__(None, None, None)
        self._default.__exit__(None, None, None)


def live_sessions(graph: Graph) -> list[BaseSession]:
    """Return the open sessions of a graph."""
    return [session for session in list(_live) if session._graph is graph and not (session._closed or session._reset)]


describe(globals(), SESSIONS)
