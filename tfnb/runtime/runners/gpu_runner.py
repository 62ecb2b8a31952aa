"""Execution of GPU stages, including their first run and the initialization of variables."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.compile.planning.plan import Stage
from tfnb.compile.target import CUDA
from tfnb.compile.trace import Meta
from tfnb.graph.parts.operation import Operation
from tfnb.graph.parts.references import ref_variable, refers
from tfnb.opdef import kinds
from tfnb.ops.declaration.evaluate import reads_operand
from tfnb.runtime.runners.gpu_loop import GpuLoop
from tfnb.runtime.runners.gpu_program import GpuProgram
from tfnb.runtime.runners.interpreter import Interpreted
from tfnb.runtime.runners.program import Compiled, compile_stage
from tfnb.runtime.runners.stages import StageRunner
from tfnb.runtime.state.store import Store, variable_dtype
from tfnb.runtime.state.trace import Trace


class GpuRunner(StageRunner):
    """The program cache of a stage on a GPU, keyed by the shapes (and values) that programs are specialized to."""

    def __init__(self, interpreted: Interpreted, store: Store, in_loop: bool = False) -> None:
        super().__init__(interpreted, store, patient=in_loop)
        self._in_loop = in_loop
        self._first = [op for op in self.stage.variables if _is_assigned_first(op, self.stage)]

    def run(self, inputs: Sequence[np.ndarray], trace: Trace | None = None) -> list[np.ndarray]:
        """Run the stage and return its outputs: interpreted if a variable is uninitialized that it does not assign
        first. Raises the errors that kernels report.
        """
        made = [op for op in self._first if self._store.peek(op) is None]
        for op in made:
            self._store.assign(op, np.zeros([n or 0 for n in op.attrs["shape"]], variable_dtype(op)))
        try:
            return super().run(inputs, trace)
        except Exception:
            for op in made:
                self._store.forget(op)
            raise

    def _compile(self, metas: Sequence[Meta]) -> Compiled:
        return compile_stage(self.stage, metas, self._store, CUDA)

    def _program(self, compiled: Any) -> Any:
        return (GpuLoop if self._in_loop else GpuProgram)(compiled, self._store)


def _is_assigned_first(variable: Operation, stage: Stage) -> bool:
    """Return whether the stage's first use of a variable, whose static shape is known, is an assignment."""
    shape = variable.attrs["shape"]
    if shape is None or None in shape:
        return False
    for op in stage.ops:
        if any(refers(t) and ref_variable(t) is variable for t in op.inputs):
            return isinstance(op.spec, kinds.Update) and not reads_operand(op, op.spec.body, 0) \
                and ref_variable(op.inputs[0]) is variable
    return False
