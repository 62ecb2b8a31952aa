"""RunMetadata of a run in this process: the times of its ops, and its graph by device."""
from __future__ import annotations

from typing import Any

from tfnb.compile.planning.plan import Plan
from tfnb.runtime.devices import Placer
from tfnb.runtime.state.trace import Trace


def fill_in(metadata: Any, options: Any, trace: Trace | None, plan: Plan, placer: Placer) -> None:
    """Fill in a RunMetadata as RunOptions (or None) ask. trace: of the run, None for none."""
    metadata.Clear()
    if trace is not None:
        metadata.step_stats.CopyFrom(trace.step_stats(placer.ran_on))
    if options is None or not options.output_partition_graphs:
        return
    by_device: dict[str, Any] = {}
    on_gpu = plan.gpu_ops()
    for op in plan.graph_ops():
        device = placer.ran_on(op, op in on_gpu)
        if device not in by_device:
            by_device[device] = metadata.partition_graphs.add()
            by_device[device].versions.CopyFrom(op.graph.graph_def_versions)
        node = by_device[device].node.add()
        node.CopyFrom(op.node_def)
        node.device = device
