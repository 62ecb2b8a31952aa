"""Prepared signatures of `Session.run`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.runtime.executor import Executor
from tfnb.runtime.fetch import Build, Feed
from tfnb.runtime.remote.session import RemoteExecutor


class Call:
    """A prepared signature of `run`: readers of the feeds, the plan's executor, and the structure of the result."""

    __slots__ = ("mutations", "feeds", "executor", "build", "single", "summaries", "cell")

    def __init__(self, mutations: int, feeds: Sequence[Feed], executor: Executor | RemoteExecutor,
                 build: Build, single: bool) -> None:
        self.mutations = mutations
        self.feeds = tuple(feed.array for feed in feeds)
        self.executor = executor
        self.build = build
        self.single = single
        self.cell: Any = None                      # the cell of a notebook that was told of it last
        self.summaries = tuple(i for i, t in enumerate(executor.plan.fetches)
                               if t.op.spec.role in ("summary", "merged summary") and t.static == ())
