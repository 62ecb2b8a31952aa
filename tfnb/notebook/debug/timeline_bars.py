"""Bars of a traced run: its kernel launches and host calls, whose time they are, and levels of detail."""
from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tfnb.core.options import options
from tfnb.debug.profile import Profile
from tfnb.debug.timing import SHORT, LaunchTime, memory_rate, product_rate
from tfnb.graph.parts.operation import Operation
from tfnb.notebook.frontend import shell
from tfnb.notebook.graph.paint import amount_text
from tfnb.opdef import kinds
from tfnb.runtime.state.trace import Record

PRODUCT, OTHER, HOST, REST = 0, 2, 1, 6         # places of colours
PLACES = (0, 1, 2, 3, 4, 5, 7)                  # of groups, the largest first
KERNELS = "kernel"                              # grouping by the ops that are computed together
COLUMN = 3.0                                    # pixels: bars that are narrower are added up


@dataclass(frozen=True, slots=True)
class Bar:
    """A kernel launch or host call. start, seconds: in the traced run; alone: the same launch by itself, if timed."""

    record: Record
    start: float
    seconds: float
    alone: LaunchTime | None

    @property
    def color(self) -> int:
        """The place of its colour."""
        if not self.record.kernel:
            return HOST
        products = any(isinstance(op.spec, kinds.Kernel) and op.spec.work is not None for op in self.record.ops)
        return PRODUCT if products else OTHER

    @property
    def types(self) -> str:
        """The types of its ops."""
        return "+".join(dict.fromkeys(op.type for op in self.record.ops))

    def limits(self) -> str:
        """The share of the machine's rates that it reaches, or ""."""
        if self.alone is None or self.alone.seconds <= SHORT:
            return ""
        parts = [f"{self.alone.bytes_per_second / memory_rate(options.threads):.0%} of memory's rate"]
        if self.alone.operations:
            share = self.alone.operations_per_second / product_rate(options.threads)
            parts.insert(0, f"{share:.0%} of a product's rate")
        return ", ".join(parts)

    def words(self) -> list[str]:
        """The text of the tooltip, without the time of this very run of it."""
        ops = self.record.ops
        more = f" and {len(ops) - 1} more" if len(ops) > 1 else ""
        lines = [self.types, f"{ops[-1].name}{more}", ops[-1].made_at,
                 "a kernel" if self.record.kernel else "a call from Python"]
        if self.alone is not None:
            lines.append(f"{amount_text('time', self.alone.seconds)} by itself, {self.alone.nbytes / 1e3:,.1f} kB of "
                         "buffers")
        return [*lines, self.limits()] if self.limits() else lines


@dataclass(slots=True)
class Share:
    """The share of a run that some ops take. longest: the bar of them that takes most; color: the place of theirs."""

    name: str
    longest: Bar
    seconds: float = 0.0
    bars: int = 0
    color: int = REST


def _scope(op: Operation) -> str:
    head, slash, _ = op.name.partition("/")
    return head + slash


# grouping of the time by ops -> the group of an op
GROUPS: dict[str, Callable[[Operation], str]] = {"op": lambda op: op.type, "scope": _scope, "cell": shell.place_of}


def groups_of(bar: Bar, by: str) -> list[str]:
    """The group of each op of a bar; by "kernel" the bar is one of all runs of its ops."""
    return [f"{bar.types} {bar.record.ops[-1].name}"] if by == KERNELS else [GROUPS[by](op) for op in bar.record.ops]


def shares(bars: Iterable[Bar], by: str) -> list[Share]:
    """The time of each group, the longest first; a kernel of several ops gives each the same share. by: KERNELS, or of
    GROUPS."""
    found: dict[str, Share] = {}
    for bar in bars:
        names = groups_of(bar, by)
        for name in names:
            share = found.setdefault(name, Share(name, bar))
            share.seconds += bar.seconds / len(names)
            share.longest = max(share.longest, bar, key=lambda each: each.seconds)
        for name in set(names):
            found[name].bars += 1
    ordered = sorted(found.values(), key=lambda share: -share.seconds)
    for share, place in zip(ordered, PLACES, strict=False):
        share.color = place
    if by == KERNELS:
        for share in ordered:
            share.color = share.longest.color
    return ordered


def main_group(bar: Bar, by: str) -> str:
    """The group that most of its ops are of."""
    names = groups_of(bar, by)
    return max(names, key=names.count)


@dataclass(slots=True)
class Column:
    """Neighbouring bars that are too narrow to be drawn. seconds: by the place of a colour."""

    bars: list[int] = field(default_factory=list)
    seconds: dict[int, float] = field(default_factory=dict)


def levels(bars: Sequence[Bar], colors: Sequence[int],
           scale: float) -> tuple[list[int], dict[tuple[bool, int], Column]]:
    """Level of detail: the bars that are drawn one by one, and (kernel, number of a column) -> those that share one.

    scale: pixels a second. Every bar is in one of them; the front end does the same (extension/src/timeline.ts).
    """
    alone: list[int] = []
    columns: dict[tuple[bool, int], Column] = defaultdict(Column)
    for i, (bar, color) in enumerate(zip(bars, colors, strict=True)):
        if bar.seconds * scale >= COLUMN:
            alone.append(i)
            continue
        column = columns[bar.record.kernel, int((bar.start + bar.seconds / 2) * scale / COLUMN)]
        column.bars.append(i)
        column.seconds[color] = column.seconds.get(color, 0.0) + bar.seconds
    return alone, columns


def bars_of(records: list[Record], times: Profile) -> list[Bar]:
    """The records by time from the first one on, each kernel with its time by itself."""
    alone: dict[tuple[str, ...], deque[LaunchTime]] = defaultdict(deque)
    for launch in times.launches:
        alone[launch.ops].append(launch)
    records = sorted(records, key=lambda record: record.start)
    begin = records[0].start if records else 0
    found = []
    for record in records:
        waiting = alone[tuple(op.name for op in record.ops)] if record.kernel else None
        found.append(Bar(record, (record.start - begin) * 1e-9, (record.end - record.start) * 1e-9,
                         waiting.popleft() if waiting else None))
    return found
