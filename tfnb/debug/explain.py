"""`tf.explain`: the plan of a run, its fusion groups, memory layout and kernel launches, and their measured times."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfnb.compile.build import build_stage
from tfnb.compile.planning.plan import Stage
from tfnb.compile.printed import print_plan, print_stage
from tfnb.compile.target import CPU, CUDA
from tfnb.compile.trace import Meta
from tfnb.debug.profile import profile_plan
from tfnb.graph.parts.context import session_for
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.runtime.executor import Executor
from tfnb.runtime.fetch import Feed, feed_tensor, read_fetches
from tfnb.runtime.runners.stages import StageRunner
from tfnb.runtime.session import BaseSession


def explain(fetches: Any, feed_dict: Any = None, session: Any = None, sources: bool = False) -> str:
    """Return the plan of a run as text: stages, fusion groups, buffers, kernel launches, and the size of the arena.

    feed_dict gives the shapes that programs are specialized to. sources: with each kernel's source. A stage whose
    inputs an earlier one makes is shown in full once this session has run it compiled. A plan of kernels only that has
    run compiled with these shapes is also timed: a table of its launches follows (as `%profile` makes it; no variable
    changes). Raises what `session.run` raises for wrong fetches and feeds, and FailedPreconditionError if a variable
    has no value yet.

    >>> x = tf.placeholder(tf.float32, [None, 3], name="x")
    >>> print(tf.explain(tf.reduce_sum(tf.exp(x)), feed_dict={x: np.ones([2, 3], np.float32)}))
    plan: x:0 -> Sum:0
      stage 0 (device)
        Const = Const()
        Exp = Exp(x:0)
        Sum = Sum(Exp:0, Const:0)
    ...
    2 nodes in 1 groups, 1 launches, arena 0 bytes
    """
    chosen: BaseSession = session_for(session, get_default_graph(), "explain a run")
    feeds = {feed_tensor(k, chosen.graph): v for k, v in (feed_dict or {}).items()}
    arrays = {t: Feed(t).array(v) for t, v in feeds.items()}
    plan, ran = chosen.plan(fetches, feeds), _executor(chosen, fetches, tuple(feeds))
    parts = [print_plan(plan)]
    for i, stage in enumerate(plan.stages):
        if stage.on_device:
            inputs = _inputs(stage, arrays, None if ran is None else ran.runners[i])
            parts += [f"stage {i}:" * (len(plan.stages) > 1), _explain_stage(stage, inputs, chosen, sources)]
    if ran is not None and all(_has_run(runner, arrays) for runner in ran.runners):
        parts.append(repr(profile_plan(ran, chosen._store, list(arrays.values()))))
    return "\n\n".join(filter(None, parts))


def _executor(session: BaseSession, fetches: Any, feeds: tuple[Tensor, ...]) -> Executor | None:
    """Return the executor that ran these fetches before, if the graph is still the same."""
    read = read_fetches(fetches, session.graph)
    found = session._executors.get((read.tensors, read.targets, feeds, False))      # no run in steps
    return found[1] if found is not None and found[0] == session.graph.mutations else None


def _inputs(stage: Stage, arrays: Mapping[Tensor, np.ndarray], runner: StageRunner | None) -> list[Meta] | None:
    """Return the shapes of a stage's inputs: those fed, else those of its last program; None if there is none."""
    if all(t in arrays for t in stage.inputs):
        return [Meta(arrays[t].dtype.name, arrays[t].shape, arrays[t] if t in stage.by_value else None)
                for t in stage.inputs]
    programs = [] if runner is None else runner.programs()
    return list(programs[-1].compiled.inputs) if programs else None


def _has_run(runner: StageRunner | None, arrays: Mapping[Tensor, np.ndarray]) -> bool:
    """Return whether this is a stage of CPU kernels that has a program (for these shapes, if its inputs are fed)."""
    programs = [] if runner is None or runner.stage.gpu else runner.programs()
    fed = runner is not None and all(t in arrays for t in runner.stage.inputs)
    return any(not fed or [m.shape for m in p.compiled.inputs] == [arrays[t].shape for t in p.compiled.stage.inputs]
               for p in programs)


def _explain_stage(stage: Stage, inputs: list[Meta] | None, session: BaseSession, sources: bool) -> str:
    if inputs is None:
        return "the shapes of its inputs are known when it has run compiled (the second run of a plan)"
    shapes = {op: session._store.value(op, op).shape for op in stage.variables}
    return print_stage(build_stage(stage, inputs, shapes, CUDA if stage.gpu else CPU), sources)
