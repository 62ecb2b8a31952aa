"""The purpose of each op of a graph: it serves a variable, gradients, a training step, files, or the model itself."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tfnb.graph.closure import closure
from tfnb.notebook.graph.read import OpInfo, op_of
from tfnb.notebook.graph.tree import (
    APPLY_TYPE,
    INPUT_TYPES,
    SAVE_SCOPE,
    SUMMARY_TYPE,
    VARIABLE_TYPES,
    Node,
    in_gradients,
)

INITIALIZERS = frozenset({"Assign", "AssignVariableOp", "NoOp", "InitializeTable", "InitializeTableV2"})
READS = frozenset({"Identity", "ReadVariableOp", "Enter", "RefEnter"})


class Purposes:
    """The leaves and groups of a hierarchy by the names of ops, and what each op serves: a variable, the gradients, a
    training step, files and initial values, or the model."""

    def __init__(self, root: Node, infos: Iterable[OpInfo], consumers: Mapping[str, set[str]]) -> None:
        self.root, self.consumers = root, consumers
        self.infos = {info.name: info for info in infos}
        self.place = {name: i for i, name in enumerate(self.infos)}
        self.leaf = {node.info.name: node for node in _leaves(root) if node.info is not None}
        self.variables = [info.name for info in self.infos.values() if info.type in VARIABLE_TYPES]
        self.variable_groups = {self.whole(name).key for name in self.variables}
        self.owned = {name: set(self._owned(name)) for name in self.variables}
        self.owner = {op: name for name, ops in self.owned.items() for op in ops}
        self.makers = self._take_initial_values()
        self.saves = {info.name.partition("/")[0] for info in self.infos.values()
                      if info.type in ("SaveV2", "Save", "SaveSlices", "RestoreV2")}
        self.keepers = self._keepers()
        self.gradients = {name for name in self.infos if in_gradients(name)}
        self.training = self._training()
        self.keeping = self.keepers - self.training

    def whole(self, name: str) -> Node:
        """The group of an op that has a scope of its own name, else its leaf."""
        leaf = self.leaf[name]
        return leaf.parent if leaf.parent is not None and leaf.parent.key == name + "/" else leaf

    def _owned(self, variable: str) -> Iterator[str]:
        """The ops of a variable's scope, but for those of variables in it (its slots)."""
        whole = self.whole(variable)
        todo = [whole]
        while todo:
            node = todo.pop()
            if node is not whole and node.key in self.variable_groups:
                continue
            todo += node.children.values()
            if not node.children and node.info is not None and (node.info.name == variable or
                                                                node.info.type not in VARIABLE_TYPES):
                yield node.info.name

    def _take_initial_values(self) -> dict[str, str]:
        """Give each variable the ops outside its scope that only make its initial value; return them with it."""
        found: dict[str, str] = {}
        for name in reversed(self.infos):
            if name in self.owner or not self.consumers.get(name) or self.infos[name].type in INPUT_TYPES:
                continue
            users = {self._initializes(reader) for reader in self.consumers[name]}
            if len(users) == 1 and "" not in users:
                found[name] = self.owner[name] = users.pop()
                self.owned[found[name]].add(name)
        return found

    def _initializes(self, name: str) -> str:
        """The variable whose initial value an op helps to make or assigns; "" for another op."""
        variable = self.owner.get(name, "")
        return variable if variable and self.infos[name].type not in READS | VARIABLE_TYPES else ""

    def _training(self) -> set[str]:
        """The ops that only serve a step of training: what follows from gradients and does not lead back to any."""
        start = {name for name, info in self.infos.items() if APPLY_TYPE.match(info.type)}
        start |= {reader for name in self.gradients for reader in self.consumers.get(name, ())
                  if name in map(op_of, self.infos[reader].inputs)}
        differentiated = closure(self.gradients, self.before)
        found = closure(start - self.gradients, self._after).keys() - differentiated
        grown = True
        while grown:                                        # rates, slots and powers: read by nothing else
            grown = False
            for name in reversed(self.infos):
                if name not in found and self._serves_only(name, found):
                    found.add(name)
                    grown = name in self.owner or grown
        return found

    def _after(self, name: str) -> Iterator[str]:
        """The ops that take an op's values, and the updates and groups that wait for it."""
        for reader in self.consumers.get(name, set()) - self.gradients:
            info = self.infos[reader]
            if info.type in ("NoOp", "Const") or info.type.startswith("Assign") or name in map(op_of, info.inputs):
                yield reader

    def before(self, name: str) -> Iterator[str]:
        """The ops whose values an op takes."""
        info = self.infos[name]
        return (source for source in map(op_of, info.inputs) if source in self.infos)

    def _serves_only(self, name: str, found: set[str]) -> bool:
        if name in self.gradients or self.infos[name].type in INPUT_TYPES:
            return False
        if name in self.owner:
            ops = self.owned[self.owner[name]]
            readers = {reader for op in ops for reader in self.consumers.get(op, ())} - ops
            readers -= self.keepers
        else:
            readers = self.consumers.get(name, set())
        return bool(readers) and readers <= found

    def _keepers(self) -> set[str]:
        """Return the ops that save, restore and initialize: those of savers, and groups of initializers."""
        found = {name for name in self.infos if (top := name.partition("/")[0]) in self.saves and SAVE_SCOPE.match(top)}
        groups = {name: [source for source in info.control if source in self.infos]
                  for name, info in self.infos.items() if info.type == "NoOp" and info.control and not info.inputs}
        todo = [*groups]
        while todo:                                         # a group again for each group in it; none of a cycle
            name = todo.pop()
            if name not in found and all(self.infos[source].type in INITIALIZERS
                                         and (source in self.owner or source in found) for source in groups[name]):
                found.add(name)
                todo += [reader for reader in self.consumers.get(name, ()) if reader in groups]
        return found

    def of_model(self, name: str) -> bool:
        """Whether an op is part of the model itself."""
        return not (name in self.gradients or name in self.training or name in self.keeping
                    or SUMMARY_TYPE.search(self.infos[name].type))

    def belongs(self, name: str, names: set[str]) -> bool:
        """Whether an op, or the variable that it serves, is in `names`; so is what nothing reads."""
        info = self.infos[name]
        alone = info.type in ("Const", "NoOp") and not self.consumers.get(name)
        return name in names or self.owner.get(name) in names or alone and "/" in name


def _leaves(node: Node) -> Iterator[Node]:
    for child in node.children.values():
        yield from _leaves(child)
    if not node.children:
        yield node
