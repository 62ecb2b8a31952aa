"""Breakdown of a run: its measured time by kernel, host call and loop body, the largest first."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mode
from typing import Any

import numpy as np

from tfnb.compile.planning.plan import Plan, Stage
from tfnb.compile.printed import count
from tfnb.core.options import options
from tfnb.debug.profile import unchanged
from tfnb.graph.parts.operation import Operation
from tfnb.opdef import kinds
from tfnb.runtime.executor import Executor, Runner
from tfnb.runtime.state.store import Store
from tfnb.runtime.state.trace import Record, Trace

ENOUGH = 0.2             # seconds: no further run is measured after these
RUNS = 10                # at most
ROWS = 12                # of the table
NAMES = 2                # of ops in a row
WIDTH = 120              # characters of a row


@dataclass(frozen=True)
class Share:
    """Time that a run spends on one fused kernel, one call from Python, or one loop as a whole."""

    ops: tuple[Operation, ...]
    seconds: float
    count: int
    where: str

    @property
    def label(self) -> str:
        """The types of its ops, and the names of the first."""
        types = "+".join(dict.fromkeys(op.type for op in self.ops))
        names = ", ".join([op.name for op in self.ops[:NAMES]] + ["..."] * (len(self.ops) > NAMES))
        return f"{types} ({names})"


@dataclass(frozen=True)
class Breakdown:
    """seconds: the best of some runs; shares: of a traced one, the largest first."""

    seconds: float
    shares: tuple[Share, ...]

    def __str__(self) -> str:
        total = sum(share.seconds for share in self.shares)
        lines = [f"a run takes {_time(self.seconds).strip()}; its parts, the slowest first:",
                 "   share       time  times  where      ops"]
        lines += [_row(share, total) for share in self.shares[:ROWS]]
        rest = self.shares[ROWS:]
        if rest:
            seconds = sum(share.seconds for share in rest)
            lines.append(f"  {seconds / total:6.1%} {_time(seconds)}         {len(rest)} more, the largest "
                         f"{_time(rest[0].seconds).strip()}")
        calls = sum(share.where == "host call" for share in self.shares)
        if calls:
            lines.append(f"  {count(calls, 'host call')}: Python between kernels, across which nothing is fused")
        return "\n".join(lines)


@dataclass
class _Timed:
    """Wrapper of a stage's runner. seconds: of its best run; records: of its best traced one."""

    stage: Stage
    runner: Runner
    seconds: float = float("inf")
    records: Sequence[Record] = ()

    def run(self, inputs: Sequence[Any], trace: Trace | None = None) -> Sequence[Any]:
        """Run the stage, and keep its time; a traced run keeps its records."""
        if trace is not None:
            mine = Trace()
            outputs = self.runner.run(inputs, mine)
            self.records = min(self.records or mine.records, mine.records, key=_sum)
            return outputs
        start = time.perf_counter()
        outputs = self.runner.run(inputs)
        self.seconds = min(self.seconds, time.perf_counter() - start)
        return outputs

    def shares(self) -> list[Share]:
        """Return the shares of the stage. Traced loops are slower than others: theirs is the time of the plain run."""
        found: dict[tuple[Operation, ...], list[Record]] = {}
        for record in self.records:
            found.setdefault(record.ops, []).append(record)
        if self.stage.loop is not None:
            count = mode(len(alike) for alike in found.values()) if found else 0
            return [Share(self.stage.ops, self.seconds, count, "loop")] if self.seconds < float("inf") else []
        return [Share(ops, _sum(alike) / 1e9, len(alike), _where(alike[0]))
                for ops, alike in found.items()]


def effect_of(plan: Plan) -> Operation | None:
    """Return an op with an effect beyond variables and generators, which can be put back: None if there is none."""
    return next((op for op in plan.ops if isinstance(op.spec, kinds.Host) and not op.spec.transient
                 and (op.spec.stateful or op.spec.calls or op.spec.waits) and not _makes_handle(op)), None)


def _makes_handle(op: Operation) -> bool:
    """Return whether an op looks up or makes a resource, which is there already in a second run."""
    return bool(op.outputs) and all(t.dtype.base_dtype.name == "resource" for t in op.outputs) and not op.inputs


def measure(executor: Executor, store: Store, feeds: Sequence[np.ndarray]) -> Breakdown:
    """Run a plan some times and return where the time goes; variables and generators keep their values.

    The plan must have run compiled, and have no op with an effect (`effect_of`).
    """
    stages: list[_Timed] = []

    def wrap(stage: Stage, runner: Runner) -> Runner:
        stages.append(_Timed(stage, runner))
        return stages[-1]

    trial = executor.wrapped(wrap)
    with unchanged(executor.plan, store):
        seconds = _best(lambda: executor.run(feeds))
        _best(lambda: trial.run(feeds))
        _best(lambda: trial.run(feeds, Trace()))
    shares = [share for stage in stages for share in stage.shares()]
    return Breakdown(seconds, tuple(sorted(shares, key=lambda share: -share.seconds)))


def _best(run: Callable[[], object]) -> float:
    """Return the least seconds of as many runs as `ENOUGH` allows."""
    found: list[float] = []
    while len(found) < RUNS and sum(found) < ENOUGH:
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def _sum(records: Sequence[Record]) -> int:
    """Return the nanoseconds that records took together."""
    return sum(record.end - record.start for record in records)


def _where(record: Record) -> str:
    if record.kernel:
        return "GPU" if record.gpu else "kernel"
    return "host call" if isinstance(record.ops[-1].spec, kinds.Host) or options.compile != "never" else "interpreted"


def _row(share: Share, total: float) -> str:
    line = (f"  {share.seconds / max(total, 1e-12):6.1%} {_time(share.seconds)} {share.count:6,}  {share.where:<11}"
            f"{share.label}")
    return line if len(line) <= WIDTH else f"{line[:WIDTH - 3]}..."


def _time(seconds: float) -> str:
    """Format a time in microseconds or milliseconds."""
    return f"{seconds * 1e6:7.1f} us" if seconds < 1e-2 else f"{seconds * 1e3:7.1f} ms"

