"""Run traces: each op or kernel launch with its times, exported as TensorFlow's StepStats."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.core.dtypes import as_dtype
from tfnb.core.lazy import lazy_module
from tfnb.graph.parts.operation import Operation

_step_stats = lazy_module("tfnb.proto.step_stats_pb2")
clock = time.perf_counter_ns


@dataclass(frozen=True, slots=True)
class Record:
    """One traced event. ops: one, or those that a kernel launch computes, the last of which names it. start, end:
    nanoseconds of `clock`; outputs: the output arrays, as far as known; kernel: a launch, no call from Python; live:
    bytes of its program's live buffers and outputs, if known; gpu: on a GPU."""

    ops: tuple[Operation, ...]
    start: int
    end: int
    outputs: tuple[np.ndarray, ...]
    kernel: bool = False
    live: int = 0
    gpu: bool = False


class Trace:
    """The records of one run, in order. Used by one run at a time."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._epoch = time.time_ns() - clock()

    def add(self, ops: Sequence[Operation], start: int, outputs: Sequence[np.ndarray] = (),
            kernel: bool = False, live: int = 0, gpu: bool = False, took: int | None = None) -> None:
        """Record that `ops` ran from `start` until now, or for `took` nanoseconds."""
        end = clock() if took is None else start + took
        self.records.append(Record(tuple(ops), start, end, tuple(outputs), kernel, live, gpu))

    def step_stats(self, device_of: Callable[[Operation, bool], str]) -> Any:
        """Build a StepStats proto: a node for each record, under its op's device. device_of: (op, ran on a GPU)."""
        stats = _step_stats.StepStats()
        by_device: dict[str, Any] = {}
        named = {op: record.ops[-1].name for record in self.records for op in record.ops}
        for record in self.records:
            device = device_of(record.ops[-1], record.gpu)
            if device not in by_device:
                by_device[device] = stats.dev_stats.add(device=device)
            self._fill(by_device[device].node_stats.add(), record, named)
        return stats

    def _fill(self, node: Any, record: Record, named: dict[Operation, str]) -> None:
        start = self._epoch + record.start
        node.node_name = record.ops[-1].name
        node.timeline_label = label(record.ops, named)
        node.all_start_nanos = node.scheduled_nanos = start
        node.all_start_micros = node.scheduled_micros = start // 1000
        node.op_end_rel_nanos = node.all_end_rel_nanos = record.end - record.start
        node.op_end_rel_micros = node.all_end_rel_micros = -(-(record.end - record.start) // 1000)
        for slot, array in enumerate(record.outputs):
            _describe(node.output.add(slot=slot).tensor_description, array)
        if record.live:                                    # of a kernel's program, whose buffers are parts of one arena
            node.memory.add(allocator_name="cpu", total_bytes=record.live, peak_bytes=record.live,
                            live_bytes=record.live)


def label(ops: Sequence[Operation], named: dict[Operation, str]) -> str:
    """Format `name = Type(inputs)`, the types of fused ops joined by `+`. named: op -> name of its record."""
    inside = set(ops)
    inputs = dict.fromkeys(named.get(t.op, t.op.name) for op in ops for t in op.inputs if t.op not in inside)
    types = "+".join(dict.fromkeys(op.type for op in ops))
    return f"{ops[-1].name} = {types}({', '.join(inputs)})"


def _describe(description: Any, array: np.ndarray) -> None:
    description.dtype = as_dtype(array.dtype).as_datatype_enum
    for n in array.shape:
        description.shape.dim.add(size=n)
    description.allocation_description.requested_bytes = array.nbytes
    description.allocation_description.allocator_name = "cpu"
    description.allocation_description.ptr = array.ctypes.data
