"""NaN localization: the first op of a run whose inputs are finite and whose output is not."""
from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tfnb.core.describe import one_line
from tfnb.core.errors import OpError
from tfnb.core.text import expression
from tfnb.debug.tap import Inspection, Tap, inspect_run
from tfnb.graph.parts.context import session_for
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import ref_variable, refers
from tfnb.graph.stack import get_default_graph
from tfnb.opdef import kinds
from tfnb.runtime.executor import Executor

NAN, INF, LARGE = 1, 2, 4           # flags of faults, summed
MOST_INDICES, MOST_OTHERS, MOST_PATH = 6, 12, 12


@dataclass(frozen=True)
class Seen:
    """A tensor at the moment of the fault. text: one line on its values; at: its value at the first bad place."""

    name: str
    text: str
    array: np.ndarray = field(repr=False, compare=False)
    at: str = ""


@dataclass(frozen=True)
class NanReport:
    """The result of `find_nan`; printed, a few lines of text.

    kind: "op" if an op made the first bad value of finite inputs, "feed" or "variable" if it was there before the run,
    "none" if all is well. op: that op, the variable's or the placeholder's. problem: "NaN", "inf", ... indices: of the
    first bad elements of `output`, `bad` of all `size`. path: from there to what was fetched, along bad values, if
    there is such a way. others: more ops that made bad values of good ones. ops: how many calls of ops were looked at.
    step: the first of several runs in which it happened, or how many there were; 0 if only one was asked for. undo:
    what `restore` calls.

    >>> report = tf.find_nan(tf.log(tf.constant([2.0, 0.0])))
    >>> report.found, report.problem, report.op.name, report.indices, report.bad
    (True, 'inf', 'Log', ((1,),), 1)
    """

    kind: str
    ops: int
    op: Operation | None = None
    problem: str = ""
    output: Seen | None = None
    indices: tuple[tuple[int, ...], ...] = ()
    bad: int = 0
    size: int = 0
    inputs: tuple[Seen, ...] = ()
    path: tuple[Operation, ...] = ()
    others: tuple[str, ...] = ()
    undo: Callable[[], None] | None = None
    step: int = 0

    def restore(self) -> None:
        """Give variables and random numbers the values from before the run, where `options.nan_check` found it.

        Raises ValueError for a report of `find_nan`, which has not changed any.
        """
        if self.undo is None:
            raise ValueError("there is nothing to restore: find_nan runs on a copy of the session's values")
        self.undo()

    @property
    def found(self) -> bool:
        """Whether a bad value was found."""
        return self.kind != "none"

    @property
    def hint(self) -> str:
        """The usual cause of bad values from such an op; "" where there is none known."""
        return self.op.spec.nan_hint if self.op is not None and self.kind == "op" else ""

    @property
    def headline(self) -> str:
        """One sentence with the fault and its place."""
        if self.op is None:
            runs = f" in each of {self.step} runs" if self.step else ""
            return f"all values are finite: {self.ops} ops were looked at{runs}"
        said = {"op": f"{self.problem} comes from {self.op.name!r} ({self.op.type})",
                "feed": f"{self.problem} is in what was fed for {self.op.name!r}",
                "variable": f"{self.problem} was in the variable {self.op.name!r} before this run"}[self.kind]
        said += f" in run {self.step}" * bool(self.step)
        of = self.op._original_op
        return f"{said}, made at {self.op.made_at}" if of is None else \
            f"{said}, in the gradient of {of.name!r} ({of.type}), made at {of.made_at}"

    def __repr__(self) -> str:
        if self.output is None:
            return self.headline
        places = ", ".join("[" + ", ".join(map(str, index)) + "]" for index in self.indices if index)
        where = f": first at {places}" if places else ""
        lines = [self.headline, f"  output  {self.output.name}  {self.output.text}",
                 f"          {self.bad} of {self.size} bad{where}"]
        for seen in self.inputs:
            lines.append(f"  input   {seen.name}  {seen.text}" + (f", there {seen.at}" if seen.at else ""))
        lines += [f"  likely  {self.hint}"] if self.hint else []
        lines += [f"  path    {' -> '.join(shorten_path([op.name for op in self.path]))}"] if len(self.path) > 1 else []
        lines += [f"  also    {', '.join(self.others)}"] if self.others else []
        return "\n".join(lines)


def find_nan(fetches: Any, feed_dict: Any = None, session: Any = None, ignore: str | Iterable[str] = (),
             abs_max: float | None = None, steps: int = 0) -> NanReport:
    """Run `fetches` op by op, and find the first op whose inputs are finite and whose output is not.

    If there are several, it is the first one whose bad values reach what is fetched.

    The run uses a copy of the session: variables and random numbers stay as they are (elements taken from queues and
    files are consumed). ignore: regular expressions of ops, variables and placeholders that may have bad values: ops
    that only propagate their infinities are no fault either, but NaN computed from them is. Constants that are written
    as infinite count as ignored. abs_max: larger magnitudes are faults too. steps: the maximum number of runs with
    these feeds, on the copy; the first bad one is searched. feed_dict: as of Session.run. session: by default the
    default one.

    Raises ValueError for a wrong expression or without a session, and what `Session.run` raises.

    >>> x = tf.constant([1.0, -1.0], name="x")
    >>> root = tf.sqrt(x)
    >>> tf.find_nan(tf.reduce_sum(root))
    NaN comes from 'Sqrt' (Sqrt), made at ...
      output  Sqrt:0  float32[2] [ 1., nan]
              1 of 2 bad: first at [1]
      input   x:0  float32[2] [ 1., -1.], there -1
      likely  the root of a negative number is NaN
      path    Sqrt -> Sum
    """
    chosen = session_for(session, session.graph if session is not None else get_default_graph(), "look for NaN")
    run = inspect_run(chosen, fetches, feed_dict)
    return search_runs(run, steps, patterns(ignore), abs_max) if steps > 0 else search(run, patterns(ignore), abs_max)


def search_runs(run: Inspection, steps: int, ignore: Sequence[re.Pattern[str]] = (),
                abs_max: float | None = None) -> NanReport:
    """Search the first of `steps` runs, one after the other on a copy, that makes a bad value; see `search`.

    The runs are compiled, and only their fetches and the variables are checked; the bad run is repeated interpreted.
    """
    store, feeds = run.store.copy(), list(run.feeds.values())
    executor = Executor(run.plan, store)
    seen = len(run.plan.ops)
    for step in range(1, steps + 1):
        before, problem = store.copy(), None
        try:
            values = executor.run(feeds)
        except OpError as error:                    # of a check for numbers, for example
            values, problem = [], error
        wrong = problem is not None or any(badness(np.asarray(value), abs_max) for value in
                                           (*values, *(array for _, array in store.arrays())))
        if wrong:
            report = search(replace(run, store=before), ignore, abs_max)
            if report.found:
                return replace(report, step=step)
            seen = report.ops
        if problem is not None:
            raise problem
    return NanReport("none", seen, step=steps)


def patterns(ignore: str | Iterable[str]) -> list[re.Pattern[str]]:
    """Compile regular expressions. Raises ValueError for an invalid one."""
    return [expression(text) for text in ([ignore] if isinstance(ignore, str) else ignore)]


def search(run: Inspection, ignore: Sequence[re.Pattern[str]] = (), abs_max: float | None = None) -> NanReport:
    """Search an inspected run; see `find_nan`."""
    watch = _Watch(run, ignore, abs_max)
    try:
        run.run(watch)
    except Exception:
        if not watch.found:
            raise                               # with a fault found, the errors that follow from it matter less
    return watch.report()


def badness(array: np.ndarray, abs_max: float | None = None) -> int:
    """Return the faults of an array as a sum of the flags NAN, INF, LARGE; 0 for non-floating dtypes."""
    if array.dtype.kind not in "fcV" or array.dtype.names or not array.size:
        return 0
    numbers = array.astype(np.float32) if array.dtype.kind == "V" else array
    with np.errstate(all="ignore"):
        if abs_max is None and bool(np.isfinite(numbers).all()):
            return 0
        large = abs_max is not None and bool((np.abs(numbers) > abs_max).any())
        return NAN * bool(np.isnan(numbers).any()) + INF * bool(np.isinf(numbers).any()) + LARGE * large


def _mask(array: np.ndarray, abs_max: float | None) -> np.ndarray:
    numbers = array.astype(np.float32) if array.dtype.kind == "V" else array
    with np.errstate(all="ignore"):
        bad = ~np.isfinite(numbers)
        mask: np.ndarray = bad if abs_max is None else bad | (np.abs(numbers) > abs_max)
    return mask


@dataclass(frozen=True)
class _Found:
    kind: str
    op: Operation
    tensor: Tensor
    array: np.ndarray
    inputs: tuple[tuple[Tensor, np.ndarray], ...] = ()


class _Watch(Tap):
    """Tap that checks all outputs of a run."""

    def __init__(self, run: Inspection, ignore: Sequence[re.Pattern[str]], abs_max: float | None) -> None:
        self._run, self._ignore, self._abs_max = run, ignore, abs_max
        self.found: dict[Operation, _Found] = {}    # ops where bad values arise, in order; at most MOST_OTHERS kept
        self._bad: set[Operation] = set()           # ops with bad outputs
        self._excused: set[Tensor] = set()
        self._inputs: list[np.ndarray] = []
        self._seen = 0

    def before(self, op: Operation, inputs: Sequence[np.ndarray]) -> None:
        """Keep the op's inputs; those that it writes to are copied."""
        self._inputs = [a.copy() if refers(t) else a for t, a in zip(op.inputs, inputs, strict=True)]

    def after(self, op: Operation, outputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Check the outputs; blame the op if its inputs were good."""
        self._seen += 1
        for tensor, array in zip(op.outputs, outputs, strict=True):
            self._excused.discard(tensor)
            wrong = badness(array, self._abs_max)
            if wrong and not isinstance(op.spec, kinds.Flow):
                self._judge(op, tensor, array, wrong)
        return outputs

    def _judge(self, op: Operation, tensor: Tensor, array: np.ndarray, wrong: int) -> None:
        if isinstance(op.spec, kinds.Const) or self._is_ignored(op):
            self._excused.add(tensor)
            return
        taken = [(t, a, badness(a, self._abs_max)) for t, a in zip(op.inputs, self._inputs, strict=True)]
        excuse = sum({bit for t, _, bits in taken if self._is_excused(t) for bit in (NAN, INF, LARGE) if bits & bit})
        guilty = [(t, a) for t, a, bits in taken if bits and not self._is_excused(t)]
        if not guilty and (wrong & ~excuse == 0 or excuse & NAN):
            self._excused.add(tensor)
            return
        self._bad.add(op)
        if guilty:
            self._trace_back(*guilty[0])
        else:
            self._note(_Found("op", op, tensor, array, tuple((t, a) for t, a, _ in taken)))

    def _note(self, found: _Found) -> None:
        if found.op not in self.found and len(self.found) <= MOST_OTHERS:
            self.found[found.op] = replace(found, array=found.array.copy())

    def _is_ignored(self, op: Operation) -> bool:
        return any(pattern.search(op.name) for pattern in self._ignore)

    def _is_excused(self, tensor: Tensor) -> bool:
        if tensor in self._excused or isinstance(tensor.op.spec, kinds.Const):
            return True
        source = ref_variable(tensor) if refers(tensor) else _behind_flow(tensor).op
        return isinstance(source.spec, (kinds.Const, kinds.Variable, kinds.Placeholder)) and self._is_ignored(source)

    def _trace_back(self, tensor: Tensor, array: np.ndarray) -> None:
        """Attribute a bad input that no op made to the feed or variable that had it before the run."""
        if refers(tensor) and tensor not in self._run.feeds:
            source = ref_variable(tensor).outputs[0]
            if not self.found:                      # else an op has written the bad value
                self._note(_Found("variable", source.op, source, array))
            return
        source = _behind_flow(tensor)
        if source.op not in self._bad and (source in self._run.feeds or not self.found):
            self._note(_Found("feed", source.op, source, self._run.feeds.get(source, array)))

    def report(self) -> NanReport:
        """Build the report."""
        if not self.found:
            return NanReport("none", self._seen)
        ways = {op: self._way(op) for op in self.found}
        first = self.found[next((op for op, way in ways.items() if way), next(iter(ways)))]
        mask = _mask(first.array, self._abs_max)
        places = [tuple(map(int, index)) for index in np.argwhere(mask)[:MOST_INDICES]]
        inputs = tuple(Seen(t.name, one_line(a), a, _at(a, first.array.shape, places[0])) for t, a in first.inputs)
        return NanReport(first.kind, self._seen, first.op, _problem(first.array, self._abs_max),
                         Seen(first.tensor.name, one_line(first.array), first.array), tuple(places), int(mask.sum()),
                         first.array.size, inputs, ways[first.op], tuple(op.name for op in ways if op is not first.op))

    def _way(self, op: Operation) -> tuple[Operation, ...]:
        plan = self._run.plan
        return path_to([*(t.op for t in plan.fetches), *plan.targets], op, self._bad)


def _problem(array: np.ndarray, abs_max: float | None) -> str:
    wrong = badness(array, abs_max)
    words = [word for bit, word in ((NAN, "NaN"), (INF, "inf"), (LARGE, f"a magnitude over {abs_max:g}"
                                                                     if abs_max is not None else "")) if wrong & bit]
    return " and ".join(words[:2])


def _at(array: np.ndarray, shape: tuple[int, ...], place: tuple[int, ...]) -> str:
    """Return the input element behind an output index, where the shapes are equal or broadcast."""
    try:
        value = np.broadcast_to(array, shape)[place]
    except ValueError:
        return ""
    return f"{value:.6g}" if array.dtype.kind == "f" and array.size > 1 else str(value) if array.size > 1 else ""


def _behind_flow(tensor: Tensor) -> Tensor:
    """Return the tensor whose value this one forwards, through control-flow nodes."""
    seen: set[Tensor] = set()
    while isinstance(tensor.op.spec, kinds.Flow) and tensor.op.inputs and tensor not in seen:
        seen.add(tensor)
        tensor = tensor.op.inputs[0]
    return tensor


def path_to(ends: Sequence[Operation], origin: Operation, through: Collection[Operation]) -> tuple[Operation, ...]:
    """Return the shortest path from an op to the first reachable one of `ends`, along the ops `through`; or empty.

    Ops that carry no values of their own (control flow, groups) are passed as well.
    """
    for end in ends:
        after: dict[Operation, Operation | None] = {end: None}
        todo = deque([end])
        while todo and origin not in after:
            op = todo.popleft()
            for before in (*(t.op for t in op.inputs), *op.control_inputs):
                if before not in after and (before is origin or before in through or isinstance(before.spec, kinds.Flow)
                                            or isinstance(before.spec, kinds.Control)):
                    after[before] = op
                    todo.append(before)
        if origin in after:
            return tuple(_chain(origin, after))
    return ()


def _chain(op: Operation, after: Mapping[Operation, Operation | None]) -> Iterator[Operation]:
    at: Operation | None = op
    while at is not None:
        yield at
        at = after[at]


def shorten_path(names: Sequence[str], most: int = MOST_PATH) -> list[str]:
    """Elide the names in the middle where there are more than `most`."""
    if len(names) <= most:
        return [*names]
    half = most // 2
    return [*names[:half], f"... {len(names) - 2 * half} more ...", *names[-half:]]
