"""Function calls: the bodies that dataset ops call, each run as a plan over the session's store."""
from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np

from tfnb.compile.planning.structure import build
from tfnb.graph.function import FunctionGraph
from tfnb.ops.data.datasets import set_function_runner
from tfnb.runtime.executor import Executor
from tfnb.runtime.state.store import Store

Arrays = tuple[np.ndarray, ...]
_executors: WeakKeyDictionary[Store, WeakKeyDictionary[FunctionGraph, Executor]] = WeakKeyDictionary()


def runner(store: Store, body: FunctionGraph) -> Callable[[Arrays], Arrays]:
    """Return a Python callable from the values of the inputs of `body` to those of its outputs."""
    known = _executors.setdefault(store, WeakKeyDictionary())
    executor = known.get(body)
    if executor is None:
        plan = build(body.outputs, body.targets, body.inputs)
        executor = known[body] = Executor(plan, store, in_loop=True)

    def call(arrays: Arrays) -> Arrays:
        return tuple(executor.run([np.ascontiguousarray(a) if a.ndim else a for a in arrays]))
    return call


set_function_runner(runner)
