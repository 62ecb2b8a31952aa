"""Objects that own variables, as checkpoints by `tf.train.Checkpoint` see them: a graph of named children."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tfnb.graph.parts.operation import Tensor
from tfnb.proto.object_graph import Node
from tfnb.variables.module import Module
from tfnb.variables.variable import Variable

Children = Callable[[Any], Iterator[tuple[str, Any]]]
VALUE = "VARIABLE_VALUE"                           # official: the name of the attribute that a variable has
_HOLDERS: list[tuple[type, Children]] = []


def register(kind: type, children: Children) -> None:
    """Tell what objects of a class keep: `children(object)` yields (name, object)."""
    _HOLDERS.append((kind, children))


def is_trackable(value: Any) -> bool:
    """Return whether a value is a variable, or an object that keeps some."""
    return isinstance(value, (Variable, *(kind for kind, _ in _HOLDERS))) or _is_container(value)


def _is_container(value: Any) -> bool:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return any(not isinstance(part, Tensor) and is_trackable(part) for part in parts)


def children(holder: Any) -> Iterator[tuple[str, Any]]:
    """(name, object) of what an object keeps."""
    if isinstance(holder, Variable):
        return
    if isinstance(holder, (list, tuple)):
        yield from ((str(i), part) for i, part in enumerate(holder) if is_trackable(part))
    elif isinstance(holder, Mapping):
        yield from ((str(key), part) for key, part in holder.items() if is_trackable(part))
    else:
        for kind, found in reversed(_HOLDERS):
            if isinstance(holder, kind):
                yield from found(holder)
                return


def of_attributes(holder: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object that keep variables."""
    yield from ((name, value) for name, value in vars(holder).items() if is_trackable(value))


register(Module, of_attributes)


class Walk:
    """The objects that a root reaches, breadth first, then the slots that its optimizers keep of its variables.

    objects: the root first; paths: the key of each; nodes: their messages.
    """

    def __init__(self, root: Any) -> None:
        self.objects, self.paths, self.nodes = [root], [""], [Node()]
        self._numbers = {id(root): 0}
        for i, holder in enumerate(self.objects):                   # grows while it is walked
            for name, child in children(holder):
                self.nodes[i].children[name] = self._number(child, f"{self.paths[i]}{_escaped(name)}/")
        for i, holder in enumerate(list(self.objects)):
            if hasattr(holder, "get_slot_names"):
                self._add_slots(i, holder)
        for i, found in enumerate(self.objects):
            if isinstance(found, Variable):
                self.nodes[i].values.append((VALUE, found.op.name, f"{self.paths[i]}.ATTRIBUTES/{VALUE}"))

    def _number(self, value: Any, path: str) -> int:
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self.objects)
            self.objects.append(value)
            self.paths.append(path)
            self.nodes.append(Node())
        return self._numbers[id(value)]

    def _add_slots(self, i: int, optimizer: Any) -> None:
        known = [v for v in self.objects if isinstance(v, Variable)]
        for name in optimizer.get_slot_names():
            for variable in known:
                slot = optimizer.get_slot(variable, name)
                if slot is None:
                    continue
                owner = self._numbers[id(variable)]
                path = f"{self.paths[owner]}.OPTIMIZER_SLOT/{self.paths[i]}{_escaped(name)}/"
                self.nodes[i].slots.append((owner, name, self._number(slot, path)))

    def variables(self) -> dict[str, Variable]:
        """The variables by the keys of their values."""
        return {node.values[0][2]: found for node, found in zip(self.nodes, self.objects, strict=True) if node.values}

    def matched(self, saved: list[Node]) -> dict[int, int]:
        """The numbers of saved objects by the numbers of those here: the roots, and all that names lead to."""
        found, waiting = {0: 0}, [0]
        for here in waiting:                                        # grows while it is walked
            mine, there = self.nodes[here], saved[found[here]]
            for name, child in mine.children.items():
                if name in there.children and child not in found:
                    found[child] = there.children[name]
                    waiting.append(child)
        for here in list(waiting):
            theirs = {(owner, name): slot for owner, name, slot in saved[found[here]].slots}
            for owner, name, slot in self.nodes[here].slots:
                if (found.get(owner), name) in theirs:
                    found[slot] = theirs[found[owner], name]
        return found


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")
