"""Timelines: the StepStats of a traced run as a trace that Chrome (chrome://tracing), Perfetto and Speedscope show."""
from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Event = dict[str, Any]
_LABEL = re.compile(r"^(?P<name>[^=]*?) = (?P<op>[^(]*)\((?P<inputs>.*)\)$", re.DOTALL)
_PARTS = ("Compute", "Tensors")         # the two processes that a device is shown as


@dataclass(frozen=True)
class _Node:
    """A node of the stats. pid: of its device's compute process; lane: no two nodes of one lane overlap."""

    stats: Any
    name: str
    op: str
    inputs: tuple[str, ...]
    pid: int
    lane: int
    start: int
    end: int


def _read(stats: Any) -> tuple[str, str, tuple[str, ...]]:
    found = _LABEL.match(stats.timeline_label)
    if found is None:
        return stats.node_name, stats.timeline_label or stats.node_name, ()
    inputs = tuple(i.strip() for i in found["inputs"].split(",") if i.strip() and not i.strip().startswith("^"))
    return found["name"], found["op"], inputs


def _nodes(device: Any, pid: int) -> Iterator[_Node]:
    """Return the nodes of a device by time, each in the first free lane (interval partitioning)."""
    free: list[int] = []                # when each lane is free again
    for stats in sorted(device.node_stats, key=lambda n: n.all_start_micros):
        start = stats.all_start_micros
        end = start + stats.all_end_rel_micros
        lane = next((i for i, until in enumerate(free) if until <= start), len(free))
        free[lane:lane + 1] = [end]
        yield _Node(stats, *_read(stats), pid, lane, start, end)


class AllocationMaximum(NamedTuple):
    """The peak of an allocator: its time in microseconds, its bytes, and the nodes that held them."""

    timestamp: int
    num_bytes: int
    tensors: set[str]


class ChromeTrace:
    """Events of a trace for chrome://tracing."""

    def __init__(self, events: list[Event]) -> None:
        self._events = events

    def format_to_string(self, pretty: bool = False) -> str:
        """Return the trace as JSON; pretty: over many lines."""
        trace = {"traceEvents": self._events}
        return json.dumps(trace, indent=4 if pretty else None, separators=(",", ": ") if pretty else (",", ":"))


class StepStatsAnalysis(NamedTuple):
    """The result of `Timeline.analyze_step_stats`; allocator_maximums: by the allocator's name."""

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class Timeline:
    """The times of a run. step_stats: `run_metadata.step_stats`; graph: not needed, since each node has its label."""

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        self._devices = list(step_stats.dev_stats)

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False,
                                     op_time: str = "schedule") -> str:
        """Return the trace as JSON: a line a device, a bar a node, with its op and its inputs.

        show_dataflow: arrows from each node to those that take what it makes; show_memory: when each tensor that the
        stats describe was made and last used, and how many bytes there were; op_time: accepted, all times are the same.
        """
        return self.analyze_step_stats(show_dataflow, show_memory, op_time).chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(self, show_dataflow: bool = True, show_memory: bool = True,
                           op_time: str = "schedule") -> StepStatsAnalysis:
        """Return the trace, and how much memory each allocator gave out at the most.

        For the arguments see `generate_chrome_trace_format`. Maxima are of what the stats describe of tensors.
        """
        events: list[Event] = []
        nodes: list[_Node] = []
        for i, device in enumerate(self._devices):
            for k, part in enumerate(_PARTS if show_memory else _PARTS[:1]):
                events.append({"name": "process_name", "ph": "M", "pid": len(_PARTS) * i + k,
                               "args": {"name": f"{device.device} {part}"}})
            nodes += _nodes(device, len(_PARTS) * i)
        events += [_bar(node) for node in nodes]
        if show_dataflow:
            events += _arrows(nodes)
        if show_memory:
            events += _memory(nodes)
        return StepStatsAnalysis(ChromeTrace(events), _maxima(nodes))


def _bar(node: _Node) -> Event:
    inputs = {f"input{i}": name for i, name in enumerate(node.inputs)}
    return {"ph": "X", "cat": "Op", "name": node.op, "pid": node.pid, "tid": node.lane, "ts": node.start,
            "dur": node.end - node.start, "args": {"name": node.name, "op": node.op, **inputs}}


def _makers(nodes: Sequence[_Node]) -> dict[int, list[_Node]]:
    """Return for each node, by index, the producers of its inputs: the last ones before it (loops have many)."""
    latest: dict[str, _Node] = {}
    found: dict[int, list[_Node]] = {}
    for i, node in sorted(enumerate(nodes), key=lambda pair: pair[1].start):
        found[i] = [latest[name.partition(":")[0]] for name in dict.fromkeys(node.inputs)
                    if name.partition(":")[0] in latest]
        latest[node.name] = node
    return found


def _arrows(nodes: Sequence[_Node]) -> Iterator[Event]:
    number = 0
    for i, makers in _makers(nodes).items():
        node = nodes[i]
        for maker in makers:
            if (maker.pid, maker.lane) == (node.pid, node.lane) and maker.end >= node.start:
                continue                # one after the other in one lane: the arrow would have no length
            for phase, at, when in (("s", maker, maker.end), ("t", node, node.start)):
                yield {"ph": phase, "cat": "DataFlow", "name": maker.name, "pid": at.pid, "tid": at.lane, "ts": when,
                       "id": number}
            number += 1


def _last_uses(nodes: Sequence[_Node]) -> dict[int, int]:
    """Return the end of the last use of each node's outputs, by the id of the node."""
    last = {id(node): node.end for node in nodes}
    for i, makers in _makers(nodes).items():
        for maker in makers:
            last[id(maker)] = max(last[id(maker)], nodes[i].end)
    return last


def _size(node: _Node) -> int:
    """Return the bytes of a node's output tensors, as far as the stats describe them."""
    return sum(o.tensor_description.allocation_description.requested_bytes for o in node.stats.output)


def _allocator(node: _Node) -> str:
    return node.stats.output[0].tensor_description.allocation_description.allocator_name or "unknown"


def _maxima(nodes: Sequence[_Node]) -> dict[str, AllocationMaximum]:
    """Compute the peak of live bytes for each allocator: of described tensors, and of the arenas of programs."""
    last = _last_uses(nodes)
    changes = sorted((when, size, _allocator(node), node.name) for node in nodes if _size(node)
                     for when, size in ((node.start, _size(node)), (last[id(node)], -_size(node))))
    living: dict[str, dict[str, int]] = {}
    found: dict[str, AllocationMaximum] = {}
    for when, size, allocator, name in changes:
        held = living.setdefault(allocator, {})
        held[name] = held.get(name, 0) + size
        total = sum(held.values())
        if allocator not in found or total > found[allocator].num_bytes:
            found[allocator] = AllocationMaximum(when, total, {name for name, size in held.items() if size})
    for node, memory in [(each, used) for each in nodes for used in each.stats.memory]:
        before = found.get(memory.allocator_name)
        if before is None or memory.live_bytes > before.num_bytes:
            found[memory.allocator_name] = AllocationMaximum(node.start, memory.live_bytes, {node.name})
    return found


def _memory(nodes: Sequence[_Node]) -> Iterator[Event]:
    """Return the lifetime of each described tensor, and the live bytes at each change."""
    last = _last_uses(nodes)
    changes: list[tuple[int, int, int, str]] = []
    for number, node in enumerate(nodes):
        size = _size(node)
        if not size:
            continue
        pid, gone = node.pid + 1, last[id(node)]
        shared = {"cat": "Tensor", "name": node.name, "pid": pid, "tid": node.lane, "id": number}
        described = "\n".join(str(o.tensor_description) for o in node.stats.output)
        yield {"ph": "N", "ts": node.start, **shared}
        yield {"ph": "O", "ts": node.end, **shared, "args": {"snapshot": {"tensor_description": described}}}
        yield {"ph": "D", "ts": gone, **shared}
        allocator = _allocator(node)
        changes += [(node.start, size, pid, allocator), (gone, -size, pid, allocator)]
    totals: dict[tuple[int, str], int] = {}
    for when, size, pid, allocator in sorted(changes):
        totals[pid, allocator] = totals.get((pid, allocator), 0) + size
        yield {"ph": "C", "cat": "Memory", "name": allocator, "pid": pid, "tid": 0, "ts": when,
               "args": {allocator: totals[pid, allocator]}}
