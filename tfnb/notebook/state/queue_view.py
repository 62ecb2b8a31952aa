"""`%queues`: how full the queues of a graph are, live, and what the threads of their runners do."""
from __future__ import annotations

import itertools
import re
from collections.abc import Hashable
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from tfnb.core.text import counted, did_you_mean
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.badge import BAD_COLOR, FRESH_COLOR, MUTED
from tfnb.notebook.frontend.fetch import find_session
from tfnb.notebook.frontend.widget import with_widget
from tfnb.notebook.plots.board import RECORDER, SENDER
from tfnb.runtime.session import BaseSession

BAR = 24                # characters of a bar of text
MOST = 1 << 31          # elements from which a capacity is none
FULL = "#0072b2"
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Gauge:
    """A queue. size: elements in it, None if the session has not used it yet; capacity: None for no bound; putting,
    taking: calls that wait; threads: of its runners; failures: what those raised; over: its session was closed."""

    name: str
    kind: str
    size: int | None
    capacity: int | None
    closed: bool
    putting: int
    taking: int
    threads: int
    failures: tuple[str, ...]
    over: bool = False

    def words(self) -> str:
        """The state of the queue, shown after the fill."""
        if self.over:
            return "session closed"
        if self.size is None:
            return "not used yet"
        parts = ["closed"] if self.closed else []
        parts += [f"filled by {counted(self.threads, 'thread')}"] if self.threads else []
        parts += [f"{self.putting} waiting to put in"] if self.putting else []
        parts += [f"{self.taking} waiting to take out"] if self.taking else []
        return ", ".join(parts)

    def fill(self) -> str:
        """ "12 of 32"; of a session that was closed, "was 12 of 32"."""
        if self.over:
            return f"was {replace(self, over=False).fill()}" if self.size is not None else ""
        return f"{self.size or 0}" + (f" of {self.capacity}" if self.capacity is not None else "")

    def share(self) -> float:
        """The fill of the queue, 0 to 1."""
        return min(1.0, (self.size or 0) / self.capacity) if self.capacity else 0.0


def gauges(session: BaseSession, pattern: str = "") -> list[Gauge]:
    """The queues of the session's graph as they are now, in the order they were made. Runs nothing.

    pattern: a regular expression that is looked for in their names.
    """
    wanted = re.compile(pattern).search
    runners = session.graph.get_collection(GraphKeys.QUEUE_RUNNERS)
    return [_gauge(op, session, [one for one in runners if one.name == op.name])
            for op in queue_ops(session.graph) if wanted(op.name)]


def queue_ops(graph: Graph) -> list[Operation]:
    """The ops of the queues of a graph."""
    return [op for op in graph.get_operations() if op.spec.role == "queue"]


def _gauge(op: Any, session: BaseSession, runners: list[Any]) -> Gauge:
    held = session._store.known_resource(op)
    queue = getattr(held, "queue", None)
    capacity = op.attrs.get("capacity", -1)
    putting, taking = queue.waiting() if queue is not None else (0, 0)
    failures = tuple(f"{type(error).__name__}: {error}" for one in runners for error in one.failures)
    return Gauge(op.name, op.type.removesuffix("V2"), queue.size() if queue is not None else None,
                 capacity if 0 < capacity < MOST else None, queue is not None and queue.is_closed(), putting, taking,
                 sum(one.threads_in(session) for one in runners), failures)


class QueuesView:
    """The gauges of a session, kept up to date in the cell that shows them until the session is closed."""

    hz = 2.0
    recorder = RECORDER

    def __init__(self, session: BaseSession, pattern: str = "") -> None:
        self.session, self.pattern = session, pattern
        self.display_id = f"tfnb-queues-{next(_numbers)}-{id(self):x}"
        self.cell: Hashable = None
        self._told: list[Gauge] | None = None
        self._next = 0.0
        self.shown_in: int | None = None

    def gauges(self) -> list[Gauge]:
        """As the function `gauges`; what was seen last once the session is closed."""
        if not self.session._closed:
            return gauges(self.session, self.pattern)
        told = self._told if self._told is not None else gauges(self.session, self.pattern)
        return [replace(one, putting=0, taking=0, threads=0, over=True) for one in told]

    def tick(self, now: float) -> None:
        """Show what changed, if it is time."""
        if now < self._next:
            return
        self._next = now + 1 / self.hz
        found = self.gauges()
        if found != self._told:
            self._told = found
            shell.update(self._repr_mimebundle_(), self.display_id)
        if self.session._closed:
            SENDER.close(self)

    def show(self) -> QueuesView:
        """Show it in the running cell. Returns itself."""
        self._told = self.gauges()
        if shell.note_shown(self):
            self.cell = shell.running
            shell.show(self._repr_mimebundle_(), self.display_id)
        if shell.has_front_end() and not self.session._closed:
            SENDER.open(self)
        return self

    def _ipython_display_(self) -> None:
        shell.show_once(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> shell.Bundle:
        return with_widget({"text/plain": repr(self), "text/html": html(self.gauges())}, None)

    def __repr__(self) -> str:
        found = self.gauges()
        width = max((len(one.name) for one in found), default=0)
        lines = []
        for one in found:
            bar = "█" * round(BAR * one.share()) + "░" * (BAR - round(BAR * one.share()))
            lines.append(f"{one.name:{width}}  {bar} {one.fill()}  {one.words()}".rstrip())
            lines += [f"{'':{width}}  {failure}" for failure in one.failures]
        return "\n".join(lines) or "the graph has no queues"


def html(found: list[Gauge]) -> str:
    """A row for each queue: a bar, its numbers, what waits; below it what its threads raised."""
    rows = []
    for one in found:
        color = MUTED if one.over else FULL if one.closed else FRESH_COLOR
        bar = (f'<div style="background: #8884; border-radius: 3px; height: 10px; width: 140px" role="meter" '
               f'aria-valuemin="0" aria-valuenow="{one.size or 0}" aria-label="{escape(one.name)}">'
               f'<div style="background: {color}; border-radius: 3px; height: 10px; width: {100 * one.share():.0f}%">'
               f"</div></div>")
        cells = [f"<b>{escape(one.name)}</b>", escape(one.kind), bar, one.fill(), escape(one.words())]
        row = "".join(f'<td style="text-align: left; white-space: nowrap">{cell}</td>' for cell in cells[:-1])
        row += f'<td style="text-align: left">{cells[-1]}</td>'
        rows.append(f"<tr>{row}</tr>")
        style = f"color: {BAD_COLOR}; text-align: left"
        rows += [f'<tr><td></td><td colspan="4" style="{style}">{escape(words)}</td></tr>' for words in one.failures]
    table = f"<table>{''.join(rows)}</table>" if rows else "the graph has no queues"
    return f'<div style="font: 12px system-ui, sans-serif">{table}</div>'


def queues(session: BaseSession | None = None, pattern: str = "") -> QueuesView:
    """Show how full the queues of a session are, live. Returns the view.

    session: by default the only open one on the default graph; pattern: a regular expression that is looked for in the
    names of the queues. Raises NoSessionError if it is not clear which session, ValueError if no queue matches.
    """
    running = session if session is not None else find_session(get_default_graph())
    try:
        if pattern and not gauges(running, pattern):
            raise ValueError(f"no queue matches {pattern!r}"
                             + did_you_mean(pattern, [one.name for one in gauges(running)], 0.3))
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
    return QueuesView(running, pattern).show()
