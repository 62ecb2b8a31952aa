"""The intermediate forms as text, for people and for tests."""
from __future__ import annotations

from collections.abc import Sequence

from tfnb.compile.fuse import Group
from tfnb.compile.lower import Ref, Step
from tfnb.compile.plan import Plan
from tfnb.compile.values import Call, Node, Reduction, Value, node_ops
from tfnb.kernels.launch import Code


def print_plan(plan: Plan) -> str:
    """The stages of a plan, an op a line in the order in which they run."""
    lines = [f"plan: {_names(plan.feeds) or 'nothing fed'} -> "
             f"{_names(plan.fetches) or ', '.join(op.name for op in plan.targets)}"]
    for i, stage in enumerate(plan.stages):
        what = "device" if stage.on_device else "merge" if stage.merges else "loop" if stage.loop else "host"
        guard = [f"{t.name} {'is there' if want is None else f'is {want}'}" for t, want in stage.guard]
        lines.append(f"  stage {i} ({what}){' if ' * bool(guard)}{' and '.join(guard)}")
        lines += [f"    {op.name} = {op.type}({', '.join(t.name for t in op.inputs)})" for op in stage.ops]
        if stage.loop is not None:
            for part, inner in (("test", stage.loop.test), ("step", stage.loop.step)):
                lines += [f"      {part} {line}" if k == 0 else f"      {line}"
                          for k, line in enumerate(print_plan(inner).split("\n"))]
    return "\n".join(lines)


def print_groups(groups: Sequence[Group]) -> str:
    """The groups of a stage: their iteration spaces, reduced axes and nodes."""
    lines: list[str] = []
    names: dict[int, str] = {}
    for i, group in enumerate(groups):
        if group.is_call:
            nodes = [*group.nodes, *(group.tail.nodes if group.tail else [])]
            lines.append(f"kernel {i}: {'+'.join(dict.fromkeys(op.type for node in nodes for op in node_ops(node)))}")
        else:
            axes = f", reduce axes {sorted(group.axes)}" if group.axes is not None else ""
            lines.append(f"kernel {i}: over {list(group.space)}{axes}")
        lines += ["  " + _node(node, names) for node in group.nodes + (group.tail.nodes if group.tail else [])]
    return "\n".join(lines)


def _node(node: Node, names: dict[int, str]) -> str:
    what = node.op.type if isinstance(node, (Call, Reduction)) else f"{node.op.type}:{node.scalar.name}"
    return (f"{', '.join(_value(v, names) for v in node.outs)} = {what}"
            f"({', '.join(_value(v, names) for v in node.ins)})   # {node.op.name}")


def _value(value: Value, names: dict[int, str]) -> str:
    buffer = value.buffer
    if value.known is not None and value.known.size == 1:
        return f"{value.known.reshape(-1)[0]}"
    letter = {"temp": "t", "const": "c", "input": "in", "output": "out", "variable": "var"}.get(buffer.role, "b")
    name = names.setdefault(id(buffer), f"{letter}{len(names)}")
    if buffer.owner is not None:
        name = buffer.owner.name
    return f"{name}:{value.type}{list(value.shape)}"


def print_steps(steps: Sequence[Step], sources: bool = False) -> str:
    """The launches of a stage; with `sources` the text of each kernel once."""
    seen: dict[str, int] = {}
    lines: list[str] = []
    for step in steps:
        new = step.text not in seen
        number = seen.setdefault(step.text, len(seen))
        words = ", ".join(_word(arg) for arg in step.args)
        lines.append(f"k{number}[{step.items} items{f', grain {step.grain}' if step.items > step.grain > 0 else ''}]"
                     f"({words})   # {', '.join(op.name for op in step.ops[:6])}")
        if new and sources:
            lines += ["    | " + line for line in step.text.strip().splitlines()]
    return "\n".join(lines)


def _word(arg: int | Ref | Code) -> str:
    if isinstance(arg, int):
        return str(arg)
    if isinstance(arg, Code):
        return "kernel"
    owner = f" {arg.buffer.owner.name}" if arg.buffer.owner is not None else ""
    index = f" {arg.buffer.index}" if arg.buffer.index >= 0 else ""
    return f"{arg.buffer.role}{index}{owner}{f'+{arg.offset}' if arg.offset else ''}"


def _names(tensors: Sequence[object]) -> str:
    return ", ".join(getattr(t, "name", str(t)) for t in tensors)
