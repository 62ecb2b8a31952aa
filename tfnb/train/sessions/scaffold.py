"""Scaffold of a session: its initialization and readiness ops, its Saver (`tf.train.Scaffold`)."""
from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from tfnb.core import dtypes
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import device, get_default_graph, name_scope
from tfnb.ops.array.joining import concat
from tfnb.ops.control.group import group, no_op
from tfnb.ops.control.source import constant
from tfnb.ops.io.summary import merge_all
from tfnb.train.checkpoints.saver import saver_or_default
from tfnb.variables.helpers import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
    tables_initializer,
)

_log = logging.getLogger("tensorflow")


class Scaffold:
    """Container of the ops that a MonitoredSession starts with; `finalize` makes those that were not given.

    init_op: initializes variables, with init_feed_dict; init_fn: called with (scaffold, session) after it. ready_op,
    ready_for_local_init_op: give the names of what has no value yet. local_init_op: initializes what every process has
    of its own (also after a checkpoint was restored), with local_init_feed_dict. summary_op: merged summaries. saver:
    a Saver. copy_from_scaffold: a Scaffold that has what is not given here. Defaults come from the collections of
    GraphKeys, and else are made for all variables and summaries. Raises TypeError for a copy_from_scaffold that is no
    Scaffold.

    >>> v = tf.Variable(1.0)
    >>> scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: v.load(7.0, session))
    >>> with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
    ...     session.run(v)
    7.0
    """

    def __init__(self, init_op: Any = None, init_feed_dict: Any = None, init_fn: Callable[..., Any] | None = None,
                 ready_op: Any = None, ready_for_local_init_op: Any = None, local_init_op: Any = None,
                 summary_op: Any = None, saver: Any = None, copy_from_scaffold: Scaffold | None = None,
                 local_init_feed_dict: Any = None) -> None:
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")
        other = copy_from_scaffold
        self._init_op: Any = _first(init_op, other and other._init_op)
        self._init_feed_dict: Any = _first(init_feed_dict, other and other._init_feed_dict)
        self._user_init_fn: Any = _first(init_fn, other and other._user_init_fn)
        self._ready_op: Any = _first(ready_op, other and other._ready_op)
        self._ready_for_local_init_op: Any = _first(ready_for_local_init_op, other and other._ready_for_local_init_op)
        self._local_init_op: Any = _first(local_init_op, other and other._local_init_op)
        self._local_init_feed_dict: Any = _first(local_init_feed_dict, other and other._local_init_feed_dict)
        self._summary_op: Any = _first(summary_op, other and other._summary_op)
        self._saver: Any = _first(saver, other and other._saver)

    def finalize(self) -> Scaffold:
        """Make the missing ops in the default graph, and finalize the graph. Later calls make nothing."""
        if self._init_op is None:
            self._init_op = self.get_or_default("init_op", GraphKeys.INIT_OP, _init_op)
        if self._ready_op is None:
            self._ready_op = self.get_or_default("ready_op", GraphKeys.READY_OP, _ready_op)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = self.get_or_default(
                "ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP, _ready_for_local_init_op)
        if self._local_init_op is None:
            self._local_init_op = self.get_or_default("local_init_op", GraphKeys.LOCAL_INIT_OP,
                                                      self.default_local_init_op)
        if self._summary_op is None:
            self._summary_op = self.get_or_default("summary_op", GraphKeys.SUMMARY_OP, merge_all)
        if self._saver is None:
            self._saver = saver_or_default()
        self._saver.build()
        get_default_graph().finalize()
        _log.info("Graph was finalized.")
        return self

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """Function to call with the session after init_op, or None."""
        user = self._user_init_fn
        return None if user is None else lambda session: user(self, session)

    @property
    def init_op(self) -> Any:
        """Op that initializes the variables."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """Feeds of init_op."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """Names of uninitialized objects: empty when the session is ready."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """Names of uninitialized objects that local_init_op needs."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        """Op that initializes local variables and tables."""
        return self._local_init_op

    @property
    def local_init_feed_dict(self) -> Any:
        """Feeds of local_init_op."""
        return self._local_init_feed_dict

    @property
    def summary_op(self) -> Any:
        """Merged summaries, or None."""
        return self._summary_op

    @property
    def saver(self) -> Any:
        """Saver of the variables."""
        return self._saver

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Any]) -> Any:
        """Return the single element of a collection; if it is empty, add and return a default.

        Raises RuntimeError if there are several elements.
        """
        graph = get_default_graph()
        found = graph.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(f"More than one item found in the collection {collection_key!r}. Please indicate which "
                               f"one to use by passing it to the tf.Scaffold constructor as: tf.Scaffold({arg_name}="
                               "item to use)")
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            graph.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Operation:
        """Return an op that initializes the local variables, tables and local resources of the default graph."""
        return group(local_variables_initializer(), tables_initializer(),
                     _initialize(get_default_graph().get_collection(GraphKeys.LOCAL_RESOURCES)))


def _first(given: Any, other: Any) -> Any:
    return other if given is None else given


def _init_op() -> Operation:
    graph = get_default_graph()
    return group(global_variables_initializer(), _initialize(graph.get_collection(GraphKeys.RESOURCES)),
                 *graph.get_collection("saved_model_initializers"))


def _initialize(resources: list[Any]) -> Operation:
    return group(*(r.create for r in resources), name="init") if resources else no_op(name="init")


def _no_resources() -> Tensor:
    """Return the names of uninitialized resources: none, since tfnb's have a value from the start."""
    with device("/cpu:0"), name_scope("report_uninitialized_resources"):
        return constant([], dtype=dtypes.string)


def _ready_op() -> Tensor:
    return concat([report_uninitialized_variables(), _no_resources()], 0)


def _ready_for_local_init_op() -> Tensor:
    return concat([report_uninitialized_variables(global_variables()), _no_resources()], 0)
