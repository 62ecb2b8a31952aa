"""Printer of the intermediate representations: plans, fusion groups, buffers and launches as text."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tfnb.compile.build import Built
from tfnb.compile.fuse import Group
from tfnb.compile.lower import Ref
from tfnb.compile.planning.plan import Plan, Stage
from tfnb.compile.values import Buffer, Call, Node, Reduction, Value, node_ops
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.launch import Code
from tfnb.opdef import kinds


def print_summary(plan: Plan) -> str:
    """Return a line about a plan: feeds, fetches, and how many ops, stages and host calls it has."""
    stages, ops = Counter(_kind(stage) for stage in plan.stages), plan.ops
    parts = [count(number, *_STAGES[kind]) for kind, number in stages.items()]
    calls, known = sum(isinstance(op.spec, kinds.Host) for op in ops), len(_known_before(ops))
    if calls:
        parts.append(count(calls, "host call"))
    folded = f"; {known} {'is' if known == 1 else 'are'} constant or from shapes" if known else ""
    return f"{_ends(plan)}: {count(len(ops), 'op')} in {', '.join(parts)}{folded}"


def print_plan(plan: Plan) -> str:
    """Return the stages of a plan as text, an op a line in execution order; those known before a run are counted."""
    lines = [f"plan: {_ends(plan)}"]
    known = _known_before(plan.ops)
    for i, stage in enumerate(plan.stages):
        guard = [f"{t.name} {'is there' if want is None else f'is {want}'}" for t, want in stage.guard]
        folded = sum(op in known for op in stage.ops)
        lines.append(f"  stage {i} ({_kind(stage)}){' if ' * bool(guard)}{' and '.join(guard)}"
                     + f", {count(folded, 'op')} of constants and shapes" * bool(folded))
        lines += [f"    {op.name} = {op.type}({', '.join(t.name for t in op.inputs)})" for op in stage.ops
                  if op not in known]
        if stage.loop is not None:
            first = stage.loop.first
            parts = [] if first is None else [("first test", first.test), ("first step", first.step)]
            for part, inner in (*parts, ("test", stage.loop.test), ("step", stage.loop.step)):
                lines += [f"      {part} {line}" if k == 0 else f"      {line}"
                          for k, line in enumerate(print_plan(inner).split("\n"))]
    return "\n".join(lines)


def count(number: int, noun: str, rest: str = "") -> str:
    """Return a number of things in words.

    >>> from tfnb.compile.printed import count
    >>> count(1, "op"), count(2, "stage", " of kernels")
    ('1 op', '2 stages of kernels')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}{rest}"


_STAGES = {"device": ("stage", " of kernels"), "gpu": ("stage", " on a GPU"), "host": ("host stage", ""),
           "loop": ("loop", ""), "merge": ("merge", "")}


def _kind(stage: Stage) -> str:
    if stage.merges:
        return "merge"
    if stage.loop is not None:
        return "loop"
    return "gpu" if stage.gpu else "device" if stage.on_device else "host"


def _ends(plan: Plan) -> str:
    return f"{_names(plan.feeds) or 'nothing fed'} -> {_names([*plan.fetches, *plan.targets])}"


def _known_before(ops: Iterable[Operation]) -> set[Operation]:
    """Return the ops (in execution order) whose values follow from constants and shapes alone."""
    found: set[Operation] = set()
    for op in ops:
        spec = op.spec
        if isinstance(spec, (kinds.Const, kinds.ShapeOf)) or (
                isinstance(spec, kinds.Pure) and not spec.stateful and op.inputs
                and all(t.op in found for t in op.inputs)):
            found.add(op)
    return found


def print_stage(built: Built, sources: bool = False) -> str:
    """Return a stage's fusion groups, buffers and launches as text, and a summary. sources: with each kernel's source.

    A buffer has the same name in all three.
    """
    names = _Names(built.groups)
    total = (f"{len(built.traced.nodes)} nodes in {len(built.groups)} groups, {len(built.steps)} launches, "
             f"arena {built.arena_bytes:,} bytes")
    parts = [_print_groups(built.groups, names), _print_buffers(built, names),
             _print_steps(built, names, sources)]
    return "\n\n".join([*filter(None, parts), total])


class _Names:
    """A name for each buffer: that of its variable, else by its role, numbered in the order of the groups."""

    LETTERS = {"temp": "t", "const": "c", "input": "in", "output": "out"}

    def __init__(self, groups: Sequence[Group]) -> None:
        self._found: dict[Buffer, str] = {}
        for group in groups:
            for node in _nodes(group):
                for value in (*node.ins, *node.outs):
                    self.of(value.buffer)

    def of(self, buffer: Buffer) -> str:
        """Return the name of a buffer, the same at each call."""
        if buffer.owner is not None:
            return f"state of {buffer.owner.name}" if buffer.role == "state" else buffer.owner.name
        if buffer.role == "status":
            return "status"
        return self._found.setdefault(buffer, f"{self.LETTERS.get(buffer.role, 'b')}{len(self._found)}")


def _nodes(group: Group) -> list[Node]:
    return group.nodes + (group.epilogue.nodes if group.epilogue else [])


def _print_groups(groups: Sequence[Group], names: _Names) -> str:
    """Iteration spaces, reduced axes and nodes."""
    lines: list[str] = []
    for i, group in enumerate(groups):
        if group.is_call:
            types = dict.fromkeys(op.type for node in _nodes(group) for op in node_ops(node))
            lines.append(f"kernel {i}: {'+'.join(types)}")
        else:
            axes = f", reduce axes {sorted(group.axes)}" if group.axes is not None else ""
            lines.append(f"kernel {i}: over {list(group.space)}{axes}")
        lines += ["  " + _node(node, names) for node in _nodes(group)]
    return "\n".join(lines)


def _node(node: Node, names: _Names) -> str:
    what = node.op.type if isinstance(node, (Call, Reduction)) else f"{node.op.type}:{node.scalar.name}"
    return (f"{', '.join(_value(v, names) for v in node.outs)} = {what}"
            f"({', '.join(_value(v, names) for v in node.ins)})   # {node.op.name}")


def _value(value: Value, names: _Names) -> str:
    if value.known is not None and value.known.size == 1:
        return f"{value.known.reshape(-1)[0]}"
    return f"{names.of(value.buffer)}:{value.type}{list(value.shape)}"


def _print_buffers(built: Built, names: _Names) -> str:
    """Return the memory layout: the arena by offset, with the live range of each buffer in launches; then the rest.

    Scalar constants are left out.
    """
    used: dict[Buffer, list[int]] = {}
    for i, step in enumerate(built.steps):
        for arg in step.args:
            if isinstance(arg, Ref) and arg.buffer.role != "status":
                used.setdefault(arg.buffer, []).append(i)
    placed = sorted((b for b in used if b in built.offsets), key=lambda b: built.offsets[b])
    lines = [f"buffer {names.of(b)}: {b.nbytes:,} bytes, arena at {built.offsets[b]:,}, launches {used[b][0]} to "
             f"{used[b][-1]}" for b in placed]
    lines += [f"buffer {names.of(b)}: {b.nbytes:,} bytes, {b.role}" for b in used
              if b not in built.offsets and (b.role, b.size) != ("const", 1)]
    return "\n".join(lines)


def _print_steps(built: Built, names: _Names, sources: bool) -> str:
    """Return the launches, a line each; launches of the same kernel have the same number."""
    seen: dict[str, int] = {}
    lines: list[str] = []
    for step in built.steps:
        new = step.source not in seen
        number = seen.setdefault(step.source, len(seen))
        words = ", ".join(_word(arg, names) for arg in step.args)
        size, done = built.target.extent(step.items, step.grain), ", ".join(op.name for op in step.ops[:6])
        lines.append(f"k{number}[{size}]({words})   # {done}")
        if new and sources:
            lines += ["    | " + line for line in step.source.strip().splitlines()]
    return "\n".join(lines)


def _word(arg: int | Ref | Code, names: _Names) -> str:
    if isinstance(arg, int):
        return str(arg)
    if isinstance(arg, Code):
        return "kernel"
    return names.of(arg.buffer) + (f"+{arg.offset}" if arg.offset else "")


def _names(tensors: Sequence[object]) -> str:
    return ", ".join(getattr(t, "name", str(t)) for t in tensors)
