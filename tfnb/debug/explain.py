"""`tf.explain`: the plan of a run, its fusion groups, memory layout and kernel launches, and their measured times."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfnb.compile.build import build_stage
from tfnb.compile.planning.plan import Stage
from tfnb.compile.printed import print_plan, print_stage, print_summary
from tfnb.compile.target import CPU, CUDA
from tfnb.compile.trace import Meta
from tfnb.core.options import has_compiler
from tfnb.debug.breakdown import effect_of, measure
from tfnb.debug.profile import profile_plan
from tfnb.graph.parts.context import session_for
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.runtime.executor import Executor
from tfnb.runtime.fetch import Feed, feed_tensor, read_fetches
from tfnb.runtime.runners.stages import StageRunner
from tfnb.runtime.session import BaseSession
from tfnb.runtime.state.store import Store


def explain(fetches: Any, feed_dict: Any = None, session: Any = None, sources: bool = False,
            effects: bool = False) -> str:
    """Return the plan of a run as text: where its time goes, then stages, fusion groups, buffers and kernel launches.

    The first lines are a summary: the stages, host calls among them, and, of a plan that has run compiled with these
    shapes, its kernels, host calls and loops with their shares of the time, the slowest first. For these figures the
    plan runs again, a few times: variables and generators keep their values, and a plan with an op that has another
    effect (it takes an element of a queue or dataset, calls a Python function, prints) is run only with `effects`.
    Constants, and what follows from them and from shapes, are counted, not listed.

    feed_dict gives the shapes that programs are specialized to. sources: with each kernel's source. A stage whose
    inputs an earlier one makes is shown in full once this session has run it compiled. A plan of kernels only that has
    been timed ends with a table of launches beside the machine's rates (as `%profile` makes it). Raises what
    `session.run` raises for wrong fetches and feeds, and FailedPreconditionError if a variable has no value yet.

    >>> x = tf.placeholder(tf.float32, [None, 3], name="x")
    >>> print(tf.explain(tf.reduce_sum(tf.exp(x)), feed_dict={x: np.ones([2, 3], np.float32)}))
    x:0 -> Sum:0: 3 ops in 1 stage of kernels; 1 is constant or from shapes
    not timed: run it twice with these shapes, then explain it again
    ...
    2 nodes in 1 groups, 1 launches, arena 0 bytes
    """
    chosen: BaseSession = session_for(session, get_default_graph(), "explain a run")
    feeds = {feed_tensor(k, chosen.graph): v for k, v in (feed_dict or {}).items()}
    arrays = {t: Feed(t).array(v) for t, v in feeds.items()}
    plan, ran = chosen.plan(fetches, feeds), _executor(chosen, fetches, tuple(feeds))
    timed = ran if ran is not None and _has_run(ran, arrays) else None
    parts = [f"{print_summary(plan)}\n{_times(timed, chosen._store, list(arrays.values()), effects)}", print_plan(plan)]
    for i, stage in enumerate(plan.stages):
        if stage.on_device:
            inputs = _inputs(stage, arrays, None if ran is None else ran.runners[i])
            parts += [f"stage {i}:" * (len(plan.stages) > 1), _explain_stage(stage, inputs, chosen, sources)]
            if stage.gpu and ran is not None:
                parts += [program.graphs for program in _programs(ran.runners[i])[-1:]]
    if timed is not None and all(_profiled(runner) for runner in timed.runners):
        parts.append(repr(profile_plan(timed, chosen._store, list(arrays.values()))))
    return "\n\n".join(filter(None, parts))


def _times(ran: Executor | None, store: Store, feeds: list[np.ndarray], effects: bool) -> str:
    """Return where the time goes, or the reason why nothing was measured."""
    if ran is None:
        return "not timed: run it twice with these shapes, then explain it again"
    effect = effect_of(ran.plan)
    if effect is not None and not effects:
        return (f"not timed: to run it again would be an effect of {effect.type} {effect.name!r}; "
                "tf.explain(..., effects=True) does it all the same")
    return str(measure(ran, store, feeds))


def _executor(session: BaseSession, fetches: Any, feeds: tuple[Tensor, ...]) -> Executor | None:
    """Return the executor that ran these fetches before, if the graph is still the same."""
    read = read_fetches(fetches, session.graph)
    found = session._executors.get((read.tensors, read.targets, feeds, False))      # no run in steps
    if found is None or found[0] != session.graph.mutations or not isinstance(found[1], Executor):
        return None
    return found[1]


def _inputs(stage: Stage, arrays: Mapping[Tensor, np.ndarray], runner: StageRunner | None) -> list[Meta] | None:
    """Return the shapes of a stage's inputs: those fed, else those of its last program; None if there is none."""
    if all(t in arrays for t in stage.inputs):
        return [Meta(arrays[t].dtype.name, arrays[t].shape, arrays[t] if t in stage.by_value else None)
                for t in stage.inputs]
    programs = _programs(runner)
    return list(programs[-1].compiled.inputs) if programs else None


def _programs(runner: StageRunner | None) -> list[Any]:
    return [] if runner is None else list(runner.programs())


def _has_run(ran: Executor, arrays: Mapping[Tensor, np.ndarray]) -> bool:
    """Return whether this plan has run compiled, each of its CPU stages with these shapes as far as they are fed."""
    found = [runner for runner in ran.runners if runner is not None]
    return ran.settled and all(_has_program(runner, arrays) for runner in found)


def _has_program(runner: StageRunner, arrays: Mapping[Tensor, np.ndarray]) -> bool:
    fed = all(t in arrays for t in runner.stage.inputs)
    return any(not fed or [m.shape for m in p.compiled.inputs] == [arrays[t].shape for t in p.compiled.stage.inputs]
               for p in runner.programs()) or bool(runner.stage.guard)


def _profiled(runner: StageRunner | None) -> bool:
    return runner is not None and not runner.stage.gpu


def _explain_stage(stage: Stage, inputs: list[Meta] | None, session: BaseSession, sources: bool) -> str:
    if not has_compiler():
        return "interpreted by NumPy: llvmlite, which would compile this stage, is not installed"
    if inputs is None:
        return "the shapes of its inputs are known when it has run compiled (the second run of a plan)"
    shapes = {op: session._store.value(op, op).shape for op in stage.variables}
    return print_stage(build_stage(stage, inputs, shapes, CUDA if stage.gpu else CPU), sources)
