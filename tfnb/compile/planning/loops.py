"""Loop detection: while loops recovered from their frames, with the control-flow nodes at the border of each."""
from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from tfnb.compile.planning.order import cycle
from tfnb.core.errors import InvalidArgumentError
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import is_identity
from tfnb.opdef import kinds

Path = tuple[str, ...]


@dataclass
class Variable:
    """A loop-carried variable: its Enter, Merge, Switch and NextIteration nodes."""

    enter: Operation
    merge: Operation
    next: Tensor
    switches: list[Operation] = field(default_factory=list)


@dataclass
class Frame:
    """A while loop with all of its border nodes. ops: all ops in it, those of inner loops included."""

    name: str
    ops: list[Operation] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    constants: list[Operation] = field(default_factory=list)
    exits: list[tuple[int, Operation]] = field(default_factory=list)
    sends: list[Operation] = field(default_factory=list)
    condition: Operation | None = None

    @property
    def border(self) -> set[Operation]:
        """The control-flow nodes of this loop itself, without those of inner loops."""
        ends = [op for v in self.variables for op in (v.enter, v.merge, *v.switches)]
        found = {*ends, *self.constants, *(op for _, op in self.exits), *self.sends}
        return found | ({self.condition} if self.condition is not None else set())


def find_frames(ops: Collection[Operation], feeds: Collection[Tensor]) -> list[Frame]:
    """Return the outermost loops among `ops`. Raises InvalidArgumentError for nodes that form no TensorFlow loop."""
    paths = _paths(ops, feeds)
    members: dict[str, list[Operation]] = {}
    for op, path in paths.items():
        if path:
            members.setdefault(path[0], []).append(op)
    return [_frame(name, inside, paths) for name, inside in members.items()]


def _paths(ops: Collection[Operation], feeds: Collection[Tensor]) -> dict[Operation, Path]:
    """Compute for each op the names of the loops it is in, outermost first; an Exit counts as inside its loop."""
    known: dict[Operation, Path] = {}
    wanted = set(ops)
    waiting: set[Operation] = set()
    todo = sorted(wanted, key=lambda op: -op._id)
    while todo:
        op = todo[-1]
        if op in known:
            todo.pop()
            continue
        before = [t.op for t in op.inputs if t not in feeds and not isinstance(t.op.spec, kinds.NextIteration)]
        before += [c for c in op.control_inputs if not isinstance(op.spec, kinds.Enter)]
        before = [b for b in before if b in wanted]
        missing = [b for b in before if b not in known]
        if missing:
            if waiting.intersection(missing):
                raise cycle([b.name for b in missing])
            waiting.add(op)
            todo += missing
            continue
        todo.pop()
        path: Path = max((_outside(b, known[b]) for b in before), key=len, default=())
        known[op] = (*path, op.attrs["frame_name"].decode()) if isinstance(op.spec, kinds.Enter) else path
    return known


def _outside(op: Operation, path: Path) -> Path:
    return path[:-1] if isinstance(op.spec, kinds.Exit) else path


def _frame(name: str, ops: list[Operation], paths: dict[Operation, Path]) -> Frame:
    frame = Frame(name, ops)
    own = [op for op in ops if len(paths[op]) == 1]
    conditions = [op for op in own if isinstance(op.spec, kinds.LoopCond)]
    if len(conditions) != 1:
        raise _broken(name, f"it has {len(conditions)} LoopCond nodes", ops[0])
    frame.condition = conditions[0]
    for op in own:
        if isinstance(op.spec, kinds.Merge) and any(isinstance(t.op.spec, kinds.NextIteration) for t in op.inputs):
            frame.variables.append(_variable(name, op))
        elif isinstance(op.spec, kinds.NextIteration):
            frame.sends.append(op)
    numbers = {v.merge: i for i, v in enumerate(frame.variables)}
    switches: dict[Operation, int] = {}
    for op in own:
        if isinstance(op.spec, kinds.Switch) and op.inputs[1].op is frame.condition:
            if op.inputs[0].op not in numbers:
                raise _broken(name, f"{op.name!r} switches what is no variable of the loop", op)
            switches[op] = numbers[op.inputs[0].op]
            frame.variables[switches[op]].switches.append(op)
    entered = {v.enter for v in frame.variables}
    for op in own:
        if isinstance(op.spec, kinds.Enter) and op not in entered:
            frame.constants.append(op)
        elif isinstance(op.spec, kinds.Exit):
            left = _passed_on(op.inputs[0])
            if left.op not in switches or left.value_index:
                raise _broken(name, f"{op.name!r} does not leave the loop from a Switch of its condition", op)
            frame.exits.append((switches[left.op], op))
    return frame


def _passed_on(tensor: Tensor) -> Tensor:
    """Return the input of an Identity: optimizers that gate gradients put one between a Switch and its Exit."""
    while is_identity(tensor.op):
        tensor = tensor.op.inputs[0]
    return tensor


def _variable(name: str, merge: Operation) -> Variable:
    enters = [t for t in merge.inputs if isinstance(t.op.spec, kinds.Enter)]
    sends = [t for t in merge.inputs if isinstance(t.op.spec, kinds.NextIteration)]
    if len(enters) != 1 or len(sends) != 1:
        raise _broken(name, f"{merge.name!r} does not merge one Enter and one NextIteration", merge)
    return Variable(enters[0].op, merge, sends[0].op.inputs[0])


def _broken(name: str, what: str, op: Operation) -> InvalidArgumentError:
    return InvalidArgumentError(None, op, f"The nodes of the loop {name!r} do not make a while loop: {what}")
