"""Showing what a run does: the plan, the fused groups, the launches, the memory."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.compile.build import build_stage
from tfnb.compile.plan import Stage
from tfnb.compile.printed import print_groups, print_plan, print_steps
from tfnb.compile.trace import Meta
from tfnb.graph.context import session_for
from tfnb.graph.stack import get_default_graph
from tfnb.runtime.fetch import Feed, feed_tensor
from tfnb.runtime.session import BaseSession


def explain(fetches: Any, feed_dict: Any = None, session: Any = None, sources: bool = False) -> str:
    """The plan of a run as text: stages, groups of fused ops, kernel launches, and the size of the arena.

    feed_dict gives the shapes that the program is made for. sources: with the text of each kernel. Plans of several
    stages are shown in full only for their first device stage (the shapes of later ones are known when they run).
    Raises what `session.run` raises for wrong fetches and feeds, and FailedPreconditionError if a variable has no
    value yet.
    """
    chosen: BaseSession = session_for(session, get_default_graph(), "explain a run")
    feeds = {feed_tensor(k, chosen.graph): v for k, v in (feed_dict or {}).items()}
    plan = chosen.plan(fetches, feeds)
    lines = [print_plan(plan)]
    first = plan.stages[0]
    if first.on_device:
        arrays = {t: Feed.of(t).array(v) for t, v in feeds.items()}
        lines.append(_explain_stage(first, [arrays[t] for t in first.inputs], chosen, sources))
    return "\n\n".join(lines)


def _explain_stage(stage: Stage, inputs: list[np.ndarray], session: BaseSession, sources: bool) -> str:
    metas = [Meta(a.dtype.name, a.shape, a if t in stage.by_value else None)
             for a, t in zip(inputs, stage.inputs, strict=True)]
    shapes = {op: session._store.value(op, op).shape for op in stage.variables}
    built = build_stage(stage, metas, shapes)
    total = (f"{len(built.traced.nodes)} nodes in {len(built.groups)} groups, {len(built.steps)} launches, "
             f"arena {built.arena_bytes:,} bytes")
    return "\n".join([print_groups(built.groups), "", print_steps(built.steps, sources), "", total])
